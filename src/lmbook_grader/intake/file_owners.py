"""Whose file is it?  What the learning systems write into the names of downloaded files, read back.

    Canvas      doeann_12345_67890_homework-1.ipynb, doeann_LATE_12345_67890_homework.ipynb
                (name, Canvas's number of the student, number of the upload, file, count of the resubmission)
    Moodle      Ann Doe_54321_assignsubmission_file/homework.ipynb, or the same with _ for /; before the name may stand
                a group and a hyphen, and where marking is blind there is a word for a name
    Gradescope  submission_98765/homework.ipynb, beside submission_metadata.yml
    D2L         397063-2557369 - Ann Doe - Sep 24, 2024 926 PM/homework.ipynb, or the same with " - " for /
    Blackboard  Homework 1_ann_attempt_2026-03-01-10-30-00_homework.ipynb
    Sakai       Homework 1/Doe, Ann(ann)/Submission attachment(s)/homework.ipynb, or with _ for the last two /
                (assignment/impl/.../AssignmentServiceImpl.java)
    GitHub      homework-1-submissions/homework-1-anndoe/homework.ipynb, where the last part is the user's or the team's
                (gh-classroom, cmd/gh-classroom/clone/student-repos/student-repos.go)
    Google      Ann Doe - Homework 1.ipynb, as Classroom names the copy that it makes for each student
    nbgrader    ann/01-chain-rule/homework.ipynb; and files or folders that bear a student's id or email

Where the system wrote a name, only that part counts: what students call their files may hold anything.  Where no
system is known, a folder and the file in it may not name different people.
"""

import contextlib
import re
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path, PurePosixPath

from lmbook_grader.intake.roster import Roster, Student

CANVAS = re.compile(r"(?P<name>[^_/]+)_(?P<late>LATE_)?(?P<user>\d+)_(?P<upload>\d+)_(?P<file>[^/]+)", re.IGNORECASE)
MOODLE = re.compile(r"(?P<name>[^_/]+)_(?P<user>\d+)_assignsubmission_file_?(?P<file>[^/]*)")
GRADESCOPE = re.compile(r"submission_(?P<number>\d+)")
D2L = re.compile(r"\d+-\d+ - (?P<name>.+?) - (?P<when>[^/]*?\b\d{4}\b[^/]*?)(?: - (?P<file>.*))?")
BLACKBOARD = re.compile(r"(?P<before>.+)_attempt_(?P<when>\d{4}(?:-\d\d){5})(?:_(?P<file>.*))?")
SAKAI = re.compile(r"(?P<name>[^/]*?)\s*\((?P<user>[^()]+)\)(?:_Submission attachment\(s\)_.*)?")
ATTACHED, CLONED = "Submission attachment(s)", "-submissions"
RESUBMITTED = re.compile(r"-(\d+)(?=\.ipynb)")


@dataclass(frozen=True)
class Owner:
    """Whose file it is: several where a group hands in one (nobody could be told: `why` says so).

    late, order: what the name says of the time; order is the system's own count, larger is newer, comparable between
    files of one student and one system.  when: the time that the system wrote, ISO 8601, without a zone where it names
    none.  sure: a system, or a folder with a student's id, said so.  sealed: not the name said so, but the seal of a
    notebook that was made for this student.
    """

    students: tuple[Student, ...] = ()
    why: str = ""
    late: bool = False
    order: tuple = ()
    sure: bool = True
    when: str = ""
    sealed: bool = False


LARGEST = 20 * 2**20  # bytes of submission_metadata.yml
MOST_ALIASES = 10_000
NOBODY = "the name fits nobody in the roster"


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


