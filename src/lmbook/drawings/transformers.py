"""The drawings of chapter 15: the Transformer and the orders of its norms."""

from collections.abc import Callable

from lmbook.drawings import drawing
from lmbook.drawings.shapes import Box, Panel

# ---- chapter 15


def sublayer(
    p: Panel,
    stream: float,
    side: int,
    y: float,
    name: str,
    role: str,
    norm_name: str = "LN",
    up: int = 48,
    wide: int = 84,
) -> Box:
    """A sublayer in pre-norm, to the right (side 1) or left (-1) of the stream, which runs upwards: it reads at y and
    adds `up` pixels above. Returns its box."""
    added = p.sum(stream, y - up, "state")
    norm = p.box(stream + 35 * side - 15, y - 12, 30, 24, norm_name, size=12)
    high = 38 if "\n" in name else 30
    box = p.box(stream + (62 + wide / 2) * side - wide / 2, y - high / 2, wide, high, name, role, 12)
    p.dot(stream, y, "state")
    p.arrow((stream, y), norm.at((1 - side) / 2, 0.5))
    p.arrow(norm.at((1 + side) / 2, 0.5), box.at((1 - side) / 2, 0.5))
    p.arrow(box.top, (box.top[0], y - up), added.at((1 + side) / 2, 0.5))
    return box


@drawing(
    15,
    caption="The Transformer. Follow the two thick lines, the residual streams: every sublayer reads from its stream "
    "through a norm and adds to it, and nothing else changes it. The encoder's rows $H$ go to the "
    "cross-attention of every decoder layer.",
    alt="Two towers. Left the encoder: source tokens, embedding plus positions, then L times self-attention and a "
    "feed-forward network, and a last norm that gives H. Right the decoder: target tokens shifted by one, "
    "embedding plus positions, then L times causal self-attention, attention to H and a feed-forward network, "
    "a last norm, the table E and a softmax. Each sublayer has a norm before it and is added to a line that "
    "runs straight up.",
)
def transformer() -> list[Panel]:
    p = Panel(460, 424)
    left, right, first, step, up, wide = 28, 432, 306, 58, 38, 124
    p.frame(4, first - step - up - 14, 216, step + up + 33)
    p.frame(240, first - 2 * step - up - 14, 216, 2 * step + up + 33)
    p.note(212, first - step - up + 1, r"$L \times$", "end")
    p.note(248, first - 2 * step - up + 1, r"$L \times$", "start")
    for stream, side, tokens, name in (
        (left, 1, r"$x_1 \dots{} x_N$", "encoder"),
        (right, -1, r"$y_0 \dots{} y_{T-1}$", "decoder"),
    ):
        words = p.token(stream + 36 * side, 410, tokens, 104)
        table = p.box(stream - 16, 364, 32, 22, "$E$", "parameter", 12)
        plus = p.sum(stream, 342, "state")
        place = p.box(stream + (62 + wide / 2) * side - wide / 2, 330, wide, 24, "positions", size=12)
        p.arrow((stream, words.y), table.bottom)
        p.arrow(table.top, plus.bottom)
        p.arrow(place.at((1 - side) / 2, 0.5), plus.at((1 + side) / 2, 0.5))
        p.note(stream + 130 * side, 382, name)
        y = 333
        for k in range(2 if side == 1 else 3):
            p.line((stream, y), (stream, first - step * k - up + 9), role="state", width=2.5)
            y = first - step * k - up - 9
        p.arrow((stream, y), (stream, y - 26), role="state", width=2.5)
        p.box(stream - 16, y - 50, 32, 24, "LN", size=12)
    shape = {"up": up, "wide": wide}
    sublayer(p, left, 1, first, "attention", "encoder", **shape)
    sublayer(p, left, 1, first - step, "FFN", "parameter", **shape)
    sublayer(p, right, -1, first, "causal attention", "decoder", **shape)
    cross = sublayer(p, right, -1, first - step, "attention to $H$", "encoder", **shape)
    sublayer(p, right, -1, first - 2 * step, "FFN", "parameter", **shape)
    top = first - step - up - 59  # of the encoder's last norm
    p.arrow((left, top), (left, top - 26), (230, top - 26), (230, first - step), cross.left, role="encoder", width=2.5)
    p.text(129, top - 40, "$H$")
    table = p.box(right - 16, 38, 32, 24, "$E$", "parameter", 12)
    soft = p.box(right - 124, 38, 80, 24, r"$\softmax$", size=12)
    p.arrow((right, first - 2 * step - up - 59), table.bottom)
    p.arrow(table.left, soft.right)
    p.arrow(soft.left, (soft.left[0] - 26, 50))
    p.text(soft.left[0] - 78, 50, r"$P(y_t \mid y_{<t}, x)$", 13)
    return [p]


