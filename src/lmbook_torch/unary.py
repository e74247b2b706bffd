"""Functions of one number."""

import math
from collections.abc import Callable

import numpy as np

from .data import to_tensor
from .elementwise import METHODS, div, floating, maximum, minimum, mul, operands, public, sub, wrap
from .engine import QUIET, node
from .special import erf
from .tensor import Tensor


def _sigmoid(x):
    e = np.exp(-np.abs(x))
    return (np.where(x >= 0, e.dtype.type(1), e) / (1 + e)).astype(x.dtype, copy=False)


# name -> (f, vjp(g, x, y), what the vjp reads, "whole" where integers stay integers)
UNARY: dict[str, tuple] = {
    "exp": (np.exp, lambda g, x, y: g * y, "y"),
    "expm1": (np.expm1, lambda g, x, y: g * (y + 1), "y"),
    "exp2": (np.exp2, lambda g, x, y: g * y * math.log(2), "y"),
    "log": (np.log, lambda g, x, y: g / x, "x"),
    "log2": (np.log2, lambda g, x, y: g / (x * math.log(2)), "x"),
    "log10": (np.log10, lambda g, x, y: g / (x * math.log(10)), "x"),
    "log1p": (np.log1p, lambda g, x, y: g / (x + 1), "x"),
    "sqrt": (np.sqrt, lambda g, x, y: g / (2 * y), "y"),
    "rsqrt": (lambda x: 1 / np.sqrt(x), lambda g, x, y: -0.5 * g * y**3, "y"),
    "reciprocal": (lambda x: 1 / x, lambda g, x, y: -g * y * y, "y"),
    "square": (np.square, lambda g, x, y: g * (2 * x), "x", "whole"),
    "sin": (np.sin, lambda g, x, y: g * np.cos(x), "x"),
    "cos": (np.cos, lambda g, x, y: g * -np.sin(x), "x"),
    "tan": (np.tan, lambda g, x, y: g * (1 + y * y), "y"),
    "tanh": (np.tanh, lambda g, x, y: g * (1 - y * y), "y"),
    "atan": (np.arctan, lambda g, x, y: g / (1 + x * x), "x"),
    "asin": (np.arcsin, lambda g, x, y: g / np.sqrt(1 - x * x), "x"),
    "acos": (np.arccos, lambda g, x, y: -g / np.sqrt(1 - x * x), "x"),
    "sinh": (np.sinh, lambda g, x, y: g * np.cosh(x), "x"),
    "cosh": (np.cosh, lambda g, x, y: g * np.sinh(x), "x"),
    "asinh": (np.arcsinh, lambda g, x, y: g / np.sqrt(x * x + 1), "x"),
    "acosh": (np.arccosh, lambda g, x, y: g / np.sqrt(x * x - 1), "x"),
    "atanh": (np.arctanh, lambda g, x, y: g / (1 - x * x), "x"),
    "erfc": (lambda x: 1 - erf(x), lambda g, x, y: g * (-2 / math.sqrt(math.pi)) * np.exp(-x * x), "x"),
    "sigmoid": (_sigmoid, lambda g, x, y: g * (1 - y) * y, "y"),
    "erf": (erf, lambda g, x, y: g * (2 / math.sqrt(math.pi)) * np.exp(-x * x), "x"),
    "relu": (
        lambda x: np.maximum(x, x.dtype.type(0)),
        lambda g, x, y: np.where(y <= 0, g.dtype.type(0), g),
        "y",
        "whole",
    ),
    "abs": (np.abs, lambda g, x, y: g * np.sign(x), "x", "whole"),
    "neg": (np.negative, lambda g, x, y: -g, "", "whole"),
    "positive": (np.positive, lambda g, x, y: g, "", "whole"),
    "floor": (np.floor, lambda g, x, y: np.zeros_like(g), "", "whole"),
    "ceil": (np.ceil, lambda g, x, y: np.zeros_like(g), "", "whole"),
    "trunc": (np.trunc, lambda g, x, y: np.zeros_like(g), "", "whole"),
    "sign": (np.sign, lambda g, x, y: np.zeros_like(g), "", "whole"),
}


def _unary(name: str, f: Callable, vjp: Callable, saves: str, whole: str = "") -> Callable:
    title = f"{name.capitalize()}Backward0"

    def function(x):
        x = to_tensor(x)
        if not whole:
            x = floating(x)
        elif x._a.dtype == bool and name in ("neg", "square"):
            raise RuntimeError("Negation, the `-` operator, on a bool tensor is not supported.")
        a = x._a
        with QUIET():
            y = np.asarray(f(a), None if name == "abs" else a.dtype)
        out = wrap(y)
        return node(title, out, [(x, lambda g: vjp(g, a, y))], [{"x": x, "y": out}[one] for one in saves])

    function.__name__ = name
    return public(function)


for _name, _about in UNARY.items():
    globals()[_name] = _unary(_name, *_about)
METHODS |= {"absolute": METHODS["abs"], "negative": METHODS["neg"], "multiply": mul, "divide": div, "subtract": sub}
METHODS |= {"true_divide": div}
floor, trunc = METHODS["floor"], METHODS["trunc"]


@public
def round(x, *, decimals=0):
    with QUIET():
        return node("RoundBackward0", wrap(np.round(x._a, decimals)), [(x, np.zeros_like)])


def _test(name: str, f: Callable) -> Callable:
    def function(x):
        return wrap(f(x._a))

    function.__name__ = name
    return public(function)


isnan, isinf, isfinite = _test("isnan", np.isnan), _test("isinf", np.isinf), _test("isfinite", np.isfinite)
isneginf, isposinf = _test("isneginf", np.isneginf), _test("isposinf", np.isposinf)
logical_not = _test("logical_not", np.logical_not)


@public
def bitwise_not(x):
    if x._a.dtype.kind not in "iub":
        raise TypeError("~ (operator.invert) is only implemented on integer and Boolean-type tensors")
    return wrap(np.invert(x._a))


@public
def clamp(x, min=None, max=None):
    if min is None and max is None:
        raise RuntimeError("torch.clamp: At least one of 'min' or 'max' must not be None")
    if isinstance(min, Tensor) or isinstance(max, Tensor):
        x = maximum(x, to_tensor(min)) if min is not None else x
        return minimum(x, to_tensor(max)) if max is not None else x
    (x, *_) = operands(x, *(one for one in (min, max) if one is not None))
    a = x._a
    inside = (True if min is None else a >= min) & (True if max is None else a <= max)
    return node(
        "ClampBackward1",
        wrap(np.clip(a, min, max).astype(a.dtype)),
        [(x, lambda g: np.where(inside, g, g.dtype.type(0)))],
    )


METHODS["clip"] = clamp


@public
def clamp_min(x, min):
    return clamp(x, min)


@public
def nan_to_num(x, nan=0.0, posinf=None, neginf=None):
    good = np.isfinite(x._a)
    return node(
        "NanToNumBackward0", wrap(np.nan_to_num(x._a, nan=nan, posinf=posinf, neginf=neginf)), [(x, lambda g: g * good)]
    )
