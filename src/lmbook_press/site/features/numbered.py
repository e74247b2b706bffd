"""Figure 9.2 in the text leads to the drawing of that number; a number without a drawing fails the build."""

import re

from docutils import nodes
from sphinx.util import logging

from lmbook import drawings
from lmbook_press.site.features import chapters

NAMED = re.compile(r"\bFigure (\d+)\.(\d+)\b")
DRAWN = re.compile(r'<figure class="lm-plot lm-drawing" data-drawing="([\w-]+)"')
NOT_IN = (nodes.reference, nodes.literal, nodes.raw, nodes.title, nodes.literal_block)
log = logging.getLogger(__name__)


def place(number: str) -> str:
    """The id of the drawing of this number, on its page."""
    return f"figure-{number.replace('.', '-')}"


def _within(node: nodes.Node) -> bool:
    while node is not None:
        if isinstance(node, NOT_IN):
            return True
        node = node.parent
    return False


def _link(app, doctree, docname):
    """Makes a link of every such number outside of code, headings and other links."""
    pages = {chapters.number(page): page for page in app.env.found_docs if chapters.CHAPTER.fullmatch(page)}
    numbers = {drawing.number for drawing in drawings.every().values()}
    for text in list(doctree.findall(nodes.Text)):
        words = str(text)
        if not NAMED.search(words) or _within(text.parent):
            continue
        parts, end = [], 0
        for found in NAMED.finditer(words):
            number = f"{found[1]}.{found[2]}"
            if number not in numbers:
                log.warning(f"the text names Figure {number}, and no drawing has that number", location=text.parent)
            if number not in numbers or int(found[1]) not in pages:
                continue
            page = pages[int(found[1])]
            home = "" if page == docname else app.builder.get_relative_uri(docname, page)
            link = nodes.reference("", found[0], internal=True, refuri=f"{home}#{place(number)}", classes=["lm-to"])
            parts += [nodes.Text(words[end : found.start()]), link]
            end = found.end()
        text.parent.replace(text, [*parts, nodes.Text(words[end:])])


def named(body: str) -> str:
    """The HTML of a page with an id at each drawing; where one is shown twice, at the first."""
    seen = set()

    def mark(found: re.Match) -> str:
        if found[1] in seen or found[1] not in drawings.every():
            return found[0]
        seen.add(found[1])
        return found[0].replace("<figure", f'<figure id="{place(drawings.get(found[1]).number)}"', 1)

    return DRAWN.sub(mark, body)


def _page_context(app, pagename, templatename, context, doctree):
    if "body" in context:
        context["body"] = named(context["body"])


def setup(app):
    app.connect("doctree-resolved", _link)
    app.connect("html-page-context", _page_context, priority=600)
