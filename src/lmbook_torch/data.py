"""Numbers and lists of Python as tensors."""

import functools
from collections.abc import Iterator
from typing import Any

import numpy as np

from . import dtypes
from .tensor import Tensor

NUMBERS = {int, float, bool}


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
            kind = next(iter(_kinds(plain))).__name__
            raise TypeError(
                f"new(): invalid data type '{kind}'" if kind == "str" else f"must be real number, not {kind}"
            )
        if dtype is None:
            return found.astype(_common(set(_kinds(plain))).numpy)
    return found if dtype is None else found.astype(dtype.to_numpy(), copy=False)


def _plain(data: Any) -> Any:
    """Lists of tensors as lists of numbers."""
    if isinstance(data, Tensor):
        return data._a if data._a.ndim else data._a[()]
    if isinstance(data, list | tuple):
        return data if NUMBERS.issuperset(map(type, data)) else [_plain(one) for one in data]
    if isinstance(data, range | dict | set) or hasattr(data, "__next__"):
        return list(data)
    return data


def _common(kinds: set[type]) -> dtypes.dtype:
    """The type that such numbers have in common; NumPy's and tensors' floats keep theirs."""
    found = []
    for kind in kinds:
        kept = issubclass(kind, np.generic) and not issubclass(kind, np.integer)
        found.append(dtypes.of(np.empty(0, kind)) if kept else dtypes.of_number(kind(0)))
    return functools.reduce(dtypes.common, found) if found else dtypes.get_default_dtype()


def _kinds(data: Any) -> Iterator[type]:
    """The types of what is in lists of lists, of each list once."""
    if isinstance(data, np.ndarray):
        yield data.dtype.type
    elif not isinstance(data, list | tuple):
        yield type(data)
    elif NUMBERS.issuperset(kinds := dict.fromkeys(map(type, data))):
        yield from kinds
    else:
        for one in data:
            yield from _kinds(one)


def _ragged(data: Any) -> str:
    lengths = [len(one) if isinstance(one, list | tuple) else 0 for one in data]
    at = next((i for i, n in enumerate(lengths) if n != lengths[0]), 0)
    return f"expected sequence of length {lengths[0]} at dim 1 (got {lengths[at]})"


def to_tensor(value: Any) -> Tensor:
    return value if isinstance(value, Tensor) else Tensor._wrap(array(value))
