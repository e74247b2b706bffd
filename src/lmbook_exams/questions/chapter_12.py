"""Questions to chapter 12, Attention as a soft look-up."""

import math
from fractions import Fraction

from lmbook_exams.question import dot, matrix, pick, question, shares, some, until


@question("Scaled attention with two queries", points=5, minutes=7, objective=2, level=1)
def two_queries(rng):
    r"""Two queries, two keys, two values, with $d_k = 2$:

    $$
    Q = \sqrt 2\, «Q», \qquad K = «K», \qquad V = «V».
    $$

    (a) Give $Q K^\top / \sqrt{d_k}$. (b) Give the attention weights. (c) Give $C$. (d) Somebody exchanges the two
    rows of $K$ and the two rows of $V$. What changes?

    *Solution.* (a) $«scores»$. (b) $«alpha»$. (c) $«C»$. (d) The columns of the weights are exchanged, and $C$
    stays: each value still has its own weight.

    *Marks.* 1 point: (a). 2 points: (b), 1 of them for softmax by rows. 1 point: (c). 1 point: (d).
    """
    a, b = some(rng, (2, 3, 4, 5, 7, 9), 2)
    swap = rng.random() < 0.5
    K = [[0, 1], [1, 0]] if swap else [[1, 0], [0, 1]]
    powers = [[1, a], [b, 1]] if swap else [[a, 1], [1, b]]
    alpha = [shares(one) for one in powers]

    def draw():
        V = [[pick(rng, (-4, -3, -2, -1, 1, 2, 3, 4, 5, 6)) for _ in range(2)] for _ in range(2)]
        return V, [[dot(one, entries) for entries in zip(*V, strict=True)] for one in alpha]

    V, C = until(draw, lambda V, C: all(map(all, C)) and V[0][0] != V[1][0] and V[0][1] != V[1][1])
    la, lb = rf"\ln {a}", rf"\ln {b}"
    return {"Q": matrix([[la, 0], [0, lb]]), "K": matrix(K), "V": matrix(V), "a": a, "b": b, "keys": K, "values": V,
            "scores": matrix([[0, la], [lb, 0]] if swap else [[la, 0], [0, lb]]), "alpha": matrix(alpha),
            "C": matrix(C), "contexts": C}  # fmt: skip


@question("Why the root", points=5, minutes=7, objective=2, level=2)
def why_the_root(rng):
    r"""Entries of queries and keys are independent, with mean 0 and variance 1, and $d_k = «dk»$.

    (a) What are mean, variance and standard deviation of a score $\mathbf q^\top \mathbf k$? (b) One score is one
    standard deviation above another. What is the ratio of their weights without the scale, and with it? (c) What is
    the derivative $\alpha (1 - \alpha)$ for a weight of $«p»$, and for one of $\tfrac12$? What do (b) and (c) mean
    for learning?

    *Solution.* (a) 0, $d_k = «dk»$, $\sqrt{d_k} = «root»$. (b) $e^{«root»} \approx «without:.4g»$ without,
    $e^1 \approx 2.72$ with the scale.

    (c) $«slope»$, against $\tfrac14$. Without the scale the softmax is nearly a choice of one from the first step
    on; its derivative is near 0, so scores hardly learn.

    *Marks.* 2 points: (a), 1 of them for the variance. 1 point: (b). 1 point: the derivatives. 1 point: the
    meaning.
    """
    root = pick(rng, (4, 5, 6, 8, 10))
    p = pick(rng, (Fraction(99, 100), Fraction(9, 10), Fraction(19, 20)))
    return {"dk": root * root, "root": root, "p": p, "slope": p * (1 - p), "without": math.exp(root)}


@question("Does a head cost anything?", points=4, minutes=6, objective=3, level=1)
def head_parameters(rng):
    r"""Multi-head attention has width $d = «d»$ and $«n»$ heads with $d_k = d_v = d / «n»$; no biases.

    (a) What is the shape of the $W_q$ of one head? How many parameters do $W_q$, $W_k$, $W_v$ of all heads and
    $W_o$ have together? (b) And with twice as many heads? (c) How many attention weights are computed for $T = «T»$ positions
    of one text?

    *Solution.* (a) $«d» \times «dk»$. Side by side the heads' matrices make $d \times d$: $4 d^2 = «all»$. (b) The
    same: the heads become narrower. (c) $n T^2 = «weights»$.

    *Marks.* 1 point: the shape. 1 point: $4 d^2$. 1 point: (b). 1 point: (c).
    """
    n, dk, T = pick(rng, (2, 4, 8)), pick(rng, (16, 32, 64)), pick(rng, (10, 20, 50, 100))
    d = n * dk
    return {"n": n, "dk": dk, "d": d, "T": T, "all": 4 * d * d, "weights": n * T * T}


