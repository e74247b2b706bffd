"""The Mersenne twister, and the numbers that PyTorch makes of its bits."""

import math
from typing import Any

import numpy as np

from . import dtypes
from .elementwise import wrap
from .errors import NotCovered
from .tensor import Tensor


class Generator:
    """A stream of random numbers. manual_seed() begins it anew."""

    def __init__(self, device: Any = "cpu"):
        dtypes.on(device)
        self.device = dtypes.CPU
        self.manual_seed(67280421310721)

    def manual_seed(self, seed: int) -> "Generator":
        self.first = int(seed)
        self.twister = np.random.RandomState(self.first & 0xFFFFFFFF)
        self.kept: float | None = None
        return self

    def seed(self) -> int:
        raise NotCovered("Generator.seed, a seed by chance,")

    def initial_seed(self) -> int:
        return self.first

    def get_state(self) -> Tensor:
        _, key, position, _, _ = self.twister.get_state()
        tail = np.array([position, self.kept is not None, self.kept or 0.0, self.first], np.float64)
        made = wrap(np.concatenate([np.ascontiguousarray(key, np.uint32).view(np.uint8), tail.view(np.uint8)]))
        return made

    def set_state(self, state: Tensor) -> "Generator":
        key = state._a[: 4 * 624].copy().view(np.uint32)
        position, has, kept, first = state._a[4 * 624 :].copy().view(np.float64)
        self.twister.set_state(("MT19937", key, int(position), 0, 0.0))
        self.kept, self.first = float(kept) if has else None, int(first)
        return self

    def words(self, n: int) -> np.ndarray:
        """32 bits each."""
        return self.twister.randint(0, 2**32, size=n, dtype=np.uint32)

    def long_words(self, n: int) -> np.ndarray:
        """64 bits each, the first word in front."""
        pairs = self.words(2 * n).astype(np.uint64).reshape(n, 2)
        return pairs[:, 0] << np.uint64(32) | pairs[:, 1]

    def uniform(self, n: int, kind: Any) -> np.ndarray:
        """In [0, 1), with the bits of this type."""
        if kind == np.float32:
            return (self.words(n) & np.uint32(2**24 - 1)).astype(np.float32) * np.float32(2.0**-24)
        return (self.long_words(n) & np.uint64(2**53 - 1)).astype(np.float64) * 2.0**-53

    def normal(self, n: int, kind: Any, mean: float = 0.0, std: float = 1.0) -> np.ndarray:
        if n < 16:
            return np.array([self.one_normal() * std + mean for _ in range(n)], kind)
        u = self.uniform(n, kind)
        whole = u[: n // 16 * 16]
        found = np.empty(n, kind)
        found[: whole.size] = _blocks(whole, mean, std)
        if n % 16:
            found[-16:] = _blocks(self.uniform(16, kind), mean, std)
        return found

    def one_normal(self) -> float:
        if self.kept is not None:
            value, self.kept = self.kept, None
            return value
        u, v = self.uniform(2, np.float64)
        radius = math.sqrt(-2 * math.log1p(-v))
        self.kept = radius * math.sin(2 * math.pi * u)
        return radius * math.cos(2 * math.pi * u)


def _blocks(u: np.ndarray, mean: float, std: float) -> np.ndarray:
    kind = u.dtype.type
    pairs = u.reshape(-1, 2, 8)
    radius = np.sqrt(kind(-2) * np.log(kind(1) - pairs[:, 0]))
    angle = kind(2 * math.pi) * pairs[:, 1]
    both = np.stack([radius * np.cos(angle), radius * np.sin(angle)], 1)
    return (both * kind(std) + kind(mean)).ravel()
