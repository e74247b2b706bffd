"""The gradebook: points after lateness, free days, what is dropped, rounding; pages and tables for systems."""

import csv
import io
import json
import re
from datetime import datetime
from fractions import Fraction

import pytest
from click.testing import CliRunner
from samples import Page, hand_in, master, release, result, ungraded, write_results

from lmbook_grader.cli import homework
from lmbook_grader.course.gradebook import gradebook, read_course, rounded
from lmbook_grader.course.policy import read_policy
from lmbook_grader.intake.collect import collect
from lmbook_grader.intake.roster import read_roster
from lmbook_press.assignments.make import grading_version
from lmbook_press.book import BookError

ROSTER = 'id,name,email,section\nann,Ann Doe,ann@x.org,A\nbob,"<b>Bob</b>",bob@x.org,B\nzoe,Zoë,zoe@x.org,B\n'
RULES = """timezone = "Europe/Berlin"
penalty = 10
late_days = 2
latest = 5
"""
LATER = datetime(2026, 12, 1)


def done(student, why, when="2026-09-14T12:00:00", **others):
    """Five points by program and `why` of two in words."""
    one = result(student, why="marked", when=when, **others)
    one["questions"][-1]["points"] = why
    return one


def made(tmp_path, rules, *homeworks, roster=ROSTER, now=LATER):
    """The lines of a course whose homeworks are 01, 02, ...: lists of results."""
    tmp_path.mkdir(exist_ok=True)
    (tmp_path / "roster.csv").write_text(roster, encoding="utf-8")
    for number, results in enumerate(homeworks, start=1):
        for kind, notebook in (("release", release()), ("grading", grading_version(master()))):
            hand_in(notebook, tmp_path / f"course/0{number}/{kind}/07-numbers.ipynb")
        if results:
            write_results(tmp_path / f"graded/0{number}", *results)
    (tmp_path / "course/course.toml").write_text(rules, encoding="utf-8")
    people = read_roster(tmp_path / "roster.csv")
    policy = read_policy(tmp_path / "course", people)
    course = read_course(tmp_path / "course", tmp_path / "graded", policy, people)
    return {line.student.id: line for line in gradebook(policy, course, people, now)}


def section(number, day=14, more=""):
    return f"[homework.0{number}]\ndue = 2026-09-{day}T23:59:59\n{more}"


def test_late_days_are_free_until_they_are_used_up(tmp_path):
    first, second = [done("ann", 2, "2026-09-15T00:00:00")], [done("ann", 2, "2026-09-23T23:59:59")]
    ann = made(tmp_path, RULES + section(1) + section(2, 21), first, second)["ann"]
    one, two = ann.entries["01"], ann.entries["02"]
    assert (one.days, one.free, one.share) == (1, 1, 1)
    assert (two.days, two.free, two.share) == (2, 1, Fraction(9, 10))
    assert (ann.left, ann.total) == (0, 95)


def test_free_days_follow_the_dates_and_not_the_numbers(tmp_path):
    both = [done("ann", 2, "2026-09-23T12:00:00")], [done("ann", 2, "2026-09-16T12:00:00")]
    ann = made(tmp_path, RULES + section(1, 21) + section(2, 14), *both)["ann"]
    assert (ann.entries["02"].free, ann.entries["01"].free) == (2, 0)


def test_one_homework_may_use_only_some_free_days(tmp_path):
    rules = "late_days_each = 1\n" + RULES
    ann = made(tmp_path, rules + section(1), [done("ann", 2, "2026-09-16T12:00:00")])["ann"]
    assert (ann.entries["01"].free, ann.left, ann.total) == (1, 1, 90)


def test_after_the_latest_day_nothing_counts_and_no_free_day_is_lost(tmp_path):
    last = made(tmp_path / "a", RULES + section(1), [done("ann", 2, "2026-09-19T23:59:59")])["ann"]
    over = made(tmp_path / "b", RULES + section(1), [done("ann", 2, "2026-09-20T00:00:00")])["ann"]
    assert (last.entries["01"].free, last.total) == (2, 70)
    assert (over.entries["01"].free, over.total, over.left) == (0, 0, 2)


