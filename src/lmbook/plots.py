"""Static figures: one palette, one style, and `show`, which puts a figure into the page with a text alternative.

The figure becomes inline SVG: its text stays text, lines and letters take the colour of the page around it (so it is
right in light and dark), and the same figure gives the same bytes each time, so that stored outputs can be compared.
"""

import hashlib
import html
import io
import re
from typing import Any

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
from cycler import cycler
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.text import Text
from matplotlib.transforms import Bbox

# Blue, gold, green, pink, olive, violet. Each has a contrast of 3:1 or more against white and against #121212; their
# lightness differs, so grey print keeps them apart; so do simulations of the three kinds of colour blindness.
PALETTE = ("#1a71c5", "#be8607", "#01925e", "#e0589a", "#7d7b31", "#6b5f99")
# Colour is never the only sign: the n-th line also has the n-th dash and the n-th marker.
LINE_STYLES = ("-", "--", "-.", ":", (0, (5, 1)), (0, (3, 1, 1, 1, 1, 1)))
MARKERS = ("o", "s", "^", "D", "v", "P")

# Shares from 0 to 1, from the bare page to blue: more is further from the ground in light and in dark, and letters in
# the page's colour can be read on every shade.
SHARES = LinearSegmentedColormap.from_list("shares", [PALETTE[0] + "00", PALETTE[0] + "bf"])

# A system that a plot, drawing or live figure names has the same colour, dash and marker in every chapter: the place
# in the three lists above. Systems that no chapter compares may share one; those of a line never do.
SYSTEMS = {
    "RNN": 0, "GRU": 1, "LSTM": 2, "feed-forward": 3, "n-gram": 4, "GPT": 5,
    "attention": 0, "every step": 1, "two layers": 2, "hybrid": 3, "first state": 4, "Transformer": 5,
    "rotary": 0, "ALiBi": 1, "sinusoidal": 2, "learned": 3, "none": 4,
}  # fmt: skip
# Other names of the same systems.
ALIASES = {
    "plain RNN": "RNN", "one RNN": "RNN", "n-grams": "n-gram", "4-gram": "n-gram", "6-grams": "n-gram",
    "one vector": "first state", "first state only": "first state", "RNNenc": "every step",
    "fixed vector": "every step", "RNNsearch": "attention",
}  # fmt: skip

_INK = "#010203"  # in place of the page's own text colour until the SVG is written
_SYSTEM = "lm-system-"  # begins the id of a line that shows a system, until the SVG is written
_UNSEEN = re.compile(r'<path d=[^>]* style="fill: (none|#\w+; fill-opacity: 0)"/>')  # a cell of weight 0, say
_WIDTH = 6.0  # inches; 576 CSS pixels
_MARGIN = 0.03  # inches above and below what stands outside the figure
_NARROWEST = 480  # CSS pixels; on a narrower screen the figure scrolls sideways instead of shrinking its letters


def use_style() -> None:
    """Makes the book's style Matplotlib's default for all figures made from now on."""
    mpl.rcParams.update(
        {
            "figure.figsize": (_WIDTH, 3.6),
            "figure.constrained_layout.use": True,
            "figure.facecolor": "none",
            "axes.facecolor": "none",
            "axes.prop_cycle": cycler(color=PALETTE, linestyle=LINE_STYLES, marker=MARKERS, markevery=[0.1] * 6),
            "axes.edgecolor": _INK,
            "axes.labelcolor": _INK,
            "axes.titlecolor": _INK,
            "axes.titlelocation": "left",
            "axes.titlesize": 12,
            "axes.spines.top": False,
            "axes.spines.right": False,
            "axes.grid": True,
            "axes.axisbelow": True,
            "grid.color": _INK,
            "grid.alpha": 0.15,
            "font.family": "DejaVu Sans",
            "font.size": 11,
            "text.color": _INK,
            "xtick.color": _INK,
            "ytick.color": _INK,
            "xtick.labelsize": 10,
            "ytick.labelsize": 10,
            "legend.frameon": False,
            "lines.linewidth": 2.0,
            "lines.markersize": 5.5,
            "hatch.color": _INK,
            "image.cmap": "cividis",
        }
    )


def system(label: str) -> str | None:
    """The system that a label names, as in SYSTEMS, or None. After a comma there is a remark: "RNN, trained"."""
    name = label.split(",")[0]
    name = ALIASES.get(name, name)
    return name if name in SYSTEMS else None


def look(label: str) -> dict[str, object]:
    """Colour, dash and marker of the system that a label names: ax.plot(x, y, label="LSTM", **look("LSTM")).

    Raises ValueError for a name that SYSTEMS and ALIASES do not have.
    """
    if (name := system(label)) is None:
        raise ValueError(f"No system is called {label!r}: use one of {', '.join([*SYSTEMS, *ALIASES])}.")
    place = SYSTEMS[name]
    return {"color": PALETTE[place], "ls": LINE_STYLES[place], "marker": MARKERS[place]}


def _figure(ax: Axes) -> Figure:
    if not isinstance(ax.figure, Figure):
        raise TypeError("the axes are those of a subfigure; the book's figures have none.")
    return ax.figure


