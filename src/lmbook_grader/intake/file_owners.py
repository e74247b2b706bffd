"""Whose file is it?  What the learning systems write into the names of downloaded files, read back.

    Canvas      doeann_12345_67890_homework-1.ipynb, doeann_LATE_12345_67890_homework.ipynb
                (name, Canvas's number of the student, number of the upload, file, count of the resubmission)
    Moodle      Ann Doe_54321_assignsubmission_file/homework.ipynb, or the same with _ for /
    Gradescope  submission_98765/homework.ipynb, beside submission_metadata.yml
    nbgrader    ann/01-chain-rule/homework.ipynb; and files or folders that bear a student's id or email

Where the system wrote a name, only that part counts: what students call their files may hold anything.
"""

import re
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path, PurePosixPath

from lmbook_grader.intake.roster import Roster, Student

CANVAS = re.compile(r"(?P<name>[^_/]+)_(?P<late>LATE_)?(?P<user>\d+)_(?P<upload>\d+)_(?P<file>[^/]+)", re.IGNORECASE)
MOODLE = re.compile(r"(?P<name>[^_/]+)_(?P<user>\d+)_assignsubmission_file_?(?P<file>[^/]*)")
GRADESCOPE = re.compile(r"submission_(?P<number>\d+)")
RESUBMITTED = re.compile(r"-(\d+)(?=\.ipynb)")


@dataclass(frozen=True)
class Owner:
    """Whose file it is (None: nobody could be told, `why` says so) and what its name says of the time.

    order: the system's own count, larger is newer, comparable between files of one student and one system.
    """

    student: Student | None
    why: str = ""
    late: bool = False
    order: tuple = ()


LARGEST = 20 * 2**20  # bytes of submission_metadata.yml
MOST_ALIASES = 10_000


def gradescope_owners(folder: Path) -> dict[str, dict]:
    """Folder name -> what Gradescope's submission_metadata.yml says of it; nothing without that file.

    It is looked for in the folder itself, and in its one sub-folder where there is nothing else: what lies deeper was
    written by students, who would say whose work is whose.
    """
    path = folder / "submission_metadata.yml"
    if not path.is_file():
        inside = [one for one in folder.iterdir() if not one.name.startswith((".", "__"))]
        alone = len(inside) == 1 and inside[0].is_dir() and not inside[0].is_symlink()
        if not alone or GRADESCOPE.fullmatch(inside[0].name):
            return {}
        path = inside[0] / path.name
    if not path.is_file() or path.is_symlink() or path.stat().st_size > LARGEST:
        return {}
    import yaml

    class Loader(yaml.SafeLoader):
        """Ruby's own types are read as the plain values they stand for; nothing is merged, which may grow for ever."""

        aliases = 0

        def compose_node(self, parent, index):
            self.aliases += self.check_event(yaml.AliasEvent)
            if self.aliases > MOST_ALIASES:
                raise yaml.YAMLError("too many aliases")
            return super().compose_node(parent, index)

        def flatten_mapping(self, node):
            node.value = [(key, value) for key, value in node.value if key.tag != "tag:yaml.org,2002:merge"]

    def plain(loader, suffix, node):
        if isinstance(node, yaml.ScalarNode):
            return loader.construct_scalar(node)
        kind = loader.construct_mapping if isinstance(node, yaml.MappingNode) else loader.construct_sequence
        return kind(node, deep=True)

    Loader.add_multi_constructor("!", plain)
    try:
        table = yaml.load(path.read_text(encoding="utf-8"), Loader)
    except (yaml.YAMLError, ValueError, TypeError, RecursionError):
        return {}
    return (
        {str(key): value for key, value in table.items() if isinstance(value, dict)} if isinstance(table, dict) else {}
    )


