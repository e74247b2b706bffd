"""Interactive figures that live with a kernel (JupyterLab, Colab, VS Code) and on the page without one.

A figure is a folder NAME: a hand-written ES module NAME.mjs (see the head of kit/core.mjs), a class in __init__.py, and
NAME.json, where what is seen first takes long to compute (`python -m lmbook.figures.NAME` writes it). kit/ has what all
figures share, engine/ the models that are trained and read in the page.

    class NGramExplorer(Figure):
        module = "explorer"                       # explorer/explorer.mjs
        n = traitlets.Int(2).tag(sync=True)       # the state, read and set on both sides

        title = says("With n = 5 most histories were never seen")  # the finding
        caption = says("Type a history, then raise n.")            # what to try

        def _describe(self, change=None):         # what is shown, in words
            self.alt = f"Bars: the five likeliest words after ... with n = {self.n}"

        def fallback(self):                       # HTML of the first view, for a page without scripts
            return bars_svg([("harbour", 0.2, "0.2")])

Displayed, it is two outputs: its `text/html`, which is complete in itself, and a widget that takes its place where a
kernel's front end shows one:

    <figure class="lm-figure" data-module="explorer" data-version="1">
      <p class="lm-title">..</p> <div class="lm-fallback">..</div> <figcaption>..</figcaption>
      <script type="application/json">{"n": 2, ..}</script>
    </figure>

The site serves `modules()` from one folder and adds mount.mjs and figures.css to the pages that have a figure.
`data-version` is the class's `state_version`, to be raised when the traits change their meaning. It is not the hash of
the module's text (that is in the file's name, and mount.mjs knows it): a repair in core.mjs leaves every stored output
as it is.
An address that ends in `#figure=explorer&n=5` opens the page's first figure of that module with this state.
Stored notebooks keep `text/html` and `text/plain`; the widget's view and state are of no use without its kernel.
"""

import functools
import html
import json
from collections.abc import Callable, Iterable

import anywidget
import traitlets
from IPython.display import display

from lmbook.figures import bundle as _bundle
from lmbook.figures.limits import limits

WIDGET_VIEW = "application/vnd.jupyter.widget-view+json"
# In JupyterLab the output after a printed figure is a view whose kernel is gone: it only says that it found no model.
HIDE_DEAD_VIEW = (
    "<style>.jp-OutputArea-child:has(.jp-RenderedHTML .lm-figure) + "
    ".jp-OutputArea-child:not(:has(.lm-figure)){display:none}</style>"
)
FIGURES = {
    "SentenceProbability": "sentence",
    "ShannonGame": "shannon",
    "NGramExplorer": "explorer",
    "TokenizerComparison": "tokenizers",
    "NeighbourMap": "neighbours",
    "BackpropGraph": "backprop",
    "TwoDirections": "directions",
    "DecodingSteps": "decoding",
    "GradientOverDistance": "distance",
    "LSTMStep": "lstm",
    "UnrolledRNN": "unrolled",
    "FixedVector": "bottleneck",
    "SoftLookup": "lookup",
    "ForwardPass": "forward",
    "MaskPainter": "masks",
    "PositionWheels": "wheels",
    "Trainer": "trainer",
    "Translator": "translator",
    "OpenTransformer": "opened",
    "FillTheBlank": "blank",
    "NearSections": "nearby",
    "GPTWriter": "writer",
    "FirstWords": "firstwords",
    "CompleteDigit": "digit",
    "DoesItFit": "fits",
    "SwapTheBlock": "block",
    "SpendTheBudget": "budget",
    "YourPreferences": "preferring",
    "DraftAndCheck": "draft",
}


def __getattr__(name):
    """Loads a figure's class when it is first asked for: `from lmbook.figures import ShannonGame`."""
    if name in FIGURES:
        from importlib import import_module

        return getattr(import_module(f"lmbook.figures.{FIGURES[name]}"), name)
    raise AttributeError(f"lmbook.figures has no {name!r}; figures: {', '.join(FIGURES)}")


def modules(shared: tuple[str, ...] = _bundle.SHARED) -> dict[str, str]:
    """What a site serves from one folder, {file name: text}: NAME.VERSION.mjs of each figure and of each module that
    they share, mount.mjs, figures.css."""
    kinds = (__getattr__(name) for name in FIGURES)
    return _bundle.modules({kind.module: limits(kind) for kind in kinds}, shared)


def says(text: str) -> traitlets.Unicode:
    """A synced trait with the text that stands there unless another one is given."""
    return traitlets.Unicode(text).tag(sync=True)


def draws_nothing(make: Callable) -> Callable:
    """A function that leaves torch's generator as it was: what a chapter draws does not depend on its figures."""

    @functools.wraps(make)
    def within(*args, **kwargs):
        import torch

        with torch.random.fork_rng(devices=[]):
            return make(*args, **kwargs)

    return within


def counts(trait: str, rows: str) -> traitlets.ValidateHandler:
    """What holds a trait to the places of a list, another trait of its figure; limits.py holds addresses to them."""

    @traitlets.validate(trait)
    def check(self, proposal):
        if not 0 <= proposal["value"] < len(getattr(self, rows)):
            raise ValueError(f"{trait} is {proposal['value']}; it must be from 0 to {len(getattr(self, rows)) - 1}.")
        return proposal["value"]

    return check


