"""Questions to chapter 8, Labelling, classifying, stacking, two directions."""

from fractions import Fraction
from itertools import accumulate

from lmbook_exams.question import pick, question, row, some, table, until, whole


def bio(spans: list[tuple[int, int, str]], length: int) -> list[str]:
    """Tags of spans (start, end, type), end not included."""
    tags = ["O"] * length
    for start, end, kind in spans:
        tags[start:end] = [f"B-{kind}", *[f"I-{kind}"] * (end - start - 1)]
    return tags


@question("Whole spans", points=5, minutes=8, objective=6, level=2)
def whole_spans(rng):
    r"""A system for named entities tags one sentence, with `B-` at the beginning of a name and `I-` inside:

    «tags»

    (a) List the spans of both rows. (b) Give precision, recall and $F_1$ of whole spans. (c) What share of the
    tokens is tagged right, and why is that number less useful?

    *Solution.* (a) Gold: «gold_spans». System: «system_spans».

    (b) $«right»$ of the system's $«o»$ spans agree in start, end and type with one of the $«g»$ gold spans:
    $P = «P»$, $R = «R»$, $F_1 = 2 \cdot «right» / («g» + «o») = «F»$.

    (c) $«same» / 12$. Most tokens are `O`, so a system that finds nothing has a high share too; and half a name is
    no name.

    *Marks.* 1 point: the spans. 1 point: those that agree. 2 points: precision, recall and $F_1$. 1 point: (c).
    """

    def draw():
        gold = [
            (whole(rng, 0, 1), 3, "PER"),
            (4, 4 + whole(rng, 1, 2), "LOC"),
            (7, 8, "PER"),
            (9, 9 + whole(rng, 1, 3), "LOC"),
        ]
        changed = some(rng, range(4), 2)
        system = []
        for at, (start, end, kind) in enumerate(gold):
            if at not in changed:
                system.append((start, end, kind))
            elif (how := whole(rng, 0, 2)) == 0:
                system.append((start, end, "LOC" if kind == "PER" else "PER"))
            elif how == 1 and end - start > 1:
                system.append((start, end - 1, kind))
        if rng.random() < 0.5 or len(system) < 3:
            system.append((3, 4, "LOC"))
        return gold, sorted(system)

    gold, system = until(draw, lambda gold, system: len(gold) != len(system))  # else precision is recall
    right, g, o = len(set(gold) & set(system)), len(gold), len(system)
    rows = {"gold": bio(gold, 12), "system": bio(system, 12)}
    said = {
        name: ", ".join(f"{kind} {start + 1}" + (f"–{end}" if end - start > 1 else "") for start, end, kind in spans)
        for name, spans in (("gold", gold), ("system", system))
    }
    return {"tags": table(["token", *(str(n) for n in range(1, 13))], *([name, *tags] for name, tags in rows.items())),
            "rows": rows, "gold_spans": said["gold"], "system_spans": said["system"], "right": right, "g": g, "o": o,
            "P": Fraction(right, o), "R": Fraction(right, g), "F": Fraction(2 * right, g + o),
            "same": sum(a == b for a, b in zip(rows["gold"], rows["system"], strict=True))}  # fmt: skip


@question("A mean with padding in it", points=4, minutes=6, objective=2, level=1)
def padded_mean(rng):
    r"""A batch of two sentences has these negative log-likelihoods at its positions; the last $«pads»$ of the second
    row are padding:

    «losses»

    (a) What is the loss of the batch, the mean over real tokens? (b) What does a program report that takes the mean
    over all positions? (c) And one that takes the mean of the two rows' own masked means? Why is that not the same
    as (a)?

    *Solution.* (a) $«sum» / «real» = «right» \approx «right:.3f»$. (b) $«every» / 10 \approx «wrong:.3f»$. (c)
    $\tfrac12 («m1» + «m2») \approx «rows:.3f»$: each sentence counts equally there, so a token of the short one
    counts more.

    *Marks.* 2 points: (a), 1 of them for the number of real tokens. 1 point: (b). 1 point: (c).
    """
    pads = whole(rng, 2, 3)
    first, second = [whole(rng, 1, 6) for _ in range(5)], [whole(rng, 1, 6) for _ in range(5)]
    real = second[: 5 - pads]
    total, every, n = sum(first) + sum(real), sum(first) + sum(second), 10 - pads
    m1, m2 = Fraction(sum(first), 5), Fraction(sum(real), len(real))
    lines = table(["row", *(str(n) for n in range(1, 6))], ["1", *first], ["2", *second])
    return {"pads": pads, "losses": lines, "first": first, "second": second, "sum": total, "real": n,
            "right": Fraction(total, n), "every": every, "wrong": Fraction(every, 10), "m1": m1, "m2": m2,
            "rows": (m1 + m2) / 2}  # fmt: skip


