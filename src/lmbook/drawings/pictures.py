"""A small picture for each chapter, in the hand of the drawings: what is new in it, at a glance.

They stand beside the chapters' names on the first page, so they are decoration to a screen reader and hold next to no
letters. `svg` writes the picture of a chapter; its lines take the colour of the text around it.
"""

from itertools import pairwise
from math import cos, exp, pi, sin

from lmbook.drawings.shapes import ROLES, Panel

WIDTH, HEIGHT = 150, 92


def _ring(p: Panel, x: float, y: float, radius: float, role: str = "plain", tint: float = 0.16) -> None:
    colour = ROLES[role]
    p.marks.append(
        f'<circle cx="{x:g}" cy="{y:g}" r="{radius:g}" fill="{colour}" fill-opacity="{tint:g}" stroke="{colour}" '
        'stroke-width="1.5"/>'
    )


def are_you_ready(p: Panel) -> None:
    """A curve, and its derivative as a slope."""
    p.arrow((18, 78), (138, 78))
    p.arrow((24, 84), (24, 10))
    p.line(*((24 + x, 74 - 58 * exp(-(((x - 58) / 26) ** 2))) for x in range(4, 112, 4)), role="weight", width=2)
    p.line((38, 78), (78, 14), role="gradient", width=2)
    p.dot(58.5, 45.5, "gradient")


def chain_rule(p: Panel) -> None:
    """Histories as shares of shares, one path marked."""
    columns = [[(4, 1), (1, 0)], [(3, 1), (1, 0), (1, 0)], [(1, 0), (2, 1), (1, 0), (1, 0)]]
    columns.append([(1, 0), (1, 1), (1, 0), (1, 0), (1, 0)])
    for number, blocks in enumerate(columns):
        y = 8.0
        for fifths, marked in blocks:
            p.box(9 + 34 * number, y, 31, 15.2 * fifths - 2, "", "weight" if marked else "plain", tint=0.35)
            y += 15.2 * fifths


def ngrams(p: Panel) -> None:
    """A history that loses a word at every step down."""
    for row in range(3):
        y = 10 + 27 * row
        for place in range(row, 3):
            p.box(14 + 31 * place, y, 26, 19, "", "weight", tint=0.12 + 0.1 * row)
        p.box(14 + 31 * 3, y, 26, 19, "?", "query", tint=0.3)


def vectors(p: Panel) -> None:
    """Words as points: those alike lie together."""
    p.line((14, 82), (140, 82), faint=0.5)
    p.line((14, 82), (14, 8), faint=0.5)
    groups = {"weight": [(34, 24), (46, 32), (30, 40)], "memory": [(104, 20), (118, 30), (98, 34)]}
    groups["gradient"] = [(74, 62), (88, 70), (90, 54)]
    for role, points in groups.items():
        for x, y in points:
            _ring(p, x, y, 4.5, role, 0.4)
    p.arrow((14, 82), (70, 64), width=1.2)
    p.arrow((14, 82), (42, 37), width=1.2)


def network(p: Panel) -> None:
    """Two layers and what they join."""
    layers = [(26, 3, "weight"), (75, 4, "state"), (124, 3, "query")]
    places = [[(x, 46 + (k - (count - 1) / 2) * 22) for k in range(count)] for x, count, _ in layers]
    for left, right in pairwise(places):
        for a in left:
            for b in right:
                p.line((a[0] + 6, a[1]), (b[0] - 6, b[1]), width=0.8, faint=0.4)
    for (_, _, role), column in zip(layers, places, strict=True):
        for x, y in column:
            _ring(p, x, y, 6, role, 0.35)


def gradients(p: Panel) -> None:
    """Values forward, gradients back."""
    for x, y in ((24, 22), (24, 70)):
        _ring(p, x, y, 8)
    p.product(74, 46)
    _ring(p, 124, 46, 10, "loss", 0.25)
    p.arrow((33, 25), (66, 40))
    p.arrow((33, 66), (66, 52))
    p.arrow((84, 44), (113, 44))
    p.gradient((112, 54), (84, 54))
    p.gradient((66, 62), (38, 76))
    p.gradient((62, 34), (36, 14))


def recurrence(p: Panel) -> None:
    """One cell, again and again, with its state handed on."""
    for k in range(3):
        x = 12 + 47 * k
        p.box(x, 33, 32, 26, "", "state", tint=0.3)
        p.arrow((x + 16, 84), (x + 16, 61))
        p.arrow((x + 16, 31), (x + 16, 9))
        if k < 2:
            p.arrow((x + 33, 46), (x + 46, 46), role="state")


