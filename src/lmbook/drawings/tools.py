"""The drawings of chapter 0: distributions, shapes of products, slopes."""

from math import cos, exp, pi, sin

from lmbook.drawings import drawing
from lmbook.drawings.shapes import NOTE, Panel


@drawing(
    0,
    caption="A distribution as bars. Stacked, the three bars fill the height of 1 exactly: whatever one word gains "
    "the others must lose.",
    alt="Three bars: boat 0.5, seagull 0.3, harbour 0.2. To their right the same three bars on top of each other, in "
    "a column whose height is marked as 1.",
)
def distribution_as_bars() -> list[Panel]:
    p = Panel(376, 196)
    shares, base, full = (("boat", 0.5, "query"), ("seagull", 0.3, "value"), ("harbour", 0.2, "weight")), 166, 146
    p.line((8, base), (240, base), width=1)
    p.line((286, base), (366, base), width=1)
    top = base
    for k, (word, share, role) in enumerate(shares):
        high = full * share
        p.box(22 + 76 * k, base - high, 52, high, "", role, tint=0.3)
        p.text(48 + 76 * k, base - high - 10, f"{share:g}", 13)
        p.text(48 + 76 * k, base + 14, word, 13)
        top -= high
        box = p.box(300, top, 52, high, "", role, tint=0.3)
        p.text(*box.centre, f"{share:g}", NOTE, inside=box)
    p.text(326, base + 14, "sum", 13)
    p.text(288, base - full + 2, "1", 13, "end")
    return [p]


@drawing(
    0,
    caption="A product of matrices in shapes. The inner sizes must agree and disappear from the result; the outer "
    "sizes remain. Each entry of the result is the inner product of a row on the left and a column on the right.",
    alt="A matrix X with m rows and k columns times a matrix with k rows and n columns gives a matrix with m rows and "
    "n columns. One row of the left, one column of the right and the entry of the result where they meet are marked.",
)
def shapes_of_products() -> list[Panel]:
    p = Panel(376, 190)
    cell = 18
    left, right, out = (12, 58, 4, 6), (154, 40, 6, 3), (280, 58, 4, 3)
    for x, y, rows, columns in (left, right, out):
        for i in range(rows):
            for j in range(columns):
                mark = {left: i == 1, right: j == 2, out: (i, j) == (1, 2)}[(x, y, rows, columns)]
                role = {left: "query", right: "key", out: "value"}[(x, y, rows, columns)]
                p.cell(x + cell * j, y + cell * i, cell, role if mark else "plain", 0.5 if mark else 0)
    p.text(137, 94, r"$\cdot$", 18)
    p.text(244, 94, "$=$", 18)
    for x, name, shape in ((66, "$X$", r"$m \times k$"), (181, r"$W^\top$", r"$k \times n$"),
                           (307, r"$X W^\top$", r"$m \times n$")):  # fmt: skip
        p.text(x, 16, name)
        p.text(x, 168, shape, 13)
    return [p]


def _curve(p: Panel, f, start: float, stop: float, to_sheet, role: str = "plain", dashed: bool = False) -> None:
    steps = 40
    at = [start + (stop - start) * k / steps for k in range(steps + 1)]
    p.line(*(to_sheet(x, f(x)) for x in at), role=role, dashed=dashed)


@drawing(
    0,
    caption="A derivative is the slope of the line that touches the curve. With two variables, hold one of them "
    "fixed: along the dashed slice through the valley only $w$ moves, and the slope of the slice is the partial "
    "derivative with respect to $w$.",
    alt="One variable: a falling curve L over w with a straight line that touches it at one point; a triangle shows "
    "a step to the right and the change of L, whose ratio is dL/dw. Two variables: rings of equal height around a "
    "lowest point in the plane of w and b; a dashed line at fixed b runs through them, and an arrow along it marks a "
    "step in w alone.",
)
def slopes() -> list[Panel]:
    p = Panel(320, 220, "A curve and the line that touches it at one point; the slope of the line is the derivative.")
    p.title("One variable")

    def sheet(x: float, y: float) -> tuple[float, float]:
        return 36 + 66 * x, 184 - 92 * y

    p.arrow((30, 190), (306, 190), width=1)
    p.arrow((30, 190), (30, 30), width=1)
    p.text(300, 206, "$w$")
    p.text(18, 38, "$L$")

    def f(x: float) -> float:
        return 1.75 * exp(-0.75 * x) + 0.05

    slope, at = -0.75 * 1.75 * exp(-0.75), 1.0
    _curve(p, f, 0.1, 4.0, sheet, "loss")
    p.line(sheet(at - 0.8, f(at) - 0.8 * slope), sheet(at + 1.3, f(at) + 1.3 * slope), role="parameter")
    p.dot(*sheet(at, f(at)), "parameter")
    corner = sheet(at, f(at) + slope)
    p.line(sheet(at, f(at)), corner, sheet(at + 1, f(at) + slope), width=1, dashed=True)
    p.note(corner[0] + 33, corner[1] + 11, "step")
    p.note(corner[0] - 8, (corner[1] + sheet(at, f(at))[1]) / 2, "change", "end")
    p.note(196, 60, "slope = change / step = $dL/dw$", size=13)

    q = Panel(320, 220, "Rings of equal loss in the plane of w and b, with a slice at fixed b and a step along it.")
    q.title("Two variables")
    q.arrow((30, 190), (306, 190), width=1)
    q.arrow((30, 190), (30, 30), width=1)
    q.text(300, 206, "$w$")
    q.text(18, 38, "$b$")
    for radius in (0.42, 0.7, 0.98):
        ring = [
            (178 + 116 * radius * cos(2 * pi * k / 48), 112 + 66 * radius * sin(2 * pi * k / 48)) for k in range(49)
        ]
        q.line(*ring, role="loss", width=1)
    q.dot(178, 112, "loss")
    q.line((38, 148), (300, 148), dashed=True, width=1)
    q.dot(86, 148, "parameter")
    q.arrow((86, 148), (134, 148), role="parameter", width=2.5)
    q.note(178, 100, "lowest $L$", size=11)
    q.note(190, 206, "slice: $b$ stays as it is")
    return [p, q]
