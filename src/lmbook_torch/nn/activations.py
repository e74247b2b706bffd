"""Activations and losses of torch.nn.functional that the book does not use, and that answers may."""

import numpy as np

from ..choices import where
from ..elementwise import METHODS, wrap
from ..exponents import softmax
from .losses import _reduced


def leaky_relu(input, negative_slope=0.01, inplace=False):
    """max(x, 0) + slope min(x, 0)."""
    return where(input > 0, input, input * negative_slope)


def elu(input, alpha=1.0, inplace=False):
    """x, or alpha (e^x - 1) below 0."""
    return where(input > 0, input, alpha * METHODS["expm1"](input.clamp(max=0.0)))


def glu(input, dim=-1):
    """a sigma(b), of the two halves."""
    a, b = input.chunk(2, dim)
    return a * b.sigmoid()


def softmin(input, dim):
    """softmax(-x)."""
    return softmax(-input, dim)


def relu6(input, inplace=False):
    """min(max(x, 0), 6)."""
    return input.clamp(0.0, 6.0)


def kl_div(input, target, reduction="mean", log_target=False):
    """p (log p - log q), from log q."""
    loss = target.exp() * (target - input) if log_target else METHODS["xlogy"](target, target) - target * input
    return loss.sum() / len(input) if reduction == "batchmean" else _reduced(loss, reduction)


def smooth_l1_loss(input, target, reduction="mean", beta=1.0):
    """d^2 / 2 beta, or |d| - beta / 2 beyond beta."""
    d = (input - target).abs()
    return _reduced(where(d < beta, 0.5 * d * d / beta, d - 0.5 * beta), reduction)


def huber_loss(input, target, reduction="mean", delta=1.0):
    """d^2 / 2, or delta (|d| - delta / 2) beyond delta."""
    d = (input - target).abs()
    return _reduced(where(d < delta, 0.5 * d * d, delta * (d - 0.5 * delta)), reduction)


def gumbel_softmax(logits, tau=1, hard=False, dim=-1):
    """softmax((z + Gumbel noise) / tau)."""
    noise = wrap(np.empty(logits._a.shape, logits._a.dtype)).exponential_()
    soft = softmax((logits - noise.log()) / tau, dim)
    if not hard:
        return soft
    one = wrap((soft._a == soft._a.max(dim, keepdims=True)).astype(soft._a.dtype))
    return one - soft.detach() + soft
