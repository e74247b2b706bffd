"""The ladder from the fixed vector to the Transformer, on one task, with what each rung costs.

    RNNenc  ->  RNNsearch  ->  hybrid  ->  Transformer

caption-ladder trains the four on generated captions, the same pairs, batches and number of steps for all, with about as
many parameters. norm-curves trains one deeper Transformer with LayerNorm before and after its sublayers, with and
without warm-up. What they cost is counted by `recipes.rung_costs`.
"""

import copy
import functools

import torch
from torch import nn

from lmbook import data, metrics
from lmbook.experiments import seq2seq_tasks
from lmbook.experiments.flops_and_time import flops, step_seconds
from lmbook.experiments.multi30k import encoder_decoder, loss, translate
from lmbook.experiments.run import Run, recipe
from lmbook.experiments.seq2seq_tasks import spread
from lmbook.experiments.translation_by_length import Tokens, by_words
from lmbook.experiments.translation_by_length import words as words_of
from lmbook.moe import MixtureOfExperts
from lmbook.seq2seq import TransformerEncoder
from lmbook.train import evaluate
from lmbook.transformer import Transformer

WORDS, FAR = (3, 20), (21, 30)  # words of the English side: in training and test, and past training
MOST = 50  # tokens of the longest translation
D_MODEL, HIDDEN, D_FF, LAYERS, HEADS = 64, 96, 256, 2, 4
RUNGS: dict[str, dict | None] = {  # options of encoder_decoder; None is the Transformer
    "RNNenc": {"bidirectional": True, "context": "every"},
    "RNNsearch": {"bidirectional": True, "attention": "bahdanau", "d_a": 48},
    "hybrid": {"attention": "bahdanau", "d_a": 48},
    "Transformer": None,
}
SHIPPED, FEW = "Transformer", 1000  # pairs of the training on few pairs
STEPS, ROWS = 600, 64
RATE, ADAM = 4e-3, {"betas": (0.9, 0.98), "eps": 1e-9}
NORMS = {
    f"{norm}-norm, {'warm-up' if warmup else 'no warm-up'}": (norm, warmup)
    for norm in ("pre", "post")
    for warmup in (0, 60)
}
NORM_STEPS = 150


def rung(name: str, types: tuple[int, int]) -> nn.Module:
    """One of RUNGS, untrained; types: of both vocabularies."""
    if (options := RUNGS[name]) is None:
        return Transformer(*types, D_MODEL, HEADS, D_FF, LAYERS, dropout=0.0)
    if name == "hybrid":
        encoder = TransformerEncoder(types[0], D_MODEL, HEADS, D_FF, LAYERS)
        return encoder_decoder(types, D_MODEL, HIDDEN, encoder, **options)
    return spread(encoder_decoder(types, D_MODEL, HIDDEN, **options))


def captions(quick: bool) -> tuple[Tokens, Tokens, dict[str, list[tuple[str, str]]]]:
    """Both tokenizers, and pairs (Harbourish, English): train, valid, test, and far, longer than any in training."""
    made = {
        "test": data.captions(20 if quick else 500, 1, *WORDS),
        "far": data.captions(6 if quick else 200, 2, *FAR),
        "valid": data.captions(20 if quick else 200, 3, *WORDS),
    }
    held = {english for pairs in made.values() for english, _ in pairs}
    made["train"] = [pair for pair in data.captions(300 if quick else 30_000, 0, *WORDS) if pair[0] not in held]
    parts = {part: [(harbourish, english) for english, harbourish in pairs] for part, pairs in made.items()}
    reader, writer = (Tokens.build([pair[side] for pair in data.captions(3000, 4, *WORDS)]) for side in (1, 0))
    return reader, writer, parts


def encode_pairs(reader: Tokens, writer: Tokens, pairs: list[tuple[str, str]]) -> list[tuple[list[int], list[int]]]:
    """Both sides as ids."""
    return [(reader.encode(source), writer.encode(target)) for source, target in pairs]


def counts_of(scores: dict) -> list[list[int]]:
    """The `metrics.bleu_counts` of every test sentence, as `metrics.bootstrap_from_counts` wants them."""
    return [[int(n) for n in row.split()] for row in scores["counts"]]


def learn(
    run: Run, model: nn.Module, ids: dict, name: str, rate: float, warmup: int, steps: int = STEPS, rows: int = ROWS
) -> dict:
    """Trains on batches of `rows` pairs with Adam and a cosine; returns parameters, FLOPs and processor seconds."""
    seq2seq_tasks.learn(run, model, ids["train"], ids["valid"], steps, rows, rate, name, warmup, every=200, **ADAM)
    batches = lambda epoch: data.batches(ids["train"], rows, seed=[run.seed, epoch])  # noqa: E731
    timed = 1 if run.quick or run.rescoring else 20
    return {
        "parameters": sum(weight.numel() for weight in model.parameters()),
        "flops": flops(model, batches, steps),
        "processor seconds": round(steps * step_seconds(copy.deepcopy(model).cpu(), batches(0), timed), 1),
    }


