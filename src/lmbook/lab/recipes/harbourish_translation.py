"""Harbourish to English: translators without attention, small enough to be trained in a minute each.

Pairs of `lmbook.data.harbourish`, read in the other direction: from the invented language into English, whose words one
can judge. One vocabulary serves both sides, so that one network can also read and write one text.
"""

from collections.abc import Callable, Iterable

from torch import nn

import lmbook
from lmbook import data, metrics
from lmbook.lab.configuration import configured
from lmbook.lab.recipes.translation import Task, beams, encoder_decoder, learn, race, scored
from lmbook.lab.run import Run, recipe
from lmbook.seq2seq import RecurrentEncoder, SingleRNNTranslator
from lmbook.text import Vocabulary, WordTokenizer

D_EMBED, HIDDEN, MOST = 32, 64, 20  # widths, and the longest translation
SYSTEMS: dict[str, dict | None] = {  # options of encoder_decoder; None is one network for both sides
    "one RNN": None,
    "first state": {},
    "every step": {"context": "every"},
    "two layers": {"context": "every", "n_layers": 2},
    "stopped early": {"context": "every"},  # ships: unsure enough to have something to search for
}
BUDGETS, STOPPED, STOPPED_RATE = (1000, 4000), 400, 1e-2  # steps
DEPTHS, EDGES = (1, 2, 4), [3, 5, 7, 9]  # layers; words of a source


