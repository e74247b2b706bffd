"""Grading a class: how fast, in how much memory, and what an interruption costs, as a table.

    python benchmarks/homework.py [SUBMISSIONS] [JOBS] [PEER] [HOMEWORK] [OWN]       default 300 2 0 1 0

With a secret.  Of every thirty submissions one loops without end, one ends the program, three are empty and six have a
listed wrong answer; the others are right.  The batch is killed (SIGKILL) when half of it is done, and resumed.  Every
result is compared with the points that it must have: what is wrong is an answer that no other needs, so that nothing
is carried.  With PEER, so many right submissions are also graded by `nbgrader autograde`, in one process as it comes,
without walls.  With OWN, so many right submissions are then graded three times in turn as the notebook that all have,
and as one made for each student.  Seconds computed are those of all processes, the students' too.  Memory is the
proportional set size of all processes of the batch, looked at four times a second.
"""

import contextlib
import ctypes
import itertools
import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import nbformat

from lmbook_press.assignments.make import make
from lmbook_press.assignments.questions import Homework, Question, bound_and_read, marks
from lmbook_press.book import Book

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests" / "homework"))
from points import with_functions, with_values  # noqa: E402
from slips import wrong_answers  # noqa: E402

LOOP, EXIT = "    while True:\n        pass", "    import os\n    os._exit(0)"
ADOPTS_ORPHANS = 36  # PR_SET_CHILD_SUBREAPER: what a killed sandbox has computed is then counted here


def submissions(count: int, course: Path, folder: Path) -> dict[str, float]:
    """Writes the notebooks and a roster; returns the points that each must get."""
    homework = Homework.load(course)
    listed = wrong_answers(homework.name)
    right = {marks(cell).get("grade_id"): cell.source for cell in homework.grading.cells}
    alone = {question.name: question for question in homework.questions if not read_elsewhere(question, homework)}
    wrong = [(answers, points) for answers, points in mistaken(homework.name) if alone.keys() >= answers.keys()]
    first = next(question for question in alone.values() if question.checks)
    spoilt = [
        (
            {first.name: "\n".join(f"def {name}(*_, **__):\n{body}" for name in sorted(first.functions))},
            listed.full - first.points,
        )
        for body in (LOOP, EXIT)
    ]
    special = dict(enumerate([*spoilt, *[(dict.fromkeys(right, ""), 0)] * 3]))
    special |= dict(zip(range(5, 11), itertools.cycle(wrong), strict=False))
    folder.mkdir()
    wanted, lines = {}, ["id,name"]
    for number in range(count):
        name = f"s{number:04}"
        answers, wanted[name] = special.get(number % 30, ({}, listed.full))
        notebook = nbformat.from_dict(homework.release)
        for cell in notebook.cells:
            mark = marks(cell)
            if mark.get("solution"):
                source = answers.get(mark["grade_id"], right[mark["grade_id"]])
                cell.source = source.strip("\n") or cell.source
        nbformat.write(notebook, folder / f"{name}.ipynb")
        lines.append(f"{name},Student {number}")
    (course.parent / "roster.csv").write_text("\n".join(lines) + "\n")
    return wanted


def mistaken(stem: str) -> list[tuple[dict[str, str], float]]:
    """The listed wrong answers to a homework in the edition for all, by grade_id, and the points of each."""
    listed = [(with_functions(stem, given), points) for points, given in wrong_answers(stem).cases.values()]
    return [({name: with_values(stem, source, None, None) for name, source in a.items()}, p) for a, p in listed]


def read_elsewhere(question: Question, homework: Homework) -> bool:
    """Whether a cell of another question reads what this one defines.  What stands below the last check gives no
    points."""
    own = {question.name, *(check.name for check in question.checks)}
    cells = [cell for cell in homework.grading.cells if cell.cell_type == "code"]
    last = max(at for at, cell in enumerate(cells) if marks(cell).get("grade"))
    cells = [cell for cell in cells[: last + 1] if marks(cell).get("grade_id") not in own]
    return any(bound_and_read(cell.source)[1] & (question.functions | question.values) for cell in cells)


class Memory(threading.Thread):
    """The most memory that a process and all below it held, in MB."""

    def __init__(self, pid: int):
        super().__init__(daemon=True)
        self.pid, self.most, self.over = pid, 0.0, threading.Event()

    def run(self) -> None:
        while not self.over.wait(0.25):
            self.most = max(self.most, sum(map(held, tree(self.pid))) / 1000)


def tree(pid: int) -> list[int]:
    parents = {}
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            fields = Path(f"/proc/{name}/stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        parents.setdefault(int(fields[1]), []).append(int(name))
    found = [pid]
    for one in found:
        found += parents.get(one, [])
    return found


def held(pid: int) -> int:
    """kB of a process, shared pages counted in part."""
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0
    return sum(int(line.split()[1]) for line in lines if line.startswith("Pss:"))


def grade(course: Path, folder: Path, jobs: int, stop_after: int | None = None, resume: bool = False) -> tuple:
    """Runs the command; returns seconds on the clock, seconds computed, MB at most, and its exit code."""
    words = [sys.executable, "-m", "lmbook_cli", "homework", "grade", str(course), str(folder)]
    words += [
        "--roster",
        str(course.parent / "roster.csv"),
        "--jobs",
        str(jobs),
        "--out",
        str(course.parent / "graded"),
    ]
    begun, before = time.monotonic(), resource.getrusage(resource.RUSAGE_CHILDREN)
    with (course.parent / "said.txt").open("w") as said:
        process = subprocess.Popen([*words, *["--resume"] * resume], stdout=said, stderr=said)
        memory = Memory(process.pid)
        memory.start()
        while process.poll() is None:
            time.sleep(0.2)
            bury(process.pid)
            if stop_after is not None and len(results(course)) >= stop_after:
                process.kill()
        process.wait()
    memory.over.set()
    seconds = time.monotonic() - begun
    for _ in range(20):  # the last ones end after the batch
        bury()
        time.sleep(0.05)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    computed = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return seconds, computed, memory.most, process.returncode


def bury(kept: int = 0) -> None:
    """Takes note of what has ended, but for one process."""
    with contextlib.suppress(ChildProcessError):
        while (ended := os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)) and ended.si_pid != kept:
            os.waitpid(ended.si_pid, 0)


