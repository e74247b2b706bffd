"""The drawings of chapters 11 and 12: looking back, queries, keys and values."""

from lmbook.drawings import drawing
from lmbook.drawings.shapes import NOTE, Box, Panel

# ---- chapter 11


@drawing(
    11,
    caption=r"One step of a decoder that looks back, with the numbers of the example below. First the state $\mathbf "
    r"s$ is compared with every $\mathbf h_i$, and the softmax turns the scores into weights. Then the "
    r"states come back, each arrow as thick as its weight is large.",
    alt="Where to look: f compares the decoder state s with the encoder states h_1, h_2 and h_3; the scores are 2, 1 "
    "and minus 3/2; a softmax turns them into the weights 0.72, 0.26 and 0.02, drawn as bars. What comes back: each "
    "h_i is multiplied by its weight, and the sum is the context c_t, from which, together with the decoder's state, "
    "the next word is predicted.",
)
def looking_back() -> list[Panel]:
    weights = (0.72, 0.26, 0.02)
    p = Panel(320, 272, "Where to look: scores of s with every h_i, then a softmax.")
    p.title("Where to look")
    p.box(30, 108, 200, 24, r"$\softmax$")
    s = p.box(270, 222, 40, 30, r"$\mathbf s$", "decoder")
    p.line(s.top, (290, 202), (64, 202), role="decoder")
    before = None
    for i, (x, score) in enumerate(zip((54, 130, 206), ("2", "1", "-3/2"), strict=True), start=1):
        h = p.box(x - 20, 222, 40, 30, rf"$\mathbf h_{i}$", "encoder")
        f = p.box(x - 16, 160, 32, 24, "$f$", "parameter")
        p.arrow(h.at(0.3, 0), (h.at(0.3, 0)[0], 184), role="encoder")
        p.dot(x + 10, 202, "decoder")
        p.arrow((x + 10, 202), (x + 10, 184), role="decoder")
        p.arrow(f.top, (x, 132))
        p.text(x + 5, 146, f"${score}$", NOTE, "start")
        high = 52 * weights[i - 1]
        p.area((x - 12, 108), (x - 12, 108 - high), (x + 12, 108 - high), (x + 12, 108), role="weight", tint=0.6)
        p.text(x, 98 - high, f"{weights[i - 1]:.2f}", NOTE)
        if before:
            p.arrow(before.right, h.left, role="encoder")
        before = h
    p.text(14, 146, r"$e_{ti}$")
    p.text(14, 96, r"$\alpha_{ti}$")

    q = Panel(320, 272, "What comes back: the weighted sum of the states.")
    q.title("What comes back")
    total = q.sum(130, 112, "value")
    before = None
    for i, (x, thick) in enumerate(zip((54, 130, 206), (2.5, 1.5, 0.75), strict=True), start=1):
        h = q.box(x - 20, 222, 40, 30, rf"$\mathbf h_{i}$", "encoder")
        times = q.product(x, 168)
        q.arrow(h.top, times.bottom, role="encoder", width=thick)
        q.arrow(times.top, total.at(0.15 if i == 1 else 0.85 if i == 3 else 0.5, 0.85 if i != 2 else 1), role="value",
                width=thick)  # fmt: skip
        q.text(x - 13, 168, f"{weights[i - 1]:.2f}", NOTE, "end")
        if before:
            q.arrow(before.right, h.left, role="encoder")
        before = h
    c, s = q.box(110, 56, 40, 28, r"$\mathbf c_t$", "value"), q.box(270, 222, 40, 30, r"$\mathbf s_t$", "decoder")
    r = q.box(270, 56, 40, 28, r"$\mathbf r_t$", "decoder")
    q.arrow(total.top, c.bottom, role="value")
    q.arrow(c.right, r.left, role="value")
    q.arrow(s.top, (290, 84), role="decoder")
    q.arrow(r.top, (290, 22))
    q.text(282, 34, r"$P(y_t)$", NOTE, "end")
    return [p, q]


