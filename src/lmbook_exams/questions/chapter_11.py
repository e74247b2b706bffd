"""Questions to chapter 11, Looking back at the source."""

import math
from fractions import Fraction

from lmbook_exams.question import column, dot, matrix, pick, question, row, shares, some, until, whole


def logs(weights) -> list[str]:
    """ln of each weight as TeX."""
    return [rf"\ln {n}" if n > 1 else "0" for n in weights]


@question("A context vector", points=4, minutes=6, objective=1, level=1)
def context_vector(rng):
    r"""For one step of the decoder the scores are $e_t = «e»$, and the encoder states are $\mathbf h_1 = «h1»$,
    $\mathbf h_2 = «h2»$, $\mathbf h_3 = «h3»$.

    (a) Give the attention weights and $\mathbf c_t$. (b) Can $\mathbf c_t$ have a first entry larger than $«top»$,
    with any scores? Say why. (c) What changes if $\ln 2$ is added to all three scores?

    *Solution.* (a) $\alpha_t = «alpha»$, $\mathbf c_t = «c»$.

    (b) No: the weights are not negative and add up to 1, so every entry of $\mathbf c_t$ is a mean of the states'
    entries, and a mean is not above the largest, $«top»$. (c) Nothing: the factor 2 is above and below the line of
    the softmax.

    *Marks.* 1 point: the weights. 1 point: $\mathbf c_t$. 1 point: (b). 1 point: (c).
    """
    weights = some(rng, pick(rng, ((1, 2, 3), (1, 2, 5), (1, 3, 4))), 3)
    alpha = shares(weights)

    def draw():
        h = [[pick(rng, (-4, -3, -2, -1, 1, 2, 3, 4, 5, 6)) for _ in range(2)] for _ in range(3)]
        return h, [dot(alpha, entries) for entries in zip(*h, strict=True)]

    # No entry of a state repeats, and none of the context is 0: in every version there is a mean to take.
    h, c = until(draw, lambda h, c: all(c) and all(len(set(entries)) == 3 for entries in zip(*h, strict=True)))
    return {"e": row(logs(weights)), "scores": weights, "h1": row(h[0]), "h2": row(h[1]), "h3": row(h[2]), "h": h,
            "alpha": row(alpha), "c": row(c), "context": c, "top": max(one[0] for one in h)}  # fmt: skip


@question("Scores by hand", points=5, minutes=7, objective=1, level=1)
def scores_by_hand(rng):
    r"""A decoder state and an encoder state, both of $m = 4$ numbers, and a matrix:

    $$
    \mathbf s = «s», \qquad \mathbf h = «h», \qquad W = \operatorname{diag}«w».
    $$

    (a) Give the dot score, the multiplicative score with $W$, and the scaled score, which is the multiplicative one
    divided by $\sqrt m$. (b) How many parameters does each have, if $W$ may be any $4 \times 4$ matrix? (c) Which of
    them can be used if $\mathbf h$ has 6 numbers and $W$ is of a shape that fits?

    *Solution.* (a) Dot: $\mathbf s^\top \mathbf h = «dot»$. Multiplicative:
    $\mathbf s^\top W \mathbf h = «general»$. Scaled: $«general» / 2 = «scaled»$.

    (b) 0, 16 and 16. (c) The multiplicative and the scaled one, with a $4 \times 6$ matrix $W$.

    *Marks.* 3 points: (a), 1 for each. 1 point: (b). 1 point: (c).
    """
    s, h, w = until(
        lambda: [[pick(rng, (-3, -2, -1, 1, 2, 3, 4)) for _ in range(4)] for _ in range(3)],
        lambda s, h, w: (
            sum(a * b * c for a, b, c in zip(s, w, h, strict=True)) % 2
            and dot(s, h) not in (0, dot(s, [a * b for a, b in zip(w, h, strict=True)]))
        ),
    )
    general = sum(a * b * c for a, b, c in zip(s, w, h, strict=True))
    return {"s": column(s), "h": column(h), "w": row(w), "state": s, "source": h, "diagonal": w, "dot": dot(s, h),
            "general": general, "scaled": Fraction(general, 2)}  # fmt: skip