def _rounds(title: str, name: str, number: Callable[[int, int], int], recurrent: bool, writes: bool) -> Panel:
    """Two decoder layers over four positions; in each box, number(layer, position): the first round in which it can be
    computed."""
    p = Panel(212, 232, name)
    p.title(title)
    columns, (low, high) = (30, 80, 130, 180), (146, 84)
    for t, x in enumerate(columns):
        token = p.token(x, 214, f"$y_{t}$", 32, "query" if writes and t else "plain")
        p.text(x, 46, f"$y_{t + 1}$", 13)
        for layer, y in enumerate((low, high)):
            p.box(x - 15, y, 30, 28, f"{number(layer, t)}", "decoder", tint=0.1 + 0.05 * number(layer, t))
            below = token.y if layer == 0 else low
            if recurrent:
                p.arrow((x, below), (x, y + 28))
                if t:
                    p.arrow((x - 35, y + 14), (x - 15, y + 14), role="decoder")
            else:
                for other in columns[:t]:
                    p.line((other, below), (x, y + 28), role="weight", width=1, faint=0.55)
                p.arrow((x, below), (x, y + 28), role="weight")
        p.arrow((x, high), (x, 58))
        if writes and t < 3:
            p.arrow((x + 9, 46), (x + 25, 46), (x + 25, 214), (x + 34, 214), role="query")
    return p


@drawing(
    15,
    caption="The number in each box is the earliest round in which it can be computed. A recurrent decoder needs one "
    "more round for every token, although its inputs are given. In training the Transformer needs one round for each "
    "layer. When it writes, its next input is its own last output, so each token waits for the one before.",
    alt="Three panels, each with two decoder layers over four positions and the round of each box. Recurrent, in "
    "training: 1 2 3 4 below, 2 3 4 5 above, with arrows from each box to its right neighbour. Transformer, in "
    "training: 1 everywhere below, 2 everywhere above, with lines to the same and all later positions. Transformer, "
    "writing: 1 3 5 7 below, 2 4 6 8 above, with an arrow from each output to the next input.",
)
def rounds() -> list[Panel]:
    return [
        _rounds("RNN, training", "Recurrent layers in training: five rounds for four tokens.",
                lambda layer, t: 1 + layer + t, True, False),
        _rounds("Transformer, training", "A Transformer in training: two rounds, one for each layer.",
                lambda layer, t: 1 + layer, False, False),
        _rounds("Transformer, writing", "A Transformer that writes: eight rounds, two for each token.",
                lambda layer, t: 1 + layer + 2 * t, False, True),
    ]  # fmt: skip


def _norms(post: bool) -> Panel:
    p = Panel(
        320,
        236,
        "Post-norm: the norm stands on the stream, after the sum."
        if post
        else "Pre-norm: the norm stands beside the stream, before the sublayer.",
    )
    p.title("Post-norm" if post else "Pre-norm")
    stream = 90
    p.text(stream, 222, r"$\mathbf x_{k-1}$")
    p.text(stream, 32, r"$\mathbf x_k$")
    f = p.box(170, 132, 80, 30, "$f_k$", "parameter")
    added = p.sum(stream, 104, "state")
    p.dot(stream, 184, "state")
    if post:
        norm = p.box(stream - 24, 56, 48, 26, "LN")
        p.line((stream, 210), (stream, 113), role="state", width=2.5)
        p.arrow((stream, 95), norm.bottom, role="state", width=2.5)
        p.arrow(norm.top, (stream, 42), role="state", width=2.5)
        p.arrow((stream, 184), (210, 184), f.bottom)
        p.gradient((stream - 34, 50), (stream - 34, 206))
        p.note(stream - 40, 128, "through\nevery\nnorm", "end")
    else:
        norm = p.box(186, 172, 48, 24, "LN")
        p.line((stream, 210), (stream, 113), role="state", width=2.5)
        p.arrow((stream, 95), (stream, 42), role="state", width=2.5)
        p.arrow((stream, 184), norm.left)
        p.arrow(norm.top, f.bottom)
        p.gradient((stream - 34, 50), (stream - 34, 206))
        p.note(stream - 40, 128, "as it\nis", "end")
    p.arrow(f.top, (210, 104), added.right)
    return p


@drawing(
    15,
    caption=r"One sublayer in both orders. With pre-norm the stream itself meets nothing but sums, so a gradient "
    r"(dashed) reaches $\mathbf x_{k-1}$ unchanged, and the way through $f_k$ adds to it. With post-norm it "
    r"passes a norm at every sublayer.",
    alt="Two panels. Pre-norm: a line runs from x_{k-1} straight up through a sum to x_k; a branch goes through a "
    "norm and the sublayer f_k into the sum. Post-norm: the branch has no norm, and after the sum the line "
    "itself passes a norm. Dashed arrows show the gradient going down beside each line: as it is on the left, "
    "through every norm on the right.",
)
def pre_and_post_norm() -> list[Panel]:
    return [_norms(False), _norms(True)]
