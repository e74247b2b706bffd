"""Intake: from a folder of returned files to one file a student.

`collect` says whose each file is and which counts.  `open_submission` (in reading) reads one file into plain cells,
and `place` (in match_answers) moves the answers' sources into a clean release copy.
"""

import os
import re
import stat
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath

from nbformat import NotebookNode

from lmbook_grader.intake.file_owners import NOBODY, Owner, gradescope_owners, owner
from lmbook_grader.intake.match_answers import answered
from lmbook_grader.intake.reading import Unreadable, open_submission, shown
from lmbook_grader.intake.roster import Roster, Student
from lmbook_press.book import BookError

ENDINGS = (".ipynb", ".ipynb.txt", ".ipynb.json")  # browsers add the last two
NO_NOTEBOOK = "no notebook"
ARCHIVES = (".zip", ".tar", ".gz", ".tgz", ".7z", ".rar")
# What systems write beside the files: D2L, Sakai, Blackboard.
WRITTEN = re.compile(
    r"index\.html|grades\.(csv|xlsx?)|timestamp\.txt|comments\.txt|feedbackText\.html|.*_submissionText\.html|"
    r".*_attempt_\d{4}(-\d\d){5}\.txt|submission_metadata\.yml"
)
MARKED = re.compile(r".* - .* - .*|.*_\d{4,}.*|.*,.*")  # as systems write names, ours or not
OTHER_HOMEWORK = "No answer to a question of this homework was found in your file: is it that of another homework?"
FOR_GROUP = "This file was handed in for a group of {}; each of you gets its points."
BY_SEAL = "The name of your file does not say whose it is; it is graded as yours because it was made for you."
LATE = "The learning system marks this submission as late."
PASSED_OVER = (".ipynb_checkpoints", "__MACOSX", ".git", ".github")


@dataclass(frozen=True)
class Submission:
    """The file of one student that counts.  notes are sentences for the student; late is the system's own mark.

    when: the time that the system wrote, ISO 8601; "" where it wrote none.
    """

    student: str
    path: Path
    notes: tuple[str, ...] = ()
    late: bool = False
    when: str = ""


@dataclass(frozen=True)
class Fault:
    """A file that nobody can be graded for, and why: a sentence for the instructor."""

    path: Path
    why: str


@dataclass(frozen=True)
class Collected:
    """The contents of a folder; `absent` are the students without a file."""

    submissions: list[Submission] = field(default_factory=list)
    faults: list[Fault] = field(default_factory=list)
    absent: list[Student] = field(default_factory=list)


def collect(
    folder: str | Path,
    roster: Roster,
    release: NotebookNode | None = None,
    made_for: Callable[[Path], str] | None = None,
) -> Collected:
    """One submission a student from a folder, in the roster's order; everything else is a fault, nothing is guessed.

    Of several files of one student the newest counts: by the learning system's own mark, else by the file's time.  With
    `release`, a file that answers nothing of it (another homework) gives way to one that does.
    made_for: for whom a file was made, by its seal, or "".  It is asked only where a file's name says nothing.
    Raises BookError where there is no such folder.
    """
    folder = Path(folder)
    if not folder.is_dir():
        hint = ": unpack it first and name the folder" if folder.suffix == ".zip" else ""
        raise BookError(f"{folder} is not a folder of submissions{hint}.")
    gradescope, top = gradescope_owners(folder), folder.resolve().name
    faults: list[Fault] = []
    found: list[tuple[Path, Owner, os.stat_result]] = []
    others: list[tuple[Path, Owner, str]] = []
    for where, folders, names in os.walk(folder):
        here = Path(where)
        folders[:] = sorted(name for name in folders if name not in PASSED_OVER)
        links = [name for name in folders if (here / name).is_symlink()]
        faults += [Fault(here / name, "is a link; links are not followed") for name in links]
        for name in sorted(names):
            path = here / name
            if name.startswith(".") or WRITTEN.fullmatch(name):
                continue
            whose = owner(PurePosixPath(path.relative_to(folder).as_posix()), roster, gradescope, top)
            entry = path.lstat()
            if why := _refused(path, entry):
                others.append((path, whose, why))
            else:
                found.append((path, whose, entry))
    files: dict[str, list[tuple[Path, Owner, os.stat_result]]] = {}
    strange = _nameless(folder, found)
    if made_for is not None:
        found = _by_seal(found, strange, roster, made_for)
    for path, whose, entry in found:
        if path.parent in strange and not whose.sure:
            whose = Owner((), f"the folder {shown(path.parent.name)} names nobody in the roster")
        if whose.why:
            faults.append(Fault(path, f"{whose.why}: rename the file to <id>.ipynb, or mend the roster"))
        for student in whose.students:
            files.setdefault(student.id, []).append((path, whose, entry))
    for path, whose, why in others:
        by = "" if NO_NOTEBOOK not in why else " and ".join(student.id for student in whose.students)
        if not by or not any(student.id in files for student in whose.students):
            faults.append(Fault(path, f"{why} ({by} has no other file)" if by else why))
    submissions = []
    for student in roster:
        if student.id in files:
            chosen = _choose(student.id, files[student.id], release)
            if isinstance(chosen, Submission):
                whose = next(whose for path, whose, _ in files[student.id] if path == chosen.path)
                group = len(whose.students)
                more = [*[LATE] * chosen.late, *[FOR_GROUP.format(group)] * (group > 1), *[BY_SEAL] * whose.sealed]
                chosen = replace(chosen, notes=(*chosen.notes, *more), when=whose.when)
            (submissions if isinstance(chosen, Submission) else faults).append(chosen)
    return Collected(submissions, faults, [student for student in roster if student.id not in files])


