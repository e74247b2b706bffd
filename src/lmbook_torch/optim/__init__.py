"""torch.optim: SGD, Adam, AdamW."""

import math
from typing import Any

import numpy as np

from ..errors import missing
from . import lr_scheduler  # noqa: F401
from .optimizer import Optimizer, _checked
from .others import RMSprop  # noqa: F401

__getattr__ = missing("torch.optim")


class SGD(Optimizer):
    """p <- p - lr g; with momentum, p <- p - lr v and v <- momentum v + g."""

    def __init__(
        self, params: Any, lr: float = 1e-3, momentum: float = 0, dampening: float = 0, weight_decay: float = 0,
        nesterov: bool = False, *, maximize: bool = False, foreach: Any = None, fused: Any = None,
    ):  # fmt: skip
        _checked(lr, nesterov=nesterov, maximize=maximize)
        super().__init__(params, {"lr": lr, "momentum": momentum, "dampening": dampening, "weight_decay": weight_decay})

    def update(self, p, g, group, state):
        kind = p._a.dtype.type
        if group["weight_decay"]:
            g = g + kind(group["weight_decay"]) * p._a
        if group["momentum"]:
            if "momentum_buffer" not in state:
                state["momentum_buffer"] = g.copy()
            else:
                state["momentum_buffer"] *= kind(group["momentum"])
                state["momentum_buffer"] += kind(1 - group["dampening"]) * g
            g = state["momentum_buffer"]
        p._a += kind(-float(group["lr"])) * g


class Adam(Optimizer):
    """p <- p - lr m / (sqrt(v) + eps), m and v running means of g and g^2, each divided by 1 - beta^t."""

    apart = False

    def __init__(
        self, params: Any, lr: float = 1e-3, betas: tuple = (0.9, 0.999), eps: float = 1e-8, weight_decay: float = 0,
        amsgrad: bool = False, *, foreach: Any = None, maximize: bool = False, capturable: bool = False, fused: Any = None,
    ):  # fmt: skip
        _checked(lr, amsgrad=amsgrad, maximize=maximize)
        for i, beta in enumerate(betas):
            if not 0 <= beta < 1:
                raise ValueError(f"Invalid beta parameter at index {i}: {beta}")
        super().__init__(params, {"lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay})

    def update(self, p, g, group, state):
        kind, (b1, b2), lr = p._a.dtype.type, group["betas"], float(group["lr"])
        if not state:
            state.update(step=0, exp_avg=np.zeros_like(p._a), exp_avg_sq=np.zeros_like(p._a))
        state["step"] += 1
        t, m, v = state["step"], state["exp_avg"], state["exp_avg_sq"]
        if group["weight_decay"]:
            if self.apart:
                p._a *= kind(1 - lr * group["weight_decay"])
            else:
                g = g + kind(group["weight_decay"]) * p._a
        m += kind(1 - b1) * (g - m)
        v *= kind(b2)
        v += kind(1 - b2) * (g * g)
        size = lr / (1 - b1**t)
        p._a += kind(-size) * (m / (np.sqrt(v) / kind(math.sqrt(1 - b2**t)) + kind(group["eps"])))


class AdamW(Adam):
    """Adam whose weights decay by themselves."""

    apart = True

    def __init__(
        self,
        params: Any,
        lr: float = 1e-3,
        betas: tuple = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 1e-2,
        **options: Any,
    ):
        super().__init__(params, lr, betas, eps, weight_decay, **options)
