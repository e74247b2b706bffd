"""Questions to chapter 23, How do we know?"""

from fractions import Fraction
from math import comb, log

from lmbook_exams.question import pick, question, row, some, until, whole


@question("One right in several tries", points=4, minutes=6, objective=1, level=1)
def several_tries(rng):
    r"""Of $n = «n»$ answers to a task $c = «c»$ are right.

    (a) Estimate pass@1 and pass@2 without bias. (b) What does $1 - (1 - c/n)^2$ give, and on which side of the truth
    does it lie on average? (c) From which $k$ on is the unbiased estimate 1?

    *Solution.* (a) $c / n = «one»$, and $1 - \binom{«w»}{2} / \binom{«n»}{2} = «two»$. (b) $«plug»$; on average too low,
    since $1 - (1-p)^k$ bends downwards. (c) From $k = «sure»$ on: there are only «w» wrong answers.

    *Marks.* 2 points: (a), one each. 1 point: (b) with its side. 1 point: (c).
    """
    n = pick(rng, (5, 6, 8, 10))
    c = whole(rng, 1, n - 2)
    return {"n": n, "c": c, "w": n - c, "one": Fraction(c, n), "two": 1 - Fraction(comb(n - c, 2), comb(n, 2)),
            "plug": 1 - (1 - Fraction(c, n)) ** 2, "sure": n - c + 1}  # fmt: skip


@question("An error in bins", points=5, minutes=7, objective=2, level=2)
def error_in_bins(rng):
    r"""Of $N = «N»$ answers, «n1» have the confidence 0.6, and «r1» of these are right; the other «n2» have the
    confidence 0.9, and «r2» of these are right.

    (a) Compute the expected calibration error with the two confidences in two bins. (b) Compute it with one bin for
    all. (c) Which of the two would a seller report, and which other number must stand beside an error with many bins?
    (d) Give a useless model whose error is 0.

    *Solution.* (a) $(«g1» + «g2») / «N» = «two»$, with gaps of $|«r1» - 0.6 \cdot «n1»|$ and $|«r2» - 0.9 \cdot «n2»|$
    answers. (b) $«one»$. (c) The one with one bin, in which errors cancel. With many bins, the error that a model gets
    by chance although it is calibrated. (d) One that answers all questions with the same confidence, its share right.

    *Marks.* 1 point: (a). 1 point: (b). 2 points: (c), one each. 1 point: (d).
    """

    def draw():
        n1, n2 = 10 * whole(rng, 1, 4), 10 * whole(rng, 1, 4)
        low, high = 6 * n1 // 10 + whole(rng, 1, 3), 9 * n2 // 10 - whole(rng, 1, 5)
        return n1, n2, low, high

    n1, n2, r1, r2 = until(
        draw, lambda n1, n2, r1, r2: n1 != n2 and r1 < n1 and r2 > 0 and 10 * (r1 + r2) != 6 * n1 + 9 * n2
    )
    first, second = r1 - Fraction(6 * n1, 10), r2 - Fraction(9 * n2, 10)
    N = n1 + n2
    return {"N": N, "n1": n1, "n2": n2, "r1": r1, "r2": r2, "g1": abs(first), "g2": abs(second),
            "two": (abs(first) + abs(second)) / N, "one": abs(first + second) / N}  # fmt: skip


