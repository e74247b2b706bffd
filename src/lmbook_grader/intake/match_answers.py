"""Placing: the answers of a returned notebook, and the student's own code, in a clean copy of the release.

An answer is looked for by its grade_id, then by a marker in the cell (`# answer: NAME`, `<!-- answer: NAME -->`), then
by the `def` line, then by its place between cells that students do not change: Colab may drop the marks, and people
delete, paste, reorder and rename.  What was moved, found twice or not found is said.

An answer may need whatever its author ran before it: an import, a helper, a table.  So the student's other code cells
come along, each where it stands between the cells that everybody has.
"""

import re
import unicodedata
from typing import NamedTuple

import nbformat
from nbformat import NotebookNode

LONGEST = 100_000  # characters of one answer, or of another cell
MOST = 1_000_000  # characters of all other cells
MARKER = re.compile(r"^[ \t]*(?:#|<!--)[ \t]*answer:[ \t]*([\w.-]+)", re.MULTILINE)  # no \s: quadratic
DEFINED = re.compile(r"^(?:async[ \t]+)?(?:def|class)[ \t]+(\w+)", re.MULTILINE)
HEADING = re.compile(r"^#+[ \t]+(.+?)(?:[ \t]*\([^()]*points?\))?[ \t]*$", re.MULTILINE)
WRITTEN_STUB = "YOUR ANSWER HERE"
PICTURE = re.compile(
    r"data:image/[\w.+-]{1,50};base64,[A-Za-z0-9+/=]*|attachment:[^\s)]*"
)  # as Colab and Jupyter keep one


class Placed(NamedTuple):
    """notebook: the release with the answers in it.  notes: sentences for the student.  missing: ids unanswered."""

    notebook: NotebookNode
    notes: list[str]
    missing: list[str]


def grade_id(cell: NotebookNode) -> str | None:
    return cell.metadata.get("nbgrader", {}).get("grade_id")


def is_answer(cell: NotebookNode) -> bool:
    return bool(cell.metadata.get("nbgrader", {}).get("solution"))


def titles(release: NotebookNode) -> dict[str, str]:
    """grade_id of every marked cell -> the heading above it, without its points."""
    found, last = {}, "Your answer"
    for cell in release.cells:
        if cell.cell_type == "markdown" and not is_answer(cell) and (headings := HEADING.findall(cell.source)):
            last = headings[-1]
        if name := grade_id(cell):
            found[name] = last
    return found


def same(one: str, other: str) -> bool:
    """Equal but for white space at the ends of lines and empty lines."""
    return bare(one) == bare(other)


def bare(source: str) -> str:
    """The source without white space at the ends of lines and without empty lines."""
    return "\n".join(line.rstrip() for line in source.split("\n") if line.strip())


