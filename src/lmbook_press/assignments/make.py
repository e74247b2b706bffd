"""A homework's two versions, made from its master by nbgrader's own preprocessors.

The student version has neither solutions nor hidden tests, runs anywhere (its checks are plain `assert`s), and keeps
nbgrader's marks, by which an answer is found again.  The grading master is what the grader reads the checks from, and a
notebook that nbgrader takes: checked, with its outputs cleared.
"""

import logging
import re
from collections.abc import Sequence
from pathlib import Path

import nbformat
from nbformat import NotebookNode

from lmbook import write
from lmbook_press.assignments import helping, variants
from lmbook_press.assignments.questions import undefined_names
from lmbook_press.book import Book, BookError
from lmbook_press.normalize import read, tidied, write_notebook

README = """# Your homework

`{file}` was made for you. Some of its numbers, its visible checks and the case in the last question are yours alone, so
an answer that somebody else found for their own notebook is wrong in yours.

- Answer in this file, and hand it in under any name. It says inside for whom it was made; do not copy your answers into
  the notebook of somebody else, nor theirs into yours.
- Before you hand it in, keep a copy of the file as you got it, and let the checks run as the grader runs them:

  ```bash
  pip install lmbook
  lmbook homework check {file} --release as-i-got-it.ipynb
  ```

- If you have lost it, ask for it again: you will get the same one.
"""
IN_A_PAGE = """- You can also solve it in a browser, with nothing installed. Go to <{page}>,
  press *Solve it here*, then *Open a file*, and choose this file. *Check* there does what the command above does, and
  *Save as file* gives you what you hand in.
"""

REGIONS = ("SOLUTION", "HIDDEN TESTS")
STUB = "raise NotImplementedError"


def _nbgrader():
    try:
        from nbgrader import preprocessors
    except ImportError as error:
        raise BookError("Making a homework needs nbgrader: pip install 'lmbook[homework]'.") from error
    return preprocessors


def faults(master: NotebookNode) -> list[str]:
    """Everything that is wrong with a master's marks, each with the number of its cell."""
    found, seen = [], {}
    for number, cell in enumerate(master.cells, start=1):
        marks = cell.metadata.get("nbgrader", {})
        graded, solution = marks.get("grade", False), marks.get("solution", False)
        name = marks.get("grade_id")
        place = f"cell {number}" + (f" ({name})" if name else "")
        if graded or solution or marks.get("locked", False):
            if not name:
                found.append(f"{place} has nbgrader marks but no grade_id: give it one")
            elif name in seen:
                found.append(f"{place}: cell {seen[name]} has the grade_id {name} too; each needs its own")
            seen.setdefault(name, number)
        if graded and not isinstance(marks.get("points"), int | float):
            found.append(f"{place} is graded but has no points: add them to its nbgrader metadata")
        found += [f"{place}: {fault}" for fault in _regions(cell, graded, solution)]
        if cell.cell_type == "markdown" and graded != solution:
            found.append(f"{place} is a written answer: it must be marked as solution and as graded")
    found += variants.faults(master)
    found += [
        f"cell {number} ({check}) uses {name}, which only another check defines: each check stands alone"
        for number, check, name in ([] if found else undefined_names(master))
    ]
    return found


def _regions(cell: NotebookNode, graded: bool, solution: bool) -> list[str]:
    """Faults of the regions between ### BEGIN … and ### END …."""
    found = []
    lines = cell.source.split("\n")
    for region in REGIONS:
        marks = [line.strip() for line in lines if re.search(rf"\b(BEGIN|END) {region}\b", line)]
        if len(marks) % 2 or any(("BEGIN" in mark) != (at % 2 == 0) for at, mark in enumerate(marks)):
            found.append(f"the markers BEGIN {region} and END {region} do not come in pairs")
    text = cell.source
    if "BEGIN SOLUTION" in text and not solution:
        found.append("a solution is in a cell that is not marked as one")
    if "BEGIN HIDDEN TESTS" in text:
        if not graded:
            found.append("hidden tests are in a cell that gives no points")
        marker = next(at for at, line in enumerate(lines) if "BEGIN HIDDEN TESTS" in line)
        if not "".join(lines[:marker]).strip():
            found.append("no visible line stands before the hidden tests: write a comment that says what they look at")
    return found


def _run(master: NotebookNode, names: tuple[str, ...]) -> NotebookNode:
    """The notebook after nbgrader's preprocessors of these names, in this order."""
    module = _nbgrader()
    notebook = nbformat.from_dict(master)
    resources = {"nbgrader": {}, "language": "python"}
    for name in names:
        step = getattr(module, name)()
        step.log = logging.getLogger("lmbook_grader")
        step.log.disabled = True  # its message repeats the whole cell; the exception says enough
        notebook, resources = step.preprocess(notebook, resources)
    return notebook


def _checked(master: NotebookNode, name: str) -> NotebookNode:
    if found := faults(master):
        raise BookError("\n".join(f"{name}, {fault}" for fault in found))
    return master


