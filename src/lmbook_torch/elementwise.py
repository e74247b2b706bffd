"""Operations on two numbers each, with broadcasting."""

from collections.abc import Callable
from typing import Any

import numpy as np

from . import dtypes
from .engine import QUIET, node
from .errors import NotCovered
from .tensor import Tensor

wrap = Tensor._wrap
TITLES = {"float32": "float", "float64": "double", "int64": "long int", "int32": "int", "bool": "bool"}
NUMBERS = (bool, int, float, complex, np.number, np.bool_)
METHODS: dict[str, Callable] = {}  # name -> function, of torch and of Tensor


def public(function: Callable) -> Callable:
    METHODS[function.__name__] = function
    return function


def cast(x: Tensor, to: dtypes.dtype) -> Tensor:
    """The tensor in another type; itself if it has it."""
    kind = to.to_numpy()
    if x._a.dtype == kind:
        return x
    with QUIET():
        out = wrap(x._a.astype(kind))
    if to.kind < 2 or x._a.dtype.kind not in "fc":
        return out
    source = x._a.dtype
    return node("ToCopyBackward0", out, [(x, lambda g: (g.real if source.kind == "f" else g).astype(source))])


def floating(x: Tensor) -> Tensor:
    """An integer tensor in the default type."""
    return x if x._a.dtype.kind in "fc" else cast(x, dtypes.get_default_dtype())


def operands(*values: Any, division: bool = False) -> list[Tensor]:
    """Tensors and numbers in the type that they have in common."""
    kinds = []
    for one in values:
        if isinstance(one, Tensor):
            kinds.append((dtypes.of(one._a), 2 if one._a.ndim else 1))
        elif isinstance(one, np.ndarray):
            kinds.append((dtypes.of(one), 2 if one.ndim else 1))
        elif isinstance(one, NUMBERS):
            kinds.append((dtypes.of_number(one), 0))
        else:
            raise TypeError(f"unsupported operand type(s): 'Tensor' and '{type(one).__name__}'")
    kind = dtypes.promote(*kinds)
    if division and kind.kind < 2:
        kind = dtypes.get_default_dtype()
    return [cast(one, kind) if isinstance(one, Tensor) else wrap(np.asarray(one, kind.numpy)) for one in values]


def together(*shapes: tuple[int, ...]) -> tuple[int, ...]:
    """The shape to which all are repeated. Raises RuntimeError in PyTorch's words."""
    first = shapes[0]
    if all(one == first or not one for one in shapes):
        return first
    try:
        return np.broadcast_shapes(*shapes)
    except ValueError:
        a, b = shapes[0], shapes[1] if len(shapes) > 1 else ()
        for third in shapes[2:]:
            try:
                a = np.broadcast_shapes(a, b)
                b = third
            except ValueError:
                break
        rank = max(len(a), len(b))
        long_a, long_b = (1,) * (rank - len(a)) + a, (1,) * (rank - len(b)) + b
        at = max(i for i in range(rank) if long_a[i] != long_b[i] and 1 not in (long_a[i], long_b[i]))
        raise RuntimeError(
            f"The size of tensor a ({long_a[at]}) must match the size of tensor b ({long_b[at]}) at non-singleton "
            f"dimension {at}"
        ) from None


