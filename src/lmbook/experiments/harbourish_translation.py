"""Harbourish to English: translators without attention, small enough to be trained in a minute each.

Pairs of `lmbook.data.harbourish`, read in the other direction: from the invented language into English, whose words one
can judge. One vocabulary serves both sides, so that one network can also read and write one text.
"""

from collections.abc import Iterable

from torch import nn

from lmbook import data, metrics
from lmbook.configuration import configured
from lmbook.experiments import multi30k
from lmbook.experiments.multi30k import beams, loss, translate
from lmbook.experiments.run import Run, recipe
from lmbook.experiments.seq2seq_tasks import bleu_of, encode, learn, spread
from lmbook.seq2seq import Seq2Seq, SingleRNNTranslator
from lmbook.text import Vocabulary, WordTokenizer
from lmbook.train import evaluate

D_EMBED, HIDDEN, MOST = 32, 64, 20  # widths, and the longest translation
SYSTEMS: dict[str, dict | None] = {  # options of encoder_decoder; None is one network for both sides
    "one RNN": None,
    "first state": {},
    "every step": {"context": "every"},
    "two layers": {"context": "every", "n_layers": 2},
    "stopped early": {"context": "every"},
}
SHIPPED = "stopped early"  # unsure enough to have something to search for
STEPS = {SHIPPED: 300}
DEPTHS = (1, 2, 3, 4)


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


def translator(name: str, types: int) -> nn.Module:
    """One of SYSTEMS, untrained; embeddings from N(0, 1), as in `generated.spread`."""
    if (options := SYSTEMS[name]) is None:
        model = SingleRNNTranslator(types, D_EMBED, HIDDEN, cell="gru")
        nn.init.normal_(model.lm.embedding.weight)
        return model
    return encoder_decoder(types, **options)


def encoder_decoder(types: int, **options) -> Seq2Seq:
    """GRUs, the encoder's in both directions; options: of `multi30k.encoder_decoder`."""
    return spread(multi30k.encoder_decoder((types, types), D_EMBED, HIDDEN, bidirectional=True, **options))


def scored(model: nn.Module, words: Sentences, ids: list, texts: list[tuple[str, str]]) -> dict:
    """Perplexity a token, BLEU by length, the share without a mistake, and five translations."""
    nll = evaluate(model, data.batches(ids, 100), loss)
    outputs = translate(model, words, [source for source, _ in ids], 1, MOST)
    right = sum(output == english for output, (_, english) in zip(outputs, texts, strict=True))
    scores = {"perplexity": metrics.perplexity(nll)} | bleu_of(outputs, texts, [3, 5, 7, 9])
    return scores | {"exact": right / len(outputs), "outputs": outputs[:5]}


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
    run.text = words
    scores: dict = {"types": len(words.vocabulary), "training pairs": len(parts["train"])}
    for name in SYSTEMS:
        model, steps = translator(name, len(words.vocabulary)).to(run.device), STEPS.get(name, 1000)
        learn(run, model, ids["train"], ids["valid"], steps, 64, 6e-3, name, every=500)
        if name == SHIPPED:
            shipped = model
            few = translate(model, words, sources[:100], 1, MOST)
            scores["greedy, first 100"], _ = metrics.sacrebleu_score(few, references[:100])
        if not run.rescoring:
            scores[name] = scored(model, words, ids["test"], parts["test"])
    if not run.rescoring:
        scores["bleu"] = scores["every step"]["bleu"]
        scores |= beams(shipped, words, sources, parts["test"], (1, 2, 5, 10)[: 2 if run.quick else 4], MOST)
    return scores, shipped


@recipe(
    "harbourish-depth",
    about="generated captions, Harbourish to English: encoder and decoder of 1 to 4 layers, context into every step",
    minutes=6,
    score="4 layers",
)
def depth(run: Run) -> tuple[dict, None]:
    """As in `harbourish`, the same steps for all; the score of the recipe is BLEU."""
    parts, words = pairs(*(300, 60) if run.quick else (31_000, 1000)), word_ids()
    ids = {part: encode(words, rows) for part, rows in parts.items()}
    scores: dict = {}
    for n in DEPTHS:
        name = f"{n} layer{'s' if n > 1 else ''}"
        model = encoder_decoder(len(words.vocabulary), context="every", n_layers=n).to(run.device)
        learn(run, model, ids["train"], ids["valid"], 1000, 64, 6e-3, name, every=500)
        found = scored(model, words, ids["test"], parts["test"])
        scores |= {name: found["bleu"], f"{name}, perplexity": found["perplexity"]}
    return scores, None
