"""Questions to chapter 22, From the next word to an answer."""

import math
from fractions import Fraction

from lmbook_exams.question import pick, question, row, some, until, whole


@question("What is learned of a dialogue", points=4, minutes=5, objective=1, level=1)
def learned_tokens(rng):
    r"""A batch has two dialogues in the template `<user> … <assistant> … <end>`. In the first the question has «a»
    words and the answer «b», in the second «c» and «d». Each word and each marker is a token.

    (a) How many tokens do the two dialogues have, markers and ends included? (b) How many of them are learned? (c) The
    tokens learned in the first have $-\ln P = «p»$ each, those in the second «q». What is the loss of the batch, per
    token learned? (d) What does the model do in use if `<end>` is not learned?

    *Solution.* (a) $«a» + «b» + «c» + «d» + 6 = «all»$. (b) $«b» + 1 + «d» + 1 = «learned»$. (c)
    $(«first» \cdot «p» + «second» \cdot «q») / «learned» = «loss»$. (d) It does not stop: after the answer it writes
    whatever seems to follow.

    *Marks.* 1 point: (a). 1 point: (b). 1 point: (c), not the mean of two means. 1 point: (d).
    """
    a, c, (b, d) = whole(rng, 2, 9), whole(rng, 2, 9), pick(rng, ((1, 5), (2, 8), (3, 11), (1, 7), (4, 14)))
    p, q = some(rng, (1, 2, 3, 4), 2)
    return {"a": a, "b": b, "c": c, "d": d, "p": p, "q": q, "all": a + b + c + d + 6, "learned": b + d + 2,
            "first": b + 1, "second": d + 1, "loss": Fraction((b + 1) * p + (d + 1) * q, b + d + 2)}  # fmt: skip


@question("A thin product", points=5, minutes=7, objective=2, level=2)
def thin_product(rng):
    r"""A matrix $W$ of $«n» \times «m»$ is tuned by LoRA of rank $r = «r»$, with $\alpha = r$.

    (a) How many numbers are learned, and how many would be without LoRA? (b) A smaller $W$,
    of $2 \times 2$, has $B = «B»^\top$ and $A = «A»$, of rank 1. Give its change. (c) Why does $B$ start at 0, and what would be wrong with both starting at 0? (d)
    How much longer does a forward pass take after merging?

    *Solution.* (a) $«r» («n» + «m») = «thin»$ in the place of $«full»$. (b) $«change»$, row by row. (c) So that the
    model starts as it was. With both at 0 neither gets a gradient: that of $A$ has $B$ as a factor, and that of $B$ has
    $A$. (d) Not at all: the product is added to $W$.

    *Marks.* 1 point: (a). 1 point: (b). 2 points: (c), 1 for each half. 1 point: (d).
    """
    n, m, r = pick(rng, (64, 128, 256)), pick(rng, (64, 128, 512)), pick(rng, (1, 2, 4, 8))
    A, B = some(rng, (-2, -1, 1, 2, 3), 2), some(rng, (-3, -1, 1, 2, 4), 2)
    change = [[b * a for a in A] for b in B]
    return {"n": n, "m": m, "r": r, "A": row(A), "B": row(B), "a": A, "b": B, "thin": r * (n + m), "full": n * m,
            "change": ",\\; ".join(row(one) for one in change), "product": change}  # fmt: skip


