"""Grading a class: how fast, in how much memory, and what an interruption costs, as a table.

    python benchmarks/homework.py [SUBMISSIONS] [JOBS] [PEER]       default 300 2 0

Homework 1, with a secret.  Of every fifty submissions one loops without end, two end the program, five are empty and
ten have a listed wrong answer; the others are right.  The batch is killed (SIGKILL) when half of it is done, and
resumed.  Every result is compared with the points that it must have.  With PEER, so many right submissions are also
graded by `nbgrader autograde`, in one process as it comes, without walls.  Memory is the proportional set size of all
processes of the batch, looked at four times a second.
"""

import json
import os
import resource
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import nbformat

from lmbook_press.assignments.make import make
from lmbook_press.book import Book

ROOT = Path(__file__).parents[1]
STEM, NUMBER = "01-chain-rule", "01"
LOOP = "def log_probability(model, sentence):\n    while True:\n        pass"
EXIT = "import os\n\ndef estimate(sentences):\n    os._exit(0)"


def submissions(count: int, course: Path, folder: Path) -> dict[str, float]:
    """Writes the notebooks and a roster; returns the points that each must get."""
    space: dict = {}
    exec((ROOT / "tests/homework/answers" / f"{STEM}.py").read_text(), space)
    wrong, full = list(space["WRONG"].values()), space["FULL"]
    master, release = (
        nbformat.read(course / NUMBER / kind / f"{STEM}.ipynb", as_version=4) for kind in ("grading", "release")
    )
    right = {cell.metadata.get("nbgrader", {}).get("grade_id"): cell.source for cell in master.cells}
    # Each answer's loss: questions 1 and 3 (4 + 2 points) need log_probability, question 2 (3 points) estimate.
    special = {40: ({"log-probability": LOOP}, full - 6), 1: ({"estimate": EXIT}, full - 3)}
    special |= {25: special[1]} | {at: (dict.fromkeys(right, ""), 0) for at in range(2, 7)}
    special |= {at: (wrong[at % len(wrong)]["answers"], wrong[at % len(wrong)]["score"]) for at in range(10, 20)}
    folder.mkdir()
    wanted, lines = {}, ["id,name"]
    for number in range(count):
        name = f"s{number:04}"
        answers, wanted[name] = special.get(number % 50, ({}, full))
        notebook = nbformat.from_dict(release)
        for cell in notebook.cells:
            mark = cell.metadata.get("nbgrader", {})
            if mark.get("solution"):
                source = answers.get(mark["grade_id"], right[mark["grade_id"]])
                cell.source = source.strip("\n") or cell.source
        nbformat.write(notebook, folder / f"{name}.ipynb")
        lines.append(f"{name},Student {number}")
    (course / "roster.csv").write_text("\n".join(lines) + "\n")
    return wanted


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
    words = [sys.executable, "-m", "lmbook_grader.cli", "homework", "grade", str(course / NUMBER), str(folder)]
    words += ["--roster", str(course / "roster.csv"), "--jobs", str(jobs), "--out", str(course / "graded")]
    begun, before = time.monotonic(), resource.getrusage(resource.RUSAGE_CHILDREN)
    with (course / "said.txt").open("w") as said:
        process = subprocess.Popen([*words, *["--resume"] * resume], stdout=said, stderr=said)
        memory = Memory(process.pid)
        memory.start()
        while process.poll() is None:
            time.sleep(0.2)
            if stop_after is not None and len(results(course)) >= stop_after:
                process.kill()
        process.wait()
    memory.over.set()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    computed = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return time.monotonic() - begun, computed, memory.most, process.returncode


def results(course: Path) -> list[Path]:
    return list((course / "graded" / NUMBER / "results").glob("[!.]*.json"))


def peer(count: int, course: Path, folder: Path) -> float:
    """Submissions a minute of nbgrader's own autograder."""
    from nbgrader.apps import NbGraderAPI
    from traitlets.config import Config

    os.environ["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    (course / "source/hw").mkdir(parents=True)
    (course / "source/hw/one.ipynb").write_bytes((course / NUMBER / "grading" / f"{STEM}.ipynb").read_bytes())
    api = NbGraderAPI(config=Config({"CourseDirectory": {"root": str(course)}}))
    assert api.generate_assignment("hw", force=True, create=True)["success"]
    right = sorted(folder.glob("*.ipynb"))[20 : 20 + count]
    for path in right:
        (course / "submitted" / path.stem / "hw").mkdir(parents=True)
        (course / "submitted" / path.stem / "hw/one.ipynb").write_bytes(path.read_bytes())
    begun = time.monotonic()
    for path in right:
        result = api.autograde("hw", path.stem)
        assert result["success"], result["log"]
    return 60 * len(right) / (time.monotonic() - begun)


def main(count: int = 300, jobs: int = 2, peers: int = 0) -> None:
    with tempfile.TemporaryDirectory() as place:
        course, folder = Path(place), Path(place) / "submissions"
        make(Book(ROOT), course, (NUMBER,), seed="a secret")
        wanted = submissions(count, course, folder)
        first = grade(course, folder, jobs, stop_after=count // 2)
        kept = {path.name: path.stat().st_mtime_ns for path in results(course)}
        second = grade(course, folder, jobs, resume=True)
        found = {path.stem: json.loads(path.read_text()) for path in results(course)}
        lost = wanted.keys() - found.keys()
        points = {name: sum(question["points"] for question in result["questions"]) for name, result in found.items()}
        false = {name: (points[name], wanted[name]) for name in found if points[name] != wanted[name]}
        again = sum(path.stat().st_mtime_ns != kept.get(path.name, path.stat().st_mtime_ns) for path in results(course))
        print("| | submissions | seconds | a minute | computed s each | MB at most | exit code |")
        print("|---|--:|--:|--:|--:|--:|--:|")
        for name, graded, (seconds, computed, most, code) in (
            ("until killed", len(kept), first), ("resumed", count - len(kept), second),
        ):  # fmt: skip
            row = f"| {name} | {graded} | {seconds:.0f} | {60 * graded / seconds:.1f} "
            print(f"{row}| {computed / max(graded, 1):.2f} | {most:.0f} | {code} |")
        print(f"\nLost: {len(lost)}. Graded twice: {again}. Points not as they must be: {len(false)}. Jobs: {jobs}.")
        if peers:
            print(f"nbgrader autograde, without walls, on {peers} of them: {peer(peers, course, folder):.1f} a minute.")
        if lost or false or again or second[3]:
            print((course / "said.txt").read_text()[-2000:], false, file=sys.stderr)
            sys.exit("The results are not as they must be.")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
