"""Marks are right: masters full, student versions nothing, listed wrong answers as listed; and what checks see."""

import re

import nbformat
import pytest
from hostile import small
from nbformat.v4 import new_code_cell, new_notebook
from points import STEMS, master, score, with_functions, with_values
from slips import wrong_answers
from test_show import SHOWN

from lmbook_grader.grading.execute import Runs
from lmbook_grader.grading.grade import HIDDEN_CASE, grade_one
from lmbook_grader.intake.collect import Submission
from lmbook_grader.intake.match_answers import place
from lmbook_grader.sandbox.commands import Limits
from lmbook_press.assignments.make import faults
from lmbook_press.assignments.questions import Homework, undefined_names
from lmbook_press.assignments.variants import drawn
from lmbook_press.book import BookError

pytestmark = pytest.mark.usefixtures("walls")


def graded(notebook: nbformat.NotebookNode, folder, tmp_path, **options) -> dict:
    path = tmp_path / "ann.ipynb"
    nbformat.write(notebook, path)
    return grade_one(Submission("ann", path), folder, **options)


def points(result: dict) -> float:
    assert result["status"] == "graded", result["why"]
    return sum(question["points"] for question in result["questions"])


def solved(homework: Homework, answers: dict[str, str]) -> nbformat.NotebookNode:
    """The release with the master's solutions, but for these answers."""
    right = {cell.metadata.get("nbgrader", {}).get("grade_id"): cell.source for cell in homework.grading.cells}
    notebook = nbformat.from_dict(homework.release)
    for cell in notebook.cells:
        mark = cell.metadata.get("nbgrader", {})
        if mark.get("solution"):
            cell.source = answers.get(mark["grade_id"], right[mark["grade_id"]])
    return notebook


def of_a_push(*numbers: str) -> list:
    """The homeworks with these numbers; once a week all."""
    return [pytest.param(stem, marks=[pytest.mark.weekly] * (stem[:2] not in numbers)) for stem in STEMS]


@pytest.mark.parametrize("stem", of_a_push("02", "05", "06", "12", STEMS[-1][:2]))
def test_the_master_scores_full_marks(stem, courses, warm, tmp_path):
    folder = courses / stem.split("-")[0]
    homework = Homework.load(folder)
    result = graded(solved(homework, {}), folder, tmp_path, warm=warm)
    statuses = {question["id"]: question["status"] for question in result["questions"]}
    assert set(statuses.values()) == {"right", "manual"}
    assert points(result) == sum(question.points for question in homework.questions if not question.written) > 0
    assert not any(check["message"] for question in result["questions"] for check in question["checks"])


@pytest.mark.parametrize("stem", STEMS)
def test_in_the_student_version_every_answer_is_missing(stem, courses):
    """What is missing gets nothing and is not run: hostile/test_accidents grades an empty submission."""
    homework = Homework.load(courses / stem.split("-")[0])
    assert place(homework.release, homework.release).missing == [question.name for question in homework.questions]


@pytest.mark.parametrize("stem", of_a_push("02", "05", "06", "12"))
def test_wrong_answers_get_their_points_and_see_no_hidden_line(stem, courses, secret, warm, tmp_path, monkeypatch):
    """One wrong answer to each question, all in one notebook; one by one they are in homework/test_wrong_answers.

    Four on a push, one of them with torch: what is the grader's own, and no homework's, they show. The points of each
    homework's answers, and its hints, are tested without walls.
    """
    monkeypatch.setattr(Runs, "_carry_forward", lambda *_: None)  # these points are those before what is carried
    folder, wrong = courses / stem.split("-")[0], one_wrong_to_each(stem)
    homework = Homework.load(folder)
    assert wrong.keys() == {question.name for question in homework.questions if not question.written}
    result = graded(solved(homework, wrong), folder, tmp_path, warm=warm)
    assert points(result) == score(stem, wrong, secret)
    hidden = [line for q in homework.questions for c in q.checks for line in hidden_lines(c) if len(line) > 15]
    for question in result["questions"]:
        for check in question["checks"]:
            assert bool(check["message"]) != check["passed"]
            assert not any(line in check["message"] for line in hidden)


