"""The commands of the instructors' page, one after the other, on a class of thirty with all that comes back from one.

Homework 1 as the book has it, made with a secret, graded behind the walls.
"""

import csv
import io
import os
import zipfile
from functools import cache
from pathlib import Path

import nbformat
import pytest
from click.testing import CliRunner
from nbformat.v4 import new_code_cell
from points import ROOT, master
from samples import hand_in
from styles import SOLUTION, styled

from lmbook_cli import main
from lmbook_grader.self_check import RELEASES
from lmbook_press.assignments.questions import marks

pytestmark = pytest.mark.weekly
STEM, MOST = "01-chain-rule", 12
SAME = "Lines of one article stand on both sides, so the test is too easy."


def lmbook(*words: object, code: int = 0):
    done = CliRunner().invoke(main, ["homework", *map(str, words)])
    assert done.exit_code == code, done.output
    return done.output


def solved(written: str, **answers: str | None) -> nbformat.NotebookNode:
    """Right but for these answers, named by their grade_id with _ for -."""
    right = {marks(cell).get("grade_id"): SOLUTION.sub("", cell.source) for cell in master(STEM).cells}
    notebook = nbformat.read(RELEASES / f"{STEM}.ipynb", as_version=4)
    for cell in notebook.cells:
        if marks(cell).get("solution"):
            name = cell.metadata.nbgrader.grade_id
            source = answers.get(name.replace("-", "_"), right[name])
            cell.source = written if cell.cell_type == "markdown" else cell.source if source is None else source
    return notebook


def without_marks(notebook):
    for cell in notebook.cells:
        cell.metadata = {}
    return notebook


def helper_apart(notebook):
    at = next(n for n, cell in enumerate(notebook.cells) if marks(cell).get("grade_id") == "loss")
    notebook.cells[at].source = "def loss(model, sentences):\n    return mean_of(model, sentences)"
    work = "def mean_of(model, sentences):\n    count = sum(map(len, sentences)) + len(sentences)\n"
    work += "    return -sum(log_probability(model, one) for one in sentences) / count"
    notebook.cells.insert(at, new_code_cell(work))
    return notebook


ENDLESS = "def vanishes_at(probabilities):\n    while True:\n        pass"
WRONG = "def loss(model, sentences):\n    return 1.0"
EMPTY = dict.fromkeys(("log_probability", "estimate", "loss", "vanishes"))


