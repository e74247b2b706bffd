"""Questions to chapter 6, Recurrence."""

from fractions import Fraction

from lmbook_exams.question import pick, question, until, whole


@question("Two steps back through time", points=6, minutes=9, objective=3, level=2)
def two_steps_back(rng):
    r"""A recurrent network with one unit and no $\tanh$ computes $h_t = w\, h_{t-1} + u\, x_t$. Here $h_0 = «h0»$,
    $w = «w»$, $u = «u»$, $x_1 = «x1»$, $x_2 = «x2»$, and the loss is $L = \tfrac12 (h_2 - y)^2$ with $y = «y»$.

    (a) Compute $h_1$, $h_2$ and $L$.

    (b) Give $\partial L / \partial h_2$, $\partial L / \partial h_1$, $\partial L / \partial w$ and
    $\partial L / \partial u$.

    (c) Truncation stops the gradient after one step: $h_1$ counts as a constant. What is $\partial L / \partial w$
    then?

    *Solution.* (a) $h_1 = «h1»$, $h_2 = «h2»$, $L = «L»$.

    (b) $\partial L / \partial h_2 = h_2 - y = «e»$ and $\partial L / \partial h_1 = w \cdot «e» = «e1»$. Weights
    are shared, so both steps add: $\partial L / \partial w = «e» \cdot h_1 + «e1» \cdot h_0 = «dw»$, and
    $\partial L / \partial u = «e» \cdot x_2 + «e1» \cdot x_1 = «du»$.

    (c) Only the second step is left: $«e» \cdot h_1 = «short»$.

    *Marks.* 1 point: the forward pass. 1 point: the gradients of the states. 1 point: both steps add. 2 points: the
    values for $w$ and $u$. 1 point: (c).
    """

    def draw():
        w, u, h0, x1, x2 = (
            pick(rng, (2, 3, -2)),
            pick(rng, (2, 3, -1)),
            *(pick(rng, (-3, -2, 1, 2, 3)) for _ in range(3)),
        )
        h1 = w * h0 + u * x1
        return w, u, h0, x1, x2, h1, w * h1 + u * x2, pick(rng, (-3, -2, 2, 3))

    # No state, target or gradient is 0.
    w, u, h0, x1, x2, h1, h2, e = until(
        draw, lambda w, u, h0, x1, x2, h1, h2, e: 0 not in (h1, h2, h2 - e, h1 + w * h0, x2 + w * x1)
    )
    return {"h0": h0, "w": w, "u": u, "x1": x1, "x2": x2, "y": h2 - e, "h1": h1, "h2": h2, "L": Fraction(e * e, 2),
            "e": e, "e1": w * e, "dw": e * h1 + w * e * h0, "du": e * x2 + w * e * x1, "short": e * h1}  # fmt: skip


@question("With the tanh", points=4, minutes=7, objective=3, level=2)
def through_tanh(rng):
    r"""In $h_t = \tanh(w\, h_{t-1} + x_t)$ with $w = «w»$ the states are $h_0 = «h0»$, $h_1 = «h1»$ and $h_2 = «h2»$.

    (a) Give $\partial h_2 / \partial h_1$ and $\partial h_2 / \partial h_0$.

    (b) Give $\partial h_2 / \partial w$.

    (c) What happens to these derivatives if the states come close to 1?

    *Solution.* (a) Since $\tanh' = 1 - \tanh^2$: $\partial h_2 / \partial h_1 = (1 - h_2^2)\, w = «d2»$, and
    $\partial h_1 / \partial h_0 = (1 - h_1^2)\, w = «d1»$; the product is $«d20»$.

    (b) $(1 - h_2^2)\, h_1 + «d2» \cdot (1 - h_1^2)\, h_0 = «dw»$: one term for each time that $w$ occurs.

    (c) They go to 0, as $1 - h^2$ does, whatever $w$ is.

    *Marks.* 1 point: the derivative of $\tanh$ by the state. 1 point: the product. 1 point: both terms of (b).
    1 point: (c).
    """
    w = pick(rng, (Fraction(1, 2), Fraction(3, 2), 2, -1, -2))
    h0, h1, h2 = until(
        lambda: [
            pick(rng, [Fraction(s * a, b) for a, b in ((3, 5), (4, 5), (1, 2)) for s in (1, -1)]) for _ in range(3)
        ],
        lambda h0, h1, h2: (
            h1 + w * (1 - h1 * h1) * h0 and abs(h1) != abs(h2)
        ),  # else it is 0, or one slope serves twice
    )
    d2, d1 = (1 - h2 * h2) * w, (1 - h1 * h1) * w
    return {"w": w, "h0": h0, "h1": h1, "h2": h2, "d2": d2, "d1": d1, "d20": d2 * d1,
            "dw": (1 - h2 * h2) * h1 + d2 * (1 - h1 * h1) * h0}  # fmt: skip


