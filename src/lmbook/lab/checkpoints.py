"""Trained weights as files: safetensors, matrices in int8 by row, and a card in JSON beside them.

    s_i = max_j |w_ij| / 127      q_ij = round(w_ij / s_i)      w_ij ~ s_i q_ij      |w_ij - s_i q_ij| <= s_i / 2

The scale s_i of a row is rounded up to 16 significant bits. Then s_i q_ij is exact in float32: every program that reads
the file, in any language, computes with the same weights, and the bound holds without a rounding error on top.

The card also says of what class the model is and with which arguments it was made, and the same of what encodes its
text (a tokenizer, or one for the source and one for the target). So `load` gives both back:

    model, text, card = checkpoints.load("shakespeare")        a model that the package ships, or the path of a file

In the file a matrix "W" is int8 with its scales as float32 in "W.scale"; the header lists these names under "int8".
Vectors (biases, norms) stay as they are. A weight that two parts of a model share is stored once; the header's "tied"
says which name stands for which, and "card" has model and text of the card once more, so that the file alone can be
loaded: what the figure Trainer downloads has no second file.
"""

import hashlib
import json
import platform
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor, nn

from lmbook import __version__, say, write
from lmbook.lab.configuration import build, configuration

TRAINED = Path(__file__).with_name("trained")  # the files that the package ships
CARD = ("recipe", "seed", "data", "scores", "seconds", "hardware")  # what a card must say
BITS = 16  # significant bits of a scale: with 7 of a weight 23, and float32 has 24


class CheckpointError(RuntimeError):
    """A checkpoint cannot be used; the message says why and what to do."""


def quantize(weight: Tensor) -> tuple[Tensor, Tensor]:
    """q and s of the equation above, for each row of the first axis.

    weight: (rows, ...) finite.  Returns int8 (rows, ...) and float32 (rows,). Raises ValueError for NaN and infinity.
    """
    w = weight.detach().cpu().double().flatten(1)
    if not w.isfinite().all():
        raise ValueError("a weight that is NaN or infinite cannot be written in int8; train again with a smaller rate.")
    top = w.abs().amax(1).numpy() if w.numel() else np.zeros(len(w))
    mantissa, exponent = np.frexp(top / 127)
    # Above 2^-100 also where a row is all zero: no division by zero, and float32 keeps all bits of s and s q.
    s = np.maximum(np.ldexp(np.ceil(np.ldexp(mantissa, BITS)), exponent - BITS), 2.0**-100)
    if s.size and s.max() * 127 > np.finfo(np.float32).max:
        raise ValueError("a weight above 3e38 cannot be written in int8; train again with a smaller rate.")
    s = torch.from_numpy(s)
    q = torch.round(w / s[:, None]).to(torch.int8)
    return q.reshape(weight.shape), s.float()


def dequantize(q: Tensor, s: Tensor) -> Tensor:
    """s_i q_ij.  q: int8 (rows, ...).  s: float32 (rows,).  Returns float32 (rows, ...)."""
    return q.float() * s.reshape(-1, *[1] * (q.ndim - 1))


def differences(found: Mapping[str, Tensor], wanted: Mapping[str, Tensor]) -> str:
    """How two sets of weights differ in names and shapes, in a few words; empty where they do not."""

    def some(names: list[str]) -> str:
        return ", ".join(names[:5]) + (f" and {len(names) - 5} more" if len(names) > 5 else "")

    faults = []
    if extra := sorted(found.keys() - wanted.keys()):
        faults.append(f"it has {some(extra)}, which the model lacks")
    if missing := sorted(wanted.keys() - found.keys()):
        faults.append(f"it lacks {some(missing)}")
    if other := [
        f"{name} is {tuple(found[name].shape)} instead of {tuple(wanted[name].shape)}"
        for name in sorted(found.keys() & wanted.keys())
        if found[name].shape != wanted[name].shape
    ]:
        faults.append(some(other))
    return "; ".join(faults)


def hardware(device: torch.device | str = "cpu") -> str:
    """A device of this machine, as a card says it: the GPU's name, or the processor and the number of threads."""
    kind = torch.device(device).type
    if kind == "cuda":
        return torch.cuda.get_device_name(device)
    threads = torch.get_num_threads()
    return f"{platform.machine()} {kind.upper()}, {threads} thread{'' if threads == 1 else 's'}"


def save(path: str | Path, model: nn.Module, card: Mapping, int8: bool = True, text=None) -> int:
    """Writes a model's weights to `path` (.safetensors) and its card beside it (.json), and says how large they are.

    card: recipe, seed, data (hash of the training data), scores, seconds, hardware, and whatever else is worth telling;
    sha256, bytes, parameters and the version of lmbook are added.  int8=False keeps the matrices as they are.
    text: what encodes the model's text, a tokenizer or the two of a pair; it and the model are described in the card
    where `configuration` knows them.
    Returns the size of the weights' file in bytes. Raises ValueError for a card that lacks one of these.
    """
    path = Path(path)
    if path.suffix != ".safetensors":
        raise ValueError(f"{path.name} must end in .safetensors.")
    if missing := [key for key in CARD if key not in card]:
        raise ValueError(f"the card of {path.name} lacks {', '.join(missing)}.")
    tensors, tied, quantized, seen = {}, {}, [], {}
    for name, weight in model.state_dict().items():
        place = (weight.data_ptr(), weight.shape, weight.stride(), weight.dtype)
        if weight.numel() and place in seen:
            tied[name] = seen[place]
            continue
        seen[place] = name
        if int8 and weight.is_floating_point() and weight.ndim >= 2:
            if name + ".scale" in model.state_dict():
                raise ValueError(f"{name}.scale is a weight of the model and would be overwritten; rename it.")
            try:
                tensors[name], tensors[name + ".scale"] = quantize(weight)
            except ValueError as error:
                raise ValueError(f"{name}: {error}") from None
            quantized.append(name)
        else:
            tensors[name] = weight.detach().cpu().contiguous().clone()
    described = {"model": configuration(model), "text": None if text is None else configuration(text)}
    inside = {"recipe": card["recipe"], **{key: value for key, value in described.items() if value is not None}}
    header = {name: json.dumps(value) for name, value in (("int8", quantized), ("tied", tied), ("card", inside))}
    import safetensors.torch  # here, since a page has no compiled packages, and imports this module

    data = safetensors.torch.save(tensors, {"format": "lmbook 1", **header})
    card = {
        **card,
        **{key: value for key, value in described.items() if value is not None},
        "lmbook": __version__,
        "parameters": sum(p.numel() for p in model.parameters()),
        "bytes": len(data),
        "sha256": hashlib.sha256(data).hexdigest(),
    }
    write(path, data)
    write(path.with_suffix(".json"), card_text(card).encode())
    say(f"{path.name}: {len(data):,} bytes, {card['parameters']:,} parameters")
    return len(data)


