"""The instructor's last word: marks and changed points belong to one file, and are never lost."""

import csv
import io
import zipfile

import pytest
from samples import hand_in, homework, master, result, returned, write_results

from lmbook_grader.grading.grade import file_digest
from lmbook_grader.intake.collect import collect
from lmbook_grader.report.feedback import write_report
from lmbook_grader.report.lms_zip import write_zip
from lmbook_grader.report.prose import prose, their_prose
from lmbook_grader.report.results import mark_of, marked, override, read_marks, score
from lmbook_grader.report.written_answers import write_sheet
from lmbook_grader.spreadsheet import write_csv
from lmbook_press.assignments.marking import rubric, solution_and_scheme
from lmbook_press.book import BookError


def lines(path) -> list[dict]:
    return list(csv.DictReader(io.StringIO(path.read_text(encoding="utf-8-sig"), newline="")))


def test_a_sheet_keeps_its_marks_and_a_replaced_file_waits_for_a_new_one(roster, tmp_path):
    folder, out = tmp_path / "submissions", tmp_path / "out"
    for name in ("ann", "bob"):
        hand_in(returned(written=f"Because of {name}."), folder / f"{name}.ipynb")

    def sheet():
        return write_sheet(collect(folder, roster).submissions, homework(master()), out)

    sheet()
    text = (out / "marks.csv").read_text(encoding="utf-8-sig").replace("submission", "submission,marker")
    first = mark_of(file_digest(folder / "ann.ipynb"))
    (out / "marks.csv").write_text(text.replace(f"ann,why,,,{first}", f"ann,why,2,good,{first},eve"), encoding="utf-8")
    hand_in(returned(written="Because of zoe."), folder / "zoe.ipynb")
    made = sheet()
    assert (made.answers, made.new, made.replaced) == (3, 1, 0)
    assert [(row["student"], row["points"], row["marker"]) for row in lines(made.marks)] == [
        ("ann", "2", "eve"), ("bob", "", ""), ("zoe", "", "")]  # fmt: skip
    hand_in(returned(written="Because of ann, rather."), folder / "ann.ipynb")
    made = sheet()
    assert (made.new, made.replaced) == (1, 1)
    ann = [row for row in lines(made.marks) if row["student"] == "ann"]
    assert [(row["points"], row["submission"] == first) for row in ann] == [("", False), ("2", True)]
    assert "ann: 2 points in a file that was replaced" in made.reading.read_text()
    now = [result("ann", file_sha256=file_digest(folder / "ann.ipynb"))]
    assert read_marks(made.marks, now) == {}
    hand_in(returned(written="Because of ann."), folder / "ann.ipynb")  # the first file again: its mark counts again
    sheet()
    assert read_marks(made.marks, [now[0] | {"file_sha256": file_digest(folder / "ann.ipynb")}]) != {}


def test_the_sheet_measures_how_long_marking_takes(roster, tmp_path):
    folder, out = tmp_path / "submissions", tmp_path / "out"
    for name in ("ann", "bob", "zoe"):
        hand_in(returned(written=f"Because of {name}."), folder / f"{name}.ipynb")

    def sheet():
        return write_sheet(collect(folder, roster).submissions, homework(master()), out)

    made = sheet()
    assert (made.answers, made.marked, made.minutes) == (3, 0, [])
    rows = lines(made.marks)
    rows[0] |= {"points": "2", "minutes": "1,5"}
    rows[1] |= {"points": "1", "minutes": "2.5"}
    write_csv(rows, list(rows[0]), made.marks)
    made = sheet()
    assert (made.marked, made.minutes) == (2, [1.5, 2.5])
    assert [row["minutes"] for row in lines(made.marks)] == ["1,5", "2.5", ""]
    rows[2]["minutes"] = "long"
    write_csv(rows, list(rows[0]), made.marks)
    with pytest.raises(BookError, match="zoe, why: 'long' in the column minutes is not a number"):
        sheet()