def one_wrong_to_each(stem: str) -> dict[str, str]:
    wrong: dict[str, str] = {}
    for _, functions in wrong_answers(stem).cases.values():
        answers = with_functions(stem, functions)
        if wrong.keys().isdisjoint(answers):
            wrong |= answers
    return {name: with_values(stem, source, None, None) for name, source in wrong.items()}


@pytest.mark.weekly
@pytest.mark.parametrize("stem", STEMS)
def test_what_is_carried_adds_points_to_answers_that_call_wrong_ones(stem, courses, secret, warm, tmp_path):
    """One question at a time is wrong, and no other loses points by it.

    But for trainings that take gradients through the wrong function: the master's functions return plain data.
    """
    folder, wrong = courses / stem.split("-")[0], one_wrong_to_each(stem)
    homework = Homework.load(folder)
    for name, source in wrong.items():
        result = graded(solved(homework, {name: source}), folder, tmp_path, warm=warm)
        assert points(result) >= score(stem, {name: source}, secret)
        for question in result["questions"]:
            right = question["status"] in ("right", "manual")
            through = question["id"] == "training" and stem[:2] in ("09", "11", "15", "16", "17")
            assert right or through or question["id"] == name, f"{question['id']} loses points by {name}"


NOTHING = [
    "np.zeros((0, 1, 1))", "np.zeros(0)", "0.0", "np.full((1, 1, 1), np.nan)", "True", "given[0] if given else None",
    "[]", "{}", "np.ones((1, 1))", "iter(())",
]  # fmt: skip


@pytest.mark.parametrize("stem", of_a_push("05", "07", "12"))
def test_answers_that_derive_nothing_get_nothing_behind_the_walls_either(stem, courses, warm, tmp_path):
    """What a student's process may answer is more than Python has: one of each kind a homework, in turn."""
    folder = courses / stem.split("-")[0]
    homework, answers, turn = Homework.load(folder), {}, int(stem[:2])
    for number, question in enumerate(homework.questions):
        body = NOTHING[(turn + number) % len(NOTHING)]
        stubs = (f"def {name}(*given, **named):\n    return {body}" for name in sorted(question.functions))
        answers[question.name] = "import numpy as np\n\n\n" + "\n\n\n".join(stubs)
    result = graded(solved(homework, answers), folder, tmp_path, warm=warm)
    assert {one["id"]: one["points"] for one in result["questions"] if one["points"]} == {}


def hidden_lines(check) -> list[str]:
    """Those that the student does not see in the same cell as well."""
    lines = [line.strip() for line in check.source.split("\n")]
    seen = {line for number, line in enumerate(lines, 1) if number not in check.hidden}
    return [lines[number - 1] for number in check.hidden if lines[number - 1] not in seen]


@pytest.mark.parametrize("stem", STEMS)
def test_no_hint_holds_a_hidden_line(stem, courses):
    """Of all that a failed check says, the hint alone comes from the cell with the hidden lines."""
    checks = [check for question in Homework.load(courses / stem[:2]).questions for check in question.checks]
    assert [check.name for check in checks if any(line in check.hint for line in hidden_lines(check) if line)] == []
    assert any(check.hint for check in checks)


def hidden(source: str) -> str:
    return f"### BEGIN HIDDEN TESTS\n{source}\n### END HIDDEN TESTS"


@pytest.mark.parametrize("stem", STEMS)
def test_a_seed_changes_the_hidden_inputs_and_nothing_else_is_left_of_it(stem, courses, secret):
    def sources(seed: str | None) -> list[str]:
        return [cell.source for cell in drawn(master(stem), stem, seed).cells]

    made = {seed: sources(seed) for seed in (None, "one", "two", secret)}
    assert len({"".join(cells) for cells in made.values()}) == len(made), f"{stem} draws nothing"
    assert not any("# drawn" in source for cells in made.values() for source in cells)
    assert sources("one") == made["one"]
    assert [cell.source for cell in Homework.load(courses / stem.split("-")[0]).grading.cells] == made[secret]