def card_text(card: Mapping) -> str:
    """A card as JSON, a line for each key: a vocabulary of thousands of types is one line."""
    lines = (f"{json.dumps(key)}: {json.dumps(card[key], ensure_ascii=False, allow_nan=False)}" for key in card)
    return "{\n  " + ",\n  ".join(lines) + "\n}\n"


def _header(data: bytes) -> dict:
    return json.loads(data[8 : 8 + int.from_bytes(data[:8], "little")])["__metadata__"]


def _card_inside(path: Path, data: bytes) -> dict:
    """The short card in a file's header, where none lies beside it: a download of a page has nothing else."""
    try:
        return json.loads(_header(data)["card"])
    except (KeyError, ValueError, TypeError):
        raise CheckpointError(f"{path.with_suffix('.json')} cannot be read: there is no such file.") from None


def read(path: str | Path) -> tuple[dict[str, Tensor], dict]:
    """The weights of a file, restored to float32 where they are int8, and its card.

    Raises CheckpointError where one of the two files is missing or damaged, or the card is of another file.
    """
    path = Path(path)
    beside = path.with_suffix(".json")
    try:
        data = path.read_bytes()
        card = json.loads(beside.read_text("utf-8")) if beside.exists() else _card_inside(path, data)
    except OSError as error:
        raise CheckpointError(f"{error.filename} cannot be read: {error.strerror}; train its recipe again.") from None
    except ValueError:
        raise CheckpointError(f"{beside} is damaged: it is not JSON. Train its recipe again.") from None
    if beside.exists() and card.get("sha256") != hashlib.sha256(data).hexdigest():
        raise CheckpointError(
            f"{path} is damaged, or not the file of {beside.name}: its sha256 differs from the card's. "
            "Train its recipe again, or install the package anew."
        )
    import safetensors.torch

    try:
        tensors = safetensors.torch.load(data)
        header = _header(data)
        for name in json.loads(header["int8"]):
            tensors[name] = dequantize(tensors[name], tensors.pop(name + ".scale"))
        tensors |= {name: tensors[source] for name, source in json.loads(header["tied"]).items()}
    except (safetensors.SafetensorError, KeyError, ValueError) as error:
        raise CheckpointError(f"{path} is no checkpoint of lmbook ({error!r}); train its recipe again.") from None
    return tensors, card


def load_weights(path: str | Path, model: nn.Module) -> dict:
    """Reads a checkpoint into a model that is built already. Returns the card.

    Raises CheckpointError, as `read` does, and where names or shapes of the weights are not the model's: the model is
    then left as it was.
    """
    tensors, card = read(path)
    if fault := differences(tensors, model.state_dict()):
        raise CheckpointError(
            f"{path} is of another model: {fault}. Build the model as recipe {card.get('recipe')!r} does."
        )
    model.load_state_dict(tensors)
    return card


class Checkpoint(NamedTuple):
    """What `load` gives: the model, ready to use; what encodes its text, or None; the card."""

    model: nn.Module
    text: object
    card: dict


def load(name: str | Path, folder: str | Path = TRAINED, **options) -> Checkpoint:
    """The model of a checkpoint in evaluation mode, what encodes its text (a list of two for source and target), and
    the card.

    name: of a model in the folder, by default one that the package ships ("shakespeare"), or the path of a .safetensors
    file.  options: arguments that the model shall have instead of those in the card, such as another window where
    positions allow it.
    Raises CheckpointError where there is no such file, or its card does not describe a model, or another one.
    """
    path = Path(name)
    if path.suffix != ".safetensors":
        path = Path(folder) / f"{name}.safetensors"
        if not path.is_file():
            there = ", ".join(sorted(file.stem for file in Path(folder).glob("*.safetensors")))
            raise CheckpointError(f"no model {str(name)!r} is shipped; there are {there}.")
    tensors, card = read(path)
    if not isinstance(card.get("model"), dict):
        raise CheckpointError(
            f"the card of {path} does not describe its model; build it as recipe {card.get('recipe')!r} does and use "
            "load_weights."
        )
    try:
        model, text = build(card["model"] | options), build(card.get("text"))
    except ValueError as error:
        raise CheckpointError(f"the card of {path} does not fit this lmbook: {error}") from error
    if fault := differences(tensors, model.state_dict()):
        raise CheckpointError(f"{path} is not of the model that its card describes: {fault}.")
    model.load_state_dict(tensors)
    return Checkpoint(model.eval(), text, card)