def _score(title: str, name: str, weights: dict[str, str], steps: tuple[str, ...]) -> Panel:
    """One score as a machine: the two states below, what is done with them, and the score above.

    weights: what multiplies a state on its way, by the letter of the state.  steps: what happens from below to above.
    """
    p = Panel(150, 300, name)
    p.title(title)
    sums = {"+": p.sum, "x": p.product}
    meet = sums[steps[0]](75, 186)
    for letter, x, role, inner in (("s", 32, "decoder", meet.left), ("h", 118, "encoder", meet.right)):
        below = p.box(x - 20, 260, 40, 28, rf"$\mathbf {letter}{'_i' if letter == 'h' else ''}$", role)
        if letter in weights:
            W = p.box(x - 20, 212, 40, 26, f"${weights[letter]}$", "parameter")
            p.arrow(below.top, W.bottom, role=role)
            p.arrow(W.top, (x, 186), inner, role=role)
        else:
            p.arrow(below.top, (x, 186), inner, role=role)
    last = meet
    for step, y in zip(steps[1:], (140, 94), strict=False):
        box = p.box(47, y - 13, 56, 26, f"${step}$", "parameter" if "mathbf" in step else "plain")
        p.arrow(last.top, box.bottom)
        last = box
    p.arrow(last.top, (75, 54))
    p.text(75, 42, "$e_{ti}$")
    return p


@drawing(
    11,
    caption=r"The four scores as machines, with the two states below and the score above. A circle multiplies (×) or "
    r"adds (+) entry by entry, and $\sum$ adds up the entries. What is learned is olive: the dot score learns nothing, "
    r"and only in the additive score does a nonlinear function see both states together.",
    alt="Four panels. Dot: s and h_i are multiplied entry by entry, and the entries are added up to the score. "
    "Multiplicative: the same, but h_i is first multiplied by a matrix W. Scaled: the same as multiplicative, "
    "and the sum is divided by the root of m. Additive: s is multiplied by W_s and h_i by W_h, the two are added, then "
    "come a tanh and the inner product with v.",
)
def four_scores() -> list[Panel]:
    return [
        _score("Dot", "Dot: the products of the entries of s and h_i, added up.", {}, ("x", r"\sum")),
        _score("Multiplicative", "Multiplicative: W times h_i, then as for dot.", {"h": "W"}, ("x", r"\sum")),
        _score(
            "Scaled",
            "Scaled: as multiplicative, then divided by the root of m.",
            {"h": "W"},
            ("x", r"\sum", r"/ \sqrt{m}"),
        ),
        _score(
            "Additive",
            "Additive: W_s times s plus W_h times h_i, a tanh, then the inner product with v.",
            {"s": "W_s", "h": "W_h"},
            ("+", r"\tanh", r"\mathbf v^{\top}"),
        ),
    ]


@drawing(
    11,
    caption="A swap of words, seen twice. The lines join each word to its translation; those of a noun and its "
    "adjectives cross. The cells show the same pairs, with a row for every word that is written: where the lines "
    "cross, the cells run backwards.",
    alt="As lines, the English words two, quiet, small, horses, wait above their translations in Harbourish, dva, "
    "hiran, pikan, soran, galmen. Lines join two with dva, horses with hiran, small with pikan, quiet with soran and "
    "wait with galmen; the three in the middle cross. As cells, a grid with the English words as columns and the "
    "Harbourish ones as rows; the filled cells start at the upper left, jump to the fourth column, run back to the "
    "second, and end at the lower right.",
)
def word_order() -> list[Panel]:
    source, target = ("two", "quiet", "small", "horses", "wait"), ("dva", "hiran", "pikan", "soran", "galmen")
    partner = (0, 3, 2, 1, 4)
    p = Panel(330, 222, "The two sentences one above the other, with lines between words that translate each other.")
    p.title("As lines")
    above = [p.token(36 + 64.5 * i, 72, word, 60, "encoder") for i, word in enumerate(source)]
    below = [p.token(36 + 64.5 * t, 192, word, 60, "decoder") for t, word in enumerate(target)]
    for t, i in enumerate(partner):
        p.line(above[i].bottom, below[t].top, role="weight", width=2.5 if t != i else 1.5)
    q = Panel(290, 222, "The same as a grid, a row for every word that is written.")
    q.title("As cells")
    for i, word in enumerate(source):
        q.text(89 + 44 * i, 38, word, NOTE)
    for t, word in enumerate(target):
        q.text(60, 68 + 34 * t, word, NOTE, "end")
        left, top = 67 + 44 * partner[t], 51 + 34 * t
        q.area((left, top), (left + 44, top), (left + 44, top + 34), (left, top + 34), role="weight", tint=0.5)
    q.matrix(67, 51, 220, 170, grid=(5, 5))
    for t in range(4):
        a, b = ((89 + 44 * partner[k], 68 + 34 * k) for k in (t, t + 1))
        q.arrow(a, b)
    return [p, q]


