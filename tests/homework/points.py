"""Points of a master's automatic checks for given answers, without walls: fast enough for hundreds of wrong answers."""

import ast
import contextlib
import io
import re
from functools import cache
from pathlib import Path

import nbformat

from lmbook_press.assignments.questions import bound_and_read, marks
from lmbook_press.assignments.variants import drawn, filled_in, key, own, values

ROOT = Path(__file__).parents[2]
REGION = re.compile(r"### BEGIN HIDDEN TESTS\n.*?### END HIDDEN TESTS", re.DOTALL)
STEMS = sorted(path.stem for path in (ROOT / "notebooks" / "homework").glob("[0-9]*.ipynb"))
TRAINING = tuple(stem for stem in STEMS if stem[:2] in ("09", "11", "13", "15", "16", "17"))  # for seconds, at the end


@cache
def open_master(stem: str) -> nbformat.NotebookNode:
    """The master in which what is drawn for each student is open."""
    return nbformat.read(ROOT / "notebooks" / "homework" / f"{stem}.ipynb", as_version=4)


@cache
def master(stem: str) -> nbformat.NotebookNode:
    """The master of the edition for all."""
    return own(open_master(stem), "")


@cache
def code_cells(stem: str, secret: str | None, student: str | None = None) -> list[nbformat.NotebookNode]:
    return [cell for cell in drawn(open_master(stem), stem, secret, student).cells if cell.cell_type == "code"]


def with_values(stem: str, source: str, secret: str | None, student: str | None) -> str:
    """The source of an answer as it is right, or wrong, in the edition of a student."""
    return filled_in(source, values(open_master(stem), key(secret or "", stem), student))


def with_functions(stem: str, functions: dict[str, str]) -> dict[str, str]:
    """The master's answer cells in which these functions stand, with them: grade_id -> source."""
    answers, left = {}, set(functions)
    for cell in open_master(stem).cells:
        if cell.cell_type == "code" and marks(cell).get("solution"):
            lines = cell.source.splitlines()
            found = [node for node in ast.parse(cell.source).body if getattr(node, "name", None) in functions]
            for node in reversed(found):
                lines[node.lineno - 1 : node.end_lineno] = functions[node.name].splitlines()
                answers[marks(cell)["grade_id"]] = "\n".join(lines)
            left -= {node.name for node in found}
    assert not left, f"{stem} has no answer cell with {left}"
    return answers


def score(stem: str, answers: dict[str, str], secret: str | None = None, student: str | None = None) -> float:
    """Points of the automatic checks when these answers take the place of the right ones.

    secret: the course's, from which the numbers of the hidden checks are drawn.  student: in whose edition.
    """
    return sum(points for points, passed in graded(stem, answers, secret, student=student).values() if passed)


def graded(
    stem: str,
    answers: dict[str, str],
    secret: str | None = None,
    hidden: bool = True,
    alone: bool = False,
    student: str | None = None,
) -> dict[str, tuple[float, bool]]:
    """grade_id of a check -> its points, and whether it passes; not hidden: whether its visible part does.

    alone: only those that stand below one of these answers, before the next.
    """
    cells = code_cells(stem, secret, student)
    answers = {name: with_values(stem, source, secret, student) for name, source in answers.items()}
    known = {marks(cell).get("grade_id") for cell in cells}
    assert set(answers) <= known, f"{stem} has no answer cell {set(answers) - known}"
    before, found, question = (), {}, None
    for cell in cells:
        mark = marks(cell)
        source = answers.get(mark.get("grade_id"), cell.source)
        question = mark["grade_id"] if mark.get("solution") else question
        if alone and mark.get("grade") and question not in answers:
            continue
        if mark.get("grade"):
            shown = source if hidden else REGION.sub("", source)
            found[mark["grade_id"]] = mark["points"], passes(shown, needed(shown, before))
        else:
            before += ((source, mark.get("solution", False)),)
    return found


names = cache(bound_and_read)
compiled = cache(lambda source: compile(source, "<cell>", "exec"))


@cache
def needed(check: str, before: tuple[tuple[str, bool], ...]) -> tuple[str, ...]:
    """Of the cells (source, is an answer) before a check: all given ones, and the answers read by it or by others."""
    kept = {source for source, answer in before if not answer}
    read = set().union(*(names(source)[1] for source in (check, *kept)))
    while more := {source for source, _ in before if source not in kept and names(source)[0] & read}:
        kept |= more
        read = read.union(*(names(source)[1] for source in more))
    return tuple(source for source, _ in before if source in kept)


@cache
def passes(check: str, before: tuple[str, ...]) -> bool:
    """Whether a check runs without an error after these cells; asked once, as no check depends on another check."""
    space = {"__name__": "homework"}
    with contextlib.redirect_stdout(io.StringIO()):
        for source in before:
            exec(compiled(source), space)
        try:
            exec(compiled(check), space)
        except Exception:
            return False
    return True