def test_an_extension_is_one_students(tmp_path):
    rules = RULES + section(1) + "[student.ann]\ndue = { 01 = 2026-09-17 }\n[student.zoe]\nlate_days = 0\n"
    lines = made(tmp_path, rules, [done(who, 2, "2026-09-17T23:59:59") for who in ("ann", "bob", "zoe")])
    assert [line.total for line in lines.values()] == [100, 90, 70]


def test_a_student_with_no_submission(tmp_path):
    rules = RULES + section(1) + section(2, 21) + '[student.zoe]\nexcused = ["02"]\n'
    here = [done("ann", 2)], [done("ann", 2)]
    lines = made(tmp_path / "a", rules, *here, now=datetime(2026, 12, 1))
    assert (lines["bob"].total, lines["bob"].entries["01"].status) == (0, "missing")
    assert (lines["zoe"].entries["02"].status, lines["zoe"].total) == ("excused", 0)
    # As long as a file could still get points, its absence is no zero.
    for now, status in (("2026-09-19T23:59:59", "open"), ("2026-09-20T00:00:00", "missing")):
        lines = made(tmp_path / now[-8:-6], rules, *here, now=datetime.fromisoformat(now))
        assert lines["bob"].entries["01"].status == status
        assert (lines["bob"].total is None) == (status == "open")


def test_of_two_submissions_the_time_of_the_one_that_is_graded_counts(tmp_path):
    (tmp_path / "roster.csv").write_text(ROSTER, encoding="utf-8")
    for when in ("2026-09-14-23-59-59", "2026-09-15-00-00-00"):
        hand_in(release(), tmp_path / f"in/HW_ann_attempt_{when}_hw.ipynb")
    (one,) = collect(tmp_path / "in", read_roster(tmp_path / "roster.csv")).submissions
    assert one.when == "2026-09-15T00:00:00"
    assert "00-00-00" in one.path.name
    ann = made(tmp_path, RULES + section(1), [done("ann", 2, one.when)])["ann"]
    assert ann.entries["01"].days == 1


def test_systems_that_write_times_are_read(tmp_path):
    (tmp_path / "roster.csv").write_text(ROSTER, encoding="utf-8")
    hand_in(release(), tmp_path / "in/1-2 - Ann Doe - Sep 14, 2026 1159 PM/hw.ipynb")
    hand_in(release(), tmp_path / "in/submission_7/hw.ipynb")
    entry = {":submitters": [{":email": "zoe@x.org"}], ":created_at": "WHEN"}
    text = json.dumps({"submission_7": entry}).replace('"WHEN"', "2026-09-14 21:59:59.5 Z")
    (tmp_path / "in/submission_metadata.yml").write_text(text, encoding="utf-8")
    found = {
        one.student: one.when for one in collect(tmp_path / "in", read_roster(tmp_path / "roster.csv")).submissions
    }
    assert found == {"ann": "2026-09-14T23:59:00", "zoe": "2026-09-14T21:59:59.500000+00:00"}
    lines = made(tmp_path, RULES + section(1), [done(who, 2, when) for who, when in found.items()])
    assert [lines[who].entries["01"].days for who in ("ann", "zoe")] == [0, 0]


def test_who_is_marked_late_without_a_time_waits_for_a_person(tmp_path):
    late = [done("ann", 2, "", marked_late=True, file_date="2026-09-20T10:00:00+00:00")]
    ann = made(tmp_path, RULES + section(1), late)["ann"]
    assert (ann.total, ann.entries["01"].status) == (None, "waiting")
    (tmp_path / "graded/01/times.csv").write_text(
        "student,submitted\nann,2026-09-15T01:00:00+02:00\n", encoding="utf-8"
    )
    assert made(tmp_path, RULES + section(1), late)["ann"].entries["01"].free == 1
    (tmp_path / "graded/01/times.csv").unlink()
    assert made(tmp_path, 'times = "files"\n' + RULES + section(1), late)["ann"].total == 0  # six days late


