"""Talk sheets: three questions on a student's own code whose answers are true, and cannot be read off the page."""

import ast
import builtins
import json
import re

import numpy as np
import pytest
from click.testing import CliRunner
from points import STEMS
from samples import ROSTER, hand_in, returned, write_course
from styles import styled

from lmbook_grader.cli import homework
from lmbook_grader.intake.collect import Submission
from lmbook_grader.report.results import mark_lines
from lmbook_grader.talk.edits import edits
from lmbook_grader.talk.inputs import Call, broken_calls, drawn_calls, seen_calls, source
from lmbook_grader.talk.questions import Trace, agreed, read_trace
from lmbook_grader.talk.sheets import talk_sheets
from lmbook_press.assignments.questions import Homework

ANSWER = '''def double(x):
    """Twice x."""
    steps = []
    for part in range(2):
        steps.append(x + part)
    whole = steps[0] + steps[1]
    if whole > 100:
        return 0
    return whole - 1'''


@pytest.fixture
def course(tmp_path):
    made = write_course(tmp_path / "course")
    (tmp_path / "course/secret.txt").write_text("a secret\n", encoding="utf-8")
    return made


def sheets(course, tmp_path, secret="a secret", **answers):
    files = [hand_in(returned(double=source), tmp_path / f"in/{name}.ipynb") for name, source in answers.items()]
    return talk_sheets([Submission(path.stem, path) for path in files], course, secret, jobs=1)


def variables(code: str, line: int, call: str) -> dict[str, list]:
    """The values of all variables after each run of a line, by a tracer of this test's own."""
    import sys

    found, last = {}, {}

    def step(frame, event, value):
        if frame.f_code.co_filename != "<own>" or frame.f_code.co_name == "<module>":
            return None
        if event in ("line", "return") and last.get(id(frame)) == line:
            for name, one in frame.f_locals.items():
                found.setdefault(name, []).append(repr(one))
        last[id(frame)] = frame.f_lineno if event == "line" else None
        return step

    space = {"np": np}
    exec(compile(code, "<own>", "exec"), space)
    sys.settrace(step)
    try:
        eval(call, space)
    finally:
        sys.settrace(None)
    return found


def test_the_answers_are_what_the_code_does(course, tmp_path, walls):
    (sheet,) = sheets(course, tmp_path, ann=ANSWER)
    kinds = {asked.kind: asked for asked in sheet.asked if asked.about == "double"}
    assert [asked.kind for asked in sheet.asked] == ["value", "breaks", "change"]
    value = next(asked for asked in sheet.asked if asked.kind == "value")
    name, text = value.key.split(": ")
    when = {"first": 0, "second": 1, "third": 2}
    line = int(re.search(r"line (\d+)", value.text)[1])
    turn = next((number for word, number in when.items() if word in value.text), 0)
    code = "\n" * (value.code.first - 1) + "\n".join(value.code.lines)
    if value.about == "double":
        assert variables(code, line, value.call)[name][turn] == text
    breaks = kinds.get("breaks")
    if breaks:
        call = breaks.key.split(" stops there with ")
        kind = getattr(builtins, call[1].split(";")[0])
        with pytest.raises(kind):
            exec(ANSWER + "\n" + call[0], {})
    for asked in (asked for asked in sheet.asked if asked.kind == "change" and asked.about == "double"):
        now, wanted = re.search(r"returns (\S+)\. Which .* return (\S+)\?", asked.text).groups()
        number, new = re.match(r"line (\d+), for example: (.*)", asked.key).groups()
        lines = ANSWER.split("\n")
        old = lines[int(number) - 1]
        lines[int(number) - 1] = old[: len(old) - len(old.lstrip())] + new
        for code, result in ((ANSWER, now), ("\n".join(lines), wanted)):
            space = {}
            exec(code, space)
            assert repr(eval(asked.call, space)) == result


def test_the_same_secret_and_id_ask_the_same_and_others_something_else(course, tmp_path, walls):
    def asked(secret):
        return [
            [(one.text, one.call, one.key) for one in sheet.asked] for sheet in sheets(course, tmp_path, secret, **own)
        ]

    own = dict.fromkeys(("ann", "bob", "zoe"), ANSWER)
    assert asked("a secret") == (first := asked("a secret"))
    assert len({str(one) for one in first}) > 1
    assert asked("another") != first


