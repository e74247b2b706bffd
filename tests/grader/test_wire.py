"""What travels arrives as what it was; what is no data, or forged, does not travel."""

import collections
import json
import math
import random
import struct
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
import torch

from lmbook_grader.sandbox import wire


def travelled(value, functions=None, function=None):
    data = wire.frame(value, functions)
    text, rest = wire.lengths(data[: wire.HEAD.size])
    assert len(data) == wire.HEAD.size + text + rest
    return wire.message(data[8 : 8 + text], data[8 + text :], function)


VALUES = [
    None, True, False, 0, -1, 2**63, -(2**200), 1.5, -0.0, 1e-320, math.inf, 1 + 2j, "", "Wörter 词 \ud800",
    b"\x00\xff",
    [], [1, [2, [3.0]]], (1,), ((), [()]), {}, {"a": 1, 2: "b", (1, 2): None, None: 0}, {1, 2},
    frozenset({"a"}), range(2, 9, 3),
    {"tuple": [1]}, {"array": ["<f8", [1], [0, 8]]}, collections.Counter("abca"), collections.deque([1, (2,)]),
]  # fmt: skip


@pytest.mark.parametrize("value", VALUES, ids=repr)
def test_a_plain_value_arrives_equal_and_of_the_same_type(value):
    got = travelled(value)
    assert got == value
    assert type(got) is type(value)
    assert repr(got) == repr(value)


MODULUS = 2**61 - 1  # all its multiples have the hash 0


@pytest.mark.parametrize(
    "value",
    [
        [MODULUS * n for n in range(500)],
        {MODULUS * n: 0 for n in range(500)},
        [[MODULUS * n] for n in range(500)],
        [Fraction(MODULUS * n, 1) for n in range(1, 4)] + [MODULUS * n for n in range(4, 200)],
        [(1 - 2 * (n & 1), *(-1 - (n >> k & 1) for k in range(10))) for n in range(500)],
    ],
    ids=["numbers", "keys", "rows", "fractions", "-1 and -2"],
)
def test_values_of_one_hash_do_not_arrive_alone_or_inside_others(value):
    with pytest.raises(wire.NotData, match="collide"):
        travelled(value)


def test_one_value_arrives_as_often_as_it_comes():
    value = [[MODULUS * (n % 50)] for n in range(5000)] + [[-1, -2]] * 5000
    assert travelled(value) == value


def test_not_a_number_arrives():
    assert math.isnan(travelled([float("nan")])[0])


@pytest.mark.parametrize("dtype", sorted(wire.NUMBERS))
@pytest.mark.parametrize("shape", [(), (3,), (2, 0, 4), (2, 3)])
def test_an_array_and_a_tensor_arrive_bit_by_bit(dtype, shape):
    array = np.asarray(np.random.default_rng(0).integers(0, 2, shape)).astype(dtype)
    got = travelled({"x": array})["x"]
    assert type(got) is np.ndarray
    assert (got.dtype, got.shape, got.tobytes()) == (array.dtype, array.shape, array.tobytes())
    tensor = torch.from_numpy(np.array(array))
    got = travelled([tensor])[0]
    assert type(got) is torch.Tensor
    assert got.dtype == tensor.dtype
    assert torch.equal(got, tensor)


def test_other_forms_of_arrays_arrive():
    grid = np.arange(12.0).reshape(3, 4)
    assert np.array_equal(travelled(grid.T[::2]), grid.T[::2])
    assert np.array_equal(travelled(grid.astype(">f4")), grid)
    assert travelled(np.array(["a", "boat"])).tolist() == ["a", "boat"]
    half = torch.randn(2, 3).to(torch.bfloat16)
    assert torch.equal(travelled(half), half)
    assert torch.equal(travelled(torch.nn.Parameter(half.float())), half.float())
    for long in (np.longdouble, np.clongdouble):  # no other machine has to know them
        assert travelled(np.array([0.5, 2.0], long)).tolist() == [0.5, 2]
        assert travelled(long(0.25)) == 0.25
    assert [travelled(part) for part in (Fraction(-1, 3), Decimal("0.5"))] == [Fraction(-1, 3), 0.5]
    assert travelled(Fraction(1, 3**200)) == 3.0**-200
    number = travelled(np.float32(0.1))
    assert type(number) is np.float32
    assert number == np.float32(0.1)


class Yes:
    def __eq__(self, other):
        return True

    __hash__ = None


@pytest.mark.parametrize(
    "base", [int, float, str, list, tuple, dict, np.ndarray, torch.Tensor], ids=lambda base: base.__name__
)
def test_a_subclass_arrives_as_what_it_holds(base):
    kind = type("Mine", (Yes, base), {})
    if base is np.ndarray:
        value = np.ones(2).view(kind)
    elif base is torch.Tensor:
        value = torch.ones(2).as_subclass(kind)
    else:
        value = kind()
    assert type(travelled(value)) is base


