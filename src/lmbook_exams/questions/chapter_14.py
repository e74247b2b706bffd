"""Questions to chapter 14, Order."""

import math
from fractions import Fraction

from lmbook_exams.question import dot, matrix, pick, question, row, some, until, whole

# Values at multiples of 30 degrees, for clock hands that stop at whole hours.
SINES = {0: "0", 1: r"\tfrac12", 2: r"\tfrac{\sqrt3}{2}", 3: "1", 4: r"\tfrac{\sqrt3}{2}", 5: r"\tfrac12", 6: "0"}


def sine(hours: int) -> str:
    """sin of so many twelfths of a turn, as TeX."""
    hours %= 12
    return SINES[hours] if hours <= 6 else "-" + SINES[hours - 6] if SINES[hours - 6] != "0" else "0"


def cosine(hours: int) -> str:
    return sine(hours + 3)


@question("Two clock hands", points=5, minutes=8, objective=2, level=2)
def two_hands(rng):
    r"""A code of position has two pairs, with the speeds $\omega_0 = \tfrac{\pi}{«slow0»}$ and
    $\omega_1 = \tfrac{\pi}{6}$ radians per position:
    $\mathbf p_t = (\sin t\omega_0, \cos t\omega_0, \sin t\omega_1, \cos t\omega_1)$.

    (a) Give $\mathbf p_{«t»}$ and $\mathbf p_{«i»}$. (b) Give $\mathbf p_{«t»}^\top \mathbf p_{«i»}$, from a
    formula that needs only $t - i$. (c) After how many positions does the code repeat?

    *Solution.* (a) $\mathbf p_{«t»} = «pt»$, $\mathbf p_{«i»} = «pi»$. (b)
    $\cos\big(«k» \cdot \tfrac{\pi}{«slow0»}\big) + \cos\big(«k» \cdot \tfrac{\pi}{6}\big) = «c0» + «c1» \approx «g:.3f»$.

    (c) The hands are back after $«period0»$ and after 12 positions; both together after 12.

    *Marks.* 2 points: (a). 2 points: (b), 1 of them for the formula. 1 point: (c).
    """
    slow = pick(rng, (2, 3))  # pi / 2 is 3 twelfths of a turn in each position, pi / 3 is 2
    hours = 6 // slow

    def fits(k: int) -> bool:  # neither cosine is 0, and they do not cancel
        a, b = math.cos(k * math.pi / slow), math.cos(k * math.pi / 6)
        return min(abs(a), abs(b), abs(a + b)) > 0.1

    t, i = until(lambda: (whole(rng, 2, 9), whole(rng, 1, 7)), lambda t, i: t > i and fits(t - i))
    k = t - i

    def code(at: int) -> list[str]:
        return [sine(hours * at), cosine(hours * at), sine(at), cosine(at)]

    return {"slow0": slow, "t": t, "i": i, "k": k, "pt": row(code(t)), "pi": row(code(i)), "c0": cosine(hours * k),
            "c1": cosine(k), "g": math.cos(k * math.pi / slow) + math.cos(k * math.pi / 6), "period0": 2 * slow}  # fmt: skip


@question("Speeds and wave lengths", points=4, minutes=5, objective=2, level=1)
def speeds(rng):
    r"""A sinusoidal code has width $D = «D»$ and base $C = «C»$.

    (a) Give all speeds $\omega_j$. (b) How many positions does the slowest hand take for one turn? Leave $\pi$ in
    the answer. (c) For a text of «length» positions, about what part of a turn does the slowest hand make? What is
    it good for? (d) How many parameters does the code have?

    *Solution.* (a) $\omega_j = C^{-2j/D}$: $«omega»$. (b) $2\pi / \omega_{«last»} = «period» \pi$. (c)
    $«length» / («period» \pi) \approx «part:.2g»$ of a turn: it tells far positions apart that look alike on the
    fast hands. (d) None.

    *Marks.* 1 point: (a). 1 point: (b). 1 point: (c). 1 point: (d).
    """
    pairs, base = whole(rng, 2, 4), pick(rng, (2, 3, 10))
    D, C = 2 * pairs, base**pairs
    length = pick(rng, (10, 20, 50, 100))
    omega = [Fraction(1, base**j) for j in range(pairs)]
    period = 2 * base ** (pairs - 1)
    return {"D": D, "C": C, "omega": row(omega), "speeds": omega, "last": pairs - 1, "period": period, "length": length,
            "part": length / (period * math.pi)}  # fmt: skip


