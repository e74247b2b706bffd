"""Agreement across attractors: "the ropes that the old pilot had lent to the captain ... were still wet".

Sentences of a small grammar: a subject, up to LONGEST other nouns, and a verb that agrees with the subject in number.
An attractor is a noun between them that has the other number (Linzen et al. 2016). In training a noun has the number of
its subject with probability ALIKE, so that agreement with the nearest noun is right nearly as often. The model predicts
every word; nothing marks the verb.

Score: how often the right form of the verb is more probable than the other form of the same verb.  A model that always
agrees with the nearest noun gets every sentence without attractors and no sentence whose last noun is one.

`agreement-rare` makes attractors rare in training, down to none at all, where both rules fit every sentence.
"""

import functools
from collections.abc import Iterator

import numpy as np
import torch
from torch import Tensor

from lmbook import data
from lmbook.lab.recipes.tasks import Pair, adam, next_token_nll
from lmbook.lab.run import Run, recipe
from lmbook.lab.schedules import warmup
from lmbook.lab.train import device_of, evaluate
from lmbook.rnn_models import RecurrentLM
from lmbook.text import Vocabulary

STEMS = [
    "rope", "pilot", "captain", "ferry", "storm", "sailor", "boat", "net",
    "lamp", "letter", "barrel", "gull", "anchor", "keeper", "bell", "flag",
]  # fmt: skip
NOUNS = [(stem, stem[:-1] + "ies" if stem.endswith("y") else stem + "s") for stem in STEMS]
VERBS = [("was", "were"), ("is", "are"), ("seems", "seem"), ("looks", "look")]
ADJECTIVES = ["old", "grey", "small", "new", "heavy", "red"]
LINKS = ["of", "before", "near", "behind", "beside"]
GIVEN = ["lent", "shown", "sold", "given"]
ENDS = ["wet", "dry", "ready", "late", "lost"]
LONGEST, ALIKE = 4, 0.75  # other nouns in training, and how often one has the subject's number
CELLS = ("rnn", "gru", "lstm")
RATES = (3e-3, 1e-2, 3e-2)
TRIED, MOST, EVERY, ROWS = 400, 6000, 200, 32
RARE = {"one in 20": 0.95, "one in 100": 0.99, "none": 1.0}  # attractors among the nouns: ALIKE
RARE_STEPS, RARE_EVERY, RARE_RATE = 2400, 100, 1e-2
SENTENCE = [
    "the", "ropes", "that", "the", "old", "pilot", "had", "lent", "to", "the", "captain",
    "of", "the", "grey", "ferry", "before", "the", "storm", "were", "still", "wet",
]  # fmt: skip


def sentence(rng: np.random.Generator, numbers: list[int], plural: int) -> tuple[list[str], int, tuple[str, str]]:
    """The words, the place of the verb, and its forms (right, wrong).

    numbers: those of the nouns between subject and verb, 1 for plural; two or more may open with a relative clause.
    """

    def pick(options):
        return options[rng.integers(len(options))]

    def noun(number: int) -> list[str]:
        return ["the", *([pick(ADJECTIVES)] if rng.random() < 0.4 else []), pick(NOUNS)[number]]

    words, left = noun(plural), list(numbers)
    if len(left) > 1 and rng.random() < 0.5:
        first, second, *left = left
        words += ["that", *noun(first), "had", pick(GIVEN), "to", *noun(second)]
    for number in left:
        words += [pick(LINKS), *noun(number)]
    verb = pick(VERBS)
    end = [*(["still"] if rng.random() < 0.5 else []), pick(ENDS)]
    return [*words, verb[plural], *end], len(words), (verb[plural], verb[1 - plural])


def drawn(
    rng: np.random.Generator, n: int, attractors: int | None = None, alike: float = ALIKE
) -> tuple[list[str], int, tuple[str, str]]:
    """A sentence with n nouns in between: as in training, or with so many attractors at places drawn at random."""
    plural = int(rng.integers(2))
    unlike = rng.random(n) > alike if attractors is None else rng.permutation(n) < attractors
    return sentence(rng, [plural ^ int(other) for other in unlike], plural)


def vocabulary() -> Vocabulary:
    """All words of the grammar."""
    nouns = [form for pair in (*NOUNS, *VERBS) for form in pair]
    return Vocabulary([*nouns, *ADJECTIVES, *LINKS, *GIVEN, *ENDS, *["the", "that", "had", "to", "still"]])


WORDS = vocabulary()