def collect_one(folder: str | Path, student: str, release: NotebookNode) -> Submission | Fault:
    """The file that counts in a folder with one student's files, by the same rules."""
    mine, found, why = Owner((Student(student),), order=("upload",)), [], "holds no notebook (.ipynb)"
    for where, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if name not in PASSED_OVER)
        for path in (Path(where, name) for name in sorted(names) if not name.startswith(".")):
            entry = path.lstat()
            if refused := _refused(path, entry):
                why = f"{shown(path.name)} {refused}"
            else:
                found.append((path, mine, entry))
    return _choose(student, found, release) if found else Fault(Path(folder), why)


def _by_seal(
    found: list[tuple[Path, Owner, os.stat_result]],
    strange: set[Path],
    roster: Roster,
    made_for: Callable[[Path], str],
) -> list[tuple[Path, Owner, os.stat_result]]:
    """The files again, those whose names say nothing as their seals' students'; of two with one seal, nobody's."""
    seals = {path: made_for(path) for path, _, _ in found} if any(one.why == NOBODY for _, one, _ in found) else {}
    again = []
    for path, whose, entry in found:
        student = seals.get(path, "")
        if whose.why == NOBODY and path.parent not in strange and student:
            if list(seals.values()).count(student) > 1:
                whose = Owner((), f"{NOBODY}, and it was made for {student}, as another file here was")
            elif student in roster:
                whose = Owner((roster[student],), sealed=True)
            else:
                whose = Owner((), f"{NOBODY}, and it was made for {shown(student)}, who is not in the roster")
        again.append((path, whose, entry))
    return again


def _nameless(folder: Path, found: list[tuple[Path, Owner, os.stat_result]]) -> set[Path]:
    """The folders of one student each, as a system makes them, whose names name nobody.

    A folder for many, a section's, say, is none of them: the files in it are several people's.
    """
    people: dict[Path, set[str]] = {}
    for path, whose, _ in found:
        for parent in path.relative_to(folder).parents:
            people.setdefault(folder / parent, set()).update(student.id for student in whose.students)
    places = {path.parent for path, whose, _ in found if not whose.sure} - {folder}
    return {
        place
        for place in places
        if len(people[place]) == 1 and (MARKED.fullmatch(place.name) or _one_each(place, people))
    }


def _one_each(place: Path, people: dict[Path, set[str]]) -> bool:
    """Whether this folder and those beside it, one at least, hold one student's work each."""
    beside = [who for other, who in people.items() if other.parent == place.parent]
    return len(beside) > 1 and all(len(who) < 2 for who in beside)


def _refused(path: Path, found: os.stat_result) -> str:
    if stat.S_ISLNK(found.st_mode):
        return "is a link; links are not followed"
    if not stat.S_ISREG(found.st_mode):
        return "is not a plain file"
    if path.name.lower().endswith(ARCHIVES):
        return f"is an archive and {NO_NOTEBOOK}: unpack it into a folder named by the id, or ask for the .ipynb file"
    if not path.name.lower().endswith(ENDINGS):
        return f"is {NO_NOTEBOOK} by its name (.ipynb): ask for the .ipynb file"
    return ""


def _choose(student: str, found: list[tuple[Path, Owner, os.stat_result]], release) -> Submission | Fault:
    """The newest of a student's files that is a notebook and, where that can be told, of this homework."""
    if len(found) == 1:
        path, whose, _ = found[0]
        return Submission(student, path, _of_another(path, release), whose.late)
    kinds = {whose.order[:1] for _, whose, _ in found}
    marked = len(kinds) == 1 and kinds != {()}
    ranked = [(whose.order if marked else entry.st_mtime_ns, path, whose) for path, whose, entry in found]
    ranked.sort(key=lambda one: one[0], reverse=True)
    notes, fit = [], []
    for rank, path, whose in ranked:
        try:
            notebook = open_submission(path)
        except Unreadable as error:
            notes.append(f"Your file {shown(path.name)} was set aside. {error}")
            continue
        fit.append((rank, path, whose, notebook, release is None or answered(notebook, release)))
    if not fit:  # the newest is graded, and says itself why it cannot be read
        return Submission(student, ranked[0][1], (), ranked[0][2].late)
    usable = [one for one in fit if one[4]] or fit
    rank, path, whose, notebook, _ = usable[0]
    twins = [other for at, other, _, text, _ in usable[1:] if at == rank and text != notebook]
    if twins:
        names = ", ".join(shown(name) for name in sorted([path.name, *(other.name for other in twins)]))
        return Fault(
            path, f"{student} has several files of the same time ({names}) that differ: keep the one that counts"
        )
    others = ", ".join(shown(name) for name in sorted(other.name for _, other, *_ in fit if other != path))
    if others:
        by = "the upload's mark" if marked else "its date"
        newest = f"{shown(path.name)}, the newest by {by},"
        notes.insert(0, f"You handed in more than one file; {newest} was graded, not {others}.")
    if not usable[0][4]:
        notes.append(OTHER_HOMEWORK)
    return Submission(student, path, tuple(notes), whose.late)


def _of_another(path: Path, release: NotebookNode | None) -> tuple[str, ...]:
    """What is to be said of a file that answers nothing of this homework."""
    try:
        fits = release is None or answered(open_submission(path), release)
    except Exception:  # it is graded, and then says itself why it cannot be read
        fits = True
    return () if fits else (OTHER_HOMEWORK,)
