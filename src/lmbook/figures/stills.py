"""Drawings for stills: what stands in the place of a figure where no script runs, on paper and in the book's files.

Letters, axes and grid take the colour of the text around them; curves and shades have the book's palette and dashes, so
that a grey print tells them apart. The same numbers give the same bytes.
"""

import html
import math
from itertools import pairwise

from lmbook.plots import LINE_STYLES, PALETTE

# LINE_STYLES as SVG's stroke-dasharray
NAMED = {"-": "none", "--": "7 4", "-.": "8 3 2 3", ":": "2 3"}
DASHES = [NAMED[style] if style in NAMED else " ".join(f"{2 * n}" for n in style[1]) for style in LINE_STYLES]
WIDE, LEFT, RIGHT, TOP, TALL = 400, 34, 276, 26, 150  # of a plot: the whole, its axes, and how high it is
ADVANCE = 6.6  # of a letter, at the size of 13


def drawing(inside: str, *, alt: str, tall: float, wide: float = WIDE, size: int = 13) -> str:
    """The SVG around a drawing; on a narrow screen it shrinks."""
    return (
        f'<svg role="img" aria-label="{html.escape(alt)}" viewBox="0 0 {wide} {tall:.0f}" width="{1.1 * wide:.0f}" '
        'style="max-width:100%;height:auto" fill="currentColor" font-family="inherit" '
        f'font-size="{size}">{inside}</svg>'
    )


def _ticks(lowest: float, highest: float) -> list[float]:
    """Three to five round numbers, the first one 0 or, where 0 would leave much of the plot empty, just below."""
    span = highest - (lowest if lowest > 0.45 * highest else 0)
    step = next(step for power in range(-6, 7) for step in (10.0**power * k for k in (1, 2, 5)) if span / step <= 4.2)
    first = math.floor((lowest - 0.15 * span) / step + 1e-9) if lowest > 0.45 * highest else 0
    return [step * k for k in range(first, math.floor(highest / step + 1e-9) + 1)]


def _free(label: str, height: float, curves: list[list[tuple[float, float]]]) -> tuple[float, float]:
    """Where the name of a level line disturbs no curve: the left end and the base line of its letters."""
    long = ADVANCE * len(label)
    spots = [(x, y) for y in (height - 6, height + 15) for x in (RIGHT - long - 4, LEFT + 8)]

    def met(spot: tuple[float, float]) -> int:
        (x, y), lines = spot, (pair for curve in curves for pair in pairwise(curve))
        inside = ((a, b) for a, b in lines if b[0] > x - 3 and a[0] < x + long + 3)
        below = y > TOP + TALL - 2
        return 1000 * below + sum(min(a[1], b[1]) < y + 4 and max(a[1], b[1]) > y - 12 for a, b in inside)

    return min(spots, key=met)


