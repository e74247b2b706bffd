"""Questions to chapter 13, Attention without recurrence."""

from fractions import Fraction

from lmbook_exams.question import dot, matrix, pick, question, shares, some, until, whole


def score_matrix(weights: list[list[int]]) -> str:
    return matrix([[rf"\ln {n}" if n > 1 else "0" for n in line] for line in weights])


@question("A causal softmax", points=5, minutes=7, objective=5, level=1)
def causal_softmax(rng):
    r"""Three positions of a causal self-attention have the scores and values

    $$
    E = «E», \qquad V = «V».
    $$

    (a) Give the attention weights with the causal mask. (b) Give the output of the third position. (c) Which
    entries of $E$ have no effect on anything?

    *Solution.* (a) $«alpha»$. (b) $«row3»$ times $V$: $«o3»$. (c) The three above the diagonal, since $-\infty$
    takes their place.

    *Marks.* 3 points: (a), 1 for each row. 1 point: (b). 1 point: (c).
    """

    def draw():
        weights = [some(rng, range(1, 6), 3) for _ in range(3)]
        V = [[one] for one in some(rng, (-3, -2, -1, 1, 2, 3, 4, 5), 3)]
        return weights, V, dot(weights[2], [one[0] for one in V])

    weights, V, _ = until(draw, lambda weights, V, third: third)
    alpha = [shares(line[: at + 1]) + [Fraction(0)] * (2 - at) for at, line in enumerate(weights)]
    return {
        "E": score_matrix(weights),
        "scores": weights,
        "V": matrix(V),
        "values": [one[0] for one in V],
        "alpha": matrix(alpha),
        "weights": alpha,
        "row3": matrix([alpha[2]]),
        "o3": dot(alpha[2], [one[0] for one in V]),
    }


@question("Zero after the softmax", points=4, minutes=6, objective=5, level=2)
def zero_after(rng):
    r"""Four positions have scores for query 2 of $«e»$. Query 2 may see keys 1 and 2.

    (a) Give the weights with $-\infty$ before the softmax. (b) Give them with zeros put in after the softmax, and
    their sum. (c) A later word changes its score from $«old»$ to $«new»$. Which of the two versions changes? What
    is that called?

    *Solution.* (a) $«before»$. (b) $«after»$, sum $«sum»$. (c) Only the second: the later word is still in the
    denominator. The future has leaked.

    *Marks.* 1 point: (a). 1 point: (b). 1 point: which one changes. 1 point: why, and that it is a leak.
    """
    weights = some(rng, (2, 3, 4, 5, 6), 4)
    whole_row = shares(weights)
    before = [*shares(weights[:2]), 0, 0]
    after = [*whole_row[:2], 0, 0]
    new = pick(rng, [n for n in (7, 8, 10) if n not in weights])
    as_row = [rf"\ln {n}" if n > 1 else "0" for n in weights]
    return {"e": matrix([as_row]), "scores": weights, "before": matrix([before]), "after": matrix([after]),
            "sum": sum(after), "old": as_row[3], "new": rf"\ln {new}", "allowed": before, "zeroed": after}  # fmt: skip


