"""The settings of a training as its record has them, read off the model, the optimizer and the log.

Nothing of it is typed by hand, so that what a table says of a run is what the run did.
"""

import functools
import itertools
from collections.abc import Iterable, Sequence

import torch
from torch import nn
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils.flop_counter import flop_registry

from lmbook.lab import distributed, resume, schedules
from lmbook.lab.configuration import configuration
from lmbook.lab.train import device_of
from lmbook.networks import tree_map

POINTS, VALIDATIONS = 60, 200  # of a curve, that a record keeps at most
COUNTED = 20  # batches whose FLOPs are counted before a training


def thinned(points: list, most: int) -> list:
    """At most `most` of the points, evenly spaced, the first and the last among them."""
    if len(points) <= most:
        return points
    return [points[round(i * (len(points) - 1) / (most - 1))] for i in range(most)]


def curves(log: list[dict]) -> dict[str, list]:
    """The training curve and the validation curve of a log, thinned; the lowest validation is kept."""
    train = [[entry["step"], round(entry["loss"], 4)] for entry in log if "loss" in entry]
    valid = [[entry["step"], round(entry["validation"], 4)] for entry in log if "validation" in entry]
    few = thinned(valid, VALIDATIONS - 1)
    if valid and (best := min(valid, key=lambda point: point[1])) not in few:
        few = sorted([*few, best])
    return {"train": thinned(train, POINTS), "valid": few}


def begun(model: nn.Module, batches, loss, optimizer, options: dict, note: str = "") -> dict:
    """The settings that are known before the first step; options: as for train.fit. Random numbers stay as they are."""
    bare = getattr(model, "_orig_mod", model)
    rates = [group["lr"] for group in optimizer.param_groups]
    decays = [group.get("weight_decay", 0.0) for group in optimizer.param_groups]
    told = {key: optimizer.param_groups[0][key] for key in ("betas", "eps", "momentum") if key in optimizer.defaults}
    dropouts = [getattr(module, "dropout", 0.0) for module in bare.modules()]
    dropouts += [module.p for module in bare.modules() if isinstance(module, nn.Dropout)]
    randomness = resume.random_state(options.get("generators", ()))
    try:
        first = list(itertools.islice(batches(0), min(COUNTED, options.get("steps") or COUNTED)))
        each = flops_per_token(bare, first, loss, options.get("stateful", False))
    finally:
        resume.set_random_state(randomness, options.get("generators", ()))
    return {
        "model": configuration(bare) or {"class": f"{type(bare).__module__}.{type(bare).__qualname__}"},
        "optimizer": type(optimizer).__name__,
        "rate": float(max(rates)),
        "optimizer options": {
            **{key: list(value) if isinstance(value, tuple) else value for key, value in told.items()},
            "weight decay": max(decays),
        },
        "schedule": _schedule(options),
        "dropout": float(max(p for p in dropouts if isinstance(p, int | float))),
        "vocabulary": [module.num_embeddings for module in bare.modules() if isinstance(module, nn.Embedding)],
        "rows": distributed.rows(first[0]),
        "clip": options.get("clip"),
        "budget": options.get("steps"),
        "patience": options.get("patience"),
        "evaluate every": options.get("evaluate_every"),
        "flops": each,  # of a token; `part` multiplies
        "start": start(bare) | ({"note": note} if note else {}),
    }


def start(model: nn.Module) -> dict:
    """How wide the weights are spread: standard deviations of the embeddings, and of the matrices the lowest and the
    highest; to three digits."""
    tables = {id(module.weight): module.weight for module in model.modules() if isinstance(module, nn.Embedding)}
    matrices = [weight for weight in model.parameters() if weight.ndim > 1 and id(weight) not in tables]

    def spread(weights) -> list[float]:
        return [float(f"{weight.detach().float().std(correction=0).item():.3g}") for weight in weights]

    found = sorted(spread(matrices))
    return {"embeddings": spread(tables.values()), "matrices": found[:1] + found[-1:]}


