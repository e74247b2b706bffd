"""The record of a run: what it holds, and how a training's settings get into it without being typed.

    record = {recipe, seed, scores, parts: {part: {parameters, steps, ..., settings}}, ...}

RECORD, PART and SETTINGS say which keys there are; `check` compares. A part is one training: a recipe that compares
four systems has four. Settings are read off the model, the optimizer and the log, so that what a table says of a run is
what the run did. Records of runs from before they were collected have none, which means "not recorded".
"""

import functools
import itertools
import json
from collections.abc import Iterable, Sequence
from importlib.resources.abc import Traversable
from pathlib import Path

import numpy as np
import torch
from torch import nn
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils.flop_counter import flop_registry

from lmbook.configuration import configuration
from lmbook.lab import distributed, resume, schedules
from lmbook.lab.train import device_of
from lmbook.networks import tree_map

NUMBER = (int, float)
WIDTH = 120  # of a line of the file
POINTS, VALIDATIONS = 60, 200  # of a curve, that a record keeps at most
COUNTED = 20  # batches whose FLOPs are counted before a training

RECORD = {
    "recipe": str,
    "seed": int,
    "scores": dict,  # numbers, texts, counts of BLEU as arrays, or lists and dicts of them
    "parts": dict,  # the trainings by name: PART; "model" where there is one
    "seconds": NUMBER,  # of all trainings, validations included
    "hardware": str,
    "data": dict,  # corpus -> file -> sha256
    "torch": str,
    "lmbook": str,
}
RECORD_MAY = {
    "int8": dict,  # the scores of the shipped weights, which are rounded
    "evaluation_seconds": NUMBER,  # in some older records
}
PART = {
    "parameters": int,
    "steps": int,
    "tokens": int,  # predicted in all steps together
    "seconds": NUMBER,
    "train": list,  # [step, loss in nats per token], at most about POINTS
    "valid": list,  # [step, what validate gave], at most VALIDATIONS, the lowest among them
}
PART_MAY = {"settings": dict}
NONE = type(None)
SETTINGS = {
    "model": dict,  # "class" and, of a configured class, its arguments
    "optimizer": str,
    "rate": float,  # the highest
    "optimizer options": dict,  # betas, eps, momentum, and the highest weight decay
    "schedule": str,  # of lmbook.lab.schedules, by name
    "warm-up": int,  # the first step with the highest rate
    "last rate": float,
    "dropout": float,  # the highest in the model
    "vocabulary": list,  # rows of each embedding
    "rows": int,  # of the first batch
    "clip": (*NUMBER, NONE),
    "budget": (int, NONE),  # steps, where they were limited
    "patience": (int, NONE),
    "evaluate every": (int, NONE),  # steps; None is an epoch
    "ended": str,  # "budget", or "plateau" where patience ended it
    "flops": int,  # of all steps: three times the products of a forward pass for every token, over the first batches
    "start": dict,  # standard deviations before the first step: "embeddings", "matrices" (lowest, highest); "note"
    "rates tried": list,  # {"rate", "validation", "steps", "seconds"} of each that Run.tune compared
}


def check(record: dict) -> dict:
    """The record itself. Raises ValueError that names a key that is missing, unknown, or of another type."""
    _compare(record, RECORD, RECORD_MAY, "the record")
    for name, part in record["parts"].items():
        _compare(part, PART, PART_MAY, f"part {name!r}")
        for curve in ("train", "valid"):
            if any(not isinstance(point, list) or len(point) != 2 for point in part[curve]):
                raise ValueError(f"part {name!r}: {curve} holds something else than pairs [step, loss].")
        if "settings" in part:
            _compare(part["settings"], SETTINGS, {}, f"the settings of part {name!r}")
    return record


def dumps(record: dict) -> str:
    """The record as JSON, lists filled up to the width of a line. Counts of BLEU, arrays (sentences, 10) of
    `metrics.bleu_counts`, are written as texts, a row each, without the n-grams where these follow from the length.
    """
    return _laid_out(_packed(record), 0) + "\n"


def read(file: Path | Traversable) -> dict:
    """A record as `dumps` wrote it, the counts of BLEU as arrays (sentences, 10) of floats."""
    return json.loads(file.read_text("utf-8"), object_hook=_unpacked)


def _ngrams(length: np.ndarray) -> np.ndarray:
    """n-grams, n = 1..4, of outputs of these lengths.  length: (sentences, 1).  Returns (sentences, 4)."""
    return np.maximum(length - np.arange(4), 0)


def _packed(value):
    if isinstance(value, np.ndarray):
        rows = value.astype(int)
        if np.array_equal(rows[:, 4:8], _ngrams(rows[:, 8:9])):
            rows = np.delete(rows, slice(4, 8), axis=1)
        return [" ".join(map(str, row)) for row in rows.tolist()]
    if isinstance(value, dict):
        return {key: _packed(one) for key, one in value.items()}
    return [_packed(one) for one in value] if isinstance(value, list) else value


def _unpacked(found: dict) -> dict:
    for key, value in found.items():
        if key.split()[-1:] == ["counts"] and isinstance(value, list):
            rows = np.array([row.split() for row in value], dtype=float)
            if rows.shape[1] < 10:
                rows = np.insert(rows, [4], _ngrams(rows[:, 4:5]), axis=1)
            found[key] = rows
    return found


def _laid_out(value, indent: int) -> str:
    flat = json.dumps(value, ensure_ascii=False, allow_nan=False)
    if len(flat) + indent <= WIDTH or not isinstance(value, dict | list):
        return flat
    margin = "\n" + " " * (indent + 1)
    if isinstance(value, dict):
        items = [f"{json.dumps(key, ensure_ascii=False)}: {_laid_out(one, indent + 1)}" for key, one in value.items()]
        return "{" + margin + f",{margin}".join(items) + margin[:-1] + "}"
    lines: list[str] = []
    for item in (_laid_out(one, indent + 1) for one in value):
        if lines and indent + len(lines[-1]) + len(item) + 3 <= WIDTH:
            lines[-1] += f", {item}"
        else:
            lines.append(item)
    return "[" + margin + f",{margin}".join(lines) + margin[:-1] + "]"


def _compare(found: dict, wanted: dict, may: dict, what: str) -> None:
    if missing := wanted.keys() - found.keys():
        raise ValueError(f"{what} lacks {', '.join(sorted(missing))}.")
    if unknown := found.keys() - wanted.keys() - may.keys():
        raise ValueError(f"{what} has {', '.join(sorted(unknown))}, which record.py does not describe.")
    for key, kind in (wanted | may).items():
        if key in found and (not isinstance(found[key], kind) or (isinstance(found[key], bool) and kind is not bool)):
            raise ValueError(f"{what}: {key} is {found[key]!r}, which is not what record.py says.")


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
