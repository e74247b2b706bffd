"""Translation by length: BLEU for sources of 1-5, 6-10, ..., 56-60 words, after training on up to 30 or 50 words.

Two translators share encoder, sizes, batches and number of steps; one hands its decoder the encoder's last state at
every step (RNNenc of Bahdanau et al. 2015), the other lets it look back at all states (RNNsearch).
"""

from itertools import pairwise

import numpy as np
from torch import nn

from lmbook import data, metrics
from lmbook.configuration import configured
from lmbook.data import synthetic
from lmbook.decode import evaluating
from lmbook.experiments.multi30k import encoder_decoder, translate
from lmbook.experiments.run import Run, recipe
from lmbook.experiments.seq2seq_tasks import learn, spread
from lmbook.text import EOS_ID, Vocabulary

LIMITS = (30, 50)  # words of the longest source in training
EDGES = list(range(1, 62, 5))
TRANSLATORS = {
    "fixed vector": {"context": "every"},
    # RNNsearch: s_{t-1} is scored and c_t enters the update, so the decoder knows where it has looked. Scoring s_t
    # (attention="luong") makes a step about a fifth cheaper, but such a decoder was seen to write a phrase again and
    # again where one word stands twice in a long source.
    "attention": {"attention": "bahdanau", "score": "additive", "d_a": 48},
}
CAPTIONS = {"d_embed": 64, "hidden": 96, "rows": 64, "steps": 1500, "rate": 4e-3}
JOINED = {"d_embed": 192, "hidden": 192, "rows": 64, "steps": 3500, "rate": 3e-3, "dropout": 0.3, "min_count": 3}


@configured
class Tokens:
    """Texts whose tokens stand apart by blanks, as ids and back; tokens rarer than min_count are <unk>."""

    def __init__(self, vocabulary: Vocabulary):
        self.vocabulary = vocabulary

    @classmethod
    def build(cls, texts: list[str], min_count: int = 1) -> "Tokens":
        return cls(Vocabulary.build((token for text in texts for token in text.split()), min_count=min_count))

    def encode(self, text: str) -> list[int]:
        return self.vocabulary.encode(text.split()).tolist()

    def decode(self, ids: list[int]) -> str:
        return " ".join(self.vocabulary.decode(i for i in ids if i != EOS_ID))


def by_words(outputs: list[str], references: list[str], lengths: list[int]) -> list[dict]:
    """BLEU over blank-separated tokens with its summed counts, and the share without a mistake, for every five words
    of source length."""
    rows = []
    for low, high in pairwise(EDGES):
        group = [i for i, length in enumerate(lengths) if low <= length < high]
        if group:
            counts = sum(metrics.bleu_counts(outputs[i].split(), references[i].split()) for i in group)
            right = sum(outputs[i] == references[i] for i in group)
            bleu = metrics.bleu_from_counts(counts)
            row = {"from": low, "to": high - 1, "pairs": len(group), "bleu": bleu, "exact": right / len(group)}
            rows.append(row | {"counts": " ".join(str(int(n)) for n in counts)})
    return rows