@question("Lowest bit first", points=4, minutes=5, objective=2, level=1)
def binary_codes(rng):
    r"""Positions get their binary code with the lowest bit first, $p_{tj} = \lfloor t / 2^j \rfloor \bmod 2$.

    (a) Give the codes of $t = «a»$ and $t = «b»$ with $«bits»$ bits. (b) How many positions have different codes
    with so many bits? (c) In how many bits do the codes of $«c»$ and $«d»$ differ, two neighbours? What does that
    mean for a model that compares codes by their inner product? (d) Which bits of the code behave like which hands
    of the sinusoidal one?

    *Solution.* (a) $«ca»$ and $«cb»$. (b) $2^{«bits»} = «many»$. (c) In $«differ»$: neighbours may be far apart, so
    nearness in the text is not nearness of codes. (d) The lowest bit changes with every position, like the fastest
    hand; each next one half as fast.

    *Marks.* 1 point: (a). 1 point: (b). 1 point: (c). 1 point: (d).
    """
    bits = whole(rng, 4, 5)
    a, b = some(rng, range(5, 2**bits), 2)
    c = pick(rng, [n for n in (3, 7, 11, 15) if n + 1 < 2**bits])

    def code(t: int) -> list[int]:
        return [t >> j & 1 for j in range(bits)]

    return {"a": a, "b": b, "bits": bits, "ca": row(code(a)), "cb": row(code(b)), "codes": (code(a), code(b)),
            "many": 2**bits, "c": c, "d": c + 1, "differ": (c ^ (c + 1)).bit_count()}  # fmt: skip


@question("Turned queries and keys", points=5, minutes=7, objective=3, level=2)
def rotary_score(rng):
    r"""With one pair and $\omega = \tfrac{\pi}{2}$, a rotary code turns the query at position $t$ and the key at
    position $i$ by the angles $t\omega$ and $i\omega$; a quarter turn makes $(x, y)$ to $(-y, x)$. Let
    $\mathbf q = «q»$ at $t = «t»$ and $\mathbf k = «k»$ at $i = «i»$.

    (a) Give both turned vectors and their inner product. (b) Both stand 3 positions later. What is the
    score now? (c) Compute the score from $\mathbf q$ as it is and a key turned by the angle $(i - t)\,\omega$ alone. (d) How
    many parameters does the code add, and which of queries, keys and values does it turn?

    *Solution.* (a) $«qt»$ and $«ki»$, with the product $«score»$. (b) The same: only the difference of the angles
    counts. (c) $\mathbf k$ turned by $«steps»$ quarter turns is $«kd»$, and $\mathbf q^\top$ times this is
    $«score»$.

    (d) None; queries and keys, in each layer, not the values.

    *Marks.* 2 points: (a). 1 point: (b). 1 point: (c). 1 point: (d).
    """

    def turn(v: list[int], quarters: int) -> list[int]:
        for _ in range(quarters % 4):
            v = [-v[1], v[0]]
        return v

    signed = (-4, -3, -2, -1, 1, 2, 3, 4)
    q, k, t, i = until(
        lambda: (
            [whole(rng, 1, 5), pick(rng, signed)],
            [pick(rng, signed), whole(rng, 1, 5)],
            *some(rng, range(1, 10), 2),
        ),
        lambda q, k, t, i: t > i and t % 4 and i % 4 and (t - i) % 4 and dot(turn(q, t), turn(k, i)),
    )
    qt, ki, kd = turn(q, t), turn(k, i), turn(k, i - t)
    return {"q": row(q), "k": row(k), "query": q, "key": k, "t": t, "i": i, "qt": row(qt), "ki": row(ki),
            "score": qt[0] * ki[0] + qt[1] * ki[1], "steps": i - t, "kd": row(kd)}  # fmt: skip