def plot_svg(
    curves: list[tuple[str, int, float, list[tuple[float, float]]]],
    marks: list[tuple[float, str]],
    *,
    alt: str,
    across: str,
    up: str,
) -> str:
    """Curves with axes: for each (label, place in the palette and the dashes, width of the line, points).

    marks: (height, label) of level lines to compare with.  across, up: the names of the axes; the first begins at 0.
    """
    values = [y for *_, points in curves for _, y in points] + [y for y, _ in marks]
    last, ticks = max(x for *_, points in curves for x, _ in points), _ticks(min(values), max(values))
    low, high = ticks[0], max(values)
    x_of = lambda x: LEFT + (RIGHT - LEFT) * x / last  # noqa: E731
    y_of = lambda y: TOP + TALL * (high - y) / (high - low)  # noqa: E731
    digits = max(0, -math.floor(math.log10(ticks[1] - ticks[0]) + 1e-9))
    parts = [f'<text x="0" y="13">{html.escape(up)}</text>']
    for tick in ticks:
        y = y_of(tick)
        parts.append(
            f'<path d="M{LEFT} {y:.1f}H{RIGHT}" stroke="currentColor" stroke-opacity="{0.6 if tick == low else 0.15}"/>'
            f'<text x="{LEFT - 6}" y="{y + 4.5:.1f}" text-anchor="end">{tick:.{digits}f}</text>'
        )
    parts.append(f'<path d="M{LEFT} {TOP}V{TOP + TALL}" stroke="currentColor" stroke-opacity="0.6"/>')
    for x, side in ((0, "start"), (last / 2, "middle"), (last, "end")):
        parts.append(
            f'<path d="M{x_of(x):.1f} {TOP + TALL}v5" stroke="currentColor" stroke-opacity="0.6"/>'
            f'<text x="{x_of(x):.1f}" y="{TOP + TALL + 19}" text-anchor="{side}">{x:,.0f}</text>'
        )
    parts.append(f'<text x="{RIGHT + 8}" y="{TOP + TALL + 19}">{html.escape(across)}</text>')
    drawn = [[(x_of(x), y_of(y)) for x, y in points] for *_, points in curves]
    for y, label in marks:
        x, base = _free(label, y_of(y), drawn)
        parts.append(
            f'<path d="M{LEFT} {y_of(y):.1f}H{RIGHT}" stroke="currentColor" stroke-dasharray="5 4"/>'
            f'<text x="{x:.1f}" y="{base:.1f}">{html.escape(label)}</text>'
        )
    ends = [points[-1][1] + 4.5 for points in drawn]
    for lower, upper in pairwise(sorted(range(len(ends)), key=lambda i: -ends[i])):
        ends[upper] = min(ends[upper], ends[lower] - 15)  # the labels of lines that end together
    for (label, place, width, _), points, end in zip(curves, drawn, ends, strict=True):
        path = " ".join(f"{x:.0f},{y:.1f}" for x, y in points)
        parts.append(
            f'<polyline points="{path}" fill="none" stroke="{PALETTE[place]}" stroke-width="{width:g}" '
            f'stroke-linejoin="round" stroke-dasharray="{DASHES[place]}"/>'
            f'<text class="lm-end" x="{RIGHT + 8}" y="{end:.1f}">{html.escape(label)}</text>'
        )
    return drawing("".join(parts), alt=alt, tall=TOP + TALL + 24)


def signed_bars_svg(rows: list[tuple[str, float, str]], *, alt: str, most: float) -> str:
    """Bars from a middle line, to the left for what is below 0: rows of (label, value, the value as text).

    most: the value, of either sign, at which a bar ends.
    """
    step, left, half = 24, 72, 100
    middle, tall = left + half, step * len(rows)
    parts = [f'<path d="M{middle} 0V{tall + 4}" stroke="currentColor" stroke-opacity="0.6"/>']
    for i, (label, value, text) in enumerate(rows):
        y, long = step * i, half * min(1.0, abs(value) / most)
        parts.append(
            f'<text x="{left - 8}" y="{y + 17}" text-anchor="end">{html.escape(label)}</text>'
            f'<rect x="{middle - long if value < 0 else middle:.1f}" y="{y + 5}" width="{long:.1f}" height="14" '
            f'fill-opacity="0.55"/><text x="{left + 2 * half + 10}" y="{y + 17}">{html.escape(text)}</text>'
        )
    for at, number in ((left, -most), (middle, 0), (left + 2 * half, most)):
        said = f"{number:g}".replace("-", "−")
        parts.append(f'<text x="{at}" y="{tall + 19}" text-anchor="middle">{said}</text>')
    return drawing("".join(parts), alt=alt, tall=tall + 24)


