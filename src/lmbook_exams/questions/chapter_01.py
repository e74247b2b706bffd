"""Questions to chapter 1, What is a language model?"""

import math
from fractions import Fraction

from lmbook_exams.question import pick, question, some, table, until, whole


@question("A sentence's probability", points=4, minutes=6, objective=1, level=1)
def sentence_probability(rng):
    r"""A language model gives these probabilities:

    «given»

    (a) How likely is the sentence “the tide turns” under this model, with its end?

    (b) What is its loss $J$, the mean negative log-likelihood per token? Leave a logarithm in your answer.

    *Solution.* (a) By the chain rule the conditionals are multiplied, that of the end too:
    $\tfrac1{«a»} \cdot \tfrac1{«b»} \cdot \tfrac1{«c»} \cdot \tfrac1{«d»} = \tfrac1{«all»}$.

    (b) $J = -\tfrac14 \ln \tfrac1{«all»} = \tfrac14 \ln «all» \approx «J:.3f»$ nats. There are four tokens, since
    `<eos>` is one.

    *Marks.* 1 point: the product of the conditionals. 1 point: the end is a factor. 1 point: the value. 1 point:
    the loss, divided by 4.
    """
    a, b, c, d = (pick(rng, (2, 3, 4, 5, 8, 10)) for _ in range(4))
    others = [f"$P(\\text{{{w}}} \\mid {h}) = \\tfrac1{{{n}}}$" for w, h, n in (
        ("the", r"\texttt{<sos>}", a), ("tide", r"\text{the}", b), ("turns", r"\text{the tide}", c),
        (r"\texttt{<eos>}", r"\text{the tide turns}", d))]  # fmt: skip
    whole_sentence = a * b * c * d
    return {"a": a, "b": b, "c": c, "d": d, "given": ", ".join(others), "all": whole_sentence,
            "J": math.log(whole_sentence) / 4}  # fmt: skip


@question("What short sentences share", points=4, minutes=6, objective=1, level=2)
def short_sentences(rng):
    r"""After every word, a model ends the sentence with probability $\tfrac1{«k»}$, whatever the words were. A sentence
    has at least one word.

    (a) How likely is a sentence of exactly $«n»$ words (all such sentences together)?

    (b) How likely is a sentence of at most $«n»$ words?

    (c) Do the probabilities of all sentences add up to 1? Say why.

    *Solution.* (a) $«m»$ times no end, then an end: $\left(«stay»\right)^{«m»} \cdot \tfrac1{«k»} = «exactly»$.

    (b) Its opposite is that no end has come after $«n»$ words: $1 - \left(«stay»\right)^{«n»} = «at_most»$.

    (c) Yes: $1 - \left(«stay»\right)^{n} \to 1$ as $n$ grows, so no probability is lost in sentences that never
    end.

    *Marks.* 1 point: (a). 1 point: (b), by the opposite or as a sum. 2 points: in (c) yes, and the limit as the
    reason.
    """
    k, n = whole(rng, 2, 5), whole(rng, 3, 4)
    stay = Fraction(k - 1, k)
    return {"k": k, "n": n, "m": n - 1, "stay": stay, "exactly": stay ** (n - 1) / k, "at_most": 1 - stay**n}


