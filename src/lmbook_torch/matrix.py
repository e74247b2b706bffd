"""Products of matrices."""

import math

import numpy as np

from .elementwise import TITLES, public, together, unbroadcast, wrap
from .engine import QUIET, node
from .errors import NotCovered
from .tensor import Tensor

try:
    import page_products  # of a page's worker, where NumPy has no BLAS
except ImportError:
    page_products = None
SMALL, LARGE = 2**15, 2**24  # terms below which a call costs more than it saves; numbers of a matrix


def laid(x: np.ndarray) -> tuple[np.ndarray, int, int]:
    """Matrices without gaps between them, and how far it is from one entry to that below it and to that beside it."""
    rows, columns = x.shape[-2:]
    if x.swapaxes(-1, -2).flags.c_contiguous:
        return x, 1, rows
    return np.ascontiguousarray(x), columns, 1


def product(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """x @ y. In a page large ones in float32 go through the loops of the figures' engine, three to eight times as fast
    as einsum over two contiguous rows, which is itself two to six times as fast as matmul, since both use SIMD."""
    if page_products is None or x.ndim < 2 or y.ndim < 2 or x.dtype.kind != "f" or x.shape[-1] <= 8:
        return np.matmul(x, y)
    (*lead, height, depth), width = x.shape, y.shape[-1]
    n, terms = math.prod(lead), height * depth * width
    fits = x.dtype == y.dtype == np.float32 and x.shape[:-2] == y.shape[:-2]
    if fits and min(n, 32) * terms >= SMALL and max(x.size, y.size, n * height * width) < LARGE:
        (x, down_x, on_x), (y, down_y, on_y) = laid(x), laid(y)
        out = np.empty((*lead, height, width), np.float32)
        places = (one.__array_interface__["data"][0] for one in (out, x, y))
        page_products.product(*places, n, height, width, depth, down_x, on_x, down_y, on_y)
        return out
    rows = np.ascontiguousarray(y.swapaxes(-1, -2))
    return np.einsum("...ij,...kj->...ik", np.ascontiguousarray(x), rows)


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


@public
def matrix_power(x, n):
    result = wrap(np.eye(x._a.shape[-1], dtype=x._a.dtype))
    for _ in range(n):
        result = result @ x
    return result


@public
def kron(a, b):
    if a.requires_grad or b.requires_grad:
        raise NotCovered("a gradient through kron")
    return wrap(np.kron(a._a, b._a))
