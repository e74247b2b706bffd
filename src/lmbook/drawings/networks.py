"""The drawings of chapters 4 and 5: a first network and its gradients."""

import itertools

from lmbook.drawings import drawing
from lmbook.drawings.shapes import NOTE, Panel

# ---- chapter 4


@drawing(
    4,
    caption="The network for three words of history, from below. The same table $E$ serves all three positions, "
    "while $W$ has columns of its own for each. The shapes are written beside them.",
    alt="From bottom to top: the words x_{t-3}, x_{t-2}, x_{t-1}; a copy of the table E above each, which gives d "
    "numbers; the three columns stacked to e of length 3d; the matrix W, hidden times 3d, and the logistic function, "
    "which give h; the matrix U, |V| times hidden, which gives the logits z; and the softmax, which gives the "
    "probabilities of the next word.",
)
def feedforward_network() -> list[Panel]:
    p = Panel(376, 384)
    middle = 122
    for x, back in ((32, 3), (122, 2), (212, 1)):
        word = p.token(x, 366, rf"$\mathbf x_{{t-{back}}}$", 60)
        table = p.box(x - 28, 308, 56, 28, "$E$", "parameter")
        part = p.vector(x, 274, cells=5, cell=12, role="encoder")
        p.arrow(word.top, table.bottom)
        p.arrow(table.top, part.bottom)
        p.arrow(part.top, (max(38, min(206, x)), 246))
    e = p.vector(middle, 240, cells=15, cell=12, role="encoder")
    W = p.box(middle - 66, 188, 132, 28, "$W$", "parameter")
    h = p.vector(middle, 156, cells=8, cell=12, role="state")
    U = p.box(middle - 66, 104, 132, 28, "$U$", "parameter")
    z = p.vector(middle, 74, cells=12, cell=12)
    out = p.box(middle - 66, 32, 132, 24, r"$\softmax$")
    for a, b in ((e, W), (W, h), (h, U), (U, z), (z, out)):
        p.arrow(a.top, b.bottom)
    p.arrow(out.top, (middle, 6))
    p.text(middle + 12, 13, r"$\hat{\mathbf y}$", anchor="start")
    for y, said in ((322, r"$d \times |V|$"), (274, "$d$ numbers each"), (240, r"$\mathbf e$, $3d$ numbers"),
                    (202, r"hidden $\times 3d$"), (156, r"$\mathbf h = \sigma(W \mathbf e)$"),
                    (118, r"$|V| \times$ hidden"), (74, r"$\mathbf z = U \mathbf h$")):  # fmt: skip
        p.text(250, y, said, 13, "start")
    return [p]


@drawing(
    4,
    caption=r"One parameter and its loss. The tangent predicts the fall of a step $-\eta g$. After a short step the "
    r"curve is still near the tangent; a step four times as long lands higher than where it began.",
    alt="A curve of the loss L over one parameter theta, shaped like a valley, with its tangent at a point high on "
    "the left side. A short arrow to the right ends where curve and tangent are still close; a long arrow to the "
    "right ends beyond the valley, where the curve is higher than at the start and the tangent far below.",
)
def one_step_down() -> list[Panel]:
    p = Panel(376, 228)

    def sheet(x: float, y: float) -> tuple[float, float]:
        return 30 + 80 * x, 192 - 86 * y

    def loss(x: float) -> float:
        return 0.36 + 0.55 * (x - 1.75) ** 2

    p.arrow((22, 200), (364, 200), width=1)
    p.arrow((22, 200), (22, 20), width=1)
    p.text(356, 216, r"$\theta$")
    p.text(11, 26, "$L$")
    p.line(*(sheet(0.25 + 3.1 * k / 40, loss(0.25 + 3.1 * k / 40)) for k in range(41)), role="loss")
    at, short, long = 0.6, 0.62, 2.48
    slope = 1.1 * (at - 1.75)
    p.line(sheet(0.25, loss(at) + slope * (0.25 - at)), sheet(1.5, loss(at) + slope * (1.5 - at)), role="parameter")
    p.dot(*sheet(at, loss(at)), "parameter")
    for step in (short, long):
        x = at + step
        p.line((sheet(x, 0)[0], 200), sheet(x, loss(x)), width=1, dashed=True)
        p.dot(*sheet(x, loss(x)), "loss")
    high = sheet(0, loss(at))[1]
    p.line((sheet(at, 0)[0], 200), sheet(at, loss(at)), width=1, dashed=True)
    p.arrow((sheet(at, 0)[0], 189), (sheet(at + short, 0)[0], 189), role="parameter", width=2.5)
    p.arrow((sheet(at, 0)[0], 178), (sheet(at + long, 0)[0], 178))
    p.note(sheet(at + short / 2, 0)[0], 214, r"$-\eta g$")
    p.note(244, 168, "too long")
    p.note(sheet(at, 0)[0] + 12, high - 8, "start", "start")
    return [p]