@question("Two directions by hand", points=4, minutes=6, objective=3, level=1)
def two_directions(rng):
    r"""A recurrent network with one unit in each direction and no $\tanh$ reads $x = «x»$:
    $\overrightarrow h_t = «w»\, \overrightarrow h_{t-1} + x_t$ and
    $\overleftarrow h_t = «v»\, \overleftarrow h_{t+1} + x_t$, both from 0.

    (a) Give the states of both directions. (b) Which entries of the four pairs
    $[\overrightarrow h_t; \overleftarrow h_t]$ change if $x_«t»$ changes? (c) Which pair would you use to classify
    the whole text, if you may use only one state of each direction?

    *Solution.* (a) $\overrightarrow h = «forward»$, $\overleftarrow h = «backward»$.

    (b) $\overrightarrow h_t$ from $t = «t»$ on and $\overleftarrow h_t$ up to $t = «t»$. (c) The last of each in
    its own direction, $\overrightarrow h_4$ and $\overleftarrow h_1$: only they have read everything.

    *Marks.* 2 points: (a), 1 for each direction. 1 point: (b). 1 point: (c).
    """
    w, v = some(rng, (Fraction(1, 2), 2, -1, Fraction(-1, 2)), 2)

    def run(weight, inputs: list[int]) -> list:
        return list(accumulate(inputs, lambda h, one: weight * h + one))

    def draw():
        x = [pick(rng, (-3, -2, -1, 1, 2, 3, 4)) for _ in range(4)]
        return x, run(w, x), run(v, x[::-1])[::-1]

    x, forward, backward = until(draw, lambda x, forward, backward: all(forward) and all(backward))
    return {"x": row(x), "inputs": x, "w": w, "v": v, "forward": row(forward), "backward": row(backward),
            "states": (forward, backward), "t": whole(rng, 2, 3)}  # fmt: skip


@question("Parameters of a bidirectional stack", points=4, minutes=6, objective=3, level=1)
def stack_parameters(rng):
    r"""Inputs have width $P = «P»$, each LSTM has $m = «m»$ units and one bias vector for each of its three gates
    and for its candidate.

    (a) How many parameters does one LSTM layer have in one direction? (b) And a bidirectional layer? (c) And a second
    bidirectional layer on top of it?

    *Solution.* (a) $4 (m^2 + m P + m) = «one»$. (b) Twice as many: $«both»$. (c) Its inputs have width $2m$:
    $2 \cdot 4 (m^2 + 2 m^2 + m) = «second»$.

    *Marks.* 1 point: the factor 4. 1 point: (a). 1 point: (b). 1 point: (c), with inputs of width $2m$.
    """
    P, m = pick(rng, (50, 100, 200)), pick(rng, (20, 32, 40, 64, 80))
    one = 4 * (m * m + m * P + m)
    return {"P": P, "m": m, "one": one, "both": 2 * one, "second": 8 * (3 * m * m + m)}


