"""Inputs for a function that its author has not seen: small, like those of the visible checks, and other ones.

The visible checks are run in the grader with the master's answers, and each call of an answer is kept.  Numbers, words
and entries of arrays in it are then drawn anew; a draw counts if the master returns a value for it.
"""

import ast
import copy
import math
import random
import re
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np

from lmbook_grader.grading.hidden_tests import execute
from lmbook_grader.sandbox.session import Stopped
from lmbook_press.assignments.questions import Homework, marks

LONGEST = 560  # characters of a call on the page
REGION = re.compile(r"### BEGIN HIDDEN TESTS\n.*?### END HIDDEN TESTS", re.DOTALL)
TRAINING = re.compile(r"train|tune")  # in the names of functions that no pencil can follow
SECONDS = 0.05  # a draw's; `execute` allows twelve times that on the clock
CHECK = 0.25  # likewise of a visible check: one that trains for longer shows no small call
SHARES, REALS = (0.1, 0.2, 0.25, 0.4, 0.5, 0.75, 0.8), (0.0, 1.0, 2.0, 3.0, -1.0, 0.5)
POSITIVE = (0.5, 1.0, 2.0, 3.0, 4.0)
FEW = 8  # entries of an array that is written out


@dataclass(frozen=True)
class Call:
    """A call of a function with plain data."""

    name: str
    arguments: tuple
    options: dict

    def __str__(self) -> str:
        given = [source(one) for one in self.arguments]
        return f"{self.name}({', '.join([*given, *(f'{key}={source(one)}' for key, one in self.options.items())])})"


def source(value: Any) -> str:
    """A value as Python that makes it.  Raises TypeError for one that is no plain data."""
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, bool | int | str):
        return repr(value)
    if isinstance(value, float):
        return {math.inf: "math.inf", -math.inf: "-math.inf"}.get(value) or f"{value:.6g}" + ".0" * value.is_integer()
    if isinstance(value, np.ndarray) or _is_tensor(value):
        return _array_source(value)
    if isinstance(value, tuple):
        return f"({', '.join(map(source, value))}{',' * (len(value) == 1)})"
    if isinstance(value, list):
        return f"[{', '.join(map(source, value))}]"
    if isinstance(value, set | frozenset):
        return f"{{{', '.join(sorted(map(source, value)))}}}" if value else "set()"
    if isinstance(value, dict):
        return f"{{{', '.join(f'{source(key)}: {source(one)}' for key, one in value.items())}}}"
    raise TypeError(type(value).__name__)


def _is_tensor(value: Any) -> bool:
    return type(value).__module__.split(".")[0] == "torch" and hasattr(value, "tolist") and hasattr(value, "shape")


def _array_source(value: Any) -> str:
    """An array as it is written: one of zeros, of ones, or a unit matrix by its name."""
    entries, shape = np.asarray(value.tolist()), tuple(value.shape)
    library, size = ("torch", ", ".join(map(str, shape))) if _is_tensor(value) else ("np", str(shape))
    if entries.size > FEW and entries.dtype.kind == "f":
        for name, constant in (("zeros", 0.0), ("ones", 1.0)):
            if (entries == constant).all():
                return f"{library}.{name}({size})"
        if entries.ndim == 2 and shape[0] == shape[1] and (entries == np.eye(shape[0])).all():
            return f"{library}.eye({shape[0]})"
    return f"{'torch.tensor' if library == 'torch' else 'np.array'}({source(value.tolist())})"


def seen_calls(homework: Homework) -> tuple[dict[str, list[Call]], dict[str, Callable]]:
    """The calls that the visible checks make, by function, and the master's functions."""
    calls: dict[str, list[Call]] = {}
    space: dict[str, Any] = {"__name__": "homework"}
    names: set[str] = set()
    functions: dict[str, Callable] = {}
    for cell in homework.grading.cells:
        if cell.cell_type != "code":
            continue
        if marks(cell).get("grade") and not marks(cell).get("solution"):
            _record(REGION.sub("", cell.source), space, names, calls)
            continue
        with suppress(Exception, Stopped):
            execute(compile(cell.source, "<master>", "exec"), space, 5)
        if marks(cell).get("solution"):
            new = {node.name for node in ast.parse(cell.source).body if isinstance(node, ast.FunctionDef)}
            names |= new
            functions |= {name: space[name] for name in new if name in space}
    return {name: found for name, found in calls.items() if name in functions}, functions


