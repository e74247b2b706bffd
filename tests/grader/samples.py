"""A homework of two programs and one written answer, its roster, and notebooks that come back."""

import copy
import json
from functools import cache
from html.parser import HTMLParser
from pathlib import Path

from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from lmbook_press.assignments.make import student_version
from lmbook_press.assignments.questions import Homework, questions

ROSTER = """id,name,email
ann,Ann Doe,ann.doe@example.org
bob,Bob Ray,bob@example.org
zoe,"Zoë O'Hara",zoe@example.org
"""

DOUBLE = 'def double(x):\n    """Twice x."""\n    return 2 * x'
TRIPLE = 'def triple(x):\n    """Thrice x."""\n    return 3 * x'
WRITTEN = "Because addition is repeated."


def marks(name: str, **others: object) -> dict:
    kind = {"grade": False, "solution": False, "locked": False, "task": False, "schema_version": 3}
    return {"nbgrader": {"grade_id": name, **kind, **others}}


def _solution(source: str, name: str) -> NotebookNode:
    head, body = source.rsplit("\n", 1)
    body = f"    ### BEGIN SOLUTION\n{body}\n    ### END SOLUTION"
    return new_code_cell(f"{head}\n{body}", metadata=marks(name, solution=True, cell_type="code"))


def _checks(shown: str, hidden: str, name: str, points: int) -> NotebookNode:
    source = f"{shown}\n# The grader looks at other numbers.\n### BEGIN HIDDEN TESTS\n{hidden}\n### END HIDDEN TESTS"
    return new_code_cell(source, metadata=marks(name, grade=True, locked=True, points=points, cell_type="code"))


def master() -> NotebookNode:
    """Seven points: two for double, three for triple, two for words."""
    words = marks("why", grade=True, solution=True, points=2, cell_type="markdown")
    cells = [
        new_markdown_cell("# Homework: numbers"),
        new_code_cell("import math"),
        new_markdown_cell("## 1. Twice (2 points)\n\nWrite it."),
        _solution(DOUBLE, "double"),
        _checks("assert double(1) == 2", "assert double(-7.5) == -15  # SECRET", "double-values", 2),
        new_markdown_cell("## 2. Three times (3 points)\n\nWrite it."),
        _solution(TRIPLE, "triple"),
        _checks("assert triple(1) == 3", "assert triple(11) == 33  # SECRET", "triple-values", 3),
        new_markdown_cell("## 3. In words (2 points)\n\nWhy?"),
        new_markdown_cell("Because SECRET.", metadata=words),
    ]
    return new_notebook(cells=cells)


@cache
def _release() -> NotebookNode:
    return student_version(master())


def release() -> NotebookNode:
    return copy.deepcopy(_release())


def homework(key: NotebookNode) -> Homework:
    """The sample as a homework of a course, with this master."""
    return Homework("07-numbers", release(), key, {}, questions(key), [])


DOUBLE_AT, TRIPLE_AT, WRITTEN_AT = 3, 6, 9  # where the answers are among the cells


def returned(double: str | None = DOUBLE, triple: str | None = TRIPLE, written: str | None = WRITTEN) -> NotebookNode:
    """The release with these answers; None leaves what was handed out."""
    notebook = release()
    for at, source in ((DOUBLE_AT, double), (TRIPLE_AT, triple), (WRITTEN_AT, written)):
        if source is not None:
            notebook.cells[at].source = source
    return notebook


def hand_in(notebook: NotebookNode, path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(notebook), encoding="utf-8")
    return path


def result(student: str = "ann", double: bool = True, triple: bool = True, why: str = "manual", **others) -> dict:
    """A result as the grader writes it: which programs are right, and the state of the written answer."""
    parts = [("double", 2, double), ("triple", 3, triple)]
    asked = [
        {
            "id": name,
            "points": most if right else 0,
            "max": most,
            "status": "right" if right else "wrong",
            "checks": [
                {
                    "name": f"{name}-values",
                    "points": most if right else 0,
                    "max": most,
                    "passed": right,
                    "message": "" if right else f"`{name}` gives another value than expected.",
                }
            ],
        }
        for name, most, right in parts
    ]
    asked.append({"id": "why", "points": 0, "max": 2, "status": why, "checks": []})
    whole = {
        "student": student,
        "file": f"{student}.ipynb",
        "file_sha256": f"sha of {student}",
        "homework": "07-numbers",
        "release_sha256": "r1",
        "grading_sha256": "g1",
        "status": "graded",
        "why": None,
        "questions": asked,
        "notes": [],
        "seconds": 1.5,
        "sandbox": "bwrap",
        "output": "",
    }
    return whole | others


def ungraded(student: str, **others) -> dict:
    return result(student) | {"status": "ungraded", "why": "no memory left", "questions": [], **others}


def write_results(folder: Path, *results: dict) -> Path:
    (folder / "results").mkdir(parents=True, exist_ok=True)
    for one in results:
        (folder / "results" / f"{one['student']}.json").write_text(json.dumps(one), encoding="utf-8")
    return folder


def write_course(folder: Path) -> Path:
    """course/07 with release and grading, as `lmbook homework make` writes them."""
    from lmbook_press.assignments.make import grading_version

    hand_in(release(), folder / "07/release/07-numbers.ipynb")
    hand_in(grading_version(master()), folder / "07/grading/07-numbers.ipynb")
    return folder / "07"


class Page(HTMLParser):
    """Tags, attributes and text of a page; complains of tags that are left open."""

    def __init__(self, html):
        super().__init__()
        self.tags, self.attributes, self.words, self.open = [], [], [], []
        self.feed(html)
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += attrs
        if tag not in ("meta", "br", "input"):
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open[-1:] != ["style"]:
            self.words.append(data)

    @property
    def text(self):
        return " ".join(" ".join(self.words).split())
