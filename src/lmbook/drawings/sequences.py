"""The drawings of chapters 8 to 10: tasks, rows of unequal length, reading and writing, and what one vector holds."""

from lmbook.drawings import drawing
from lmbook.drawings.shapes import NOTE, Panel

# ---- chapter 8


def _shape(title: str, name: str, tops: tuple[str, ...]) -> Panel:
    """A network that reads three tokens, with an output above each state, or, if there is one, above their summary."""
    p = Panel(150, 200, name)
    p.title(title)
    before = None
    for t, x in enumerate((27, 75, 123), start=1):
        state = p.box(x - 16, 112, 32, 28, rf"$\mathbf h_{t}$", "state")
        p.arrow(p.token(x, 180, f"$w_{t}$", 36).top, state.bottom)
        if before:
            p.arrow(before.right, state.left, role="state")
        if len(tops) == 3:
            p.arrow(state.top, p.token(x, 48, f"${tops[t - 1]}$", 36, "output").bottom)
        before = state
    if len(tops) == 1:
        summary = p.box(59, 72, 32, 24, r"$\mathbf s$", "state")
        for x in (27, 75, 123):
            p.arrow((x, 112), (x, 104) if x == 75 else (x, 84), summary.bottom if x == 75 else
                    summary.left if x < 75 else summary.right)  # fmt: skip
        p.arrow(summary.top, p.token(75, 44, f"${tops[0]}$", 36, "output").bottom)
    return p


def _reads_then_writes(title: str, name: str) -> Panel:
    p = Panel(150, 200, name)
    p.title(title)
    before = None
    for k, x in enumerate((20, 57, 94, 131)):
        reads = k < 2
        role, letter = ("encoder", "h") if reads else ("decoder", "s")
        state = p.box(x - 13, 112, 26, 28, rf"$\mathbf {letter}_{k % 2 + 1}$", role)
        if reads:
            p.arrow(p.token(x, 180, f"$x_{k + 1}$", 34).top, state.bottom)
        else:
            p.arrow(state.top, p.token(x, 48, f"$y_{k - 1}$", 34, "output").bottom)
        if before:
            p.arrow(before.right, state.left, role=role)
        before = state
    return p


@drawing(
    8,
    caption=r"Four shapes of task. The row of states is the same each time. Compare where the outputs are and what "
    r"they are: the next word, a label for each word, one label for a summary $\mathbf s$ of all states, or another "
    r"sequence.",
    alt="Four networks. A language model and a labeller read w_1, w_2, w_3 and have an output above each of the states "
    "h_1, h_2, h_3: the next words w_2, w_3, w_4 for the one, labels y_1, y_2, y_3 for the other. A classifier gathers "
    "the three states in one summary s, with one output y above it. An encoder-decoder reads x_1 and x_2 into h_1 and "
    "h_2, and goes on with s_1 and s_2, which have the outputs y_1 and y_2.",
)
def four_shapes() -> list[Panel]:
    return [
        _shape("Language model", "Language model: above each state the next word.", ("w_2", "w_3", "w_4")),
        _shape("Labelling", "Labelling: above each state the label of its word.", ("y_1", "y_2", "y_3")),
        _shape("Classification", "Classification: one label above a summary of all states.", ("y",)),
        _reads_then_writes("Encoder, decoder", "Encoder and decoder: two states read, two others write."),
    ]