def test_the_date_of_a_file_counts_only_where_the_course_says_so(tmp_path):
    there = [done("ann", 2, "", file_date="2026-09-15T10:00:00+00:00")]
    assert made(tmp_path / "a", RULES + section(1), there)["ann"].entries["01"].days == 0
    assert made(tmp_path / "b", 'times = "files"\n' + RULES + section(1), there)["ann"].entries["01"].days == 1


@pytest.mark.parametrize(
    ("line", "said"), [("ann,yesterday", "'yesterday'"), ("anne,2026-09-14", "nobody with the id")]
)
def test_a_time_that_is_none_is_said(tmp_path, line, said):
    made(tmp_path, RULES + section(1), [done("ann", 2)])
    (tmp_path / "graded/01/times.csv").write_text(f"student,submitted\n{line}\n", encoding="utf-8")
    with pytest.raises(BookError, match=said):
        made(tmp_path, RULES + section(1), [done("ann", 2)])


def test_the_weakest_are_dropped_by_their_shares(tmp_path):
    rules = "drop = 2\n" + RULES + "".join(section(n, more=f"weight = {n}\n") for n in (1, 2, 3, 4))
    points = {1: 2, 2: 0, 3: 1, 4: 0}  # of seven, beside five: shares 1, 5/7, 6/7, 5/7
    lines = made(tmp_path, rules, *([done("ann", why)] for why in points.values()))
    ann = lines["ann"]
    assert [number for number, entry in ann.entries.items() if entry.dropped] == ["02", "04"]
    assert ann.total == 100 * (1 * Fraction(1) + 3 * Fraction(6, 7)) / 4
    assert [entry.dropped for entry in lines["bob"].entries.values()].count(True) == 2  # of four that are missing


def test_of_equally_weak_ones_that_of_larger_weight_goes_first(tmp_path):
    rules = "drop = 1\n" + RULES + section(1) + section(2, more="weight = 3\n") + section(3)
    ann = made(tmp_path, rules, [done("ann", 0)], [done("ann", 0)], [done("ann", 2)])["ann"]
    assert [number for number, entry in ann.entries.items() if entry.dropped] == ["02"]


def test_the_last_one_is_never_dropped(tmp_path):
    rules = "drop = 1\n" + RULES + section(1) + section(2)
    ann = made(tmp_path, rules, [done("ann", 1)], None)["ann"]
    assert ann.total == Fraction(600, 7)


def test_nothing_stands_while_something_waits(tmp_path):
    both = [done("ann", 2), ungraded("bob"), result("zoe")], [done(who, 2) for who in ("ann", "bob", "zoe")]
    lines = made(tmp_path, RULES + section(1) + section(2), *both)
    assert [line.total for line in lines.values()] == [100, None, None]
    assert (lines["bob"].entries["01"].why, lines["zoe"].entries["01"].why) == ("not graded", "why")


def test_halves_are_rounded_up_and_only_what_is_shown():
    for value, decimals, text in (
        ("89.95", 1, "90.0"), ("0.125", 2, "0.13"), ("2.675", 2, "2.68"), ("1/3", 2, "0.33"), ("99.5", 0, "100"),
        ("0.05", 1, "0.1"), ("7", 1, "7.0"),
    ):  # fmt: skip
        assert rounded(Fraction(value), decimals) == text
    assert round(89.95, 1) != 90.0 or round(2.675, 2) != 2.68  # the floats' own rounding would be another


def test_results_of_strangers_are_refused(tmp_path):
    with pytest.raises(BookError, match="not in the roster: eve"):
        made(tmp_path, RULES + section(1), [done("eve", 2)])


