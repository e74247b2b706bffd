"""Check in a page says word for word what the command says, though it has no other process."""

import io
import json
from contextlib import redirect_stdout

import pytest
from samples import DOUBLE, hand_in, release, returned

from lmbook_grader import in_page
from lmbook_grader.self_check import check
from lmbook_grader.verdict import lines
from lmbook_press.normalize import write_notebook

ANSWERS = {
    "right": DOUBLE,
    "wrong": "def double(x):\n    return 3 * x",
    "not written": None,
    "no Python": "def double(x)\n    return 2",
    "raises in a line": "def double(x):\n    y = x\n    return z",
    "raises when it is defined": "1 / 0\n\n" + DOUBLE,
    "what cannot travel": "def double(x):\n    return len",
    "an exception of its own": "class Mine(Exception):\n    pass\n\n\ndef double(x):\n    raise Mine('no')",
    "leaves": "def double(x):\n    raise SystemExit",
    "a closed library": "import torch\n\n\ndef double(x):\n    return 2 * x",
    "a closed module": "from lmbook import gpt\n\n\ndef double(x):\n    return 2 * x",
    "a module of its own": "open('mine.py', 'w').write('two = 2')\nimport mine\n\n\n"
    "def double(x):\n    return mine.two * x",
    "prints much": "print('x' * 100_000)\n\n\n" + DOUBLE,
    "drives nothing": "from google.colab import drive\ndrive.mount('/content/drive')\n" + DOUBLE,
    "asks": "name = input()\n\n\n" + DOUBLE,
    "a name that shadows": "print = 3\n\n\n" + DOUBLE,
    "Jupyter's own lines": "%matplotlib inline\n\n\n" + DOUBLE,
}


@pytest.mark.parametrize("answer", ANSWERS.values(), ids=list(ANSWERS))
def test_both_say_the_same(tmp_path, answer):
    own = release()
    own.metadata["lmbook"] = {
        "imports": ["numpy"],
        "blocked": ["lmbook.gpt"],
        "sections": {"double": ["07-numbers", "Twice"]},
    }
    handed_out = tmp_path / "release" / "07-numbers.ipynb"
    write_notebook(own, handed_out)
    path = hand_in(returned(double=answer), tmp_path / "ann.ipynb")
    wanted = check(path, handed_out)
    found, outcomes = in_page.checked(handed_out, path, {}, wanted.python)
    assert lines(found, path.name) == lines(wanted, path.name)
    assert sum(outcome.passed for outcome in outcomes.values()) == sum(one.passed for one in wanted.questions)


def said(notebook: object, known: str = "{}") -> dict:
    text = json.dumps(notebook)
    with redirect_stdout(io.StringIO()) as printed:
        in_page.check(json.dumps(release()), text, "07-numbers.ipynb", known)
    return json.loads(printed.getvalue())


def test_the_page_gets_what_it_shows():
    found = said(returned())
    assert found["good"]
    assert found["passed"] == {"double-values": True, "triple-values": True}
    assert [(one["state"], one["passed"], one["checks"]) for one in found["questions"]] == [
        ("answered", 1, 1),
        ("answered", 1, 1),
        ("answered", 0, 0),
    ]
    assert found["lines"][-1].startswith("All there")
    assert "not a notebook" in said("no notebook")["error"]


def test_one_check_leaves_nothing_behind_for_the_next():
    marked = "import sys, os\nsys.modules['lmbook_mark'] = 1\nmark = 1\n\n\n" + DOUBLE
    assert said(returned(double=marked))["good"]
    assert not said(returned(double="def double(x):\n    return 2 * x + mark"))["good"]
