"""Operations that move numbers and change none."""

import math

import numpy as np

from .dtypes import dtype
from .elementwise import public, together, unbroadcast, wrap
from .engine import node
from .tensor import Tensor


def axis(dim: int, rank: int) -> int:
    """A dimension counted from the front. Raises IndexError in PyTorch's words."""
    rank = max(rank, 1)
    if not -rank <= dim < rank:
        raise IndexError(f"Dimension out of range (expected to be in range of [{-rank}, {rank - 1}], but got {dim})")
    return dim % rank


def sizes(given: tuple) -> list[int]:
    """x.view(2, 3) and x.view((2, 3))."""
    return [int(n) for n in (given[0] if len(given) == 1 and isinstance(given[0], list | tuple) else given)]


def moved(x: Tensor, array: np.ndarray, name: str, vjp) -> Tensor:
    """A result that may be a view."""
    return node(name, x._seen(array), [(x, vjp)])


@public
def reshape(x, *shape):
    wanted = sizes(shape)
    held = [n for n in wanted if n != -1]
    if wanted.count(-1) > 1:
        raise RuntimeError("only one dimension can be inferred")
    whole = math.prod(held)
    if (whole != x._a.size) if -1 not in wanted else (not whole or x._a.size % whole):
        raise RuntimeError(f"shape '{wanted}' is invalid for input of size {x._a.size}")
    before = x._a.shape
    return moved(x, x._a.reshape(wanted), "ViewBackward0", lambda g: g.reshape(before))


@public
def view(x, *shape):
    if len(shape) == 1 and isinstance(shape[0], dtype):
        return x._seen(x._a.view(shape[0].to_numpy()))
    made = reshape(x, *shape)
    if x._a.size and not np.may_share_memory(made._a, x._a):
        raise RuntimeError(
            "view size is not compatible with input tensor's size and stride (at least one dimension spans across two "
            "contiguous subspaces). Use .reshape(...) instead."
        )
    return made


@public
def view_as(x, other):
    return view(x, *other.shape)


@public
def reshape_as(x, other):
    return reshape(x, *other.shape)


@public
def flatten(x, start_dim=0, end_dim=-1):
    a, b = axis(start_dim, x._a.ndim), axis(end_dim, x._a.ndim)
    if not x._a.ndim:
        return reshape(x, 1)
    return x if a == b else reshape(x, *x._a.shape[:a], math.prod(x._a.shape[a : b + 1]), *x._a.shape[b + 1 :])


@public
def ravel(x):
    return reshape(x, -1)


@public
def unflatten(x, dim, sizes):
    at, shape = axis(dim, x._a.ndim), list(sizes)
    whole = x._a.shape[at]
    if -1 in shape:
        shape[shape.index(-1)] = whole // -math.prod(shape)
    if math.prod(shape) != whole:
        raise RuntimeError(
            f"unflatten: Provided sizes {list(sizes)} don't multiply up to the size of dim {dim} ({whole}) in the "
            "input tensor"
        )
    return reshape(x, *x._a.shape[:at], *shape, *x._a.shape[at + 1 :])


@public
def squeeze(x, dim=None):
    before, rank = x._a.shape, x._a.ndim
    dims = range(rank) if dim is None else [axis(one, rank) for one in ([dim] if isinstance(dim, int) else dim)]
    keep = [n for i, n in enumerate(before) if not (i in dims and n == 1)]
    return moved(x, x._a.reshape(keep), "SqueezeBackward0", lambda g: g.reshape(before))


@public
def unsqueeze(x, dim):
    before = x._a.shape
    at = axis(dim, x._a.ndim + 1)
    return moved(x, np.expand_dims(x._a, at), "UnsqueezeBackward0", lambda g: g.reshape(before))


@public
def permute(x, *dims):
    order = [axis(d, x._a.ndim) for d in sizes(dims)]
    if len(order) == x._a.ndim and len(set(order)) < len(order):
        raise RuntimeError("permute(): duplicate dims are not allowed.")
    if sorted(order) != list(range(x._a.ndim)):
        raise RuntimeError(
            "permute(sparse_coo): number of dimensions in the tensor input does not match the length of the desired "
            f"ordering of dimensions i.e. input.dim() = {x._a.ndim} is not equal to len(dims) = {len(order)}"
        )
    back = np.argsort(order)
    return moved(x, x._a.transpose(order), "PermuteBackward0", lambda g: g.transpose(back))


