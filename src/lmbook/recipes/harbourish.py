"""Harbourish to English: translators without attention, small enough to be trained in a minute each.

Pairs of `lmbook.captions`, read in the other direction: from the invented language into English, whose words one can
judge. One vocabulary serves both sides, so that one network can also read and write one text.
"""

from collections.abc import Iterable

import torch
from torch import nn

from lmbook import data, metrics
from lmbook.evaluation import evaluate
from lmbook.recipes.core import Run, recipe
from lmbook.recipes.generated import bleu_of, encode, spread
from lmbook.recipes.translation import beams, loss, tensors, translate
from lmbook.schedules import warmup_cosine
from lmbook.seq2seq import OneRNNTranslator, Seq2Seq
from lmbook.text import Vocabulary, WordTokenizer

D_EMBED, HIDDEN, MOST = 32, 64, 20  # widths, and the longest translation
SYSTEMS: dict[str, dict | None] = {  # options of Seq2Seq; None is one network for both sides
    "one RNN": None,
    "first state": {},
    "every step": {"context": "every"},
    "two layers": {"context": "every", "n_layers": 2},
    "stopped early": {"context": "every"},
}
SHIPPED = "stopped early"  # unsure enough to have something to search for
STEPS = {SHIPPED: 300}


def pairs(number: int, held: int) -> dict[str, list[tuple[str, str]]]:
    """Captions of 3 to 8 English words as (Harbourish, English), cut into train, valid and test."""
    made = [(plain(harbourish), plain(english)) for english, harbourish in data.captions(number, 0, 3, 8)]
    return data.held_out(made, held // 10, held)


def plain(text: str) -> str:
    """As one writes it: no blank before the full stop."""
    return text.replace(" .", ".")


class Sentences(WordTokenizer):
    """Words and full stops as tokens; decoding writes them as one does."""

    def decode(self, ids: Iterable[int]) -> str:
        return plain(super().decode(ids))


def word_ids() -> Sentences:
    """All words of both languages, in alphabetical order."""
    words = {word for pair in data.captions(3000, 1, 3, 8) for side in pair for word in side.split()}
    return Sentences(Vocabulary(sorted(words)))


def translator(name: str, types: int) -> nn.Module:
    """One of SYSTEMS, untrained; embeddings from N(0, 1), as in `generated.spread`."""
    if (options := SYSTEMS[name]) is None:
        model = OneRNNTranslator(types, D_EMBED, HIDDEN, cell="gru", fast=True)
        nn.init.normal_(model.lm.embedding.weight)
        return model
    return spread(Seq2Seq(types, types, D_EMBED, HIDDEN, cell="gru", bidirectional=True, fast=True, **options))


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
    parts, words = pairs(*(300, 60) if run.quick else (31_000, 1000)), word_ids()
    ids = {part: encode(words, rows) for part, rows in parts.items()}
    sources, references = [source for source, _ in ids["test"]], [target for _, target in parts["test"]]
    scores: dict = {"types": len(words.vocabulary), "training pairs": len(parts["train"])}
    for name in SYSTEMS:
        model, steps = translator(name, len(words.vocabulary)).to(run.device), STEPS.get(name, 1000)
        run.fit(
            model,
            lambda epoch: tensors(data.batches(ids["train"], 64, seed=[run.seed, epoch])),
            loss,
            torch.optim.Adam(model.parameters(), lr=6e-3),
            steps=steps,
            schedule=lambda step, steps=steps: warmup_cosine(step, warmup=100, total=steps),
            clip=1.0,
            validate=lambda model: evaluate(model, tensors(data.batches(ids["valid"], 100)), loss),
            evaluate_every=500,
            save_every=100,
            part=name,
        )
        if name == SHIPPED:
            shipped = model
            few = translate(model, words, sources[:100], 1, MOST)
            scores["greedy, first 100"], _ = metrics.sacrebleu_score(few, references[:100])
        if not run.rescoring:
            nll = evaluate(model, tensors(data.batches(ids["test"], 100)), loss)
            outputs = translate(model, words, sources, 1, MOST)
            scores[name] = {"perplexity": metrics.perplexity(nll)} | bleu_of(outputs, parts["test"], [3, 5, 7, 9])
            scores[name]["exact"] = sum(map(str.__eq__, outputs, references)) / len(references)
            scores[name]["outputs"] = outputs[:5]
    if not run.rescoring:
        scores["bleu"] = scores["every step"]["bleu"]
        scores |= beams(shipped, words, sources, parts["test"], (1, 2, 5, 10)[: 2 if run.quick else 4], MOST)
    return scores, shipped
