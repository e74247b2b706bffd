"""What a value looks like in a page: IPython's rules for display, and Matplotlib's open figures as SVG."""

import functools
import importlib.util
import io
import re
import sys
from collections.abc import Callable
from pathlib import Path

from IPython.lib.pretty import pretty

METHODS = {
    "text/html": "_repr_html_",
    "text/markdown": "_repr_markdown_",
    "image/svg+xml": "_repr_svg_",
    "image/png": "_repr_png_",
    "image/jpeg": "_repr_jpeg_",
    "text/latex": "_repr_latex_",
    "application/json": "_repr_json_",
    "application/javascript": "_repr_javascript_",
}
_send: Callable[[dict], None] = print
_count = 0


def begin(send: Callable[[dict], None], count: int) -> None:
    """From now on outputs go to `send`, and results bear this number."""
    global _send, _count
    _send, _count = send, count


def _own(value: object, name: str) -> Callable | None:
    """A method that says how a value is shown; of a class, which has it for its instances, none."""
    if isinstance(value, type):
        return None
    try:
        method = getattr(value, name, None)
    except Exception:
        return None
    return method if callable(method) else None


def bundle(value: object) -> tuple[dict, dict]:
    """A value by media type, and the metadata."""
    data, metadata = {}, {}
    if method := _own(value, "_repr_mimebundle_"):
        given = method(include=None, exclude=None)
        data, metadata = given if isinstance(given, tuple) else (given or {}, {})
        data, metadata = dict(data), dict(metadata)
    for kind, name in METHODS.items():
        if kind not in data and (method := _own(value, name)) and (shown := method()) is not None:
            if isinstance(shown, tuple):
                shown, metadata[kind] = shown
            data[kind] = encoded(shown)
    if _is_figure(value):
        data["image/svg+xml"] = svg(value)
    data.setdefault("text/plain", pretty(value))
    return {kind: data[kind] for kind in sorted(data)}, metadata


def encoded(shown: object) -> object:
    if isinstance(shown, bytes):
        import base64

        return base64.b64encode(shown).decode()
    return shown


def result(value: object) -> None:
    """Shows the value of a cell's last line."""
    if method := _own(value, "_ipython_display_"):
        method()
        return
    data, metadata = bundle(value)
    _send({"output_type": "execute_result", "execution_count": _count, "data": data, "metadata": metadata})


def display(*values: object, raw: bool = False, metadata: dict | None = None, **options: object) -> None:
    """IPython.display.display."""
    for value in values:
        if raw:
            shown = dict(value), metadata or {}
        elif method := _own(value, "_ipython_display_"):
            method()
            continue
        else:
            shown = bundle(value)
            shown[1].update(metadata or {})
        _send({"output_type": "display_data", "data": shown[0], "metadata": shown[1]})


def clear() -> None:
    """IPython.display.clear_output."""
    _send({"output_type": "clear"})


def _is_figure(value: object) -> bool:
    module = sys.modules.get("matplotlib.figure")
    return module is not None and isinstance(value, module.Figure)


INK, PAPER = "#010203", "#fefdfc"  # in place of black and white until the SVG is written


def use_wide_indices() -> None:
    """np.bincount takes integers of 64 bits, as on a computer: here an index has 32, and it would refuse them."""
    import numpy as np

    narrow = np.bincount

    @functools.wraps(narrow)
    def bincount(x: object, /, weights: object = None, minlength: int = 0) -> np.ndarray:
        ids = np.asarray(x)
        if ids.dtype in (np.int64, np.uint32, np.uint64) and (not ids.size or ids.max() < 2**31):
            ids = ids.astype(np.intp)
        return narrow(ids, weights, minlength)

    np.bincount = bincount


def use_theme() -> None:
    """Figures that say nothing of colours take those of the page: called once Matplotlib is there."""
    fonts = Path(importlib.util.find_spec("matplotlib").origin).with_name("fontlist.json")
    text = fonts.read_text(encoding="utf8")  # of a later version, so that Matplotlib would look for all fonts anew
    fonts.write_text(text.replace('"_version": 390', '"_version": 330', 1), encoding="utf8")
    import matplotlib as mpl

    mpl.use("agg")
    named = ("axes.edgecolor", "axes.labelcolor", "text.color", "xtick.color", "ytick.color", "hatch.color")
    mpl.rcParams.update({name: INK for name in named if mpl.rcParams[name] in ("black", "k")})
    mpl.rcParams.update({"figure.facecolor": "none", "axes.facecolor": "none", "savefig.facecolor": "none"})
    mpl.rcParams["svg.hashsalt"] = "lmbook"


def svg(figure) -> str:
    """A figure as SVG whose lines and letters have the colour of the text around it."""
    file = io.StringIO()
    figure.savefig(file, format="svg", bbox_inches="tight", metadata={"Date": None, "Creator": None})
    text = file.getvalue()
    text = text[text.index("<svg") :].replace(INK, "currentColor")
    return re.sub(r"<metadata>.*?</metadata>", "", text, flags=re.DOTALL)


def open_figures(shown: bool) -> None:
    """Shows and closes the figures that are open when a cell ends; after an error, closes them."""
    pyplot = sys.modules.get("matplotlib.pyplot")
    if pyplot is None:
        return
    for number in pyplot.get_fignums() if shown else []:
        figure = pyplot.figure(number)
        if figure.axes or figure.texts:
            display(figure)
    pyplot.close("all")
