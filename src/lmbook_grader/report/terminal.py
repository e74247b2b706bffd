"""The lines of `lmbook homework grade`: progress with the time left, what the intake found, the table at the end."""

import sys
import time
from collections import Counter
from pathlib import Path
from statistics import mean

from tqdm import tqdm

from lmbook_grader.intake.collect import Collected
from lmbook_grader.intake.reading import shown
from lmbook_grader.intake.roster import Roster
from lmbook_grader.report.results import number, score
from lmbook_press.unseen import plain

NO_POINTS = {"ungraded": "not graded", "unreadable": "could not be read"}


class Progress:
    """Called after each submission: a bar on a terminal, otherwise one line each, both with the time left."""

    def __init__(self, total: int, stream=None):
        self.total, self.done, self.stream = total, 0, stream or sys.stderr
        self.fresh, self.bar = 0, None
        self.started = time.monotonic()

    def __enter__(self) -> "Progress":
        if self.stream.isatty():
            self.bar = tqdm(total=self.total, unit="notebook", file=self.stream, dynamic_ncols=True)
        return self

    def __exit__(self, *_) -> None:
        if self.bar is not None:
            self.bar.close()

    def __call__(self, result: dict, done: int, total: int, kept: bool = False) -> None:
        """kept: the result is of an earlier run, and says nothing about the time that is left."""
        self.done = done
        if kept:
            self.started = time.monotonic()
        else:
            self.fresh += 1
        if self.bar is not None:
            if kept:
                self.bar.initial, self.bar.start_t = done, time.time()
                self.bar.last_print_t = self.bar.start_t  # or the bar takes itself for one never shown
            self.bar.update(done - self.bar.n)
            if result["status"] != "graded":
                self.bar.write(plain(f"{result['student']}: {_said(result)}"), file=self.stream)
            return
        said = plain(f"{done}/{total}  {result['student']}: {_said(result)}{self._left(done)}")
        print(said, file=self.stream, flush=True)

    def _left(self, done: int) -> str:
        if not self.fresh:
            return "  (kept)"
        seconds = (time.monotonic() - self.started) / self.fresh * (self.total - done)
        return f"  (about {seconds / 60:.0f} min left)" if seconds > 90 else f"  (about {seconds:.0f} s left)"


def _said(result: dict) -> str:
    if result["status"] != "graded":
        return f"{NO_POINTS[result['status']]}: {result['why']}"
    so_far = sum(one["points"] for one in result["questions"])
    return f"{number(so_far)} of {number(score(result).most)} points in {result['seconds']:.1f} s"


def intake_lines(collected: Collected, folder: Path, roster: Roster) -> list[str]:
    """Whose each file is, with what is to be said of it; which files are nobody's, who handed in nothing."""
    lines = []
    for one in collected.submissions:
        name = roster[one.student].name
        lines.append(f"{one.student}{f' ({name})' if name else ''}: {shown(one.path.relative_to(folder))}")
        lines += [f"    to {one.student}: {note}" for note in one.notes]
    return lines + _odd(collected, folder)


def _odd(collected: Collected, folder: Path) -> list[str]:
    lines = []
    if collected.faults:
        lines.append(f"\nFiles that nobody could be graded for: {len(collected.faults)}")
        lines += [f"  {shown(fault.path.relative_to(folder))} {fault.why}" for fault in collected.faults]
    if collected.absent:
        lines.append(f"\nNo submission: {len(collected.absent)}")
        lines.append("  " + ", ".join(student.id for student in collected.absent))
    return lines


def table_lines(results: list[dict], collected: Collected, folder: Path, seconds: float) -> list[str]:
    """The table at the end: submissions by outcome, questions by state, and whatever a person must look at."""
    graded = [result for result in results if result["status"] == "graded"]
    lines = ["", f"Graded: {len(graded)} of {len(results)} in {seconds:.0f} s"]
    asked: dict[str, list[dict]] = {}
    for result in graded:
        for one in result["questions"]:
            asked.setdefault(one["id"], []).append(one)
    states = ("right", "partly", "wrong", "error", "missing", "manual")
    if asked:
        width = max(len(name) for name in (*asked, "question"))
        lines += ["", " ".join([f"{'question':<{width}}", *(f"{state:>7}" for state in states), " mean of"])]
        for name, ones in asked.items():
            counts = Counter(one["status"] for one in ones)
            average = "?" if counts["manual"] else f"{mean(one['points'] for one in ones):.1f}"
            cells = [f"{name:<{width}}", *(f"{counts[state]:>7}" for state in states)]
            lines.append(" ".join([*cells, f"{average:>4} {number(ones[0]['max']):>3}"]))
    if unreadable := [result for result in results if result["status"] == "unreadable"]:
        lines += ["", f"Could not be read: {len(unreadable)} (no points, and no zero: ask for the notebook)"]
        lines += [f"  {result['student']}: {result['file']}. {result['why']}" for result in unreadable]
    if stopped := [result["student"] for result in results if result.get("stopped")]:
        lines += ["", f"Stopped, with their points so far: {', '.join(stopped)}"]
    if ungraded := [result for result in results if result["status"] == "ungraded"]:
        lines += ["", f"Not graded: {len(ungraded)} (the machine's fault; --resume tries them again)"]
        lines += [f"  {result['student']}: {result['why']}" for result in ungraded]
    return lines + _odd(collected, folder) + [""]