@question("Counting a recurrent model", points=5, minutes=7, objective=1, level=1)
def recurrent_parameters(rng):
    r"""A recurrent language model has $|V| = «V»$ types, embeddings of width $P = «P»$ and $m = «m»$ units, with biases
    $\mathbf b_h$ and $\mathbf b_y$.

    (a) Give the shapes of $W_{hh}$, $W_{xh}$ and $W_{hy}$.

    (b) How many parameters does the model have, with its embeddings?

    (c) How many more does it need for texts twice as long? How does a model with a fixed window compare?

    *Solution.* (a) $W_{hh}$ is $«m» \times «m»$, $W_{xh}$ is $«m» \times «P»$, $W_{hy}$ is $«V» \times «m»$.

    (b) $|V| P + m^2 + m P + m + |V| m + |V| = «E» + «hh» + «xh» + «m» + «hy» + «V» = «all»$.

    (c) None: the same weights serve every step. A window that is twice as long needs twice as many weights in its
    first layer.

    *Marks.* 1 point: the shapes. 1 point: embeddings and output. 1 point: the recurrent layer. 1 point: the biases
    and the sum. 1 point: (c).
    """
    V, P, m = pick(rng, (1000, 5000, 10_000)), pick(rng, (50, 100, 200)), pick(rng, (40, 120, 150))
    parts = {"E": V * P, "hh": m * m, "xh": m * P, "hy": V * m}
    return {"V": V, "P": P, "m": m, **parts, "all": sum(parts.values()) + m + V}


@question("Streams and windows", points=4, minutes=6, objective=4, level=2)
def streams(rng):
    r"""A text of $«n»$ tokens is cut into $B = «B»$ contiguous streams of equal length, what is left over is dropped.
    Training goes through the streams in windows of $k = «k»$ tokens, each of which predicts the $k$ tokens that
    follow by one position; the last, incomplete window is dropped too.

    (a) How long is a stream, and how many updates does one pass through the text make?

    (b) The state is handed on between windows. Which of its effects survive the border: does information, does the
    gradient?

    (c) Name one reason for a small $k$ and one for a large one.

    *Solution.* (a) $\lfloor «n» / «B» \rfloor = «length»$ tokens. The last token is only a target, so
    $\lfloor («length» - 1) / «k» \rfloor = «steps»$ windows and as many updates.

    (b) Information does: the state enters the next window. The gradient does not: it stops at the border, so
    nothing is learned about keeping something for longer for its own sake.

    (c) Small: less memory, since the states of a window are kept for the way back, and more updates. Large: the
    gradient sees longer dependencies.

    *Marks.* 2 points: (a), 1 for each. 1 point: (b). 1 point: (c).
    """
    B, k = pick(rng, (8, 16, 20, 32)), pick(rng, (10, 20, 25, 35))
    steps = whole(rng, 12, 90)
    length = steps * k + 1 + whole(rng, 0, k - 2)
    return {"n": length * B + whole(rng, 1, B - 1), "B": B, "k": k, "length": length, "steps": steps}


@question("How long does an influence last?", points=4, minutes=5, objective=2, level=2)
def influence(rng):
    r"""In a linear recurrent network with one unit, $h_t = w\, h_{t-1} + x_t$ and $w = «w»$.

    (a) By how much does $h_{t+k}$ change if $x_t$ grows by 1?

    (b) From which $k$ on is that less than $\tfrac{1}{«limit»}$?

    (c) “A recurrent network has an infinite memory.” Say in which sense (a) agrees and in which (b) does not.

    *Solution.* (a) $w^k$. (b) $\left(«w»\right)^k < \tfrac1{«limit»}$ first for $k = «k»$.

    (c) $w^k$ is never exactly 0, so every token has some influence for ever; but it fades exponentially, and after
    $«k»$ steps it is below what matters (and soon below the rounding).

    *Marks.* 1 point: (a). 1 point: (b). 2 points: (c), 1 for each sense.
    """
    # No power of these is quickly found in the head: every version needs a logarithm.
    w, limit = pick(rng, (Fraction(2, 3), Fraction(3, 5), Fraction(3, 4))), pick(rng, (50, 100, 200, 500, 1000, 2000))
    k = next(k for k in range(1, 100) if w**k < Fraction(1, limit))
    return {"w": w, "limit": limit, "k": k}


