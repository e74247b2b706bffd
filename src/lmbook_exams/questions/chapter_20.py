"""Questions to chapter 20, The block of today."""

from fractions import Fraction

from lmbook_exams.question import pick, question, row, some, until, whole


@question("A norm by hand", points=4, minutes=5, objective=1, level=1)
def rms_by_hand(rng):
    r"""Let $\mathbf x = «x»$.

    (a) Give the mean of the squares of its entries, and RMSNorm of $\mathbf x$ with gains of 1 (leave the root).
    (b) Which vector does LayerNorm divide by its standard deviation instead? (c) Every entry is multiplied by $«c»$.
    What happens to both outputs? (d) $«c»$ is added to every entry. And now?

    *Solution.* (a) $«square»$; each entry is divided by $\sqrt{«square»}$. (b) The mean is $«mean»$, so it is
    $«centred»$. (c) Nothing: the factor cancels in both. (d) LayerNorm stays, since the mean takes the summand out;
    RMSNorm changes.

    *Marks.* 1 point: (a). 1 point: (b). 1 point: (c). 1 point: (d), both norms.
    """

    def draw():
        x = some(rng, (-5, -3, -2, -1, 1, 2, 3, 4, 6, 7), 4)
        return x, Fraction(sum(x), 4)

    x, mean = until(draw, lambda x, mean: mean and mean not in x)
    return {"c": whole(rng, 2, 9), "x": row(x), "entries": x, "mean": mean, "centred": row([a - mean for a in x]),
            "square": Fraction(sum(a * a for a in x), 4)}  # fmt: skip


