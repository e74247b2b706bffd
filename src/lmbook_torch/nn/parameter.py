"""A tensor that a module learns."""

from ..tensor import Tensor


class Parameter(Tensor):
    """A leaf of the graph over the same memory as `data`."""

    def __new__(cls, data: Tensor | None = None, requires_grad: bool = True) -> "Parameter":
        made = object.__new__(cls)
        source = Tensor() if data is None else data
        made._bare(source._a)
        made._store = source._store
        made._rebased = source._store.rebased
        made.requires_grad = requires_grad
        return made

    def __init__(self, data: Tensor | None = None, requires_grad: bool = True):
        pass


class Buffer(Tensor):
    """A tensor that a module keeps and does not learn."""
