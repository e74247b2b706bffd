"""The few shapes of the book's drawings, and the colour of each thing that they show.

A `Panel` is a sheet on which functions place tokens, vectors, matrices, boxes, sums, products and arrows; `svg` writes
it. Lines and letters take the colour of the page around them, so a drawing is right in light, dark and in print; what a
thing is, is said by its colour, and always by its letter or name as well. Places are in pixels from the upper left.
"""

from dataclasses import dataclass, field
from html import escape
from math import atan2, cos, hypot, sin

from lmbook.drawings import lettering
from lmbook.plots import PALETTE

BLUE, GOLD, GREEN, PINK, OLIVE, VIOLET = PALETTE
# What has which colour, in drawings, and in plots and figures wherever they show one of these things.
ROLES = {
    "encoder": BLUE, "key": BLUE, "weight": BLUE,
    "decoder": GOLD, "query": GOLD,
    "value": GREEN, "memory": GREEN,
    "loss": PINK, "gradient": PINK,
    "parameter": OLIVE,
    "state": VIOLET,
    "forward": BLUE, "backward": GOLD,
    "forget": BLUE, "input": GOLD, "candidate": PINK, "output": OLIVE,
    "plain": "currentColor",
}  # fmt: skip
TEXT, NOTE = 14, 12  # sizes of names, and of shapes and remarks
LINE = 1.5
Point = tuple[float, float]


@dataclass(frozen=True)
class Box:
    """A place on the sheet: upper left corner, width, height."""

    x: float
    y: float
    width: float
    height: float

    def at(self, across: float, down: float) -> Point:
        """The point at these shares of width and height."""
        return self.x + across * self.width, self.y + down * self.height

    @property
    def left(self) -> Point:
        return self.at(0, 0.5)

    @property
    def right(self) -> Point:
        return self.at(1, 0.5)

    @property
    def top(self) -> Point:
        return self.at(0.5, 0)

    @property
    def bottom(self) -> Point:
        return self.at(0.5, 1)

    @property
    def centre(self) -> Point:
        return self.at(0.5, 0.5)


@dataclass(frozen=True)
class Label:
    """A text that stands on the sheet: its place at most, and the shape that it has to stay in, if any."""

    text: str
    place: Box
    inside: Box | None


def _n(value: float) -> str:
    return f"{round(value, 1):g}"


