"""What a warm start saves: seconds computed for a right submission, each run started cold and each forked, as a table.

    python benchmarks/warm_starts.py [HOMEWORK] [SUBMISSIONS]       default 7 2

One submission is graded cold and so many warm, one after the other, each with a process of the grader's own.  Counted
are that process and both of its sandboxes; what is imported once for a class stands in a column of its own.
"""

import os
import resource
import sys
import tempfile
from pathlib import Path

import nbformat

from lmbook_grader.grading import pool
from lmbook_grader.intake.collect import Submission
from lmbook_grader.sandbox.session import Session, used
from lmbook_grader.sandbox.warm import Warm
from lmbook_press.assignments.make import make
from lmbook_press.assignments.questions import Homework, marks
from lmbook_press.book import Book


class Counted(Warm):
    """The warm processes of a batch, which at their end note what the graders' own processes have computed."""

    graders = 0.0

    def __exit__(self, *_) -> None:
        Counted.graders = computed(resource.RUSAGE_CHILDREN)
        super().__exit__()


def computed(whose: int) -> float:
    found = resource.getrusage(whose)
    return found.ru_utime + found.ru_stime


def right(course: Path, path: Path) -> Submission:
    homework = Homework.load(course)
    answers = {marks(cell).get("grade_id"): cell.source for cell in homework.grading.cells}
    for cell in homework.release.cells:
        if marks(cell).get("solution"):
            cell.source = answers[marks(cell)["grade_id"]]
    nbformat.write(homework.release, path)
    return Submission(path.stem, path)


def measure(course: Path, place: Path, count: int, cold: bool) -> tuple[float, float, float]:
    """Of one submission the seconds of its grader and those of its sandboxes, and what is computed once for all."""
    log = place / "log"
    log.touch()
    closed, warmed = Session.close, pool.warmed

    def close(session: Session) -> None:
        with log.open("a") as file:
            file.write(f"{used(*session.process.pids)[0]}\n")
        closed(session)

    Session.close, pool.Warm = close, Counted
    if cold:
        pool.warmed = lambda homework, package: Counted([], [], package)
    try:
        submissions = [right(course, place / f"s{number}.ipynb") for number in range(count)]
        begun = computed(resource.RUSAGE_CHILDREN), computed(resource.RUSAGE_SELF)
        results = pool.grade_many(submissions, course, place / "graded", jobs=1)
    finally:
        Session.close, pool.warmed, pool.Warm = closed, warmed, Warm
    full = {question.name: question.points for question in Homework.load(course).questions if not question.written}
    for result in results:
        assert {one["id"]: one["points"] for one in result["questions"] if one["id"] in full} == full, result["why"]
    graders = Counted.graders - begun[0]
    once = computed(resource.RUSAGE_CHILDREN) - Counted.graders + computed(resource.RUSAGE_SELF) - begun[1]
    return graders / count, sum(map(float, log.read_text().split())) / count, once


def main(number: int = 7, count: int = 2) -> None:
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    print("| homework | start | grader, s each | sandboxes, s each | a core's minute | once, s |")
    print("|---|---|--:|--:|--:|--:|", flush=True)
    for cold in (True, False):
        with tempfile.TemporaryDirectory() as place:
            course = Path(place) / f"{number:02}"
            make(Book(Path(__file__).parents[1]), course.parent, (course.name,), seed="a secret")
            grader, inside, once = measure(course, Path(place), 1 if cold else count, cold)
        row = f"| {number} | {'cold' if cold else 'warm'} | {grader:.2f} | {inside:.2f} "
        print(f"{row}| {60 / (grader + inside):.0f} | {once:.1f} |", flush=True)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
