"""The drawings of chapter 20: the block of today."""

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
