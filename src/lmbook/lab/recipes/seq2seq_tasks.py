"""Tasks made by a rule and learned to the end: sums, dates, and sequences backwards.

Nothing is downloaded. Each recipe trains an encoder-decoder on pairs of the rule and writes the targets of held-out
sources token by token (greedy). A record keeps the scores apart by what makes a source hard, and the first wrong
answers, so that a chapter can show both without training.
"""

import datetime
from functools import partial

from torch import nn

from lmbook import data
from lmbook.data import synthetic
from lmbook.lab.recipes.translation import Pairs, Task, apart, bleu_of, encoder_decoder, exact, learn, race
from lmbook.lab.run import Run, recipe
from lmbook.text import CharTokenizer, Vocabulary, WordTokenizer

SUMS = CharTokenizer(Vocabulary(list("0123456789+")))
DATES = CharTokenizer.train(
    "0123456789 ,./-stndrdthof" + (letters := "".join(synthetic.MONTHS + synthetic.DAYS)) + letters.lower()
)
NUMBERS = [str(number) for number in range(50)]
REVERSALS = WordTokenizer(Vocabulary(NUMBERS))


def answers(outputs: list[str], pairs: Pairs, kind) -> dict:
    """Share of targets that are written without a mistake: of all, and apart by kind(source, target); 20 mistakes."""
    kinds: dict[str, list[bool]] = {}
    for output, pair in zip(outputs, pairs, strict=True):
        kinds.setdefault(kind(*pair), []).append(output == pair[1])
    return {
        "exact": exact(outputs, [target for _, target in pairs]),
        "pairs": len(pairs),
        "apart": {name: [sum(hits) / len(hits), len(hits)] for name, hits in sorted(kinds.items())},
        "wrong": [[*pair, output] for output, pair in zip(outputs, pairs, strict=True) if output != pair[1]][:20],
    }


def either_way(source: str) -> frozenset[str]:
    """What "12+7" and "7+12" have in common."""
    return frozenset(source.split("+"))


def digits(source: str, target: str) -> str:
    """How many digits the two numbers have, the longer first: "3+1"."""
    return "+".join(map(str, sorted(map(len, source.split("+")), reverse=True)))


def backwards(pairs: Pairs) -> Pairs:
    """The pairs with their sources read from the last character to the first."""
    return [(source[::-1], target) for source, target in pairs]


@recipe(
    "addition",
    about="sums of two numbers below 1,000, character by character, through one vector",
    minutes=5,
    ships=True,
    score="exact",
)
def addition(run: Run) -> tuple[dict, nn.Module]:
    """No attention. The source is read backwards, units first (as Sutskever et al. 2014, section 3.3, do); nothing is
    padded, the sum is written forwards. Where a+b is in the test, b+a is not trained on either."""
    number, tested = (400, 200) if run.quick else (160_000, 4000)
    pairs = data.held_out(data.addition(number, even=False), 100, tested)
    train = apart(pairs["train"], pairs["valid"], pairs["test"], key=either_way)
    task = Task({part: backwards(rows) for part, rows in (pairs | {"train": train}).items()}, SUMS)
    model, run.text = encoder_decoder(task.types, 32, 128, cell="lstm", context="every"), SUMS
    batches = task.batches(run.seed, 128)
    learn(run, model, batches, 7000, 5e-3, warmup=100, validate=task.nll, evaluate_every=700)
    return answers(task.written(model)[0], pairs["test"], digits) | {"training pairs": len(train)}, model


def date_form(source: str, target: str) -> str:
    """The form a date is written in, shown with another day: "3 March 2021"."""
    day = datetime.date.fromisoformat(target)
    form = next(form for form in synthetic.DATE_FORMATS if form(day) == source)
    return form(datetime.date(2021, 3, 3))


@recipe(
    "dates",
    about="dates as people write them to the form of ISO 8601, character by character, through one vector",
    minutes=4,
    score="exact",
)
def dates(run: Run) -> tuple[dict, nn.Module]:
    """Each day occurs once, so no day of the test was seen in training in any form."""
    pairs = data.held_out(data.dates(400 if run.quick else 30_000), 100, 200 if run.quick else 4000)
    task = Task(pairs, DATES)
    model = encoder_decoder(task.types, 32, 128, bidirectional=True)
    batches = task.batches(run.seed, 64)
    learn(run, model, batches, 6000, 3e-3, warmup=100, validate=task.nll, evaluate_every=600)
    return answers(task.written(model)[0], pairs["test"], date_form), model


REVERSAL_BUDGETS = (1200, 6000)  # steps
READERS = {  # both with the same encoder
    "fixed vector": {"context": "every"},
    "attention": {"attention": "luong", "score": "multiplicative"},
}


@recipe(
    "reversal",
    about="sequences of up to 25 of 50 numbers backwards, tested up to 30, with attention and through one vector",
    minutes=9,
    score="bleu",
)
def reversal(run: Run) -> tuple[dict, nn.Module]:
    """Sizes of the data and lengths as in JoeyNMT's reverse task (scripts/generate_reverse_task.py): 50,000 pairs of
    lengths 1 to 25 for training, 1,000 of lengths 1 to 30 for test; here no source of the test is trained on."""
    test = data.reversal(60 if run.quick else 1000, seed=1, max_length=30, symbols=NUMBERS)
    rest = data.reversal(200 if run.quick else 51_000, seed=0, max_length=25, symbols=NUMBERS)
    train, valid = rest[:-100], rest[-100:]
    task = Task({"train": apart(train, valid, test), "valid": valid, "test": test}, REVERSALS)
    batches, scores = task.batches(run.seed, 64), {}
    for name, options in READERS.items():
        build, scores[name] = partial(encoder_decoder, task.types, 32, 64, bidirectional=True, **options), {}
        for steps, model in race(run, build, task, batches, REVERSAL_BUDGETS, REVERSAL_BUDGETS, name):
            found = bleu_of(task.written(model)[0], test, [1, 6, 11, 16, 21, 26, 31])
            scores[name] |= {f"{key}, {steps} steps": found[key] for key in ("bleu", "by length")}
        scores[name] |= found
        scores[name]["past training"] = scores[name]["by length"][-1]["bleu"]
    return {"bleu": scores["attention"]["bleu"], "training pairs": len(task.pairs["train"]), **scores}, model