def test_iterators_arrive_as_iterators():
    got = travelled(x * x for x in range(4))
    assert iter(got) is got
    assert list(got) == [0, 1, 4, 9]


def test_views_of_a_dict_are_what_they_are_to_a_check_here():
    table = {"a": 1, (2, 3): [4]}
    for given in (table, collections.OrderedDict(table), collections.ChainMap(table)):
        assert travelled(given.keys()) == {"a", (2, 3)}
        assert list(travelled(given.values())) == [1, [4]]
        assert dict(travelled(given.items())) == table
        assert [len(travelled(view)) for view in (given.keys(), given.values(), given.items())] == [2, 2, 2]
    assert travelled({"a": 1}.items()) == {"a": 1}.items()


def test_a_function_travels_only_where_it_can_be_called_back():
    functions = {}
    assert travelled([len, [abs]], functions, function=lambda number: functions[number]) == [len, [abs]]
    with pytest.raises(wire.NotData):
        travelled(len)


def endless():
    while True:
        yield 0


def nested(depth):
    made = []
    for _ in range(depth):
        made = [made]
    return made


@pytest.mark.parametrize(
    "value",
    [
        object(),
        Yes(),
        len,
        np.array([object()]),
        np.zeros(2, "i4,f8"),
        endless(),
        nested(100),
        nested(10**5),
        "a" * 10**7,
    ],
    ids=lambda value: type(value).__name__,
)
def test_what_is_no_data_does_not_travel(value):
    with pytest.raises(wire.NotData):
        wire.frame(value)


FORGED = [
    {"array": ["<f8", [2], [0, 8]]}, {"array": ["<f8", [1], [8, 8]]}, {"array": ["<f8", [1], [-8, 8]]},
    {"array": ["|O", [1], [0, 8]]}, {"array": ["f8,O", [1], [0, 8]]}, {"array": ["<f8", [-1], [0, 8]]},
    {"array": ["<f8", [0.5], [0, 8]]}, {"array": ["<f8", [1] * 40, [0, 8]]}, {"tensor": ["Tensor", [1], [0, 8]]},
    {"tensor": ["load", [1], [0, 8]]}, {"int": "0x" + "f" * 5000}, {"int": 3}, {"function": 0}, {"range": [0, 1, 0]},
    {"range": ["a"]},
    {"dict": [[[], 1]]}, {"dict": [[1]]}, {"set": [[1]]}, {"pickle": "x"}, {"a": 1, "b": 2}, {},
    {"fraction": [1, 0]}, {"fraction": [1.5, 2]}, {"fraction": [1, 10**30]}, {"array": ["|i1", [10**9, 0], [0, 0]]},
    {"tensor": ["int8", [0, 10**5, 10**5], [0, 0]]}, {"array": ["|i1", [9_000_000, 1, 1], [0, 9_000_000]]},
    {"bytes": [0, 100]}, {"complex": ["a", 1]}, {"keys": [[1]]}, {"items": [1]}, {"values": 1},
    {"set": [(2**61 - 1) * n for n in range(200)]}, {"keys": [(2**61 - 1) * n for n in range(200)]},
    {"dict": [[(2**61 - 1) * n, 0] for n in range(200)]},
]  # fmt: skip


@pytest.mark.parametrize("value", FORGED, ids=lambda value: json.dumps(value)[:40])
def test_a_forged_message_is_refused(value):
    with pytest.raises(wire.NotData):
        wire.message(json.dumps([value]).encode(), bytes(8))


def test_any_bytes_give_data_or_are_refused():
    luck = random.Random(0)
    whole = wire.frame([VALUES, np.arange(6.0), {"a": (1, 2)}, torch.ones(2)])
    text, _ = wire.lengths(whole[:8])
    refused = 0
    for _ in range(2000):
        spoilt = bytearray(whole)
        for _ in range(luck.randint(1, 4)):
            spoilt[luck.randrange(8, len(whole))] = luck.choice(b'{}[],:"0123456789abcdef\x00\xff')
        try:
            wire.message(bytes(spoilt[8 : 8 + text]), bytes(spoilt[8 + text :]))
        except wire.NotData:
            refused += 1
    assert 0 < refused < 2000


def test_a_frame_that_is_too_large_is_refused_by_its_head():
    assert wire.lengths(struct.pack(">II", 10, 20)) == (10, 20)
    for sizes in ((wire.LIMITS[0] + 1, 0), (0, wire.LIMITS[1] + 1)):
        with pytest.raises(wire.NotData):
            wire.lengths(struct.pack(">II", *sizes))
