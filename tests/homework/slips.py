"""How the wrong answers in `answers/` are written, and how they are read."""

import functools
import importlib.util
import inspect
import textwrap
from collections.abc import Callable
from pathlib import Path

ANSWERS = Path(__file__).parent / "answers"


class Wrong:
    """The wrong answers to one homework, and the points of the automatic checks that each must get.

    The grader may give some of them back: it asks failed checks of an answer that calls a wrong one again, with the
    master's in its place (`_carry_forward`).

    `wrong("name", 14, function, {"old": "new"})` is a right answer with slips: each `old` stands in it once.
    `@wrong("name", 14)` above a function puts it in place of the right one. Both may be said several times under one
    name. All other answers are the master's; without any mistake the automatic checks give `full` points.
    """

    def __init__(self, full: int) -> None:
        self.full, self.right, self.cases = full, {}, {}

    def __call__(self, name: str, points: int, right: Callable | None = None, slips: dict[str, str] | None = None):
        known, functions = self.cases.setdefault(name, (points, {}))
        assert known == points, f"{name!r} gets {known} points above and {points} here"
        assert right or not slips, f"{name!r}: slips of a right answer stand above the whole wrong ones"
        if right is None:
            return lambda wrong: functions.update({wrong.__name__: source(wrong)})
        text = self.right.setdefault(right.__name__, source(right))
        for old, new in slips.items():
            assert text.count(old) == 1, f"{name!r}: {old!r} stands {text.count(old)} times in {right.__name__}"
            text = text.replace(old, new)
        functions[right.__name__] = text
        return None


@functools.cache
def source(function: Callable) -> str:
    """The text of a function, without its decorator."""
    lines = textwrap.dedent(inspect.getsource(function)).splitlines(keepends=True)
    return "".join(lines[next(at for at, line in enumerate(lines) if line.startswith("def ")) :])


@functools.cache
def wrong_answers(stem: str) -> Wrong:
    """What `answers/STEM.py` lists."""
    spec = importlib.util.spec_from_file_location("answers_" + stem.replace("-", "_"), ANSWERS / f"{stem}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.wrong