# ---- chapter 12


@drawing(
    12,
    caption="Multi-head attention with its shapes, here $T = 4$, $N = 6$, $d = 6$, $n = 3$. The heads share $S$ and "
    "$H$ and differ in their matrices. Their answers are put side by side; each is multiplied by its own rows "
    "of $W_o$, and the products are added up.",
    alt="Head j: S, T times d, times W_q gives Q, T times d_k; H, N times d, times W_k gives K, N times "
    "d_k, and times W_v gives V, N times d_v. Q and K make the weights, T times N; these times V make C, T "
    "times d_v. All heads: C of the three heads side by side, T times n d_v, times W_o, n d_v times d, in three "
    "blocks of rows, gives out, T times d.",
)
def multi_head() -> list[Panel]:
    p = Panel(370, 330, "One head: S and H become Q, K and V, these the weights, and the answer C.")
    p.title("Head $j$")
    u = 10
    S = p.matrix(6, 58, 6 * u, 4 * u, "$S$", r"$T \times d$", "decoder")
    H = p.matrix(6, 186, 6 * u, 6 * u, "$H$", r"$N \times d$", "encoder")
    Q = p.matrix(152, 58, 2 * u, 4 * u, "", r"$T \times d_k$", "query")
    K = p.matrix(152, 142, 2 * u, 6 * u, "", r"$N \times d_k$", "key")
    V = p.matrix(152, 246, 2 * u, 6 * u, "", r"$N \times d_v$", "value")
    Wq, Wk, Wv = (
        p.box(86, y - 12, 46, 24, f"$W_{name}^{{(j)}}$", "parameter", 12)
        for name, y in (("q", 78), ("k", 172), ("v", 276))
    )
    for box, letter in ((Q, "Q"), (K, "K"), (V, "V")):
        p.text(box.x + 10, box.y - 11, f"${letter}^{{(j)}}$", 13)
    p.arrow(S.right, Wq.left)
    p.arrow(H.at(1, 0.3), (76, 204), (76, 172), Wk.left)
    p.arrow(H.at(1, 0.7), (76, 228), (76, 276), Wv.left)
    for W, out in ((Wq, Q), (Wk, K), (Wv, V)):
        p.arrow(W.right, out.left)
    A = p.matrix(226, 96, 6 * u, 4 * u, "", r"$T \times N$", "weight", grid=(4, 6))
    p.text(204, 78, r"$\softmax(Q K^{\top} / \sqrt{d_k})$", 12, "start")
    p.arrow(Q.at(1, 0.4), (196, 74), (196, 106), (226, 106))
    p.arrow(K.right, (196, 172), (196, 126), (226, 126))
    times = p.product(310, 186)
    C = p.matrix(300, 232, 2 * u, 4 * u, "", r"$T \times d_v$", "value")
    p.arrow(A.right, (310, 116), times.top)
    p.arrow(V.right, (226, 276), (226, 186), times.left)
    p.arrow(times.bottom, C.top)
    p.text(326, 252, "$C^{(j)}$", 13, "start")

    q = Panel(320, 262, "The heads side by side, times W_o, give the output.")
    q.title("All heads")
    heads = []
    for j, x in enumerate((20, 40, 60), start=1):
        heads.append(q.matrix(x, 120, 20, 40, "", "", "value", tint=0.12 + 0.16 * (j - 1)))
        head = q.box(14 + 52 * (j - 1), 44, 48, 26, f"head {j}", "weight", 12)
        q.arrow((head.bottom[0], 70), (x + 10, 119))
    q.text(50, 172, r"$T \times n d_v$", NOTE)
    q.text(98, 140, r"$\cdot$", 18)
    for j in (1, 2, 3):
        q.matrix(122, 90 + 34 * (j - 1), 96, 34, f"$W_o^{{({j})}}$", "", "parameter", tint=0.12 + 0.16 * (j - 1))
    q.text(170, 204, r"$n d_v \times d$", NOTE)
    q.text(232, 140, "$=$", 18)
    q.matrix(250, 120, 60, 40, "out", r"$T \times d$", "state")
    q.note(160, 244, "$= C^{(1)} W_o^{(1)} + C^{(2)} W_o^{(2)} + C^{(3)} W_o^{(3)}$", size=13)
    return [p, q]