@question("From odds to rewards", points=4, minutes=6, objective=3, level=2)
def odds(rng):
    r"""By the law of Bradley and Terry, answer $a$ beats $b$ in «wab» of «tab» comparisons, and $b$ beats $c$ in «wbc» of
    «tbc».

    (a) Give $R(a) - R(b)$ and $R(b) - R(c)$ for which these shares are exact. (b) How often does $a$ beat $c$ then? (c)
    Someone adds 5 to all rewards. What changes? (d) People beat this law: $a$ over $b$, $b$ over $c$, and $c$ over $a$,
    each in two thirds of the cases. Which rewards fit best, and why is that no help?

    *Solution.* (a) $\ln «oab»$ and $\ln «obc»$. (b) The odds multiply, $«oab» \cdot «obc» = «oac»$, so
    $«oac» / («oac» + 1) = «share»$. (c) Nothing: only differences occur. (d) By symmetry three equal ones, which give
    one half for every pair: a circle has no rewards.

    *Marks.* 1 point: (a). 1 point: (b). 1 point: (c). 1 point: (d).
    """
    oab, obc = pick(rng, (2, 3, 4)), pick(rng, (2, 3, 5))
    oac = oab * obc
    return {"oab": oab, "obc": obc, "oac": oac, "wab": 10 * oab, "tab": 10 * (oab + 1), "wbc": 12 * obc,
            "tbc": 12 * (obc + 1), "share": Fraction(oac, oac + 1)}  # fmt: skip


@question("The best policy at a distance", points=5, minutes=8, objective=3, level=2)
def tilted(rng):
    r"""A reference gives three answers the probabilities $«ref»$. Their rewards are $0$, $\beta \ln «u»$ and
    $\beta \ln «v»$.

    (a) Which policy maximises $E_\pi[R] - \beta \operatorname{KL}(\pi \| \text{ref})$? (b) What is the largest value, as a
    formula? (c)
    What happens to the policy for $\beta \to 0$ and for $\beta \to \infty$, at these rewards held fixed? (d) A policy
    $\pi = «pi»$ is given. Which reward differences $R_2 - R_1$ and $R_3 - R_1$ does DPO see in it?

    *Solution.* (a) $\text{ref}\, e^{R / \beta} = «mass»$, divided by the sum $«Z»$: $«best»$. (b)
    $\beta \ln Z = \beta \ln «Z»$. (c) All probability on the third answer; the reference. (d)
    $\beta \ln (\pi / \text{ref})$ up to a constant: $\beta \ln «d2»$ and $\beta \ln «d3»$.

    *Marks.* 2 points: (a). 1 point: (b). 1 point: (c). 1 point: (d).
    """
    p = pick(rng, ((2, 1, 1), (1, 2, 1), (1, 1, 2)))
    u, v = pick(rng, (2, 3)), pick(rng, (4, 5, 6))
    ref = [Fraction(one, 4) for one in p]
    mass = [ref[0], ref[1] * u, ref[2] * v]

    def policy():
        return ([Fraction(one, 6) for one in pick(rng, ((1, 2, 3), (1, 4, 1), (2, 1, 3), (3, 2, 1), (1, 1, 4)))],)

    (pi,) = until(policy, lambda pi: len({one / before for one, before in zip(pi, ref, strict=True)}) == 3)
    return {"u": u, "v": v, "ref": row(ref), "mass": row(mass), "Z": sum(mass), "best": row([m / sum(mass) for m in mass]),
            "pi": row(pi), "d2": pi[1] / ref[1] / (pi[0] / ref[0]), "d3": pi[2] / ref[2] / (pi[0] / ref[0]),
            "p": ref, "policy": pi, "optimum": [m / sum(mass) for m in mass]}  # fmt: skip


@question("A group of answers", points=5, minutes=7, objective=6, level=2)
def one_group(rng):
    r"""A model gives $G = «G»$ answers to one question. A checker accepts «k» of them, with reward 1, and gives the
    others 0.

    (a) Give the mean and the standard deviation (that divides by $G$) of the rewards. (b) Give the advantages of an
    accepted and of another answer. (c) What are they if all are accepted, and what does this question teach then? (d)
    With plain REINFORCE and no baseline, what happens to the probabilities of accepted and of other answers? Why does
    the mean of the gradient not change when a baseline is subtracted?

    *Solution.* (a) $«mean»$ and $\sqrt{«mean» («rest»)} = «std»$. (b) $«good»$ and $«bad»$. (c) All 0: nothing. (d)
    Accepted ones are pushed up, others are not pushed at all and fall only because probabilities sum to 1. The mean of
    $\nabla \ln \pi$ is 0, so a constant times it is 0 too.

    *Marks.* 1 point: (a). 1 point: (b). 1 point: (c). 2 points: (d), 1 for each half.
    """
    # Not half of them: then the mean is the deviation.
    G, k = pick(rng, ((5, 1), (5, 4), (10, 1), (10, 2), (10, 8), (10, 9), (20, 2), (20, 4), (20, 16), (20, 18)))
    mean, root = Fraction(k, G), Fraction(math.isqrt(k * (G - k)), G)
    return {"G": G, "k": k, "mean": mean, "rest": 1 - mean, "std": root, "good": (1 - mean) / root, "bad": -mean / root}


