"""Results: the JSON files of a graded homework, read back, with the marks of written answers put in.

graded/NN/results/STUDENT.json     one submission each, as lmbook_grader.grading.grade writes it
marks.csv                          student, question, points, comment, submission: marks given by people
"""

import csv
import io
import json
from dataclasses import dataclass, field
from pathlib import Path

from lmbook_grader.grading.pool import result_path
from lmbook_grader.spreadsheet import decoded, unguarded, write_csv
from lmbook_press.book import BookError

NEEDED = ("student", "file_sha256", "homework", "release_sha256", "status", "questions", "notes")
MARKS = ("student", "question", "points", "comment", "submission")


def file_stem(student: str) -> str:
    """The name of a student's files, without the ending: results and feedback are named alike."""
    return result_path(Path(), student).stem


def results_folder(folder: Path) -> Path:
    """The folder of JSON files in graded/NN, which may itself be named."""
    return folder / "results" if (folder / "results").is_dir() else folder


def read_result(path: Path) -> dict:
    """One result.  Raises BookError, naming the file, for one that is cut off or not a result."""
    try:
        result = json.loads(path.read_text(encoding="utf-8"))
        missing = [key for key in NEEDED if key not in result]
    except (ValueError, TypeError) as error:
        raise BookError(f"{path} is not a result: {error}. Delete it and grade with --resume.") from error
    if missing:
        raise BookError(f"{path} is not a result: it has no {', '.join(missing)}. Delete it and grade with --resume.")
    if file_stem(result["student"]) != path.stem:
        raise BookError(f"{path} holds the result of {result['student']}: results are named by their student.")
    return result


def read_results(folder: str | Path) -> list[dict]:
    """All results of a graded homework, by student.  Raises BookError where there are none, or they do not fit."""
    folder = Path(folder)
    found = [read_result(path) for path in sorted(results_folder(folder).glob("*.json"))]
    if not found:
        raise BookError(f"{folder} holds no results: grade first, with 'lmbook homework grade'.")
    one_homework(found, str(folder))
    return found


def one_homework(results: list[dict], where: str) -> None:
    """Raises BookError unless all results are of one homework in one version."""
    for key, what in (
        ("homework", "homeworks"),
        ("release_sha256", "releases"),
        ("grading_sha256", "grading versions"),
    ):
        kinds: dict[str, str] = {}
        for result in results:
            if result.get(key):  # a result that failed early has no checksums
                kinds.setdefault(str(result[key]), result["student"])
        if len(kinds) > 1:
            shown = ", ".join(f"{value[:12]} ({student})" for value, student in sorted(kinds.items()))
            raise BookError(f"{where} holds results of several {what}: {shown}. Grade them with one version.")


@dataclass(frozen=True)
class Score:
    """The points of a student.  points is None where something is not graded or not marked yet; waiting says what."""

    points: float | None
    most: float
    waiting: list[str] = field(default_factory=list)


def score(result: dict, written: bool = True) -> Score:
    """The sum over the questions; written=False leaves written questions out of points and maximum."""
    if result["status"] != "graded":
        return Score(None, 0, ["could not be read" if result["status"] == "unreadable" else "not graded"])
    asked = [one for one in result["questions"] if written or not is_written(one)]
    waiting = [one["id"] for one in asked if one["status"] == "manual"]
    points = None if waiting else round(sum(one["points"] for one in asked), 6)
    return Score(points, sum(one["max"] for one in asked), waiting)


def is_written(question: dict) -> bool:
    return not question["checks"]


def number(points: float) -> str:
    """2 for 2.0, 2.5 for 2.5."""
    return f"{points:g}"


def mark_lines(path: str | Path) -> tuple[list[dict], list[str]]:
    """The lines of a file of marks, each with its number under "line", and its columns.

    Raises BookError for a file that cannot be read, or that lacks a column.
    """
    path = Path(path)
    text = decoded(path)
    first = text.split("\n", 1)[0]
    reader = csv.DictReader(io.StringIO(text, newline=""), delimiter=max(",;\t", key=first.count))
    if lacking := [name for name in MARKS[:3] if name not in (reader.fieldnames or [])]:
        raise BookError(f"{path} has no column {', '.join(lacking)}; it needs {', '.join(MARKS)}.")
    rows = []
    for row in reader:
        rows.append(
            {key: unguarded((value or "").strip()) for key, value in row.items() if key} | {"line": reader.line_num}
        )
    return rows, list(reader.fieldnames)


