"""What one vector can hold: recall of random symbols, and translation by the length of the source.

    recall        symbols written back in their places / symbols read, through a state of m numbers
    translation   BLEU for sources of 1-5, 6-10, ..., 56-60 words, after training on up to 30 or up to 50 words

Two translators share encoder, sizes, batches and number of steps; one hands its decoder the encoder's last state at
every step (RNNenc of Bahdanau et al. 2015), the other lets it look back at all states (RNNsearch).
"""

import math
from itertools import pairwise

import numpy as np
import torch
from torch import nn

from lmbook import data, metrics, tasks
from lmbook.batching import EOS_ID, SOS_ID
from lmbook.decode import evaluating, greedy
from lmbook.evaluation import evaluate
from lmbook.recipes.core import Run, recipe
from lmbook.recipes.generated import spread
from lmbook.recipes.translation import loss, tensors, translate
from lmbook.schedules import warmup_cosine
from lmbook.seq2seq import Seq2Seq
from lmbook.text import SPECIALS, Vocabulary

SYMBOLS = 16  # four bits a symbol
LONGEST = 20  # symbols of the longest source in training
SIZES = (32, 64, 128, 256, 512)
STEPS = {32: 2500, 64: 4000, 128: 4000, 256: 3500, 512: 1800}
FAR = (100, 1000)  # lengths far past training
SHOWN = np.random.default_rng(7).integers(len(SPECIALS), len(SPECIALS) + SYMBOLS, size=LONGEST + 20)
LIMITS = (30, 50)  # words of the longest source in training
EDGES = list(range(1, 62, 5))
TRANSLATORS = {
    "fixed vector": {"context": "every"},
    # RNNsearch: s_{t-1} is scored and c_t enters the update, so the decoder knows where it has looked. Scoring s_t
    # (query="after") makes a step about a fifth cheaper, but such a decoder was seen to write a phrase again and again
    # where one word stands twice in a long source.
    "attention": {"attention": "additive", "query": "before", "d_a": 48},
}
CAPTIONS = {"d_embed": 64, "hidden": 96, "rows": 64, "steps": 1500, "rate": 4e-3}
JOINED = {"d_embed": 192, "hidden": 192, "rows": 64, "steps": 5000, "rate": 3e-3, "dropout": 0.3, "min_count": 2}


def symbol_batches(seed: list[int], B: int, longest: int, steps: int, backwards: bool):
    """Batches of random sequences of one length each, drawn evenly from 1..longest, and the same or backwards."""
    rng = np.random.default_rng(seed)
    for _ in range(steps):
        yield symbol_batch(rng, B, int(rng.integers(1, longest + 1)), backwards)


def symbol_batch(rng: np.random.Generator, B: int, length: int, backwards: bool) -> data.Batch:
    """B random sequences of one length and the same or backwards, between <sos> and <eos>."""
    source = rng.integers(len(SPECIALS), len(SPECIALS) + SYMBOLS, size=(B, length))
    target = source[:, ::-1] if backwards else source
    ends = [np.full((B, 1), end) for end in (SOS_ID, EOS_ID)]
    batch = source, np.hstack([ends[0], target]), np.hstack([target, ends[1]]), np.arange(B)
    return data.Batch(*map(torch.from_numpy, map(np.ascontiguousarray, batch)))


def writes(model: nn.Module, source: np.ndarray, backwards: bool) -> np.ndarray:
    """What the model writes for sources (B, N) of one length, greedy, N symbols each, in the order of the source."""
    where = next(model.parameters()).device
    forbidden = tuple(range(len(SPECIALS)))
    outputs, _ = greedy(model, torch.from_numpy(source).to(where), source.shape[1], eos=None, forbid=forbidden)
    return np.array(outputs)[:, ::-1] if backwards else np.array(outputs)


def hits(model: nn.Module, length: int, rows: int, backwards: bool, seed: int = 10_000) -> np.ndarray:
    """Which symbols of `rows` new random sequences are written, in the order of the source: (rows, length), boolean."""
    rng = np.random.default_rng([seed, length])
    source = rng.integers(len(SPECIALS), len(SPECIALS) + SYMBOLS, size=(rows, length))
    return writes(model, source, backwards) == source


