"""Questions to chapter 15, Attention is all you need."""

from fractions import Fraction

from lmbook_exams.question import pick, question, row, some, until, whole

# Deviations from a mean whose mean square is a square.
SPREADS = ((5, -1, -1, -3), (-5, 1, 1, 3), (2, 2, -2, -2), (3, 3, -3, -3))


@question("LayerNorm by hand", points=5, minutes=6, objective=1, level=1)
def layer_norm(rng):
    r"""LayerNorm (with $\epsilon = 0$) is applied to $\mathbf x = «x»$, with the gain $\mathbf g = «g»$ and the bias
    $\mathbf b = «b»$.

    (a) Give $\mu$ and $\sigma$. (b) Give $\operatorname{LN}(\mathbf x)$. (c) What is
    $\operatorname{LN}(3 \mathbf x + 2)$? (d) Does the result for this position depend on the other positions or on
    the rest of the batch?

    *Solution.* (a) $\mu = «mean»$, $\sigma = «sd»$. (b) Normalised it is $«hat»$; with gain and bias $«out»$. (c)
    The same: mean and scale are taken out. (d) No, it looks at the numbers of one position only (BatchNorm would
    depend on the batch).

    *Marks.* 2 points: (a), 1 for each. 1 point: (b). 1 point: (c). 1 point: (d).
    """
    spread, mean = some(rng, pick(rng, SPREADS), 4), pick(rng, (-4, 4, 6, 7, 8, 9))
    sd = {16: 2, 36: 3}[sum(one * one for one in spread)]
    hat, x = [Fraction(one, sd) for one in spread], [mean + one for one in spread]

    def draw():
        g, b = some(rng, (1, 2, 3, -1), 4), some(rng, (-2, -1, 1, 2), 4)
        return g, b, [one * a + c for one, a, c in zip(hat, g, b, strict=True)]

    g, b, out = until(draw, lambda g, b, out: all(out))
    return {"x": row(x), "input": x, "g": row(g), "b": row(b), "gain": g, "bias": b, "mean": mean, "sd": sd,
            "hat": row(hat), "out": row(out), "result": out}  # fmt: skip


@question("Parameters of a layer", points=5, minutes=7, objective=5, level=1)
def layer_parameters(rng):
    r"""An encoder layer has width $d = «d»$ and $d_{\text{ff}} = «ff»$. All linear maps have biases, and each of its
    two norms has gain and bias.

    (a) How many parameters does its attention have? (b) Its feed-forward part? (c) The layer? (d) How many more does a
    decoder layer of the same sizes have?

    *Solution.* (a) $4 (d^2 + d) = «attention»$. (b) $2 d\, d_{\text{ff}} + d_{\text{ff}} + d = «forward»$. (c) With
    $2 \cdot 2d = «norms»$ of the norms: $«layer»$. (d) A second attention and a third norm:
    $4 (d^2 + d) + 2d = «more»$.

    *Marks.* 1 point: (a). 1 point: (b). 2 points: (c), 1 of them for the norms. 1 point: (d).
    """
    d = pick(rng, (16, 32, 64, 100, 128))
    ff = d * pick(rng, (2, 3, 4))
    attention, forward, norms = 4 * (d * d + d), 2 * d * ff + ff + d, 4 * d
    return {"d": d, "ff": ff, "attention": attention, "forward": forward, "norms": norms,
            "layer": attention + forward + norms, "more": attention + 2 * d}  # fmt: skip


