"""The rules of a course as a file, COURSE/course.toml.

timezone = "Europe/Berlin"          of all times that name none of their own
grace = "10 min"                    after a due date and after each late day
penalty = 10                        per cent of the points for each late day that no free one covers
late_days = 4                       free ones of a student in the whole course
late_days_each = 2                  at most so many for one homework (default: late_days)
latest = 5                          days after which a file counts no more (default: none)
drop = 2                            the weakest homeworks that do not count
decimals = 1                        of the total in per cent
times = "system"                    or "files": where no system says when, the date of the file counts
total = "Course (4799)"             the total's column in the learning system (default: it has none)

[homework.01]
due = 2026-09-14T23:59:59
weight = 1
column = "Homework 1 (4711)"        its column in the learning system (default: its title)

[student.ann]
due = { 01 = 2026-09-17T23:59:59 }  extensions
late_days = 6
excused = ["02"]                    does not count
"""

import difflib
import re
import tomllib
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from datetime import date, datetime, time, timedelta
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

from lmbook_grader.course.lateness import exists, instant
from lmbook_grader.intake.roster import Roster
from lmbook_grader.report.lms_csv import not_a_column
from lmbook_press.book import BookError

NAME = "course.toml"
UNITS = {"s": 1, "min": 60, "h": 3600, "d": 86400}
DURATION = re.compile(r"(\d+) ?(s|min|h|d)")
COURSE = ("timezone", "grace", "penalty", "late_days", "late_days_each", "latest", "drop", "decimals", "times", "total")
HOMEWORK = ("due", "weight", "column")
STUDENT = ("due", "late_days", "excused")


@dataclass(frozen=True)
class Task:
    """A homework's rules.  due: None where it has no date, so that nothing is late."""

    due: datetime | None
    weight: float = 1
    column: str = ""


@dataclass(frozen=True)
class Policy:
    """The rules; `due`, `late_days_of` and `excused` answer for one student."""

    zone: ZoneInfo
    tasks: dict[str, Task]
    grace: timedelta = timedelta()
    penalty: float = 0
    late_days: int = 0
    late_days_each: int = 0
    latest: int | None = None
    drop: int = 0
    decimals: int = 1
    files: bool = False
    total: str = ""
    extensions: dict[tuple[str, str], datetime] = field(default_factory=dict)
    own_late_days: dict[str, int] = field(default_factory=dict)
    excuses: frozenset[tuple[str, str]] = frozenset()

    def due(self, student: str, number: str) -> datetime | None:
        return self.extensions.get((student, number), self.tasks[number].due)

    def late_days_of(self, student: str) -> int:
        return self.own_late_days.get(student, self.late_days)

    def excused(self, student: str, number: str) -> bool:
        return (student, number) in self.excuses


def read_policy(course: Path, roster: Roster) -> Policy:
    """COURSE/course.toml.  Raises BookError with a sentence for each key that cannot be used, with the remedy."""
    path = course / NAME
    try:
        given = tomllib.loads(path.read_bytes().decode("utf-8-sig"))
    except FileNotFoundError:
        raise BookError(f"{path} is not there: write the course's rules into it, as 'For instructors' shows.") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise BookError(f"{path} is not TOML: {error}.") from None
    there = sorted(folder.name for folder in course.iterdir() if (folder / "grading").is_dir())
    reading = _Reading(path)
    policy = reading.policy(given, there, roster)
    if reading.faults:
        raise BookError("\n".join(reading.faults))
    return policy


