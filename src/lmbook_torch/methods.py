"""What a tensor can do: the functions as its methods, the operators, and what changes it in place."""

import functools
from typing import Any

import numpy as np

from . import (  # noqa: F401 - they fill METHODS
    choices,
    dtypes,
    exponents,
    grids,
    indexing,
    joins,
    linalg,
    make,
    matrix,
    more,
    orders,
    places,
    random,
    reduce,
    running,
    shapes,
    unary,
)
from .data import to_tensor
from .elementwise import METHODS, NUMBERS, cast, public, wrap
from .engine import node
from .errors import NotCovered
from .tensor import Tensor

METHODS["inner"], METHODS["tile"] = matrix.METHODS_INNER, shapes.METHODS_TILE
for _name in ("<lambda>",):
    METHODS.pop(_name, None)


@public
def clone(x, *, memory_format=None):
    return node(
        "CloneBackward0", wrap(x._a.copy(order="K" if x._a.ndim > 1 and all(x._a.strides) else "C")), [(x, lambda g: g)]
    )


@public
def to(x, *args, dtype=None, device=None, copy=False, non_blocking=False):
    for one in args:
        if isinstance(one, dtypes.dtype):
            dtype = one
        elif isinstance(one, Tensor):
            dtype = one.dtype
        elif isinstance(one, str | dtypes.device):
            device = one
    dtypes.on(device)
    made = cast(x, dtype) if dtype is not None else x
    return made.clone() if copy and made is x else made


@public
def type(x, dtype=None):
    if dtype is None:
        names = {"float32": "Float", "float64": "Double", "int64": "Long", "bool": "Bool", "int32": "Int"}
        return f"torch.{names.get(x.dtype.name, x.dtype.name)}Tensor"
    return cast(x, dtype)


@public
def type_as(x, other):
    return cast(x, other.dtype)


CASTS = {"double": "float64", "float": "float32", "long": "int64", "int": "int32", "bool": "bool_", "short": "int16"}
for _name, _kind in (CASTS | {"half": "float16", "bfloat16": "bfloat16"}).items():
    METHODS[_name] = functools.partialmethod(cast, to=getattr(dtypes, _kind))  # type: ignore[assignment]

SHARED = {name: function for name, function in METHODS.items() if not name.endswith("_") or name.startswith("_")}
for _name, _function in METHODS.items():
    setattr(Tensor, _name, _function)
for _name in ("qr", "det", "inverse"):
    if hasattr(linalg, _name):
        setattr(Tensor, _name, getattr(linalg, _name))


OPERANDS = (Tensor, np.ndarray, *NUMBERS)


def _binary(function, swap: bool = False):
    def operator(a, b):
        if not isinstance(b, OPERANDS):
            return NotImplemented
        return function(b, a) if swap else function(a, b)

    return operator


OPERATORS = {
    "add": "add", "sub": "sub", "mul": "mul", "truediv": "div", "pow": "pow", "floordiv": "floor_divide",
    "mod": "remainder", "and": "bitwise_and", "or": "bitwise_or", "xor": "bitwise_xor",
    "lshift": "bitwise_left_shift", "rshift": "bitwise_right_shift",
}  # fmt: skip
for _name, _word in OPERATORS.items():
    setattr(Tensor, f"__{_name}__", _binary(METHODS[_word]))
    setattr(Tensor, f"__r{_name}__", _binary(METHODS[_word], swap=True))
for _name in ("eq", "ne", "lt", "le", "gt", "ge"):
    setattr(Tensor, f"__{_name}__", _binary(METHODS[_name]))