def test_every_check_stands_alone():
    master = small.master()
    assert undefined_names(master) == []
    master.cells[5].source = f"assert double(seven) == 14\n# more\n{hidden('assert got')}"
    assert undefined_names(master) == [(6, "double-zero", "got"), (6, "double-zero", "seven")]
    assert any("cell 6 (double-zero) uses seven" in fault for fault in faults(master))


def homework(folder, cells: list[tuple[str, str]]):
    """A course's folder made of ("given" | "answer NAME" | "check NAME", source) cells; every check has a point."""
    notebook = new_notebook()
    for kind, source in cells:
        kind, _, name = kind.partition(" ")
        metadata = small._marks(name, solution=kind == "answer", grade=kind == "check", points=1) if name else {}
        notebook.cells.append(new_code_cell(source, metadata=metadata))
    release = nbformat.from_dict(notebook)
    for cell in release.cells:
        cell.source = re.sub(r"### BEGIN HIDDEN.*?### END HIDDEN TESTS", "", cell.source, flags=re.DOTALL)
    for version, made in (("release", release), ("grading", notebook)):
        (folder / version).mkdir(parents=True)
        nbformat.write(made, folder / version / "07-x.ipynb")
    return release


def scores(cells, tmp_path, answers: dict[str, str] | None = None, **options) -> dict[str, tuple[float, str]]:
    notebook = homework(tmp_path / "07", cells)
    for cell in notebook.cells:
        name = cell.metadata.get("nbgrader", {}).get("grade_id")
        cell.source = (answers or {}).get(name, cell.source) + ("\n# mine" if name in (answers or {}) else "")
    result = graded(notebook, tmp_path / "07", tmp_path, limits=Limits(cell=5, check=5), **options)
    assert result["status"] == "graded", result["why"]
    return {c["name"]: (c["points"], c["message"]) for q in result["questions"] for c in q["checks"]}


RAISES = """
def bad(y):
    raise KeyError(y)

try:
    apply(bad, 1)
except KeyError:
    pass
else:
    assert False
"""


TENSOR = "got = tensor(torch.ones(2, 3))\nassert got.shape == (3, 2)\nassert got.dtype == torch.double"


def test_checks_see_values_arrays_tensors_and_call_back(tmp_path):
    cells = [
        ("given", "import numpy as np\nimport torch\n\ndef scaled(x):\n    return apply(lambda y: 3 * y, x)"),
        ("answer weights", "weights = None"),
        ("check values", "assert set(weights) == {'W'}\nassert (weights['W'] == np.eye(2)).all()"),
        ("answer apply", "def apply(f, x): pass"),
        ("check called", "assert apply(lambda y: y + 1, 2) == 3\nassert scaled(2) == 6"),
        ("check raises", RAISES),
        ("answer tensor", "def tensor(x): pass"),
        ("check tensor-type", TENSOR),
    ]  # fmt: skip
    answers = {
        "weights": "weights = {'W': np.eye(2)}",
        "apply": "def apply(f, x):\n    return f(x)",
        "tensor": "def tensor(x):\n    return torch.nn.Parameter(x.T.double())",
    }
    assert scores(cells, tmp_path, answers) == dict.fromkeys(["values", "called", "raises", "tensor-type"], (1, ""))


def test_a_later_answer_does_not_spoil_an_earlier_one(tmp_path):
    """Checks run where they stand: the second answer redefines the helper of the first."""
    cells = [
        ("answer one", "def one(): pass"), ("check one-1", "assert one() == 1"),
        ("answer two", "def two(): pass"), ("check two-2", "assert two() == 2"),
    ]  # fmt: skip
    answers = {
        "one": "def helper():\n    return 1\ndef one():\n    return helper()",
        "two": "def helper():\n    return 2\ndef two():\n    return helper()",
    }
    assert scores(cells, tmp_path, answers) == {"one-1": (1, ""), "two-2": (1, "")}