def test_points_are_changed_with_a_reason_and_stay(roster, tmp_path):
    results = [result("ann", triple=False), result("bob")]
    marks = tmp_path / "marks.csv"
    for why, given in {
        "say in the comment why": ("ann", "triple", 3, ""),
        "is not between 0 and 3": ("ann", "triple", 4, "x"),
        "no result of a student": ("eve", "triple", 3, "x"),
        "no question 'loops'": ("ann", "loops", 3, "x"),
    }.items():
        with pytest.raises(BookError, match=why):
            override(marks, results, *given)
        assert not marks.exists()
    assert override(marks, results, "ann", "triple", 2, "right up to a sign") == 0
    assert override(marks, results, "ann", "triple", 3, "right, by another formula") == 2
    assert len(lines(marks)) == 1
    ann, bob = marked(results, read_marks(marks, results))
    changed = ann["questions"][1]
    assert (changed["points"], changed["was"], changed["status"]) == (3, 0, "changed")
    assert (score(ann, written=False).points, score(bob, written=False).points) == (5, 5)
    write_report([ann, bob], homework(master()), roster, tmp_path)
    page = (tmp_path / "feedback/ann.html").read_text()
    assert "Changed from 0 to 3 points" in page
    assert "right, by another formula" in page
    assert "ann, triple: 3 in place of 0. right, by another formula" in (tmp_path / "summary.html").read_text()
    assert read_marks(marks, [results[0] | {"file_sha256": "another"}]) == {}


def test_the_marking_page_has_all_that_a_marker_needs(roster, tmp_path):
    folder = tmp_path / "submissions"
    hand_in(returned(written="Because $a^2$ is\n\n- repeated"), folder / "ann.ipynb")
    hand_in(returned(written="because  $a^2$ is\n- REPEATED "), folder / "bob.ipynb")
    hand_in(returned(written="Hidden\U000e0041\U000e0042 words"), folder / "zoe.ipynb")
    notebook = master()
    notebook.cells[-1].source = "Because SECRET.\n\n*Marks.* 1 point: the word. 1 point: the $x$ in it."
    made = write_sheet(collect(folder, roster).submissions, homework(notebook), tmp_path / "out")
    page = made.reading.read_text().replace("\u2060", "")
    assert "<h3>ann, bob</h3>" in page  # equal but for case and white space
    assert "2 students have this text" in page
    assert "5 words" in page
    assert "Why?" in page  # the question
    assert page.count('type="checkbox" data-points="1"') == 4  # two marks for two texts
    assert "<math" in page
    assert "Hidden[U+E0041][U+E0042] words" in page
    assert page.count("<script>") == 1  # the page's own


def test_a_rubric_is_the_schemes_own_where_it_adds_up():
    solution, scheme = solution_and_scheme("So.\n\n*Marks.* 1 point: a. 2 points for b, whatever 3 is.")
    assert solution == "So."
    assert rubric(scheme, 3) == [(1.0, "1 point: a."), (2.0, "2 points for b, whatever 3 is.")]
    assert rubric(scheme, 2) == [(1.0, "point 1"), (1.0, "point 2")]


def test_prose_is_harmless():
    html = prose(
        "<b onclick=x>a</b> [x](javascript:alert(1)) ![p](http://x/y.png) $\\href{javascript:alert(1)}{z}$ ~~~\n"
    )
    for bad in ("<b", "<a ", "<img", 'href="', "xlink:href"):
        assert bad not in html
    assert "$" * 300 in their_prose("$" * 300)


def test_a_written_answer_has_its_question_and_once_marked_its_scheme(roster, tmp_path):
    notebook = master()
    notebook.cells[-1].source = "Because SECRET.\n\n*Marks.* 2 points: the word addition."
    one = result("ann")
    one["questions"][2]["answer"] = "Because."
    for given, shown in (({}, False), ({("ann", "why"): (1.0, "")}, True)):
        write_report(marked([one], given), homework(notebook), roster, tmp_path)
        page = (tmp_path / "feedback/ann.html").read_text()
        assert "<summary>The question</summary><p>Why?</p>" in page
        assert '<summary>Your answer</summary><div class="theirs"><p>Because.</p>' in page
        assert ("the word addition" in page) is shown
        assert "SECRET" not in page


def test_zips_are_named_as_the_systems_take_them_back(roster, tmp_path):
    results = [
        result("ann", file="doeann_LATE_12_34_hw-1.ipynb", folder="submissions"),
        result("bob", file="hw.ipynb", folder="Bob Ray_54321_assignsubmission_file"),
        result("zoe"),
    ]
    write_results(tmp_path, *results)
    write_report(results, homework(master()), roster, tmp_path)
    for kind, wanted, unnamed in (
        ("canvas", "doeann_LATE_12_34_hw-1.html", ["bob", "zoe"]),
        ("moodle", "Bob Ray_54321_assignsubmission_file_feedback.html", ["ann", "zoe"]),
    ):
        path, without = write_zip(kind, results, roster, tmp_path)
        assert without == unnamed
        with zipfile.ZipFile(path) as archive:
            assert archive.namelist() == [wanted]
            assert b"<!doctype html>" in archive.read(wanted)
