"""Questions to chapter 17, Decoders only."""

import math
from fractions import Fraction

from lmbook_exams.question import pick, question, row, shares, some, until, whole


@question("Temperature", points=5, minutes=7, objective=4, level=1)
def temperature(rng):
    r"""A model gives the next token the probabilities $P = «P»$.

    (a) Give $P$ at temperature $\tau = \tfrac12$. (b) And at $\tau = 2$. (c) To what does $P_\tau$ tend for
    $\tau \to 0$ and for $\tau \to \infty$? (d) Does temperature ever change which token is the likeliest?

    *Solution.* (a) Proportional to $P^{1/\tau} = P^2$: $«sharp»$. (b) Proportional to $\sqrt P$: $«flat»$. (c) To 1
    for the likeliest token; to the same for all. (d) No: $x^{1/\tau}$ rises with $x$.

    *Marks.* 2 points: (a), 1 of them for the exponent. 1 point: (b). 1 point: (c). 1 point: (d).
    """
    roots = some(rng, pick(rng, ((1, 2, 3), (1, 2, 4), (1, 3, 4))), 3)
    squares = [n * n for n in roots]
    P, sharp, flat = shares(squares), shares([n * n for n in squares]), shares(roots)
    return {"P": row(P), "probabilities": P, "sharp": row(sharp), "flat": row(flat), "half": sharp, "double": flat}


@question("Top-k and top-p", points=5, minutes=7, objective=4, level=1)
def top_cuts(rng):
    r"""Five tokens A to E have the probabilities $«P»$.

    (a) From which tokens does top-k draw with $k = «k»$, and with which probabilities? (b) From which does top-p
    draw with $p = «p»$, and with which probabilities? (c) How many tokens would top-p keep if all five were equally
    likely, and how many if one had 0.99? What is the difference to top-k?

    *Solution.* (a) «top_k»: $«pk»$. (b) In falling order they sum up to «sums»: the fewest that reach $«p»$ are
    «top_p», with $«pp»$.

    (c) $«even»$, and 1. Top-k keeps the same number however sure the model is; top-p keeps few where it is sure.

    *Marks.* 2 points: (a), 1 of them for dividing by the sum. 2 points: (b), 1 of them for the token that crosses
    $p$. 1 point: (c).
    """

    def draw():
        parts = some(
            rng, pick(rng, ((40, 25, 18, 12, 5), (45, 22, 16, 10, 7), (35, 28, 20, 11, 6), (50, 24, 14, 9, 3))), 5
        )
        return parts, pick(rng, (0.6, 0.7, 0.75, 0.8, 0.9)), whole(rng, 2, 3)

    def fits(parts, p, k) -> bool:
        ordered, total = sorted(parts, reverse=True), 0
        reached = []
        for one in ordered:
            total += one
            reached.append(total)
        return all(abs(one - 100 * p) > 1 for one in reached) and sum(one < 100 * p for one in reached) + 1 != k

    parts, p, k = until(draw, fits)
    names = sorted("ABCDE", key=lambda name: -parts["ABCDE".index(name)])
    ordered = sorted(parts, reverse=True)
    sums = [sum(ordered[: n + 1]) for n in range(5)]
    n = sum(one < 100 * p for one in sums) + 1
    return {
        "P": row([f"{one / 100:.2f}" for one in parts]),
        "parts": parts,
        "k": k,
        "p": p,
        "top_k": ", ".join(names[:k]),
        "pk": row(shares(ordered[:k])),
        "by_k": shares(ordered[:k]),
        "top_p": ", ".join(names[:n]),
        "pp": row(shares(ordered[:n])),
        "by_p": shares(ordered[:n]),
        "even": math.ceil(5 * p - 1e-9),
        "sums": ", ".join(f"{one / 100:.2f}" for one in sums),
    }


