"""Questions to chapter 7, Vanishing gradients, LSTM and GRU."""

import math
from fractions import Fraction

from lmbook_exams.question import matrix, pick, question, row, shown, some, until, whole


def gate(r: Fraction) -> Fraction:
    """sigma(ln r)."""
    return r / (r + 1)


def logarithm(r: Fraction) -> str:
    """ln r as TeX: 0 for 1, -ln 3 for 1/3."""
    if r == 1:
        return "0"
    return rf"\ln {r}" if r > 1 else rf"-\ln {1 / r}"


@question("A step of an LSTM", points=5, minutes=7, objective=3, level=1)
def lstm_step(rng):
    r"""An LSTM with one unit has $c_{t-1} = «c0»$. Before their sigmoids the gates are $«ai»$ (input), $«af»$ (forget)
    and $«ao»$ (output), and the candidate is $g_t = «g»$.

    (a) Give $i_t$, $f_t$ and $o_t$. (b) Give $c_t$. (c) Write $h_t$ down, without computing the $\tanh$. (d) Which
    gate would you close so that this step leaves no trace in the memory, and which one would you open?

    *Solution.* (a) With $\sigma(\ln r) = r / (r + 1)$: $i_t = «i»$, $f_t = «f»$, $o_t = «o»$.

    (b) $c_t = f_t\, c_{t-1} + i_t\, g_t = «f» \cdot «c0» + «i» \cdot «g» = «c»$. (c)
    $h_t = «o» \tanh «c» \approx «h:.3f»$.

    (d) Close the input gate and open the forget gate: $i_t = 0$, $f_t = 1$ give $c_t = c_{t-1}$.

    *Marks.* 1 point: the gates. 2 points: $c_t$, 1 of them for the right gate at each term. 1 point: $h_t$.
    1 point: (d), both gates.
    """
    ratios = [Fraction(n) for n in (2, 3, 4)] + [Fraction(1, n) for n in (2, 3, 4)]
    i, f, o = some(rng, ratios, 3)
    c0, g = until(
        lambda: (pick(rng, (2, 4, -2, 3)), pick(rng, [Fraction(n, 10) for n in (5, -5, 6, -8)])),
        lambda c0, g: gate(f) * c0 + gate(i) * g,
    )
    c = gate(f) * c0 + gate(i) * g
    return {"c0": c0, "ai": logarithm(i), "af": logarithm(f), "ao": logarithm(o), "g": g, "ratios": (i, f, o),
            "i": gate(i), "f": gate(f), "o": gate(o), "c": c, "h": float(gate(o)) * math.tanh(c)}  # fmt: skip


@question("A step of a GRU", points=4, minutes=6, objective=3, level=1)
def gru_step(rng):
    r"""A GRU with one unit, in the form of this book: $n_t = \tanh\big(w x_t + r_t\, u\, h_{t-1}\big)$ and
    $h_t = z_t\, h_{t-1} + (1 - z_t)\, n_t$. Here $h_{t-1} = «h0»$, $w x_t = «x»$, $u = «u»$, $r_t = «r»$,
    $z_t = «z»$, and you may use $\tanh(\ln «k») = «n»$.

    (a) Give $n_t$ and $h_t$. (b) For which $z_t$ is $h_t = h_{t-1}$, for which $h_t = n_t$? (c) What does $r_t = 0$
    do to the candidate?

    *Solution.* (a) Inside the $\tanh$ stands $«x» + «r» \cdot «u» \cdot «h0» = \ln «k»$, so $n_t = «n»$ and
    $h_t = «z» \cdot «h0» + «rest» \cdot «n» = «h»$.

    (b) $z_t = 1$ keeps the old state, $z_t = 0$ takes the candidate. (c) The candidate is computed from the input
    alone, as at the start of a text.

    *Marks.* 2 points: (a), 1 for each. 1 point: (b). 1 point: (c).
    """
    k, h0 = pick(rng, (2, 3)), pick(rng, (Fraction(1, 2), Fraction(1, 4), Fraction(-1, 2)))
    n = Fraction(k * k - 1, k * k + 1)
    r, z, u = (
        pick(rng, (Fraction(1, 2), Fraction(1, 4))),
        pick(rng, (Fraction(1, 4), Fraction(3, 4), Fraction(1, 5))),
        pick(rng, (2, 4, 8)),
    )
    product = r * u * h0
    x = rf"\ln {k} {'-' if product > 0 else '+'} {shown(abs(product))}"
    return {"h0": h0, "x": x, "u": u, "r": r, "z": z, "k": k, "n": n, "rest": 1 - z, "h": z * h0 + (1 - z) * n}


