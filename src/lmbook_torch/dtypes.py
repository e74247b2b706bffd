"""Types of numbers, devices and shapes, and the type in which an operation computes."""

import math

import numpy as np

from .errors import NotCovered


class dtype:
    """A type of numbers: its name, NumPy's, and its place among bool < integer < floating < complex."""

    def __init__(self, name: str, kind: int, numpy: type | None):
        self.name, self.kind, self.numpy = name, kind, numpy and np.dtype(numpy)
        self.is_floating_point, self.is_complex = kind == 2, kind == 3
        self.itemsize = self.numpy.itemsize if self.numpy else 2

    def __repr__(self) -> str:
        return f"torch.{self.name}"

    def __reduce__(self) -> str:
        return self.name

    def to_numpy(self) -> np.dtype:
        if self.numpy is None:
            raise NotCovered(f"{self}")
        return self.numpy


bool_ = dtype("bool", 0, np.bool_)
uint8, int8, int16, int32, int64 = (
    dtype(name, 1, getattr(np, name)) for name in ("uint8", "int8", "int16", "int32", "int64")
)
float32, float64 = dtype("float32", 2, np.float32), dtype("float64", 2, np.float64)
float16, bfloat16 = dtype("float16", 2, None), dtype("bfloat16", 2, None)
complex64, complex128 = dtype("complex64", 3, np.complex64), dtype("complex128", 3, np.complex128)
OF = {one.numpy: one for one in (bool_, uint8, int8, int16, int32, int64, float32, float64, complex64, complex128)}
NAMES = {"float": float32, "double": float64, "long": int64, "int": int32, "half": float16, "short": int16}
_default = [float32]


def of(array: np.ndarray) -> dtype:
    """The type of an array. Raises TypeError for arrays of texts and objects."""
    found = OF.get(array.dtype) or OF.get(np.dtype(array.dtype.newbyteorder("=")))
    if found is None and array.dtype.kind in "iu" and array.dtype.itemsize <= 8:
        found = OF.get(np.dtype(f"i{array.dtype.itemsize}"))
    if found is None:
        raise TypeError(
            f"can't convert np.ndarray of type {array.dtype.type.__module__}.{array.dtype.type.__name__}. The only "
            "supported types are: float64, float32, float16, complex64, complex128, int64, int32, int16, int8, "
            "uint64, uint32, uint16, uint8, and bool."
        )
    return found


def get_default_dtype() -> dtype:
    return _default[0]


def set_default_dtype(d: dtype) -> None:
    _default[0] = d


def of_number(value: object) -> dtype:
    """The type that a number of Python takes by itself."""
    if isinstance(value, bool | np.bool_):
        return bool_
    if isinstance(value, int | np.integer):
        return int64
    return complex64 if isinstance(value, complex) else _default[0]


def promote(*operands: tuple[dtype, int]) -> dtype:
    """The type of a result: (type, rank) of each operand; rank 2 for tensors with dimensions, 1 for none, 0 for numbers.

    The operands of the highest rank decide, unless one of a lower rank is of a higher kind.
    """
    best = {rank: [d for d, r in operands if r == rank] for rank in (2, 1, 0)}
    result: dtype | None = None
    for rank in (2, 1, 0):
        if not best[rank]:
            continue
        of_rank = best[rank][0]
        for one in best[rank][1:]:
            of_rank = common(of_rank, one)
        if result is None or of_rank.kind > result.kind:
            result = complex128 if result is float64 and of_rank.kind == 3 else of_rank
    assert result is not None
    return result


def common(a: dtype, b: dtype) -> dtype:
    """The smaller type that holds both."""
    if a is b:
        return a
    if a.kind != b.kind:
        high, low = (a, b) if a.kind > b.kind else (b, a)
        return complex128 if high.kind == 3 and low is float64 else high
    return OF[np.promote_types(a.to_numpy(), b.to_numpy())]


class device:
    """Where a tensor is: on the CPU. Others have names here and nothing more."""

    def __init__(self, type: "str | device" = "cpu", index: int | None = None):
        if isinstance(type, device):
            self.type, self.index = type.type, type.index
            return
        name, _, number = type.partition(":")
        if name not in ("cpu", "cuda", "mps", "xpu", "meta"):
            raise RuntimeError(
                f"Expected one of cpu, cuda, mps, xpu, meta device type at start of device string: {type}"
            )
        self.type, self.index = name, int(number) if number else index

    def __repr__(self) -> str:
        return f"device(type='{self.type}'" + (f", index={self.index})" if self.index is not None else ")")

    def __str__(self) -> str:
        return self.type + (f":{self.index}" if self.index is not None else "")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, device) and str(self) == str(other)

    def __hash__(self) -> int:
        return hash(str(self))

    def __enter__(self) -> "device":
        if self.type != "meta":
            on(self)
        within.append(self)
        return self

    def __exit__(self, *error: object) -> None:
        within.pop()


CPU, META = device("cpu"), device("meta")
within: list[device] = []  # contexts `with torch.device(...)`


class Hollow(np.ndarray):
    """A shape and a type without numbers: any use of them raises."""

    def __array_ufunc__(self, *args, **kwargs):
        raise NotImplementedError("Cannot compute with a meta tensor; no data!")

    __array_function__ = item = tolist = __array_ufunc__


def hollow(shape: tuple[int, ...], kind: np.dtype) -> np.ndarray | None:
    """Such an array, if a context asks for it."""
    if within and within[-1].type == "meta":
        return np.broadcast_to(np.zeros((), kind), shape).view(Hollow)
    return None


def on(where: object) -> None:
    """Raises AssertionError or NotCovered for another place than the CPU."""
    if where is None or where is CPU:
        return
    kind = where.type if isinstance(where, device) else device(str(where)).type
    if kind == "cuda":
        raise AssertionError("Torch not compiled with CUDA enabled")
    if kind != "cpu":
        raise NotCovered(f"the device {kind!r}")


class Size(tuple):
    """A shape."""

    def numel(self) -> int:
        return math.prod(self)

    def __repr__(self) -> str:
        return f"torch.Size({list(self)})"

    def __getitem__(self, index):
        found = super().__getitem__(index)
        return Size(found) if isinstance(index, slice) else found

    def __add__(self, other):
        return Size(tuple(self) + tuple(other))
