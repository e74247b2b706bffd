"""Questions to chapter 5, Softmax and back-propagation by hand."""

import math
from fractions import Fraction

from lmbook_exams.question import column, dot, matrix, pick, question, row, shares, some, until, whole


@question("From the loss to the weights", points=6, minutes=8, objective=2, level=2)
def loss_to_weights(rng):
    r"""A layer $\mathbf z = W \mathbf x$ with $\mathbf x = «x»$ gives the logits $\mathbf z = «z»$. The right class is
    number $«c»$.

    (a) Give $\hat{\mathbf y}$ and the loss.

    (b) Give $\partial L / \partial \mathbf z$ and $\partial L / \partial W$.

    (c) By the first order of Taylor's series, how does the loss change if $W_{«i»«j»}$ grows by 0.01?

    *Solution.* (a) $e^{\mathbf z} = «weights»$, so $\hat{\mathbf y} = «y»$ and $L = -\ln «p» \approx «L:.3f»$.

    (b) $\hat{\mathbf y} - \mathbf y = «g»$ and $(\hat{\mathbf y} - \mathbf y)\, \mathbf x^\top = «G»$.

    (c) By $0.01 \cdot «entry» \approx «move:.5f»$.

    *Marks.* 1 point: the softmax. 1 point: the loss. 1 point: the gradient of the logits. 2 points: that of $W$.
    1 point: (c).
    """
    weights = some(rng, pick(rng, ((1, 2, 4), (1, 2, 5), (1, 3, 4))), 3)
    x = [pick(rng, (-2, -1, 1, 2, 3)) for _ in range(2)]
    y, c = shares(weights), whole(rng, 0, 2)
    g = [p - (at == c) for at, p in enumerate(y)]
    G = [[one * v for v in x] for one in g]
    i, j = pick(rng, [at for at in range(3) if at != c]), whole(rng, 0, 1)
    return {"x": column(x), "input": x, "z": column([rf"\ln {n}" if n > 1 else 0 for n in weights]), "logits": weights,
            "weights": row(weights), "y": row(y), "c": c + 1, "p": y[c], "L": -math.log(y[c]), "g": column(g),
            "G": matrix(G), "gradient": G, "i": i + 1, "j": j + 1, "entry": G[i][j], "move": float(G[i][j]) / 100}  # fmt: skip


@question("A Jacobian and how to avoid it", points=5, minutes=8, objective=2, level=3)
def softmax_jacobian(rng):
    r"""A softmax gives $\hat{\mathbf y} = «y»$. From above arrives the gradient $\mathbf g = «g»$, as a row.

    (a) Write down the Jacobian $\partial \hat{\mathbf y} / \partial \mathbf z$.

    (b) Compute $\mathbf g\, \partial \hat{\mathbf y} / \partial \mathbf z$ with it.

    (c) Compute the same without it, by $\hat y_j \big(g_j - \sum_i g_i \hat y_i\big)$. Why must the entries of the
    result add up to 0?

    *Solution.* (a) $\operatorname{diag}(\hat{\mathbf y}) - \hat{\mathbf y} \hat{\mathbf y}^\top = «J»$.

    (b) and (c) $\sum_i g_i \hat y_i = «mean»$, so the entries are $\hat y_j (g_j - «mean»)$: $«v»$. A constant
    added to all logits changes nothing, so the derivative in that direction, the sum of the entries, is 0.

    *Marks.* 2 points: the Jacobian, 1 of them for its diagonal. 1 point: (b). 1 point: (c). 1 point: why the sum is
    0.
    """
    y = shares(some(rng, pick(rng, ((1, 1, 2), (1, 2, 2), (1, 1, 3))), 3))
    (g,) = until(
        lambda: (some(rng, (-3, -2, -1, 1, 2, 3, 4), 3),),
        lambda g: dot(g, y) not in (0, *g),  # else terms vanish
    )
    J = [[(a if i == j else 0) - a * b for j, b in enumerate(y)] for i, a in enumerate(y)]
    mean = dot(g, y)
    v = [p * (one - mean) for p, one in zip(y, g, strict=True)]
    return {"y": row(y), "yhat": y, "g": row(g), "arrives": g, "J": matrix(J), "jacobian": J, "mean": mean, "v": row(v),
            "result": v}  # fmt: skip


