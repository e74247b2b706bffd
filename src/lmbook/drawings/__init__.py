"""The book's drawings: networks, data and the way between them, in one hand and from source.

    from lmbook import drawings
    drawings.show("lstm-cell")

`lettering` sets text and formulae, `shapes` has the few shapes and the colours, and each file of PARTS
has a function for each drawing of some chapters. A drawing is stored as the output of its cell; `lmbook draw` puts a
changed one there.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from html import escape
from importlib import import_module

from lmbook.drawings.lettering import html
from lmbook.drawings.shapes import Panel

PARTS = (
    "tools", "language", "networks", "recurrent", "sequences", "attention", "selfattention", "transformers",
    "encoders", "decoders", "today",
)  # fmt: skip


@dataclass(frozen=True)
class Drawing:
    """One drawing: what makes its panels, where it stands, and what is said of it."""

    name: str
    chapter: int
    number: str  # "7.1": the first drawing of chapter 7
    make: Callable[[], list[Panel]]
    caption: str
    alt: str


_DRAWINGS: dict[str, Drawing] = {}


def drawing(chapter: int, caption: str, alt: str) -> Callable:
    """Registers a function as the chapter's next drawing, under its own name with hyphens.

    caption: what to see, in a sentence or two; formulae between dollar signs. alt: the same for who does not see it.
    """

    def register(make: Callable[[], list[Panel]]) -> Callable[[], list[Panel]]:
        name = make.__name__.replace("_", "-")
        if name in _DRAWINGS:
            raise ValueError(f"There is a drawing {name} already; give each its own name.")
        count = 1 + sum(other.chapter == chapter for other in _DRAWINGS.values())
        _DRAWINGS[name] = Drawing(name, chapter, f"{chapter}.{count}", make, caption, alt)
        return make

    return register


@cache
def every() -> dict[str, Drawing]:
    """Every drawing by name, in the order of the chapters."""
    for part in PARTS:
        import_module(f"lmbook.drawings.{part}")
    return dict(sorted(_DRAWINGS.items(), key=lambda item: item[1].chapter))


def get(name: str) -> Drawing:
    """The drawing of this name. Raises ValueError, with the names that exist, if there is none."""
    if name not in every():
        raise ValueError(f"There is no drawing {name!r}. There are {', '.join(every())}.")
    return every()[name]


def to_html(name: str) -> str:
    """The <figure> element that `show` displays: inline SVG and its numbered caption; no script, no address."""
    chosen = get(name)
    panels = chosen.make()
    several = len(panels) > 1
    pictures = "\n".join(panel.svg(panel.name if several else chosen.alt) for panel in panels)
    wide = max(panel.width for panel in panels) > 320
    # A drawing that may be wider than the screen can be focused, so that the keyboard can scroll it; the attribute
    # keeps JupyterLab from taking the keys. Several panels are one picture in several steps, and described as one.
    scroll = ' tabindex="0" data-lm-suppress-shortcuts="true"' if wide else ""
    group = f' role="group" aria-label="{escape(chosen.alt if several else "Drawing; scrolls sideways")}"'
    return (
        f'<figure class="lm-plot lm-drawing" data-drawing="{chosen.name}" '
        'style="margin:1.2em 0;padding:0;color:inherit;background:none">\n'
        f"<div{scroll}{group if wide or several else ''} "
        'style="display:flex;flex-wrap:wrap;justify-content:safe center;align-items:flex-start;gap:20px 24px;'
        'overflow-x:auto">\n'
        f"{pictures}\n</div>\n"
        f'<figcaption style="margin-top:.7em"><b>Figure {chosen.number}.</b> {html(chosen.caption)}</figcaption>\n'
        "</figure>"
    )


def bundle(name: str) -> dict[str, str]:
    """What the cell of a drawing puts out, by media type."""
    return {"text/html": to_html(name), "text/plain": get(name).alt}


def show(name: str) -> None:
    """Displays a drawing with its number, its caption and its text alternative."""
    from IPython.display import display

    display(bundle(name), raw=True)
