"""Answers that derive nothing get nothing: empty, zero, constant, broadcast, NaN, the argument, a table of known calls,
small steps where a formula is asked for.  And right answers in another honest form get what the visible check promises.

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


STEPS = """
import numpy as np


def by_steps(f, a):
    a = np.array(a, dtype=float)
    found = np.zeros_like(a)
    for i in np.ndindex(a.shape):
        up, down = a.copy(), a.copy()
        up[i] += {step}
        down[i] -= {step}
        found[i] = (f(up) - f(down)) / (up[i] - down[i])
    return found


def mean_loss(Z, came):
    top = Z.max(axis=1, keepdims=True)
    return np.mean(np.log(np.exp(Z - top).sum(axis=1)) + (top - Z)[np.arange(len(came)), came])
"""
# homework and answer -> the same by small steps; a student may have a good reason for each length of a step
BY_STEPS = {
    ("05-backpropagation", "gradients"): """
def gradients(W, b, X, came):
    return {
        "W": by_steps(lambda W: mean_loss(X @ W.T + b, came), W),
        "b": by_steps(lambda b: mean_loss(X @ W.T + b, came), b),
    }
""",
    ("05-backpropagation", "engine"): """
def engine(program, leaves):
    def run(leaves):
        nodes = [np.array(leaf, dtype=float) for leaf in leaves]
        for rule, inputs, *constant in program:
            nodes.append(RULES[rule][0](*(nodes[i] for i in inputs), *constant))
        return float(nodes[-1])

    found = [by_steps(lambda a, i=i: run([*leaves[:i], a, *leaves[i + 1 :]]), leaf) for i, leaf in enumerate(leaves)]
    return {"value": run(leaves), "gradients": found}
""",
    ("06-recurrent-lm", "window"): """
def back(weights, inputs, targets, h0, H):
    inputs, targets = np.asarray(inputs), np.asarray(targets)

    def loss(w):
        h, losses = h0, []
        for x, y in zip(inputs.T, targets.T):
            h = np.tanh(h @ w["weight_hh_l0"].T + w["weight_ih_l0"].T[x] + w["bias_ih_l0"] + w["bias_hh_l0"])
            losses.append(mean_loss(h @ w["out"].T, y))
        return np.mean(losses)

    found = {name: by_steps(lambda v, name=name: loss(weights | {name: v}), value) for name, value in weights.items()}
    return {"loss": 0.0, "gradients": found}
""",
    ("07-long-memory", "back"): """
def lstm_back(w, x, h, c, dh, dc):
    given = w | {"h": h, "c": c}

    def value(given):
        after = lstm_step(given, x, given["h"], given["c"])
        return (after[0] * dh).sum() + (after[1] * dc).sum()

    return {name: by_steps(lambda v, name=name: value(given | {name: v}), old) for name, old in given.items()}
""",
    ("12-queries-keys-values", "gradients"): """
def gradients(q, K, V, g):
    given = {"q": q, "K": K, "V": V}

    def value(given):
        e = given["K"] @ given["q"] / len(q) ** 0.5
        p = np.exp(e - e.max())
        return p @ given["V"] @ g / p.sum()

    return {name: by_steps(lambda v, name=name: value(given | {name: v}), old) for name, old in given.items()}
""",
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("step", ["1e-5", "(6e-6 * abs(a[i]) or 1e-6)", "1e-3 * max(abs(a[i]), 1e-3)"])
@pytest.mark.parametrize(("stem", "question"), list(BY_STEPS))
def test_small_steps_of_any_length_get_nothing_where_a_formula_is_asked_for(stem, question, step):
    answers = {question: STEPS.format(step=step) + BY_STEPS[stem, question]}
    assert [name for name, (_, passed) in graded(stem, answers, SECRET, alone=True).items() if passed] == []
    seen = graded(stem, answers, SECRET, hidden=False, alone=True)
    assert any(passed for _, passed in seen.values()), "they compute what they are here for"
