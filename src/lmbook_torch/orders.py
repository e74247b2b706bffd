"""Orders: what is sorted, ranked, counted."""

import numpy as np

from .data import to_tensor
from .elementwise import public, wrap
from .errors import NotCovered
from .reduce import Found
from .shapes import axis
from .tensor import Tensor


def order(a: np.ndarray, at: int, descending: bool) -> np.ndarray:
    """Where the numbers stand when they are sorted; of equal ones the first stays first."""
    if not descending:
        return np.argsort(a, at, kind="stable")
    return np.flip(a.shape[at] - 1 - np.argsort(np.flip(a, at), at, kind="stable"), at)


@public
def sort(x, dim=-1, descending=False, stable=False):
    at = axis(dim, x._a.ndim)
    rows = wrap(order(x._a, at, descending).astype(np.int64))
    return Found["sort"](x.gather(at, rows), rows)


@public
def argsort(x, dim=-1, descending=False, stable=False):
    return wrap(order(x._a, axis(dim, x._a.ndim), descending).astype(np.int64))


@public
def topk(x, k, dim=-1, largest=True, sorted=True):
    at = axis(dim, x._a.ndim)
    if k > x._a.shape[at]:
        raise RuntimeError("selected index k out of range")
    rows = wrap(np.take(order(x._a, at, largest), np.arange(k), at).astype(np.int64))
    return Found["topk"](x.gather(at, rows), rows)


@public
def median(x, dim=None, keepdim=False):
    if dim is None:
        return x.flatten().sort().values[(x._a.size - 1) // 2]
    at = axis(dim, x._a.ndim)
    values, rows = sort(x, at)
    middle = (x._a.shape[at] - 1) // 2
    found = values.narrow(at, middle, 1), rows.narrow(at, middle, 1)
    return Found["median"](*(found if keepdim else (one.squeeze(at) for one in found)))


@public
def quantile(x, q, dim=None, keepdim=False):
    if x.requires_grad:
        raise NotCovered("a gradient through quantile")
    at = None if dim is None else axis(dim, x._a.ndim)
    return wrap(np.asarray(np.quantile(x._a, q._a if isinstance(q, Tensor) else q, at, keepdims=keepdim), x._a.dtype))


@public
def unique(x, sorted=True, return_inverse=False, return_counts=False, dim=None):
    found = np.unique(x._a, return_inverse=True, return_counts=True, axis=dim)
    values, inverse, counts = (np.asarray(one) for one in found)
    inverse = inverse.reshape(x._a.shape if dim is None else (-1,))
    more = [wrap(inverse.astype(np.int64))] * return_inverse + [wrap(counts.astype(np.int64))] * return_counts
    return (wrap(values), *more) if more else wrap(values)


@public
def bincount(x, weights=None, minlength=0):
    if x._a.size and x._a.min() < 0:
        raise RuntimeError("bincount only supports 1-d non-negative integral inputs.")
    found = np.bincount(x._a.astype(np.intp), None if weights is None else weights._a, minlength)
    return wrap(found.astype(np.int64 if weights is None else np.float64))


@public
def corrcoef(x):
    if x.requires_grad:
        raise NotCovered("a gradient through corrcoef")
    return wrap(np.asarray(np.corrcoef(x._a), x._a.dtype))


@public
def searchsorted(x, values, *, right=False):
    if x._a.ndim != 1:
        raise NotCovered("searchsorted in more than one dimension")
    return wrap(np.asarray(np.searchsorted(x._a, to_tensor(values)._a, "right" if right else "left")).astype(np.int64))


@public
def isin(x, test_elements):
    return wrap(np.isin(x._a, to_tensor(test_elements)._a))
