"""The drawings of part II: networks that read one token after the other."""

from lmbook.drawings import drawing
from lmbook.drawings.shapes import NOTE, Panel

# ---- chapter 6


@drawing(
    6,
    caption="The same network folded and unrolled over three steps. Follow one dashed line from $L_3$ to the left: it "
    "passes $W_{hh}$ at every step, and the gradients of all steps are added up in one and the same $W_{hh}$.",
    alt="Left, one box for the state h with input x, output z and an arrow from the box to itself, W_hh. Right, "
    "the same box three times side by side: states h_1, h_2 and h_3, each with an input x_t below and a loss "
    "L_t above, joined by arrows W_hh. Dashed arrows run back: from each loss down to its state, and from "
    "each state to the one before it.",
)
def unrolled() -> list[Panel]:
    folded = Panel(120, 262, "Folded: one box for the state, with an arrow to itself.")
    folded.title("Folded")
    state = folded.box(36, 130, 44, 34, r"$\mathbf h_t$", "state")
    x = folded.token(58, 222, r"$\mathbf x_t$", 40)
    z = folded.box(36, 58, 44, 28, r"$\mathbf z_t$")
    folded.arrow(x.top, state.bottom)
    folded.arrow(state.top, z.bottom)
    folded.arrow(state.right, (104, 147), (104, 112), (70, 112), (70, 130), role="state")
    folded.text(82, 101, "$W_{hh}$", NOTE, "start")
    folded.text(52, 188, "$W_{xh}$", NOTE, "end")
    folded.text(52, 100, "$W_{hy}$", NOTE, "end")

    rolled = Panel(360, 262, "Unrolled: the box three times, with gradients running back.")
    rolled.title("Unrolled")
    rolled.text(4, 140, r"$\mathbf h_0$", anchor="start")
    before = None
    for t, at in enumerate((80, 190, 300), start=1):
        state = rolled.box(at - 22, 130, 44, 34, rf"$\mathbf h_{t}$", "state")
        x = rolled.token(at, 222, rf"$\mathbf x_{t}$", 40)
        z = rolled.box(at - 22, 78, 44, 26, rf"$\mathbf z_{t}$")
        loss = rolled.box(at - 22, 30, 44, 24, f"$L_{t}$", "loss")
        rolled.arrow(x.top, state.bottom)
        rolled.arrow(state.at(0.3, 0), z.at(0.3, 1))
        rolled.arrow(z.at(0.3, 0), loss.at(0.3, 1))
        rolled.gradient(loss.at(0.75, 1), z.at(0.75, 0))
        rolled.gradient(z.at(0.75, 1), state.at(0.75, 0))
        rolled.text(at - 6, 188, "$W_{xh}$", NOTE, "end")
        rolled.text(at - 14, 117, "$W_{hy}$", NOTE, "end")
        start = (28, 140.2) if before is None else before.at(1, 0.3)
        rolled.arrow(start, state.at(0, 0.3), role="state")
        if before:
            rolled.text(at - 55, 127, "$W_{hh}$", NOTE)
            rolled.gradient(state.at(0, 0.75), before.at(1, 0.75))
        before = state
    rolled.arrow(before.at(1, 0.3), (354, 140.2), role="state")
    rolled.note(188, 253, "solid: computed forwards; dashed: gradients back")
    return [folded, rolled]


# ---- chapter 7


