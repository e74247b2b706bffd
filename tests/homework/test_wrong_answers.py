"""Listed wrong answers get the listed points: a check that lets one of them pass is no check."""

import contextlib
import importlib.util
import io
from functools import cache
from pathlib import Path

import nbformat
import pytest

from lmbook_press.assignments.questions import bound_and_read, marks
from lmbook_press.assignments.variants import drawn

ROOT = Path(__file__).parents[2]


def listed(path: Path) -> dict:
    spec = importlib.util.spec_from_file_location("answers_" + path.stem.replace("-", "_"), path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return {"no mistake": {"answers": {}, "score": module.FULL}, **module.WRONG}


CASES = [
    (path.stem, name, case)
    for path in sorted((Path(__file__).parent / "answers").glob("*.py"))
    for name, case in listed(path).items()
]


@cache
def master(stem: str) -> nbformat.NotebookNode:
    return nbformat.read(ROOT / "notebooks" / "homework" / f"{stem}.ipynb", as_version=4)


@cache
def code_cells(stem: str, secret: str | None) -> list[nbformat.NotebookNode]:
    return [cell for cell in drawn(master(stem), stem, secret).cells if cell.cell_type == "code"]


def score(stem: str, answers: dict[str, str], secret: str | None = None) -> float:
    """Points of the automatic checks when these answers take the place of the right ones.

    secret: the course's, from which the numbers of the hidden checks are drawn.
    """
    cells = code_cells(stem, secret)
    known = {marks(cell).get("grade_id") for cell in cells}
    assert set(answers) <= known, f"{stem} has no answer cell {set(answers) - known}"
    before, points = (), 0
    for cell in cells:
        source = answers.get(marks(cell).get("grade_id"), cell.source)
        if marks(cell).get("grade"):
            points += marks(cell)["points"] * passes(source, needed(source, before))
        else:
            before += ((source, marks(cell).get("solution", False)),)
    return points


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


@pytest.mark.parametrize(("stem", "name", "case"), CASES, ids=[f"{stem}: {name}" for stem, name, _ in CASES])
def test_a_wrong_answer_gets_the_listed_points(stem, name, case):
    assert score(stem, case["answers"]) == case["score"]


def test_every_homework_lists_wrong_answers():
    masters = {path.stem for path in (ROOT / "notebooks" / "homework").glob("[0-9]*.ipynb")}
    assert masters <= {stem for stem, name, _ in CASES if name != "no mistake"}
