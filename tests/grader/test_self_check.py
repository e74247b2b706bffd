"""Check: what a student is told before handing in."""

import copy

import pytest
from nbformat.v4 import new_code_cell
from samples import DOUBLE, DOUBLE_AT, TRIPLE_AT, WRITTEN_AT, hand_in, release, returned

from lmbook_grader.intake.collect import Unreadable
from lmbook_grader.self_check import changed, check, lines


def checked(notebook, tmp_path, **options):
    return check(hand_in(notebook, tmp_path / "ann.ipynb"), **options)


def report(notebook, tmp_path, **options) -> str:
    return "\n".join(lines(checked(notebook, tmp_path, **options), "ann.ipynb"))


def test_a_finished_notebook_can_be_handed_in(tmp_path):
    result = checked(returned(), tmp_path)
    assert result.good
    assert [(one.title, one.state, one.passed, one.checks) for one in result.questions] == [
        ("1. Twice", "answered", 1, 1),
        ("2. Three times", "answered", 1, 1),
        ("3. In words", "answered", 0, 0),
    ]
    assert "All there: you can hand it in." in report(returned(), tmp_path)


def test_an_untouched_release_is_not_answered_and_that_is_all(tmp_path):
    result = checked(release(), tmp_path)
    assert not result.good
    assert {one.state for one in result.questions} == {"not answered"}
    assert (result.faults, result.hints) == ([], [])
    assert all(one.said == [] for one in result.questions)


def broken(double):
    return returned(double=double)


def with_a_cell(source):
    notebook = returned()
    notebook.cells.insert(DOUBLE_AT, new_code_cell(source))
    return notebook


def with_a_changed_check():
    notebook = returned()
    notebook.cells[DOUBLE_AT + 1].source = "assert True"
    return notebook


def with_an_answer_elsewhere():
    notebook = returned(double=None)
    notebook.cells.append(new_code_cell(DOUBLE))
    return notebook


def run_out_of_order():
    notebook = returned()
    for count, at in enumerate((TRIPLE_AT, DOUBLE_AT), start=1):
        notebook.cells[at].execution_count = count
    return notebook


def pasted_twice():
    notebook = returned()
    notebook.cells.insert(DOUBLE_AT, copy.deepcopy(notebook.cells[DOUBLE_AT]))
    return notebook


def without_marks():
    notebook = returned()
    for cell in notebook.cells:
        cell.metadata = {}
    return notebook


@pytest.mark.parametrize(
    ("notebook", "said"),
    [
        (broken("def double(x): return 3 * x"), "check in cell 5 fails, this does not hold: assert double(1) == 2"),
        (broken("def double(x):\n    y = x\n    return z"), "NameError: name 'z' is not defined (line 3 of cell 4)"),
        (broken("def double(x)\n    return 1"), "Cell 4 stops with SyntaxError"),
        (with_a_cell("open('no such file')"), "Cell 4 stops with FileNotFoundError"),
        (with_a_cell("exit()"), "does not run to its end: at cell 4 Python ended early"),
        (with_a_cell("import os; os.kill(os.getpid(), 9)"), "at cell 4 Python was killed (signal 9)"),
        (with_a_cell("input()"), "Cell 4 stops with EOFError"),
        (with_a_changed_check(), "check in cell 5 was changed; the grader uses the one handed out"),
        (with_an_answer_elsewhere(), "The answer stands in cell 11: move it into cell 4"),
        (run_out_of_order(), "run in another order"),
        (pasted_twice(), "Two cells have the mark double"),
        (without_marks(), "have lost their marks"),
    ],
)
def test_what_is_wrong_is_said_with_the_cell(tmp_path, notebook, said):
    assert said in report(notebook, tmp_path)


def test_an_endless_loop_ends_and_what_ran_before_is_kept(tmp_path):
    notebook = broken("def double(x):\n    return 2 * x")
    notebook.cells[TRIPLE_AT].source = "def triple(x):\n    while True:\n        pass"
    result = checked(notebook, tmp_path, seconds=6)
    assert [one.passed for one in result.questions] == [1, 0, 0]
    assert "at cell 8 it had not finished after 6 seconds" in result.faults[0]
    assert result.questions[1].said == ["The check in cell 8 was not reached."]


def test_one_wrong_answer_does_not_hide_the_others(tmp_path):
    result = checked(broken("1 / 0"), tmp_path)
    assert [one.passed for one in result.questions] == [0, 1, 0]


def test_magics_prints_and_warnings_are_no_errors(tmp_path):
    assert checked(with_a_cell("%time 1\nimport warnings; warnings.warn('careful'); print('x')"), tmp_path).good


def test_the_notebook_runs_in_its_own_folder_and_its_file_stays(tmp_path):
    (tmp_path / "data.txt").write_text("7")
    notebook = with_a_cell("assert open('data.txt').read() == '7'")
    path = hand_in(notebook, tmp_path / "ann.ipynb")
    before = path.read_bytes()
    assert check(path).good
    assert path.read_bytes() == before
    assert {file.name for file in tmp_path.iterdir()} == {"ann.ipynb", "data.txt"}


def test_with_the_release_lost_marks_and_moved_answers_are_found(tmp_path):
    handed_out = hand_in(release(), tmp_path / "release.ipynb")
    result = checked(without_marks(), tmp_path, release=handed_out)
    assert result.good
    assert "marks of the cells were lost" in result.hints[0]
    moved = checked(with_an_answer_elsewhere(), tmp_path, release=handed_out)
    assert moved.good
    assert "found by the name double" in moved.hints[0]


def test_the_checksum_is_nbgraders():
    from nbgrader.utils import compute_checksum

    for cell in release().cells:
        if cell.metadata.get("nbgrader", {}).get("locked"):
            assert cell.metadata.nbgrader.checksum == compute_checksum(cell)
            assert not changed(cell)
            cell.source += " "
            assert changed(cell)
    assert not changed(release().cells[WRITTEN_AT])


def test_a_file_that_is_no_notebook_is_said_so(tmp_path):
    (tmp_path / "ann.ipynb").write_text("oops")
    with pytest.raises(Unreadable, match="not a notebook"):
        check(tmp_path / "ann.ipynb")