COURSE = RULES + section(1, more='column = "Numbers (4711)"\n') + section(2, more='column = "More (4712)"\n')
CANVAS = (
    "Student,ID,SIS User ID,SIS Login ID,Section,Essay (9)\n    Points Possible,,,,,10\n"
    '"Doe, Ann",12345,ann,adoe,A,7\n"Ray, Bob",22222,bob,bray,B,\n"Zoe",33333,zoe,zoe,B,\n'
)


def command(tmp_path, rules, *options, roster=ROSTER):
    first = [done("ann", 1), done("bob", 2, "2026-09-18T10:00:00")]
    made(tmp_path, rules, first, [done("ann", 0.5), result("zoe")], roster=roster)
    words = ["gradebook", str(tmp_path / "course"), str(tmp_path / "graded"), "--roster", str(tmp_path / "roster.csv")]
    return CliRunner().invoke(homework, [*words, "--as-of", "2026-12-01", *options], catch_exceptions=False)


def table(path):
    data = path.read_bytes()
    return list(csv.reader(io.StringIO(data.decode("utf-8-sig"), newline="")))


def read_by_canvas(rows, assignments):
    """What lib/gradebook_importer.rb makes of a table: {student's ID: {assignment's number or title: grade}}.

    assignments: number -> title, as the course has them.
    """
    head = rows[0]
    assert len(head) > 3
    assert "Student" in head[0]
    assert "ID" in head[1]
    width = 3
    if re.search(r"SIS\s+Login\s+ID", head[2]):
        width += 1
    elif re.search(r"SIS\s+User\s+ID", head[2]) and re.search(r"SIS\s+Login\s+ID", head[3]):
        integration = bool(re.search(r"Integration\s+ID", head[4]))
        width += 2 + integration
        width += bool(re.search(r"Root\s+Account", head[4 + integration]))
    assert "Section" in head[width - 1], "an invalid header row"
    ignored = re.compile(
        "|".join(f"{a} {b}" for a in ("Current", "Final") for b in ("Score", "Points", "Grade")) + "|Override"
    )
    found = {}
    for row in rows[1:]:
        if "Points Possible" in row[0]:
            continue
        grades = {}
        for at, heading in enumerate(head[width:], start=width):
            if not ignored.search(heading):
                named = re.fullmatch(r"(.*)\s\((\d+)\)", heading)
                key = int(named[2]) if named and int(named[2]) in assignments else heading
                grades[key] = row[at].strip()
        found[row[1]] = grades
    return found


def test_canvas_finds_assignments_and_students_by_number(tmp_path):
    said = command(tmp_path, COURSE + '[student.zoe]\nexcused = ["01"]\n', "--scores", "canvas", roster=CANVAS)
    assert said.exit_code == 0
    rows = table(tmp_path / "graded/gradebook-canvas.csv")
    assert read_by_canvas(rows, {4711: "Numbers", 4712: "More"}) == {
        "12345": {4711: "6", 4712: "5.5"},
        "22222": {4711: "5.6", 4712: "0"},  # four days late, two of them free
        "33333": {4711: "EX", 4712: ""},
    }
    assert rows[1][0].strip() == "Points Possible"
    assert rows[1][-2:] == ["7", "7"]


def test_the_total_has_a_column_where_the_course_names_it(tmp_path):
    command(tmp_path, 'total = "Course (4799)"\n' + COURSE, "--scores", "canvas", roster=CANVAS)
    found = read_by_canvas(table(tmp_path / "graded/gradebook-canvas.csv"), {4711: "", 4712: "", 4799: ""})
    assert found["12345"][4799] == "82.1"  # 11.5 of 14
    assert found["33333"][4799] == ""


def read_by_moodle(rows, column):
    """What grade/import/csv/classes/load_data.php makes of a table: {user: {heading: grade or None}}."""
    head, found, user = [cell.strip() for cell in rows[0]], {}, None
    identities = {"ID number", "Email address"}
    for row in (row for row in rows[1:] if len(row) > 1):
        grades = {}
        for heading, value in zip(head, row, strict=True):
            if heading == column:
                user = value or user  # a line that does not say who goes on with the student above
            elif heading not in identities:
                grades[heading] = None if value.strip() in ("", "-") else float(value)
                assert value != "", "a new grade item would take an empty cell for a grade"
        assert user
        assert user not in found, "two lines for one student"
        found[user] = grades
    return found


