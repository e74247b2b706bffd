"""Questions to chapter 4, A neural language model."""

import math
from fractions import Fraction

from lmbook_exams.question import column, dot, matrix, pick, question, row, shares, some, until, whole


@question("Counting a window's parameters", points=5, minutes=7, objective=2, level=1)
def window_parameters(rng):
    r"""A feed-forward language model has $|V| = «V»$ types, vectors of width $d = «d»$, $«h»$ hidden units, and sees
    $«w»$ tokens. It has no biases, and $E$ and $U$ are separate.

    (a) How many parameters do $E$, $W$ and $U$ have?

    (b) How many does one more token in the window add?

    (c) How many possible histories does one more token add to the table of an n-gram model, as a factor? What
    follows for long windows?

    *Solution.* (a) $E$: $|V| d = «E»$. $W$: $«w» \cdot «d» \cdot «h» = «W»$. $U$: $|V| \cdot «h» = «U»$. Together
    $«all»$.

    (b) One block of $W$: $«d» \cdot «h» = «more»$.

    (c) A factor of $|V| = «V»$. The network's size grows in proportion to the window, that of the table
    exponentially (as far as the histories occur).

    *Marks.* 3 points: (a), 1 for each matrix. 1 point: (b). 1 point: (c).
    """
    V, d, h, w = pick(rng, (2000, 5000, 10_000)), pick(rng, (20, 50, 100)), pick(rng, (60, 120, 180)), whole(rng, 2, 5)
    E, W, U = V * d, w * d * h, V * h
    return {"V": V, "d": d, "h": h, "w": w, "E": E, "W": W, "U": U, "all": E + W + U, "more": d * h}


@question("A forward pass by hand", points=6, minutes=9, objective=1, level=2)
def forward_by_hand(rng):
    r"""Three types, whose vectors of width 1 are the columns of $E$, and two hidden units; $\sigma$ is the logistic function:

    $$
    E = \ln 3\, «E», \qquad W = «W», \qquad U = \ln 2\, «U».
    $$

    The window $\mathbf e$ holds the vectors of the types $«window»$ in this order (the first type is 1), and
    $\mathbf h = \sigma(W \mathbf e)$.

    (a) Give $\mathbf e$ and $\mathbf h$.

    (b) Give $\mathbf z = U \mathbf h$ and $\hat{\mathbf y}$.

    (c) The next token is type $«target»$. What is the loss in nats?

    *Solution.* (a) $\mathbf e = \ln 3\, «e»$ and $W \mathbf e = \ln 3\, «a»$. Since $\sigma(\ln 3) = \tfrac34$,
    $\sigma(0) = \tfrac12$ and $\sigma(-\ln 3) = \tfrac14$: $\mathbf h = «h»$.

    (b) $\mathbf z = \ln 2\, «z»$, so $e^{\mathbf z} = «weights»$ and $\hat{\mathbf y} = «y»$.

    (c) $-\ln «p» \approx «L:.3f»$.

    *Marks.* 1 point: $\mathbf e$. 2 points: $\mathbf h$. 1 point: the logits. 1 point: the softmax. 1 point: the
    loss.
    """

    def draw():
        E, window = some(rng, (1, 0, -1), 3), [whole(rng, 0, 2) for _ in range(3)]
        W = pick(rng, ([[1, 1, 0], [0, 1, 1]], [[1, 0, 1], [0, 1, 1]], [[1, 1, 0], [1, 0, 1]]))
        return E, window, W, [dot(r, [E[w] for w in window]) for r in W]

    E, window, W, a = until(draw, lambda E, window, W, a: len(set(a)) == 2 and all(-1 <= one <= 1 for one in a))
    h = [Fraction(one + 2, 4) for one in a]
    U = some(rng, ([4, 0], [0, 4], [4, -4], [-4, 4], [4, 4]), 3)
    z = [int(dot(r, h)) for r in U]
    weights = [Fraction(2) ** one for one in z]
    y = [one / sum(weights) for one in weights]
    target = whole(rng, 0, 2)
    return {"E": matrix([E]), "W": matrix(W), "U": matrix(U), "parts": (E, W, U, window, target),
            "window": row([one + 1 for one in window]), "target": target + 1, "e": column([E[w] for w in window]),
            "a": column(a), "h": column(h), "z": column(z), "weights": row(weights), "y": row(y), "yhat": y,
            "p": y[target], "L": -math.log(y[target])}  # fmt: skip


