"""A student of the Shakespeare model learns from SHORT characters, by their letters or by the teacher's probabilities.

A third student reads letters from the whole text, so that it lacks nothing that the teacher has read. All are equally
large, take equally many steps, at the rate of RATES whose TRIED steps validate best with seed 0, and are kept
where they validate best.
"""

from collections.abc import Iterator

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from lmbook.data import random_windows, windows
from lmbook.gpt import GPT
from lmbook.lab import checkpoints
from lmbook.lab.recipes.leaked_test import tuned
from lmbook.lab.recipes.modern_block import adamw
from lmbook.lab.recipes.tasks import Pair, next_token_nll
from lmbook.lab.run import Run, recipe
from lmbook.lab.train import evaluate
from lmbook.networks import evaluating
from lmbook.text import PAD_ID

SHORT, STEPS, TRIED, ROWS = 30_000, 200, 60, 12
RATES = (4e-3, 8e-3, 16e-3, 32e-3)


def taught_nll(model: nn.Module, batch: tuple[Tensor, ...]) -> tuple[Tensor, Tensor]:
    """-sum_x p(x) ln q(x) at all places, p the teacher's, and their number; without a teacher `next_token_nll`."""
    if len(batch) == 2:
        return next_token_nll(model, batch)
    inputs, targets, p = batch
    return F.cross_entropy(model(inputs).flatten(0, 1), p.flatten(0, 1), reduction="sum"), (targets != PAD_ID).sum()


@recipe(
    "distilled",
    about="a student of the Shakespeare model, by letters or by the teacher's probabilities",
    minutes=3,
    corpora=("tinyshakespeare",),
    score="probabilities",
)
def distilled(run: Run) -> tuple[dict, None]:
    """Nats per character of three students and of the teacher, on held-out text."""
    teacher, tokenizer, _ = checkpoints.load("shakespeare")
    corpus = run.corpus("tinyshakespeare")
    ids = np.array(tokenizer.encode(run.cut(corpus["train"], 600)))
    valid = np.array(tokenizer.encode(run.cut(corpus["valid"], 600)))[: 300 if run.quick else 15_000]
    T = teacher.window
    begins = np.arange(0, min(SHORT, len(ids)) - T, T)
    inputs = torch.from_numpy(ids[begins[:, None] + np.arange(T + 1)])
    with evaluating(teacher), torch.no_grad():
        p = torch.cat([teacher(some).softmax(-1) for some in inputs[:, :-1].split(64)])

    def from_short(taught: bool):
        def batches(epoch: int) -> Iterator[tuple[Tensor, ...]]:
            for some in torch.from_numpy(np.random.default_rng([run.seed, epoch]).permutation(len(inputs))).split(ROWS):
                rows = inputs[some]
                yield (rows[:, :-1], rows[:, 1:], p[some]) if taught else (rows[:, :-1], rows[:, 1:])

        return batches

    def held() -> Iterator[Pair]:
        return windows(valid, T)

    students = {
        "letters": from_short(False),
        "probabilities": from_short(True),
        "letters of the whole text": lambda epoch: random_windows(ids, T, ROWS, [run.seed, epoch]),
    }
    scores: dict = {"teacher": evaluate(teacher, held(), next_token_nll), "rates": {}}
    for name, batches in students.items():

        def build() -> GPT:
            return GPT(len(tokenizer.vocabulary), T, 48, 4, 2, positions="rotary").to(run.device)

        rate = tuned(run, build, batches, name, held, RATES, TRIED, taught_nll)
        model = build()
        run.fit_cosine(
            model, batches, taught_nll, adamw(model, rate), warmup=50, total=STEPS, part=name, valid=held,
            valid_loss=next_token_nll, evaluate_every=50, patience=10,
        )  # fmt: skip
        scores[name] = evaluate(model, held(), next_token_nll)
        scores["rates"][name] = rate
    return scores, None