@drawing(
    8,
    caption=r"With two directions every $\mathbf h_t$ joins a state that has read all words up to $t$ and one that has "
    r"read all from $t$ on. With two layers, the states of the first are the inputs of the second, and both go "
    r"from left to right.",
    alt="Two panels with three words w_1, w_2, w_3. Two directions: above the words a row of states with arrows to the "
    "right and a row of states with arrows to the left; each h_t is made of one state from each row. Two layers: "
    "two rows of states, one above the other, both with arrows to the right; the upper row takes the states "
    "of the lower row as its inputs.",
)
def directions_and_layers() -> list[Panel]:
    both = Panel(320, 262, "Two directions: one row of states from the left, one from the right, joined at each word.")
    both.title("Two directions")
    stacked = Panel(320, 262, "Two layers: the states of the first are the inputs of the second.")
    stacked.title("Two layers")
    places = (70, 165, 260)
    right, left, first, second = [], [], [], []
    for t, x in enumerate(places, start=1):
        word = both.token(x, 240, f"$w_{t}$")
        a = both.box(x - 38, 166, 40, 30, rf"$\overrightarrow{{\mathbf h}}_{t}$", "forward")
        b = both.box(x - 2, 104, 40, 30, rf"$\overleftarrow{{\mathbf h}}_{t}$", "backward")
        joined = both.box(x - 26, 42, 52, 28, rf"$\mathbf h_{t}$", "state")
        both.arrow((x - 18, word.y), a.bottom)
        both.arrow((x + 18, word.y), b.bottom)
        both.arrow(a.top, (a.top[0], joined.bottom[1]), role="forward")
        both.arrow(b.top, (b.top[0], joined.bottom[1]), role="backward")
        right.append(a)
        left.append(b)
        word = stacked.token(x, 240, f"$w_{t}$")
        one = stacked.box(x - 26, 166, 52, 30, rf"$\mathbf h_{t}^{{(1)}}$", "state")
        two = stacked.box(x - 26, 88, 52, 30, rf"$\mathbf h_{t}^{{(2)}}$", "state")
        stacked.arrow(word.top, one.bottom)
        stacked.arrow(one.top, two.bottom)
        stacked.arrow(two.top, (x, 50))
        first.append(one)
        second.append(two)
    for t in (0, 1):
        both.arrow(right[t].right, right[t + 1].left, role="forward")
        both.arrow(left[t + 1].left, left[t].right, role="backward")
        for row in (first, second):
            stacked.arrow(row[t].right, row[t + 1].left, role="state")
    stacked.note(165, 40, "predictions")
    return [both, stacked]


@drawing(
    8,
    caption="A batch of three sentences, of 4, 2 and 1 words. Padded: short rows are filled up (hatched), and a "
    "network that reads from right to left meets the padding first. Packed: only the words are kept, column by "
    "column, and the sizes of the columns say which is which.",
    alt="Padded, a table of three rows and four columns: row 1 has the words 11, 12, 13 and 14, row 2 has 21 and 22 "
    "and two hatched cells, row 3 has 31 and three hatched cells. An arrow from the left meets the words first, one "
    "from the right meets the padding first. Packed, one row of seven cells, 11, 21, 31, 12, 22, 13, 14, with "
    "brackets below that mark columns of 3, 2, 1 and 1.",
)
def padding_and_packing() -> list[Panel]:
    rows = ((11, 12, 13, 14), (21, 22), (31,))
    p = Panel(320, 190, "Padded: three rows of four cells, five of them padding.")
    p.title("Padded: 12 cells")
    for i, row in enumerate(rows):
        for t in range(4):
            real = t < len(row)
            cell = p.cell(88 + 34 * t, 30 + 34 * i, 34, "encoder" if real else "plain", 0.3, hatched=not real)
            if real:
                p.text(*cell.centre, f"{row[t]}", 13, inside=cell)
    p.arrow((88, 150), (224, 150), role="forward")
    p.note(80, 150, "words first", "end")
    p.arrow((224, 172), (88, 172), role="backward")
    p.note(232, 172, "padding first", "start")
    q = Panel(300, 190, "Packed: the seven words in one row, column by column.")
    q.title("Packed: 7 cells")
    x = 19
    for t in range(4):
        column = [row[t] for row in rows if t < len(row)]
        for word in column:
            cell = q.cell(x, 64, 34, "encoder", 0.3)
            q.text(*cell.centre, f"{word}", 13, inside=cell)
            x += 34
        wide = 34 * len(column)
        q.brace(x - wide + 4, 104, wide - 8, f"{len(column)}")
        x += 8
    q.note(150, 150, "rows in each column")
    return [p, q]


