"""A class of sixty, from making to gradebook: a homework for each, rosters and files of eight systems, a real Slurm.

With -s it prints the commands and what they said, as book/instructors.md shows them.
"""

import csv
import io
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from cluster import Cluster, missing, until
from points import ROOT
from samples import hand_in
from styles import SOLUTION
from test_class_of_thirty import STEM, WRONG

from lmbook_grader.sandbox.commands import available
from lmbook_press.assignments.questions import Homework, marks

pytestmark = [pytest.mark.slurm, pytest.mark.weekly, pytest.mark.timeout(3600)]
FIRST = ["Ada", "Ben", "Cleo", "Dina", "Emil", "Fatma", "Gwen", "Hugo", "Ines", "Jan"]
LAST = ["Abel", "Braun", "Costa", "Dahl", "Evans", "Fischer"]
PEOPLE = [(f"s{n:02}", FIRST[n % 10], LAST[n // 10]) for n in range(60)]  # id, first name, last name
ABSENT, CUT, SWAPPED, LATE = "s17", "s23", ("s30", "s31"), "s44"
HERE = [one for one in PEOPLE if one[0] != ABSENT]
DUE = "2026-09-14T23:59:59"


def table(rows: list, delimiter: str = ",") -> str:
    text = io.StringIO()
    csv.writer(text, delimiter=delimiter, lineterminator="\n").writerows(rows)
    return text.getvalue()


# system -> the roster as it writes it, and the path of a student's file as it names it
ROSTERS = {
    "canvas": table(
        [("Student", "ID", "SIS User ID", "SIS Login ID", "Section", "Homework 1 (4711)")]
        + [("    Points Possible", "", "", "", "", "16")]
        + [(f"{b}, {a}", 700 + n, i, f"{i}@x.org", "A" if n % 2 else "B", "") for n, (i, a, b) in enumerate(PEOPLE)]
    ),
    "moodle": table(
        [("Identifier", "Full name", "ID number", "Email address", "Status", "Grade", "Maximum grade")]
        + [(f"Participant {500 + n}", f"{a} {b}", i, f"{i}@x.org", "", "", 16) for n, (i, a, b) in enumerate(PEOPLE)]
    ),
    "gradescope": table(
        [("First Name", "Last Name", "SID", "Email")] + [(a, b, i, f"{i}@x.org") for i, a, b in PEOPLE]
    ),
    "d2l": table(
        [("OrgDefinedId", "Username", "Last Name", "First Name", "Email")]
        + [(f"#{i}", i, b, a, f"{i}@x.org") for i, a, b in PEOPLE]
    ),
    "blackboard": table([("Last Name", "First Name", "Username")] + [(b, a, i) for i, a, b in PEOPLE], "\t"),
    "sakai": table([("Student ID", "Name")] + [(i, f"{b}, {a}") for i, a, b in PEOPLE]),
    "google": table(
        [("Last Name", "First Name", "Email Address")] + [(b, a, f"{i}@x.org") for i, a, b in PEOPLE]
    ),
    "github": table(
        [("identifier", "github_username", "github_id", "name")]
        + [(i, f"gh-{i}", 9000 + n, f"{a} {b}") for n, (i, a, b) in enumerate(PEOPLE)]
    ),
}  # fmt: skip


def path_of(system: str, number: int, student: str, first: str, last: str) -> str:
    late = "LATE_" * (student == LATE)
    return {
        "canvas": f"{last}{first}_{late}{700 + number}_{90000 + number}_hw.ipynb".lower(),
        "moodle": f"{first} {last}_{500 + number}_assignsubmission_file/hw.ipynb",
        "gradescope": f"submission_{800 + number}/hw.ipynb",
        "d2l": f"39706{number}-25573 - {first} {last} - Sep 14, 2026 926 PM/hw.ipynb",
        "blackboard": f"Homework 1_{student}_attempt_2026-09-14-10-30-00_hw.ipynb",
        "sakai": f"Homework 1/{last}, {first}({student})/Submission attachment(s)/hw.ipynb",
        "google": f"{first} {last} - Homework 1.ipynb",
        "github": f"homework-1-submissions/homework-1-gh-{student}/hw.ipynb",
    }[system]


def answered(course: Path, student: str, number: int) -> nbformat.NotebookNode:
    """The student's own notebook with the answers to it; every fifth has one of them wrong."""
    own = Homework.load(course).of(student)
    assert own.student == student
    right = {
        marks(cell)["grade_id"]: SOLUTION.sub("", cell.source)
        for cell in own.grading.cells
        if marks(cell).get("solution")
    }
    notebook = nbformat.from_dict(own.release)
    for cell in notebook.cells:
        if marks(cell).get("solution"):
            name = marks(cell)["grade_id"]
            written = f"Answer of {student}."
            cell.source = (
                written
                if cell.cell_type == "markdown"
                else WRONG
                if name == "loss" and number % 5 == 0
                else right[name]
            )
    return notebook


@pytest.fixture
def cluster(tmp_path):
    if why := missing() or available("bwrap") or "":
        pytest.skip(why)
    with Cluster(tmp_path / "slurm", memory=12_000) as made:
        yield made


def test_from_making_to_the_gradebook(cluster, tmp_path, monkeypatch):
    (tmp_path / "class").mkdir()
    monkeypatch.chdir(tmp_path / "class")
    place, bin_ = tmp_path / "class", tmp_path / "bin"
    bin_.mkdir()
    (bin_ / "lmbook").write_text(f'#!/bin/bash\nexec {sys.executable} -m lmbook_cli "$@"\n')
    (bin_ / "lmbook").chmod(0o755)
    cluster.environment |= {"PATH": f"{bin_}:{os.environ['PATH']}", "PYTHONPATH": os.pathsep.join(sys.path)}

    def said(command: str, code: int = 0, shown: str = "", hide: str = r"$^") -> str:
        """Runs a line of the page and prints it as the page shows it."""
        done = subprocess.run(command, shell=True, cwd=place, env=cluster.environment, capture_output=True, text=True)
        assert done.returncode == code, done.stdout + done.stderr
        lines = [line for line in (done.stdout + done.stderr).splitlines() if not re.search(hide, line)]
        print(f"$ {shown or command}", *lines, "", sep="\n", flush=True)
        return done.stdout + done.stderr

    for system, roster in ROSTERS.items():
        encoding = "utf-16" if system == "blackboard" else "utf-8"
        Path(f"roster-{system}.csv").write_text(roster, encoding=encoding)
    command = "lmbook homework make 01 --out course --roster roster-canvas.csv"
    said(f"{command} --book {ROOT}", shown=command)
    course = place / "course/01"
    assert len({(one / f"{STEM}.ipynb").read_bytes() for one in (course / "students").iterdir()}) == 60

    notebooks = {student: answered(course, student, number) for number, (student, *_) in enumerate(HERE)}
    one, other = SWAPPED
    notebooks[one], notebooks[other] = notebooks[other], notebooks[one]
    metadata = ""
    for number, (student, first, last) in enumerate(PEOPLE):
        if student == ABSENT:
            continue
        metadata += f"submission_{800 + number}:\n  :submitters:\n  - :sid: {student}\n"
        metadata += f"    :name: {first} {last}\n  :created_at: 2026-09-14 10:00:00 Z\n"
        for system in ROSTERS:
            path = hand_in(notebooks[student], Path(f"from-{system}") / path_of(system, number, student, first, last))
            if student == CUT:
                path.write_text(path.read_text()[:5000])
    Path("from-gradescope/submission_metadata.yml").write_text(metadata)
    for system in ROSTERS:
        folder = f"from-{system}" + "/homework-1-submissions" * (system == "github")
        check = f"lmbook homework grade course/01 {folder} --roster roster-{system}.csv --dry-run"
        done = subprocess.run(check.split(), env=cluster.environment, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr
        found = re.findall(r"^(s\d\d)(?:@x\.org)? \(.*?\): ", done.stdout, re.MULTILINE)
        assert sorted(found) == [student for student, *_ in HERE], (system, done.stdout)
        print(f"{system}: {len(found)} of {len(HERE)} files, each its student's", flush=True)

    os.rename("from-canvas", "submissions")
    script = "COURSE=course/01 SUBMISSIONS=submissions ROSTER=roster-canvas.csv sbatch --array=1-4"
    said(f"{script} {ROOT}/book/scale-out/slurm.sh", shown=f"{script} slurm.sh")
    until(
        lambda: [job for job in cluster.jobs() if job["NodeList"] == "n2" and job["JobState"] == "RUNNING"], "n2 idles"
    )
    until(lambda: list(place.glob("parts/*/01/results/s*.json")), "nothing is graded")
    cluster.end("n2")
    ended = ("COMPLETED", "FAILED", "NODE_FAIL")
    until(lambda: all(job["JobState"] in ended for job in cluster.jobs()), lambda: str(cluster.jobs()), 1800)
    assert max(int(job["Restarts"]) for job in cluster.jobs()) == 1
    said("lmbook homework merge parts/*/01 --out graded/01")
    results = {path.stem: json.loads(path.read_text()) for path in place.glob("graded/01/results/*.json")}
    assert results.keys() == {student for student, *_ in HERE}
    points = {name: sum(one["points"] for one in found["questions"]) for name, found in results.items()}
    assert results[CUT]["status"] == "unreadable"
    for number, (student, *_) in enumerate(HERE):
        if student in SWAPPED:
            assert results[student]["made_for"] != student
            assert points[student] < 12
        elif student != CUT:
            assert points[student] == (10 if number % 5 == 0 else 12), student

    said("lmbook homework sheet course/01 submissions --roster roster-canvas.csv")
    rows = list(csv.DictReader(io.StringIO(Path("graded/01/marks.csv").read_text("utf-8-sig"), newline="")))
    for row in rows:
        row["points"], row["minutes"] = "3", "1.5"
    with Path("graded/01/marks.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    report = "lmbook homework report course/01 graded/01 --roster roster-canvas.csv --scores canvas"
    report += ' --column "Homework 1 (4711)"'
    said(f"{report} --site https://example.org", shown=report)
    rules = f'timezone = "Europe/Berlin"\npenalty = 10\nlate_days = 2\nlatest = 4\n\n[homework.01]\ndue = {DUE}\n'
    Path("course/course.toml").write_text(rules + 'column = "Homework 1 (4711)"\n')
    Path("graded/01/times.csv").write_text(f"student,submitted\n{LATE},2026-09-15T12:00:00\n")
    said("lmbook homework gradebook course graded --roster roster-canvas.csv --scores canvas")
    totals = list(csv.DictReader(io.StringIO(Path("graded/gradebook-canvas.csv").read_text("utf-8-sig"), newline="")))
    assert {row["SIS User ID"] for row in totals} >= {student for student, *_ in PEOPLE}
