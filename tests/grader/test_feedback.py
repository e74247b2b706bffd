"""Feedback and summary: kind, complete, harmless, and without a word of the hidden checks."""

import re
from pathlib import Path

import pytest
from samples import Page, hand_in, homework, master, release, result, returned, ungraded

from lmbook_grader.intake.collect import collect
from lmbook_grader.report.feedback import feedback, summary, write_report
from lmbook_grader.report.pointers import pointers
from lmbook_grader.report.results import marked
from lmbook_grader.report.written_answers import write_sheet
from lmbook_press.book import Book, BookError
from lmbook_press.normalize import read


def shown(one, sections=None) -> Page:
    return Page(feedback(one, release(), sections or {}, "Ann Doe"))


def test_a_page_says_points_reasons_and_notes():
    one = marked([result(triple=False, notes=["You handed in two files."])], {("ann", "why"): (1.5, "Say *why*.")})[0]
    words = shown(one).text
    for said in (
        "Homework: numbers",
        "Ann Doe, file ann.ipynb",
        "3.5 of 7 points",
        "1. Twice right 2 of 2",
        "2. Three times not right yet 0 of 3",
        "3. In words marked 1.5 of 2",
        "triple gives another value than expected.",
        "Say *why*.",
        "You handed in two files.",
    ):
        assert said in words


def test_what_is_not_marked_or_not_graded_is_no_zero():
    assert "5 points so far, of 7; written answers are not marked yet" in shown(result()).text
    assert "3. In words not marked yet ? of 2" in shown(result()).text
    words = shown(ungraded("ann")).text
    assert "not graded yet" in words
    assert "points" not in words


def test_sections_are_named_where_points_are_missing_only():
    sections = {name: f"chapter 7, “{name}”" for name in ("double", "triple", "why")}
    words = shown(result(triple=False), sections).text
    assert "To read again: chapter 7, “triple”." in words
    assert "“double”" not in words
    assert "“why”" not in words  # it waits for its marks


def test_no_hidden_check_and_no_solution_is_in_a_page(roster, tmp_path):
    for path in write_report([result(triple=False)], homework(master()), roster, tmp_path / "out"):
        content = path.read_text()
        for secret in ("SECRET", "-7.5", "HIDDEN", "triple(11)", "return 2"):
            assert secret not in content


def test_the_class_in_numbers(roster):
    results = [
        marked([result("ann")], {("ann", "why"): (2, "")})[0],
        result("bob", triple=False, notes=["Pasted twice."]),
    ]
    words = Page(summary(results, release(), roster, [{"file": "x.pdf", "why": "is not a notebook"}])).text
    for said in (
        "In the roster 3",
        "Graded 2",
        "Handed in nothing that could be used 1",
        "With a written answer still to be marked 1",
        "Complete: 1. Points, of 7: mean 7.0, median 7, lowest 7, highest 7.",
        "2. Three times 50 % 1 right, 1 not right yet",
        "3. In words 100 % 1 marked, 1 not marked yet",
        "triple-values 2. Three times 1 of 2",
        "x.pdf: is not a notebook",
        "zoe (Zoë O'Hara)",
        "bob: Pasted twice.",
    ):
        assert said in words
    assert "bob: no memory left" in Page(summary([ungraded("bob")], release(), roster, [])).text


def test_a_page_for_each_result_or_none_at_all(roster, tmp_path):
    out = tmp_path / "out"
    written = write_report([result("ann"), ungraded("zoe")], homework(master()), roster, out)
    assert sorted(path.relative_to(out).as_posix() for path in written) == [
        "feedback/ann.html", "feedback/zoe.html", "summary.html",
    ]  # fmt: skip
    with pytest.raises(BookError, match="Not in the roster: eve"):
        write_report([result("ann"), result("eve")], homework(master()), roster, tmp_path / "none")
    assert not (tmp_path / "none").exists()


MASTERS = Book.find(Path(__file__).parent).masters()


@pytest.mark.parametrize("path", MASTERS, ids=[path.stem for path in MASTERS])
def test_every_question_of_the_book_points_to_a_section_that_exists(path):
    book = Book.find(path.parent)
    notebook = read(path)
    said = notebook.metadata.get("lmbook", {}).get("sections", {})
    answers = {
        cell.metadata.nbgrader.grade_id for cell in notebook.cells if cell.metadata.get("nbgrader", {}).get("solution")
    }
    assert set(said) == answers
    for chapter, heading in said.values():
        source = (book.root / "notebooks" / f"{chapter}.ipynb").read_text(encoding="utf-8")
        assert re.search(rf'"#+ {re.escape(heading)}(?:\\n)?"', source), f"{chapter} has no section {heading}"


def test_a_pointer_is_a_link_once_the_site_is_known():
    notebook = master()
    notebook.metadata.lmbook = {"sections": {"double": ["07-numbers", "Twice & more"]}}
    assert pointers(notebook) == {"double": "chapter 7, “Twice & more”"}
    linked = pointers(notebook, "https://example.org/book/")["double"]
    assert linked.startswith('<a href="https://example.org/book/notebooks/07-numbers.html#twice-more">')
    assert pointers(master()) == {}


def test_the_sheet_for_markers_has_every_written_answer_and_no_name(roster, tmp_path):
    folder = tmp_path / "submissions"
    hand_in(returned(), folder / "ann.ipynb")
    hand_in(returned(written=None), folder / "bob.ipynb")
    (folder / "zoe.ipynb").write_text("oops")
    submissions = collect(folder, roster).submissions
    made = write_sheet(submissions, homework(master()), tmp_path / "out")
    assert (made.answers, made.new, made.replaced) == (1, 1, 0)
    sheet, reading = made.marks, made.reading
    head, line = sheet.read_text(encoding="utf-8-sig").split()
    assert head == "student,question,points,comment,submission,minutes"
    assert re.fullmatch(r"ann,why,,,sha-[0-9a-f]{12},", line)
    seen = Page(reading.read_text(encoding="utf-8"))
    assert "Because SECRET." in seen.text  # the solution, for the marker
    assert "Ann Doe" not in seen.text