def pairs(number: int, held: int) -> dict[str, list[tuple[str, str]]]:
    """Captions of 3 to 8 English words as (Harbourish, English), cut into train, valid and test."""
    made = [(plain(harbourish), plain(english)) for english, harbourish in data.captions(number, 0, 3, 8)]
    return data.held_out(made, held // 10, held)


def plain(text: str) -> str:
    """As one writes it: no blank before the full stop."""
    return text.replace(" .", ".")


@configured
class Sentences(WordTokenizer):
    """Words and full stops as tokens; decoding writes them as one does."""

    def decode(self, ids: Iterable[int]) -> str:
        return plain(super().decode(ids))


def word_ids() -> Sentences:
    """All words of both languages, in alphabetical order."""
    words = {word for pair in data.captions(3000, 1, 3, 8) for side in pair for word in side.split()}
    return Sentences(Vocabulary(sorted(words)))


def captions(quick: bool) -> Task:
    """`pairs` as all experiments on them have them."""
    return Task(pairs(*(60, 20) if quick else (31_000, 1000)), word_ids())


def translator(types: int, options: dict | None) -> nn.Module:
    """GRUs, the encoder's in both directions, untrained.  options: as in SYSTEMS."""
    if options is None:
        return SingleRNNTranslator(types, D_EMBED, HIDDEN, cell="gru")
    return encoder_decoder((types, types), D_EMBED, HIDDEN, bidirectional=True, **options)


@recipe(
    "harbourish",
    about="generated captions, Harbourish to English, through one vector: four forms, and one stopped early",
    minutes=6,
    ships=True,
    score="bleu",
    rescored=("greedy, first 100",),
)
def harbourish(run: Run) -> tuple[dict, nn.Module]:
    """Batches and budgets are the same for all; encoders read in both directions, the network for both sides in one.

    The scores of a system are those after the longest budget; "bleu, 1000 steps" is what it had after the other.
    """
    task, widths = captions(run.quick), (1, 2) if run.quick else (1, 2, 5, 10)
    most = 5 if run.quick else MOST
    run.text = task.reader
    scores: dict = {"types": task.types[0], "training pairs": len(task.pairs["train"])}
    for name, options in SYSTEMS.items():
        if run.rescoring or name == "stopped early":
            continue
        scores[name], model = raced(run, lambda options=options: translator(task.types[0], options), task, name)
        if name == "every step":
            scores["beams, trained to the end"] = beams(model, task, widths, most)["beams"]
    model = stopped_early(run, task)
    scores["greedy, first 100"], _ = metrics.sacrebleu_score(*task.written(model, 100, max_length=most))
    if not run.rescoring:
        found, outputs = scored(model, task, EDGES, most)
        scores["stopped early"] = found | {"outputs": outputs[:5]}
        scores["bleu"] = scores["every step"]["bleu"]
    return scores, model


def stopped_early(run: Run, task: Task) -> nn.Module:
    """The translator that ships, after STOPPED steps."""
    lmbook.seed(run.seed)
    model, batches = translator(task.types[0], SYSTEMS["stopped early"]), task.batches(run.seed, 64)
    return learn(run, model, batches, STOPPED, STOPPED_RATE, "stopped early", validate=task.nll, evaluate_every=100)


@recipe(
    "harbourish-beams",
    about="generated captions, Harbourish to English: the translator stopped early, beams of 1 to 100",
    minutes=3,
    score="a beam of 100 over one of 2, undivided",
)
def wide_beams(run: Run) -> tuple[dict, None]:
    """BLEU and length of the outputs by width, with and without the division by the length."""
    task, widths = captions(run.quick), (2, 3) if run.quick else (1, 2, 5, 10, 20, 50, 100)
    scores = beams(stopped_early(run, task), task, widths, 5 if run.quick else MOST)
    undivided = {row["width"]: row["bleu"] for row in scores["beams"] if not row["alpha"]}
    return scores | {"a beam of 100 over one of 2, undivided": undivided[widths[-1]] - undivided[2]}, None


def raced(run: Run, build: Callable, task: Task, name: str) -> tuple[dict, nn.Module]:
    """A system after the longest of BUDGETS and its scores, with BLEU, perplexity and share without a mistake after the
    others."""
    scores: dict = {}
    for steps, model in race(run, build, task, task.batches(run.seed, 64), BUDGETS, BUDGETS, name):
        found, outputs = scored(model, task, EDGES, 5 if run.quick else MOST)
        scores |= {f"{key}, {steps} steps": found[key] for key in ("bleu", "perplexity", "exact")}
    return scores | found | {"outputs": outputs[:5]}, model


@recipe(
    "harbourish-depth",
    about="generated captions, Harbourish to English: encoder and decoder of 1, 2 or 4 layers, context every step",
    minutes=10,
    score="4 layers, bleu",
)
def depth(run: Run) -> tuple[dict, None]:
    """As in `harbourish`; for each depth BLEU, perplexity and share without a mistake after both budgets."""
    task, scores = captions(run.quick), {}
    for n in DEPTHS:
        name = f"{n} layer{'s' if n > 1 else ''}"
        scores[name] = stacked(run, task, name, n)
    scores[f"{name}, bleu"] = scores[name]["bleu"]
    return scores, None


@recipe(
    "harbourish-residual",
    about="generated captions, Harbourish to English: 4 layers as in harbourish-depth, with residual connections",
    minutes=8,
    score="bleu",
)
def residual(run: Run) -> tuple[dict, None]:
    """As in `depth`; every layer of encoder and decoder but the first adds its input to its output."""
    scores = stacked(run, captions(run.quick), "4 layers, residual", DEPTHS[-1], residual=True)
    return {"4 layers, residual": scores, "bleu": scores["bleu"]}, None


def stacked(run: Run, task: Task, name: str, n_layers: int, residual: bool = False) -> dict:
    """Scores after both budgets of n_layers on each side."""

    def build() -> nn.Module:
        encoder = RecurrentEncoder(task.types[0], D_EMBED, HIDDEN, n_layers, "gru", True, residual=residual)
        options = {"context": "every", "n_layers": n_layers, "residual": residual}
        return encoder_decoder(task.types, D_EMBED, HIDDEN, encoder, **options)

    found, _ = raced(run, build, task, name)
    return {key: found[key] for key in found if key.startswith(("bleu", "perplexity", "exact"))}