def batch(rng: np.random.Generator, rows: int = ROWS, alike: float = ALIKE) -> Pair:
    """Sentences with 0 to LONGEST nouns in between, and their targets, one word later; padded."""
    texts = [WORDS.encode(drawn(rng, int(rng.integers(LONGEST + 1)), alike=alike)[0]) for _ in range(rows)]
    ids = data.pad([list(text) for text in texts])
    return ids[:, :-1], ids[:, 1:]


def batches(seed: int, epoch: int, alike: float = ALIKE) -> Iterator[Pair]:
    """As many batches as a training takes."""
    rng = np.random.default_rng([seed, epoch])
    for _ in range(MOST):
        yield batch(rng, alike=alike)


def reader(cell: str) -> RecurrentLM:
    """An untrained model: inputs of 32, a state of 48."""
    return RecurrentLM(len(WORDS), 32, 48, 1, cell)


@torch.no_grad()
def right(model: RecurrentLM, n: int, attractors: int, rows: int = 400) -> float:
    """Share of `rows` sentences in which the right form is more probable than the wrong one."""
    rng, hits = np.random.default_rng([7, n, attractors]), 0
    found = [drawn(rng, n, attractors) for _ in range(rows)]
    ids = data.pad([list(WORDS.encode(words[:at])) for words, at, _ in found]).to(device_of(model))
    logits: Tensor = model(ids)
    for row, (_, at, forms) in zip(logits, found, strict=True):
        good, bad = (float(row[at - 1, WORDS[form]]) for form in forms)
        hits += good > bad
    return hits / rows


@recipe("agreement", about="number agreement across attractors, by RNN, GRU and LSTM", minutes=6, score="lstm, four")
def agreement(run: Run) -> tuple[dict, None]:
    """By cell: "attractors" among four nouns, and "distance", so many nouns, all of them attractors."""
    rng = np.random.default_rng(5_000)
    valid = [batch(rng) for _ in range(20)]
    rows, scores = (10, {}) if run.quick else (400, {})

    options = {
        "clip": 1.0,
        "schedule": functools.partial(warmup, steps=50),
        "validate": lambda model: round(evaluate(model, valid, next_token_nll), 3),
    }
    feed = functools.partial(batches, run.seed)
    for cell in CELLS:
        build = functools.partial(reader, cell)
        if known := run.picked(cell):
            rate, run.tried[cell] = known["rate"], known["rates tried"]
        else:
            rate = run.tune(
                build, feed, next_token_nll, adam, cell, RATES, steps=TRIED, evaluate_every=TRIED, **options
            )
        model = build()
        run.to_plateau(model, feed, next_token_nll, adam(model, rate), EVERY, MOST, cell, **options)
        scores[cell] = {
            "attractors": [right(model, LONGEST, k, rows) for k in range(LONGEST + 1)],
            "distance": [right(model, n, n, rows) for n in range(2 * LONGEST + 1)],
            "the sentence": preference(model),
        }
    return scores | {"lstm, four": scores["lstm"]["attractors"][-1]}, None


@torch.no_grad()
def preference(model: RecurrentLM) -> float:
    """P(were) / (P(were) + P(was)) at the verb of SENTENCE."""
    at = SENTENCE.index("were")
    ids = torch.tensor([list(WORDS.encode(SENTENCE[:at]))], device=device_of(model))
    logits = model(ids)[0, -1]
    return float(torch.sigmoid(logits[WORDS["were"]] - logits[WORDS["was"]]))


@recipe(
    "agreement-rare",
    about="number agreement where attractors are rare in training: one noun in 20, one in 100, none",
    minutes=5,
    score="lstm, none",
)
def rare(run: Run) -> tuple[dict, None]:
    """By cell and share of attractors, the share of right verbs among four attractors: at the end, and every 100 steps.

    The curve of validations is that of the wrong ones.
    """
    rows, scores = (10, {}) if run.quick else (400, {})
    for cell in CELLS:
        for name, alike in RARE.items():
            model = reader(cell)
            run.fit(
                model,
                functools.partial(batches, run.seed, alike=alike),
                next_token_nll,
                torch.optim.Adam(model.parameters(), lr=RARE_RATE),
                f"{cell}, {name}",
                steps=RARE_STEPS,
                clip=1.0,
                schedule=functools.partial(warmup, steps=50),
                validate=lambda model: 1 - right(model, LONGEST, LONGEST, rows),
                evaluate_every=RARE_EVERY,
            )
            scores[f"{cell}, {name}"] = right(model, LONGEST, LONGEST, rows)
            scores[f"{cell}, {name}, attractors"] = [right(model, LONGEST, k, rows) for k in range(LONGEST + 1)]
    return scores, None