@question("Better than nothing", points=4, minutes=6, objective=6, level=1)
def spam_baseline(rng):
    r"""Of $«n»$ messages $«spam»$ are spam. A filter stops $«stopped»$ messages, $«hit»$ of which are spam.

    (a) What is its accuracy? (b) What is the accuracy of a filter that stops nothing? (c) Give precision, recall
    and $F_1$ of the class spam. (d) Which of these numbers would you show to somebody who must not lose any mail?

    *Solution.* (a) Wrong are $«false»$ stopped and $«missed»$ missed: $«accuracy»$. (b) $«base»$. (c)
    $P = «hit» / «stopped» = «P»$, $R = «hit» / «spam» = «R»$, $F_1 = «F»$.

    (d) The precision (or the share of good mail that is stopped, $«false» / «good»$): only it counts good messages
    that are lost.

    *Marks.* 1 point: (a). 1 point: (b). 1 point: (c). 1 point: (d).
    """

    def draw():
        n, spam = pick(rng, ((200, 20), (500, 50), (1000, 100), (400, 50)))
        hit = whole(rng, spam // 2, spam - 5)
        return n, spam, hit, hit + whole(rng, 2, 12)

    # Else precision is recall, or the filter as good as none.
    n, spam, hit, stopped = until(draw, lambda n, spam, hit, stopped: stopped not in (spam, 2 * hit))
    false, missed = stopped - hit, spam - hit
    return {"n": n, "spam": spam, "stopped": stopped, "hit": hit, "false": false, "missed": missed, "good": n - spam,
            "accuracy": Fraction(n - false - missed, n), "base": Fraction(n - spam, n), "P": Fraction(hit, stopped),
            "R": Fraction(hit, spam), "F": Fraction(2 * hit, stopped + spam)}  # fmt: skip


@question("Shapes of three tasks", "shapes", points=4, minutes=5, objective=1, level=1)
def four_tasks(rng):
    r"""A batch of $«B»$ texts is padded to $«T»$ tokens, and the states have width $«m»$. Give the shape of the logits
    for: language modelling over $«V»$ types; part-of-speech tagging with $«tags»$ tags; deciding between
    $«classes»$ topics; and of the mask that goes with each of the three losses.

    *Solution.* Language modelling $(«B», «T», «V»)$; tagging $(«B», «T», «tags»)$; topics $(«B», «classes»)$. The
    first two losses have a mask $(«B», «T»)$ of real positions; the third has one label for a text and needs none
    (but the state that it uses must not come from padding).

    *Marks.* 1 point: language modelling. 1 point: tagging. 1 point: topics. 1 point: the masks.
    """
    return {
        "B": pick(rng, (10, 16, 32)),
        "T": whole(rng, 33, 60),
        "m": pick(rng, (64, 100)),
        "V": pick(rng, (2000, 8000)),
        "tags": pick(rng, (12, 17)),
        "classes": whole(rng, 2, 9),
    }


@question("Trained together", "derivation", points=4, minutes=7, objective=3, level=3)
def trained_together():
    r"""A bidirectional tagger has the logits
    $\mathbf z_t = \overrightarrow W\, \overrightarrow{\mathbf h}_t + \overleftarrow W\, \overleftarrow{\mathbf h}_t + \mathbf b$
    and the loss $J = -\tfrac1T \sum_t \ln \hat y_{t, y_t}$. Derive
    $\partial J / \partial \overrightarrow{\mathbf h}_t$, as far as it comes from $\mathbf z_t$. Show with it that
    the two directions cannot be trained one after the other without changing the result.

    *Solution.* $\partial J / \partial \mathbf z_t = \tfrac1T (\hat{\mathbf y}_t - \mathbf y_t)$, and $\mathbf z_t$
    depends on $\overrightarrow{\mathbf h}_t$ through $\overrightarrow W$: the gradient is
    $\tfrac1T\, \overrightarrow W^\top (\hat{\mathbf y}_t - \mathbf y_t)$.

    $\hat{\mathbf y}_t$ is the softmax of the sum of both directions' parts. So what the forward direction learns
    depends on what the backward one already explains: a position that one direction gets right gives the other
    nearly no gradient. Trained alone, each would have to explain everything.

    *Marks.* 1 point: the gradient of the logits, with $\tfrac1T$. 1 point: the transposed matrix. 1 point:
    $\hat{\mathbf y}_t$ holds both directions. 1 point: the conclusion.
    """


@question("Reading backwards", "bug", points=4, minutes=6, objective=2, level=2)
def flip_bug():
    r"""A batch `x` of shape (B, T, P) is padded at the end. The backward direction of a tagger is computed so:

    ```python
    forward_states = run(cell_forward, x)                   # (B, T, m)
    backward_states = run(cell_backward, x.flip(1))         # (B, T, m)
    states = torch.cat([forward_states, backward_states], dim=-1)
    ```

    Find the two mistakes, and say for each which sentences suffer.

    *Solution.* The backward states are not turned back: state $t$ of the reversed run belongs to position
    $T + 1 - t$. Every sentence of more than one token gets the wrong ones. Right: `.flip(1)` once more.

    The reversed row of a short sentence begins with padding, which the cell reads before the last word: its state
    there depends on how much padding there is. All sentences shorter than the longest of their batch suffer. The
    cell must hold its state at padding (a mask), or each row be reversed within its own length.

    *Marks.* 1 point: not turned back. 1 point: whom it hurts. 1 point: padding is read first. 1 point: whom it
    hurts, or the remedy.
    """


@question("When both directions are cheating", "words", points=4, minutes=6, objective=3, level=2)
def allowed_directions():
    r"""For three systems a bidirectional network is proposed: a tagger of finished e-mails, a keyboard that suggests
    the next word, subtitles for live television that may lag by two seconds. Say for each in one sentence whether
    it is allowed, and state the rule behind all three in another.

    *Solution.* The tagger may: the whole e-mail is there before the first tag is asked for. The keyboard may not:
    its backward direction would read the word that is to be suggested, so its loss in training is meaningless. The
    subtitles may use the right context of two seconds and no more, in training as in use. The rule: a model may
    read whatever is there at the moment of its answer when it is used, and in training nothing else.

    *Marks.* 1 point: the tagger, with the reason. 1 point: the keyboard, with the reason. 1 point: the subtitles,
    with the limit. 1 point: the rule.
    """


@question("The last state of a short text", "what if", points=4, minutes=6, objective=2, level=3)
def last_state():
    r"""A classifier of messages takes the state at the last position of the padded batch, and the padding is read like
    a word. What happens to short messages in company of a long one? What if a message is classified alone? How
    would you notice, without looking at the code, and what are two remedies?

    *Solution.* After its end a short message goes through many steps of padding, which wash out the state; its
    label then depends on the length of the longest message in the batch. Alone it has no padding and may get
    another label. So classify a message alone and in different batches, and compare the probabilities: they must be
    equal. Remedies: take the state at the last real token; hold the state where the mask says padding; take the
    mean over real positions; sort messages of equal length together (only a makeshift).

    *Marks.* 1 point: the state is washed out by padding. 1 point: the label depends on the company. 1 point: the
    test. 1 point: two remedies.
    """


@question("The best row of labels", points=5, minutes=8, objective=5, level=2)
def best_row():
    r"""Three words are to be labelled with $a$ or $b$. A row of labels has as its score the sum of the scores of its
    labels, on the left, and of its two transitions, on the right.

    | word | $a$ | $b$ |
    |---|---|---|
    | 1 | $2$ | $1$ |
    | 2 | $0$ | $1$ |
    | 3 | $1$ | $2$ |

    | from, to | $a$ | $b$ |
    |---|---|---|
    | $a$ | $0$ | $-2$ |
    | $b$ | $-1$ | $1$ |

    (a) Which row does one get by choosing the best label of each word by itself, and what is its score? (b) Find the
    best row with its score, going from left to right and keeping for each label the best row that ends in it. (c) For
    $T$ words and $K$ labels, how many rows are there, and how many sums of a kept score and a transition does (b) take?

    *Solution.* (a) $a, b, b$, with $2 - 2 + 1 + 1 + 2 = 4$. (b) After word 1: $2$ and $1$. After word 2: for $a$
    $\max(2 + 0, 1 - 1) + 0 = 2$, from $a$; for $b$ $\max(2 - 2, 1 + 1) + 1 = 3$, from $b$. After word 3: for $a$
    $\max(2 + 0, 3 - 1) + 1 = 3$; for $b$ $\max(2 - 2, 3 + 1) + 2 = 6$, from $b$. The best row is $b, b, b$ with 6.
    (c) $K^T$ rows, and $(T - 1) K^2$ sums.

    *Marks.* 1 point: (a). 2 points: the scores kept in (b). 1 point: the row. 1 point: (c).
    """