@question("Large logits", points=4, minutes=6, objective=3, level=2)
def large_logits(rng):
    r"""The logits are $\mathbf z = «z»$, and the right class is the first.

    (a) What does a program get that computes $e^{z_i}$ first, in `float64`? (Its positive numbers lie between about
    $e^{-745}$ and $e^{709}$.)

    (b) Give $\operatorname{LSE}(\mathbf z)$ and the loss exactly.

    (c) Why may the maximum be subtracted?

    *Solution.* (a) $«effect»$

    (b) With $m = «m»$: $\operatorname{LSE} = «m» + \ln(«sum») = «m» + \ln «s»$, and
    $L = \operatorname{LSE} - z_1 = \ln «s» \approx «value:.3f»$.

    (c) $\sum_j e^{z_j} = e^m \sum_j e^{z_j - m}$, so the logarithm is exactly $m + \ln \sum_j e^{z_j - m}$. The
    largest term is then 1.

    *Marks.* 1 point: (a). 2 points: (b), 1 for each. 1 point: (c).
    """
    m, a, b = pick(rng, (1000, 2000, 5000, -1000, -2000, -3000)), pick(rng, (2, 3, 4)), pick(rng, (2, 3, 5))
    effect = (r"\infty / \infty\text{, which is not a number: every } e^{z_i} \text{ overflows.}" if m > 0 else
              r"0 / 0\text{, which is not a number: every } e^{z_i} \text{ underflows to 0.}")  # fmt: skip
    z = [m, rf"{m} - \ln {a}", rf"{m} - \ln {b}"]
    total = 1 + Fraction(1, a) + Fraction(1, b)
    return {
        "z": row([str(one) for one in z]),
        "m": str(m),
        "top": m,
        "a": a,
        "b": b,
        "effect": effect,
        "sum": rf"1 + \tfrac1{{{a}}} + \tfrac1{{{b}}}",
        "s": total,
        "value": math.log(total),
    }


@question("A node with two paths", points=5, minutes=8, objective=1, level=2)
def two_paths(rng):
    r"""A graph computes $p = a\,b$, then $q = p + «k»\,a$, then $L = q\,p$, at $a = «a»$, $b = «b»$.

    (a) Compute $p$, $q$ and $L$.

    (b) Go backwards: give $\partial L / \partial q$, $\partial L / \partial p$, $\partial L / \partial b$ and
    $\partial L / \partial a$.

    (c) In which order must the nodes be visited, and what goes wrong at $p$ in another order?

    *Solution.* (a) $p = «p»$, $q = «q»$, $L = «L»$.

    (b) $\partial L / \partial q = p = «p»$. To $p$ lead two paths:
    $q + \partial L / \partial q \cdot 1 = «q» + «p» = «dp»$. Then $\partial L / \partial b = «dp» \cdot a = «db»$,
    and $\partial L / \partial a = «dp» \cdot b + «k» \cdot «p» = «da»$.

    (c) From the loss backwards, each node after all that use it: $q$ before $p$, and $p$ before $a$. If $p$ passes
    its gradient on before $q$ has added to it, $a$ and $b$ get only the part of one path.

    *Marks.* 1 point: (a). 1 point: $q$. 1 point: both paths to $p$. 1 point: $a$ and $b$. 1 point: (c).
    """
    a, b, k = until(lambda: some(rng, (-3, -2, 2, 3, 4, 5), 3), lambda a, b, k: 0 not in (b + k, 2 * b + k, b + 2 * k))
    p = a * b
    q = p + k * a
    return {"a": a, "b": b, "k": k, "p": p, "q": q, "L": q * p, "dp": q + p,
            "db": (q + p) * a, "da": (q + p) * b + k * p}  # fmt: skip


