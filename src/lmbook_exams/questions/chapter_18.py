"""Questions to chapter 18, Images as sequences."""

from fractions import Fraction

from lmbook_exams.question import dot, matrix, pick, question, row, some, until, whole


@question("Pixels or patches", points=4, minutes=6, objective=4, level=2)
def pixels_or_patches(rng):
    r"""Grey images have $h \times w = «h» \times «w»$ pixels. They are read as pixels, or as patches of
    $«r» \times «r»$.

    (a) How many tokens does an image have each way? (b) How many attention scores does one head of one layer compute each
    way, and what is the ratio? (c) How many numbers does a patch have? What is lost by patches for a model that should
    *write* images?

    *Solution.* (a) $«pixels»$ and $«patches»$. (b) $«pixels»^2 = «ps»$ and $«patches»^2 = «qs»$: a factor of
    $r^4 = «ratio»$. (c) $r^2 = «size»$. A patch is no item of a small vocabulary any more: there are very many
    different ones, so that a softmax over all of them is out of the question.

    *Marks.* 1 point: (a). 1 point: the scores. 1 point: the ratio. 1 point: (c).
    """
    r = pick(rng, (2, 4, 7))
    h, w = r * whole(rng, 2, 6), r * whole(rng, 2, 6)
    pixels, patches = h * w, h * w // r**2
    return {"h": h, "w": w, "r": r, "pixels": pixels, "patches": patches, "ps": pixels**2, "qs": patches**2,
            "ratio": r**4, "size": r * r}  # fmt: skip


@question("Bits per pixel", points=4, minutes=6, objective=2, level=2)
def bits_per_pixel(rng):
    r"""Images of $«side» \times «side»$ pixels with $«levels»$ grey levels each. A model gives a test image the
    probability $2^{-«total»}$.

    (a) How many bits per pixel is that, and how many nats? (b) How many bits per pixel does a model need
    that finds all grey levels equally likely? (c) The background, $«blank»$ of the pixels, costs the model nothing. How
    many bits does each of the others cost on average? (d) Why compare bits per pixel only between models with the same grey levels?

    *Solution.* (a) $«total» / «pixels» = «bits»$ bits, times $\ln 2$: $«nats:.3f»$ nats. (b)
    $\log_2 «levels» = «uniform»$. (c) $«total» / «rest» = «each»$. (d) Finer levels need more bits for
    the same picture; counted in coarser ones every model looks better.

    *Marks.* 1 point: (a). 1 point: (b). 1 point: (c). 1 point: (d).
    """
    side, k = pick(rng, (8, 10, 16)), whole(rng, 2, 4)
    pixels = side * side
    blank = pixels // pick(rng, (2, 4))
    drawn = Fraction(pixels - blank, pixels)  # the share of what is not background: it costs less than an even guess
    bits = Fraction(pick(rng, [n for n in range(3, 4 * k) if n % 4 and n < 4 * k * drawn]), 4)
    return {"side": side, "levels": 2**k, "uniform": k, "pixels": pixels, "total": int(bits * pixels), "bits": bits,
            "nats": float(bits) * 0.6931471805599453, "blank": blank, "rest": pixels - blank,
            "each": bits / drawn}  # fmt: skip


@question("A classifier for nothing", points=4, minutes=6, objective=3, level=2)
def bayes_classifier(rng):
    r"""A model that writes digits by class gives one image the probabilities $P(\text{image} \mid c) = «likelihoods»$
    for $c = 3, 5, 8$, all other classes being negligible. $P(c)$ is the same for all classes.

    (a) Give $P(c \mid \text{image})$ for the three. (b) Now 5 is «times» times as frequent as each of the others.
    Give them again. (c) Why was nothing trained for this, and what does it cost compared with a classifier?

    *Solution.* (a) By Bayes' rule proportional to the likelihoods, $«weights»$: $«even»$. (b) Proportional to
    $«prior»$: $«uneven»$. (c) The conditional model has the likelihoods already. It needs a pass over the image for
    each class.

    *Marks.* 2 points: (a), 1 of them for Bayes' rule. 1 point: (b). 1 point: (c).
    """
    base = whole(rng, 60, 90)
    down = some(rng, (0, 1, 2, 3), 3)
    times = pick(rng, (3, 5))
    weights = [2 ** (3 - one) for one in down]
    prior = [weights[0], weights[1] * times, weights[2]]
    return {"likelihoods": row([f"2^{{-{base + one}}}" for one in down]), "down": down, "times": times,
            "weights": row(weights), "even": row([Fraction(n, sum(weights)) for n in weights]), "prior": row(prior),
            "P": [Fraction(n, sum(weights)) for n in weights], "Q": [Fraction(n, sum(prior)) for n in prior],
            "uneven": row([Fraction(n, sum(prior)) for n in prior])}  # fmt: skip


