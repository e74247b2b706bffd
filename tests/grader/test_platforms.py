"""The same submission, the same points: by `grade`, in Gradescope's container, and in a matrix of GitHub Actions."""

import json
import os
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import nbformat
import pytest
import yaml
from click.testing import CliRunner
from points import ROOT
from samples import hand_in
from styles import styled
from test_class_of_thirty import EMPTY, RELEASES, STEM, WRONG, lmbook, solved, without_marks

from lmbook_cli import main
from lmbook_grader.platforms import gradescope

HALF = "def estimate(sentences):\n    return {'a': 0.5}"
CRASH = "raise ValueError('bad letter \\ud800')"
KINDS = [
    lambda n: solved(f"Answer number {n}."),
    lambda n: solved("Half.", loss=WRONG, estimate=None),
    lambda n: b"{",
    lambda n: solved("It stops.", log_probability=CRASH),
    lambda n: styled(STEM, n)[0],
    lambda n: without_marks(solved(f"Marks lost by {n}.")),
    lambda n: nbformat.read(RELEASES / f"{STEM}.ipynb", as_version=4),
    lambda n: solved("Wrong below.", estimate=HALF),
    lambda n: solved("Nothing but words.", **EMPTY),
    lambda n: b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n1 0 obj",
]


@pytest.fixture
def place(walls, tmp_path, monkeypatch) -> Path:
    """The private repository of a course whose students hand in at GitHub, with stand-ins for what a runner has."""
    monkeypatch.chdir(tmp_path)
    programs = {
        "lmbook": f'exec {sys.executable} -m lmbook_cli "$@"',
        "gh": 'if [ "$1" = api ]; then ls github; elif [ "$2" = clone ]; then mkdir -p "$(dirname "$4")"; '
        'cp -r "github/${3#*/}" "$4"; fi',
        "sudo": "exit 0",
        "pip": "exit 0",
    }
    for name, script in programs.items():
        program = tmp_path / "bin" / name
        program.parent.mkdir(exist_ok=True)
        program.write_text(f"#!/bin/bash\n{script}\n")
        program.chmod(0o755)
    assert lmbook("make", "01", "--out", "course", "--book", ROOT)
    lmbook("actions", "course/01", "--organization", "org", "--assignment", "hw-1", "--out", "grade.yml")
    lmbook("autograder", "course/01", "--out", "autograder.zip")
    with zipfile.ZipFile("autograder.zip") as archive:
        archive.extractall("autograder/source")
    return tmp_path


def expressions(text: str, known: dict[str, str]) -> str:
    """GitHub's ${{ expressions }} as it fills them in."""
    return re.sub(r"\$\{\{ (.+?) \}\}", lambda found: known[found[1]], text)


def run(step: dict, place: Path, known: dict[str, str], everywhere: dict[str, str]) -> subprocess.CompletedProcess:
    """A step's script, as a runner starts it: bash, with what the workflow and the step set and nothing else."""
    own = {name: expressions(value, known) for name, value in step.get("env", {}).items()}
    # The book is where the test runs: the jobs are in the book's own folder.
    around = {"PATH": f"{place / 'bin'}:{os.environ['PATH']}", "PYTHONPATH": os.pathsep.join(sys.path)}
    around |= {"GITHUB_OUTPUT": str(place / "output"), "HOME": str(place)}
    words = [
        "bash",
        "--noprofile",
        "--norc",
        "-eo",
        "pipefail",
        "-c",
        step["run"].replace("--out course", f"--out course --book {ROOT}"),
    ]
    return subprocess.run(words, cwd=place, env=around | everywhere | own, capture_output=True, text=True)


def by_actions(place: Path, most: int) -> dict[str, dict]:
    """The results after all steps of the workflow.  most: jobs, in place of GitHub's 256; then several share one."""
    workflow = yaml.safe_load((place / "grade.yml").read_text().replace("256", str(most)))
    jobs, everywhere = workflow["jobs"], workflow["env"]
    known = {
        "secrets.CLASSROOM_TOKEN": "token",
        "secrets.COURSE_SECRET": (place / "course/secret.txt").read_text().strip(),
    }
    scripts = {name: [step for step in job["steps"] if "run" in step] for name, job in jobs.items()}
    (step,) = scripts["list"]
    done = run(step, place, known, everywhere)
    assert done.returncode == 0, done.stderr
    said = dict(line.split("=", 1) for line in (place / "output").read_text().splitlines())
    for number, names in enumerate(json.loads(said["jobs"])):
        mine = known | {"matrix.repositories": names, "strategy.job-index": str(number)}
        subprocess.run(
            ["rm", "-rf", "course", "submissions"], cwd=place, check=True
        )  # each job has a runner of its own
        for step in scripts["grade"]:
            done = run(step, place, mine, everywhere)
            grades = step["name"] == "Grade it"  # which is red where a file cannot be read
            assert done.returncode == 0 or (grades and "Could not be read: " in done.stdout), done.stdout + done.stderr
    for step in scripts["merge"]:
        done = run(step, place, known | {"needs.list.outputs.count": said["count"]}, everywhere)
        assert done.returncode == 0, done.stdout + done.stderr
    assert (place / "graded/01/scores-canvas.csv").is_file()
    return results(place / "graded/01")


