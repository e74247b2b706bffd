"""A homework of two programs and one written answer, its roster, and notebooks that come back."""

import copy
import json
from pathlib import Path

from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from lmbook.homework.make import student_version

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


def release() -> NotebookNode:
    return student_version(master())


DOUBLE_AT, TRIPLE_AT, WRITTEN_AT = 3, 6, 9  # where the answers are among the cells


def returned(double: str | None = DOUBLE, triple: str | None = TRIPLE, written: str | None = WRITTEN) -> NotebookNode:
    """The release with these answers; None leaves what was handed out."""
    notebook = copy.deepcopy(release())
    for at, source in ((DOUBLE_AT, double), (TRIPLE_AT, triple), (WRITTEN_AT, written)):
        if source is not None:
            notebook.cells[at].source = source
    return notebook


def hand_in(notebook: NotebookNode, path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(notebook), encoding="utf-8")
    return path
