"""Names that the book does not use, and that answers to its homework may: made of those that it uses."""

import itertools
import math

import numpy as np

from . import data, dtypes, unary  # noqa: F401 - it fills METHODS
from .choices import ge, gt, le, lt, ne, where
from .elementwise import METHODS, binary, div, floating, mul, public, wrap
from .errors import NotCovered
from .grids import diag
from .joins import cat
from .matrix import matmul
from .reduce import sum as sum_of
from .reduce import var
from .shapes import flip, movedim, permute, reshape, transpose
from .tensor import Tensor

METHODS |= {"swapaxes": transpose, "swapdims": transpose, "moveaxis": movedim}
METHODS |= {"greater": gt, "less": lt, "greater_equal": ge, "less_equal": le, "not_equal": ne}
for _name in ("acos", "asin", "atan", "acosh", "asinh", "atanh"):
    METHODS[f"arc{_name[1:]}"] = METHODS[_name]


@public
def atan2(a, b):
    return binary(
        "Atan2Backward0", a, b, np.arctan2,
        lambda g, x, y, v: g * y / (x * x + y * y), lambda g, x, y, v: -g * x / (x * x + y * y), "all", True,
    )  # fmt: skip


METHODS["arctan2"] = atan2


@public
def hypot(a, b):
    return binary(
        "HypotBackward0", a, b, np.hypot, lambda g, x, y, v: g * x / v, lambda g, x, y, v: g * y / v, "all"
    )  # fmt: skip


@public
def logit(x, eps=None):
    x = floating(x) if eps is None else floating(x).clamp(eps, 1 - eps)
    return (x / (1 - x)).log()


@public
def frac(x):
    return x - x.trunc()


@public
def clamp_max(x, max):
    return x.clamp(max=max)


@public
def addcmul(x, a, b, *, value=1):
    return x + value * mul(a, b)


@public
def addcdiv(x, a, b, *, value=1):
    return x + value * div(a, b)


@public
def baddbmm(x, a, b, *, beta=1, alpha=1):
    return beta * x + alpha * matmul(a, b)


METHODS["addmv"] = baddbmm


@public
def vdot(a, b):
    return METHODS["dot"](a, b)


@public
def trace(x):
    if x._a.ndim != 2:
        raise RuntimeError("trace: expected a matrix, but got tensor with dim " + str(x._a.ndim))
    return sum_of(diag(x))


def tensordot(a, b, dims=2):
    """torch.tensordot: as a product of two matrices."""
    left, right = dims if not isinstance(dims, int) else (range(a.dim() - dims, a.dim()), range(dims))
    left, right = [d % a.dim() for d in left], [d % b.dim() for d in right]
    kept_a, kept_b = ([d for d in range(x.dim()) if d not in at] for x, at in ((a, left), (b, right)))
    n = math.prod(a.shape[d] for d in left)
    flat = reshape(permute(a, *kept_a, *left), -1, n) @ reshape(permute(b, *right, *kept_b), n, -1)
    return reshape(flat, *(a.shape[d] for d in kept_a), *(b.shape[d] for d in kept_b))


def cdist(a, b, p=2.0):
    """torch.cdist."""
    return (a.unsqueeze(-2) - b.unsqueeze(-3)).norm(p, -1)


@public
def dist(a, b, p=2):
    return (a - b).norm(p)


@public
def nansum(x, dim=None, keepdim=False):
    return sum_of(where(METHODS["isnan"](x), x._a.dtype.type(0).item(), x), dim, keepdim)


@public
def nanmean(x, dim=None, keepdim=False):
    return nansum(x, dim, keepdim) / sum_of(~METHODS["isnan"](x), dim, keepdim)


def _with_mean(root):
    def function(x, dim=None, *, correction=1, keepdim=False):
        spread = var(x, dim, correction=correction, keepdim=keepdim)
        return (spread.sqrt() if root else spread), METHODS["mean"](x, dim, keepdim)

    return function


var_mean, std_mean = _with_mean(False), _with_mean(True)


@public
def logcumsumexp(x, dim):
    if x.requires_grad:
        raise NotCovered("a gradient through logcumsumexp")
    return wrap(np.logaddexp.accumulate(x._a, dim))


@public
def take(x, index):
    return reshape(x, -1)[index]


def unique_consecutive(x, return_counts=False):
    """torch.unique_consecutive of the numbers in their order."""
    flat = x._a.ravel()
    starts = np.flatnonzero(np.r_[True, flat[1:] != flat[:-1]]) if flat.size else np.zeros(0, int)
    found = wrap(flat[starts])
    return (found, wrap(np.diff(np.r_[starts, flat.size]).astype(np.int64))) if return_counts else found


@public
def fliplr(x):
    return flip(x, 1)


@public
def flipud(x):
    return flip(x, 0)


def _wide(n):
    def function(*tensors):
        given = tensors[0] if len(tensors) == 1 and isinstance(tensors[0], list | tuple) else tensors
        made = [one.reshape(*(1,) * (n - one.dim()), *one.shape) if one.dim() < n else one for one in given]
        return made[0] if len(tensors) == 1 and isinstance(tensors[0], Tensor) else tuple(made)

    return function


atleast_1d, atleast_2d = _wide(1), _wide(2)


def vstack(tensors):
    """torch.vstack."""
    return cat(atleast_2d(list(tensors)), 0)


def hstack(tensors):
    """torch.hstack."""
    given = atleast_1d(list(tensors))
    return cat(given, 0 if given[0].dim() == 1 else 1)


def column_stack(tensors):
    """torch.column_stack."""
    return cat([one.reshape(-1, 1) if one.dim() < 2 else one for one in tensors], 1)


row_stack = vstack


def tril_indices(row, col, offset=0):
    """torch.tril_indices."""
    return wrap(np.stack(np.tril_indices(row, offset, col)).astype(np.int64))


def triu_indices(row, col, offset=0):
    """torch.triu_indices."""
    return wrap(np.stack(np.triu_indices(row, offset, col)).astype(np.int64))


def combinations(x, r=2):
    """torch.combinations."""
    return wrap(np.array([*itertools.combinations(x._a.tolist(), r)], x._a.dtype).reshape(-1, r))


def promote_types(a, b):
    """torch.promote_types."""
    return dtypes.common(a, b)


def finfo(kind=None):
    """torch.finfo, of which max, min, eps and tiny are the same as NumPy's."""
    return np.finfo((kind or dtypes.get_default_dtype()).to_numpy())


def iinfo(kind):
    """torch.iinfo."""
    return np.iinfo(kind.to_numpy())


def is_floating_point(x):
    """torch.is_floating_point."""
    return x.is_floating_point()


def BoolTensor(values):
    """torch.BoolTensor."""
    return data.tensor(values, dtype=dtypes.bool_)


def DoubleTensor(values):
    """torch.DoubleTensor."""
    return data.tensor(values, dtype=dtypes.float64)