def unbroadcast(g: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    """Sums a gradient over the axes along which an array of this shape was repeated."""
    if g.shape == shape:
        return g
    g = np.broadcast_to(g, together(g.shape, shape)) if g.ndim < len(shape) else g
    if g.ndim > len(shape):
        g = g.sum(axis=tuple(range(g.ndim - len(shape))))
    axes = tuple(i for i, n in enumerate(shape) if n == 1 and g.shape[i] != 1)
    return g.sum(axis=axes, keepdims=True) if axes else g


def binary(name: str, a: Any, b: Any, f: Callable, da: Callable, db: Callable, saves: str = "", division: bool = False):
    """f(a, b); da(g, a, b, y) and db(g, a, b, y) are the vjps before the sums over what was repeated."""
    x, y = getattr(a, "_a", None), getattr(b, "_a", None)
    if x is None or y is None or x.dtype != y.dtype or (division and x.dtype.kind not in "fc"):
        if x is not None and x.dtype.kind == "f" and (type(b) is float or type(b) is int):
            b = wrap(np.asarray(b, x.dtype))  # the usual case, without the rules for all others
        else:
            a, b = operands(a, b, division=division)
        x, y = a._a, b._a
    if x.shape != y.shape:
        together(x.shape, y.shape)
    with QUIET():
        value = f(x, y)
    out = wrap(value)
    if not (a._needs or b._needs or a._view or b._view):
        return out
    edges = [
        (a, lambda g: unbroadcast(da(g, x, y, value), x.shape)),
        (b, lambda g: unbroadcast(db(g, x, y, value), y.shape)),
    ]
    if saves == "crosswise":
        return node(name, out, edges, [one for one, other in ((a, b), (b, a)) if other.requires_grad])
    return node(name, out, edges, [a, b, out] if saves else [])


def _scaled(b: Any, alpha: float) -> Any:
    return b if alpha == 1 else mul(b, alpha)


@public
def add(a, b, *, alpha=1):
    a, b = a, _scaled(b, alpha)
    return binary("AddBackward0", a, b, _or_add, lambda g, x, y, v: g, lambda g, x, y, v: g)


def _or_add(x, y):
    return x | y if x.dtype == bool else x + y


@public
def sub(a, b, *, alpha=1):
    masks = [isinstance(one, Tensor) and one._a.dtype == bool for one in (a, b)]
    if any(masks):
        which, instead = "a bool tensor", "If you are trying to invert a mask, use the `~` or `logical_not()` operator"
        if all(masks):
            which, instead = "two bool tensors", "Use the `^` or `logical_xor()` operator"
        raise RuntimeError(f"Subtraction, the `-` operator, with {which} is not supported. {instead} instead.")
    return binary("SubBackward0", a, _scaled(b, alpha), np.subtract, lambda g, x, y, v: g, lambda g, x, y, v: -g)


@public
def mul(a, b):
    return binary("MulBackward0", a, b, np.multiply, lambda g, x, y, v: g * y, lambda g, x, y, v: g * x, "crosswise")


@public
def div(a, b, *, rounding_mode=None):
    if rounding_mode is not None:
        value = div(a, b)
        return METHODS[rounding_mode](value)
    return binary(
        "DivBackward0", a, b, np.true_divide, lambda g, x, y, v: g / y, lambda g, x, y, v: -g * x / (y * y), "all", True
    )


@public
def pow(a, b):
    if isinstance(b, int | float) and isinstance(a, Tensor):
        x = floating(a) if isinstance(b, float) else a
        if x._a.dtype.kind in "iu" and b < 0:
            raise RuntimeError("Integers to negative integer powers are not allowed.")
        with QUIET():
            y = np.square(x._a) if b == 2 else np.power(x._a, np.asarray(b, x._a.dtype))
        arr = x._a
        return node(
            "PowBackward0",
            wrap(y),
            [(x, lambda g: g * (b * np.power(arr, np.asarray(b - 1, arr.dtype))) if b != 2 else g * (2 * arr))],
            [x],
        )
    return binary(
        "PowBackward1", a, b, np.power,
        lambda g, x, y, v: g * np.where(y == 0, 0, y * np.power(x, y - 1)),
        lambda g, x, y, v: g * np.where((x == 0) & (y >= 0), 0, v * np.log(x)), "all",
    )  # fmt: skip


def _pick(a, b, f, name):
    def share(g, first, other, v):
        return np.where(first == other, g / 2, np.where(v == first, g, 0)).astype(g.dtype)

    return binary(name, a, b, f, lambda g, x, y, v: share(g, x, y, v), lambda g, x, y, v: share(g, y, x, v), "all")


@public
def maximum(a, b):
    return _pick(a, b, np.maximum, "MaximumBackward0")


@public
def minimum(a, b):
    return _pick(a, b, np.minimum, "MinimumBackward0")


@public
def logaddexp(a, b):
    return binary(
        "LogaddexpBackward0", a, b, np.logaddexp,
        lambda g, x, y, v: g * np.exp(x - v), lambda g, x, y, v: g * np.exp(y - v), "all",
    )  # fmt: skip


def _whole(name, f):
    def function(a, b):
        a, b = operands(a, b)
        together(a._a.shape, b._a.shape)
        if a._a.dtype.kind in "iub" and (b._a == 0).any():
            raise RuntimeError("ZeroDivisionError")
        if a.requires_grad or b.requires_grad:
            if name != "floor_divide" and not b.requires_grad:
                with QUIET():
                    return node("RemainderBackward0", wrap(f(a._a, b._a)), [(a, lambda g: unbroadcast(g, a._a.shape))])
            raise NotCovered(f"a gradient through {name}")
        with QUIET():
            return wrap(f(a._a, b._a))

    function.__name__ = name
    return public(function)


floor_divide, remainder, fmod = (
    _whole("floor_divide", np.floor_divide), _whole("remainder", np.remainder), _whole("fmod", np.fmod)
)  # fmt: skip