@question("FLOPs of a layer", points=4, minutes=6, objective=5, level=2)
def layer_flops(rng):
    r"""An encoder layer of width $d = «d»$ with $d_{\text{ff}} = «ff»$ reads $N = «N»$ positions. A multiplication with
    its addition counts as 2 FLOPs; biases, norms and the softmax are left out.

    (a) How many FLOPs do the four projections, the scores with the weighted sums, and the feed-forward part take?
    (b) What share is the part that grows with $N^2$? (c) How many FLOPs does a training step take, about, and why?

    *Solution.* (a) $8 N d^2 = «projections»$; $4 N^2 d = «scores»$; $4 N d\, d_{\text{ff}} = «forward»$. (b)
    $«scores» / «all» = «share:.3f»$.

    (c) Three times as many, $«training»$: on the way back each product needs two more of the same size, one for the
    gradient of its input and one for that of its weights.

    *Marks.* 2 points: (a), 1 of them for the factor 2. 1 point: (b). 1 point: (c).
    """
    d, N = pick(rng, (32, 64, 128)), pick(rng, (10, 20, 50, 100, 200))
    ff = d * pick(rng, (2, 4))
    projections, scores, forward = 8 * N * d * d, 4 * N * N * d, 4 * N * d * ff
    every = projections + scores + forward
    return {"d": d, "ff": ff, "N": N, "projections": projections, "scores": scores, "forward": forward, "all": every,
            "share": scores / every, "training": 3 * every}  # fmt: skip


@question("What must wait", points=5, minutes=7, objective=4, level=2)
def what_must_wait(rng):
    r"""A source of $N = «N»$ tokens is translated into $T = «T»$ tokens. Compare an encoder-decoder of one recurrent
    layer each with a Transformer of $L = «L»$ encoder and $«L»$ decoder layers. Count a recurrent step, or a layer,
    as one step; count only steps that must wait for one another.

    (a) How many steps does each take in training, with teacher forcing? (b) How many while writing, if the Transformer
    keeps its keys and values? (c) Does teacher forcing make the recurrent network parallel? Why (not)?

    *Solution.* (a) Recurrent: $N + T = «both»$, one state after the other. Transformer: $2L = «layers»$, all
    positions at once. (b) Recurrent: again $«both»$. Transformer: $L$ for the source, then $L$ for each written
    token: $«L» + «T» \cdot «L» = «writing»$.

    (c) No: it gives the inputs of all steps, but the state of each step still needs the state before.

    *Marks.* 2 points: (a), 1 for each. 2 points: (b), 1 for each. 1 point: (c).
    """
    N, T, L = pick(rng, (11, 50, 100, 200)), pick(rng, (11, 40, 80, 100)), whole(rng, 2, 6)
    return {"N": N, "T": T, "L": L, "both": N + T, "layers": 2 * L, "writing": L + T * L}


@question("Smoothed labels", points=4, minutes=6, objective=1, level=2)
def smoothed_labels(rng):
    r"""The vocabulary has $|V| = «V»$ types. The target is smoothed: $1 - \epsilon$ of it is one-hot and $\epsilon = «eps»$ is
    spread evenly over all types. The model gives the right type the probability $«p»$ and shares the rest evenly.

    (a) Give the smoothed target $\mathbf q$ for the right type and for another. (b) Give the gradient of the loss
    with respect to both kinds of logits. (c) For which probability of the right type is this gradient zero? What
    does that do to a very sure model? (d) May a perplexity be computed from the smoothed loss?

    *Solution.* (a) $(1 - \epsilon) + \epsilon / |V| = «qr»$ and $\epsilon / |V| = «qo»$. (b)
    $\hat{\mathbf y} - \mathbf q$: $«p» - «qr» = «gr»$, and $«po» - «qo» = «go»$ for each other.

    (c) At $\hat y = «qr»$; a model that is surer is pulled back. (d) No: report the loss without smoothing; the
    smoothed one is not the negative log-likelihood of the text.

    *Marks.* 1 point: (a). 1 point: (b). 1 point: (c). 1 point: (d).
    """
    V, eps = pick(rng, (4, 5, 10)), pick(rng, (Fraction(1, 10), Fraction(1, 5)))
    p = pick(rng, (Fraction(1, 2), Fraction(3, 5), Fraction(7, 10), Fraction(99, 100)))
    qr, qo, po = 1 - eps + eps / V, eps / V, (1 - p) / (V - 1)
    return {"V": V, "eps": eps, "p": p, "qr": qr, "qo": qo, "po": po, "gr": p - qr, "go": po - qo}


