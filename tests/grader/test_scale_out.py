"""The files for grading on many machines: their syntax, and that the commands in them are the commands there are."""

import os
import subprocess
from pathlib import Path

import pytest
import yaml
from click.testing import CliRunner
from samples import ROSTER, hand_in, result, returned, write_course, write_results

from lmbook_cli import main
from lmbook_grader.grading import pool

FILES = Path(__file__).parents[2] / "book" / "scale-out"
STUDENTS = ("ann", "bob", "zoe")


@pytest.fixture
def place(tmp_path, monkeypatch):
    """A course where the files look for it, and `lmbook` in PATH, which only writes down how it was called."""
    monkeypatch.chdir(tmp_path)
    write_course(tmp_path / "made").rename(tmp_path / "01")
    (tmp_path / "course").mkdir()
    (tmp_path / "01").rename(tmp_path / "course/01")
    (tmp_path / "roster.csv").write_text(ROSTER, encoding="utf-8")
    for student in STUDENTS:
        hand_in(returned(), tmp_path / f"submissions/01/{student}.ipynb")
    program = tmp_path / "bin/lmbook"
    program.parent.mkdir()
    program.write_text('#!/bin/bash\nprintf "%s\\n" "$#" "$@" >> calls\n')
    program.chmod(0o755)
    return tmp_path


def called(script: list[str], place: Path, **settings: str) -> list[list[str]]:
    """Runs a script of one of the files with bash; returns the words after `lmbook` of every call."""
    (place / "calls").unlink(missing_ok=True)
    environment = {"PATH": f"{place / 'bin'}{os.pathsep}{os.environ['PATH']}", **settings}
    subprocess.run(["bash", *script], cwd=place, env=environment, check=True)
    words, calls = (place / "calls").read_text().split("\n")[:-1], []
    while words:
        count = int(words.pop(0))
        calls.append([words.pop(0) for _ in range(count)])
    return calls


def graded(calls: list[list[str]], monkeypatch) -> list[str]:
    """Gives the calls to the real commands, with a grader that only writes results; returns whom it graded."""
    seen = []

    def grade_many(submissions, course, out, **options):
        seen.extend(one.student for one in submissions)
        done = [result(one.student) for one in submissions]
        write_results(out, *done)
        return done

    monkeypatch.setattr(pool, "grade_many", grade_many)
    for words in calls:
        run = CliRunner().invoke(main, words)
        assert run.exit_code == 0, run.output
    return seen


def slurm(place: Path, parts: int) -> list[list[str]]:
    script = FILES / "slurm.sh"
    subprocess.run(["bash", "-n", script], check=True)
    return [
        call
        for part in range(1, parts + 1)
        for call in called(
            [str(script)],
            place,
            SLURM_ARRAY_TASK_ID=str(part),
            SLURM_ARRAY_TASK_COUNT=str(parts),
            SLURM_CPUS_PER_TASK="2",
        )
    ]


def kubernetes(place: Path, parts: int) -> list[list[str]]:
    job = yaml.safe_load((FILES / "kubernetes.yaml").read_text())
    assert (job["apiVersion"], job["kind"], job["spec"]["completionMode"]) == ("batch/v1", "Job", "Indexed")
    (container,) = job["spec"]["template"]["spec"]["containers"]
    settings = {one["name"]: one["value"] for one in container["env"]}
    assert settings["PARTS"] == str(job["spec"]["completions"])
    assert job["spec"]["template"]["spec"]["automountServiceAccountToken"] is False
    mounts = {one["name"] for one in container["volumeMounts"]}
    assert mounts == {one["name"] for one in job["spec"]["template"]["spec"]["volumes"]}
    assert container["command"][0] == "/bin/bash"
    words = [*container["command"][1:], *container["args"]]
    return [
        call
        for index in range(parts)
        for call in called(words, place, **settings | {"PARTS": str(parts)}, JOB_COMPLETION_INDEX=str(index))
    ]


MERGE = "lmbook homework merge parts/*/01 --out graded/01"


@pytest.mark.parametrize("engine", [slurm, kubernetes])
def test_every_submission_is_graded_once_and_the_parts_merge(place, monkeypatch, engine):
    calls = engine(place, 2)
    assert all(words[:2] == ["homework", "grade"] for words in calls)
    assert sorted(graded(calls, monkeypatch)) == sorted(STUDENTS)
    graded(called(["-ec", MERGE], place), monkeypatch)
    assert sorted(path.stem for path in (place / "graded/01/results").iterdir()) == sorted(STUDENTS)


def test_the_merge_in_the_comments_is_the_one_that_is_tested(place):
    for name in ("slurm.sh", "kubernetes.yaml"):
        assert MERGE in (FILES / name).read_text()


def test_the_image_has_what_the_package_needs():
    lines = (FILES / "Containerfile").read_text().splitlines()
    root = FILES.parents[1]
    for line in lines:
        if line.startswith("COPY"):
            assert all((root / name).exists() for name in line.split()[1:-1])
    assert any("bubblewrap" in line for line in lines)