@question("What will be new", points=4, minutes=6, objective=3, level=2)
def what_is_new(rng):
    r"""A model reads «N» statements about birthplaces. In them «once» people occur once, «twice» people twice, and
    another «more» people more often.

    (a) About what share of the next statements is about people that it has not read about? (b) Cities are drawn at
    random from «K». With which probability does it guess the city of such a person? (c) It is calibrated on what it
    says of its own accord. About what share of its statements is wrong at least? (d) A colleague trains on until the
    model says only what it has read. What has he gained, and what is its answer on a new person worth?

    *Solution.* (a) $N_1 / N = «once» / «N» = «share»$. (b) $1 / «K»$. (c) About $«share» \cdot (1 - 1/«K») = «wrong»$.
    (d) It says hardly anything wrong of its own accord, and it is no longer calibrated: asked about a new person it
    can only guess, and may do so with high confidence.

    *Marks.* 1 point: (a). 1 point: (b). 1 point: (c). 1 point: (d).
    """
    K = pick(rng, (10, 20, 50))

    def draw():
        return 1000 * whole(rng, 1, 3), 100 * whole(rng, 1, 5), 50 * whole(rng, 1, 4), whole(rng, 20, 90)

    N, once, twice, more = until(draw, lambda N, once, twice, more: once != twice and N - once - 2 * twice >= 3 * more)
    share = Fraction(once, N)
    return {"N": N, "once": once, "twice": twice, "more": more, "K": K, "share": share,
            "wrong": share * (1 - Fraction(1, K))}  # fmt: skip


@question("The pieces that they share", points=4, minutes=6, objective=4, level=2)
def shared_pieces(rng):
    r"""A test item has $T = «T»$ tokens. Its first «m» tokens stand in the training text, the others do not occur there.

    (a) How many $«n»$-grams does the item have, and how many of them were read? (b) And for $n = «longer»$? (c) Another item
    was read as a whole, but with its halves exchanged. What does a search with $n = T$ find of it? (d) How can a leak show that no n-gram
    shows, without the training text?

    *Solution.* (a) $T - n + 1 = «all»$, of which $«m» - «n» + 1 = «read»$ were read. (b) $«all2»$ and $«read2»$. (c)
    Nothing, since the item was not read in this order. (d) Its loss: compare it with that of new items which are
    equally difficult, or compare the scores on both.

    *Marks.* 1 point: (a). 1 point: (b). 1 point: (c). 1 point: (d), with items to compare with.
    """
    n = whole(rng, 3, 5)
    longer = n + whole(rng, 2, 4)
    m = longer + whole(rng, 1, 8)
    T = m + whole(rng, longer, 20)
    return {"T": T, "m": m, "n": n, "longer": longer, "all": T - n + 1, "read": m - n + 1, "all2": T - longer + 1,
            "read2": m - longer + 1}  # fmt: skip


@question("Kept or replaced", points=5, minutes=8, objective=5, level=2)
def kept_or_replaced(rng):
    r"""At one place the target has $p = «p»$ for three tokens, the draft $q = «q»$.

    (a) With which probability is a draft kept? (b) From which distribution is a token drawn after a refusal? (c) Show
    for the third token that it comes out with its probability under $p$. (d) How many tokens does a round with
    $\gamma = 2$ write on average, if $\beta$ is the same at all places?

    *Solution.* (a) $\beta = \sum \min(p, q) = «beta»$. (b) $\max(p - q, 0)$ divided by its sum: $«rest»$. (c)
    $\min(p_3, q_3) + (1 - \beta) r_3 = «low» + «back» = «p3»$. (d) $1 + \beta + \beta^2 = «tokens»$.

    *Marks.* 1 point: (a). 1 point: (b). 2 points: (c). 1 point: (d).
    """

    def tenths():
        a, b = some(rng, (1, 2, 3, 4, 5, 6), 2)
        return Fraction(a, 10), Fraction(b, 10), Fraction(10 - a - b, 10)

    p, q = until(
        lambda: (tenths(), tenths()),
        lambda p, q: p[2] > q[2] and min(*p, *q) > 0 and sum(a > b for a, b in zip(p, q, strict=True)) == 2,
    )  # else what is left has one token
    low = [min(a, b) for a, b in zip(p, q, strict=True)]
    beta = sum(low)
    rest = [(a - b) / (1 - beta) for a, b in zip(p, low, strict=True)]
    return {"p": row(p), "q": row(q), "three": p, "draft": q, "beta": beta, "rest": row(rest), "left": rest,
            "low": low[2], "back": (1 - beta) * rest[2], "p3": p[2], "tokens": 1 + beta + beta**2}  # fmt: skip