@question("A step on the output weights", points=5, minutes=7, objective=3, level=3)
def output_step(rng):
    r"""For one example a network has $\mathbf h = «h»$ and $\hat{\mathbf y} = «y»$, and the right type is number $«c»$.

    (a) Give $\partial L / \partial \mathbf z$ and $\partial L / \partial U$.

    (b) Take one step of gradient descent with rate $\eta = «eta»$. By how much does the logit of the right type
    change, if $\mathbf h$ stays as it is?

    *Solution.* (a) $\hat{\mathbf y} - \mathbf y = «g»$, and
    $\partial L / \partial U = (\hat{\mathbf y} - \mathbf y)\, \mathbf h^\top = «G»$.

    (b) $U$ becomes $U - «eta»\, \partial L / \partial U$, so $z_{«c»}$ changes by
    $-\eta\, (\hat y_{«c»} - 1)\, \mathbf h^\top \mathbf h = «eta» \cdot «miss» \cdot «norm» = «change»$.

    *Marks.* 1 point: the gradient of the logits. 2 points: the outer product, in the right shape. 2 points: (b), 1
    of them for $\mathbf h^\top \mathbf h$.
    """
    y = shares(some(rng, pick(rng, ((4, 1, 2), (5, 2, 1), (6, 3, 1), (3, 4, 1))), 3))
    h = [Fraction(1, 2) * whole(rng, 1, 5), Fraction(1, 2) * whole(rng, 1, 5)]
    c, eta = whole(rng, 0, 2), pick(rng, (Fraction(1, 10), Fraction(1, 5), Fraction(1, 2)))
    g = [p - (at == c) for at, p in enumerate(y)]
    G = [[one * x for x in h] for one in g]
    norm = dot(h, h)
    return {"h": column(h), "y": column(y), "hidden": h, "yhat": y, "c": c + 1, "eta": eta, "g": column(g),
            "G": matrix(G), "gradient": G, "miss": 1 - y[c], "norm": norm, "change": eta * (1 - y[c]) * norm}  # fmt: skip


@question("Adam's first step", points=4, minutes=6, objective=4, level=2)
def adam_first_step(rng):
    r"""Adam starts with $m = v = 0$, $\beta_1 = 0.9$, $\beta_2 = 0.999$, rate $\eta = «eta»$ and an $\epsilon$ that may
    be left out. The first gradient of two parameters is $«g»$.

    (a) Give $m$ and $v$ after the first step, and the corrected $\hat m = m / (1 - \beta_1)$ and
    $\hat v = v / (1 - \beta_2)$.

    (b) By how much does each parameter change? And in plain gradient descent with the same rate?

    (c) What would happen in the first steps without the correction?

    *Solution.* (a) $m = 0.1\, \mathbf g = «m»$, $v = 0.001\, \mathbf g^2 = «v»$; corrected these are $\mathbf g$
    and $\mathbf g^2$.

    (b) By $-\eta\, \hat m / \sqrt{\hat v} = -\eta\, \operatorname{sign} \mathbf g = «adam»$, whatever the
    gradient's size; plain descent: $-\eta\, \mathbf g = «plain»$.

    (c) $m / \sqrt v = 0.1 / \sqrt{0.001} \approx 3.2$ in place of 1: the first steps would be more than three times
    as long.

    *Marks.* 1 point: (a), with the correction. 2 points: (b), 1 of them for the sign alone. 1 point: (c).
    """
    eta = pick(rng, (0.001, 0.002, 0.01))
    g = [pick(rng, (2, 4, 8, 10)), -pick(rng, (0.1, 0.2, 0.5, 0.05))]
    if rng.random() < 0.5:
        g.reverse()
    change = [-eta if one > 0 else eta for one in g]
    return {"eta": eta, "g": row(g), "gradient": g, "m": row([0.1 * one for one in g]),
            "v": row([0.001 * one * one for one in g]), "adam": row(change), "change": change,
            "plain": row([-eta * one for one in g])}  # fmt: skip


@question("Shapes of a window model", "shapes", points=5, minutes=6, objective=1, level=1)
def window_shapes(rng):
    r"""A batch holds $B = «B»$ windows of $«w»$ tokens. The vectors have width $«d»$, the hidden layer has $«h»$ units,
    the vocabulary $«V»$ types. The batch comes first, and the code computes `e @ W.T`.

    Give the shapes of the ids, of the looked-up vectors before and after they are put side by side, of $W$ and $U$,
    and of the logits.

    *Solution.* Ids $(«B», «w»)$; vectors $(«B», «w», «d»)$, side by side $(«B», «e»)$; $W$ is $(«h», «e»)$, $U$ is
    $(«V», «h»)$; logits $(«B», «V»)$.

    *Marks.* 1 point: the ids. 1 point: both shapes of the vectors. 1 point: $W$. 1 point: $U$. 1 point: the logits.
    """
    B, w, d, h, V = (
        pick(rng, (16, 32, 64)),
        whole(rng, 2, 6),
        pick(rng, (20, 24, 50)),
        pick(rng, (90, 110, 128)),  # no product of the two above: W is not square
        pick(rng, (500, 2000, 8000)),
    )
    return {"B": B, "w": w, "d": d, "h": h, "V": V, "e": w * d}


