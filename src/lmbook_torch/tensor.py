"""The tensor: an array of NumPy, a place in a graph of operations, and PyTorch's manners."""

import weakref
from typing import Any

import numpy as np

from . import dtypes, engine
from .errors import NotCovered
from .modes import Mode
from .plain import Plain


class Tensor(Plain):
    """_a: the array.  _node: the operation that made it, if gradients flow through it.  grad: as in PyTorch."""

    __array_priority__ = 1000
    _store: engine.Store
    _node: engine.Node | None = None
    _needs, _rebased, _view, grad = False, 0, False, None

    def __new__(cls, *args: Any) -> "Tensor":
        made = object.__new__(cls)
        made._bare(np.empty(0, np.float32))
        return made

    def __init__(self, *args: Any):
        if args:
            numbers = all(isinstance(one, int) for one in args)
            data = np.empty(args) if numbers else np.array(args[0]._a if isinstance(args[0], Tensor) else args[0])
            self._a = data.astype(dtypes.get_default_dtype().numpy)

    def _bare(self, array: np.ndarray) -> None:
        self._a, self._store = array, engine.Store()

    @staticmethod
    def _wrap(array: Any) -> "Tensor":
        made = object.__new__(Tensor)
        made._a = array if isinstance(array, np.ndarray) else np.asarray(array)
        made._store = engine.Store()
        return made

    def _seen(self, array: np.ndarray) -> "Tensor":
        """A tensor that shares memory with this one, if the array does."""
        made = Tensor._wrap(array)
        if np.may_share_memory(made._a, self._a) and made._a.size:
            made._store, made._rebased, made._view = self._store, self._rebased, True
        return made

    @property
    def requires_grad(self) -> bool:
        return self._needs

    @requires_grad.setter
    def requires_grad(self, value: bool) -> None:
        if value and self._a.dtype.kind not in "fc":
            raise RuntimeError("only Tensors of floating point dtype can require gradients")
        self._needs = bool(value)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(f"'Tensor' object has no attribute '{name}'")
        raise NotCovered(f"Tensor.{name}")

    def __deepcopy__(self, memo: dict) -> "Tensor":
        if self._node is not None:
            raise RuntimeError(
                "Only Tensors created explicitly by the user support the deepcopy protocol at the moment."
            )
        made = object.__new__(type(self))
        made._bare(self._a.copy())
        made.requires_grad = self.requires_grad
        made.grad = None if self.grad is None else Tensor._wrap(self.grad._a.copy())
        memo[id(self)] = made
        return made

    def __reduce__(self) -> tuple:
        return _again, (type(self), self._a, self.requires_grad)

    # Its place in the graph

    is_leaf = property(lambda self: self._node is None)
    _version = property(lambda self: self._store.version)

    @property
    def grad_fn(self) -> engine.Node | None:
        return self._node

    @property
    def data(self) -> "Tensor":
        return self._seen(self._a)

    @data.setter
    def data(self, value: "Tensor") -> None:
        self._a, self._store = value._a, value._store

    def detach(self) -> "Tensor":
        return self._seen(self._a)

    def detach_(self) -> "Tensor":
        self._node, self.requires_grad = None, False
        return self

    def requires_grad_(self, requires_grad: bool = True) -> "Tensor":
        if self._node is not None and not requires_grad:
            raise RuntimeError("you can only change requires_grad flags of leaf variables.")
        self.requires_grad = requires_grad
        return self

    def retain_grad(self) -> None:
        if not self.requires_grad:
            raise RuntimeError("can't retain_grad on Tensor that has requires_grad=False")
        if self._node is not None:
            self._node.watcher = weakref.ref(self)

    def backward(
        self, gradient: "Tensor | None" = None, retain_graph: bool | None = None, create_graph: bool = False
    ) -> None:
        engine.backward(self, gradient, retain_graph, create_graph)

    def _before(self) -> "Tensor":
        """This tensor as it is now, for an operation that will change it."""
        if not (Mode.now and self.requires_grad):
            return self
        if self._node is None:
            raise RuntimeError("a leaf Variable that requires grad is being used in an in-place operation.")
        made = Tensor._wrap(self._a.copy())
        made._node, made.requires_grad = engine.edge(self), True
        return made

    def _changed(self, result: "Tensor") -> "Tensor":
        """Takes over what an operation in place would give: its numbers, and its place in the graph."""
        recorded = Mode.now and (self.requires_grad or result.requires_grad)
        if recorded and self._node is None and self.requires_grad:
            raise RuntimeError("a leaf Variable that requires grad is being used in an in-place operation.")
        if recorded and self._view:
            raise NotCovered("a change in place of a view, with gradients through it")
        if result._a.shape != self._a.shape:
            raise RuntimeError(
                f"output with shape {list(self.shape)} doesn't match the broadcast shape {list(result.shape)}"
            )
        if self.is_meta:
            return self
        if result._a.dtype.kind != self._a.dtype.kind and result.dtype.kind > self.dtype.kind:
            names = {"float32": "Float", "float64": "Double", "int64": "Long", "bool": "Bool"}
            raise RuntimeError(
                f"result type {names.get(result.dtype.name, result.dtype.name)} can't be cast to the desired output "
                f"type {names.get(self.dtype.name, self.dtype.name)}"
            )
        self._a[...] = result._a
        self._store.version += 1
        if recorded:
            self._rebase(result._node)
        return self

    def _rebase(self, node: engine.Node | None) -> None:
        self._node, self.requires_grad = node, node is not None
        self._store.rebased += 1
        self._rebased = self._store.rebased

    def __repr__(self) -> str:
        from .shown import shown

        return shown(self)


def _again(kind: type, array: np.ndarray, requires_grad: bool) -> Tensor:
    made = object.__new__(kind)
    made._bare(array)
    made.requires_grad = requires_grad
    return made
