"""What all optimizers have in common."""

from typing import Any

import numpy as np

from ..elementwise import wrap
from ..engine import QUIET
from ..errors import NotCovered
from ..modes import enable_grad
from ..tensor import Tensor


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
