"""An optimizer that the book names and does not use."""

from typing import Any

import numpy as np

from .optimizer import Optimizer, _checked


class RMSprop(Optimizer):
    """p <- p - lr g / (sqrt(v) + eps), v a running mean of g^2; with momentum as in SGD."""

    def __init__(
        self, params: Any, lr: float = 1e-2, alpha: float = 0.99, eps: float = 1e-8, weight_decay: float = 0,
        momentum: float = 0, centered: bool = False, **options: Any,
    ):  # fmt: skip
        _checked(lr, centered=centered, **options)
        super().__init__(
            params, {"lr": lr, "alpha": alpha, "eps": eps, "weight_decay": weight_decay, "momentum": momentum}
        )

    def update(self, p, g, group, state):
        kind = p._a.dtype.type
        if group["weight_decay"]:
            g = g + kind(group["weight_decay"]) * p._a
        v = state.setdefault("square_avg", np.zeros_like(p._a))
        v *= kind(group["alpha"])
        v += kind(1 - group["alpha"]) * (g * g)
        step = g / (np.sqrt(v) + kind(group["eps"]))
        if group["momentum"]:
            buffer = state.setdefault("momentum_buffer", np.zeros_like(p._a))
            buffer *= kind(group["momentum"])
            buffer += step
            step = buffer
        p._a -= kind(group["lr"]) * step
