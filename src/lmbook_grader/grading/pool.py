"""Grading a class: one process per submission, several at once, every result on disk as soon as it is there.

A result is OUT/results/<student>.json, written under another name and renamed, so that it is whole or not there.  After
Ctrl-C, a killed process or a power cut, `resume` keeps every result that still fits its files and grades the rest.
"""

import contextlib
import fcntl
import json
import multiprocessing
import os
import shutil
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from urllib.parse import quote

from lmbook import write
from lmbook_grader.grading.execute import closed_in
from lmbook_grader.grading.grade import digest, file_digest, grade_one, stopped
from lmbook_grader.grading.hint_run import MOST
from lmbook_grader.intake.collect import Submission
from lmbook_grader.intake.reading import shown
from lmbook_grader.sandbox.commands import Limits, available, copy_package
from lmbook_grader.sandbox.session import CLOCK, START
from lmbook_grader.sandbox.walls import private
from lmbook_grader.sandbox.warm import Warm, imported
from lmbook_press.assignments.questions import Homework, marks
from lmbook_press.book import BookError

Progress = Callable[[dict, int, int], None]
# A process with threads must not be forked: a lock that another thread holds stays locked in the child for ever.  So
# the graders are forks of a process that only imports.
GRADERS = multiprocessing.get_context("forkserver")
PRELOADED = "lmbook_grader.grading.preloaded"


def grade_many(
    submissions: Iterable[Submission],
    course: Path,
    out: Path,
    *,
    jobs: int = 2,
    sandbox: str = "bwrap",
    trusted: bool = False,
    limits: Limits | None = None,
    image: str | None = None,
    resume: bool = False,
    again: Iterable[str] = (),
    hidden: Iterable[Path] = (),
    progress: Progress | None = None,
) -> list[dict]:
    """The results of all submissions to the homework in folder `course`, in the order given.

    progress(result, done, of all) is called after each; with resume for the kept ones first, with kept=True.
    again: students who are graded whatever is there of them.  hidden: folders and files that no student may see, beside
    the course, the files' own folders and `out`.  Who was late on the clock once before is not waited for a third time:
    the points so far count.
    Raises BookError where the walls do not stand on this machine or cannot hide these, where a student is named twice,
    and where results are there already and resume is False.
    KeyboardInterrupt ends the running ones and passes through.
    """
    submissions, limits, out = list(submissions), limits or Limits(), Path(out)
    homework = Homework.load(Path(course))
    if why := available(sandbox):
        raise BookError(why)
    out_of_sight = [*hidden, out.resolve().parent, out.resolve(), Path(course).resolve().parent]
    if sandbox == "bwrap":
        private([*out_of_sight, *(submission.path.parent for submission in submissions)])
    files = {submission.student: result_path(out, submission.student) for submission in submissions}
    if len({path.name.lower() for path in files.values()}) < len(submissions):
        raise BookError("A student has several submissions in this batch: keep one of each.")
    once_more = set(again)
    old = [submission for submission in submissions if submission.student not in once_more]
    results = _kept(old, files, homework, sandbox, resume)
    with contextlib.ExitStack() as stack:
        package = copy_package(stack.enter_context(_scratch(out)), homework.blocked)
        done = 0
        for submission in submissions:
            if submission.student in results:
                done += 1
                _tell(progress, results[submission.student], done, len(submissions), kept=True)
        waiting = [submission for submission in submissions if submission.student not in results]
        running: list[_Child] = []
        options = {"sandbox": sandbox, "trusted": trusted, "image": image, "package": package, "hidden": out_of_sight}
        # The hidden checks run in the graders.
        GRADERS.set_forkserver_preload(["__main__", __name__, PRELOADED, *given_modules(homework)])
        if waiting and sandbox == "bwrap":
            options["warm"] = stack.enter_context(warmed(homework, package))
        stack.callback(lambda: [child.end() for child in running])
        while waiting or running:
            while waiting and len(running) < max(jobs, 1):
                submission = waiting.pop(0)
                running.append(_Child(submission, Path(course), files[submission.student], limits, options))
            time.sleep(0.02)
            for child in [child for child in running if child.finished()]:
                running.remove(child)
                result = child.result(homework)
                results[child.submission.student] = result
                done += 1
                _tell(progress, result, done, len(submissions))
    return [results[submission.student] for submission in submissions]


def given_modules(homework: Homework) -> list[str]:
    """What the homework itself imports, outside of answers and checks."""
    cells = homework.grading.cells
    return imported(cell for cell in cells if not marks(cell).get("solution") and not marks(cell).get("grade"))


def warmed(homework: Homework, package: Path, hash_seed: int | None = None) -> Warm:
    """The processes that have imported what the homework does, from which the students' runs are forked."""
    lists = [closed_in(homework, hidden) for hidden in (False, True)]
    warm = Warm(given_modules(homework), lists, package, hash_seed)
    warm.wait()
    return warm


def _tell(progress: Progress | None, result: dict, done: int, total: int, **kept: bool) -> None:
    if progress is not None:
        progress(result, done, total, **kept)


def result_path(out: Path, student: str) -> Path:
    """Where a student's result is: the name with everything but letters, digits and -_.@+ written as %XX."""
    name = quote(student, safe="@+")
    return Path(out) / "results" / f"{'%2E' + name[1:] if name.startswith('.') else name}.json"


