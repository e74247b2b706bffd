"""The autograder zip: what is in it, what it writes, and what a student's code finds where no walls can be had."""

import contextlib
import json
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from click.testing import CliRunner
from samples import ROSTER, hand_in, result, returned, ungraded, write_course

from lmbook_cli import main
from lmbook_grader.grading.grade import grade_one
from lmbook_grader.intake.collect import Submission
from lmbook_grader.platforms import gradescope
from lmbook_grader.sandbox.commands import ALONE
from lmbook_press.assignments.questions import Homework

# https://gradescope-autograders.readthedocs.io/en/latest/specs/, "Output format": field -> its kind
SHOWN, FORMAT = (
    {"hidden", "after_due_date", "after_published", "visible"},
    {"text", "html", "simple_format", "md", "ansi"},
)
PAGE = {
    "score": (int, float), "execution_time": (int, float), "output": str, "output_format": FORMAT,
    "test_output_format": FORMAT, "test_name_format": FORMAT, "visibility": SHOWN, "stdout_visibility": SHOWN,
    "extra_data": dict, "tests": list, "leaderboard": list,
}  # fmt: skip
TEST = {
    "score": (int, float), "max_score": (int, float), "status": {"passed", "failed"}, "name": str,
    "name_format": FORMAT, "number": str, "output": str, "output_format": FORMAT, "tags": list, "visibility": SHOWN,
    "extra_data": dict,
}  # fmt: skip
WRONG, STOPS = "def double(x):\n    return x", "def double(x):\n    raise SystemExit"


def faults(page: dict, fields=PAGE) -> list[str]:
    """Where results.json is not as Gradescope's specification says."""
    found = [f"{key} is no field" for key in page.keys() - fields.keys()]
    for key, value in page.items():
        kind = fields.get(key, object)
        good = value in kind if isinstance(kind, set) else isinstance(value, kind)
        found += [] if good else [f"{key} is {value!r}"]
    if fields is PAGE:
        scored = [one for one in page.get("tests", []) if "score" in one]
        found += [] if "score" in page or scored else ["there is no score"]
        found += [fault for one in page.get("tests", []) for fault in faults(one, TEST)]
    return found


def made(tmp_path: Path, *options: str) -> Path:
    """A zip of the small homework."""
    write_course(tmp_path / "course")
    command = ["homework", "autograder", str(tmp_path / "course/07"), "--out", str(tmp_path / "07.zip"), *options]
    done = CliRunner().invoke(main, command)
    assert done.exit_code == 0, done.output
    return tmp_path / "07.zip"


def unpacked(tmp_path: Path, *options: str) -> Path:
    """As Gradescope unpacks it: a folder like /autograder."""
    home = tmp_path / "autograder"
    with zipfile.ZipFile(made(tmp_path, *options)) as archive:
        archive.extractall(home / "source")
    for name in ("submission", "results"):
        (home / name).mkdir()
    (home / "source").chmod(0o700)
    (home / "results").chmod(0o700)
    return home


def read(home: Path) -> dict:
    page = json.loads((home / "results/results.json").read_text())
    assert faults(page) == []
    return page


def points(page: dict) -> list[float]:
    return [one["score"] for one in page["tests"] if "score" in one]


def test_the_zip_has_what_gradescope_looks_for_and_nothing_that_it_must_not(tmp_path):
    path = made(tmp_path)
    with zipfile.ZipFile(path) as archive:
        names = archive.namelist()
        assert {"setup.sh", "run_autograder"} <= set(names)
        assert all(archive.getinfo(name).external_attr >> 16 & 0o111 for name in ("setup.sh", "run_autograder"))
        for name in ("setup.sh", "run_autograder"):
            subprocess.run(["bash", "-n"], input=archive.read(name), check=True)
        asked = archive.read("requirements.txt").decode().split()
        assert any(one.startswith("numpy") for one in asked)
        assert not any(one.startswith("torch") for one in asked)  # the homework does not use it
    assert {name for name in names if name.startswith("course/")} == {
        "course/release/07-numbers.ipynb", "course/grading/07-numbers.ipynb",
    }  # fmt: skip
    assert not [name for name in names if "secret" in name or "__pycache__" in name or "roster.csv" in name]
    before = path.read_bytes()
    shutil.rmtree(tmp_path / "course")
    assert made(tmp_path).read_bytes() == before


def test_a_homework_of_ones_own_needs_the_roster(tmp_path):
    made(tmp_path)
    hand_in(returned(), tmp_path / "course/07/students/ann/07-numbers.ipynb")
    command = ["homework", "autograder", str(tmp_path / "course/07"), "--out", str(tmp_path / "own.zip")]
    refused = CliRunner().invoke(main, command)
    assert refused.exit_code == 1
    assert "name the class with --roster" in refused.output
    (tmp_path / "roster.csv").write_text(ROSTER.replace("email", "email,mark", 1), encoding="utf-8")
    assert CliRunner().invoke(main, [*command, "--roster", str(tmp_path / "roster.csv")]).exit_code == 0
    with zipfile.ZipFile(tmp_path / "own.zip") as archive:
        assert "course/students/ann/07-numbers.ipynb" in archive.namelist()
        assert archive.read("roster.csv").decode().splitlines()[1] == "ann,Ann Doe,ann.doe@example.org"