def compare(
    run: Run, parts: dict[int, list], valid: list, test: list, settings: dict, known: list | None = None
) -> dict:
    """Trains both translators on the pairs of each limit, and scores the four by length on one test set.

    parts: training pairs, by the longest source in them.  valid, test: pairs of any length.
    settings: d_embed, hidden, rows (of a batch), steps, rate, min_count and dropout.  known: the pairs whose words are
    the vocabulary, by default those with the longest sources.
    """
    known = parts[max(parts)] if known is None else known
    reader, writer = (Tokens.build([pair[side] for pair in known], settings.get("min_count", 1)) for side in (0, 1))
    sources, references = zip(*test, strict=True)
    lengths, most = [words(source) for source in sources], 5 if run.quick else 2 * max(EDGES)
    scores: dict = {"settings": settings, "types": [len(side.vocabulary) for side in (reader, writer)]}
    shape = settings["steps"], settings["rows"], settings["rate"]
    for limit, pairs in parts.items():
        ids = [(reader.encode(source), writer.encode(target)) for source, target in pairs]
        held = [(reader.encode(source), writer.encode(target)) for source, target in valid if words(source) <= limit]
        outputs = {}
        for name, options in TRANSLATORS.items():
            model = translator(len(reader.vocabulary), len(writer.vocabulary), settings, options).to(run.device)
            learn(run, model, ids, held, *shape, part=f"{name} {limit}", every=max(1, settings["steps"] // 5))
            written = translate(model, writer, [reader.encode(source) for source in sources], 1, most)
            outputs[name] = written
            scores[f"{name} {limit}"] = {
                "bleu": metrics.bleu(written, references, str.split),
                "by words": by_words(written, references, lengths),
                "example": example(written, test, lengths),
            }
        scores[f"alignment {limit}"] = alignment(model, reader, writer, test, lengths)
        past = [i for i, length in enumerate(lengths) if length > limit]
        systems = [[written[i] for i in past] for written in outputs.values()]
        found = metrics.paired_bootstrap(
            *systems, [references[i] for i in past], 10 if run.quick else 1000, 0, str.split
        )
        for place, name in zip(("first", "second"), outputs, strict=True):
            scores[f"{name} {limit}, past {limit} words"] = found.pop(place)
        scores[f"difference past {limit} words"] = found
    return scores


def words(source: str) -> int:
    """Words of a source, its last full stop not counted where it stands apart."""
    return len(source.removesuffix(" .").split())


def translator(types: int, written: int, settings: dict, options: dict) -> nn.Module:
    """Bidirectional GRU encoder and GRU decoder of the settings' sizes; options: one of TRANSLATORS."""
    sizes = {"d_embed": settings["d_embed"], "hidden": settings["hidden"], "dropout": settings.get("dropout", 0.0)}
    return spread(encoder_decoder((types, written), bidirectional=True, **sizes, **options))


def example(outputs: list[str], test: list[tuple[str, str]], lengths: list[int]) -> list[str]:
    """Source, reference and translation of the first test pair of 41 to 45 words, or of the longest."""
    i = next((i for i, length in enumerate(lengths) if 41 <= length <= 45), int(np.argmax(lengths)))
    return [*test[i], outputs[i]]


def alignment(model: nn.Module, reader: Tokens, writer: Tokens, test: list, lengths: list[int]) -> dict:
    """The weights alpha_ti of the first test pair of 11 to 15 words, its target given: one row a target token."""
    source, target = test[next(i for i, length in enumerate(lengths) if 11 <= length <= 15)]
    ((x, inputs, _, _),) = data.batches([(reader.encode(source), writer.encode(target))], 1)
    where = next(model.parameters()).device
    with evaluating(model):
        _, weights = model(x.to(where), inputs.to(where), need_weights=True)
    rows = [" ".join(f"{weight:.3f}" for weight in row) for row in weights[0].tolist()]
    return {"source": source, "target": target, "weights": rows}


@recipe(
    "length-captions",
    about="generated captions by length: a fixed vector and attention, trained on up to 30 and up to 50 words",
    minutes=12,
    score="attention 50, past 50 words",
)
def length_captions(run: Run) -> tuple[dict, None]:
    """100 test pairs in each five words of length, none of them in training; the same pairs for all seeds."""
    few = 4 if run.quick else 100
    bins = [(max(3, low), high - 1) for low, high in pairwise(EDGES)]
    test = [pair for low, high in bins for pair in data.captions(few, 1, low, high)]
    valid = data.captions(40 if run.quick else 300, 2, 4, max(LIMITS))
    seen = {source for source, _ in [*test, *valid]}
    parts = {}
    for limit in LIMITS:
        pairs = data.captions(60 if run.quick else 30_000, 0, 3, limit)
        parts[limit] = [pair for pair in pairs if pair[0] not in seen]
    return compare(run, parts, valid, test, CAPTIONS), None


@recipe(
    "length-joined",
    about="Multi30k German-English by length, captions joined to up to 60 words, else as length-captions",
    minutes=85,
    corpora=("multi30k",),
    seeds=(0,),
    score="attention 50, past 50 words",
)
def length_joined(run: Run) -> tuple[dict, None]:
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
    return compare(run, train, valid, test, JOINED, parts["train"]), None
