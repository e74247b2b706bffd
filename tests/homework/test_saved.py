"""For right and listed wrong answers the file that a page makes is read by the grader like the student's own."""

import json
from functools import cache

import nbformat
import pytest
from points import STEMS, master, with_functions, with_values
from py_mini_racer import MiniRacer
from slips import wrong_answers

from lmbook_grader.intake.reading import open_submission
from lmbook_grader.self_check import RELEASES
from lmbook_press.assignments.questions import marks
from lmbook_press.site import homework


def answered(stem: str, functions: dict[str, str]) -> dict[str, str]:
    """The answers by name: the master's, these functions in them."""
    right = {marks(cell)["grade_id"]: cell.source for cell in master(stem).cells if marks(cell).get("solution")}
    return right | {
        name: with_values(stem, source, None, None) for name, source in with_functions(stem, functions).items()
    }


def solved(stem: str, functions: dict[str, str]) -> nbformat.NotebookNode:
    """The release with these answers, as a student hands it in."""
    answers, notebook = answered(stem, functions), nbformat.read(RELEASES / f"{stem}.ipynb", as_version=4)
    for cell in notebook.cells:
        if marks(cell).get("solution"):
            cell.source = answers[marks(cell)["grade_id"]]
    return notebook


@cache
def page() -> MiniRacer:
    """notebook.mjs without a browser."""
    machine = MiniRacer()
    machine.eval(homework.parts()["notebook.mjs"].decode().replace("\nexport ", "\n") + "\n;undefined")
    return machine


def saved(text: str, answers: dict[str, str]) -> str:
    """What the page saves when these answers are typed into the file of this text."""
    return page().eval(
        f"(() => {{ const notebook = read({json.dumps(text)}); const answers = {json.dumps(answers)};"
        "for (const cell of notebook.cells) if (isAnswer(cell)) cell.source = answers[gradeId(cell)];"
        "return textOf(notebook); })()"
    )


DAILY = ("01", "07", "14")


EACH = pytest.mark.parametrize(
    "stem", [pytest.param(stem, marks=() if stem[:2] in DAILY else pytest.mark.weekly) for stem in STEMS]
)


@EACH
def test_the_file_of_a_page_is_the_students(stem, tmp_path):
    text = (RELEASES / f"{stem}.ipynb").read_text(encoding="utf-8")
    assert page().eval(f"textOf(read({json.dumps(text)}))") == text, "untouched, it is what was handed out"
    for functions in [{}, *(functions for _, functions in wrong_answers(stem).cases.values())]:
        wanted = solved(stem, functions)
        made = tmp_path / "page.ipynb"
        made.write_text(saved(text, answered(stem, functions)), encoding="utf-8")
        assert nbformat.read(made, as_version=4) == wanted, "cells, ids and metadata too"
        nbformat.write(wanted, tmp_path / "own.ipynb")
        assert open_submission(made) == open_submission(tmp_path / "own.ipynb"), "what the grader reads"


@EACH
def test_what_was_handed_out_is_found_again_under_the_answers(stem):
    text = (RELEASES / f"{stem}.ipynb").read_text(encoding="utf-8")
    full = saved(text, answered(stem, {}))
    again = page().eval(f"textOf(handedOut(read({json.dumps(full)}), read({json.dumps(text)})))")
    assert json.loads(again) == json.loads(text)


def kinship(notebook: str, release: str) -> str:
    return page().eval(f"kinship(read({json.dumps(notebook)}), read({json.dumps(release)}))")


def test_a_file_is_told_from_another_homeworks_and_from_one_that_was_drawn():
    first, second = ((RELEASES / f"{stem}.ipynb").read_text(encoding="utf-8") for stem in STEMS[:2])
    assert kinship(saved(first, answered(STEMS[0], {})), first) == "same"
    assert kinship(second, first) == "other"
    drawn = json.loads(first)
    graded = [cell for cell in drawn["cells"] if cell["metadata"].get("nbgrader", {}).get("locked")]
    graded[0]["source"] = ["assert True\n"]
    assert kinship(json.dumps(drawn), first) == "own"


@pytest.mark.parametrize("text", ["", "{", "[]", '{"cells": 3}', '{"cells": [], "nbformat": 3}'])
def test_what_is_no_notebook_is_said_in_words(text):
    said = page().eval(f"(() => {{ try {{ read({json.dumps(text)}); }} catch (error) {{ return error.message; }} }})()")
    assert said.startswith(("This file is not a notebook", "This notebook has an old format"))