@pytest.mark.parametrize(
    "one",
    [
        result(),
        result(double=False, why="missing"),
        ungraded("ann"),
        result() | {"status": "unreadable", "questions": []},
    ],
)
def test_results_are_as_the_specification_says_and_hold_no_hidden_line(one, tmp_path):
    homework = Homework.load(write_course(tmp_path))
    for question in one["questions"]:
        for check in question["checks"]:
            check |= {"seen": "" if check["passed"] else "It fails.", "reason": "assert double(-7.5) == -15  # SECRET"}
    page = gradescope.results(one | {"why": "It is empty."}, homework, "after_published")
    assert faults(page) == []
    assert "SECRET" not in json.dumps(page)
    assert "-7.5" not in json.dumps(page)
    assert page["score"] == sum(question["points"] for question in one["questions"])
    assert {check["visibility"] for check in page["tests"] if "score" in check} <= {"after_published"}


def test_a_page_that_is_not_as_specified_is_seen():
    assert faults({"tests": [{"name": 1, "status": "right", "points": 2}]}) == [
        "there is no score", "points is no field", "name is 1", "status is 'right'",
    ]  # fmt: skip


def test_the_same_points_as_by_grade_and_results_whatever_happens(walls, tmp_path):
    home = unpacked(tmp_path)
    for number, notebook in enumerate((returned(), returned(WRONG, None, None), returned(STOPS))):
        path = hand_in(notebook, home / "submission/a folder/My homework.ipynb")
        gradescope.grade(home)
        page, other = read(home), grade_one(Submission("ann", path), tmp_path / "course/07")
        assert page["score"] == sum(question["points"] for question in other["questions"])
        assert points(page) == [check["points"] for one in other["questions"] for check in one["checks"]]
        seen = [one["status"] for one in page["tests"] if one["name"].endswith("you can see")]
        assert seen == [["passed"] * 2, ["failed"] * 2, ["failed", "passed"]][number]
        (written,) = (one["status"] for one in page["tests"] if one.get("number") == "3")
        assert written == ("failed" if number == 1 else "passed")
    (home / "submission/a folder/My homework.ipynb").write_text("{")
    gradescope.grade(home)
    assert "cut off" in read(home)["tests"][0]["output"]
    shutil.rmtree(home / "submission/a folder")
    (home / "submission/answer.pdf").write_text("x")
    gradescope.grade(home)
    assert "Hand in the .ipynb file." in read(home)["tests"][0]["output"]
    shutil.rmtree(home / "source/course/grading")
    gradescope.grade(home)
    assert read(home)["tests"][0]["output"] == gradescope.NOT_GRADED


def test_the_student_is_found_by_what_gradescope_says(tmp_path):
    (tmp_path / "roster.csv").write_text(ROSTER, encoding="utf-8")
    home = unpacked(tmp_path, "--roster", str(tmp_path / "roster.csv"))
    for user, student in (
        ({"email": "BOB@example.org", "name": "?"}, "bob"),
        ({"email": "zoe@private.example", "name": "O'Hara, Zoë"}, "zoe"),
    ):
        (home / "submission_metadata.json").write_text(json.dumps({"users": [user]}))
        assert gradescope.whose(home) == student
    (home / "submission_metadata.json").write_text(json.dumps({"users": [{"email": "eve@example.org", "name": "Eve"}]}))
    hand_in(returned(), home / "submission/hw.ipynb")
    gradescope.grade(home)
    assert read(home)["tests"][0]["output"] == gradescope.NOT_GRADED


