"""Grading a notebook of the small homework, with limits that end an attack soon."""

from pathlib import Path

import nbformat
import pytest
import small

from lmbook_grader.grading.grade import grade_one
from lmbook_grader.grading.pool import warmed
from lmbook_grader.intake.collect import Submission
from lmbook_grader.sandbox.commands import Limits, copy_package
from lmbook_press.assignments.make import grading_version, student_version
from lmbook_press.assignments.questions import Homework

LIMITS = Limits(cell=1, check=1, total=30, memory=400)


@pytest.fixture(scope="session")
def course(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("course") / "09"
    for kind, version in (("release", student_version), ("grading", grading_version)):
        (folder / kind).mkdir(parents=True)
        nbformat.write(version(small.master()), folder / kind / "09-small.ipynb")
    return folder


@pytest.fixture(scope="session")
def release(course) -> nbformat.NotebookNode:
    return nbformat.read(course / "release/09-small.ipynb", as_version=4)


@pytest.fixture(scope="session")
def package(course, tmp_path_factory) -> Path:
    """What a student's process sees of lmbook; it cannot be written to, so that all may have the same."""
    return copy_package(tmp_path_factory.mktemp("package"), Homework.load(course).blocked)


@pytest.fixture(scope="session")
def warm(walls, course, package):
    """What all runs of a class are forked from."""
    with warmed(Homework.load(course), package) as made:
        assert made.processes
        yield made


@pytest.fixture
def grade(warm, course, package, tmp_path):
    """Grades a notebook, or a file of any content, as one of a class."""

    def graded(content: nbformat.NotebookNode | bytes | Path, limits: Limits = LIMITS) -> dict:
        path = tmp_path / "ann.ipynb"
        if isinstance(content, Path):
            path = content
        elif isinstance(content, bytes):
            path.write_bytes(content)
        else:
            nbformat.write(content, path)
        return grade_one(Submission("ann", path), course, limits=limits, package=package, warm=warm)

    return graded


@pytest.fixture
def grade_answers(grade, release):
    """Grades the release with these answers, all others right."""
    return lambda **answers: grade(small.answered(release, **answers))
