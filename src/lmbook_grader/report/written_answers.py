"""Written answers: a sheet for the people who mark them, and a page to read them on, question by question."""

from pathlib import Path
from typing import NamedTuple

from nbformat import NotebookNode

from lmbook import write
from lmbook_grader.grading.grade import file_digest
from lmbook_grader.intake.collect import Submission, Unreadable, open_and_place
from lmbook_grader.intake.match_answers import grade_id, is_answer, titles
from lmbook_grader.report.feedback import TEMPLATES, name_of
from lmbook_grader.report.prose import prose
from lmbook_grader.report.results import MARKS, mark_lines, mark_of, number, write_csv
from lmbook_press.assignments.marking import question_of, rubric, solution_and_scheme
from lmbook_press.book import BookError
from lmbook_press.prose import inline
from lmbook_press.rendering import render


class Answer(NamedTuple):
    """A written answer; submission: the mark of the file it is in."""

    student: str
    source: str
    submission: str


def written_answers(submissions: list[Submission], release: NotebookNode) -> dict[str, list[Answer]]:
    """Question -> every written answer that is there, in the order of the submissions."""
    asked = [grade_id(cell) for cell in release.cells if is_answer(cell) and cell.cell_type == "markdown"]
    found: dict[str, list[Answer]] = {name: [] for name in asked}
    for one in submissions:
        try:
            placed = open_and_place(one.path, release)
        except Unreadable:
            continue
        sources, digest = {grade_id(cell): cell.source for cell in placed.notebook.cells}, file_digest(one.path)
        for name in asked:
            if name not in placed.missing:
                found[name].append(Answer(one.student, sources[name], mark_of(digest)))
    return found


class Sheet(NamedTuple):
    """The two files; how many answers there are, how many are new, are of a replaced file, and have points now;
    and the minutes that markers have noted, one number for each answer with any."""

    marks: Path
    reading: Path
    answers: int
    new: int
    replaced: int
    marked: int
    minutes: list[float]


def noted_minutes(rows: list[dict]) -> list[float]:
    """The column `minutes`, in which a marker may note how long an answer took.  Raises BookError for other entries."""
    found = []
    for row in rows:
        noted = row.get("minutes", "").replace(",", ".")
        try:
            found += [float(noted)] if noted else []
        except ValueError:
            raise BookError(
                f"marks.csv, {row['student']}, {row['question']}: {noted!r} in the column minutes is not a number."
            ) from None
    return found


def write_sheet(submissions: list[Submission], release: NotebookNode, master: NotebookNode, out: Path) -> Sheet:
    """Brings OUT/marks.csv, to be filled in, and OUT/written.html, to be read, up to date with the submissions.

    Students are named by their ids only, and stand question by question, so that one answer does not colour the next.
    What is in marks.csv stays, its other columns too.  A mark is for one file: the answer in a file that replaces it
    has a line of its own, without points, below which the old one is kept.
    """
    sheet, reading = out / "marks.csv", out / "written.html"
    rows, columns = mark_lines(sheet) if sheet.exists() else ([], [])
    files = {one.student: mark_of(file_digest(one.path)) for one in submissions}
    for row in rows:
        row["submission"] = row.get("submission") or files.get(row["student"], "")
    answers, lines, new, replaced = written_answers(submissions, release), [], 0, 0
    for name, found in answers.items():
        for one in found:
            own = [row for row in rows if (row["student"], row["question"]) == (one.student, name)]
            now = [row for row in own if row["submission"] == one.submission]
            old = [row for row in own if row not in now and row["points"]]
            if not now:
                new, replaced = new + 1, replaced + bool(old)
                now = [{"student": one.student, "question": name, "submission": one.submission, "points": ""}]
            lines += [*now, *old]
    lines += [row for row in rows if row not in lines and row["points"]]  # changed points, and of who is not there now
    minutes = noted_minutes(lines)
    write_csv(lines, list(dict.fromkeys([*columns, *MARKS, "minutes"])), sheet)
    write(reading, _page(answers, lines, release, master))
    here = {(one.student, name, one.submission) for name, found in answers.items() for one in found}
    marked = sum(bool(row["points"]) for row in lines if (row["student"], row["question"], row["submission"]) in here)
    return Sheet(sheet, reading, len(here), new, replaced, marked, minutes)


def _page(answers: dict[str, list[Answer]], lines: list[dict], release: NotebookNode, master: NotebookNode) -> str:
    headings, solutions, questions = titles(release), {grade_id(cell): cell for cell in master.cells}, []
    for name, found in answers.items():
        most = solutions[name].metadata.nbgrader.points
        solution, scheme = solution_and_scheme(solutions[name].source)
        groups: dict[str, list[Answer]] = {}
        for one in found:
            groups.setdefault("".join(one.source.casefold().split()), []).append(one)
        questions.append(
            {
                "name": name,
                "heading": headings[name],
                "most": number(most),
                "question": prose(question_of(release, name)),
                "solution": prose(solution),
                "scheme": prose(scheme),
                "boxes": [(f"{points:.0f}", inline(item)) for points, item in rubric(scheme, most)],
                "answers": [_answer(equal, name, lines) for equal in groups.values()],
            }
        )
    return render("written.html", TEMPLATES, title=name_of(release), questions=questions)


def _answer(equal: list[Answer], name: str, lines: list[dict]) -> dict:
    """One text, who wrote it, and the points that it has."""
    words = len(equal[0].source.split())
    remarks = [f"{words} {'word' if words == 1 else 'words'}"]
    if len(equal) > 1:
        remarks.append(f"{len(equal)} students have this text")
    for row in lines:
        for one in equal:
            if (row["student"], row["question"]) == (one.student, name) and row.get("points"):
                which = "" if row["submission"] == one.submission else " in a file that was replaced"
                remarks.append(f"{one.student}: {row['points']} points{which}")
    students = ", ".join(one.student for one in equal)
    return {"students": students, "remarks": "; ".join(remarks), "text": prose(equal[0].source)}