@question("An additive score", points=4, minutes=7, objective=2, level=2)
def additive_score(rng):
    r"""The additive score is $e = \mathbf v^\top \tanh(W_h \mathbf h + W_s \mathbf s)$ with $d_a = 3$ and
    $\mathbf v = «v»$. For two source positions the inside of the $\tanh$ is

    $$
    \mathbf a_1 = «a1», \qquad \mathbf a_2 = «a2».
    $$

    Use $\tanh 0 = 0$, $\tanh(\ln 2) = \tfrac35$ and $\tanh(\ln 3) = \tfrac45$. (a) Give both scores. (b) By which
    factor is the weight of position 1 larger than that of position 2? (c) How large can this factor become at most
    for this $\mathbf v$?

    *Solution.* (a) $e_1 = «e1»$, $e_2 = «e2»$. (b) $e^{e_1 - e_2} = e^{«diff»} \approx «ratio:.3g»$.

    (c) $\tanh$ lies between $-1$ and 1, so $|e| \le \sum_j |v_j| = «norm»$, and the factor is below $e^{«twice»}$.

    *Marks.* 2 points: (a), 1 for each. 1 point: (b). 1 point: (c).
    """
    values = {"0": Fraction(0), r"\ln 2": Fraction(3, 5), r"-\ln 2": Fraction(-3, 5), r"\ln 3": Fraction(4, 5),
              r"-\ln 3": Fraction(-4, 5)}  # fmt: skip
    v = [pick(rng, (-2, -1, 1, 2, 3)) for _ in range(3)]

    def draw():
        a1, a2 = ([pick(rng, list(values)) for _ in range(3)] for _ in range(2))
        return a1, a2, dot(v, [values[one] for one in a1]), dot(v, [values[one] for one in a2])

    a1, a2, e1, e2 = until(draw, lambda a1, a2, e1, e2: e1 > e2 and e1 * e2 and a1.count("0") == a2.count("0") == 1)
    norm = sum(map(abs, v))
    return {"v": column(v), "vector": v, "a1": column(a1), "a2": column(a2), "inside": (a1, a2), "e1": e1, "e2": e2,
            "diff": e1 - e2, "ratio": math.exp(e1 - e2), "norm": norm, "twice": 2 * norm}  # fmt: skip


@question("Padding among the sources", points=4, minutes=6, objective=3, level=2)
def padded_sources(rng):
    r"""A source of $«real»$ words is padded to five positions. The scores of one step are $e = «e»$.

    (a) Give the weights with the padding masked. (b) How much weight would the padding take without a mask? (c)
    Somebody sets the weights of the padding to 0 *after* the softmax and changes nothing else. What is the sum of
    the weights then, and what does this do to $\mathbf c_t$?

    *Solution.* (a) The softmax over the first $«real»$: $«alpha»$. (b) $«lost»$. (c) $1 - «lost» = «left»$.
    $\mathbf c_t$ is too short by this factor, and the more so the more padding the batch happens to have.

    *Marks.* 2 points: (a). 1 point: (b). 1 point: (c), both parts.
    """
    real = whole(rng, 2, 3)
    weights = some(rng, (1, 2, 3, 4, 5), 5)
    kept = shares(weights[:real])
    lost = Fraction(sum(weights[real:]), sum(weights))
    return {
        "real": real,
        "e": row(logs(weights)),
        "scores": weights,
        "alpha": row([*kept, *["0"] * (5 - real)]),
        "weights": kept,
        "lost": lost,
        "left": 1 - lost,
    }


