"""Any network: its layers, its number of parameters, its evaluation mode, and the tensors that it takes and gives.

A batch or a state is one tensor, or several of them in tuples, lists and dicts, however deep:

    tree_map(lambda x: x.to("cuda"), batch)          the batch on another device
    tree_map(Tensor.detach, state)                   the state as a constant
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Protocol, TypeVar, cast

import torch
from torch import Tensor, nn

M = TypeVar("M")


class Network(Protocol):
    """Any nn.Module: what the book uses of it."""

    def modules(self) -> Iterator[nn.Module]: ...

    def parameters(self) -> Iterator[nn.Parameter]: ...

    def buffers(self) -> Iterator[Tensor]: ...

    def eval(self) -> Any: ...


def module_list(modules: Iterable[M]) -> Sequence[M]:
    """An nn.ModuleList with the type of what it holds, which torch's own does not have."""
    untyped: Any = nn.ModuleList(cast("Iterable[nn.Module]", modules))
    return untyped


def n_parameters(model: Network) -> int:
    """How many numbers training may change; a tied one counts once. On torch.device("meta") they take no memory."""
    return sum(p.numel() for p in model.parameters() if p.requires_grad)


@contextmanager
def evaluating(model: Network) -> Iterator[None]:
    """Evaluation mode and no gradients inside the block; every module then has its own mode back, error or not."""
    modes = [(module, module.training) for module in model.modules()]
    model.eval()
    try:
        with torch.no_grad():
            yield
    finally:
        for module, training in modes:
            module.training = training


def tree_map(change: Callable[[Tensor], Any], tree: Any) -> Any:
    """The same nesting of tuples, named tuples, lists and dicts with every tensor changed; None and numbers stay.

    Raises TypeError for anything else.
    """
    if isinstance(tree, Tensor):
        return change(tree)
    if isinstance(tree, dict):
        return {name: tree_map(change, branch) for name, branch in tree.items()}
    if isinstance(tree, tuple) and hasattr(tree, "_fields"):
        return type(tree)(*(tree_map(change, branch) for branch in tree))
    if isinstance(tree, tuple | list):
        return type(tree)(tree_map(change, branch) for branch in tree)
    if tree is None or isinstance(tree, int | float):
        return tree
    raise TypeError(
        f"a batch or a state holds tensors in tuples, lists and dicts; this one holds a {type(tree).__name__}."
    )
