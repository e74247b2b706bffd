"""Questions to chapter 9, Encoder and decoder."""

import math
from collections import Counter
from fractions import Fraction

from lmbook_exams.question import pick, question, some, table, until, whole


def clipped(output: list[str], reference: list[str], n: int) -> tuple[int, int]:
    """Matching n-grams, and n-grams of the output."""
    ours, theirs = (Counter(tuple(text[i : i + n]) for i in range(len(text) - n + 1)) for text in (output, reference))
    return (ours & theirs).total(), ours.total()


@question("BLEU of two sentences", points=6, minutes=10, objective=5, level=2)
def bleu_by_hand(rng):
    r"""A test set of two sentences; every word and mark is a token:

    «sentences»

    Compute BLEU with n-grams up to $M = 2$:

    (a) the clipped precisions $p_1$ and $p_2$ of the whole set, (b) the brevity penalty, (c) BLEU, as a formula and
    as a number from 0 to 100.

    (d) Why are the counts of the sentences added before anything is divided?

    *Solution.* (a) $p_1 = \frac{«a1» + «b1»}{«A1» + «B1»} = «p1»$ and
    $p_2 = \frac{«a2» + «b2»}{«A2» + «B2»} = «p2»$.

    (b) $C = «C»$ words of output against $R = «R»$ of reference: $\mathrm{BP} = «penalty» \approx «BP:.3f»$.

    (c) $\mathrm{BLEU} = \mathrm{BP} \cdot \sqrt{p_1\, p_2} = «bleu:.1f»$.

    (d) A mean over sentences would give a short sentence the weight of a long one, and a sentence without any
    matching pair would be 0 by itself, however good the rest is.

    *Marks.* 2 points: (a), 1 for each. 1 point: clipping, or matches counted once each. 1 point: (b). 1 point: (c).
    1 point: (d).
    """
    pool = (
        ("the old crane turns above the harbour .", "a"), ("a small boat leaves the grey pier at dawn .", "b"),
        ("two gulls sit on the roof of the mill .", "c"), ("the ferry brings the mail every morning .", "d"),
    )  # fmt: skip

    def draw():
        made = []
        for reference, _ in some(rng, pool, 2):
            words = reference.split()
            output = list(words)
            at = whole(rng, 1, len(words) - 3)
            output[at] = pick(rng, ("red", "quiet", "the", "slow"))
            if rng.random() < 0.6:
                del output[pick(rng, [n for n in range(1, len(output) - 1) if n != at])]
            made.append((output, words))
        return (made,)

    def fits(made) -> bool:
        C, R = (sum(len(pair[side]) for pair in made) for side in (0, 1))
        return C < R and all(clipped(output, words, 1)[0] < len(output) for output, words in made)

    (made,) = until(draw, fits)
    (a, ra), (b, rb) = made
    (a1, A1), (a2, A2), (b1, B1), (b2, B2) = clipped(a, ra, 1), clipped(a, ra, 2), clipped(b, rb, 1), clipped(b, rb, 2)
    C, R = len(a) + len(b), len(ra) + len(rb)
    p1, p2, BP = Fraction(a1 + b1, A1 + B1), Fraction(a2 + b2, A2 + B2), math.exp(1 - R / C)
    lines = [[str(n), " ".join(output), " ".join(reference)] for n, (output, reference) in enumerate(made, start=1)]
    return {"sentences": table(["", "output", "reference"], *lines), "pairs": made, "a1": a1, "A1": A1, "a2": a2,
            "A2": A2, "b1": b1, "B1": B1, "b2": b2, "B2": B2, "C": C, "R": R, "p1": p1, "p2": p2, "BP": BP,
            "penalty": rf"e^{{1 - {R}/{C}}}", "bleu": 100 * BP * math.sqrt(p1 * p2)}  # fmt: skip


