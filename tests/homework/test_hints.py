"""Hints name the misconception of a wrong answer, none of a right one, and hold no solution and no hidden check."""

import ast
import json
import re

import pytest
from hinted import NAMED, first, hints, missing_points, named, true
from points import REGION, ROOT, STEMS, TRAINING, code_cells, master, with_functions
from slips import wrong_answers
from test_degenerate import HONEST

from lmbook_grader.hints import FOLDER, read
from lmbook_press.assignments.make import student_version
from lmbook_press.assignments.questions import marks, questions

LISTED = json.loads(NAMED.read_text(encoding="utf-8"))
WITH_HINTS = [stem for stem in STEMS if hints(stem)]
SHARE = 0.8
SHORT = 16  # characters of a line of code that says nothing: `return found`, `import torch`
SLOW = (*TRAINING, "03-tokens-and-embeddings", "08-rnn-tasks")
each = pytest.mark.parametrize("stem", WITH_HINTS)
sooner_or_later = pytest.mark.parametrize(
    "stem", [pytest.param(stem, marks=[pytest.mark.weekly] * (stem in SLOW)) for stem in WITH_HINTS]
)


@each
@pytest.mark.parametrize("student", [None, pytest.param("ann", marks=pytest.mark.weekly)])
def test_the_master_gets_no_hint(stem, student):
    assert [hint.probe.__name__ for hint in hints(stem) if true(stem, {}, hint, student)] == []


@pytest.mark.weekly
@each
@pytest.mark.parametrize("form", HONEST)
def test_a_right_answer_in_another_form_gets_no_hint(stem, form):
    assert [one.probe.__name__ for one in hints(stem) if true(stem, {}, one, form=HONEST[form])] == []


@sooner_or_later
def test_a_wrong_answer_gets_the_hint_listed_and_a_right_one_none(stem):
    found = named(stem)
    assert found == LISTED[stem]
    wrong = missing_points(stem)
    assert {name for name, hint in found.items() if hint and name not in wrong} == set()
    for name, source in wrong_answers(stem).right.items():
        assert first(stem, with_functions(stem, {name: source})) is None


@each
def test_most_of_the_listed_wrong_answers_are_named(stem):
    wrong = missing_points(stem)
    assert sum(bool(LISTED[stem][name]) for name in wrong) >= SHARE * len(wrong)


@pytest.mark.weekly
@each
def test_so_they_are_in_an_edition_drawn_for_a_student(stem):
    found, wrong = named(stem, "ann"), missing_points(stem)
    assert {name: hint for name, hint in found.items() if hint and hint != LISTED[stem][name]} == {}
    assert sum(bool(found[name]) for name in wrong) >= SHARE * len(wrong)


@each
def test_every_hint_belongs_to_a_question_with_a_section(stem):
    asked = {question.name for question in questions(master(stem)) if question.checks}
    sections = master(stem).metadata.lmbook.sections
    assert {hint.question for hint in hints(stem)} <= asked & set(sections)


def code(source: str) -> set[str]:
    """The simple statements of a program as Python writes them, but for those that are short."""
    lines = {ast.unparse(node) for node in ast.walk(ast.parse(source)) if isinstance(node, ast.stmt)}
    return {line for line in lines if "\n" not in line and len(line) >= SHORT}


def calls(source: str, stem: str) -> set[str]:
    """The calls of answers in a program."""
    names = set().union(*(question.functions for question in questions(master(stem))))
    found = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Call)]
    return {ast.unparse(node) for node in found if isinstance(node.func, ast.Name) and node.func.id in names}


def literals(source: str) -> set[str]:
    """The numbers of three digits and more, and the strings, that nobody writes by chance."""
    found = {node.value for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Constant)}
    strings = {value for value in found if isinstance(value, str) and len(value) > 6}
    numbers = {repr(value) for value in found if isinstance(value, float)}
    return strings | {number for number in numbers if len(re.sub(r"e.*|^0\.0*|\.0$|\.", "", number)) >= 3}


@each
def test_no_hint_holds_a_solution_or_a_hidden_check(stem):
    text = (FOLDER / f"{stem}.py").read_text(encoding="utf-8")
    release = student_version(master(stem), stem)
    given = "\n".join(cell.source for cell in release.cells if cell.cell_type == "code")
    words = "\n".join(cell.source for cell in release.cells)
    cells = code_cells(stem, None)
    solved = "\n".join(cell.source for cell in cells if marks(cell).get("solution"))
    hidden = "\n".join(found for cell in cells for found in REGION.findall(cell.source))
    assert code(text) & (code(solved) - code(given)) == set()
    assert calls(text, stem) & (calls(hidden, stem) - calls(given, stem)) == set()
    assert {one for one in literals(text) & literals(hidden) if one not in words} == set()


@each
def test_the_sentences_are_sentences_and_show_no_code_of_a_solution(stem):
    solved = "\n".join(cell.source for cell in code_cells(stem, None) if marks(cell).get("solution"))
    for hint in hints(stem):
        assert re.fullmatch(r"`?[A-Z].{20,}[.?)\]]", hint.says)
        quoted = re.findall(r"`([^`]+)`", hint.says)
        assert [one for one in quoted if len(one) >= SHORT and one in solved] == []


def test_the_instructors_page_counts_right_and_shows_a_hint_that_exists():
    page = (ROOT / "book" / "instructors.md").read_text(encoding="utf-8")
    wrong = {stem: missing_points(stem) for stem in WITH_HINTS}
    named_ones = sum(bool(LISTED[stem][name]) for stem, names in wrong.items() for name in names)
    assert f"Of the {sum(map(len, wrong.values()))} wrong answers that\nthe book's tests list, {named_ones} are" in page
    (shown,) = re.findall(r"^    Hint: (.+) To read again: .+$", page, re.MULTILINE)
    assert shown in [hint.says for hint in hints("01-chain-rule")]


def test_every_file_of_hints_belongs_to_a_homework():
    assert {path.stem for path in FOLDER.glob("[0-9]*.py")} == set(WITH_HINTS) == set(LISTED)


def test_a_solution_in_a_hint_would_be_found():
    assert code("def f(x):\n    return math.fsum([x, 2*x])") & code("def g(x):\n    return math.fsum([x, 2 * x])")


def test_a_homework_without_a_file_has_no_hints(tmp_path):
    assert read(tmp_path / "none.py") == []