def _lstm(step: int, title: str, name: str) -> Panel:
    """The cell as far as it is built after this step."""
    p = Panel(320, 258, name)
    p.title(f"{step}. {title}")
    line, bus = 66, 214
    added = p.sum(180, line)
    p.text(22, line, r"$\mathbf c_{t-1}$")
    p.text(304, line, r"$\mathbf c_t$")
    candidate = p.box(158, 152, 44, 30, r"$\tanh$", "candidate")
    p.text(187, 139, r"$\mathbf g_t$", NOTE, "start")
    gates = [candidate]
    if step == 1:
        p.arrow((42, line), added.left, role="memory", width=2.5)
        p.arrow(candidate.top, added.bottom, role="candidate")
    else:
        kept, written = p.product(80, line), p.product(180, 108)
        forget = p.box(58, 152, 44, 30, r"$\sigma$", "forget")
        write = p.box(108, 152, 44, 30, r"$\sigma$", "input")
        p.arrow((42, line), kept.left, role="memory", width=2.5)
        p.arrow(kept.right, added.left, role="memory", width=2.5)
        p.arrow(forget.top, kept.bottom, role="forget")
        p.arrow(write.top, (130, 108), written.left, role="input")
        p.arrow(candidate.top, written.bottom, role="candidate")
        p.arrow(written.top, added.bottom, role="candidate")
        p.text(87, 122, r"$\mathbf f_t$", NOTE, "start")
        p.text(137, 122, r"$\mathbf i_t$", NOTE, "start")
        gates += [forget, write]
    p.arrow(added.right, (293, line), role="memory", width=2.5)
    if step >= 3:
        show, output = p.product(262, 146), p.box(208, 152, 44, 30, r"$\sigma$", "output")
        squash = p.box(241, 86, 42, 24, r"$\tanh$", "plain", NOTE)
        p.dot(262, line, "memory")
        p.arrow((262, line), squash.top, role="memory")
        p.arrow(squash.bottom, show.top, role="memory")
        p.arrow(output.at(0.5, 0), (230, 146), show.left, role="output")
        p.arrow(show.bottom, (262, bus + 20), role="state", width=2.5)
        p.text(262, bus + 32, r"$\mathbf h_t$")
        p.text(224, 139, r"$\mathbf o_t$", NOTE, "end")
        gates.append(output)
    last = max(gate.centre[0] for gate in gates)
    p.text(22, bus, r"$\mathbf h_{t-1}$")
    p.text(46, bus + 32, r"$\mathbf x_t$")
    p.line((42, bus), (last, bus))
    p.line((46, bus + 22), (46, bus))
    for gate in gates:
        p.arrow((gate.centre[0], bus), gate.bottom)
        if gate.centre[0] < last:
            p.dot(gate.centre[0], bus)
    if step == 4:
        p.gradient((296, line - 16), (36, line - 16))
        p.text(166, line - 28, r"back along the memory: $\odot \mathbf f_t$, no matrix", NOTE)
    return p


@drawing(
    7,
    caption=r"The LSTM cell in four steps. Follow the thick line of the memory $\mathbf c$ from left to right: no "
    r"matrix stands on it, only a product with $\mathbf f_t$ and a sum. Each gate, a box with $\sigma$, reads "
    r"$\mathbf h_{t-1}$ and $\mathbf x_t$. A circle adds (+) or multiplies (×) entry by entry.",
    alt="Four panels that build the LSTM cell. 1: a memory line from c_{t-1} to c_t on which a sum adds the "
    "candidate g_t, which a tanh makes of h_{t-1} and x_t. 2: two gates with a sigmoid come in; f_t "
    "multiplies the old memory before the sum, i_t multiplies the candidate. 3: c_t goes on and also down "
    "through a tanh and a product with the output gate o_t, which gives h_t. 4: the same cell with a dashed "
    "arrow from c_t back to c_{t-1}, along which a gradient is multiplied by f_t only.",
)
def lstm_cell() -> list[Panel]:
    return [
        _lstm(1, "A memory that is added to", "Step 1: the candidate g_t is added to the memory c_{t-1}."),
        _lstm(2, "What is kept, what is written", "Step 2: f_t multiplies the memory, i_t the candidate."),
        _lstm(3, "What is shown", "Step 3: h_t is o_t times tanh of the memory."),
        _lstm(4, "The way back", "Step 4: a gradient runs back along the memory, multiplied by f_t only."),
    ]


