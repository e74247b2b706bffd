"""A class is graded whole: in order, several at once, and after Ctrl-C, a kill or a failed process nothing is lost."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import nbformat
import pytest
from hostile import small

from lmbook_grader.grading import pool
from lmbook_grader.grading.pool import grade_many, result_path, stored_result, write_result
from lmbook_grader.intake.collect import Submission
from lmbook_press.assignments.make import grading_version, student_version
from lmbook_press.book import BookError

pytestmark = pytest.mark.usefixtures("walls")


@pytest.fixture
def course(tmp_path) -> Path:
    for kind, version in (("release", student_version), ("grading", grading_version)):
        (tmp_path / "course/09" / kind).mkdir(parents=True)
        nbformat.write(version(small.master()), tmp_path / "course/09" / kind / "09-small.ipynb")
    return tmp_path / "course/09"


@pytest.fixture
def hand_in(course, tmp_path):
    """Writes submissions: name -> answers that are not right."""

    def handed(answers: dict[str, dict]) -> list[Submission]:
        release = nbformat.read(course / "release/09-small.ipynb", as_version=4)
        for name, given in answers.items():
            nbformat.write(small.answered(release, **given), tmp_path / f"{name}.ipynb")
        return [Submission(name, tmp_path / f"{name}.ipynb", ("a note",)) for name in answers]

    return handed


WRONG = {"double": "def double(x):\n    return x"}


def points(result: dict) -> float:
    return sum(question["points"] for question in result["questions"])


def test_results_come_in_order_are_on_disk_and_are_told(course, hand_in, tmp_path):
    submissions = hand_in({"zoe": {}, "ann": WRONG, "bob": dict.fromkeys(small.RIGHT)})
    told = []
    results = grade_many(submissions, course, tmp_path / "out", jobs=2, progress=lambda *what, **_: told.append(what))
    assert [(result["student"], points(result)) for result in results] == [("zoe", 8), ("ann", 5), ("bob", 0)]
    assert all(result["notes"][0] == "a note" and result["status"] == "graded" for result in results)
    for result in results:
        assert stored_result(result_path(tmp_path / "out", result["student"])) == result
    assert sorted(done for _, done, _ in told) == [1, 2, 3]
    assert {total for _, _, total in told} == {3}
    assert os.listdir(tmp_path / "out") == ["results"]
    assert len(os.listdir(tmp_path / "out/results")) == 3


def test_results_are_neither_overwritten_nor_graded_twice(course, hand_in, tmp_path):
    submissions = hand_in({"ann": {}, "bob": {}, "cy": {}})
    grade_many(submissions, course, tmp_path / "out")
    with pytest.raises(BookError, match="--resume"):
        grade_many(submissions, course, tmp_path / "out")
    before = {name: result_path(tmp_path / "out", name).stat().st_mtime_ns for name in ("ann", "bob", "cy")}
    hand_in({"bob": WRONG})
    result_path(tmp_path / "out", "cy").write_text('{"student": "cy", "status": "gra')
    results = grade_many(submissions, course, tmp_path / "out", resume=True)
    assert [points(result) for result in results] == [8, 5, 8]
    changed = {name for name in before if result_path(tmp_path / "out", name).stat().st_mtime_ns != before[name]}
    assert changed == {"bob", "cy"}
    grading = course / "grading/09-small.ipynb"
    grading.write_text(grading.read_text() + "\n")
    told = []
    grade_many(submissions[:1], course, tmp_path / "out", resume=True, progress=lambda *what, **_: told.append(what))
    assert result_path(tmp_path / "out", "ann").stat().st_mtime_ns != before["ann"]


def fail(submission, course, **options):
    if submission.student == "bob":
        print("no room left", flush=True)
        os._exit(7)
    return {"student": submission.student, "status": "graded", "questions": []}


def never_end(*_, **__):
    time.sleep(1000)


def test_a_process_that_fails_is_ungraded_and_tried_again(course, hand_in, tmp_path, monkeypatch):
    submissions = hand_in({"ann": {}, "bob": {}})
    with monkeypatch.context() as patch:
        patch.setattr(pool, "grade_one", fail)
        results = grade_many(submissions, course, tmp_path / "out")
    assert [result["status"] for result in results] == ["graded", "ungraded"]
    assert "ended with 7: no room left" in results[1]["why"]
    assert stored_result(result_path(tmp_path / "out", "bob")) == results[1]
    assert [points(result) for result in grade_many(submissions, course, tmp_path / "out", resume=True)] == [8, 8]


def test_a_process_that_never_ends_is_ended(course, hand_in, tmp_path, monkeypatch):
    monkeypatch.setattr(pool, "grade_one", never_end)
    monkeypatch.setattr(pool, "CLOCK", 0)
    monkeypatch.setattr(pool, "START", 0.2)
    (result,) = grade_many(hand_in({"ann": {}}), course, tmp_path / "out")
    assert result["status"] == "ungraded"
    assert "far too long" in result["why"]


def test_a_student_twice_and_a_machine_without_walls_are_refused(course, hand_in, tmp_path):
    submissions = hand_in({"ann": {}})
    with pytest.raises(BookError, match="several submissions"):
        grade_many(submissions * 2, course, tmp_path / "out")
    with pytest.raises(BookError, match="There is no sandbox"):
        grade_many(submissions, course, tmp_path / "out", sandbox="wall")
    assert not (tmp_path / "out").exists()


def test_any_name_of_a_student_is_a_file_in_the_folder(tmp_path):
    names = ["ann", "../ann", ".ann", "a/b", "Zoë", "a b", "x@y.org", "..", ""]
    paths = {result_path(tmp_path, name) for name in names}
    assert len(paths) == len(names)
    assert {path.parent for path in paths} == {tmp_path / "results"}
    assert not any(path.name.startswith(".") and path.name != ".json" for path in paths)


def test_a_result_is_written_whole_or_not_at_all(tmp_path):
    path = tmp_path / "ann.json"
    write_result({"student": "ann"}, path)
    with pytest.raises(TypeError):
        write_result({"student": "ann", "questions": [{1, 2}]}, path)
    assert json.loads(path.read_text()) == {"student": "ann"}


PROGRAM = """
import signal
import sys
from pathlib import Path
from lmbook_grader.grading.pool import grade_many
from lmbook_grader.intake.collect import Submission
from lmbook_grader.sandbox.commands import Limits
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell starts what runs in its background without it
names, course, folder = sys.argv[1].split(","), Path(sys.argv[2]), Path(sys.argv[3])
submissions = [Submission(name, folder / f"{name}.ipynb") for name in names]
grade_many(submissions, course, folder / "out", jobs=2, limits=Limits(cell=60), resume=True,
           progress=lambda result, done, total: print(result["student"], flush=True))
