"""What travels between the grader and a student's process: plain data, never objects.

    frame = length of the JSON part, length of the bytes (two 4-byte big-endian numbers), JSON, bytes

Numbers, strings, lists and dicts are JSON; what JSON cannot say is a dict with one tag, {"tuple": [...]}; an array is
{"array": [dtype, shape, place]}, and its raw bytes stand at that place.  Values are rebuilt as Python's, NumPy's and
torch's own types, so that a subclass with an `__eq__` of its own, or a forged one, arrives as what it holds.  Pickle
is not used.

This file is also run inside the sandbox, where lmbook may not be: it imports the standard library only.
"""

import collections
import decimal
import fractions
import json
import math
import struct
import sys

HEAD = struct.Struct(">II")
LIMITS = (4_000_000, 64_000_000)  # bytes of JSON and of arrays in one frame
DEPTH, BITS = 50, 4096  # of nested containers; of an integer
ENTRIES = 8_000_000  # of one array; an axis of length 0 counts as 1, since (10**9, 0) is no bytes and a billion rows
NUMBERS = {"bool", "float16", "float32", "float64", "complex64", "complex128"}
NUMBERS |= {f"{kind}{bits}" for kind in ("int", "uint") for bits in (8, 16, 32, 64)}
SEQUENCES = {"tuple": tuple, "set": set, "frozenset": frozenset, "iterator": iter, "deque": collections.deque}
VIEWS = {"keys": collections.abc.KeysView, "values": collections.abc.ValuesView, "items": collections.abc.ItemsView}
# Follows the name of what an answer may not use.  It ends without a stop, as what an exception says does.
CLOSED = "holds answers of this homework and is closed while it is graded; answer without it"
SAME = 100  # how many different values of a message may have one hash


class NotData(Exception):
    """A value that cannot travel; the message is its type's name or says what is wrong with it."""


class _Packer:
    """Turns values into JSON and bytes.

    functions: where callables are kept to be called back, or None to refuse them.
    """

    def __init__(self, functions: dict | None = None):
        self.functions, self.parts, self.size = functions, [], 0

    def pack(self, value, depth: int = 0):
        if depth > DEPTH:
            raise NotData(f"nested more than {DEPTH} deep")
        if value is None or value is True or value is False:
            return value
        numpy, torch = sys.modules.get("numpy"), sys.modules.get("torch")
        if torch is not None and isinstance(value, torch.Tensor):
            plain = value.detach().cpu().contiguous()
            return {"tensor": [str(plain.dtype).removeprefix("torch."), list(plain.shape), self._bytes(_raw(plain))]}
        if numpy is not None and isinstance(value, numpy.generic | numpy.ndarray):
            kind = "array" if isinstance(value, numpy.ndarray) else "scalar"
            array = numpy.asarray(value)
            if array.dtype.kind in "fc" and array.dtype.name not in NUMBERS:  # longer than all others travel
                array = array.astype({"f": "float64", "c": "complex128"}[array.dtype.kind])
            if array.dtype.name not in NUMBERS and array.dtype.kind != "U":
                raise NotData(f"an array of dtype {array.dtype}")
            array = array.astype(array.dtype.newbyteorder("<"), order="C", copy=False)
            return {kind: [array.dtype.str, list(array.shape), self._bytes(array.tobytes())]}
        return self._plain(value, depth + 1)

    def _plain(self, value, depth: int):
        if isinstance(value, str):
            return str.__str__(value)
        if isinstance(value, int):
            number = int.__index__(value)
            return number if abs(number) < 2**63 else {"int": hex(number)}
        if isinstance(value, float):
            return float.__float__(value)
        if isinstance(value, complex):
            return {"complex": [value.real, value.imag]}
        if isinstance(value, fractions.Fraction):
            return {"fraction": [int(value.numerator), int(value.denominator)]} if _short(value) else float(value)
        if isinstance(value, decimal.Decimal):
            return float(value)
        if isinstance(value, bytes | bytearray):
            return {"bytes": self._bytes(bytes(value))}
        if isinstance(value, list):
            return [self.pack(item, depth) for item in value]
        if isinstance(value, dict):
            tag = "counter" if isinstance(value, collections.Counter) else "dict"
            return {tag: [[self.pack(key, depth), self.pack(item, depth)] for key, item in value.items()]}
        kinds = {"tuple": tuple, "set": set, "frozenset": frozenset, "deque": collections.deque, **VIEWS}
        for tag, kind in kinds.items():
            if isinstance(value, kind):
                return {tag: [self.pack(item, depth) for item in value]}
        if isinstance(value, range):
            return {"range": [self.pack(number) for number in (value.start, value.stop, value.step)]}
        if isinstance(value, collections.abc.Iterator):
            return {"iterator": [self.pack(item, depth) for item in _first(value)]}
        if self.functions is not None and callable(value):
            self.functions[len(self.functions)] = value
            return {"function": len(self.functions) - 1}
        raise NotData(type(value).__name__)

    def _bytes(self, data: bytes) -> list[int]:
        self.parts.append(data)
        self.size += len(data)
        return [self.size - len(data), len(data)]


def _short(fraction) -> bool:
    return max(int(fraction.numerator).bit_length(), int(fraction.denominator).bit_length()) < 64


def _first(iterator):
    for count, item in enumerate(iterator):
        if count > 1_000_000:
            raise NotData("an iterator without end")
        yield item


def _raw(tensor) -> bytes:
    import torch

    return tensor.reshape(-1).view(torch.uint8).numpy().tobytes() if tensor.numel() else b""


