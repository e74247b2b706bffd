"""One gradebook for all homeworks: points after lateness, late days, what is dropped, the total in per cent.

    share_h = points_h / most_h * max(0, 1 - penalty * days not covered / 100)
    total   = 100 * sum(weight_h * share_h) / sum(weight_h)      over what counts and is not dropped

Shares are exact fractions; only what is shown is rounded, halves up.  Free late days are used by themselves, in the
order of the homeworks' own due dates.  The weakest have the smallest shares; of equal ones that of larger weight goes
first.
"""

import csv
import io
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from math import floor
from pathlib import Path

from lmbook_grader.course.lateness import days_late, end_of_day, instant
from lmbook_grader.course.policy import Policy
from lmbook_grader.intake.collect import LATE
from lmbook_grader.intake.roster import Roster, Student
from lmbook_grader.report.feedback import name_of
from lmbook_grader.report.results import Score, marked, read_marks, read_results, results_folder, score
from lmbook_grader.spreadsheet import decoded, unguarded
from lmbook_press.assignments.questions import Homework
from lmbook_press.book import BookError

NO_TIME = "the system marks it late, but no time is known: write it into times.csv"


@dataclass(frozen=True)
class Graded:
    """A homework of the course: what was handed out, the results with people's marks, and times.csv."""

    homework: Homework
    results: dict[str, dict]
    times: dict[str, datetime]
    most: float

    @property
    def title(self) -> str:
        return name_of(self.homework.release)


@dataclass
class Entry:
    """One student's homework.  status: graded, waiting (a person has to act), missing (nothing came, the due date is
    over), open (not due yet), excused.  points: as graded; share: of `most`, after lateness.
    """

    number: str
    status: str
    why: str = ""
    points: Fraction | None = None
    most: float = 0
    share: Fraction | None = None
    days: int = 0
    free: int = 0
    dropped: bool = False

    @property
    def counts(self) -> bool:
        return self.status in ("graded", "missing")

    @property
    def worth(self) -> Fraction | None:
        """The points that count, after lateness."""
        return None if self.share is None else self.share * exact(self.most)


@dataclass
class Line:
    """One student: the homeworks by number, late days left, and the total in per cent, None while something waits."""

    student: Student
    entries: dict[str, Entry] = field(default_factory=dict)
    left: int = 0
    total: Fraction | None = None


def exact(number: float) -> Fraction:
    return Fraction(str(number))


def rounded(value: Fraction, decimals: int) -> str:
    """Halves up, with so many decimals: 89.95 -> "90.0" with one."""
    number = floor(value * 10**decimals + Fraction(1, 2))
    whole, rest = divmod(number, 10**decimals)
    return f"{whole}.{rest:0{decimals}d}" if decimals else str(whole)


def brief(value: Fraction | None) -> str:
    """Points with at most two decimals, as Canvas keeps them; "" for none."""
    text = "" if value is None else rounded(value, 2)
    return text.rstrip("0").rstrip(".") if "." in text else text


def read_course(course: Path, graded: Path, policy: Policy, roster: Roster) -> dict[str, Graded]:
    """The homeworks of the policy that have results in GRADED/NN.  Raises BookError for what does not fit together."""
    found = {}
    for number in policy.tasks:
        folder = graded / number
        if not results_folder(folder).is_dir() or not any(results_folder(folder).glob("*.json")):
            continue
        task, results = Homework.load(course / number), read_results(folder)
        if results[0]["homework"] != task.name:
            raise BookError(f"{folder} holds results of {results[0]['homework']}, not of {task.name}.")
        if strangers := [one["student"] for one in results if one["student"] not in roster]:
            raise BookError(
                f"{folder}: not in the roster: {', '.join(strangers)}. Use the roster they were graded with."
            )
        marks = folder / "marks.csv"
        results = marked(results, read_marks(marks, results) if marks.is_file() else {})
        most = max((score(one).most for one in results), default=0) or sum(one.points for one in task.questions)
        times = read_times(folder / "times.csv", roster)
        found[number] = Graded(task, {one["student"]: one for one in results}, times, most)
    if not found:
        raise BookError(f"{graded} holds no results of {', '.join(policy.tasks)}: grade first.")
    return found


def read_times(path: Path, roster: Roster) -> dict[str, datetime]:
    """times.csv: when a person says that files were handed in; columns student and submitted, ISO 8601."""
    if not path.is_file():
        return {}
    found, wrong = {}, []
    for row in csv.DictReader(io.StringIO(decoded(path), newline="")):
        student, text = (unguarded((row.get(key) or "").strip()) for key in ("student", "submitted"))
        try:
            found[student] = datetime.fromisoformat(text)
        except ValueError:
            wrong.append(f"{path}, {student or 'a line without student'}: {text!r} in the column submitted is no time "
                         "like 2026-09-14T23:59:59.")  # fmt: skip
        if student and student not in roster:
            wrong.append(f"{path}: the roster has nobody with the id {student!r}.")
    if wrong:
        raise BookError("\n".join(wrong))
    return found


