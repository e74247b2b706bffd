"""The drawings of part I: counting, embedding, a first network and its gradients."""

from lmbook.drawings import drawing
from lmbook.drawings.shapes import NOTE, Panel

# ---- chapter 1


@drawing(
    1,
    caption="The five sentences as a tree of histories, each as high as its share of all sentences. A fraction is the "
    "word's share of the history to its left. Follow the marked sentence: shares of shares leave one fifth of "
    "the height.",
    alt="Four columns of blocks, one for each place in the sentence; a block's height is the probability of the "
    "words so far. First 'the' with 4/5 and 'a' with 1/5. After 'the', gull 3/4 and boat 1/4; after 'the "
    "gull', sleeps 1/3 and calls 2/3; after 'the gull calls', the end 1/2 and 'and' 1/2. The path 'the gull "
    "calls', end, is marked; its last block has 1/5 of the full height.",
)
def tree_of_histories() -> list[Panel]:
    p = Panel(376, 238)
    columns = [
        [("the", "4/5", 4, 1), ("a", "1/5", 1, 0)],
        [("gull", "3/4", 3, 1), ("boat", "1/4", 1, 0), ("boat", "1", 1, 0)],
        [("sleeps", "1/3", 1, 0), ("calls", "2/3", 2, 1), ("waits", "1", 1, 0), ("waits", "1", 1, 0)],
        [
            ("<eos>", "1", 1, 0),
            ("<eos>", "1/2", 1, 1),
            ("and …", "1/2", 1, 0),
            ("<eos>", "1", 1, 0),
            ("<eos>", "1", 1, 0),
        ],
    ]
    for number, blocks in enumerate(columns):
        y = 24
        p.text(48 + 94 * number, 10, f"$w_{number + 1}$")
        for word, share, fifths, marked in blocks:
            role = "weight" if marked else "plain"
            box = p.box(4 + 94 * number, y, 88, 41 * fifths - 3, "", role, tint=0.3)
            p.text(12 + 94 * number, box.centre[1], word, 13, "start", bold=bool(marked), inside=box)
            p.text(86 + 94 * number, box.centre[1], share, NOTE, "end", inside=box)
            y += 41 * fifths
    return [p]


# ---- chapter 2


@drawing(
    2,
    caption="A staircase of histories, for the word “nine” after “waits at” in the text of nineteen tokens. Each step "
    "down forgets one word and finds more to count; interpolation adds up all steps, each with its weight.",
    alt="Four steps, each with a shorter history. With 'waits at', nine followed in 0 of 1 cases; with 'at', in 2 "
    "of 3; with no history, in 2 of 19; at the bottom every one of the 9 types has 1/9. Arrows with the "
    "weights lambda_3 to lambda_0 lead from the steps to one sum, the probability of nine.",
)
def staircase() -> list[Panel]:
    p = Panel(376, 216)
    steps = [(("waits", "at"), "0/1"), (("at",), "2/3"), ((), "2/19"), (None, "1/9")]
    mixed = p.sum(318, 102)
    for number, (history, share) in enumerate(steps):
        y, order = 24 + 52 * number, 3 - number
        for place, word in enumerate(history or ()):
            p.token(30 + 58 * (place + number), y, word, 54)
        if not history:
            p.note(114, y, "no history" if number == 2 else "no counts", "end")
        p.arrow((120, y), (148, y))
        box = p.box(150, y - 13, 92, 26, f"$P_{order} = {share}$", "weight")
        p.arrow(box.right, mixed.at(0.1, 0.2 + 0.2 * number), role="weight")
        p.text(258, y - 9 if number < 2 else y + 9, rf"$\lambda_{order}$", 13)
    p.arrow(mixed.right, (362, 102))
    p.note(344, 84, "$P$(nine)")
    return [p]


# ---- chapter 3


@drawing(
    3,
    caption="The product of one-hot rows with the embedding table. Row 2 of $W$ has its 1 in column 5, so of all rows "
    "of $D$ only row 5 arrives in row 2 of $X$: the product picks rows.",
    alt="Three matrices: W with T = 3 rows and 6 columns, a single 1 in each row; D with 6 rows and d = 4 "
    "columns; X with 3 rows and 4 columns. The 1 in row 2, column 5 of W, row 5 of D and row 2 of X are "
    "marked: X gets a copy of that row.",
)
def one_hot_picks_a_row() -> list[Panel]:
    p = Panel(376, 208)
    ones, cell = (2, 4, 0), 20
    for row, one in enumerate(ones):
        for column in range(6):
            marked = row == 1 and column == one
            box = p.cell(
                14 + cell * column, 76 + cell * row, cell, "query" if marked else "plain", 0.5 if marked else 0
            )
            p.text(*box.centre, "1" if column == one else "0", NOTE, inside=box)
    for row in range(6):
        for column in range(4):
            p.cell(162 + cell * column, 46 + cell * row, cell, "value" if row == 4 else "plain", 0.5 if row == 4 else 0)
    for row in range(3):
        for column in range(4):
            p.cell(284 + cell * column, 76 + cell * row, cell, "value" if row == 1 else "plain", 0.5 if row == 1 else 0)
    p.text(148, 106, r"$\cdot$", 18)
    p.text(263, 106, "$=$", 18)
    for x, name, shape, bottom in ((74, "$W$", r"$T \times |V|$", 150), (202, "$D$", r"$|V| \times d$", 180),
                                   (324, "$X$", r"$T \times d$", 150)):  # fmt: skip
        p.text(x, 24, name, 16)
        p.text(x, bottom, shape, NOTE)
    return [p]


# ---- chapter 4


@drawing(
    4,
    caption="The network for three words of history, from below. The same table $E$ serves all three places, while "
    "$W$ has columns of its own for each. The shapes stand at the matrices.",
    alt="From bottom to top: the words x_{t-3}, x_{t-2}, x_{t-1}; a copy of the table E above each, which gives d "
    "numbers; the three columns stacked to e of length 3d; the matrix W, hidden times 3d, and the logistic "
    "function, which give h; the matrix U, |V| times hidden, which gives the logits z; and the softmax, which "
    "gives the probabilities of the next word.",
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


# ---- chapter 5


@drawing(
    5,
    caption=r"The last layer as a graph. An arrow leads from each number to what is computed from it: $W$ and $\mathbf "
    r"x$ both to $\mathbf z$, never one to the other. Number by number there are three dashed ways back from "
    r"$L$ to $z_1$, and their rates add up.",
    alt="Left, vector by vector: arrows from W and from x to z, from z to y-hat, from y-hat and from the target y "
    "to L; dashed arrows with gradients run back from L to y-hat, z, W and x. Right, number by number: W_11, "
    "x_1, W_12 and x_2 lead to z_1; z_1, z_2 and z_3 each lead to all of y-hat 1 to 3, these to L; three "
    "dashed paths lead from L back to z_1.",
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
