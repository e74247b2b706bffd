"""Time saved by a warm start: seconds for a right submission, each run started cold and each forked, as a table.

    python benchmarks/warm_starts.py [HOMEWORK] [SUBMISSIONS]       default 7 2

So many are graded one after the other, cold and warm; the imports that serve a whole class have a column of their own.
"""

import os
import sys
import tempfile
import time
from pathlib import Path

import nbformat

from lmbook_grader.grading import pool
from lmbook_grader.intake.collect import Submission
from lmbook_grader.sandbox.warm import Warm
from lmbook_press.assignments.make import make
from lmbook_press.assignments.questions import Homework, marks
from lmbook_press.book import Book


def right(course: Path, path: Path) -> Submission:
    homework = Homework.load(course)
    answers = {marks(cell).get("grade_id"): cell.source for cell in homework.grading.cells}
    for cell in homework.release.cells:
        if marks(cell).get("solution"):
            cell.source = answers[marks(cell)["grade_id"]]
    nbformat.write(homework.release, path)
    return Submission(path.stem, path)


def measure(course: Path, place: Path, count: int, cold: bool) -> tuple[float, float]:
    """Seconds on the clock of one submission, and of what is done once for all."""
    warmed = pool.warmed
    if cold:
        pool.warmed = lambda homework, package: Warm([], [], package)
    submissions = [right(course, place / f"s{number}.ipynb") for number in range(count)]
    begun = time.perf_counter()
    try:
        results = pool.grade_many(submissions, course, place / "graded", jobs=1)
    finally:
        pool.warmed = warmed
    took, each = time.perf_counter() - begun, sum(result["seconds"] for result in results)
    full = {question.name: question.points for question in Homework.load(course).questions if not question.written}
    for result in results:
        assert {one["id"]: one["points"] for one in result["questions"] if one["id"] in full} == full, result["why"]
    return each / count, took - each


def main(number: int = 7, count: int = 2) -> None:
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    print("| homework | start | s each | a minute | once, s |")
    print("|---|---|--:|--:|--:|", flush=True)
    for cold in (True, False):
        with tempfile.TemporaryDirectory() as place:
            course = Path(place) / f"{number:02}"
            make(Book(Path(__file__).parents[1]), course.parent, (course.name,), seed="a secret")
            each, once = measure(course, Path(place), count, cold)
        start = "cold" if cold else "warm"
        print(f"| {number} | {start} | {each:.2f} | {60 / each:.0f} | {once:.1f} |", flush=True)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
