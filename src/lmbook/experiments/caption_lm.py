"""Bengio's model of captions, small enough to look into: the figure of chapter 4 shows every number of it.

    e = [E w_t-3; E w_t-2; E w_t-1]      h = sigma(W e)      z = U h      P(w_t) = softmax(z)

English captions of Multi30k in lower case, each from <sos> to <eos>; the 300 most frequent words, <unk> for the others.
"""

import torch
from torch import nn

from lmbook import metrics
from lmbook.experiments.given_names import batches, loss
from lmbook.experiments.run import Run, recipe
from lmbook.feedforward import FeedForwardLM
from lmbook.schedules import warmup_cosine
from lmbook.text import SPECIALS, Vocabulary, words
from lmbook.train import evaluate

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
    corpus = run.corpus("multi30k")
    parts = {part: [words(pair[0].lower()) for pair in run.cut(corpus[part])] for part in ("train", "valid", "test")}
    vocabulary = run.text = Vocabulary.build((w for row in parts["train"] for w in row), max_size=WORDS + len(SPECIALS))
    ids = {part: [vocabulary.encode(row).tolist() for row in rows] for part, rows in parts.items()}
    model = FeedForwardLM(len(vocabulary), WIDTH, HIDDEN, WINDOW, activation="sigmoid").to(run.device)
    total = 3 * -(-len(ids["train"]) // 64)
    run.fit(
        model,
        lambda epoch: batches(ids["train"], 64, [run.seed, epoch]),
        loss,
        torch.optim.Adam(model.parameters(), lr=1e-2),
        steps=total,
        schedule=lambda step: warmup_cosine(step, warmup=min(50, total // 10), total=total),
        clip=1.0,
    )
    scores = {}
    for part in ("valid", "test"):
        scores[f"{part} perplexity"] = metrics.perplexity(evaluate(model, batches(ids[part], 256), loss))
    return scores, model