@question("Inputs and targets", points=4, minutes=5, objective=1, level=1)
def shifted_windows(rng):
    r"""A stream of ids begins «stream». A GPT with a window of $T = «T»$ is trained on it.

    (a) Give input and target of the window that begins with the token number $«s»$ (counted from 1). (b) Which
    tokens does the prediction of the last target see? (c) How many predictions does one pass over a window train,
    and how many passes does it take to *write* $T$ tokens? (d) What is the loss near if input and target are the
    same by mistake?

    *Solution.* (a) Input $«input»$, target $«target»$. (b) All $«T»$ of the input. (c) $«T»$ predictions in one
    pass; $«T»$ passes to write, one for each token. (d) 0: the model copies.

    *Marks.* 1 point: (a). 1 point: (b). 1 point: (c). 1 point: (d).
    """
    stream = some(rng, range(5, 61), 12)
    T, s = whole(rng, 4, 6), whole(rng, 2, 5)
    return {
        "stream": ", ".join(map(str, stream)),
        "ids": stream,
        "T": T,
        "s": s,
        "input": row(stream[s - 1 : s - 1 + T]),
        "target": row(stream[s : s + T]),
    }


@question("A straight line through logarithms", points=4, minutes=6, objective=5, level=2)
def power_law(rng):
    r"""Two models of $«n1»$ and $«n2»$ million parameters have losses of $«J1»$ and $«J2»$ nats. Assume
    $J = J_1\, n_\theta^{-\alpha}$.

    (a) What is $\alpha$? Give a formula and a number. (b) What does the law predict for $«n3»$ million parameters?
    (c) Name two reasons not to trust this number.

    *Solution.* (a)
    $\alpha = \ln\left(\tfrac{«J1»}{«J2»}\right) / \ln\left(\tfrac{«n2»}{«n1»}\right) \approx «alpha:.3f»$. (b) Each
    factor of $«factor»$ in size divides the loss by $«ratio»$; $«n3»$ is one more such factor:
    $«J2» / «ratio» = «J3:.3f»$ nats.

    (c) A line through two points always fits; the text has an entropy that no model can go below; data and training
    steps have to grow with the model.

    *Marks.* 1 point: (a). 1 point: (b). 2 points: (c), 1 for each reason.
    """
    n1, factor = pick(rng, (1, 2, 5)), pick(rng, (4, 8, 10, 16))
    ratio = pick(rng, (Fraction(5, 4), Fraction(6, 5), Fraction(11, 10), Fraction(4, 3)))
    J2 = Fraction(pick(rng, (12, 15, 18, 24, 30)), 10)
    J1 = J2 * ratio
    return {
        "n1": n1,
        "n2": n1 * factor,
        "n3": n1 * factor**2,
        "factor": factor,
        "ratio": ratio,
        "J1": f"{float(J1):.4g}",
        "J2": f"{float(J2):.4g}",
        "first": J1,
        "second": J2,
        "alpha": math.log(ratio) / math.log(factor),
        "J3": J2 / ratio,
    }


@question("What a training costs", points=4, minutes=6, objective=5, level=1)
def training_cost(rng):
    r"""A GPT of $n_\theta = «n» \cdot 10^6$ parameters is trained on $n_w = «w» \cdot 10^9$ tokens. Count 2 FLOPs per
    parameter and token for the forward pass (short windows: attention's own part is left out).

    (a) How many FLOPs does the training take, and why three times the forward pass? (b) How long does it take on a
    machine that really computes $«speed» \cdot 10^{12}$ FLOPs a second? (c) What happens to the time if both the
    model and the text become ten times as large?

    *Solution.* (a) $6\, n_\theta\, n_w = «flops:.3g»$ FLOPs: the way back
    takes two products for each of the forward pass. (b) $«seconds:.4g»$ s $\approx «hours:.3g»$ hours. (c) A
    hundred times as long.

    *Marks.* 2 points: (a), 1 of them for the 3. 1 point: (b). 1 point: (c).
    """
    n, w, speed = pick(rng, (10, 50, 100, 124, 350)), pick(rng, (2, 5, 8, 20)), pick(rng, (10, 50, 100, 200))
    flops = 6 * n * w * 10**15
    return {"n": n, "w": w, "speed": speed, "flops": flops,
            "seconds": flops / (speed * 10**12), "hours": flops / (speed * 10**12) / 3600}  # fmt: skip