@question("Warm-up and cosine", points=4, minutes=5, objective=1, level=2)
def warm_up(rng):
    r"""The rate rises linearly from 0 to $\eta = «eta»$ over $«warm»$ steps and then follows half a cosine down to 0 at
    step $«total»$.

    (a) What is the rate at step $«early»$, and at step $«late»$? (b) Why does one begin with a small rate, with
    Adam above all? (c) What would you see if the warm-up were left out in a post-norm Transformer?

    *Solution.* (a) $«eta» \cdot «early» / «warm» = «first»$. At step $«late»$ a share of $«done»$ of the cosine is
    over: $«eta» \cdot \tfrac12 (1 + \cos(«done» \pi)) = «second»$.

    (b) In the first steps Adam's means rest on very few gradients, and its steps have the full length whatever the
    gradients are; large ones spoil the weights. (c) A loss that stays high or jumps: gradients near the output are
    large at the start in post-norm.

    *Marks.* 2 points: (a), 1 for each. 1 point: (b). 1 point: (c).
    """
    eta, warm = pick(rng, (0.001, 0.002, 0.004)), pick(rng, (100, 200, 400))
    done, height = pick(rng, ((Fraction(1, 3), 0.75), (Fraction(1, 2), 0.5), (Fraction(2, 3), 0.25)))
    falling = 600 * whole(rng, 1, 4)
    early = pick(rng, [warm * n // 4 for n in (1, 2, 3) if n != 4 * height])  # two different rates
    return {"eta": eta, "warm": warm, "total": warm + falling, "early": early, "late": int(warm + done * falling),
            "done": done, "first": eta * early / warm, "second": eta * height}  # fmt: skip


@question("Shapes in a decoder layer", "shapes", points=4, minutes=6, objective=1, level=1)
def decoder_shapes(rng):
    r"""A decoder layer of width $d = «d»$ with $«n»$ heads works on $B = «B»$ rows, $T = «T»$ target positions and
    $N = «N»$ source positions; $d_{\text{ff}} = «ff»$. Give, with the batch first, the shapes of: the weights of
    its self-attention; those of its attention to the source; the keys of the latter, cut into heads; the inside of
    the feed-forward part. Which of the three sublayers has a causal mask, and which one a padding mask of the
    source?

    *Solution.* $(«B», «n», «T», «T»)$; $(«B», «n», «T», «N»)$; $(«B», «n», «N», «dk»)$; $(«B», «T», «ff»)$. The
    causal mask is in the self-attention, the source's padding mask in the attention to the source; the feed-forward
    part needs none.

    *Marks.* 1 point: both kinds of weights. 1 point: the keys. 1 point: the inside of the feed-forward part.
    1 point: the masks.
    """
    n, dk = pick(rng, (2, 4, 8)), pick(rng, (10, 16, 32))
    T, N = some(rng, [positions for positions in range(9, 30) if positions != dk], 2)
    B = pick(rng, [rows for rows in (6, 12, 24, 48) if rows not in (T, N)])
    return {"B": B, "n": n, "dk": dk, "d": n * dk, "T": T, "N": N, "ff": 4 * n * dk}


@question("A road without toll", "derivation", points=4, minutes=7, objective=1, level=3)
def residual_road():
    r"""In a pre-norm stack $\mathbf x_k = \mathbf x_{k-1} + f_k(\operatorname{LN}(\mathbf x_{k-1}))$. Write
    $\mathbf x_K$ as a sum and show that $\partial \mathbf x_K / \partial \mathbf x_k$ is the unit matrix plus
    something. What does this say about gradients in deep stacks? What is different in post-norm,
    $\mathbf x_k = \operatorname{LN}(\mathbf x_{k-1} + f_k(\mathbf x_{k-1}))$?

    *Solution.* $\mathbf x_K = \mathbf x_k + \sum_{j=k+1}^{K} f_j(\operatorname{LN}(\mathbf x_{j-1}))$, so
    $\partial \mathbf x_K / \partial \mathbf x_k = I + \sum_j \partial f_j / \partial \mathbf x_k$: whatever the
    sublayers do, the gradient at the top also arrives at $\mathbf x_k$ unchanged.

    In post-norm each step multiplies by the Jacobian of a LayerNorm, so the derivative is a product of $K - k$ of
    these, with no unit matrix of its own.

    *Marks.* 1 point: the sum. 1 point: the unit matrix. 1 point: what it says. 1 point: post-norm as a product.
    """


@question("A residual that is none", "bug", points=4, minutes=6, objective=1, level=2)
def residual_bug():
    r"""A student's pre-norm encoder layer trains well with two layers and hardly at all with twelve.

    ```python
    def forward(self, x, mask):
        x = self.norm_1(x)
        x = x + self.attention(x, x, x, mask)
        x = self.norm_2(x)
        return x + self.feed_forward(x)
    ```

    (a) What differs from $\mathbf x + f(\operatorname{LN}(\mathbf x))$? (b) What becomes of the direct path from
    the first layer to the last? (c) Write the lines as they should be.

    *Solution.* (a) The norm's result replaces `x`, so the sum adds to the normalised vector and not to the incoming
    one. (b) It passes two LayerNorms in each layer: the gradient is multiplied by their Jacobians 24 times, as in
    post-norm.

    (c) `h = self.norm_1(x); x = x + self.attention(h, h, h, mask)`, then
    `return x + self.feed_forward(self.norm_2(x))`.

    *Marks.* 1 point: (a). 1 point: (b). 2 points: (c), 1 for each line.
    """


@question("In parallel, and one by one", "words", points=4, minutes=6, objective=4, level=2)
def parallel_and_sequential():
    r"""“A Transformer still needs recurrence in training, because each decoder state needs the state before.” Explain
    in about three sentences what is wrong with this, what makes it possible to compute all steps at once, and where
    it is right after all.

    *Solution.* With teacher forcing all target tokens are known, and a decoder layer computes position $t$ from the
    layer below at positions up to $t$, not from its own result at $t - 1$; so all positions of a layer are computed
    at once, and the causal mask keeps them honest. While writing, token $t + 1$ is an input that exists only after
    token $t$ has been chosen: there the model goes step by step, and keeps keys and values so as not to compute
    them again.

    *Marks.* 1 point: the targets are known. 1 point: a position needs the layer below, not the step before.
    1 point: the mask. 1 point: writing is sequential, with the reason.
    """


@question("Parts left out", "what if", points=4, minutes=6, objective=2, level=3)
def parts_left_out():
    r"""From a Transformer that translates one part is left out at a time, and it is trained anew: (a) the codes of
    position, (b) the attention to the source, (c) the feed-forward parts, (d) the causal mask. Say for each what
    the model can still do and what you would see.

    *Solution.* (a) It reads the source as a set of words: translations with the right words in doubtful order; the
    decoder's mask still lets it count. (b) It is a language model of the target: fluent sentences that have nothing
    to do with the source. (c) Positions are still mixed, but apart from the softmax's weights everything is linear:
    it trains, with a higher loss. (d) In training it sees the next token: a loss near 0, and nonsense when it
    writes.

    *Marks.* 1 point: (a). 1 point: (b). 1 point: (c). 1 point: (d).
    """


@question("A coffee shop becomes a suitcase", "words", points=4, minutes=6, objective=3, level=2)
def fluent_mistakes():
    r"""A Transformer with byte pairs, trained on 29,000 captions, translates *ein Coffee-Shop* as *a suitcase*, in
    fluent English. The word does not occur in its training captions.

    (a) Why does the model not stumble over a word that it has never seen? (b) You suspect that new words make
    translations worse. Sentences with a new word are also longer than others. Describe a comparison that tests the
    suspicion all the same. (c) Another output says the same phrase twice and leaves out a noun, and its source has no
    new word. Does this refute the suspicion?

    *Solution.* (a) The word is cut into byte pairs that are all known; what they mean together the model has to guess,
    and its decoder writes what is probable English. (b) Compare BLEU of sentences with and without a new word at
    equal length, in groups by length. Sort those without one by how rare their rarest word is, or the harm of rare
    words is taken for that of new ones. (c) No: it is a mistake of another kind. The suspicion says that new words
    harm, and not that nothing else does.

    *Marks.* 1 point: (a). 2 points: (b), 1 for equal length. 1 point: (c).
    """