@question("A matrix that first helps", points=5, minutes=8, objective=1, level=3)
def non_normal(rng):
    r"""A linear recurrent network $\mathbf h_t = W \mathbf h_{t-1} + \mathbf x_t$ has

    $$
    W = \begin{pmatrix} \tfrac12 & «a» \\ 0 & \tfrac12 \end{pmatrix}.
    $$

    (a) What is its spectral radius? (b) Compute $W^2$ and $W^3$. (c) For which power or powers $W^k$ is the
    entry at the top right largest? (d) What does this say about gradients, after a few steps and after very many?

    *Solution.* (a) The eigenvalues are on the diagonal: $\rho(W) = \tfrac12$. (b) $W^2 = «W2»$, $W^3 = «W3»$.

    (c) $W^k$ has $«a» \cdot k\, (\tfrac12)^{k-1}$ there, which is $«a», «b», «c», \dots$: largest for $k = 1$ and
    $k = 2$.

    (d) In the first steps a gradient can be larger than at the start (the largest singular value exceeds 1), and
    yet it must vanish in the end, since the spectral radius is below 1.

    *Marks.* 1 point: (a). 2 points: (b). 1 point: (c). 1 point: (d), both halves.
    """
    a = whole(rng, 2, 9)
    half = Fraction(1, 2)
    W2 = [[half**2, a * 1], [0, half**2]]
    W3 = [[half**3, a * 3 * half**2], [0, half**3]]
    return {"a": a, "W2": matrix(W2), "W3": matrix(W3), "second": W2, "third": W3, "b": a, "c": a * Fraction(3, 4)}