@drawing(
    4,
    caption="With two tables, one reads and the other predicts. Tied, one table does both: a word's column of "
    "$E$, laid on its side, is also its row of $U$.",
    alt="Two tables: from the word up through a box E, a box W with tanh, and a box U to the prediction. Tied: one "
    "box E at the side; an arrow leads from the word through it into the box W with tanh, and another from there "
    "through the same box to the prediction.",
)
def tied_tables() -> list[Panel]:
    p = Panel(320, 216, "Two tables: E reads the words, U predicts the next; each has its own numbers.")
    p.title("Two tables")
    chain = [
        p.token(150, 196, r"$\mathbf x_{t-1}$", 56),
        p.box(116, 142, 68, 28, "$E$", "parameter"),
        p.box(100, 94, 100, 28, r"$\tanh(W \mathbf e)$", "state"),
        p.box(116, 46, 68, 28, "$U$", "parameter"),
    ]
    for low, high in itertools.pairwise(chain):
        p.arrow(low.top, high.bottom)
    p.arrow(chain[3].top, (150, 22))
    p.text(162, 28, r"$\mathbf z$", anchor="start")
    p.note(196, 156, r"$d \times |V|$", "start")
    p.note(196, 60, r"$|V| \times d$", "start")
    q = Panel(320, 216, "One table: the same E reads the words and, on its side, predicts the next.")
    q.title("Tied")
    word = q.token(92, 196, r"$\mathbf x_{t-1}$", 56)
    middle = q.box(42, 94, 100, 28, r"$\tanh(W \mathbf e)$", "state")
    table = q.box(206, 58, 68, 100, "$E$", "parameter")
    q.note(234, 174, r"$d \times |V|$", "start")
    q.arrow(word.right, (226, 196), (226, 158))
    q.arrow((206, 136), (92, 136), middle.bottom)
    q.arrow(middle.top, (92, 76), (206, 76))
    q.arrow(table.top, (240, 22))
    q.text(252, 28, r"$\mathbf z$", anchor="start")
    return [p, q]


# ---- chapter 5


