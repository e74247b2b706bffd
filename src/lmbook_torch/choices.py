"""One number or another, and which of two is larger."""

from collections.abc import Callable

import numpy as np

from .elementwise import METHODS, TITLES, cast, floating, operands, public, together, unbroadcast, wrap
from .engine import QUIET, node
from .tensor import Tensor


def _compare(name: str, f: Callable) -> Callable:
    def function(a, b):
        a, b = operands(a, b)
        together(a._a.shape, b._a.shape)
        return wrap(f(a._a, b._a))

    function.__name__ = name
    return public(function)


eq, ne = _compare("eq", np.equal), _compare("ne", np.not_equal)
lt, le = _compare("lt", np.less), _compare("le", np.less_equal)
gt, ge = _compare("gt", np.greater), _compare("ge", np.greater_equal)
logical_and, logical_or = _compare("logical_and", np.logical_and), _compare("logical_or", np.logical_or)
logical_xor = _compare("logical_xor", np.logical_xor)
bitwise_and, bitwise_or = _compare("bitwise_and", np.bitwise_and), _compare("bitwise_or", np.bitwise_or)
bitwise_xor = _compare("bitwise_xor", np.bitwise_xor)
bitwise_left_shift = _compare("bitwise_left_shift", np.left_shift)
bitwise_right_shift = _compare("bitwise_right_shift", np.right_shift)


@public
def xlogy(a, b):
    a, b = (floating(one) for one in operands(a, b))
    return where(a == 0, 0.0 * a, a * METHODS["log"](where(a == 0, 1.0, b)))


@public
def where(condition, a=None, b=None):
    if a is None:
        return condition.nonzero(as_tuple=True)
    if condition._a.dtype != bool:
        raise RuntimeError("where expected condition to be a boolean tensor, but got a tensor with dtype Float")
    a, b = operands(a, b)
    c = condition._a
    together(c.shape, a._a.shape, b._a.shape)
    zero = a._a.dtype.type(0)
    edges = [
        (a, lambda g: unbroadcast(np.where(c, g, zero), a._a.shape)),
        (b, lambda g: unbroadcast(np.where(c, zero, g), b._a.shape)),
    ]
    return node("WhereBackward0", wrap(np.where(c, a._a, b._a)), edges, [condition])


@public
def masked_fill(x, mask, value):
    if mask._a.dtype != bool:
        raise RuntimeError(
            f"masked_fill_ only supports boolean masks, but got mask with dtype {TITLES.get(mask.dtype.name, mask.dtype.name)}"
        )
    value = value._a.item() if isinstance(value, Tensor) and not value.requires_grad else value
    if isinstance(value, Tensor):
        return where(mask, cast(value, x.dtype), x)
    together(x._a.shape, mask._a.shape)
    m = mask._a
    out = wrap(np.where(m, np.asarray(value, x._a.dtype), x._a))
    return node(
        "MaskedFillBackward0", out, [(x, lambda g: unbroadcast(np.where(m, g.dtype.type(0), g), x._a.shape))], [mask]
    )


@public
def lerp(a, b, weight):
    return a + weight * (b - a)


@public
def isclose(a, b, rtol=1e-05, atol=1e-08, equal_nan=False):
    if a._a.dtype != b._a.dtype:
        raise RuntimeError(f"{_title(a)} did not match {_title(b)}")
    with QUIET():
        return wrap(np.isclose(a._a, b._a, rtol, atol, equal_nan))


def _title(x: Tensor) -> str:
    return {"float32": "Float", "float64": "Double", "int64": "Long", "bool": "Bool"}.get(x.dtype.name, x.dtype.name)


@public
def allclose(a, b, rtol=1e-05, atol=1e-08, equal_nan=False):
    return bool(isclose(a, b, rtol, atol, equal_nan)._a.all())


@public
def equal(a, b):
    return a._a.shape == b._a.shape and bool((a._a == b._a).all())
