"""Equal passages: a copy with other names is listed, what many wrote or all were given is called common."""

import sys

import pytest
from click.testing import CliRunner
from samples import ROSTER, hand_in, returned, write_course

from lmbook_grader.cli import homework
from lmbook_grader.copies.compare import normalised
from lmbook_grader.copies.run_order import run_order

ODD = """def double(x):
    table = {key: key * 3 - key for key in range(int(x), int(x) + 2)}
    for step, value in sorted(table.items(), reverse=True):
        x = x if step < value else value / 2
    return sum([x, x])"""
RENAMED = (
    ODD.replace("table", "lookup")
    .replace("step", "n")
    .replace("value", "it")
    .replace("\n    for", "\n    # mine\n    for")
)
OTHER = "def double(x):\n    return x + x"


@pytest.fixture
def course(tmp_path):
    pytest.importorskip("copydetect")
    (tmp_path / "roster.csv").write_text(ROSTER, encoding="utf-8")
    return write_course(tmp_path / "course")


def listed(course, tmp_path, *options, **answers):
    for name, text in answers.items():
        hand_in(returned(double=text), tmp_path / f"in/{name}.ipynb")
    words = ["copies", str(course), str(tmp_path / "in"), "--roster", str(tmp_path / "roster.csv")]
    said = CliRunner().invoke(homework, [*words, "--out", str(tmp_path / "graded"), *options], catch_exceptions=False)
    return said.output, (tmp_path / "graded/07/copies.html").read_text(encoding="utf-8")


def test_a_copy_with_other_names_is_listed_and_no_other_pair(course, tmp_path):
    said, page = listed(course, tmp_path, ann=ODD, bob=RENAMED, zoe=OTHER)
    assert "3 files, 1 pairs" in said
    assert "ann and bob" in page
    assert "2 of 3 have it" in page
    assert "zoe and" not in page
    assert "and zoe" not in page
    assert "and zoe" in listed(course, tmp_path, zoe=ODD.replace("* 3", "* 4"), bob=OTHER)[1]


def test_what_many_wrote_is_common(course, tmp_path):
    said, _ = listed(course, tmp_path, ann=ODD, bob=RENAMED, zoe=ODD)
    assert "0 pairs" in said


def test_last_year_and_what_is_shown_is_text(course, tmp_path):
    hand_in(returned(double=RENAMED), tmp_path / "before/<b>eve.ipynb")
    evil = ODD.replace("int(x) + 2", "int(x) + len('<script>')")
    _, page = listed(course, tmp_path, "--before", str(tmp_path / "before"), ann=evil, bob=OTHER, zoe=OTHER)
    assert "ann and last year: &lt;b&gt;eve.ipynb" in page
    assert "<script" not in page


def test_without_the_library_the_remedy_is_said(course, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "copydetect", None)
    hand_in(returned(), tmp_path / "in/ann.ipynb")
    words = ["copies", str(course), str(tmp_path / "in"), "--roster", str(tmp_path / "roster.csv")]
    assert "copydetect is not installed: pip install" in str(CliRunner().invoke(homework, words).exception)


def test_layout_comments_and_docstrings_are_taken_off():
    assert normalised('def f( x ):\n    """Doc."""\n    return x  # note') == normalised("def f(x):\n  return x")
    assert normalised("%time 1 +") == "%time 1 +"


def test_order_and_times_of_the_cells_are_said(tmp_path):
    notebook = returned()
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    for number, cell in enumerate(code):
        cell.execution_count = number + 1
        user = {"displayName": "Eve Fox\x1b"}
        cell.metadata["executionInfo"] = {"timestamp": 1_789_000_000_000 + 1000 * number, "user": user}
    said = " ".join(run_order(hand_in(notebook, tmp_path / "a.ipynb")))
    assert "once, from top to bottom" in said
    assert "all of them within" in said
    assert "Eve Fox\ufffd" in said
    code[0].execution_count, code[1].execution_count = 9, None
    code[2].metadata = {"execution": {"iopub.execute_input": "2026-09-14T10:00:00.5Z"}}
    said = " ".join(run_order(hand_in(notebook, tmp_path / "a.ipynb")))
    assert f"1 of {len(code)} code cells were never run." in said
    assert "1 times a cell was run before one above it" in said
    assert run_order(hand_in({"cells": [None, 3, {"cell_type": "code", "metadata": 5}]}, tmp_path / "b.ipynb"))
    (tmp_path / "c.ipynb").write_text("no JSON")
    assert run_order(tmp_path / "c.ipynb") == []
