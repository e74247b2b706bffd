"""Generated captions translated with each of the four scores of attention, and with none: English to Harbourish.

    none            the encoder's last state at every step of the decoder
    dot ... scaled  c_t = sum_i alpha_ti h_i, with s_t scored after the update          (Luong et al. 2015)
    RNNsearch       the additive score of s_{t-1}, before the update                    (Bahdanau et al. 2015)

The encoder reads in one direction, so that its states are as wide as the decoder's, which the dot score needs. Sizes,
batches and number of steps are the same for all. After few steps the rate is too; for many each system has its own, by
`race`. The generator knows which word comes from which, so alignments can be checked: `counterparts`.
"""

from collections import defaultdict
from functools import partial

import numpy as np
import torch
from torch import nn

from lmbook import data
from lmbook.attention import SCORES
from lmbook.data import harbourish
from lmbook.decode import greedy
from lmbook.lab.recipes import translation
from lmbook.lab.recipes.translation import Pairs, Task, apart, encoder_decoder, learn, race
from lmbook.lab.run import Run, recipe
from lmbook.text import EOS_ID, SOS_ID, Vocabulary, WordTokenizer

SHORTEST, LONGEST, MOST = 6, 20, 40  # words of a source, and the longest translation in tokens
SIZES = {"d_embed": 32, "hidden": 64}
SYSTEMS: dict[str, dict] = {
    "none": {"context": "every"},
    **{score: {"attention": "luong", "score": score, "d_a": 32} for score in SCORES},
    "RNNsearch": {"attention": "bahdanau", "score": "additive", "d_a": 32},
}
SHIPPED = "RNNsearch"


def pairs(quick: bool = False) -> dict[str, Pairs]:
    """Captions of 6 to 20 English words as (English, Harbourish); no source of valid and test is trained on."""
    test = data.captions(30 if quick else 500, 1, SHORTEST, LONGEST)
    valid = data.captions(20 if quick else 200, 2, SHORTEST, LONGEST)
    train = data.captions(60 if quick else 30_000, 0, SHORTEST, LONGEST)
    return {"train": apart(train, valid, test), "valid": valid, "test": test}


def word_ids() -> tuple[WordTokenizer, WordTokenizer]:
    """All words of English and of Harbourish, each in alphabetical order."""
    made = data.captions(3000, 3, SHORTEST, LONGEST)
    reader, writer = (
        WordTokenizer(Vocabulary(sorted({word for pair in made for word in pair[side].split()}))) for side in (0, 1)
    )
    return reader, writer


def counterpart_words() -> dict[str, set[str]]:
    """Harbourish words but articles, each with the English words that it can stand for."""
    found: dict[str, set[str]] = defaultdict(set)
    for noun, (plural, word, _) in harbourish.NOUNS.items():
        found[word].add(noun)
        found[word + "n"].add(plural)
    for adjective, stem in harbourish.ADJECTIVES.items():
        for ending in ("o", "a", "on", "an"):
            found[stem + ending].add(adjective)
    for (one, many), stem in (harbourish.TRANSITIVE | harbourish.INTRANSITIVE).items():
        found[stem + "a"].add(one)
        found[stem + "en"].add(many)
    for english, word in (harbourish.PREPOSITIONS | harbourish.CONJUNCTIONS).items():
        found[word].add(english)
    return dict(found)


COUNTERPARTS = counterpart_words()


def counterparts(source: str, target: str) -> list[int | None]:
    """For every word of the target the place of its counterpart in the source.

    None for articles and full stops, and where the English word does not stand in the source exactly once.
    """
    words, found = source.split(), []
    for word in target.split():
        places = [i for i, english in enumerate(words) if english in COUNTERPARTS.get(word, ())]
        found.append(places[0] if len(places) == 1 else None)
    return found


def aligned(model: nn.Module, coded: list, test: Pairs) -> float:
    """Of the target words with a known counterpart, the share that puts its largest weight there (target given)."""
    hits: list[bool] = []
    for batch in data.batches(coded, 50):
        largest = translation.attention_weights(model, batch).argmax(-1)  # (B, T)
        for row, number in zip(largest.tolist(), batch.rows.tolist(), strict=True):
            known = counterparts(*test[number])
            hits += [row[t] == i for t, i in enumerate(known) if i is not None]
    return sum(hits) / len(hits)


def scored(model: nn.Module, task: Task, name: str, quick: bool) -> dict:
    """BLEU, the share without a mistake, the counts of BLEU for each test sentence, and the share of words aligned."""
    texts = task.written(model, max_length=5 if quick else MOST)
    scores = translation.by_words(*texts) | {"counts": translation.counts(*texts), "outputs": texts[0][:5]}
    looks = name != "none"
    return scores | ({"aligned": aligned(model, task.ids["test"], task.pairs["test"])} if looks else {})


def prepared(run: Run) -> tuple[Task, dict]:
    """500 test captions of 6 to 20 words, the same for all seeds, and what a record says of them."""
    run.text = word_ids()
    task = Task(pairs(run.quick), *run.text)
    lengths = [len(source.split()) - 1 for source, _ in task.pairs["test"]]
    return task, {"training pairs": len(task.pairs["train"]), "words": lengths}


@recipe(
    "caption-scores",
    about="generated captions, English to Harbourish: the four scores of attention and none, same encoder and budget",
    minutes=3,
    ships=True,
    score="bleu",
    rescored=("bleu",),
)
def at_one_rate(run: Run) -> tuple[dict, nn.Module]:
    """600 steps of every system, with one schedule."""
    task, scores = prepared(run)
    for name in SYSTEMS:
        if run.rescoring and name != SHIPPED:
            continue
        torch.manual_seed(run.seed)
        model = encoder_decoder(task.types, **SIZES, **SYSTEMS[name])
        batches = task.batches(run.seed, 64)
        learn(run, model, batches, 600, 5e-3, name, warmup=100, validate=task.nll, evaluate_every=120)
        scores[name] = scored(model, task, name, run.quick)
        if name == SHIPPED:
            shipped, scores["bleu"] = model, scores[name]["bleu"]
    return scores, shipped


@recipe(
    "caption-scores-long",
    about="the same with four times the steps, each system at its best rate of one grid",
    minutes=15,
    score="bleu",
)
def at_best_rates(run: Run) -> tuple[dict, None]:
    """2,400 steps of every system, at the rate that validates best after as many; two are left of four after 600."""
    task, scores = prepared(run)
    for name, options in SYSTEMS.items():
        build = partial(encoder_decoder, task.types, **SIZES, **options)
        ((_, model),) = race(run, build, task, task.batches(run.seed, 64), (2400,), (600, 2400), name)
        scores[name] = scored(model, task, name, run.quick)
    scores["bleu"] = scores[SHIPPED]["bleu"]
    return scores, None


@torch.no_grad()
def look(model: nn.Module, tokenizers: tuple, source: str, most: int = 60) -> tuple[list[str], list[str], np.ndarray]:
    """The tokens of a source and of its greedy translation, and the weights (T, N) with which it was written.

    tokenizers: of the source and of the target.
    """
    reader, writer = tokenizers
    x = torch.tensor([reader.encode(source)])
    written = [token for token in greedy(model, x, most, forbid=(SOS_ID,))[0][0] if token != EOS_ID]
    _, weights = model(x, torch.tensor([[SOS_ID, *written[:-1]]]), need_weights=True)
    read, said = [reader.decode([token]) for token in x[0]], [writer.decode([token]) for token in written]
    return read, said, weights[0].numpy()
