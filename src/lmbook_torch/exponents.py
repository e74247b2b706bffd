"""Softmax and its kin along a dimension."""

import numpy as np

from .elementwise import cast, floating, public, wrap
from .engine import QUIET, node
from .reduce import dims, total, wide
from .shapes import axis
from .tensor import Tensor


@public
def logsumexp(x, dim, keepdim=False):
    x = floating(x)
    at = dims(x, dim)
    with QUIET():
        top = np.max(x._a, at, keepdims=True)
        top = np.where(np.isfinite(top), top, 0).astype(x._a.dtype)
        y = np.log(total(np.exp(x._a - top), at, True)) + top
    shown = y if keepdim else y.reshape([m for i, m in enumerate(x._a.shape) if i not in at])
    return node("LogsumexpBackward0", wrap(shown), [(x, lambda g: wide(g, at, keepdim) * np.exp(x._a - y))], [x])


@public
def softmax(x, dim, dtype=None):
    x = cast(x, dtype) if dtype is not None else x
    _whole_numbers(x, dim, "softmax")
    at = axis(dim, x._a.ndim)
    with QUIET():
        e = np.exp(x._a - np.max(x._a, at, keepdims=True)) if x._a.size else x._a.copy()
        y = e / total(e, (at,), True) if x._a.ndim else np.ones_like(e)
    out = wrap(y.astype(x._a.dtype))
    return node(
        "SoftmaxBackward0", out, [(x, lambda g: y * (g - total(g * y, (at,), True)) if x._a.ndim else g * 0)], [out]
    )


@public
def log_softmax(x, dim, dtype=None):
    x = cast(x, dtype) if dtype is not None else x
    _whole_numbers(x, dim, "log_softmax")
    at = axis(dim, x._a.ndim)
    with QUIET():
        if x._a.ndim:
            z = x._a - np.max(x._a, at, keepdims=True)
            y = z - np.log(total(np.exp(z), (at,), True))
        else:
            y = np.zeros_like(x._a)
    out = wrap(y)
    return node(
        "LogSoftmaxBackward0",
        out,
        [(x, lambda g: g - np.exp(y) * total(g, (at,), True) if x._a.ndim else g * 0)],
        [out],
    )


def _whole_numbers(x: Tensor, dim: int, name: str) -> None:
    if x._a.dtype.kind != "f":
        kernel = f"{name}_{'lastdim_' * (dim in (-1, x._a.ndim - 1))}kernel_impl"
        raise NotImplementedError(
            f"\"{kernel}\" not implemented for '{ {'int64': 'Long', 'bool': 'Bool'}.get(x.dtype.name, x.dtype.name) }'"
        )