def _points(line: Line2D) -> np.ndarray:
    """The points of a line, (n, 2), in the units of its axes."""
    return np.asarray(line.get_xydata(), dtype=float)


def label_lines(ax: Axes, gap: float = 13.0) -> None:
    """Writes each labelled line's label next to its last point, in place of a legend.

    gap: least distance between two labels in points; labels closer than that are moved apart. Call it last.
    Raises ValueError if no line of the axes has a label.
    """
    lines = [line for line in ax.get_lines() if not str(line.get_label()).startswith("_") and len(_points(line))]
    if not lines:
        raise ValueError("No line has a label; give one to each: ax.plot(x, y, label='bigram').")
    _wrap_titles(_figure(ax).axes)
    _figure(ax).draw_without_rendering()  # settles limits and layout, which the distances depend on
    ends = []
    for line in lines:
        points = ax.transData.transform(_points(line))
        x, y = points[np.isfinite(points).all(axis=1)][-1] * 72 / _figure(ax).dpi
        ends.append((y, x, line))
    ends.sort(key=lambda end: end[0])
    heights = np.array([end[0] for end in ends])
    for _ in range(200):  # neighbours that are too close push each other apart until none is
        lack = gap - np.diff(heights)
        if (lack < 0.01).all():
            break
        push = np.maximum(lack, 0) / 2
        heights[:-1] -= push
        heights[1:] += push
    for height, (y, _, line) in zip(heights, ends, strict=True):
        data = np.asarray(line.get_xydata())
        ax.annotate(
            str(line.get_label()),
            data[np.isfinite(_points(line)).all(axis=1)][-1],
            xytext=(7, height - y),
            textcoords="offset points",
            va="center",
            annotation_clip=False,
        )


def label_points(ax: Axes, points: np.ndarray, names: list[str], size: float = 9.0) -> None:
    """Writes each name next to its point, on the side where it covers least of the other names and points.

    points: (n, 2), in the units of the axes. Call it last, when limits and title are set. Of eight sides each name
    takes the best, given the others, until none moves. Raises ValueError unless there is a name for each point.
    """
    if len(points) != len(names):
        raise ValueError(f"{len(points)} points and {len(names)} names: give one name to each point.")
    _figure(ax).draw_without_rendering()  # settles limits and layout, which the distances depend on
    scale = 72 / _figure(ax).dpi
    places = ax.transData.transform(np.asarray(points, dtype=float)) * scale
    style: dict[str, Any] = {"textcoords": "offset points", "fontsize": size, "annotation_clip": False}
    texts = [ax.annotate(name, point, (0, 0), **style) for name, point in zip(names, points, strict=True)]
    # A narrow screen enlarges letters by about a quarter; the names must not meet there either.
    sizes = np.array([text.get_window_extent().size for text in texts]) * scale * 1.25
    sides = np.array([(1, 1), (1, -1), (-1, 1), (-1, -1), (0, 1), (0, -1), (1, 0), (-1, 0)])
    away = sides * np.where(sides.all(axis=1), 3, 5)[:, None]  # points of paper between point and name
    low = places[:, None] + away + (sides - 1) / 2 * sizes[:, None]  # (n, 8, 2): the corner of each box
    frame = np.reshape(ax.get_window_extent().extents, (2, 2)) * scale

    def shared(a_low: np.ndarray, a_high: np.ndarray, b_low: np.ndarray, b_high: np.ndarray) -> np.ndarray:
        return np.clip(np.minimum(a_high, b_high) - np.maximum(a_low, b_low), 0, None).prod(-1)

    chosen = np.zeros(len(texts), dtype=int)
    for _ in range(20):
        before = chosen.copy()
        for i, corners in enumerate(low):
            others = np.arange(len(texts)) != i
            there = low[others, chosen[others]]
            box = corners[:, None], corners[:, None] + sizes[i]
            cost = shared(*box, there, there + sizes[others]).sum(1) + shared(*box, places - 3, places + 3).sum(1)
            inside = shared(corners, corners + sizes[i], *frame)
            chosen[i] = (cost + (sizes[i].prod() - inside) + 0.1 * np.arange(8)).argmin()
        if (chosen == before).all():
            break
    for text, offset, (x, y) in zip(texts, away[chosen], sides[chosen], strict=True):
        text.set(position=offset, ha={-1: "right", 0: "center", 1: "left"}[x])
        text.set_verticalalignment("top" if y < 0 else "bottom" if y > 0 else "center")


def show(fig: Figure, alt: str, caption: str | None = None) -> None:
    """Displays a figure as inline SVG with its text alternative, and closes it.

    alt: what the figure shows, for those who do not see it: the finding and two numbers.
    caption: a line of plain text below the figure. Raises ValueError without alt text.
    """
    from IPython.display import display

    if not isinstance(alt, str) or not alt.strip():
        raise ValueError("A figure needs alternative text: show(fig, alt='what it shows, with two numbers').")
    display({"text/html": to_html(fig, alt, caption), "text/plain": alt}, raw=True)
    plt.close(fig)