@question("One block for each position", "derivation", points=4, minutes=7, objective=5, level=3)
def block_for_each_place():
    r"""Write $W \mathbf e$ of a model with a window of three,
    $\mathbf e = [E\,\mathbf x_{t-3};\ E\,\mathbf x_{t-2};\ E\,\mathbf x_{t-1}]$, as a sum over the positions of the
    window. Use it to show two things: a word that has only been seen at position $t-1$ in training acts through
    untrained weights at position $t-3$, and a model in which the three blocks are equal cannot tell the order of the
    three words.

    *Solution.* Cut $W = [W_3\ W_2\ W_1]$ into blocks of $d$ columns. Then
    $W \mathbf e = W_3 E \mathbf x_{t-3} + W_2 E \mathbf x_{t-2} + W_1 E \mathbf x_{t-1}$, since a product with a
    stacked vector is the sum of the products of the blocks.

    At $t-3$ the word acts through $W_3$, whose product with this word's vector was never part of a loss; only $W_1$
    was fitted to it (other words have trained $W_3$ for themselves). With $W_1 = W_2 = W_3$ the sum is
    $W_1 E\, (\mathbf x_{t-3} + \mathbf x_{t-2} + \mathbf x_{t-1})$, which does not change if the words are
    exchanged.

    *Marks.* 2 points: the sum of blocks, 1 of them for the reason. 1 point: another block at another position.
    1 point: equal blocks lose the order.
    """


@question("A loss near zero", "bug", points=4, minutes=6, objective=4, level=2)
def shifted_window_bug():
    r"""A model with a window of `k` tokens reaches a loss near 0 on training text and on held-out text, and what it
    writes repeats one word. Its batches are made so:

    ```python
    def batch(ids, k, starts):
        windows = torch.stack([ids[s : s + k] for s in starts])
        targets = torch.stack([ids[s + k - 1] for s in starts])
        return windows, targets
    ```

    Say what is wrong, why held-out text does not show it, why the samples look as they do, and write the line as it
    should be.

    *Solution.* The target is the last token of the window, so the answer is in the input. The held-out batches
    are made by the same function, so copying works there too. When it writes, the model copies the newest word
    again and again. Right: `ids[s + k]`.

    *Marks.* 1 point: the answer is in the input. 1 point: held-out text is cut in the same way. 1 point: copying as
    the cause of the repetition. 1 point: the line.
    """


@question("Three words never seen together", "words", points=4, minutes=6, objective=5, level=2)
def unseen_histories():
    r"""“The ferry was late” never occurs in the training text, “the train was late” does, and so do many sentences with
    trains and ferries. Explain in about three sentences why a neural model can predict “late” after “the ferry was”
    where a trigram model without smoothing cannot, and name a case in which it cannot either.

    *Solution.* Training moves the vectors of *ferry* and *train* towards each other, because both occur in similar
    surroundings. The prediction is a smooth function of the vectors, so what was learned after “the train was” also
    holds nearly after “the ferry was”. It does not help for a word that is so rare that its vector has hardly been
    trained (or for one that lies outside the window).

    *Marks.* 1 point: similar surroundings give similar vectors. 1 point: similar vectors give similar predictions.
    1 point: counts share nothing between different histories. 1 point: a case where it fails, with its reason.
    """


@question("The first loss", "what if", points=4, minutes=5, objective=4, level=2)
def first_loss(rng):
    r"""A model over $|V| = «V»$ types starts with small random weights.

    (a) Near which loss, in nats, does it start, and near which perplexity?

    (b) Another starts at a loss of $«high»$. What is likely wrong with its weights at the start?

    (c) A third starts at a loss of $«low»$. What do you look for?

    *Solution.* (a) All logits are nearly equal, so every type has probability $\tfrac{1}{«V»}$:
    $\ln «V» \approx «J:.2f»$ nats, perplexity $«V»$.

    (b) It is sure of wrong answers before it has learned anything: its logits are large, the weights are too big.

    (c) For a leak: nothing can be known before training, so the target must be in the input, or the loss is
    computed or averaged wrongly (over padding, for instance).

    *Marks.* 2 points: (a), 1 for each. 1 point: (b). 1 point: (c).
    """
    V = pick(rng, (50, 100, 500, 1000, 5000, 10_000, 20_000))
    J = math.log(V)
    return {"V": V, "J": J, "high": round(J * 2 + whole(rng, 0, 3), 1), "low": round(J / 4, 1)}