@question("Is it faster?", points=4, minutes=6, objective=5, level=2)
def is_it_faster(rng):
    r"""Each draft is kept with chance $\beta = «beta»$. A step of the draft takes the share $c = «c»$ of a pass of the
    target, and a pass takes the same time for one token as for five.

    (a) Give tokens a round and the factor by which writing becomes faster, for $\gamma = 1$ and for $\gamma = 2$. (b)
    What is the largest number of tokens a round, however many drafts are made? (c) On a processor where a pass over
    $\gamma + 1$ tokens takes $\gamma + 1$ times as long, what becomes of the gain?

    *Solution.* (a) $1 + \beta = «one»$ and, divided by $1 + c$, $«fast1:.2f»$; $1 + \beta + \beta^2 = «two»$ and
    $«fast2:.2f»$. (b) $1 / (1 - \beta) = «most»$. (c) It is a loss: a round takes as long as $\gamma + 1$ tokens
    of plain writing, writes at most as many, and the draft comes on top.

    *Marks.* 2 points: (a). 1 point: (b). 1 point: (c).
    """
    beta = pick(rng, (Fraction(1, 2), Fraction(3, 5), Fraction(2, 3), Fraction(3, 4), Fraction(4, 5)))
    c = pick(rng, [n for n in (Fraction(1, 20), Fraction(1, 10), Fraction(1, 5), Fraction(1, 4))
                   if (1 + beta) * (1 + 2 * n) != (1 + beta + beta**2) * (1 + n)])  # fmt: skip
    one, two = 1 + beta, 1 + beta + beta**2
    return {"beta": beta, "c": c, "one": one, "two": two, "fast1": float(one / (1 + c)),
            "fast2": float(two / (1 + 2 * c)), "most": 1 / (1 - beta)}  # fmt: skip


@question("Whatever the draft", "derivation", points=5, minutes=8, objective=5, level=2)
def whatever_the_draft():
    r"""A token $x$ is drawn from $q$ and kept with probability $\min(1, p(x)/q(x))$. After a refusal one is drawn from
    $r = \max(p - q, 0) / Z$. Show that the result is distributed as $p$, and give $Z$. Where is used that $p$ and $q$
    both sum to 1? What would come out if the second draw were from $p$?

    *Solution.* Drafted and kept: $q \min(1, p/q) = \min(p, q)$, in all $\beta = \sum \min(p, q)$. Since $p - q$ sums to
    0, its positive part sums to $\sum (p - \min(p, q)) = 1 - \beta = Z$; here both sums are used. A refusal happens with
    $1 - \beta$, so $x$ comes out with $\min(p, q) + (1 - \beta) \max(p - q, 0) / (1 - \beta)$. For $p \ge q$ this is
    $q + p - q$, otherwise $p$. With $p$ in the second draw it would be $\min(p, q) + (1 - \beta) p$, too much where
    the draft is not below the target.

    *Marks.* 1 point: the first way. 1 point: $Z$ with its reason. 2 points: both cases. 1 point: the wrong rule.
    """


@question("A hundred answers", "words", points=4, minutes=6, objective=1, level=2)
def a_hundred_answers():
    r"""A report says: “With 100 answers a task our model reaches 90 %, theirs 60 % with one answer." Name three things
    that must be known before anything follows, and say for each how it could explain the difference.

    *Solution.* Their pass@100, since any model solves more with more tries. The temperatures: a low one is best for one
    try, a higher one for many. The checker: who chooses the right one of a hundred answers, and is it there in use? The
    estimate: unbiased from how many answers? Whether the test was in one of the training texts.

    *Marks.* 1 point: one thing with its explanation. 1 point: a second one. 1 point: a third one. 1 point: that the two
    numbers estimate different things.
    """