class _Search:
    """The cells of one returned notebook, and which of them the release has too."""

    def __init__(self, submission: NotebookNode, release: NotebookNode):
        self.cells, self.release = submission.cells, release
        self.bare = [bare(cell.source) for cell in self.cells]  # and what each marks and defines, looked for once
        self.marked = [MARKER.findall(cell.source) for cell in self.cells]
        self.defines = [set(DEFINED.findall(cell.source)) for cell in self.cells]
        fixed = {bare(cell.source): number for number, cell in enumerate(release.cells) if not is_answer(cell)}
        fixed.pop("", None)
        self.given: dict[int, int] = {}  # number of a release cell -> where the submission has it
        self.own: list[int] = []  # numbers of the cells that are the student's
        for number in range(len(self.cells)):
            if (at := fixed.get(self.bare[number])) is not None:
                self.given.setdefault(at, number)
            else:
                self.own.append(number)
        locked = {grade_id(cell): at for at, cell in enumerate(release.cells) if grade_id(cell) and not is_answer(cell)}
        for number in self.own:  # an edited check still shows where we are
            if (at := locked.get(grade_id(self.cells[number]))) is not None:
                self.given.setdefault(at, number)

    def gap(self, at: int) -> list[int]:
        """The student's cells between the neighbours of release cell `at`; none where those are not in this order."""
        before = next((self.given[n] for n in range(at - 1, -1, -1) if n in self.given), None)
        after = next(
            (self.given[n] for n in range(at + 1, len(self.release.cells)) if n in self.given), len(self.cells)
        )
        if before is None:
            return []
        edited = set(self.given.values())
        return [number for number in self.own if before < number < after and number not in edited]

    def candidates(self, at: int) -> list[tuple[str, list[int]]]:
        """How the answer of release cell `at` may be found, best first, with the cells found so."""
        stub = self.release.cells[at]
        name, defines = grade_id(stub), set(DEFINED.findall(stub.source))
        code = stub.cell_type == "code"
        others = {grade_id(cell) for cell in self.release.cells if is_answer(cell)} - {name}
        nothing = ("", WRITTEN_STUB, bare(stub.source).strip())
        full = [number for number in self.own if self.bare[number].strip() not in nothing]

        def has_defs(number: int) -> bool:
            return bool(defines) and defines <= self.defines[number]

        by_id = [number for number in full if grade_id(self.cells[number]) == name]
        by_marker = [number for number in full if name in self.marked[number]]
        by_def = [number for number in full if self.cells[number].cell_type == "code" and has_defs(number)]
        kinds = ("code",) if code else ("markdown", "raw")
        gap = [
            number
            for number in self.gap(at)
            if number in full
            and (self.cells[number].cell_type in kinds or (not code and _words(self.cells[number].source)))
            and grade_id(self.cells[number]) not in others
        ]
        near = set(gap)  # of several, an older version, or a copy to try things, may be at the end
        for found in (by_id, by_marker, by_def):
            found.sort(key=near.__contains__)
        if code:
            return [
                ("id", [number for number in by_id if not defines or has_defs(number)]),
                ("marker", by_marker),
                ("def", by_def),
                ("id", by_id),
                ("place", [number for number in gap if not self._is_of_another(number, at)]),
            ]
        return [("id", by_id), ("marker", by_marker), ("place", gap)]

    def _is_of_another(self, number: int, at: int) -> bool:
        stubs = [cell for n, cell in enumerate(self.release.cells) if n != at and is_answer(cell)]
        return any(self.defines[number] & set(DEFINED.findall(stub.source)) for stub in stubs)


def answered(submission: NotebookNode, release: NotebookNode) -> bool:
    """Whether any answer of this release is in the notebook, by id, marker or def."""
    search = _Search(submission, release)
    ids = {grade_id(cell) for cell in submission.cells} - {None}
    return any(
        grade_id(cell) in ids or any(found for how, found in search.candidates(at) if how != "place")
        for at, cell in enumerate(release.cells)
        if is_answer(cell)
    )


def place(submission: NotebookNode, release: NotebookNode) -> Placed:
    """The release with the *sources* of the answers in place; it unpacks into notebook, notes and missing.

    submission: a notebook as open_submission reads it.  release: the student version as it was handed out.
    Sources of answers and of the student's own code cells are taken over, and nothing else; markup in written answers
    is made harmless (no HTML, no links).  A cell's number in the student's file is in its metadata, lmbook.cell.
    """
    clean = nbformat.from_dict(release)
    search, heading = _Search(submission, release), titles(release)
    notes, missing, used = [], [], {}
    lost = not any(grade_id(cell) for cell in submission.cells)
    for at, stub in enumerate(release.cells):
        if not is_answer(stub):
            continue
        name, title = grade_id(stub), heading[grade_id(stub)]
        found = next(((how, numbers) for how, numbers in search.candidates(at) if numbers), None)
        if found is None:
            missing.append(name)
            if not any(grade_id(cell) == name or same(cell.source, stub.source) for cell in submission.cells):
                notes.append(f"“{title}”: no cell with an answer was found; its cell is not in the notebook any more.")
            continue
        how, numbers = found
        source = _source(search, stub, how, numbers)
        if stub.cell_type != "code" and PICTURE.search(source):
            source = PICTURE.sub("picture", source)
            notes.append(f"“{title}”: pictures are not read; say in words what they show.")
        if len(source) > LONGEST:
            missing.append(name)
            notes.append(f"“{title}”: the answer has {len(source):,} characters; at most {LONGEST:,} are read.")
            continue
        used[at] = numbers
        notes += _remarks(search, stub, how, numbers, title, lost)
        clean.cells[at].source = source if stub.cell_type == "code" else harmless(source)
        clean.cells[at].pop("attachments", None)
    notes += _take_along(search, clean, used)
    if lost and used:
        notes.insert(0, "The marks of the cells were lost on the way; the answers were found by name and place.")
    return Placed(clean, notes, missing)