@question("What a cache saves", points=4, minutes=6, objective=4, level=2)
def cache_saves(rng):
    r"""A GPT writes $T = «T»$ tokens from `<sos>` alone, in $T$ passes; the last token is never read. Count, for one layer and one head, the positions for which
    keys and values are computed, and the scores that are computed (with a plain product, masked ones too).

    (a) Without a cache, where each token takes a full pass over all tokens so far. (b) With cached keys and values.
    (c) What does the cache cost, and why does nobody keep the queries?

    *Solution.* (a) Pass $t$ reads $t$ tokens: $\sum_t t = T (T + 1) / 2 = «positions»$ positions, and
    $\sum_t t^2 = T (T + 1)(2T + 1) / 6 = «scores»$ scores. (b) Each token once: $«T»$ positions; its query meets
    $t$ keys: $«positions»$ scores.

    (c) Memory in proportion to $T$, in every layer. A query is used once, at its own step; keys and values are
    asked by every later one.

    *Marks.* 2 points: (a), 1 for each. 1 point: (b). 1 point: (c).
    """
    T = pick(rng, (5, 6, 8, 10, 12, 20, 50, 100))
    return {"T": T, "positions": T * (T + 1) // 2, "scores": T * (T + 1) * (2 * T + 1) // 6}


@question("Characters against byte pairs", points=4, minutes=6, objective=2, level=2)
def per_character(rng):
    r"""On the same text a GPT over characters has a loss of $«chars»$ nats per character, one over byte pairs $«pairs»$
    nats per token. A token has $«c»$ characters on average.

    (a) Which of the two gives the text the higher probability? (b) Count the first model's loss over the second's
    tokens, as if it had predicted $«c»$ characters at once. What is its perplexity per token? (c) Both have windows of
    256 tokens. How much text does each see, and which of the two does that help?

    *Solution.* (a) $«pairs» / «c» = «per»$ nats per character against $«chars»$: the one over «winner». (b)
    $e^{«chars» \cdot «c»} = e^{«times»} \approx «pp:.4g»$.

    (c) 256 characters against about $«seen»$: it helps the model over byte pairs, which sees more of what came before.

    *Marks.* 2 points: (a), 1 of them for the same unit. 1 point: (b). 1 point: (c).
    """
    c, chars, pairs = until(
        lambda: (whole(rng, 2, 5), Fraction(whole(rng, 24, 40), 20), Fraction(whole(rng, 40, 120), 20)),
        lambda c, chars, pairs: abs(pairs / c - chars) > Fraction(1, 10),
    )
    return {"c": c, "chars": f"{float(chars):g}", "pairs": f"{float(pairs):g}", "first": chars, "second": pairs,
            "per": f"{float(pairs / c):.4g}", "winner": "byte pairs" if pairs / c < chars else "characters",
            "times": f"{float(chars * c):g}", "pp": math.exp(chars * c), "seen": 256 * c}  # fmt: skip


@question("What the loss aims at", "derivation", points=5, minutes=8, objective=6, level=3)
def what_the_loss_aims_at():
    r"""Let texts be drawn from $P$, and let a model give next tokens the probabilities $Q$. Show that the expected loss
    $\mathbb E_P[-\ln Q]$ is at least $\mathbb E_P[-\ln P]$, with equality only for $Q = P$. (You may use
    $\ln x \le x - 1$.) What does a model with the least possible loss write, then? Is it true?

    *Solution.*
    $\mathbb E_P[-\ln Q] - \mathbb E_P[-\ln P] = -\mathbb E_P[\ln (Q / P)] \ge -\mathbb E_P[Q / P - 1] = 1 - \sum P \cdot Q / P \ge 1 - 1 = 0$,
    where the last sum is over what has $P > 0$. Equality in $\ln x \le x - 1$ holds only for $x = 1$, that is
    $Q = P$.

    It writes as the texts are: right where they are right, wrong where they err, and undecided in the proportions
    of the texts. The loss asks for what is written, not for what is true.

    *Marks.* 1 point: the difference as an expectation. 2 points: the inequality, and equality. 1 point: it writes
    like the texts. 1 point: that is not truth, with a reason.
    """


@question("A nucleus with a hole", "bug", points=4, minutes=6, objective=4, level=2)
def nucleus_bug():
    r"""This should draw from the fewest likeliest tokens that reach `p` together.

    ```python
    probabilities, ids = torch.softmax(logits, -1).sort(descending=True)
    keep = probabilities.cumsum(-1) < p
    probabilities = probabilities * keep
    choice = torch.multinomial(probabilities / probabilities.sum(), 1)
    return ids[choice] / temperature
    ```

    (a) Which token is lost by the second line? What happens where the likeliest token alone has more than `p`? (b)
    Where does the temperature belong? (c) Give the lines as they should be.

    *Solution.* (a) The one that crosses `p`: the kept ones do not reach it. If the first has more than `p` already,
    none is left, and the division gives NaN. (b) Before the softmax, on the logits; a token's id cannot be divided.

    (c) `keep = probabilities.cumsum(-1) - probabilities < p`, `torch.softmax(logits / temperature, -1)`,
    `return ids[choice]`.

    *Marks.* 2 points: (a), 1 for each. 1 point: (b). 1 point: (c).
    """


@question("BERT or GPT?", "words", points=4, minutes=6, objective=6, level=2)
def bert_or_gpt():
    r"""Choose BERT or GPT for each of these, with a reason in one sentence: finding names in finished contracts with
    500 labelled pages; continuing a program while it is typed; ranking five proposed corrections of a sentence by
    how likely the sentence becomes. For one of the three say what speaks for the other model.

    *Solution.* Names: BERT, since the text is complete, both sides help to label a word, and 500 pages are enough
    to fine-tune it. Continuing: GPT, which was trained to give the next token from what is there. Ranking: GPT,
    whose conditionals multiply to the probability of a sentence. For the other: a masked model can score a
    correction with both sides as context at the one changed word, which is often all that matters; or a large GPT
    can find names from a prompt, without labels.

    *Marks.* 1 point: names. 1 point: continuing. 1 point: ranking. 1 point: what speaks for the other.
    """


@question("All the settings at their ends", "what if", points=4, minutes=6, objective=4, level=2)
def settings_at_their_ends():
    r"""A GPT writes with these settings. Describe the text in each case and say which two are the same. Then say why
    greedy writing often falls into loops, although each single choice is the likeliest.

    (a) A temperature near 0. (b) A very high temperature. (c) Top-k with $k = 1$. (d) Top-p with $p = 1$.

    *Solution.* (a) Always the likeliest token: correct looking, dull, repeating. (b) All tokens nearly equally
    likely: noise. (c) The same as (a). (d) Nothing is cut: drawing from the model as it is, varied, with an odd
    word now and then.

    A phrase that has just occurred makes its own repetition likelier, and greedy choice never leaves the likeliest
    path: once in the loop, each turn of it confirms the next. The likeliest token at each step is also not the
    likeliest text.

    *Marks.* 1 point: (a) and (c) as the same. 1 point: (b). 1 point: (d). 1 point: the loops.
    """


@question("When to stop", "what if", points=4, minutes=6, objective=3, level=2)
def when_to_stop():
    r"""A GPT is trained and validated every 500 steps.

    | step | 500 | 1000 | 1500 | 2000 | 2500 |
    |---|---|---|---|---|---|
    | loss in training | $1.72$ | $1.48$ | $1.31$ | $1.17$ | $1.05$ |
    | loss in validation | $1.78$ | $1.56$ | $1.47$ | $1.51$ | $1.58$ |

    (a) Which weights would you keep, and what happens after them? (b) The report gives $1.47$ as the loss on unseen
    text. Why should one expect a little more on a third text? (c) What happens to the turning point, in steps, if the
    training text is made ten times as long and all else stays?

    *Solution.* (a) Those of step 1,500. After it the model overfits: it learns what holds for its training text alone,
    so this loss goes on falling while the other rises. (b) The validation text chose the step, so chance that
    favoured it is part of $1.47$. (c) It comes later, if at all: each passage is seen a tenth as often.

    *Marks.* 2 points: (a), 1 for the reason. 1 point: (b). 1 point: (c).
    """
