"""Operations that take or put numbers by their places: gather, scatter and their kin."""

import numpy as np

from .data import to_tensor
from .elementwise import public, together, unbroadcast, wrap
from .engine import node
from .indexing import getitem
from .shapes import axis
from .tensor import Tensor


@public
def gather(x, dim, index):
    at, rows = axis(dim, x._a.ndim), index._a.astype(np.intp)
    if rows.ndim != x._a.ndim:
        raise RuntimeError("Index tensor must have the same number of dimensions as input tensor")
    n = x._a.shape[at]
    if rows.size and (rows.min() < 0 or rows.max() >= n):
        bad = rows[(rows < 0) | (rows >= n)].flat[0]
        raise RuntimeError(f"index {bad} is out of bounds for dimension {at} with size {n}")
    held = tuple(slice(0, rows.shape[i]) if i != at else slice(None) for i in range(rows.ndim))
    source = x._a[held]

    def vjp(g):
        whole = np.zeros(x._a.shape, g.dtype)
        grid = list(np.indices(rows.shape, sparse=True))
        grid[at] = rows
        np.add.at(whole, tuple(grid), g)
        return whole

    return node("GatherBackward0", wrap(np.take_along_axis(source, rows, at)), [(x, vjp)], [index])


@public
def take_along_dim(x, indices, dim):
    return gather(x, dim, indices)


def _grid(rows, at):
    grid = list(np.indices(rows.shape, sparse=True))
    grid[at] = rows
    return tuple(grid)


@public
def scatter(x, dim, index, src):
    at, rows = axis(dim, x._a.ndim), index._a.astype(np.intp)
    values = src._a[tuple(slice(0, n) for n in rows.shape)] if isinstance(src, Tensor) else src
    whole = x._a.copy()
    grid = _grid(rows, at)
    whole[grid] = values

    def rest(g):
        g = g.copy()
        g[grid] = 0
        return g

    def given(g):
        back = np.zeros(src._a.shape, g.dtype)
        back[tuple(slice(0, n) for n in rows.shape)] = g[grid]
        return back

    edges = [(x, rest), *([(src, given)] if isinstance(src, Tensor) else [])]
    return node("ScatterBackward0", wrap(whole), edges, [index])


@public
def scatter_add(x, dim, index, src):
    at, rows = axis(dim, x._a.ndim), index._a.astype(np.intp)
    part = tuple(slice(0, n) for n in rows.shape)
    whole, grid = x._a.copy(), _grid(rows, at)
    np.add.at(whole, grid, src._a[part])

    def given(g):
        back = np.zeros(src._a.shape, g.dtype)
        back[part] = g[grid]
        return back

    return node("ScatterAddBackward0", wrap(whole), [(x, lambda g: g), (src, given)], [index])


@public
def index_select(x, dim, index):
    at, rows = axis(dim, x._a.ndim), np.atleast_1d(index._a).astype(np.intp)
    shape = x._a.shape

    def vjp(g):
        whole = np.zeros(shape, g.dtype)
        np.add.at(np.moveaxis(whole, at, 0), rows, np.moveaxis(g, at, 0))
        return whole

    return node("IndexSelectBackward0", wrap(np.take(x._a, rows, at)), [(x, vjp)], [index])


@public
def index_add(x, dim, index, source, *, alpha=1):
    at, rows = axis(dim, x._a.ndim), index._a.astype(np.intp)
    whole = x._a.copy()
    np.add.at(np.moveaxis(whole, at, 0), rows, np.moveaxis(alpha * source._a, at, 0))
    edges = [(x, lambda g: g), (source, lambda g: alpha * np.take(g, rows, at))]
    return node("IndexAddBackward0", wrap(whole), edges, [index])


@public
def index_fill(x, dim, index, value):
    at, rows = axis(dim, x._a.ndim), index._a.astype(np.intp)
    mask = np.zeros(x._a.shape, bool)
    np.moveaxis(mask, at, 0)[rows] = True
    return x.masked_fill(wrap(mask), value)


@public
def index_put(x, indices, values, accumulate=False):
    parts = tuple(one._a.astype(np.intp) if one._a.dtype != bool else one._a for one in indices)
    whole = x._a.copy()
    v = to_tensor(values)
    if accumulate:
        np.add.at(whole, parts, v._a)
    else:
        whole[parts] = v._a

    def rest(g):
        if accumulate:
            return g
        g = g.copy()
        g[parts] = 0
        return g

    return node("IndexPutBackward0", wrap(whole), [(x, rest), (v, lambda g: unbroadcast(g[parts], v._a.shape))])


@public
def nonzero(x, *, as_tuple=False):
    found = np.nonzero(x._a)
    if as_tuple:
        return tuple(wrap(one.astype(np.int64)) for one in found)
    return wrap(np.stack(found, -1).astype(np.int64) if found else np.zeros((int(bool(x._a)), 0), np.int64))


@public
def argwhere(x):
    return nonzero(x)


@public
def masked_select(x, mask):
    together(x._a.shape, mask._a.shape)
    return getitem(x.expand(*mask.shape) if x._a.ndim < mask._a.ndim else x, mask.expand(*x.shape))