def scored(model: nn.Module, writer: Tokens, ids: dict, parts: dict) -> dict:
    """BLEU (greedy, over words), the counts of every test sentence, results by length, and perplexity."""
    found: dict = {"perplexity": metrics.perplexity(evaluate(model, data.batches(ids["test"], 100), loss))}
    for part, key in (("test", "bleu"), ("far", "bleu, longer than trained")):
        outputs = translate(model, writer, [source for source, _ in ids[part]], 1, MOST)
        references = [english for _, english in parts[part]]
        found[key] = metrics.bleu(outputs, references, str.split)
        if part == "test":
            lengths = [words_of(english) for english in references]
            rows = by_words(outputs, references, lengths)
            found["by words"] = [{key: row[key] for key in ("from", "to", "pairs", "bleu", "exact")} for row in rows]
            found["exact"] = sum(map(str.__eq__, outputs, references)) / len(references)
            pairs = zip(outputs, references, strict=True)
            counts = [metrics.bleu_counts(one.split(), two.split()) for one, two in pairs]
            found["counts"] = [" ".join(str(int(n)) for n in row) for row in counts]
            found["outputs"] = outputs[:3]
    return found


@recipe(
    "caption-ladder",
    about="generated captions of up to 20 words, Harbourish to English: RNNenc, RNNsearch, hybrid, Transformer",
    minutes=5,
    ships=True,
    score="bleu",
    rescored=("greedy, first 100",),
)
def caption_ladder(run: Run) -> tuple[dict, nn.Module]:
    """The same steps, batches and rate for all; one more Transformer learns from FEW pairs, as many steps."""
    reader, writer, parts = captions(run.quick)
    run.text = reader, writer
    ids = {part: encode_pairs(reader, writer, pairs) for part, pairs in parts.items()}
    types = len(reader.vocabulary), len(writer.vocabulary)
    scores: dict = {"types": list(types), "training pairs": len(ids["train"]), "steps": STEPS, "rows": ROWS}
    for name in (*RUNGS, "few pairs"):
        kind = SHIPPED if name == "few pairs" else name
        seen = ids | {"train": ids["train"][:FEW]} if name == "few pairs" else ids
        model = rung(kind, types).to(run.device)
        if run.rescoring and name != SHIPPED:
            continue
        cost = learn(run, model, seen, name, RATE, warmup=100)
        if name == SHIPPED:
            shipped = model
            few = translate(model, writer, [source for source, _ in ids["test"][:100]], 1, MOST)
            scores["greedy, first 100"] = metrics.bleu(few, [english for _, english in parts["test"][:100]], str.split)
        if not run.rescoring:
            scores[name] = cost | scored(model, writer, ids, parts)
            if name == "few pairs":
                del scores[name]["counts"]
    if not run.rescoring:
        scores["references"] = [list(pair) for pair in parts["test"][:3]]
        scores["bleu"] = scores[SHIPPED]["bleu"]
    return scores, shipped


@recipe(
    "caption-experts",
    about="generated captions, Harbourish to English: the ladder's Transformer with 4 experts, 2 for each token",
    minutes=3,
    score="bleu",
)
def caption_experts(run: Run) -> tuple[dict, None]:
    """The captions, batches and steps of caption-ladder; twice the work in the feed-forward layers."""
    reader, writer, parts = captions(run.quick)
    ids = {part: encode_pairs(reader, writer, pairs) for part, pairs in parts.items()}
    types = len(reader.vocabulary), len(writer.vocabulary)
    experts = functools.partial(MixtureOfExperts, n_experts=4, top_k=2)
    model = Transformer(*types, D_MODEL, HEADS, D_FF, LAYERS, dropout=0.0, ffn=experts).to(run.device)
    seq2seq_tasks.learn(run, model, ids["train"], ids["valid"], STEPS, ROWS, RATE, every=200, **ADAM)
    return scored(model, writer, ids, parts), None


@recipe(
    "norm-curves",
    about="a Transformer of 6 + 6 layers on captions: LayerNorm before or after its sublayers, with or without warm-up",
    minutes=3,
    score="pre-norm, warm-up",
)
def norm_curves(run: Run) -> tuple[dict, None]:
    """The loss of the first steps at one rate; the curves are in the record's parts, the scores are the last loss."""
    reader, writer, _ = captions(quick=True)
    made = [(harbourish, english) for english, harbourish in data.captions(300 if run.quick else 5200, 5, 3, 8)]
    ids = {"train": encode_pairs(reader, writer, made[200:]), "valid": encode_pairs(reader, writer, made[:200])}
    scores: dict = {}
    for name, (norm, warmup) in NORMS.items():
        torch.manual_seed(run.seed)
        sizes = {"d_model": D_MODEL, "n_heads": HEADS, "d_ff": 128, "n_layers": 6, "dropout": 0.0}
        model = Transformer(len(reader.vocabulary), len(writer.vocabulary), **sizes, norm=norm)
        learn(run, model.to(run.device), ids, name, 3e-3, warmup, steps=NORM_STEPS, rows=32)
        scores[name] = evaluate(model, data.batches(ids["valid"], 100), loss)
    return scores, None
