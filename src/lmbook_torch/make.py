"""Tensors out of nothing."""

import math

import numpy as np

from . import dtypes
from .data import array, tensor
from .elementwise import public, wrap
from .errors import NotCovered
from .random import _kind, _shape
from .tensor import Tensor


def _filled(shape, value, dtype, device, requires_grad):
    dtypes.on(device)
    empty = dtypes.hollow(shape, dtype)
    made = wrap(np.full(shape, value, dtype) if empty is None else empty)
    made.requires_grad = requires_grad
    return made


def zeros(*size, dtype=None, device=None, requires_grad=False, out=None):
    """torch.zeros."""
    return _filled(_shape(size), 0, _kind(dtype), device, requires_grad)


def ones(*size, dtype=None, device=None, requires_grad=False):
    """torch.ones."""
    return _filled(_shape(size), 1, _kind(dtype), device, requires_grad)


def empty(*size, dtype=None, device=None, requires_grad=False):
    """torch.empty, here of zeros."""
    return zeros(*size, dtype=dtype, device=device, requires_grad=requires_grad)


def full(size, fill_value, *, dtype=None, device=None, requires_grad=False):
    """torch.full."""
    value = fill_value.item() if isinstance(fill_value, Tensor) else fill_value
    kind = dtype or (fill_value.dtype if isinstance(fill_value, Tensor) else dtypes.of_number(value))
    return _filled(_shape((size,)), value, kind.to_numpy(), device, requires_grad)


def _like(maker):
    def function(x, *more, dtype=None, device=None, requires_grad=False):
        return maker(tuple(x.shape), *more, dtype=dtype or x.dtype, device=device, requires_grad=requires_grad)

    function.__name__ = f"{maker.__name__}_like"
    return function


zeros_like, ones_like, empty_like, full_like = map(_like, (zeros, ones, empty, full))


def arange(start, end=None, step=1, *, dtype=None, device=None, requires_grad=False):
    """torch.arange."""
    dtypes.on(device)
    start, end = (0, start) if end is None else (start, end)
    start, end, step = (one.item() if isinstance(one, Tensor | np.generic) else one for one in (start, end, step))
    whole = all(isinstance(one, int) for one in (start, end, step))
    kind = dtype or (dtypes.int64 if whole else dtypes.get_default_dtype())
    n = max(0, math.ceil((end - start) / step))
    wide = np.int64 if kind.kind < 2 else np.float64
    made = wrap((start + np.arange(n).astype(wide) * step).astype(kind.to_numpy()))
    made.requires_grad = requires_grad
    return made


def linspace(start, end, steps, *, dtype=None, device=None):
    """torch.linspace: from both ends to the middle."""
    kind = _kind(dtype)
    i = np.arange(steps).astype(kind)
    step = kind.type((end - start) / (steps - 1)) if steps > 1 else kind.type(0)
    values = np.where(i < steps // 2, kind.type(start) + step * i, kind.type(end) - step * (steps - 1 - i))
    return wrap((values if steps > 1 else np.full(steps, start)).astype(kind))


def logspace(start, end, steps, base=10.0, *, dtype=None):
    """torch.logspace."""
    return wrap(np.power(float(base), linspace(start, end, steps, dtype=dtypes.float64)._a).astype(_kind(dtype)))


def eye(n, m=None, *, dtype=None, device=None, requires_grad=False):
    """torch.eye."""
    made = wrap(np.eye(n, m, dtype=_kind(dtype)))
    made.requires_grad = requires_grad
    return made


def as_tensor(data, dtype=None, device=None):
    """torch.as_tensor: shares memory where it can."""
    dtypes.on(device)
    if isinstance(data, Tensor):
        return data if dtype is None else data.to(dtype)
    if isinstance(data, np.ndarray) and (dtype is None or dtype.to_numpy() == data.dtype):
        return from_numpy(data)
    return wrap(array(data, dtype))


asarray = as_tensor


def from_numpy(data):
    """torch.from_numpy: shares memory."""
    if not isinstance(data, np.ndarray):
        raise TypeError(f"expected np.ndarray (got {type(data).__name__})")
    if any(step < 0 for step in data.strides):
        raise ValueError(
            "At least one stride in the given numpy array is negative, and tensors with negative strides are not "
            "currently supported. (You can probably work around this by making a copy of your array  with "
            "array.copy().) "
        )
    return wrap(data.astype(dtypes.of(data).numpy, copy=False))


def frombuffer(buffer, *, dtype, count=-1, offset=0):
    """torch.frombuffer."""
    return wrap(np.frombuffer(buffer, dtype.to_numpy(), count, offset))


def complex(real, imag):
    """torch.complex."""
    raise NotCovered("torch.complex")


@public
def new_zeros(x, *size, dtype=None, device=None):
    return zeros(*size, dtype=dtype or x.dtype)


@public
def new_ones(x, *size, dtype=None, device=None):
    return ones(*size, dtype=dtype or x.dtype)


@public
def new_empty(x, *size, dtype=None, device=None):
    return zeros(*size, dtype=dtype or x.dtype)


@public
def new_full(x, size, fill_value, dtype=None, device=None):
    return full(size, fill_value, dtype=dtype or x.dtype)


@public
def new_tensor(x, data, *, dtype=None, device=None, requires_grad=False):
    return tensor(data, dtype=dtype or x.dtype, requires_grad=requires_grad)
