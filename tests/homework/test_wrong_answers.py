"""Listed wrong answers get the listed points: a check that lets one of them pass is no check."""

import contextlib
import importlib.util
import io
from pathlib import Path

import nbformat
import pytest

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


def score(stem: str, answers: dict[str, str]) -> float:
    """Points of the automatic checks when these answers take the place of the right ones."""
    master = nbformat.read(ROOT / "notebooks" / "homework" / f"{stem}.ipynb", as_version=4)
    known = {cell.metadata.get("nbgrader", {}).get("grade_id") for cell in master.cells}
    assert set(answers) <= known, f"{stem} has no answer cell {set(answers) - known}"
    space, points = {"__name__": "homework"}, 0
    for cell in master.cells:
        if cell.cell_type != "code":
            continue
        marks = cell.metadata.get("nbgrader", {})
        source = answers.get(marks.get("grade_id"), cell.source)
        try:
            with contextlib.redirect_stdout(io.StringIO()):
                exec(source, space)
        except Exception:
            assert marks.get("grade"), f"{marks.get('grade_id')}: only a check may fail"
        else:
            points += marks.get("points", 0) if marks.get("grade") else 0
    return points


@pytest.mark.parametrize(("stem", "name", "case"), CASES, ids=[f"{stem}: {name}" for stem, name, _ in CASES])
def test_a_wrong_answer_gets_the_listed_points(stem, name, case):
    assert score(stem, case["answers"]) == case["score"]


def test_every_homework_lists_wrong_answers():
    masters = {path.stem for path in (ROOT / "notebooks" / "homework").glob("[0-9]*.ipynb")}
    assert masters <= {stem for stem, name, _ in CASES if name != "no mistake"}
