"""Hints: which misconception a wrong answer holds, found by asking it, and the section to read again.

A homework has one file of hints, hints/NN-name.py here, or NN-name.hints.py beside a release of a course's own.  Each
names a question, a sentence, and a probe: a function whose parameters are named after functions of the notebook.  It
calls them on tiny inputs, and is true where they do what this misconception does.  The text of an answer is never
looked at.  Of the hints to one question the first that is true is given.

Where a number in the question is drawn for each student, a probe says that it holds for all of them by a parameter with
the number's name and the value in the edition for all, `def no_end(loss, PER=1)`; others are not asked there.

The files are on every student's machine, so a probe compares with what is *wrong*, or looks at what must hold whatever
is right: a sum, a shape, a sign, what a changed input changes.  No value of a hidden check stands here, and no line of
a solution (tests/homework/test_hints.py).
"""

import importlib.util
import inspect
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np

FOLDER = Path(__file__).parent
ENDING = ".hints.py"


@dataclass(frozen=True)
class Hint:
    """question: the answer's grade_id, whose section in the master's metadata is the one to read again."""

    question: str
    says: str
    probe: Callable[..., object]

    @property
    def functions(self) -> list[str]:
        """The functions of the notebook that the probe asks: its parameters without a value."""
        parameters = inspect.signature(self.probe).parameters.values()
        return [one.name for one in parameters if one.default is one.empty]

    def drawn(self, values: dict[str, object]) -> dict[str, object]:
        """The values, drawn for a student, that the probe takes: its parameters with that of the edition for all."""
        return {name: values[name] for name in inspect.signature(self.probe).parameters if name in values}

    def holds(self, values: dict[str, object]) -> bool:
        """Whether the probe is right in an edition in which the answer depends on these values."""
        return not values or bool(self.drawn(values))


class Hints(list):
    """The hints of a homework: `@hint("question", "What is wrong.")` above a probe adds one."""

    def __call__(self, question: str, says: str) -> Callable:
        def add(probe: Callable) -> Callable:
            self.append(Hint(question, says, probe))
            return probe

        return add


def of(release: Path) -> list[Hint]:
    """The hints to the homework with this release; none where nobody has written any."""
    own = release.with_suffix(ENDING)
    return read(own if own.is_file() else FOLDER / f"{release.stem}.py")


@cache
def read(path: Path) -> list[Hint]:
    """What a file of hints lists, which it names `hint`."""
    if not path.is_file():
        return []
    spec = importlib.util.spec_from_file_location("hints_" + path.stem.replace("-", "_"), path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.hint


def array(value: object) -> np.ndarray:
    """Numbers, nested lists, arrays or tensors as an array of floats."""
    return np.asarray(value.detach() if hasattr(value, "detach") else value, dtype=float)


def close(found: object, wanted: object, within: float = 1e-6) -> bool:
    """The same shape, and the same values but for rounding."""
    one, other = array(found), array(wanted)
    return one.shape == other.shape and np.allclose(one, other, within, within, equal_nan=True)


def fails(function: Callable, *arguments: object) -> bool:
    """Whether a call raises."""
    try:
        function(*arguments)
    except Exception:
        return True
    return False
