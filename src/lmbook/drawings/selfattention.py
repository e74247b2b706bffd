"""The drawings of chapters 13 and 14: self-attention, masks, the hybrid, positions."""

from collections.abc import Callable
from math import cos, sin

from lmbook.drawings import drawing
from lmbook.drawings.shapes import NOTE, Panel

# ---- chapter 13


@drawing(
    13,
    caption=r"Self-attention for one word, with the numbers of the example below. The word “seal” asks with $\mathbf "
    r"q_1$; every word, itself included, answers with its key and contributes its value, multiplied by its weight.",
    alt="Three words, seal, near and rock, each with a key k_j and a value v_j; seal has a query q_1 too. The "
    "query meets each key; a softmax makes the weights 0.11, 0.11 and 0.79. Each value is multiplied by its "
    "weight, and the sum is o_1, the new vector of seal.",
)
def one_word_attends() -> list[Panel]:
    p = Panel(376, 322)
    total = p.sum(226, 44, "value")
    p.frame(40, 108, 316, 44)
    p.text(20, 130, r"$\alpha_{1j}$")
    p.note(34, 97, "softmax")
    for j, (x, word, weight) in enumerate(
        zip((96, 204, 312), ("seal", "near", "rock"), (0.11, 0.11, 0.79), strict=True), 1
    ):
        token = p.token(x, 304, word, 60)
        vector = p.vector(x, 264, role="state", cells=4)
        p.arrow(token.top, vector.bottom)
        k = p.box(x - 36, 196, 32, 26, rf"$\mathbf k_{j}$", "key")
        v = p.box(x + 6, 196, 32, 26, rf"$\mathbf v_{j}$", "value")
        p.arrow(vector.at(0.3, 0), k.bottom)
        p.arrow(vector.at(0.7, 0), v.bottom)
        if j == 1:
            q = p.box(10, 196, 32, 26, r"$\mathbf q_1$", "query")
            p.arrow(vector.left, (26, 264), q.bottom)
        a = p.box(x - 42, 116, 44, 28, f"{weight}", "weight", 13)
        p.arrow(k.at(0.35, 0), (k.at(0.35, 0)[0], 144), role="key")
        if j < 3:
            p.dot(x - 12, 174, "query")
            p.arrow((x - 12, 174), (x - 12, 144), role="query")
        else:
            p.arrow(q.top, (26, 174), (x - 12, 174), (x - 12, 144), role="query")
        times = p.product(x + 22, 80)
        p.arrow(a.top, (a.top[0], 80), times.left, role="weight")
        p.arrow(v.top, (x + 22, 89), role="value")
        way = {1: (total.left,), 2: (), 3: (total.right,)}[j]
        p.arrow(times.top, *(((x + 22, 44), *way) if way else (total.bottom,)), role="value")
    p.arrow(total.top, (226, 12), role="value")
    p.text(236, 16, r"$\mathbf o_1$", anchor="start")
    return [p]


