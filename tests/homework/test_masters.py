"""Every homework of the book: its master scores full marks, its student version none, and nothing leaks."""

import contextlib
import copy
import io
import re
import zipfile
from functools import cache
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient
from nbformat.v4 import new_code_cell, new_notebook

from lmbook_press.assignments import helping
from lmbook_press.assignments.make import faults, student_version, total_points
from lmbook_press.assignments.variants import drawn
from lmbook_press.site.python import packs

ROOT = Path(__file__).parents[2]
MASTERS = sorted((ROOT / "notebooks" / "homework").glob("[0-9]*.ipynb"))
REGION = re.compile(r"^[ \t]*### BEGIN (SOLUTION|HIDDEN TESTS)[^\n]*\n(.*?)^[ \t]*### END \1", re.MULTILINE | re.DOTALL)

each = pytest.mark.parametrize("path", MASTERS, ids=lambda path: path.stem)
SAMPLE = ("01", "16")
in_nbgrader = pytest.mark.parametrize(
    "path",
    [pytest.param(path, marks=() if path.stem[:2] in SAMPLE else pytest.mark.weekly, id=path.stem) for path in MASTERS],
)


@pytest.fixture(scope="module")
def in_jupyter():
    """in_jupyter(notebook, folder): the notebook after all cells have run, those after an error too, as nbgrader does.

    There is one kernel, which is emptied for each notebook.
    """
    client = NotebookClient(new_notebook(), timeout=120, kernel_name="python3", allow_errors=True)

    def run(notebook: nbformat.NotebookNode, folder: Path) -> nbformat.NotebookNode:
        emptied = new_code_cell(f"%reset -f\n%cd -q {folder}\n%xmode Minimal")
        client.nb = new_notebook(cells=[emptied, *nbformat.from_dict(notebook).cells])
        client.execute(cleanup_kc=False)
        assert not errors(client.nb.cells.pop(0))
        return client.nb

    with client.setup_kernel():
        yield run


def run(notebook: nbformat.NotebookNode) -> list[tuple[nbformat.NotebookNode, str]]:
    """Runs the code cells in this process, those after an error too: each with the name of its error, or ""."""
    space, done = {"__name__": "homework"}, []
    for cell in notebook.cells:
        if cell.cell_type == "code":
            try:
                with contextlib.redirect_stdout(io.StringIO()):
                    exec(cell.source, space)
                done.append((cell, ""))
            except Exception as error:
                done.append((cell, type(error).__name__))
    return done


def errors(cell: nbformat.NotebookNode) -> list[str]:
    return [output.ename for output in cell.get("outputs", []) if output.output_type == "error"]


def score(notebook: nbformat.NotebookNode) -> float:
    """nbgrader's points: a graded code cell counts when it ran without an error; written answers are marked by hand."""
    from nbgrader.utils import determine_grade, is_grade

    return sum(determine_grade(cell)[0] or 0 for cell in notebook.cells if is_grade(cell))


def by_hand(notebook: nbformat.NotebookNode) -> float:
    written = [cell for cell in notebook.cells if cell.cell_type == "markdown"]
    return sum(cell.metadata.get("nbgrader", {}).get("points", 0) for cell in written)


opened = cache(lambda path: nbformat.read(path, as_version=4))
released = cache(lambda path: student_version(opened(path), f"notebooks/homework/{path.name}"))


@pytest.fixture
def master(path) -> nbformat.NotebookNode:
    """Read once for all tests, and `student` made of it once; none of them changes either."""
    return opened(path)


@pytest.fixture
def student(path) -> nbformat.NotebookNode:
    return released(path)


@each
def test_the_master_is_well_formed(master):
    assert faults(master) == []
    assert [cell.source for cell in master.cells if cell.get("outputs")] == []
    graded = [cell for cell in master.cells if cell.metadata.get("nbgrader", {}).get("grade")]
    assert sum(cell.cell_type == "markdown" for cell in graded) == 1, "one written question"
    assert sum("BEGIN HIDDEN TESTS" in cell.source for cell in graded) >= 3


@each
def test_no_line_that_a_student_sees_is_wider_than_the_column(student):
    cells = [cell for cell in student.cells if cell.cell_type == "code"]
    assert [line for cell in cells for line in cell.source.split("\n") if len(line) > 80] == []


@each
def test_it_says_how_many_points_there_are(master):
    stated = re.findall(r"(\d+)\s+points", master.cells[0].source + "\n" + master.cells[1].source)
    assert str(int(total_points(master))) in stated


@each
def test_every_question_has_a_visible_check(master):
    for cell in master.cells:
        if "BEGIN HIDDEN TESTS" in cell.source:
            visible = REGION.sub("", cell.source)
            assert re.search(r"^\s*assert\b", visible, re.MULTILINE), cell.metadata.nbgrader.grade_id


@pytest.mark.slow
@in_nbgrader
def test_the_master_scores_full_marks_in_nbgrader(master, tmp_path, in_jupyter):
    """The one run of its cells in Jupyter: `make notebooks` compares stored outputs, and a master has none.

    Two a push and the others once a week: grader/test_grade runs the same cells of all, and test_wrong_answers too.
    """
    done = in_jupyter(master, tmp_path)
    assert score(done) == total_points(master) - by_hand(master) > 0
    assert list(tmp_path.iterdir()) == []