@question("Clipping", points=4, minutes=5, objective=2, level=1)
def clipping(rng):
    r"""Two steps of a training have the gradients $\mathbf g_1 = «g1»$ and $\mathbf g_2 = «g2»$. Gradients are clipped
    to the norm $\theta = «theta»$.

    (a) Give both gradients after clipping. (b) What does clipping keep, and what not? (c) Does it help against
    vanishing gradients?

    *Solution.* (a) $\lVert \mathbf g_1 \rVert = «n1»$ is larger than $\theta$, so $\mathbf g_1$ becomes
    $«factor»\, \mathbf g_1 = «c1»$. $\lVert \mathbf g_2 \rVert = «n2»$ is not, so $\mathbf g_2$ stays.

    (b) It keeps the direction and bounds the length. What is lost is how long a long gradient was. (c) No: it only
    makes long gradients shorter. The ratio of the contributions of near and far steps within a gradient stays as it
    was.

    *Marks.* 2 points: (a), 1 for each. 1 point: (b). 1 point: (c), with the reason.
    """
    a, b, c = pick(rng, ((3, 4, 5), (5, 12, 13), (8, 6, 10), (4, 3, 5)))
    k, theta = whole(rng, 2, 5), pick(rng, (1, 2, 5))
    k = max(k, 2 + theta // c)
    scale = Fraction(1, 10) * theta
    small = pick(rng, ((3, 4), (4, 3), (-3, 4)))
    return {
        "g1": row([k * a, -k * b]),
        "long": [k * a, -k * b],
        "g2": row([scale * one for one in small]),
        "theta": theta,
        "n1": k * c,
        "n2": scale * 5,
        "factor": Fraction(theta, k * c),
        "c1": row([Fraction(theta * a, c), -Fraction(theta * b, c)]),
        "clipped": [Fraction(theta * a, c), -Fraction(theta * b, c)],
    }


@question("What a forget gate forgets", points=4, minutes=6, objective=4, level=2)
def forgetting(rng):
    r"""The forget gate of a unit has a constant value $f = \sigma(b)$, and its input gate is closed.

    (a) Give $f$ for $b = \ln «r»$, and the share of the memory that is left after $«k»$ steps.

    (b) What is $\partial c_{t+k} / \partial c_t$ for $k = «k»$, if the gates do not depend on the state?

    (c) How large must $f$ be, so that after 100 steps more than a third is left? (Use
    $(1 - \tfrac1n)^n \approx \tfrac1e$.) Why does one start with a positive bias of this gate?

    *Solution.* (a) $f = \tfrac{«r»}{«r1»}$, and $f^{«k»} = «left» \approx «left:.3f»$. (b) The same, $f^{«k»}$: the
    derivative of each step is $f$.

    (c) Above about $1 - \tfrac1{100} = 0.99$. With a bias of 0 the gate is $\tfrac12$ before anything was learned,
    and the memory (with its gradient) is gone after a few steps; then nothing far away can be learned.

    *Marks.* 1 point: (a). 1 point: (b). 2 points: (c), 1 of them for the reason.
    """
    r, k = pick(rng, (2, 3, 4, 9)), whole(rng, 3, 4)
    return {"r": r, "r1": r + 1, "k": k, "left": Fraction(r, r + 1) ** k}


@question("The sizes of three cells", points=4, minutes=6, objective=3, level=1)
def cell_sizes(rng):
    r"""Inputs have width $P = «P»$. Count weights only, no biases.

    (a) How many do a plain recurrent cell, a GRU and an LSTM have, each with $m = «m»$ units?

    (b) An LSTM and a plain cell shall have equally many weights, and inputs as wide as the state ($P = m$ in each).
    By which factor is the plain cell wider?

    (c) How many numbers does each cell hand on to the next step?

    *Solution.* (a) Plain: $m^2 + m P = «rnn»$. GRU: three times that, $«gru»$. LSTM: four times, $«lstm»$.

    (b) $8 m_{\text{LSTM}}^2 = 2 m_{\text{plain}}^2$, so by 2. (c) Plain and GRU $m = «m»$, the LSTM $2m = «both»$:
    $\mathbf h_t$ and $\mathbf c_t$.

    *Marks.* 2 points: (a), 1 of them for the plain cell. 1 point: (b). 1 point: (c).
    """
    P, m = some(rng, (20, 50, 64, 100, 128, 200), 2)
    rnn = m * m + m * P
    return {"P": P, "m": m, "rnn": rnn, "gru": 3 * rnn, "lstm": 4 * rnn, "both": 2 * m}


@question("Why an addition keeps a gradient", "derivation", points=5, minutes=9, objective=4, level=3)
def carousel():
    r"""(a) Give the Jacobian of one step of the plain network,
    $\mathbf h_s = \tanh(W_{hh} \mathbf h_{s-1} + W_{xh} \mathbf x_s)$, and from it a bound of
    $\lVert \partial \mathbf h_T / \partial \mathbf h_t \rVert$ by the largest singular value $\sigma_1(W_{hh})$.

    (b) In an LSTM let the gates and the candidate depend on the input only. Derive
    $\partial \mathbf c_T / \partial \mathbf c_t$. Which factor of (a) has gone?

    (c) What does this simplification leave out?

    *Solution.* (a) $J_s = \operatorname{diag}(1 - \mathbf h_s^2)\, W_{hh}$. The norm of a product is at most the
    product of norms, and the diagonal entries are at most 1:
    $\lVert J_T \cdots J_{t+1} \rVert \le \sigma_1(W_{hh})^{T-t}$.

    (b) $\mathbf c_s = \mathbf f_s \odot \mathbf c_{s-1} + \mathbf i_s \odot \mathbf g_s$ gives
    $\operatorname{diag}(\mathbf f_s)$ for each step, hence
    $\operatorname{diag}(\mathbf f_T \odot \cdots \odot \mathbf f_{t+1})$. No matrix and no derivative of a
    squashing function is multiplied again and again; gates near 1 keep the gradient.

    (c) The paths through $\mathbf h_{s-1}$, on which the gates and the candidate depend in a real LSTM.

    *Marks.* 2 points: (a), 1 of them for the bound. 2 points: (b), 1 of them for what has gone. 1 point: (c).
    """


@question("A cell that almost works", "bug", points=4, minutes=6, objective=3, level=2)
def lstm_bug():
    r"""A student's LSTM learns, but loses everything after a few steps.

    ```python
    i, f, o = (torch.sigmoid(a) for a in (a_i, a_f, a_o))
    g = torch.tanh(a_g)
    c = f * torch.tanh(c) + i * g
    h = o * torch.tanh(c)
    return h, h
    ```

    The last line returns the new state, $(\mathbf h_t, \mathbf c_t)$. Find the two mistakes, and say for each why
    it shortens the memory.

    *Solution.* `torch.tanh(c)` in the third line squashes the memory at every step: its value is at most 1, and the
    derivative $1 - \tanh^2$ is multiplied in again at every step. Right: `c = f * c + i * g`.

    `return h, h` hands on the output in place of the memory: the next step starts from what the output gate let
    through, and whatever it held back is lost. Right: `return h, c`.

    *Marks.* 1 point: the first mistake. 1 point: its effect. 1 point: the second. 1 point: its effect.
    """


@question("Clipped, and still forgetful", "words", points=4, minutes=6, objective=2, level=2)
def clipping_does_not_lengthen():
    r"""A plain recurrent network cannot carry a symbol over 50 steps. A colleague has seen its gradients explode now
    and then and says: “Clip them, then it will learn the long gap.” Explain in about three sentences what clipping
    will change and what not, and what you would change instead.

    *Solution.* Clipping keeps a rare huge gradient from throwing the weights far away, so training becomes steady.
    It does not make the part of the gradient that comes from 50 steps back larger: within one gradient, near and
    far parts are scaled by the same factor, and the far part is still many times smaller. A cell whose memory is
    added to (LSTM or GRU, with an open forget gate at the start) or a direct connection over the gap changes the
    ratio itself.

    *Marks.* 1 point: steadier steps. 1 point: one factor for near and far. 1 point: the far part stays small.
    1 point: a change that acts on the product of Jacobians.
    """


@question("Gates that never move", "what if", points=4, minutes=6, objective=4, level=3)
def fixed_gates():
    r"""An LSTM is trained with all its gates fixed: $\mathbf i_t = \mathbf f_t = \mathbf o_t = 1$. What does the memory
    then compute? What is good about its gradient? Name two things that it cannot do any more, with a task for each.

    *Solution.* $\mathbf c_t = \mathbf c_{t-1} + \mathbf g_t$: the sum of all candidates so far. The direct path
    keeps the gradient whole over any number of steps. It cannot forget: a new sentence or a closed bracket leaves
    the old content in the sum, which also grows without end and drives $\tanh(\mathbf c_t)$ into saturation. It
    cannot choose what is written: when one symbol among many has to be kept (recall over a gap), everything that
    comes between is added as well.

    *Marks.* 1 point: a running sum. 1 point: the gradient is kept. 1 point: no forgetting, with a task. 1 point: no
    choice of what is written, with a task.
    """


@question("What a gate can tell", "what if", points=4, minutes=6, objective=6, level=3)
def gate_and_output():
    r"""Over a long text the forget gate of one unit of a trained LSTM has a geometric mean of 0.98.

    (a) After how many characters is half of its memory left, if nothing new comes in? (b) Its memory $c$ stays near 8
    all the time. How large is the slope $1 - \tanh^2 c$ of its output there, to a power of ten, and what can the
    rest of the network learn from this unit? (c) Describe a measurement, without looking at gates, that says how far
    back the whole model looks.

    *Solution.* (a) $0.98^k = \frac12$ at $k = \ln 0.5 / \ln 0.98 \approx 34$. (b) About
    $4 e^{-16} \approx 4.5 \cdot 10^{-7}$: $\tanh(c)$ is 1 whatever is read, so $h = o$. The rest of the network learns
    what the output gate makes of $\mathbf x_t$ and $\mathbf h_{t-1}$, and nothing of the long memory. (c) Start the model
    from the empty state $k$ characters before each position and measure the loss there. The $k$ from which it stops
    falling is how far back the model looks.

    *Marks.* 1 point: (a). 2 points: (b), 1 for the slope. 1 point: (c).
    """
