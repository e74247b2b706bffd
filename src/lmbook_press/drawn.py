"""Drawings in the chapters: each is the stored output of a cell that shows it and does nothing else.

`redraw` puts the drawings as their source has them now into a notebook, without running it; `gallery` writes them all
to files, to look at while drawing.
"""

import re
from pathlib import Path

from markupsafe import Markup
from nbformat import NotebookNode
from nbformat.v4 import new_output

from lmbook import write
from lmbook_press.normalize import read, write_notebook
from lmbook_press.rendering import render

SHOWN = re.compile(r'from lmbook import drawings\n+drawings\.show\("([\w-]+)"\)')


def shown_by(cell: NotebookNode) -> str | None:
    """The name of the drawing that a cell shows, if that is what it is for."""
    found = SHOWN.fullmatch(cell.source.strip()) if cell.cell_type == "code" else None
    return found[1] if found else None


def redraw(path: Path) -> list[str]:
    """Stores the drawings of a notebook anew; returns the names of those that changed and writes only for them."""
    from lmbook import drawings

    notebook, changed = read(path), []
    for cell in notebook.cells:
        if name := shown_by(cell):
            output = new_output("display_data", data=drawings.bundle(name))
            if cell.outputs != [output]:
                cell.outputs = [output]
                changed.append(name)
    if changed:
        write_notebook(notebook, path)
    return changed


def gallery(out: Path) -> list[Path]:
    """Writes each panel as NAME.svg or NAME-1.svg, .., and all drawings, light, dark, grey, narrow, to index.html."""
    from lmbook import drawings

    written, shown = [], {}
    for name, drawn in drawings.every().items():
        shown[name] = Markup(drawings.to_html(name))
        panels = drawn.make()
        for number, panel in enumerate(panels, start=1):
            path = out / (f"{name}-{number}.svg" if len(panels) > 1 else f"{name}.svg")
            svg = panel.svg(panel.name or drawn.alt).replace("<svg ", '<svg xmlns="http://www.w3.org/2000/svg" ', 1)
            write(path, svg + "\n")
            written.append(path)
    write(out / "index.html", render("gallery.html", drawings=shown))
    return [*written, out / "index.html"]