def results(folder: Path) -> dict[str, dict]:
    return {path.stem: json.loads(path.read_text()) for path in folder.glob("results/*.json")}


def points(one: dict) -> list[float]:
    return [check["points"] for question in one["questions"] for check in question["checks"]]


def by_gradescope(place: Path, repository: Path) -> list[float]:
    home = place / "autograder"
    for name in ("submission", "results"):
        subprocess.run(["rm", "-rf", home / name], check=True)
    subprocess.run(["cp", "-r", repository, home / "submission"], check=True)
    gradescope.grade(home)
    page = json.loads((home / "results/results.json").read_text())
    found = [one["score"] for one in page["tests"] if "score" in one]
    assert page["score"] == sum(found)
    return found


@pytest.mark.parametrize("count", [4, pytest.param(300, marks=[pytest.mark.weekly, pytest.mark.timeout(3600)])])
def test_three_ways_give_the_same_points(place, count):
    names = [f"s{number:03}" for number in range(count)]
    rows = "".join(f"{name},{name},Name of {name}\n" for name in names)
    Path("roster.csv").write_text(f"identifier,github_username,name\n{rows}", encoding="utf-8")
    for number, name in enumerate(names):
        content, path = KINDS[number % len(KINDS)](number), Path(f"github/hw-1-{name}/homework.ipynb")
        path.parent.mkdir(parents=True)
        (path.parent / "README.md").write_text("# Homework 1\n")
        path.write_bytes(content) if isinstance(content, bytes) else hand_in(content, path)
    Path("github/another-assignment-s000").mkdir()

    subprocess.run(["cp", "-r", "github", "hw-1-submissions"], check=True)
    subprocess.run(["rm", "-r", "hw-1-submissions/another-assignment-s000"], check=True)
    lmbook("grade", "course/01", "hw-1-submissions", "--roster", "roster.csv", "--out", "one", code=1)
    wanted = {name: points(one) for name, one in results(Path("one/01")).items()}
    assert wanted.keys() == set(names)
    assert {sum(one) for one in wanted.values()} > {0, 12}
    assert {name: by_gradescope(place, place / f"github/hw-1-{name}") for name in names} == wanted
    print(
        f"{count} submissions, {sum(map(sum, wanted.values()))} points: by grade and in Gradescope's container",
        flush=True,
    )
    found = by_actions(place, most=min(count // 2, 16))
    assert {name: points(one) for name, one in found.items()} == wanted
    print("and by GitHub Actions")


def test_no_secret_reaches_a_student_or_the_step_that_grades(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    lmbook("make", "01", "--out", "course", "--book", ROOT)
    lmbook("actions", "course/01", "--organization", "org", "--assignment", "hw-1", "--out", "grade.yml")
    text = Path("grade.yml").read_text()
    assert Path("course/secret.txt").read_text().strip() not in text
    workflow = yaml.safe_load(text)
    assert workflow[True] == {"workflow_dispatch": None}  # no event of a student's repository starts it
    assert workflow["permissions"] == {"contents": "read"}
    steps = [step for job in workflow["jobs"].values() for step in job["steps"]]
    assert [step["name"] for step in steps if "COURSE_SECRET" in str(step)] == [
        "Make the homework with its hidden checks"
    ] * 2
    (grading,) = (step for step in steps if step.get("name") == "Grade it")
    assert grading["env"].keys() == {"JOB"}
    assert all(not step["with"]["persist-credentials"] for step in steps if "checkout" in step.get("uses", ""))
    for step in steps:  # values reach a script through its environment only
        assert "${{" not in step.get("run", "")
    refused = CliRunner().invoke(
        main, ["homework", "actions", "course/01", "--organization", "a; b", "--assignment", "c", "--out", "x.yml"]
    )
    assert "is no name at GitHub" in refused.output