@question("How a score moves the context", points=5, minutes=7, objective=4, level=3)
def score_gradient(rng):
    r"""The encoder states are single numbers here, $h = «h»$, and the weights of one step are $\alpha = «alpha»$.

    (a) Give $c = \sum_i \alpha_i h_i$. (b) Show that $\partial c / \partial e_i = \alpha_i (h_i - c)$, and give the
    three values. (c) Which score should rise if $c$ is too small? Which one hardly matters, and why?

    *Solution.* (a) $c = «c»$. (b) $\partial \alpha_j / \partial e_i = \alpha_j (\delta_{ij} - \alpha_i)$, so
    $\partial c / \partial e_i = \sum_j h_j \alpha_j (\delta_{ij} - \alpha_i) = \alpha_i h_i - \alpha_i c$. The
    values: $«d»$.

    (c) That of a state above $c$, most of all the one with the largest value, number $«best»$. A score matters
    little where its weight is small or its state is near the mean: number $«least»$ has the smallest.

    *Marks.* 1 point: (a). 2 points: the derivation. 1 point: the values. 1 point: (c).
    """

    def draw():
        weights = some(rng, pick(rng, ((1, 2, 3), (1, 2, 5), (1, 3, 4), (1, 1, 2))), 3)
        h, alpha = [whole(rng, -3, 6) for _ in range(3)], shares(weights)
        c = dot(alpha, h)
        return h, alpha, c, [a * (one - c) for a, one in zip(alpha, h, strict=True)]

    def fits(h, alpha, c, d) -> bool:
        sizes = sorted(map(abs, d))
        return 0 not in (c, *h, *d) and len(set(h)) == len(set(d)) == 3 and sizes[0] < sizes[1]

    h, alpha, c, d = until(draw, fits)
    return {"h": row(h), "states": h, "alpha": row(alpha), "weights": alpha, "c": c, "d": row(d), "slopes": d,
            "best": d.index(max(d)) + 1, "least": 1 + min(range(3), key=lambda at: abs(d[at]))}  # fmt: skip


@question("All contexts in one product", points=4, minutes=6, objective=3, level=2)
def one_product(rng):
    r"""Two decoder states and two encoder states, as rows:

    $$
    S = «S», \qquad H = «H».
    $$

    (a) Give $S H^\top$ and $\operatorname{softmax}(S H^\top)$, row by row. (b) Give
    $C = \operatorname{softmax}(S H^\top)\, H$. (c) What must be known before the product can be formed, and when is
    it known?

    *Solution.* (a) $S H^\top = «scores»$, and the softmax of its rows is $«alpha»$. (b) $C = «C»$.

    (c) All decoder states. In training with teacher forcing they are, if the score is taken after the update and
    the context does not enter the recurrence; while writing they come one by one.

    *Marks.* 2 points: (a), 1 of them for rows. 1 point: (b). 1 point: (c).
    """
    a, b = some(rng, (2, 3, 4, 5, 7), 2)
    x, y = 2, 1
    H = [[x, 0], [0, y]]
    S = [[rf"\ln {a}", 0], [0, rf"\ln {b}"]]
    powers = [[a**x, 1], [1, b**y]]
    alpha = [shares(one) for one in powers]
    C = [[dot(one, entries) for entries in zip(*H, strict=True)] for one in alpha]
    scores = [[rf"{x} \ln {a}", 0], [0, rf"\ln {b}"]]
    return {"S": matrix(S), "H": matrix(H), "a": a, "b": b, "states": H, "scores": matrix(scores),
            "alpha": matrix(alpha), "C": matrix(C), "contexts": C}  # fmt: skip


@question("Parameters of four scores", points=4, minutes=5, objective=2, level=1)
def score_parameters(rng):
    r"""Decoder states have $m_s = «ms»$ numbers, encoder states $m_h = «mh»$, and the additive score compares in
    $d_a = «da»$ dimensions.

    (a) How many parameters do the dot, the multiplicative, the scaled and the additive score have? Which of them
    cannot be used here? (b) For which $d_a$ has the additive score as many parameters as the multiplicative one?

    *Solution.* (a) Dot: none, and it needs equal widths. Multiplicative and scaled: $m_s m_h = «general»$.
    Additive: $d_a (m_h + m_s + 1) = «additive»$, with $\mathbf v$.

    (b) $d_a = «general» / «sum» \approx «equal:.1f»$.

    *Marks.* 1 point: the dot score. 1 point: multiplicative and scaled. 1 point: additive. 1 point: (b).
    """
    ms, mh = some(rng, (50, 64, 100, 128, 200, 256), 2)
    da = pick(rng, (32, 50, 64))
    return {"ms": ms, "mh": mh, "da": da, "general": ms * mh, "additive": da * (ms + mh + 1), "sum": ms + mh + 1,
            "equal": ms * mh / (ms + mh + 1)}  # fmt: skip


