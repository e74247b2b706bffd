"""Written answers: a sheet for the people who mark them, and a page to read them on, question by question."""

import base64
import hashlib
import json
import re
from importlib.resources import files
from pathlib import Path
from typing import NamedTuple

from markupsafe import Markup

from lmbook import write
from lmbook_grader.grading.grade import file_digest
from lmbook_grader.intake.collect import Submission
from lmbook_grader.intake.match_answers import grade_id, is_answer, titles
from lmbook_grader.intake.reading import Unreadable, open_and_place
from lmbook_grader.report.feedback import TEMPLATES, name_of
from lmbook_grader.report.prose import prose, their_prose
from lmbook_grader.report.results import MARKS, mark_lines, mark_of, number
from lmbook_grader.spreadsheet import write_csv
from lmbook_press.assignments.marking import question_of, rubric, solution_and_scheme
from lmbook_press.assignments.questions import Homework
from lmbook_press.book import BookError
from lmbook_press.prose import inline
from lmbook_press.rendering import render


class Answer(NamedTuple):
    """A written answer; submission: the mark of the file it is in."""

    student: str
    source: str
    submission: str


def written_answers(submissions: list[Submission], homework: Homework) -> dict[str, list[Answer]]:
    """Question -> every written answer that is there, in the order of the submissions."""
    asked = [grade_id(cell) for cell in homework.release.cells if is_answer(cell) and cell.cell_type == "markdown"]
    found: dict[str, list[Answer]] = {name: [] for name in asked}
    for one in submissions:
        try:
            placed = open_and_place(one.path, homework.of(one.student).release)
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


def write_sheet(submissions: list[Submission], homework: Homework, out: Path) -> Sheet:
    """Brings OUT/marks.csv, to be filled in, and OUT/written.html, to be read, up to date with the submissions.

    Students are named by their ids only, and stand question by question, so that one answer does not colour the next.
    What is in marks.csv stays, its other columns too.  A mark is for one file: the answer in a file that replaces it
    has a line of its own, without points, below which the old one is kept.
    """
    sheet, reading = out / "marks.csv", out / "written.html"
    rows, columns = mark_lines(sheet) if sheet.exists() else ([], [])
    here = {one.student: mark_of(file_digest(one.path)) for one in submissions}
    for row in rows:
        row["submission"] = row.get("submission") or here.get(row["student"], "")
    answers, lines, new, replaced = written_answers(submissions, homework), [], 0, 0
    for name, found in answers.items():
        for one in found:
            own = [row for row in rows if (row["student"], row["question"]) == (one.student, name)]
            now = [row for row in own if row["submission"] == one.submission]
            old = [row for row in own if row not in now and row["points"]]
            if not now:
                new, replaced = new + 1, replaced + bool(old)
                now = [{"student": one.student, "question": name, "submission": one.submission, "points": ""}]
            lines += [*now, *old]
    # Changed points, those of who is not there now, and what is to be talked about.
    lines += [row for row in rows if row not in lines and (row["points"] or row.get("comment"))]
    minutes = noted_minutes(lines)
    write_csv(lines, list(dict.fromkeys([*columns, *MARKS, "minutes"])), sheet)
    write(reading, _page(answers, lines, homework))
    here = {(one.student, name, one.submission) for name, found in answers.items() for one in found}
    marked = sum(bool(row["points"]) for row in lines if (row["student"], row["question"], row["submission"]) in here)
    return Sheet(sheet, reading, len(here), new, replaced, marked, minutes)


def _page(answers: dict[str, list[Answer]], lines: list[dict], homework: Homework) -> str:
    """Question by question; where students have different cases, case by case."""
    release, headings, questions = homework.release, titles(homework.release), []
    for name, found in answers.items():
        cases: dict[str, tuple[Homework, list[Answer]]] = {}
        for one in found:
            made = homework.of(one.student)
            cases.setdefault(question_of(made.release, name), (made, []))[1].append(one)
        for number_of, (text, (made, these)) in enumerate(cases.items(), start=1):
            cell = next(cell for cell in made.grading.cells if grade_id(cell) == name)
            most, (solution, scheme) = cell.metadata.nbgrader.points, solution_and_scheme(cell.source)
            groups: dict[str, list[Answer]] = {}
            for one in these:
                groups.setdefault("".join(one.source.casefold().split()), []).append(one)
            case = f", case {number_of} of {len(cases)}" if len(cases) > 1 else ""
            questions.append(
                {
                    "name": name,
                    "heading": headings[name] + case,
                    "most": number(most),
                    "question": prose(text),
                    "solution": prose(solution),
                    "scheme": prose(scheme),
                    "boxes": [(f"{points:g}", inline(item)) for points, item in rubric(scheme, most)],
                    "answers": [_answer(equal, name, lines, text) for equal in groups.values()],
                }
            )
    columns = list(dict.fromkeys([*(key for row in lines for key in row if key != "line"), *MARKS, "minutes"]))
    title, kept = name_of(release), [{key: row.get(key, "") for key in columns} for row in lines]
    data = json.dumps({"rows": kept, "columns": columns, "store": f"lmbook {title}: "})
    script = files(TEMPLATES).joinpath("templates/written.mjs").read_text(encoding="utf-8")
    checksum = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    values = {"title": title, "questions": questions, "data": data, "script": Markup(script), "checksum": checksum}
    return render("written.html", TEMPLATES, **values)


LIMIT = re.compile(r"\b(?:at most|no more than|up to) (\d+|[a-z]+) (words|sentences)")
COUNTED = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")


def length(text: str, question: str) -> tuple[str, str]:
    """How long an answer is, and, where it is longer than its question allows, a sentence that says so."""
    counts = {"words": len(text.split()), "sentences": len(re.findall(r"[.!?](?=[\s\"')*_]|$)", text))}
    shown = f"{counts['words']} {'word' if counts['words'] == 1 else 'words'}"
    found = LIMIT.search(question)
    most = found[1] if found else ""
    limit = int(most) if most.isdigit() else COUNTED.index(most) + 1 if most in COUNTED else None
    if limit is None:
        return shown, ""
    count = counts[found[2]]
    return shown, f"{count} {found[2]}, at most {limit} were asked for" if count > limit else ""


def _answer(equal: list[Answer], name: str, lines: list[dict], question: str) -> dict:
    """One text, who wrote it, and the points that it has; lines: the numbers of its rows of marks.csv."""
    size, over = length(equal[0].source, question)
    remarks = [] if over.startswith(size) else [size]
    if len(equal) > 1:
        remarks.append(f"{len(equal)} students have this text")
    own = []
    for at, row in enumerate(lines):
        for one in equal:
            if (row["student"], row["question"]) == (one.student, name):
                now = row["submission"] == one.submission
                own += [at] if now else []
                if row.get("points"):
                    which = "" if now else " in a file that was replaced"
                    remarks.append(f"{one.student}: {row['points']} points{which}")
    given = lines[own[0]]
    return {
        "id": f"{name}/{equal[0].student}/{equal[0].submission}",
        "lines": json.dumps(own),
        "students": ", ".join(one.student for one in equal),
        "remarks": "; ".join(remarks),
        "over": over,
        "text": their_prose(equal[0].source),
        **{key: given.get(key, "") for key in ("points", "comment", "minutes")},
    }
