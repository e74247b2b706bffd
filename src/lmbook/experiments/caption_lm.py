"""Bengio's model of captions, small enough to look into: the figure of chapter 4 shows every number of it.

    e = [E w_t-3; E w_t-2; E w_t-1]      h = sigma(W e)      z = U h      P(w_t) = softmax(z)

English captions of Multi30k in lower case, each from <sos> to <eos>; the 300 most frequent words, <unk> for the others.
"""

import torch
from torch import nn

from lmbook import metrics
from lmbook.experiments.run import Run, recipe
from lmbook.experiments.tasks import next_token_nll, texts
from lmbook.feedforward import FeedForwardLM
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
    )
    nll = {part: evaluate(model, texts(ids[part], 256), next_token_nll) for part in ("valid", "test")}
    return {f"{part} perplexity": metrics.perplexity(mean) for part, mean in nll.items()}, model