@public
def transpose(x, dim0, dim1):
    if not x._a.ndim:
        return moved(x, x._a, "TransposeBackward0", lambda g: g)
    a, b = axis(dim0, x._a.ndim), axis(dim1, x._a.ndim)
    return moved(x, x._a.swapaxes(a, b), "TransposeBackward0", lambda g: g.swapaxes(a, b))


@public
def t(x):
    if x._a.ndim > 2:
        raise RuntimeError(f"t() expects a tensor with <= 2 dimensions, but self is {x._a.ndim}D")
    return moved(x, x._a.T, "TBackward0", lambda g: g.T)


@public
def movedim(x, source, destination):
    return moved(
        x, np.moveaxis(x._a, source, destination), "MovedimBackward0", lambda g: np.moveaxis(g, destination, source)
    )


@public
def expand(x, *shape):
    wanted = sizes(shape)
    before = x._a.shape
    lead = len(wanted) - len(before)
    full = [before[i - lead] if n == -1 and i >= lead else n for i, n in enumerate(wanted)]
    for i, n in enumerate(before):
        if lead < 0 or n not in (1, full[lead + i]):
            raise RuntimeError(
                f"The expanded size of the tensor ({full[lead + i]}) must match the existing size ({n}) at "
                f"non-singleton dimension {lead + i}.  Target sizes: {wanted}.  Tensor sizes: {list(before)}"
            )
    return moved(x, np.broadcast_to(x._a, full), "ExpandBackward0", lambda g: unbroadcast(g, before))


@public
def expand_as(x, other):
    return expand(x, *other.shape)


@public
def broadcast_to(x, size):
    return expand(x, *size)


def broadcast_tensors(*tensors):
    shape = together(*(one._a.shape for one in tensors))
    return tuple(expand(one, *shape) for one in tensors)


@public
def repeat(x, *times):
    n = sizes(times)
    before = (1,) * (len(n) - x._a.ndim) + x._a.shape

    def vjp(g):
        parts = [size for pair in zip(n, before, strict=True) for size in pair]
        return g.reshape(parts).sum(axis=tuple(range(0, 2 * len(n), 2))).reshape(x._a.shape)

    return node("RepeatBackward0", wrap(np.tile(x._a, n)), [(x, vjp)])


METHODS_TILE = public(lambda x, *times: repeat(x, *([1] * (x._a.ndim - len(sizes(times))) + sizes(times))))


@public
def repeat_interleave(x, repeats, dim=None):
    x = reshape(x, -1) if dim is None else x
    at = axis(dim or 0, x._a.ndim)
    times = np.asarray(repeats._a if isinstance(repeats, Tensor) else repeats).astype(np.intp)
    rows = np.repeat(np.arange(x._a.shape[at]), times)

    def vjp(g):
        whole = np.zeros_like(x._a)
        np.add.at(np.moveaxis(whole, at, 0), rows, np.moveaxis(g, at, 0))
        return whole

    return node("RepeatInterleaveBackward0", wrap(np.take(x._a, rows, at)), [(x, vjp)])


@public
def flip(x, *dims):
    at = tuple(axis(d, x._a.ndim) for d in sizes(dims))
    return node("FlipBackward0", wrap(np.flip(x._a, at).copy()), [(x, lambda g: np.flip(g, at))])


@public
def roll(x, shifts, dims=None):
    back = tuple(-s for s in shifts) if isinstance(shifts, tuple | list) else -shifts
    return node("RollBackward0", wrap(np.roll(x._a, shifts, dims)), [(x, lambda g: np.roll(g, back, dims))])


@public
def rot90(x, k=1, dims=(0, 1)):
    return node("Rot90Backward0", wrap(np.rot90(x._a, k, dims).copy()), [(x, lambda g: np.rot90(g, -k, dims))])
