"""Shakespeare by the character, at equal cost: a GRU as large as the GPT, and GPTs by width and by amount of text.

Data, scoring and the GPT are those of `shakespeare`. Each model takes its rate from a grid by short runs of seed 0,
whose rate falls to 0 as in the long ones; seeds 1 and 2 take over what was picked.
"""

import functools
import math
from collections.abc import Callable

import numpy as np
import torch
from torch import nn

import lmbook
from lmbook.data import random_windows, stream_batches, windows
from lmbook.gpt import GPT, decay_groups
from lmbook.lab.recipes.shakespeare import NLL, gpt, interleaved, learn, prepare
from lmbook.lab.recipes.tasks import next_token_nll, shifted_stream, stream_nll
from lmbook.lab.run import Run, recipe
from lmbook.lab.schedules import warmup_cosine
from lmbook.lab.train import evaluate
from lmbook.networks import n_parameters
from lmbook.rnn_models import RecurrentLM

B, T = 12, 64  # windows a step, characters a window: nanoGPT's CPU setting
WARMUP = 100


def adamw(model: nn.Module, rate: float) -> torch.optim.AdamW:
    """AdamW as for the GPTs of `shakespeare`."""
    return torch.optim.AdamW(decay_groups(model, 0.1), lr=rate, betas=(0.9, 0.99))


def own_rate(run: Run, build: Callable, batches, loss, part: str, rates: tuple, steps: int, **options) -> float:
    """The rate of the grid that is best after `steps` steps with seed 0; other seeds take the same one."""
    if chosen := run.picked(part):
        return chosen["rate"]
    schedule = functools.partial(warmup_cosine, warmup=min(WARMUP, steps // 4), total=steps)
    options |= {"steps": steps, "schedule": schedule, "evaluate_every": steps, "clip": 1.0}
    return run.tune(build, batches, loss, adamw, part, rates, **options)


@recipe(
    "shakespeare-gru-beside",
    about="Shakespeare by the character, a GRU of 0.8 million parameters: characters and updates of the GPT",
    minutes=6,
    **NLL,
)
def gru_beside(run: Run) -> tuple[dict, nn.Module]:
    """472 units, 12 streams in windows of 64, 2,000 updates: parameters, characters and updates of `shakespeare`."""
    tokenizer, ids, valid = prepare(run)

    def build() -> nn.Module:
        return RecurrentLM(len(tokenizer.vocabulary), 64, 472, 1, "gru").to(run.device)

    def batches(epoch: int):
        return shifted_stream(ids, 2 if run.quick else B, T, [run.seed, epoch])

    options = {"stateful": True}
    few = valid[: len(valid) // 4]
    held = {"validate": lambda model: evaluate(model, stream_batches(few, 8, 200), stream_nll, stateful=True)}
    rate = own_rate(run, build, batches, stream_nll, "model", (1e-3, 2e-3, 4e-3, 8e-3), 400, **options, **held)
    model = build()
    run.fit_cosine(
        model, batches, stream_nll, adamw(model, rate), warmup=WARMUP, total=2000,
        valid=lambda: stream_batches(valid, 20, 100), evaluate_every=500, save_every=100, **options,
    )  # fmt: skip
    return {"nll": evaluate(model, stream_batches(valid, 1, 200), stream_nll, stateful=True)}, model


@recipe(
    "shakespeare-rates",
    about="Shakespeare by the character, the GPT of nanoGPT's CPU setting at half its rate and at twice its rate",
    minutes=6,
    corpora=("tinyshakespeare",),
    seeds=(0,),
    score="0.002",
)
def rates_of_the_gpt(run: Run) -> tuple[dict, None]:
    """`shakespeare` again, 2,000 updates, at 0.002 and 0.008: whether its 0.004 is the GPT's own rate."""
    tokenizer, ids, valid = prepare(run)
    scores = {}
    for rate in (2e-3, 8e-3):
        lmbook.seed(run.seed)
        model = gpt(run, tokenizer, T, 128)
        learn(run, model, ids, valid, B, 2000, rate, part=f"rate {rate:g}")
        scores[f"{rate:g}"] = evaluate(model, windows(valid, T), next_token_nll)
    return scores, None


WIDTHS, SHARES = (16, 32, 64, 96), (0.03, 0.12, 0.5)
UPDATES, RATES = 600, (8e-3, 1.6e-2, 3.2e-2, 6.4e-2)
READ = 64  # the width that reads the shares


def fitted(model: GPT, d_model: int) -> GPT:
    """Matrices and tables with the deviation 0.02 sqrt(768 / d_model): that of GPT-2 at its own width of 768.

    A product with a vector of d_model numbers of size 1 then starts as large as in GPT-2, whatever the width.
    """
    with torch.no_grad():
        for weight in model.parameters():
            if weight.dim() > 1:
                weight.mul_(math.sqrt(768 / d_model))
    return model


@recipe(
    "shakespeare-scaling",
    about="Shakespeare by the character: GPTs of 2 layers, by width (16 to 96) and by amount of text",
    minutes=12,
    corpora=("tinyshakespeare",),
    score="lowest nll",
)
def scaling(run: Run) -> tuple[dict, None]:
    """GPTs of 2 layers, 600 updates of 768 characters each, less than half of the whole text.

    "widths": the loss after the last update. "start": the narrowest with GPT-2's deviation of 0.02, at its own rate.
    "shares": of width 64, blocks drawn from all over the text; the loss after the last update and the lowest of ten.
    """
    tokenizer, ids, valid = prepare(run)

    def build(d_model: int, fit: bool = True) -> GPT:
        model = gpt(run, tokenizer, T, d_model, n_layers=2)
        return fitted(model, d_model) if fit else model

    def trained(part: str, d_model: int, text: np.ndarray, rate: float | None = None, fit: bool = True, **options):
        made = functools.partial(build, d_model, fit)

        def batches(epoch: int):
            return random_windows(text, T, 2 if run.quick else B, [run.seed, epoch])

        held = {"validate": lambda model: evaluate(model, windows(valid[: len(valid) // 4], T), next_token_nll)}
        rate = rate or own_rate(run, made, batches, next_token_nll, part, RATES, UPDATES // 2, **held)
        model = made()
        log = run.fit_cosine(
            model, batches, next_token_nll, adamw(model, rate), warmup=WARMUP, total=UPDATES, part=part,
            valid=lambda: windows(valid, T), save_every=200, **{"evaluate_every": UPDATES} | options,
        )  # fmt: skip
        curve = [entry["validation"] for entry in log if "validation" in entry]
        return model, rate, curve or [evaluate(model, windows(valid, T), next_token_nll)]

    widths, rates = [], {}
    for d_model in WIDTHS:
        model, rates[d_model], curve = trained(f"d {d_model}", d_model, ids)
        inner = n_parameters(model) - model.embedding.weight.numel()
        widths.append({"d_model": d_model, "parameters without embeddings": inner, "nll": curve[-1]})
    _, _, narrow = trained(f"d {WIDTHS[0]}, 0.02", WIDTHS[0], ids, fit=False)
    shares = []
    for share in SHARES:
        text = interleaved(ids, share, run.seed)
        _, _, curve = trained(f"share {share:g}", READ, text, rates[READ], evaluate_every=UPDATES // 10)
        shares.append({"characters": len(text), "nll": curve[-1], "lowest": min(curve)})
    lowest = min(row["nll"] for row in widths)
    return {"widths": widths, "start": narrow[-1], "shares": shares, "lowest nll": lowest}, None