def recall(model: nn.Module, length: int, rows: int, backwards: bool, seed: int = 10_000) -> float:
    """Share of the symbols of `rows` new random sequences that are written in their places, greedy, without <eos>."""
    return float(hits(model, length, rows, backwards, seed).mean())


@torch.no_grad()
def bits_kept(model: nn.Module, length: int, rows: int, backwards: bool, seed: int = 20_000) -> float:
    """A lower bound of the bits that the state tells about a source: N log2 K + log2 P(target | state), averaged.

    Since H(x | c) is at most the cross-entropy of any model, I(x; c) = H(x) - H(x | c) is at least this. Negative
    where the model is sure and wrong, as on lengths far from those of its training.
    """
    where = next(model.parameters()).device
    source, inputs, targets, _ = symbol_batch(np.random.default_rng([seed, length]), rows, length, backwards)
    with evaluating(model):
        logits = model(source.to(where), inputs.to(where))[:, :-1]  # <eos> says only where the source ends
    nll = nn.functional.cross_entropy(logits.transpose(1, 2), targets[:, :-1].to(where), reduction="sum")
    return length * math.log2(SYMBOLS) - float(nll) / rows / math.log(2)


def letters(symbols: np.ndarray) -> str:
    """Symbols 0, 1, ... as A, B, ..."""
    return "".join(chr(ord("A") + symbol - len(SPECIALS)) for symbol in symbols)


def grid(model: nn.Module, lengths: range, backwards: bool, far: tuple[int, ...] = FAR) -> dict:
    """By length: recall, the bits kept, and what the model writes for the first N symbols of one sequence; at a few
    lengths also recall by place in the source; and recall at the lengths `far`."""
    found: dict = {"recall": [], "bits": [], "written": [], "places": {}, "far": {}}
    for length in lengths:
        right = hits(model, length, 200, backwards)
        found["recall"].append(round(float(right.mean()), 4))
        found["bits"].append(round(bits_kept(model, length, 200, backwards), 2))
        found["written"].append(letters(writes(model, SHOWN[None, :length], backwards)[0]))
        if length % 10 == 0:
            found["places"][str(length)] = [round(share, 3) for share in right.mean(0).tolist()]
    for length in far:
        found["far"][str(length)] = round(recall(model, length, 20, backwards), 4)
    return found


def memory(run: Run, sizes: tuple[int, ...], backwards: bool = True) -> dict[str, dict]:
    """For each size of the state, what is kept of sources of the lengths 1, 2, ..., LONGEST and 20 more.

    A wide state learns more in a step, at a smaller rate, and a step costs more.
    """
    types, kept = len(SPECIALS) + SYMBOLS, {}
    for size in sizes:
        model, steps = spread(Seq2Seq(types, types, 32, size, cell="gru", fast=True)), STEPS[size]
        run.fit(
            model.to(run.device),
            lambda epoch: symbol_batches([run.seed, epoch], 32, LONGEST, 100, backwards),
            loss,
            torch.optim.Adam(model.parameters(), lr=3e-3 * min(1.0, (128 / size) ** 0.5)),
            steps=steps,
            schedule=lambda step, steps=steps: warmup_cosine(step, warmup=100, total=steps),
            clip=1.0,
            part=f"{size} {'backwards' if backwards else 'forwards'}",
        )
        lengths, far = (range(1, 4), ()) if run.quick else (range(1, LONGEST + 21), FAR)
        kept[str(size)] = grid(model, lengths, backwards, far)
    return kept


@recipe(
    "recall",
    about="random symbols written back from a state of 32 to 512 numbers: recall by length",
    minutes=12,
    score="64 numbers, mean recall",
)
def recall_by_length(run: Run) -> tuple[dict, None]:
    """Seed 0 trains all sizes, other seeds two of them, and each seed two sizes in the order of the source.

    Written backwards, the first symbols needed are the last that were read, which is learned sooner (Sutskever et al.
    2014, section 3.3, reverse the source for this reason).
    """
    few = (64, 128)
    kept = {"backwards": memory(run, few if run.seed or run.quick else SIZES), "forwards": memory(run, few, False)}
    scores = {
        "64 numbers, mean recall": float(np.mean(kept["backwards"]["64"]["recall"][:LONGEST])),
        "symbols": SYMBOLS,
        "longest in training": LONGEST,
        "source": letters(SHOWN),
        **kept,
    }
    return scores, None