Tensor.__hash__ = object.__hash__  # type: ignore[method-assign]
Tensor.__matmul__ = lambda a, b: METHODS["matmul"](a, b) if isinstance(b, Tensor) else NotImplemented  # type: ignore[attr-defined]
Tensor.__rmatmul__ = lambda a, b: NotImplemented  # type: ignore[attr-defined]
Tensor.__neg__, Tensor.__pos__ = METHODS["neg"], METHODS["positive"]  # type: ignore[attr-defined]
Tensor.__abs__, Tensor.__invert__ = METHODS["abs"], METHODS["bitwise_not"]  # type: ignore[attr-defined]
Tensor.__getitem__, Tensor.__setitem__ = indexing.getitem, indexing.setitem  # type: ignore[attr-defined]
Tensor.__round__ = lambda x, n=0: METHODS["round"](x, decimals=n or 0)  # type: ignore[attr-defined]


def _in_place(name: str):
    function = METHODS[name]

    def method(x: Tensor, *args: Any, **kwargs: Any) -> Tensor:
        return x._changed(function(x._before(), *args, **kwargs))

    method.__name__ = f"{name}_"
    setattr(Tensor, f"{name}_", method)
    return method


for _name in ("multinomial", "bernoulli"):
    if not hasattr(Tensor, _name):
        setattr(Tensor, _name, getattr(random, _name))
CHANGES = (
    "add", "sub", "mul", "div", "pow", "clamp", "exp", "log", "sqrt", "tanh", "sigmoid", "relu", "neg", "abs", "round",
    "floor", "ceil", "masked_fill", "scatter", "scatter_add", "index_add", "index_fill", "index_put", "tril", "triu",
    "lerp", "square", "clip", "reciprocal", "cumsum", "clamp_min", "clamp_max", "sin", "cos", "expm1", "log1p",
)  # fmt: skip
for _name in CHANGES:
    _in_place(_name)
for _name in ("add", "sub", "mul", "pow"):
    setattr(Tensor, f"__i{_name}__", getattr(Tensor, f"{_name}_"))
Tensor.__itruediv__ = Tensor.div_  # type: ignore[attr-defined]
Tensor.__iand__ = _in_place("bitwise_and")  # type: ignore[attr-defined]
Tensor.__ior__ = _in_place("bitwise_or")  # type: ignore[attr-defined]


def _method(function):
    setattr(Tensor, function.__name__, function)
    return function


@_method
def copy_(x, source, non_blocking=False):
    given, before = cast(to_tensor(source), x.dtype).expand(*x.shape), x._before()
    return x._changed(node("CopyBackwards", wrap(given._a), [(before, np.zeros_like), (given, lambda g: g)]))


@_method
def fill_(x, value):
    v = value.item() if isinstance(value, Tensor) else value
    return x._changed(node("FillBackward0", wrap(np.full(x._a.shape, v, x._a.dtype)), [(x._before(), np.zeros_like)]))


@_method
def zero_(x):
    return fill_(x, 0)


@_method
def fill_diagonal_(x, value):
    changed = x._a.copy()
    np.fill_diagonal(changed, value)
    if x.requires_grad:
        raise NotCovered("fill_diagonal_ with gradients")
    return x._changed(wrap(changed))


@_method
def addcmul_(x, a, b, *, value=1):
    return x._changed(x._before() + value * (a * b))


@_method
def addcdiv_(x, a, b, *, value=1):
    return x._changed(x._before() + value * (a / b))


@_method
def unsqueeze_(x, dim):
    object.__setattr__(x, "_a", np.expand_dims(x._a, dim))
    return x


@_method
def cuda(x, *args):
    dtypes.on("cuda")


@_method
def share_memory_(x):
    return x


def _view(name: str, title: str, f: Any, back: Any) -> None:
    setattr(Tensor, name, property(lambda x: node(title, x._seen(f(x._a)), [(x, back)])))


_view("T", "PermuteBackward0", lambda a: a.T, lambda g: g.T)
_view("mT", "TransposeBackward0", lambda a: a.swapaxes(-1, -2), lambda g: g.swapaxes(-1, -2))
_view("H", "TransposeBackward0", lambda a: a.conj().T, lambda g: g.T)
_view("real", "RealBackward0", lambda a: a.real, lambda g: g)
_view("imag", "ImagBackward0", lambda a: a.imag, lambda g: g)
