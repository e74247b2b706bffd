"""The drawings of chapters 20 and 21: a scan, and a ring of processes."""

from lmbook.drawings import drawing
from lmbook.drawings.shapes import NOTE, Panel


@drawing(
    20,
    caption="A scan over eight steps in three rounds. In each round every position takes over, besides its own, the "
    "steps of the position $r$ places before it; the number in a box says how many steps it "
    "then stands for. Follow the arrows that end in $\\mathbf h_8$ down to the steps: all eight arrive.",
    alt="Four rows of eight boxes. In the lowest row each box stands for one step. Above it, each box has an arrow "
    "from below and one from the box one place before, and stands for two steps, the first for one. In the third row "
    "the second arrow comes from two places before and the boxes stand for 1, 2, 3, 4, 4, 4, 4, 4 steps; in the top "
    "row from four places before, for 1 to 8 steps. These are the states h_1 to h_8.",
)
def parallel_scan() -> list[Panel]:
    p = Panel(470, 262, "Eight positions, three rounds, with the steps that each box stands for.")
    covered = [1] * 8
    below = [p.token(90 + 50 * t, 226, "1", 34) for t in range(8)]
    p.text(62, 226, "steps", NOTE, "end")
    for number, r in enumerate((1, 2, 4)):
        y = 164 - 62 * number
        covered = [covered[t] + (covered[t - r] if t >= r else 0) for t in range(8)]
        here = []
        for t, many in enumerate(covered):
            role = "state" if number == 2 else "plain"
            here.append(p.token(90 + 50 * t, y, str(many), 34, role))
            p.arrow(below[t].top, here[t].bottom, faint=0.6)
            if t >= r:
                p.arrow(below[t - r].top, here[t].at(0.25, 1), role="weight", faint=0.8)
        p.text(62, y, f"$r = {r}$", NOTE, "end")
        below = here
    for t in range(8):
        p.text(90 + 50 * t, 16, rf"$\mathbf h_{t + 1}$", NOTE)
    return [p]


@drawing(
    21,
    caption="A ring of four processes, one a row; a column is a chunk of the gradient, and a number says how many "
    "gradients are in its sum. What has just arrived is bold. Follow the sum of the first chunk: where is it complete, "
    "and which way does it travel then?",
    alt="Seven tables of four processes by four chunks, at the start and after each of six steps. At the start every "
    "number is 1. In each of the steps 1 to 3 one chunk of every process arrives at the next and is added: 2, then 3, "
    "then 4 in one place of each row. In the steps 4 to 6 the complete sums move on and take the place of what was "
    "there, until all sixteen numbers are 4.",
)
def ring_all_reduce() -> list[Panel]:
    P, side = 4, 28
    held, tables = [[1] * P for _ in range(P)], [("start", [[1] * P for _ in range(P)], set())]
    for step in range(2 * (P - 1)):
        going = [(i, (i - step) % P, held[i][(i - step) % P]) for i in range(P)]
        arrived = {((i + 1) % P, c) for i, c, _ in going}
        for i, c, many in going:
            held[(i + 1) % P][c] = held[(i + 1) % P][c] + many if step < P - 1 else many
        tables.append((f"step {step + 1}", [list(row) for row in held], arrived))
    panels = []
    for name, title, shown in (
        ("The start and three steps in which chunks are added.", "Three steps add", tables[:4]),
        ("Three steps in which the complete sums are handed on.", "Three steps hand the sums on", tables[4:]),
    ):
        p = Panel(320, 326, name)
        p.title(title)
        for place, (label, table, arrived) in enumerate(shown):
            x, y = 28 + 156 * (place % 2), 56 + 150 * (place // 2)
            p.text(x + 2 * side, y - 12, label, NOTE)
            for i, row in enumerate(table):
                if place % 2 == 0:
                    p.text(x - 10, y + (i + 0.5) * side, str(i), NOTE, "end")
                for c, many in enumerate(row):
                    box = p.cell(x + c * side, y + i * side, side, "gradient", 0.16 * (many - 1))
                    p.text(*box.centre, str(many), bold=(i, c) in arrived, inside=box)
        panels.append(p)
    return panels
