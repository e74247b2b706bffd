"""A roster's table and what its columns hold, found by their headings, or, in another language, by what is in them.

The forms that this reads, each from the program that writes it:

    Canvas      lib/gradebook_exporter.rb: Student, or LastName and FirstName; ID; SIS User ID, SIS Login ID, ... up to
                Section; then lines that are no students: one with "Manual Posting" somewhere, "Points Possible",
                and the test student
    Moodle      mod/assign/gradingtable.php and feedback/offline/importgradeslib.php: an identifier that is one word of
                the language and a number ("Participant 54321"), the name except where marking is blind, other fields,
                status, grade, maximum grade, ..., feedback; read back by the same headings
    GitHub      Classroom's roster: identifier, github_username, github_id, name
    others      D2L (OrgDefinedId, "#12345"), Blackboard (tabs, UTF-16), Sakai, Google Classroom, Gradescope
"""

import csv
import io
import re
from itertools import pairwise
from pathlib import Path

from lmbook_grader.spreadsheet import decoded, unguarded
from lmbook_press.book import BookError

# Headings a column may have, by what it holds; where several are there, the first that is filled in a line counts.
HEADINGS = {
    "id": (
        "id", "student id", "sid", "sis user id", "orgdefinedid", "id number", "student number", "sis login id",
        "identifier", "username", "user name", "login", "github_username", "email", "e-mail", "email address",
        "e-mail address",
    ),
    "name": ("name", "full name", "student", "student name"),
    "first": ("first name", "firstname", "given name"),
    "last": ("last name", "lastname", "surname", "family name"),
    "email": ("email", "e-mail", "email address", "e-mail address"),
    "login": ("login", "sis login id", "username", "user name", "github_username", "github username", "github"),
    "canvas": ("canvas id", "canvas"),
    "moodle": ("moodle id", "moodle", "identifier"),
    "group": ("group", "groups", "group name", "team", "group_name", "team_name"),
    "role": ("role", "course role", "roles"),
}  # fmt: skip
KNOWN = {heading for headings in HEADINGS.values() for heading in headings}
QUOTED = re.compile(
    r'="(.*)"'
)  # as spreadsheets keep a number from being rounded, and Canvas a name that begins with =
NUMBERED = re.compile(r"(\D*?)\s*(\d+)")


def table(path: Path) -> tuple[list[str], list[tuple[int, dict[str, str]]]]:
    """The headings of a CSV file, and of each line below them its number and its cells."""
    lines = decoded(path).splitlines(keepends=True)
    mark = re.fullmatch(r"\ufeff?sep=(.)\s*", lines[0]) if lines else None  # Excel's own line
    head = next((line for line in lines[:10] if KNOWN & set(re.split(r'[",;\t\s]{1,3}', line.casefold()))), "")
    delimiter = mark[1] if mark else max(",;\t", key=(head or (lines or [""])[0]).count)
    rows, number = [], 0
    reader = csv.reader(io.StringIO("".join(lines[1:] if mark else lines), newline=""), delimiter=delimiter)
    for row in reader:
        number = reader.line_num + bool(mark)
        rows.append((number, [_cell(text) for text in row]))
    at = next((at for at, (_, row) in enumerate(rows[:10]) if len(KNOWN & {cell.casefold() for cell in row}) > 1), 0)
    if len(rows) < at + 2:
        raise BookError(f"{path} has no student: it needs a first line with the columns' names, then one line each.")
    headings = rows[at][1]
    if len(headings) < 2:
        raise BookError(f"{path} has one column only; it needs at least id and name, with commas between them.")
    found = []
    for number, row in rows[at + 1 :]:
        cells: dict[str, str] = {}
        for heading, cell in zip(headings, row, strict=False):
            cells[heading] = cells.get(heading) or cell
        found.append((number, {key: value for key, value in cells.items() if key}))
    return [heading for heading in dict.fromkeys(headings) if heading], found


def _cell(text: str) -> str:
    text = text.strip()
    if quoted := QUOTED.fullmatch(text):
        text = quoted[1].strip()
    return unguarded(text)


def columns(headings: list[str], rows: list[dict[str, str]]) -> dict[str, list[str]]:
    """What is held -> the columns that hold it, the best first."""
    there = {heading.casefold(): heading for heading in reversed(headings)}
    where = {what: [there[name] for name in names if name in there] for what, names in HEADINGS.items()}
    if "sis login id" in there:  # Canvas: "ID" is its own number, the school's is "SIS User ID"
        own = [there["id"]] if "id" in there else []
        where |= {"canvas": own, "id": [name for name in where["id"] if name not in own] + own}
    if "github_username" in there:  # GitHub: "identifier" is the school's
        where |= {"moodle": []}
    if not where["id"] or not (where["name"] or where["last"] or "identifier" in there):
        where = _by_content(headings, rows, where)
    return where


def _by_content(headings: list[str], rows: list[dict[str, str]], where: dict[str, list[str]]) -> dict[str, list[str]]:
    """Moodle's columns in any language: an identifier is a word, the same in all lines, and a number of the line's."""
    held = {heading: [row.get(heading, "") for row in rows] for heading in headings}
    number = next((heading for heading in headings if _identifies(held[heading])), None)
    if number is None:
        return where
    email = [
        heading for heading in headings if held[heading] and all("@" in text for text in filter(None, held[heading]))
    ]
    email = [heading for heading in email if any(held[heading])]
    after = headings[headings.index(number) + 1 :][:1]
    # Where marking is blind, what follows the identifier is the status, which many share.
    named = [
        heading for heading in after if len(set(held[heading])) > len(rows) / 2 and not any(map(_odd, held[heading]))
    ]
    return where | {
        "id": [*where["id"], number, *email],
        "moodle": [number],
        "name": named,
        "email": email or where["email"],
    }


def _identifies(texts: list[str]) -> bool:
    found = [NUMBERED.fullmatch(text) for text in texts if text]
    words = {match[1] for match in found if match}
    numbers = {match[2] for match in found if match}
    return bool(found) and all(found) and len(words) == 1 and words != {""} and len(numbers) == len(found)


def _odd(name: str) -> bool:
    return "@" in name or any(sign.isdigit() for sign in name)


def moodle_columns(headings: list[str], rows: list[dict[str, str]]) -> tuple[str, str]:
    """The headings of grade and feedback in a grading worksheet, in its language."""
    there = {heading.casefold(): heading for heading in headings}
    grade, feedback = there.get("grade"), there.get("feedback comments")
    if grade is None:  # it stands right before the highest grade, which is the same number in every line
        for before, heading in pairwise(headings):
            texts = {row.get(heading, "") for row in rows}
            if len(texts) == 1 and re.fullmatch(r"\d+([.,]\d+)?", *texts):
                grade = before
        if feedback is None and grade and not any(re.search(r"\d:\d|^-$", row.get(headings[-1], "")) for row in rows):
            feedback = headings[-1]
    return grade or "Grade", feedback or "Feedback comments"