@each
def test_the_student_version_scores_nothing_and_every_check_runs(student):
    for cell, error in run(student):
        mark = cell.metadata.get("nbgrader", {})
        if mark.get("grade"):
            assert error in ("NotImplementedError", "AssertionError"), f"{mark.grade_id} passes without an answer"
        elif not mark.get("solution"):
            assert not error, cell.source


@each
def test_a_right_answer_passes_the_visible_checks(master, student, path):
    """The solutions put into the student version: its visible checks run and pass."""
    student = copy.deepcopy(student)
    made = drawn(master, path.stem, None)
    answers = {cell.metadata.nbgrader.grade_id: cell.source for cell in made.cells if _is_answer(cell)}
    for cell in student.cells:
        if cell.cell_type == "code" and cell.metadata.get("nbgrader", {}).get("grade_id") in answers:
            cell.source = answers[cell.metadata.nbgrader.grade_id]
    assert answers
    assert [(cell.source, error) for cell, error in run(student) if error] == []


def _is_answer(cell) -> bool:
    return cell.cell_type == "code" and cell.metadata.get("nbgrader", {}).get("solution", False)


@pytest.fixture
def secrets(path) -> list[str]:
    return secret_lines(path)


@cache
def secret_lines(path: Path) -> list[str]:
    """Lines that stand only in solutions and hidden tests, long enough to be told apart."""
    hidden, shown = [], []
    for cell in drawn(opened(path), "", None).cells:
        hidden += [line.strip() for _, body in REGION.findall(cell.source) for line in body.split("\n")]
        shown += [line.strip() for line in REGION.sub("", cell.source).split("\n")]
        if cell.cell_type == "markdown" and cell.metadata.get("nbgrader", {}).get("solution"):
            hidden += cell.source.split("\n")
            shown = [line for line in shown if line not in cell.source.split("\n")]
    return [line for line in dict.fromkeys(hidden) if len(line) > 15 and line not in shown]


@each
def test_no_solution_and_no_hidden_test_is_in_the_student_version(student, secrets):
    text = "\n".join(cell.source for cell in student.cells)
    assert secrets
    assert [line for line in secrets if line in text] == []


@each
def test_no_solution_and_no_hidden_test_is_in_a_built_page(path, secrets):
    """Looks at whatever is built at the moment: pages, their sources, the Colab edition.

    A line that the chapter itself shows, of a training loop for instance, is no secret.
    """
    folders = ("_build/html", "build", "book/homework", "src/lmbook_grader/releases")
    built = [file for folder in folders for file in (ROOT / folder).rglob("*")]
    built = [file for file in built if file.suffix in {".html", ".ipynb", ".js", ".txt", ".md"}]
    chapter = nbformat.read(ROOT / "notebooks" / path.name, as_version=4)
    taught = "\n".join(cell.source for cell in chapter.cells)
    lines = [line.encode() for line in secrets if line not in taught]
    assert lines
    leaks = [file for file in built if path.stem in file.name and any(line in file.read_bytes() for line in lines)]
    assert leaks == []


@each
def test_the_release_that_check_has_with_it_is_the_masters(student, path):
    shipped = nbformat.read(ROOT / "src/lmbook_grader/releases" / path.name, as_version=4)
    remedy = "run 'lmbook homework make --student-only --out src/lmbook_grader/releases'"
    assert shipped == student, f"{path.name} is not as its master makes it: {remedy}"


def test_beside_the_releases_an_assistant_reads_what_it_may_do():
    releases = {path.name: released(path) for path in MASTERS}
    said = helping.text(releases)
    assert (ROOT / "src/lmbook_grader/releases" / helping.NAME).read_text(encoding="utf-8") == said
    assert "You may not\n- write, complete, correct" in said
    assert all(f"## {name}\n\n- 1. " in said for name in releases)
    assert "- 2. Weights under a mask: chapter 11, “" in helping.text({"11.ipynb": releases["11-attention.ipynb"]})


@each
def test_no_archive_for_a_page_holds_a_solution_or_a_hidden_test(path, secrets):
    """What a page loads to check homework: the grader's code and its hints."""
    lines = page_lines()
    assert len(lines) > 5_000
    assert [line for line in secrets if line.strip() in lines] == []
    assert {Path(name).suffix for name in packed()} <= {".py", ".txt", ".rst", "", ".md"}, "no notebook among them"


@cache
def packed() -> dict[str, str]:
    """The files in the archives of the grader and of the page's kernel."""
    found = {}
    for name in ("grader.zip", "kernel.zip"):
        with zipfile.ZipFile(io.BytesIO(packs.archives()[name])) as archive:
            found |= {one: archive.read(one).decode("utf-8") for one in archive.namelist()}
    return found


@cache
def page_lines() -> set[str]:
    return {line.strip() for text in packed().values() for line in text.split("\n")}


@each
def test_no_page_for_machines_holds_a_solution_or_a_hidden_test(path, secrets):
    """What an assistant reads, and the hints, which every student has."""
    pages = [*(ROOT / "src/lmbook_grader/releases").glob("*.md"), *(ROOT / "src/lmbook_grader/hints").glob("*.py")]
    pages += (ROOT / folder / "llms.txt" for folder in ("_build/html", ".") if (ROOT / folder / "llms.txt").is_file())
    assert pages
    text = "\n".join(page.read_text(encoding="utf-8") for page in pages)
    lines = {line.strip() for line in text.split("\n")}
    assert [line for line in secrets if line.strip() in lines] == []