def _take_along(search: _Search, clean: NotebookNode, used: dict[int, list[int]]) -> list[str]:
    """Puts the student's other code cells into `clean`; what stands behind all that counts is left out."""
    taken = {number for numbers in used.values() for number in numbers}
    own = [number for number in search.own if number not in taken and number not in search.given.values()]
    own = [number for number in own if search.cells[number].cell_type == "code" and search.cells[number].source.strip()]
    stubs = {bare(cell.source) for cell in clean.cells}
    own = [number for number in own if search.bare[number] not in stubs]
    places = search.given | {at: numbers[0] for at, numbers in used.items()}
    room, found, notes = MOST, {}, []
    for number in own:
        length = len(search.cells[number].source)
        before = min((at for at, there in places.items() if there > number), default=None)
        if before is None:
            continue
        if length > min(room, LONGEST):
            notes.append(f"Cell {number + 1} of your file has {length:,} characters and was left out.")
            continue
        room -= length
        kept = {"lmbook": {"cell": number + 1}}
        cell = nbformat.v4.new_code_cell(search.cells[number].source, id=f"own{number}", metadata=kept)
        found.setdefault(before, []).append(cell)
    for at, number in places.items():
        clean.cells[at].metadata["lmbook"] = {"cell": number + 1}
    clean.cells = [cell for at, one in enumerate(clean.cells) for cell in (*found.get(at, ()), one)]
    return notes


def _words(source: str) -> str:
    """The text of a cell that has only comments; "" for any other cell."""
    lines = [line.strip() for line in source.strip().split("\n")]
    return "\n".join(line.lstrip("#").strip() for line in lines) if all(line[:1] in ("#", "") for line in lines) else ""


def _source(search: _Search, stub: NotebookNode, how: str, numbers: list[int]) -> str:
    if how == "place":
        return "\n\n".join(_source(search, stub, "", [number]) for number in numbers)
    cell = search.cells[numbers[-1]]
    return (_words(cell.source) if stub.cell_type != cell.cell_type == "code" else "") or cell.source


def _remarks(search: _Search, stub: NotebookNode, how: str, numbers: list[int], title: str, lost: bool):
    """Sentences: what the student should know about where the answer was found."""
    said = []
    if how == "marker" and not lost:
        said.append(f"“{title}”: the answer was found by the mark in its cell.")
    if how == "def" and not lost:
        names = ", ".join(DEFINED.findall(stub.source))
        said.append(f"“{title}”: the answer was found by the name {names}; it was not in the cell meant for it.")
    if how == "place" and not lost:
        said.append(f"“{title}”: the answer was found by its place; it was not in the cell meant for it.")
    if how != "place" and len(numbers) > 1:
        which = "last one" if numbers[-1] == max(numbers) else "one in its place"
        differ = len({search.bare[number] for number in numbers}) > 1
        said.append(
            f"“{title}”: the answer is in the notebook {len(numbers)} times"
            + (f"; the {which} counts." if differ else ", each time the same.")
        )
    wanted = set(DEFINED.findall(stub.source))
    if how != "place" and stub.cell_type == "code" and wanted:
        have = set().union(*(search.defines[number] for number in search.own))
        source = search.cells[numbers[-1]].source
        if lost := sorted(name for name in wanted - have if not re.search(rf"\b{name}\b", source)):
            said.append(f"“{title}”: the cell does not define {', '.join(lost)}, which the checks call.")
    if search.cells[numbers[-1]].cell_type != stub.cell_type:
        said.append(f"“{title}”: the cell's type was changed; it was read as {stub.cell_type}, as handed out.")
    return said


JOINERS = "\u00ad\u200c\u200d\u200e\u200f\u2060"  # of languages and emoji


def harmless(text: str) -> str:
    """Markdown in which nothing is a tag, a link or an image: a word joiner (invisible) breaks what would begin one.

    Signs that nobody sees, by which one text is marked and another one read by a machine, are shown as [U+E0041].
    """
    text = "".join(f"[U+{ord(sign):04X}]" if _unseen(sign) else sign for sign in text)
    text = re.sub(r"<(?=[A-Za-z/!?])", "<\u2060", text)
    return re.sub(r"\](?=[(\[:])", "]\u2060", text)


def _unseen(sign: str) -> bool:
    """Tags, controls of the direction, spaces without width, and the selectors of variants beyond the sixteen."""
    return 0xE0000 <= ord(sign) < 0xE1000 or (unicodedata.category(sign) == "Cf" and sign not in JOINERS)