def test_moodle_reads_a_line_a_student_by_either_column(tmp_path):
    command(tmp_path, COURSE, "--scores", "moodle")
    rows = table(tmp_path / "graded/gradebook-moodle.csv")
    for column, ann, zoe in (("ID number", "ann", "zoe"), ("Email address", "ann@x.org", "zoe@x.org")):
        found = read_by_moodle(rows, column)
        assert len(found) == 3
        assert found[ann] == {"Numbers (4711)": 6, "More (4712)": 5.5}
        assert found[zoe] == {"Numbers (4711)": 0, "More (4712)": None}


def test_moodle_gets_no_column_that_is_empty_for_somebody(tmp_path):
    command(tmp_path, COURSE, "--scores", "moodle", roster=ROSTER.replace("bob@x.org", ""))
    rows = table(tmp_path / "graded/gradebook-moodle.csv")
    assert "Email address" not in rows[0]
    assert len(read_by_moodle(rows, "ID number")) == 3


def test_gradescope_has_the_columns_of_its_own_export(tmp_path):
    command(tmp_path, COURSE, "--scores", "gradescope")
    rows = table(tmp_path / "graded/gradebook-gradescope.csv")
    assert rows[0][:6] == ["First Name", "Last Name", "SID", "Email", "Numbers (4711)", "Numbers (4711) - Max Points"]
    assert rows[1][2:6] == ["ann", "ann@x.org", "6", "7"]


def test_the_page_says_all_and_obeys_nothing(tmp_path):
    sheet = "student,question,points,comment,submission,minutes\nann,why,1,good,sha-sha of ann,2.5\n"
    made(tmp_path, COURSE, [done("ann", 1)], None)
    (tmp_path / "graded/01/marks.csv").write_text(sheet, encoding="utf-8")
    said = command(tmp_path, COURSE)
    assert "2 homeworks, 3 students, 2 totals that stand." in said.output
    assert "Waiting: Homework 02, zoe: why" in said.output
    html = (tmp_path / "graded/gradebook.html").read_text(encoding="utf-8")
    assert html.count("<figure") == 3
    assert "<b>Bob" not in html
    assert "<script" not in html
    text = re.sub(r"<[^>]+>", " ", html)
    for said in (
        "1. Twice",
        "CEST",
        "5.6, 4 late",
        "0, none",
        "&lt;b&gt;Bob&lt;/b&gt;",
        "82.1",
    ):
        assert said in text, said
    assert re.search(r"01\s+2\s+1\s+2\.5\s+2\.5\s+0\s+0", text)  # marked, with minutes, minutes, an answer, not marked


def test_own_table_is_whole(tmp_path):
    command(tmp_path, COURSE)
    rows = list(csv.DictReader(io.StringIO((tmp_path / "graded/gradebook.csv").read_text("utf-8-sig"), newline="")))
    ann, bob, zoe = rows
    assert (ann["01 points"], ann["01 max"], ann["01 counts"], ann["total"]) == ("6", "7", "6", "82.1")
    assert (bob["01 points"], bob["01 days late"], bob["01 free days"], bob["01 counts"]) == ("7", "4", "2", "5.6")
    assert (bob["02 state"], zoe["02 state"], zoe["total"], bob["late days left"]) == ("missing", "waiting", "", "0")


def test_a_class_of_no_results_is_said(tmp_path):
    with pytest.raises(BookError, match="holds no results of 01"):
        made(tmp_path, RULES + section(1), None)


def test_the_page_is_well_formed(tmp_path):
    command(tmp_path, COURSE)
    html = (tmp_path / "graded/gradebook.html").read_text(encoding="utf-8")
    Page(re.sub(r"<svg.*?</svg>", "", html, flags=re.DOTALL))
