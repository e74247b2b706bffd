"""Random numbers, the same as PyTorch's on a CPU: the Mersenne twister, and how each distribution takes its bits.

rand     24 bits of a word for float32, 53 of two words for float64; randint the word modulo the range
randn    from 16 numbers on Box and Muller over blocks of 16 (8 radii, 8 angles); below, pairs in float64, one kept
bernoulli, dropout, exponential, multinomial     a uniform number in float64 each
"""

import contextlib
import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from . import dtypes
from .elementwise import public, wrap
from .engine import QUIET
from .generator import Generator
from .tensor import Tensor

default_generator = Generator()


def manual_seed(seed: int) -> Generator:
    """torch.manual_seed."""
    return default_generator.manual_seed(seed)


def seed() -> int:
    """torch.seed."""
    return default_generator.seed()


def initial_seed() -> int:
    """torch.initial_seed."""
    return default_generator.initial_seed()


def get_rng_state() -> Tensor:
    """torch.get_rng_state."""
    return default_generator.get_state()


def set_rng_state(state: Tensor) -> None:
    """torch.set_rng_state."""
    default_generator.set_state(state)


@contextlib.contextmanager
def fork_rng(devices: Any = None, enabled: bool = True) -> Iterator[None]:
    """torch.random.fork_rng: what is drawn inside the block leaves the generator as it was."""
    before = get_rng_state()
    try:
        yield
    finally:
        if enabled:
            set_rng_state(before)


def _shape(given: tuple) -> tuple[int, ...]:
    return tuple(
        int(n)
        for n in (
            given[0]
            if len(given) == 1 and not isinstance(given[0], int) and not isinstance(given[0], Tensor)
            else given
        )
    )


def _made(array: np.ndarray, shape: tuple, requires_grad: bool, device: Any) -> Tensor:
    dtypes.on(device)
    made = wrap(array.reshape(shape))
    made.requires_grad = requires_grad
    return made


def _kind(dtype: dtypes.dtype | None) -> np.dtype:
    return (dtype or dtypes.get_default_dtype()).to_numpy()


def rand(*size, generator=None, dtype=None, device=None, requires_grad=False):
    """torch.rand."""
    shape = _shape(size)
    return _made((generator or default_generator).uniform(math.prod(shape), _kind(dtype)), shape, requires_grad, device)


def randn(*size, generator=None, dtype=None, device=None, requires_grad=False):
    """torch.randn."""
    shape = _shape(size)
    return _made((generator or default_generator).normal(math.prod(shape), _kind(dtype)), shape, requires_grad, device)


def rand_like(x, *, dtype=None, generator=None):
    """torch.rand_like."""
    return rand(*x.shape, dtype=dtype or x.dtype, generator=generator)


def randn_like(x, *, dtype=None, generator=None):
    """torch.randn_like."""
    return randn(*x.shape, dtype=dtype or x.dtype, generator=generator)


def _integers(low: int, high: int, n: int, generator: Generator | None) -> np.ndarray:
    if high <= low:
        raise RuntimeError(f"random_ expects 'from' to be less than 'to', but got from={low} >= to={high}")
    draw = generator or default_generator
    width = high - low
    words = draw.words(n).astype(np.uint64) if width < 2**28 else draw.long_words(n)
    return (words % np.uint64(width)).astype(np.int64) + low


def randint(low, high=None, size=None, *, generator=None, dtype=None, device=None, requires_grad=False):
    """torch.randint."""
    if size is None:
        low, high, size = 0, low, high
    array = _integers(int(low), int(high), math.prod(size), generator)
    return _made(array.astype((dtype or dtypes.int64).to_numpy()), tuple(size), requires_grad, device)


def randperm(n, *, generator=None, dtype=None, device=None):
    """torch.randperm: Fisher and Yates from the front."""
    order = list(range(n))
    words = (generator or default_generator).words(max(n - 1, 0)).astype(np.int64).tolist()
    for i, word in enumerate(words):
        j = i + word % (n - i)
        order[i], order[j] = order[j], order[i]
    return _made(np.array(order, (dtype or dtypes.int64).to_numpy()), (n,), False, device)


