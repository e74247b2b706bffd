"""Room for what is not drawn yet: figures that are not alive, and sections that the reader is far from.

heights.json holds, for each page, the heights of its living figures in order, at the widths of WIDTHS; null for one
that is folded away. `python benchmarks/pages.py --heights` measures them anew. A figure that is not in it gets no room.
The height of a section is estimated from what stands in it, so that the scroll bar is about right from the start;
page.mjs measures it later.
"""

import json
import re
from functools import cache
from pathlib import Path

FILE = Path(__file__).with_name("heights.json")
WIDTHS = (360, 768, 1280)  # of the window; lmbook.css says from where to where each counts
FIGURE = re.compile(r'<figure class="lm-figure"')
SECTION = re.compile(r"<(/?)section\b([^>]*)>")
CODE = re.compile(r"<pre\b.*?</pre>", re.DOTALL)
FOLDED = re.compile(r"(?<=</summary>).*?(?=</details>)", re.DOTALL)
UNREAD = re.compile(r"<(svg|math|script|style|template)\b.*?</\1>|<[^>]*>", re.DOTALL)
# Pixels in a window of WIDTHS[-1], by least squares over all sections of the book, and a tenth more: links of a section
# that is higher than its room lie, for a script that measures them, on those of the next.
LETTER, LINE, PARTS = 0.55, 22, {"lm-equation": 93, "<figure": 225, "<pre": 28, 'class="admonition': 30, "<details": 30}


@cache
def measured() -> dict[str, list[list[int] | None]]:
    """Page -> the heights of each of its figures, one for each of WIDTHS."""
    return json.loads(FILE.read_text("utf-8")) if FILE.is_file() else {}


def reserve(body: str, heights: list[list[int] | None]) -> str:
    """The HTML of a page with room for its figures."""
    left = iter(heights)

    def room(found: re.Match) -> str:
        high = next(left, None)
        if not high:
            return found[0]
        style = ";".join(f"--lm-high-{width}:{pixels}px" for width, pixels in zip(WIDTHS, high, strict=True))
        return f'{found[0]} style="{style}"'

    return FIGURE.sub(room, body)


def estimate(section: str) -> int:
    """About how many pixels high a section is in a wide window, from its HTML; a folded box counts by its summary."""
    seen = FOLDED.sub("", section)
    lines = sum(code.count("\n") for code in CODE.findall(seen))
    letters = len(UNREAD.sub("", CODE.sub("", seen)))
    return round(LETTER * letters + LINE * lines + sum(high * seen.count(part) for part, high in PARTS.items()))


def roomy(body: str) -> str:
    """The HTML of a page, where each section right below its title says how high it may be."""
    pieces, end, depth, attributes = [], 0, 0, ""
    for tag in SECTION.finditer(body):
        depth += -1 if tag[1] else 1
        if depth == 2 and not tag[1]:
            pieces.append(body[end : tag.start()])
            end, attributes = tag.end(), tag[2]
        elif depth == 1 and tag[1]:
            inner, end = body[end : tag.start()], tag.end()
            pieces.append(f'<section{attributes} style="--lm-room:{estimate(inner)}px">{inner}</section>')
    return "".join([*pieces, body[end:]])


def _page_context(app, pagename, templatename, context, doctree):
    if heights := measured().get(pagename):
        context["body"] = reserve(context["body"], heights)
    if context.get("body"):
        context["body"] = roomy(context["body"])


def setup(app):
    # as a setting, so that all pages are written anew when it has changed
    app.add_config_value("lmbook_heights", json.dumps(measured(), sort_keys=True), "html")
    app.connect("html-page-context", _page_context, priority=850)
