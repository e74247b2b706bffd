"""The whole book as one PDF, printed by Chromium: bookmarks, numbered pages, answers and solutions at the end.

All articles become one page of HTML, which is served beside the site (so that its fonts and stylesheets are the same)
and printed. Headings are a level lower than on the site, under the parts, because the bookmarks follow them.
"""

import html as markup
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

from lmbook_press.portable import articles
from lmbook_press.sphinx.serving import serve

NAME = "lmbook-on-paper.html"
BROWSERS = ("chromium-headless-shell", "chromium", "google-chrome")
STYLES = ("styles/theme.css", "styles/pydata-sphinx-theme.css", "pygments.css", "styles/sphinx-book-theme.css")
STYLES += ("katex/katex.min.css", "sphinx-design.min.css", "figures/figures.css", "lmbook.css", "boxes.css")
STYLES += ("landing.css", "paper.css")
PATIENCE = 1800  # seconds for some hundred pages, on a slow machine


def _lower(tree) -> None:
    """Every heading one level down; its look follows the class."""
    for level in (5, 4, 3, 2, 1):
        for heading in tree.iter(f"h{level}"):
            heading.tag = f"h{level + 1}"
            heading.set("class", f"lm-h{level}")


def document(root: Path, site: Path, title: str, author: str, base: str) -> str:
    """The HTML of the whole book."""
    pages = articles.read(root, site, base, "drawn", lambda page, place: f"#{place or articles.slug(page)}")
    contents, bodies, ends = [], [], []
    for page in pages[1:]:
        for tree in (page.body, *page.end):
            _lower(tree)
        if page.part:
            part = markup.escape(page.part)
            contents.append(f'<li class="lm-contents-part">{part}</li>')
            bodies.append(f'<h1 class="lm-part">{part}</h1>')
        link = f'<a href="#{articles.slug(page.name)}">{markup.escape(page.title)}</a>'
        contents.append(f"<li>{link}</li>")
        bodies.append(f'<div class="lm-page">{articles.written(page.body)}</div>')
        if page.end:
            ends.append(f"<h2 class='lm-h1'>{markup.escape(page.title)}</h2>")
            ends += map(articles.written, page.end)
    contents.append('<li class="lm-contents-part"><a href="#answers">Answers and solutions</a></li>')
    outputs = [file.name for file in (site / "_static").glob("mystnb.*.css")]  # the name has a number of its own
    styles = "".join(f'<link rel="stylesheet" href="_static/{file}">' for file in (*outputs, *STYLES))
    return f"""<!DOCTYPE html>
<html lang="en" data-theme="light" data-mode="light">
<head><meta charset="utf-8"><title>{markup.escape(title)}</title><meta name="author" content="{markup.escape(author)}">
{styles}</head>
<body class="lm-book"><main class="bd-main"><div class="bd-article-container"><article class="bd-article">
<section class="lm-cover"><p class="lm-book-title">{markup.escape(title)}</p><p>{markup.escape(author)}</p>
<p>The live book, with figures that answer: <a href="{base}">{base}</a></p></section>
<section class="lm-contents"><p class="lm-h1">Contents</p><ul>{"".join(contents)}</ul></section>
{"".join(bodies)}
<h1 class="lm-part" id="answers">Answers and solutions</h1>
<div class="lm-page">{"".join(ends)}</div>
</article></div></main></body></html>
"""


def print_to(out: Path, address: str) -> None:
    """Has Chromium print a page. Raises RuntimeError where there is no browser or it fails."""
    browser = next(filter(None, map(shutil.which, BROWSERS)), None)
    if browser is None:
        raise RuntimeError(f"To print, a browser must be on the path: {' or '.join(BROWSERS)}.")
    with tempfile.TemporaryDirectory() as profile:
        command = [browser, "--headless", "--disable-gpu", "--no-first-run", f"--user-data-dir={profile}"]
        command += ["--no-pdf-header-footer", "--generate-pdf-document-outline", f"--print-to-pdf={out.resolve()}"]
        command += ["--no-sandbox"] if hasattr(os, "geteuid") and os.geteuid() == 0 else []
        done = subprocess.run([*command, address], capture_output=True, text=True, timeout=PATIENCE)
    if done.returncode or not out.exists():
        raise RuntimeError(f"{browser} could not print:\n{done.stderr[-2000:]}")


def write_pdf(out: Path, root: Path, site: Path, title: str, author: str, base: str) -> Path:
    """Prints the built site to one file."""
    page = site / NAME
    out.parent.mkdir(parents=True, exist_ok=True)
    try:
        page.write_text(document(root, site, title, author, base), "utf-8")
        with serve(site) as (address, _):
            print_to(out, address + NAME)
    finally:
        page.unlink(missing_ok=True)
    return out