@question("Counts as a model", points=5, minutes=8, objective=2, level=2)
def counts_as_model(rng):
    r"""After the word “the” a training text has these words, so often:

    «counts»

    (a) Give the maximum-likelihood estimate of $P(w \mid \text{the})$ for each of the words.

    (b) What loss does this estimate have on these pairs of the training text, in bits per word ($\log_2$ in place
    of $\ln$)?

    (c) By how many bits is that better than a model that gives each of the «size» words the same probability? Leave
    a logarithm if needed.

    *Solution.* (a) Relative frequencies, of $«n»$ in all: «estimates».

    (b) $-\sum_w \hat p_w \log_2 \hat p_w = «sum» = «bits»$ bits.

    (c) Equal probabilities cost $\log_2 «size» \approx «uniform:.3f»$ bits, which is $«gain:.3f»$ bits more.

    *Marks.* 1 point: counts divided by their sum. 1 point: the estimates. 2 points: the loss, 1 of them for
    weighting by the frequencies. 1 point: the comparison.
    """
    pattern = pick(rng, ((4, 2, 1, 1), (8, 4, 2, 1, 1), (4, 1, 1, 1, 1), (2, 1, 1)))
    words = some(rng, ("harbour", "tide", "boat", "crane", "gull", "net", "pier"), len(pattern))
    factor = whole(rng, 2, 6)
    counts = [factor * one for one in pattern]
    p = [Fraction(one, sum(pattern)) for one in pattern]
    bits = sum(one * -int(math.log2(one)) for one in p)
    told = ", ".join(f"$\\hat p_{{\\text{{{w}}}}} = \\tfrac{{{q.numerator}}}{{{q.denominator}}}$"
                     for w, q in zip(words, p, strict=True))  # fmt: skip
    terms = " + ".join(rf"\tfrac{{{q.numerator}}}{{{q.denominator}}} \cdot {-int(math.log2(q))}" for q in p)
    return {"counts": table(words, counts), "tally": counts, "n": sum(counts), "size": len(words), "estimates": told,
            "sum": terms, "bits": bits, "uniform": math.log2(len(words)),
            "gain": math.log2(len(words)) - float(bits)}  # fmt: skip


