"""Whatever a student's process answers to whichever message, a submission ends within its limits."""

import sys
import time
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from lmbook_grader.grading import grade as grading
from lmbook_grader.grading.pool import grade_many, write_result
from lmbook_grader.intake.collect import Submission
from lmbook_grader.sandbox import commands
from lmbook_grader.sandbox.commands import Command, Limits
from lmbook_grader.sandbox.session import CLOCK, Session, Stopped
from lmbook_grader.sandbox.wire import NotData
from lmbook_press.assignments.make import grading_version, student_version

LIMITS = Limits(cell=0.5, check=0.5, total=3)
MANNERS = ("flood", "calls", "noise", "garbage", "values", "silence", "death")
MESSAGES = ("run", "call", "get", "value", "lend")


def _cell(source: str, name: str, **others) -> nbformat.NotebookNode:
    kind = {"grade": False, "solution": False, "locked": False, "task": False, "schema_version": 3}
    return new_code_cell(source, metadata={"nbgrader": {"grade_id": name, **kind, **others}})


def _answer(name: str, source: str):
    head, _, body = source.rpartition("\n")
    solution = f"    ### BEGIN SOLUTION\n{body}\n    ### END SOLUTION" if head else ""
    text = f"{head}\n{solution}" if head else f"### BEGIN SOLUTION\n{source}\n### END SOLUTION"
    return _cell(text, name, solution=True, cell_type="code")


def _check(name: str, shown: str, hidden: str):
    source = f"{shown}\n# More of it.\n### BEGIN HIDDEN TESTS\n{hidden}\n### END HIDDEN TESTS"
    return _cell(source, f"{name}-values", grade=True, locked=True, points=2, cell_type="code")


def master() -> nbformat.NotebookNode:
    """Its checks send every message there is: a run, a call, a value, a function to call back, and a substitute."""
    cells = [
        new_markdown_cell("# Homework 9"),
        _answer("double", "def double(x):\n    return 2 * x"),
        _check("double", "assert double(1) == 2", "assert double(3) == 6"),
        _answer("quad", "def quad(x):\n    return double(double(x))"),
        _check("quad", "assert quad(1) > 0", "assert quad(3) == 12"),
        _answer("limit", "limit = 3"),
        _check("limit", "assert limit > 0", "assert limit == 3"),
        _answer("twice", "def twice(f, x):\n    return f(f(x))"),
        _check("twice", "assert twice(abs, -1) == 1", "assert twice(lambda x: x + 1, 5) == 7"),
    ]
    return new_notebook(cells=cells)


RIGHT = {
    "double": "def double(x):\n    return x + 1",  # wrong, so that `quad` is asked again with a substitute
    "quad": "def quad(x):\n    return double(double(x))",
    "limit": "limit = 3",
    "twice": "def twice(f, x):\n    return f(f(x))",
}


@pytest.fixture(scope="session")
def handed_in(tmp_path_factory) -> tuple[Path, Submission]:
    folder = tmp_path_factory.mktemp("peers")
    for kind, version in (("release", student_version), ("grading", grading_version)):
        (folder / "09" / kind).mkdir(parents=True)
        nbformat.write(version(master()), folder / "09" / kind / "09-peers.ipynb")
    notebook = nbformat.read(folder / "09/release/09-peers.ipynb", as_version=4)
    for cell in notebook.cells:
        cell.source = RIGHT.get(cell.metadata.get("nbgrader", {}).get("grade_id"), cell.source)
    (folder / "ann").mkdir()
    nbformat.write(notebook, folder / "ann/ann.ipynb")
    return folder / "09", Submission("ann", folder / "ann/ann.ipynb")


def started(message: str, manner: str) -> Command:
    words = [sys.executable, str(Path(__file__).with_name("peer.py")), str(commands.HERE), message, manner]
    return Command(words, {"limits": {}, "path": [], "user": 0, "hide": []}, environment=commands.environment("/tmp"))


# On a push each message and each manner at least once, and here others than below.
PAIRS = [(message, manner, m - n) for m, manner in enumerate(MANNERS) for n, message in enumerate(MESSAGES)]


def pairs(*apart: int):
    """All pairs; once a week those whose places in the two lists are not so far apart."""
    found = [pytest.param(*pair, marks=[pytest.mark.weekly] * (far not in apart)) for *pair, far in PAIRS]
    return pytest.mark.parametrize(("message", "manner"), found)


@pairs(-4, -3, 1, 3, 6)
def test_a_message_is_answered_in_time_or_not_at_all(message, manner):
    """Each ask ends on the clock: with a value that may be forged, or with one of the exceptions of a stop."""
    with Session(started(message, manner), LIMITS) as session:
        tasks = [
            {"do": "run", "name": "<cell 1>", "source": "a = 1\ndef f(g, x):\n    return g(x)"},
            {"do": "get", "name": "a"},
            {"do": "call", "name": "f", "arguments": [abs, 1], "options": {}},
        ]
        begun = time.monotonic()
        try:
            session.lend(0.5, {"lent": abs})
            for task in tasks:
                session.ask(0.5, **task)
        except (Stopped, NotData):
            pass
        assert time.monotonic() - begun < 4 * CLOCK * 0.5


@pytest.mark.slow
@pytest.mark.usefixtures("walls")
@pairs(0, 2)
def test_a_submission_ends_within_its_limits(message, manner, handed_in, monkeypatch):
    course, submission = handed_in
    monkeypatch.setattr(grading, "command", lambda *_: started(message, manner))
    begun = time.monotonic()
    result = grading.grade_one(submission, course, limits=LIMITS, sandbox="bwrap")
    assert time.monotonic() - begun < 2 * CLOCK * LIMITS.total  # two runs, on a machine as crowded as may be
    assert result["status"] == "graded", result["why"]
    assert [one["id"] for one in result["questions"]] == list(RIGHT)


@pytest.mark.usefixtures("walls")
def test_who_is_late_twice_has_the_points_so_far(handed_in, monkeypatch, tmp_path):
    """The clock alone is up, as on a machine that stands still: once it is tried again, and then never more."""
    course, submission = handed_in
    monkeypatch.setattr("lmbook_grader.grading.execute.CLOCK", 0)
    monkeypatch.setattr("lmbook_grader.grading.pool.GRADERS", Here)
    first, second, third = (grade_many([submission], course, tmp_path / "out", resume=more)[0] for more in (0, 1, 1))
    assert (first["status"], first["late"]) == ("ungraded", True)
    assert (second["status"], second["stopped"]) == ("graded", True)
    assert "points so far count" in second["notes"][-1]
    assert third == second


class Here:
    """Grades in this process, where what a test has changed is changed."""

    set_forkserver_preload = staticmethod(lambda _: None)

    class Process:
        exitcode = 0

        def __init__(self, target, args):
            self.target, self.args = target, args

        def start(self):
            submission, course, path, limits, options, *_ = self.args[1:]
            write_result(grading.grade_one(submission, course, limits=limits, **options), path)

        is_alive = staticmethod(lambda: False)
        kill = join = staticmethod(lambda: None)
