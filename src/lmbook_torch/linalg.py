"""What torch.linalg has."""

from collections import namedtuple

import numpy as np

from .elementwise import wrap
from .engine import node
from .errors import NotCovered, missing
from .matrix import matmul, matrix_power  # noqa: F401
from .tensor import Tensor

__getattr__ = missing("torch.linalg")


def _ahead(x: Tensor, name: str, value: np.ndarray) -> Tensor:
    """A result through which no gradient goes back: asking for one is what is refused."""

    def refused(g: np.ndarray) -> np.ndarray:
        raise NotCovered(f"a gradient through {name}")

    return node(f"Linalg{name.title()}Backward0", wrap(np.asarray(value)), [(x, refused)])


QR, SVD, Eig = (namedtuple(n, f) for n, f in (("qr", "Q R"), ("svd", "U S Vh"), ("eig", "eigenvalues eigenvectors")))


def qr(x, mode="reduced"):
    """torch.linalg.qr, by Householder's reflections as in LAPACK."""
    return QR(*(_ahead(x, "qr", one) for one in np.linalg.qr(x._a, mode)))


def svd(x, full_matrices=True):
    """torch.linalg.svd."""
    return SVD(*(_ahead(x, "svd", one) for one in np.linalg.svd(x._a, full_matrices)))


def svd_lowrank(A, q=6, niter=2, M=None):
    """torch.svd_lowrank: from q random directions, by subspace iteration (Halko et al., 2009, algorithms 4.4 and 5.1)."""
    from .random import randn

    if M is not None:
        raise NotCovered("svd_lowrank with M")
    tall = A if A.shape[-2] >= A.shape[-1] else A.mT
    Q = qr(tall @ randn(tall.shape[-1], q, dtype=A.dtype)).Q
    for _ in range(niter):
        Q = qr(tall @ qr(tall.mT @ Q).Q).Q
    U, S, Vh = svd(Q.mT @ tall, full_matrices=False)
    U, V = Q @ U, Vh.mT
    return (U, S, V) if tall is A else (V, S, U)


def svdvals(x):
    """torch.linalg.svdvals."""
    return _ahead(x, "svdvals", np.linalg.svd(x._a, compute_uv=False))


def eigvals(x):
    """torch.linalg.eigvals, always complex."""
    found = np.linalg.eigvals(x._a)
    return _ahead(x, "eigvals", found.astype(np.complex64 if x._a.dtype == np.float32 else np.complex128))


def eigh(x):
    """torch.linalg.eigh."""
    return Eig(*(_ahead(x, "eigh", one) for one in np.linalg.eigh(x._a)))


def solve(a, b):
    """torch.linalg.solve, with gradients."""
    x = np.linalg.solve(a._a, b._a if b._a.ndim > 1 else b._a[:, None])
    flat = b._a.ndim == 1

    def vjp_b(g):
        found = np.linalg.solve(a._a.swapaxes(-1, -2), g[:, None] if flat else g)
        return found[:, 0] if flat else found

    def vjp_a(g):
        return -np.linalg.solve(a._a.swapaxes(-1, -2), g[:, None] if flat else g) @ x.swapaxes(-1, -2)

    return node("LinalgSolveExBackward0", wrap(x[:, 0] if flat else x), [(a, vjp_a), (b, vjp_b)], [a])


def inv(x):
    """torch.linalg.inv."""
    y = np.linalg.inv(x._a)
    return node("LinalgInvExBackward0", wrap(y), [(x, lambda g: -y.swapaxes(-1, -2) @ g @ y.swapaxes(-1, -2))], [x])


def det(x):
    """torch.linalg.det."""
    return _ahead(x, "det", np.asarray(np.linalg.det(x._a), x._a.dtype))


def matrix_rank(x):
    """torch.linalg.matrix_rank."""
    return wrap(np.asarray(np.linalg.matrix_rank(x._a)).astype(np.int64))


def matrix_norm(x, ord="fro"):
    """torch.linalg.matrix_norm."""
    return x.norm(dim=(-2, -1)) if ord == "fro" else _ahead(x, "matrix_norm", np.linalg.norm(x._a, ord))


def vector_norm(x, ord=2, dim=None, keepdim=False):
    """torch.linalg.vector_norm."""
    return x.norm(ord, dim, keepdim)


def norm(x, ord=None, dim=None, keepdim=False):
    """torch.linalg.norm of vectors, and of matrices without an order."""
    if ord is not None and x._a.ndim > 1 and dim is None:
        return matrix_norm(x, ord)
    return x.norm(2 if ord is None else ord, dim, keepdim)
