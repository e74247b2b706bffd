"""The gradebook as tables: our own, and those that learning systems read.

What they read is in their sources, and `tests/grader/test_gradebook_csv.py` reads these files as they do:

    Canvas      lib/gradebook_importer.rb: a heading with Student, then ID, up to Section; then a column for each
                assignment, "Title (number)", found by number, then by title, or else made anew; "EX" excuses
    Moodle      grade/import/csv/classes/load_data.php (Grades, Import, CSV file): one column says who, and must be
                filled in every line, as a line without it would go to the student above; "-" is no grade
    Gradescope  reads no table of points that we know of; the columns are those of its own export
"""

from collections.abc import Iterable
from pathlib import Path

from lmbook_grader.course.gradebook import Entry, Graded, Line, brief, rounded
from lmbook_grader.course.policy import Policy
from lmbook_grader.intake.roster import Roster
from lmbook_grader.report.lms_csv import GRADESCOPE, POSSIBLE, canvas_identity, gradescope_identity
from lmbook_grader.report.results import number as plain
from lmbook_grader.spreadsheet import write_csv

KINDS = ("canvas", "moodle", "gradescope")


def headings(policy: Policy, course: dict[str, Graded]) -> dict[str, str]:
    """Number of a homework -> its column in a learning system."""
    return {number: policy.tasks[number].column or graded.title for number, graded in course.items()}


def write_gradebook(policy: Policy, course: dict[str, Graded], lines: list[Line], path: Path) -> None:
    """Every student with every homework: points, days late and what came of them; the total."""
    rows = []
    for line in lines:
        row = {"id": line.student.id, "name": line.student.name, "email": line.student.email}
        for number, entry in line.entries.items():
            row |= {f"{number} {key}": value for key, value in _cells(entry, policy).items()}
        total = "" if line.total is None else rounded(line.total, policy.decimals)
        rows.append(row | {"late days left": str(line.left), "total": total})
    columns = ["id", "name", "email"]
    columns += [f"{number} {key}" for number in course for key in _cells(Entry("", ""), policy)]
    write_csv(rows, [*columns, "late days left", "total"], path)


def _cells(entry: Entry, policy: Policy) -> dict[str, str]:
    return {
        "points": brief(entry.points), "max": plain(entry.most),
        "days late": str(entry.days), "free days": str(entry.free),
        "counts": brief(entry.worth), "state": "dropped" if entry.dropped else entry.status,
    }  # fmt: skip


def write_system(
    kind: str, policy: Policy, course: dict[str, Graded], lines: list[Line], roster: Roster, path: Path
) -> list[str]:
    """Writes the points that count for `kind`; returns the students whom it can find by their names only.

    The total has a column where the policy names one: a system would take any other heading for a homework more.
    """
    named, most = headings(policy, course), {number: graded.most for number, graded in course.items()}
    if kind == "canvas":
        head, identity = canvas_identity(roster)
        rows = [{head[0]: POSSIBLE} | {named[number]: plain(most[number]) for number in course} | _total(policy, "100")]
        rows += [identity(line.student) | _points(line, named, policy, "", "EX") for line in lines]
        columns = [*head, *named.values(), *_total(policy, "")]
    elif kind == "moodle":
        # A person's own column has to be filled for everybody.
        mail = all(line.student.email for line in lines)
        columns = ["ID number", *["Email address"] * mail, *named.values(), *_total(policy, "")]
        rows = [
            {"ID number": line.student.id, "Email address": line.student.email} | _points(line, named, policy, "-", "-")
            for line in lines
        ]
    else:
        full = [heading for title in named.values() for heading in (title, f"{title} - Max Points")]
        columns = [*GRADESCOPE, *full, *_total(policy, "")]
        rows = [
            gradescope_identity(line.student)
            | _points(line, named, policy, "", "")
            | {f"{title} - Max Points": plain(most[number]) for number, title in named.items()}
            for line in lines
        ]
    known = {text for student in roster for text in (student.id, student.login, student.email)}
    write_csv(rows, columns, path, mark=False, ids={*known, "-"})
    return [line.student.id for line in lines if kind == "canvas" and not _in_canvas(line, roster)]


def _in_canvas(line: Line, roster: Roster) -> bool:
    """Whether Canvas can find a student by anything but the name."""
    _, identity = canvas_identity(roster)
    return any(identity(line.student).get(key) for key in ("ID", "SIS User ID", "SIS Login ID"))


def _points(line: Line, named: dict[str, str], policy: Policy, none: str, excused: str) -> dict[str, str]:
    cells = {named[number]: _shown(entry, none, excused) for number, entry in line.entries.items()}
    return cells | _total(policy, none if line.total is None else rounded(line.total, policy.decimals))


def _total(policy: Policy, value: str) -> dict[str, str]:
    return {policy.total: value} if policy.total else {}


def _shown(entry: Entry, none: str, excused: str) -> str:
    return excused if entry.status == "excused" else brief(entry.worth) or none


def sections(lines: Iterable[Line]) -> dict[str, list[Line]]:
    """The lines by section of the class, where the roster has a column for it."""
    found: dict[str, list[Line]] = {}
    for line in lines:
        own = {key.casefold(): value for key, value in line.student.row.items()}
        if name := own.get("section") or own.get("sections") or own.get("section name"):
            found.setdefault(name, []).append(line)
    return dict(sorted(found.items())) if len(found) > 1 else {}
