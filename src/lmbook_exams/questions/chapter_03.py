"""Questions to chapter 3, From words to vectors."""

import math
from fractions import Fraction

from lmbook_exams.question import matrix, pick, question, row, some, until, whole


@question("Two merges", points=5, minutes=8, objective=1, level=1)
def two_merges(rng):
    r"""A text consists of the words *sea* ($«a»$ times), *seat* ($«b»$ times) and *tea* ($«c»$ times). Byte-pair
    encoding starts from single letters and never merges across words.

    (a) Which pair is merged first, and how often does it occur?

    (b) Which pair is merged second, and how often does it occur?

    (c) How many tokens does the text have before the first merge, and how many after the second?

    *Solution.* (a) The pairs and their counts: s e $«ab»$, e a $«abc»$, a t $«b»$, t e $«c»$. The pair *e a* is in
    every word.

    (b) Now the words are s·ea, s·ea·t, t·ea: s ea $«ab»$, ea t $«b»$, t ea $«c»$. The most frequent is *«second»*,
    with $«count»$.

    (c) Before: $3 \cdot «a» + 4 \cdot «b» + 3 \cdot «c» = «before»$. A merge saves a token each time it applies:
    $«before» - «abc» - «count» = «after»$.

    *Marks.* 1 point: (a). 2 points: (b), 1 of them for counting again after the merge. 2 points: (c), 1 for each
    number.
    """
    a, b, c = until(
        lambda: (whole(rng, 2, 9), whole(rng, 2, 5), whole(rng, 2, 12)),
        lambda a, b, c: a + b != c and c > b,
    )
    count = max(a + b, c)
    before = 3 * a + 4 * b + 3 * c
    return {"a": a, "b": b, "c": c, "ab": a + b, "abc": a + b + c, "second": "s ea" if a + b > c else "t ea",
            "count": count, "before": before, "after": before - a - b - c - count}  # fmt: skip


@question("A look-up and its gradient", points=5, minutes=7, objective=2, level=2)
def lookup_gradient(rng):
    r"""An embedding table and a text of three tokens, with ids counted from 0:

    $$
    D = «D», \qquad w_1, w_2, w_3 = «ids».
    $$

    (a) Give $X = W D$, where $W$ has the one-hot vectors of the tokens as rows.

    (b) For the gradient $\partial J / \partial X = «G»$, give $\partial J / \partial D$.

    (c) What does a step of gradient descent do to the vectors of words that are not in the text?

    *Solution.* (a) The rows of the tokens: $X = «X»$.

    (b) $W^\top\, \partial J / \partial X$: each row collects what arrives at all positions of its word, $«dD»$. The
    two positions of word $«twice»$ are added.

    (c) Nothing: their rows of the gradient are zero.

    *Marks.* 1 point: $X$. 3 points: the gradient, 1 of them for its shape and 1 for adding the two positions. 1 point:
    (c).
    """
    D = [[whole(rng, -4, 5) for _ in range(2)] for _ in range(4)]
    twice, once = some(rng, range(4), 2)
    ids = [[twice, once, twice], [once, twice, twice], [twice, twice, once]][whole(rng, 0, 2)]
    G, _ = until(
        lambda: ([[whole(rng, 1, 5) * pick(rng, (-1, 1)) for _ in range(2)] for _ in range(3)], ids),
        lambda G, ids: all(sum(g[j] for g, w in zip(G, ids, strict=True) if w == twice) for j in range(2)),
    )
    dD = [[sum(g[j] for g, w in zip(G, ids, strict=True) if w == i) for j in range(2)] for i in range(4)]
    return {"D": matrix(D), "table": D, "ids": ", ".join(map(str, ids)), "tokens": ids, "G": matrix(G), "arrives": G,
            "X": matrix([D[w] for w in ids]), "dD": matrix(dD), "gradient": dD, "twice": twice}  # fmt: skip


