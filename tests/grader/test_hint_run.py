"""Hints inside the walls: probes that raise, hang or end the process, and how often a student has tried."""

import json

import pytest
from hinted import NAMED
from hinted import hints as hinted
from points import STEMS, master, with_functions, with_values
from samples import hand_in, release, returned
from slips import wrong_answers

from lmbook_grader import hints, tries
from lmbook_grader.grading import hint_run
from lmbook_grader.grading.grade import grade_one
from lmbook_grader.grading.hidden_tests import bounded
from lmbook_grader.intake.collect import Submission
from lmbook_grader.report.feedback import feedback
from lmbook_grader.sandbox.commands import Limits, available
from lmbook_grader.self_check import RELEASES, check
from lmbook_grader.verdict import lines
from lmbook_press.assignments.make import grading_version, make
from lmbook_press.assignments.questions import marks
from lmbook_press.book import Book
from lmbook_press.normalize import read, write_notebook

OWN = """
from lmbook_grader.hints import Hints
hint = Hints()

@hint("double", "This probe raises.")
def raises(double):
    return 1 / 0

@hint("double", "This probe asks for what is not there.")
def asks(nowhere):
    return nowhere(1)

@hint("double", "This probe finds an object.")
def odd(double):
    return double("an object") == 1

@hint("double", "This probe ends the process.")
def ends(double):
    return double("end") == 1

@hint("double", "This probe does not end.")
def hangs(double):
    return double("loop") == 1

@hint("double", "You add one.")
def adds_one(double):
    return double(1) == 2 and double(5) == 6

@hint("triple", "You multiply by four.")
def by_four(triple):
    return triple(1) == 4
"""
DOUBLE = """
def double(x):
    if x == "end":
        import os
        os._exit(0)
    while x == "loop":
        pass
    return object() if x == "an object" else x + 1
"""


def with_hints(folder, notebook, **said):
    """A course's own release with hints beside it, and a notebook that was handed in."""
    own = release()
    own.metadata["lmbook"] = {"sections": {"double": ["07-numbers", "Twice & more"]}, **said}
    path = folder / "release" / "07-numbers.ipynb"
    write_notebook(own, path)
    path.with_suffix(hints.ENDING).write_text(OWN)
    return hand_in(notebook, folder / "ann.ipynb"), path


def test_a_hint_comes_after_the_second_try(tmp_path, monkeypatch):
    monkeypatch.setattr("lmbook_grader.grading.hint_run.SECONDS", 0.3)
    path, handed_out = with_hints(tmp_path, returned(double="def double(x):\n    return x + 1"))
    first = check(path, handed_out)
    assert not first.good
    assert [one.hint for one in first.questions] == ["", "", ""]
    assert "There is a hint" in "\n".join(lines(first, "ann.ipynb"))
    assert check(path, handed_out).questions[0].hint == "", "the same answer again is no other try"
    hand_in(returned(double=DOUBLE), path)
    second = check(path, handed_out)
    assert second.questions[0].hint == "You add one. To read again: chapter 7, “Twice & more”."
    assert "Hint: You add one." in "\n".join(lines(second, "ann.ipynb"))
    kept = (tmp_path / tries.NAME).read_text()
    assert len(json.loads(kept)["07-numbers"]["double"]) == 2
    assert "return" not in kept
    hand_in(returned(), path)
    assert check(path, handed_out).good


def test_a_course_may_want_them_at_once_or_never(tmp_path):
    wrong = returned(double="def double(x):\n    return x + 1", triple="def triple(x):\n    return 4 * x")
    path, handed_out = with_hints(tmp_path / "once", wrong, hints_after=1)
    assert [bool(one.hint) for one in check(path, handed_out).questions] == [True, True, False]
    path, handed_out = with_hints(tmp_path / "never", wrong, hints_after=0)
    checked = check(path, handed_out)
    assert [one.hint for one in checked.questions] == ["", "", ""]
    assert "There is a hint" not in "\n".join(lines(checked, "ann.ipynb"))


def test_make_writes_what_the_course_wants_and_how_an_assistant_may_help(tmp_path):
    make(Book.find(), tmp_path, ("1",), seed="a sentence", students=["ann"], hints_after=0)
    for kind in ("release", "grading", "students/ann"):
        assert read(tmp_path / "01" / kind / "01-chain-rule.ipynb").metadata.lmbook["hints_after"] == 0
    said = (tmp_path / "01/release/AGENTS.md").read_text(encoding="utf-8")
    assert "`01-chain-rule.ipynb` beside this file is graded work" in said
    assert (tmp_path / "01/students/ann/AGENTS.md").read_text(encoding="utf-8") == said
    assert not (tmp_path / "01/grading/AGENTS.md").exists()


def test_tries_are_counted_whatever_the_file_holds(tmp_path):
    for content in ("[]", "{", '{"07": 1}', '{"07": {"a": 3}}'):
        (tmp_path / tries.NAME).write_text(content)
        assert tries.count(tmp_path, "07", {"a": "x"}) == {"a": 1}
    assert tries.count(tmp_path, "07", {"a": "y"}) == {"a": 2}
    assert tries.count(tmp_path / tries.NAME, "07", {"a": "y"}) == {"a": tries.UNKNOWN}


