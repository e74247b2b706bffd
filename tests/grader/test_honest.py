"""Honest answers in many styles get their points, and `check` says of each what the grader says."""

import contextlib
import importlib
import io
import multiprocessing
import re
import sys
from pathlib import Path

import nbformat
import pytest
import samples
from nbformat.v4 import new_code_cell, new_notebook
from points import ROOT, STEMS, code_cells
from samples import hand_in
from styles import styled

from lmbook_grader.grading.grade import grade_one
from lmbook_grader.intake.collect import Submission
from lmbook_grader.intake.match_answers import place
from lmbook_grader.intake.reading import open_submission
from lmbook_grader.sandbox import wire
from lmbook_grader.self_check import RELEASES, check
from lmbook_press.assignments.make import grading_version, make, student_version
from lmbook_press.assignments.questions import marks
from lmbook_press.book import Book
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
    "lambda": ["double = lambda x: 2 * x"],
    "a class in place of a function": ["class double:\n    def __new__(cls, x):\n        return 2 * x"],
    "cached": ["import functools", "@functools.lru_cache(maxsize=None)\ndef double(x):\n    return 2 * x"],
    "partial": ["import functools, operator\ndouble = functools.partial(operator.mul, 2)"],
    "a method": ["class Twice:\n    def of(self, x):\n        return 2 * x\n\ndouble = Twice().of"],
    "under if": ["if True:\n\tdef double(x):\n\t\treturn 2 * x"],
    "annotated": [
        "from dataclasses import dataclass\nfrom typing import Any, Optional, TypeVar\nT = TypeVar('T')",
        "def double(x: Optional[T], *, more: 'list[Any]' = ()) -> 'T':\n    return 2 * x",
    ],
    "Windows lines and tabs": ["def double(x):\r\n\tif x:\r\n\t\treturn 2 * x\r\n\treturn 0\r\n"],
    "much is printed": ["def double(x):\n    for n in range(20_000):\n        print(n, x)\n    return 2 * x"],
    "warnings as errors": ["import warnings\nwarnings.simplefilter('error')\ndef double(x):\n    return 2 * x"],
    "a pool of threads": [
        "from concurrent.futures import ThreadPoolExecutor",
        "def double(x):\n    with ThreadPoolExecutor(2) as pool:\n        return sum(pool.map(float, [x, x]))",
    ],
    "a pool of processes": [
        "from multiprocessing import Pool",
        "def double(x):\n    with Pool(2) as pool:\n        return sum(pool.map(float, [x, x]))",
    ],
    "its own random numbers": ["import random\nrandom.seed(1)\nnp.random.seed(1)\ndef double(x):\n    return 2 * x"],
    "a progress bar": [
        "from tqdm.auto import tqdm\nfrom tqdm import trange",
        "def double(x):\n    return sum(x for _ in tqdm(range(2)))",
    ],
    "a slow import": [
        "import matplotlib.pyplot as plt\nplt.plot([1, 2]); plt.show()\ndef double(x):\n    return 2 * x"
    ],
    "an empty line of NumPy": ["def double(x):\n    return np.add.reduce([x, x])[()]"],
    "a negative zero": ["def double(x):\n    return 2 * x + -0.0"],
    "a file of its own": [
        "import json, tempfile, pathlib\nplace = pathlib.Path(tempfile.mkdtemp()) / 'k.json'\nplace.write_text('2')",
        "def double(x):\n    return json.loads(place.read_text()) * x",
    ],
    "deleted and made again": ["def double(x): return 0\ndel double\n\ndef double(x):\n    return 2 * x"],
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
        cells.append(new_code_cell(stub, metadata=samples.marks(name, solution=True, cell_type="code")))
        checked = samples.marks(f"{name}-values", grade=True, locked=True, points=1, cell_type="code")
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
        cells += [release.cells[at] | {"source": re.sub(r"\bdouble\b", name, answer)}, release.cells[at + 1]]
    return release | {"cells": cells}


def test_every_honest_style_gets_its_point_and_check_agrees(walls, course, tmp_path):
    release = course / "release/01-styles.ipynb"
    path = hand_in(handed_in(read(release)), tmp_path / "ann.ipynb")
    result = grade_one(Submission("ann", path), course)
    assert result["status"] == "graded", result["why"]
    for name in ("lmbook", "scipy", "slope", "torch"):
        assert any(f"uses {name}, which {wire.CLOSED}" in note for note in result["notes"]), name
    wanted = dict(zip(CASES, [1] * len(RIGHT) + [0] * len(WRONG), strict=True))
    assert {one["id"]: one["points"] for one in result["questions"]} == wanted
    checked = check(path, release)
    assert {name: one.passed for name, one in zip(CASES, checked.questions, strict=True)} == wanted
    assert [bool(one.said) for one in checked.questions] == [not points for points in wanted.values()]


