"""The files that a page loads, which are those it uses, and the number of a chapter, which is that of its file."""

import html
import re

from docutils import nodes

from lmbook_press.site.features import mathematics

# a file of an extension -> what a page that uses it has in its body
ONLY_WITH = {
    "sphinx-design.min.css": 'class="sd-',
    "design-tabs.js": 'class="sd-tab',
    "proof.css": 'class="proof',
    "copybutton.css": 'class="highlight',
    "copybutton.js": 'class="highlight',
    "clipboard.min.js": 'class="highlight',
    "exercise.css": None,  # boxes.css does its work
    "landing.css": 'class="lm-stations',
}
FIGURE = 'class="lm-figure"'
EARLY = 40_000  # letters of HTML that may be seen before anything is scrolled, where no figure fills the screen
# font -> what a page that needs it from the start has in its body (tables are not set in serifs)
FONTS = {"serif": r"\n<p>", "serif-italic": r"(\n|<li>)<p>[^<]*<em>", "serif-semibold": r"(\n|<li>)<p><strong>"}
FONTS |= {"sans": "", "sans-medium": "", "mono": "<pre>"}
FONTS = {f"fonts/{name}": mark for name, mark in FONTS.items()}
FONTS |= {"katex/fonts/KaTeX_Main-Regular": 'class="mord', "katex/fonts/KaTeX_Math-Italic": "mathnormal"}
FONTS |= {"katex/fonts/KaTeX_Main-Bold": "mathbf", "katex/fonts/KaTeX_Typewriter-Regular": "texttt"}


def _wanted(file, body: str) -> bool:
    name = str(getattr(file, "filename", file)).split("?")[0].rsplit("/", 1)[-1]
    mark = ONLY_WITH.get(name, "")
    return mark is not None and mark in body


def _seen_first(body: str) -> str:
    """The part that may be seen before anything is scrolled: of a chapter that opens with a figure, its first part."""
    opening = "<section".join(body.split("<section", 2)[:2])
    return opening if FIGURE in opening else body[:EARLY]


def _page_context(app, pagename, templatename, context, doctree):
    body = context.get("body", "")
    if 'class="katex' in body:
        app.add_css_file(mathematics.STYLESHEET, priority=400)
    if FIGURE in body:
        app.add_js_file("figures/mount.mjs", type="module")
        app.add_css_file("figures/figures.css", priority=400)
        # on paper, lmbook.css says under each figure where it is alive
        at = html.escape(f"{app.config.html_baseurl}{pagename}.html")
        body = context["body"] = body.replace(f"<figure {FIGURE}", f'<figure {FIGURE} data-at="{at}"')
    seen = _seen_first(body)
    folder = context["pathto"]("_static", resource=True)
    context["metatags"] = context.get("metatags", "") + "".join(
        f'<link rel="preload" href="{folder}/{name}.woff2" as="font" type="font/woff2" crossorigin>\n'
        for name, mark in FONTS.items()
        if re.search(mark, seen)
    )
    for files in ("css_files", "script_files"):
        context[files][:] = [file for file in context[files] if _wanted(file, body)]


def _fill_in(app, docname, source):
    """%REPOSITORY% in a page stands for the address that _config.yml holds."""
    source[0] = source[0].replace("%REPOSITORY%", app.config.html_theme_options.get("repository_url", ""))


def _number_as_named(app, env):
    """Chapter NN-name.ipynb has the number NN, and so have its formulae, whichever chapters stand before it."""
    for page in env.toc_secnumbers:
        found = re.match(r"notebooks/(\d\d)-", page)
        chapter = int(found[1]) if found else 0
        if not chapter:  # chapter 0 and the pages around the chapters have no number
            continue
        for numbers in (env.toc_secnumbers[page], *env.toc_fignumbers.get(page, {}).values()):
            for place, number in numbers.items():
                numbers[place] = number and (chapter, *number[1:])
        for node in (env.titles[page], env.longtitles[page], *env.tocs[page].findall(nodes.reference)):
            if node.get("secnumber"):
                node["secnumber"] = (chapter, *node["secnumber"][1:])
    return []


def setup(app):
    app.connect("env-get-updated", _number_as_named, priority=900)  # after Sphinx has counted
    app.connect("source-read", _fill_in)
    app.add_js_file("page.mjs", type="module")
    app.add_js_file("reading.mjs", type="module")
    app.connect("html-page-context", _page_context, priority=900)
