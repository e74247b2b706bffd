"""Shakespeare by the character: a GRU beside the GPT of `shakespeare`, at its size, in its windows and at its cost.

Parameters, characters and updates are the same, and so the operations to within a few per cent. Both begin anew in each
window, in training and where they are scored, and each has the best of four or five rates for this budget. The GPT
begins at a start that fits its width. `shakespeare-gru-beside` is the same GRU with the updates of `shakespeare`, along
the stream, its state carried on: one seed, and the best of its rates is the highest that was tried.
"""

import functools
from collections.abc import Callable, Iterator

import torch
from torch import nn

from lmbook.data import random_windows, stream_batches, windows
from lmbook.gpt import GPT
from lmbook.lab.recipes.shakespeare import NLL, adamw, gpt, prepare
from lmbook.lab.recipes.tasks import Pair, next_token_nll, shifted_stream, stream_nll
from lmbook.lab.run import Run, recipe
from lmbook.lab.schedules import warmup_cosine
from lmbook.lab.train import evaluate
from lmbook.rnn_models import RecurrentLM

HIDDEN, WINDOW, ROWS = 472, 64, 12
STEPS, TRIED, WARMUP = 500, 100, 30  # updates of a training, of each trial of a rate, and those in which it rises
RATES = {"GRU": (4e-3, 8e-3, 16e-3, 32e-3), "GPT": (2e-3, 4e-3, 8e-3, 16e-3, 32e-3)}  # the best is inside
GRU_STEPS, GRU_TRIED, GRU_RATES = 2000, 400, (1e-3, 2e-3, 4e-3, 8e-3)  # along the stream
FITTED = 768  # the width that GPT-2's deviation of 0.02 suits


def fitted(model: GPT) -> GPT:
    """The model with its start scaled by sqrt(768 / d_model), so that its products are as large as GPT-2's."""
    with torch.no_grad():
        for weight in model.parameters():
            if weight.dim() > 1:
                weight.mul_((FITTED / model.embedding.weight.shape[1]) ** 0.5)
    return model


@recipe(
    "shakespeare-beside",
    about="Shakespeare by the character, a GRU and a GPT of 0.8 million parameters, 500 updates in equal windows",
    minutes=3,
    **NLL | {"score": "GPT over GRU"},
)
def beside(run: Run) -> tuple[dict, None]:
    """12 windows of 64 an update; the best of its rates after 100 updates, which other seeds take over."""
    tokenizer, ids, valid = prepare(run)

    def batches(epoch: int) -> Iterator[Pair]:
        return random_windows(ids, WINDOW, 2 if run.quick else ROWS, [run.seed, epoch])

    def held(model: nn.Module, share: int = 1) -> float:
        return evaluate(model, windows(valid[: len(valid) // share], WINDOW), next_token_nll)

    def learn(part: str, build: Callable[[], nn.Module]) -> dict:
        schedule = functools.partial(warmup_cosine, warmup=WARMUP, total=TRIED)
        trial = {"steps": TRIED, "schedule": schedule, "clip": 1.0, "evaluate_every": TRIED}
        trial["validate"] = functools.partial(held, share=4)
        chosen = run.picked(part)
        rate = chosen["rate"] if chosen else run.tune(build, batches, next_token_nll, adamw, part, RATES[part], **trial)
        model, ends = build(), {"warmup": WARMUP, "total": STEPS, "save_every": 100}
        ends |= {"validate": trial["validate"], "evaluate_every": STEPS // 10}
        run.fit_cosine(model, batches, next_token_nll, adamw(model, rate), part=part, **ends)
        return {"nll": held(model)}

    scores: dict = {
        "GRU": learn("GRU", lambda: RecurrentLM(len(tokenizer.vocabulary), 64, HIDDEN, 1, "gru").to(run.device)),
        "GPT": learn("GPT", lambda: fitted(gpt(run, tokenizer, WINDOW, 128))),
    }
    return scores | {"GPT over GRU": scores["GPT"]["nll"] - scores["GRU"]["nll"]}, None


@recipe(
    "shakespeare-gru-beside",
    about="Shakespeare by the character, a GRU of 0.8 million parameters: characters and updates of the GPT",
    minutes=6,
    **NLL,
)
def gru_beside(run: Run) -> tuple[dict, nn.Module]:
    """12 streams in windows of 64, 2,000 updates; the best rate of four after 400, which other seeds take over."""
    tokenizer, ids, valid = prepare(run)

    def build() -> nn.Module:
        return RecurrentLM(len(tokenizer.vocabulary), 64, HIDDEN, 1, "gru").to(run.device)

    def batches(epoch: int) -> Iterator[Pair]:
        return shifted_stream(ids, 2 if run.quick else 12, 64, [run.seed, epoch])

    def held(model: nn.Module) -> float:
        return evaluate(model, stream_batches(valid[: len(valid) // 4], 8, 200), stream_nll, stateful=True)

    if chosen := run.picked("model"):
        rate = chosen["rate"]
    else:
        schedule = functools.partial(warmup_cosine, warmup=100, total=GRU_TRIED)
        trial = {"steps": GRU_TRIED, "schedule": schedule, "clip": 1.0, "stateful": True}
        trial |= {"validate": held, "evaluate_every": GRU_TRIED}
        rate = run.tune(build, batches, stream_nll, adamw, "model", GRU_RATES, **trial)
    model = build()
    run.fit_cosine(
        model, batches, stream_nll, adamw(model, rate), warmup=100, total=GRU_STEPS, stateful=True, save_every=100,
        valid=lambda: stream_batches(valid, 20, 100), evaluate_every=500,
    )  # fmt: skip
    return {"nll": evaluate(model, stream_batches(valid, 1, 200), stream_nll, stateful=True)}, model
