"""Questions to chapter 16, Encoders only."""

import math
from fractions import Fraction

from lmbook_exams.question import pick, question, some, table, whole


@question("Eighty, ten, ten", points=4, minutes=6, objective=2, level=1)
def masking_counts(rng):
    r"""BERT's training chooses «percent» % of $«n»$ ordinary tokens; of the chosen, 80 % become `<mask>`, 10 % a random
    token (never the one that stood there), and 10 % stay. Give the expected numbers of

    (a) tokens that count in the loss; (b) positions that show `<mask>`; (c) positions that show their own token and yet
    count; (d) positions that show a wrong token. (e) If a position shows anything but `<mask>`, how likely is it that it
    counts in the loss?

    *Solution.* (a) $«chosen»$. (b) $0.8 \cdot «chosen» = «masked»$. (c) $«kept»$. (d) $«kept»$. (e) $2 \cdot «kept»$ of the $«n» - «masked»$
    that show no mask: $«share»$.

    *Marks.* 1 point: (a) and (b). 1 point: (c). 1 point: (d). 1 point: (e).
    """
    percent, n = pick(rng, (10, 15, 20)), 1000 * whole(rng, 1, 20)
    chosen = n * percent // 100
    kept = chosen // 10
    return {"percent": percent, "n": n, "chosen": chosen, "masked": chosen * 8 // 10, "kept": kept,
            "share": Fraction(2 * kept, n - chosen * 8 // 10)}  # fmt: skip


@question("The loss of a masked model", points=4, minutes=6, objective=2, level=2)
def masked_loss(rng):
    r"""A model has read a row of six tokens, some of them chosen for prediction. These are the probabilities that it
    gives to the true token at each position:

    «row»

    (a) What is the loss, in bits and in nats per chosen token? (b) What would be reported if all positions counted?
    (c) Why is that number lower, and useless? (d) May the six probabilities be multiplied to that of the text?

    *Solution.* (a) The mean of «logs» over the chosen ones: $«bits»$ bits, which is
    $«bits» \ln 2 \approx «nats:.3f»$ nats. (b) $«all:.3f»$ bits.

    (c) At the other positions the model sees the token that it is asked for. (d) No: each is conditioned on both
    sides, the product is no chain rule.

    *Marks.* 1 point: only the chosen ones. 1 point: the value. 1 point: (b) and (c). 1 point: (d).
    """
    chosen = sorted(some(rng, range(6), 3))
    powers = [whole(rng, 2, 6) if at in chosen else 0 for at in range(6)]
    powers[chosen[2]] += (-sum(powers)) % 3
    shown = [f"$\\tfrac{{1}}{{{2**k}}}$" if k else "$1$" for k in powers]
    lines = table(["position", *(str(n) for n in range(1, 7))],
                  ["chosen", *("yes" if at in chosen else "" for at in range(6))], ["probability", *shown])  # fmt: skip
    bits = sum(powers) // 3
    return {"row": lines, "powers": powers, "chosen": chosen, "logs": ", ".join(f"${powers[at]}$" for at in chosen),
            "bits": bits, "nats": bits * math.log(2), "all": sum(powers) / 6}  # fmt: skip


@question("The size of a BERT", points=5, minutes=7, objective=1, level=2)
def bert_parameters(rng):
    r"""A BERT has $|V| = «V»$, $T_{\max} = «T»$, two segments, width $d = «d»$, $d_{\text{ff}} = 4d$ and $L = «L»$
    layers. The attention of a layer has four $d \times d$ matrices for all its heads together. Linear maps have biases; there
    is a norm behind the embeddings and two in each layer. What is put on top of the encoder does not count.

    (a) How many parameters do the three tables have, with their norm? (b) How many does a layer have? (c) How many does the
    encoder have? (d) By how much do (a), (b) and (c) grow if $T_{\max}$ is doubled?

    *Solution.* (a) $(|V| + T_{\max} + 2)\, d + 2d = «tables»$. (b)
    $4(d^2 + d) + 2 d \cdot 4d + 4d + d + 4d = 12 d^2 + 13 d = «layer»$. (c) $«tables» + «L» \cdot «layer» = «all»$.
    (d) (a) and (c) by the table of positions, $T_{\max}\, d = «Td»$; (b) not at all.

    *Marks.* 1 point: (a). 2 points: (b), 1 of them for biases and norms. 1 point: (c). 1 point: (d).
    """
    V, T, d, L = (
        pick(rng, (1000, 5000, 10_000)),
        pick(rng, (64, 128, 256)),
        pick(rng, (32, 64, 100, 128)),
        whole(rng, 2, 6),
    )
    tables, layer = (V + T + 2) * d + 2 * d, 12 * d * d + 13 * d
    return {"V": V, "T": T, "d": d, "L": L, "tables": tables, "layer": layer, "all": tables + L * layer, "Td": T * d}


@question("Is it really this word?", points=4, minutes=7, objective=2, level=3)
def really_this_word(rng):
    r"""Chosen positions keep their token as often as they get a random one. A position that counts shows the word $v$, which
    the context alone would give the probability $p(v) = «p»$; random tokens are drawn evenly from $|V| = «V»$
    types.

    (a) Show that the right answer for “the true token is $v$” is $\dfrac{p(v) + p(v) / |V|}{p(v) + 1 / |V|}$, and
    compute it. (b) To what does it tend for a very large vocabulary? (c) What would it be if tokens were always
    kept and never random, and what would the model learn at such positions?

    *Solution.* (a) Let both have probability $b$. It shows $v$ because it was kept, $b\, p(v)$, or because $v$ was
    drawn, $b / |V|$ whatever was there; in the second case the true token is $v$ with probability $p(v)$. So
    $\frac{b\,p(v) + b\, p(v) / |V|}{b\, p(v) + b / |V|} = «answer»$.

    (b) To 1. (c) 1: copy what you see. Nothing about the context would be learned there.

    *Marks.* 2 points: the two ways to show $v$, and the formula. 1 point: the value and the limit. 1 point: (c).
    """
    V = pick(rng, (100, 1000, 10_000))
    p = Fraction(1, pick(rng, (2, 4, 5, 10, 20)))
    return {"V": V, "p": p, "answer": (p + p / V) / (p + Fraction(1, V))}


@question("How much a text teaches", points=4, minutes=5, objective=2, level=2)
def predictions_per_text(rng):
    r"""A training text has $«n»$ million tokens, in rows of $«T»$.

    (a) How many predictions does one pass give to a masked model that chooses «percent» %, and how many to a causal
    model ($«T» - 1$ in each row)? (b) How many passes does the masked model need for as many predictions as one
    pass of the causal one? (c) So why train a masked model at all? (d) Why is a rate of 80 % no way out?

    *Solution.* (a) $«masked»$ million, and about $«causal:.4g»$ million. (b) About $«passes:.3g»$. (c) Each
    prediction, and each hidden state, uses both sides; that is what labelling and classifying need. (d) Too little
    context is left to predict from.

    *Marks.* 1 point: (a). 1 point: (b). 1 point: (c). 1 point: (d).
    """
    n, T, percent = pick(rng, (2, 10, 20, 100)), pick(rng, (64, 128, 256, 512)), pick(rng, (10, 15, 20, 25))
    causal = n * (T - 1) / T
    return {"n": n, "T": T, "percent": percent, "masked": n * percent / 100, "causal": causal,
            "passes": causal / (n * percent / 100)}  # fmt: skip


@question("What fine-tuning adds", points=4, minutes=5, objective=4, level=1)
def fine_tuning_adds(rng):
    r"""A pre-trained encoder of width $d = «d»$ is used (i) as a tagger with $«tags»$ tags and (ii) as a classifier
    with $«classes»$ classes, which puts a pooler $\tanh(W_p \mathbf h_1 + \mathbf b_p)$ below its linear layer.

    (a) How many new parameters does each have? (b) With $«labels»$ labelled texts, which parameters can hardly be learned
    from these alone, and why does pre-training help? (c) A probe trains only (i) or (ii) and leaves the encoder as
    it is. What does its score say that the fine-tuned one does not?

    *Solution.* (a) (i) $«tags» \cdot «d» + «tags» = «tagger»$; (ii)
    $d^2 + d + «classes» \cdot «d» + «classes» = «classifier»$. (b) Those of the encoder; they come from unlabelled
    text, and the labels only have to move them a little. (c) What the states hold already, readable by a linear
    map, before any label was seen.

    *Marks.* 2 points: (a), 1 for each. 1 point: (b). 1 point: (c).
    """
    d, tags, classes = pick(rng, (64, 128, 256, 768)), pick(rng, (9, 12, 17)), whole(rng, 2, 6)
    return {"d": d, "tags": tags, "classes": classes, "labels": pick(rng, (50, 100, 500)), "tagger": tags * d + tags,
            "classifier": d * d + d + classes * d + classes}  # fmt: skip


@question("A product that is no probability", "derivation", points=4, minutes=7, objective=6, level=3)
def no_joint():
    r"""A language has two sentences of two words, “yes yes” and “no no”, equally likely. Let a masked model give the
    right conditionals at each blank, with one blank at a time.

    (a) Compute the product $P(w_1 \mid \_\; w_2)\, P(w_2 \mid w_1\; \_)$ for each of the four texts of *yes* and
    *no* (where a condition never occurs in the language, let the model answer *yes* and *no* with $\tfrac12$ each
    if you need it; say where). Do the products add up to 1? (b) Both words are blanks at once. What are the right
    answers, and which texts come out if both are drawn independently?

    *Solution.* (a) “yes yes”: $1 \cdot 1 = 1$, “no no”: $1 \cdot 1 = 1$. “yes no”:
    $P(\text{yes} \mid \_\; \text{no}) = 0$, so 0, and the same for “no yes”; all conditions occur. The sum is 2: no
    distribution over texts.

    (b) $\tfrac12$ for each word at each blank. Drawn independently, each of the four texts comes with probability
    $\tfrac14$, two of them no sentences of the language.

    *Marks.* 1 point: the products. 1 point: the sum of 2, and what follows. 1 point: the right answers at two
    blanks. 1 point: the texts that come out.
    """


@question("Too good at blanks", "bug", points=4, minutes=6, objective=2, level=2)
def unmasked_bug():
    r"""A masked model reaches a loss near 0 within a few hundred steps, and its guesses for real blanks are random
    words.

    ```python
    inputs, chosen = mask_tokens(tokens, vocab, generator)
    logits = model(tokens)
    loss = F.cross_entropy(logits.flatten(0, 1), tokens.flatten())
    ```

    (a) Find the two mistakes and give the lines. (b) Which one alone explains the loss, and what would the loss be
    like with only the other one? (c) Which statistic of the inputs would have shown it?

    *Solution.* (a) The model must read `inputs`, and the loss must be taken at the chosen positions:
    `F.cross_entropy(logits[chosen], tokens[chosen])`. (b) The first: the text with its answers is the input. With
    only the second, about 85 in 100 positions are answered by copying, and the mean hides how bad the others are. (c)
    The number of `<mask>` among what the model is given: it is zero.

    *Marks.* 2 points: (a), 1 for each. 1 point: (b). 1 point: (c).
    """


@question("Why not all masks?", "words", points=4, minutes=6, objective=2, level=2)
def why_not_all_masks():
    r"""A colleague replaces every chosen token by `<mask>`, “since 80/10/10 is only tradition”. Explain in about three
    sentences what the 10 % random and the 10 % unchanged tokens are for, and describe an experiment that would tell
    whether they matter for a tagger.

    *Solution.* In use there are no `<mask>` tokens: a model that had to predict only at masks need not compute
    anything useful at ordinary words. Unchanged ones make it predict where the word is seen, and random ones keep
    it from simply copying there, since what is shown may be wrong. Pre-train twice with the same seed, text and
    number of steps, once with each rule, fine-tune both on the same labels over several seeds, and compare with the
    spread.

    *Marks.* 1 point: no masks in use. 1 point: unchanged tokens. 1 point: random ones. 1 point: an experiment with
    one difference, and its spread.
    """


@question("Can it write?", "what if", points=4, minutes=6, objective=6, level=2)
def can_it_write():
    r"""Somebody lets a BERT write: to a prompt a `<mask>` is appended, the likeliest token is put there, then the next
    `<mask>` is appended, and so on. Give two reasons why the text will be poor, one of them in how the model was
    trained. What changes if ten masks are appended at once and all filled in one pass? For which question about a
    text is BERT the better choice than a GPT?

    *Solution.* A blank at the end, with nothing behind it, is rare in its training, where about 85 in 100 tokens on
    both sides were there; and it has never seen its own words as context. (Its states use both sides, which do not
    exist.) With ten masks at once each is filled without knowing the others: the words fit the prompt one by one,
    and not each other. For questions whose answer is a label, with the text complete: tags, names, topics.

    *Marks.* 2 points: the two reasons. 1 point: ten at once. 1 point: the question.
    """