@question("Greedy, and a beam of two", points=5, minutes=8, objective=4, level=2)
def beam_of_two(rng):
    r"""A decoder writes two tokens, then the end. The first token is A, B or C; the second is X, Y or Z, with
    probabilities that depend on the first:

    «probabilities»

    (a) What does greedy decoding write, and with which probability? (b) What does beam search of width 2 keep after
    the first token, and what does it return? (c) What is the likeliest of all nine outputs? (d) Is a wider beam
    always at least as good?

    *Solution.* (a) «greedy», $«pg»$. (b) It keeps «kept»; the best continuations of both are $«pa»$ and $«pb»$, so
    it returns «beam».

    (c) «best», with $«p»$. (d) In probability of the found output it mostly is, but not necessarily at every step
    of width; in quality of the text not at all: the likeliest output may be too short or dull.

    *Marks.* 1 point: (a). 2 points: (b), 1 of them for what is kept. 1 point: (c). 1 point: (d).
    """

    def split() -> list[Fraction]:
        return [
            Fraction(n, 20)
            for n in some(rng, pick(rng, ((8, 7, 5), (18, 1, 1), (12, 5, 3), (16, 3, 1), (10, 6, 4))), 3)
        ]

    def draw():
        first = dict(zip("ABC", some(rng, pick(rng, ((10, 8, 2), (9, 7, 4), (10, 6, 4))), 3), strict=True))
        first = {name: Fraction(n, 20) for name, n in first.items()}
        second = {name: dict(zip("XYZ", split(), strict=True)) for name in "ABC"}
        return first, second, {a + b: first[a] * second[a][b] for a in "ABC" for b in "XYZ"}

    def fits(first, second, whole_ones) -> bool:
        top = max(first, key=first.get)
        best = max(whole_ones, key=whole_ones.get)
        ties = any(len({*row.values()}) < 3 and max(row.values()) < Fraction(1, 2) for row in second.values())
        ranked = sorted(whole_ones.values())
        return not ties and best[0] == sorted(first, key=first.get)[1] and best[0] != top and ranked[-1] > ranked[-2]

    first, second, outputs = until(draw, fits)
    order = sorted(first, key=first.get, reverse=True)
    greedy = order[0] + max(second[order[0]], key=second[order[0]].get)
    kept = {name: max(value for key, value in outputs.items() if key[0] == name) for name in order[:2]}
    best = max(outputs, key=outputs.get)
    lines = [[name, first[name], *second[name].values()] for name in "ABC"]
    return {"probabilities": table(["first", "$P$ of it", "then X", "then Y", "then Z"], *lines), "first": first,
            "second": second, "greedy": greedy, "pg": outputs[greedy], "kept": " and ".join(order[:2]),
            "pa": kept[order[0]], "pb": kept[order[1]], "beam": best, "best": best, "p": outputs[best]}  # fmt: skip


@question("Short or long?", points=4, minutes=6, objective=4, level=2)
def length_normalisation(rng):
    r"""Beam search ends with two complete outputs: A has $«na»$ tokens and $\ln P = «la»$, B has $«nb»$ tokens and
    $\ln P = «lb»$. They are ranked by $\ln P / |\mathbf y|^\alpha$.

    (a) Which of the two wins for $\alpha = 0$, which for $\alpha = 1$? (b) For which $\alpha$ are they equal? Give
    a formula with logarithms. (c) Why does a beam without normalisation tend to short outputs?

    *Solution.* (a) $\alpha = 0$: A, because $«la» > «lb»$. $\alpha = 1$: $«la» / «na» \approx «ma:.3f»$ against
    $«lb» / «nb» \approx «mb:.3f»$, so B.

    (b) $«pla» / «na»^\alpha = «plb» / «nb»^\alpha$, so
    $\alpha = \ln\left(\tfrac{«plb»}{«pla»}\right) / \ln\left(\tfrac{«nb»}{«na»}\right) \approx «alpha:.2f»$.

    (c) Every further token multiplies by a probability below 1, so $\ln P$ falls with each: an output that ends
    early has fewer factors.

    *Marks.* 2 points: (a), 1 for each. 1 point: (b). 1 point: (c).
    """
    na, nb, la, lb = until(
        lambda: (whole(rng, 3, 6), whole(rng, 7, 12), whole(rng, 4, 9), whole(rng, 5, 14)),
        lambda na, nb, la, lb: la < lb and Fraction(lb, nb) < Fraction(la, na) and lb * na * 10 < la * nb * 9,
    )
    return {"na": na, "nb": nb, "la": -la, "lb": -lb, "pla": la, "plb": lb, "ma": -la / na, "mb": -lb / nb,
            "alpha": math.log(lb / la) / math.log(nb / na)}  # fmt: skip


