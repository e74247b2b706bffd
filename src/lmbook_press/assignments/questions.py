"""A homework of a course as the grader sees it: its two notebooks, its questions, and the checks of each."""

import ast
import builtins
import itertools
import re
import symtable
from dataclasses import dataclass, field, replace
from pathlib import Path

from nbformat import NotebookNode

from lmbook_press.assignments import variants
from lmbook_press.book import BookError
from lmbook_press.normalize import read

# Libraries that answer questions of this book; a homework names those that it allows.
ANSWERING = {"lmbook", "torch", "scipy", "sklearn", "transformers", "tensorflow", "keras", "jax", "autograd", "nltk"}
HINTS_AFTER = 2  # tries, where the course says nothing else
HIDDEN = re.compile(r"### (BEGIN|END) HIDDEN TESTS")


@dataclass(frozen=True)
class Check:
    """A graded code cell of the master.

    hidden: the lines (from 1) between its markers; hint: the comment that stands right before them.
    """

    name: str
    source: str
    points: float
    hidden: range
    hint: str


@dataclass
class Question:
    """An answer and its checks; a written one has none and is marked by hand.  names: what its cell defines."""

    name: str
    written: bool = False
    points: float = 0
    checks: list[Check] = field(default_factory=list)
    functions: set[str] = field(default_factory=set)
    values: set[str] = field(default_factory=set)


@dataclass
class Homework:
    """The folder of one homework in a course: course/NN/release/NN-name.ipynb and course/NN/grading/NN-name.ipynb.

    It is the edition of all students, or, by `of`, that of one in course/NN/students/ID/.
    """

    name: str
    release: NotebookNode
    grading: NotebookNode
    files: dict[str, Path]
    questions: list[Question]
    blocked: list[str]
    student: str = ""  # whose edition it is
    open: NotebookNode | None = None  # the grading notebook in which what is drawn for each student is still open

    def of(self, student: str) -> "Homework":
        """The homework as it was made for this student, or the one for all, where none was made."""
        if self.open is None:
            return self
        path = self.files["release"].parents[1] / "students" / student / self.files["release"].name
        if not path.is_file():
            return self
        grading = variants.own(self.open, self.sealed["key"], student)
        return replace(self, release=read(path), grading=grading, questions=questions(grading), student=student)

    @property
    def sealed(self) -> dict[str, str]:
        """The key and the name of the editions of this homework; empty where each student has the same."""
        said = self.grading.metadata.get("lmbook", {})
        return {name: said[name] for name in ("key", "edition") if name in said}

    @property
    def closed(self) -> list[str]:
        """The names an answer may not use: libraries, where the master lists those it allows, and given functions."""
        said = self.grading.metadata.get("lmbook", {})
        libraries = ANSWERING - set(said["imports"]) if "imports" in said else set()
        return sorted(libraries | set(said.get("closed", [])))

    @property
    def hints_after(self) -> int:
        """After how many tries `check` gives a hint; 0: never, and no page of feedback has one."""
        return int(self.grading.metadata.get("lmbook", {}).get("hints_after", HINTS_AFTER))

    @classmethod
    def load(cls, folder: Path) -> "Homework":
        """Raises BookError where the folder is not a homework of a course."""
        files = {}
        for kind in ("release", "grading"):
            found = sorted((folder / kind).glob("*.ipynb"))
            if len(found) != 1:
                raise BookError(
                    f"{folder / kind} holds {len(found)} notebooks instead of one: make it with "
                    "'lmbook homework make NN --out COURSE'."
                )
            files[kind] = found[0]
        if files["release"].name != files["grading"].name:
            raise BookError(f"{folder}: release and grading hold different homeworks; make it again.")
        found = read(files["grading"])
        said = found.metadata.get("lmbook", {})
        grading, blocked = variants.own(found, ""), list(said.get("blocked", []))
        made = cls(files["release"].stem, read(files["release"]), grading, files, questions(grading), blocked)
        return replace(made, open=found) if "key" in said else made

    @classmethod
    def handed_out(cls, path: Path) -> "Homework":
        """The homework as its students know it: the release, whose checks are the visible ones."""
        release = read(path)
        if not any(marks(cell).get("solution") for cell in release.cells):
            raise BookError(f"{path} is not a homework as it was handed out: no cell in it is marked for an answer.")
        blocked = list(release.metadata.get("lmbook", {}).get("blocked", []))
        return cls(path.stem, release, release, {"release": path}, questions(release), blocked)


def marks(cell: NotebookNode) -> dict:
    return cell.metadata.get("nbgrader", {})


def questions(master: NotebookNode) -> list[Question]:
    """The questions of a master in its order: a check belongs to the answer that stands last before it."""
    found: list[Question] = []
    for cell in master.cells:
        mark = marks(cell)
        if mark.get("solution"):
            question = Question(mark["grade_id"], written=cell.cell_type == "markdown", points=mark.get("points", 0))
            if cell.cell_type == "code":
                question.functions, question.values = defined(cell.source)
            found.append(question)
        elif mark.get("grade"):
            if not found or found[-1].written:
                raise BookError(f"The check {mark['grade_id']} stands before any answer it could look at.")
            found[-1].checks.append(_check(mark, cell.source))
            found[-1].points += mark["points"]
    return found


def _check(mark: dict, source: str) -> Check:
    lines = source.split("\n")
    at = [number for number, line in enumerate(lines, start=1) if HIDDEN.search(line)]
    hidden = range(at[0], at[-1] + 1) if at else range(0)
    above = itertools.takewhile(lambda line: line.startswith("# "), reversed(lines[: hidden.start - 1] if at else []))
    hint = " ".join(line.lstrip("# ").strip() for line in reversed([*above]))
    return Check(mark["grade_id"], source, mark["points"], hidden, hint)


def defined(source: str) -> tuple[set[str], set[str]]:
    """The functions and the values that an answer cell of the master binds at its top level."""
    functions, values = set(), set()
    for node in ast.parse(source).body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            functions.add(node.name)
        elif isinstance(node, ast.Assign | ast.AnnAssign | ast.AugAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            values |= {part.id for target in targets for part in ast.walk(target) if isinstance(part, ast.Name)}
    return functions, values


def undefined_names(master: NotebookNode) -> list[tuple[int, str, str]]:
    """Names that a check reads, but that no given cell before it, no answer and not the check itself binds.

    Each check has to stand alone: if it took a name of another check, a student would lose points twice for one
    mistake.  Returns (number of the cell, grade_id, name).
    """
    known, found = {*dir(builtins), "__name__", "display"}, []
    for number, cell in enumerate(master.cells, start=1):
        if cell.cell_type != "code":
            continue
        binds, reads = bound_and_read(cell.source)
        if marks(cell).get("grade") and not marks(cell).get("solution"):
            found += [(number, marks(cell)["grade_id"], name) for name in sorted(reads - binds - known)]
        else:
            known |= binds
    return found


def bound_and_read(source: str) -> tuple[set[str], set[str]]:
    """The names that a cell binds at its top level, and the module's names that it reads, in its functions too."""
    table = symtable.symtable(source, "<cell>", "exec")
    binds = {name.get_name() for name in table.get_symbols() if name.is_assigned() or name.is_imported()}
    return binds, _globals(table)


def _globals(table: symtable.SymbolTable) -> set[str]:
    """The module's names that a piece of code reads, in nested functions too."""
    top = table.get_type() == "module"
    own = {name.get_name() for name in table.get_symbols() if name.is_referenced() and (top or name.is_global())}
    return own.union(*(_globals(child) for child in table.get_children()))
