"""Grading one submission: a notebook in, one result out, and nothing of the student's runs outside the walls.

1. The answers' sources are placed into a clean release copy.
2. Visible run: a process behind the walls runs it cell by cell and sees no hidden check.  What it prints is kept for
   the student.
3. Hidden run: a second process runs the same cells, and at each graded cell the grader runs the check, calling the
   student's functions (`hidden_tests`).  What this process prints is thrown away: it has seen the checks' inputs.

A cell or a call that ends the process or does not end is left out, and a new process goes on after it.

Plain processes are used, not Jupyter kernels: two pipes instead of five sockets, a tenth of a second to start, and no
protocol that a student's code could speak.
"""

import contextlib
import hashlib
import os
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from lmbook_grader.grading.execute import Runs
from lmbook_grader.grading.hidden_tests import Outcome
from lmbook_grader.intake.collect import Submission, Unreadable, open_submission, place, read_bytes
from lmbook_grader.sandbox.commands import Limits, available, command, copy_package
from lmbook_grader.sandbox.session import SandboxError
from lmbook_press.assignments.questions import Check, Homework, Question
from lmbook_press.book import BookError

NO_WALLS = (
    "Graded without a sandbox: the hidden checks were not run, so there are no points. "
    "Use --sandbox bwrap or docker, or say that these files are trusted."
)


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
) -> dict:
    """The result of one submission to the homework in folder `course` (course/NN), as JSON can hold it.

    trusted: with sandbox="none", run the hidden checks all the same.
    package: a folder made by `copy_package`; None: it is made here.
    The status is "ungraded" where the machine, the course or the walls failed, never for what the student wrote.
    """
    begun, limits, homework = time.monotonic(), limits or Limits(), Homework.load(Path(course))
    result = {
        "student": submission.student, "file": submission.path.name, "file_sha256": file_digest(submission.path),
        "homework": homework.name,
        "release_sha256": digest(homework.files["release"].read_bytes()),
        "grading_sha256": digest(homework.files["grading"].read_bytes()),
        "status": "graded", "why": None, "questions": [], "notes": list(submission.notes), "seconds": 0.0,
        "sandbox": sandbox, "output": "",
    }  # fmt: skip
    try:
        placed = place(open_submission(submission.path), homework.release)
    except Unreadable as error:
        result["notes"].append(str(error))
        result["questions"] = [_scored(question, None, {}) for question in homework.questions]
    else:
        result["notes"] += placed.notes
        try:
            if why := available(sandbox):
                raise SandboxError(why)
            with _copied(package, homework.blocked) as folder:
                runs = Runs(homework, placed, lambda: command(sandbox, limits, folder, image), limits)
                result["notes"] += runs.notes
                result["output"] = runs.visible()
                walls = sandbox != "none" or trusted
                outcomes = runs.hidden() if walls else {}
            result["questions"] = [_scored(question, runs, outcomes) for question in homework.questions]
            if not walls:
                result |= {"status": "ungraded", "why": NO_WALLS}
        except (SandboxError, BookError, OSError, MemoryError) as error:
            result |= {"status": "ungraded", "why": str(error) or type(error).__name__, "questions": []}
    result["seconds"] = round(time.monotonic() - begun, 2)
    return result


def file_digest(path: Path) -> str | None:
    """SHA-256 of a student's file; its size where it is too large to be read, None where it cannot be opened."""
    try:
        return digest(read_bytes(path))
    except Unreadable:
        return f"size {path.lstat().st_size}" if os.path.lexists(path) else None


@contextlib.contextmanager
def _copied(package: Path | None, blocked: list[str]) -> Iterator[Path]:
    if package is not None:
        yield package
        return
    with tempfile.TemporaryDirectory(prefix="lmbook-") as folder:
        yield copy_package(Path(folder), blocked)


def _scored(question: Question, runs: Runs | None, outcomes: dict[str, Outcome]) -> dict:
    """A question of the result.  runs: None where there was nothing to run."""
    empty = runs is None or question.name in runs.missing
    if question.written:
        status, checks = "missing" if empty else "manual", []
    else:
        checks = [_check(check, question, runs, outcomes, empty) for check in question.checks]
        broke = runs is not None and question.name in runs.broken
        broke = broke or any(outcomes[check.name].broke for check in question.checks if check.name in outcomes)
        status = "missing" if empty else _status(sum(check["points"] for check in checks), question.points, broke)
    points = sum(check["points"] for check in checks)
    return {"id": question.name, "points": points, "max": question.points, "status": status, "checks": checks}


def _status(points: float, most: float, broke: bool) -> str:
    if points == most:
        return "right"
    if points > 0:
        return "partly"
    return "error" if broke else "wrong"


def _check(check: Check, question: Question, runs: Runs | None, outcomes: dict[str, Outcome], empty: bool) -> dict:
    unasked = "There is no answer yet." if empty else "This check was not run."
    outcome = outcomes.get(check.name, Outcome(False, unasked))
    message = outcome.message
    if runs is not None and not outcome.passed and not empty and question.name in runs.broken:
        message = f"The cell of this answer {runs.broken[question.name]}. {message}".strip()
    points = check.points if outcome.passed else 0
    return {"name": check.name, "points": points, "max": check.points, "passed": outcome.passed, "message": message}