@question("The price of a one-hot product", points=4, minutes=5, objective=2, level=1)
def one_hot_price(rng):
    r"""A text of $T = «T»$ tokens over $|V| = «V»$ types is embedded in $d = «d»$ dimensions.

    (a) How many numbers does the matrix $W$ of one-hot rows have, and how many the table $D$?

    (b) How many multiplications does the product $W D$ take, if it is computed as for any other matrix?

    (c) How many numbers does the look-up copy instead?

    *Solution.* (a) $W$ is $T \times |V|$: $«W»$ numbers. $D$ is $|V| \times d$: $«D»$. (b)
    $T\, |V|\, d = «product»$. (c) $T d = «copied»$, and no multiplication.

    *Marks.* 2 points: (a), 1 for each. 1 point: (b). 1 point: (c).
    """
    T, V, d = pick(rng, (20, 50, 100)), pick(rng, (2000, 5000, 10_000, 30_000)), pick(rng, (50, 100, 200, 300))
    return {"T": T, "V": V, "d": d, "W": T * V, "D": V * d, "product": T * V * d, "copied": T * d}


@question("A pair and a negative sample", points=5, minutes=8, objective=3, level=3)
def negative_sampling(rng):
    r"""Skip-gram with one negative sample has $v_c = «v»$, $u_o = «u»$ and $u_n = «n»$.

    (a) Give $\sigma(u_o \cdot v_c)$ and $\sigma(u_n \cdot v_c)$.

    (b) Give the loss $-\ln \sigma(u_o \cdot v_c) - \ln \sigma(-u_n \cdot v_c)$.

    (c) Give $\partial J / \partial v_c$.

    *Solution.* (a) The inner products are $\ln «a»$ and $-\ln «b»$. Since $\sigma(\ln r) = r / (r + 1)$:
    $\tfrac{«a»}{«a1»}$ and $\tfrac{1}{«b1»}$.

    (b)
    $-\ln \tfrac{«a»}{«a1»} - \ln\left(1 - \tfrac{1}{«b1»}\right) = \ln \tfrac{«a1»}{«a»} + \ln \tfrac{«b1»}{«b»} \approx «J:.3f»$.

    (c)
    $\left(\tfrac{«a»}{«a1»} - 1\right) u_o + \tfrac{1}{«b1»}\, u_n = -\tfrac{1}{«a1»}\, u_o + \tfrac{1}{«b1»}\, u_n = «g»$.

    *Marks.* 1 point: (a). 2 points: (b), 1 of them for the sign inside the second sigmoid. 2 points: (c), 1 of them
    for the factors.
    """
    a, b, p, q = until(
        lambda: (*some(rng, (2, 3, 4, 5, 7, 9), 2), *some(rng, (-3, -2, -1, 1, 2, 3), 2)),
        lambda a, b, p, q: p * (b + 1) != q * (a + 1),  # else the last entry of the gradient vanishes
    )
    # The third entry of v is 0, so that those of u_o and u_n are free.
    u, n = [1, 0, p], [0, -1, q]
    g = [-Fraction(x, a + 1) + Fraction(y, b + 1) for x, y in zip(u, n, strict=True)]
    return {"a": a, "b": b, "a1": a + 1, "b1": b + 1, "v": row([rf"\ln {a}", rf"\ln {b}", 0]), "u": row(u), "n": row(n),
            "centre": [math.log(a), math.log(b), 0.0], "context": u, "negative": n, "g": row(g), "gradient": g,
            "J": math.log((a + 1) / a) + math.log((b + 1) / b)}  # fmt: skip


@question("Who is drawn as a negative sample", points=4, minutes=6, objective=3, level=2)
def negative_distribution(rng):
    r"""Three words occur $«c0»$, $«c1»$ and $«c2»$ times. Negative samples are drawn from $P_n(w) \propto c(w)^{3/4}$.

    (a) Give $P_n$ of the three words.

    (b) By which factor is the most frequent word likelier than the rarest, in the text and under $P_n$?

    (c) What is the exponent for?

    *Solution.* (a) $c^{3/4}$ is $«r0»$, $«r1»$, $«r2»$, and the sum is $«sum»$: $P_n = «p»$.

    (b) $«plain»$ in the text, $«plain»^{3/4} = «less»$ under $P_n$.

    (c) It draws rare words more often than their share, so that they too are used as negatives, and frequent ones
    less often.

    *Marks.* 2 points: (a). 1 point: (b). 1 point: (c).
    """
    low = pick(rng, (1, 2))
    roots = some(rng, (low, low * pick(rng, (4, 5)), low + whole(rng, 1, 2)), 3)
    counts, weights = [n**4 for n in roots], [n**3 for n in roots]
    p = [Fraction(one, sum(weights)) for one in weights]
    return {"c0": counts[0], "c1": counts[1], "c2": counts[2], "r0": weights[0], "r1": weights[1], "r2": weights[2],
            "sum": sum(weights), "p": row(p), "P": p, "plain": Fraction(max(counts), min(counts)),
            "less": Fraction(max(weights), min(weights))}  # fmt: skip


