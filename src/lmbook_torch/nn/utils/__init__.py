"""torch.nn.utils: gradients cut to a length."""

import math

import numpy as np

from ...elementwise import wrap
from ...engine import QUIET
from ...errors import missing
from ...reduce import norm
from ...tensor import Tensor
from . import rnn  # noqa: F401

__getattr__ = missing("torch.nn.utils")


def get_total_norm(tensors, norm_type=2.0, error_if_nonfinite=False, foreach=None):
    """The length of all these numbers as one vector."""
    lengths = [norm(one.detach(), norm_type) for one in tensors]
    if not lengths:
        return wrap(np.asarray(0.0, np.float32))
    kind = lengths[0]._a.dtype
    found = norm(wrap(np.stack([one._a.astype(kind) for one in lengths])), norm_type)
    if error_if_nonfinite and not math.isfinite(found.item()):
        raise RuntimeError(
            f"The total norm of order {norm_type} for gradients from `parameters` is non-finite, so it cannot be clipped. "
            "To disable this error and scale the gradients by the non-finite norm anyway, set `error_if_nonfinite=False`"
        )
    return found


def clip_grads_with_norm_(parameters, max_norm, total_norm, foreach=None):
    """Shortens gradients by max_norm / total_norm, if that is less than 1."""
    given = [parameters] if isinstance(parameters, Tensor) else list(parameters)
    with QUIET():
        share = np.minimum(max_norm / (total_norm._a + total_norm._a.dtype.type(1e-6)), 1.0)
    for one in given:
        if one.grad is not None:
            one.grad._a *= one.grad._a.dtype.type(share)
            one.grad._store.version += 1


def clip_grad_norm_(parameters, max_norm, norm_type=2.0, error_if_nonfinite=False, foreach=None):
    """Shortens the gradients of all parameters together to at most max_norm; returns their length before."""
    given = [parameters] if isinstance(parameters, Tensor) else list(parameters)
    found = get_total_norm([one.grad for one in given if one.grad is not None], norm_type, error_if_nonfinite)
    clip_grads_with_norm_(given, max_norm, found)
    return found


def clip_grad_value_(parameters, clip_value):
    """Each number of a gradient within [-clip_value, clip_value]."""
    for one in [parameters] if isinstance(parameters, Tensor) else list(parameters):
        if one.grad is not None:
            np.clip(one.grad._a, -clip_value, clip_value, out=one.grad._a)


def parameters_to_vector(parameters):
    """All numbers in one vector."""
    from ...joins import cat

    return cat([one.reshape(-1) for one in parameters])