def _record(check: str, space: dict, names: set[str], calls: dict[str, list[Call]]) -> None:
    here = dict(space)

    def recorded(name: str, function: Callable) -> Callable:
        def called(*arguments, **options):
            with suppress(Exception):  # what cannot be copied or written down is no input for a page
                call = Call(name, copy.deepcopy(arguments), copy.deepcopy(options))
                str(call)
                calls.setdefault(name, []).append(call)
            return function(*arguments, **options)

        return called

    here |= {name: recorded(name, space[name]) for name in names if callable(space.get(name))}
    with suppress(Exception, Stopped):
        execute(compile(check, "<check>", "exec"), here, CHECK)


def drawn_calls(homework: Homework, seed: str, wanted: int = 40) -> dict[str, list[Call]]:
    """By function, calls that no visible check makes, the same for the same seed."""
    seen, functions = seen_calls(homework)
    found: dict[str, list[Call]] = {}
    for name, templates in seen.items():
        if TRAINING.search(name):
            continue
        dice, known = random.Random(f"{seed}\n{name}"), {str(call) for call in templates}
        for turn in range(6 * wanted):
            template = templates[turn % len(templates)]
            call = _drawn(template, dice)
            text = str(call)
            if len(text) > LONGEST or text in known or not _works(functions[name], call):
                continue
            known.add(text)
            found.setdefault(name, []).append(call)
            if len(found[name]) == wanted:
                break
    return found


def _works(function: Callable, call: Call) -> bool:
    """Whether the master returns something without NaN."""
    given = copy.deepcopy((call.arguments, call.options))
    space = {"function": function, "given": given, "__name__": "homework"}
    try:
        execute(compile("result = function(*given[0], **given[1])", "<draw>", "exec"), space, SECONDS)
        return "nan" not in repr(space["result"])
    except (Exception, Stopped):
        return False


def _drawn(call: Call, dice: random.Random) -> Call:
    words = [one for argument in (*call.arguments, *call.options.values()) for one in _words(argument)]
    arguments = tuple(_varied(copy.deepcopy(one), dice, words) for one in call.arguments)
    return Call(
        call.name, arguments, {key: _varied(copy.deepcopy(one), dice, words) for key, one in call.options.items()}
    )


def _words(value: Any) -> list[str]:
    if isinstance(value, str):
        return [value]
    if isinstance(value, dict):
        return [word for key, one in value.items() for word in (*_words(key), *_words(one))]
    if isinstance(value, list | tuple):
        return [word for one in value for word in _words(one)]
    return sorted(one for one in value if isinstance(one, str)) if isinstance(value, set | frozenset) else []


