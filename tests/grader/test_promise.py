"""`check` is a promise: what it passes `grade` passes, and what the grader has not is not here either."""

import os
import sys
from pathlib import Path

import pytest
from samples import hand_in, release, returned, write_course

from lmbook_grader import promise, self_check
from lmbook_grader.grading.grade import grade_one
from lmbook_grader.intake.collect import Submission
from lmbook_grader.sandbox.commands import Limits
from lmbook_grader.self_check import check
from lmbook_grader.verdict import lines

WRITER = "with open('helper.py', 'w') as file:\n    file.write('def twice(x):\\n    return 2 * x\\n')\n"
MAGIC = "%%writefile helper.py\ndef twice(x):\n    return 2 * x"
# What an answer does, and whether it has its points, by both; FOLDER is the notebook's, with other files in it.
HERE = ["ann.ipynb", "beside.py", "factor.txt"]
BACK = "\ndef double(x):\n    return "
ANSWERS = {
    "a module that a cell wrote": (f"{WRITER}from helper import twice{BACK}twice(x)", True),
    "a file that a cell wrote": (f"open('n.txt', 'w').write('2'){BACK}int(open('n.txt').read()) * x", True),
    "a file in a new folder": (
        f"import os\nos.mkdir('d')\nopen('d/n', 'w').write('2'){BACK}int(open('d/n').read()) * x", True),
    "a temporary file": (f"import tempfile\nwith tempfile.TemporaryFile() as f:\n    f.write(b'2'){BACK}2 * x", True),
    "a slow demonstration below the function": ("def double(x):\n    return 2 * x\nwhile True:\n    double(1)", True),
    "a demonstration that ends the process": ("import os\ndef double(x):\n    return 2 * x\nos._exit(0)", True),
    "a picture": (f"import matplotlib.pyplot as plt\nplt.plot([1, 2])\nplt.savefig('x.png'){BACK}2 * x", True),
    "a file beside the notebook": (f"factor = int(open('FOLDER/factor.txt').read()){BACK}factor * x", False),
    "a file beside it, by its name alone": (f"factor = int(open('factor.txt').read()){BACK}factor * x", False),
    "a module beside the notebook": ("from beside import double", False),
    "a module found by the folder": (
        f"import sys\nsys.path.insert(0, 'FOLDER')\nfrom beside import twice{BACK}twice(x)", False),
    "a folder of Colab": (f"factor = int(open('/content/factor.txt').read()){BACK}factor * x", False),
    "a folder that is looked through": (
        f"import os\nfactor = len(os.listdir('FOLDER')){BACK}2 * x * (factor > 0)", False),
    "a socket": (f"import socket\nsocket.socket(){BACK}2 * x", True),
    "a socket in the answer": ("import socket\ndef double(x):\n    socket.socket()\n    return 2 * x", False),
    "a page of the web": (
        "import urllib.request\ndef double(x):\n    urllib.request.urlopen('http://127.0.0.1:1/')\n    return 2 * x",
        False),
}  # fmt: skip


@pytest.mark.parametrize("name", ANSWERS)
def test_check_and_grade_agree(walls, name, tmp_path, monkeypatch):
    source, passes = ANSWERS[name]
    course, folder = write_course(tmp_path / "course"), tmp_path / "mine"
    path = hand_in(returned(double=source.replace("FOLDER", str(folder))), folder / "ann.ipynb")
    (folder / "factor.txt").write_text("2")
    (folder / "beside.py").write_text("def twice(x):\n    return 2 * x\n\ndef double(x):\n    return 2 * x\n")
    limits = Limits(cell=6, check=2, total=60)
    monkeypatch.setattr(self_check, "Limits", lambda total: limits)  # not 20 seconds of a cell that never ends
    checked = check(path, course / "release/07-numbers.ipynb")
    graded = grade_one(Submission("ann", path), course, limits=limits)
    assert [one.passed for one in checked.questions[:2]] == [passes, 1]
    assert [one["points"] for one in graded["questions"][:2]] == [2 * passes, 3]
    assert sorted(one.name for one in folder.iterdir() if one.name != "__pycache__") == HERE


