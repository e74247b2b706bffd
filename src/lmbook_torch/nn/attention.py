"""torch.nn.attention: the names of the ways to compute attention. A page has one, which nothing chooses."""

import enum

from ..errors import NotCovered, missing

__getattr__ = missing("torch.nn.attention")


class SDPBackend(enum.Enum):
    """The ways that PyTorch has."""

    ERROR, MATH, FLASH_ATTENTION, EFFICIENT_ATTENTION, CUDNN_ATTENTION = -1, 0, 1, 2, 3


def sdpa_kernel(backends, set_priority=False):
    """torch.nn.attention.sdpa_kernel."""
    raise NotCovered("torch.nn.attention.sdpa_kernel")
