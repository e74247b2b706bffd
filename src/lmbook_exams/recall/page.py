"""What the site has of the cards: a file for each chapter, which today.mjs fetches, and the list of chapters.

    ```{today}
    ```

is the place for the questions that are due, ```{record}``` the one for the record of work.  As an extension of Sphinx:
`lmbook_exams.recall.page` in _config.yml.
"""

from itertools import groupby
from pathlib import Path

from docutils import nodes
from sphinx.util.docutils import SphinxDirective

from lmbook_exams.recall.cards import Card, cards
from lmbook_press.book import Book
from lmbook_press.prose import prose
from lmbook_press.rendering import render
from lmbook_press.site.features.mathematics import STYLESHEET

FOLDER = "questions"  # below _static
PAGES = ("book/today", "book/record")
SCRIPT = "today.mjs"


class place(nodes.General, nodes.Element):
    """Where today.mjs writes: `name` is today or record."""


class Place(SphinxDirective):
    """`today` or `record`, by the name under which it stands."""

    def run(self):
        return [place(name=self.name)]


def visit_place(self, node):
    """The chapters that it may ask about, for the script, and a sentence for those who have none."""
    titles = self.builder.env.titles
    found = [(page.split("/")[1], titles[page].astext()) for page in sorted(titles) if page.startswith("notebooks/")]
    self.body.append(str(render("today.html", "lmbook_exams", name=node["name"], chapters=found)))
    raise nodes.SkipNode


def sides(card: Card) -> dict[str, str]:
    """Question and answer as HTML, formulae drawn by KaTeX."""
    return {name: prose(getattr(card, name), katex=True) for name in ("front", "back")}


def write_cards(app):
    """One file a chapter; its formulae are seen where the fonts are cut."""
    if app.builder.format != "html":
        return
    folder = Path(app.outdir) / "_static" / FOLDER
    folder.mkdir(parents=True, exist_ok=True)
    for chapter, several in groupby(cards(Book(Path(app.srcdir))), key=lambda card: card.chapter):
        text = render("questions.html", "lmbook_exams", cards=[(card, sides(card)) for card in several])
        (folder / f"{chapter:02d}.html").write_text(text, encoding="utf8")


def _page_context(app, pagename, templatename, context, doctree):
    """The script and the stylesheet of formulae, on these pages alone."""
    if pagename in PAGES:
        app.add_js_file(SCRIPT, type="module")
        app.add_css_file(STYLESHEET, priority=400)
        app.add_css_file("today.css")


def setup(app):
    app.add_node(place, html=(visit_place, None))
    app.add_directive("today", Place)
    app.add_directive("record", Place)
    app.connect("builder-inited", write_cards)
    app.connect("html-page-context", _page_context)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
