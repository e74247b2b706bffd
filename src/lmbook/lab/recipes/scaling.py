"""What scale buys: WikiText-2 by the character, sizes by budgets of operations.

All models are chapter 20's block of today, two layers with heads of width 16 (at width 12 one of 12). `scaling-grid`
trains every size with every budget C of operations, D = C / (6 N) characters each, none of them read twice. A size
takes the rate of RATES_GRID that is best at the smallest budget. A size is left out of a budget that gives it fewer
than FEWEST steps, or more than MOST characters for a weight, since it is far from the best there. `rate-by-width`
trains three widths with every rate of RATES_MUP, with one rate for all weights and under muP.
"""

import functools
from collections.abc import Iterable, Iterator

import numpy as np
import torch
from torch import nn

from lmbook.data import random_windows, windows
from lmbook.lab.recipes.tasks import Pair, next_token_nll
from lmbook.lab.run import Run, recipe
from lmbook.lab.schedules import warmup_cosine
from lmbook.lab.train import evaluate
from lmbook.modern import ModernGPT
from lmbook.scaling import mup, tokens_for, weights_used
from lmbook.text import SPECIALS, Vocabulary

WINDOW, ROWS, HEAD, LAYERS, CHARACTERS = 64, 8, 16, 2, 96
SIZES = (12, 16, 24, 32, 48, 64)  # d_model
BUDGETS = (2e10, 8e10, 3.2e11)
FEWEST, MOST = 40, 400  # steps at least, and characters for a weight at most
RATES_GRID = (2e-3, 4e-3, 8e-3, 16e-3, 32e-3, 64e-3)
MUP_WIDTHS, MUP_STEPS, WAYS = (16, 32, 64), 100, ("one rate", "muP")  # the base width first
RATES_MUP = (4e-3, 8e-3, 16e-3, 32e-3, 64e-3)
SCORED, SCORED_TRIAL = 100_000, 30_000  # characters of the validation text, for a run and for a trial of a rate


def prepare(run: Run) -> tuple[int, np.ndarray, np.ndarray]:
    """How many ids there are, and both parts as characters: the CHARACTERS most frequent, <unk> for the others."""
    corpus = run.corpus("wikitext2")
    train, valid = (" ".join(run.cut(corpus[part], 3000)) for part in ("train", "valid"))
    vocabulary = Vocabulary.build(train, max_size=CHARACTERS + len(SPECIALS))
    return len(vocabulary), vocabulary.encode(list(train)), vocabulary.encode(list(valid[:SCORED]))


def gpt(vocab: int, d_model: int, device: str = "cpu") -> ModernGPT:
    """Chapter 20's block, two layers."""
    return ModernGPT(vocab, WINDOW, d_model, max(1, d_model // HEAD), LAYERS).to(device)


def adam(weights: Iterable, rate: float) -> torch.optim.AdamW:
    """AdamW without decay.  weights: parameters, or groups of them with rates of their own."""
    return torch.optim.AdamW(weights, lr=rate, betas=(0.9, 0.99), weight_decay=0.0)


def warm_up(steps: int) -> int:
    """A tenth of the steps, at most 50."""
    return max(1, min(50, steps // 10))


class Task:
    """What all runs share: batches, the score, one trial of rates and one training."""

    def __init__(self, run: Run):
        self.run = run
        self.vocab, self.ids, self.valid = prepare(run)

    def batches(self, epoch: int) -> Iterator[Pair]:
        return random_windows(self.ids, WINDOW, 2 if self.run.quick else ROWS, [self.run.seed, epoch])

    def held(self, model: nn.Module, characters: int = SCORED) -> float:
        return evaluate(model, windows(self.valid[:characters], WINDOW), next_token_nll)

    def tune(self, build, optimizer, part: str, rates, steps: int, characters: int = SCORED_TRIAL) -> float:
        schedule = functools.partial(warmup_cosine, warmup=warm_up(steps), total=steps)
        trial = {"steps": steps, "schedule": schedule, "clip": 1.0, "evaluate_every": steps}
        trial["validate"] = functools.partial(self.held, characters=characters)
        return self.run.tune(build, self.batches, next_token_nll, optimizer, part, rates, **trial)

    def train(self, model: nn.Module, optimizer, steps: int, part: str) -> float:
        self.run.fit_cosine(
            model, self.batches, next_token_nll, optimizer, warmup=warm_up(steps), total=steps, part=part,
            save_every=500, evaluate_every=max(1, steps // 10),
            validate=functools.partial(self.held, characters=SCORED_TRIAL),
        )  # fmt: skip
        return self.held(model)


@recipe(
    "scaling-grid",
    about="WikiText-2 by the character: six sizes by three budgets of operations",
    minutes=7,
    corpora=("wikitext2",),
    score="lowest nll",
)
def scaling_grid(run: Run) -> tuple[dict, None]:
    """Nats per character of every size and budget."""

    def optimizer(model: nn.Module, rate: float) -> torch.optim.AdamW:
        return adam(model.parameters(), rate)

    task, rows = Task(run), []
    for d_model in SIZES:
        build = functools.partial(gpt, task.vocab, d_model, run.device)
        N, name = weights_used(build()), f"d {d_model}"
        steps = [tokens_for(C, N) // (ROWS * WINDOW) for C in BUDGETS]
        part = f"{name}, {BUDGETS[0 if d_model < HEAD else 1]:.0e}"  # a training that every size has
        rate = task.tune(build, optimizer, part, RATES_GRID, steps[0])
        for C, most in zip(BUDGETS, steps, strict=True):
            D = most * ROWS * WINDOW
            if run.quick or (most >= FEWEST and min(MOST * N, len(task.ids)) >= D):
                model = build()
                loss = task.train(model, optimizer(model, rate), most, f"{name}, {C:.0e}")
                rows.append({"d_model": d_model, "N": N, "C": C, "D": D, "rate": rate, "nll": loss})
    middle = {str(row["d_model"]): row["nll"] for row in rows if row["C"] == BUDGETS[1]}
    told = {"characters": len(task.ids), "vocabulary": task.vocab}
    return {"runs": rows, "middle": middle, "lowest nll": min(row["nll"] for row in rows)} | told, None


@recipe(
    "rate-by-width",
    about="WikiText-2 by the character: the loss over the rate at three widths, with one rate for all and under muP",
    minutes=4,
    corpora=("wikitext2",),
    score="lowest nll",
)
def rate_by_width(run: Run) -> tuple[dict, None]:
    """Nats per character by width and rate after MUP_STEPS updates. Every rate is trained in full."""
    task, scores = Task(run), {}
    for d_model in MUP_WIDTHS:
        for name in WAYS if d_model > MUP_WIDTHS[0] else ("one rate",):  # at the base width the two are one

            def optimizer(model: nn.Module, rate: float, name: str = name) -> torch.optim.AdamW:
                return adam(mup(model, MUP_WIDTHS[0], rate) if name == "muP" else model.parameters(), rate)

            part = f"{name}, d {d_model}"
            build = functools.partial(gpt, task.vocab, d_model, run.device)
            rate = task.tune(build, optimizer, part, RATES_MUP, MUP_STEPS, SCORED_TRIAL // 3)
            curve = [[trial["rate"], trial["validation"]] for trial in run.tried.get(part, ())]
            model = build()
            scores[part] = {
                "best": rate,
                "rates": curve,
                "nll": task.train(model, optimizer(model, rate), MUP_STEPS, part),
            }
    return scores | {"lowest nll": min(one["nll"] for one in scores.values())}, None