@question("What the context costs", points=4, minutes=6, objective=2, level=2)
def context_cost(rng):
    r"""A decoder is a GRU with $m = «m»$ units over target embeddings of width $P = «P»$; the source vector $\mathbf c$
    has $m = «m»$ numbers too. Count weights, no biases.

    (a) How many weights does the decoder's cell have if $\mathbf c$ only makes the first state,
    $\mathbf s_0 = \tanh(W_c \mathbf c)$, and how many does $W_c$ have? (b) How many does the cell have if it gets
    $[E y_{t-1}; \mathbf c]$ at every step? (c) What does the second form do for the gradient of $\mathbf c$?

    *Solution.* (a) $3 (m^2 + m P) = «plain»$, and $W_c$ has $m^2 = «Wc»$. (b) The input is $P + m$ wide:
    $3 (m^2 + m (P + m)) = «every»$.

    (c) The loss of each step reaches $\mathbf c$ directly, and not only through all steps before it: the path to
    the source vector is short.

    *Marks.* 2 points: (a), 1 for each. 1 point: (b). 1 point: (c).
    """
    P, m = some(rng, (32, 50, 64, 100, 128, 200), 2)
    return {"P": P, "m": m, "plain": 3 * (m * m + m * P), "Wc": m * m, "every": 3 * (m * m + m * (P + m))}


@question("Right to the last token", points=4, minutes=5, objective=6, level=2)
def exact_match(rng):
    r"""A model that adds numbers writes each digit right with probability $p = «p»$, as long as all before it were
    right. Sums have $«T»$ characters.

    (a) What share of the sums is right as a whole? (b) In teacher forcing each character is judged after a right
    history. What share of *characters* does that report? (c) Which $p$ would make 99 in 100 sums right? Give the
    root and an approximation. (d) Why is a second mistake likelier after a first?

    *Solution.* (a) $«p»^{«T»} \approx «share:.3f»$. (b) $«p»$. (c)
    $0.99^{1/«T»} \approx 1 - \tfrac{0.01}{«T»} = «need:.4f»$.

    (d) The history then holds a mistake, and training has shown only right ones. (A wrong carry also belongs to
    more than one digit.)

    *Marks.* 1 point: (a). 1 point: (b). 1 point: (c). 1 point: (d).
    """
    p, T = pick(rng, (0.9, 0.8, 0.95, 0.7)), whole(rng, 2, 6)
    return {"p": p, "T": T, "share": p**T, "need": 1 - 0.01 / T}


@question("Shapes of a translator", "shapes", points=4, minutes=6, objective=3, level=1)
def translator_shapes(rng):
    r"""An encoder-decoder is trained on a batch of $«B»$ pairs, sources padded to $«N»$ tokens, targets to $«T»$ tokens
    including `<eos>`. Embeddings have width $«d»$, both GRUs have $«m»$ units, the target vocabulary $«V»$ types.
    Give the shapes of: the embedded sources, all encoder states, $\mathbf c$, the decoder's input ids, all decoder
    states, the logits. With which token does each row of the decoder's input begin, and which token of the longest
    target is not in its row?

    *Solution.* $(«B», «N», «d»)$; $(«B», «N», «m»)$; $(«B», «m»)$; $(«B», «T»)$; $(«B», «T», «m»)$;
    $(«B», «T», «V»)$. Each row begins with `<sos>`, and the last token of the longest target, its
    `<eos>`, is no input: the inputs are the targets shifted by one. (Shorter rows have their `<eos>` and padding in the
    input, where a mask leaves out what is predicted from them.)

    *Marks.* 1 point: the encoder. 1 point: $\mathbf c$. 1 point: the decoder and the logits. 1 point: the shift.
    """
    N, T = some(rng, range(8, 31), 2)
    return {"B": pick(rng, (32, 48)), "N": N, "T": T, "d": pick(rng, (50, 64)),
            "m": pick(rng, (96, 128)), "V": pick(rng, (3000, 8000))}  # fmt: skip


@question("When may a beam stop?", "derivation", points=4, minutes=7, objective=4, level=3)
def beam_stops():
    r"""Beam search without length normalisation has found a complete output with log-probability $b$, and every open
    beginning in the beam has a log-probability below $b$. Show that no continuation of these can become better, so
    that the search may stop. Show by an example with numbers that this fails for the score $\ln P / |\mathbf y|$.

    *Solution.*
    $\ln P(y_{1:t+1} \mid \mathbf x) = \ln P(y_{1:t} \mid \mathbf x) + \ln P(y_{t+1} \mid y_{1:t}, \mathbf x)$, and
    the second term is at most 0. So the sum never rises with $t$: a beginning below $b$ stays below $b$.

    With the mean it can rise: an open beginning of 2 tokens with $\ln P = -4$ has $-2$ a token. Continued by two
    nearly certain tokens it has about $-4 / 4 = -1$, better than a complete output of 2 tokens with $\ln P = -3$,
    that is $-1.5$ a token.

    *Marks.* 1 point: the sum over steps. 1 point: its terms are at most 0, and the conclusion. 2 points: the
    example, 1 of them for checking that the open one is below $b$ first.
    """


