"""Operations along dimensions: sums, extremes, orders, softmax."""

import math
from collections import namedtuple
from typing import Any

import numpy as np

from .elementwise import METHODS, cast, floating, public, wrap
from .engine import QUIET, node
from .errors import NotCovered
from .shapes import axis
from .tensor import Tensor

Found = {name: namedtuple(name, ["values", "indices"]) for name in ("max", "min", "sort", "topk", "median")}
Found["aminmax"] = namedtuple("aminmax", ["min", "max"])


def dims(x: Tensor, dim: Any, other: Any = None) -> tuple[int, ...]:
    """The dimensions that are meant, counted from the front."""
    dim = other if dim is None else dim
    if dim is None or dim in ((), []):
        return tuple(range(x._a.ndim))
    return tuple(axis(d, x._a.ndim) for d in ([dim] if isinstance(dim, int) else dim))


def wide(g: np.ndarray, at: tuple[int, ...], keepdim: bool) -> np.ndarray:
    """A gradient with the dimensions back that a reduction took."""
    return g if keepdim else np.expand_dims(g, at)


def total(a: np.ndarray, at: tuple[int, ...] | None, keepdim: bool = False) -> np.ndarray:
    """A sum whose rounding is that of its result alone: float32 is added in float64."""
    if a.dtype == np.float32:
        return np.add.reduce(a, at, np.float64, keepdims=keepdim).astype(np.float32)
    kind = np.int64 if a.dtype.kind in "iub" else None
    return np.asarray(np.add.reduce(a, at, kind, keepdims=keepdim))


@public
def sum(x, dim=None, keepdim=False, *, dtype=None, axis=None):
    x = cast(x, dtype) if dtype is not None else x
    at = dims(x, dim, axis)
    shape = x._a.shape
    with QUIET():
        out = wrap(total(x._a, at, keepdim))
    return node(
        "SumBackward1" if dim is not None else "SumBackward0",
        out,
        [(x, lambda g: np.broadcast_to(wide(g, at, keepdim), shape))],
    )


@public
def mean(x, dim=None, keepdim=False, *, dtype=None, axis=None):
    x = cast(x, dtype) if dtype is not None else x
    if x._a.dtype.kind not in "fc":
        names = {"int64": "Long", "bool": "Bool", "int32": "Int", "uint8": "Byte"}
        raise RuntimeError(
            "mean(): could not infer output dtype. Input dtype must be either a floating point or complex dtype. "
            f"Got: {names.get(x.dtype.name, x.dtype.name)}"
        )
    at = dims(x, dim, axis)
    shape = x._a.shape
    n = math.prod(shape[d] for d in at)
    with QUIET():
        out = wrap((total(x._a, at, keepdim) / x._a.dtype.type(n)).astype(x._a.dtype))
    return node(
        "MeanBackward1" if dim is not None else "MeanBackward0",
        out,
        [(x, lambda g: np.broadcast_to(wide(g, at, keepdim) / g.dtype.type(n), shape))],
    )


@public
def prod(x, dim=None, keepdim=False, *, dtype=None):
    x = cast(x, dtype) if dtype is not None else x
    at = dims(x, dim)
    kind = np.int64 if x._a.dtype.kind in "iub" else None
    value = np.asarray(np.multiply.reduce(x._a, at, kind, keepdims=keepdim))
    if x.requires_grad and (x._a == 0).any():
        raise NotCovered("a gradient through a product that has a zero in it")
    return node("ProdBackward0", wrap(value), [(x, lambda g: wide(g * value, at, keepdim) / x._a)], [x])


def _moments(x, dim, correction, keepdim, root):
    at = dims(x, dim)
    n = math.prod(x._a.shape[d] for d in at)
    free = n - correction if n > correction else 0
    a = x._a.astype(np.float64) if x._a.dtype == np.float32 else x._a
    with QUIET():
        centred = a - a.mean(at, keepdims=True)
        variance = (centred * centred).sum(at, keepdims=True) / np.float64(free)
        value = np.sqrt(variance) if root else variance

    def vjp(g):
        g = wide(g, at, keepdim) * (2 / free if free else math.nan)
        return ((g / (2 * value) if root else g) * centred).astype(x._a.dtype)

    shown = value if keepdim else value.reshape([m for i, m in enumerate(x._a.shape) if i not in at])
    return node("StdBackward0" if root else "VarBackward0", wrap(shown.astype(x._a.dtype)), [(x, vjp)], [x])


def _correction(unbiased, correction):
    if isinstance(unbiased, bool):
        return int(unbiased)
    return 1 if correction is None else correction