@question("How far do layers see?", points=4, minutes=5, objective=3, level=1)
def reach(rng):
    r"""In each layer a position sees itself and $«w»$ positions to each side; the text has $N = «N»$ words.

    (a) How far to each side does a position see after $«L»$ layers, if the text does not end before? (b) How many layers does it take until the
    state of the last word can depend on the first word? (c) How many does full self-attention take? What does it pay for
    that?

    *Solution.* (a) $L w = «far»$. (b) $\lceil (N - 1) / w \rceil = \lceil «span» / «w» \rceil = «need»$. (c) One.
    It computes $N^2 = «square»$ scores in place of about $(2w + 1) N = «band»$.

    *Marks.* 1 point: (a). 2 points: (b). 1 point: (c).
    """
    w, L = whole(rng, 2, 4), whole(rng, 2, 6)
    N = pick(rng, (12, 20, 26, 33, 41, 50))
    return {"w": w, "N": N, "L": L, "far": L * w, "span": N - 1, "need": -(-(N - 1) // w), "square": N * N,
            "band": (2 * w + 1) * N}  # fmt: skip


@question("Three layers and their weights", points=4, minutes=6, objective=3, level=1)
def three_layers(rng):
    r"""Layers map $N = «N»$ vectors of width $d = «d»$ to as many of the same width. Count their weights, without
    biases:

    (a) a convolution that sees $w = «w»$ positions to each side; (b) a fully connected layer from all positions to
    all positions; (c) self-attention with $W_q, W_k, W_v, W_o$. (d) Which of the counts depend on $N$? Which of the
    three layers chooses its weights by the text?

    *Solution.* (a) $(2w + 1)\, d^2 = «conv»$. (b) $N^2 d^2 = «full»$. (c) $4 d^2 = «attention»$. (d) Only the fully
    connected one. Self-attention: the weights with which it mixes positions are computed from the text, those of
    the other two are the same for every text.

    *Marks.* 1 point: (a). 1 point: (b). 1 point: (c). 1 point: (d), both parts.
    """
    N, d, w = pick(rng, (10, 16, 20, 32)), pick(rng, (16, 32, 64, 100)), whole(rng, 2, 4)
    return {"N": N, "d": d, "w": w, "conv": (2 * w + 1) * d * d, "full": N * N * d * d, "attention": 4 * d * d}


@question("Masks together", points=4, minutes=6, objective=5, level=2)
def masks_together(rng):
    r"""A decoder reads a batch padded to $T = «T»$ positions. One row has $«real»$ real tokens, the rest is padding at
    the end.

    (a) How many pairs (query, key) does the causal mask alone allow in this row? (b) How many does the padding mask
    alone allow, which forbids padding as a key? (c) How many do both together? (d) Does a query that is padding
    itself need a mask?

    *Solution.* (a) $T (T + 1) / 2 = «causal»$. (b) Each of the $«T»$ queries may see the $«real»$ real keys:
    $«padding»$. (c) Query $t$ may see $\min(t, «real»)$ keys: $«triangle» + «rest» = «both»$.

    (d) No: what it computes is read by nobody, if its loss is masked and nobody attends to it. (With a causal mask
    and padding at the end it always has a key that it may see, so there is no empty row.)

    *Marks.* 1 point: (a). 1 point: (b). 1 point: (c). 1 point: (d).
    """
    T = whole(rng, 6, 12)
    real = pick(rng, [n for n in range(2, T - 1) if 2 * n != T + 1])  # else (a) and (b) are one number
    triangle, rest = real * (real + 1) // 2, (T - real) * real
    return {"T": T, "real": real, "causal": T * (T + 1) // 2, "padding": T * real, "triangle": triangle, "rest": rest,
            "both": triangle + rest}  # fmt: skip


@question("Find the leak", points=4, minutes=6, objective=5, level=2)
def find_the_leak(rng):
    r"""One of the three masks of a causal model with four positions leaks, one forbids too much, one is right. A 1
    means *may look*; rows are queries; positions count from 1.

    $$
    A = «A», \qquad B = «B», \qquad C = «C».
    $$

    (a) Which one leaks, and what does which position see that it must not? (b) Which one forbids too much, and why
    does it not make the model wrong, only worse? (c) How would you find the leak with nothing but inputs and
    outputs of the model?

    *Solution.* (a) «leaks»: position $«q»$ sees position $«k»$. (b) «less»: position $«i»$ does not see position
    $«j»$, which it might; its prediction uses less than is known. (c) Change token $«k»$ and compare the outputs:
    none before position $«k»$ may change. Here that of position $«q»$ does.

    *Marks.* 1 point: the mask that leaks. 1 point: its positions. 1 point: (b). 1 point: (c).
    """
    right = [[int(j <= i) for j in range(4)] for i in range(4)]
    q, k = pick(rng, [(i, j) for i in range(4) for j in range(i + 1, 4)])
    i, j = pick(rng, [(i, j) for i in range(1, 4) for j in range(i)])
    leak, less = [list(line) for line in right], [list(line) for line in right]
    leak[q][k], less[i][j] = 1, 0
    names = some(rng, "ABC", 3)
    masks = dict(zip(names, (leak, less, right), strict=True))
    return {"A": matrix(masks["A"]), "B": matrix(masks["B"]), "C": matrix(masks["C"]), "masks": masks,
            "leaks": f"${names[0]}$", "less": f"${names[1]}$", "q": q + 1, "k": k + 1, "i": i + 1, "j": j + 1}  # fmt: skip


@question("No layer undoes the mask", "derivation", points=5, minutes=8, objective=5, level=3)
def no_layer_leaks():
    r"""A stack of $L$ layers consists of causal self-attention and of functions that are applied to each position by
    itself. Show by induction that the output at position $t$ depends on the tokens $1, \dots, t$ only. Which of
    these additions keep the property: a residual connection; a mean over all positions that is added to each;
    LayerNorm over the width; dropout?

    *Solution.* For $\ell = 0$ the state at $t$ is the embedding of token $t$. If every state of layer $\ell - 1$ at
    $i$ depends on tokens up to $i$ only, then at layer $\ell$ the query of $t$, the keys and the values of
    $i \le t$ all depend on tokens up to $t$; the mask lets only these into the weighted mean, and what follows
    works on the position alone. So the claim holds for $\ell$.

    Residual, LayerNorm and dropout act on one position and keep it; the mean over all positions breaks it, since it
    contains the future.

    *Marks.* 1 point: the beginning. 2 points: the step, 1 of them for keys *and* values. 2 points: the four
    additions (1 for the mean).
    """


@question("Upside down", "bug", points=4, minutes=6, objective=5, level=2)
def mask_bug():
    r"""A causal model has a loss near 0 on every text and writes nonsense. Its mask is True where a query may look:

    ```python
    T = x.shape[1]
    mask = torch.triu(torch.ones(T, T, dtype=torch.bool))
    scores = Q @ K.transpose(-2, -1) / math.sqrt(d_k)
    weights = torch.softmax(scores.masked_fill(~mask, -math.inf), dim=-1)
    ```

    (a) Which keys does query $t$ see? (b) Why is the loss near 0, on held-out text too? (c) Give the line as it
    should be. (d) With `mask = torch.tril(..., diagonal=-1)`, what would happen at the first position?

    *Solution.* (a) Itself and all later ones: `triu` keeps the upper triangle. (b) The token to predict at $t$ is
    token $t + 1$, which it sees; held-out text has its answers in the input too. (c) `torch.tril(...)`.

    (d) It would see no key at all: a row of $-\infty$, whose softmax is NaN.

    *Marks.* 1 point: (a). 1 point: (b). 1 point: (c). 1 point: (d).
    """


@question("Before the softmax", "words", points=4, minutes=6, objective=5, level=2)
def before_the_softmax():
    r"""Explain in about three sentences why a mask puts $-\infty$ before the softmax and not 0 after it, and why
    putting 0 *before* it is wrong as well. What would you see in training, and what when the model writes?

    *Solution.* $e^{-\infty} = 0$, so a forbidden key neither gets weight nor counts in the sum, and the rest adds
    up to 1. A zero after the softmax leaves the forbidden scores in the sum: the row adds up to less than 1 and
    depends on the future. A zero before it is a score like any other and gets weight $e^0$. In training the loss is
    too good, more or less, because something of the next token is seen; when the model writes, there is no future,
    the weights are other ones than in training, and the text is worse than the loss promises.

    *Marks.* 1 point: $-\infty$ takes the key out of the sum. 1 point: zero after it. 1 point: zero before it.
    1 point: training against writing.
    """


@question("Trained without a mask", "what if", points=3, minutes=5, objective=5, level=2)
def without_a_mask():
    r"""A language model is trained on next tokens without a causal mask, and gets one only when it writes. What does
    its training loss look like, what has it learned, and what does it write? Would it help to put the mask in for
    the last tenth of the training?

    *Solution.* The loss falls to nearly 0, because the answer is among the keys. It has learned to copy the next
    token from the next position. With the mask that position is gone, and it writes nonsense. The last tenth would
    be a training from the start, with weights that were fitted to another task: better than nothing, and worse than
    the whole training with the mask.

    *Marks.* 1 point: the loss. 1 point: copying, and what follows. 1 point: the last tenth.
    """
