"""Making a homework: what the student gets, what the instructor gets, and which masters are refused."""

import copy
import os
import sys
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from lmbook_press.assignments.make import faults, grading_version, make, student_version, total_points
from lmbook_press.book import Book, BookError

SOLUTION = """def double(x):
    \"\"\"Twice x.\"\"\"
    ### BEGIN SOLUTION
    return 2 * x
    ### END SOLUTION"""
CHECKS = """assert double(1) == 2
# hidden checks look at other numbers
### BEGIN HIDDEN TESTS
assert double(-7.5) == -15
### END HIDDEN TESTS"""


def marks(name: str, **others: object) -> dict:
    kind = {"grade": False, "solution": False, "locked": False, "task": False, "schema_version": 3}
    return {"nbgrader": {"grade_id": name, **kind, **others}}


@pytest.fixture
def master() -> nbformat.NotebookNode:
    return new_notebook(
        cells=[
            new_markdown_cell("# Homework 1\n\n3 points."),
            new_code_cell(SOLUTION, metadata=marks("double", solution=True, cell_type="code")),
            new_code_cell(CHECKS, metadata=marks("double-checks", grade=True, locked=True, points=2, cell_type="code")),
            new_markdown_cell(
                "Because SECRET.", metadata=marks("why", grade=True, solution=True, points=1, cell_type="markdown")
            ),
        ]
    )


def test_the_student_gets_questions_and_visible_checks_only(master):
    before = nbformat.writes(master)
    student = student_version(master)
    text = "\n".join(cell.source for cell in student.cells)
    for secret in ("2 * x", "SECRET", "-7.5", "BEGIN", "END"):
        assert secret not in text
    assert student.cells[1].source.startswith('def double(x):\n    """Twice x."""\n    # YOUR CODE HERE\n    raise')
    assert student.cells[2].source == "assert double(1) == 2\n# hidden checks look at other numbers"
    assert student.cells[3].source == "YOUR ANSWER HERE"
    assert [cell.metadata.get("nbgrader", {}).get("grade_id") for cell in student.cells] == [
        None, "double", "double-checks", "why",
    ]  # fmt: skip
    assert student.cells[2].metadata.nbgrader.points == 2
    assert student.cells[2].metadata.editable is False
    assert all(cell.source.strip() for cell in student.cells)
    assert nbformat.writes(master) == before
    nbformat.validate(student)


def test_the_students_file_is_what_nbgrader_itself_would_hand_out(master, tmp_path, monkeypatch):
    """The same cells as nbgrader's own generate_assignment in a course folder, checksums included."""
    from nbgrader.apps import NbGraderAPI
    from traitlets.config import Config

    programs = Path(sys.executable).parent  # nbgrader calls alembic by its bare name
    monkeypatch.setenv("PATH", f"{programs}{os.pathsep}{os.environ['PATH']}")
    source = tmp_path / "source/hw"
    source.mkdir(parents=True)
    nbformat.write(grading_version(master), source / "one.ipynb")
    api = NbGraderAPI(config=Config({"CourseDirectory": {"root": str(tmp_path)}}))
    result = api.generate_assignment("hw", force=True, create=True)
    assert result["success"], result["log"]
    theirs = nbformat.read(tmp_path / "release/hw/one.ipynb", as_version=4)
    ours = student_version(master)
    assert [cell.source for cell in ours.cells] == [cell.source for cell in theirs.cells]
    assert [cell.metadata.get("nbgrader") for cell in ours.cells] == [
        cell.metadata.get("nbgrader") for cell in theirs.cells
    ]


def test_the_grading_master_keeps_everything_but_outputs(master):
    master.cells[1].outputs = [nbformat.v4.new_output("stream", text="old")]
    grading = grading_version(master)
    assert [cell.source for cell in grading.cells] == [cell.source for cell in master.cells]
    assert grading.cells[1].outputs == []
    assert total_points(grading) == 3


def change(cell: int, old: str = "", new: str = "", **meta: object):
    def apply(notebook):
        notebook.cells[cell].source = (
            notebook.cells[cell].source.replace(old, new) if old else notebook.cells[cell].source
        )
        for key, value in meta.items():
            if value is None:
                del notebook.cells[cell].metadata["nbgrader"][key]
            else:
                notebook.cells[cell].metadata["nbgrader"][key] = value

    return apply


@pytest.mark.parametrize(
    ("fault", "cell", "said"),
    [
        (change(2, grade_id="double"), 3, "cell 2 has the grade_id double too"),
        (change(2, points=None), 3, "has no points"),
        (change(2, points="many"), 3, "has no points"),
        (change(1, grade_id=""), 2, "no grade_id"),
        (change(1, "### END SOLUTION", ""), 2, "do not come in pairs"),
        (change(2, "### END HIDDEN TESTS", ""), 3, "do not come in pairs"),
        (change(2, "assert double(1) == 2\n# hidden checks look at other numbers\n", ""), 3, "no visible line"),
        (change(2, grade=False), 3, "gives no points"),
        (change(1, solution=False), 2, "not marked as one"),
        (change(3, grade=False), 4, "written answer"),
    ],
)
def test_a_faulty_master_is_refused_by_notebook_and_cell(master, fault, cell, said):
    assert faults(master) == []
    fault(master)
    with pytest.raises(BookError) as caught:
        student_version(master, "homework/01-x.ipynb")
    assert str(caught.value).startswith(f"homework/01-x.ipynb, cell {cell}")
    assert said in str(caught.value)
    with pytest.raises(BookError):
        grading_version(master, "homework/01-x.ipynb")


@pytest.fixture
def book(tmp_path, master) -> Book:
    folder = tmp_path / "book-of-two/notebooks/homework"
    folder.mkdir(parents=True)
    nbformat.write(master, folder / "01-one.ipynb")
    nbformat.write(copy.deepcopy(master), folder / "02-two.ipynb")
    return Book(tmp_path / "book-of-two")


def test_versions_are_written_apart_so_that_no_class_gets_the_wrong_one(book, tmp_path):
    out = tmp_path / "out"
    written = {path.relative_to(out).as_posix() for path in make(book, out)}
    folders = ("01/release", "01/grading", "02/release", "02/grading")
    assert written == {f"{folder}/{'01-one' if folder[1] == '1' else '02-two'}.ipynb" for folder in folders}
    only = tmp_path / "only"
    assert make(book, only, ("2",), student_only=True) == [only / "02-two.ipynb"]
    assert "BEGIN" not in (only / "02-two.ipynb").read_text()


def test_nothing_is_written_if_one_master_is_faulty(book, tmp_path):
    path = book.masters()[1]
    notebook = nbformat.read(path, as_version=4)
    notebook.cells[2].metadata.nbgrader.pop("points")
    nbformat.write(notebook, path)
    with pytest.raises(BookError, match="02-two"):
        make(book, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_an_unknown_number_is_named_with_those_there_are(book, tmp_path):
    with pytest.raises(BookError, match=r"no homework 5; there are 01, 02"):
        make(book, tmp_path / "out", ("5",))


def test_making_twice_gives_the_same_bytes(book, tmp_path):
    first, second = (make(book, tmp_path / name) for name in ("a", "b"))
    assert [path.read_bytes() for path in first] == [path.read_bytes() for path in second]
    assert all(isinstance(path, Path) for path in first)
