"""Questions to chapter 2, n-gram models."""

import math
from fractions import Fraction
from itertools import pairwise

from lmbook_exams.question import pick, question, some, until, whole


@question("Bigrams from a line of text", points=5, minutes=7, objective=1, level=1)
def bigrams_of_a_line(rng):
    r"""A training text of ten tokens over the types *red*, *sea* and *sky*:

    > «line»

    (a) Give $P_{\mathrm{ML}}(\text{«w»} \mid \text{«h»})$ of the bigram model.

    (b) Give the same with add-one smoothing over the three types.

    (c) Under (a), how likely is it that “«h»” is followed by a word other than “«w»”? And why does the last token of the text
    not count as a history?

    *Solution.* (a) “«h»” is followed by a token $«ch»$ times, and $«chw»$ of these are “«w»”: $«chw» / «ch» = «ml»$.

    (b) $\dfrac{«chw» + 1}{«ch» + 3} = «add»$.

    (c) All words but “«w»” together: $1 - «ml» = «rest»$. Nothing follows the last token, so nothing was predicted from it.

    *Marks.* 2 points: (a), 1 of them for the count of the history without a last token. 2 points: (b), 1 of them
    for 3 in the denominator. 1 point: (c).
    """

    def draw():
        line = [pick(rng, ("red", "sea", "sky")) for _ in range(10)]
        h, w = some(rng, ("red", "sea", "sky"), 2)
        pairs = list(pairwise(line))
        return line, h, w, pairs.count((h, w)), sum(a == h for a, _ in pairs)

    line, h, w, chw, ch = until(
        draw, lambda line, h, w, chw, ch: 1 <= chw < ch and ch >= 3 and ch not in (2 * chw, 3 * chw)
    )
    ml = Fraction(chw, ch)
    return {"line": " ".join(line), "h": h, "w": w, "chw": chw, "ch": ch, "ml": ml, "add": Fraction(chw + 1, ch + 3),
            "rest": 1 - ml}  # fmt: skip


@question("Add-k on a rare history", points=4, minutes=6, objective=3, level=2)
def add_k(rng):
    r"""A history $h$ occurs $«ch»$ times before a token, $«chw»$ of them before $w$. The vocabulary has $|V| = «V»$
    types, $«seen»$ of which occur after $h$.

    (a) Give $P_k(w \mid h)$ for $k = «k»$.

    (b) How much probability do the types get together that were never seen after $h$?

    (c) What do you conclude about this $k$?

    *Solution.* (a) $\dfrac{«chw» + «k»}{«ch» + «k» \cdot «V»} = «p»$.

    (b) Each of the $«V» - «seen»$ others has $«k»$ in the numerator:
    $\dfrac{«k» \cdot «unseen»}{«ch» + «k» \cdot «V»} = «lost» \approx «lost:.2f»$.

    (c) Most of the probability goes to what was not seen: $k$ is far too large here, because $k |V|$ exceeds
    $c(h\,\cdot)$.

    *Marks.* 1 point: $k$ above and $k |V|$ below. 1 point: the value. 1 point: (b). 1 point: the conclusion with
    its reason.
    """
    ch, chw, seen = until(
        lambda: (whole(rng, 8, 20), whole(rng, 3, 7), whole(rng, 2, 6)),
        lambda ch, chw, seen: chw + seen - 1 <= ch,
    )
    V, k = pick(rng, (200, 500, 1000)), pick(rng, (Fraction(1, 2), Fraction(1, 4), Fraction(1, 5)))
    below = ch + k * V
    return {"ch": ch, "chw": chw, "V": V, "k": k, "seen": seen, "unseen": V - seen, "p": (chw + k) / below,
            "lost": k * (V - seen) / below}  # fmt: skip


