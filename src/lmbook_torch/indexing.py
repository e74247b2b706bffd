"""x[...] and x[...] = y."""

from typing import Any

import numpy as np

from .data import to_tensor
from .dtypes import of
from .elementwise import cast, unbroadcast, wrap
from .engine import Part, node
from .errors import NotCovered
from .modes import Mode
from .tensor import Tensor


def place(x: Tensor, index: Any) -> tuple[tuple, bool]:
    """An index as NumPy takes it, and whether it has arrays."""
    parts = index if isinstance(index, tuple) else (index,)
    found: list[Any] = []
    arrays = False
    for one in parts:
        if isinstance(one, Tensor):
            a = one._a
            if a.dtype.kind not in "iub":
                raise IndexError("tensors used as indices must be long, int, byte or bool tensors")
            if not a.ndim and a.dtype != bool:
                one = int(a)
            else:
                one, arrays = a if a.dtype == bool else a.astype(np.intp), True
        elif isinstance(one, list | np.ndarray | range):
            one, arrays = (
                np.asarray([int(v) if isinstance(v, Tensor) else v for v in one] if isinstance(one, list) else one),
                True,
            )
            one = one.astype(np.intp) if one.dtype != bool else one
        elif isinstance(one, slice):
            if one.step is not None and one.step < 1:
                raise ValueError("step must be greater than zero")
            one = slice(*(None if v is None else int(v) for v in (one.start, one.stop, one.step)))
        elif isinstance(one, bool | np.bool_):
            one, arrays = np.asarray(bool(one)), True
        elif isinstance(one, int | np.integer):
            one = int(one)
        elif one is not None and one is not Ellipsis:
            raise IndexError(
                f"only integers, slices (`:`), ellipsis (`...`), None and long or byte Variables are valid indices "
                f"(got {type(one).__name__})"
            )
        found.append(one)
    return tuple(found), arrays


def said(x: Tensor, parts: tuple, error: IndexError) -> IndexError:
    """NumPy's complaint in PyTorch's words."""
    rank = x._a.ndim
    asked = sum(
        p.ndim if isinstance(p, np.ndarray) and p.dtype == bool else p is not None and p is not Ellipsis for p in parts
    )
    if asked > rank:
        if not rank:
            return IndexError(
                "invalid index of a 0-dim tensor. Use `tensor.item()` in Python or `tensor.item<T>()` in C++ to convert a "
                "0-dim tensor to a number"
            )
        return IndexError(f"too many indices for tensor of dimension {rank}")
    at = 0
    for part in parts:
        if part is Ellipsis:
            at = rank - sum(p is not None for p in parts[parts.index(part) + 1 :]) if len(parts) > 1 else at
            continue
        if part is None:
            continue
        n = x._a.shape[at]
        if isinstance(part, int) and not -n <= part < n:
            return IndexError(f"index {part} is out of bounds for dimension {at} with size {n}")
        if isinstance(part, np.ndarray) and part.dtype == bool:
            if part.shape != x._a.shape[at : at + part.ndim]:
                wrong = next(i for i in range(part.ndim) if part.shape[i] != x._a.shape[at + i])
                return IndexError(
                    f"The shape of the mask {list(part.shape)} at index {wrong} does not match the shape of the indexed "
                    f"tensor {list(x.shape)} at index {at + wrong}"
                )
            at += part.ndim - 1
        elif isinstance(part, np.ndarray) and part.size and not (-n <= part.min() and part.max() < n):
            bad = part[(part < -n) | (part >= n)].flat[0]
            return IndexError(f"index {bad} is out of bounds for dimension {at} with size {n}")
        at += 1
    if "broadcast" in str(error):
        shapes = ", ".join(str(list(p.shape)) for p in parts if isinstance(p, np.ndarray))
        return IndexError(f"shape mismatch: indexing tensors could not be broadcast together with shapes {shapes}")
    return error


def scattered(shape: tuple, parts: tuple, g: np.ndarray) -> np.ndarray:
    """Zeros with g added at these places."""
    whole = np.zeros(shape, g.dtype)
    rows = parts[0] if parts else None
    if isinstance(rows, np.ndarray) and len(parts) == 1 and rows.dtype != bool:
        add_rows(whole, rows.ravel(), g.reshape(rows.size, *shape[1:]))
    elif any(isinstance(one, np.ndarray) and one.dtype != bool for one in parts):
        np.add.at(whole, parts, g)
    else:
        whole[parts] = g
    return whole


def add_rows(whole: np.ndarray, rows: np.ndarray, g: np.ndarray) -> None:
    """whole[rows] += g where a row may be named more than once: sorted, then summed in runs."""
    if not rows.size:
        return
    order = np.argsort(rows % len(whole), kind="stable")
    sorted_rows = (rows % len(whole))[order]
    starts = np.flatnonzero(np.r_[True, sorted_rows[1:] != sorted_rows[:-1]])
    whole[sorted_rows[starts]] += np.add.reduceat(g[order], starts, axis=0)


def getitem(x: Tensor, index: Any) -> Tensor:
    """x[index]."""
    parts, arrays = place(x, index)
    try:
        value = x._a[parts]
    except IndexError as error:
        raise said(x, parts, error) from None
    shape = x._a.shape
    if arrays:
        return node("IndexBackward0", wrap(np.asarray(value)), [(x, lambda g: scattered(shape, parts, g))])
    name = "SelectBackward0" if any(isinstance(one, int) for one in parts[-1:]) else "SliceBackward0"
    return node(name, x._seen(np.asarray(value)), [(x, lambda g: Part(shape, parts, g))])


def setitem(x: Tensor, index: Any, value: Any) -> None:
    """x[index] = value."""
    parts, _ = place(x, index)
    try:
        here = x._a[parts]
    except IndexError as error:
        raise said(x, parts, error) from None
    v = cast(to_tensor(value), of(x._a))
    fits(np.shape(here), v._a.shape)
    if v._a.ndim > np.ndim(here):
        v = v.reshape(v._a.shape[v._a.ndim - np.ndim(here) :])
    recorded = Mode.now and (x.requires_grad or v.requires_grad)
    if recorded and x._node is None and x.requires_grad:
        raise RuntimeError("a leaf Variable that requires grad is being used in an in-place operation.")
    if recorded and x._view:
        raise NotCovered("an assignment into a view, with gradients through it")
    if recorded and any(
        isinstance(one, np.ndarray) and one.dtype != bool and np.unique(one).size < one.size for one in parts
    ):
        raise NotCovered("an assignment to one place twice, with gradients through it")
    shape = v._a.shape

    def rest(g):
        g = g.copy()
        g[parts] = 0
        return g

    before = Tensor._wrap(x._a)
    before._node, before.requires_grad = x._node, x.requires_grad
    written = v._a.copy() if np.may_share_memory(v._a, x._a) else v._a
    x._a[parts] = written
    x._store.version += 1
    if recorded:
        made = node("CopySlices", wrap(x._a), [(before, rest), (v, lambda g: unbroadcast(g[parts], shape))])
        x._rebase(made._node)


def fits(here: tuple, given: tuple) -> None:
    """Raises RuntimeError if what is given cannot be written there."""
    lead = given[: max(0, len(given) - len(here))]
    tail = given[len(lead) :]
    if any(n != 1 for n in lead) or any(n not in (1, m) for n, m in zip(tail[::-1], here[::-1], strict=False)):
        raise RuntimeError(
            f"shape mismatch: value tensor of shape {list(given)} cannot be broadcast to indexing result of shape {list(here)}"
        )
