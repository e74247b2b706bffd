"""The book's homeworks as a course with a secret has them, and the warm start that those with torch share."""

from pathlib import Path

import pytest
from points import ROOT
from samples import ROSTER

from lmbook_grader.grading.pool import warmed
from lmbook_grader.intake.roster import Roster, read_roster
from lmbook_grader.sandbox.commands import available, copy_package
from lmbook_press.assignments.make import make
from lmbook_press.assignments.questions import Homework
from lmbook_press.book import Book

SECRET = "a course's secret"


@pytest.fixture(scope="session")
def walls() -> None:
    """Skips where bubblewrap does not work."""
    if why := available("bwrap"):
        pytest.skip(why)


@pytest.fixture
def roster(tmp_path) -> Roster:
    """The class of `samples`."""
    (tmp_path / "roster.csv").write_text(ROSTER, encoding="utf-8")
    return read_roster(tmp_path / "roster.csv")


@pytest.fixture(scope="session")
def courses(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("course")
    make(Book(ROOT), folder, seed=SECRET)
    return folder


@pytest.fixture(scope="session")
def secret() -> str:
    """What the hidden inputs of `courses` are drawn from."""
    return SECRET


@pytest.fixture(scope="session")
def warm(walls, courses, tmp_path_factory):
    """What the homeworks that use torch start from: it is imported once for all of them, not once a run.

    The others start cold, as every run would without it.
    """
    homework = Homework.load(courses / "04")
    package = copy_package(tmp_path_factory.mktemp("package"), homework.blocked)
    with warmed(homework, package) as made:
        assert made.of(homework.closed), "torch cannot be imported before the walls stand"
        yield made
