"""torch.optim: SGD, Adam, AdamW."""

import math
from typing import Any

import numpy as np

from ..elementwise import wrap
from ..engine import QUIET
from ..errors import NotCovered, missing
from ..modes import enable_grad
from ..tensor import Tensor
from . import lr_scheduler  # noqa: F401

__getattr__ = missing("torch.optim")


class Optimizer:
    """Groups of parameters with their settings, and what it remembers of each."""

    def __init__(self, params: Any, defaults: dict):
        self.defaults, self.state, self.param_groups = defaults, {}, []
        given = list(params) if not isinstance(params, Tensor) else _one(params)
        if not given:
            raise ValueError("optimizer got an empty parameter list")
        for group in given if isinstance(given[0], dict) else [{"params": given}]:
            self.add_param_group(group)

    def add_param_group(self, group: dict) -> None:
        params = group["params"]
        params = [params] if isinstance(params, Tensor) else list(params)
        params = [one[1] if isinstance(one, tuple) else one for one in params]
        for one in params:
            if one._node is not None:
                raise ValueError("can't optimize a non-leaf Tensor")
        self.param_groups.append({**self.defaults, **group, "params": params})

    def zero_grad(self, set_to_none: bool = True) -> None:
        for group in self.param_groups:
            for one in group["params"]:
                one.grad = None if set_to_none or one.grad is None else one.grad.zero_()

    def step(self, closure: Any = None) -> Any:
        loss = None
        if closure is not None:
            with enable_grad():
                loss = closure()
        with QUIET():
            for group in self.param_groups:
                for one in group["params"]:
                    if one.grad is not None:
                        self.update(one, one.grad._a, group, self.state.setdefault(one, {}))
                        one._store.version += 1
        return loss

    def update(self, p: Tensor, g: np.ndarray, group: dict, state: dict) -> None:
        raise NotImplementedError

    def state_dict(self) -> dict:
        order = [one for group in self.param_groups for one in group["params"]]
        number = {id(one): i for i, one in enumerate(order)}
        return {
            "state": {
                number[id(one)]: {k: wrap(np.array(v)) if k != "step" else v for k, v in held.items()}
                for one, held in self.state.items()
            },
            "param_groups": [
                {**group, "params": [number[id(one)] for one in group["params"]]} for group in self.param_groups
            ],
        }

    def load_state_dict(self, state_dict: dict) -> None:
        order = [one for group in self.param_groups for one in group["params"]]
        self.state = {
            order[i]: {k: np.array(v._a) if isinstance(v, Tensor) else v for k, v in held.items()}
            for i, held in state_dict["state"].items()
        }
        for own, given in zip(self.param_groups, state_dict["param_groups"], strict=True):
            own.update({name: value for name, value in given.items() if name != "params"})

    def __repr__(self) -> str:
        lines = [f"{type(self).__name__} ("]
        for i, group in enumerate(self.param_groups):
            lines.append(f"Parameter Group {i}")
            lines += [f"    {name}: {group[name]}" for name in sorted(group) if name != "params"]
        return "\n".join([*lines, ")"])


def _one(params: Tensor) -> list:
    raise TypeError(
        "params argument given to the optimizer should be an iterable of Tensors or dicts, but got torch.FloatTensor"
    )


def _checked(lr: Any, **others: Any) -> None:
    if lr < 0:
        raise ValueError(f"Invalid learning rate: {lr}")
    for name in ("amsgrad", "maximize", "nesterov"):
        if others.get(name):
            raise NotCovered(f"an optimizer with {name}")


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


from .others import RMSprop  # noqa: E402, F401 - it is made of the class above