@question("Why there is a tanh", "derivation", points=4, minutes=6, objective=2, level=3)
def without_tanh():
    r"""In the additive score, leave out the $\tanh$: $e_{ti} = \mathbf v^\top (W_h \mathbf h_i + W_s \mathbf s)$. Show
    that the attention weights then do not depend on the decoder state at all. What do all steps of the decoder get
    as context?

    *Solution.* $e_{ti} = a_i + b_t$ with $a_i = \mathbf v^\top W_h \mathbf h_i$ and
    $b_t = \mathbf v^\top W_s \mathbf s$. In the softmax over $i$ the factor $e^{b_t}$ stands above and below:
    $\alpha_{ti} = e^{a_i} e^{b_t} / \sum_j e^{a_j} e^{b_t} = e^{a_i} / \sum_j e^{a_j}$.

    So every step has the same weights and the same context: a fixed vector again, a weighted mean of the states.

    *Marks.* 1 point: the score as a sum of two parts. 2 points: the softmax, 1 of them for the sum over $i$.
    1 point: one fixed context.
    """


@question("The wrong axis", "bug", points=4, minutes=6, objective=3, level=2)
def wrong_axis_bug():
    r"""Attention to a source, in training over all steps at once. `S` is (B, T, m), `H` is (B, N, m), `mask` (B, 1, N)
    is True at real words.

    ```python
    scores = S @ H.transpose(1, 2)                 # (B, T, N)
    scores = scores.masked_fill(mask, float("-inf"))
    alpha = torch.softmax(scores, dim=1)
    context = alpha @ H
    ```

    (a) Find the two mistakes and correct them. (b) One of them shows in training at once, the other only when the
    decoder writes. Which is which, and what is seen?

    *Solution.* (a) `masked_fill` must fill where the mask is *not* True: `scores.masked_fill(~mask, ...)`. The
    softmax must run over the source positions: `dim=-1`.

    (b) The mask: real words get no weight, all goes to padding, and a column of $-\infty$ alone gives NaN in the
    softmax, so the loss is NaN at once. The axis: over the steps of the decoder a training may still find
    something, and it looks ahead to later steps; but while writing there is one step at a time, whose softmax is 1
    for every word.

    *Marks.* 1 point: the mask. 1 point: the axis. 2 points: (b), 1 for each symptom.
    """


@question("Is it an alignment?", "words", points=4, minutes=6, objective=5, level=3)
def is_it_alignment():
    r"""A heat map of attention weights shows most of the weight of a target word one position to the right of the word
    that it translates. A student concludes that the translator works by mistake. Give in about three sentences two
    explanations under which nothing is wrong, and a measurement that decides between them.

    *Solution.* The weights lie on encoder states, not on words: a state holds its neighbours too, so in a network
    that reads from left to right the state after a word also knows it. Or the weights were used for another step
    than the student thinks: a score before the update serves the word that is written next, so all rows of the map
    are shifted by one. Replace the source word and see which states and which output change, or shift the rows by
    one and see how many of the links are then the true ones, in a corpus where these are known.

    *Marks.* 1 point: states hold their context. 1 point: the step to which a row belongs. 1 point: a measurement.
    1 point: it can come out either way, and decides.
    """


@question("Scores ten times as large", "what if", points=3, minutes=5, objective=2, level=2)
def larger_scores():
    r"""All attention scores of a trained translator are multiplied by 10, then by 0. What do the weights become in each
    case, and to which earlier model of the book does the second one come close? Why is the first not simply “better
    attention”?

    *Solution.* Times 10, the largest score takes nearly all the weight: a hard choice of one position. Times 0, all
    weights are $1/N$: each step gets the mean of the states, one fixed vector as in chapter 10. The first loses the
    means over several positions that the decoder was trained with, and its gradient is nearly zero,
    $\alpha (1 - \alpha)$, so it could not be trained further.

    *Marks.* 1 point: one position. 1 point: the mean, a fixed vector. 1 point: why the first is no gain.
    """