def owner(relative: PurePosixPath, roster: Roster, gradescope: dict[str, dict], top: str = "") -> Owner:
    """Whose the file is at this path below the folder of submissions, which is called `top`.

    The outermost part that names somebody counts: what lies inside a student's own folder is called what they like.
    """
    parts, above = relative.parts, top
    for at, part in enumerate(parts[:-1]):
        after = parts[at + 1]
        if GRADESCOPE.fullmatch(part):
            return _of_gradescope(part, roster, gradescope.get(part))
        if match := MOODLE.fullmatch(part):
            return _of_moodle(match, roster)
        if match := D2L.fullmatch(part):
            return _of_d2l(match, roster)
        if after == ATTACHED and (match := SAKAI.fullmatch(part)):
            return _of_sakai(match, roster)
        if above.endswith(CLONED) and part.startswith(slug := above.removesuffix(CLONED) + "-"):
            name = part.removeprefix(slug)
            return _one(_known(name, roster), f"GitHub's {part}", roster.team(name))
        if len(found := _known(part, roster)) == 1:
            return Owner(tuple(found))
        if team := roster.team(part):
            if strangers := [student.id for student in _mentioned(relative.name, roster) if student not in team]:
                return Owner((), f"the folder is that of the group {part}, the file names {', '.join(strangers)}")
            return Owner(tuple(team))
        above = part
    for pattern, read in ((MOODLE, _of_moodle), (D2L, _of_d2l), (BLACKBOARD, _of_blackboard), (CANVAS, _of_canvas)):
        if match := pattern.fullmatch(relative.name):
            return read(match, roster)
    if f"_{ATTACHED}_" in relative.name and (match := SAKAI.fullmatch(relative.name)):
        return _of_sakai(match, roster)
    return _of_anything(relative, roster)


def _known(name: str, roster: Roster) -> list[Student]:
    """Whom a whole name means: by id, login or email."""
    return roster.table("keys").get(name.lower(), [])


def _one(found: list[Student], said: str, team: list[Student] = ()) -> Owner:
    """One student; where nobody was found, all members of a group."""
    if len(found) == 1 or (team and not found):
        return Owner(tuple(found or team))
    if found:
        return Owner((), f"{said} fits {len(found)} students: {', '.join(student.id for student in found)}")
    return Owner((), f"{said} fits nobody in the roster")


def _by_number_or_name(kind: str, number: str, name: str, roster: Roster, said: str) -> Owner:
    """By the system's number where the roster has such numbers, else by the whole name; never against each other."""
    numbered = roster.having(kind, number) or roster.having("id", number)
    named = roster.named(name)
    if len(numbered) == 1 and named and numbered[0] not in named:
        return Owner((), f"{said}: the number is {numbered[0].id}'s, the name is {named[0].id}'s")
    return _one(numbered or named, said)


def _of_canvas(match: re.Match, roster: Roster) -> Owner:
    said = f"Canvas's mark {match['name']}_{match['user']}"
    found = _by_number_or_name("canvas", match["user"], match["name"], roster, said)
    again = RESUBMITTED.search(match["file"])
    order = ("canvas", int(match["upload"]), int(again[1]) if again else 0)
    return replace(found, late=bool(match["late"]), order=order)


def _of_moodle(match: re.Match, roster: Roster) -> Owner:
    """The name may stand behind that of a group: "Team A-Ann Doe"."""
    pieces = match["name"].split("-")
    names = ["-".join(pieces[at:]) for at in range(len(pieces))]
    name = next((name for name in names if roster.named(name)), match["name"])
    said = f"Moodle's mark {match['name']}_{match['user']}"
    found = _by_number_or_name("moodle", match["user"], name, roster, said)
    team = roster.team(match["name"])
    return Owner(tuple(team)) if team and found.why.endswith("nobody in the roster") else found


def _of_d2l(match: re.Match, roster: Roster) -> Owner:
    when = re.fullmatch(r"(\w{3})\w* (\d+), (\d{4}) (\d{1,2})(\d\d) ?([AP]M)", match["when"].strip())
    order, said = (), ""
    if when:
        with contextlib.suppress(ValueError):
            moment = datetime.strptime(" ".join(when.groups()), "%b %d %Y %I %M %p")
            order, said = ("d2l", moment.toordinal(), moment.hour * 60 + moment.minute), moment.isoformat()
    name = match["name"]
    return replace(_one(roster.named(name), f"D2L's mark {name}", roster.team(name)), order=order, when=said)


