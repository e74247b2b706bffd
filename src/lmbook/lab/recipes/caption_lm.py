"""Bengio's model of captions. One is small enough to look into: the figure of chapter 4 shows every number of it.

    e = [E w_t-3; E w_t-2; E w_t-1]      h = sigma(W e)      z = U h      P(w_t) = softmax(z)

English captions of Multi30k in lower case, each from <sos> to <eos>; the 300 most frequent words, <unk> for the others.

The other has tanh, biases and one tied table, and is trained for longer than a page can wait. It reads the
captions as one stream, an <eos> after each, with 1,000 types, and is scored beside 4-grams of the same stream.
"""

from functools import partial

import numpy as np
import torch
from torch import nn

import lmbook
from lmbook import data, metrics
from lmbook.feedforward import FeedForwardLM
from lmbook.lab.recipes.tasks import next_token_nll, stream_nll, texts
from lmbook.lab.run import Run, recipe
from lmbook.lab.train import evaluate
from lmbook.ngram import Counts, KneserNey
from lmbook.text import EOS, MASK, PAD, SOS, SPECIALS, Vocabulary, words

WORDS, WIDTH, HIDDEN, WINDOW = 300, 6, 12, 3


@recipe(
    "captions-feedforward",
    about="captions of Multi30k by a feed-forward network of 12 units that sees 3 words, for a figure",
    minutes=1,
    corpora=("multi30k",),
    ships=True,
    score="test perplexity",
)
def captions(run: Run) -> tuple[dict, nn.Module]:
    """Sigmoid units and no biases, as in the formula."""
    parts = {part: [words(pair[0].lower()) for pair in pairs] for part, pairs in run.split("multi30k").items()}
    vocabulary = run.text = Vocabulary.build((w for row in parts["train"] for w in row), max_size=WORDS + len(SPECIALS))
    ids = {part: [vocabulary.encode(row).tolist() for row in rows] for part, rows in parts.items()}
    model = FeedForwardLM(len(vocabulary), WIDTH, HIDDEN, WINDOW, activation="sigmoid").to(run.device)
    total = 3 * -(-len(ids["train"]) // 64)
    run.fit_cosine(
        model,
        lambda epoch: texts(ids["train"], 64, [run.seed, epoch]),
        next_token_nll,
        torch.optim.Adam(model.parameters(), lr=1e-2),
        warmup=min(50, total // 10),
        total=total,
        valid=lambda: texts(ids["valid"], 256),
    )
    nll = {part: evaluate(model, texts(ids[part], 256), next_token_nll) for part in ("valid", "test")}
    return {f"{part} perplexity": metrics.perplexity(mean) for part, mean in nll.items()}, model


EPOCHS, TYPES = (3, 6, 12), 1000


@recipe(
    "captions-epochs",
    about="captions of Multi30k by a feed-forward network of 48 units, trained for 3, 6 and 12 epochs, and 4-grams",
    minutes=5,
    corpora=("multi30k",),
    score="12 epochs",
)
def captions_epochs(run: Run) -> tuple[dict, None]:
    """Perplexity of the validation captions. The rate falls to a twentieth along a straight line, however long."""
    parts = {part: [words(pair[0].lower()) for pair in pairs] for part, pairs in run.split("multi30k").items()}
    text, held_out = ([w for row in parts[part] for w in (*row, EOS)] for part in ("train", "valid"))
    vocabulary = Vocabulary.build(text, max_size=TYPES)
    train, valid = vocabulary.encode(text), vocabulary.encode(held_out)
    never = [vocabulary[token] for token in (PAD, SOS, MASK)]
    allowed = ~np.isin(np.arange(len(vocabulary)), never)
    counted = KneserNey(Counts(train, 4, len(vocabulary)), 4, allowed=allowed, modified=True)
    scores = {"4-gram": metrics.perplexity(float(-counted.log_probs(valid)[1:].mean()))}
    for epochs in EPOCHS:
        lmbook.seed(run.seed)
        model = FeedForwardLM(len(vocabulary), 48, 48, 3, bias=True, tied=True).to(run.device)
        total = epochs * sum(1 for _ in data.stream_batches(train, 20, 25))
        run.fit(
            model,
            lambda epoch: data.stream_batches(train, 20, 25),
            stream_nll,
            torch.optim.Adam(model.parameters(), lr=6e-3),
            part=f"{epochs} epochs",
            steps=total,
            schedule=lambda step, total=total: 1 - 0.95 * min(1.0, step / total),
            stateful=True,
            validate=lambda model: evaluate(model, data.stream_batches(valid, 20, 25), stream_nll, stateful=True),
            evaluate_every=total // epochs,
        )
        nll = evaluate(model, data.stream_batches(valid, 1, 1000), partial(stream_nll, never=never), stateful=True)
        scores[f"{epochs} epochs"] = metrics.perplexity(nll)
    return scores, None
