"""What a tensor is, and how it gets out of torch."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from . import dtypes
from .dtypes import Size


class Plain:
    """Over an array _a."""

    _a: np.ndarray

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

    def contiguous(self) -> Any:
        return self if self._a.flags.c_contiguous else self.clone()

    def data_ptr(self) -> int:
        return self._a.__array_interface__["data"][0]

    def is_set_to(self, other: Any) -> bool:
        return self.data_ptr() == other.data_ptr() and self.shape == other.shape

    # Out of torch

    def numpy(self, *, force: bool = False) -> np.ndarray:
        if self.requires_grad and not force:
            raise RuntimeError("Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() instead.")
        return self._a

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        array = self.numpy()
        return array.astype(dtype) if dtype is not None else array

    def __array_wrap__(self, array: np.ndarray, context: Any = None, return_scalar: bool = False) -> Any:
        return self._wrap(array)

    def item(self) -> Any:
        if self._a.size != 1:
            raise RuntimeError(f"a Tensor with {self._a.size} elements cannot be converted to Scalar")
        return self._a.item()

    def tolist(self) -> Any:
        return self._a.tolist()

    def cpu(self) -> Any:
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

    def __iter__(self) -> Iterator:
        if not self._a.ndim:
            raise TypeError("iteration over a 0-d tensor")
        return iter(self.unbind(0))

    def __contains__(self, value: Any) -> bool:
        return bool((self == value).any())

    __hash__ = object.__hash__

    def __format__(self, spec: str) -> str:
        return (
            format(self.item(), spec)
            if not self._a.ndim and type(self).__name__ == "Tensor"
            else object.__format__(self, spec)
        )
