"""Files of llama.cpp (GGUF, version 3): what they say about a model, and its weights, some in blocks of few bits.

A file is: the magic word, the version, how many tensors and how many entries; the entries, each a name, a type and a
value; for each tensor its name, its sizes (the last axis first), its type and its place; then the tensors.

    type   a block of 32 weights                                          bytes
    F32    as they are                                                      128
    Q8_0   a scale s in 16 bits, 32 whole numbers q of 8:  w = s q           34
    Q4_1   a scale s and a least value m, 32 of 4 bits:    w = s q + m       20
"""

import mmap
import struct
from collections.abc import Iterator, Mapping
from math import prod
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

BLOCK = 32
SCALARS = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}
TEXT, LIST = 8, 9
KINDS = {0: ("F32", 4 * BLOCK), 3: ("Q4_1", 20), 8: ("Q8_0", 34)}  # name, and bytes of 32 weights


class GGUF(Mapping[str, Tensor]):
    """A file's weights by name, in float32, each computed anew when it is asked for; `about`: its entries.

    Raises ValueError where it is no such file, or a tensor has a type that is not in the table above.
    """

    def __init__(self, path: str | Path):
        with open(path, "rb") as file:
            self._bytes, self._at = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ), 4
        if self._bytes[:4] != b"GGUF" or self._number("I") != 3:
            raise ValueError(f"{path} is no GGUF file of version 3.")
        n_tensors, n_entries = self._number("Q"), self._number("Q")
        self.about: dict = {}
        for _ in range(n_entries):
            name = self._text()
            self.about[name] = self._value(self._number("I"))
        self._found: dict[str, tuple[tuple[int, ...], str, int, int]] = {}
        for _ in range(n_tensors):
            name, axes = self._text(), range(self._number("I"))
            shape = tuple(reversed([self._number("Q") for _ in axes]))
            kind, place = self._number("I"), self._number("Q")
            if kind not in KINDS:
                raise ValueError(f"{name} has the type {kind}; known are {', '.join(k for k, _ in KINDS.values())}.")
            self._found[name] = shape, KINDS[kind][0], place, KINDS[kind][1] * prod(shape) // BLOCK
        step = self.about.get("general.alignment", 32)
        self._first = -(-self._at // step) * step

    def __getitem__(self, name: str) -> Tensor:
        shape, kind, place, size = self._found[name]
        raw = np.frombuffer(self._bytes, np.uint8, size, self._first + place)
        return torch.from_numpy(unpacked(raw, kind)).view(shape)

    def __iter__(self) -> Iterator[str]:
        return iter(self._found)

    def __len__(self) -> int:
        return len(self._found)

    def kinds(self) -> dict[str, str]:
        """The type of each tensor."""
        return {name: kind for name, (_, kind, _, _) in self._found.items()}

    def _number(self, letter: str):
        (value,) = struct.unpack_from(f"<{letter}", self._bytes, self._at)
        self._at += struct.calcsize(letter)
        return value

    def _text(self) -> str:
        size = self._number("Q")
        self._at += size
        return self._bytes[self._at - size : self._at].decode()

    def _value(self, kind: int):
        if kind == TEXT:
            return self._text()
        if kind == LIST:
            inner, n = self._number("I"), self._number("Q")
            return [self._value(inner) for _ in range(n)]
        return self._number(SCALARS[kind])


def unpacked(raw: np.ndarray, kind: str) -> np.ndarray:
    """The weights, in float32, of blocks as in the table above.  raw: bytes."""
    if kind == "F32":
        return raw.view("<f4").astype(np.float32)
    blocks = raw.reshape(-1, 34 if kind == "Q8_0" else 20)
    scale = blocks[:, :2].copy().view("<f2").astype(np.float32)  # (blocks, 1)
    if kind == "Q8_0":
        return (scale * blocks[:, 2:].view(np.int8)).ravel()
    least, halves = blocks[:, 2:4].copy().view("<f2").astype(np.float32), blocks[:, 4:]
    return (scale * np.concatenate([halves & 15, halves >> 4], axis=1) + least).ravel()