@pytest.fixture(scope="module")
def course(tmp_path_factory):
    folder = tmp_path_factory.mktemp("course")
    make(Book.find(), folder, ("1",), seed="a sentence")
    return folder / "01"


def graded(course, folder, functions: dict[str, str], **limits: float) -> dict:
    notebook, answers = read(course / "grading" / "01-chain-rule.ipynb"), with_functions("01-chain-rule", functions)
    for cell in notebook.cells:
        if marks(cell).get("solution") and cell.cell_type == "code":
            cell.source = answers.get(marks(cell)["grade_id"], cell.source)
    path = hand_in(notebook, folder / "ann.ipynb")
    walls = "none" if available("bwrap") else "bwrap"
    return grade_one(Submission("ann", path), course, sandbox=walls, trusted=True, limits=Limits(total=60, **limits))


BASE_TWO = "def log_probability(model, sentence):\n    chain = ['<sos>', *sentence, '<eos>']\n    total = 0.0\n"
BASE_TWO += "    for last, word in zip(chain, chain[1:]):\n        p = model.get(last, {}).get(word, 0)\n"
BASE_TWO += "        total += math.log2(p) if p else -math.inf\n    return total"


def test_the_feedback_names_the_mistake_where_it_is_and_nowhere_else(course, tmp_path):
    result = graded(course, tmp_path, {"log_probability": BASE_TWO})
    said = {one["id"]: one["hint"] for one in result["questions"] if "hint" in one}
    assert list(said) == ["log-probability"]
    page = feedback(result, read(course / "release" / "01-chain-rule.ipynb"), {}, "Ann Doe")
    assert "Hint: Your logarithms are to base 2" in page


def test_a_right_answer_has_no_hint_run(course, tmp_path, monkeypatch):
    monkeypatch.setattr("lmbook_grader.grading.hint_run._Asking", None)
    result = graded(course, tmp_path, {})
    assert [one["points"] for one in result["questions"] if one["checks"]] == [4, 3, 2, 3]


def test_an_answer_that_does_not_end_in_its_visible_check_is_asked_for_one_hint(course, tmp_path, monkeypatch):
    asked = []
    monkeypatch.setattr(hint_run, "bounded", lambda probe, most: asked.append(probe) or bounded(probe, most))
    monkeypatch.setattr(hint_run, "SECONDS", 0.3)
    loop = "def estimate(sentences):\n    while True:\n        pass"
    result = graded(course, tmp_path, {"estimate": loop}, check=1)
    assert {one["id"]: one["points"] for one in result["questions"]}["estimate"] == 0
    assert len(asked) == 1
    assert not [one for one in result["questions"] if "hint" in one]


def test_hints_are_asked_of_a_process_that_has_heard_no_hidden_check(course, tmp_path):
    """A long sentence, which only the hidden checks hold, makes this function wrong from then on; no hint says so."""
    later = BASE_TWO.replace("math.log2(p)", "(math.log2 if heard else math.log)(p)")
    later = later.replace("def log_probability", "heard = []\ndef log_probability").replace(
        "    return total", "    heard.extend(sentence[4:])\n    return total"
    )
    result = graded(course, tmp_path, {"log_probability": later})
    first = result["questions"][0]
    assert first["points"] < first["max"]
    assert "hint" not in first


SAMPLE = ("12-queries-keys-values", "14-positions")


def some(stem: str) -> list[tuple[str, str]]:
    """Two wrong answers to different questions, and the names of the hints they get without walls."""
    listed, found = json.loads(NAMED.read_text(encoding="utf-8"))[stem], {}
    for name, probe in listed.items():
        question = next((one.question for one in hinted(stem) if one.probe.__name__ == probe), None)
        found.setdefault(question, (name, probe))
    return [pair for question, pair in found.items() if question][:2]


@pytest.mark.parametrize(
    "stem", [pytest.param(stem, marks=[pytest.mark.weekly] * (stem not in SAMPLE)) for stem in STEMS]
)
def test_inside_the_walls_a_wrong_answer_gets_the_same_hint(stem, tmp_path):
    handed_out = read(RELEASES / f"{stem}.ipynb")
    handed_out.metadata.lmbook["hints_after"] = 1
    write_notebook(handed_out, tmp_path / f"{stem}.ipynb")
    for wrong, probe in some(stem):
        answers = with_functions(stem, wrong_answers(stem).cases[wrong][1])
        notebook = grading_version(master(stem), stem)
        for cell in notebook.cells:
            name = marks(cell).get("grade_id")
            if marks(cell).get("solution"):
                cell.source = with_values(stem, answers.get(name, cell.source), "", None)
        checked = check(hand_in(notebook, tmp_path / "ann.ipynb"), tmp_path / f"{stem}.ipynb")
        says = [one.says for one in hinted(stem) if one.probe.__name__ == probe]
        given = [one.hint for one in checked.questions if one.hint]
        assert len(given) == 1, wrong
        assert given[0].split(" To read again")[0] in says, wrong


def test_hints_are_shipped():
    assert {path.stem for path in RELEASES.glob("*.ipynb")} == {path.stem for path in hints.FOLDER.glob("[0-9]*.py")}
