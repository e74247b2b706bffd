"""A real Slurm reads the job script: an array on two nodes, one of which is lost, and no submission with it."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from cluster import Cluster, missing, until
from samples import hand_in, returned, write_course

from lmbook_grader.sandbox.commands import available

ROOT = Path(__file__).parents[2]
STUDENTS = [f"s{number:02}" for number in range(36)]
PARTS = 4
WRONG = "def double(x):\n    return x"
pytestmark = [pytest.mark.slurm, pytest.mark.weekly]


@pytest.fixture
def cluster(tmp_path):
    if why := missing() or available("bwrap") or "":
        pytest.skip(why)
    with Cluster(tmp_path / "slurm", memory=12_000) as made:
        yield made


@pytest.fixture
def place(tmp_path) -> Path:
    """A class where the job script looks for it, and `lmbook` in PATH."""
    write_course(tmp_path / "made").rename(tmp_path / "01")
    (tmp_path / "course").mkdir()
    (tmp_path / "01").rename(tmp_path / "course/01")
    lines = [f"{name},Name of {name},{name}@example.org\n" for name in STUDENTS]
    (tmp_path / "roster.csv").write_text("id,name,email\n" + "".join(lines), encoding="utf-8")
    for number, name in enumerate(STUDENTS):
        hand_in(returned(WRONG if number % 3 else None), tmp_path / f"submissions/01/{name}.ipynb")
    program = tmp_path / "bin/lmbook"
    program.parent.mkdir()
    program.write_text(f'#!/bin/bash\nexec {sys.executable} -m lmbook_cli "$@"\n')
    program.chmod(0o755)
    return tmp_path


def lmbook(place: Path, *words: str) -> subprocess.CompletedProcess:
    return subprocess.run([place / "bin/lmbook", "homework", *words], cwd=place, capture_output=True, text=True)


def results(folder: Path) -> dict[str, dict]:
    found = {path.stem: json.loads(path.read_text()) for path in folder.glob("results/*.json")}
    return {name: {key: one[key] for key in ("file_sha256", "status", "questions")} for name, one in found.items()}


def test_a_lost_node_loses_nobody(cluster, place):
    cluster.environment |= {"PATH": f"{place / 'bin'}:{cluster.environment['PATH']}", "PYTHONPATH": str(ROOT / "src")}
    cluster.run("sbatch", f"--array=1-{PARTS}", str(ROOT / "book/scale-out/slurm.sh"), cwd=place)

    def lost() -> str:
        """A part that is being graded on the second node, and has some results already."""
        running = [job for job in cluster.jobs() if job["JobState"] == "RUNNING" and job["NodeList"] == "n2"]
        there = [job for job in running if list(place.glob(f"parts/{job['ArrayTaskId']}/01/results/s*.json"))]
        return there[0]["ArrayTaskId"] if there else ""

    until(lost, lambda: f"nothing runs on n2: {cluster.jobs()}")
    part = lost()
    cluster.end("n2")
    done = len(list(place.glob(f"parts/{part}/01/results/s*.json")))
    assert 0 < done < len(STUDENTS) / PARTS
    merge = lmbook(place, "merge", *(str(path) for path in place.glob("parts/*/01")), "--out", "graded/01")
    assert merge.returncode == 1
    assert re.search(rf"Run part .*\b{part}/{PARTS}\b.* again, with --resume", merge.stderr)
    assert not (place / "graded").exists()

    until(
        lambda: all(job["JobState"] in ("COMPLETED", "FAILED", "NODE_FAIL") for job in cluster.jobs()),
        lambda: f"the array does not end: {cluster.jobs()}",
    )
    tasks = {job["ArrayTaskId"]: job for job in cluster.jobs()}
    assert {job["JobState"] for job in tasks.values()} == {"COMPLETED"}
    assert int(tasks[part]["Restarts"]) == 1
    assert tasks[part]["NodeList"] == "n1"
    (log,) = place.glob(f"grade-*-{part}.log")
    assert log.read_text().count("(kept)") >= done
    assert cluster.states()["n2"].startswith("down")

    merge = lmbook(place, "merge", *(str(path) for path in place.glob("parts/*/01")), "--out", "graded/01")
    assert merge.returncode == 0, merge.stderr
    assert f"{len(STUDENTS)} results" in merge.stdout
    whole = lmbook(place, "grade", "course/01", "submissions/01", "--roster", "roster.csv", "--out", "one")
    assert whole.returncode == 0, whole.stderr
    assert results(place / "graded/01") == results(place / "one/01")

    # One part alone, once more: of how many it is has to be said.
    again = {**cluster.environment, "PARTS": str(PARTS)}
    script = str(ROOT / "book/scale-out/slurm.sh")
    subprocess.run(["sbatch", "--wait", "--array=3", script], cwd=place, env=again, check=True, capture_output=True)
    assert results(place / "parts/3/01").keys() == set(STUDENTS[2::PARTS])
