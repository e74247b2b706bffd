"""Honest answers in many styles get their points, and `check` says of each what the grader says."""

from pathlib import Path

import pytest
from nbformat.v4 import new_code_cell, new_notebook
from samples import hand_in, marks

from lmbook_grader.grading.grade import grade_one
from lmbook_grader.intake.collect import Submission
from lmbook_grader.sandbox.commands import available
from lmbook_grader.self_check import check
from lmbook_press.assignments.make import grading_version, student_version
from lmbook_press.normalize import read

# name -> the student's cells, the last of which is the answer
RIGHT = {
    "plain": ["def double(x):\n    return 2 * x"],
    "from math import *": ["from math import *", "def double(x):\n    return fsum([x, x])"],
    "try/except": [
        "try:\n    import operator\n    plus = operator.add\nexcept ImportError:\n    def plus(a, b): return a + b",
        "def double(x):\n    return plus(x, x)",
    ],
    "built by a loop": ["table = {}\nfor n in range(3):\n    table[n] = n", "def double(x):\n    return table[2] * x"],
    "default": ["K = 2", "def double(x, k=K):\n    return k * x"],
    "global": ["calls = 0", "def double(x):\n    global calls\n    calls += 1\n    return 2 * x"],
    "from __future__": [
        "from __future__ import annotations",
        "from __future__ import annotations\ndef double(x: Unknown) -> Never:\n    return 2 * x",
    ],
    "help": ["import math\n?math.pi\nmath.pi?\ntwo = 2", "def double(x):\n    return two * x"],
    "%timeit -o": [
        "took = %timeit -o -n 1 -r 1 sum(range(9))\ntwo = 2 if took.best >= 0 else 3",
        "def double(x):\n    return two * x",
    ],
    "%%time": ["%%time\ntwo = 2", "def double(x):\n    return two * x"],
    "!ls": ["!ls\n%matplotlib inline\nnames = !echo 2\ntwo = int(names[0])", "def double(x):\n    return two * x"],
    "await": ["async def two(): return 2\nfactor = await two()", "def double(x):\n    return factor * x"],
    "get_ipython": [
        "get_ipython().run_line_magic('matplotlib', 'inline')\ntwo = 2",
        "def double(x):\n    return two * x",
    ],
    "Fractions": ["from fractions import Fraction", "def double(x):\n    return Fraction(x) * 2"],
    "longdouble": ["import numpy as np", "def double(x):\n    return np.longdouble(x) * 2"],
    "Decimal": ["from decimal import Decimal", "def double(x):\n    return Decimal(str(x)) * 2"],
    "input()": ["name = input('Your name: ')\ndef double(x):\n    return 2 * x"],
    "Drive": ["from google.colab import drive\ndrive.mount('/content/drive')\nK = 2\ndef double(x):\n    return K * x"],
    "name clash": ["def triple(x):\n    return x + x", "twice = triple\ndef double(x):\n    return twice(x)"],
    "split": ["def half(x):\n    return x + x", "def double(x):\n    return half(x)"],
    "libraries that are not needed": [
        "import lmbook\nimport torch\nK = 2",
        "import scipy\n\ndef double(x):\n    return K * x",
    ],
    "asks whether a library is there": [  # as torch's optimizers do
        "from importlib.util import find_spec\nK = 2 if find_spec('sklearn') or True else 0",
        "def double(x):\n    return K * x",
    ],
    "a function with the name of a closed one": [
        "def steep(x):\n    return x + x",
        "def double(x):\n    return steep(x)",
    ],
}
WRONG = {
    "a given function that is closed": ["def double(x):\n    return slope(x)"],
    "a library that is closed": ["import math", "def double(x):\n    import scipy.special\n    return 2 * x"],
    "nothing returned": ["def double(x):\n    print(2 * x)"],
    "a helper that only stands behind": ["def double(x):\n    return not_there(x)"],
    "an object": ["class Twice:\n    pass", "def double(x):\n    return Twice()"],
    "a row for a number": ["import numpy as np", "def double(x):\n    return np.array([2 * x])"],
}
CASES = {f"double{number}": cells for number, cells in enumerate([*RIGHT.values(), *WRONG.values()])}
GIVEN = """import numpy as np


def agree(found, wanted):
    return np.shape(found) == np.shape(wanted) and np.allclose(np.asarray(found, dtype=float), wanted)


def slope(x):
    return 2 * x"""


@pytest.fixture
def course(tmp_path) -> Path:
    """A homework with a question for each case."""
    cells = [new_code_cell(GIVEN)]
    for name in CASES:
        stub = f"def {name}(x):\n    ### BEGIN SOLUTION\n    return 2 * x\n    ### END SOLUTION"
        tests = f"assert agree({name}(1.5), 3)\n# Another number.\n### BEGIN HIDDEN TESTS\n"
        cells.append(new_code_cell(stub, metadata=marks(name, solution=True, cell_type="code")))
        checked = marks(f"{name}-values", grade=True, locked=True, points=1, cell_type="code")
        tests += f"assert agree({name}(-4.25), -8.5)\n### END HIDDEN TESTS"
        cells.append(new_code_cell(tests, metadata=checked))
    master = new_notebook(cells=cells, metadata={"lmbook": {"imports": ["numpy"], "closed": ["slope"]}})
    for kind, version in (("release", student_version), ("grading", grading_version)):
        hand_in(version(master), tmp_path / "01" / kind / "01-styles.ipynb")
    return tmp_path / "01"


def handed_in(release) -> dict:
    cells = release.cells[:1]
    for name, (*own, answer) in CASES.items():
        at = next(
            n for n, cell in enumerate(release.cells) if cell.metadata.get("nbgrader", {}).get("grade_id") == name
        )
        cells += [new_code_cell(source) for source in own]
        cells += [release.cells[at] | {"source": answer.replace("def double", f"def {name}")}, release.cells[at + 1]]
    return release | {"cells": cells}


def test_every_honest_style_gets_its_point_and_check_agrees(course, tmp_path):
    if why := available("bwrap"):
        pytest.skip(why)
    release = course / "release/01-styles.ipynb"
    path = hand_in(handed_in(read(release)), tmp_path / "ann.ipynb")
    result = grade_one(Submission("ann", path), course)
    assert result["status"] == "graded", result["why"]
    for name in ("lmbook", "scipy", "slope", "torch"):
        assert any(f"uses {name}, which is closed" in note for note in result["notes"]), name
    wanted = dict(zip(CASES, [1] * len(RIGHT) + [0] * len(WRONG), strict=True))
    assert {one["id"]: one["points"] for one in result["questions"]} == wanted
    checked = check(path, release)
    assert {name: one.passed for name, one in zip(CASES, checked.questions, strict=True)} == wanted
    assert [bool(one.said) for one in checked.questions] == [not points for points in wanted.values()]