@question("A draft that is too good", "what if", points=4, minutes=6, objective=5, level=3)
def too_good():
    r"""A small recurrent network predicts a text better than the large model for which it drafts. (a) Does the text that
    both write together become better than the large model's? (b) Are all drafts kept? (c) What would you do instead, and
    what does the method prove about the large model?

    *Solution.* (a) No. The rule gives exactly the large model's distribution, whatever the draft is. (b) No: they are
    kept with $\sum \min(p, q)$, which is 1 only where both agree; better does not mean equal. (c) Let the small one
    write alone. The method proves nothing about quality, only that nothing has changed.

    *Marks.* 1 point: (a). 1 point: (b). 2 points: (c).
    """


@question("What a student is told", points=4, minutes=6, objective=6, level=2)
def student_is_told(rng):
    r"""At one place a teacher gives three letters the probabilities $p = «p»$. The letter that came is the first.

    (a) A student has $q = (\frac13, \frac13, \frac13)$. Give the gradient of its loss with respect to its logits, once
    with the letter as the target and once with $p$. (b) At which $q$ does each loss have its minimum? (c) Many texts are
    read. What does the mean of the first gradient over all that may come here tell, if $p$ is right? (d) What,
    then, is gained by the teacher's probabilities?

    *Solution.* (a) $q$ minus the target: $(-\frac23, \frac13, \frac13)$ and $«soft»$. (b) At $(1, 0, 0)$ and at $p$. (c)
    The same as the second gradient: the letters come with the probabilities $p$. (d) The mean without the noise, so
    that fewer texts are needed, and what the teacher knows from texts that the student has not read.

    *Marks.* 1 point: (a). 1 point: (b). 1 point: (c). 1 point: (d).
    """

    def draw():
        a, b = some(rng, (1, 2, 3, 4, 5, 6), 2)
        return Fraction(a, 10), Fraction(b, 10), Fraction(10 - a - b, 10)

    p = until(draw, lambda *p: min(p) > 0)
    return {"p": row(p), "given": p, "soft": row([Fraction(1, 3) - one for one in p]),
            "gradient": [Fraction(1, 3) - one for one in p]}  # fmt: skip


@question("Which passage is found?", points=4, minutes=6, objective=7, level=1)
def passage_found(rng):
    r"""A question has two words, *gate* and *model*. Of $D = «D»$ passages «often» have the word *model* and «rare» the word
    *gate*. Passage A has *model* twice and no *gate*; passage B has *gate* once and no *model*. All passages are
    equally long as vectors, and so are the words of the question.

    (a) Give the weights $(1 + \ln \text{tf})(1 + \ln \frac{1 + D}{1 + \text{df}})$ of *model* in A and of *gate* in B.
    (b) Which of the two passages comes first? (c) Why is the second factor there at all? (d) Name a question that this
    search cannot answer, though a passage has the answer, and what finds it.

    *Solution.* (a) $(1 + \ln 2)(1 + \ln \frac{«D1»}{«often1»}) = «a:.2f»$ and $1 + \ln \frac{«D1»}{«rare1»} = «b:.2f»$.
    (b) «first». (c) A word that most passages have says little about any of them. (d) One in other words than those of
    the passage; vectors of an encoder put texts of like meaning near each other.

    *Marks.* 1 point: (a). 1 point: (b). 1 point: (c). 1 point: (d).
    """
    D, rare = pick(rng, (99, 199, 499)), pick(rng, (1, 4, 9))
    often = (D + 1) // pick(rng, (2, 4, 5)) - 1
    a, b = (1 + log(2)) * (1 + log((D + 1) / (often + 1))), 1 + log((D + 1) / (rare + 1))
    return {"D": D, "D1": D + 1, "often": often, "often1": often + 1, "rare": rare, "rare1": rare + 1, "a": a, "b": b,
            "first": "A" if a > b else "B"}  # fmt: skip