@question("One number for a whole answer", points=4, minutes=6, objective=6, level=2)
def variance(rng):
    r"""A policy has one step and two answers: *yes* with probability $p = «p»$ and reward «R», the other with reward «S».
    Its parameter is $z$ with $p = \sigma(z)$.

    (a) Give $\partial E[R] / \partial z$. (b) REINFORCE estimates it from one sample by
    $R\, \partial \ln \pi / \partial z$. Give the two values that this can have. (c) Check that their mean is (a). (d) Give the two values with the
    baseline $b = «b»$, the mean reward, and their mean.

    *Solution.* (a) $p (1 - p) (R - S) = «slope»$. (b) $«R» (1 - p) = «first»$ and $-«S» p = «second»$. (c)
    $p \cdot «first» + (1 - p) \cdot («second») = «slope»$. (d) $«first_b»$ and $«second_b»$, with the same mean.

    *Marks.* 1 point: (a). 1 point: (b). 1 point: (c). 1 point: (d).
    """
    p = pick(rng, (Fraction(1, 4), Fraction(3, 4), Fraction(1, 5), Fraction(4, 5)))
    R, S = pick(rng, ((8, 4), (12, 4), (20, 10), (6, 2)))
    b = p * R + (1 - p) * S
    return {"p": p, "R": R, "S": S, "b": b, "slope": p * (1 - p) * (R - S), "first": R * (1 - p),
            "second": -S * p, "first_b": (R - b) * (1 - p), "second_b": -(S - b) * p}  # fmt: skip


@question("From the optimum to DPO", "derivation", points=5, minutes=8, objective=3, level=2)
def to_dpo():
    r"""Show that $\pi^*(y) = \text{ref}(y)\, e^{R(y) / \beta} / Z$ maximises
    $E_\pi[R(y)] - \beta \operatorname{KL}(\pi \| \text{ref})$. Solve for $R$, put it into the law of Bradley and Terry,
    and say why $Z$, which nobody can compute, does no harm. Which model does DPO not need that reinforcement needs?

    *Solution.* $E_\pi[R] - \beta \operatorname{KL}(\pi \| \text{ref})$ is
    $-\beta E_\pi[\ln (\pi / (\text{ref}\, e^{R / \beta}))]$, and this is
    $-\beta \operatorname{KL}(\pi \| \pi^*) + \beta \ln Z$. The divergence is at least 0, and 0 only for $\pi = \pi^*$.
    So $R(y) = \beta \ln (\pi^*(y) / \text{ref}(y)) + \beta \ln Z$. In the difference of two rewards for one prompt
    $\beta \ln Z$ cancels, which leaves
    $-\ln \sigma(\beta \ln \frac{\pi(y_w)}{\text{ref}(y_w)} - \beta \ln \frac{\pi(y_l)}{\text{ref}(y_l)})$.
    DPO needs no reward model, and no sampling while it trains.

    *Marks.* 2 points: the optimum, by the divergence or by a multiplier. 1 point: the reward. 1 point: $Z$ cancels, and
    the loss. 1 point: what is not needed.
    """