@contextlib.contextmanager
def _scratch(out: Path) -> Iterator[Path]:
    """A folder in OUT that is gone afterwards.  What killed batches left, here and half-written results, goes too.

    A batch holds a lock on its folder, so that several may write to one OUT at a time.
    """
    (out / "results").mkdir(parents=True, exist_ok=True)
    for rest in (out / "results").glob(".*.json.*"):
        with contextlib.suppress(FileNotFoundError):
            if time.time() - rest.stat().st_mtime > 60:
                rest.unlink()
    for rest in out.glob(".package-*"):
        with contextlib.suppress(OSError), _locked(rest):
            shutil.rmtree(rest, ignore_errors=True)
    with tempfile.TemporaryDirectory(prefix=".package-", dir=out) as folder, _locked(Path(folder)):
        yield Path(folder)


@contextlib.contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """Raises OSError where another process has this folder."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    finally:
        os.close(descriptor)


def _kept(submissions: list, files: dict, homework: Homework, sandbox: str, resume: bool) -> dict[str, dict]:
    """The results that are there already and still fit: same file, same homework, graded."""
    there = [submission for submission in submissions if files[submission.student].exists()]
    if there and not resume:
        raise BookError(
            f"{files[there[0].student].parent} holds {len(there)} results of these students already: "
            "use --resume to keep them and grade the rest, or another folder for --out."
        )
    kept = {}
    for submission in there:
        result = stored_result(files[submission.student])
        fits = result is not None and result.get("status") in ("graded", "unreadable")
        wanted = {"student": submission.student, "file": shown(submission.path.name), "sandbox": sandbox}
        fits = fits and all(result.get(key) == value for key, value in wanted.items())
        for kind in ("release", "grading"):
            fits = fits and result.get(f"{kind}_sha256") == digest(homework.files[kind].read_bytes())
        if fits and result.get("file_sha256") == file_digest(submission.path):
            kept[submission.student] = result
    return kept


def stored_result(path: Path) -> dict | None:
    """The result in a file; None where there is none, or not a whole one."""
    try:
        result = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return result if isinstance(result, dict) else None


def write_result(result: dict, path: Path) -> None:
    """Writes a result whole or not at all."""
    write(path, json.dumps(result, indent=1) + "\n")


class _Child:
    """The process that grades one submission, forked from one that has imported everything already."""

    def __init__(self, submission: Submission, course: Path, path: Path, limits: Limits, options: dict):
        self.submission, self.path, self.options = submission, path, options
        self.said = tempfile.NamedTemporaryFile()  # noqa: SIM115 (closed in `end`)
        before = stored_result(path) or {}
        self.last = before.get("late") is True and before.get("file_sha256") == file_digest(submission.path)
        path.unlink(missing_ok=True)
        self.part = path.with_name(f".{path.name}.part")
        self.part.unlink(missing_ok=True)
        work = (grade_one, submission, course, path, limits, options | {"last": self.last}, self.said.name, self.part)
        self.process = GRADERS.Process(target=_grade_to_file, args=work)
        self.process.start()
        # All runs, each with its time on a crowded machine: after that something is wrong with the machine.
        self.latest = time.monotonic() + CLOCK * (2 * limits.total + min(MOST, limits.total)) + 5 * START
        self.late = False

    def finished(self) -> bool:
        if not self.process.is_alive():
            return True
        self.late = time.monotonic() > self.latest
        return self.late

    def result(self, homework: Homework) -> dict:
        """What it wrote; where it wrote nothing, a result that says so, which is written too."""
        found, part = stored_result(self.path), stored_result(self.part)
        if found is None and self.late and self.last and part is not None:
            found = part | stopped(part)
            write_result(found, self.path)
        elif found is None:
            self.said.seek(0)
            last = self.said.read()[-500:].decode("utf-8", "replace").strip().split("\n")[-1]
            why = (
                "it took far too long"
                if self.late
                else f"it ended with {self.process.exitcode}: {last or 'no message'}"
            )
            found = {
                "student": self.submission.student, "file": shown(self.submission.path.name), "file_sha256": None,
                "homework": homework.name, "release_sha256": None, "grading_sha256": None, "status": "ungraded",
                "why": f"The grading process of this submission failed; {why}.", "questions": [],
                "notes": list(self.submission.notes), "seconds": 0.0, "sandbox": self.options["sandbox"], "output": "",
            }  # fmt: skip
            if self.late:
                found |= {"late": True, "file_sha256": file_digest(self.submission.path)}
            write_result(found, self.path)
        self.part.unlink(missing_ok=True)
        self.end()
        return found

    def end(self) -> None:
        """Ends the process, and with it the student's: their sandbox does not outlive its parent."""
        self.process.kill()
        self.process.join()
        self.said.close()


def _grade_to_file(
    grade: Callable, submission: Submission, course: Path, path: Path, limits: Limits, options: dict, said: str,
    part: Path,
):  # fmt: skip
    """The body of that process: it ends with the batch, and Ctrl-C reaches the batch alone."""
    os.setsid()
    sys.stdout = sys.stderr = open(said, "a", buffering=1)  # noqa: SIM115 (for as long as the process)
    for descriptor in (1, 2):
        os.dup2(sys.stdout.fileno(), descriptor)
    threading.Thread(target=_end_with_the_batch, daemon=True).start()
    so_far = partial(write_result, path=part)
    write_result(grade(submission, course, limits=limits, so_far=so_far, **options), path)


def _end_with_the_batch() -> None:
    multiprocessing.parent_process().join()
    os._exit(1)
