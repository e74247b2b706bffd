"""The plan of a course: its hours add up, each meeting has a sheet of one page, and its syllabus says what it says."""

import datetime
import re
from pathlib import Path

import pytest
from click.testing import CliRunner

from lmbook_cli import main
from lmbook_exams import plan, syllabus
from lmbook_exams.bank import CHAPTERS
from lmbook_press.book import Book, BookError

BOOK = Book.find(Path(__file__).parent)
FILES = [BOOK.root / "book" / name for name in ("plan.toml", "plan-today.toml")]
PLAN, TODAY = (plan.read(file, BOOK) for file in FILES)


@pytest.fixture(scope="module")
def meetings():
    return plan.meetings(PLAN, BOOK)


@pytest.mark.parametrize("course", [PLAN, TODAY], ids=["all", "today"])
def test_no_week_is_longer_than_promised_and_hours_are_those_of_their_parts(course):
    weeks = plan.hours(course, BOOK)
    assert len(weeks) <= 14
    for week in weeks:
        assert week["all"] == pytest.approx(
            sum(week[name] for name in ("read", "exercises", "homework", "class", "project"))
        )
        assert week["all"] <= course["most_hours"]


def test_the_course_of_fourteen_weeks_has_time_for_a_project_and_few_exercises():
    weeks = plan.hours(PLAN, BOOK)
    assert len(weeks) == 14
    assert sum(week["project"] for week in weeks) >= 8
    everything = plan.hours(PLAN | {"exercises": ["check", "practice", "explore"]}, BOOK)
    assert sum(week["exercises"] for week in everything) > 4 * sum(week["exercises"] for week in weeks) > 4


def test_part_five_has_a_week_for_each_of_its_chapters():
    listed = [number for week in TODAY["week"] for number in (one["chapter"] for one in week["read"]) if number >= 20]
    assert listed == [BOOK.chapter_number(path) for path in BOOK.chapters() if BOOK.chapter_number(path) >= 20]
    assert all(week["meetings"][0]["chapter"] == week["read"][0]["chapter"] for week in TODAY["week"][10:])
    assert "chapter" not in TODAY["week"][-1]["meetings"][1]


def test_a_chapter_without_a_box_has_wrong_options_with_their_reasons():
    chapter = plan.chapter_of(21, BOOK)
    said = [re.sub(r"<[^>]+>", "", slip) for slip in chapter.slips()]
    assert len(said) == plan.MOST_SLIPS
    text = plan.markdown_of(chapter.path)
    for one in said:
        option = re.search(r"“(.+?)\.?”", one)[1]
        assert f"- [ ] {option[:10]}" in text, option
        assert len(one.partition("”")[2]) > 30, "the reason stands behind it"


def test_reading_is_counted_from_the_chapter():
    one = plan.chapter_of(6, BOOK)
    text = plan.markdown_of(one.path).split("\n## Exercises")[0]
    assert one.counted["equations"] == len(re.findall(r"\(eq-[\w-]+\)$", text, re.MULTILINE)) > 4
    assert one.counted["questions"] == text.count("{self-check}") + text.count(":class: predict") > 4
    assert 20 < one.counted["words"] < 60
    assert one.hours == pytest.approx(sum(plan.RULE[what] * much for what, much in one.counted.items()) / 60)
    assert 1.2 < one.hours < 3.5


def test_every_meeting_has_a_sheet_whose_minutes_add_up(meetings):
    assert len(meetings) == sum(len(week["meetings"]) for week in PLAN["week"]) == 28
    for one in meetings:
        assert sum(minutes for minutes, _ in one.rows) == PLAN["minutes"], one.title
        assert min(minutes for minutes, _ in one.rows) > 0, one.title
        assert not re.search("True|False|last time" if one.number == 1 else "True|False", str(one.rows)), one.title
        if one.chapter is None:
            continue
        assert one.exit, one.title
        assert one.asked or one.what_if, one.title
        assert one.slides, one.title
        assert one.slips or one.title.endswith("first half"), one.title
        told = [slide for _, slide in one.slides if slide.kind not in ("ask", "answer")]
        unclaimed = {slide.heading for slide in told if not slide.claim}
        assert unclaimed <= {"What you will be able to do"}, one.title
    first, second = (one for one in meetings if one.week == 6)
    numbers = [[at for at, _ in one.slides] for one in (first, second)]
    assert numbers[0] + numbers[1] == [at for at, _ in first.chapter.core]
    assert any(one.figures for one in (first, second))


