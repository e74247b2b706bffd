"""What the rungs of a ladder cost: FLOPs by the formula of `lmbook.flops`, and processor seconds.

multi30k-flops counts what the recorded rungs of Multi30k cost, and times some of their steps. time-by-length measures a
pass of an LSTM and of a Transformer by the length of the sequence, on its device.
"""

import time
from collections.abc import Iterable
from itertools import chain, count, islice

import torch
from torch import nn

from lmbook import flops as costs
from lmbook.experiments.multi30k import RUNGS, prepare
from lmbook.experiments.run import Run, recipe
from lmbook.experiments.translation import loss
from lmbook.layers import Encoder
from lmbook.rnn import Recurrent

MULTI30K = tuple(
    f"multi30k-{name}" for name in ("every", "additive", "hybrid", "transformer", "transformer-short", "additive-long")
)
FAMILIES = ("multi30k-additive", "multi30k-transformer")  # all that a quick run counts


def flops(model: nn.Module, batches, steps: int) -> int:
    """Training FLOPs of the first `steps` of batches(0), batches(1), ...: padded sizes, as they are computed."""
    taken = islice(chain.from_iterable(map(batches, count())), steps)
    return sum(costs.training(model, *batch.source.shape, batch.inputs.shape[1]) for batch in taken)


def step_seconds(model: nn.Module, batches: Iterable, steps: int) -> float:
    """Processor seconds of a training step, the mean of `steps` after a first one that warms up."""
    optimiser, seconds = torch.optim.Adam(model.parameters(), lr=1e-4), []
    for batch in islice(batches, steps + 1):
        began = time.process_time()
        summed, tokens = loss(model, batch, smoothing=0.1)
        optimiser.zero_grad()
        (summed / tokens).backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimiser.step()
        seconds.append(time.process_time() - began)
    return sum(seconds[1:]) / len(seconds[1:])


@recipe(
    "multi30k-flops",
    about="what the rungs on Multi30k cost: FLOPs by formula over the batches of seed 0, processor seconds by 20 steps",
    minutes=5,
    corpora=("multi30k",),
    seeds=(0,),
    score="multi30k-transformer",
)
def multi30k_flops(run: Run) -> tuple[dict, None]:
    """Each rung's own steps and batches; the sizes are those with which its recipe builds it.

    The records of the rungs have seconds by the clock on the wall, with other work beside. Here all are measured alike.
    """
    task = prepare(run)
    scores: dict = {"processor seconds": {}}
    for name in FAMILIES if run.quick else MULTI30K:
        rung = RUNGS[name]
        model, batches = rung.model(len(task.reader)), task.batches(run.seed, rung.tokens, tokens=True)
        scores[name] = flops(model, batches, 3 if run.quick else rung.steps)
        each = step_seconds(model, chain.from_iterable(map(batches, count())), 1 if run.quick else 20)
        scores["processor seconds"][name] = round(rung.steps * each)
    return scores, None


def pass_seconds(layers: nn.Module, x: torch.Tensor, repeats: int = 3) -> float:
    """Seconds of one forward and backward pass of a stack of layers over x (B, T, d): the fastest of some.

    On a CPU seconds of its processor, so that other work beside does not count.
    """
    best, clock = float("inf"), time.perf_counter if x.is_cuda else time.process_time
    for _ in range(repeats + 1):  # the first one warms up
        began = clock()
        out = layers(x)[0]
        out.sum().backward()
        if x.is_cuda:
            torch.cuda.synchronize()
        best = min(best, clock() - began)
    return best


STACKS = {
    "LSTM": lambda d: Recurrent(d, d, 2, "lstm"),
    "Transformer": lambda d: Encoder(2, d, 4, 2 * d),
}


@recipe(
    "time-by-length",
    about="seconds forward and backward by length, two layers of LSTM and of Transformer encoder, on this device",
    minutes=1,
    seeds=(0,),
    score="Transformer, longest",
)
def time_by_length(run: Run) -> tuple[dict, None]:
    """Width 256, batches of 16; a GPU and a CPU are told apart by the record's hardware."""
    lengths, found = (8, 16) if run.quick else (16, 32, 64, 128, 256, 512, 1024), {}
    for name, build in STACKS.items():
        layers = build(256).to(run.device)
        found[name] = [pass_seconds(layers, torch.randn(16, T, 256, device=run.device)) for T in lengths]
    last = {f"{name}, longest": seconds[-1] for name, seconds in found.items()}
    return {"lengths": list(lengths), "longest": lengths[-1], **last, **found}, None