def _varied(value: Any, dice: random.Random, words: list[str]) -> Any:
    """The value with other numbers and words of the same kinds."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, bool) or value is None:
        return value
    if isinstance(value, int):
        return max(value + dice.choice((-1, 0, 1, 2)), 0) if value >= 0 else value
    if isinstance(value, float):
        if 0 <= value <= 1:
            return dice.choice(SHARES)
        return dice.choice((2.0, 3.0, 4.0)) if math.isfinite(value) else value
    if isinstance(value, str):
        return _spelled(value, dice, words)
    if isinstance(value, list | tuple):
        return type(value)(_row(list(value), dice, words))
    if isinstance(value, dict):
        if _whole(value.values()):
            kept = list(value.values())
            dice.shuffle(kept)
            return dict(zip(value, kept, strict=True))
        return {key: _varied(one, dice, words) for key, one in value.items()}
    if hasattr(value, "tolist") and hasattr(value, "shape"):
        return _array(value, dice)
    return value


def _spelled(value: str, dice: random.Random, words: list[str]) -> str:
    pieces = value.split(" ")
    if len(pieces) > 1:
        dice.shuffle(pieces)
        return " ".join(pieces)
    others = [word for word in words if len(word) > 1 and " " not in word]
    if len(set(others)) > 1 and len(value) > 1:
        return dice.choice(others)
    letters = list(value)
    dice.shuffle(letters)
    return "".join(letters)


def _row(items: list, dice: random.Random, words: list[str]) -> list:
    if len(items) > 6:  # a long text becomes a short one
        start = dice.randrange(len(items) - 4)
        return items[start : start + dice.randrange(3, 7)]
    if _whole(items) or (items and all(isinstance(one, int) and not isinstance(one, bool) for one in items)):
        dice.shuffle(items)
        return items[: dice.randrange(2, len(items) + 1)] if len(items) > 2 and not _whole(items) else items
    made = [_varied(one, dice, words) for one in items]
    return made[:-1] if len(made) > 2 and dice.random() < 0.3 else made


def _whole(values: Any) -> bool:
    """Whether these are the probabilities of a distribution, whose order may change and whose values may not."""
    values = list(values)
    real = len(values) > 1 and all(isinstance(one, float) for one in values)
    return real and min(values) >= 0 and abs(sum(values) - 1) < 1e-9


def _array(value: Any, dice: random.Random) -> Any:
    """An array or tensor of the same shape and kind: whole numbers in another order, others small."""
    flat, torch = np.asarray(value.tolist()).reshape(-1), _is_tensor(value)
    if flat.dtype.kind == "f" and flat.size > FEW:
        square = len(value.shape) == 2 and value.shape[0] == value.shape[1]
        new = np.eye(value.shape[0]).reshape(-1).tolist() if square else [dice.choice((0.0, 1.0))] * flat.size
    elif flat.dtype.kind == "f" and flat.size and not _whole(flat.tolist()):
        kinds = SHARES if flat.min() >= 0 and flat.max() < 1 else POSITIVE if flat.min() > 0 else REALS
        new = [dice.choice(kinds) for _ in flat]
    else:
        new = flat.tolist()
        dice.shuffle(new)
    made = np.array(new, dtype=flat.dtype).reshape(tuple(value.shape))
    if not torch:
        return made.astype(value.dtype)
    import torch as library

    return library.tensor(made.tolist(), dtype=value.dtype).reshape(tuple(value.shape))


def broken_calls(call: Call) -> list[Call]:
    """The call with one argument at a time replaced by what often stops a program, the likelier first."""
    natural: list[tuple[int, Any]] = []
    others: list[tuple[int, Any]] = []
    for at, value in enumerate(call.arguments):
        if isinstance(value, list | tuple | set | dict | str):
            natural.append((at, type(value)()))
        if isinstance(value, dict) and len(value) > 1:
            natural.append((at, dict(list(value.items())[1:])))
        if isinstance(value, list) and value:
            natural += [
                (at, [*value[:-1], _zero(value[-1])]),
                (at, [*value, "sand"] if isinstance(value[0], str) else [0]),
            ]
        if isinstance(value, str):
            natural.append((at, "sand"))
        if isinstance(value, int | float) and not isinstance(value, bool):
            natural += [(at, type(value)(0)), (at, type(value)(-1)), (at, type(value)(100))]
        if isinstance(value, np.ndarray):
            natural += [(at, np.zeros(0)), (at, value[:-1] if value.ndim else value), (at, value.reshape(-1))]
        elif hasattr(value, "tolist") and hasattr(value, "shape"):
            natural += [(at, value[:-1] if value.ndim else value), (at, value.reshape(-1))]
        others += [(at, None), (at, "sand" if not isinstance(value, str) else 3)]
    return [
        Call(call.name, (*call.arguments[:at], new, *call.arguments[at + 1 :]), call.options)
        for at, new in natural + others
    ]


def _zero(value: Any) -> Any:
    """The value with zeros for its numbers, and nothing in its texts and lists."""
    if isinstance(value, tuple):
        return tuple(map(_zero, value))
    return type(value)() if isinstance(value, bool | int | float | str | list | dict) else value
