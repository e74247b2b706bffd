"""The tensor: an array of NumPy, a place in a graph of operations, and PyTorch's manners."""

import weakref
from collections.abc import Iterator
from typing import Any

import numpy as np

from . import dtypes, engine
from .dtypes import Size
from .errors import NotCovered


class Tensor:
    """_a: the array.  _node: the operation that made it, if gradients flow through it.  grad: as in PyTorch."""

    __array_priority__ = 1000
    _a: np.ndarray
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

    # What it is

    @property
    def shape(self) -> Size:
        return Size(self._a.shape)

    @property
    def dtype(self) -> dtypes.dtype:
        return dtypes.of(self._a)

    layout = "torch.strided"
    is_cuda = is_sparse = is_quantized = False
    is_meta = property(lambda self: type(self._a) is dtypes.Hollow)
    device = property(lambda self: dtypes.META if self.is_meta else dtypes.CPU)
    is_cpu, names, itemsize = True, (), property(lambda self: self._a.itemsize)
    ndim = property(lambda self: self._a.ndim)
    nbytes = property(lambda self: self._a.nbytes)
    is_leaf = property(lambda self: self._node is None)
    _version = property(lambda self: self._store.version)

    @property
    def grad_fn(self) -> engine.Node | None:
        return self._node

    def size(self, dim: int | None = None) -> Any:
        return self.shape if dim is None else self.shape[dim]

    def dim(self) -> int:
        return self._a.ndim

    ndimension = dim

    def numel(self) -> int:
        return self._a.size

    nelement = numel

    def element_size(self) -> int:
        return self._a.itemsize

    def is_floating_point(self) -> bool:
        return self._a.dtype.kind == "f"

    def is_complex(self) -> bool:
        return self._a.dtype.kind == "c"

    def stride(self, dim: int | None = None) -> Any:
        strides = tuple(step // self._a.itemsize for step in self._a.strides)
        return strides if dim is None else strides[dim]

    def is_contiguous(self) -> bool:
        return self._a.flags.c_contiguous

    def contiguous(self) -> "Tensor":
        return self if self._a.flags.c_contiguous else self.clone()

    def data_ptr(self) -> int:
        return self._a.__array_interface__["data"][0]

    def is_set_to(self, other: "Tensor") -> bool:
        return self.data_ptr() == other.data_ptr() and self.shape == other.shape

    # Out of torch

    def numpy(self, *, force: bool = False) -> np.ndarray:
        if self.requires_grad and not force:
            raise RuntimeError("Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() instead.")
        return self._a

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        array = self.numpy()
        return array.astype(dtype) if dtype is not None else array

    def __array_wrap__(self, array: np.ndarray, context: Any = None, return_scalar: bool = False) -> "Tensor":
        return Tensor._wrap(array)

    def item(self) -> Any:
        if self._a.size != 1:
            raise RuntimeError(f"a Tensor with {self._a.size} elements cannot be converted to Scalar")
        return self._a.item()

    def tolist(self) -> Any:
        return self._a.tolist()

    def cpu(self) -> "Tensor":
        return self

    def _number(self) -> Any:
        if self._a.size != 1:
            raise ValueError("only one element tensors can be converted to Python scalars")
        return self._a.item()

    def __float__(self) -> float:
        return float(self._number())

    def __int__(self) -> int:
        return int(self._number())

    def __complex__(self) -> complex:
        return complex(self._number())

    def __index__(self) -> int:
        if self._a.size != 1 or self._a.dtype.kind not in "iub":
            raise TypeError("only integer tensors of a single element can be converted to an index")
        return int(self.item())

    def __bool__(self) -> bool:
        if self._a.size != 1:
            raise RuntimeError(
                f"Boolean value of Tensor with {'no' if not self._a.size else 'more than one'} value"
                f"{'s' if not self._a.size else ''} is ambiguous"
            )
        return bool(self.item())

    def __len__(self) -> int:
        if not self._a.ndim:
            raise TypeError("len() of a 0-d tensor")
        return len(self._a)

    def __iter__(self) -> Iterator["Tensor"]:
        if not self._a.ndim:
            raise TypeError("iteration over a 0-d tensor")
        return iter(self.unbind(0))

    def __contains__(self, value: Any) -> bool:
        return bool((self == value).any())

    __hash__ = object.__hash__

    def __format__(self, spec: str) -> str:
        return format(self.item(), spec) if not self._a.ndim and type(self) is Tensor else object.__format__(self, spec)

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
        if not (engine.Mode.now and self.requires_grad):
            return self
        if self._node is None:
            raise RuntimeError("a leaf Variable that requires grad is being used in an in-place operation.")
        made = Tensor._wrap(self._a.copy())
        made._node, made.requires_grad = engine.edge(self), True
        return made

    def _changed(self, result: "Tensor") -> "Tensor":
        """Takes over what an operation in place would give: its numbers, and its place in the graph."""
        recorded = engine.Mode.now and (self.requires_grad or result.requires_grad)
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


def tensor(
    data: Any, *, dtype: dtypes.dtype | None = None, device: Any = None, requires_grad: bool = False
) -> Tensor:  # fmt: skip
    """torch.tensor: always a copy."""
    dtypes.on(device)
    made = Tensor._wrap(array(data, dtype).copy())
    made.requires_grad = requires_grad
    return made


def array(data: Any, dtype: dtypes.dtype | None = None) -> np.ndarray:
    """An array in the type that PyTorch takes for such data: numbers of Python become float32 or int64."""
    if isinstance(data, Tensor):
        found = data._a
    elif isinstance(data, np.ndarray | np.generic):
        found = np.asarray(data)
        if dtype is None:
            found = found.astype(dtypes.of(found).numpy, copy=False)
    else:
        plain = _plain(data)
        try:
            found = np.array(plain)
        except ValueError as error:
            raise ValueError(_ragged(plain)) from error
        if found.dtype.kind == "O" or found.dtype.kind in "US":
            kind = type(next(iter(_leaves(plain)))).__name__
            raise TypeError(
                f"new(): invalid data type '{kind}'" if kind == "str" else f"must be real number, not {kind}"
            )
        if dtype is None and (not found.size or not any(isinstance(one, np.generic) for one in _leaves(plain))):
            kind = dtypes.of_number(found.flat[0].item()) if found.size else dtypes.get_default_dtype()
            return found.astype(kind.numpy)
        if dtype is None:
            return found.astype(
                dtypes.of(found).numpy
                if found.dtype.kind == "f"
                else np.int64
                if found.dtype.kind in "iu"
                else found.dtype
            )
    return found if dtype is None else found.astype(dtype.to_numpy(), copy=False)


def _plain(data: Any) -> Any:
    """Lists of tensors as lists of numbers."""
    if isinstance(data, Tensor):
        return data._a if data._a.ndim else data._a.item()
    if isinstance(data, list | tuple):
        return [_plain(one) for one in data]
    if isinstance(data, range | dict | set) or hasattr(data, "__next__"):
        return list(data)
    return data


def _leaves(data: Any) -> Iterator[Any]:
    if isinstance(data, list):
        for one in data:
            yield from _leaves(one)
    elif isinstance(data, np.ndarray):
        yield from data.flat
    else:
        yield data


def _ragged(data: Any) -> str:
    lengths = [len(one) if isinstance(one, list) else 0 for one in data]
    at = next((i for i, n in enumerate(lengths) if n != lengths[0]), 0)
    return f"expected sequence of length {lengths[0]} at dim 1 (got {lengths[at]})"


def to_tensor(value: Any) -> Tensor:
    return value if isinstance(value, Tensor) else Tensor._wrap(array(value))
