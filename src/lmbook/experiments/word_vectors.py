"""Word vectors from WikiText-2: skip-gram with negative sampling, on as many pairs as a few minutes allow.

Frequent words are thinned out as in word2vec, and the reach of each centre is drawn from 1 to the window. The score is
the loss of pairs of the validation part, which the model has not seen, with negative samples drawn once.
"""

from collections.abc import Iterator

import numpy as np
import torch
from torch import Tensor

from lmbook import word2vec
from lmbook.experiments.run import Run, recipe
from lmbook.experiments.wikitext import neighbours
from lmbook.text import UNK, Vocabulary
from lmbook.train import evaluate
from lmbook.word2vec import SkipGram, keep_probability, noise_distribution

TYPES, D, WINDOW, K, BATCH, STEPS = 20_000, 100, 5, 5, 2048, 8000
THRESHOLD = 1e-4  # of the frequencies above which words are thinned out

Pairs = tuple[Tensor, Tensor, Tensor]  # centre (B,), context (B,), negatives (B, K)


def drawn(ids: np.ndarray, noise: Tensor, seed: list[int], steps: int) -> Iterator[Pairs]:
    """`steps` batches of pairs of a stream, drawn with replacement, and K negatives each."""
    rng = np.random.default_rng(seed)
    generator = torch.Generator().manual_seed(int(rng.integers(2**31)))
    centres, contexts = (torch.from_numpy(side) for side in word2vec.pairs(ids, WINDOW, rng))
    for _ in range(steps):
        rows = torch.randint(len(centres), (BATCH,), generator=generator)
        negatives = torch.multinomial(noise, BATCH * K, replacement=True, generator=generator).view(BATCH, K)
        yield centres[rows], contexts[rows], negatives


def loss(model: SkipGram, batch: Pairs) -> tuple[Tensor, Tensor]:
    """Summed J of the pairs, and their number."""
    return model(*batch).sum(), torch.tensor(len(batch[0]))


@recipe(
    "skip-gram",
    about="word vectors from WikiText-2: skip-gram, 100 numbers a word, window of 5, five negative samples",
    minutes=4,
    corpora=("wikitext2",),
    score="held-out loss",
)
def skip_gram(run: Run) -> tuple[dict, SkipGram]:
    """A pair of an untrained model costs (1 + K) ln 2."""
    corpus = run.corpus("wikitext2")
    text = {part: run.cut(corpus[part], 4000) for part in ("train", "valid")}
    vocabulary = Vocabulary.build(text["train"], max_size=TYPES)
    streams = {}
    for part, tokens in text.items():
        ids = vocabulary.encode(tokens)
        streams[part] = ids[ids != vocabulary[UNK]]
    counts = np.bincount(streams["train"], minlength=len(vocabulary))
    keep, noise = keep_probability(counts, THRESHOLD), noise_distribution(counts)
    for part, ids in streams.items():
        streams[part] = ids[np.random.default_rng([run.seed, len(ids)]).random(len(ids)) < keep[ids]]
    model = SkipGram(len(vocabulary), D).to(run.device)

    def held_out() -> Iterator[Pairs]:
        return drawn(streams["valid"], noise, [0, 1], 50)

    before = evaluate(model, held_out(), loss)
    run.fit_cosine(
        model,
        lambda epoch: drawn(streams["train"], noise, [run.seed, 2, epoch], 1000),
        loss,
        torch.optim.Adam(model.parameters(), lr=3e-3),
        warmup=100,
        total=STEPS,
        valid=held_out,
        clip=None,
        evaluate_every=1000,
    )
    near = neighbours(model.v.weight, vocabulary)
    return {"held-out loss": evaluate(model, held_out(), loss), "before training": before, "neighbours": near}, model
