"""Questions to chapter 10, The fixed vector."""

from fractions import Fraction

from lmbook_exams.question import pick, question, row, until, whole


@question("How much fits in?", points=4, minutes=6, objective=2, level=2)
def capacity(rng):
    r"""A source vector has $m = «m»$ numbers of $b = «b»$ usable bits each. Sources are sequences of symbols, each one
    of $K = «K»$ and equally likely.

    (a) How long may the sources be, so that every one of them could come back exactly? (b) By what does that length
    grow if $m$ is doubled, and by what if $K$ is squared? (c) A trained network does not come near this bound. Does
    that contradict it?

    *Solution.* (a) $K^N \le 2^{bm}$, so $N \le b m / \log_2 K = «bits» / «k» = «exact:.5g»$: at most $«N»$ symbols.

    (b) It doubles; it is halved. (c) No: counting says what no model can exceed. What training finds, and what a
    decoder can read out, may be much less.

    *Marks.* 2 points: (a), 1 of them for counting states. 1 point: (b). 1 point: (c).
    """
    m, b, k = pick(rng, (8, 16, 32, 64, 128)), pick(rng, (2, 4, 8, 16)), whole(rng, 3, 7)
    return {"m": m, "b": b, "K": 2**k, "k": k, "bits": b * m, "exact": b * m / k, "N": b * m // k}


@question("The share that can come back", points=4, minutes=6, objective=2, level=2)
def share_that_returns(rng):
    r"""An encoder has $2^{«s»}$ different states. Its sources are all strings of $«N»$ symbols out of $«K»$, equally
    likely.

    (a) What share of the sources can a decoder give back exactly at most? (b) By which factor does this share fall
    with each further symbol? (c) Why does the same bound not hold for sentences of a language?

    *Solution.* (a) A state can be decoded to one string only, so at most $2^{«s»}$ of $«K»^{«N»} = 2^{«bits»}$
    strings: a share of $2^{«s» - «bits»} = «share»$. (b) By $«K»$.

    (c) Sentences are not equally likely: the likely ones can get the states, so that the share of *sentences that
    occur* is much larger. In place of $N \log_2 K$ comes the entropy of the language.

    *Marks.* 1 point: one string for each state. 1 point: the share. 1 point: (b). 1 point: (c).
    """
    k, N = whole(rng, 1, 4), whole(rng, 5, 12)
    s = k * N - whole(rng, 2, 4)
    return {"s": s, "N": N, "K": 2**k, "bits": k * N, "share": Fraction(1, 2 ** (k * N - s))}


@question("The source backwards", points=4, minutes=6, objective=5, level=1)
def reversed_source(rng):
    r"""Source and target have $N = «N»$ words each, and word $i$ of the target translates word $i$ of the source. The
    encoder reads the source, then the decoder writes.

    (a) How many steps lie between source word $i$ and target word $i$, if the source is read in its order, and if
    it is read backwards? Give both for $i = 1$, $i = «i»$ and $i = N$. (b) What is the mean of these distances over
    all $i$ in both cases? (c) Why can reversing help all the same?

    *Solution.* (a) In order: $N = «N»$ for every $i$. Backwards: $2i - 1$, which is 1, $«di»$ and $«dN»$. (b) $«N»$
    in both cases, since $\tfrac1N \sum_i (2i - 1) = N$.

    (c) Some distances become very short. The first words are learned soon, and a translation that has begun well is
    easier to go on with; gradients over short distances are not lost.

    *Marks.* 2 points: (a), 1 for each order. 1 point: (b). 1 point: (c).
    """
    N = whole(rng, 8, 30)
    i = whole(rng, 3, N - 2)
    return {"N": N, "i": i, "di": 2 * i - 1, "dN": 2 * N - 1}


@question("What a vector knows, in bits", points=4, minutes=6, objective=3, level=3)
def information_bound(rng):
    r"""Sources are $N = «N»$ symbols out of $K = «K»$, independent and equally likely. A decoder that sees only
    $\mathbf c$ gives the right symbols a mean log-probability of $-«q»$ bits per symbol, on sources that it has not
    seen.

    (a) What is $\mathcal H(x)$, the entropy of a source? (b) How many bits about the source does $\mathbf c$ hold at least?
    (c) Why only “at least”? (d) What would a decoder that ignores $\mathbf c$ have in place of $-«q»$?

    *Solution.* (a) $N \log_2 K = «N» \cdot «k» = «H»$ bits. (b) $«H» - «N» \cdot «q» = «I»$ bits.

    (c) A better decoder could read more from the same vector: the cross-entropy of any decoder is at least
    $\mathcal H(x \mid \mathbf c)$. (d) $\log_2 K = «k»$, and the bound would be 0.

    *Marks.* 1 point: (a). 1 point: (b). 1 point: (c). 1 point: (d).
    """
    N, k = pick(rng, (10, 20, 30, 40)), whole(rng, 3, 6)
    q = Fraction(whole(rng, 1, 4 * k - 4), 4)
    return {"N": N, "K": 2**k, "k": k, "q": f"{float(q):g}", "cross": q, "H": N * k, "I": N * (k - q)}


@question("Three summaries", points=5, minutes=7, objective=1, level=1)
def three_summaries(rng):
    r"""Three encoder states are $\mathbf h_1 = «h1»$, $\mathbf h_2 = «h2»$, $\mathbf h_3 = «h3»$.

    (a) Give $\mathbf c$ as the last state, as the mean, and as the entrywise maximum. (b) Which of the three change
    if $\mathbf h_1$ and $\mathbf h_2$ are exchanged? (c) “Then the mean cannot know the order of the words.” Is
    that right for a recurrent encoder? (d) Which of the three has more numbers for a longer source? What follows?

    *Solution.* (a) $«last»$; $«mean»$; $«most»$. (b) None of them: $\mathbf h_3$ stays, and mean and maximum do not
    look at the order.

    (c) No: each state already depends on the words before it, so another order of *words* gives other states. It
    would be right for bare word vectors. (d) None: each has $m$ numbers, so a source can be too
    long for any of them.

    *Marks.* 2 points: (a). 1 point: (b). 1 point: (c). 1 point: (d).
    """
    (h,) = until(
        lambda: ([[pick(rng, (-4, -3, -2, -1, 1, 2, 3, 4, 5)) for _ in range(3)] for _ in range(3)],),
        lambda h: all(
            sum(one) and len(set(one)) == 3 for one in zip(*h, strict=True)
        ),  # no mean is 0, no state repeats
    )
    mean, most = [Fraction(sum(one), 3) for one in zip(*h, strict=True)], [max(one) for one in zip(*h, strict=True)]
    return {"h1": row(h[0]), "h2": row(h[1]), "h3": row(h[2]), "h": h, "last": row(h[2]), "mean": row(mean),
            "average": mean, "most": row(most), "maximum": most}  # fmt: skip


@question("What the last state keeps", points=4, minutes=6, objective=4, level=2)
def last_state_weights(rng):
    r"""A linear encoder with one unit computes $h_i = a\, h_{i-1} + x_i$, $h_0 = 0$, $a = «a»$, and $\mathbf c = h_N$
    with $N = «N»$.

    (a) Write $h_N$ as a weighted sum of the inputs. What are the weights of the first and of the last input? (b)
    The inputs are 0 or 1. Can all sources be told apart from $h_N$, if it is known exactly? (c) And if $h_N$ is
    known to within $«error»$ only? Which inputs are lost first, and why?

    *Solution.* (a) $\sum_i a^{N-i} x_i$: $«first»$ for the first, 1 for the last.

    (b) Yes: different sources give different sums, as with the digits of a number in base $«base»$. (c) Two sources
    that differ in $x_i$ first, counted from the end, are at least $«gap»$ of $a^{N-i}$ apart. Inputs whose weight
    is small against the error are lost, and these are the oldest; the newest remain.

    *Marks.* 1 point: the sum. 1 point: both weights. 1 point: (b). 1 point: (c), with the oldest as those lost.
    """
    base, N = pick(rng, (3, 4, 5, 10)), whole(rng, 4, 8)
    a = Fraction(1, base)
    # The first difference counts a^k, all later ones together less than a^k / (base - 1).
    return {"a": a, "N": N, "base": base, "first": a ** (N - 1), "error": pick(rng, ("0.01", "0.02", "0.005")),
            "gap": 1 - Fraction(1, base - 1)}  # fmt: skip


@question("Memory of a reader", points=3, minutes=5, objective=1, level=1)
def reader_memory(rng):
    r"""Encoder states have $m = «m»$ numbers of 4 bytes.

    (a) How many bytes does the decoder keep of a source of $«N»$ words, with the fixed vector, and with all states?
    (b) How does each grow with the length of the source? (c) State in a sentence what is bought with the
    difference.

    *Solution.* (a) $4 m = «fixed»$ bytes; $4 m N = «all»$ bytes. (b) Not at all, $O(1)$; in proportion, $O(N)$.

    (c) With all states the room grows with what has to be remembered, and the decoder can choose at each step what
    it reads; a fixed vector must have decided before.

    *Marks.* 1 point: (a). 1 point: (b). 1 point: (c).
    """
    m, N = pick(rng, (32, 64, 128, 256, 512)), pick(rng, (10, 20, 50, 100, 1000))
    return {"m": m, "N": N, "fixed": 4 * m, "all": 4 * m * N}


@question("More sources than states", "derivation", points=4, minutes=7, objective=2, level=3)
def pigeonholes():
    r"""An encoder maps each of $K^N$ sources to one of $M < K^N$ states, and a decoder maps each state to one string.
    Show that at most a share of $M / K^N$ of the sources comes back exactly. Does a decoder that draws its output
    at random do better in expectation, for sources that are equally likely?

    *Solution.* For each state the decoder writes one string. So at most $M$ different strings are ever written, and
    a source comes back only if it is one of them: at most $M$ of the $K^N$.

    No. If the decoder writes string $s$ in state $c$ with probability $q(s \mid c)$, the expected number of sources
    that come back is $\sum_s q(s \mid c(s)) \le \sum_s \sum_c q(s \mid c) = \sum_c 1 = M$, since for each state the
    probabilities add up to 1.

    *Marks.* 1 point: one string for each state. 1 point: the share. 2 points: the random decoder, 1 of them for
    bounding the sum.
    """


@question("Only the newest come back", "bug", points=4, minutes=6, objective=3, level=2)
def frozen_encoder_bug():
    r"""A model that should copy strings gets the last one or two symbols right and no others, whatever the state's size
    is. Its training step:

    ```python
    with torch.no_grad():
        context = encoder(source)
    logits = decoder(context, target[:, :-1])
    loss = F.cross_entropy(logits.flatten(0, 1), target[:, 1:].flatten())
    ```

    (a) What is wrong? (b) Why are the newest symbols right all the same? (c) Name two checks that would find it
    without reading the code.

    *Solution.* (a) Nothing is differentiated inside `no_grad`, so the encoder keeps its random weights; only the
    decoder learns.

    (b) Even a random recurrent network has the newest inputs in its state, and the decoder learns to read them; the
    older ones are mixed and scaled down. (c) The norm of the encoder's gradient (none at all); whether its weights
    change in a step; whether accuracy grows with $m$.

    *Marks.* 1 point: (a). 1 point: (b). 2 points: (c), 1 for each check.
    """


@question("A vector for a book", "words", points=4, minutes=6, objective=1, level=2)
def vector_for_a_book():
    r"""“Our encoder has 4,096 numbers of 32 bits. That is 131,072 bits, more than the text of a chapter takes when it
    is packed. So the fixed vector is no limit for us.” Explain in about three sentences which part of this is right
    and give two reasons why such a system may fail all the same.

    *Solution.* The count is right: no theorem forbids that so many bits hold a packed chapter. But the bound
    assumes that every bit of every number can be used and read again; a trained state is a smooth function of its
    input, and noise, rounding and the decoder leave a few usable bits of each number. And training would have to
    find such a code over very many steps, through which gradients fade, while sources of any length share the same
    room: twice the text does not get twice the numbers.

    *Marks.* 1 point: the count is right as an upper bound. 1 point: usable bits are fewer. 1 point: training has to
    find the code. 1 point: the room does not grow with the source.
    """


@question("Twenty times as long", "what if", points=4, minutes=6, objective=4, level=3)
def much_longer():
    r"""A translator with a fixed vector was trained on sentences of up to 50 words. It is given a text of 1,000 words,
    as one source. Describe what comes out, and why, for at least two different causes. What would change, and what
    would not, if it had been trained on texts of 1,000 words?

    *Solution.* The output fits the last sentences at best, leaves out most of the text, or is a fluent text about
    something else, and it ends much too early. One cause is room: the old words are written over. Another is
    training: such a state was never met, and an output of more than 50 words never seen, so stopping after about 50
    is what was learned. Training on long texts repairs the second cause, not the first: the number of bits of the
    vector stays.

    *Marks.* 1 point: what comes out. 1 point: the room as a cause. 1 point: lengths never seen as a cause. 1 point:
    training repairs the second only.
    """