@question("When the text becomes the cost", points=4, minutes=6, objective=5, level=2)
def attention_cost(rng):
    r"""Self-attention of width $d = «d»$ reads $T$ positions. It takes $4 T d^2$ multiplications for its projections
    and $2 T^2 d$ for scores and means.

    (a) How many are these for $T = «T»$? (b) For which $T$ are the two parts equal? (c) By which factor does the
    whole grow if $T$ doubles, for very short and for very long texts?

    *Solution.* (a) $«linear» + «square» = «all»$. (b) $4 T d^2 = 2 T^2 d$ for $T = 2d = «equal»$. (c) By nearly 2
    while $4Td^2$ is the larger part, by nearly 4 when $2T^2d$ is.

    *Marks.* 1 point: (a). 2 points: (b). 1 point: (c).
    """
    d, T = pick(rng, (32, 64, 128, 256)), pick(rng, (10, 50, 100, 200, 1000))
    return {"d": d, "T": T, "linear": 4 * T * d * d, "square": 2 * T * T * d, "all": 4 * T * d * d + 2 * T * T * d,
            "equal": 2 * d}  # fmt: skip


@question("Shapes from query to context", "shapes", points=5, minutes=6, objective=2, level=1)
def projection_shapes(rng):
    r"""A decoder with states of width $d_s = «ds»$ attends from $T = «T»$ steps to $N = «N»$ encoder states of width
    $d_h = «dh»$, with $d_k = «dk»$ and $d_v = «dv»$. Give the shapes of $W_q$, $W_k$, $W_v$, of $Q$, $K$, $V$, of
    the weights and of $C$. Which two of the widths have to agree, and why?

    *Solution.* $W_q$ $(«ds», «dk»)$, $W_k$ $(«dh», «dk»)$, $W_v$ $(«dh», «dv»)$; $Q$ $(«T», «dk»)$, $K$
    $(«N», «dk»)$, $V$ $(«N», «dv»)$; weights $(«T», «N»)$; $C$ $(«T», «dv»)$. Queries and keys must be equally
    wide, since a score is their inner product; $d_s$, $d_h$ and $d_v$ are free.

    *Marks.* 1 point: the projections. 1 point: queries, keys and values. 1 point: the weights. 1 point: $C$.
    1 point: the widths that agree.
    """
    ds, dh, dk, dv = some(rng, (16, 20, 24, 32, 48, 64, 96), 4)
    T, N = some(rng, (5, 7, 9, 12, 15), 2)
    return {"ds": ds, "dh": dh, "dk": dk, "dv": dv, "T": T, "N": N}


@question("Sharper", points=4, minutes=6, objective=2, level=1)
def sharper(rng):
    r"""A query of length 1 meets two keys with scores $e_1 - e_2 = «gap»$.

    (a) What is $\alpha_1 / \alpha_2$, and what are the two weights? (b) All keys are made $«beta»$ times as long.
    What are the ratio and the weights now? (c) A constant is added to both scores. What changes? (d) To what do the
    weights tend if the keys become ever longer?

    *Solution.* (a) $e^{«gap»} = «r»$: weights $«w1»$ and $«w2»$. (b) The difference is multiplied by $«beta»$, the
    ratio becomes $«r»^{«beta»} = «rb»$: weights $«v1»$ and $«v2»$. (c) Nothing. (d) To 1 and 0, the choice of the
    best key.

    *Marks.* 1 point: (a). 1 point: (b). 1 point: (c). 1 point: (d).
    """
    r, beta = pick(rng, (2, 3, 4, 5)), pick(rng, (2, 3))
    rb = r**beta
    return {"gap": rf"\ln {r}", "r": r, "beta": beta, "rb": rb, "w1": Fraction(r, r + 1), "w2": Fraction(1, r + 1),
            "v1": Fraction(rb, rb + 1), "v2": Fraction(1, rb + 1)}  # fmt: skip


