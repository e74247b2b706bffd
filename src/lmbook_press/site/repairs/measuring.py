"""pydata-sphinx-theme 0.16.1: it measures box by box which of them scroll, after every change in the text, and lays the
whole page out each time. Only page.mjs measures here.

It can go with a version that measures all boxes at once; the build warns once the list of boxes is another.
"""

from pathlib import Path

from lmbook_press.site.patching import patch

BOXES = '["pre",".nboutput > .output_area",".cell_output > .output",".jp-RenderedHTMLCommon",'
BOXES += '".pst-scrollable-table-container"]'


def static(folder: Path) -> None:
    patch(folder / "scripts" / "pydata-sphinx-theme.js", BOXES, '["lm-nothing"]', __name__)
