"""A page about itself: where its homework is, how to cite it, what it is about for those who link to it."""

import html
import json
import re
from pathlib import Path

from docutils import nodes
from markupsafe import Markup

from lmbook_press.rendering import filled, render

CHAPTER = re.compile(r"notebooks/(\d\d)-([\w-]+)")
HOMEWORK = re.compile(r"book/homework/(\d\d)-([\w-]+)")
LONGEST = 160  # characters of a description
HEADING = re.compile(r"(<h1\b.*?</h1>\n?)", re.DOTALL)
CARD = "_static/card.png"


def number(pagename: str) -> int:
    """Of the chapter that a page is or belongs to; 0 for all others."""
    found = CHAPTER.fullmatch(pagename) or HOMEWORK.fullmatch(pagename)
    return int(found[1]) if found else 0


def _title(env, docname: str) -> str:
    return env.titles[docname].astext()


def _about(app, pagename: str, context) -> str:
    """The line below the title: from a chapter to its homework, from a homework to its chapter."""
    env, link = app.env, context["pathto"]
    chapter, links = number(pagename), []
    if found := CHAPTER.fullmatch(pagename):
        other = f"book/homework/{found[1]}-{found[2]}"
        if other in env.found_docs:
            links.append(filled('<a href="{}">Homework {}</a>', link(other), chapter))
        if chapter:
            links.append(Markup('<a href="#cite-this-chapter">Cite this chapter</a>'))
    elif found := HOMEWORK.fullmatch(pagename):
        other = f"notebooks/{found[1]}-{found[2]}"
        if other in env.found_docs:
            links.append(filled('Belongs to <a href="{}">chapter {}, {}</a>', link(other), chapter, _title(env, other)))
    return str(filled('<p class="lm-about">{}</p>\n', Markup(" · ").join(links))) if links else ""


def _end(app, pagename: str, context) -> str:
    """Below a chapter: its homework once more, and how to cite it."""
    found, chapter = CHAPTER.fullmatch(pagename), number(pagename)
    if not found or not chapter:
        return ""
    homework = f"book/homework/{found[1]}-{found[2]}"
    fields = {
        "author": app.config.author,
        "title": _title(app.env, pagename),
        "booktitle": app.config.html_title,
        "chapter": chapter,
        "year": (re.findall(r"\d{4}", str(app.config.copyright)) or ["n.d."])[0],
        "url": f"{app.config.html_baseurl}{pagename}.html",
    }
    link = context["pathto"](homework) if homework in app.env.found_docs else ""
    return str(render("chapter-end.html", homework=link, name=found[2], fields=fields))


def description(doctree) -> str:
    """The first paragraph of a page's own text, cut behind a word where it is long."""
    for section in doctree.findall(nodes.section):
        for node in section.children:
            if not isinstance(node, nodes.paragraph):
                continue
            text = " ".join("".join(part.astext() for part in node.findall(nodes.Text)).split())
            if next(node.findall(nodes.math), None) is None and len(text) > 40:
                return text if len(text) <= LONGEST else text[: text.rindex(" ", 0, LONGEST)].rstrip(",;:. ") + " …"
    return ""


def _meta(app, pagename: str, context, doctree) -> str:
    """Description and social card (Open Graph)."""
    book = app.config.html_title or app.config.project
    title = html.unescape(re.sub(r"<[^>]+>", "", context.get("title") or "")) or book
    text = (doctree is not None and description(doctree)) or f"{title}: a page of {book}, an interactive course."
    base = app.config.html_baseurl
    values = {
        "og:type": "article" if number(pagename) else "website",
        "og:site_name": book,
        "og:title": title,
        "og:description": text,
        "og:url": f"{base}{pagename}.html",
        "og:image": f"{base}{CARD}",
    }
    structured = _structured(app, pagename, values)
    return str(render("chapter-meta.html", text=text, values=values, structured=structured))


def _structured(app, pagename: str, values: dict[str, str]) -> Markup:
    """What a search engine is told of a page in schema.org's words: a chapter is a LearningResource of the Book."""
    book = {
        "@type": "Book",
        "name": app.config.html_title or app.config.project,
        "url": app.config.html_baseurl,
        "author": {"@type": "Organization", "name": app.config.author},
        "inLanguage": "en",
        "license": "https://creativecommons.org/licenses/by/4.0/",
        "isAccessibleForFree": True,
    }
    about = {"name": values["og:title"], "description": values["og:description"], "url": values["og:url"]}
    page = {"@type": "LearningResource", **about, "educationalLevel": "university", "isPartOf": book}
    if not number(pagename):
        page = book if pagename == app.config.root_doc else {"@type": "WebPage", **about, "isPartOf": book}
    found = {"@context": "https://schema.org", **page}
    return Markup(json.dumps(found, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c"))


def _sitemap(app, exception):
    """sitemap.xml, which names every page of the book to search engines."""
    base = app.config.html_baseurl
    if exception or app.builder.format != "html" or not base:
        return
    addresses = [f"{base}{name}.html" for name in sorted(app.env.found_docs)]
    (Path(app.outdir) / "sitemap.xml").write_text(str(render("sitemap.xml", addresses=addresses)), encoding="utf8")


def _page_context(app, pagename, templatename, context, doctree):
    body = context.get("body", "")
    if about := _about(app, pagename, context):
        body = HEADING.sub(lambda found: found[0] + about, body, count=1)
    if end := _end(app, pagename, context):
        place = body.rstrip().rfind("</section>")
        body = body[:place] + end + body[place:]
    context["body"] = body
    context["metatags"] = context.get("metatags", "") + _meta(app, pagename, context, doctree)


def setup(app):
    app.connect("html-page-context", _page_context, priority=700)
    app.connect("build-finished", _sitemap)