def test_an_answer_that_hangs_on_the_order_of_a_set_is_not_asked(course, tmp_path, walls):
    unsure = 'def double(x):\n    names = list({"sea", "tide", "gull", "quay"})\n    mixed = names[0]\n    return 2 * x'
    (sheet,) = sheets(course, tmp_path, ann=unsure)
    assert not [asked for asked in sheet.asked if "mixed" in asked.key or "names:" in asked.key]


def test_a_program_that_ends_or_hangs_costs_nobody_else_a_sheet(course, tmp_path, walls):
    ends = "import os\n\n\ndef double(x):\n    os._exit(0)"
    hangs = "def double(x):\n    while True:\n        pass"
    found = sheets(course, tmp_path, ann=ends, bob=hangs, zoe=ANSWER)
    assert len(found[2].asked) == 3
    assert all(sheet.why or sheet.asked for sheet in found)


def test_what_a_student_writes_is_text_on_the_pages(course, tmp_path, walls):
    command(tmp_path, ann='def double(x):  # <img src=x>\n    y = "<script>" + "1" * int(x)\n    return 2 * x')
    for name in ("talk.html", "talk-key.html"):
        html = (tmp_path / "graded/07" / name).read_text(encoding="utf-8")
        assert "&lt;" in html
        assert "<script" not in html
        assert "<img" not in html


@pytest.mark.parametrize(
    "answer",
    [
        None,
        3,
        [],
        {"changes": 3, "runs": None},
        {"changes": [1, [], ["a"] * 6, [None] * 9], "runs": [[1, 2, 3]], "error": "x"},
    ],
)
def test_no_answer_of_a_process_is_an_error_here(answer):
    trace = read_trace(Call("f", (), {}), answer)
    assert (trace.changes, trace.runs, trace.result, trace.error) == ([], {}, None, None)


def test_two_runs_agree_on_what_both_say():
    call = Call("f", (1,), {})
    one = Trace(call, [("c", 1, "a", "value", "1", 1), ("c", 2, "b", "value", "2", 1)], {("c", 1): 2, ("c", 2): 3}, "5")
    other = Trace(
        call, [("c", 1, "a", "value", "1", 1), ("c", 2, "b", "value", "7", 1)], {("c", 1): 2, ("c", 2): 4}, "6"
    )
    both = agreed(one, other)
    assert (both.changes, both.runs, both.result) == (one.changes[:1], {("c", 1): 2}, None)
    assert agreed(one, Trace(call, error=("KeyError", "c", 1))) is None


def test_drawn_inputs_are_new_and_can_be_written_down(course):
    task = Homework.load(course)
    seen, _ = seen_calls(task)
    drawn = drawn_calls(task, "seed")
    assert {str(call) for call in seen["double"]} == {"double(1)"}
    assert drawn == drawn_calls(task, "seed")
    for name, calls in drawn.items():
        assert not {str(call) for call in calls} & {str(call) for call in seen[name]}
        for call in calls:
            assert ast.literal_eval(source(call.arguments[0])) == call.arguments[0]


def test_arrays_are_written_as_python_makes_them():
    import torch

    for value in (np.arange(6.0).reshape(2, 3), np.zeros((3, 4)), np.eye(4), np.ones((2, 5)), np.array([True, False])):
        assert np.array_equal(eval(source(value), {"np": np}), value)
    for value in (torch.eye(4), torch.zeros(3, 4), torch.tensor([[1, 2], [3, 4]])):
        assert torch.equal(eval(source(value), {"torch": torch}), value)


def test_a_call_is_broken_in_one_place():
    for call in broken_calls(Call("f", ([1, 2], 0.5, {"a": 1, "b": 2}), {})):
        assert (
            sum(one is not other for one, other in zip(call.arguments, ([1, 2], 0.5, {"a": 1, "b": 2}), strict=True))
            >= 1
        )
        assert len(call.arguments) == 3


