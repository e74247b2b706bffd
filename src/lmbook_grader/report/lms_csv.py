"""Scores: the points of a class in the columns that Canvas, Moodle and Gradescope read or write.

Where the roster is the system's own export, its lines come back as they were, with the points filled in.  A student
whose work is not there, not graded or not marked to the end has an empty cell: no system takes that for a zero.
"""

import re
from collections.abc import Callable
from pathlib import Path

from lmbook_grader.intake.roster import Roster, Student
from lmbook_grader.report.results import Score, is_written, number, score
from lmbook_grader.spreadsheet import write_csv
from lmbook_press.book import BookError

MOODLE = (
    "Identifier", "Full name", "ID number", "Email address", "Status", "Grade", "Maximum Grade", "Grade can be changed",
    "Last modified (submission)", "Last modified (grade)", "Feedback comments",
)  # fmt: skip
CANVAS = ("Student", "ID", "SIS User ID", "SIS Login ID", "Section")
CANVAS_OWN = ("Student", "LastName", "FirstName", *CANVAS[1:4], "Integration ID", "Root Account", "Section")
GRADESCOPE = ("First Name", "Last Name", "SID", "Email")
POSSIBLE = "    Points Possible"
Row = Callable[[Student, Score | None], dict]
# Headings that hold one of these are no assignments to Canvas (lib/gradebook_importer.rb), and are passed over.
COMPUTED = re.compile("(Current|Final) (Score|Points|Grade)|Override (Score|Grade|Status)")
TWICE = {"Student", "LastName", "FirstName", "ID", "SIS User ID", "SIS Login ID", "Section", "Integration ID"}


def not_a_column(title: str) -> str:
    """Why Canvas would not take this for the heading of an assignment, with the remedy; "" where it does."""
    if found := COMPUTED.search(title):
        return f"{title!r} would be passed over by Canvas, which computes each {found[0]} itself. Choose other words."
    return f"{title!r} is the heading of another column of Canvas. Choose other words." if title in TWICE else ""


def write_scores(kind: str, results: list[dict], roster: Roster, title: str, path: Path, written: bool = True) -> int:
    """Writes the scores for `kind` (plain, canvas, moodle, gradescope); returns how many students have points in it.

    title: the name of the column of points: for Canvas, the assignment's as its export has it, "Homework 1 (4711)".
    """
    scores = {result["student"]: score(result, written) for result in results}
    known = {result["student"]: result for result in results}
    most = max((one.most for one in scores.values()), default=0)
    if kind == "canvas" and (why := not_a_column(title)):
        raise BookError(f"--column: {why}")
    columns, row, head = KINDS[kind](roster, title, most, known, written)
    rows = [row(student, scores.get(student.id)) for student in roster]
    ids = {text for student in roster for text in (student.id, student.login, student.email)} if kind != "plain" else ()
    write_csv([*head, *rows], columns, path, mark=kind == "plain", ids=ids)
    return sum(one.points is not None for name, one in scores.items() if name in roster)


def _points(one: Score | None) -> str:
    return "" if one is None or one.points is None else number(one.points)


def _plain(roster: Roster, title: str, most: float, known: dict, written: bool):
    ids = list(
        dict.fromkeys(q["id"] for one in known.values() for q in one["questions"] if written or not is_written(q))
    )

    def row(student: Student, one: Score | None) -> dict:
        result = known.get(student.id)
        asked = result["questions"] if result else []
        each = {q["id"]: "" if q["status"] == "manual" else number(q["points"]) for q in asked}
        state = (
            "absent"
            if result is None
            else result["status"]
            if not one.waiting
            else "not marked: " + ", ".join(one.waiting)
        )
        if result and result["status"] != "graded":
            state = result["status"]
        identity = {"id": student.id, "name": student.name, "email": student.email}
        return {**identity, **each, "points": _points(one), "max": number(most), "state": state}

    return ["id", "name", "email", *ids, "points", "max", "state"], row, []


def canvas_identity(roster: Roster) -> tuple[list[str], Callable[[Student], dict]]:
    """The columns by which Canvas knows a student, as its own export has them, and their values."""
    own = "SIS Login ID" in roster.columns
    head = [name for name in roster.columns if name in CANVAS_OWN] if own else list(CANVAS)

    def identity(student: Student) -> dict:
        if own:
            return {name: student.row.get(name, "") for name in head}
        return {
            "Student": _last_first(student.name), "ID": student.canvas, "SIS User ID": student.id,
            "SIS Login ID": student.login or student.email.split("@")[0], "Section": student.row.get("section", ""),
        }  # fmt: skip

    return head, identity


def _canvas(roster: Roster, title: str, most: float, known: dict, written: bool):
    head, identity = canvas_identity(roster)

    def row(student: Student, one: Score | None) -> dict:
        return identity(student) | {title: _points(one)}

    return [*head, title], row, [{head[0]: POSSIBLE, title: number(most)}]


def _moodle(roster: Roster, title: str, most: float, known: dict, written: bool):
    own, (grade, feedback) = bool(roster.moodle[0]), roster.moodle
    if own:
        columns = list(roster.columns)
    else:
        columns = [name for name in MOODLE if name != "Identifier" or any(s.moodle for s in roster)]
        grade, feedback = "Grade", "Feedback comments"
    columns += [name for name in (grade, feedback) if name not in columns]

    def row(student: Student, one: Score | None) -> dict:
        identity = {name: student.row.get(name, "") for name in columns} if own else {}
        if not own:
            identity = {"Full name": student.name, "ID number": student.id, "Email address": student.email}
            identity |= {
                "Identifier": f"Participant {student.moodle}" if student.moodle else "",
                "Maximum Grade": number(most),
            }
            identity["Grade can be changed"] = "Yes"
        said = _remark(known.get(student.id))
        return identity | {grade: _points(one) or identity.get(grade, ""), feedback: said}

    return columns, row, []


def _remark(result: dict | None) -> str:
    """One line for the system's comment field: points a question, and what the marker wrote."""
    import html

    if result is None or result["status"] != "graded":
        return ""
    parts = []
    for one in result["questions"]:
        points = "not marked yet" if one["status"] == "manual" else f"{number(one['points'])} of {number(one['max'])}"
        parts.append(f"{one['id']}: {points}" + (f" ({one['comment']})" if one.get("comment") else ""))
    return html.escape("; ".join(parts))


def gradescope_identity(student: Student) -> dict:
    """The columns by which Gradescope's own export knows a student."""
    first, last = _first_last(student.name)
    identity = {"First Name": first, "Last Name": last, "SID": student.id, "Email": student.email}
    return identity | {name: student.row[name] for name in GRADESCOPE if student.row.get(name)}


def _gradescope(roster: Roster, title: str, most: float, known: dict, written: bool):
    def row(student: Student, one: Score | None) -> dict:
        return gradescope_identity(student) | {title: _points(one), f"{title} - Max Points": number(most)}

    return [*GRADESCOPE, title, f"{title} - Max Points"], row, []


def _first_last(name: str) -> tuple[str, str]:
    if "," in name:
        last, first = name.split(",", 1)
        return first.strip(), last.strip()
    first, _, last = name.rpartition(" ")
    return (first, last) if first else (last, "")


def _last_first(name: str) -> str:
    first, last = _first_last(name)
    return f"{last}, {first}" if last else first


KINDS = {"plain": _plain, "canvas": _canvas, "moodle": _moodle, "gradescope": _gradescope}