@question("One matrix, many steps", "derivation", points=5, minutes=9, objective=3, level=3)
def sum_over_steps():
    r"""Let $\mathbf a_t = W_{hh} \mathbf h_{t-1} + W_{xh} \mathbf x_t$, $\mathbf h_t = \tanh(\mathbf a_t)$, and let the
    loss $L = \sum_t L_t$ depend on $\mathbf h_1, \dots, \mathbf h_T$. Derive the backward recursion for
    $\partial L / \partial \mathbf a_t$ and show that
    $\partial L / \partial W_{hh} = \sum_t \frac{\partial L}{\partial \mathbf a_t}\, \mathbf h_{t-1}^\top$. Why is
    there a sum?

    *Solution.* $\mathbf h_t$ acts in two ways, through $L_t$ and through $\mathbf a_{t+1}$, so
    $\frac{\partial L}{\partial \mathbf h_t} = \frac{\partial L_t}{\partial \mathbf h_t} + W_{hh}^\top \frac{\partial L}{\partial \mathbf a_{t+1}}$
    (the second term is missing for $t = T$), and
    $\frac{\partial L}{\partial \mathbf a_t} = \frac{\partial L}{\partial \mathbf h_t} \odot (1 - \mathbf h_t^2)$.

    Give each step its own copy $W^{(t)}$ of the matrix. Then
    $\partial L / \partial W^{(t)} = \frac{\partial L}{\partial \mathbf a_t}\, \mathbf h_{t-1}^\top$, as for any
    linear layer. All copies are one matrix, and the derivative with respect to a shared variable is the sum over its uses.

    *Marks.* 2 points: both ways of $\mathbf h_t$. 1 point: the factor of the $\tanh$. 1 point: the outer product of
    one step. 1 point: the sum, with the reason.
    """


@question("Memory that grows", "bug", points=4, minutes=6, objective=4, level=2)
def detach_bug():
    r"""A training loop of a recurrent model with carried state stops at the second window: torch complains that it should
    go back through a graph a second time.

    ```python
    state = model.start(batch_size)
    for inputs, targets in windows:
        logits, state = model(inputs, state)
        loss = F.cross_entropy(logits.flatten(0, 1), targets.flatten())
        optimizer.zero_grad(); loss.backward(); optimizer.step()
    ```

    (a) What is missing, and where? (b) What would it cost in memory and time to keep all graphs instead? (c) A colleague repairs it by calling
    `model.start` inside the loop. What is lost by that?

    *Solution.* (a) The state must be cut off from the graph that made it: `state = state.detach()` before the next
    window (of every tensor in it). (b) The graph of each window hangs on those of all windows before. If they were
    kept, memory would grow with every window, and so would the time of the way back, which goes through all of them. (c) The state is then empty at the start of each
    window: the model forgets what came before, and the first tokens of each window are predicted without any
    history.

    *Marks.* 1 point: detach, in the loop. 1 point: the graph reaches back to the first window. 2 points: (c), the
    information across borders and its effect.
    """


@question("Taught, and left alone", "words", points=4, minutes=6, objective=6, level=2)
def free_running():
    r"""A character model has a loss of 1.5 nats per character on held-out text, and yet its own writing drifts after
    some hundred characters into something that no text contains. Explain in about three sentences how both go
    together, and describe one measurement that would show the drift as a number.

    *Solution.* The loss is measured with the true history at every step (teacher forcing), so a mistake never
    becomes history. When the model writes by itself, its own characters are the history; an unlikely one leads to
    states that it never met in training, where it predicts worse, and so on. One can let it write, and score the
    text that it wrote with another model (or with counts) by distance from the start; or compare the loss on true
    text after a true prefix with that after a prefix of its own.

    *Marks.* 1 point: true histories in the loss. 1 point: own outputs as history. 1 point: mistakes add up, in
    states not met in training. 1 point: a measurement that gives a number and could come out either way.
    """


@question("Without the recurrence", "what if", points=4, minutes=6, objective=1, level=3)
def without_recurrence():
    r"""In a recurrent language model $\mathbf h_t = \tanh(W_{hh} \mathbf h_{t-1} + W_{xh} \mathbf x_t + \mathbf b_h)$
    somebody sets $W_{hh} = 0$ and trains the rest. Which model of an earlier chapter can it equal at best? Near
    the perplexity of which model of chapter 2 do you expect it? What could be computed at the same time now that could
    not before?

    *Solution.* $\mathbf h_t$ is then a function of $\mathbf x_t$ alone: the model predicts the next word from the
    last one, as a bigram model does (a smooth one, since similar words have similar vectors). So it comes near the
    bigram models of chapter 2, and stays well behind the recurrent network. All steps can be computed at once,
    because none needs the state before.

    *Marks.* 1 point: the state depends on the last word only. 1 point: a bigram model. 1 point: its perplexity as
    the one to expect. 1 point: all steps in parallel.
    """
