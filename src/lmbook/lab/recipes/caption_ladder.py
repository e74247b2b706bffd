"""The ladder from the fixed vector to the Transformer, on one task, with what each rung costs.

    RNNenc  ->  RNNsearch  ->  hybrid  ->  Transformer

caption-ladder trains the four on generated captions, the same pairs, batches and number of steps for all, with about as
many parameters. norm-curves trains one deeper Transformer with LayerNorm before and after its sublayers, with and
without warm-up. What they cost is counted by `flops_and_time`.
"""

import copy
from collections.abc import Callable
from functools import cache, partial
from itertools import chain

import torch
from torch import nn

import lmbook
from lmbook import data, metrics
from lmbook.lab.recipes import translation
from lmbook.lab.recipes.flops_and_time import flops, step_seconds
from lmbook.lab.recipes.translation import Pairs, Task, Tokens, apart, encoder_decoder, learn, race
from lmbook.lab.recipes.translation_by_length import EDGES, words
from lmbook.lab.run import Run, recipe
from lmbook.moe import MixtureOfExperts
from lmbook.networks import n_parameters
from lmbook.transformer import Transformer, TransformerEncoder

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
BUDGETS, TRIAL, ROWS, ADAM = (600, 1200), (300,), 64, {"betas": (0.9, 0.98), "eps": 1e-9}
STEPS = max(BUDGETS)
NORMS = {
    f"{norm}-norm, {'warm-up' if warmup else 'no warm-up'}": (norm, warmup)
    for norm in ("pre", "post")
    for warmup in (0, 60)
}


def rung(name: str, types: tuple[int, int]) -> nn.Module:
    """One of RUNGS, untrained; types: of both vocabularies."""
    if (options := RUNGS[name]) is None:
        return Transformer(*types, D_MODEL, HEADS, D_FF, LAYERS, dropout=0.0, tied="none")
    if name == "hybrid":
        encoder = TransformerEncoder(types[0], D_MODEL, HEADS, D_FF, LAYERS)
        return encoder_decoder(types, D_MODEL, HIDDEN, encoder, **options)
    return encoder_decoder(types, D_MODEL, HIDDEN, **options)


@cache
def captions(quick: bool) -> tuple[Tokens, Tokens, dict[str, Pairs]]:
    """Both tokenizers, and pairs (Harbourish, English): train, valid, test, and far, longer than any in training."""
    made = {
        "test": data.captions(8 if quick else 500, 1, *WORDS),
        "far": data.captions(2 if quick else 200, 2, *FAR),
        "valid": data.captions(8 if quick else 200, 3, *WORDS),
    }
    made["train"] = apart(data.captions(16 if quick else 30_000, 0, *WORDS), *made.values())
    parts = {part: [(harbourish, english) for english, harbourish in pairs] for part, pairs in made.items()}
    reader, writer = (Tokens.build([pair[side] for pair in data.captions(3000, 4, *WORDS)]) for side in (1, 0))
    return reader, writer, parts


def cost(run: Run, model: nn.Module, batches: Callable) -> dict:
    """Parameters, and what STEPS steps take."""
    each = step_seconds(copy.deepcopy(model).cpu(), chain(batches(0), batches(1)), 1 if run.quick else 20)
    return {
        "parameters": n_parameters(model),
        "flops": flops(model, batches, 3 if run.quick else STEPS),
        "processor seconds": round(STEPS * each, 1),
    }


def scored(model: nn.Module, task: Task, most: int = MOST) -> dict:
    """Perplexity, BLEU (greedy, over words), results by length, and the counts of every test sentence."""
    outputs, references = task.written(model, max_length=most)
    lengths = list(map(words, references))
    return {
        "perplexity": metrics.perplexity(task.nll(model, "test")),
        **translation.by_words(outputs, references),
        "by words": translation.by_length(outputs, references, lengths, EDGES, translation.by_words),
        "counts": translation.counts(outputs, references),
        "outputs": outputs[:3],
        "bleu, longer than trained": metrics.bleu(*task.written(model, part="far", max_length=most), str.split),
    }


@recipe(
    "caption-ladder",
    about="generated captions of up to 20 words, Harbourish to English: RNNenc, RNNsearch, hybrid, Transformer",
    minutes=12,
    ships=True,
    score="bleu",
    rescored=("greedy, first 100",),
)
def caption_ladder(run: Run) -> tuple[dict, nn.Module]:
    """The same budgets and batches for all; scores without a number of steps are those after the longest.

    One more Transformer learns from FEW pairs, at the rate that was picked for the other.
    """
    *run.text, parts = captions(run.quick)
    task, few = Task(parts, *run.text), Task({"train": parts["train"][:FEW]}, *run.text)
    most = 5 if run.quick else MOST
    scores: dict = {"types": list(task.types), "training pairs": len(parts["train"]), "steps": STEPS, "rows": ROWS}
    for name in (*RUNGS, "few pairs"):
        if run.rescoring and name != SHIPPED:
            continue
        scores[name] = {}
        if name == "few pairs":
            lmbook.seed(run.seed)
            model, batches = rung(SHIPPED, task.types), few.batches(run.seed, ROWS)
            rate = run.parts[SHIPPED]["settings"]["rate"]
            learn(run, model, batches, STEPS, rate, name, adam=ADAM, validate=task.nll, evaluate_every=STEPS // 40)
        else:
            batches = task.batches(run.seed, ROWS)
            for steps, model in race(run, partial(rung, name, task.types), task, batches, BUDGETS, TRIAL, name, ADAM):
                if not run.rescoring and steps < STEPS:
                    found = scored(model, task, most)
                    scores[name] |= {f"{key}, {steps} steps": found[key] for key in ("bleu", "exact", "perplexity")}
        if name == SHIPPED:
            shipped, texts = model, task.written(model, 100, max_length=most)
            scores["greedy, first 100"] = metrics.bleu(*texts, str.split)
        if not run.rescoring:
            scores[name] |= cost(run, model, batches) | scored(model, task, most)
    if not run.rescoring:
        del scores["few pairs"]["counts"]
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
    task, experts = Task(parts, reader, writer), partial(MixtureOfExperts, n_experts=4, top_k=2)
    build = partial(Transformer, *task.types, D_MODEL, HEADS, D_FF, LAYERS, dropout=0.0, tied="none", ffn=experts)
    *_, (_, model) = race(run, build, task, task.batches(run.seed, ROWS), BUDGETS[-1:], TRIAL, "model", ADAM)
    return scored(model, task), None


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
    task, scores = Task({"train": made[200:], "valid": made[:200]}, reader, writer), {}
    batches = task.batches(run.seed, 32)
    for name, (norm, warmup) in NORMS.items():
        torch.manual_seed(run.seed)
        model = Transformer(*task.types, D_MODEL, HEADS, 128, n_layers=6, dropout=0.0, norm=norm)
        learn(run, model, batches, 150, 3e-3, name, warmup, adam=ADAM, validate=task.nll, evaluate_every=200)
        scores[name] = task.nll(model)
    return scores, None
