"""A mistake costs its points once: an answer that only calls a wrong one keeps its points, and no other gains any."""

import json
import time

import pytest
import small

from lmbook_grader.grading import carried_forward
from lmbook_grader.grading.hidden_tests import Overtime, bounded, execute
from lmbook_grader.report.feedback import feedback
from lmbook_grader.report.results import number

CALLS = "def shares(a):\n    return a * (double(1) / 2) / a.sum(axis=-1, keepdims=True)"
WRONG = "def double(x):\n    return 2 * x + 1"


def points(result: dict) -> dict[str, float]:
    return {one["id"]: one["points"] for one in result["questions"]}


def test_an_answer_that_calls_a_wrong_one_keeps_its_points(grade_answers, release):
    result = grade_answers(double=WRONG, shares=CALLS)
    assert points(result) == {"double": 0, "shares": 3, "lengths": 2, "why": 0}
    shares = result["questions"][1]
    assert shares["status"] == "right"
    assert shares["checks"][0]["carried"] == ["double"]
    page = feedback(result, release, {}, "Ann")
    assert "passes with the right answer to 1. Twice. The mistake there costs its points once." in page
    assert small.CANARY not in json.dumps(result)


@pytest.mark.parametrize(
    ("double", "shares", "score"),
    [
        (None, CALLS, 3),  # not answered at all
        ("raise SystemExit", CALLS, 3),  # ends the process
        ("def double(x):\n    while True:\n        pass", CALLS, 3),
        (WRONG, CALLS.replace("/ a.sum", "* a.sum"), 0),  # wrong by itself as well
        (WRONG, "def shares(a):\n    return a", 0),  # calls nothing
        (WRONG, "half = double(1) / 2\n\n\n" + CALLS.replace("(double(1) / 2)", "half"), 3),  # when its cell is run
        (
            WRONG,
            "def shares(a):\n    return helped(a)\n\n\ndef helped(a):\n    return double(a) / 2 / a.sum(axis=-1)",
            0,
        ),
    ],
)
def test_what_an_answer_gets_beside_a_wrong_one(grade_answers, double, shares, score):
    assert points(grade_answers(double=double, shares=shares)) == {"double": 0, "shares": score, "lengths": 2, "why": 0}


def test_a_lent_function_shows_no_line_of_the_master(grade_answers):
    """The answer tells what it finds in the function by what it returns, and by errors; neither comes out."""
    reads = "import inspect\n\n\ndef shares(a):\n    double(1)\n    raise ValueError(inspect.getsource(double))"
    result = grade_answers(double=WRONG, shares=reads)
    assert points(result)["shares"] == 0
    assert "2 * x\n" not in json.dumps(result)
    assert number(result["questions"][1]["points"]) == "0"


@pytest.mark.parametrize("fault", [FileNotFoundError("the master's data"), Overtime()])
def test_where_the_master_does_not_run_nothing_is_excused_and_the_grade_stands(grade_answers, monkeypatch, fault):
    def substitutes(*_):
        raise fault

    monkeypatch.setattr(carried_forward, "substitutes", substitutes)
    result = grade_answers(double=WRONG, shares=CALLS)
    assert result["status"] == "graded"
    assert points(result) == {"double": 0, "shares": 0, "lengths": 2, "why": 0}


def test_our_own_functions_have_bounds_when_a_student_calls_them():
    def for_ever():
        while True:
            pass

    begun = time.monotonic()
    with pytest.raises(Overtime):
        bounded(for_ever, 0.01)()
    with pytest.raises(Overtime):  # the outer bound still holds after an inner one has passed
        execute(compile("f()\nwhile True:\n    pass", "<check>", "exec"), {"f": bounded(lambda: 1, 1000)}, 0.02)
    assert time.monotonic() - begun < 20