@question("As wide as it may be", points=4, minutes=6, objective=2, level=2)
def equal_width(rng):
    r"""GPT-2's block of width $d = «d»$ has $12 d^2$ numbers in its matrices. A new block has «heads» heads of queries,
    «kept» of keys and values, and a SwiGLU network.

    (a) How many numbers do the four matrices of attention hold? (b) How wide may the network be, if the matrices of the
    new block hold as many numbers as those of GPT-2's? (c) What would the width be with two matrices and gelu in place
    of SwiGLU? (d) What share of GPT-2's cache does the new block keep, with heads as many and as wide?

    *Solution.* (a) Queries and output have $d^2$ each, keys and values $\tfrac{«kept»}{«heads»} d^2$ each, together
    $«attention»$. (b) $(12 d^2 - «attention») / (3 d) = «three»$. (c) $(12 d^2 - «attention») / (2 d) = «two»$. (d)
    $«share»$.

    *Marks.* 1 point: (a). 1 point: (b). 1 point: (c). 1 point: (d).
    """
    heads, kept = pick(rng, ((8, 2), (8, 4), (12, 3), (12, 6), (16, 4)))
    d = heads * pick(rng, (12, 24, 48))
    attention = 2 * d * d + 2 * d * d * kept // heads
    return {"d": d, "heads": heads, "kept": kept, "attention": attention, "three": (12 * d * d - attention) // (3 * d),
            "two": (12 * d * d - attention) // (2 * d), "share": Fraction(kept, heads)}  # fmt: skip


@question("What a long text costs", points=5, minutes=7, objective=2, level=2)
def long_cache(rng):
    r"""A model has $L = «L»$ layers with $n = «n»$ heads of keys and values of width $d_k = «dk»$, and $«b»$ bytes for a number. It has read
    $T = «T»$ tokens.

    (a) How many bytes does its cache take? (b) And if $«short»$ of the layers have a window of $«s»$ tokens (count $s$
    keys for each)? (c) How many bytes does a recurrence of $«m»$ units in every layer keep, and after twice as many
    tokens? (d) In which of (a) to (c) can the model still copy any text that it has read? Give a reason.

    *Solution.* (a) $2 L n d_k T b = «full»$. (b) $«mixed»$. (c) $L m b = «state»$, and as many after any number of
    tokens. (d) In (a); also in (b), as long as one layer looks at everything. In (c) there are more texts than states
    once the text is long enough.

    *Marks.* 1 point: (a). 1 point: (b). 1 point: (c). 2 points: (d), 1 of them for the count of states.
    """
    L, n, dk, b = pick(rng, (12, 24, 32)), pick(rng, (2, 4, 8)), pick(rng, (64, 128)), 2
    T, s, short = pick(rng, (10_000, 50_000, 100_000)), pick(rng, (128, 1024)), L // pick(rng, (2, 4))
    m, each = pick(rng, (1024, 2048, 4096)), 2 * n * dk * b
    return {"L": L, "n": n, "dk": dk, "b": b, "T": T, "s": s, "short": short, "m": m, "full": L * each * T,
            "mixed": each * ((L - short) * T + short * s), "state": L * m * b}  # fmt: skip


@question("A scan in rounds", points=5, minutes=8, objective=4, level=2)
def scan_rounds(rng):
    r"""A state follows $h_t = a\, h_{t-1} + b_t$ with $h_0 = 0$, $a = «a»$ and $b = «b»$.

    (a) Compute $h_1, \dots, h_4$ step by step. (b) Compute the summands after the first round of a parallel scan, where
    each position stands for its last two steps. What are the factors then? (c) Compute them after the second round. (d)
    How many rounds are needed for $«T»$ steps, and why would $h_t = \tanh(a h_{t-1} + b_t)$ not allow it?

    *Solution.* (a) $«h»$. (b) $«once»$; the first factor is $a$, the others $a^2 = «aa»$. (c) $«h»$, the states. (d)
    $\lceil \log_2 «T» \rceil = «rounds»$. Two steps with a tanh in a row are not a step of the same form, so that
    nothing can be combined before the state is known.

    *Marks.* 1 point: (a). 1 point: (b). 1 point: (c). 2 points: (d), 1 for the rounds and 1 for the tanh.
    """
    T = pick(rng, (6, 12, 20, 100, 1000))

    def draw():
        a = pick(rng, (Fraction(1, 2), 2, -1, Fraction(-1, 2)))
        b = [4 * n for n in some(rng, (-2, -1, 1, 2, 3, 4), 4)]
        h = [b[0]]
        for one in b[1:]:
            h.append(a * h[-1] + one)
        return a, b, h, [b[0], *(a * b[t - 1] + b[t] for t in range(1, 4))]

    a, b, h, once = until(draw, lambda a, b, h, once: all(h) and all(once) and len(set(h)) == 4 and once[2:] != h[2:])
    return {"a": a, "b": row(b), "summands": b, "T": T, "aa": a * a, "h": row(h), "states": h, "once": row(once),
            "pairs": once, "rounds": (T - 1).bit_length()}  # fmt: skip


@question("How many symbols fit?", points=4, minutes=6, objective=5, level=2)
def symbols_fit(rng):
    r"""A recurrence keeps $m = «m»$ numbers of $b = «b»$ bits. It is to copy a text of $N$ symbols from an alphabet of
    $K = «K»$.

    (a) How many different states are there at most, and how many texts? (b) From which $N$ on must it fail on some
    texts? (c) At $N$ twice as large as the largest that fits, what share of all texts comes back at most? (d) In an
    experiment it fails much earlier. Name a cause that is not the size of the state, and a test for it.

    *Solution.* (a) $2^{«bits»}$ states, $«K»^N$ texts. (b) All fit up to $N = «bits» / «each» = «most»$; from
    $«fails»$ on some do not. (c) $2^{«bits»} / «K»^{«twice»} = 2^{-«bits»}$. (d) It has not learned to use its state:
    train longer, or give it a larger state. If more numbers change nothing, the size was not what limited it.

    *Marks.* 1 point: (a). 1 point: (b). 1 point: (c). 1 point: (d), cause with test.
    """
    m, b = pick(rng, (16, 32, 64, 128)), pick(rng, (8, 16, 32))
    each = pick(rng, (2, 4, 8))
    most = m * b // each
    return {"m": m, "b": b, "each": each, "K": 2**each, "bits": m * b, "most": most, "fails": most + 1,
            "twice": 2 * most}  # fmt: skip


@question("Bytes of attention", points=4, minutes=6, objective=6, level=2)
def tiles(rng):
    r"""One head has $T = «T»$ queries and keys of width $d_k = «dk»$.

    (a) The plain formula writes and reads the table of scores, and then that of weights. How many numbers are moved,
    with $Q$, $K$, $V$ and the output once each? (b) In tiles of $r = «r»$ queries, keys and values are read once for
    each tile, queries read and outputs written once, and no score is written. How many numbers? (c) By which
    factor are these fewer? (d) What happens to the multiplications in the products and to the output?

    *Solution.* (a) $4 T d_k + 4 T^2 = «plain»$. (b) $2 T d_k + 2 T d_k \cdot «many» = «tiled»$. (c) By a factor
    of $«times:.1f»$. (d) Both are the same, the output up to rounding.

    *Marks.* 1 point: (a). 1 point: (b). 1 point: (c). 1 point: (d).
    """
    dk, r = pick(rng, (32, 64, 128)), pick(rng, (64, 128, 256))
    T = r * pick(rng, (4, 8, 16, 32))
    plain, tiled = 4 * T * dk + 4 * T * T, 2 * T * dk * (1 + T // r)
    return {"T": T, "dk": dk, "r": r, "many": T // r, "plain": plain, "tiled": tiled, "times": plain / tiled}


@question("No score above the root", "derivation", points=4, minutes=6, objective=1, level=2)
def bounded_scores():
    r"""Queries and keys of width $d_k$ pass through RMSNorm with gains of 1 before their product is divided by
    $\sqrt{d_k}$. Show that no score is larger than $\sqrt{d_k}$ in absolute value. When is the bound reached? How large
    can the weight of one key among $N$ become at most, and what can training do about it?

    *Solution.* After the norm the mean square is 1, so $\lVert \mathbf q \rVert^2 = d_k$, and the same for
    $\mathbf k$. By Cauchy and Schwarz
    $|\mathbf q^\top \mathbf k| \le \lVert \mathbf q \rVert \lVert \mathbf k \rVert = d_k$; division by $\sqrt{d_k}$
    gives the bound. It is reached where $\mathbf k = \pm \mathbf q$. The largest weight has one score of $\sqrt{d_k}$
    and the others at $-\sqrt{d_k}$: $1 / (1 + (N - 1) e^{-2 \sqrt{d_k}})$. Larger gains raise the bound, so training
    can make a head as sharp as it needs.

    *Marks.* 1 point: the length after the norm. 1 point: the bound. 1 point: where it is reached. 1 point: the weight
    or the gains.
    """


@question("One key short", "bug", points=4, minutes=6, objective=1, level=3)
def window_bug():
    r"""A layer has a window of `span` keys, the query's own among them. In one pass the mask is right. For writing, a
    colleague keeps old keys so:

    ```python
    K = torch.cat([cache, new], dim=1)        # all keys that are there, and one new
    out = attend(query, K)
    cache = K[:, -span:]                      # for the next token
    ```

    (a) How many keys does a query see after many tokens? (b) Give the last line as it should be. (c) The mistake was
    not noticed in a test with texts of `span` tokens. Why not, and which test notices it?

    *Solution.* (a) `span` old keys and its own, `span + 1`: one too many. (b) `cache = K[:, -(span - 1):]`, for a span
    of at least 2. (c) With `span` tokens or fewer no key ever has to be left out. Compare the outputs of one pass with
    those of token by token, on a text longer than the span.

    *Marks.* 1 point: (a). 1 point: (b). 2 points: (c), 1 for the reason and 1 for the test.
    """


@question("Better by three hundredths", "words", points=4, minutes=6, objective=3, level=2)
def better_by_so_much():
    r"""A report says: “With SwiGLU at the old hidden width $4d$ our model's loss is lower by 0.03 nats than with gelu; we
    used the same rate and the same seed for both." Name three reasons why this does not show that SwiGLU is better, and
    give for each what should be done. Which differences between the runs would you report?

    *Solution.* Size: three matrices of $d \times 4d$ are half as many numbers again, so a wider gelu might do as well;
    take $\tfrac83 d$. Rate: one rate may suit one of them better; give both the same few rates and take each one's
    best. Seeds: two runs of one model may differ by as much; run at least three seeds each. Report the
    differences between pairs of runs with the same seed and the same batches, each of them and their mean.

    *Marks.* 1 point: size and cost with the remedy. 1 point: the rate with the remedy. 1 point: seeds with the remedy.
    1 point: differences of pairs.
    """


@question("Which part for which trouble?", "what if", points=4, minutes=6, objective=1, level=2)
def which_part():
    r"""Which change of the block would you try first in each of these cases, and why?

    (a) The cache of a server leaves room for three texts only. (b) Training breaks down now and then, with scores in
    the hundreds. (c) The table of scores of a long text does not fit into memory during training. (d) The state must
    not grow at all, and nobody needs exact copies.

    *Solution.* (a) Fewer heads of keys, or a window in some layers: the cache shrinks in proportion. (b) A norm of
    queries and keys, which bounds the scores. (c) Attention in tiles: the same output, and the table is never stored.
    (d) A linear recurrence in most layers.

    *Marks.* 1 point: (a). 1 point: (b). 1 point: (c). 1 point: (d), each with its reason.
    """


@question("Shapes of shared heads", "shapes", points=5, minutes=6, objective=2, level=1)
def shared_heads(rng):
    r"""A block of today has width $d = «d»$, $n_h = «nh»$ heads of queries and $n_{\text{kv}} = «nkv»$ heads of keys and values,
    all $d_k = «dk»$ wide. It reads $B = «B»$ texts of $T = «T»$ tokens.

    Give, with the batch first, the shapes of: the queries as $W_q$ gives them; the keys as $W_k$ gives them; both cut into
    heads; the scores of all heads; what one layer has in its cache at the end. How many heads of queries share one
    head of keys, and which of these shapes change if $n_{\text{kv}}$ is doubled?

    *Solution.* $(«B», «T», «d»)$; $(«B», «T», «k»)$; $(«B», «nh», «T», «dk»)$ and $(«B», «nkv», «T», «dk»)$; scores
    $(«B», «nh», «T», «T»)$, as each head of queries has its own; in the cache keys and values, two times
    $(«B», «nkv», «T», «dk»)$. $«nh» / «nkv» = «group»$ share one. Those of keys, values and cache change, the others do not.

    *Marks.* 1 point: queries and keys. 1 point: both cut into heads. 1 point: the scores, with $n_h$. 1 point: the cache. 1 point:
    how many share, and what changes.
    """
    nkv, group, dk = pick(rng, (2, 3)), pick(rng, (4, 6)), pick(rng, (16, 32))  # twice as many heads divide, too
    nh = nkv * group
    B, T = pick(rng, (5, 7, 10)), whole(rng, 65, 90)
    return {"B": B, "T": T, "nh": nh, "nkv": nkv, "dk": dk, "d": nh * dk, "k": nkv * dk, "group": group}