@drawing(
    12,
    caption="Heads as slices, here $n = 3$. One product makes the queries of all heads, and likewise all keys and all "
    "values. Then the width is cut: head $j$ gets slice $j$ of each (drawn for head 2), makes weights of its own, and "
    "fills slice $j$ of $C$. Row block $j$ of $W_o$ reads it.",
    alt="Above, S times W_q gives Q; W_q and Q are cut into three slices of columns of the same shades. Beside it K "
    "and V, cut in the same way. From the second slices of Q, K and V lines go down to head 2, a table of weights, T "
    "times N, between head 1 and head 3. Each head fills one of three slices of C below. C times W_o, whose rows are "
    "cut into three blocks, gives out.",
)
def heads_as_slices() -> list[Panel]:
    p = Panel(396, 322)
    shades = (0.14, 0.34, 0.56)

    def sliced(x: float, y: float, high: float, role: str) -> list[Box]:
        return [p.matrix(x + 18 * j, y, 18, high, "", "", role, tint=shade) for j, shade in enumerate(shades)]

    p.matrix(6, 50, 54, 36, "$S$", "", "decoder")
    p.text(33, 30, r"$T \times d$", NOTE)
    p.text(68, 68, r"$\cdot$", 18)
    sliced(78, 41, 54, "parameter")
    p.text(105, 12, "$W_q$", 13)
    p.text(105, 30, r"$d \times d$", NOTE)
    p.text(143, 68, "$=$", 16)
    parts = {}
    for x, high, name, role, shape in (
        (156, 36, "$Q = S W_q$", "query", r"$T \times d$"),
        (246, 54, "$K = H W_k$", "key", r"$N \times d$"),
        (332, 54, "$V = H W_v$", "value", r"$N \times d$"),
    ):
        parts[role] = sliced(x, 68 - high / 2, high, role)
        p.text(x + 27, 12, name, 12)
        p.text(x + 27, 30, shape, NOTE)
    heads = []
    for j, x in enumerate((78, 183, 288), start=1):
        heads.append(p.matrix(x - 30, 144, 60, 40, f"head {j}", "", "weight", tint=shades[j - 1]))
    for role, share in (("query", 0.3), ("key", 0.55), ("value", 0.8)):
        p.arrow(parts[role][1].bottom, heads[1].at(share, 0), role=role)
    columns = sliced(156, 240, 40, "value")
    for head, column in zip(heads, columns, strict=True):
        p.arrow(head.bottom, column.top, role="value")
    p.note(330, 164, "weights,\n$T \\times N$", "start", 12)
    p.text(183, 298, r"$C$, $T \times d$", NOTE)
    p.text(220, 260, r"$\cdot$", 18)
    for j, shade in enumerate(shades):
        p.matrix(230, 233 + 18 * j, 54, 18, "", "", "parameter", tint=shade)
    p.text(257, 304, "$W_o$", 13)
    p.text(297, 260, "$=$", 16)
    p.matrix(310, 240, 54, 40, "out", r"$T \times d$", "state")
    return [p]
