"""Products of matrices, and what torch.linalg has."""

import math
import sys
from collections import namedtuple

import numpy as np

from .elementwise import TITLES, public, together, unbroadcast, wrap
from .engine import QUIET, node
from .errors import NotCovered, missing
from .tensor import Tensor

__getattr__ = missing("torch.linalg")


IN_A_PAGE = sys.platform == "emscripten"  # where NumPy has no BLAS


def product(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """x @ y. In a page einsum over two contiguous rows is two to six times as fast as matmul, since it uses SIMD."""
    if IN_A_PAGE and x.ndim > 1 and y.ndim > 1 and x.dtype.kind == "f" and x.shape[-1] > 8:
        rows = np.ascontiguousarray(y.swapaxes(-1, -2))
        return np.einsum("...ij,...kj->...ik", np.ascontiguousarray(x), rows)
    return np.matmul(x, y)


def checked(a: Tensor, b: Tensor) -> None:
    """Raises RuntimeError in PyTorch's words where a @ b is not possible."""
    x, y = a._a, b._a
    if not x.ndim or not y.ndim:
        raise RuntimeError(f"both arguments to matmul need to be at least 1D, but they are {x.ndim}D and {y.ndim}D")
    if x.shape[-1] != y.shape[-2 if y.ndim > 1 else 0]:
        if x.ndim == 1 and y.ndim == 1:
            raise RuntimeError(
                f"inconsistent tensor size, expected tensor [{x.size}] and src [{y.size}] to have the same number of "
                f"elements, but got {x.size} and {y.size} elements respectively"
            )
        if x.ndim == 2 and y.ndim == 1:
            raise RuntimeError(
                f"size mismatch, got input ({x.shape[0]}), mat ({x.shape[0]}x{x.shape[1]}), vec ({y.size})"
            )
        if y.ndim <= 2 and (x.ndim <= 2 or y.ndim == 2):
            rows = math.prod(x.shape[:-1]) if x.ndim > 1 else 1
            raise RuntimeError(
                f"mat1 and mat2 shapes cannot be multiplied ({rows}x{x.shape[-1]} and {y.shape[0]}x{y.shape[-1]})"
            )
        lead = together(x.shape[:-2], y.shape[:-2])
        n = math.prod(lead)
        first = [n, *x.shape[-2:]] if x.ndim > 1 else [n, 1, x.shape[0]]
        raise RuntimeError(
            f"Expected size for first two dimensions of batch2 tensor to be: [{n}, {first[2]}] but got: "
            f"[{n}, {y.shape[-2]}]."
        )
    together(x.shape[:-2], y.shape[:-2])
    if x.dtype != y.dtype:
        names = TITLES.get(a.dtype.name, a.dtype.name), TITLES.get(b.dtype.name, b.dtype.name)
        if x.ndim == 1 and y.ndim == 1:
            title = {"float": "Float", "double": "Double", "long int": "Long", "bool": "Bool"}
            raise RuntimeError(
                "dot : expected both vectors to have same dtype, but found "
                f"{title.get(names[0], names[0])} and {title.get(names[1], names[1])}"
            )
        raise RuntimeError(f"expected m1 and m2 to have the same dtype, but got: {names[0]} != {names[1]}")


@public
def matmul(a, b):
    if not isinstance(a, Tensor) or not isinstance(b, Tensor):
        kind = type(b if isinstance(a, Tensor) else a).__name__
        raise TypeError(f"matmul(): argument 'other' (position 1) must be Tensor, not {kind}")
    checked(a, b)
    x, y = a._a, b._a
    with QUIET():
        if y.ndim == 2 and x.ndim > 2:
            value = product(x.reshape(-1, x.shape[-1]), y).reshape(*x.shape[:-1], y.shape[-1])
        else:
            value = product(x, y)
    wide_x, wide_y = (x[None, :] if x.ndim == 1 else x), (y[:, None] if y.ndim == 1 else y)
    shape = (*together(wide_x.shape[:-2], wide_y.shape[:-2]), wide_x.shape[-2], wide_y.shape[-1])

    def vjp_a(g):
        if wide_y.ndim == 2 and wide_x.ndim > 2:
            return product(g.reshape(-1, shape[-1]), wide_y.T).reshape(x.shape)
        found = unbroadcast(product(g.reshape(shape), wide_y.swapaxes(-1, -2)), wide_x.shape)
        return found.reshape(x.shape)

    def vjp_b(g):
        if wide_y.ndim == 2 and wide_x.ndim > 2:
            return product(wide_x.reshape(-1, wide_x.shape[-1]).T, g.reshape(-1, shape[-1])).reshape(y.shape)
        found = unbroadcast(product(wide_x.swapaxes(-1, -2), g.reshape(shape)), wide_y.shape)
        return found.reshape(y.shape)

    name = "DotBackward0" if x.ndim == y.ndim == 1 else "MvBackward0" if y.ndim == 1 else "MmBackward0"
    name = "UnsafeViewBackward0" if x.ndim > 2 else name
    saves = [one for one, other in ((a, b), (b, a)) if other.requires_grad]
    return node(name, wrap(np.asarray(value)), [(a, vjp_a), (b, vjp_b)], saves)


@public
def mm(a, b):
    if a._a.ndim != 2 or b._a.ndim != 2:
        raise RuntimeError("self must be a matrix" if a._a.ndim != 2 else "mat2 must be a matrix")
    return matmul(a, b)


@public
def bmm(a, b):
    if a._a.ndim != 3 or b._a.ndim != 3:
        raise RuntimeError(f"batch{1 if a._a.ndim != 3 else 2} must be a 3D tensor")
    return matmul(a, b)


@public
def mv(a, b):
    return matmul(a, b)


@public
def dot(a, b):
    if a._a.ndim != 1 or b._a.ndim != 1:
        raise RuntimeError(f"1D tensors expected, but got {a._a.ndim}D and {b._a.ndim}D tensors")
    return matmul(a, b)


METHODS_INNER = public(lambda a, b: (a * b).sum() if a._a.ndim == b._a.ndim == 1 else matmul(a, b.mT))


@public
def outer(a, b):
    return a[:, None] * b[None, :]


@public
def addmm(x, a, b, *, beta=1, alpha=1):
    return beta * x + alpha * matmul(a, b)


def einsum(equation, *operands):
    """torch.einsum; the vjp of each operand is another einsum."""
    given = operands[0] if len(operands) == 1 and isinstance(operands[0], list | tuple) else operands
    plain = equation.replace(" ", "")
    left, arrow, right = plain.partition("->")
    terms = left.split(",")
    if "." in plain:
        raise NotCovered("einsum with an ellipsis")
    if not arrow:
        letters = left.replace(",", "")
        right = "".join(sorted(c for c in set(letters) if letters.count(c) == 1))
    arrays = [one._a for one in given]
    try:
        value = np.einsum(f"{left}->{right}", *arrays, optimize=len(arrays) > 2)
    except ValueError as error:
        raise RuntimeError(f"einsum(): {error}") from None

    def vjp(i):
        others = [(term, array) for j, (term, array) in enumerate(zip(terms, arrays, strict=True)) if j != i]
        if len(set(terms[i])) < len(terms[i]) and given[i].requires_grad:
            raise NotCovered("a gradient through an einsum with a repeated index")

        def back(g):
            held = set(right).union(*(term for term, _ in others)) if others else set(right)
            kept = "".join(c for c in terms[i] if c in held)
            found = np.einsum(
                ",".join([right, *(term for term, _ in others)]) + f"->{kept}", g, *(a for _, a in others)
            )
            for at, c in enumerate(terms[i]):
                found = found if c in held else np.expand_dims(found, at)
            return np.broadcast_to(found, arrays[i].shape)

        return back

    return node("EinsumBackward0", wrap(np.asarray(value)), [(one, vjp(i)) for i, one in enumerate(given)], given)


def _plain(x: Tensor, name: str) -> np.ndarray:
    if x.requires_grad:
        raise NotCovered(f"a gradient through {name}")
    return x._a


QR, SVD, Eig = (namedtuple(n, f) for n, f in (("qr", "Q R"), ("svd", "U S Vh"), ("eig", "eigenvalues eigenvectors")))


def qr(x, mode="reduced"):
    """torch.linalg.qr, by Householder's reflections as in LAPACK."""
    return QR(*(wrap(one) for one in np.linalg.qr(_plain(x, "qr"), mode)))


def svd(x, full_matrices=True):
    """torch.linalg.svd."""
    return SVD(*(wrap(np.asarray(one)) for one in np.linalg.svd(_plain(x, "svd"), full_matrices)))


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
    return wrap(np.linalg.svd(_plain(x, "svdvals"), compute_uv=False))


def eigvals(x):
    """torch.linalg.eigvals, always complex."""
    found = np.linalg.eigvals(_plain(x, "eigvals"))
    return wrap(found.astype(np.complex64 if x._a.dtype == np.float32 else np.complex128))


def eigh(x):
    """torch.linalg.eigh."""
    return Eig(*(wrap(one) for one in np.linalg.eigh(_plain(x, "eigh"))))


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
    return wrap(np.asarray(np.linalg.det(_plain(x, "det")), x._a.dtype))


def matrix_rank(x):
    """torch.linalg.matrix_rank."""
    return wrap(np.asarray(np.linalg.matrix_rank(_plain(x, "matrix_rank"))).astype(np.int64))


def matrix_norm(x, ord="fro"):
    """torch.linalg.matrix_norm."""
    return x.norm(dim=(-2, -1)) if ord == "fro" else wrap(np.asarray(np.linalg.norm(_plain(x, "matrix_norm"), ord)))


def vector_norm(x, ord=2, dim=None, keepdim=False):
    """torch.linalg.vector_norm."""
    return x.norm(ord, dim, keepdim)


def norm(x, ord=None, dim=None, keepdim=False):
    """torch.linalg.norm of vectors, and of matrices without an order."""
    if ord is not None and x._a.ndim > 1 and dim is None:
        return matrix_norm(x, ord)
    return x.norm(2 if ord is None else ord, dim, keepdim)


@public
def matrix_power(x, n):
    result = wrap(np.eye(x._a.shape[-1], dtype=x._a.dtype))
    for _ in range(n):
        result = result @ x
    return result


@public
def kron(a, b):
    return wrap(np.kron(_plain(a, "kron"), _plain(b, "kron")))
