"""Questions to chapter 19, From our code to real models."""

from fractions import Fraction

from lmbook_exams.question import dot, pick, question, row, shares, some, until, whole


@question("How many numbers?", points=5, minutes=7, objective=1, level=1)
def gpt_numbers(rng):
    r"""A GPT in the form of GPT-2 has $|V| = «V»$, a window of $T = «T»$, width $d = «d»$ and $L = «L»$ layers with
    $d_{\text{ff}} = 4d$; biases everywhere, a norm behind the last layer, and the output matrix is the table of
    embeddings.

    (a) How many parameters does it have? (b) What share is in the tables, and what would an output matrix of its own add?
    (c) How many bytes are the weights in float32, float16 and int8 (scales left out)?

    *Solution.* (a) $|V| d + T d + L (12 d^2 + 13 d) + 2 d = «table» + «places» + «layers» + «norm» = «all»$. (b)
    $«share:.2f»$; another $|V| d = «table»$. (c) 4, 2 and 1 bytes for each: «bytes».

    *Marks.* 2 points: (a), 1 of them for the layers. 1 point: the share. 1 point: the output matrix. 1 point: (c).
    """
    V, T, d, L = (
        pick(rng, (1000, 10_000, 50_000)),
        pick(rng, (128, 512, 1024)),
        pick(rng, (64, 128, 256, 768)),
        pick(rng, (2, 4, 6, 12)),
    )
    table, places, layers, norm = V * d, T * d, L * (12 * d * d + 13 * d), 2 * d
    every = table + places + layers + norm
    return {"V": V, "T": T, "d": d, "L": L, "table": table, "places": places, "layers": layers, "norm": norm,
            "all": every, "share": (table + places) / every,
            "bytes": ", ".join(f"{every * size / 1e6:.4g} MB" for size in (4, 2, 1))}  # fmt: skip


@question("A row in eight bits", points=5, minutes=7, objective=4, level=1)
def eight_bits(rng):
    r"""A row of weights is $«w»$. It is stored with one scale, $s = \max_j |w_j| / 127$, and whole numbers $q_j$.

    (a) Give $s$ and the $q_j$. (b) What does each weight become, and how large is the largest error? (c) What does
    the bound $s / 2$ say here? (d) One weight of the row is replaced by $«big»$. What happens to the error of the
    others, and why are scales taken by row?

    *Solution.* (a) $s = «top» / 127 = «s»$; $q = «q»$. (b) $s q = «back»$, so the largest error is $«error:.3g»$.
    (c) At most $«half»$. (d) The scale becomes $«times»$ times as large, and so does the bound for all others. With
    one scale for each row a large weight spoils only its own.

    *Marks.* 2 points: (a), 1 for each. 1 point: (b). 1 point: (c). 1 point: (d).
    """
    scale = pick(rng, (Fraction(1, 100), Fraction(1, 50), Fraction(1, 200)))
    sign = pick(rng, (-1, 1))
    # Offsets of at most 0.3 of a step: no weight lies halfway between two whole numbers.
    rest = [whole(rng, 5, 110) * pick(rng, (-1, 1)) + Fraction(pick(rng, (-3, -2, -1, 1, 2, 3)), 10) for _ in range(3)]
    steps = some(rng, [*rest, Fraction(127 * sign)], 4)
    w = [scale * one for one in steps]
    q = [round(one) for one in steps]
    times = pick(rng, (4, 5, 10))
    error = max(abs(scale * b - a) for a, b in zip(w, q, strict=True))

    def number(x: Fraction) -> str:
        return f"{float(x):.6g}"

    return {
        "w": row([number(x) for x in w]),
        "weights": w,
        "top": number(127 * scale),
        "s": number(scale),
        "scale": scale,
        "q": row(q),
        "whole": q,
        "back": row([number(scale * x) for x in q]),
        "error": error,
        "half": number(scale / 2),
        "big": number(127 * scale * times),
        "times": times,
    }


