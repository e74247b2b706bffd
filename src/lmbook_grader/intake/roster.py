"""The roster: who is in the class, read from a CSV file that an instructor has at hand.

Understood are a plain list with the columns id, name and email, and the files that the learning systems export:
Canvas's gradebook (Student, ID, SIS User ID, SIS Login ID, Section), Moodle's grading worksheet (Identifier, Full name,
Email address) and Gradescope's roster (First Name, Last Name, SID, Email).
"""

import csv
import io
import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from lmbook_press.book import BookError

# Names a column may have, by what it holds; the first that is there counts.
COLUMNS = {
    "id": ("id", "student id", "sid", "sis user id", "id number", "student number", "identifier"),
    "name": ("name", "full name", "student", "student name"),
    "first": ("first name", "given name"),
    "last": ("last name", "surname", "family name"),
    "email": ("email", "e-mail", "email address", "e-mail address"),
    "login": ("login", "sis login id", "username"),
    "canvas": ("canvas id", "canvas"),
    "moodle": ("moodle id", "moodle", "identifier"),
}


@dataclass(frozen=True)
class Student:
    """id names files and results; canvas and moodle are the numbers those systems put into file names."""

    id: str
    name: str = ""
    email: str = ""
    login: str = ""
    canvas: str = ""
    moodle: str = ""
    row: dict = field(default_factory=dict, compare=False, repr=False)  # the line as the file has it

    @property
    def keys(self) -> set[str]:
        """The names that may mean this student in a folder's or file's name, in lower case."""
        others = {key.lower() for key in (self.email, self.login, self.email.split("@")[0]) if len(key) > 1}
        return others | {self.id.lower()}


def letters(text: str) -> str:
    """Lower-case letters and digits alone, accents taken off: "Doe, Zoë" -> "doezoe"."""
    plain = unicodedata.normalize("NFKD", text).casefold()
    return "".join(sign for sign in plain if sign.isalnum())


class Roster:
    """The students of a class in the order of the file; `roster[id]` is one of them."""

    def __init__(self, students: list[Student], columns: list[str] = ()):
        self.students = students
        self.columns = list(columns)
        self._by_id = {student.id: student for student in students}

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
        wanted = letters(name)
        return [student for student in self if wanted and wanted in _spellings(student.name)]

    def having(self, kind: str, value: str) -> list[Student]:
        """The students whose field `kind` (id, email, login, canvas, moodle) is `value`, whatever the case."""
        wanted = value.strip().lower()
        return [student for student in self if wanted and getattr(student, kind).lower() == wanted]


def _spellings(name: str) -> set[str]:
    """Letters of a name in both orders: "Ann B. Lee" as annblee and leeannb; "Lee, Ann" likewise."""
    if "," in name:
        last, first = (letters(part) for part in name.split(",", 1))
        return {last + first, first + last}
    words = name.split()
    both = {letters(name)}
    both |= {letters("".join(words[cut:] + words[:cut])) for cut in range(1, len(words))}
    return both


def _table(path: Path) -> list[dict[str, str]]:
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise BookError(f"{path} is not UTF-8 text (byte {error.start}): save it as 'CSV UTF-8'.") from error
    first = text.split("\n", 1)[0]
    mark = max(",;\t", key=first.count)
    rows = list(csv.DictReader(io.StringIO(text, newline=""), delimiter=mark))
    if not rows:
        raise BookError(f"{path} has no student: it needs a first line with the columns' names, then one line each.")
    if not any(len(row) > 1 for row in rows):
        raise BookError(f"{path} has one column only; it needs at least id and name, with commas between them.")
    return [{(key or "").strip(): (value or "").strip() for key, value in row.items() if key} for row in rows]


def read_roster(path: str | Path) -> Roster:
    """The roster in a CSV file.  Raises BookError, naming file, line and remedy, for one that cannot be used.

    Lines that are not students are left out: Canvas's "Points Possible" and "Test Student" lines, and empty ones.
    """
    path = Path(path)
    if not path.is_file():
        raise BookError(f"{path} is not there: --roster wants a CSV file with the columns id, name and email.")
    rows = _table(path)
    found = {column.lower(): column for column in rows[0]}
    where = {what: next((found[name] for name in names if name in found), None) for what, names in COLUMNS.items()}
    if "sis login id" in found:  # Canvas: "ID" is its own number, the school's is "SIS User ID"
        where |= {"canvas": found.get("id"), "id": found.get("sis user id") or found["sis login id"]}
    if not where["id"] or not (where["name"] or where["last"]):
        missing = "an id" if not where["id"] else "a name"
        raise BookError(
            f"{path} has no column for {missing}; it has {', '.join(rows[0])}. Name them id, name and email."
        )
    students, lines = [], {}
    for number, row in enumerate(rows, start=2):
        student = _student(row, where)
        if student is None:
            continue
        if not student.id:
            raise BookError(f"{path}, line {number}: {student.name} has no {where['id']}; every student needs one.")
        if not re.fullmatch(r"[\w@.+-][\w@.+ -]*", student.id) or set(student.id) <= {"."}:
            raise BookError(
                f"{path}, line {number}: the id {student.id!r} cannot name a file; use letters, digits, . _ -"
            )
        if student.id.lower() in lines:
            other = lines[student.id.lower()]
            raise BookError(f"{path}, line {number}: the id {student.id} is also in line {other}; each needs its own.")
        lines[student.id.lower()] = number
        students.append(student)
    return Roster(students, list(rows[0]))


def _student(row: dict[str, str], where: dict[str, str | None]) -> Student | None:
    def get(what: str) -> str:
        return row.get(where[what] or "", "")

    name = get("name") or f"{get('first')} {get('last')}".strip()
    if not any(row.values()) or name in ("Points Possible", "Student, Test", "Test Student"):
        return None
    moodle = get("moodle").removeprefix("Participant ").strip()
    identity = get("id").removeprefix("Participant ").strip()
    return Student(identity, name, get("email"), get("login"), get("canvas"), moodle, row)