def maps_svg(
    maps: list[tuple[str, list[list[float]]]], rows: list[str], columns: list[str], *, alt: str, chosen: int
) -> str:
    """Weights between 0 and 1 as shaded squares, a map beside the other, at most two in a line: (title, weights).

    rows, columns: the words at the left and above.  chosen: the row that has a frame. A row may be shorter than others.
    """
    several = len(maps) > 1
    size = 11 if several else 13
    letter = 0.55 * size
    left, high = (8 + 1.1 * letter * max(map(len, words)) for words in (rows, columns))
    turn, slope = -90, 0.0  # words above stand upright; where there is room, aslant, and reach to the right
    if not several:
        turn, high, slope = -45, 0.75 * high + 6, 0.7 * letter * max(map(len, columns[-3:]))
    high += 18 * several
    side = min(22.0, max(7.0, ((230 if several else WIDE - 20) - left) / len(columns)))
    wide, tall = left + side * len(columns) + slope + 6, high + side * len(rows) + 8
    parts = []
    for number, (title, weights) in enumerate(maps):
        parts.append(f'<g transform="translate({number % 2 * wide:.1f} {number // 2 * (tall + 6):.1f})">')
        if title:
            parts.append(f'<text x="{left:.1f}" y="{size}" font-weight="700">{html.escape(title)}</text>')
        for k, word in enumerate(columns):
            place = f"translate({left + side * (k + 0.5) + 0.35 * size * several:.1f} {high - 5:.1f}) rotate({turn})"
            parts.append(f'<text transform="{place}">{html.escape(word)}</text>')
        shades: dict[float, str] = {}  # squares of one shade in one path
        for q, row in enumerate(weights):
            for k, weight in enumerate(row):
                shade = 0.04 + round(24 * weight) * 0.04
                shades[shade] = shades.get(shade, "") + f"M{k} {q}h.95v.95h-.95z"
        squares = "".join(f'<path d="{path}" fill-opacity="{shade:.2f}"/>' for shade, path in sorted(shades.items()))
        place = f"translate({left:.1f} {high:.1f}) scale({side:.2f})"
        parts.append(f'<g transform="{place}" fill="{PALETTE[0]}">{squares}</g>')
        for q, (word, row) in enumerate(zip(rows, weights, strict=True)):
            y, bold = high + side * q, ' font-weight="700"' if q == chosen else ""
            parts.append(
                f'<text x="{left - 6:.1f}" y="{y + side / 2 + 0.36 * size:.1f}" text-anchor="end"{bold}>'
                f"{html.escape(word)}</text>"
            )
            if q == chosen:
                parts.append(
                    f'<rect x="{left - 1:.1f}" y="{y - 1:.1f}" width="{side * len(row) + 1:.1f}" '
                    f'height="{side + 1:.1f}" fill="none" stroke="currentColor" stroke-width="1.5"/>'
                )
        parts.append("</g>")
    lines = -(-len(maps) // 2)
    whole = wide * min(2, len(maps))
    return drawing("".join(parts), alt=alt, tall=tall * lines + 6 * (lines - 1), wide=round(whole), size=size)


def strips_svg(strips: list[tuple[str, list[float]]], *, alt: str) -> str:
    """Vectors of one width as lines, one below the other, all with one scale: (label, entries)."""
    most = max(abs(value) for _, values in strips for value in values)
    half, step = 26, 80
    parts = []
    for i, (label, values) in enumerate(strips):
        middle = step * i + 20 + half
        across = (WIDE - 40) / (len(values) - 1)
        path = " ".join(f"{4 + across * k:.1f},{middle - half * value / most:.1f}" for k, value in enumerate(values))
        parts.append(
            f'<text x="4" y="{step * i + 13}">{html.escape(label)}</text>'
            f'<path d="M4 {middle}H{WIDE - 36}" stroke="currentColor" stroke-opacity="0.4"/>'
            f'<polyline points="{path}" fill="none" stroke="{PALETTE[i]}" stroke-width="1.4" stroke-linejoin="round"/>'
            f'<text x="{WIDE}" y="{middle - half + 10}" text-anchor="end">{most:.1f}</text>'
            f'<text x="{WIDE}" y="{middle + 5}" text-anchor="end">0</text>'
            f'<text x="{WIDE}" y="{middle + half}" text-anchor="end">−{most:.1f}</text>'
        )
    last = step * len(strips)
    parts.append(f'<text x="4" y="{last + 12}">entry 1</text>')
    parts.append(f'<text x="{WIDE - 36}" y="{last + 12}" text-anchor="end">{len(strips[0][1])}</text>')
    return drawing("".join(parts), alt=alt, tall=last + 18)
