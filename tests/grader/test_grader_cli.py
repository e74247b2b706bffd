"""`lmbook homework`: what each command writes, says and exits with, from a class of notebooks to its scores."""

import csv
import io
import json

import pytest
from click.testing import CliRunner
from samples import DOUBLE, ROSTER, hand_in, release, result, returned, ungraded, write_course, write_results

from lmbook_cli import main
from lmbook_grader.grading import pool
from lmbook_grader.report.terminal import Progress


def lmbook(*words: object):
    return CliRunner().invoke(main, ["homework", *(str(word) for word in words)])


@pytest.fixture
def course(tmp_path, monkeypatch):
    """A course, a roster of three and two submissions, in the current folder."""
    monkeypatch.chdir(tmp_path)
    write_course(tmp_path / "course")
    (tmp_path / "roster.csv").write_text(ROSTER, encoding="utf-8")
    hand_in(returned(), tmp_path / "submissions/doeann_1_2_hw.ipynb")
    hand_in(returned(triple=None, written=None), tmp_path / "submissions/bob/hw.ipynb")
    return tmp_path


GRADE = ("grade", "course/07", "submissions", "--roster", "roster.csv")
REPORT = ("report", "course/07", "graded/07", "--roster", "roster.csv")


@pytest.fixture
def pretended(monkeypatch):
    """The grader is replaced: gives results by student, and may be stopped after some."""
    plan = {"results": {}, "stop": None, "calls": []}

    def grade_many(submissions, course, out, *, progress, **options):
        plan["calls"].append(([one.student for one in submissions], course, out, options))
        done = []
        for count, one in enumerate(submissions):
            if count == plan["stop"]:
                raise KeyboardInterrupt
            done.append(plan["results"].get(one.student, result(one.student, seconds=0.01)))
            write_results(out, done[-1])
            progress(done[-1], len(done), len(submissions))
        return done

    monkeypatch.setattr(pool, "grade_many", grade_many)
    return plan


def test_grading_says_progress_and_ends_with_a_table(course, pretended):
    done = lmbook(*GRADE, "--jobs", 3)
    assert done.exit_code == 0, done.output
    assert "1/2  ann: 5 of 7 points in 0.0 s  (about" in done.stderr
    assert "s left)" in done.stderr
    assert "Graded: 2 of 2 in" in done.stdout
    row = next(line for line in done.stdout.splitlines() if line.startswith("double"))
    assert row.split() == ["double", "2", "0", "0", "0", "0", "0", "2.0", "2"]
    assert len(row.removeprefix("double").lstrip()) <= 53  # behind a name of 20 letters it fits a page, inside a list
    assert "No submission: 1\n  zoe" in done.stdout
    (students, folder, out, options) = pretended["calls"][0]
    assert students == ["ann", "bob"]
    assert folder.is_absolute()
    assert out == (course / "graded/07").resolve()
    assert (options["jobs"], options["sandbox"], options["resume"], options["trusted"]) == (3, "bwrap", False, False)


def test_an_ungraded_submission_makes_the_exit_code_1_and_is_named(course, pretended):
    pretended["results"]["bob"] = ungraded("bob")
    done = lmbook(*GRADE)
    assert done.exit_code == 1
    assert "2/2  bob: not graded: no memory left" in done.stderr
    assert "Not graded: 1 (the machine's fault; --resume tries them again)\n  bob: no memory left" in done.stdout


def test_a_file_of_nobody_makes_the_exit_code_1_and_is_named(course, pretended):
    hand_in(returned(), course / "submissions/stranger.ipynb")
    done = lmbook(*GRADE)
    assert done.exit_code == 1
    assert "stranger.ipynb the name fits nobody in the roster" in done.stdout
    assert json.loads((course / "graded/07/intake.json").read_text())["faults"][0]["file"] == "stranger.ipynb"


def test_ctrl_c_says_what_is_done_and_how_to_go_on(course, pretended):
    pretended["stop"] = 1
    done = lmbook(*GRADE)
    assert done.exit_code == 130
    assert "Stopped; nothing is lost: 1 of 2 results are in graded/07/results." in done.stderr
    assert "--resume grades the rest" in done.stderr
    pretended["stop"] = None
    assert lmbook(*GRADE, "--resume").exit_code == 0
    assert pretended["calls"][1][3]["resume"] is True