@public
def var(x, dim=None, unbiased=None, keepdim=False, *, correction=None):
    if isinstance(dim, bool):
        dim, unbiased = None, dim
    return _moments(x, dim, _correction(unbiased, correction), keepdim, False)


@public
def std(x, dim=None, unbiased=None, keepdim=False, *, correction=None):
    if isinstance(dim, bool):
        dim, unbiased = None, dim
    return _moments(x, dim, _correction(unbiased, correction), keepdim, True)


def _extreme(name: str, f: Any, pick: Any, pairwise: str):
    def function(x, dim=None, keepdim=False, *, axis=None):
        dim = axis if dim is None else dim
        if isinstance(dim, Tensor):
            return METHODS[pairwise](x, dim)
        if x._a.size == 0 and dim is None:
            raise RuntimeError(
                f"{name}(): Expected reduction dim to be specified for input.numel() == 0. Specify the reduction dim with "
                "the 'dim' argument."
            )
        if dim is None:
            return amount(x, (), False)
        at = dims(x, dim)[0]
        if not x._a.ndim:
            return Found[name](x.clone(), wrap(np.asarray(0, np.int64)))
        rows = np.expand_dims(pick(x._a, at), at)
        values = x.gather(at, wrap(rows.astype(np.int64)))
        indices = wrap(rows.astype(np.int64))
        if values._node is not None:
            values._node.name = f"{name.capitalize()}Backward0"
        return Found[name](*((values, indices) if keepdim else (values.squeeze(at), indices.squeeze(at))))

    def amount(x, dim=(), keepdim=False):
        at = dims(x, dim)
        value = np.asarray(f(x._a, at, keepdims=True))

        def vjp(g):
            where = (x._a == value) | (np.isnan(x._a) & np.isnan(value)) if x._a.dtype.kind == "f" else x._a == value
            return (wide(g, at, keepdim) * where / where.sum(at, keepdims=True)).astype(x._a.dtype)

        shown = value if keepdim else value.reshape([m for i, m in enumerate(x._a.shape) if i not in at])
        title = f"{name.capitalize()}Backward1" if dim == () else f"A{name}Backward0"
        return node(title, wrap(shown), [(x, vjp)], [x])

    function.__name__, amount.__name__ = name, f"a{name}"
    return public(function), public(amount)


def _argmax(a, at=None, keepdims=False):
    return np.argmax(a, at, keepdims=keepdims).astype(np.int64)


def _argmin(a, at=None, keepdims=False):
    return np.argmin(a, at, keepdims=keepdims).astype(np.int64)


max, amax = _extreme("max", np.max, _argmax, "maximum")
min, amin = _extreme("min", np.min, _argmin, "minimum")


@public
def aminmax(x, *, dim=None, keepdim=False):
    at = () if dim is None else dim
    return Found["aminmax"](amin(x, at, keepdim), amax(x, at, keepdim))


@public
def argmax(x, dim=None, keepdim=False):
    return wrap(np.asarray(_argmax(x._a, None if dim is None else axis(dim, x._a.ndim), keepdim and dim is not None)))


@public
def argmin(x, dim=None, keepdim=False):
    return wrap(np.asarray(_argmin(x._a, None if dim is None else axis(dim, x._a.ndim), keepdim and dim is not None)))


@public
def all(x, dim=None, keepdim=False):
    return wrap(np.asarray(np.all(x._a, dims(x, dim), keepdims=keepdim)))


@public
def any(x, dim=None, keepdim=False):
    return wrap(np.asarray(np.any(x._a, dims(x, dim), keepdims=keepdim)))


@public
def count_nonzero(x, dim=None):
    return wrap(np.asarray(np.sum(x._a != 0, axis=dims(x, dim), dtype=np.int64)))


@public
def norm(x, p="fro", dim=None, keepdim=False):
    x = floating(x)
    if p in ("fro", 2, 2.0, None):
        return _root(x, dim, keepdim)
    if p in (1, 1.0):
        return sum(x.abs(), dim, keepdim)
    if p == math.inf:
        return amax(x.abs(), () if dim is None else dim, keepdim)
    return sum(x.abs() ** p, dim, keepdim) ** (1 / p)


def _root(x, dim, keepdim):
    at = dims(x, dim)
    y = np.sqrt(np.asarray(np.add.reduce(np.square(x._a, dtype=np.float64), at, keepdims=True))).astype(x._a.dtype)

    def vjp(g):
        return np.where(y == 0, 0, wide(g, at, keepdim) * (x._a / np.where(y == 0, 1, y))).astype(x._a.dtype)

    shown = y if keepdim else y.reshape([m for i, m in enumerate(x._a.shape) if i not in at])
    return node("LinalgVectorNormBackward0", wrap(shown), [(x, vjp)], [x])
