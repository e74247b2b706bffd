"""Harbourish to English: translators without attention, small enough to be trained in a minute each.

Pairs of `lmbook.data.harbourish`, read in the other direction: from the invented language into English, whose words one
can judge. One vocabulary serves both sides, so that one network can also read and write one text.
"""

from collections.abc import Iterable

from torch import nn

from lmbook import data, metrics
from lmbook.configuration import configured
from lmbook.experiments.run import Run, recipe
from lmbook.experiments.translation import Task, beams, encoder_decoder, learn, scored, spread
from lmbook.seq2seq import SingleRNNTranslator
from lmbook.text import Vocabulary, WordTokenizer

D_EMBED, HIDDEN, MOST = 32, 64, 20  # widths, and the longest translation
SYSTEMS: dict[str, dict | None] = {  # options of encoder_decoder; None is one network for both sides
    "one RNN": None,
    "first state": {},
    "every step": {"context": "every"},
    "two layers": {"context": "every", "n_layers": 2},
    "stopped early": {"context": "every"},  # ships: unsure enough to have something to search for
}
STEPS = {"stopped early": 300}
DEPTHS, EDGES = (1, 2, 3, 4), [3, 5, 7, 9]  # layers; words of a source


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
    return Task(pairs(*(300, 60) if quick else (31_000, 1000)), word_ids())


def translator(types: int, options: dict | None) -> nn.Module:
    """GRUs, the encoder's in both directions, untrained; embeddings from N(0, 1).  options: as in SYSTEMS."""
    if options is None:
        return spread(SingleRNNTranslator(types, D_EMBED, HIDDEN, cell="gru"))
    return spread(encoder_decoder((types, types), D_EMBED, HIDDEN, bidirectional=True, **options))


@recipe(
    "harbourish",
    about="generated captions, Harbourish to English, through one vector: four forms, and one stopped early",
    minutes=3,
    ships=True,
    score="bleu",
    rescored=("greedy, first 100",),
)
def harbourish(run: Run) -> tuple[dict, nn.Module]:
    """The same rate and batches for all; encoders read in both directions, the network for both sides in one."""
    task = captions(run.quick)
    run.text, batches = task.reader, task.batches(run.seed, 64)
    scores: dict = {"types": task.types[0], "training pairs": len(task.pairs["train"])}
    for name, options in SYSTEMS.items():
        model = translator(task.types[0], options)
        learn(run, model, batches, STEPS.get(name, 1000), 6e-3, name, validate=task.nll, evaluate_every=500)
        if not run.rescoring:
            found, outputs = scored(model, task, EDGES, MOST)
            scores[name] = found | {"outputs": outputs[:5]}
    scores["greedy, first 100"], _ = metrics.sacrebleu_score(*task.written(model, 100, max_length=MOST))
    if not run.rescoring:
        scores["bleu"] = scores["every step"]["bleu"]
        scores |= beams(model, task, (1, 2) if run.quick else (1, 2, 5, 10), MOST)
    return scores, model


@recipe(
    "harbourish-depth",
    about="generated captions, Harbourish to English: encoder and decoder of 1 to 4 layers, context into every step",
    minutes=6,
    score="4 layers",
)
def depth(run: Run) -> tuple[dict, None]:
    """As in `harbourish`, the same steps for all; the score of the recipe is BLEU."""
    task, scores = captions(run.quick), {}
    batches = task.batches(run.seed, 64)
    for n in DEPTHS:
        name = f"{n} layer{'s' if n > 1 else ''}"
        model = translator(task.types[0], {"context": "every", "n_layers": n})
        learn(run, model, batches, 1000, 6e-3, name, validate=task.nll, evaluate_every=500)
        found, _ = scored(model, task, EDGES, MOST)
        scores |= {name: found["bleu"], f"{name}, perplexity": found["perplexity"]}
    return scores, None