@question("A set, not a list", "derivation", points=5, minutes=8, objective=4, level=3)
def order_of_pairs():
    r"""Let $\Pi$ be a permutation matrix. Show that attention does not change if the pairs of keys and values are
    permuted, $\operatorname{softmax}\big(Q (\Pi K)^\top\big)\, \Pi V = \operatorname{softmax}\big(Q K^\top\big)\, V$, and
    say what happens if the queries are permuted. Which step of the proof would fail if only the keys were permuted?

    *Solution.* $(\Pi K)^\top = K^\top \Pi^\top$, so the scores are $(Q K^\top) \Pi^\top$: their columns are permuted. The
    softmax works on each row by itself, and its sum does not depend on the order, so
    $\operatorname{softmax}(A \Pi^\top) = \operatorname{softmax}(A)\, \Pi^\top$. Then $\Pi^\top \Pi = I$ leaves
    $\operatorname{softmax}(Q K^\top)\, V$.

    With $RQ$ in place of $Q$, $R$ a permutation matrix, the rows of the scores are permuted, and so are those of the result. If only the keys
    are permuted, $\Pi^\top$ meets $V$ in place of $\Pi V$, and does not cancel.

    *Marks.* 1 point: the scores' columns. 1 point: the softmax goes with it, with the reason. 1 point:
    $\Pi^\top \Pi = I$. 1 point: the queries. 1 point: the step that fails.
    """


@question("Two slips in attention", "bug", points=4, minutes=7, objective=2, level=2)
def attention_bug():
    r"""This should be scaled dot-product attention; `mask` is True where a query may look.

    ```python
    def attend(Q, K, V, mask):
        scores = Q @ K.transpose(-2, -1) / K.shape[-1]
        scores = scores * mask
        weights = torch.softmax(scores, dim=-1)
        return weights @ V
    ```

    Find the two mistakes. Say what each does to the weights, and give the lines as they should be.

    *Solution.* The scale must be the root of the width, `math.sqrt(K.shape[-1])`: divided by $d_k$, the scores have
    a standard deviation of $1 / \sqrt{d_k}$, and the weights are nearly equal.

    Multiplied by the mask, a forbidden score becomes 0, which is a score like any other: $e^0 = 1$ still gets
    weight, even more than an allowed negative score. Right: `scores.masked_fill(~mask, -math.inf)`.

    *Marks.* 1 point: the root. 1 point: its effect. 1 point: the mask. 1 point: its effect.
    """


@question("Who asks, who answers?", "words", points=4, minutes=6, objective=1, level=2)
def who_asks():
    r"""A decoder attends to an encoder's states. Say who supplies the queries, the keys and the values, and explain in
    about three sentences why it can help to project keys and values by different matrices, although both come from
    the same states. Give an example from translation.

    *Solution.* The decoder's states are projected to queries, the encoder's to keys and to values. A key says when
    a state is worth reading, a value what is to be read there, and these need not be the same: for a query that
    looks for “the verb of this clause” the key should show the part of speech, the value the meaning. With one
    matrix for both, whatever makes a state easy to find would also be mixed into the context.

    *Marks.* 1 point: who supplies what. 1 point: a key decides about finding. 1 point: a value is what is passed
    on. 1 point: an example in which they differ.
    """


@question("One head of full width", "what if", points=4, minutes=6, objective=3, level=3)
def one_wide_head():
    r"""The eight heads of a layer are replaced by one head of the full width, with as many parameters. What can the
    eight do in one layer that the one cannot? What does the one have that the eight do not? What happens to the
    number of attention weights, and to $\sqrt{d_k}$?

    *Solution.* Eight heads give eight different weightings of the same text at once: one may follow the word
    before, another the subject. The one head has a single weighting for each query: it can give two words
    unequal shares, from which a later layer that is not linear may still tell them apart, but it cannot weight one
    word in one way and in another way at once. In return its score compares with all $d$ numbers, where each of the
    eight has $d / 8$. The weights are $T^2$ in place of $8 T^2$, and the scale becomes $\sqrt d$, $\sqrt 8$ times
    as large.

    *Marks.* 1 point: several weightings at once. 1 point: a wider comparison. 1 point: the number of weights.
    1 point: the scale.
    """