def submitted(result: dict, graded: Graded, policy: Policy) -> datetime | None:
    """When a file came: as a person says, else as the system wrote, else, where the policy says so, by its own date."""
    if result["student"] in graded.times:
        return graded.times[result["student"]]
    text = result.get("when") or (result.get("file_date") if policy.files else "")
    return datetime.fromisoformat(text) if text else None


def gradebook(policy: Policy, course: dict[str, Graded], roster: Roster, now: datetime | None = None) -> list[Line]:
    """The lines of the class in the roster's order.  now: for what is due; without a zone, in the course's."""
    at = instant(now or datetime.now(UTC), policy.zone)
    first = datetime.max.replace(tzinfo=UTC)
    dates = {number: instant(due, policy.zone) if (due := policy.tasks[number].due) else first for number in course}
    lines = []
    for student in roster:
        line = Line(student, left=policy.late_days_of(student.id))
        for number in sorted(course, key=lambda number: (dates[number], number)):
            line.entries[number] = entry = _entry(student.id, number, course[number], policy, at, line.left)
            line.left -= entry.free
        line.entries = dict(sorted(line.entries.items()))
        _close(line, policy)
        lines.append(line)
    return lines


def _entry(student: str, number: str, graded: Graded, policy: Policy, at: datetime, left: int) -> Entry:
    result, due, most = graded.results.get(student), policy.due(student, number), graded.most
    if policy.excused(student, number):
        return Entry(number, "excused", most=most)
    if result is None:
        over = due is None or at > end_of_day(due, policy.latest or 0, policy.grace, policy.zone)
        return (
            Entry(number, "missing", "nothing was handed in", Fraction(0), most, Fraction(0))
            if over
            else Entry(number, "open", "not due yet", most=most)
        )
    got: Score = score(result)
    when = submitted(result, graded, policy)
    days = days_late(when, due, policy.grace, policy.zone) if when and due else 0
    marked_late = result.get("marked_late") or LATE in result["notes"]
    too_late = policy.latest is not None and days > policy.latest
    free = 0 if too_late else min(days, left, policy.late_days_each)
    if got.points is None:
        return Entry(number, "waiting", ", ".join(got.waiting), most=most, days=days, free=free)
    if marked_late and due and when is None:
        return Entry(number, "waiting", NO_TIME, exact(got.points), most)
    if too_late:
        why = f"{days} days late; after {policy.latest} nothing counts"
        return Entry(number, "graded", why, exact(got.points), most, Fraction(0), days)
    kept = max(Fraction(0), 1 - exact(policy.penalty) * (days - free) / 100)
    share = exact(got.points) / exact(got.most) * kept if got.most else Fraction(0)
    return Entry(number, "graded", "", exact(got.points), most, share, days, free)


def _close(line: Line, policy: Policy) -> None:
    """Marks what is dropped and sets the total."""
    counting = [entry for entry in line.entries.values() if entry.counts]
    weight = {number: exact(policy.tasks[number].weight) for number in line.entries}
    weakest = sorted(counting, key=lambda one: (one.share, -weight[one.number], one.number))
    for entry in weakest[: min(policy.drop, len(counting) - 1)] if counting else []:
        entry.dropped = True
    kept = [entry for entry in counting if not entry.dropped]
    whole = sum(weight[entry.number] for entry in kept)
    if whole and not any(entry.status == "waiting" for entry in line.entries.values()):
        line.total = 100 * sum(weight[entry.number] * entry.share for entry in kept) / whole


def waiting(lines: Iterable[Line]) -> list[str]:
    """What a person has to do before every total stands, a sentence each."""
    found: dict[tuple[str, str], list[str]] = {}
    for line in lines:
        for entry in line.entries.values():
            if entry.status == "waiting":
                found.setdefault((entry.number, entry.why), []).append(line.student.id)
    return [f"Homework {number}, {', '.join(who)}: {why}" for (number, why), who in found.items()]


def last_call(policy: Policy, number: str, student: str) -> datetime | None:
    """The last second, in UTC, at which this student's file is in time."""
    due = policy.due(student, number)
    return None if due is None else end_of_day(due, 0, policy.grace, policy.zone)


def in_words(policy: Policy) -> str:
    """The rules in one paragraph, for the page."""
    parts = [f"Times are those of {policy.zone}."]
    if policy.grace > timedelta():
        parts.append(f"A grace of {policy.grace} (h:mm:ss) follows every due date.")
    if any(task.due for task in policy.tasks.values()):
        free = f", {policy.late_days_each} at most for one homework" if policy.late_days_each < policy.late_days else ""
        parts.append(
            f"Free late days: {policy.late_days} a student{free}; any other costs {policy.penalty:g} % of the points."
        )
        if policy.latest is not None:
            parts.append(f"After {policy.latest} late days a file counts no more.")
    if policy.drop:
        parts.append(
            f"The weakest {policy.drop} do not count." if policy.drop > 1 else "The weakest one does not count."
        )
    return " ".join(parts)