def test_a_process_lost_in_one_check_is_as_it_was_for_the_next(tmp_path):
    cells = [
        ("given", "import os\nstate = []"),
        ("answer f", "def f(x): pass"),
        ("check f-1", "assert f(1) == 1"),
        ("check f-2", f"# more\n{hidden('assert f(2) == 2')}"),
        ("check f-3", "assert f(3) == 3"),
        ("given", "state.append(f(3))"),
        ("answer g", "def g(): pass"),
        ("check g-1", "assert g() == [3]"),
    ]
    answers = {"f": "def f(x):\n    return os._exit(0) if x == 2 else x", "g": "def g():\n    return state"}
    got = scores(cells, tmp_path, answers)
    assert got == {
        "f-1": (1, ""), "f-2": (0, f"{HIDDEN_CASE} more"),
        "f-3": (1, ""), "g-1": (1, ""),
    }  # fmt: skip


def test_a_check_runs_once_where_hidden_cases_are_asked_unless_a_later_cell_reads_what_it_binds(tmp_path):
    cells = [
        ("answer f", "def f(): pass"),
        ("check f-1", "assert f() == 1"),
        ("answer g", "def g(): pass"),
        ("check g-1", "got = g()\nassert got == 3"),
        ("answer h", "def h(): pass"),
        ("check h-1", "assert h() == 3"),
    ]
    counts = "calls = 0\ndef f():\n    global calls\n    calls += 1\n    return calls"
    answers = {"f": counts, "g": "def g():\n    return 3", "h": "def h():\n    return got"}
    assert scores(cells, tmp_path, answers) == dict.fromkeys(["f-1", "g-1", "h-1"], (1, ""))


def test_a_failed_answer_of_a_given_cell_costs_its_check_and_no_machine(tmp_path):
    cells = [
        ("answer f", "def f(): pass"),
        ("given", "made = f() + 1"),
        ("answer g", "def g(x): pass"),
        ("check g-1", "assert g(made) == 2"),
    ]
    got = scores(cells, tmp_path, {"f": "def f():\n    return 'no'", "g": "def g(x):\n    return x"})
    assert got["g-1"][0] == 0


def test_what_is_said_names_the_place_in_words_and_no_hidden_case(tmp_path):
    cells = [
        ("answer f", "def f(x): pass"),
        ("check seen", "assert f(1) == 1\nassert f(2) == 4  # the square"),
        ("check unseen", f"assert f(1) == 1\n# The grader tries 10.\n{hidden('assert f(10) == 100')}"),
        ("check form", f"assert f(1) == 1\n{hidden('assert f(3)[0] == 9')}"),
    ]  # fmt: skip
    got = scores(cells, tmp_path, {"f": "def f(x):\n    return x"})
    assert got["seen"] == (0, "The check that you can see fails: `assert f(2) == 4`. Returned: 2; expected: 4.")
    assert got["unseen"] == (0, f"{HIDDEN_CASE} The grader tries 10.")
    assert got["form"] == (0, HIDDEN_CASE)


FAILS = {
    "value": "return -1",
    "error": "raise KeyError(x)",
    "form": "return [x]",
    "object": "return object()",
    "exit": "import os; os._exit(0)",
    "loop": "while True: pass",
}
LATER = {
    "value": "return -1",
    "error": "{}[x]",
    "line": "if len(seen) > 1:\n            [][x]",
    "exit": "import os; os._exit(0)",
}


