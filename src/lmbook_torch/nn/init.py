"""torch.nn.init: how weights begin."""

import math

import numpy as np

from ..elementwise import wrap
from ..errors import missing
from ..linalg import qr
from ..modes import no_grad

__getattr__ = missing("torch.nn.init")


@no_grad()
def uniform_(tensor, a=0.0, b=1.0, generator=None):
    return tensor.uniform_(a, b, generator=generator)


@no_grad()
def normal_(tensor, mean=0.0, std=1.0, generator=None):
    return tensor.normal_(mean, std, generator=generator)


@no_grad()
def constant_(tensor, val):
    return tensor.fill_(val)


@no_grad()
def zeros_(tensor):
    return tensor.zero_()


@no_grad()
def ones_(tensor):
    return tensor.fill_(1)


@no_grad()
def eye_(tensor):
    return tensor.copy_(wrap(np.eye(*tensor.shape)))


def fans(tensor) -> tuple[int, int]:
    """How many numbers a unit reads, and how many read it."""
    if tensor.dim() < 2:
        raise ValueError("Fan in and fan out can not be computed for tensor with fewer than 2 dimensions")
    field = math.prod(tensor.shape[2:])
    return tensor.shape[1] * field, tensor.shape[0] * field


def calculate_gain(nonlinearity, param=None):
    """By how much an activation makes numbers smaller."""
    if nonlinearity == "leaky_relu":
        return math.sqrt(2.0 / (1 + (0.01 if param is None else param) ** 2))
    return {"linear": 1, "sigmoid": 1, "tanh": 5.0 / 3, "relu": math.sqrt(2.0)}[nonlinearity]


def xavier_uniform_(tensor, gain=1.0, generator=None):
    fan_in, fan_out = fans(tensor)
    bound = math.sqrt(3.0) * gain * math.sqrt(2.0 / float(fan_in + fan_out))
    return uniform_(tensor, -bound, bound, generator)


def xavier_normal_(tensor, gain=1.0, generator=None):
    fan_in, fan_out = fans(tensor)
    return normal_(tensor, 0.0, gain * math.sqrt(2.0 / float(fan_in + fan_out)), generator)


def _kaiming(tensor, a, mode, nonlinearity):
    fan = fans(tensor)[mode == "fan_out"]
    return calculate_gain(nonlinearity, a) / math.sqrt(fan)


def kaiming_uniform_(tensor, a=0, mode="fan_in", nonlinearity="leaky_relu", generator=None):
    bound = math.sqrt(3.0) * _kaiming(tensor, a, mode, nonlinearity)
    return uniform_(tensor, -bound, bound, generator)


def kaiming_normal_(tensor, a=0, mode="fan_in", nonlinearity="leaky_relu", generator=None):
    return normal_(tensor, 0.0, _kaiming(tensor, a, mode, nonlinearity), generator)


@no_grad()
def orthogonal_(tensor, gain=1, generator=None):
    rows, columns = tensor.shape[0], tensor.numel() // tensor.shape[0]
    flat = wrap(np.zeros((rows, columns), tensor._a.dtype)).normal_(0, 1, generator=generator)
    q, r = qr(flat.T if rows < columns else flat)
    q = q * r.diag(0).sign()
    return tensor.copy_((q.T if rows < columns else q).reshape(*tensor.shape)).mul_(gain)