def test_parts_share_the_submissions_between_machines(course, pretended):
    hand_in(returned(), course / "submissions/zoe.ipynb")
    seen = []
    for part in ("1/2", "2/2"):
        assert lmbook(*GRADE, "--part", part).exit_code == 0
        seen.append(pretended["calls"][-1][0])
    assert seen == [["ann", "zoe"], ["bob"]]
    for wrong in ("0/2", "3/2", "x", "1/", "1"):
        done = lmbook(*GRADE, "--part", wrong)
        assert done.exit_code == 1
        assert "write it as I/N" in done.stderr


def test_of_several_parts_the_first_speaks_for_the_files_of_nobody(course, pretended):
    hand_in(returned(), course / "submissions/stranger.ipynb")
    first, second = (lmbook(*GRADE, "--part", part, "--out", f"part-{part[0]}") for part in ("1/2", "2/2"))
    assert (first.exit_code, second.exit_code) == (1, 0)
    assert "stranger.ipynb" in first.stdout
    assert "stranger.ipynb" not in second.stdout


def test_a_dry_run_only_says_whose_each_file_is(course, pretended):
    hand_in(returned(), course / "submissions/stranger.ipynb")
    done = lmbook(*GRADE, "--dry-run")
    assert done.exit_code == 1
    assert "ann (Ann Doe): doeann_1_2_hw.ipynb" in done.stdout
    assert "stranger.ipynb" in done.stdout
    assert pretended["calls"] == []
    assert not (course / "graded").exists()


def test_without_a_sandbox_it_says_what_is_not_safe(course, pretended):
    assert "can read and change all that you can" in lmbook(*GRADE, "--sandbox", "none").stderr


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("grade", "course", "submissions", "--roster", "roster.csv"), "make it with 'lmbook homework make"),
        (("grade", "course/07", "none", "--roster", "roster.csv"), "none is not a folder of submissions"),
        (("grade", "course/07", "submissions", "--roster", "none.csv"), "none.csv is not there"),
        ((*REPORT[:2], "submissions", *REPORT[3:]), "submissions holds no results"),
        (("merge", "submissions", "--out", "x"), "submissions holds no results"),
        (("check", "roster.csv"), "not a notebook"),
    ],
)
def test_what_is_wrong_is_one_sentence(course, words, said):
    done = lmbook(*words)
    assert done.exit_code == 1
    assert said in done.stderr
    assert "Traceback" not in done.output


def test_check_exits_with_0_only_for_a_finished_notebook(course):
    good = lmbook("check", "submissions/doeann_1_2_hw.ipynb", "--release", "course/07/release/07-numbers.ipynb")
    assert good.exit_code == 0, good.output
    assert "All there: you can hand it in." in good.stdout
    half = lmbook("check", "submissions/bob/hw.ipynb", "--release", "course/07/release/07-numbers.ipynb")
    assert half.exit_code == 1
    assert "2 of 3 questions are not answered yet" in half.stdout


def rows(path):
    return list(csv.DictReader(io.StringIO(path.read_text(encoding="utf-8-sig"), newline="")))


def test_from_results_to_marks_to_scores(course):
    write_results(course / "graded/07", result("ann"), result("bob", triple=False, why="missing"))
    (course / "graded/07/intake.json").write_text('{"faults": [{"file": "x.pdf", "why": "is not a notebook"}]}')
    first = lmbook(*REPORT)
    assert first.exit_code == 0, first.output
    assert "1 student has a written answer without a mark" in first.stderr
    assert [row["points"] for row in rows(course / "graded/07/scores.csv")] == ["", "2", ""]
    assert "x.pdf" in (course / "graded/07/summary.html").read_text()
    sheet = lmbook("sheet", *GRADE[1:])
    assert sheet.exit_code == 0, sheet.output
    marks = course / "graded/07/marks.csv"
    marks.write_text("student,question,points,comment,submission\nann,why,1.5,Fine,sha-sha of ann\n")
    second = lmbook(*REPORT, "--marks", marks, "--scores", "canvas", "--scores", "moodle", "--column", "HW (1)")
    assert second.exit_code == 0, second.output
    assert [row["HW (1)"] for row in rows(course / "graded/07/scores-canvas.csv")] == ["7", "6.5", "2", ""]
    assert [row["Grade"] for row in rows(course / "graded/07/scores-moodle.csv")] == ["6.5", "2", ""]
    assert "Fine" in (course / "graded/07/feedback/ann.html").read_text()
    third = lmbook(*REPORT, "--without-written", "--out", "automatic")
    assert third.exit_code == 0
    assert [row["points"] for row in rows(course / "automatic/scores.csv")] == ["5", "2", ""]


def test_results_of_another_homework_are_not_reported(course):
    write_results(course / "graded/07", result("ann", homework="08-other"))
    done = lmbook(*REPORT)
    assert done.exit_code == 1
    assert "holds results of 08-other, not of 07-numbers" in done.stderr