@drawing(
    13,
    caption=r"The hybrid, with three target words. Below, the encoder reads without recurrence: all $\mathbf h_i$ come "
    r"at once, and only the positions know the order. Above, the decoder still goes from $\mathbf s_{t-1}$ to "
    r"$\mathbf s_t$, and looks at every $\mathbf h_i$ at each step.",
    alt="Below, four source words x_1 to x_4, each with a position added, go into layers of self-attention, where "
    "every word is joined to every other, and come out as h_1 to h_4. All four go into a bar, attention. From the bar "
    "an arrow goes up to each decoder state s_1, s_2, s_3. The states form a chain that starts at s_0, the mean of "
    "the h_i; above them stand the words y_1 to y_3. Notes say: all words at once, below; step by step, above.",
)
def hybrid() -> list[Panel]:
    p = Panel(376, 344)
    columns, steps = (130, 200, 270, 340), (154, 235, 316)
    p.box(104, 192, 264, 76, "", "encoder", tint=0.06)
    for x in columns:
        for other in columns:
            p.line((other, 262), (x, 198), role="encoder", width=1, faint=0.6)
    p.box(104, 100, 264, 26, "attention", "weight")
    for i, x in enumerate(columns, start=1):
        word, plus = p.token(x, 330, f"$x_{i}$", 40), p.sum(x, 293)
        h = p.box(x - 20, 148, 40, 26, rf"$\mathbf h_{i}$", "encoder")
        p.arrow(word.top, plus.bottom)
        p.arrow(plus.top, (x, 268))
        p.arrow((x, 192), h.bottom, role="encoder")
        p.arrow(h.top, (x, 126), role="key")
    p.note(96, 293, "+ positions", "end")
    p.note(96, 230, "self-attention:\nall words\nat once", "end")
    before = p.box(62, 50, 40, 28, r"$\mathbf s_0$", "decoder")
    rows = p.frame(106, 143, 260, 36)
    p.arrow(rows.left, (82, 161), before.bottom)
    p.note(74, 120, "mean", "end")
    for t, x in enumerate(steps, start=1):
        s = p.box(x - 20, 50, 40, 28, rf"$\mathbf s_{t}$", "decoder")
        p.arrow(before.right, s.left, role="decoder")
        p.arrow((x, 100), s.bottom, role="value")
        p.arrow(s.top, (x, 28))
        p.text(x, 14, f"$y_{t}$")
        before = s
    p.note(52, 64, "step\nby step", "end")
    return [p]


@drawing(
    13,
    caption="Who may look at whom under the causal mask. Read a row: the output at this position sees the inputs up to "
    "its own and has to predict the next one, which is one step further to the right, behind the hatching.",
    alt="A square of 5 rows and 5 columns for the inputs <sos>, y_1 to y_4. Row i is filled up to column i and "
    "hatched beyond it, so the filled cells form a triangle. To the right of row i is what it has to "
    "predict: y_1 for the first, y_5 for the last.",
)
def causal_triangle() -> list[Panel]:
    p = Panel(340, 262)
    names = ["<sos>", "$y_1$", "$y_2$", "$y_3$", "$y_4$"]
    for i in range(5):
        p.text(60, 76 + 36 * i, names[i], 13, "end")
        p.text(88 + 36 * i, 46, names[i], 13)
        for j in range(5):
            p.cell(70 + 36 * j, 58 + 36 * i, 36, "weight" if j <= i else "plain", 0.45, hatched=j > i)
        p.arrow((254, 76 + 36 * i), (284, 76 + 36 * i))
        p.text(292, 76 + 36 * i, f"$y_{i + 1}$", anchor="start")
    p.note(160, 18, "keys: what may be looked at")
    p.note(300, 46, "predicts")
    p.note(160, 252, "hatched: score $-\\infty$, weight 0")
    return [p]


# ---- chapter 14


@drawing(
    14,
    caption="Four codes of the positions 0 to 8; read each column from the top down. The integer grows. Bits jump, the "
    "left one at every step, the others more rarely. Hands turn instead, each at its own speed. A learned row is what "
    "training made of it; hatched rows were never reached in training.",
    alt="A table with a row for each position from 0 to 8 and four codes. Integer: bars of length 0 to 8. Binary, "
    "lowest bit first: 0 0 0 0, 1 0 0 0, 0 1 0 0, 1 1 0 0, and so on to 0 0 0 1. Sinusoidal: three dials; at "
    "every position the first hand makes a third of a turn, the second less, the third hardly any. Learned: four "
    "shades without a rule; the rows of positions 6 to 8 are hatched, because no training sequence was that long.",
)
def four_codes() -> list[Panel]:
    p = Panel(376, 288)
    for x, name, nature in (
        (74, "integer", "grows"),
        (158, "binary", "jumps"),
        (243, "sinusoidal", "turns"),
        (333, "learned", "ends"),
    ):
        p.text(x, 14, name, 13)
        p.note(x, 32, nature)
    p.text(14, 32, "$t$", 13)
    for t in range(9):
        y = 58 + 26 * t
        p.text(14, y, f"{t}", 13)
        if t:
            p.box(40, y - 8, 7 * t, 16, "", "query")
        p.text(46 + 7 * t, y, f"{t}", NOTE, "start")
        for j in range(4):
            p.cell(126 + 16 * j, y - 8, 16, "key", 0.6 * (t >> j & 1))
        for j, omega in enumerate((2.1, 0.7, 0.15)):
            p.dial(217 + 26 * j, y, 11, t * omega, "value")
        for j in range(4):
            shade = 43758.5 * sin(12.9898 * (4 * t + j + 1)) % 1  # without a rule, and the same each time
            p.cell(301 + 16 * j, y - 8, 16, "plain" if t > 5 else "parameter", 0.1 + 0.6 * shade, hatched=t > 5)
    return [p]