# ---- chapter 9


def _translator(title: str, name: str, forced: bool) -> Panel:
    p = Panel(330, 250, name)  # two fit side by side
    p.title(title)
    row = 130
    before = None
    for i, x in enumerate((28, 80, 132), start=1):
        state = p.box(x - 18, row, 36, 32, rf"$\mathbf h_{i}$", "encoder")
        p.arrow(p.token(x, 212, f"$x_{i}$", 36).top, state.bottom)
        if before:
            p.arrow(before.right, state.left, role="encoder")
        before = state
    p.note(80, 240, "encoder")
    p.note(258, 240, "decoder")
    inputs = ("<sos>", "$y_1$", "$y_2$") if forced else ("<sos>", r"$\hat y_1$", r"$\hat y_2$")
    states, heads = [], []
    for t, (x, given) in enumerate(zip((206, 258, 310), inputs, strict=True), start=1):
        state = p.box(x - 18, row, 36, 32, rf"$\mathbf s_{t}$", "decoder")
        p.arrow(before.right, state.left, role="encoder" if t == 1 else "decoder", width=2.5 if t == 1 else 1.5)
        if t == 1:
            p.text(169, row + 3, r"$\mathbf c$")
        if forced or t == 1:
            p.arrow(p.token(x, 212, given, 46 if t == 1 else 36).top, state.bottom)
        if forced:
            out = p.box(x - 18, 70, 36, 26, rf"$\hat{{\mathbf y}}_{t}$")
            loss = p.box(x - 18, 28, 36, 24, f"$L_{t}$", "loss")
            p.arrow(out.top, loss.bottom)
        else:
            out = p.token(x, 70, rf"$\hat y_{t}$", 36, "decoder")
        p.arrow(state.top, out.bottom)
        states.append(state)
        heads.append(out)
        before = state
    if not forced:
        for t in (0, 1):
            a, b = heads[t], states[t + 1]
            gap = (states[t].right[0] + b.left[0]) / 2
            p.arrow(a.right, (gap, a.right[1]), (gap, 196), (b.bottom[0], 196), b.bottom, role="decoder")
    return p


@drawing(
    9,
    caption=r"The same two networks twice. Compare what goes into the decoder: in training the right token, whatever "
    r"was predicted; in writing the token that it chose itself. All that the decoder knows of the source is "
    r"$\mathbf c$.",
    alt="Two panels. In both an encoder reads x_1, x_2, x_3 into states h_1, h_2, h_3, and the last one, c, "
    "starts a decoder with states s_1, s_2, s_3. Training: the decoder is given <sos>, y_1, y_2, and "
    "each prediction is scored by a loss L_1, L_2, L_3. Writing: only <sos> is given; each token that "
    "the decoder writes is its next input.",
)
def encoder_decoder() -> list[Panel]:
    return [
        _translator("Training: the right history", "Training: the right tokens go into the decoder.", True),
        _translator("Writing: its own words", "Writing: each token that the decoder writes is its next input.", False),
    ]