@question("A mixture of orders", points=4, minutes=6, objective=3, level=2)
def interpolation(rng):
    r"""For a word $w$ after the history $h$ a trigram, a bigram and a unigram model say $P_3 = 0$, $P_2 = «p2»$ and
    $P_1 = «p1»$. The weights are $\lambda_3 = «l3»$, $\lambda_2 = «l2»$, $\lambda_1 = «l1»$.

    (a) Give the interpolated probability.

    (b) Which share of it does the bigram contribute, as an update of the weights by expectation and maximisation
    would count it?

    (c) Why are the weights not chosen on the training text?

    *Solution.* (a) $«l3» \cdot 0 + «l2» \cdot «p2» + «l1» \cdot «p1» = «p»$.

    (b) $\lambda_2 P_2 / P = «share»$.

    (c) On the training text no model that looks at two words, and so no mixture either, has a higher likelihood than
    the trigram's shares: all weight would go to $\lambda_3$, and a trigram that was never seen would have probability 0.

    *Marks.* 2 points: (a). 1 point: (b). 1 point: (c).
    """
    l3, l2 = pick(rng, ((4, 4), (5, 3), (3, 5), (2, 5), (4, 3)))
    l3, l2, l1 = Fraction(l3, 10), Fraction(l2, 10), Fraction(10 - l3 - l2, 10)
    p2, p1 = Fraction(1, pick(rng, (5, 10, 20))), Fraction(1, pick(rng, (50, 100, 200)))
    p = l2 * p2 + l1 * p1
    return {"l3": l3, "l2": l2, "l1": l1, "p2": p2, "p1": p1, "p": p, "share": l2 * p2 / p}


@question("Kneser-Ney by hand", points=6, minutes=9, objective=3, level=3)
def kneser_ney(rng):
    r"""A bigram model with interpolated Kneser-Ney smoothing and discount $D = «D»$. The history $h$ occurs $«ch»$
    times before a token, before $«types»$ different types; the word $w$ occurs $«chw»$ times after it. In the whole
    text $w$ occurs after $«before»$ different types, and the text has $«all»$ different bigrams. The lower order is
    not smoothed: it is $P_{\mathrm{cont}}$.

    (a) Give $P_{\mathrm{cont}}(w)$.

    (b) Give $P(w \mid h)$.

    (c) A word $v$ occurs very often, but always after the same word. How likely is it after a history where it was
    never seen, compared with a word of equal count that occurs after many different ones? Say why in a sentence.

    *Solution.* (a) $P_{\mathrm{cont}}(w) = «before» / «all» = «cont»$.

    (b)
    $\dfrac{«chw» - «D»}{«ch»} + \dfrac{«D» \cdot «types»}{«ch»} \cdot «cont» = «kept» + «freed» \cdot «cont» = «p»$.

    (c) Much less likely: only the number of different words before it counts, which is 1 for $v$. Its count says
    that it belongs to one word, not that it fits after a new one.

    *Marks.* 1 point: (a). 1 point: the discounted count. 1 point: the freed mass,
    $D N_{1+}(h\,\cdot) / c(h\,\cdot)$. 1 point: the value. 2 points: (c), 1 of them for the reason.
    """
    types, chw = whole(rng, 2, 5), whole(rng, 2, 6)
    ch = chw + (types - 1) * whole(rng, 1, 3)
    D, before, all_ = pick(rng, (Fraction(1, 2), Fraction(3, 4))), whole(rng, 2, 9), pick(rng, (20, 40, 50, 100))
    cont, kept, freed = Fraction(before, all_), (chw - D) / ch, D * types / ch
    return {"D": D, "ch": ch, "types": types, "chw": chw, "before": before, "all": all_, "cont": cont, "kept": kept,
            "freed": freed, "p": kept + freed * cont}  # fmt: skip


@question("Perplexity in three ways", points=5, minutes=7, objective=2, level=2)
def three_perplexities(rng):
    r"""A model gives the four tokens of a text the probabilities «given».

    (a) Give the perplexity from the loss in bits.

    (b) Give it again as an inverse geometric mean.

    (c) A student computes the loss with natural logarithms and then takes $2^J$. What does he get, and is it too
    low or too high?

    *Solution.* (a) The negative base-2 logarithms are «logs»; their mean is $«bits»$ bits, and
    $\mathrm{PP} = 2^{«bits»} = «pp:.4g»$.

    (b) The product is $2^{-«total»}$, and $(2^{-«total»})^{-1/4} = 2^{«bits»} = «pp:.4g»$.

    (c) $J = «bits» \ln 2 \approx «nats:.3f»$ nats, and $2^{«nats:.3f»} \approx «wrong:.3g»$: too low, since bases
    of logarithm and power do not agree.

    *Marks.* 2 points: (a). 1 point: (b). 2 points: (c), 1 of them for the reason.
    """
    mean = whole(rng, 2, 4)
    powers = until(
        lambda: ([whole(rng, 1, 7) for _ in range(4)],),
        lambda powers: sum(powers) == 4 * mean and len(set(powers)) > 2,
    )[0]
    nats = mean * math.log(2)
    return {"powers": powers, "given": ", ".join(rf"$\tfrac1{{{2**k}}}$" for k in powers),
            "logs": ", ".join(f"${k}$" for k in powers), "bits": mean, "total": 4 * mean, "pp": 2.0**mean, "nats": nats,
            "wrong": 2**nats}  # fmt: skip


