"""What a training must remember to go on as if it had never stopped: one file, written whole or not at all.

The file is a line that names the format, a line with the sha256 of the rest, and the rest as torch.save writes it. It
is read with weights_only, so that a file from somewhere else can run no code.
"""

import hashlib
import io
import pickle
import random
import zlib
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from lmbook.checkpoints import CheckpointError, write

FORMAT = b"lmbook training 1"


def each(change: Callable[[Tensor], object], nested):
    """The same nesting of tuples, lists and dicts with every tensor changed; arrays of NumPy count as tensors."""
    if isinstance(nested, np.ndarray):
        return change(torch.from_numpy(nested))
    if isinstance(nested, Tensor):
        return change(nested)
    if isinstance(nested, dict):
        return {key: each(change, value) for key, value in nested.items()}
    if isinstance(nested, tuple) and hasattr(nested, "_fields"):
        return type(nested)(*(each(change, value) for value in nested))
    if isinstance(nested, tuple | list):
        return type(nested)(each(change, value) for value in nested)
    return nested


def fingerprint(batch) -> int:
    """A number that tells two batches apart: CRC-32 over the shapes and bytes of their tensors."""
    crc = 0

    def add(tensor: Tensor) -> Tensor:
        nonlocal crc
        flat = tensor.detach().cpu().contiguous().reshape(-1)
        crc = zlib.crc32(flat.view(torch.uint8).numpy(), zlib.crc32(repr(tuple(tensor.shape)).encode(), crc))
        return tensor

    each(add, batch)
    return crc


def _plain(value):
    """NumPy's arrays and numbers as Python's, which weights_only can read."""
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    if isinstance(value, dict):
        return {key: _plain(v) for key, v in value.items()}
    return tuple(_plain(v) for v in value) if isinstance(value, tuple) else value


def random_state(generators: Sequence = ()) -> dict:
    """The state of every random generator: Python's, NumPy's, torch's on each device, and those of the caller.

    generators: of the classes random.Random, numpy.random.Generator or torch.Generator.
    """
    own = []
    for generator in generators:
        if isinstance(generator, np.random.Generator):
            own.append(_plain(generator.bit_generator.state))
        else:
            own.append(generator.get_state() if isinstance(generator, torch.Generator) else generator.getstate())
    return {
        "python": random.getstate(),
        "numpy": _plain(np.random.get_state()),  # noqa: NPY002 (libraries may still draw from it)
        "torch": torch.get_rng_state(),
        "cuda": torch.cuda.get_rng_state_all() if torch.cuda.is_available() else [],
        "own": own,
    }


def set_random_state(state: dict, generators: Sequence = ()) -> None:
    """Puts every generator where `random_state` found it."""
    random.setstate(state["python"])
    np.random.set_state(state["numpy"])  # noqa: NPY002
    torch.set_rng_state(state["torch"])
    if state["cuda"] and torch.cuda.is_available():
        torch.cuda.set_rng_state_all(state["cuda"])
    for generator, own in zip(generators, state["own"], strict=True):
        if isinstance(generator, np.random.Generator):
            generator.bit_generator.state = own
        elif isinstance(generator, torch.Generator):
            generator.set_state(own)
        else:
            generator.setstate(own)


def save(path: Path, state: dict) -> None:
    """Writes the state of a training; the file of before stays until this one is complete. Raises OSError."""
    buffer = io.BytesIO()
    torch.save(state, buffer)
    payload = buffer.getvalue()
    write(path, b"\n".join([FORMAT, hashlib.sha256(payload).hexdigest().encode(), payload]))


def load(path: Path, version: str) -> dict:
    """The state that `save` wrote. Raises CheckpointError for a file that is damaged or of another version."""
    form, _, rest = path.read_bytes().partition(b"\n")
    digest, _, payload = rest.partition(b"\n")
    if form != FORMAT:
        if form.startswith(FORMAT[:-1]):
            raise CheckpointError(
                f"{path} is of another version of lmbook: its format is {form.decode(errors='replace')!r}, and "
                f"this one reads {FORMAT.decode()!r}. Install the version that wrote it, or delete it and train again."
            )
        raise CheckpointError(f"{path} is no checkpoint of a training, or damaged. Delete it and train again.")
    if hashlib.sha256(payload).hexdigest().encode() != digest:
        raise CheckpointError(f"{path} is damaged: its checksum does not fit. Delete it and train again.")
    try:
        state = torch.load(io.BytesIO(payload), map_location="cpu", weights_only=True)
    except (RuntimeError, pickle.UnpicklingError) as error:
        raise CheckpointError(
            f"{path} holds more than tensors, numbers, texts, tuples, lists and dicts, and so is not read; keep to "
            "these in the state that loss returns."
        ) from error
    if state["lmbook"] != version:
        raise CheckpointError(
            f"{path} is of lmbook {state['lmbook']}, and this is {version}: it would not go on in the same way. "
            f"Install lmbook {state['lmbook']}, or delete the file and train again."
        )
    return state


def same_settings(path: Path, found: dict, wanted: dict) -> None:
    """Raises CheckpointError where a training is resumed with other settings than those it began with."""
    other = [f"{name} was {found.get(name)}, now {wanted[name]}" for name in wanted if found.get(name) != wanted[name]]
    if other:
        raise CheckpointError(f"{path} began with other settings: {'; '.join(other)}. Resume with the same ones.")


def skip(batches: Iterable, number: int, expected: int, path: Path):
    """An iterator over `batches` after the first `number` of them. Raises CheckpointError where these are others."""
    rest, last = iter(batches), None
    for _ in range(number):
        last = next(rest, None)
    if number and (last is None or fingerprint(last) != expected):
        raise CheckpointError(
            f"{path} was trained on other batches: number {number - 1} of the epoch differs. batches(epoch) must give "
            "the same batches whenever it is called; let it seed its own generator from the epoch, and check the data."
        )
    return rest
