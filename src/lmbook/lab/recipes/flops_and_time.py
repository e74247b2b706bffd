"""What the rungs of a ladder cost: FLOPs by the formula of `lmbook.lab.flops`, and processor seconds.

multi30k-flops counts what the recorded rungs of Multi30k cost, and times some of their steps. time-by-length measures
a pass of an LSTM and of a Transformer by the length of the sequence, on its device. gpt-speed measures the tokens that
a GPT trains on in a second, and their share of the peak that the maker gives for the device.
"""

import statistics
import time
from collections.abc import Iterable
from itertools import chain, count, islice

import torch
from torch import nn

from lmbook.gpt import GPT
from lmbook.lab import checkpoints, settings
from lmbook.lab import flops as costs
from lmbook.lab.recipes.multi30k import RUNGS, prepare
from lmbook.lab.recipes.tasks import next_token_nll
from lmbook.lab.recipes.translation import loss
from lmbook.lab.run import Run, recipe
from lmbook.layers import Encoder
from lmbook.networks import n_parameters
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
    optimizer, seconds = torch.optim.Adam(model.parameters(), lr=1e-4), []
    for batch in islice(batches, steps + 1):
        began = time.process_time()
        summed, tokens = loss(model, batch, smoothing=0.1)
        optimizer.zero_grad()
        (summed / tokens).backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
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


def time_by_length(run: Run) -> tuple[dict, None]:
    """Width 256, batches of 16, all products in float32. On a GPU the LSTM is cuDNN's."""
    lengths, found = (8, 16) if run.quick else (16, 32, 64, 128, 256, 512, 1024), {}
    with torch.backends.cudnn.flags(enabled=True, allow_tf32=False):
        for name, build in STACKS.items():
            layers = build(256).to(run.device)
            found[name] = [pass_seconds(layers, torch.randn(16, T, 256, device=run.device)) for T in lengths]
    last = {f"{name}, longest": seconds[-1] for name, seconds in found.items()}
    return {"lengths": list(lengths), "longest": lengths[-1], **last, **found}, None


for name, where in {"time-by-length": "a CPU", "time-by-length-gpu": "a GPU"}.items():
    recipe(
        name,
        about=f"seconds forward and backward by length, two layers of LSTM and of Transformer encoder, on {where}",
        minutes=1,
        seeds=(0,),
        score="Transformer, longest",
    )(time_by_length)


# FLOPs a second, dense, of an H100 SXM  (NVIDIA 2022). An H200 has the same processors, with more and faster memory.
PEAKS = {name: {"float32": 66.9e12, "bfloat16": 989.4e12} for name in ("H100", "H200")}
GPTS = {  # rows of a batch, and the model
    "nanoGPT's GPU setting": (64, {"vocab": 70, "window": 256, "d_model": 384, "n_heads": 6, "n_layers": 6}),
    "GPT-2, 124M": (16, {"vocab": 50_257, "window": 1024, "d_model": 768, "n_heads": 12, "n_layers": 12}),
}
SMALLEST = {"vocab": 70, "window": 8, "d_model": 16, "n_heads": 2, "n_layers": 1}  # of a quick run


def tokens_a_second(model: nn.Module, batch: tuple, bf16: bool, steps: int) -> float:
    """Of training steps with AdamW: the median of five turns of `steps`, after a first turn that warms up."""
    optimizer, (inputs, _) = torch.optim.AdamW(model.parameters(), lr=1e-4), batch
    seconds = []
    for _ in range(6):
        began = time.perf_counter()
        for _ in range(steps):
            with torch.autocast(inputs.device.type, torch.bfloat16, enabled=bf16):
                nll, n = next_token_nll(model, batch)
            optimizer.zero_grad()
            (nll / n).backward()
            optimizer.step()
        if inputs.is_cuda:
            torch.cuda.synchronize()
        seconds.append(time.perf_counter() - began)
    return steps * inputs.numel() / statistics.median(seconds[1:])


@recipe(
    "gpt-speed",
    about="tokens a second of a GPT's training step, float32 and bfloat16, compiled or not: for a GPU",
    minutes=60,
    seeds=(0,),
    score="tokens a second",
)
def gpt_speed(run: Run) -> tuple[dict, None]:
    """Without dropout, on random ids.

    A score for each model, precision, and whether torch.compile made the kernels: tokens a second, FLOPs a token, and
    the share of the device's peak, where PEAKS has it. A quick run compiles nothing.
    """
    found: dict = {}
    peaks = next((of for name, of in PEAKS.items() if name in checkpoints.hardware(run.device)), {})
    for name, (B, sizes) in GPTS.items():
        B, sizes = (2, SMALLEST) if run.quick else (B, sizes)
        ids = torch.randint(5, sizes["vocab"], (B, sizes["window"] + 1), device=run.device)
        for compiled in (False,) if run.quick else (False, True):
            for kind in ("float32", "bfloat16"):
                torch.manual_seed(run.seed)
                model = GPT(**sizes).to(run.device)
                each = settings.flops_per_token(model, [(ids[:1, :-1], ids[:1, 1:])], next_token_nll, False)
                trained = torch.compile(model) if compiled else model
                steps = 1 if run.quick else 10
                speed = tokens_a_second(trained, (ids[:, :-1], ids[:, 1:]), kind == "bfloat16", steps)
                found[f"{name}, {kind}" + ", compiled" * compiled] = {
                    "tokens a second": speed,
                    "FLOPs a token": each,
                    "parameters": n_parameters(model),
                    "share of peak": speed * each / peaks[kind] if kind in peaks else None,
                    "device": checkpoints.hardware(run.device),
                }
    return found | {"tokens a second": max(row["tokens a second"] for row in found.values())}, None