@question("Farther is weaker", points=4, minutes=6, objective=5, level=1)
def alibi(rng):
    r"""ALiBi takes $m_h (t - i)$ from the score of key $i \le t$, with $m_h = 2^{-8h/n}$ for head $h$ of $n = «n»$.

    (a) Give $m_h$ of head $«h»$, and what it takes from a key $«far»$ positions back. (b) By which factor does that
    change the ratio of its weight to that of the query's own position, if both scores were equal before? (c) Which
    heads look far? (d) What happens at positions beyond the trained length?

    *Solution.* (a) $m_{«h»} = 2^{-«exponent»} = «m»$, so $«loss»$. (b) By $e^{-«loss»} \approx «factor:.3g»$. (c)
    Those with large $h$: their slope is small. (d) The formula goes on unchanged; keys far back just lose more.

    *Marks.* 1 point: (a). 1 point: (b). 1 point: (c). 1 point: (d).
    """
    n = pick(rng, (4, 8))
    h = whole(rng, 1, 3) if n == 4 else whole(rng, 2, 6)
    m, far = Fraction(1, 2 ** (8 * h // n)), pick(rng, (2, 4, 8, 16, 32))
    return {"n": n, "h": h, "far": far, "exponent": 8 * h // n, "m": m, "loss": m * far, "factor": math.exp(-m * far)}


@question("One map for every position", points=4, minutes=6, objective=3, level=2)
def shift_map(rng):
    r"""One pair of a sinusoidal code has $\omega = \tfrac{\pi}{«slow»}$.

    (a) Write down the matrix $R_{«k»}$ with $\mathbf p_{t+«k»} = R_{«k»}\, \mathbf p_t$ for all $t$, where
    $\mathbf p_t = (\sin t\omega, \cos t\omega)^\top$. (b) Check it at $t = 0$. (c) Why is it useful that the matrix
    does not depend on $t$?

    *Solution.* (a)
    $R_k = \begin{pmatrix} \cos k\omega & \sin k\omega \\ -\sin k\omega & \cos k\omega \end{pmatrix} = «R»$. (b)
    $\mathbf p_0 = (0, 1)^\top$, and $R_{«k»} \mathbf p_0$ is the second column,
    $(\sin «k»\omega, \cos «k»\omega)^\top = \mathbf p_{«k»}$.

    (c) A linear layer can learn “the position $«k»$ further on” once, for all positions.

    *Marks.* 2 points: (a), 1 of them for the signs. 1 point: (b). 1 point: (c).
    """
    slow, k = pick(rng, (3, 6)), pick(rng, (1, 2, 4, 5))  # no quarter turn, whose matrix has zeros
    hours = 6 // slow * k
    s, c = sine(hours), cosine(hours)
    minus = s.removeprefix("-") if s.startswith("-") else "-" + s
    return {"slow": slow, "k": k, "R": matrix([[c, s], [minus, c]])}


@question("Only the offset counts", "derivation", points=5, minutes=8, objective=3, level=3)
def offset_alone():
    r"""Show that the inner product of two sinusoidal codes, $\mathbf p_t^\top \mathbf p_i$, depends on $t - i$ only.
    How long is $\mathbf p_t$, for which offset is the product largest, and is it the same for $i$ as far before $t$
    as behind it? What follows for a score that sees nothing but codes?

    *Solution.* Each pair gives
    $\sin t\omega_j \sin i\omega_j + \cos t\omega_j \cos i\omega_j = \cos\big((t - i)\, \omega_j\big)$, so
    $\mathbf p_t^\top \mathbf p_i = \sum_j \cos\big((t - i)\, \omega_j\big) = g(t - i)$.

    With $i = t$: $\lVert \mathbf p_t \rVert^2 = D / 2$. $g$ is largest at 0, since no cosine exceeds 1.
    $g(-k) = g(k)$: the bare product cannot tell “before” from “behind”. A model needs a matrix in between
    ($W_q W_k^\top$), which can turn one of the two.

    *Marks.* 2 points: the addition theorem, and the sum. 1 point: the length. 1 point: the maximum and the
    symmetry. 1 point: what follows.
    """


@question("The same code for the whole sentence", "bug", points=4, minutes=6, objective=4, level=2)
def batch_axis_bug():
    r"""`x` has shape (B, T, d), `sinusoidal(n, d)` gives (n, d). A model with the lines below never learns any order,
    and a sentence gets other outputs when it is elsewhere in the batch.

    ```python
    B, T, d = x.shape
    code = sinusoidal(B, d)
    x = x + code.unsqueeze(1)
    ```

    (a) What is wrong? (b) Explain both symptoms. (c) Give the lines as they should be, and a check of one line.

    *Solution.* (a) The code runs along the batch: sentence $b$ gets $\mathbf p_b$ at all its positions. (b) All
    positions of a sentence have the same code, so attention cannot tell them apart; and the code depends on the
    row, so the same sentence in another row has another input.

    (c) `x = x + sinusoidal(T, d)`, which is the same for all rows. Give a batch of equal sentences: the rows of the
    output must be equal, and its columns different.

    *Marks.* 1 point: (a). 2 points: (b), 1 for each symptom. 1 point: (c), both parts.
    """


@question("Added or put beside?", "words", points=4, minutes=6, objective=4, level=2)
def add_or_concatenate():
    r"""A code of position can be added to a word's vector or put beside it. Explain in about three sentences what the
    two have in common (think of the first linear layer behind), what each costs, and why adding works although the
    sum mixes both.

    *Solution.* A linear layer on $[\mathbf e; \mathbf p]$ computes $W_e \mathbf e + W_p \mathbf p$; on the sum it
    computes $W\mathbf e + W\mathbf p$, which is the same with $W_e = W_p$. Putting beside makes the input and all
    following weights wider; adding costs nothing, but words and positions share the dimensions. In a wide space the
    words' vectors and the codes lie in nearly different directions after training, so that layers behind can still
    tell them apart.

    *Marks.* 1 point: the sum of two products. 1 point: one matrix or two. 1 point: the width. 1 point: why adding
    works.
    """


@question("A model without positions", "what if", points=4, minutes=6, objective=6, level=3)
def no_positions(rng):
    r"""A causal model has no code of position. Token 1 is `<sos>` and has value 1 in one dimension; all others have 0
    there.

    (a) A query gives all keys it may see the same score. What does it read in this dimension at $t = «t»$, and at
    general $t$? (b) So what can a causal model without positions know? (c) Would the same work in an encoder
    without a mask? (d) Exchange two earlier words: does the output of one layer at a later position change?

    *Solution.* (a) The mean over $t$ keys: $«reads»$, in general $\tfrac1t$. (b) How many tokens stand
    before it: its own position. (c) No: there every position sees all $N$ keys and reads $\tfrac1N$.

    (d) No, as long as the query is the same: the weighted mean does not depend on the order of the pairs. (In a
    second layer it can, because the states of the exchanged words have changed.)

    *Marks.* 1 point: (a). 1 point: (b). 1 point: (c). 1 point: (d).
    """
    t = whole(rng, 3, 40)
    return {"t": t, "reads": Fraction(1, t)}