@question("Which patch, which place?", points=4, minutes=5, objective=4, level=1)
def patch_index(rng):
    r"""An image of $«h»$ rows and $«w»$ columns of pixels is cut into patches of $«r» \times «r»$, counted in rows from 0, as are the
    pixels and the numbers within a patch.

    (a) Into which patch, and to which place in it, goes the pixel in row $«y»$, column $«x»$? (b) Which pixel is
    number $«k»$ of patch $«n»$? (c) A student cuts the image with `image.reshape(-1, r * r)`. What stands in the
    first patch then?

    *Solution.* (a) Patch row $\lfloor «y» / «r» \rfloor = «a»$, column $\lfloor «x» / «r» \rfloor = «b»$, with
    $«across»$ patches in a row: number $«patch»$; place $«r» \cdot «u» + «v» = «place»$. (b) Row $«yy»$, column
    $«xx»$. (c) The first $«size»$ pixels of the top row (and of the next one, if the row is shorter): a strip, no
    square.

    *Marks.* 2 points: (a), 1 for each. 1 point: (b). 1 point: (c).
    """
    r = pick(rng, (3, 4))
    down, across = whole(rng, 3, 5), whole(rng, 3, 5)
    h, w = r * down, r * across

    # Neither the first patch of a row or column nor the first row or column of a patch: no term is 0. And rows and
    # columns cannot be mistaken for each other without a trace.
    def pixel():
        return [r * whole(rng, 1, n - 1) + whole(rng, 1, r - 1) for n in (down, across)]

    (y, x), (yy, xx) = (until(pixel, lambda y, x: y // r != x // r and y % r != x % r) for _ in range(2))
    n, k = yy // r * across + xx // r, yy % r * r + xx % r
    return {"h": h, "w": w, "r": r, "y": y, "x": x, "a": y // r, "b": x // r, "across": across,
            "patch": y // r * across + x // r, "u": y % r, "v": x % r, "place": y % r * r + x % r, "k": k, "n": n,
            "yy": yy, "xx": xx, "size": r * r}  # fmt: skip


@question("A convolution in disguise", points=4, minutes=6, objective=4, level=2)
def patch_convolution(rng):
    r"""A $4 \times 4$ image $g$ is cut into four $2 \times 2$ patches, each of which is embedded in one number by
    $x_n = b + \sum_k W_k\, \text{patch}_n[k]$ with $W = «W»$, $b = «b»$:

    $$
    g = «g».
    $$

    (a) Give the four numbers. (b) As a convolution: what are the kernel, its stride, and the shape of the result?
    (c) How many parameters does the embedding have for width $d$ in place of 1?

    *Solution.* (a) $«x»$. (b) The kernel is $«kernel»$, the stride 2, the result $2 \times 2$. (c)
    $d\, (r^2 + 1) = 5 d$.

    *Marks.* 2 points: (a). 1 point: (b). 1 point: (c).
    """

    def draw():
        g = [[whole(rng, 1, 5) for _ in range(4)] for _ in range(4)]
        W, b = some(rng, (-2, -1, 1, 2, 3), 4), pick(rng, (-2, -1, 1, 2))
        patches = [[g[2 * i + u][2 * j + v] for u in range(2) for v in range(2)] for i in range(2) for j in range(2)]
        return g, W, b, [b + dot(W, patch) for patch in patches]

    g, W, b, x = until(draw, lambda g, W, b, x: all(x) and len(set(x)) == 4)
    return {"g": matrix(g), "image": g, "W": row(W), "weights": W, "b": b, "x": row(x), "embedded": x,
            "kernel": matrix([W[:2], W[2:]])}  # fmt: skip


@question("Known so far", points=4, minutes=6, objective=1, level=1)
def known_so_far(rng):
    r"""An image of $«h»$ rows and $«w»$ columns is written pixel by pixel; rows and columns count from 1. Look at the pixel
    in row $«y»$, column $«x»$.

    (a) At which step $t$ is it written in raster order (row by row), and at which column by column? (b) Which of
    its four direct neighbours are known then, in each order? (c) How many steps back is its upper neighbour, in
    each order? What does that mean for a model with a short window?

    *Solution.* (a) $(«y» - 1) \cdot «w» + «x» = «raster»$, and $(«x» - 1) \cdot «h» + «y» = «columns»$. (b) The
    upper and the left one, in both. (c) $«w»$ steps in raster order, 1 by columns. A window shorter than $«w»$ does
    not contain the upper neighbour in raster order; by columns it is the left one that is far.

    *Marks.* 2 points: (a), 1 for each. 1 point: (b). 1 point: (c).
    """
    h, w = some(rng, (6, 8, 10, 12, 16), 2)
    y, x = until(
        lambda: (whole(rng, 2, h - 1), whole(rng, 2, w - 1)), lambda y, x: y != x and (y - 1) * w + x != (x - 1) * h + y
    )
    return {"h": h, "w": w, "y": y, "x": x, "raster": (y - 1) * w + x, "columns": (x - 1) * h + y}


@question("Any order will do", "derivation", points=4, minutes=7, objective=1, level=3)
def any_order():
    r"""Show that for every order $\sigma$ of the pixels the conditionals of one distribution $P$ multiply to the same
    $P(p_1, \dots, p_{hw})$. Two *trained* models, one for each of two orders, have 1.61 and 1.66 bits per pixel.
    Does this contradict it? What would you do before you call one order better?

    *Solution.* The chain rule holds for any order of the variables:
    $\prod_t P\big(p_{\sigma(t)} \mid p_{\sigma(1)}, \dots, p_{\sigma(t-1)}\big) = P\big(p_{\sigma(1)}, \dots, p_{\sigma(hw)}\big)$,
    since in each fraction of joint probabilities the numerator cancels the denominator of the next one; and that is
    the probability of the same image.

    No contradiction: the models are two approximations of $P$, and one order may be easier to learn. Train both
    with several seeds and the same budget, and compare the difference with their spread.

    *Marks.* 2 points: the chain rule for any order. 1 point: approximations may differ. 1 point: seeds, spread,
    equal budgets.
    """


@question("Patches that are strips", "bug", points=4, minutes=6, objective=4, level=2)
def strip_bug():
    r"""A vision Transformer on $8 \times 8$ images with $r = 2$ is clearly worse than it should be; everything runs.
    `images` has shape (B, 8, 8).

    ```python
    patches = images.reshape(B, 16, 4)
    x = patches @ W.T + b                         # (B, 16, d)
    h = encoder(x)
    logits = classifier(h[:, 0])
    ```

    (a) What stands in `patches[:, 0]`? Give the right line for the $2 \times 2$ patches. (b) Something else is
    missing that attention needs. (c) `h[:, 0]` is the state of a patch here. What does the book's model take in its
    place, and what is the difference?

    *Solution.* (a) The first four pixels of the top row.
    `images.reshape(B, 4, 2, 4, 2).transpose(2, 3).reshape(B, 16, 4)`. (b) The codes of position: without them the
    patches are a set. (c) A learned vector in front of the patches, a token of its own, whose state is read; it
    stands for the whole image and for no patch.

    *Marks.* 2 points: (a), 1 of them for the line. 1 point: (b). 1 point: (c).
    """


@question("What carries over", "words", points=4, minutes=6, objective=5, level=2)
def what_carries_over():
    r"""Explain in about three sentences which parts of a GPT can be used for images of pixels without any change, which
    part has to be chosen anew and why it matters, and name one thing that a convolution knows about images from the
    start and a Transformer has to learn.

    *Solution.* Everything behind the embedding: the layers, the causal mask, the loss, the sampling; the vocabulary
    becomes the grey levels. To be chosen is the order in which the pixels are read, and with it the positions: for
    the chain rule all orders are equal, but not for a model that has to learn from what stands how far back. A
    convolution uses the same weights at each place and looks at neighbours; a Transformer has to learn from data
    that neighbours matter and that an object is the same one elsewhere.

    *Marks.* 1 point: what stays. 1 point: the order. 1 point: why it matters. 1 point: neighbourhood, or equal
    weights at each place.
    """


@question("The smallest and the largest patch", "what if", points=4, minutes=6, objective=4, level=3)
def extreme_patches():
    r"""What becomes of a vision Transformer if the patches are single pixels, and if there is a single patch as large
    as the image? Compare the number of tokens, what the attention can do, and what the embedding has to do. To
    which older model does the second come close?

    *Solution.* Single pixels: as many tokens as pixels, with a number of scores that is the square of that; the
    embedding only has one number to embed, and all structure is left to attention. One patch: one token, so that
    attention has nothing to mix (its weight is 1; with a learned vector in front there are two tokens, and one of them
    is the same for every image); the embedding is one linear map of the whole image, followed by feed-forward layers:
    a multilayer perceptron on pixels, which has separate weights for every place.

    *Marks.* 1 point: single pixels, tokens and scores. 1 point: what is left to attention. 1 point: one patch, one
    token. 1 point: a perceptron on pixels.
    """


@question("Shapes of an encoder of patches", "shapes", points=5, minutes=6, objective=4, level=1)
def patch_shapes(rng):
    r"""A batch of $B = «B»$ grey images of $«h» \times «w»$ pixels is cut into patches of $«r» \times «r»$. They are embedded
    in width $d = «d»$ by `patches @ W.T`, a class vector is put in front, and $«n»$ heads attend in each layer.

    Give, with the batch first, the shapes of: the patches; $W$; the encoder's input; the scores of one layer; the
    logits over ten classes. Which of these shapes do not change if the images become twice as high?

    *Solution.* There are $N = «h» \cdot «w» / «r»^2 = «N»$ patches: $(«B», «N», «size»)$; $W$ is $(«d», «size»)$; the input is
    $(«B», «M», «d»)$, with the class vector; scores $(«B», «n», «M», «M»)$; logits $(«B», 10)$. Those of $W$ and of the logits do
    not change: neither depends on the number of patches.

    *Marks.* 1 point: the patches. 1 point: $W$. 1 point: the input, with one row more. 1 point: the scores. 1 point: logits,
    and what does not change.
    """
    r, (down, across) = pick(rng, (4, 7)), some(rng, (3, 4, 6), 2)
    N = down * across
    B, n, d = pick(rng, (8, 32, 48)), pick(rng, (2, 6)), pick(rng, (64, 96, 128))
    return {"B": B, "h": r * down, "w": r * across, "r": r, "d": d, "n": n, "N": N, "M": N + 1, "size": r * r}