@question("The size of a cache", points=4, minutes=6, objective=5, level=1)
def cache_size(rng):
    r"""A model has $L = «L»$ layers of width $d = «d»$ and keeps keys and values with $b = «b»$ bytes a number.

    (a) How many bytes does the cache take for one text of $T = «T»$ tokens? (b) And for $B = «B»$ texts at once?
    (c) The weights take $«gb»$ GB ($10^9$ bytes each). From how many such texts on is the cache larger? (d) Name a change of the model
    that makes the cache smaller.

    *Solution.* (a) $2 L T d b = «one»$ bytes, about «mb» MB. (b) $«many»$ bytes. (c) From
    $\lceil «gb» \cdot 10^9 / «one» \rceil = «texts»$ on. (d) Fewer heads of keys and values than of queries; fewer
    bits a number; a limited window; fewer layers or less width.

    *Marks.* 1 point: (a). 1 point: (b). 1 point: (c). 1 point: (d).
    """
    L, d, b = pick(rng, (12, 24, 32)), pick(rng, (768, 1024, 2048, 4096)), pick(rng, (2, 4))
    T, B, gb = pick(rng, (500, 1000, 2000, 4000)), pick(rng, (4, 8, 16, 32)), pick(rng, (3, 7, 14))
    one = 2 * L * T * d * b
    return {"L": L, "d": d, "b": b, "T": T, "B": B, "gb": gb, "one": one, "mb": f"{one / 1e6:.4g}", "many": one * B,
            "texts": -(-gb * 10**9 // one)}  # fmt: skip


@question("How fast can it write?", points=5, minutes=7, objective=5, level=2)
def writing_speed(rng):
    r"""A model of $n_\theta = «n» \cdot 10^9$ weights of $b = «b»$ bytes runs on a machine that reads
    $\beta = «beta» \cdot 10^{12}$ bytes and computes $\varphi = «phi» \cdot 10^{12}$ operations a second, two for each
    weight and token.

    (a) What is the least time of a step for one text, and how many tokens a second is that? (b) From which number
    $B^\ast$ of texts at once is computing the limit? (c) How many tokens a second can the machine write at most,
    over all texts? (d) What do weights of half the bytes change in (a), (b) and (c), if computing stays as fast?

    *Solution.* (a) All weights are read once: $b\, n_\theta / \beta = «read:.4g»$ s, at most $«single:.4g»$ tokens
    a second. (b) $B^\ast = b \varphi / (2 \beta) = «batch»$. (c) $\varphi / (2 n_\theta) = «most:.5g»$. (d) (a)
    twice as fast, (b) half as many texts, (c) the same.

    *Marks.* 2 points: (a), 1 of them for the weights being read once. 1 point: (b). 1 point: (c). 1 point: (d).
    """
    n, b = pick(rng, (2, 3, 7, 13)), pick(rng, (1, 2, 4))
    beta, phi = (
        pick(rng, ((3, 150), (2, 300), (4, 800), (2, 200), (5, 600)))
        if b > 1
        else pick(rng, ((3, 180), (2, 400), (4, 800)))
    )
    return {
        "n": n,
        "b": b,
        "beta": beta,
        "phi": phi,
        "read": b * n * 1e9 / (beta * 1e12),
        "batch": Fraction(b * phi, 2 * beta),
        "single": beta * 1e12 / (b * n * 1e9),
        "most": phi * 1e12 / (2 * n * 1e9),
    }


@question("Experts asked and experts held", points=5, minutes=7, objective=6, level=2)
def experts(rng):
    r"""Each layer of a mixture has $n_e = «ne»$ experts of $«e»$ million parameters and asks $k = «k»$ of them for each
    token; all else in the layer has $«s»$ million.

    (a) How many parameters of a layer must be held, and how many are used for one token? (b) Experts are chosen
    evenly and independently. What share of them is read in a step for $B = «B»$ texts at once, on average? (c) So for
    which use does a mixture save time, and does it save memory?

    *Solution.* (a) Held: $«s» + «ne» \cdot «e» = «held»$ million; used: $«s» + «k» \cdot «e» = «used»$ million. (b)
    $1 - (1 - «k» / «ne»)^{«B»} = «share» \approx «share:.3f»$. (c) It saves operations for each token, in training
    and in large batches; it saves reading only in small batches, and no memory at all.

    *Marks.* 2 points: (a), 1 for each. 1 point: (b). 2 points: (c), 1 of them for the memory.
    """
    ne, k = pick(rng, ((4, 2), (8, 2), (8, 4), (6, 2), (9, 3), (6, 3)))
    e, s, B = pick(rng, (10, 20, 50)), pick(rng, (5, 15, 30)), whole(rng, 2, 4)
    return {"ne": ne, "k": k, "e": e, "s": s, "B": B, "held": s + ne * e, "used": s + k * e,
            "share": 1 - (1 - Fraction(k, ne)) ** B}  # fmt: skip


@question("Gates of a router", points=4, minutes=6, objective=6, level=1)
def router_gates(rng):
    r"""For one token a router gives four experts the logits $«z»$, and $k = 2$ are asked. Their outputs would be $«y»$
    (one number each).

    (a) Give the gates and the output. (b) What would the output be if all four were asked? (c) Which experts get a
    gradient from this token, and what danger is in that?

    *Solution.* (a) The two largest logits are those of experts «chosen»: gates $«gates»$, output $«out»$. (b)
    $«full»$. (c) Only the two that were asked (and the router through their gates). Who is never asked never
    learns, so a few experts can end up with all tokens; a loss for balance works against it.

    *Marks.* 2 points: (a), 1 of them for a softmax over the two. 1 point: (b). 1 point: (c).
    """
    weights = some(rng, pick(rng, ((1, 2, 3, 4), (1, 2, 3, 6), (1, 2, 4, 5))), 4)
    top = sorted(range(4), key=lambda at: -weights[at])[:2]
    gates = shares([weights[at] if at in top else 0 for at in range(4)])

    def draw():
        y = some(rng, (-4, -3, -2, -1, 1, 2, 3, 4, 5, 6, 7, 8), 4)
        return y, dot(gates, y), dot(shares(weights), y)

    y, out, full = until(draw, lambda y, out, full: out and full)
    return {
        "z": row([rf"\ln {n}" if n > 1 else "0" for n in weights]),
        "scores": weights,
        "y": row(y),
        "outputs": y,
        "chosen": " and ".join(str(at + 1) for at in sorted(top)),
        "gates": row(gates),
        "weights": gates,
        "out": out,
        "full": full,
    }


@question("The same matrix under another name", "shapes", points=4, minutes=6, objective=2, level=2)
def weight_names(rng):
    r"""GPT-2's files hold one matrix `c_attn.weight` for queries, keys and values, used as `x @ weight + bias`. Our
    layer has `W_q`, `W_k`, `W_v`, each a `nn.Linear` of width $d = «d»$ with $«n»$ heads.

    (a) What is the shape of `c_attn.weight`, and of `nn.Linear(d, d).weight`? (b) Which columns of `c_attn.weight`
    (counted from 0) become `W_k.weight`, and what must be done to them? (c) Which columns belong to the keys of head number $«head»$
    (counted from 1)? (d) A loader forgets (b)'s second step, and no error is raised. Why not, and how is it found?

    *Solution.* (a) $(«d», «three»)$ and $(«d», «d»)$. (b) Columns $«d»$ to $«kend»$ (from 0), transposed, since
    `nn.Linear` computes `x @ weight.T`. (c) Columns $«first»$ to $«last»$. (d) The matrix is square, so its
    transpose has the same shape. Compare the logits with those of the model from which the weights come.

    *Marks.* 1 point: (a). 1 point: (b). 1 point: (c). 1 point: (d).
    """
    n, dk = pick(rng, (2, 4, 8, 12)), pick(rng, (16, 32, 64))
    d, head = n * dk, whole(rng, 2, n)
    return {"n": n, "d": d, "three": 3 * d, "kend": 2 * d - 1, "head": head, "dk": dk, "first": d + (head - 1) * dk,
            "last": d + head * dk - 1}  # fmt: skip


@question("How wrong can a product become?", "derivation", points=4, minutes=7, objective=4, level=3)
def rounding_bound():
    r"""A row of weights is stored as $s\, q_j$ with $s = \max_j |w_j| / 127$ and $q_j = \operatorname{round}(w_j / s)$.
    Show that $|s\, q_j - w_j| \le s / 2$ and that no $q_j$ leaves $-127, \dots, 127$. Then bound the error of
    $\sum_j w_j x_j$. If the rounding errors were independent with mean 0, how would the error grow with the width,
    and how does the bound grow?

    *Solution.* Rounding moves a number by at most $\tfrac12$: $|q_j - w_j / s| \le \tfrac12$; times $s$ gives the
    bound. $|w_j / s| \le 127$ by the choice of $s$, and a number between $-127$ and $127$ is rounded to one of
    these.

    $\big|\sum_j (s q_j - w_j)\, x_j\big| \le \tfrac s2 \sum_j |x_j|$, which grows in proportion to the width $d$.
    Independent errors add their variances, so the error itself grows like $\sqrt d$.

    *Marks.* 1 point: the bound. 1 point: the range. 1 point: the product. 1 point: $\sqrt d$ against $d$.
    """


@question("Minus one hundred and twenty-eight", "bug", points=4, minutes=6, objective=4, level=2)
def overflow_bug():
    r"""Weights `W` of shape (rows, columns) are stored in 8 bits so:

    ```python
    scale = W.max() / 127
    q = torch.round(W / scale).to(torch.int8)
    restored = q * scale
    ```

    (a) What happens to a row `[-2.0, 0.5, 1.0]`, if 1.0 is the largest entry of `W`? (`int8` holds $-128$ to $127$,
    and what does not fit is taken modulo 256.) (b) What is the second weakness? (c) Give the first line as it
    should be.

    *Solution.* (a) The maximum without the absolute value is 1.0, so $-2.0$ becomes $-254$, which is stored as $2$:
    the weight comes back as about $+0.016$. (b) One scale for all rows: a single large weight makes the steps of
    the whole matrix coarse. (c) `scale = W.abs().amax(dim=1, keepdim=True) / 127`.

    *Marks.* 2 points: (a), 1 of them for the number that comes back. 1 point: (b). 1 point: (c).
    """


@question("Ideas and engineering", "words", points=4, minutes=6, objective=5, level=2)
def ideas_and_engineering():
    r"""A large model that runs as a service shares its architecture with the GPT of chapter 17. Explain in about three
    sentences what is the same, and name three things that are engineering, each with the limit (memory, reading,
    computing) that it works against.

    *Solution.* The same are the layers, the causal mask, the loss on next tokens and the sampling; the formulas of
    chapter 17 describe both. Engineering, for instance: fewer bits a weight, against memory and the time to read
    the weights; many texts in one batch, against reading the weights for one token only; cached keys and values,
    against computing them again; fused attention, against writing the $T^2$ weights to memory; experts, against
    operations for each token; several machines, against the memory of one.

    *Marks.* 1 point: what is the same. 1 point: a first piece of engineering with its limit. 1 point: a second.
    1 point: a third.
    """


@question("Twice as much of one thing", "what if", points=4, minutes=6, objective=5, level=3)
def twice_as_much():
    r"""For a model that writes one text at a time, say what each of these changes in the time for a token, and for which
    of them the answer would be another one in a large batch.

    (a) The machine computes twice as fast. (b) It reads memory twice as fast. (c) The model is stored in half the
    bytes. (d) Two texts are written at once.

    *Solution.* With one text reading the weights is the limit, by far. (a) Nothing. (b) Half the time. (c) Half the
    time. (d) Nearly nothing: the weights are read once for both, so there are twice as many tokens a second in all.
    In a large batch computing is the limit: there (a) halves the time, (b) and (c) do nothing (as far as the cache
    allows), and (d) doubles it.

    *Marks.* 1 point: (a). 1 point: (b) and (c). 1 point: (d). 1 point: the large batch.
    """