@question("Through a sigmoid", points=5, minutes=8, objective=1, level=2)
def through_a_sigmoid(rng):
    r"""A network with one unit computes $a = w\,x$, $h = \sigma(a)$, $z = u\,h$ and $L = \tfrac12 (z - y)^2$, at
    $x = «x»$, $u = «u»$, $y = «y»$ and a $w$ for which $a = \ln «r»$.

    (a) Give $h$, $z$ and $L$. (b) Give $\partial L / \partial u$ and $\partial L / \partial w$. (c) For which
    values of $a$ would $w$ learn almost nothing, whatever the error is?

    *Solution.* (a) $h = \tfrac{«r»}{«r1»}$, $z = «z»$, $L = «L»$.

    (b) $\partial L / \partial z = z - y = «e»$, so $\partial L / \partial u = «e» \cdot «h» = «du»$. With
    $\sigma' = h (1 - h) = «slope»$: $\partial L / \partial w = «e» \cdot «u» \cdot «slope» \cdot «x» = «dw»$.

    (c) For large $|a|$: $h$ is near 0 or 1 there, and $h (1 - h)$ near 0.

    *Marks.* 1 point: (a). 1 point: the gradient of $u$. 2 points: that of $w$, 1 of them for $h(1 - h)$. 1 point:
    (c).
    """
    r, x, u = pick(rng, (2, 3, 4)), pick(rng, (2, 3, -2)), pick(rng, (2, 3, 6))
    h = Fraction(r, r + 1)
    z = u * h
    y = pick(rng, [one for one in (1, 2, 3) if one != z])
    e, slope = z - y, h * (1 - h)
    return {"x": x, "u": u, "y": y, "r": r, "r1": r + 1, "h": h, "z": z,
            "L": e * e / 2, "e": e, "du": e * h, "slope": slope, "dw": e * u * slope * x}  # fmt: skip


@question("The size of a Jacobian", points=4, minutes=5, objective=2, level=1)
def jacobian_size(rng):
    r"""An output layer $\mathbf z = U \mathbf h$ has $|V| = «V»$ logits and $m = «m»$ units. Numbers take 4 bytes.

    (a) How many numbers does the Jacobian $\partial \mathbf z / \partial U$ have, written as a matrix with one row
    for each logit, and how many bytes is that?

    (b) How many of its entries are not zero?

    (c) How many numbers does $(\hat{\mathbf y} - \mathbf y)\, \mathbf h^\top$ have?

    *Solution.* (a) $|V| \cdot |V|\, m = «full»$ numbers, «bytes».

    (b) Each logit depends on its own row of $U$ alone: $|V|\, m = «nonzero»$, a share of $1 / |V|$.

    (c) As many as $U$: $«nonzero»$.

    *Marks.* 2 points: (a), 1 of them for the bytes. 1 point: (b). 1 point: (c).
    """
    V, m = pick(rng, (1000, 2000, 5000, 10_000)), pick(rng, (50, 100, 200, 500))
    full = V * V * m
    size = 4 * full
    return {"V": V, "m": m, "full": full, "size": size, "nonzero": V * m,
            "bytes": f"{size / 1e9:g} GB" if size >= 1e9 else f"{size / 1e6:g} MB"}  # fmt: skip


@question("How good is a difference quotient?", points=4, minutes=6, objective=4, level=2)
def difference_quotient(rng):
    r"""The derivative of $f(x) = x^3$ at $x = «x»$ is checked with steps of $s = «s»$.

    (a) Give the central quotient $\frac{f(x + s) - f(x - s)}{2s}$ and the one-sided quotient
    $\frac{f(x + s) - f(x)}{s}$ exactly.

    (b) What are the errors of the two? How do they shrink if $s$ is halved?

    (c) Why not take $s = 10^{-15}$?

    *Solution.* (a) $(x + s)^3 - (x - s)^3 = 6 x^2 s + 2 s^3$, so the central one is $3x^2 + s^2 = «central»$. The
    other is $3x^2 + 3xs + s^2 = «onesided»$.

    (b) The derivative is $«exact»$. The central error is $s^2 = «e2:.4g»$, a quarter of it for half the step; the
    other is $3xs + s^2 = «e1:.4g»$, about half of it.

    (c) The difference of two nearly equal numbers keeps only few right digits, and dividing by a tiny $s$ makes the
    rounding error large.

    *Marks.* 2 points: (a), 1 for each. 1 point: (b). 1 point: (c).
    """
    x, s = whole(rng, 2, 5), pick(rng, (0.1, 0.2, 0.01))
    return {"x": x, "s": s, "central": f"{3 * x * x + s * s:.6g}", "onesided": f"{3 * x * x + 3 * x * s + s * s:.6g}",
            "exact": 3 * x * x, "e2": s * s, "e1": 3 * x * s + s * s}  # fmt: skip