class Tokens:
    """Texts whose tokens stand apart by blanks, as ids and back; tokens rarer than min_count are <unk>."""

    def __init__(self, texts: list[str], min_count: int = 1):
        self.vocabulary = Vocabulary.build((token for text in texts for token in text.split()), min_count=min_count)

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


def compare(run: Run, parts: dict[int, list], valid: list, test: list, settings: dict) -> dict:
    """Trains both translators on the pairs of each limit, and scores the four by length on one test set.

    parts: training pairs, by the longest source in them.  valid, test: pairs of any length.
    settings: d_embed, hidden, rows (of a batch), steps, rate, min_count and dropout.
    """
    reader, writer = (
        Tokens([pair[side] for pair in parts[max(parts)]], settings.get("min_count", 1)) for side in (0, 1)
    )
    sources, references = zip(*test, strict=True)
    lengths, most = [words(source) for source in sources], 5 if run.quick else 2 * max(EDGES)
    scores: dict = {"settings": settings, "types": [len(side.vocabulary) for side in (reader, writer)]}
    for limit, pairs in parts.items():
        ids = [(reader.encode(source), writer.encode(target)) for source, target in pairs]
        held = [(reader.encode(source), writer.encode(target)) for source, target in valid if words(source) <= limit]
        outputs = {}
        for name, options in TRANSLATORS.items():
            model = translator(len(reader.vocabulary), len(writer.vocabulary), settings, options).to(run.device)
            run.fit(
                model,
                lambda epoch, ids=ids: tensors(data.batches(ids, settings["rows"], [run.seed, epoch])),
                loss,
                torch.optim.Adam(model.parameters(), lr=settings["rate"]),
                steps=settings["steps"],
                schedule=lambda step: warmup_cosine(step, warmup=100, total=settings["steps"]),
                clip=1.0,
                validate=lambda model, held=held: evaluate(model, tensors(data.batches(held, 50)), loss),
                evaluate_every=max(1, settings["steps"] // 5),
                part=f"{name} {limit}",
            )
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


def translator(types: int, written: int, settings: dict, options: dict) -> Seq2Seq:
    """Bidirectional GRU encoder and GRU decoder of the settings' sizes; options: one of TRANSLATORS."""
    sizes = {"d_embed": settings["d_embed"], "hidden": settings["hidden"], "dropout": settings.get("dropout", 0.0)}
    return spread(Seq2Seq(types, written, cell="gru", bidirectional=True, fast=True, **sizes, **options))


def example(outputs: list[str], test: list[tuple[str, str]], lengths: list[int]) -> list[str]:
    """Source, reference and translation of the first test pair of 41 to 45 words, or of the longest."""
    i = next((i for i, length in enumerate(lengths) if 41 <= length <= 45), int(np.argmax(lengths)))
    return [*test[i], outputs[i]]


def alignment(model: nn.Module, reader: Tokens, writer: Tokens, test: list, lengths: list[int]) -> dict:
    """The weights alpha_ti of the first test pair of 11 to 15 words, its target given: one row a target token."""
    source, target = test[next(i for i, length in enumerate(lengths) if 11 <= length <= 15)]
    ((x, inputs, _, _),) = tensors(data.batches([(reader.encode(source), writer.encode(target))], 1))
    where = next(model.parameters()).device
    with evaluating(model):
        _, weights = model(x.to(where), inputs.to(where), return_weights=True)
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
    minutes=70,
    corpora=("multi30k",),
    seeds=(0,),
    score="attention 50, past 50 words",
)
def length_joined(run: Run) -> tuple[dict, None]:
    """Words are what blanks separate, after sacreBLEU's tokenizer; words seen once in training are <unk>."""
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
        for pair in tasks.joined(parts["test"], few, first, max(low, first), end - 1)
    ]
    valid = tasks.joined(parts["valid"], 20 if run.quick else 300, 0, low, max(LIMITS))
    number = 60 if run.quick else 40_000
    train = {limit: tasks.joined(parts["train"], number, 0, low, limit) for limit in LIMITS}
    return compare(run, train, valid, test, JOINED), None
