"""Equal passages of answers, found by copydetect (winnowing, as in MOSS), and how common each of them is.

An answer is compared with comments, docstrings and layout taken off; copydetect itself gives all variables one name.
"""

import ast
import io
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lmbook_grader.intake.collect import Submission
from lmbook_grader.intake.reading import Unreadable, open_and_place
from lmbook_press.assignments.questions import Homework, marks
from lmbook_press.book import BookError

NOISE = 25  # signs of a normalised program: what is shorter is chance
SHORTEST = 60  # signs of a passage that is shown
SAME = 0.9  # share of a passage's fingerprints that a program must have to be said to have the passage
MASTER, BEFORE = "the master's solution", "last year"


@dataclass(frozen=True)
class Passage:
    """Code that two programs share.  writers: how many of the class have it."""

    text: str
    writers: int
    given: bool

    def common(self, class_size: int) -> bool:
        return self.given or self.writers > max(2, class_size / 10)


@dataclass(frozen=True)
class Pair:
    """A student and another student, the master, or a file of last year; the rarest passage first."""

    student: str
    other: str
    passages: list[Passage]
    rare: int  # signs in passages that are not common


def normalised(source: str) -> str:
    """Python in one layout, without comments and docstrings; as it is where it is no plain Python."""
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return source
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        kinds = ast.Module | ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
        if isinstance(node, kinds) and ast.get_docstring(node) is not None:
            node.body = body[1:] or [ast.Pass()]
    return ast.unparse(tree)


def program(path: Path, homework: Homework) -> str:
    """The code that a student wrote: answers and cells of their own.  Raises Unreadable."""
    given = {cell.source for cell in homework.release.cells}
    cells = open_and_place(path, homework.release).notebook.cells
    own = [cell.source for cell in cells if cell.cell_type == "code" and cell.source not in given]
    return "\n\n".join(map(normalised, own))


def compare(submissions: Iterable[Submission], homework: Homework, before: Path | None = None) -> list[Pair]:
    """The pairs that share a passage which is not common, those with most of it first.

    before: a folder with files of an earlier class.  Raises BookError where copydetect is not installed.
    """
    try:
        from copydetect import CodeFingerprint, compare_files
    except ImportError:
        raise BookError("copydetect is not installed: pip install '.[copies]' in the book's folder.") from None

    def printed(name: str, text: str) -> Any:
        return CodeFingerprint(name, NOISE, 1, fp=io.StringIO(text), language="python")

    mine = {one.student: _read(one.path, homework.of(one.student)) for one in submissions}
    solutions = [
        cell.source for cell in homework.grading.cells if cell.cell_type == "code" and marks(cell).get("solution")
    ]
    others = {MASTER: "\n\n".join(map(normalised, solutions))}
    for path in sorted(before.rglob("*.ipynb")) if before else ():
        others[f"{BEFORE}: {path.relative_to(before)}"] = _read(path, homework)
    own = {name: printed(name, text) for name, text in mine.items() if len(text) > NOISE}
    foreign = {name: printed(name, text) for name, text in others.items() if len(text) > NOISE}
    given = printed(
        "release", "\n\n".join(normalised(c.source) for c in homework.release.cells if c.cell_type == "code")
    )

    def has(found: Any, whole: Any) -> bool:
        return bool(found.hashes) and len(found.hashes & whole.hashes) >= SAME * len(found.hashes)

    names, pairs = list(own), []
    for place, name in enumerate(names):
        for other, its in [*((other, own[other]) for other in names[place + 1 :]), *foreign.items()]:
            _, _, (slices, _) = compare_files(own[name], its)
            texts = [own[name].raw_code[int(a) : int(b)] for a, b in zip(*slices, strict=True)] if len(slices) else []
            passages = []
            for text in (text.strip() for text in texts if len(text.strip()) >= SHORTEST):
                found = printed("passage", text)
                passages.append(Passage(text, sum(has(found, one) for one in own.values()), has(found, given)))
            rare = sum(len(one.text) for one in passages if not one.common(len(own)))
            if rare:
                passages.sort(key=lambda one: (one.common(len(own)), one.writers, -len(one.text)))
                pairs.append(Pair(name, other, passages, rare))
    return sorted(pairs, key=lambda pair: -pair.rare)


def _read(path: Path, homework: Homework) -> str:
    try:
        return program(path, homework)
    except Unreadable:
        return ""