@dataclass
class Panel:
    """One sheet. `name` says in words what it shows; it is the panel's text alternative where there are several."""

    width: int
    height: int
    name: str = ""
    marks: list[str] = field(default_factory=list)
    labels: list[Label] = field(default_factory=list)
    boxes: list[Box] = field(default_factory=list)
    paths: list[list[Point]] = field(default_factory=list)
    dots: list[Point] = field(default_factory=list)
    colours: set[str] = field(default_factory=set)

    def _colour(self, role: str) -> str:
        if role not in ROLES:
            raise ValueError(f"No colour is known for {role!r}: use one of {', '.join(ROLES)}.")
        self.colours.add(ROLES[role])
        return ROLES[role]

    # ---- text

    def text(self, x: float, y: float, text: str, size: float = TEXT, anchor: str = "middle", bold: bool = False,
             inside: Box | None = None) -> None:  # fmt: skip
        """Writes a line around the height y; it starts, ends or has its middle at x."""
        wide = lettering.width(text, size, bold)
        left = x - {"start": 0, "middle": wide / 2, "end": wide}[anchor]
        self.labels.append(Label(text, Box(left, y - 0.5 * size, wide, size), inside))
        body, over = lettering.svg(text, size)
        look = ("" if anchor == "start" else f' text-anchor="{anchor}"') + (' font-weight="600"' if bold else "")
        look += "" if size == TEXT else f' font-size="{_n(size)}"'
        self.marks.append(f'<text x="{_n(x)}" y="{_n(y + 0.35 * size)}"{look}>{body}</text>')
        for start, end, way in over:
            a, b, high = left + start - 1, left + end + 1, y - 0.62 * size
            tip, back = (b, -3) if way == ">" else (a, 3)
            self.marks.append(
                f'<path d="M{_n(a)} {_n(high)}H{_n(b)}M{_n(tip + back)} {_n(high - 2.5)}L{_n(tip)} {_n(high)}'
                f'l{back} 2.5" fill="none" stroke="currentColor"/>'
            )

    def note(self, x: float, y: float, text: str, anchor: str = "middle", size: float = NOTE) -> None:
        """Writes a remark of one or several lines, in small letters, around the height y."""
        lines = text.split("\n")
        for number, line in enumerate(lines):
            self.text(x, y + (number - (len(lines) - 1) / 2) * size * 1.3, line, size, anchor)

    def title(self, text: str) -> None:
        """Writes the panel's heading."""
        self.text(2, 11, text, TEXT, "start", bold=True)

    # ---- shapes

    def _rect(self, box: Box, role: str, round_: float, tint: float, dashed: bool = False, line: float = LINE) -> Box:
        colour = self._colour(role)
        edge = ' stroke-opacity="0.6"' if role == "plain" else ""
        edge += ' stroke-dasharray="3 3"' if dashed else ""
        fill = f'fill="{colour}" fill-opacity="{tint}"' if tint else 'fill="none"'
        self.marks.append(
            f'<rect x="{_n(box.x)}" y="{_n(box.y)}" width="{_n(box.width)}" height="{_n(box.height)}" '
            f'rx="{_n(round_)}" {fill} stroke="{colour}" stroke-width="{line:g}"{edge}/>'
        )
        self.boxes.append(box)
        return box

    def box(self, x: float, y: float, width: float, height: float, text: str = "", role: str = "plain",
            size: float = TEXT, tint: float = 0.16) -> Box:  # fmt: skip
        """A box with a name: something that computes. The name may have several lines."""
        box = self._rect(Box(x, y, width, height), role, 4, 0.05 if role == "plain" else tint)
        lines = text.split("\n") if text else []
        for number, line in enumerate(lines):
            down = y + height / 2 + (number - (len(lines) - 1) / 2) * size * 1.2
            self.text(x + width / 2, down, line, size, inside=box)
        return box

    def frame(self, x: float, y: float, width: float, height: float, text: str = "", role: str = "plain") -> Box:
        """A dashed frame around what belongs together; its name stands in the upper left corner."""
        box = self._rect(Box(x, y, width, height), role, 8, 0, dashed=True, line=1)
        if text:
            self.text(x + 8, y + 12, text, NOTE, "start", inside=box)
        return box

    def token(self, x: float, y: float, text: str, width: float = 44, role: str = "plain") -> Box:
        """A token, with its middle at (x, y): round ends, 24 pixels high."""
        box = self._rect(Box(x - width / 2, y - 12, width, 24), role, 12, 0.05 if role == "plain" else 0.16)
        self.text(x, y, text, 13, inside=box)
        return box

    def vector(self, x: float, y: float, text: str = "", role: str = "plain", cells: int = 4, upright: bool = False,
               cell: float = 10) -> Box:  # fmt: skip
        """A vector, with its middle at (x, y), as a row (or column) of cells; its name stands beside it."""
        wide, high = (cell, cells * cell) if upright else (cells * cell, cell)
        box = self._rect(Box(x - wide / 2, y - high / 2, wide, high), role, 1, 0.3)
        step = "v" if not upright else "h"
        lines = (
            f"M{_n(box.x)} {_n(box.y + k * cell)}{step}{cell:g}" if upright
            else f"M{_n(box.x + k * cell)} {_n(box.y)}{step}{cell:g}"
            for k in range(1, cells)
        )  # fmt: skip
        colour = self._colour(role)
        self.marks.append(f'<path d="{"".join(lines)}" stroke="{colour}" stroke-width="0.75" fill="none"/>')
        if text and upright:
            self.text(x + cell / 2 + 5, y, text, anchor="start")
        elif text:
            self.text(x, y - cell / 2 - 10, text)
        return box

    def matrix(self, x: float, y: float, width: float, height: float, text: str = "", shape: str = "",
               role: str = "plain", grid: tuple[int, int] = (0, 0), tint: float = 0.22) -> Box:  # fmt: skip
        """A matrix: its name inside, its shape below; `grid` gives rows and columns to draw."""
        box = self._rect(Box(x, y, width, height), role, 1, 0.05 if role == "plain" else tint)
        rows, columns = grid
        lines = "".join(f"M{_n(x)} {_n(y + k * height / rows)}h{_n(width)}" for k in range(1, rows))
        lines += "".join(f"M{_n(x + k * width / columns)} {_n(y)}v{_n(height)}" for k in range(1, columns))
        if lines:
            self.marks.append(
                f'<path d="{lines}" stroke="{self._colour(role)}" stroke-width="0.75" stroke-opacity="0.6" '
                'fill="none"/>'
            )
        if text:
            self.text(*box.centre, text, inside=box)
        if shape:
            self.text(x + width / 2, y + height + 10, shape, NOTE)
        return box

    def cell(
        self, x: float, y: float, size: float, role: str = "plain", tint: float = 0.5, hatched: bool = False
    ) -> Box:
        """One small square; hatched where something is not allowed."""
        box = Box(x, y, size, size)
        colour = self._colour(role)
        edge = ' stroke-opacity="0.45"' if role == "plain" else ""
        fill = 'fill="none"' if hatched or not tint else f'fill="{colour}" fill-opacity="{tint:g}"'
        self.marks.append(
            f'<rect x="{_n(x)}" y="{_n(y)}" width="{_n(size)}" height="{_n(size)}" {fill} stroke="{colour}" '
            f'stroke-width="1"{edge}/>'
        )
        if hatched:
            third = size / 3
            lines = f"M{_n(x)} {_n(y + third)}l{_n(third)} {_n(-third)}M{_n(x)} {_n(y + size)}l{_n(size)} {_n(-size)}"
            lines += f"M{_n(x + size - third)} {_n(y + size)}l{_n(third)} {_n(-third)}"
            self.marks.append(f'<path d="{lines}" stroke="currentColor" stroke-opacity="0.4" stroke-width="1"/>')
        self.boxes.append(box)
        return box

    def area(self, *corners: Point, role: str = "plain", tint: float = 0.12) -> None:
        """A tinted field between the corners, without an edge."""
        d = "L".join(f"{_n(x)} {_n(y)}" for x, y in corners)
        self.marks.append(f'<path d="M{d}Z" fill="{self._colour(role)}" fill-opacity="{tint:g}"/>')

    def _round(self, x: float, y: float, sign: str, role: str) -> Box:
        colour = self._colour(role)
        self.marks.append(
            f'<circle cx="{_n(x)}" cy="{_n(y)}" r="9" fill="none" stroke="{colour}" stroke-width="{LINE}"/>'
            f'<path d="{sign}" fill="none" stroke="currentColor" stroke-width="{LINE}"/>'
        )
        box = Box(x - 9, y - 9, 18, 18)
        self.boxes.append(box)
        return box

    def sum(self, x: float, y: float, role: str = "plain") -> Box:
        """A circle with a plus: what comes in is added, entry by entry."""
        return self._round(x, y, f"M{_n(x - 5)} {_n(y)}h10M{_n(x)} {_n(y - 5)}v10", role)

    def product(self, x: float, y: float, role: str = "plain") -> Box:
        """A circle with a cross: what comes in is multiplied, entry by entry."""
        return self._round(x, y, f"M{_n(x - 3.5)} {_n(y - 3.5)}l7 7m0 -7l-7 7", role)

    def dial(self, x: float, y: float, radius: float, angle: float, role: str = "plain") -> Box:
        """A circle with a hand, which stands at this angle: in radians, clockwise from twelve."""
        self.marks.append(
            f'<circle cx="{_n(x)}" cy="{_n(y)}" r="{_n(radius)}" fill="none" stroke="currentColor" '
            'stroke-opacity="0.5"/>'
        )
        self.line((x, y), (x + 0.85 * radius * sin(angle), y - 0.85 * radius * cos(angle)), role=role, width=2.5)
        box = Box(x - radius, y - radius, 2 * radius, 2 * radius)
        self.boxes.append(box)
        return box

    def dot(self, x: float, y: float, role: str = "plain") -> None:
        """Where a line branches; or a single point."""
        self.dots.append((x, y))
        self.marks.append(f'<circle cx="{_n(x)}" cy="{_n(y)}" r="2.5" fill="{self._colour(role)}"/>')

    # ---- lines

    def line(self, *points: Point, role: str = "plain", dashed: bool = False, width: float = LINE, head: bool = False,
             faint: float = 1) -> None:  # fmt: skip
        """A line through the points, its corners rounded."""
        colour = self._colour(role)
        self.paths.append(list(points))
        stop = points[-1]
        if head:  # the line ends inside the head, so that its blunt end does not show
            angle = atan2(stop[1] - points[-2][1], stop[0] - points[-2][0])
            stop = stop[0] - 5 * cos(angle), stop[1] - 5 * sin(angle)
        d = f"M{_n(points[0][0])} {_n(points[0][1])}"
        for before, corner, after in zip(points, points[1:], points[2:], strict=False):
            a, b = _towards(corner, before), _towards(corner, after)
            d += f"L{_n(a[0])} {_n(a[1])}Q{_n(corner[0])} {_n(corner[1])} {_n(b[0])} {_n(b[1])}"
        d += f"L{_n(stop[0])} {_n(stop[1])}"
        look = (' stroke-dasharray="5 4"' if dashed else "") + (f' stroke-opacity="{faint:g}"' if faint < 1 else "")
        self.marks.append(f'<path d="{d}" fill="none" stroke="{colour}" stroke-width="{width:g}"{look}/>')
        if head:
            x, y = points[-1]
            corners = [(x, y)] + [(x - 8 * cos(angle + turn), y - 8 * sin(angle + turn)) for turn in (0.42, -0.42)]
            d = "L".join(f"{_n(a)} {_n(b)}" for a, b in corners)
            fade = f' fill-opacity="{faint:g}"' if faint < 1 else ""
            self.marks.append(f'<path d="M{d}Z" fill="{colour}"{fade}/>')

    def arrow(self, *points: Point, role: str = "plain", width: float = LINE, faint: float = 1) -> None:
        """Data flows from the first point through the others to the last."""
        self.line(*points, role=role, head=True, width=width, faint=faint)

    def gradient(self, *points: Point) -> None:
        """A gradient flows back: dashed, and in the colour of the loss."""
        self.line(*points, role="gradient", dashed=True, head=True)

    def arc(self, x: float, y: float, radius: float, start: float, stop: float, role: str = "plain") -> None:
        """Part of a circle around (x, y), with an arrow's head at its end; angles in radians, anticlockwise."""
        points = [
            (x + radius * cos(start + (stop - start) * k / 24), y - radius * sin(start + (stop - start) * k / 24))
            for k in range(25)
        ]
        self.line(*points, role=role, head=True)

    def brace(self, x: float, y: float, width: float, text: str) -> None:
        """A bracket below something, with its length written under it."""
        self.marks.append(
            f'<path d="M{_n(x)} {_n(y)}v5h{_n(width)}v-5" fill="none" stroke="currentColor" stroke-opacity="0.6"/>'
        )
        self.text(x + width / 2, y + 15, text, NOTE)

    # ---- the element

    def svg(self, alt: str) -> str:
        """The panel as an <svg> element that takes the colours of the page around it."""
        narrowest = min(self.width, max(320, round(0.85 * self.width)))
        body = "\n".join(self.marks)
        return (
            f'<svg role="img" aria-label="{escape(alt)}" viewBox="0 0 {self.width} {self.height}" '
            f'font-family="system-ui, sans-serif" font-size="{TEXT}" fill="currentColor" '
            f'style="flex:none;width:min(100%,{self.width}px);min-width:min({narrowest}px,{self.width}px);height:auto">\n'
            f"{body}\n</svg>"
        )


def _towards(corner: Point, other: Point, most: float = 6) -> Point:
    """A point near the corner on the way to the other."""
    far = hypot(other[0] - corner[0], other[1] - corner[1]) or 1
    share = min(most, far / 2) / far
    return corner[0] + share * (other[0] - corner[0]), corner[1] + share * (other[1] - corner[1])