def multinomial(x, num_samples, replacement=False, *, generator=None):
    """torch.multinomial, of one distribution or one in each row."""
    draw = generator or default_generator
    p = x._a.astype(np.float64)
    if p.ndim not in (1, 2):
        raise RuntimeError("prob_dist must be 1 or 2 dim")
    if not (np.isfinite(p).all() and (p >= 0).all()):
        raise RuntimeError("probability tensor contains either `inf`, `nan` or element < 0")
    if not replacement and num_samples > p.shape[-1]:
        raise RuntimeError("cannot sample n_sample > prob_dist.size(-1) samples without replacement")
    if (p.sum(-1) == 0).any():
        raise RuntimeError("invalid multinomial distribution (sum of probabilities <= 0)")
    if not replacement or num_samples == 1:
        waits = exponential(p.size, draw, x._a.dtype).reshape(p.shape)
        with QUIET():
            rank = x._a / waits
        found = np.argsort(-rank, -1, kind="stable")[..., :num_samples]
    else:
        rows = p.reshape(-1, p.shape[-1])
        ends = np.cumsum(rows, 1) / rows.sum(1, keepdims=True)
        u = draw.uniform(num_samples * len(rows), np.float64).reshape(len(rows), num_samples)
        found = np.stack([np.searchsorted(end, one, "right") for end, one in zip(ends, u, strict=True)])
        found = np.minimum(found, p.shape[-1] - 1).reshape(*p.shape[:-1], num_samples)
    return wrap(found.astype(np.int64))


def exponential(n: int, draw: Generator, kind: Any) -> np.ndarray:
    """Waiting times with mean 1."""
    return (-np.log1p(-draw.uniform(n, np.float64))).astype(kind)


def bernoulli(x, *, generator=None):
    """torch.bernoulli: 1 with these probabilities."""
    u = (generator or default_generator).uniform(x._a.size, x._a.dtype).reshape(x._a.shape)
    return wrap((u < x._a).astype(x._a.dtype))


def mask(shape: tuple, p: float, kind: Any) -> np.ndarray:
    """What dropout keeps: 1 with probability p."""
    u = default_generator.uniform(math.prod(shape), np.float64).reshape(shape)
    return (u < p).astype(kind)


def _filled(name: str, f: Any):
    def function(x, *args, generator=None, **kwargs):
        if x.is_meta:
            return x
        made = f(x, generator or default_generator, *args, **kwargs)
        return x._changed(wrap(np.asarray(made, x._a.dtype).reshape(x._a.shape)))

    function.__name__ = name
    return public(function)


def _stretched(x, draw, a=0.0, b=1.0):
    u = draw.uniform(x._a.size, x._a.dtype).astype(np.float64)
    a, b = x._a.dtype.type(a), x._a.dtype.type(b)
    return u * float(b - a) + float(a)


uniform_ = _filled("uniform_", _stretched)
normal_ = _filled("normal_", lambda x, draw, mean=0.0, std=1.0: draw.normal(x._a.size, x._a.dtype, mean, std))
exponential_ = _filled("exponential_", lambda x, draw: exponential(x._a.size, draw, x._a.dtype))
bernoulli_ = _filled("bernoulli_", lambda x, draw, p=0.5: draw.uniform(x._a.size, np.float64) < p)
random_ = _filled(
    "random_",
    lambda x, draw, low=0, high=None: _integers(*((0, low) if high is None else (low, high)), x._a.size, draw),
)


def normal(mean=0.0, std=1.0, size=None, *, generator=None):
    """torch.normal of numbers, or of a tensor of means or deviations."""
    if size is None:
        shape = np.broadcast_shapes(*(one._a.shape for one in (mean, std) if isinstance(one, Tensor)))
        return randn(*shape, generator=generator) * std + mean
    return wrap((generator or default_generator).normal(math.prod(size), _kind(None), mean, std).reshape(size))