def to_html(fig: Figure, alt: str, caption: str | None = None) -> str:
    """The <figure> element that `show` displays: no script, no address, nothing that changes from run to run."""
    svg, width = _svg(fig)
    narrowest = min(_NARROWEST, width)
    svg = svg.replace(
        "<svg ",
        f'<svg role="img" aria-label="{html.escape(alt)}" fill="currentColor" stroke-linejoin="round" '
        f'style="display:block;width:100%;min-width:{narrowest}px;max-width:{width}px;height:auto" ',
        1,
    )
    note = f'\n<figcaption style="margin-top:.5em">{html.escape(caption)}</figcaption>' if caption else ""
    # The box can be focused, so that the keyboard can scroll it; the attribute keeps JupyterLab from taking the keys.
    return (
        '<figure class="lm-plot" style="margin:1em 0;color:inherit;background:none">\n'
        '<div tabindex="0" role="group" aria-label="Figure; scrolls sideways on a narrow screen" '
        f'data-lm-suppress-shortcuts="true" style="overflow-x:auto">\n{svg}</div>{note}\n</figure>'
    )


def _whole(fig: Figure) -> Bbox | None:
    """What is to be drawn where letters stand above or below the figure, as over plots of equal sides."""
    fig.canvas.draw()
    inside, needed = Bbox.from_bounds(0, 0, *fig.get_size_inches()), fig.get_tightbbox()
    if needed.y0 >= 0 and needed.y1 <= inside.y1:
        return None
    return Bbox([[0, min(0, needed.y0 - _MARGIN)], [inside.x1, max(inside.y1, needed.y1 + _MARGIN)]])


def _svg(fig: Figure) -> tuple[str, int]:
    """The figure as an <svg> element fit for a page, and its width in CSS pixels."""
    _wrap_titles(fig.axes)
    for line in (line for ax in fig.axes for line in ax.get_lines()):
        if line.get_linestyle() == "None" or len(_points(line)) == 1:
            line.set_markevery(None)  # sparse markers are for lines: points without a line would vanish
        if name := system(str(line.get_label())):
            line.set_gid(f"{_SYSTEM}{name}")
    file = io.StringIO()
    nothing = dict.fromkeys(("Creator", "Date", "Format", "Type"))
    with mpl.rc_context({"svg.hashsalt": "lmbook", "svg.fonttype": "none"}):
        fig.savefig(file, format="svg", transparent=True, metadata=nothing, bbox_inches=_whole(fig))
    svg = file.getvalue()
    svg = svg[svg.index("<svg") :]
    for unwanted in (r"<!--.*?-->", r"<metadata>.*?</metadata>", r"<style.*?</style>", r"<defs>\s*</defs>"):
        svg = re.sub(unwanted, "", svg, flags=re.DOTALL)
    svg = re.sub(r"<[^>]*>", _tidy_tag, svg)
    svg = re.sub(r"\n\s*", "\n", svg)
    svg = svg.replace(f' id="{_SYSTEM}', ' data-system="')
    return _own_ids(svg), round(fig.get_figwidth() * 96)


def _wrap_titles(axes: list[Axes]) -> None:
    """Lets a long title break into lines instead of leaving the figure."""
    for ax in axes:
        for title in set(ax.get_children()) - set(ax.texts):
            if isinstance(title, Text):
                title.set_wrap(True)


def _tidy_tag(match: re.Match) -> str:
    """One tag: the page's colour and letters, short numbers, and what only a separate file needs left out."""
    tag = match.group().replace(_INK, "currentColor").replace("xlink:href", "href")
    if tag.startswith("<text"):  # grey lines are seen, grey letters are too faint to be read, in light and in dark
        tag = tag.replace("fill: #808080", "fill: currentColor; fill-opacity: 0.7")
    if tag.startswith("<svg"):
        tag = re.sub(r' (width|height|version|xmlns(:xlink)?)="[^"]*"', "", tag)
    tag = re.sub(r"(font: [^;\"]*?px |font-family: )[^;\"]*", r"\1system-ui, sans-serif", tag)
    tag = re.sub(r' transform="rotate\(-0 [^"]*\)"| *\n', lambda match: " " if "\n" in match[0] else "", tag)
    tag = re.sub(r"\d+\.\d{3,}", lambda number: f"{float(number.group()):.2f}".rstrip("0").rstrip("."), tag)
    return "" if _UNSEEN.search(tag) else tag


def _own_ids(svg: str) -> str:
    """Keeps the ids that are referred to, with a prefix from the content, so that two figures never share one."""
    prefix = "lm" + hashlib.sha256(svg.encode()).hexdigest()[:10]
    used = set(re.findall(r'href="#([^"]+)"', svg)) | set(re.findall(r"url\(#([^)]+)\)", svg))
    svg = re.sub(r' id="([^"]+)"', lambda m: f' id="{prefix}-{m[1]}"' if m[1] in used else "", svg)
    return re.sub(r'(href="#|url\(#)', rf"\g<1>{prefix}-", svg)
