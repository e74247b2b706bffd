"""Check: what a student is told before handing in."""

import copy

import nbformat
import pytest
from nbformat.v4 import new_code_cell
from points import ROOT, master
from samples import DOUBLE, DOUBLE_AT, TRIPLE_AT, WRITTEN_AT, hand_in, release, returned

from lmbook_grader.intake.reading import Unreadable
from lmbook_grader.self_check import RELEASES, changed, check
from lmbook_grader.verdict import lines
from lmbook_press.assignments.questions import marks
from lmbook_press.editions.colab import edition


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
    said = report(returned(), tmp_path)
    assert "The notebook runs from top to bottom, and the checks that you can see pass." in said
    assert "Not checked as the grader does it. The notebook as it was handed out is missing" in said


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
        (
            lambda: broken("def double(x): return 3 * x"),
            "check in cell 5 fails, this does not hold: assert double(1) == 2",
        ),
        (
            lambda: broken("def double(x):\n    y = x\n    return z"),
            "NameError: name 'z' is not defined (line 3 of cell 4)",
        ),
        (lambda: broken("def double(x)\n    return 1"), "Cell 4 stops with SyntaxError"),
        (lambda: with_a_cell("open('no such file')"), "Cell 4 stops with FileNotFoundError"),
        (lambda: with_a_cell("exit()"), "does not run to its end: at cell 4 Python ended early"),
        (lambda: with_a_cell("import os; os.kill(os.getpid(), 9)"), "at cell 4 Python was killed (signal 9)"),
        (lambda: with_a_cell("input()"), "Cell 4 stops with EOFError"),
        (with_a_changed_check, "check in cell 5 was changed; the grader uses the one handed out"),
        (with_an_answer_elsewhere, "The answer is in cell 11: move it into cell 4"),
        (run_out_of_order, "run in another order"),
        (pasted_twice, "Two cells have the mark double"),
        (without_marks, "have lost their marks"),
    ],
)
def test_what_is_wrong_is_said_with_the_cell(tmp_path, notebook, said):
    assert said in report(notebook(), tmp_path)


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


def solved(stem: str) -> nbformat.NotebookNode:
    """A homework of the book with its solutions, as a student would hand it in."""
    right = {marks(cell).get("grade_id"): cell.source for cell in master(stem).cells}
    notebook = nbformat.read(RELEASES / f"{stem}.ipynb", as_version=4)
    for cell in notebook.cells:
        if marks(cell).get("solution"):
            cell.source = right[cell.metadata.nbgrader.grade_id]
    return notebook


def test_for_the_books_own_homework_nothing_but_the_package_is_needed(tmp_path):
    notebook = solved("01-chain-rule")
    result = checked(notebook, tmp_path)
    assert result.good
    assert result.against == "01-chain-rule.ipynb"
    for cell in notebook.cells:  # as Colab may leave it
        cell.metadata = {}
    assert checked(notebook, tmp_path).good
    wrong = solved("01-chain-rule")
    at = next(
        n for n, cell in enumerate(wrong.cells) if cell.metadata.get("nbgrader", {}).get("grade_id") == "vanishes"
    )
    wrong.cells[at].source = "def vanishes_at(probabilities):\n    return 50"
    (said, _) = checked(wrong, tmp_path).questions[3].said
    assert said.endswith("fails: `assert vanishes_at([0.125] * 10) == 0`. Returned: 50; expected: 0.")


def test_the_colab_edition_is_known_and_its_set_up_cell_is_nobodys(tmp_path):
    right = {marks(cell).get("grade_id"): cell.source for cell in master("01-chain-rule").cells}
    notebook = edition(ROOT / "notebooks/homework/01-chain-rule.ipynb")
    for cell in notebook.cells:
        if marks(cell).get("solution"):
            cell.source = right[cell.metadata.nbgrader.grade_id]
    result = checked(notebook, tmp_path)
    assert result.good
    assert (result.against, result.hints) == ("01-chain-rule.ipynb", [])


def test_a_courses_own_version_of_a_homework_has_to_be_named(tmp_path):
    from nbgrader.utils import compute_checksum

    notebook = solved("01-chain-rule")
    at = next(n for n, cell in enumerate(notebook.cells) if "vanishes_at([0.125]" in cell.source)
    notebook.cells[at].source = "assert vanishes_at([0.125] * 100) == 50"
    assert checked(notebook, tmp_path).against  # a student has changed it
    notebook.cells[at].metadata.nbgrader.checksum = compute_checksum(notebook.cells[at])
    result = checked(notebook, tmp_path)
    assert not result.against
    assert f"cell {at + 1} of yours is not that of 01-chain-rule.ipynb" in result.lacks


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