class Products(TorchDispatchMode):
    """Adds up what torch.utils.flop_counter knows of each operation that runs inside the block, and recurrent layers.

    torch's own FlopCounterMode finds the same, and for each module by itself, which takes twice as long; but it has no
    count of the kernels that run a whole recurrent layer: an LSTM's on a CPU where the rows are equally long, and
    those of cuDNN.
    """

    flops = 0
    LSTM_LAYER = torch.ops.aten.mkldnn_rnn_layer  # of one direction
    CUDNN_LAYER = torch.ops.aten._cudnn_rnn  # of one direction or two, whose weights are in one list

    def __torch_dispatch__(self, operation, types, args=(), kwargs=None):
        out = operation(*args, **(kwargs or {}))
        if count := flop_registry.get(operation.overloadpacket):
            self.flops += count(*args, **(kwargs or {}), out_val=out)
        elif operation.overloadpacket is self.LSTM_LAYER:
            x, W_x, W_h = args[:3]
            self.flops += 2 * x.shape[0] * x.shape[1] * (W_x.numel() + W_h.numel())
        elif operation.overloadpacket is self.CUDNN_LAYER:
            x, weights = args[:2]
            self.flops += 2 * (x.numel() // x.shape[-1]) * sum(W.numel() for W in weights if W.ndim > 1)
        return out


def flops_per_token(model: nn.Module, batches: Iterable, loss, stateful: bool) -> float:
    """FLOPs of a training step for each token that it predicts: three times the matrix products of a forward pass.

    The products are counted by torch as they happen, so that no model is left out; `lab.flops` has them as formulae.
    The mean over the tokens of several batches, as a long sequence may cost more for each token than a short one.
    """
    batches = tree_map(lambda tensor: tensor.to(device_of(model)), list(batches))
    modes = [(module, module.training) for module in model.modules()]
    model.eval()
    with torch.enable_grad(), sdpa_kernel(SDPBackend.MATH), Products() as products:
        tokens = sum(int((loss(model, b, None) if stateful else loss(model, b))[1]) for b in batches)
    for module, training in modes:
        module.training = training
    return 3 * products.flops / max(1, tokens)


def _schedule(options: dict) -> str:
    """The names of the functions of lmbook.lab.schedules that a schedule calls."""
    chosen = options.get("schedule", schedules.constant)
    while isinstance(chosen, functools.partial):
        chosen = chosen.func
    names = (chosen.__name__, *chosen.__code__.co_names) if hasattr(chosen, "__code__") else (type(chosen).__name__,)
    known = [name for name in names if callable(getattr(schedules, name, None))] or ["its own"]
    return " and ".join([*known, "plateau"] if options.get("plateau") else known)


def part(model: nn.Module, log: list[dict], settings: dict, tried: Sequence[dict] = ()) -> dict:
    """What the record says of a finished training; settings: those of `begun`."""
    steps = [entry for entry in log if "loss" in entry]
    tokens, rates = sum(entry["tokens"] for entry in steps), [entry["lr"] for entry in steps]
    budget = settings["budget"]
    waited = settings["patience"] is not None and (budget is None or len(steps) < budget)
    return {
        "parameters": sum(p.numel() for p in model.parameters()),
        "steps": len(steps),
        "tokens": tokens,
        "seconds": round(log[-1]["seconds"], 1),
        **curves(log),
        "settings": settings
        | {
            "rate": float(max(rates)),
            "warm-up": steps[rates.index(max(rates))]["step"],
            "last rate": float(f"{rates[-1]:.3g}"),
            "ended": "plateau" if waited and _stalled(log, settings["patience"]) else "budget",
            "flops": round(settings["flops"] * tokens),
            "rates tried": list(tried),
        },
    }


def _stalled(log: list[dict], patience: int) -> bool:
    losses = [entry["validation"] for entry in log if "validation" in entry]
    return len(losses) > patience and min(losses[:-patience]) <= min(losses[-patience:])
