"""Translation by length: BLEU for sources of 1-5, 6-10, ..., 56-60 words, after training on up to 30 or 50 words.

Two translators share encoder, sizes, batches and number of steps; one hands its decoder the encoder's last state at
every step (RNNenc of Bahdanau et al. 2015), the other lets it look back at all states (RNNsearch).
"""

from collections.abc import Callable, Iterator
from functools import partial
from itertools import pairwise

import numpy as np
from torch import nn

import lmbook
from lmbook import data, metrics
from lmbook.data import synthetic
from lmbook.lab.recipes import translation
from lmbook.lab.recipes.translation import Pairs, Task, Tokens, apart, encoder_decoder, learn, race
from lmbook.lab.run import Run, recipe

LIMITS = (30, 50)  # words of the longest source in training
EDGES = list(range(1, 62, 5))
TRANSLATORS = {
    "fixed vector": {"context": "every"},
    # RNNsearch: s_{t-1} is scored and c_t enters the update, so the decoder knows where it has looked. Scoring s_t
    # (attention="luong") makes a step about a fifth cheaper, but such a decoder was seen to write a phrase again and
    # again where one word stands twice in a long source.
    "attention": {"attention": "bahdanau", "score": "additive", "d_a": 48},
}
CAPTIONS = {"d_embed": 64, "hidden": 96, "rows": 64}
JOINED = {"d_embed": 192, "hidden": 192, "rows": 64, "dropout": 0.3, "min_count": 3}
BUDGETS = (1500, 6000)  # steps of a training on generated captions; rates are picked after the first


def one_budget(
    run: Run, build: Callable, task: Task, batches: Callable, part: str, steps: int
) -> Iterator[tuple[int, nn.Module]]:
    """One training at the rate of the Multi30k ladder, as an iterator like `race`."""
    lmbook.seed(run.seed)
    yield steps, learn(run, build(), batches, steps, 3e-3, part, warmup=100, validate=task.nll, evaluate_every=700)


def compare(
    run: Run, parts: dict[int, Pairs], valid: Pairs, test: Pairs, settings: dict, training: Callable,
    known: Pairs | None = None,
) -> dict:  # fmt: skip
    """Trains both translators on the pairs of each limit, and scores the four by length on one test set.

    parts: training pairs, by the longest source in them.  valid, test: pairs of any length.
    settings: d_embed, hidden, rows (of a batch), min_count and dropout.  training: `race`, its budgets given, or
    `one_budget`.  known: the pairs whose words are the vocabulary, by default those with the longest sources.
    """
    known = known or parts[max(parts)]
    reader, writer = (Tokens.build([pair[side] for pair in known], settings.get("min_count", 1)) for side in (0, 1))
    lengths, most = [words(source) for source, _ in test], 5 if run.quick else 2 * max(EDGES)
    scores: dict = {"settings": settings}
    for limit, train in parts.items():
        held = [pair for pair in valid if words(pair[0]) <= limit]
        task = Task({"train": train, "valid": held, "test": test}, reader, writer)
        scores["types"], batches = list(task.types), task.batches(run.seed, settings["rows"])
        outputs: dict[str, list[str]] = {}
        for name, options in TRANSLATORS.items():
            part, build = f"{name} {limit}", partial(translator, task.types, settings, options)
            for steps, model in training(run, build, task, batches, part=part):
                outputs[name], references = task.written(model, max_length=most)
                scores[f"{part}, {steps} steps"] = {
                    "bleu": metrics.bleu(outputs[name], references, str.split),
                    "by words": translation.by_length(outputs[name], references, lengths, EDGES, with_counts),
                    "example": example(outputs[name], test, lengths),
                }
            scores[part] = scores.pop(f"{part}, {steps} steps")  # the longest has the name of its part
        scores[f"alignment {limit}"] = alignment(model, task, lengths)
        past = [i for i, length in enumerate(lengths) if length > limit]
        systems = ([texts[i] for i in past] for texts in (*outputs.values(), references))
        found = metrics.paired_bootstrap(*systems, 10 if run.quick else 1000, 0, str.split)
        for place, name in zip(("first", "second"), outputs, strict=True):
            scores[f"{name} {limit}, past {limit} words"] = found.pop(place)
        scores[f"difference past {limit} words"] = found
    return scores