@question("It never stops", "bug", points=4, minutes=6, objective=1, level=3)
def never_stops():
    r"""After supervised tuning a model answers well and then goes on: it writes the next question of a user, answers it,
    and so on. The data are prepared so:

    ```python
    tokens = prompt + answer + [END]
    learned = [False] * len(prompt) + [True] * len(answer) + [False]
    ```

    (a) What is wrong? (b) The loss that was reported was low. Why did it not show the mistake? (c) A colleague sets
    `learned` to True for all tokens instead. Does the model stop then? What else does it learn? (d) Name a test that
    would have found the mistake.

    *Solution.* (a) The end of the answer is not learned. (b) The loss was a mean over the same tokens, so what is not
    learned is not measured either. (c) Yes, and it also learns to write users' questions, on which it spends part of
    its capacity. (d) Sample answers and count how many end within the limit; or compare the number of learned tokens
    with answer length plus one.

    *Marks.* 1 point: (a). 1 point: (b). 1 point: (c). 1 point: (d).
    """


@question("Better by dots?", "words", points=4, minutes=6, objective=5, level=2)
def better_by_dots():
    r"""A model that writes intermediate steps solves far more tasks than one that answers at once. Somebody objects: "It
    writes more tokens, so it computes more before it answers. The steps themselves do not matter." Which experiment
    decides this? What must be equal in it? And if the objection is refuted, which second explanation is left, apart from
    “it reasons”?

    *Solution.* Train a third model that writes as many tokens without content, dots say, before its answer. Equal: size,
    updates, the tasks, the choice of the rate for each, the number of tokens before the answer. If the dots are as good
    as the steps, the objection holds. If not, the content matters; but the steps are also additional targets in
    training, each of them easy, so the gain may come from what was taught and not from what is written in use. Wrong
    steps in the prompt would tell.

    *Marks.* 1 point: the control. 2 points: two things that must be equal and what breaks otherwise. 1 point: the steps
    as targets.
    """


@question("Two curves", "what if", points=4, minutes=6, objective=4, level=2)
def two_curves():
    r"""While a model is tuned against a reward model, the reward rises all the time, and the judgement of people rises at
    first and then falls. (a) What happens at the turn? (b) Why is the reward model reliable before it and not behind it?
    (c) Somebody adds $-\beta \operatorname{KL}$. What does it do to both curves? (d) Would a checker that runs the tests
    of a program be free of the effect?

    *Solution.* (a) The policy has reached answers that the reward model overrates. (b) It was fitted on answers of the
    first model; behind the turn the answers are unlike those. (c) The policy stays nearer to them: the reward ends
    lower, the fall is smaller or absent. (d) No: tests are finite too. A program can pass those that are there,
    for instance by holding their results.

    *Marks.* 1 point: (a). 1 point: (b). 1 point: (c). 1 point: (d), each with its reason.
    """


@question("Shapes beside a matrix", "shapes", points=5, minutes=6, objective=2, level=2)
def beside_a_matrix(rng):
    r"""A linear layer with a weight of shape $(«out», «inside»)$ gets LoRA of rank «r»: `x @ W.T + (x @ A.T) @ B.T`. The batch `x`
    has shape $(«N», «T», «inside»)$.

    (a) Give the shapes of $A$, $B$, `x @ A.T`, the output, and $BA$. (b) $B$ starts at 0. Which of $W$, $A$ and $B$ gets a gradient
    other than 0 in the first step, and why? (c) In which order would you compute the product with $BA$, and what does the
    other order cost?

    *Solution.* (a) $A$ is $(«r», «inside»)$, $B$ is $(«out», «r»)$; `x @ A.T` is $(«N», «T», «r»)$, the output
    $(«N», «T», «out»)$, and $BA$ has the shape of $W$, $(«out», «inside»)$. (b) $B$ alone: $W$ is fixed, and the gradient of $A$ has the
    factor $B = 0$. (c) First $A$, then $B$: $«thin»$ multiplications for a token. With $BA$ made first there are
    $«full»$ for a token, as many as for $W$, and those of $BA$ itself.

    *Marks.* 2 points: (a), 1 of them for $A$ and $B$. 2 points: (b), 1 of them for the reason. 1 point: (c).
    """
    out, inside = some(rng, (64, 96, 128, 256), 2)
    r, N, T = pick(rng, (2, 4, 8)), pick(rng, (12, 20)), whole(rng, 30, 60)
    return {"out": out, "inside": inside, "r": r, "N": N, "T": T, "thin": r * (out + inside), "full": out * inside}