def memory(p: Panel) -> None:
    """A line of memory through a cell, with its gates."""
    p.box(28, 10, 94, 72, "", "plain")
    p.arrow((8, 28), (142, 28), role="memory", width=2.5)
    p.product(54, 28, "forget")
    p.sum(94, 28, "input")
    p.arrow((54, 66), (54, 39), role="forget")
    p.arrow((94, 66), (94, 39), role="input")
    for x, role in ((54, "forget"), (94, "input")):
        p.box(x - 11, 60, 22, 14, "", role, tint=0.4)


def tags(p: Panel) -> None:
    """A label above every word, read from both sides."""
    for k, role in enumerate(("weight", "query", "memory", "weight")):
        x = 24 + 34 * k
        p.token(x, 76, "", 27)
        p.box(x - 12, 8, 24, 15, "", role, tint=0.45)
        p.line((x, 25), (x, 62), faint=0.35)
    p.arrow((12, 37), (138, 37), role="forward")
    p.arrow((138, 51), (12, 51), role="backward")


def translate(p: Panel) -> None:
    """One network reads, another writes."""
    for k in range(5):
        x, role = 8 + 28 * k, "encoder" if k < 3 else "decoder"
        p.box(x, 36, 22, 22, "", role, tint=0.3)
        if k < 3:
            p.arrow((x + 11, 80), (x + 11, 60))
        else:
            p.arrow((x + 11, 34), (x + 11, 12))
        if k < 4:
            p.line((x + 22, 47), (x + 28, 47), role="state", width=2)


def bottleneck(p: Panel) -> None:
    """A long source through one small vector."""
    p.area((10, 10), (10, 82), (68, 54), (68, 38), role="encoder", tint=0.25)
    p.area((140, 10), (140, 82), (82, 54), (82, 38), role="decoder", tint=0.25)
    p.vector(75, 46, "", "state", 4, upright=True, cell=8)
    p.line((10, 10), (68, 38), role="encoder")
    p.line((10, 82), (68, 54), role="encoder")
    p.line((82, 38), (140, 10), role="decoder")
    p.line((82, 54), (140, 82), role="decoder")


def attention(p: Panel) -> None:
    """A decoder chooses what it reads again."""
    p.box(60, 8, 30, 20, "", "decoder", tint=0.35)
    for k, weight in enumerate((0.15, 0.3, 1, 0.45, 0.15)):
        x = 19 + 28 * k
        p.box(x - 9, 64, 18, 18, "", "encoder", tint=0.08 + 0.5 * weight)
        p.arrow((x, 62), (69 + 3 * k, 30), role="weight", width=0.8 + 2 * weight, faint=0.3 + 0.7 * weight)


def look_up(p: Panel) -> None:
    """A query, its likeness to keys, a weighted mean of values."""
    p.vector(22, 46, "", "query", 4, upright=True)
    for k, weight in enumerate((0.3, 1.0, 0.5, 0.15)):
        y = 13 + 22 * k
        p.vector(62, y, "", "key", 3)
        p.line((30, 46), (45, y), faint=0.3, width=1)
        p.line((79, y), (79 + 26 * weight, y), role="weight", width=6, faint=0.75)
        p.line((79 + 26 * weight, y), (122, 46), faint=0.3, width=1)
    p.vector(130, 46, "", "value", 4, upright=True)


def causal(p: Panel) -> None:
    """Each position looks at itself and at those before it."""
    size, left = 15, 37
    for row in range(5):
        for column in range(5):
            shown = column <= row
            strong = 0.25 + 0.6 * (column == max(0, row - 1 - row % 2))
            p.cell(left + 15 * column, 8 + 15 * row, size, "weight" if shown else "plain", strong, not shown)


def positions(p: Panel) -> None:
    """Clock hands that tell positions."""
    for k in range(4):
        for row, speed in enumerate((1.5, 0.35)):
            x, y = 24 + 34 * k, 26 + 40 * row
            _ring(p, x, y, 13, "plain", 0.03)
            angle = pi / 2 - speed * k
            p.line((x, y), (x + 11 * cos(angle), y - 11 * sin(angle)), role=("query", "key")[row], width=2.5)


def transformer(p: Panel) -> None:
    """Two stacks, encoder and decoder."""
    for x, role in ((24, "encoder"), (88, "decoder")):
        for k in range(3):
            p.box(x, 62 - 24 * k, 38, 18, "", role, tint=0.2 + 0.12 * k)
        p.arrow((x + 19, 90), (x + 19, 81))
    p.arrow((43, 13), (43, 6), (74, 6), (74, 48), (87, 48), role="encoder")
    p.arrow((107, 13), (107, 3))


def masked(p: Panel) -> None:
    """A hidden word, guessed from both sides."""
    for k in range(5):
        x = 19 + 28 * k
        if k == 2:
            p.box(x - 12, 52, 24, 24, "?", "query", tint=0.35)
        else:
            p.box(x - 12, 52, 24, 24, "", "weight", tint=0.18)
    p.arrow((19, 50), (19, 30), (68, 30), (68, 48), role="weight")
    p.arrow((47, 50), (47, 40), (62, 40), (62, 50), role="weight", faint=0.6)
    p.arrow((131, 50), (131, 30), (82, 30), (82, 48), role="weight")
    p.arrow((103, 50), (103, 40), (88, 40), (88, 50), role="weight", faint=0.6)
    p.arrow((75, 50), (75, 10), role="query")


