"""What a student's process says is text that every page, table and terminal can hold; what it does to the grader's own
code is that student's failed check."""

import json

import pytest

from lmbook_grader.grading.grade import grade_one
from lmbook_grader.grading.hidden_tests import Grader
from lmbook_grader.grading.pool import result_path, write_result
from lmbook_grader.intake.collect import Collected, Submission
from lmbook_grader.intake.roster import read_roster
from lmbook_grader.report.feedback import write_report
from lmbook_grader.report.lms_csv import KINDS, write_scores
from lmbook_grader.report.results import read_results
from lmbook_grader.report.terminal import table_lines
from lmbook_grader.sandbox.commands import Limits, command
from lmbook_grader.sandbox.session import Session
from lmbook_press.assignments.questions import Check, Homework
from lmbook_press.book import BookError

BAD = "bad letter \\ud800 \\u202e \\x1b[31m \\x9b"
SAYS = {
    "in an exception": f'def double(x):\n    raise ValueError("{BAD}")',
    "in an exception's name": f'def double(x):\n    raise type("E{BAD}", (Exception,), {{}})("{BAD}")',
    "in the cell": f'raise ValueError("{BAD}")',
    "in what is printed": (
        f'import sys\nsys.stdout.reconfigure(errors="surrogatepass")\nprint("{BAD}")\ndef double(x):\n    return x'
    ),
    "in a value": f'def double(x):\n    return "{BAD}"',
    "in what an assertion compares": (
        f'class Odd(float):\n    __repr__ = lambda self: "{BAD}"\ndef double(x):\n    return Odd(7)'
    ),
    "in a syntax error": f'def double(x):\n    return "{BAD}" +',
}


@pytest.mark.parametrize("name", SAYS)
def test_the_whole_class_gets_its_report(name, grade_answers, course, tmp_path):
    """From the student's exception to the pages, the tables and the terminal's lines."""
    result = grade_answers(double=SAYS[name])
    assert result["status"] == "graded"
    assert [one["points"] for one in result["questions"]][:3] == [0, 3, 2]
    out, homework = tmp_path / "out", Homework.load(course)
    write_result(result, result_path(out, "ann"))
    (tmp_path / "roster.csv").write_text("id,name\nann,Ann Doe\n", "utf-8")
    roster, results = read_roster(tmp_path / "roster.csv"), read_results(out)
    pages = write_report(results, homework, roster, out)
    for kind in KINDS:
        write_scores(kind, results, roster, "Homework", out / f"{kind}.csv")
    texts = [path.read_text("utf-8") for path in (*pages, *out.glob("*.csv"))]
    texts += table_lines(results, Collected(), tmp_path, 1.0)
    assert not {"\ud800", "\u202e", "\x1b", "\x9b"} & set("".join(texts) + json.dumps(result, ensure_ascii=False))


WORKER = """
import sys
worker = sys._getframe(1)
while "self" not in worker.f_locals:
    worker = worker.f_back
Worker = type(worker.f_locals["self"])
"""
ANSWERS = {
    "a line that is a digit and no number": {"line": "²"},
    "a line that is huge": {"line": 10**30},
    "a line that is true": {"line": True},
    "a cell that is a list": {"cell": [[]], "line": 3},
    "sides that are no list": {"sides": "ab"},
    "sides that are numbers": {"sides": [1, 2]},
    "a type that is none": {"type": None},
    "a text that is a list": {"text": ["a"] * 1000},
    "nothing else": {},
}


@pytest.mark.parametrize("name", ANSWERS)
def test_a_forged_answer_is_a_failed_check(name, grade_answers):
    forged = {"is": "raised", "type": "AssertionError", "text": "x", "cell": "<cell 4>", "line": 1, "sides": ["1", "2"]}
    forged = ({"is": "raised"} if name == "nothing else" else forged) | ANSWERS[name]
    source = f"{WORKER}Worker.do_run = lambda self, task: 1 / 0\nWorker._raised = lambda *_: {forged!r}"
    result = grade_answers(double=source)
    assert result["status"] == "graded", result["why"]
    assert sum(one["points"] for one in result["questions"]) <= 5


def test_a_value_too_large_to_be_passed_on_is_a_failed_check(course, package):
    """A check that makes what was returned wider, as homework 15's does, and passes it on; it is at fault by itself."""
    answer = "import numpy as np\ndef shares(a):\n    return np.zeros((8, 1_000_000), np.int8)"
    wider = "import numpy as np\nshares(shares(np.zeros(2)).astype(np.float64).repeat(2))"
    with Session(command("none", Limits(), package), Limits()) as session:
        session.ask(5, do="run", name="<cell 1>", source=answer)
        grader = Grader(Homework.load(course), session)
        outcome = grader.run(Check("wider", wider, 1, range(0), ""), 5)
        assert not outcome.passed
        assert "shares" in outcome.message
        with pytest.raises(BookError, match="cannot travel"):
            grader.run(Check("too wide", "import numpy as np\nshares(np.zeros(9_000_000))", 1, range(0), ""), 5)


def test_what_cannot_be_taken_apart_is_a_file_that_cannot_be_read(tmp_path, course, monkeypatch):
    def broken(*_):
        raise RuntimeError("too deep")

    (tmp_path / "ann.ipynb").write_text(json.dumps({"nbformat": 4, "cells": []}))
    monkeypatch.setattr("lmbook_grader.intake.reading.place", broken)
    result = grade_one(Submission("ann", tmp_path / "ann.ipynb"), course)
    assert (result["status"], result["questions"]) == ("unreadable", [])
    assert "RuntimeError" in result["why"]
