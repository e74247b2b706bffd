"""Check: a student looks at a notebook of their own before handing it in.

With the release (the notebook as it was handed out) everything is as the grader does it, without walls: the answers
are placed by the same rules, run by the same worker, and what they return travels in the same way to the visible
checks.  So what it says of them is what the grader will say.  The releases of the book's own homeworks are in the
folder releases; that of a course's own homework has to be named.  With the notebook alone, or on Windows, which has no
such worker: does it run from top to bottom, does every answer stand where it belongs, do the visible checks pass?
"""

import hashlib
import os
import tempfile
import warnings
from collections import Counter
from itertools import count
from pathlib import Path

from nbformat import NotebookNode

from lmbook_grader import tries
from lmbook_grader.grading.execute import Runs
from lmbook_grader.intake.match_answers import DEFINED, WRITTEN_STUB, bare, grade_id, is_answer, place, titles
from lmbook_grader.intake.reading import content_of, open_submission, read_bytes
from lmbook_grader.promise import as_there
from lmbook_grader.sandbox.commands import Limits, copy_package
from lmbook_grader.sandbox.run_cells import Ran, run_cells
from lmbook_grader.verdict import Checked, Question, verdict
from lmbook_press.assignments.questions import Homework
from lmbook_press.normalize import read

STUB = "raise NotImplementedError"
RELEASES = Path(__file__).parent / "releases"  # a test holds them to the masters
NO_WORKER = "The grader's worker does not run on Windows (in Colab and under WSL it does)."


def check(path: str | Path, release: str | Path | None = None, seconds: float = Limits.total) -> Checked:
    """Looks at the notebook and runs it on this machine for at most `seconds`, in an empty folder, as the grader does.

    Raises Unreadable, with a sentence, for a file that is not a notebook.
    """
    path = Path(path)
    plain, lacks = open_submission(path), ""
    if release is None:
        release, lacks = shipped(path, plain)
    if release and os.name == "posix":
        return _as_graded(plain, Path(release), seconds, path.parent)
    notebook = _marked(path) or plain
    faults, hints = _order(notebook)
    if release:  # on Windows
        placed = place(plain, read(Path(release)))
        hints += placed.notes
        notebook = placed.notebook
    elif not any(grade_id(cell) for cell in plain.cells):
        faults.append(
            "The cells have lost their marks, so nothing can be checked but that it runs. The grader will look for the "
            "answers by their names. Safer: copy your answers into a notebook opened anew from the book."
        )
    sources = {at: cell.source for at, cell in enumerate(notebook.cells) if cell.cell_type == "code"}
    ran, stopped = run_cells({at: text for at, text in sources.items() if text.strip()}, path.parent, seconds)
    if stopped:
        at = next(at for at in sources if sources[at].strip() and at not in {one.cell for one in ran})
        faults.append(f"The notebook does not run to its end: at cell {at + 1} {stopped}")
    for one in ran:
        if one.error and not _is_check(notebook.cells[one.cell]):
            faults.append(
                f"Cell {one.cell + 1} stops with {_error(one)}: the notebook does not run from top to bottom."
            )
    repeated = [name for name, count in Counter(filter(None, map(grade_id, notebook.cells))).items() if count > 1]
    faults += [f"Two cells have the mark {name} (pasted twice?): delete one of them." for name in repeated]
    return Checked(_questions(notebook, ran), faults, hints, sum(one.seconds for one in ran), lacks=lacks or NO_WORKER)


def shipped(path: Path, plain: NotebookNode) -> tuple[Path | None, str]:
    """The book's homework that this notebook was handed out as; or None, and a sentence that says what is missing."""
    here = {bare(cell.source) for cell in plain.cells} | {grade_id(cell) for cell in plain.cells}
    best, found = 0.0, None
    for file in sorted(RELEASES.glob("*.ipynb")):
        cells = [cell for cell in read(file).cells if not is_answer(cell) and cell.source.strip()]
        share = sum(bare(cell.source) in here or (grade_id(cell) or "") in here for cell in cells) / len(cells)
        if share > max(best, 0.5):
            best, found = share, file
    if found is None:
        return None, "The notebook as it was handed out is missing: this is not one of the book's homework assignments."
    given = {bare(cell.source) for cell in read(found).cells}
    for number, cell in enumerate((_marked(path) or plain).cells, start=1):
        marks = cell.metadata.get("nbgrader", {})
        if marks.get("locked") and marks.get("checksum") and not changed(cell) and bare(cell.source) not in given:
            why = f"cell {number} of yours is not that of {found.name} in this version of lmbook"
            return None, f"The notebook as it was handed out is missing: {why}. Your course may have its own version."
    return found, ""


