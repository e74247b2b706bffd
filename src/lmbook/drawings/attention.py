"""The drawings of chapters 11 and 12: looking back, queries, keys and values."""

from lmbook.drawings import drawing
from lmbook.drawings.shapes import NOTE, Box, Panel

# ---- chapter 11


@drawing(
    11,
    caption=r"One step of a decoder that looks back, with the numbers of the example below. First the state $\mathbf "
    r"s$ is compared with every $\mathbf h_i$, and the softmax makes weights of the scores. Then the states "
    r"come back, each as thick as its weight.",
    alt="Left: three encoder states h_1, h_2, h_3 and the decoder state s go into three scores f, 2, 1 and minus "
    "3/2; a softmax turns them into the weights 0.72, 0.26 and 0.02, drawn as bars. Right: each h_i is "
    "multiplied by its weight, and the sum is the context c_t, from which, together with the decoder's state, "
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


# ---- chapter 12


@drawing(
    12,
    caption="Multi-head attention with its shapes, here $T = 4$, $N = 6$, $d = 6$, $n = 3$. The heads share $S$ and "
    "$H$ and differ in their matrices. Their answers stand side by side; each meets its own rows of $W_o$, "
    "and the products add up.",
    alt="Left, head j: S, T times d, times W_q gives Q, T times d_k; H, N times d, times W_k gives K, N times "
    "d_k, and times W_v gives V, N times d_v. Q and K make the weights, T times N; these times V make C, T "
    "times d_v. Right: C of the three heads side by side, T times n d_v, times W_o, n d_v times d, in three "
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