@drawing(
    9,
    caption="The toy table as a tree, searched with a beam of two. Solid branches are kept, dashed ones dropped. The "
    "likeliest first word leads to the second-best sentence; greedy decoding never leaves the upper branch.",
    alt="A tree. From the start, good with probability 0.6 and fine with 0.4, both kept. From good: day 0.4, "
    "evening 0.3, night 0.3; the products are 0.24, 0.18 and 0.18. From fine: evening 0.9 and day 0.1; the "
    "products are 0.36 and 0.04. Kept are fine evening with 0.36 and good day with 0.24.",
)
def beam_tree() -> list[Panel]:
    p = Panel(376, 240)
    start = p.token(36, 128, "<sos>", 52)
    good, fine = p.token(146, 76, "good", 60, "decoder"), p.token(146, 188, "fine", 60, "decoder")
    tree = {
        good: (("day", 0.4, 40, True), ("evening", 0.3, 76, False), ("night", 0.3, 112, False)),
        fine: (("evening", 0.9, 170, True), ("day", 0.1, 206, False)),
    }
    for node, share, shift in ((good, 0.6, -12), (fine, 0.4, 12)):
        p.line(start.right, node.left, role="decoder", width=2.5)
        p.text(79, (start.right[1] + node.left[1]) / 2 + shift, f"{share}", NOTE)
        for word, follows, y, kept in tree[node]:
            leaf = p.token(264, y, word, 72, "decoder" if kept else "plain")
            role, wide = ("decoder", 2.5) if kept else ("plain", 1)
            p.line(node.right, leaf.left, role=role, dashed=not kept, width=wide)
            away = -15 if y < node.centre[1] else 15 if y > node.centre[1] else 0
            if away:
                p.text(200, (node.right[1] + y) / 2 + away, f"{follows}", NOTE)
            else:
                p.text(211, y - 9, f"{follows}", NOTE)
            p.text(342, y, f"{share * follows:.2f}", bold=kept)
    p.note(146, 14, "first word")
    p.note(264, 14, "second word")
    p.note(342, 14, "product")
    return [p]


# ---- chapter 10


@drawing(
    10,
    caption=r"Everything that the decoder will ever know of the source passes through $\mathbf c$, $m$ numbers. "
    r"Compare the two sources: the second is three times as long, and its $\mathbf c$ is no larger.",
    alt="Two funnels. Above, a source of 4 tokens narrows through the encoder into the vector c of m numbers, "
    "from which the decoder widens again to 4 tokens. Below, a source of 12 tokens narrows into a vector c of "
    "the same m numbers.",
)
def funnel() -> list[Panel]:
    p = Panel(376, 330)
    for top, rows in ((24, 4), (134, 12)):
        high = 15 * rows
        y, half = top + high / 2, high / 2
        for k in range(rows):
            p.cell(24, top + 15 * k, 12, "encoder", 0.3)
            p.cell(338, top + 15 * k, 12, "decoder", 0.3)
        p.area((42, y - half), (180, y - 20), (180, y + 20), (42, y + half), role="encoder")
        p.area((332, y - half), (196, y - 20), (196, y + 20), (332, y + half), role="decoder")
        p.text(112, y, "encoder", NOTE)
        p.text(264, y, "decoder", NOTE)
        p.vector(188, y, role="state", upright=True)
        p.text(188, y - 32, r"$\mathbf c$")
        p.text(188, y + 30, "$m$ numbers", NOTE)
        p.text(30, top - 11, f"$N = {rows}$", NOTE)
    return [p]


@drawing(
    10,
    caption="Counting what can come back, here for sources of two symbols of 2 bits and a state of three numbers of "
    "1 bit. There are more sources than values of the state, so some share a value, and for each value the decoder "
    "can write only one text. Hollow sources are lost.",
    alt="Three columns. Left, 16 sources; in the middle, 8 values of the state c; right, 8 texts that the decoder "
    "can write. Two lines lead from each pair of sources to one value, and one line from each value to one text. One "
    "source of each pair is filled and comes back, the other is hollow and is lost.",
)
def bits_in_bits_out() -> list[Panel]:
    p = Panel(360, 330)
    top, gap = 52, 15
    for k in range(8):
        y = top + gap * (2 * k + 0.5) + 7
        value = p.cell(173, y - 7, 14, "state", 0.5)
        text = p.cell(303, y - 7, 14, "decoder", 0.5)
        p.line(value.right, text.left, role="decoder", width=1)
        for i in (0, 1):
            source = p.cell(43, top + gap * (2 * k + i), 13, "encoder", 0.5 if i == 0 else 0)
            p.line(source.right, value.left, role="encoder", width=1, dashed=i == 1)
    p.note(50, 24, "16 sources\n4 bits in")
    p.note(180, 24, "8 values of $\\mathbf c$\n3 bits pass")
    p.note(310, 24, "8 texts\n3 bits out")
    p.note(180, 312, "share that comes back: at most 8/16")
    return [p]