@pytest.mark.parametrize("course", [PLAN, TODAY], ids=["all", "today"])
def test_the_calendar_has_all_weeks_with_links_and_hours(course):
    rows = [re.split(r" *\| *", row)[1:-1] for row in syllabus.calendar(course, BOOK)[2:]]
    assert [int(row[0]) for row in rows] == [*range(1, 15)]
    for (_, read, due, _, hours), week, counted in zip(rows, course["week"], plan.hours(course, BOOK), strict=True):
        links = re.findall(r"\[(\d+)\]\(/(notebooks/\d\d-[\w-]+\.ipynb)\)", read)
        assert [int(number) for number, _ in links] == [one["chapter"] for one in week["read"]]
        assert all((BOOK.root / path).is_file() for _, path in links)
        assert re.findall(r"\d+", due) == [str(number) for number in week.get("due", [])]
        assert hours == f"{counted['all']:.1f}"


@pytest.mark.parametrize("course", [PLAN, TODAY], ids=["all", "today"])
def test_the_syllabus_says_what_its_plan_says(course):
    text = syllabus.syllabus(course, BOOK, datetime.date(2027, 4, 12))
    weeks = course["week"]
    assert f"{sum(len(week.get('due', [])) for week in weeks)} homeworks" in text
    assert "in weeks 10 to 14" in text
    assert f"At most {course['most_hours']} hours" in text
    assert sum(course["grades"].values()) == 100
    assert all(f"{what} {share} %" in text.lower() for what, share in course["grades"].items())
    rows = [row for row in text.split("\n") if re.match(r"\| \d", row)]
    assert len(rows) == len(weeks)
    assert "| 2027-04-12 |" in rows[0]
    assert "| 2027-07-12 |" in rows[-1]
    assert "The exam (chapters 1 to" in rows[-1]
    for row, week in zip(rows, weeks, strict=True):
        assert all(syllabus.title(one["chapter"], BOOK) in row for one in week["read"])
    assert re.search(r"[{}]|&#", text) is None


def test_a_plan_without_a_syllabus_says_what_it_needs_and_the_page_shows_both():
    with pytest.raises(BookError, match="has no needs, grades"):
        syllabus.syllabus({name: one for name, one in PLAN.items() if name not in ("needs", "grades")}, BOOK)
    page = (BOOK.root / "book" / "instructors.md").read_text("utf-8")
    shown = re.findall(r"^```\{(\w+)\} (plan\S*)$", page, re.MULTILINE)
    assert sorted(shown) == [(name, file.name) for name in ("calendar", "syllabus") for file in reversed(FILES)]
    assert "lmbook_exams.syllabus" in str(BOOK.config["sphinx"])


def test_the_command_writes_a_syllabus(tmp_path):
    free = datetime.date(2027, 4, 19)
    call = ["plan", "--syllabus", tmp_path / "s.md", "--begin", "2027-04-12", "--free", free, "--plan", FILES[1]]
    done = CliRunner().invoke(main, list(map(str, call)))
    assert done.exit_code == 0, done.output
    said = (tmp_path / "s.md").read_text("utf-8")
    assert said == syllabus.syllabus(TODAY, BOOK, datetime.date(2027, 4, 12), [free])
    assert "| 2 | 2027-04-26 |" in said
    assert "04-19" not in said


@pytest.mark.browser
def test_each_sheet_is_one_page(new_context, tmp_path, meetings):
    from io import BytesIO

    from pypdf import PdfReader

    page = new_context().new_page()
    for file, count in zip(FILES, (len(meetings), sum(len(week["meetings"]) for week in TODAY["week"])), strict=True):
        (tmp_path / "plan.html").write_text(plan.page(BOOK, file), "utf-8")
        page.goto((tmp_path / "plan.html").as_uri())
        words = [one.extract_text() for one in PdfReader(BytesIO(page.pdf(prefer_css_page_size=True))).pages]
        heads = ("What stands on the board, solved", "Objectives, and where")
        solved, aims = (at for at, text in enumerate(words) if text.startswith(heads))
        assert solved == 1 + count, file.name
        assert aims - solved <= count / 3
        assert len(words) - aims <= len(CHAPTERS) / 3


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", r"has no \[\[week\]\]"),
        ("[[week", "plan.toml"),
        ("[[week]]\nreed = []", "reed is none of read"),
        ("[[week]]\nmeetings = [{chapter = 1, part = 'third'}]", "write one of all, first, second"),
        ("[[week]]\nmeetings = [{}]", "needs a chapter, an exam or free"),
    ],
)
def test_a_plan_that_cannot_be_is_named(tmp_path, text, says):
    (tmp_path / "plan.toml").write_text(text)
    with pytest.raises(BookError, match=says):
        plan.read(tmp_path / "plan.toml", BOOK)