@question("Encoding two lines", points=4, minutes=6, objective=1, level=1)
def encode_two_lines(rng):
    r"""The special tokens `<pad>`, `<unk>`, `<sos>`, `<eos>`, `<mask>` have the ids 0 to 4. Then come the types of the
    training text, in this order from 5 on: «types».

    Encode these two lines as one batch, each with `<sos>` and `<eos>`, padded at the end. What is the shape of the batch,
    and how many of its entries should count in a loss that predicts each next token?

    > «first»

    > «second»

    *Solution.* The rows are $«row1»$ and $«row2»$, shape $(2, «T»)$. The word “«strange»” is not in the list and
    becomes `<unk>`.

    Predicted is each token that is not padding, except the first of a row: $«n»$ entries.

    *Marks.* 2 points: the ids, 1 of them for `<unk>` and the special tokens. 1 point: padding and the shape.
    1 point: the number that counts.
    """
    types = some(rng, ("the", "boat", "gull", "waits", "sails", "home", "late", "is", "where"), 7)
    strange = pick(rng, ("otter", "lantern", "puffin"))
    first, second = some(rng, types, 4), some(rng, types, 2)
    if rng.random() < 0.5:
        first[whole(rng, 0, 3)] = strange
    else:
        second[whole(rng, 0, 1)] = strange
    if rng.random() < 0.5:
        first, second = second, first
    number = {w: at for at, w in enumerate(types, start=5)} | {strange: 1}
    rows = [[2, *(number[w] for w in line), 3] for line in (first, second)]
    T = max(map(len, rows))
    rows = [one + [0] * (T - len(one)) for one in rows]
    return {"types": ", ".join(types), "listed": types, "first": " ".join(first), "second": " ".join(second), "T": T,
            "strange": strange, "row1": row(rows[0]), "row2": row(rows[1]), "rows": rows,
            "n": sum(id_ != 0 for one in rows for id_ in one) - 2}  # fmt: skip


@question("Bytes and characters", points=4, minutes=5, objective=1, level=1)
def bytes_and_characters(rng):
    r"""A byte-level tokenizer with no merges at all reads the text “«text»”. In UTF-8 a letter of the English alphabet,
    a digit and a blank take one byte, a letter of Western Europe with an accent, a ring or a stroke two, the sign €
    three.

    (a) How many tokens does it make of the text, and how many would a tokenizer over characters make?

    (b) Which of the two can meet a character that it cannot encode?

    (c) The text is cut off after the first byte of its “€”. What does the byte-level one make of the end, and what does
    decoding show there?

    *Solution.* (a) $«bytes»$ bytes, $«chars»$ characters. (b) The one over characters: it knows only those of its
    training text, where 256 bytes write every string.

    (c) A piece of a character is a token like any other; alone it is no text, and decoding must show a stand-in
    such as U+FFFD.

    *Marks.* 2 points: (a), 1 for each. 1 point: (b). 1 point: (c).
    """
    start, accented, sign = pick(rng, ("two", "one", "ten")), pick(rng, ("cafés", "crêpes", "flûtes", "pâtés")), "€"
    text = f"{start} {accented} {whole(rng, 2, 99)} {sign}" + pick(rng, (" à", " øå", " déjà"))
    return {"text": text, "bytes": len(text.encode()), "chars": len(text)}


@question("Why absent words stand still", "derivation", points=4, minutes=7, objective=2, level=2)
def absent_rows():
    r"""Let $X = W D$ with one-hot rows in $W$. Derive $\partial J / \partial D_{ij}$ from $\partial J / \partial X$,
    write the result as a product of matrices, and conclude what gradient the row of a word gets that occurs twice,
    and the row of one that does not occur.

    *Solution.* $X_{tj} = \sum_i W_{ti} D_{ij}$, so $\partial X_{tj} / \partial D_{ij} = W_{ti}$, and the other
    columns do not depend on $D_{ij}$. By the chain rule
    $\partial J / \partial D_{ij} = \sum_t W_{ti}\, \partial J / \partial X_{tj}$, that is
    $\partial J / \partial D = W^\top\, \partial J / \partial X$.

    $W_{ti}$ is 1 where $w_t = i$ and else 0. A word that occurs twice gets the sum of the two rows of
    $\partial J / \partial X$ at its positions; an absent one gets zero.

    *Marks.* 1 point: the derivative of $X_{tj}$. 1 point: the sum over $t$ and the product. 1 point: the sum of two
    rows. 1 point: zero.
    """