def owner(relative: PurePosixPath, roster: Roster, gradescope: dict[str, dict]) -> Owner:
    """Whose the file is at this path below the folder of submissions.

    The outermost part that names somebody counts: what lies inside a student's own folder is called what they like.
    """
    for part in relative.parts[:-1]:
        if GRADESCOPE.fullmatch(part):
            return _of_gradescope(part, roster, gradescope.get(part))
        if match := MOODLE.fullmatch(part):
            return _of_moodle(match, roster)
        if len(found := [student for student in roster if part.lower() in student.keys]) == 1:
            return Owner(found[0])
    if match := MOODLE.fullmatch(relative.name):
        return _of_moodle(match, roster)
    if match := CANVAS.fullmatch(relative.name):
        return _of_canvas(match, roster)
    return _of_anything(relative, roster)


def _one(found: list[Student], said: str) -> Owner:
    if len(found) == 1:
        return Owner(found[0])
    if found:
        return Owner(None, f"{said} fits {len(found)} students: {', '.join(student.id for student in found)}")
    return Owner(None, f"{said} fits nobody in the roster")


def _by_number_or_name(kind: str, number: str, name: str, roster: Roster, said: str) -> Owner:
    """By the system's number where the roster has such numbers, else by the whole name; never against each other."""
    numbered = roster.having(kind, number) or roster.having("id", number)
    named = roster.named(name)
    if len(numbered) == 1 and named and numbered[0] not in named:
        return Owner(None, f"{said}: the number is {numbered[0].id}'s, the name is {named[0].id}'s")
    return _one(numbered or named, said)


def _of_canvas(match: re.Match, roster: Roster) -> Owner:
    said = f"Canvas's mark {match['name']}_{match['user']}"
    found = _by_number_or_name("canvas", match["user"], match["name"], roster, said)
    again = RESUBMITTED.search(match["file"])
    order = ("canvas", int(match["upload"]), int(again[1]) if again else 0)
    return Owner(found.student, found.why, bool(match["late"]), order)


def _of_moodle(match: re.Match, roster: Roster) -> Owner:
    return _by_number_or_name(
        "moodle", match["user"], match["name"], roster, f"Moodle's mark {match['name']}_{match['user']}"
    )


def _of_gradescope(part: str, roster: Roster, entry: dict | None) -> Owner:
    if entry is None:
        return Owner(None, f"submission_metadata.yml says nothing of {part}: keep that file beside the folders")
    people = entry.get(":submitters") or entry.get("submitters")
    people = [
        {str(key).lstrip(":"): str(value) for key, value in one.items() if isinstance(value, str | int)}
        for one in (people if isinstance(people, list) else [])
        if isinstance(one, dict)
    ]
    if len(people) != 1:
        return Owner(None, f"{part} was handed in by {len(people)} people; a homework is handed in by one")
    one = people[0]
    found = roster.having("id", one.get("sid", "")) or roster.having("email", one.get("email", ""))
    result = _one(found or roster.named(one.get("name", "")), f"{part} of {one.get('name') or 'somebody'}")
    made = entry.get(":created_at") or entry.get("created_at")
    stamp = made.timestamp() if isinstance(made, datetime) else 0.0
    return Owner(result.student, result.why, False, ("gradescope", stamp, int(part.split("_")[1])) if stamp else ())


def _of_anything(relative: PurePosixPath, roster: Roster) -> Owner:
    """A whole id or email in the file's name, with no letter or digit right before or after it.

    An id of one letter has to be all of the name: "exercise a.ipynb" need not be a's.
    A longer one counts before those that are part of it: "ann-marie.ipynb" is ann-marie's, not ann's.
    """
    name, places = relative.name.lower(), []
    for student in roster:
        sure = student.keys & {student.id.lower(), student.email.lower(), student.login.lower()}
        for key in sure:
            if len(key) == 1 and key != name.partition(".")[0]:
                continue
            where = re.finditer(rf"(?<![a-z0-9]){re.escape(key)}(?![a-z0-9])", name)
            places += [(match.start(), match.end(), student) for match in where]
    whole = [
        student
        for start, end, student in places
        if not any(s <= start and end <= e and e - s > end - start for s, e, other in places if other is not student)
    ]
    return _one(list({student.id: student for student in whole}.values()), "the name")
