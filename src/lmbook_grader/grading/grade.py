"""Grading one submission: a notebook in, one result out, and nothing of the student's runs outside the walls.

1. The answers' sources are placed into a clean release copy.
2. Visible run: a process behind the walls runs it cell by cell and sees no hidden check.  What it prints is kept for
   the student.
3. Hidden run: a second process runs the same cells, and at each graded cell the grader runs the check, calling the
   student's functions (`hidden_tests`).  The cell itself runs in this process only where a later cell reads what it
   binds.  What this process prints is thrown away: it has seen the checks' inputs.
4. A check that fails because the answer calls another answer that fails is run once more with the master's in its place
   (`carried_forward`): a mistake costs its points once.

5. Hint run: of the answers in which a check fails, a third process is asked what the mistake is (`hint_run`).

A cell or a call that ends the process or does not end is left out, and a new process goes on after it.

Plain processes are used, not Jupyter kernels: two pipes instead of five sockets, a tenth of a second to start, and no
protocol that a student's code could speak.
In a class these processes are forked from one that has imported the homework's libraries (`sandbox.warm`); each still
stands behind walls of its own.
"""

import contextlib
import hashlib
import os
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from lmbook_grader.grading import hint_run
from lmbook_grader.grading.execute import Runs
from lmbook_grader.grading.hidden_tests import Outcome
from lmbook_grader.intake.collect import Submission
from lmbook_grader.intake.made_for import FOREIGN, seal_of
from lmbook_grader.intake.reading import Unreadable, open_and_place, read_bytes, shown
from lmbook_grader.sandbox.commands import Limits, available, command, copy_package
from lmbook_grader.sandbox.session import SandboxError
from lmbook_grader.sandbox.warm import Warm
from lmbook_press.assignments.questions import Check, Homework, Question
from lmbook_press.book import BookError

HIDDEN_CASE = (
    "The check that you can see passes, a case of the grader does not: the value or its form is another one, or there "
    "is an error, or no end in time."
)
NO_WALLS = (
    "Graded without a sandbox: the hidden checks were not run, so there are no points. "
    "Use --sandbox bwrap or docker, or say that these files are trusted."
)

EMPTY = "There is no answer yet."
LATE = "It took far too long on the clock, though not by its own time: the machine may have been crowded."
STOPPED = "The grading of this file was stopped for the second time, because it took too long: the points so far count."


def digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def grade_one(
    submission: Submission,
    course: Path,
    *,
    sandbox: str = "bwrap",
    trusted: bool = False,
    limits: Limits | None = None,
    image: str | None = None,
    package: Path | None = None,
    warm: Warm | None = None,
    hidden: Iterable[Path] = (),
    last: bool = False,
    so_far: Callable[[dict], None] | None = None,
) -> dict:
    """The result of one submission to the homework in folder `course` (course/NN), as JSON can hold it.

    trusted: with sandbox="none", run the hidden checks all the same.
    package: a folder made by `copy_package`; None: it is made here.  warm: the processes from which its runs start.
    hidden: what students may not see, wherever it lies; the course and the file's folder are always hidden.
    last: if the time on the clock is up once more, the points so far count, and the result says that it is `stopped`.
    so_far: called with the result as it is after each hidden check.
    The status is "ungraded" where the machine, the course or the walls failed, never for what the student wrote, and
    "unreadable" for a file that holds no notebook: then `why` says so, and there are no points, not even 0.
    """
    begun, limits, homework = time.monotonic(), limits or Limits(), Homework.load(Path(course))
    homework = homework.of(submission.student)
    result = {
        "student": submission.student, "file": shown(submission.path.name), "file_sha256": file_digest(submission.path),
        "homework": homework.name,
        "release_sha256": digest(homework.files["release"].read_bytes()),
        "grading_sha256": digest(homework.files["grading"].read_bytes()),
        "status": "graded", "why": None, "questions": [], "notes": list(submission.notes), "seconds": 0.0,
        "folder": shown(submission.path.parent.name), "sandbox": sandbox, "output": "",
        "when": submission.when, "file_date": file_date(submission.path), "marked_late": submission.late,
    }  # fmt: skip
    try:
        placed = open_and_place(submission.path, homework.release)
    except Unreadable as error:
        result |= {"status": "unreadable", "why": str(error)}
    else:
        result["notes"] += placed.notes
        if homework.student:
            found = seal_of(submission.path, homework)
            other = bool(found.student) and found.student != homework.student
            result["notes"] += [FOREIGN] if other else [found.note] if found.note else []
            result |= {"made_for": found.student} if other else {}
        try:
            if why := available(sandbox):
                raise SandboxError(why)
            out_of_sight = [*hidden, Path(course).parent, submission.path.parent]

            def tell(outcomes: dict[str, Outcome]) -> None:
                so_far(result | {"questions": [_scored(one, runs, outcomes) for one in homework.questions]})

            with _copied(package, homework.blocked) as folder:
                start = partial(command, sandbox, limits, folder, image, out_of_sight)
                runs = Runs(homework, placed, start, limits, warm, tell if so_far else None)
                result["output"] = runs.visible()
                walls = sandbox != "none" or trusted
                outcomes = runs.hidden() if walls else {}
                failed = runs.failed(outcomes) if walls and homework.hints_after else set()
                hints = hint_run.given(runs, failed - runs.missing, failed)
            result["notes"] += runs.notes
            result["questions"] = [_scored(question, runs, outcomes) for question in homework.questions]
            for one in result["questions"]:
                if hint := hints.get(one["id"]):
                    one["hint"] = hint.says
            if not walls:
                result |= {"status": "ungraded", "why": NO_WALLS}
            elif runs.late:
                result |= stopped(result) if last else {"status": "ungraded", "why": LATE, "late": True}
        except (SandboxError, BookError, OSError, MemoryError) as error:
            result |= {"status": "ungraded", "why": str(error) or type(error).__name__, "questions": []}
    result["seconds"] = round(time.monotonic() - begun, 2)
    return result


