"""What happens to honest people: mistakes, endless loops, moved cells, broken files.  The rest is still graded."""

import json

import nbformat
import pytest
import small
from nbformat.v4 import new_code_cell

from lmbook_grader.intake.match_answers import place
from lmbook_grader.intake.reading import open_submission
from lmbook_grader.sandbox.commands import Limits

FULL = {"double": 3, "shares": 3, "lengths": 2}


def points(result: dict) -> dict[str, float]:
    assert result["status"] == "graded", result["why"]
    return {question["id"]: question["points"] for question in result["questions"] if question["id"] != "why"}


def said(result: dict, name: str) -> str:
    question = next(question for question in result["questions"] if question["id"] == name)
    return " ".join([question["status"], *(check["message"] for check in question["checks"])])


# name: the answers that are not right as they should be, the points wanted, what is said of the first of them
# fmt: off
ANSWERS = {
    "perfect": ({}, FULL, ""),
    "half": ({"double": "def double(x):\n    return x + 1 if x == 1 else x * x"}, FULL | {"double": 1}, "partly"),
    "empty": (dict.fromkeys(small.RIGHT), dict.fromkeys(FULL, 0), "missing There is no answer yet."),
    "a syntax error": ({"double": "def double(x)\n    return 2 * x"}, FULL | {"double": 0}, "SyntaxError"),
    "an exception in the cell": ({"double": "1 / 0\ndef double(x):\n    return x"}, FULL | {"double": 0}, "line 1"),
    "an exception after the answer": ({"double": "def double(x):\n    return 2 * x\n1 / 0"}, FULL, "right"),
    "an exception in the function": (
        {"double": "def double(x):\n    return [][x]"},
        FULL | {"double": 0}, "in line 2 of cell 4 with IndexError",
    ),
    "nothing returned": ({"double": "def double(x):\n    print(2 * x)"}, FULL | {"double": 0}, "wrong"),
    "an endless loop in the cell": ({"double": "while True:\n    pass"}, FULL | {"double": 0}, "stopped after 1 s"),
    "an endless loop in the function": (
        {"double": "def double(x):\n    while x != 1:\n        pass\n    return 2"},
        FULL | {"double": 0}, "stopped after 1 s",
    ),
    "an endless loop for one hidden case": (
        {"double": "def double(x):\n    while x == 0:\n        pass\n    return 2 * x"},
        FULL | {"double": 2}, "no end in time",
    ),
    "sleeping for ever": ({"double": "import time\ntime.sleep(1e6)"}, FULL | {"double": 0}, "stopped"),
    "endless recursion": ({"double": "def double(x):\n    return double(x)"}, FULL | {"double": 0}, "RecursionError"),
    "exit in the cell": ({"double": "def double(x):\n    return 2 * x\nexit()"}, FULL, "right"),
    "sys.exit in the function": (
        {"double": "import sys\ndef double(x):\n    sys.exit(0)"},
        FULL | {"double": 0}, "SystemExit",
    ),
    "os._exit in the cell": ({"double": "import os\nos._exit(0)"}, FULL | {"double": 0}, "ended the whole program"),
    "os._exit in the function": (
        {"double": "import os\ndef double(x):\n    os._exit(0)"},
        FULL | {"double": 0}, "ended the whole program",
    ),
    "the process killed": ({"double": "import os\nos.kill(os.getpid(), 9)"}, FULL | {"double": 0}, "ended the whole"),
    "a crash": ({"double": "import ctypes\ndef double(x):\n    ctypes.string_at(0)"}, FULL | {"double": 0}, "error"),
    "8 GB": (
        {"double": "def double(x):\n    return len(bytearray(8_000_000_000)) * x"},
        FULL | {"double": 0}, "MemoryError",
    ),
    "memory bit by bit": (
        {"double": "def double(x):\n    held = []\n    while True:\n        held.append(bytearray(10_000_000))"},
        FULL | {"double": 0}, "MemoryError",
    ),
    "endless output": ({"double": "while True:\n    print('a' * 1000)"}, FULL | {"double": 0}, "stopped"),
    "a warning": (
        {"double": (
            "import sys, warnings\n"
            "def double(x):\n"
            "    warnings.warn('old')\n"
            "    sys.stderr.write('hm')\n"
            "    return 2 * x"
        )},
        FULL, "right",
    ),
    "magics": ({"double": "%precision 3\n!ls\ndef double(x):\n    return 2 * x\ndouble?"}, FULL, "right"),
    "display and input": (
        {"double": "def double(x):\n    display(x)\n    return 2 * x\ninput('go on?')"},
        FULL, "right",
    ),
    "NumPy numbers": ({"double": "def double(x):\n    return np.float64(2) * x"}, FULL, "right"),
    "a Counter": (
        {"lengths": "from collections import Counter\ndef lengths(w):\n    return Counter({x: len(x) for x in w})"},
        FULL, "",
    ),
    "a model returned": (
        {"double": "class Model: pass\ndef double(x):\n    return Model()"},
        FULL | {"double": 0}, "expected: 2",
    ),
    "a closed module": (
        {"double": "from lmbook.ngram import NGram\ndef double(x):\n    return 2 * x"},
        FULL, "",
    ),
    "a closed module used": (
        {"double": "from lmbook.ngram import NGram\ndef double(x):\n    return NGram and 2 * x"},
        FULL | {"double": 0}, "holds answers of this homework and is closed while it is graded; answer without it.",
    ),
    "another question's function": (
        {"lengths": "def lengths(w):\n    return {x: double(len(x)) // 2 for x in w}"},
        FULL, "",
    ),
    "files written": ({"double": "open('notes.txt', 'w').write('x')\ndef double(x):\n    return 2 * x"}, FULL, ""),
}
# fmt: on


