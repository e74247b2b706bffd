"""Room for the figures before they are alive, so that nothing below them moves.

heights.json holds, for each page, the heights of its living figures in order, at the widths of WIDTHS; null for one
that is folded away. `python benchmarks/pages.py --heights` measures them anew. A figure that is not in it gets no room.
"""

import json
import re
from functools import cache
from pathlib import Path

FILE = Path(__file__).with_name("heights.json")
WIDTHS = (360, 768, 1280)  # of the window; lmbook.css says from where to where each counts
FIGURE = re.compile(r'<figure class="lm-figure"')


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


def _page_context(app, pagename, templatename, context, doctree):
    if heights := measured().get(pagename):
        context["body"] = reserve(context["body"], heights)


def setup(app):
    # as a setting, so that all pages are written anew when it has changed
    app.add_config_value("lmbook_heights", json.dumps(measured(), sort_keys=True), "html")
    app.connect("html-page-context", _page_context, priority=850)
