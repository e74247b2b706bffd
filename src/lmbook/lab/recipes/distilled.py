"""A small student of the Shakespeare GPT: from the text, from letters that the teacher draws, from its distribution.

    text            -ln q(x)                  x: the letter that came
    drawn           -ln q(x)                  x ~ p: one letter of the teacher's in the same place, a control
    distribution    tau^2 KL(p_tau || q_tau)  p: what the teacher says there

All read the same windows in the same order, from the same start, each at the best of RATES_STUDENT, found with seed 0
in half as many updates; one reads the text on. The loss that is scored is that of held-out text, whatever was learned
from; the rates were chosen on another piece of it. The student is chapter 20's block in one layer.
"""

import functools
import itertools
from collections.abc import Callable, Iterator
from typing import cast

import numpy as np
import torch
from torch import Tensor, nn

import lmbook
from lmbook.data import random_windows, windows
from lmbook.lab import checkpoints
from lmbook.lab.recipes.shakespeare import NLL, adamw, prepare
from lmbook.lab.recipes.tasks import Pair, next_token_nll
from lmbook.lab.run import Run, recipe
from lmbook.lab.schedules import warmup_cosine
from lmbook.lab.train import device_of, evaluate
from lmbook.modern import ModernGPT
from lmbook.networks import evaluating
from lmbook.serving import distillation_loss
from lmbook.text import CharTokenizer

WINDOW, ROWS, D, HEADS, LAYERS = 64, 8, 32, 2, 1
STEPS, WARMUP, SCORED, TRIED = 400, 20, 50_000, 20_000  # updates; letters of held-out text
RATES_STUDENT = (8e-3, 16e-3, 32e-3, 64e-3)
Lesson = tuple[Tensor, Tensor, Tensor]  # inputs and letters (B, T), the teacher's logits (B, T, vocab)
ARMS: dict[str, tuple[str, float]] = {  # what is learned from, and how much text or at which temperature
    "text": ("text", 1),
    "text, twice as much": ("text", 2),
    "drawn": ("drawn", 1),
    "distribution": ("distribution", 1),
    "distribution, half the temperature": ("distribution", 0.5),
    "distribution, twice the temperature": ("distribution", 2),
}


def drawn_nll(model: nn.Module, lesson: Lesson) -> tuple[Tensor, Tensor]:
    """As `next_token_nll`, for letters that the teacher draws anew."""
    inputs, letters, logits = lesson
    drawn = torch.multinomial(logits.flatten(0, 1).softmax(-1), 1).view_as(letters)
    return next_token_nll(model, (inputs, drawn))


def teacher_kl(model: nn.Module, lesson: Lesson, temperature: float = 1.0) -> tuple[Tensor, int]:
    """tau^2 KL(p_tau || q_tau), summed over the places, and their number."""
    inputs, letters, logits = lesson
    return distillation_loss(model(inputs), logits, temperature) * letters.numel(), letters.numel()


def lessons(teacher: nn.Module, pairs: Iterator[Pair]) -> list[Lesson]:
    """What the teacher says to each batch."""
    with evaluating(teacher):
        return [(inputs, letters, teacher(inputs.to(device_of(teacher))).cpu()) for inputs, letters in pairs]


@recipe(
    "shakespeare-distilled",
    about="a small student of the Shakespeare GPT: from the text, from drawn letters, from its whole distribution",
    minutes=4,
    **NLL,
)
def shakespeare_distilled(run: Run) -> tuple[dict, None]:
    """By what was learned from: nats per character of held-out text, and the KL divergence from the teacher."""
    tokenizer, ids, valid = prepare(run)
    tried, held = valid[:TRIED], valid[TRIED : TRIED + SCORED]
    if run.quick:
        tried = held = valid
    teacher, known, _ = checkpoints.load("shakespeare")
    teacher, vocabulary = teacher.to(run.device), cast(CharTokenizer, known).vocabulary
    if not run.quick and vocabulary.tokens != tokenizer.vocabulary.tokens:
        raise ValueError("the teacher's letters are not those of this text; train shakespeare anew.")

    def build() -> ModernGPT:
        return ModernGPT(len(vocabulary), WINDOW, D, HEADS, LAYERS).to(run.device)

    def text(epoch: int) -> Iterator[Pair]:
        return random_windows(ids, WINDOW, 2 if run.quick else ROWS, [run.seed, epoch])

    def nll(model: nn.Module, ids: np.ndarray = tried) -> float:
        return evaluate(model, windows(ids, WINDOW), next_token_nll)

    taught = lessons(teacher, itertools.islice(text(0), 3 if run.quick else STEPS))
    asked = lessons(teacher, itertools.islice(windows(held, WINDOW), 4))
    sources: dict[str, tuple[Callable, Callable]] = {
        "text": (text, next_token_nll),
        "drawn": (lambda epoch: iter(taught), drawn_nll),
        "distribution": (lambda epoch: iter(taught), teacher_kl),
    }
    scores: dict = {"teacher": {"nll": nll(teacher, held)}}
    for arm, (source, factor) in ARMS.items():
        batches, loss = sources[source]
        steps = int(STEPS * factor) if source == "text" else STEPS
        if source == "distribution":
            loss = functools.partial(teacher_kl, temperature=factor)
        if (chosen := run.picked(arm)) is not None:
            rate = chosen["rate"]
        else:
            half = steps // 2
            schedule = functools.partial(warmup_cosine, warmup=WARMUP, total=half)
            trial = {"steps": half, "schedule": schedule, "clip": 1.0, "validate": nll, "evaluate_every": half}
            rate = run.tune(build, batches, loss, adamw, arm, RATES_STUDENT, **trial)
        lmbook.seed(run.seed)
        model = build()
        run.fit_cosine(
            model, batches, loss, adamw(model, rate), warmup=WARMUP, total=steps, part=arm, validate=nll,
            evaluate_every=STEPS // 4,
        )  # fmt: skip
        apart = evaluate(model, asked, teacher_kl)
        scores[arm] = {"nll": nll(model, held), "from the teacher": apart, "rate": rate}
    return scores | {"nll": scores["distribution"]["nll"]}, None