def writes(p: Panel) -> None:
    """A text, and the distribution of what comes next."""
    for k in range(3):
        p.box(10 + 22 * k, 37, 18, 18, "", "weight", tint=0.2)
    p.arrow((76, 46), (92, 46))
    for k, share in enumerate((1.0, 0.55, 0.35, 0.15, 0.08)):
        p.line((96, 16 + 15 * k), (97 + 42 * share, 16 + 15 * k), role="query", width=8, faint=0.4 + 0.6 * share)


def digit(p: Panel) -> None:
    """An image, half of it written pixel by pixel."""
    rows = ["0011100", "0100010", "0000010", "0001100", "0010000", "0111110"]
    for i, row in enumerate(rows):
        for j, ink in enumerate(row):
            known = i < 3 or (i == 3 and j < 4)
            role = "state" if known else "query"
            tint = 0.75 if ink == "1" else 0.04
            p.cell(29 + 13 * j, 7 + 13 * i, 13, role if ink == "1" else "plain", tint if known else tint * 0.5)


def machine(p: Panel) -> None:
    """Memory as boxes: weights, cache, what is free."""
    p.box(16, 12, 118, 68, "")
    p.area((19, 15), (73, 15), (73, 77), (19, 77), role="weight", tint=0.45)
    for k in range(4):
        p.box(78 + 13 * k, 15, 10, 62, "", "value" if k < 3 else "plain", tint=0.45)
    for k in range(5):
        p.line((28 + 23 * k, 80), (28 + 23 * k, 88))


def swapped(p: Panel) -> None:
    """A block on its stream, one part taken out and another put in."""
    p.arrow((30, 88), (30, 4))
    p.box(50, 56, 50, 24, "", "weight", tint=0.35)
    p.arrow((30, 68), (50, 68))
    p.box(50, 14, 50, 24, "", tint=0.08)
    p.arrow((30, 26), (50, 26))
    p.box(108, 14, 34, 24, "", "query", tint=0.45)
    p.arrow((108, 26), (100, 26), role="query")


def budget(p: Panel) -> None:
    """Loss against size at three budgets, and the line through the lowest points."""
    p.line((18, 86), (140, 86))
    p.line((18, 86), (18, 6))
    for x, y in ((46, 30), (72, 48), (98, 66)):
        around = ((-24, -20), (-14, -6), (0, 0), (14, -6), (24, -20))
        p.line(*((x + a, y + b) for a, b in around), role="weight")
    p.line((34, 22), (116, 78), role="query")
    for x, y in ((46, 30), (72, 48), (98, 66)):
        p.dot(x, y, "query")


def answers(p: Panel) -> None:
    """A question, two answers, and the one that is preferred."""
    p.box(14, 10, 62, 18, "", tint=0.08)
    p.line((24, 19), (66, 19))
    for y, role in ((38, "weight"), (64, "plain")):
        p.box(46, y, 70, 18, "", role, tint=0.35 if role == "weight" else 0.08)
        p.line((56, y + 9), (106, y + 9), faint=0.6)
    p.line((124, 48), (129, 54), (140, 39), role="query", width=2.5)


def drafted(p: Panel) -> None:
    """Tokens that a small model proposed: three are kept, the fourth is replaced."""
    for k in range(4):
        p.box(12 + 33 * k, 14, 27, 20, "", "query" if k < 3 else "plain", tint=0.3 if k < 3 else 0.04)
        p.arrow((25.5 + 33 * k, 38), (25.5 + 33 * k, 56), role="query" if k < 3 else "plain")
    for k in range(4):
        p.box(12 + 33 * k, 60, 27, 20, "", "query" if k < 3 else "weight", tint=0.3 if k < 3 else 0.55)
    p.line((112, 12), (138, 36))


PICTURES = (are_you_ready, chain_rule, ngrams, vectors, network, gradients, recurrence, memory, tags, translate,
            bottleneck, attention, look_up, causal, positions, transformer, masked, writes, digit, machine,
            swapped, budget, answers, drafted)  # fmt: skip


def svg(chapter: int) -> str:
    """The picture of a chapter as an <svg> element without a name. Raises IndexError for a chapter without one."""
    panel = Panel(WIDTH, HEIGHT)
    PICTURES[chapter](panel)
    return (
        f'<svg aria-hidden="true" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" height="{HEIGHT}" '
        f'font-family="system-ui, sans-serif" font-size="14" fill="currentColor">{"".join(panel.marks)}</svg>'
    )
