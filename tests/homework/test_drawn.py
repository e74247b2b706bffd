"""Each student's own edition: no draw spoils a question, and an answer to somebody else's loses just what is drawn."""

import re
from functools import cache

import nbformat
import pytest
from points import STEMS, graded, open_master, score, with_functions, with_values
from slips import wrong_answers

from lmbook_press.assignments.make import student_version
from lmbook_press.assignments.marking import question_of
from lmbook_press.assignments.questions import marks
from lmbook_press.assignments.variants import declares, filled_in, key, own, values

SECRET = "a sentence that only the course knows"
IDS = [f"student-{number}" for number in range(200)]
EVERY_PUSH = ("02", "10", "14")
each = pytest.mark.parametrize("stem", STEMS)
some = pytest.mark.parametrize(
    "stem", [pytest.param(stem, marks=[] if stem[:2] in EVERY_PUSH else pytest.mark.weekly) for stem in STEMS]
)


def of(stem: str, student: str | None) -> dict[str, object]:
    return values(open_master(stem), key(SECRET, stem), student)


@cache
def drawn_answers(stem: str) -> dict[str, str]:
    """The right answers that differ from student to student, as the master has them."""
    answers = {marks(cell)["grade_id"]: cell.source for cell in open_master(stem).cells if _is_code_answer(cell)}
    return {name: source for name, source in answers.items() if _differs(stem, source)}


def _differs(stem: str, source: str) -> bool:
    """Whether two of twenty students have another right answer."""
    first = with_values(stem, source, SECRET, IDS[0])
    return any(with_values(stem, source, SECRET, one) != first for one in IDS[1:20])


def _is_code_answer(cell) -> bool:
    return cell.cell_type == "code" and bool(marks(cell).get("solution"))


def lost(stem: str, student: str, other: str | None) -> set[str]:
    """The checks of drawn questions that the right answers of another student, or of nobody's edition, fail."""
    answers = {name: with_values(stem, source, SECRET, other) for name, source in drawn_answers(stem).items()}
    return {
        name for name, (_, passed) in graded(stem, answers, SECRET, alone=True, student=student).items() if not passed
    }


@cache
def checks_of(stem: str) -> dict[str, str]:
    """check -> the question above it."""
    found, question = {}, ""
    for cell in open_master(stem).cells:
        if marks(cell).get("solution"):
            question = marks(cell)["grade_id"]
        elif marks(cell).get("grade"):
            found[marks(cell)["grade_id"]] = question
    return found


def no_fault_of_the_draws(stem: str, students: list[str]) -> None:
    for student, neighbour in zip(students, [*students[1:], IDS[-1]], strict=True):
        assert lost(stem, student, student) == set(), of(stem, student)
        for other in (None, neighbour):
            wrong = {checks_of(stem)[name] for name in lost(stem, student, other)}
            same = {
                name
                for name, source in drawn_answers(stem).items()
                if with_values(stem, source, SECRET, other) == with_values(stem, source, SECRET, student)
            }
            assert other or not same, "the public solution is nobody's"
            assert wrong == drawn_answers(stem).keys() - same, (student, other, of(stem, student))


@each
def test_two_questions_and_the_case_are_drawn_in_every_homework(stem):
    assert len(drawn_answers(stem)) >= 2
    (name,) = [
        marks(cell)["grade_id"]
        for cell in open_master(stem).cells
        if marks(cell).get("solution") and not _is_code_answer(cell)
    ]
    words, texts = nbformat.from_dict(open_master(stem)), set()
    words.cells = [cell for cell in words.cells if cell.cell_type == "markdown" or declares(cell)]
    for student in [None, *IDS]:
        made = own(words, key(SECRET, stem), student)
        (solution,) = [cell.source for cell in made.cells if marks(cell).get("grade_id") == name]
        texts.add((question_of(made, name), solution))
    assert len({question for question, _ in texts}) >= 5
    assert len(texts) == len({question for question, _ in texts}), "one question has one solution"


@pytest.mark.filterwarnings("ignore")
@some
def test_no_draw_spoils_a_question_and_swapped_answers_lose_what_is_drawn(stem):
    no_fault_of_the_draws(stem, IDS[:2])


@pytest.mark.weekly
@pytest.mark.filterwarnings("ignore")
@each
def test_so_it_is_for_two_hundred_students(stem):
    no_fault_of_the_draws(stem, IDS)


@pytest.mark.filterwarnings("ignore")
@some
def test_the_listed_points_hold_in_every_edition(stem):
    listed = wrong_answers(stem)
    for student in IDS[:2]:
        assert score(stem, with_functions(stem, listed.right), SECRET, student) == listed.full
        for name, (points, functions) in listed.cases.items():
            assert score(stem, with_functions(stem, functions), SECRET, student) == points, (student, name)


@each
def test_an_edition_holds_its_own_values_as_literals_and_no_others(stem):
    for student in IDS[:3]:
        made = student_version(open_master(stem), stem, SECRET, student)
        text = "\n".join(cell.source for cell in made.cells)
        assert not any(declares(cell) for cell in made.cells)
        assert "{{" not in text
        code = [line for cell in made.cells if cell.cell_type == "code" for line in cell.source.split("\n")]
        assert [line for line in code if len(line) > 80] == []
        assert made == student_version(open_master(stem), stem, SECRET, student)


def test_the_public_values_are_never_drawn():
    for stem in STEMS:
        (declared,) = [cell.source for cell in open_master(stem).cells if declares(cell)]
        names = re.findall(r"^(\w+) = .+# drawn: ", declared, re.MULTILINE)
        for name in names:
            made = {of(stem, student)[name] for student in IDS}
            assert of(stem, None)[name] not in made
            assert len(made) > 3, (stem, name)


@pytest.mark.parametrize(
    ("source", "as_in_the_master", "as_drawn"),
    [
        ("f(x + N, M * y)", "f(x, y)", "f(x + 7, 3 * y)"),
        ("[5] * N + [1, 2]", "[1, 2]", "[5] * 7 + [1, 2]"),
        ('w = N * small["U"] + z', "w = z", 'w = 7 * small["U"] + z'),
        ("[8] * (M + 1), T - M + 1", "[8] * 2, T - 1 + 1", "[8] * 4, T - 3 + 1"),
        ("(2 + N) / M - 4 * (N + 1)", "2 - 4", "9 / 3 - 32"),
        ("x ** (1 / M), a // M, -N", "x, a, 0", "x ** (1 / 3), a // 3, -7"),
        ("2 - M * (x - N)", "2 - x", "2 - 3 * (x - 7)"),
        ("0 * a + 1 * b", "0 * a + 1 * b", "0 * a + 1 * b"),
        ("NAMES = 'a name'", "NAMES = 'a name'", "NAMES = 'a name'"),
        ("%time N + 1", "%time 0 + 1", "%time 7 + 1"),
    ],
)
def test_numbers_stand_as_one_would_write_them(source, as_in_the_master, as_drawn):
    assert filled_in(source, {"N": 0, "M": 1}) == as_in_the_master
    assert filled_in(source, {"N": 7, "M": 3}) == as_drawn


def test_lines_are_there_or_not():
    source = "if x:\n    #: MORE\n    y = 1  # {{WHAT}}\n"
    assert filled_in(source, {"MORE": "", "WHAT": "b"}) == "if x:\n    y = 1  # b\n"
    assert filled_in(source, {"MORE": "a = 2\nb = 3", "WHAT": "b"}) == "if x:\n    a = 2\n    b = 3\n    y = 1  # b\n"
