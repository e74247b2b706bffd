"""Word vectors from WikiText-2: skip-gram with negative sampling, on as many pairs as a few minutes allow.

Two sizes of one recipe: 20,000 types, and those that the map of chapter 3 shows; the second also with other windows and
with more of the frequent words, for a comparison. Frequent words are thinned out as in
word2vec, and the reach of each centre is drawn from 1 to the window. The score is the loss of pairs of the validation
part, which the model has not seen, with negative samples drawn once.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

import lmbook
from lmbook import word2vec
from lmbook.lab.recipes.wikitext import neighbours
from lmbook.lab.run import Run, recipe
from lmbook.lab.train import evaluate
from lmbook.text import UNK, Vocabulary, WordTokenizer
from lmbook.word2vec import SkipGram, keep_probability, nearest, noise_distribution

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
WINDOWS = {"all words, window 5": (5, 1.0), "thinned, window 5": (5, 1e-3), "thinned, window 2": (2, 1e-3)}
FOURTH = {"all words, window 2": (2, 1.0)}  # completes the factorial, in a recipe of its own
BUDGETS, SHOWN = (400, 1600), ("october", "storm", "three", "mother")
FAMILIES = (
    "january february march april may june july august september october november december",
    "two three four five six seven eight nine ten",
    "north south east west",
    "france germany england japan china london paris",
    "river lake island bay coast sea",
    "mother father wife daughter son brother sister",
    "red blue green black white",
    "king queen prince emperor",
    "album song single music band",
    "his her their our my",
)


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


def families(vocabulary: Vocabulary) -> list[list[int]]:
    """The ids of each of FAMILIES, without words that the vocabulary lacks."""
    return [[vocabulary[word] for word in line.split() if word in vocabulary] for line in FAMILIES]


def family_share(vectors: Tensor, families: list[list[int]]) -> float:
    """Of the five nearest of each member, by cosine, the share of its family (of four members, three can be)."""
    hits = [sum(i in family for i, _ in nearest(vectors, word, 5)) for family in families for word in family]
    return sum(hits) / max(1, sum(min(5, len(family) - 1) for family in families for _ in family))


def vectors(run: Run, setting: Setting, name: str = "model") -> tuple[dict, SkipGram, Vocabulary]:
    """A trained model, its scores and its words; name: of the training. An untrained pair costs (1 + K) ln 2."""
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
        warmup=min(100, setting.steps // 10),
        total=setting.steps,
        valid=held_out,
        clip=None,
        evaluate_every=1000,
        part=name,
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


@recipe(
    "skip-gram-windows",
    about="word vectors from WikiText-2 by skip-gram with two windows, and with frequent words thinned out or not",
    minutes=7,
    corpora=("wikitext2",),
    score="family",
)
def windows(run: Run) -> tuple[dict, None]:
    """By window, after each of BUDGETS: `family_share`; after the longest, what is nearest to four words."""
    scores = by_window(run, WINDOWS)
    return {"family": scores["thinned, window 2"][f"{BUDGETS[-1]} steps"]} | scores, None


@recipe(
    "skip-gram-narrow",
    about="word vectors from WikiText-2 by skip-gram with the narrow window and all words, the fourth case of the two",
    minutes=3,
    corpora=("wikitext2",),
    score="family",
)
def narrow(run: Run) -> tuple[dict, None]:
    """As `windows`, for FOURTH."""
    scores = by_window(run, FOURTH)
    return {"family": scores["all words, window 2"][f"{BUDGETS[-1]} steps"]} | scores, None


def by_window(run: Run, ways: dict[str, tuple[int, float]]) -> dict:
    """The scores of each of `ways` (name: window and threshold) after each of BUDGETS, every one a run of its own."""
    scores: dict = {}
    for name, (window, threshold) in ways.items():
        scores[name] = {}
        for steps in BUDGETS:
            lmbook.seed(run.seed)
            setting = Setting(PAGE.types, PAGE.d, window, threshold, 4096, steps, 2e-2, lower=True)
            _, model, vocabulary = vectors(run, setting, f"{name}, {steps} steps")
            scores[name][f"{steps} steps"] = family_share(model.v.weight, families(vocabulary))
        found = {word: nearest(model.v.weight, vocabulary[word], 6) for word in SHOWN if word in vocabulary}
        scores[name]["nearest"] = {word: [vocabulary.tokens[i] for i, _ in near] for word, near in found.items()}
    return scores