def student_version(
    master: NotebookNode, name: str = "homework", seed: str | None = None, student: str | None = None
) -> NotebookNode:
    """The notebook for students.  Raises BookError, naming notebook and cell, for a master whose marks are wrong.

    seed: the course's secret.  student: the id of the one for whom it is drawn, and whose seal it then carries.
    """
    # The order is that of nbgrader's GenerateAssignment, without its database.
    steps = ("LockCells", "ClearSolutions", "ClearOutput", "CheckCellMetadata", "ClearHiddenTests", "ClearMarkScheme")
    stem = Path(name).stem
    made = tidied(variants.drawn(_checked(master, name), stem, seed, student))
    try:
        notebook = _run(made, (*steps, "ComputeChecksums", "CheckCellMetadata"))
    except (RuntimeError, ValueError) as error:
        raise BookError(f"{name}: nbgrader says: {error}") from error
    for number, cell in enumerate(notebook.cells, start=1):
        if re.search(r"(BEGIN|END) (SOLUTION|HIDDEN TESTS|MARK SCHEME)", cell.source):
            raise BookError(f"{name}, cell {number}: a marker is left in the student version")
        if not cell.source.strip():
            raise BookError(f"{name}, cell {number}: nothing is left of it in the student version")
    notebook = tidied(notebook)
    if seed is not None and student is not None:
        sealed = variants.seal(variants.key(seed, stem), stem, student, variants.edition(master))
        own = variants.in_answers(master, variants.values(master, variants.key(seed, stem), student))
        notebook.metadata.setdefault("lmbook", {}).update(made_for=sealed, drawn=own)
    return notebook


def grading_version(
    master: NotebookNode, name: str = "homework", seed: str | None = None, each: bool = False
) -> NotebookNode:
    """The notebook for the grader, and for nbgrader: the master with its outputs cleared.  Raises BookError as above.

    each: what is drawn for each student stays open in it, with the key from which it is drawn (`Homework.of`).
    """
    stem, steps = Path(name).stem, ("ClearOutput", "CheckCellMetadata")
    _checked(master, name)
    if not each:
        return tidied(_run(tidied(variants.drawn(master, stem, seed)), steps))
    notebook = tidied(_run(tidied(variants.seeded(master, stem, seed)), steps))
    more = {"key": variants.key(seed, stem), "edition": variants.edition(master)}
    notebook.metadata.setdefault("lmbook", {}).update(more)
    return notebook


def total_points(master: NotebookNode) -> float:
    """The points of all graded cells together."""
    return sum(cell.metadata.get("nbgrader", {}).get("points", 0) for cell in master.cells if _graded(cell))


def _graded(cell: NotebookNode) -> bool:
    return cell.metadata.get("nbgrader", {}).get("grade", False)


def chosen(book: Book, numbers: tuple[str, ...]) -> list[Path]:
    """The masters with these numbers, all without any.  Raises BookError for a number that no master has."""
    masters = book.masters()
    known = {path.name.split("-")[0]: path for path in masters}
    if unknown := [number for number in numbers if number.zfill(2) not in known]:
        raise BookError(f"There is no homework {', '.join(unknown)}; there are {', '.join(known) or 'none'}.")
    return [known[number.zfill(2)] for number in numbers] or masters


def make(
    book: Book,
    out: Path,
    numbers: tuple[str, ...] = (),
    student_only: bool = False,
    seed: str | None = None,
    students: Sequence[str] = (),
    hints_after: int | None = None,
) -> list[Path]:
    """Writes the versions of the chosen homeworks; nothing is written if one of them fails.

    student_only: OUT/NN-name.ipynb.  Otherwise the folders of a course, OUT/NN/release/NN-name.ipynb for the class and
    OUT/NN/grading/NN-name.ipynb for the grader.  seed: the course's secret, for variants.  students: ids, for each of
    whom OUT/NN/students/ID/NN-name.ipynb is drawn, with a README beside it.  hints_after: the tries after which `check`
    gives a hint, 0 for never.  In each folder for students AGENTS.md says how an assistant may help.
    """
    notebooks, texts = {}, {}
    for path in chosen(book, numbers):
        master, folder = read(path), out / path.name.split("-")[0]
        name = path.relative_to(book.root).as_posix()
        notebooks[(out if student_only else folder / "release") / path.name] = student_version(master, name, seed)
        if not student_only:
            notebooks[folder / "grading" / path.name] = grading_version(master, name, seed, bool(students))
        for student in students:
            own = folder / "students" / student
            notebooks[own / path.name] = student_version(master, name, seed, student)
            page = IN_A_PAGE.format(page=f"{book.site}book/homework/{path.stem}.html")
            texts[own / "README.md"] = README.format(file=path.name) + page
    folders: dict[Path, dict[str, NotebookNode]] = {}
    for path, notebook in notebooks.items():
        if hints_after is not None:
            notebook.metadata.setdefault("lmbook", {})["hints_after"] = hints_after
        if path.parent.name != "grading":
            folders.setdefault(path.parent, {})[path.name] = notebook
    texts |= {folder / helping.NAME: helping.text(found) for folder, found in folders.items()}
    for path, notebook in notebooks.items():
        write_notebook(notebook, path)
    for path, text in texts.items():
        write(path, text)
    return list(notebooks)