def test_how_a_hidden_case_fails_does_not_come_out(tmp_path):
    """Nor does a check further on, whose visible part an answer could fail as the hidden input tells it to."""
    cells = [("given", "seen = []")]
    answers = {
        f"f_{name}": f"def f_{name}(x):\n    if x == 10:\n        {how}\n    return x" for name, how in FAILS.items()
    }
    for name, how in LATER.items():
        answers[f"g_{name}"] = f"def g_{name}(x):\n    seen.append(x)\n    if 10 in seen:\n        {how}\n    return x"
    for name in answers:
        cells.append((f"answer {name}", f"def {name}(x): pass"))
        cells.append((f"check {name}-1", f"assert {name}(1) == 1\n{hidden(f'assert {name}(10) == 10')}"))
        if name.startswith("g"):
            cells.append((f"check {name}-2", f"assert {name}(2) == 2\n{hidden(f'assert {name}(3) == 3')}"))
            answers[name] += "\nseen.clear()"
    notebook = homework(tmp_path / "07", cells)
    for cell in notebook.cells:
        name = cell.metadata.get("nbgrader", {}).get("grade_id")
        cell.source = answers.get(name, cell.source)
    result = graded(notebook, tmp_path / "07", tmp_path, limits=Limits(cell=1, check=1))
    failed = [check for one in result["questions"] for check in one["checks"] if not check["passed"]]
    assert {check["message"] for check in failed} == {HIDDEN_CASE}
    assert {check["name"] for check in failed} >= {f"f_{name}-1" for name in FAILS}
    assert {check["name"] for check in failed} >= {"g_value-2", "g_error-2"}  # they told the input to a later check
    assert {one["status"] for one in result["questions"]} <= {"wrong", "partly"}


def test_without_walls_there_are_no_points_unless_the_files_are_trusted(tmp_path):
    folder = tmp_path / "07"
    notebook = homework(folder, [("answer f", "def f(): pass"), ("check f-1", "assert f() == 1")])
    notebook.cells[0].source = "def f():\n    return 1\nprint('ran')"
    limits = Limits()
    result = graded(notebook, folder, tmp_path, sandbox="none", limits=limits)
    assert result["status"] == "ungraded"
    assert "without a sandbox" in result["why"]
    assert [question["points"] for question in result["questions"]] == [0]
    assert result["output"] == "ran\n"
    trusted = graded(notebook, folder, tmp_path, sandbox="none", trusted=True, limits=limits)
    assert points(trusted) == 1


def test_what_is_the_machines_or_the_courses_fault_is_not_graded(tmp_path, monkeypatch):
    folder = tmp_path / "07"
    notebook = homework(folder, [("answer f", "def f(): pass"), ("check f-1", "assert f() == unknown")])
    notebook.cells[0].source = "def f():\n    return 1"
    result = graded(notebook, folder, tmp_path)
    assert (result["status"], result["questions"]) == ("ungraded", [])
    assert "f-1 uses unknown" in result["why"]
    monkeypatch.setattr("lmbook_grader.sandbox.walls.walls", lambda: ["bwrap", "--no-such-option"])
    result = graded(notebook, folder, tmp_path)
    assert result["status"] == "ungraded"
    assert "could not be started" in result["why"]
    monkeypatch.undo()
    (folder / "grading/07-x.ipynb").rename(folder / "grading/08-x.ipynb")
    with pytest.raises(BookError, match="different homeworks"):
        graded(notebook, folder, tmp_path)
    (folder / "grading/08-x.ipynb").unlink()
    with pytest.raises(BookError, match="holds 0 notebooks"):
        graded(notebook, folder, tmp_path)


DRAWN = [pytest.param(stem, range(1), marks=[pytest.mark.weekly] * (stem in SHOWN)) for stem in STEMS]
DRAWN += [pytest.param(stem, range(1, 12), marks=pytest.mark.weekly) for stem in STEMS]


@pytest.mark.parametrize(("stem", "secrets"), DRAWN)
def test_whatever_is_drawn_the_listed_points_stay(stem, secrets):
    """Twelve secrets a week, in this process: right answers pass, wrong ones fail where they should.

    One on every push for the homeworks that train nothing; with a training every wrong answer takes seconds.
    """
    listed = wrong_answers(stem)
    for secret in map(str, secrets):
        for name, (due, functions) in {"no mistake": (listed.full, {}), **listed.cases}.items():
            assert score(stem, with_functions(stem, functions), secret) == due, (secret, name)
