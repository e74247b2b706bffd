"""Reads a file of weights: 8 bytes say how long the header is, a JSON of {name: {dtype, shape, data_offsets}}; then
the numbers of one tensor after the other, little-endian, row by row."""

import json
import math

import numpy as np
import torch
from safetensors import SafetensorError

TYPES = {
    "BOOL": "?", "U8": "u1", "I8": "i1", "I16": "<i2", "I32": "<i4", "I64": "<i8", "F16": "<f2",
    "F32": "<f4", "F64": "<f8",
}  # fmt: skip


def load(data: bytes) -> dict[str, torch.Tensor]:
    """The tensors of a file, by name. Raises SafetensorError where it is cut off or holds what this does not read."""
    start = 8 + int.from_bytes(data[:8], "little")
    if len(data) < start:
        raise SafetensorError("the file ends before its header does")
    try:
        header = json.loads(data[8:start])
    except ValueError as error:
        raise SafetensorError(f"the header is not JSON: {error}") from None
    header.pop("__metadata__", None)
    found = {}
    for name, about in header.items():
        shape, (begin, end) = about["shape"], about["data_offsets"]
        kind = TYPES.get(about["dtype"])
        if kind is None:
            raise SafetensorError(f"{name} is of type {about['dtype']}; this reads {', '.join(TYPES)}")
        if math.prod(shape) * np.dtype(kind).itemsize != end - begin or start + end > len(data):
            raise SafetensorError(f"{name} has {end - begin} bytes for the shape {shape}, or the file is cut off")
        numbers = np.frombuffer(data[start + begin : start + end], kind)
        found[name] = torch.from_numpy(numbers.reshape(shape).copy())
    return found