@drawing(
    7,
    caption=r"The GRU. There is one line, the state itself, and $\mathbf z_t$ decides twice: how much of $\mathbf "
    r"h_{t-1}$ stays, and, as $1 - \mathbf z_t$, how much of $\mathbf n_t$ comes in. The reset gate $\mathbf "
    r"r_t$ acts on what $\mathbf n_t$ hears of the past.",
    alt="A line leads from h_{t-1} through a product with z_t and a sum to h_t. The sum adds n_t times 1 minus "
    "z_t. The update gate z_t and the reset gate r_t are sigmoids of h_{t-1} and x_t. The candidate n_t is a "
    "tanh of x_t and of W_hn h_{t-1}, which r_t multiplies first.",
)
def gru() -> list[Panel]:
    p = Panel(370, 290)
    line, low, lower = 50, 226, 250
    p.text(22, line, r"$\mathbf h_{t-1}$")
    p.text(352, line, r"$\mathbf h_t$")
    kept, added, comes = p.product(76, line), p.sum(300, line), p.product(300, 98)
    update = p.box(54, 166, 44, 30, r"$\sigma$", "forget")
    past = p.box(116, 166, 56, 30, "$W_{hn}$", "parameter")
    reset = p.box(188, 166, 44, 30, r"$\sigma$", "output")
    candidate = p.box(278, 166, 44, 30, r"$\tanh$", "candidate")
    rest = p.box(108, 85, 58, 26, r"$1 - \mathbf z_t$")
    heard = p.product(210, 132)
    p.arrow((42, line), kept.left, role="state", width=2.5)
    p.arrow(kept.right, added.left, role="state", width=2.5)
    p.arrow(added.right, (338, line), role="state", width=2.5)
    p.arrow(update.top, kept.bottom, role="forget")
    p.dot(76, 98, "forget")
    p.arrow((76, 98), rest.left, role="forget")
    p.arrow(rest.right, comes.left, role="forget")
    p.arrow(past.top, (144, 132), heard.left, role="state")
    p.arrow(reset.top, heard.bottom, role="output")
    p.arrow(heard.right, (258, 132), (258, 181), candidate.left, role="state")
    p.arrow(candidate.top, comes.bottom, role="candidate")
    p.arrow(comes.top, added.bottom, role="candidate")
    p.text(70, 140, r"$\mathbf z_t$", NOTE, "end")
    p.text(218, 153, r"$\mathbf r_t$", NOTE, "start")
    p.text(307, 140, r"$\mathbf n_t$", NOTE, "start")
    p.text(22, low, r"$\mathbf h_{t-1}$")
    p.text(22, lower + 6, r"$\mathbf x_t$")
    p.line((42, low), (202, low))
    p.line((42, lower + 6), (300, lower + 6))
    for box, shares in (update, (0.3, 0.7)), (past, (0.5, None)), (reset, (0.32, 0.68)), (candidate, (None, 0.5)):
        for share, height in zip(shares, (low, lower + 6), strict=True):
            if share is not None:
                x = box.at(share, 1)[0]
                p.arrow((x, height), (x, 196))
                if x not in (202, 300):
                    p.dot(x, height)
    p.note(
        190, 280, r"$\mathbf h_t = \mathbf z_t \odot \mathbf h_{t-1} + (1 - \mathbf z_t) \odot \mathbf n_t$", size=13
    )
    return [p]


# ---- chapter 8


@drawing(
    8,
    caption=r"With two directions every $\mathbf h_t$ joins a state that has read all words up to $t$ and one that has "
    r"read all from $t$ on. With two layers, the states of the first are the inputs of the second, and both go "
    r"from left to right.",
    alt="Two panels with three words w_1, w_2, w_3. Left: above the words a row of states with arrows to the "
    "right and a row of states with arrows to the left; each h_t is made of one state from each row. Right: "
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


# ---- chapter 9


def _translator(title: str, name: str, forced: bool) -> Panel:
    p = Panel(340, 250, name)
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
    r"was predicted; in writing the token that it chose itself. All it knows of the source is $\mathbf c$.",
    alt="Two panels. In both an encoder reads x_1, x_2, x_3 into states h_1, h_2, h_3, and the last one, c, "
    "starts a decoder with states s_1, s_2, s_3. Left, training: the decoder is given <sos>, y_1, y_2, and "
    "each prediction is scored by a loss L_1, L_2, L_3. Right, writing: only <sos> is given; each token that "
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
        p.text(86, (start.right[1] + node.left[1]) / 2 + shift, f"{share}", NOTE)
        for word, follows, y, kept in tree[node]:
            leaf = p.token(264, y, word, 72, "decoder" if kept else "plain")
            role, wide = ("decoder", 2.5) if kept else ("plain", 1)
            p.line(node.right, leaf.left, role=role, dashed=not kept, width=wide)
            away = -15 if y < node.centre[1] else 15 if y > node.centre[1] else 0
            if away:
                p.text(206, (node.right[1] + y) / 2 + away, f"{follows}", NOTE)
            else:
                p.text(218, y - 9, f"{follows}", NOTE)
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