@drawing(
    5,
    caption=r"The last layer as a graph. An arrow leads from each number to what is computed from it: $W$ and "
    r"$\mathbf x$ both to $\mathbf z$, never one to the other. Number by number, three dashed paths lead back from "
    r"$L$ to $z_1$. The rates multiply along each path, and the products add up.",
    alt="Vector by vector: arrows from W and from x to z, from z to y-hat, from y-hat and from the target y to "
    "L; dashed arrows with gradients run back from L to y-hat, z, W and x. Number by number: W_11, x_1, W_12 "
    "and x_2 lead to z_1; z_1, z_2 and z_3 each lead to all of y-hat 1 to 3, these to L; three dashed paths lead from "
    "L back to z_1.",
)
def computation_graph() -> list[Panel]:
    p = Panel(320, 270, "Vector by vector: W and x lead to z, z to y-hat, y-hat and y to L; gradients run back.")
    p.title("Vector by vector")
    boxes = {
        "W": p.box(36, 210, 48, 30, "$W$", "parameter"),
        "x": p.box(196, 210, 48, 30, r"$\mathbf x$", "encoder"),
        "z": p.box(116, 146, 48, 30, r"$\mathbf z$", "state"),
        "y": p.box(116, 86, 48, 30, r"$\hat{\mathbf y}$", "state"),
        "t": p.box(216, 86, 48, 30, r"$\mathbf y$"),
        "L": p.box(116, 30, 48, 28, "$L$", "loss"),
    }
    p.arrow(boxes["W"].at(0.5, 0), (60, 156), boxes["z"].at(0, 0.33))
    p.arrow(boxes["x"].at(0.5, 0), (220, 156), boxes["z"].at(1, 0.33))
    p.gradient(boxes["z"].at(0, 0.75), (76, 168.5), (76, 210))
    p.gradient(boxes["z"].at(1, 0.75), (204, 168.5), (204, 210))
    for low, high in (("z", "y"), ("y", "L")):
        p.arrow(boxes[low].at(0.3, 0), boxes[high].at(0.3, 1))
        p.gradient(boxes[high].at(0.7, 1), boxes[low].at(0.7, 0))
    p.arrow(boxes["t"].top, (240, 44), boxes["L"].right)
    p.text(84, 190, r"$\partial L / \partial W$", NOTE, "start")
    p.text(158, 131, r"$\partial L / \partial \mathbf z$", NOTE, "start")
    p.text(158, 72, r"$\partial L / \partial \hat{\mathbf y}$", NOTE, "start")

    q = Panel(320, 270, "Number by number: z_1 reaches L by way of all three probabilities.")
    q.title("Number by number")
    zs, ys = [], []
    loss = q.box(138, 30, 48, 28, "$L$", "loss")
    for j, x in enumerate((62, 162, 262), start=1):
        ys.append(q.box(x - 22, 90, 44, 28, rf"$\hat y_{j}$", "state"))
        zs.append(q.box(x - 22, 164, 44, 28, f"$z_{j}$", "state"))
    for j, z in enumerate(zs):
        for i, y in enumerate(ys):
            q.arrow(z.at(0.35 if j == 0 else 0.5, 0), y.at(0.35 if j == 0 else 0.5, 1), faint=1 if j == 0 else 0.35)
            if j == 0:
                q.gradient(y.at(0.65, 1), z.at(0.75 if i else 0.65, 0))
    for y in ys:
        q.arrow(y.at(0.35, 0), (loss.at(0.35, 1)[0] + (y.x - 140) * 0.08, 58))
        q.gradient((loss.at(0.65, 1)[0] + (y.x - 140) * 0.08, 58), y.at(0.65, 0))
    for x, name, role in ((20, "$W_{11}$", "parameter"), (62, "$x_1$", "encoder"), (104, "$W_{12}$", "parameter"),
                          (146, "$x_2$", "encoder")):  # fmt: skip
        leaf = q.box(x - 19, 228, 38, 28, name, role, 13)
        q.arrow(leaf.top, zs[0].at(0.2 + 0.2 * (x - 20) / 42, 1))
    return [p, q]


