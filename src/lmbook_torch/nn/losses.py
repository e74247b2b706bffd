"""Losses."""

import numpy as np

from ..elementwise import wrap
from ..engine import QUIET, node
from ..errors import NotCovered
from ..exponents import log_softmax as _log_softmax
from ..reduce import total


def logsigmoid(input):
    """log sigma(x)."""
    x = input._a
    with QUIET():
        e = np.exp(-np.abs(x))
        y, slope = np.minimum(x, 0) - np.log1p(e), np.where(x < 0, 1 / (1 + e), e / (1 + e)).astype(x.dtype)
    return node("LogSigmoidBackward0", wrap(y.astype(x.dtype)), [(input, lambda g: g * slope)], [input])


def _reduced(loss, reduction):
    if reduction not in ("none", "mean", "sum"):
        raise ValueError(f"{reduction} is not a valid value for reduction")
    return loss if reduction == "none" else loss.mean() if reduction == "mean" else loss.sum()


def mse_loss(input, target, reduction="mean"):
    """(x - y)^2."""
    return _reduced((input - target) ** 2, reduction)


def l1_loss(input, target, reduction="mean"):
    """|x - y|."""
    return _reduced((input - target).abs(), reduction)


def binary_cross_entropy_with_logits(input, target, reduction="mean"):
    """-y log sigma(x) - (1 - y) log(1 - sigma(x))."""
    return _reduced((1 - target) * input - logsigmoid(input), reduction)


def binary_cross_entropy(input, target, reduction="mean"):
    """-y log p - (1 - y) log(1 - p), where a logarithm is at least -100."""
    return _reduced(
        -(target * input.log().clamp(min=-100) + (1 - target) * (1 - input).log().clamp(min=-100)), reduction
    )


def nll_loss(input, target, weight=None, ignore_index=-100, reduction="mean", smoothing=0.0):
    """-log p of the target, from log-probabilities (N, C, ...)."""
    p, ids = input._a, target._a
    at = 0 if p.ndim == 1 else 1
    _targets(p, ids, at, ignore_index)
    kept = ids != ignore_index
    places = np.expand_dims(np.where(kept, ids, 0).astype(np.intp), at)
    w = np.ones(p.shape[at], p.dtype) if weight is None else weight._a
    share = np.where(kept, w[places.squeeze(at)], 0).astype(p.dtype)
    losses = -np.take_along_axis(p, places, at).squeeze(at) * share
    losses = np.where(kept, losses, 0).astype(p.dtype)
    spread = [1] * p.ndim
    spread[at] = -1
    if smoothing:
        even = -total(p * w.reshape(spread), (at,)) * kept
        losses = losses * p.dtype.type(1 - smoothing) + even * p.dtype.type(smoothing / p.shape[at])
    whole = share.sum(dtype=np.float64) if reduction == "mean" else 1.0
    with QUIET():
        y = losses if reduction == "none" else (total(losses, None) / p.dtype.type(whole)).astype(p.dtype)

    def vjp(g):
        with QUIET():
            each = np.expand_dims(np.broadcast_to(g / p.dtype.type(whole), ids.shape), at)
        back = np.zeros_like(p)
        np.put_along_axis(back, places, -each * np.expand_dims(share, at) * p.dtype.type(1 - smoothing), at)
        if smoothing:
            back -= each * np.expand_dims(kept, at) * w.reshape(spread) * p.dtype.type(smoothing / p.shape[at])
        return back

    _reduced(wrap(np.zeros(1)), reduction)
    return node("NllLossBackward0", wrap(np.asarray(y)), [(input, vjp)], [target])


def _targets(p, ids, at, ignored) -> None:
    if ids.dtype.kind != "i":
        names = {"float32": "Float", "float64": "Double", "bool": "Bool"}
        raise RuntimeError(f"expected scalar type Long but found {names.get(str(ids.dtype), ids.dtype)}")
    if p.ndim == 1 and ids.ndim != 0:
        raise ValueError(f"Expected target to have 0 dimensions, got {ids.ndim}")
    if p.ndim > 1 and p.shape[0] != (ids.shape[0] if ids.ndim else 0):
        raise ValueError(
            f"Expected input batch_size ({p.shape[0]}) to match target batch_size ({ids.shape[0] if ids.ndim else 0})."
        )
    if p.ndim > 1 and (p.shape[0], *p.shape[2:]) != ids.shape:
        if p.ndim == 2:
            raise RuntimeError("0D or 1D target tensor expected, multi-target not supported")
        raise RuntimeError(f"Expected target size {[p.shape[0], *p.shape[2:]]}, got {list(ids.shape)}")
    wrong = ids[(ids != ignored) & ((ids < 0) | (ids >= p.shape[at]))]
    if wrong.size:
        raise IndexError(f"Target {wrong.flat[0]} is out of bounds.")


def cross_entropy(input, target, weight=None, ignore_index=-100, reduction="mean", label_smoothing=0.0):
    """-log softmax(z) of the target; target as numbers of classes, or as probabilities."""
    at = 0 if input._a.ndim == 1 else 1
    if target._a.dtype.kind == "f":
        if target._a.shape != input._a.shape:
            raise RuntimeError("Expected floating point type for target with class probabilities, got another shape")
        q = target * (1 - label_smoothing) + label_smoothing / input._a.shape[at] if label_smoothing else target
        loss = -(_log_softmax(input, at) * q).sum(at)
        if weight is not None:
            raise NotCovered("cross_entropy with weights and probabilities")
        if reduction == "mean":
            return loss.sum() / (loss.numel() if input._a.ndim > 1 else 1)
        return _reduced(loss, reduction)
    if input._a.dtype.kind == "f" and target._a.dtype.kind == "i":
        _targets(input._a, target._a, at, ignore_index)
    return nll_loss(_log_softmax(input, at), target, weight, ignore_index, reduction, label_smoothing)