class _Reading:
    """Values taken from the file, and the faults found meanwhile, each with the whole name of its key."""

    def __init__(self, path: Path):
        self.path, self.faults, self.zone = path, [], ZoneInfo("UTC")

    def fault(self, key: str, said: str) -> None:
        self.faults.append(f"{self.path}, {key}: {said}")

    def policy(self, given: dict[str, Any], there: list[str], roster: Roster) -> Policy:
        self._known(given, (*COURSE, "homework", "student"), "")
        self.zone = self._zone(given.get("timezone"))
        each = given.get("late_days_each", given.get("late_days", 0))
        tasks = self._tasks(self._table(given, "homework", ""), there)
        dated = any(task.due for task in tasks.values())
        if dated and "penalty" not in given:
            said = "is missing: say how many per cent of the points a late day costs, 0 for none and 100 for all."
            self.faults.append(f"{self.path}, penalty {said}")
        extensions, own, excuses = self._students(self._table(given, "student", ""), tasks, roster)
        times = given.get("times", "system")
        if times not in ("system", "files"):
            self.fault("times", f'is {times!r}; write "system" or "files".')
        return Policy(
            zone=self.zone, tasks=tasks, grace=self._duration(given.get("grace", "0 s")),
            penalty=self._number(given.get("penalty", 0), "penalty", 0, 100),
            late_days=self._whole(given.get("late_days", 0), "late_days"),
            late_days_each=self._whole(each, "late_days_each"),
            latest=self._whole(given["latest"], "latest") if "latest" in given else None,
            drop=self._dropped(given.get("drop", 0), tasks),
            decimals=self._whole(given.get("decimals", 1), "decimals", 4), files=times == "files",
            total=self._column(given.get("total", ""), "total"),
            extensions=extensions, own_late_days=own, excuses=frozenset(excuses),
        )  # fmt: skip

    def _tasks(self, table: dict[str, Any], there: list[str]) -> dict[str, Task]:
        tasks: dict[str, Task] = {}
        if not table:
            self.fault("homework", "there is none: give each a section, like [homework.01] with a due date.")
        for number in table:
            key, entry = f"homework.{number}", self._table(table, number, "homework.")
            if number not in there:
                known = f"{self.path.parent} has {', '.join(there)}" if there else f"{self.path.parent} has none yet"
                self.fault(key, f"there is no such homework; {known}. Make it, or mend the number.")
            self._known(entry, HOMEWORK, key + ".")
            column = self._column(entry.get("column", ""), f"{key}.column")
            weight = self._number(entry.get("weight", 1), f"{key}.weight", 0, 1000)
            tasks[number] = Task(self._date(entry.get("due"), f"{key}.due"), weight, column)
        for text in sorted({task.column for task in tasks.values() if task.column}):
            same = [f"homework.{number}.column" for number, task in tasks.items() if task.column == text]
            if len(same) > 1:
                self.fault(" and ".join(same), f"both are {text!r}; each homework needs a column of its own.")
        if tasks and not self.faults and not any(task.weight for task in tasks.values()):
            self.fault("homework", "all weights are 0; one at least has to count.")
        return dict(sorted(tasks.items()))

    def _students(self, table: dict[str, Any], tasks: dict[str, Task], roster: Roster) -> tuple[dict, dict, set]:
        extensions: dict[tuple[str, str], datetime] = {}
        own: dict[str, int] = {}
        excuses: set[tuple[str, str]] = set()
        for student in table:
            key, entry = f"student.{student}", self._table(table, student, "student.")
            if student not in roster:
                known = [one.id for one in roster]
                self.fault(key, f"the roster has nobody with this id{_near(student, known)} An id with a dot needs "
                           'quotation marks: [student."ann.doe"].')  # fmt: skip
            self._known(entry, STUDENT, key + ".")
            if "late_days" in entry:
                own[student] = self._whole(entry["late_days"], f"{key}.late_days")
            for number, value in self._table(entry, "due", key + ".").items():
                where = f"{key}.due.{number}"
                moment = self._date(value, where)
                if self._homework(number, where, tasks) and moment:
                    first = tasks[number].due
                    if first is None or instant(moment, self.zone) < instant(first, self.zone):
                        self.fault(where, f"is no extension: homework {number} is due {first or 'at no date'}.")
                    extensions[student, number] = moment
            excused = entry.get("excused", [])
            if not (isinstance(excused, list) and all(isinstance(one, str) for one in excused)):
                self.fault(f"{key}.excused", f'is {excused!r}; write a list of numbers in quotation marks, ["02"].')
                continue
            excuses |= {(student, one) for one in excused if self._homework(one, f"{key}.excused", tasks)}
        return extensions, own, excuses

    def _homework(self, number: str, key: str, tasks: Collection[str]) -> bool:
        if number not in tasks:
            self.fault(key, f"there is no homework {number} in this file{_near(number, tasks)}")
        return number in tasks

    def _known(self, table: dict[str, Any], names: tuple[str, ...], before: str) -> None:
        for key in table:
            if key not in names:
                self.fault(before + key, f"is no key{_near(key, names)} There are {', '.join(names)}.")

    def _table(self, table: dict[str, Any], key: str, before: str) -> dict[str, Any]:
        found = table.get(key, {})
        if isinstance(found, dict):
            return found
        self.fault(before + key, f"is {found!r}; it has to be a section, [{before}{key}], with keys of its own.")
        return {}

    def _zone(self, name: object) -> ZoneInfo:
        if name is None:
            self.faults.append(f'{self.path}, timezone is missing: name the course\'s, like "Europe/Berlin" or "UTC".')
            return self.zone
        try:
            return ZoneInfo(str(name))
        except (ValueError, OSError, LookupError):  # LookupError: ZoneInfoNotFoundError
            self.fault("timezone", f'{name!r} is no time zone; write one of the IANA names, like "America/New_York".')
        return self.zone

    def _date(self, value: object, key: str) -> datetime | None:
        if value is None:
            return None
        if isinstance(value, date) and not isinstance(value, datetime):
            value = datetime.combine(value, time(23, 59, 59))
        if not isinstance(value, datetime):
            self.fault(key, f"is {value!r}; write a date without quotation marks, 2026-09-14T23:59:59.")
            return None
        if value.tzinfo is None and not exists(value.replace(microsecond=0), self.zone):
            self.fault(key, f"{value} does not exist in {self.zone}: clocks go forward then. Choose another time.")
        return value

    def _column(self, value: object, key: str) -> str:
        if not isinstance(value, str):
            self.fault(key, f"is {value!r}; write the column's heading in quotation marks.")
        elif why := not_a_column(value):
            self.fault(key, why)
        return str(value)

    def _duration(self, text: object) -> timedelta:
        found = DURATION.fullmatch(text) if isinstance(text, str) else None
        if found is None:
            self.fault("grace", f'is {text!r}; write a whole number and a unit, "30 s", "10 min", "2 h" or "1 d".')
            return timedelta()
        return timedelta(seconds=int(found[1]) * UNITS[found[2]])

    def _number(self, value: object, key: str, low: float, high: float) -> float:
        if isinstance(value, bool) or not isinstance(value, int | float) or not low <= value <= high:
            self.fault(key, f"is {value!r}; write a number from {low:g} to {high:g}.")
            return low
        return value

    def _whole(self, value: object, key: str, most: int = 1000) -> int:
        if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= most:
            self.fault(key, f"is {value!r}; write a whole number from 0 to {most}.")
            return 0
        return value

    def _dropped(self, value: object, tasks: dict[str, Task]) -> int:
        drop = self._whole(value, "drop")
        if tasks and drop >= len(tasks):
            self.fault("drop", f"is {drop}, but the file has {len(tasks)} homeworks; one at least has to count.")
        return drop


def _near(name: str, known: Iterable[str]) -> str:
    close = difflib.get_close_matches(name, list(known), 1)
    return f"; do you mean {close[0]}?" if close else "."
