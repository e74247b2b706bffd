"""The roster: who is in the class, read from a CSV file that an instructor has at hand.

Understood are a plain list with the columns id, name and email, and the files that the learning systems export
(`roster_columns`).
"""

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from lmbook_grader.intake.roster_columns import NUMBERED, columns, moodle_columns, table
from lmbook_press.book import BookError

# Lines of an export that are no students: Canvas's and Google Classroom's points and dates, a system's test student.
NOBODY = {"pointspossible", "date", "points", "maxpoints", "studenttest", "teststudent"}
STAFF = re.compile(
    r"instructor|teacher|assistant|\bta\b|grader|reader|staff|observer|designer|admin|preview", re.IGNORECASE
)
NAME = re.compile(r"[\w@.+-][\w@.+ -]*")


@dataclass(frozen=True)
class Student:
    """id names files and results; canvas and moodle are the numbers those systems put into file names.

    group: the group or team that hands in for all of its members, "" for none.
    """

    id: str
    name: str = ""
    email: str = ""
    login: str = ""
    canvas: str = ""
    moodle: str = ""
    group: str = ""
    row: dict = field(default_factory=dict, compare=False, repr=False)  # the line as the file has it

    @property
    def sure(self) -> set[str]:
        """The names that mean this student and nobody else, in lower case."""
        return {self.id.lower()} | {key.lower() for key in (self.email, self.login) if len(key) > 1}

    @property
    def keys(self) -> set[str]:
        """The names that may mean this student as the whole name of a folder or file."""
        return self.sure | {key.lower() for key in [self.email.split("@")[0]] if len(key) > 1}


def letters(text: str) -> str:
    """Lower-case letters and digits alone, accents taken off: "Doe, Zoë" -> "doezoe"."""
    plain = unicodedata.normalize("NFKD", text).casefold()
    return "".join(sign for sign in plain if sign.isalnum())


class Roster:
    """The students of a class in the order of the file; `roster[id]` is one of them."""

    def __init__(self, students: list[Student], columns: list[str] = (), moodle: tuple[str, str] = ("", "")):
        """columns: the file's headings, in which scores go back.  moodle: a worksheet's for grade and feedback."""
        self.students, self.moodle = students, moodle
        self.columns = list(columns)
        self._by_id = {student.id: student for student in students}
        self._by_name: dict[str, list[Student]] = {}
        for student in students:
            for spelling in _spellings(student.name):
                self._by_name.setdefault(spelling, []).append(student)
        self._tables: dict[str, dict[str, list[Student]]] = {}

    def __iter__(self) -> Iterator[Student]:
        return iter(self.students)

    def __len__(self) -> int:
        return len(self.students)

    def __contains__(self, student: str) -> bool:
        return student in self._by_id

    def __getitem__(self, student: str) -> Student:
        return self._by_id[student]

    def named(self, name: str) -> list[Student]:
        """The students whose name has these letters, family name first or last."""
        return self._by_name.get(letters(name), []) if letters(name) else []

    def team(self, name: str) -> list[Student]:
        """The members of the group of this name; a bare number is no name, as folders of a course have such."""
        return self.having("group", name) if any(sign.isalpha() for sign in name) else []

    def table(self, kind: str) -> dict[str, list[Student]]:
        """What stands in a field, or in `keys` or `sure`, in lower case -> whose it is.

        Made once: every file of a class is looked up in it.
        """
        if kind not in self._tables:
            made = self._tables[kind] = {}
            for student in self:
                held = getattr(student, kind)
                for value in held if isinstance(held, set) else {held.lower()} - {""}:
                    made.setdefault(value, []).append(student)
        return self._tables[kind]

    @cached_property
    def lengths(self) -> set[int]:
        """Of the names in the table `sure`."""
        return {len(name) for name in self.table("sure")}

    def having(self, kind: str, value: str) -> list[Student]:
        """The students whose field `kind` (id, email, login, canvas, moodle, group) is `value`, whatever the case."""
        return self.table(kind).get(value.strip().lower(), [])


def _spellings(name: str) -> set[str]:
    """Letters of a name in both orders: "Ann B. Lee" as annblee and leeannb; "Lee, Ann" likewise."""
    if "," in name:
        last, first = (letters(part) for part in name.split(",", 1))
        return {last + first, first + last}
    words = name.split()
    both = {letters(name)}
    both |= {letters("".join(words[cut:] + words[:cut])) for cut in range(1, len(words))}
    return both


def read_roster(path: str | Path) -> Roster:
    """The roster in a CSV file.  Raises BookError, naming file, line and remedy, for one that cannot be used.

    Lines that are not students are left out: those without a name and an id, what a system adds (NOBODY), and staff
    where a column says who is.  An id is the first of the columns for it that is filled.
    """
    path = Path(path)
    if not path.is_file():
        raise BookError(f"{path} is not there: --roster wants a CSV file with the columns id, name and email.")
    headings, lines = table(path)
    rows = [row for _, row in lines]
    where = columns(headings, [row for row in rows if any(row.values())])
    named = where["name"] or where["last"] or where["moodle"]
    if not where["id"] or not named:
        missing = "an id" if not where["id"] else "a name"
        raise BookError(
            f"{path} has no column for {missing}; it has {', '.join(headings)}. Name them id, name and email."
        )
    students, known = [], {}
    for number, row in lines:
        student = _student(row, where)
        if student is None:
            continue
        if not student.id:
            wanted = " or ".join(where["id"])
            raise BookError(f"{path}, line {number}: {student.name} has no {wanted}; every student needs one.")
        if not NAME.fullmatch(student.id) or set(student.id) <= {"."}:
            raise BookError(
                f"{path}, line {number}: the id {student.id!r} cannot name a file; use letters, digits, . _ -"
            )
        if student.id.lower() in known:
            other = known[student.id.lower()]
            raise BookError(f"{path}, line {number}: the id {student.id} is also in line {other}; each needs its own.")
        known[student.id.lower()] = number
        students.append(student)
    if not students:
        raise BookError(f"{path} has no student: it needs a first line with the columns' names, then one line each.")
    return Roster(students, headings, moodle_columns(headings, rows) if where["moodle"] else ("", ""))


def _student(row: dict[str, str], where: dict[str, list[str]]) -> Student | None:
    def get(what: str) -> str:
        return next((row[column] for column in where[what] if row.get(column)), "")

    def number(column: str) -> str:
        found = NUMBERED.fullmatch(row.get(column, "")) if column in where["moodle"] else None
        return found[2] if found else row.get(column, "").removeprefix("#").strip()

    name = get("name") or f"{get('first')} {get('last')}".strip()
    identity = next((text for text in map(number, where["id"]) if text), "")
    if (not name and not identity) or letters(name) in NOBODY or STAFF.search(get("role")):
        return None
    if identity.endswith("_previewuser"):  # Blackboard's
        return None
    moodle = next(map(number, where["moodle"]), "")
    return Student(identity, name, get("email"), get("login"), get("canvas"), moodle, get("group"), row)