def test_an_edit_changes_one_place_of_one_line():
    text = "def f(xs, é=1):\n    if len(xs) > 2 and é < 3:\n        return -sum(xs) / 4\n    return 7"
    found = edits(text)
    for edit in found:
        old, new = text.split("\n"), edit.source.split("\n")
        assert [at for at, pair in enumerate(zip(old, new, strict=True), start=1) if pair[0] != pair[1]] == [edit.line]
        ast.parse(edit.source)
    said = {edit.text for edit in found}
    assert {
        "if len(xs) >= 2 and é < 3:",
        "if len(xs) > 2 and é <= 3:",
        "return sum(xs) / 4",
        "return -max(xs) / 4",
    } <= said
    assert not [edit for edit in found if edit.line == 4]  # what only returns a constant


def command(tmp_path, *options, **answers):
    course = tmp_path / "course"
    if not course.exists():
        write_course(course)
        (course / "secret.txt").write_text("a secret\n", encoding="utf-8")
    (tmp_path / "roster.csv").write_text(ROSTER, encoding="utf-8")
    for name, text in answers.items():
        hand_in(returned(double=text), tmp_path / f"in/{name}.ipynb")
    words = [
        "talk",
        str(course / "07"),
        str(tmp_path / "in"),
        "--roster",
        str(tmp_path / "roster.csv"),
        "--out",
        str(tmp_path / "graded"),
    ]
    return CliRunner().invoke(homework, [*words, *options])


def test_the_command_prints_pages_a_key_and_lines_for_the_marks(tmp_path, walls):
    said = command(tmp_path, ann=ANSWER, bob=ANSWER)
    assert said.exit_code == 0, said.output
    assert "2 sheets, 2 of them with three questions." in said.output
    pages, key = ((tmp_path / "graded/07" / name).read_text("utf-8") for name in ("talk.html", "talk-key.html"))
    assert pages.count("<article>") == 2
    assert "for example" not in pages
    assert "for example" in key
    rows = mark_lines(tmp_path / "graded/07/marks.csv")[0]
    assert {(row["student"], row["points"], row["comment"]) for row in rows} == {
        ("ann", "", "Talk:"),
        ("bob", "", "Talk:"),
    }
    assert all(row["submission"].startswith("sha-") for row in rows)
    command(tmp_path)  # once more: no line twice
    assert mark_lines(tmp_path / "graded/07/marks.csv")[0] == rows
    assert "no submission of that student" in str(command(tmp_path, "--only", "zoe").exception)
    (tmp_path / "course/secret.txt").unlink()
    assert "holds no secret" in str(command(tmp_path).exception)


def of_the_book(courses, tmp_path, stem, count):
    found = []
    for number in range(count):
        path = tmp_path / f"s{number}.ipynb"
        path.write_text(json.dumps(styled(stem, number)[0]), encoding="utf-8")
        found.append(Submission(path.stem, path))
    return talk_sheets(found, courses / stem[:2], "a secret")


def test_right_answers_of_a_homework_get_three_questions(courses, tmp_path, walls):
    found = of_the_book(courses, tmp_path, STEMS[1], 4)
    assert [len(sheet.asked) for sheet in found] == [3] * 4
    for sheet in found:
        for asked in sheet.asked:
            assert all(len(line) <= 112 for line in asked.code.lines)
            if asked.kind == "value" and asked.text.startswith("What is ") and "shape" not in asked.text:
                answer = asked.key.partition(": ")[2]
                assert not re.search(
                    rf"(?<![\w.]){re.escape(answer)}(?![\w.])", asked.call + "\n".join(asked.code.lines)
                )


@pytest.mark.weekly
@pytest.mark.slow
def test_right_answers_of_all_homeworks_get_three_questions(courses, tmp_path, walls):
    found = []
    for stem in STEMS:
        (tmp_path / stem).mkdir()
        found += of_the_book(courses, tmp_path / stem, stem, 5)
    full = sum(len(sheet.asked) == 3 for sheet in found)
    assert full >= 0.95 * len(found), f"{full} of {len(found)}"
