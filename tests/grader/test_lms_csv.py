"""Scores and marks: the columns each system wants, and no point that was not given."""

import csv
import io

import pytest
from samples import ROSTER, result, ungraded, write_results

from lmbook_grader.intake.roster import read_roster
from lmbook_grader.report.lms_csv import write_scores
from lmbook_grader.report.results import marked, read_marks, read_results, score
from lmbook_grader.spreadsheet import guarded
from lmbook_press.book import BookError

CANVAS = (
    "Student,ID,SIS User ID,SIS Login ID,Section,Essay (9)\n    Points Possible,,,,,10\n"
    '"Doe, Ann",12345,ann,adoe,A,7\n"Ray, Bob",22222,bob,bray,B,\n'
)
MOODLE = (
    "Identifier,Full name,ID number,Email address,Status,Grade,Maximum Grade,Grade can be changed,"
    "Last modified (submission),Last modified (grade),Feedback comments\n"
    "Participant 54321,Ann Doe,ann,ann@x.org,Submitted,,7.00,Yes,today,-,\n"
    "Participant 54322,Bob Ray,bob,bob@x.org,Submitted,,7.00,Yes,today,-,\n"
)


def roster_of(tmp_path, text=ROSTER):
    (tmp_path / "roster.csv").write_text(text, encoding="utf-8")
    return read_roster(tmp_path / "roster.csv")


def written(tmp_path, kind, results, roster, title="Homework 7", **options):
    count = write_scores(kind, results, roster, title, tmp_path / "out.csv", **options)
    data = (tmp_path / "out.csv").read_bytes()
    assert data.startswith(b"\xef\xbb\xbf") == (kind == "plain")
    return count, list(csv.DictReader(io.StringIO(data.decode("utf-8-sig"), newline="")))


def done(student, points, **others):
    return marked([result(student, **others)], {(student, "why"): (points, "well said")})[0]


def test_the_sum_waits_for_written_answers():
    assert (score(result()).points, score(result()).waiting) == (None, ["why"])
    assert (score(result(), written=False).points, score(result(), written=False).most) == (5, 5)
    assert (score(done("ann", 1.5)).points, score(done("ann", 1.5)).most) == (6.5, 7)
    assert score(result(why="missing", double=False)).points == 3
    assert score(ungraded("ann")).points is None


def test_plain_scores_have_every_student_and_every_question(tmp_path):
    results = [done("ann", 2), result("bob", triple=False)]
    count, rows = written(tmp_path, "plain", results, roster_of(tmp_path))
    assert count == 1
    assert [(row["id"], row["double"], row["triple"], row["why"], row["points"], row["state"]) for row in rows] == [
        ("ann", "2", "3", "2", "7", "graded"),
        ("bob", "2", "0", "", "", "not marked: why"),
        ("zoe", "", "", "", "", "absent"),
    ]
    _, rows = written(tmp_path, "plain", [ungraded("ann")], roster_of(tmp_path))
    assert (rows[0]["points"], rows[0]["state"]) == ("", "ungraded")


def test_canvas_gets_its_own_lines_back_with_one_column(tmp_path):
    count, rows = written(tmp_path, "canvas", [done("ann", 1)], roster_of(tmp_path, CANVAS), "Homework 7 (4711)")
    assert list(rows[0]) == ["Student", "ID", "SIS User ID", "SIS Login ID", "Section", "Homework 7 (4711)"]
    assert rows[0]["Student"] == "    Points Possible"
    assert rows[0]["Homework 7 (4711)"] == "7"
    assert list(rows[1].values()) == ["Doe, Ann", "12345", "ann", "adoe", "A", "6"]
    assert list(rows[2].values()) == ["Ray, Bob", "22222", "bob", "bray", "B", ""]
    assert count == 1


def test_moodle_gets_its_worksheet_back_with_grade_and_comment(tmp_path):
    _, rows = written(tmp_path, "moodle", [done("ann", 1), result("bob")], roster_of(tmp_path, MOODLE))
    assert ",".join(rows[0]) == MOODLE.split("\n")[0]
    assert (rows[0]["Identifier"], rows[0]["Grade"], rows[0]["Status"]) == ("Participant 54321", "6", "Submitted")
    assert rows[0]["Feedback comments"] == "double: 2 of 2; triple: 3 of 3; why: 1 of 2 (well said)"
    assert rows[1]["Grade"] == ""
    assert "not marked yet" in rows[1]["Feedback comments"]


def test_gradescope_gets_names_sid_and_maximum(tmp_path):
    _, rows = written(tmp_path, "gradescope", [done("zoe", 2)], roster_of(tmp_path), "HW7")
    assert list(rows[2].items()) == [
        ("First Name", "Zoë"), ("Last Name", "O'Hara"), ("SID", "zoe"), ("Email", "zoe@example.org"),
        ("HW7", "7"), ("HW7 - Max Points", "7"),
    ]  # fmt: skip


@pytest.mark.parametrize("kind", ["canvas", "moodle", "gradescope"])
def test_a_plain_roster_serves_every_system(tmp_path, kind):
    count, rows = written(tmp_path, kind, [done("ann", 1)], roster_of(tmp_path), "HW")
    values = [row.get("Grade", row.get("HW")) for row in rows]
    assert values == (["7"] if kind == "canvas" else []) + ["6", "", ""]
    assert count == 1