@question("The collapse", "derivation", points=6, minutes=10, objective=2, level=3)
def collapse():
    r"""Let $\mathbf z = W \mathbf x$, $\hat{\mathbf y} = \operatorname{softmax}(\mathbf z)$ and
    $L = -\sum_i y_i \ln \hat y_i$ with $\sum_i y_i = 1$. Derive $\partial L / \partial \hat y_i$, the Jacobian of
    the softmax, and from both $\partial L / \partial \mathbf z = \hat{\mathbf y} - \mathbf y$. Then give
    $\partial L / \partial W$. Where did you use that the $y_i$ add up to 1?

    *Solution.* $\partial L / \partial \hat y_i = -y_i / \hat y_i$. With $S = \sum_j e^{z_j}$:
    $\partial \hat y_i / \partial z_j = (\delta_{ij} e^{z_i} S - e^{z_i} e^{z_j}) / S^2 = \hat y_i (\delta_{ij} - \hat y_j)$.
    Together

    $$
    \frac{\partial L}{\partial z_j} = \sum_i \Big(-\frac{y_i}{\hat y_i}\Big)\, \hat y_i\, (\delta_{ij} - \hat y_j) = -y_j + \hat y_j \sum_i y_i = \hat y_j - y_j,
    $$

    where the last step uses the sum. Since $\partial z_k / \partial W_{kn} = x_n$,
    $\partial L / \partial W = (\hat{\mathbf y} - \mathbf y)\, \mathbf x^\top$.

    *Marks.* 1 point: the first derivative. 2 points: the Jacobian, 1 of them for both cases of $\delta_{ij}$.
    1 point: the sum over $i$. 1 point: where the $y_i$ add up to 1. 1 point: $W$.
    """


@question("An engine that forgets", "bug", points=4, minutes=6, objective=5, level=2)
def engine_bug():
    r"""The product of a small engine for gradients is written so:

    ```python
    def __mul__(self, other):
        out = Value(self.data * other.data, parents=(self, other))
        def backward():
            self.grad = other.data * out.grad
            other.grad = self.data * out.grad
        out.backward_step = backward
        return out
    ```

    (a) What does it give for the derivative of $L = a \cdot a$ at $a = 3$? And of $L = a\,b + a\,c$ with respect to
    $a$?

    (b) Repair it, and say what must then be done before a second backward pass.

    *Solution.* (a) Both parents of $a \cdot a$ are the same node, so the second line overwrites the first: 3 in
    place of 6. In $a\,b + a\,c$ only one of $b$ and $c$ remains, in place of $b + c$.

    (b) Gradients of several paths are added: `self.grad += other.data * out.grad`, and the same for `other`. Before
    another pass all gradients must be set to 0.

    *Marks.* 2 points: (a), 1 for each. 1 point: added in place of assigned. 1 point: set to zero.
    """


@question("Backwards or forwards?", "words", points=4, minutes=6, objective=1, level=2)
def reverse_mode():
    r"""Derivatives can be carried through a graph from the inputs to the loss (forward mode: one pass gives the
    derivatives of everything with respect to one input) or from the loss to the inputs. Explain in about three
    sentences why networks are trained in reverse mode, what it costs in memory, and in which case forward mode
    would be the better choice.

    *Solution.* A network has one loss and very many parameters: reverse mode gives all derivatives of the one loss
    in one pass, about twice the work of the forward pass, where forward mode needs a pass for each parameter. In
    return the values of the forward pass have to be kept until the way back has used them. With one input and many
    outputs (a curve that depends on one number, for example) forward mode is better, for the same reason the other
    way round.

    *Marks.* 1 point: one loss, many parameters. 1 point: one pass against one for each parameter. 1 point: the
    values are kept. 1 point: the opposite case.
    """


@question("Softmax taken twice", "what if", points=4, minutes=6, objective=3, level=3)
def softmax_twice(rng):
    r"""By mistake a network with $«n»$ classes puts its probabilities, not its logits, into a loss that takes a softmax
    itself.

    (a) What is the loss if the network is perfectly sure of the right class?

    (b) What is it if all classes get the same probability?

    (c) What does the curve of training look like, and which check finds the mistake?

    *Solution.* (a) The softmax of $(1, 0, \dots, 0)$ gives the right class $e / (e + «others»)$, so the loss is
    $\ln(1 + «others» / e) \approx «sure:.3f»$. (b) $\ln «n» \approx «even:.3f»$.

    (c) It starts near $\ln «n»$ and can never fall below $«sure:.3f»$, though the network may be right nearly
    always. Giving the loss a perfect answer shows it: the loss must then be near 0.

    *Marks.* 2 points: (a), 1 of them for $e$ against 1. 1 point: (b). 1 point: (c).
    """
    n = pick(rng, (3, 5, 10, 20, 50, 100))
    return {"n": n, "others": n - 1, "sure": math.log(1 + (n - 1) / math.e), "even": math.log(n)}
