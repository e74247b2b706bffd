"""Answers that derive nothing get nothing: empty, zero, constant, broadcast, NaN, the argument, a table of known calls.
And right answers in another honest form get what the visible check promises.

What stands for a function here knows more than any student: it computes what is right and spoils it.
"""

import pickle
from collections.abc import Callable
from functools import cache

import numpy as np
import pytest
import torch
from points import STEMS, TRAINING, code_cells, graded

from lmbook_press.assignments.questions import defined, marks

SECRET = "a sentence that only the course knows"


def spoilt(of_array: Callable, of_number: Callable, of_list: Callable = list, text: bool = False) -> Callable:
    """(right, first, arguments) -> the right value with each array, number and list in it changed."""

    def leaves(value):
        if isinstance(value, torch.Tensor):
            value = value.detach().numpy() if value.dim() else value.item()
        if isinstance(value, np.ndarray):
            return of_array(value)
        if isinstance(value, dict):
            return {key: leaves(part) for key, part in value.items()}
        if isinstance(value, tuple | list):
            return of_list(map(leaves, value)) if isinstance(value, list) else tuple(map(leaves, value))
        if isinstance(value, str) or value is None:
            return value if text else ""
        return of_number(value)

    return lambda right, first, arguments: leaves(right)


def filled(number: float) -> Callable:
    return spoilt(lambda a: np.full(a.shape, number), lambda x: number)


def fixed(value: object) -> Callable:
    return lambda right, first, arguments: value


DEGENERATE = {
    "empty": spoilt(lambda a: np.zeros((0,) + (1,) * (a.ndim - 1)), lambda x: np.zeros(0), lambda parts: []),
    "empty, of three axes": fixed(np.zeros((0, 1, 1))),
    "nothing": fixed({}),
    "zeros": filled(0.0),
    "ones": filled(1.0),
    "not a number": filled(np.nan),
    "one number for all": spoilt(lambda a: np.full((1,) * a.ndim, a.mean() if a.size else 0.0), lambda x: 0.5),
    "one axis more": spoilt(lambda a: a[None], lambda x: np.zeros((1, 1))),
    "yes": fixed(True),
    "no": fixed(False),
    "the first answer again": lambda right, first, arguments: first,
    "the argument": lambda right, first, arguments: arguments[0] if arguments else None,
}


HONEST = {
    "nested lists": spoilt(lambda a: a.tolist(), lambda x: x, text=True),
    "numbers of NumPy": spoilt(lambda a: a, lambda x: np.asarray(x)[()], text=True),
}


def asked(function: str, arguments: tuple, options: dict) -> bytes:
    return pickle.dumps((function, arguments, sorted(options.items())))


@cache
def published(stem: str) -> dict[bytes, object]:
    """Every call that the checks make without a secret, and what is right."""
    known, space = {}, {"__name__": "homework"}

    def remembered(name, function):
        def called(*arguments, **options):
            key = asked(name, arguments, options)
            known[key] = function(*arguments, **options)
            return known[key]

        return called

    for cell in code_cells(stem, None):
        exec(cell.source, space)
        if marks(cell).get("solution"):
            space |= {name: remembered(name, space[name]) for name in defined(cell.source)[0]}
    return known


FIRST: dict[tuple[str, str], object] = {}  # homework and function -> the first right answer


def answer(change: str, stem: str, name: str, right: Callable, arguments: tuple, options: dict):
    """What stands for the function `name`; the answers of this file call it."""
    if change == "table":
        return published(stem)[asked(name, arguments, options)]
    value = right(*arguments, **options)
    return (DEGENERATE | HONEST)[change](value, FIRST.setdefault((stem, name), value), arguments)


def passing(stem: str, change: str, secret: str | None = None, hidden: bool = True) -> list[str]:
    """The checks that answers changed in this way pass; not hidden: their visible parts."""
    answers = {}
    for cell in code_cells(stem, secret):
        if marks(cell).get("solution"):
            lines = [cell.source, "from test_degenerate import answer as _answer"]
            for name in sorted(defined(cell.source)[0]):
                given = f"{change!r}, {stem!r}, {name!r}, _right_{name}, arguments, options"
                lines += [
                    f"_right_{name} = {name}",
                    f"def {name}(*arguments, **options):",
                    f"    return _answer({given})",
                ]
            answers[marks(cell)["grade_id"]] = "\n".join(lines)
    return [name for name, (_, passed) in graded(stem, answers, secret, hidden).items() if passed]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("stem", STEMS)
def test_an_answer_that_derives_nothing_gets_nothing(stem):
    assert {change: names for change in DEGENERATE if (names := passing(stem, change))} == {}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("stem", STEMS)
def test_what_passes_the_visible_check_in_its_form_passes_the_hidden_one(stem):
    for change in HONEST:
        assert passing(stem, change) == passing(stem, change, hidden=False), change


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("stem", [pytest.param(s, marks=[pytest.mark.weekly] * (s in TRAINING)) for s in STEMS])
def test_a_table_of_the_published_calls_gets_nothing_under_a_secret(stem):
    assert passing(stem, "table", SECRET) == []


def test_the_table_is_right_where_nothing_is_secret():
    """So that the test above can fail."""
    assert passing("12-queries-keys-values", "table") == list(graded("12-queries-keys-values", {}))