def in_this_process(stem: str, notebook: nbformat.NotebookNode, said) -> None:
    """Sends the names of the hidden checks that fail: cells placed and run as in the sandbox, but without it.

    It is the body of a process of its own, since a worker changes what a process has.
    """
    sys.path.insert(0, str(Path(wire.__file__).parent))  # in the sandbox it is a script beside wire.py
    worker = importlib.import_module("worker").Worker(io.BytesIO(), io.BytesIO())
    release = read(RELEASES / f"{stem}.ipynb")
    checks = {marks(cell)["grade_id"]: cell.source for cell in code_cells(stem, "a secret") if marks(cell).get("grade")}
    failed = []
    for number, cell in enumerate(place(notebook, release).notebook.cells):
        if cell.cell_type != "code":
            continue
        source = checks.get(marks(cell).get("grade_id"), cell.source)
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            try:
                worker.do_run({"name": f"<cell {number}>", "source": source, "stop": source in checks.values()})
            except BaseException as error:
                failed += [f"{marks(cell)['grade_id']}: {error!r}"] if source in checks.values() else []
    said.send(failed)


SAMPLE = [
    ("01-chain-rule", 0),
    ("05-backpropagation", 4),
    pytest.param("11-attention", 10, marks=pytest.mark.weekly),
    pytest.param("12-queries-keys-values", 11, marks=pytest.mark.weekly),
    ("19-running-llms", 18),
]
ALL = [(STEMS[n % len(STEMS)], n) for n in range(200)]


def written(notebook: nbformat.NotebookNode, tmp_path) -> Path:
    return hand_in(notebook, tmp_path / "ann.ipynb")


@pytest.mark.parametrize(("stem", "number"), SAMPLE)
def test_a_right_answer_is_right_in_any_style(stem, number, tmp_path):
    notebook, habits = styled(stem, number)
    here, there = multiprocessing.Pipe()
    plain = open_submission(written(notebook, tmp_path))
    spawn = multiprocessing.get_context("spawn")  # what runs tests has threads: no fork of it is sure to go on
    process = spawn.Process(target=in_this_process, args=(stem, plain, there), daemon=True)
    process.start()
    there.close()
    assert here.poll(300), "the process with the answers says nothing"
    assert here.recv() == [], habits
    process.join(60)


BY_AUTOGRAD = """
def lstm_back(w, x, h, c, dh, dc):
    leaves = {name: torch.tensor(value, requires_grad=True) for name, value in (w | {"h": h, "c": c}).items()}
    a = torch.tensor(x) @ leaves["w_ih"].T + leaves["b_ih"] + leaves["h"] @ leaves["w_hh"].T + leaves["b_hh"]
    i, f, g, o = a.chunk(4, dim=1)
    new = f.sigmoid() * leaves["c"] + i.sigmoid() * g.tanh()
    ((o.sigmoid() * new.tanh() * torch.tensor(dh)).sum() + (new * torch.tensor(dc)).sum()).backward()
    return {name: leaf.grad.numpy() for name, leaf in leaves.items()}
"""


def test_what_the_checks_compare_with_is_closed_to_the_answers(walls, tmp_path):
    """Homework 7 imports torch for its checks, and asks for what autograd would say."""
    make(Book(ROOT), tmp_path, ("07",), seed="a secret")
    notebook = read(RELEASES / "07-long-memory.ipynb")
    next(cell for cell in notebook.cells if marks(cell).get("grade_id") == "back").source = BY_AUTOGRAD
    result = grade_one(Submission("ann", hand_in(notebook, tmp_path / "ann.ipynb")), tmp_path / "07")
    (back,) = (one for one in result["questions"] if one["id"] == "back")
    assert [check["points"] for check in back["checks"]] == [0, 0]
    assert all("The check that you can see passes" in check["message"] for check in back["checks"])
    assert f"Your code uses torch, which {wire.CLOSED}." in result["notes"]


@pytest.mark.weekly
@pytest.mark.parametrize(("stem", "number"), ALL)
def test_the_grader_and_check_give_every_style_its_points(stem, number, courses, warm, tmp_path):
    notebook, habits = styled(stem, number)
    path = written(notebook, tmp_path)
    result = grade_one(Submission("ann", path), courses / stem[:2], warm=warm)
    assert result["status"] == "graded", result["why"]
    lost = {one["id"]: one for one in result["questions"] if one["checks"] and one["points"] < one["max"]}
    assert lost == {}, habits
    checked = check(path)
    assert checked.against == f"{stem}.ipynb"
    assert [one.title for one in checked.questions if one.passed < one.checks] == [], habits