def frame(message, functions: dict | None = None) -> bytes:
    """The frame of a message.  Raises NotData where part of it cannot travel or it is too large."""
    packer = _Packer(functions)
    try:
        text = json.dumps(packer.pack(message), separators=(",", ":")).encode()
    except RecursionError as error:
        raise NotData("nested too deeply") from error
    if len(text) > LIMITS[0] or packer.size > LIMITS[1]:
        raise NotData("more data than may travel")
    return HEAD.pack(len(text), packer.size) + text + b"".join(packer.parts)


def lengths(head: bytes) -> tuple[int, int]:
    """The two lengths in a frame's first eight bytes.  Raises NotData where they exceed the limits."""
    sizes = HEAD.unpack(head)
    if sizes[0] > LIMITS[0] or sizes[1] > LIMITS[1]:
        raise NotData("more data than may travel")
    return sizes


def message(text: bytes, data: bytes, function=None):
    """The message of a frame's two parts.  function: makes a callable of its number, None to refuse callables.

    Raises NotData for whatever is not written as `frame` writes it.
    """
    try:
        return _Unpacker(memoryview(data), function).unpack(json.loads(text))
    except NotData:
        raise
    except Exception as error:  # whatever NumPy or torch make of it: the sender's fault
        raise NotData(f"not readable: {type(error).__name__}") from error


class _Unpacker:
    """Makes values out of JSON and bytes again.  met: different values of one message by their hash."""

    def __init__(self, data: memoryview, function):
        self.data, self.function, self.met = data, function, collections.defaultdict(list)

    def unpack(self, value, depth: int = 0):
        made = self._made(value, depth)
        self._apart(made)
        return made

    def _apart(self, made) -> None:
        """Refuses many values of one hash: a dict or a set of them, here or in a check, takes the square of the time.

        Text and bytes are hashed with a secret, and a hash is shared by few floats and short integers. A list is taken
        for the tuple that a check may make of it.
        """
        if made is None or isinstance(made, str | bytes | float | bool):
            return
        if type(made) is int and abs(made) < sys.hash_info.modulus:
            return
        made = tuple(made) if type(made) is list else made
        try:
            met = self.met[hash(made)]
        except TypeError:  # it can be no key
            return
        if made not in met:
            met.append(made)
        if len(met) > SAME:
            raise NotData("values made to collide")

    def _all(self, values, depth: int) -> list:
        return [self.unpack(value, depth + 1) for value in values]

    def _made(self, value, depth: int):
        if depth > 3 * DEPTH:
            raise NotData("nested too deeply")
        if isinstance(value, list):
            return self._all(value, depth)
        if not isinstance(value, dict):
            if isinstance(value, int) and abs(value) >= 2**BITS:
                raise NotData("a number too long")
            return value
        ((tag, held),) = value.items()
        if tag in ("dict", "counter"):
            made = dict(self._all(pair, depth) for pair in held)
            return collections.Counter(made) if tag == "counter" else made
        if tag in SEQUENCES:
            return SEQUENCES[tag](self._all(held, depth))
        if tag in VIEWS:
            return _view(tag, self._all(held, depth))
        if tag == "range":
            return range(*self._all(held, depth))
        if tag == "int":
            number = int(held, 16) if len(held) <= BITS // 4 else None
            if number is None:
                raise NotData("a number too long")
            return number
        if tag == "fraction":
            above, below = held
            if type(above) is not int or type(below) is not int or not 0 < below < 2**64 or abs(above) >= 2**64:
                raise NotData("a fraction that is none")
            return fractions.Fraction(above, below)
        if tag == "complex":
            return complex(float(held[0]), float(held[1]))
        if tag == "bytes":
            return _slice(self.data, held)
        if tag in ("array", "scalar"):
            return _array(tag, held, self.data)
        if tag == "tensor":
            return _tensor(held, self.data)
        if tag == "function" and self.function is not None:
            return self.function(int(held))
        raise NotData("an unknown kind of value")


def _view(tag: str, items: list):
    """The keys, the values or the items of a dict that has nothing else."""
    if tag == "values":
        return dict(enumerate(items)).values()
    made = dict.fromkeys(items) if tag == "keys" else dict(items)
    return getattr(made, tag)()


def _slice(data, place) -> bytes:
    start, length = place
    if not 0 <= start <= start + length <= len(data):
        raise NotData("bytes that are not there")
    return bytes(data[start : start + length])


def _shape(shape, item: int, raw: bytes) -> tuple[int, ...]:
    if len(shape) > 16 or any(type(size) is not int or size < 0 for size in shape):
        raise NotData("a shape that is none")
    if math.prod(max(size, 1) for size in shape) > ENTRIES:
        raise NotData("more data than may travel")
    if math.prod(shape) * item != len(raw):
        raise NotData("an array whose bytes do not fit its shape")
    return tuple(shape)


def _array(tag: str, held, data):
    import numpy

    name, shape, place = held
    dtype = numpy.dtype(str(name)) if isinstance(name, str) and "," not in name else None
    if dtype is None or (dtype.name not in NUMBERS and dtype.kind != "U"):
        raise NotData("an array of an unknown dtype")
    raw = _slice(data, place)
    shape = _shape(shape, dtype.itemsize, raw)
    array = numpy.frombuffer(bytearray(raw), dtype).reshape(shape) if raw else numpy.zeros(shape, dtype)
    array = array.astype(dtype.newbyteorder("="), copy=False)
    return array[()] if tag == "scalar" else array


def _tensor(held, data):
    import torch

    name, shape, place = held
    if name not in NUMBERS | {"bfloat16"}:
        raise NotData("a tensor of an unknown dtype")
    dtype, raw = getattr(torch, name), _slice(data, place)
    shape = _shape(shape, torch.empty((), dtype=dtype).element_size(), raw)
    if not raw:
        return torch.zeros(shape, dtype=dtype)
    return torch.frombuffer(bytearray(raw), dtype=torch.uint8).view(dtype).reshape(shape)
