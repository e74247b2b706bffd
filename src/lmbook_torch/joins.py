"""Tensors joined to one, and one taken apart."""

import itertools

import numpy as np

from .elementwise import operands, public, wrap
from .engine import Part, node
from .shapes import axis, moved
from .shapes import axis as counted
from .tensor import Tensor


def cat(tensors, dim=0, axis_=None, *, axis=None):
    """torch.cat."""
    dim = dim if axis is None else axis
    given = list(tensors)
    if not given:
        raise ValueError("torch.cat(): expected a non-empty list of Tensors")
    given = operands(*(one for one in given)) if len({one._a.dtype for one in given}) > 1 else given
    given = [one for one in given if one._a.shape != (0,)] or given[:1]
    at = counted(dim, given[0]._a.ndim)
    first = given[0]._a.shape
    for i, one in enumerate(given):
        if one._a.ndim != len(first) or not len(first):
            raise RuntimeError(
                "zero-dimensional tensor (at position 0) cannot be concatenated"
                if not len(first)
                else f"Tensors must have same number of dimensions: got {len(first)} and {one._a.ndim}"
            )
        if one._a.shape[:at] + one._a.shape[at + 1 :] != first[:at] + first[at + 1 :]:
            where = next(d for d in range(len(first)) if d != at and one._a.shape[d] != first[d])
            raise RuntimeError(
                f"Sizes of tensors must match except in dimension {at}. Expected size {first[where]} but got size "
                f"{one._a.shape[where]} for tensor number {i} in the list."
            )
    ends = np.cumsum([0, *(one._a.shape[at] for one in given)])
    lead = (slice(None),) * at

    def part(i):
        return lambda g: g[(*lead, slice(ends[i], ends[i + 1]))]

    out = wrap(np.concatenate([one._a for one in given], at))
    return node("CatBackward0", out, [(one, part(i)) for i, one in enumerate(given)])


def stack(tensors, dim=0, *, axis=None):
    """torch.stack."""
    dim = dim if axis is None else axis
    given = list(tensors)
    if not given:
        raise RuntimeError("stack expects a non-empty TensorList")
    for i, one in enumerate(given):
        if one._a.shape != given[0]._a.shape:
            raise RuntimeError(
                f"stack expects each tensor to be equal size, but got {list(given[0].shape)} at entry 0 and "
                f"{list(one.shape)} at entry {i}"
            )
    given = operands(*given) if len({one._a.dtype for one in given}) > 1 else given
    at = counted(dim, given[0]._a.ndim + 1)
    out = wrap(np.stack([one._a for one in given], at))
    return node("StackBackward0", out, [(one, lambda g, i=i: np.take(g, i, at)) for i, one in enumerate(given)])


def narrowed(x: Tensor, at: int, start: int, stop: int, name: str = "SplitBackward0") -> Tensor:
    """Entries start to stop of one dimension."""
    place = (slice(None),) * at + (slice(start, stop),)
    return moved(x, x._a[place], name, lambda g: Part(x._a.shape, place, g))


@public
def split(x, split_size, dim=0):
    at = axis(dim, x._a.ndim)
    n = x._a.shape[at]
    if isinstance(split_size, int):
        ends = [*range(0, n, split_size), n] if n else [0, 0]
    else:
        ends = [0, *(int(e) for e in np.cumsum(split_size))]
        if ends[-1] != n:
            raise RuntimeError(
                f"split_with_sizes expects split_sizes to sum exactly to {n} (input tensor's size at dimension {at}), "
                f"but got split_sizes={list(split_size)}"
            )
    return tuple(narrowed(x, at, a, b) for a, b in itertools.pairwise(ends))


@public
def chunk(x, chunks, dim=0):
    return split(x, max(1, -(-x._a.shape[axis(dim, x._a.ndim)] // chunks)), dim)


@public
def tensor_split(x, indices_or_sections, dim=0):
    at = axis(dim, x._a.ndim)
    n = x._a.shape[at]
    if isinstance(indices_or_sections, int):
        lengths = [n // indices_or_sections + (i < n % indices_or_sections) for i in range(indices_or_sections)]
        ends = [0, *(int(e) for e in np.cumsum(lengths))]
    else:
        ends = [0, *(int(e) for e in indices_or_sections), n]
    return tuple(narrowed(x, at, a, b) for a, b in itertools.pairwise(ends))


@public
def narrow(x, dim, start, length):
    return narrowed(x, axis(dim, x._a.ndim), start, start + length, "SliceBackward0")


@public
def unbind(x, dim=0):
    at = axis(dim, x._a.ndim)
    return tuple(select(x, at, i, "UnbindBackward0") for i in range(x._a.shape[at]))


@public
def select(x, dim, index, name="SelectBackward0"):
    place = (slice(None),) * axis(dim, x._a.ndim) + (index,)
    return moved(x, np.asarray(x._a[place]), name, lambda g: Part(x._a.shape, place, g))


@public
def unfold(x, dimension, size, step):
    at = axis(dimension, x._a.ndim)
    windows = np.lib.stride_tricks.sliding_window_view(x._a, size, at)
    place = (slice(None),) * at + (slice(None, None, step),)

    def vjp(g):
        whole = np.zeros(x._a.shape, g.dtype)
        for i in range(g.shape[at]):
            whole[(slice(None),) * at + (slice(i * step, i * step + size),)] += np.moveaxis(g.take(i, at), -1, at)
        return whole

    return moved(x, windows[place], "UnfoldBackward0", vjp)
