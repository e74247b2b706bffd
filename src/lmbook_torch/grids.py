"""Diagonals, triangles and grids."""

from typing import Any

import numpy as np

from .elementwise import public, wrap
from .engine import node
from .errors import NotCovered
from .shapes import moved


@public
def diagonal(x, offset=0, dim1=0, dim2=1):
    def vjp(g):
        whole = np.zeros(x._a.shape, g.dtype)
        rows = np.arange(g.shape[-1])
        lead = np.moveaxis(whole, (dim1, dim2), (-2, -1))
        lead[..., rows + max(-offset, 0), rows + max(offset, 0)] = g
        return whole

    return moved(x, np.diagonal(x._a, offset, dim1, dim2), "DiagonalBackward0", vjp)


@public
def diag(x, diagonal=0):
    if x._a.ndim == 1:
        return node("DiagEmbedBackward0", wrap(np.diag(x._a, diagonal)), [(x, lambda g: np.diagonal(g, diagonal))])
    return globals()["diagonal"](x, diagonal)


@public
def diag_embed(x):
    n = x._a.shape[-1]
    return x.unsqueeze(-1) * wrap(np.eye(n, dtype=x._a.dtype))


def _triangle(name: str, f: Any):
    def function(x, diagonal=0):
        return node(f"{name.capitalize()}Backward0", wrap(f(x._a, diagonal)), [(x, lambda g: f(g, diagonal))])

    function.__name__ = name
    return public(function)


tril, triu = _triangle("tril", np.tril), _triangle("triu", np.triu)


def block_diag(*tensors):
    """torch.block_diag, of matrices, without gradients."""
    if any(one.requires_grad for one in tensors):
        raise NotCovered("a gradient through block_diag")
    given = [np.atleast_2d(one._a) for one in tensors]
    whole = np.zeros(np.sum([one.shape for one in given], 0), np.result_type(*given))
    at = np.zeros(2, int)
    for one in given:
        whole[at[0] : at[0] + one.shape[0], at[1] : at[1] + one.shape[1]] = one
        at += one.shape
    return wrap(whole)


def cartesian_prod(*tensors):
    """torch.cartesian_prod."""
    grids = np.meshgrid(*(one._a for one in tensors), indexing="ij")
    return wrap(np.stack([grid.ravel() for grid in grids], -1) if len(tensors) > 1 else tensors[0]._a)


def meshgrid(*tensors, indexing="ij"):
    """torch.meshgrid."""
    given = tensors[0] if isinstance(tensors[0], list | tuple) else tensors
    return tuple(wrap(grid) for grid in np.meshgrid(*(one._a for one in given), indexing=indexing))