@question("Ids are names", "words", points=4, minutes=6, objective=2, level=2)
def ids_are_names():
    r"""A student feeds the ids of the words, divided by $|V|$, straight into a linear layer “to save the embedding”.
    Explain in about three sentences what this layer assumes about words, and why a random renumbering of the
    vocabulary should then change what the model can learn, but does not with one-hot vectors.

    *Solution.* A linear layer of one number treats the id as a quantity: word 200 acts twice as much as word 100,
    and neighbours in the list are treated alike. The order of the list is an accident (frequency or the alphabet),
    so such a function fits one numbering and not another. One-hot vectors are all equally far from each other;
    renumbering only exchanges the rows of the table, which are learned anyway.

    *Marks.* 1 point: the id is taken as a size or an order. 1 point: ids close in the list are treated alike
    without a reason. 1 point: renumbering changes the functions that can be expressed. 1 point: with one-hot
    vectors it only permutes rows.
    """


@question("More merges", "what if", points=4, minutes=6, objective=1, level=2)
def more_merges():
    r"""A byte-level byte-pair tokenizer is trained on the same text with 0, 1,000 and 30,000 merges. What happens, with more
    merges, to the number of tokens of a text, to the size of the vocabulary, to how often each token is seen in
    training, and to the share of unknown tokens? Name one reason against very many merges.

    *Solution.* The text becomes shorter in tokens, less and less with each merge. The vocabulary grows by one for
    each merge. Each token is seen less often on average, both because there are fewer tokens and because they are
    spread over more types. Nothing is ever unknown, with any number of merges, because all bytes remain in the
    vocabulary. Against very many: rare tokens hardly get training, and embedding and output layer grow with the
    vocabulary.

    *Marks.* 1 point: shorter, with the vocabulary one larger for each. 1 point: rarer tokens. 1 point: nothing
    unknown, and why. 1 point: the reason.
    """


@question("A merge that misses", "bug", points=4, minutes=6, objective=1, level=2)
def merge_bug():
    r"""This should replace every occurrence of a pair of tokens, from the left, by the new token.

    ```python
    def merge(tokens, pair, new):
        out = []
        for i in range(len(tokens) - 1):
            if (tokens[i], tokens[i + 1]) == pair:
                out.append(new)
            else:
                out.append(tokens[i])
        return out
    ```

    (a) What does it return for `["s", "e", "a"]`, the pair `("s", "e")` and `"se"`, and what should it return? (b) Name the
    two mistakes. (c) Which check, true for every text and every pair, finds both?

    *Solution.* (a) `["se", "e"]`; right is `["se", "a"]`.

    (b) After a match it goes on by one token and not by two, so the second half of the pair comes again. The last
    token is never copied, because the loop ends before it (right only if a merge has just used it). (c) Decoding
    gives the text back: the tokens of the result, put together, spell what they spelled before.

    *Marks.* 1 point: (a). 2 points: (b), 1 for each mistake. 1 point: (c).
    """


@question("A direction for bias", "words", points=4, minutes=6, objective=5, level=2)
def bias_control():
    r"""A colleague adds up “he” − “she” and five more such differences of word vectors. For 60 words for people, the
    position along the sum has a correlation of 0.46 with how much more often the text has the word near “he” than near
    “she”. “So this direction holds the bias,” they say.

    (a) Name a control that shows what correlation such a direction has without any bias, and say which outcome would
    take the claim back. (b) Which statement about bias in this text needs no direction, and how is it checked? (c) A
    report says that 40 % of the analogies “a is to b as c is to …” are solved. Name a simple rule that has to be
    beaten before this means anything.

    *Solution.* (a) The same with differences of random pairs of words, many times. If a fair share of those
    directions reach 0.46 too, the correlation does not speak for this one. (b) How often each word is near “he” and near
    “she”: this is counted in the text, before there are any vectors. (c) The nearest neighbour of c (or of b) alone,
    with a left out.

    *Marks.* 1 point: a control with random directions. 1 point: the outcome that takes the claim back. 1 point: (b).
    1 point: (c).
    """
