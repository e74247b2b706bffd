"""The drawings of chapters 6 and 7: networks that read one token after the other, and their memory."""

from lmbook.drawings import drawing
from lmbook.drawings.shapes import NOTE, Panel

# ---- chapter 6


@drawing(
    6,
    caption="The same network folded and unrolled over three steps. Follow one dashed line from $L_3$ to the left: it "
    "passes $W_{hh}$ at every step, and the gradients of all steps are added up in one and the same $W_{hh}$.",
    alt="Folded, one box for the state h with input x, output z and an arrow from the box to itself, W_hh. Unrolled, "
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


def _factors(factor: float, left: str) -> Panel:
    p = Panel(210, 176, f"Ten steps back with a factor of {factor} at each: {left} of the gradient is left.")
    p.title(f"Each step × {factor}")
    ground, unit = 146, 38
    for k in range(11):
        x, high = 184 - 17 * k, unit * factor**k
        p.matrix(x, ground - high, 12, high, role="gradient", tint=0.5)
    p.line((8, ground), (202, ground), width=1)
    p.gradient((196, 32), (14, 32))
    p.text(190, 162, "$L_T$", NOTE)
    p.note(22, 162, left)
    p.note(105, 162, "10 steps back")
    return p


@drawing(
    7,
    caption="A gradient on its way back from the loss $L_T$, from right to left, as a bar that is multiplied by the "
    "same factor at every step. Compare the bars on the far left with the first ones: a factor a little below or above "
    "1 is enough to lose the gradient in the end, or to blow it up.",
    alt="Three rows of eleven bars, read from right to left, one for each step back. With the factor 0.5 a bar has "
    "half the height of the one before, and 0.001 of the first is left after ten steps. With 0.9 the bars shrink "
    "slowly, to 0.35. With 1.1 they grow, to 2.59.",
)
def shrinking_product() -> list[Panel]:
    return [_factors(0.5, "0.001"), _factors(0.9, "0.35"), _factors(1.1, "2.59")]


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
    caption=r"The LSTM cell in four steps. Follow the thick line of the memory $\mathbf c$ from left to right: "
    r"there is no matrix on it, only a product with $\mathbf f_t$ and a sum. Each gate, a box with $\sigma$, reads "
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
    r"r_t$ decides how much of the past reaches $\mathbf n_t$.",
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