def test_merge_says_what_it_took(course):
    for name, students in (("a", ("ann",)), ("b", ("ann", "bob"))):
        write_results(course / name, *(result(student) for student in students))
    done = lmbook("merge", "a", "b", "--out", "graded/07")
    assert done.exit_code == 0, done.output
    assert "ann: graded twice" in done.stdout
    assert "2 results: graded/07/results" in done.stdout


def test_a_real_class_from_notebooks_to_scores(walls, course):
    """With the grader itself: a whole, a half and an unreadable submission, stopped and resumed by parts."""
    (course / "submissions/zoe.ipynb").write_text("oops")
    hand_in(returned(double="def double(x):\n    return 2 if x == 1 else 0"), course / "submissions/bob/hw.ipynb")
    for part in ("1/2", "2/2"):
        done = lmbook(*GRADE, "--part", part, "--out", f"part-{part[0]}", "--jobs", 1)
        assert done.exit_code == (part == "1/2"), done.output  # the third file cannot be read
    merged = lmbook("merge", "part-1/07", "part-2/07", "--out", "graded/07")
    assert merged.exit_code == 0, merged.output
    resumed = lmbook(*GRADE, "--resume")
    assert resumed.exit_code == 1, resumed.output
    assert "Could not be read: 1" in resumed.stdout
    assert resumed.stderr.count("(kept)") == 3
    assert lmbook(*REPORT, "--without-written").exit_code == 0
    assert [row["points"] for row in rows(course / "graded/07/scores.csv")] == ["5", "3", ""]
    feedback = {name: (course / f"graded/07/feedback/{name}.html").read_text() for name in ("ann", "bob", "zoe")}
    assert "not a notebook" in feedback["zoe"]
    assert "-7.5" not in "".join(feedback.values())
    assert "SECRET" not in "".join(feedback.values())


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_on_a_terminal_there_is_a_bar_with_the_time_left():
    stream = Terminal()
    with Progress(2, stream) as progress:
        progress(ungraded("ann") | {"seconds": 0.0}, 1, 2)
        progress(result("bob"), 2, 2)
    shown = stream.getvalue()
    assert "2/2" in shown
    assert "notebook" in shown
    assert "ann: not graded: no memory left" in shown
    assert progress.done == 2


def test_results_of_an_earlier_run_say_nothing_about_the_time_left(monkeypatch):
    from lmbook_grader.report import terminal

    clock = iter([0.0, 0.5, 1.0, 1.5, 11.5])  # begun, three kept ones, the end of the first new one
    monkeypatch.setattr(terminal.time, "monotonic", lambda: next(clock))
    stream = io.StringIO()
    with Progress(5, stream) as progress:
        for done in range(1, 4):
            progress(result("ann", seconds=0.1), done, 5, kept=True)
        progress(result("bob", seconds=9.0), 4, 5)
    lines = stream.getvalue().splitlines()
    assert [line.endswith("(kept)") for line in lines] == [True, True, True, False]
    assert lines[3].endswith("(about 10 s left)")


def test_make_writes_release_and_grading_apart(course):
    from lmbook_press.book import Book

    number = Book.find(__file__.rsplit("/", 1)[0]).masters()[0].name[:2]
    done = lmbook("make", number, "--out", "made", "--book", __file__.rsplit("/", 1)[0])
    assert done.exit_code == 0, done.output
    kinds = sorted(path.relative_to(course / "made").parts[:2] for path in (course / "made").rglob("*.ipynb"))
    assert kinds == [(number, "grading"), (number, "release")]
    secret, (grading,) = course / "made/secret.txt", (course / "made").glob("*/grading/*.ipynb")
    assert len(secret.read_text().strip()) > 40
    assert secret.stat().st_mode & 0o077 == 0
    assert {"secret.txt", "/*/grading/"} <= set((course / "made/.gitignore").read_text().split())
    drawn = grading.read_bytes()
    lmbook("make", number, "--out", "made", "--book", __file__.rsplit("/", 1)[0])
    assert grading.read_bytes() == drawn  # with the secret that is there
    secret.write_text("another term")
    lmbook("make", number, "--out", "made", "--book", __file__.rsplit("/", 1)[0])
    assert grading.read_bytes() != drawn


def test_a_double_is_a_double():
    """The samples are what they say: the right answer passes its own visible check, the stub does not."""
    space = {}
    exec(DOUBLE + "\nassert double(1) == 2", space)
    with pytest.raises(NotImplementedError):
        exec("\n".join(cell.source for cell in release().cells[3:5]), {})
