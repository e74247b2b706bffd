"""Word vectors from WikiText-2: skip-gram with negative sampling, on as many pairs as a few minutes allow.

Two sizes of one recipe: 20,000 types, and those that the map of chapter 3 shows. Frequent words are thinned out as in
word2vec, and the reach of each centre is drawn from 1 to the window. The score is the loss of pairs of the validation
part, which the model has not seen, with negative samples drawn once.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from lmbook import word2vec
from lmbook.experiments.run import Run, recipe
from lmbook.experiments.wikitext import neighbours
from lmbook.text import UNK, Vocabulary, WordTokenizer
from lmbook.train import evaluate
from lmbook.word2vec import SkipGram, keep_probability, noise_distribution

K = 5
Pairs = tuple[Tensor, Tensor, Tensor]  # centre (B,), context (B,), negatives (B, K)


@dataclass(frozen=True)
class Setting:
    """types: the most frequent ones.  d: numbers a word.  threshold: frequency above which words are thinned out.

    lower: whether the text is read in lower case.
    """

    types: int
    d: int
    window: int
    threshold: float
    batch: int
    steps: int
    rate: float
    lower: bool = False


LARGE = Setting(20_000, 100, 5, 1e-4, 2048, 8000, 3e-3)
PAGE = Setting(2500, 48, 2, 1e-3, 2048, 1500, 1e-2, lower=True)  # the words, width and window of chapter 3


def drawn(ids: np.ndarray, noise: Tensor, seed: list[int], steps: int, setting: Setting) -> Iterator[Pairs]:
    """`steps` batches of pairs of a stream, drawn with replacement, and K negatives each."""
    rng, B = np.random.default_rng(seed), setting.batch
    generator = torch.Generator().manual_seed(int(rng.integers(2**31)))
    centres, contexts = (torch.from_numpy(side) for side in word2vec.pairs(ids, setting.window, rng))
    for _ in range(steps):
        rows = torch.randint(len(centres), (B,), generator=generator)
        negatives = torch.multinomial(noise, B * K, replacement=True, generator=generator).view(B, K)
        yield centres[rows], contexts[rows], negatives


def loss(model: SkipGram, batch: Pairs) -> tuple[Tensor, Tensor]:
    """Summed J of the pairs, and their number."""
    return model(*batch).sum(), torch.tensor(len(batch[0]))


def vectors(run: Run, setting: Setting) -> tuple[dict, SkipGram, Vocabulary]:
    """A trained model, its scores and its words. A pair of an untrained model costs (1 + K) ln 2."""
    corpus = run.corpus("wikitext2")
    text = {part: run.cut(corpus[part], 4000) for part in ("train", "valid")}
    if setting.lower:
        text = {part: [word.lower() for word in words] for part, words in text.items()}
    vocabulary = Vocabulary.build(text["train"], max_size=setting.types)
    streams = {}
    for part, tokens in text.items():
        ids = vocabulary.encode(tokens)
        streams[part] = ids[ids != vocabulary[UNK]]
    counts = np.bincount(streams["train"], minlength=len(vocabulary))
    keep, noise = keep_probability(counts, setting.threshold), noise_distribution(counts)
    for part, ids in streams.items():
        streams[part] = ids[np.random.default_rng([run.seed, len(ids)]).random(len(ids)) < keep[ids]]
    model = SkipGram(len(vocabulary), setting.d).to(run.device)

    def held_out() -> Iterator[Pairs]:
        return drawn(streams["valid"], noise, [0, 1], 50, setting)

    before = evaluate(model, held_out(), loss)
    run.fit_cosine(
        model,
        lambda epoch: drawn(streams["train"], noise, [run.seed, 2, epoch], 1000, setting),
        loss,
        torch.optim.Adam(model.parameters(), lr=setting.rate),
        warmup=100,
        total=setting.steps,
        valid=held_out,
        clip=None,
        evaluate_every=1000,
    )
    return {"held-out loss": evaluate(model, held_out(), loss), "before training": before}, model, vocabulary


@recipe(
    "skip-gram",
    about="word vectors from WikiText-2: skip-gram, 100 numbers a word, window of 5, five negative samples",
    minutes=4,
    corpora=("wikitext2",),
    score="held-out loss",
)
def skip_gram(run: Run) -> tuple[dict, SkipGram]:
    """20,000 types."""
    scores, model, vocabulary = vectors(run, LARGE)
    return scores | {"neighbours": neighbours(model.v.weight, vocabulary)}, model


@recipe(
    "skip-gram-page",
    about="word vectors from WikiText-2 as chapter 3 trains them, 48 numbers a word, for the map in the page",
    minutes=1,
    corpora=("wikitext2",),
    ships=True,
    score="held-out loss",
)
def page_vectors(run: Run) -> tuple[dict, SkipGram]:
    """2,500 types in lower case, window of 2."""
    scores, model, vocabulary = vectors(run, PAGE)
    run.text = WordTokenizer(vocabulary)
    return scores | {"neighbours": neighbours(model.v.weight, vocabulary)}, model
