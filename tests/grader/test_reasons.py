"""The instructor reads why a hidden check failed; the student does not.  No name moves a cursor or ends a command."""

import os
import subprocess
import sys

import numpy as np
import pytest
from samples import ROSTER, hand_in, returned, write_course

from lmbook_grader.grading.grade import grade_one
from lmbook_grader.intake.collect import Submission
from lmbook_grader.intake.roster import read_roster
from lmbook_grader.report.feedback import write_report
from lmbook_grader.sandbox.worker import short
from lmbook_press.assignments.questions import Homework


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("def triple(x):\n    return 3 if x == 1 else x", "<code>assert triple(11) == 33</code>"),
        ("def triple(x):\n    return [3][x - 1]", "raises IndexError (line 2 of its cell)"),
        ("def triple(x):\n    return 3 if x == 1 else None", "<code>assert triple(11) == 33</code>"),
        ("def triple(x):\n    return 3 if x == 1 else type", "returned a value of type type"),
    ],
)
def test_the_reason_is_on_the_page_of_the_class_alone(walls, source, said, tmp_path):
    course = write_course(tmp_path / "course")
    (tmp_path / "roster.csv").write_text(ROSTER, encoding="utf-8")
    path = hand_in(returned(triple=source), tmp_path / "submissions/ann.ipynb")
    result = grade_one(Submission("ann", path), course)
    homework, roster = Homework.load(course), read_roster(tmp_path / "roster.csv")
    write_report([result], homework, roster, tmp_path / "out")
    summary = (tmp_path / "out/summary.html").read_text("utf-8")
    assert said in summary
    assert "triple-values: " in summary
    assert "(ann)" in summary
    page = (tmp_path / "out/feedback/ann.html").read_text("utf-8")
    assert said not in page
    assert "triple(11)" not in page


def test_an_array_is_shown_alike_by_every_numpy():
    """The page's is older, and its repr does not say the shape of a long array."""
    grid = "array([[ 0, 1, ..., 4, 5], [ 6, 7, ..., 10, 11], ..., [24, 25, ..., 28, 29], [30, 31, ..., 34, 35]])"
    assert short(np.arange(36).reshape(6, 6)) == f"{grid} of shape (6, 6)"
    wide = "array([ 0., 1., ..., 98., 99.], dtype=float32)"
    assert short(np.arange(100, dtype=np.float32)) == f"{wide} of shape (100,)"


OTHERS = ("cp1252", "cp437", "utf-8")
ODD = "Łukasik \x1b[31m\x9b31m\u202e王芳.ipynb"


@pytest.mark.parametrize("encoding", ["ascii", *(pytest.param(e, marks=pytest.mark.weekly) for e in OTHERS)])
def test_a_terminal_without_a_sign_for_a_name_ends_no_command(encoding, tmp_path):
    """What a pipe has on Windows, and old locales; no sign of a file's name reaches a terminal as it is."""
    write_course(tmp_path / "course")
    (tmp_path / "roster.csv").write_text("id,name\nann,Łukasik 王芳\nbob,Bob\n", encoding="utf-8")
    for name in (ODD, "ann.ipynb", f"x_1_2_{ODD}", f"{ODD}.zip"):
        hand_in(returned(), tmp_path / "submissions" / name)
    environment = os.environ | {"PYTHONIOENCODING": encoding, "PYTHONUTF8": "0"}
    commands = (
        ("grade", "course/07", "submissions", "--roster", "roster.csv", "--dry-run"),
        ("check", f"submissions/{ODD}", "--release", "course/07/release/07-numbers.ipynb"),
        ("check", f"submissions/{ODD}.zip"),
        ("grade", f"course/{ODD}", "submissions", "--roster", "roster.csv"),
    )
    for words in commands:
        run = [sys.executable, "-m", "lmbook_cli", "homework", *words]
        told = subprocess.run(run, capture_output=True, env=environment, cwd=tmp_path, timeout=300)
        said = (told.stdout + told.stderr).decode(encoding, "replace")
        assert "codec" not in said
        assert "Traceback" not in said
        assert not {"\x1b", "\x9b", "\u202e"} & set(said)
        assert said