@pytest.mark.parametrize("name", ANSWERS)
def test_an_answer_costs_no_more_than_itself(name, grade_answers):
    answers, wanted, message = ANSWERS[name]
    result = grade_answers(**answers)
    assert points(result) == wanted
    first = next(iter(answers), "double")
    assert message in said(result, first)
    assert small.CANARY not in json.dumps(result)
    assert len(result["output"]) < 25_000


def test_a_plot_costs_nothing(grade, release):
    """Under the limits of a real class: importing pyplot anew may compute for more than the second allowed above."""
    drawing = "%matplotlib inline\nimport matplotlib.pyplot as plt\nplt.plot([1])\nplt.show()\n"
    plotted = drawing + "def double(x):\n    return 2 * x"
    assert points(grade(small.answered(release, double=plotted), limits=Limits())) == FULL


def moved(release, change) -> nbformat.NotebookNode:
    notebook = small.answered(release)
    change(notebook.cells)
    return notebook


def skip_all(cells):
    for cell in cells:
        cell.metadata["tags"] = ["skip-execution", "raises-exception", "remove-cell"]


# What is moved, renamed, pasted twice or without marks: test_match_answers.
CHANGES = {
    "an answer deleted": (lambda cells: cells.pop(3), FULL | {"double": 0}),
    "a check deleted": (lambda cells: cells.pop(4), FULL),
    "tags that skip": (skip_all, FULL),
    "a check made easy": (lambda cells: cells[4].update(source="assert True"), FULL),
    "points raised": (lambda cells: cells[4].metadata["nbgrader"].update(points=1000), FULL),
    "the given cell spoilt": (lambda cells: cells[1].update(source="np = None"), FULL),
}


@pytest.mark.parametrize("name", CHANGES)
def test_a_cell_out_of_place_costs_nothing_that_was_answered(name, grade, release):
    change, wanted = CHANGES[name]
    result = grade(moved(release, change))
    assert points(result) == wanted
    assert sum(question["max"] for question in result["questions"]) == sum(small.POINTS.values())


def test_a_file_that_is_no_notebook_has_no_points_and_is_told_so(grade, release, tmp_path):
    whole = nbformat.writes(small.answered(release))
    large = tmp_path / "large.ipynb"
    with large.open("wb") as file:
        file.truncate(200_000_000)
    pdf = b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n1 0 obj"
    for content in (b"not JSON", whole[: len(whole) // 2].encode(), b'{"nbformat": 9, "cells": []}', b"", large, pdf):
        result = grade(content)
        assert (result["status"], result["questions"]) == ("unreadable", [])  # no points, and no zero either
        assert result["why"].endswith(".")


def test_what_has_18_mb_is_left_out_and_costs_its_question_alone(grade, release, tmp_path):
    """An answer, a cell of a student's own, an answer in words."""
    long = f"# {'x' * 18_000_000}\n{small.RIGHT['double']}"
    result = grade(small.answered(release, double=long))
    assert points(result) == FULL | {"double": 0}
    own = small.answered(release)
    own.cells.insert(3, new_code_cell(long[:500_000]))
    words = small.answered(release, why="why " * 100_000)
    for notebook, missing, said in ((own, [], "was left out"), (words, ["why"], "at most 100,000 are read")):
        nbformat.write(notebook, tmp_path / "long.ipynb")
        placed = place(open_submission(tmp_path / "long.ipynb"), release)
        assert placed.missing == missing
        assert said in placed.notes[0]