def stopped(result: dict) -> dict:
    """What is new in a result whose points so far count."""
    return {"status": "graded", "why": None, "stopped": True, "notes": [*result["notes"], STOPPED]}


def file_digest(path: Path) -> str | None:
    """SHA-256 of a student's file; its size where it is too large to be read, None where it cannot be opened."""
    try:
        return digest(read_bytes(path))
    except Unreadable:
        return f"size {path.lstat().st_size}" if os.path.lexists(path) else None


def file_date(path: Path) -> str:
    """When the file was last written, ISO 8601 in UTC; "" where it is not there."""
    return datetime.fromtimestamp(path.lstat().st_mtime, UTC).isoformat() if os.path.lexists(path) else ""


@contextlib.contextmanager
def _copied(package: Path | None, blocked: list[str]) -> Iterator[Path]:
    if package is not None:
        yield package
        return
    with tempfile.TemporaryDirectory(prefix="lmbook-") as folder:
        yield copy_package(Path(folder), blocked)


def _scored(question: Question, runs: Runs, outcomes: dict[str, Outcome]) -> dict:
    """A question of the result."""
    empty = question.name in runs.missing
    scored = {"id": question.name, "points": 0, "max": question.points, "status": "missing", "checks": []}
    if question.written:
        return scored if empty else scored | {"status": "manual", "answer": runs.written[question.name]}
    scored["checks"] = checks = [_check(check, question, runs, outcomes, empty) for check in question.checks]
    if empty:
        return scored
    points = sum(check["points"] for check in checks)
    said = [runs.broken.get(check.name, "fails") for check in question.checks]
    broke = question.name in runs.broken or any(not why.startswith("fails") for why in said)
    status = "right" if points == question.points else "partly" if points else "error" if broke else "wrong"
    return scored | {"points": points, "status": status}


def _check(check: Check, question: Question, runs: Runs, outcomes: dict[str, Outcome], empty: bool) -> dict:
    passed = check.name in outcomes and outcomes[check.name].passed
    message = "" if passed else EMPTY if empty else _why(check, question, runs, outcomes)
    points = check.points if passed else 0
    result = {"name": check.name, "points": points, "max": check.points, "passed": passed, "message": message}
    # Of its visible part alone, for a system that shows this at once and the points later: "" where it passes.
    result["seen"] = EMPTY if empty else f"It {runs.broken[check.name]}" if check.name in runs.broken else ""
    if not passed and not empty and check.name in outcomes:
        said = outcomes[check.name].message.replace("The check that you can see fails", "This line of the check fails")
        result["reason"] = said.replace(" in the check that you can see", "")
    return result | {"carried": runs.carried[check.name]} if check.name in runs.carried else result


def _why(check: Check, question: Question, runs: Runs, outcomes: dict[str, Outcome]) -> str:
    """The message to the student about a check that does not pass: what the visible run saw, without any hidden input.

    `reason`, beside it, is for the instructor and on no page of a student.
    Of the hidden run it is told only that it does not pass.  Code that has seen hidden inputs may choose how it fails,
    wrong, with an error, without end or in another form, and in which line, so none of this may come out.
    """
    said = []
    if question.name in runs.broken:
        said.append(f"The cell of this answer {runs.broken[question.name].rstrip('.')}.")
    if check.name in runs.broken:
        said.append(f"The check that you can see {runs.broken[check.name].rstrip('.')}.")
    elif check.name not in outcomes:
        said.append("This check was not run.")
    else:
        said += [HIDDEN_CASE, check.hint]
    return " ".join(filter(None, said))