"""


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT], ids=["killed", "Ctrl-C"])
def test_after_an_interruption_nothing_runs_on_and_nothing_is_lost(how, course, hand_in, tmp_path):
    sleeps = {"double": "import time\ntime.sleep(40)\ndef double(x):\n    return 2 * x"}
    submissions = hand_in({"ann": {}, "slow": sleeps, "slower": sleeps, "zoe": {}})
    names = ",".join(submission.student for submission in submissions)
    words = [sys.executable, "-c", PROGRAM, names, str(course), str(tmp_path)]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline() == "ann\n"
        deadline = time.monotonic() + 60
        while len(inside := sandboxed(process.pid)) < 2 and time.monotonic() < deadline:
            time.sleep(0.05)
        assert len(inside) >= 2, "each of two graders has a sandbox"
        running = below(process.pid)
        process.send_signal(how)
        assert process.wait(timeout=30) != 0
    deadline = time.monotonic() + 20
    while alive(running) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert alive(running) == []
    first = result_path(tmp_path / "out", "ann").stat().st_mtime_ns
    hand_in({"slow": {}, "slower": WRONG})
    results = grade_many(submissions, course, tmp_path / "out", resume=True)
    assert [points(result) for result in results] == [8, 8, 5, 8]
    assert result_path(tmp_path / "out", "ann").stat().st_mtime_ns == first
    assert os.listdir(tmp_path / "out") == ["results"]
    assert not list((tmp_path / "out/results").glob(".*"))


def status(pid: int) -> list[str] | None:
    try:
        return Path(f"/proc/{pid}/stat").read_text().split()[1:]
    except OSError:
        return None


def below(pid: int) -> list[int]:
    """All processes below this one."""
    parents = {int(path.name): status(int(path.name)) for path in Path("/proc").glob("[0-9]*")}
    found = [pid]
    for known in found:
        found += [child for child, fields in parents.items() if fields and int(fields[2]) == known]
    return found[1:]


def sandboxed(pid: int) -> list[int]:
    """Those among them that bubblewrap has put behind walls."""
    return [one for one in below(pid) if (fields := status(one)) and fields[0] == "(cat)"]


def alive(pids: list[int]) -> list[int]:
    return [pid for pid in pids if (fields := status(pid)) and fields[1] != "Z"]


def test_nothing_forks_a_process_that_may_have_threads():
    """A lock that another thread holds, or V8's own thread, would be missed in the child for ever."""
    sources = {path.name: path.read_text("utf-8") for path in Path(pool.__file__).parents[2].rglob("*.py")}
    forks = re.compile(r"""get_context\(["']fork["']|\bos\.fork\(|set_start_method\(["']fork""")
    assert [name for name, text in sources.items() if forks.search(text)] == ["forker.py"]  # it looks for threads first