def _as_graded(plain: NotebookNode, release: Path, seconds: float, beside: Path) -> Checked:
    """What the grader finds, its worker started without walls.  beside: the notebook's folder."""
    homework, limits = Homework.handed_out(release), Limits(total=seconds)
    placed = place(plain, homework.release)
    with tempfile.TemporaryDirectory(prefix="lmbook-") as folder:
        package, empty = copy_package(Path(folder, "package"), homework.blocked), count()

        def start():
            home = Path(folder, f"home{next(empty)}")  # each process has one of its own
            home.mkdir()
            return as_there(limits, package, home, beside)

        runs = Runs(homework, placed, start, limits)
        return verdict(runs, placed, lambda wrong: tries.count(beside, homework.name, wrong))


def _marked(path: Path) -> NotebookNode | None:
    """The notebook with its metadata, for format 4; open_submission has read it before, so it is whole."""
    content = content_of(read_bytes(path))
    if content["nbformat"] != 4:
        return None
    with warnings.catch_warnings(action="ignore"):  # of cells pasted twice; the report says it in better words
        return read(path)


def _order(notebook: NotebookNode) -> tuple[list[str], list[str]]:
    """Hints from the numbers that the front end left: cells that were run in another order than they stand."""
    counts = [cell.get("execution_count") for cell in notebook.cells if cell.cell_type == "code"]
    counts = [count for count in counts if isinstance(count, int)]
    if counts != sorted(counts):
        return [], ["The cells were last run in another order than on the page; here they ran from top to bottom."]
    return [], []


def _is_check(cell: NotebookNode) -> bool:
    marks = cell.metadata.get("nbgrader", {})
    return bool(marks.get("grade")) and not marks.get("solution")


def _error(ran: Ran) -> str:
    text = f"{ran.error}: {ran.message}" if ran.message else str(ran.error)
    where = f" (line {ran.line} of cell {ran.place + 1})" if ran.place is not None and ran.line else ""
    return text + where


def _questions(notebook: NotebookNode, ran: list[Ran]) -> list[Question]:
    """A state and sentences for every heading with an answer or a check."""
    headings, how = titles(notebook), {one.cell: one for one in ran}
    found: dict[str, Question] = {}
    for at, cell in enumerate(notebook.cells):
        if not grade_id(cell):
            continue
        question = found.setdefault(headings[grade_id(cell)], Question(headings[grade_id(cell)]))
        if is_answer(cell):
            if _unanswered(cell):
                question.state = "not answered"
                if twin := _elsewhere(notebook, at):
                    question.said.append(f"The answer is in cell {twin + 1}: move it into cell {at + 1}.")
        elif _is_check(cell):
            question.checks += 1
            if changed(cell):
                question.said.append(f"The check in cell {at + 1} was changed; the grader uses the one handed out.")
            one = how.get(at)
            if one is None:
                question.said.append(f"The check in cell {at + 1} was not reached.")
            elif one.error is None:
                question.passed += 1
            elif question.state == "answered":
                question.said.append(_failed(at, cell, one))
    return list(found.values())


def _unanswered(cell: NotebookNode) -> bool:
    text = cell.source.strip()
    return not text or STUB in text or text == WRITTEN_STUB


def _elsewhere(notebook: NotebookNode, at: int) -> int | None:
    """A cell without a mark that defines what the unanswered cell should."""
    wanted = set(DEFINED.findall(notebook.cells[at].source))
    for number, cell in enumerate(notebook.cells):
        if cell.cell_type == "code" and not grade_id(cell) and wanted & set(DEFINED.findall(cell.source)):
            return number
    return None


def _failed(at: int, cell: NotebookNode, one: Ran) -> str:
    lines = cell.source.split("\n")
    if one.place == at and one.line and one.line <= len(lines):
        shown = lines[one.line - 1].strip()
        what = "this does not hold" if one.error == "AssertionError" else f"{one.error}: {one.message}"
        return f"The check in cell {at + 1} fails, {what}: {shown}"
    return f"The check in cell {at + 1} stops with {_error(one)}."


def changed(cell: NotebookNode) -> bool:
    """Whether a locked cell differs from what was handed out, by the checksum nbgrader left in it."""
    marks = cell.metadata.get("nbgrader", {})
    if not marks.get("locked") or not isinstance(marks.get("checksum"), str):
        return False
    parts = [
        cell.source,
        cell.cell_type,
        bool(marks.get("grade")),
        bool(marks.get("solution")),
        True,
        marks["grade_id"],
    ]
    if marks.get("grade"):
        parts.append(float(marks.get("points") or 0))
    return hashlib.md5("".join(map(str, parts)).encode(), usedforsecurity=False).hexdigest() != marks["checksum"]