def mark_of(file_sha256: str | None) -> str:
    """The entry in the column `submission`: the beginning of the file's checksum, so that no program rounds it."""
    return f"sha-{(file_sha256 or '')[:12]}"


def read_marks(path: str | Path, results: list[dict]) -> dict[tuple[str, str], tuple[float, str]]:
    """Marks given by people: (student, question) -> points and comment; lines without points are not marked yet.

    A line is for the file that its column `submission` names; one for a file that has been replaced does not count.
    Points of a question that the grader graded go before the grader's, and need a comment that gives the reason.
    Raises BookError with every line that cannot be used: a student or question that is not there, points that are no
    number from 0 to the maximum, no submission, no reason, a second mark for the same answer.
    """
    asked = {(one["student"], q["id"]): q for one in results for q in one["questions"]}
    files = {one["student"]: mark_of(one["file_sha256"]) for one in results}
    found, wrong = {}, []
    for row in mark_lines(path)[0]:
        key, given, comment = (row["student"], row["question"]), row["points"].replace(",", "."), row.get("comment", "")
        if not given or row.get("submission", "") not in ("", files.get(row["student"], row.get("submission"))):
            continue
        fault = _fault(key, given, comment, asked, files, found)
        if not fault and not row.get("submission"):
            fault = "the column submission is empty: run 'lmbook homework sheet' again, which fills it in"
        if fault:
            wrong.append(f"{Path(path).name}, line {row['line']}: {fault}")
        else:
            found[key] = (float(given), comment)
    if wrong:
        raise BookError("\n".join(wrong))
    return found


def _fault(key: tuple[str, str], given: str, comment: str, asked: dict, files: dict, found: dict) -> str:
    student, question = key
    if student not in files:
        return f"there is no result of a student {student!r}"
    if key not in asked:
        there = ", ".join(name for one, name in asked if one == student)
        if not there:
            return f"{student}'s file was not graded: ask for it again, or enter points in the gradebook"
        return f"{student} has no question {question!r}; there are {there}"
    if key in found:
        return f"{student} has points for {question} already, in a line above"
    try:
        points = float(given)
    except ValueError:
        return f"{given!r} is not a number of points"
    if not 0 <= points <= asked[key]["max"]:
        return f"{given} is not between 0 and {number(asked[key]['max'])}, the points of {question}"
    if not is_written(asked[key]) and not comment:
        return f"{question} was graded by program: say in the comment why {student} gets other points"
    return ""


def override(path: Path, results: list[dict], student: str, question: str, points: float, reason: str) -> float:
    """Puts points with their reason into the file of marks, for the file that was graded; returns what was there.

    Raises BookError for what `read_marks` would not take; then nothing is written.
    """
    rows, columns = mark_lines(path) if path.exists() else ([], [])
    one = next((one for one in results if one["student"] == student), {"file_sha256": None, "questions": []})
    new = {"student": student, "question": question, "points": number(points), "comment": reason}
    new["submission"] = mark_of(one["file_sha256"])
    asked = {(one["student"], q["id"]): q for one in results for q in one["questions"]}
    if fault := _fault((student, question), new["points"], reason, asked, {one["student"]: "" for one in results}, {}):
        raise BookError(f"Not changed: {fault}.")
    before = marked([one], read_marks(path, results) if rows else {})[0]
    same = ("student", "question", "submission")
    rows = [row for row in rows if any(row.get(key) != new[key] for key in same)]
    write_csv([*rows, new], list(dict.fromkeys([*columns, *MARKS])), path)
    return next(q["points"] for q in before["questions"] if q["id"] == question)


def marked(results: list[dict], marks: dict[tuple[str, str], tuple[float, str]]) -> list[dict]:
    """Copies of the results with the marks of people in them: status "marked", or "changed" where a program graded."""
    copies = json.loads(json.dumps(results))
    for result in copies:
        for question in result["questions"]:
            given = marks.get((result["student"], question["id"]))
            if given:
                status = "marked" if is_written(question) else "changed"
                question |= {"was": question["points"], "points": given[0], "comment": given[1], "status": status}
    return copies