@question("An operator's next call", points=4, minutes=6, objective=2, level=2)
def operator(rng):
    r"""An operator connects callers. Each of «departments» departments is asked for with probability $\tfrac14$; the
    rest, probability $«left»$ in all, is spread evenly over $«M»$ names. The model of the calls is exactly right.

    (a) What is the perplexity of the next call?

    (b) How many equally likely destinations would be as hard to guess? Why is it so far from the number of
    destinations that there are?

    *Solution.* (a) $\mathrm{PP} = \prod_i p_i^{-p_i}$. Each department gives $4^{1/4}$, and the names together
    $(«each»)^{«left»}$, since one name has probability $\tfrac{1}{«each»}$. The product is
    $4^{«known»} \cdot «each»^{«left»} = «pp:.4g»$.

    (b) By (a) as many as the perplexity says, $«pp:.4g»$. The «departments» departments take $«known»$ of the
    probability, so most of the many names are rarely asked for.

    *Marks.* 1 point: the formula, or the loss and its exponential. 1 point: the probability of one name. 1 point:
    the value. 1 point: (b).
    """
    count = whole(rng, 2, 3)
    known = Fraction(count, 4)
    left, M = 1 - known, pick(rng, (500, 1000, 2000, 5000, 10_000))
    each = int(M / left)  # one name in so many calls
    return {"count": count, "departments": ("two", "three")[count - 2], "known": known, "left": left, "M": M,
            "each": each, "pp": 4 ** float(known) * each ** float(left)}  # fmt: skip


@question("Words against characters", points=4, minutes=6, objective=4, level=3)
def words_and_characters(rng):
    r"""A model over words has a perplexity of $2^{«k»}$ on a test text. Its words have $«c»$ characters on average, the
    blank behind each included. A model over characters has a perplexity of $«pc»$ on the same text, whose words are
    all in the first model's vocabulary.

    (a) What is the first model's perplexity per character?

    (b) Which of the two models gives the text the higher probability?

    (c) What must be added to the comparison if the first model has an `<unk>`?

    *Solution.* (a) The text has as many bits in either count: $«k»$ bits a word are $«k» / «c» = «per»$ bits a
    character, and $2^{«per»} \approx «ppc:.3g»$.

    (b) The lower perplexity per character wins: $«ppc:.3g»$ of the words against $«pc»$, so the model over
    «winner».

    (c) The cost of the words behind `<unk>`: how likely each of them is, given that it is one (spelled by
    characters, for instance). The model over characters pays for it already.

    *Marks.* 2 points: (a), 1 of them for dividing the bits and not the perplexity. 1 point: (b). 1 point: (c).
    """
    k, c = pick(rng, ((7, 5), (7, 4), (8, 5), (9, 6), (9, 5), (9, 4), (11, 5)))
    ppc = 2 ** (k / c)
    pc = pick(rng, [n for n in (2, 3, 4, 5) if abs(n - ppc) > 0.3])
    return {"k": k, "c": c, "pc": pc, "per": Fraction(k, c), "ppc": ppc,
            "winner": "words" if ppc < pc else "characters"}  # fmt: skip