@drawing(
    5,
    caption=r"Back through the softmax in two steps, or in one. By way of $\hat{\mathbf y}$ a row with $1/\hat y$ in "
    r"it meets a matrix of products; with softmax and loss as one operation nothing is left but a difference. The "
    r"numbers are those of the example.",
    alt="In two steps: z leads to y-hat by the softmax and y-hat to L; dashed back, the row 0, minus 7/2, 0, then "
    "the 3 by 3 Jacobian of the softmax; their product is 1/7 times 4, minus 5, 1. In one: z leads to L through one "
    "box that holds softmax and minus ln; a single dashed arrow back carries y-hat minus y, the same row.",
)
def collapse() -> list[Panel]:
    p = Panel(320, 236, "Two steps: L to y-hat to z, by a row and a Jacobian of 3 by 3 numbers.")
    p.title("In two steps")
    q = Panel(320, 236, "One step: from L to z directly, by the difference of y-hat and y.")
    q.title("In one")
    boxes = []
    for y, name, role in ((202, r"$\mathbf z$", "state"), (121, r"$\hat{\mathbf y}$", "state"), (40, "$L$", "loss")):
        boxes.append(p.box(62, y - 14, 46, 28, name, role))
    z, y_hat, loss = boxes
    for low, high, said in ((z, y_hat, r"$\softmax$"), (y_hat, loss, r"$-\ln$")):
        p.arrow(low.at(0.3, 0), high.at(0.3, 1))
        p.gradient(high.at(0.7, 1), low.at(0.7, 0))
        p.note(70, (low.y + high.y + high.height) / 2, said, "end")
    for k, value in enumerate(("0", "−7/2", "0")):
        box = p.cell(130 + 40 * k, 60, 40, "loss", 0.16)
        p.text(*box.centre, value, 13, inside=box)
    for i, values in enumerate(((12, -8, -4), (-8, 10, -2), (-4, -2, 6))):
        for k, value in enumerate(values):
            box = p.cell(130 + 28 * k, 124 + 28 * i, 28, "loss", 0.16)
            p.text(*box.centre, str(value).replace("-", "−"), NOTE, inside=box)
    p.note(222, 166, r"$\times\, 1/49$", "start")
    z = q.box(36, 188, 52, 28, r"$\mathbf z$", "state")
    both = q.box(22, 92, 80, 52, "$\\softmax$\nand $-\\ln$", "state")
    loss = q.box(36, 26, 52, 28, "$L$", "loss")
    for low, high in ((z, both), (both, loss)):
        q.arrow((52, low.y), (52, high.y + high.height))
        q.gradient((72, high.y + high.height), (72, low.y))
    for k, value in enumerate(("4", "−5", "1")):
        box = q.cell(126 + 28 * k, 152, 28, "loss", 0.16)
        q.text(*box.centre, value, NOTE, inside=box)
    q.note(218, 166, r"$\times\, 1/7$", "start")
    q.text(168, 134, r"$\hat{\mathbf y} - \mathbf y$", anchor="middle")
    return [p, q]


@drawing(
    5,
    caption=r"The gradient of $W$ twice, for three logits and two inputs. Above, the row $\mathbf g$ is multiplied by "
    r"the Jacobian, most of which is zero. Below, the same six numbers as a column times a row: a vector-Jacobian "
    r"product never builds what it does not need.",
    alt="Above: a row of 3 cells times a matrix of 3 rows and 6 columns, in which only a staircase of 3 blocks of 2 "
    "cells is filled, gives a row of 6 cells. Below: a column of 3 cells times a row of 2 cells gives a matrix of 3 "
    "rows and 2 columns.",
)
def jacobian_as_shapes() -> list[Panel]:
    p = Panel(376, 232)
    cell = 18
    for k in range(3):
        p.cell(12 + cell * k, 52, cell, "gradient")
    for i in range(3):
        for k in range(6):
            full = k // 2 == i
            p.cell(98 + cell * k, 34 + cell * i, cell, "encoder" if full else "plain", 0.5 if full else 0)
    for k in range(6):
        p.cell(250 + cell * k, 52, cell, "parameter")
    p.text(82, 61, r"$\cdot$", 18)
    p.text(228, 61, "$=$", 18)
    gradient, shapes = r"$\partial L / \partial W$", [rf"${m} \times {n}$" for m, n in ((1, 3), (3, 6), (1, 6))]
    for x, name, shape, low in ((39, r"$\mathbf g$", shapes[0], 84), (304, gradient, shapes[2], 84),
                                (152, r"$\partial \mathbf z / \partial W$", shapes[1], 102)):  # fmt: skip
        p.text(x, 16, name)
        p.text(x, low, shape, NOTE)
    for k in range(3):
        p.cell(30, 150 + cell * k, cell, "gradient")
        for n in range(2):
            p.cell(286 + cell * n, 150 + cell * k, cell, "parameter")
    for n in range(2):
        p.cell(134 + cell * n, 168, cell, "encoder")
    p.text(82, 177, r"$\cdot$", 18)
    p.text(228, 177, "$=$", 18)
    shapes = [rf"${m} \times {n}$" for m, n in ((3, 1), (1, 2), (3, 2))]
    for x, name, shape, low in ((39, r"$\mathbf g^\top$", shapes[0], 216), (304, gradient, shapes[2], 216),
                                (152, r"$\mathbf x^\top$", shapes[1], 200)):  # fmt: skip
        p.text(x, 134, name)
        p.text(x, low, shape, NOTE)
    return [p]