@question("Drawn once more", "bug", points=4, minutes=6, objective=5, level=3)
def drawn_once_more():
    r"""A colleague writes the check of one draft so:

    ```python
    x = draw(q)                     # the draft
    if random() < min(1, p[x] / q[x]):
        return x
    return draw(p)                  # refused: the large model draws itself
    ```

    (a) With which probability does a token $x$ come out? (b) Which tokens come too often, those that the draft likes
    better than the target or the others? (c) Give the last line as it should be. (d) Her test compares the most frequent
    token of 100 texts with that of plain writing, and passes. Give a test that fails.

    *Solution.* (a) $\min(p, q) + (1 - \beta)\, p$ with $\beta = \sum \min(p, q)$. (b) Where $q \ge p$ it is
    $p + (1 - \beta) p$, more than $p$; where $q$ is far below $p$ it is less. (c) Draw from $\max(p - q, 0)$, divided by
    its sum. (d) Count the tokens of some thousand rounds behind one prompt and compare with $p$, by the sum of
    $(\text{count} - \text{expected})^2 / \text{expected}$.

    *Marks.* 1 point: (a). 1 point: (b). 1 point: (c). 1 point: (d).
    """


@question("What a leak adds", points=4, minutes=6, objective=4, level=2)
def leak_adds(rng):
    r"""Half of a test leaked into the training of one model. It has «L» % of the leaked half right and «K» % of the other.
    A model without the leak has «cL» % and «cK» %.

    (a) Estimate what the leak adds, in points. (b) What would «L» $-$ «cL» alone mix in, and what «L» $-$ «K»? (c) If
    only «share» % of a test leaks, by how much is the score on all of it too high?

    *Solution.* (a) $(«L» - «K») - («cL» - «cK») = «effect»$. (b) The first how good the two models are apart from the leak,
    the second that one half may be easier. (c) By «share» % of «effect», «high:.1f» points.

    *Marks.* 1 point: (a). 2 points: (b), one each. 1 point: (c).
    """

    def draw():
        K, cL, cK, effect = (5 * whole(rng, low, high) for low, high in ((6, 13), (6, 14), (6, 14), (3, 7)))
        return K + effect + cL - cK, K, cL, cK, effect

    L, K, cL, cK, effect = until(draw, lambda L, K, cL, cK, _: K < L < 100 and cK not in (cL, K) and cL not in (L, K))
    share = pick(rng, (5, 10, 20))
    return {"L": L, "K": K, "cL": cL, "cK": cK, "effect": effect, "share": share, "high": share * effect / 100}


@question("Slots that wait", points=4, minutes=6, objective=5, level=2)
def slots_wait(rng):
    r"""Texts have «short» or «long» tokens, each with probability $\frac12$. A batch writes $B = «B»$ of them and ends with
    its longest.

    (a) How many steps does a batch take on average, and which share of its slots writes? (b) Towards which share does
    this go for very large $B$? (c) What does continuous batching change, and which slots stay free even then?

    *Solution.* (a) Only if all are short it ends after «short» steps: $«long» - «apart» \cdot 2^{-«B»} = «steps»$. The mean
    length is «mean», so $«mean» / «steps» = «used:.2f»$ write. (b) $«mean» / «long»$. (c) A slot that is done takes the
    next text, so nearly all write; slots stay free only when no request waits.

    *Marks.* 2 points: (a), one each. 1 point: (b). 1 point: (c).
    """
    B, short = whole(rng, 2, 4), 2 * whole(rng, 2, 10)
    long = short + 2 ** whole(rng, 4, 6)
    steps, mean = long - Fraction(long - short, 2**B), Fraction(short + long, 2)
    return {"B": B, "short": short, "long": long, "apart": long - short, "steps": steps, "mean": mean,
            "used": float(mean / steps)}  # fmt: skip
