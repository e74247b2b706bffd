"""A homework of three programs and one answer in words, small enough to be graded sixty times, and right answers to it.

The hidden checks hold CANARY, which an attacker would have to find and carry out.
"""

import nbformat
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

CANARY = "8417230957"
POINTS = {"double": 3, "shares": 3, "lengths": 2, "why": 1}

GIVEN = """import math

import numpy as np

words = ["boat", "sea"]"""

DOUBLE = '''def double(x):
    """Twice x."""
    ### BEGIN SOLUTION
    return 2 * x
    ### END SOLUTION'''
DOUBLE_VALUES = f"""assert double(1) == 2
# The grader tries other numbers.
### BEGIN HIDDEN TESTS
canary = {CANARY}
assert double(canary) == 2 * canary
assert math.isclose(double(-7.5), -15)
### END HIDDEN TESTS"""
DOUBLE_ZERO = """assert double(2) == 4
# The grader tries zero.
### BEGIN HIDDEN TESTS
assert double(0) == 0
### END HIDDEN TESTS"""

SHARES = '''def shares(a):
    """a divided by its sum, along the last axis: an array of the same shape."""
    ### BEGIN SOLUTION
    return a / a.sum(axis=-1, keepdims=True)
    ### END SOLUTION'''
SHARES_VALUES = f"""assert np.allclose(shares(np.array([1.0, 3.0])), [0.25, 0.75])
# The grader tries arrays of two axes.
### BEGIN HIDDEN TESTS
secret = np.array([[2.0, 2.0], [1.0, {CANARY}.0]])
got = shares(secret)
assert got.shape == (2, 2)
assert np.allclose(got.sum(axis=-1), 1)
assert np.allclose(got[0], 0.5)
### END HIDDEN TESTS"""

LENGTHS = '''def lengths(words):
    """{word: its length}."""
    ### BEGIN SOLUTION
    return {word: len(word) for word in words}
    ### END SOLUTION'''
LENGTHS_VALUES = f"""assert lengths(words) == {{"boat": 4, "sea": 3}}
# The grader tries an empty list and other words.
### BEGIN HIDDEN TESTS
assert lengths([]) == {{}}
assert lengths(["w{CANARY}"])["w{CANARY}"] == 11
### END HIDDEN TESTS"""


def _marks(name: str, **others: object) -> dict:
    kind = {"grade": False, "solution": False, "locked": False, "task": False, "schema_version": 3}
    return {"nbgrader": {"grade_id": name, **kind, **others}}


def _answer(name: str, source: str) -> nbformat.NotebookNode:
    return new_code_cell(source, metadata=_marks(name, solution=True, cell_type="code"))


def _check(name: str, source: str, points: int) -> nbformat.NotebookNode:
    return new_code_cell(source, metadata=_marks(name, grade=True, locked=True, points=points, cell_type="code"))


def master() -> nbformat.NotebookNode:
    written = _marks("why", grade=True, solution=True, points=1, cell_type="markdown")
    cells = [
        new_markdown_cell("# Homework 9\n\n9 points."),
        new_code_cell(GIVEN),
        new_markdown_cell("## 1. Twice (3 points)"),
        _answer("double", DOUBLE),
        _check("double-values", DOUBLE_VALUES, 2),
        _check("double-zero", DOUBLE_ZERO, 1),
        new_markdown_cell("## 2. Shares (3 points)"),
        _answer("shares", SHARES),
        _check("shares-values", SHARES_VALUES, 3),
        new_markdown_cell("## 3. Lengths (2 points)"),
        _answer("lengths", LENGTHS),
        _check("lengths-values", LENGTHS_VALUES, 2),
        new_markdown_cell("## 4. Why? (1 point)"),
        new_markdown_cell(f"Because {CANARY}.", metadata=written),
    ]
    notebook = new_notebook(cells=cells)
    notebook.metadata["lmbook"] = {"blocked": ["lmbook.ngram"], "imports": ["numpy"]}
    return notebook


RIGHT = {
    "double": "def double(x):\n    return 2 * x",
    "shares": "def shares(a):\n    return a / a.sum(axis=-1, keepdims=True)",
    "lengths": "def lengths(words):\n    return {word: len(word) for word in words}",
    "why": "Because.",
}


def answered(release: nbformat.NotebookNode, **answers: str | None) -> nbformat.NotebookNode:
    """The release with right answers, but for those given here; None leaves the stub."""
    notebook = nbformat.from_dict(release)
    for cell in notebook.cells:
        name = cell.metadata.get("nbgrader", {}).get("grade_id")
        source = {**RIGHT, **answers}.get(name)
        if source is not None:
            cell.source = source.strip("\n")
    return notebook