def results(course: Path) -> list[Path]:
    return list((course.parent / "graded" / course.name / "results").glob("[!.]*.json"))


def peer(count: int, course: Path, folder: Path) -> float:
    """Submissions a minute of nbgrader's own autograder."""
    from nbgrader.apps import NbGraderAPI
    from traitlets.config import Config

    root = course.parent
    os.environ["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    (root / "source/hw").mkdir(parents=True)
    (root / "source/hw/one.ipynb").write_bytes(next((course / "grading").glob("*.ipynb")).read_bytes())
    api = NbGraderAPI(config=Config({"CourseDirectory": {"root": str(root)}}))
    assert api.generate_assignment("hw", force=True, create=True)["success"]
    right = sorted(folder.glob("*.ipynb"))[11 : 11 + count]
    for path in right:
        (root / "submitted" / path.stem / "hw").mkdir(parents=True)
        (root / "submitted" / path.stem / "hw/one.ipynb").write_bytes(path.read_bytes())
    begun = time.monotonic()
    for path in right:
        result = api.autograde("hw", path.stem)
        assert result["success"], result["log"]
    return 60 * len(right) / (time.monotonic() - begun)


def one_of_their_own(count: int, jobs: int, number: int, place: Path) -> str:
    """How fast right submissions are graded that were made for each student, beside what all have: a sentence."""
    names, spent = [f"s{one:04}" for one in range(count)], {}
    for kind in ("for all", "for each"):
        course, folder = place / kind / f"{number:02}", place / kind / "submissions"
        make(Book(ROOT), course.parent, (course.name,), seed="a secret", students=names if kind == "for each" else ())
        homework = Homework.load(course)
        folder.mkdir()
        for name in names:
            made = homework.of(name)
            right = {marks(cell).get("grade_id"): cell.source for cell in made.grading.cells}
            for cell in made.release.cells:
                if marks(cell).get("solution"):
                    cell.source = right[marks(cell)["grade_id"]]
            nbformat.write(made.release, folder / f"{name}.ipynb")
        (course.parent / "roster.csv").write_text("\n".join(["id,name", *(f"{name},Student {name}" for name in names)]))
    full = wrong_answers(homework.name).full
    for _ in range(3):
        for kind in ("for all", "for each"):
            course = place / kind / f"{number:02}"
            shutil.rmtree(course.parent / "graded", ignore_errors=True)
            seconds, computed, _, _ = grade(course, place / kind / "submissions", jobs)
            spent.setdefault(kind, []).append((seconds, computed))
            points = [
                sum(one["points"] for one in json.loads(path.read_text())["questions"]) for path in results(course)
            ]
            assert points == [full] * count, points
    clock, work = ([min(one[at] for one in spent[kind]) for kind in ("for all", "for each")] for at in (0, 1))
    rates = f"{60 * count / clock[0]:.1f} submissions a minute for all, {60 * count / clock[1]:.1f} for each"
    return f"Made {rates}: {clock[0] / clock[1]:.0%} of the rate, {work[0] / work[1]:.0%} by seconds computed."


def main(count: int = 300, jobs: int = 2, peers: int = 0, number: int = 1, own: int = 0) -> None:
    ctypes.CDLL(None).prctl(ADOPTS_ORPHANS, 1)
    with tempfile.TemporaryDirectory() as place:
        course, folder = Path(place) / f"{number:02}", Path(place) / "submissions"
        make(Book(ROOT), course.parent, (course.name,), seed="a secret")
        wanted = submissions(count, course, folder)
        first = grade(course, folder, jobs, stop_after=count // 2)
        kept = {path.name: path.stat().st_mtime_ns for path in results(course)}
        second = grade(course, folder, jobs, resume=True)
        found = {path.stem: json.loads(path.read_text()) for path in results(course)}
        lost = wanted.keys() - found.keys()
        points = {name: sum(question["points"] for question in result["questions"]) for name, result in found.items()}
        false = {name: (points[name], wanted[name]) for name in found if points[name] != wanted[name]}
        again = sum(path.stat().st_mtime_ns != kept.get(path.name, path.stat().st_mtime_ns) for path in results(course))
        print(
            "| | submissions | seconds | a minute | computed s each | a minute of one core | MB at most | exit code |"
        )
        print("|---|--:|--:|--:|--:|--:|--:|--:|")
        for name, graded, (seconds, computed, most, code) in (
            ("until killed", len(kept), first), ("resumed", count - len(kept), second),
        ):  # fmt: skip
            row = f"| {name} | {graded} | {seconds:.0f} | {60 * graded / seconds:.1f} "
            print(f"{row}| {computed / max(graded, 1):.2f} | {60 * graded / computed:.0f} | {most:.0f} | {code} |")
        print(f"\nLost: {len(lost)}. Graded twice: {again}. Points not as they must be: {len(false)}. Jobs: {jobs}.")
        if peers:
            print(f"nbgrader autograde, without walls, on {peers} of them: {peer(peers, course, folder):.1f} a minute.")
        if own:
            print(one_of_their_own(own, jobs, number, Path(place)))
        if lost or false or again or second[3]:
            print((course.parent / "said.txt").read_text()[-2000:], false, file=sys.stderr)
            sys.exit("The results are not as they must be.")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