def curve(record: dict, name: str, limit: int, steps: int = BUDGETS[-1]) -> list[dict]:
    """What the record of `length-captions` says of one translator after so many steps: a row for five words."""
    part = f"{name} {limit}"
    return record["scores"][part if steps == BUDGETS[-1] else f"{part}, {steps} steps"]["by words"]


def with_counts(outputs: list[str], references: list[str]) -> dict:
    """`by_words`, and the counts of all sentences together."""
    counts = translation.counts(outputs, references).sum(0, keepdims=True)
    return translation.by_words(outputs, references) | {"counts": counts}


def words(source: str) -> int:
    """Words of a source, its last full stop not counted where it stands apart."""
    return len(source.removesuffix(" .").split())


def translator(types: tuple[int, int], settings: dict, options: dict) -> nn.Module:
    """Bidirectional GRU encoder and GRU decoder of the settings' sizes; options: one of TRANSLATORS."""
    sizes = {"d_embed": settings["d_embed"], "hidden": settings["hidden"], "dropout": settings.get("dropout", 0.0)}
    return encoder_decoder(types, bidirectional=True, **sizes, **options)


def example(outputs: list[str], test: Pairs, lengths: list[int]) -> list[str]:
    """Source, reference and translation of the first test pair of 41 to 45 words, or of the longest."""
    i = next((i for i, length in enumerate(lengths) if 41 <= length <= 45), int(np.argmax(lengths)))
    return [*test[i], outputs[i]]


def alignment(model: nn.Module, task: Task, lengths: list[int]) -> dict:
    """The weights alpha_ti of the first test pair of 11 to 15 words, its target given: one row a target token."""
    i = next(i for i, length in enumerate(lengths) if 11 <= length <= 15)
    source, target = task.pairs["test"][i]
    (weights,) = translation.attention_weights(model, next(data.batches(task.ids["test"][i : i + 1], 1)))
    rows = [" ".join(f"{weight:.3f}" for weight in row) for row in weights.tolist()]
    return {"source": source, "target": target, "weights": rows}


@recipe(
    "length-captions",
    about="generated captions by length: a fixed vector and attention, trained on up to 30 and up to 50 words",
    minutes=100,
    seeds=(0,),
    score="attention 50, past 50 words",
)
def length_captions(run: Run) -> tuple[dict, None]:
    """100 test pairs in each five words of length, none of them in training; the same pairs for all seeds."""
    few = 2 if run.quick else 100
    bins = [(max(3, low), high - 1) for low, high in pairwise(EDGES)]
    test = [pair for low, high in bins for pair in data.captions(few, 1, low, high)]
    valid = data.captions(12 if run.quick else 300, 2, 4, max(LIMITS))
    number = 8 if run.quick else 30_000
    parts = {limit: apart(data.captions(number, 0, 3, limit), test, valid) for limit in LIMITS}
    training = partial(race, budgets=BUDGETS, rounds=BUDGETS[:1])
    return compare(run, parts, valid, test, CAPTIONS, training), None


def length_joined(run: Run, steps: int) -> tuple[dict, None]:
    """Words are what blanks separate, after sacreBLEU's tokenizer; those that come up to twice are <unk>.

    A caption occurs in several joined ones, so it is in the captions themselves that words are counted.
    """
    corpus = run.corpus("multi30k", languages=("de", "en"))
    parts = {
        part: [tuple(" ".join(metrics.tokenize_13a(side)) for side in pair) for pair in run.cut(corpus[part], 200)]
        for part in ("train", "valid", "test")
    }
    few, low = (3, 8) if run.quick else (60, 6)
    test = [
        pair
        for first, end in pairwise(EDGES)
        if end > low + 3
        for pair in synthetic.joined(parts["test"], few, first, max(low, first), end - 1)
    ]
    valid = synthetic.joined(parts["valid"], 20 if run.quick else 300, 0, low, max(LIMITS))
    number = 60 if run.quick else 40_000
    train = {limit: synthetic.joined(parts["train"], number, 0, low, limit) for limit in LIMITS}
    return compare(run, train, valid, test, JOINED, partial(one_budget, steps=steps), parts["train"]), None


for name, steps, minutes in (("length-joined", 3500, 85), ("length-joined-long", 7000, 180)):
    recipe(
        name,
        about=f"Multi30k German-English by length, captions joined to up to 60 words, {steps:,} steps",
        minutes=minutes,
        corpora=("multi30k",),
        seeds=(0,),
        score="attention 30, past 30 words",
    )(partial(length_joined, steps=steps))