class Figure(anywidget.AnyWidget):
    """A figure of the book: state in synced traits, the drawing in `module`.mjs.

    title: the finding, in a sentence.  caption: what to try.  alt: the first view in words, with its main numbers.
    All three are needed; ValueError names the missing one. What the range or choice of a trait does not have is
    refused with traitlets' TraitError, anything else with ValueError.
    """

    module = ""
    state_version = 1
    models: tuple[str, ...] = ()  # the trained models that it fetches when a reader asks for them; see live.mjs

    title, caption, alt = says(""), says(""), says("")

    def __init_subclass__(cls, **kwargs):
        # add_traits() of ipywidgets makes subclasses at run time: only a class that names a module of its own gets one
        if cls.__dict__.get("module"):
            cls._esm = _bundle.bundle(cls.module)
            cls._css = _bundle.style()
        super().__init_subclass__(**kwargs)

    def __init__(self, **state):
        super().__init__(**state)
        self.on_msg(self._hand_over)
        if "alt" not in state and not self.alt:
            self._describe()
            self.observe(self._describe, list(self.state().keys() - {"title", "caption", "alt"}))
        for name in ("title", "caption", "alt"):
            if not getattr(self, name).strip():
                raise ValueError(f"{type(self).__name__} needs {name}=: a sentence for readers (see lmbook.figures)")

    def _describe(self, change=None) -> None:
        """Says in `alt` what the state shows, at first and after each change; for a figure that can be asked."""

    def _hand_over(self, widget, message, buffers) -> None:
        """Sends a model's file and card where the page has asked for them."""
        name = message.get("weights") if isinstance(message, dict) else None
        if name in self.models:
            data, card = _bundle.weights(name)
            self.send({"weights": name, "card": card}, [data])
        elif name is not None:
            self.send({"weights": name, "error": f"this figure has no model {name}"})

    def state(self) -> dict:
        """The traits that the page needs, by name: all of ours that are synced."""
        ours = set(self.traits(sync=True)) - set(anywidget.AnyWidget.class_traits(sync=True))
        return {name: getattr(self, name) for name in sorted(ours) if not name.startswith("_")}

    def fallback(self) -> str:
        """HTML of the first view, shown where no script runs. Escape what is not yours; bars_svg() helps."""
        return f"<p>{html.escape(self.alt)}</p>"

    def html(self) -> str:
        """The figure for a page: state, fallback and caption. The same state gives the same bytes."""
        try:
            state = json.dumps(self.state(), ensure_ascii=False, separators=(",", ":"), allow_nan=False)
        except ValueError as error:
            raise ValueError(
                f"{type(self).__name__}: its state must be finite numbers, text, lists: {error}"
            ) from error
        state = state.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")
        title, caption = html.escape(self.title), html.escape(self.caption)
        return (
            f'<figure class="lm-figure" data-module="{self.module}" data-version="{self.state_version}" '
            f'aria-label="{title}">\n<p class="lm-title">{title}</p>\n'
            f'<div class="lm-fallback">{self.fallback()}</div>\n<figcaption>{caption}</figcaption>\n'
            f'<script type="application/json">{state}</script>\n</figure>'
        )

    def __repr__(self) -> str:
        return f"{type(self).__name__}: {self.title}"

    def _repr_mimebundle_(self, **kwargs):
        data, metadata = super()._repr_mimebundle_(**kwargs)
        return {**data, "text/plain": f"{self.title}. {self.alt}", "text/html": self.html()}, metadata

    def _ipython_display_(self):
        """Two outputs: the printed figure, then the living one, which takes its place (kit/core.mjs).

        A notebook that is opened again has no living one any more, and a front end that had to choose would choose it.
        """
        data, _ = self._repr_mimebundle_()
        view = {name: data.pop(name) for name in (WIDGET_VIEW,) if name in data}
        display({**data, "text/html": HIDE_DEAD_VIEW + data["text/html"]}, raw=True)
        display(view, raw=True)


def table_html(head: Iterable[str], rows: Iterable[Iterable[object]]) -> str:
    """A table for a fallback: the names of its columns, and rows whose first cell names the row. All is escaped."""
    names = "".join(f"<th scope='col'>{html.escape(name)}</th>" for name in head)
    lines = ""
    for row in rows:
        name, *cells = (html.escape(str(cell)) for cell in row)
        lines += f"<tr><th scope='row'>{name}</th>{''.join(f'<td>{cell}</td>' for cell in cells)}</tr>"
    return f"<table><thead><tr>{names}</tr></thead><tbody>{lines}</tbody></table>"


def bars_svg(rows: list[tuple[str, float, str]], *, alt: str, top: float | None = None) -> str:
    """Horizontal bars as inline SVG for a fallback: rows of (label, value, the value as text).

    Everything is in the text's own colour, so it reads on light and dark; widths are shares of `top` (by default
    the largest value).
    """
    top = top or max((value for _, value, _ in rows), default=1.0) or 1.0
    step, left, width = 24, 104, 168
    parts = []
    for i, (label, value, text) in enumerate(rows):
        y = i * step
        parts.append(
            f'<text x="{left - 8}" y="{y + 16}" text-anchor="end">{html.escape(label)}</text>'
            f'<rect x="{left}" y="{y + 5}" width="{max(0.0, min(1.0, value / top)) * width:.1f}" height="14" rx="2" '
            f'fill-opacity="0.55"/><text x="{left + width + 8}" y="{y + 16}">{html.escape(text)}</text>'
        )
    return (
        f'<svg role="img" aria-label="{html.escape(alt)}" viewBox="0 0 420 {step * len(rows)}" width="420" '
        'style="max-width:100%;height:auto" fill="currentColor" font-family="inherit" font-size="14">'
        f"{''.join(parts)}</svg>"
    )