@question("A discount that loses nothing", "derivation", points=5, minutes=8, objective=3, level=3)
def discount_sums_to_one():
    r"""Absolute discounting with interpolation is

    $$
    P(w \mid h) = \frac{\max(c(h\,w) - D,\, 0)}{c(h\,\cdot)} + \frac{D\, N_{1+}(h\,\cdot)}{c(h\,\cdot)}\; P_{\mathrm{low}}(w),
    $$

    with $0 \le D \le 1$. Show that the probabilities of all $w$ add up to 1 if those of $P_{\mathrm{low}}$ do.
    Where is $D \le 1$ used? What is the sum if $D$ may exceed some of the counts?

    *Solution.* Every $w$ that was seen has $c(h\,w) \ge 1 \ge D$, so its maximum is $c(h\,w) - D$; that of the
    others is 0. The sum of the first terms is $\big(c(h\,\cdot) - D\, N_{1+}(h\,\cdot)\big) / c(h\,\cdot)$, because
    $N_{1+}(h\,\cdot)$ types were seen and each loses $D$. The second term adds $D\, N_{1+}(h\,\cdot) / c(h\,\cdot)$
    times 1. Together that is 1.

    With $D > c(h\,w)$ for some $w$, the maximum takes away only $c(h\,w)$ there, less than the $D$ that the second
    term hands out, and the sum exceeds 1.

    *Marks.* 1 point: the sum of the first terms. 1 point: $N_{1+}$ types lose $D$ each. 1 point: the second term,
    and the total. 1 point: $D \le 1 \le c(h\,w)$ removes the maximum. 1 point: more than 1 otherwise.
    """


@question("Smoothing that does not add up", "bug", points=4, minutes=6, objective=3, level=2)
def add_k_bug():
    r"""This function should return $P_k(w \mid h)$ of a bigram model. `pairs` is a `Counter` of pairs, `V` the number
    of types.

    ```python
    def add_k(pairs, h, w, k, V):
        total = sum(pairs.values())
        return (pairs[h, w] + k) / (total + k)
    ```

    (a) Find the two mistakes in the denominator.

    (b) Which check of one line would have found both?

    *Solution.* (a) `total` is the number of all bigrams, where it must be that of the bigrams which begin with `h`.
    And $k$ is added once, where it must be added once for each type: `total + k * V`.

    (b) The sum over all types: `sum(add_k(pairs, h, w, k, V) for w in types)` must be 1 for every `h`.

    *Marks.* 1 point: the count of the history. 1 point: $k$ times the vocabulary. 2 points: the sum over $w$ for a
    fixed $h$ (1 if the check finds only one of the two).
    """


@question("When may two perplexities be compared?", "words", points=4, minutes=7, objective=4, level=2)
def comparable():
    r"""Two groups report perplexities on “the news”: 92 with a vocabulary of 10,000 types and `<unk>`, and 138 with one
    of 50,000. Explain in about three sentences why the first model need not be the better one, and what the groups
    have to do so that their numbers can be compared.

    *Solution.* The first model may answer `<unk>` for every word outside of its 10,000, which is an easy guess with
    a high probability, where the second has to name the word; so a smaller vocabulary lowers the perplexity without
    any better knowledge of the language. The texts may differ as well. Both have to score the same test text, cut
    into the same tokens, with the same vocabulary (or charge for the words behind `<unk>`, for instance per
    character), and chosen without looking at the test text.

    *Marks.* 1 point: `<unk>` takes in many words at a low price. 1 point: hence lower without knowing more.
    1 point: the same text and the same tokens. 1 point: one vocabulary, or a charge for what is behind `<unk>`.
    """


@question("One zero", "what if", points=3, minutes=5, objective=2, level=2)
def one_zero():
    r"""In a test text of 100,000 tokens a model without smoothing gives one token the probability 0 and is better than
    any other model everywhere else. What is its perplexity? A colleague leaves such tokens out of the mean. What
    does his number say, and which model has the best of all perplexities by his rule?

    *Solution.* One logarithm is $-\infty$, so the loss and the perplexity are infinite. The colleague's number says
    how well the model does where it has a chance, which depends on the model: each is judged on other tokens. By
    this rule it pays to give everything doubtful the probability 0: a model that predicts only what it is sure of,
    and nothing else, is best.

    *Marks.* 1 point: infinite. 1 point: the models are then judged on different tokens. 1 point: the rule rewards
    zeros.
    """