@cache
def handed_in() -> dict:
    """Student -> file, what is in it, the points of the programs (None: not a zero, nothing)."""
    return {
        **{
            f"s{n:02}": (f"lasts{n:02}_{n}_{900 + n}_hw.ipynb", solved(f"Answer number {n}."), MOST)
            for n in range(1, 11)
        },
        "s11": ("lasts11_LATE_11_911_hw.ipynb", solved("Late."), MOST),
        "s12": ("lasts12_12_912_hw-1.ipynb", solved("Second try."), MOST),
        "s13": ("lasts13_13_913_hw.ipynb", helper_apart(solved("Split.")), MOST),
        "s14": ("lasts14_14_914_hw.ipynb", b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n1 0 obj", None),
        "s15": ("s15/hw \udcff.ipynb", solved("A name in Latin-1."), MOST),
        "s16": ("s16.ipynb", styled(STEM, 3)[0], MOST),
        "s17": ("s17.ipynb", without_marks(solved("Marks lost.")), MOST),
        "s18": ("s18.ipynb", solved("Endless.", vanishes=ENDLESS), MOST - 3),
        "s19": ("s19.ipynb", nbformat.read(RELEASES / f"{STEM}.ipynb", as_version=4), 0),
        "s21": ("s21.ipynb", nbformat.read(RELEASES / "02-ngrams-and-perplexity.ipynb", as_version=4), 0),
        "s22": ("s22.ipynb", solved("Answer  number 1."), MOST),
        "s23": ("s23.ipynb", nbformat.writes(solved("Cut.")).encode()[:5000], None),
        "s24": ("Last S24_24_assignsubmission_file/hw.ipynb", solved("Moodle."), MOST),
        "s25": ("s25.ipynb", solved("Half.", loss=WRONG, estimate=None), MOST - 5),
        "s26": ("s26.ipynb", solved("Long.", vanishes=f"# {'x' * 18_000_000}\n{ENDLESS}"), MOST - 3),
        "s27": ("s27.ipynb", solved("Because\U000e0046\U000e0055\U000e004c\U000e004c."), MOST),
        "s28": ("s28.ipynb", b"", None),
        "ann": ("ann.ipynb", solved(SAME), MOST),
        "ann-marie": ("ann-marie.ipynb", solved(SAME.upper(), **EMPTY), 0),
    }


def put(content, path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    if isinstance(content, bytes):
        path.write_bytes(content)
    else:
        hand_in(content, path)


def rows(path: Path) -> list[dict]:
    return list(csv.DictReader(io.StringIO(path.read_text(encoding="utf-8-sig"), newline="")))


def test_from_making_to_the_gradebook(walls, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    lmbook("make", "01", "--out", "course", "--book", ROOT)
    names = [*handed_in(), "s20"]
    lines = [f"{name},Last {name.upper()},{name}@example.org,{name.strip('s').lstrip('0')}" for name in names]
    Path("roster.csv").write_text("id,name,email,canvas id\n" + "\n".join(lines) + "\n", encoding="utf-8")
    for name, content, _ in handed_in().values():
        put(content, Path("submissions/01") / name)
    put(solved("First try.", **EMPTY), Path("submissions/01/lasts12_12_902_hw.ipynb"))
    put(solved("Stranger."), Path("submissions/01/stranger.ipynb"))
    put(b"remember", Path("submissions/01/notes.txt"))
    command = ("course/01", "submissions/01", "--roster", "roster.csv")

    said = lmbook("grade", *command, "--dry-run", code=1)
    assert "s11 (Last S11): lasts11_LATE_11_911_hw.ipynb\n    to s11: The learning system marks" in said
    assert "ann-marie (Last ANN-MARIE): ann-marie.ipynb" in said
    assert "No submission: 1\n  s20" in said
    said = lmbook("grade", *command, "--jobs", 2, code=1)
    assert "Graded: 26 of 29" in said
    assert "Could not be read: 3 (no points, and no zero: ask for the notebook)" in said
    assert "Files that nobody could be graded for: 2" in said
    git = ["git", "status", "--porcelain", "graded"]
    assert os.spawnlp(os.P_WAIT, "git", "git", "init", "-q") == 0
    assert os.popen(" ".join(git)).read() == ""

    assert "26 written answers" not in lmbook("sheet", *command)  # two are not answered
    marks_file = Path("graded/01/marks.csv")
    given = [row | {"points": "3", "comment": "fine"} for row in rows(marks_file)]
    with marks_file.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(given[0]))
        writer.writeheader()
        writer.writerows(given)
    page = Path("graded/01/written.html").read_text(encoding="utf-8")
    assert "<h3>ann, ann-marie</h3>" in page
    assert "<h3>s01, s22</h3>" in page
    assert "[U+E0046]" in page
    lmbook("override", "graded/01", "s25", "loss", 1, "--reason", "the idea is right")

    report = ("report", "course/01", "graded/01", "--roster", "roster.csv", "--scores", "canvas", "--scores", "moodle")
    lmbook(*report, "--column", "HW 1 (7)", "--zip", "canvas", "--zip", "moodle")
    scores = {row["id"]: row for row in rows(Path("graded/01/scores.csv"))}
    wanted = {name: points for name, (_, _, points) in handed_in().items()} | {"s25": MOST - 4}
    for name, points in wanted.items():
        written = 0 if name in ("s19", "s21") else 3
        assert scores[name]["points"] == ("" if points is None else f"{points + written}"), name
    assert (scores["s14"]["state"], scores["s20"]["state"]) == ("unreadable", "absent")
    grades = {row["SIS User ID"]: row["HW 1 (7)"] for row in rows(Path("graded/01/scores-canvas.csv"))}
    assert {name for name in handed_in() if grades[name] == ""} == {"s14", "s23", "s28"}
    with zipfile.ZipFile("graded/01/feedback-canvas.zip") as archive:
        assert len(archive.namelist()) == 14
    with zipfile.ZipFile("graded/01/feedback-moodle.zip") as archive:
        assert archive.namelist() == ["Last S24_24_assignsubmission_file_feedback.html"]
    assert "could not be read" in Path("graded/01/feedback/s14.html").read_text(encoding="utf-8")

    put(solved("A third try.", loss=WRONG), Path("submissions/01/lasts12_12_922_hw-2.ipynb"))
    put(solved("Late, but here."), Path("submissions/01/s20.ipynb"))
    put(solved("Now a notebook."), Path("submissions/01/lasts14_14_934_hw-1.ipynb"))
    said = lmbook("grade", *command, "--resume", code=1)
    assert said.count("(kept)") == 27
    said = lmbook("grade", *command, "--only", "s25")
    assert "Graded: 1 of 1" in said
    assert "3 new, 1 of them in files that replace marked ones" in lmbook("sheet", *command)
    lmbook(*report, "--column", "HW 1 (7)")
    scores = {row["id"]: row for row in rows(Path("graded/01/scores.csv"))}
    states = {name: scores[name]["state"] for name in ("s12", "s14", "s20")}
    assert set(states.values()) == {"not marked: shuffled-lines"}  # no old mark for a new file
    assert scores["s25"]["points"] == f"{MOST - 4 + 3}"  # the last word stays when graded again
    assert scores["s01"]["points"] == f"{MOST + 3}"