def test_a_magic_line_writes_a_module_too(walls, tmp_path):
    from nbformat.v4 import new_code_cell

    course, notebook = (
        write_course(tmp_path / "course"),
        returned(double="from helper import twice\ndef double(x):\n    return twice(x)"),
    )
    notebook.cells.insert(2, new_code_cell(MAGIC))
    path = hand_in(notebook, tmp_path / "ann.ipynb")
    assert grade_one(Submission("ann", path), course)["questions"][0]["points"] == 2
    assert check(path, course / "release/07-numbers.ipynb").good


def test_a_slow_demonstration_is_said_and_costs_nothing(walls, tmp_path):
    source = f"limit = 7{BACK}2 * x * (limit == 7)\n\nimport time\nfor n in range(100):\n    time.sleep(1)"
    path = hand_in(returned(double=source), tmp_path / "ann.ipynb")
    course = write_course(tmp_path / "course")
    graded = grade_one(Submission("ann", path), course, limits=Limits(cell=1, check=2, total=60))
    assert graded["questions"][0]["points"] == 2
    assert any("did not run to its end: all but the calls and loops in it are kept" in note for note in graded["notes"])


def test_a_library_that_no_grader_needs_is_named(tmp_path, monkeypatch):
    monkeypatch.setattr(promise, "strangers", lambda: ["sqlite3"])
    path = hand_in(returned(double="def double(x):\n    import sqlite3\n    return 2 * x"), tmp_path / "ann.ipynb")
    hand_in(release(), tmp_path / "release/r.ipynb")
    checked = check(path, tmp_path / "release/r.ipynb")
    said = "\n".join(lines(checked, "ann.ipynb"))
    assert not checked.good
    assert "No module named 'sqlite3' among the libraries of the grader" in said


def test_what_lmbook_brings_is_no_stranger():
    """With what these bring in their turn: a library is told by its distribution, not by its name."""
    there = set(promise.strangers())
    assert not there & {"numpy", "torch", "matplotlib", "IPython", "sympy", "PIL", "click", "lmbook", "tqdm"}
    if there:
        assert "pytest" in there


def test_the_grader_has_what_no_stranger_is():
    """Of the names that a worker may import here, each is in this environment, which is the one that grades."""
    assert promise.python() <= sys.version_info[:2]
    assert promise.python() == (3, 11)


@pytest.mark.parametrize(
    ("source", "version", "newer"),
    [
        ("match 1:\n    case 1:\n        pass", (3, 11), False),
        ("match 1:\n    case 1:\n        pass", (3, 9), True),
        ("try:\n    pass\nexcept* ValueError:\n    pass", (3, 10), True),
        ("def f(x):\n    return x", (3, 11), False),
        ("this is no Python", (3, 11), False),
        ("%matplotlib inline\nx = 1", (3, 11), False),
    ],
)
def test_syntax_of_a_newer_python_is_named(source, version, newer):
    assert bool(promise.newer(source, version)) == newer


@pytest.mark.parametrize(
    "source", ["f'{d['a']}'", "f'{\"\\n\".join(x)}'", "f'{\n1}'", "def f[T](x: T): return x", "type X = int"]
)
def test_what_only_python_3_12_reads_is_named(source):
    """Where this Python does not read it either, it is no Python at all, which is another message's matter."""
    assert bool(promise.newer(source, (3, 11))) == (sys.version_info >= (3, 12))


def test_the_page_of_check_says_by_which_python(tmp_path):
    path = hand_in(returned(), tmp_path / "ann.ipynb")
    hand_in(release(), tmp_path / "release/r.ipynb")
    said = "\n".join(lines(check(path, tmp_path / "release/r.ipynb"), "ann.ipynb"))
    assert "by the syntax of Python 3.11 and the libraries that lmbook brings" in said
    assert os.getcwd() == str(Path.cwd())