# What a student's code may try where it is only another user.  It prints the name of each try and what came of it.
ATTACKS = """
import ctypes, os, pathlib, signal, socket, subprocess, sys
home = pathlib.Path({home!r})
def tried(name, work):
    try:
        print("TRIED", name, "GOT", work())
    except BaseException as error:
        print("TRIED", name, "refused", type(error).__name__)
def looked(pid):
    return open(f"/proc/{{pid}}/environ", "rb").read() + open(f"/proc/{{pid}}/mem", "rb").read(1)
tried("course", lambda: os.listdir(home / "source"))
tried("checks", lambda: (home / "source/course/grading/07-numbers.ipynb").read_text())
tried("results", lambda: os.listdir(home / "results"))
tried("own result", lambda: (home / "results/results.json").write_text("{{}}"))
tried("earlier results", lambda: (home / "submission_metadata.json").read_text())
tried("grader", lambda: looked(os.getppid()))
tried("end of the grader", lambda: os.kill(os.getppid(), signal.SIGKILL))
tried("everybody", lambda: os.setuid(0))
tried("a group", lambda: os.setgroups([0]))
tried("another user", lambda: os.setresuid(65534, 65534, 65534))
tried("network", lambda: socket.create_connection(("127.0.0.1", 9), 1))
tried("a name", lambda: socket.getaddrinfo("example.org", 80)[0])
tried("a new namespace", lambda: 1 / (ctypes.CDLL(None).unshare(0x10000000) + 1))
tried("a mount", lambda: 1 / (ctypes.CDLL(None).mount(b"/", b"/mnt", 0, 4096, 0) + 1))
tried("rights of a program", lambda: subprocess.run(["su", "-c", "id"], check=True, capture_output=True, input=b""))
tried("a package", lambda: __import__("lmbook_grader"))
finders, sys.meta_path[:] = sys.meta_path[:], [one for one in sys.meta_path if type(one).__name__ != "Closed"]
tried("a closed library", lambda: __import__("scipy").special)
sys.meta_path[:] = finders
for path in ("/usr/x", "/etc/x", "/var/x", sys.prefix + "/x"):
    tried("a file in " + path, lambda: open(path, "w"))
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        open("/tmp/left-by-a-student", "w").close()
        os.execvp("sleep", ["sleep", "600"])
    os._exit(0)
"""


def root() -> list[str]:
    """The words by which a command becomes root's; the test is skipped where it cannot."""
    if os.geteuid() == 0:
        return []
    if shutil.which("sudo") and subprocess.run(["sudo", "-n", "true"], capture_output=True).returncode == 0:
        return ["sudo", "-n"]
    pytest.skip("A USER WITHOUT RIGHTS WAS NOT TRIED: only root can make one")


def readable_python(become: list[str]) -> str:
    """A Python of this version that any user may read: one in root's home would stop a student before any wall."""
    version = f"python{sys.version_info[0]}.{sys.version_info[1]}"
    for python in (os.path.realpath(sys.executable), f"/usr/bin/{version}", f"/usr/local/bin/{version}"):
        as_nobody = [
            *become,
            "setpriv",
            "--reuid=65534",
            "--clear-groups",
            python,
            "-I",
            "-c",
            "import os, sys; os.stat(sys.executable)",
        ]
        if os.path.exists(python) and subprocess.run(as_nobody, capture_output=True, cwd="/").returncode == 0:
            return python
    pytest.skip(f"A USER WITHOUT RIGHTS WAS NOT TRIED: no {version} here can be read by ordinary users")


ALONE_RUN = "import sys; from pathlib import Path; from lmbook_grader.platforms import gradescope as g; "
ALONE_RUN += "g.available = lambda kind: 'no' if kind == 'bwrap' else None; g.grade(Path(sys.argv[1]))"


def running():
    """The words of every process, each with a zero byte after it."""
    for place in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):  # it has ended
            yield place.read_bytes()


def test_a_user_of_its_own_finds_nothing(tmp_path):
    become = root()
    home = unpacked(tmp_path)
    (home / "submission_metadata.json").write_text("{}")
    (home / "submission_metadata.json").chmod(0o600)
    for folder in (tmp_path, *tmp_path.parents[:-2]):
        subprocess.run([*become, "chmod", "a+x", folder], check=True)
    python = home / "python"
    subprocess.run([readable_python(become), "-m", "venv", "--without-pip", python], check=True)
    (python / ALONE).touch()
    (site,) = python.glob("lib/python*/site-packages")
    (site / "scipy").mkdir()
    (site / "scipy/__init__.py").write_text("special = 'what an answer may not use'\n")
    grading = home / "source/course/grading/07-numbers.ipynb"
    closing = json.loads(grading.read_text())
    closing["metadata"]["lmbook"] = {"imports": ["math"]}
    grading.write_text(json.dumps(closing))
    notebook = returned()
    notebook.cells[1].source = ATTACKS.format(home=str(home))
    notebook.cells[1].metadata = {}
    hand_in(notebook, home / "submission/hw.ipynb")
    subprocess.run([*become, "chown", "-R", "root", home], check=True)
    sites = os.pathsep.join([str(Path(gradescope.__file__).parents[2]), *(p for p in sys.path if "site-packages" in p)])
    words = [*become, "env", f"PYTHONPATH={sites}", python / "bin/python", "-c", ALONE_RUN, home]
    said = subprocess.run(words, capture_output=True, text=True, timeout=300)
    assert "Graded in: alone" in said.stdout, said.stderr
    text = subprocess.run([*become, "cat", home / "results/results.json"], capture_output=True, text=True).stdout
    page = json.loads(text)
    assert faults(page) == []
    assert page["score"] == 5
    tries = [line for line in page["tests"][-1]["output"].splitlines() if line.startswith("TRIED")]
    assert len(tries) == 21, page["tests"][-1]["output"]
    assert [line for line in tries if " refused " not in line] == []
    assert not Path("/tmp/left-by-a-student").exists()
    assert b"sleep\x00600\x00" not in list(running())
    assert "SECRET" not in text