def _of_blackboard(match: re.Match, roster: Roster) -> Owner:
    """Title and user name both may hold the sign between them: of all cuts, those count that make a known name."""
    pieces = match["before"].split("_")
    names = ["_".join(pieces[at:]) for at in range(1, len(pieces))]
    found = {student.id: student for name in names for student in _known(name, roster)}
    owner = _one(list(found.values()), f"Blackboard's mark {match['before']}")
    said = ""
    with contextlib.suppress(ValueError):
        said = datetime.strptime(match["when"], "%Y-%m-%d-%H-%M-%S").isoformat()
    return replace(owner, order=("blackboard", match["when"]), when=said)


def _of_sakai(match: re.Match, roster: Roster) -> Owner:
    said = f"Sakai's mark {match['name']}({match['user']})"
    known, named = _known(match["user"], roster), roster.named(match["name"])
    if len(known) == 1 and named and known[0] not in named:
        return Owner((), f"{said}: the user is {known[0].id}, the name is {named[0].id}'s")
    return _one(known or named, said, roster.team(match["name"]))


def _of_gradescope(part: str, roster: Roster, entry: dict | None) -> Owner:
    if entry is None:
        return Owner((), f"submission_metadata.yml says nothing of {part}: keep that file beside the folders")
    people = entry.get(":submitters") or entry.get("submitters")
    people = [
        {str(key).lstrip(":"): str(value) for key, value in one.items() if isinstance(value, str | int)}
        for one in (people if isinstance(people, list) else [])
        if isinstance(one, dict)
    ]
    found, strangers = [], []
    for one in people:
        mine = roster.having("id", one.get("sid", "")) or roster.having("email", one.get("email", ""))
        mine = mine or roster.named(one.get("name", ""))
        if len(mine) != 1:
            strangers.append(_one(mine, f"{part} of {one.get('name') or 'somebody'}").why)
        found += mine if len(mine) == 1 else []
    if not people:
        strangers.append(f"{part} was handed in by nobody")
    made = entry.get(":created_at") or entry.get("created_at")
    stamp = made.timestamp() if isinstance(made, datetime) else 0.0
    order = ("gradescope", stamp, int(part.split("_")[1])) if stamp else ()
    # YAML's times are UTC where they name no zone.
    when = (made if made.tzinfo else made.replace(tzinfo=UTC)).isoformat() if isinstance(made, datetime) else ""
    return Owner(tuple(dict.fromkeys(found)), "; ".join(strangers), False, order, when=when)


def _of_anything(relative: PurePosixPath, roster: Roster) -> Owner:
    """What file and folders say where no system is known; they may not name different people."""
    said = {}
    for part in relative.parts:
        for student in _mentioned(part, roster):
            said.setdefault(student.id, (student, part))
    here = _mentioned(relative.name, roster)
    others = [part for student, part in said.values() if student not in here]
    if others and here:
        return Owner((), f"the folder {others[0]} names somebody else than the file")
    found = [student for student, _ in said.values()]
    return replace(_one(found, "the name"), sure=not here)


def _mentioned(part: str, roster: Roster) -> list[Student]:
    """Whom a file's or a folder's name mentions.

    That is by a whole id or email, with no letter or digit right before or after it, or by the whole name of a person
    between the marks that systems put there.  An id of one letter has to be all of the name: "exercise a.ipynb" need
    not be a's.  A longer one counts before those that are part of it: "ann-marie.ipynb" is ann-marie's, not ann's.
    """
    name, known = part.lower(), roster.table("sure")
    starts = [at for at in range(len(name)) if not (at and _alphanumeric(name[at - 1]))]
    ends = {at for at in range(1, len(name) + 1) if not _alphanumeric(name[at : at + 1])}
    pieces = [(at, at + length) for at in starts for length in roster.lengths if at + length in ends]
    pieces = [(at, end) for at, end in pieces if end - at > 1 or name[at:end] == name.partition(".")[0]]
    places = [(at, end, student) for at, end in pieces for student in known.get(name[at:end], ())]
    whole = [
        student
        for start, end, student in places
        if not any(s <= start and end <= e and e - s > end - start for s, e, other in places if other is not student)
    ]
    pieces = re.split(r" - |[_()\[\]]", part.rpartition(".ipynb")[0] or part)
    named = [student for piece in pieces for student in roster.named(piece)]
    return list({student.id: student for student in (*whole, *named)}.values())


def _alphanumeric(sign: str) -> bool:
    return sign.isascii() and sign.isalnum()