def _similar(title: str, name: str, likeness: Callable[[int, int], float]) -> Panel:
    """likeness(t, i): 0 to 1."""
    p, size = Panel(228, 232, name), 16
    p.title(title)
    for t in range(12):
        for i in range(12):
            p.cell(28 + size * i, 36 + size * t, size, "weight", round(0.85 * likeness(t, i), 2))
    for place in (0, 5, 11):
        p.text(16, 44 + size * place, f"{place}", NOTE)
        p.text(36 + size * place, 26, f"{place}", NOTE)
    return p


@drawing(
    14,
    caption="How alike are the codes of positions $t$ (rows) and $i$ (columns)? Follow a diagonal, along which $t - i$ "
    "stays the same. Under the binary code the shade changes on the way: 7 and 8 share no bit, 6 and 7 three of four. "
    "Under sinusoids it stays.",
    alt="Two squares of 12 by 12 cells, darker where the codes of two positions are more alike. Binary, by equal bits: "
    "a pattern of blocks, in which cells on one diagonal have different shades. Sinusoidal, by dot "
    "products: every diagonal has one shade, darkest in the middle.",
)
def distance_in_two_codes() -> list[Panel]:
    same_bits = lambda t, i: sum((t >> j & 1) == (i >> j & 1) for j in range(4)) / 4  # noqa: E731
    hands = [20 ** (-j / 4) for j in range(4)]
    product = lambda t, i: (1 + sum(cos((t - i) * omega) for omega in hands) / 4) / 2  # noqa: E731
    return [
        _similar("Binary", "Binary code: the share of equal bits, in blocks, not along diagonals.", same_bits),
        _similar("Sinusoidal", "Sinusoids: the dot product, the same along each diagonal.", product),
    ]


def _turned(t: int, i: int) -> Panel:
    p = Panel(
        320,
        152,
        f"Query at position {t}, key at position {i}: each is turned by its position, the angle between is the same.",
    )
    p.title(f"$t = {t}$, $i = {i}$")
    x, y, long, omega, q0, k0 = 150, 136, 84, 0.5, 0.1, 0.5
    for name, place, angle, role in (("q", t, q0, "query"), ("k", i, k0, "key")):
        tip = lambda a, r=long: (x + r * cos(a), y - r * sin(a))  # noqa: E731
        p.line((x, y), tip(angle), role=role, dashed=True, faint=0.6, width=1)
        p.arrow((x, y), tip(angle + place * omega), role=role, width=2.5)
        radius = 40 if name == "q" else 56
        p.arc(x, y, radius, angle, angle + place * omega, role=role)
        at = tip(angle + place * omega, long + 20 + 12 * abs(cos(angle + place * omega)))
        p.text(*at, rf"$\Omega_{place}\, \mathbf {name}$")
        at = tip(angle, long + 14)
        p.text(*at, rf"$\mathbf {name}$", NOTE)
    p.dot(x, y)
    return p


@drawing(
    14,
    caption="One pair of numbers of a query and of a key, before (dashed) and after they are turned by their "
    "positions. Compare the two panels: both vectors have moved, but the angle between them, and hence the score, is "
    "the same, because $i - t$ is the same.",
    alt="Two panels, each with a query and a key drawn as arrows from a centre and turned by an angle that grows "
    "with the position. In the first the query is at position 3 and the key at 1; in the second at 5 and 3. All "
    "arrows have turned further in the second, but the angle between query and key is the same in both.",
)
def turned_queries_and_keys() -> list[Panel]:
    return [_turned(3, 1), _turned(5, 3)]
