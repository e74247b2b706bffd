"""Sums, products and differences along a dimension, number after number."""

import numpy as np

from .elementwise import cast, public, wrap
from .engine import node
from .errors import NotCovered
from .shapes import axis


@public
def cumsum(x, dim, *, dtype=None):
    x = cast(x, dtype) if dtype is not None else x
    at = axis(dim, x._a.ndim)
    kind = np.int64 if x._a.dtype.kind in "iub" else None
    a = x._a.astype(np.float64) if x._a.dtype == np.float32 else x._a
    out = np.asarray(np.cumsum(a, at, kind)).astype(x._a.dtype if kind is None else kind)
    return node("CumsumBackward0", wrap(out), [(x, lambda g: np.flip(np.cumsum(np.flip(g, at), at), at))])


@public
def cumprod(x, dim):
    at = axis(dim, x._a.ndim)
    y = np.cumprod(x._a, at, np.int64 if x._a.dtype.kind in "iub" else None)
    if x.requires_grad and (x._a == 0).any():
        raise NotCovered("a gradient through a product that has a zero in it")
    return node(
        "CumprodBackward0", wrap(y), [(x, lambda g: np.flip(np.cumsum(np.flip(g * y, at), at), at) / x._a)], [x]
    )


@public
def diff(x, n=1, dim=-1):
    at = axis(dim, x._a.ndim)
    for _ in range(n):
        m = x._a.shape[at]
        x = x.narrow(at, 1, m - 1) - x.narrow(at, 0, m - 1)
    return x