def test_scores_without_written_questions(tmp_path):
    count, rows = written(tmp_path, "plain", [result("ann")], roster_of(tmp_path), written=False)
    assert count == 1
    assert (rows[0]["points"], rows[0]["max"]) == ("5", "5")
    assert "why" not in rows[0]


@pytest.mark.parametrize("text", ["=1+1", "+cmd|' /C calc'!A0", "-x", "@sum(a)", "\tx", "\rx"])
def test_no_cell_is_a_formula(tmp_path, text):
    assert guarded(text) == "'" + text
    one = marked([result("ann")], {("ann", "why"): (1, text)})[0]
    _, rows = written(tmp_path, "moodle", [one], roster_of(tmp_path, f'id,name,email\nann,"{text}",a@x\n'))
    assert not rows[0]["Full name"].startswith(("=", "+", "-", "@", "\t", "\r"))


def test_numbers_stay_numbers():
    assert [guarded(value) for value in ("-1.5", "12", 3, "Ann")] == ["-1.5", "12", "3", "Ann"]


def marks_file(tmp_path, text):
    (tmp_path / "marks.csv").write_text(text, encoding="utf-8")
    return tmp_path / "marks.csv"


def test_marks_are_read_and_put_in(tmp_path):
    results = [result("ann"), result("bob"), result("zoe")]
    lines = ("ann;why;1,5;Good, but long;sha-sha of ann", "bob;why;;;sha-sha of bob", "zoe;why;0;;sha-sha of zoe")
    text = "\ufeffstudent;question;points;comment;submission\n" + "\n".join(lines) + "\n"
    marks = read_marks(marks_file(tmp_path, text), results)
    assert marks == {("ann", "why"): (1.5, "Good, but long"), ("zoe", "why"): (0.0, "")}
    ann, bob, zoe = (one["questions"][2] for one in marked(results, marks))
    assert (ann["status"], ann["points"], ann["comment"]) == ("marked", 1.5, "Good, but long")
    replaced = [results[0] | {"file_sha256": "of another file"}, *results[1:]]
    assert read_marks(marks_file(tmp_path, text), replaced) == {("zoe", "why"): (0.0, "")}
    assert (bob["status"], zoe["status"], zoe["points"]) == ("manual", "marked", 0)
    assert results[0]["questions"][2]["status"] == "manual"  # the results themselves stay


def test_a_mark_may_overrule_an_answer_that_was_not_found(tmp_path):
    one = marked([result("ann", why="missing")], {("ann", "why"): (2.0, "was on paper")})[0]
    assert score(one).points == 7


def test_every_line_that_cannot_be_used_is_named_at_once(tmp_path):
    lines = [
        "ann,why,3,,A",
        "eve,why,1,,E",
        "ann,double,1,,A",
        "ann,why,nan,,A",
        "ann,why,-1,,A",
        "ann,why,x,,A",
        "bob,why,1,,B",
        "bob,why,1,,B",
        "ann,triple,3,agreed,",
        "ann,loops,3,agreed,A",
        "ann,double,1,agreed,A",
    ]
    lines = [line.removesuffix(",A") + (",sha-sha of ann" if line.endswith(",A") else "") for line in lines]
    lines = [line.removesuffix(",B") + (",sha-sha of bob" if line.endswith(",B") else "") for line in lines]
    path = marks_file(tmp_path, "student,question,points,comment,submission\n" + "\n".join(lines) + "\n")
    with pytest.raises(BookError) as caught:
        read_marks(path, [result("ann"), result("bob")])
    said = str(caught.value).split("\n")
    assert [line.split(":")[0] for line in said] == [f"marks.csv, line {n}" for n in (2, 3, 4, 5, 6, 7, 9, 10, 11)]
    assert "3 is not between 0 and 2" in said[0]
    assert "no result of a student 'eve'" in said[1]
    assert "double was graded by program: say in the comment why ann gets other points" in said[2]
    assert "already" in said[6]
    assert "run 'lmbook homework sheet' again" in said[7]
    assert "ann has no question 'loops'; there are double, triple, why" in said[8]


def test_marks_without_their_columns(tmp_path):
    with pytest.raises(BookError, match="no column points"):
        read_marks(marks_file(tmp_path, "student,question\nann,why\n"), [result()])


def test_results_are_read_only_whole_and_of_one_version(tmp_path):
    with pytest.raises(BookError, match="holds no results"):
        read_results(tmp_path)
    folder = write_results(tmp_path / "07", result("ann"), result("bob", release_sha256="r2"))
    with pytest.raises(BookError, match=r"several releases: r1 \(ann\), r2 \(bob\)"):
        read_results(folder)
    write_results(folder, ungraded("bob", release_sha256=None))
    assert [one["student"] for one in read_results(folder)] == ["ann", "bob"]
    (folder / "results/bob.json").write_text('{"student": "bob"')
    with pytest.raises(BookError, match=r"bob\.json is not a result"):
        read_results(folder)
    (folder / "results/bob.json").write_text((folder / "results/ann.json").read_text())
    with pytest.raises(BookError, match="holds the result of ann"):
        read_results(folder)