@question("A translator that is too good", "bug", points=4, minutes=6, objective=3, level=2)
def teacher_forcing_bug():
    r"""A translator has a loss near 0 after a few hundred steps, and writes nonsense. This is its training step;
    `target` is a batch of ids that begin with `<sos>` and end with `<eos>` and padding.

    ```python
    context = model.encode(source)
    logits = model.decode(context, target)                  # (B, T, vocab)
    loss = F.cross_entropy(logits.flatten(0, 1), target.flatten())
    ```

    Name the two mistakes, their symptoms, and the lines as they should be.

    *Solution.* Input and target are the same ids: at step $t$ the decoder sees the token that it has to name, and
    copies it. Right: `model.decode(context, target[:, :-1])` with the targets `target[:, 1:]`.

    Padding counts in the loss: it is easy to predict, so the loss looks better than it is, and its size depends on
    how much padding there is. Right: `ignore_index=PAD_ID`.

    *Marks.* 1 point: not shifted. 1 point: copying, and the lines. 1 point: padding in the loss. 1 point: its
    symptom and the remedy.
    """


@question("Teacher forcing", "words", points=4, minutes=6, objective=3, level=2)
def teacher_forcing():
    r"""Explain in about three sentences what teacher forcing is, why a translator is trained with it and not on its own
    outputs, and what goes wrong later because of it. Name one way to measure how much goes wrong.

    *Solution.* In training the decoder gets the true tokens $y_{<t}$ as its history, whatever it would have written
    itself. So the loss is exactly that of the conditional language model, each position gets a useful gradient from
    the first step on, and nothing has to be sampled. In use its own tokens are the history, mistakes among them,
    which it never met in training. Measure the loss or the accuracy per position after true histories and after own
    ones, or the share of right continuations after one token was replaced.

    *Marks.* 1 point: what it is. 1 point: why. 1 point: histories with mistakes are never seen. 1 point: a
    measurement.
    """


@question("A wider beam, a worse translation", "what if", points=4, minutes=6, objective=4, level=3)
def wide_beam():
    r"""With a beam of 1, 5 and 50 a translator reaches BLEU 30, 32 and 27; the mean length of its outputs is 98, 95 and
    70 per cent of the references'. The search is right. What happens at width 50? Which factor of BLEU shows it,
    and how large is it there? What would you try?

    *Solution.* The wide beam finds outputs that the model really thinks likelier: short ones, since every token
    costs probability. So it is the model's preference, not the search, that is at fault. The brevity penalty shows
    it, $e^{1 - 1/0.7} \approx 0.65$. Divide by the length (with $\alpha$ chosen on validation text), or keep the
    beam narrow, and watch the ratio of lengths.

    *Marks.* 1 point: short outputs have fewer factors. 1 point: the model prefers them, the search only finds them.
    1 point: the brevity penalty, with its value. 1 point: a remedy.
    """


@question("Three tasks, one model", "words", points=4, minutes=6, objective=1, level=1)
def three_tasks():
    r"""(a) Translation, summarisation and the addition of two numbers: say for each what $\mathbf x$ and $\mathbf y$
    are, as sequences of tokens. (b) Write down the one formula by which a model gives $P(\mathbf y \mid \mathbf x)$ for
    all three. (c) What would be missing if $\mathbf y$ did not end in `<eos>`?

    *Solution.* (a) A sentence and its translation; a text and its summary; the characters of “37+85” and of “122”. (b)
    $P(\mathbf y \mid \mathbf x) = \prod_{t=1}^T P(y_t \mid y_{<t}, \mathbf x)$. (c) The model could not say where an
    output ends. The product would be the probability of a beginning, and the probabilities of all outputs would not
    sum to 1.

    *Marks.* 1 point: (a). 1 point: (b). 1 point: nothing says where the output ends. 1 point: it is the probability of a
    beginning.
    """