@question("Where a product vanishes", points=4, minutes=6, objective=1, level=2)
def vanishing_product(rng):
    r"""The smallest positive number of `float32` is $2^{-149}$; a result of $2^{-150}$ or less becomes 0. A model gives
    every token of a text the probability $2^{-«k»}$, and a program multiplies these probabilities one after the
    other in `float32`.

    (a) After which token is the product 0?

    (b) What does the program give as the loss of a longer text, and what should it be, in nats?

    (c) How do you compute it so that this does not happen?

    *Solution.* (a) After $t$ tokens the product is $2^{-«k»t}$. It is 0 once $«k»t \ge 150$, first at $t = «t»$.

    (b) The logarithm of 0 is $-\infty$, so the loss is infinite. Right is $«k» \ln 2 \approx «J:.3f»$ nats per
    token.

    (c) Add the logarithms: a sum of $T$ moderate numbers is a moderate number.

    *Marks.* 1 point: the exponents add up. 1 point: the token. 1 point: infinite, in place of $«k» \ln 2$. 1 point:
    the sum of logarithms.
    """
    k = pick(rng, (4, 7, 8, 9, 11, 12, 13, 14, 16, 17))
    return {"k": k, "t": -(-150 // k), "J": k * math.log(2)}


@question("Histories that cannot recur", points=3, minutes=5, objective=4, level=2)
def histories(rng):
    r"""A vocabulary has $|V| = «V»$ types, and a training text has $10^{«e»}$ tokens.

    (a) How many different histories of $«k»$ words are there, as sequences of types?

    (b) What share of them can occur in the text at most?

    (c) A colleague says: “So a test text almost never has a history that was seen.” Why does this not follow?

    *Solution.* (a) $|V|^{«k»} = 10^{«h»}$. (b) A text of $10^{«e»}$ tokens has at most that many histories, so
    $10^{«e»} / 10^{«h»} = 10^{«share»}$.

    (c) Histories are not equally likely. A test text has mostly those that the language uses often, and of these
    many were seen. The share of *test* histories that were seen has to be measured.

    *Marks.* 1 point: (a). 1 point: (b). 1 point: unequal frequencies, so that counting types says little about
    tokens.
    """
    v, k, e = until(
        lambda: (whole(rng, 3, 5), whole(rng, 2, 4), whole(rng, 6, 9)),
        lambda v, k, e: v * k >= e + 2,
    )
    return {"V": 10**v, "v": v, "k": k, "e": e, "h": v * k, "share": e - v * k}


@question("Why counts are the best table", "derivation", points=5, minutes=9, objective=3, level=3)
def best_table():
    r"""A model gives each word $w$ of a vocabulary a probability $p_w > 0$, without looking at the history. In a text
    of $n$ words, $w$ occurs $c_w$ times, and every word occurs at least once. Show that the loss

    $$
    J(p) = -\sum_w \frac{c_w}{n} \ln p_w
    $$

    is least for $p_w = c_w / n$, given that $\sum_w p_w = 1$. Say also why it is a minimum and no maximum.

    *Solution.* Write $q_w = c_w / n$. The difference of two losses is
    $J(p) - J(q) = -\sum_w q_w \ln \tfrac{p_w}{q_w}$. Since $\ln x \le x - 1$, it is at least
    $-\sum_w q_w (\tfrac{p_w}{q_w} - 1) = \sum_w q_w - \sum_w p_w = 0$.

    So no $p$ has a smaller loss than $q$, which makes it a minimum. As $\ln x = x - 1$ only at $x = 1$, no other $p$
    has the same loss. (A multiplier for the condition gives $p_w$ proportional to $c_w$ and then $p_w = c_w / n$; with
    it goes a reason why it is a minimum, such as that $J$ is convex.)

    *Marks.* 1 point: the loss of the counts is compared with that of any other $p$ (or the condition enters by a
    multiplier). 2 points: the inequality with its reason (or the derivative, and $p_w$ proportional to $c_w$). 1 point:
    both sums are 1 and cancel (or the constant). 1 point: why a minimum.
    """


@question("A loss that is too good", "bug", points=4, minutes=6, objective=2, level=2)
def loss_bug():
    r"""This function should return the loss of a text in nats per token. `model(history)` returns a dictionary from
    words to probabilities.

    ```python
    def loss(model, tokens):
        total = 0.0
        for t in range(len(tokens)):
            p = model(tokens[: t + 1])
            total += math.log(p[tokens[t]])
        return total / len(tokens)
    ```

    Find the two mistakes. Say for each what you would see, and write the line as it should be.

    *Solution.* The history contains the word that is to be predicted: the model is asked
    whether the word repeats itself, so without the sign the loss is far too high. Right: `p = model(tokens[:t])`.

    The sign is missing: the result is negative. Right: `return -total / len(tokens)`.

    *Marks.* 1 point: the history holds the answer. 1 point: its line and its symptom. 1 point: the sign. 1 point:
    its line and its symptom.
    """


@question("Two rankings", "words", points=4, minutes=7, objective=4, level=2)
def two_rankings():
    r"""On held-out text model A has a loss of 4.9 nats per word and model B one of 5.1, with the same vocabulary. As
    the judge of a program that corrects spelling, B finds the right word more often than A. Explain in about three
    sentences how both can be true, which of the two measures you would go by, and what you would look at before you
    trust either.

    *Solution.* The loss averages over all words, most of which have nothing to do with misspelling; the task only
    asks which of a few candidates comes first, in the places where people misspell. A model can be worse on average
    and better there, for instance because it was trained on similar text. For a spelling corrector the extrinsic
    measure decides, since it is the task itself. Before that, look at the size of both differences against their
    uncertainty (how many words, how many misspellings), and whether the test text of each is like the text that the
    program will meet.

    *Marks.* 1 point: the loss is a mean over all words. 1 point: the task only needs an order of candidates in some
    places. 1 point: the extrinsic measure, because it is the task. 1 point: uncertainty, or unlike texts, as what
    to look at.
    """


@question("A model without an end", "what if", points=4, minutes=6, objective=1, level=3)
def no_end():
    r"""Somebody leaves `<eos>` out of a language model: at each position the probabilities of the $|V|$ words add up to 1,
    and that is all. What is the sum of the probabilities of all texts of exactly 5 words, of exactly 6 words, and
    of all texts of any length from 1 on? Can such a model say whether “we left” or “we left early” is the likelier
    sentence?

    *Solution.* The sum over the last word of the product is the product without it, so all texts of 5 words
    together have probability 1, and those of 6 words too. Over all lengths the sum is infinite: the model has one
    distribution for each length, and none over sentences. It cannot compare the two: “we left early” is never
    likelier than its own beginning, whatever the words are, because nothing says that a sentence stops after
    “left”.

    *Marks.* 1 point: 1 for each length. 1 point: why (sum over the last word, and so on). 1 point: no distribution
    over all lengths. 1 point: the comparison fails, since a longer text has one factor more.
    """
