"""The page of written answers in a browser: what a marker enters is kept, and saved as marks that the grader reads."""

import json

import pytest
from playwright.sync_api import expect
from samples import ROSTER, hand_in, homework, master, result, returned

from lmbook_grader.grading.grade import file_digest
from lmbook_grader.intake.collect import collect
from lmbook_grader.intake.roster import read_roster
from lmbook_grader.report.prose import their_prose
from lmbook_grader.report.results import mark_of, read_marks
from lmbook_grader.report.written_answers import length, write_sheet
from lmbook_grader.spreadsheet import guarded, unguarded

COMMENTS = ("=1+2, she says", "- first\n- second", "@all: “yes”", "+1", "'=quoted", "plain, with a comma")


@pytest.fixture
def sheet(tmp_path):
    """Three answers, two of them equal."""
    (tmp_path / "roster.csv").write_text(ROSTER, encoding="utf-8")
    for name, text in {"ann": "Because.", "bob": "because. ", "zoe": "Another one."}.items():
        hand_in(returned(written=text), tmp_path / f"submissions/{name}.ipynb")
    key = master()
    key.cells[-1].source = "Because SECRET.\n\n*Marks.* 1 point: the word. 1 point: the rest."
    roster = read_roster(tmp_path / "roster.csv")

    def made():
        return write_sheet(collect(tmp_path / "submissions", roster).submissions, homework(key), tmp_path / "out")

    return made


def results(folder):
    """As graded, with the marks of the files that were handed in."""
    made = [result(name) for name in ("ann", "bob", "zoe")]
    return [one | {"file_sha256": file_digest(folder / f"submissions/{one['student']}.ipynb")} for one in made]


@pytest.mark.parametrize("comment", COMMENTS)
def test_ticks_are_kept_and_saved_as_marks(sheet, page, tmp_path, comment):
    faults = []
    page.on("pageerror", lambda fault: faults.append(str(fault)))
    page.on("console", lambda message: message.type == "error" and faults.append(message.text))
    page.goto(sheet().reading.as_uri())
    both = page.locator("article").first
    # A busy browser now and then loses a page's way to its store: whoever finds nothing types again.
    for _ in range(20):
        both.get_by_label("1 point: the word").check()
        both.get_by_label("Comment").fill(comment)
        page.reload()
        if both.get_by_label("Comment").input_value():
            break
    expect(both.get_by_label("Comment")).to_have_value(comment)
    expect(both.get_by_label("1 point: the word")).to_be_checked()
    expect(both.get_by_label("Points, of")).to_have_value("1")
    expect(page.locator("#done")).to_have_text("1 of 2 answers have points.")
    with page.expect_download() as saved:
        page.get_by_role("button", name="Save marks.csv").click()
    saved.value.save_as(tmp_path / "out/marks.csv")
    found = read_marks(tmp_path / "out/marks.csv", results(tmp_path))
    assert found == {(name, "why"): (1.0, comment) for name in ("ann", "bob")}
    page.goto(sheet().reading.as_uri())  # the sheet made anew holds them
    expect(page.locator("article").first.get_by_label("Comment")).to_have_value(comment)
    assert read_marks(tmp_path / "out/marks.csv", results(tmp_path)) == found
    assert faults == []


def test_a_mark_changed_elsewhere_counts_before_what_was_kept(sheet, page, tmp_path):
    made = sheet()
    page.goto(made.reading.as_uri())
    page.locator("article").last.get_by_label("Points, of").fill("2")
    text = made.marks.read_text("utf-8-sig").replace("zoe,why,,", "zoe,why,0.5,")
    made.marks.write_text(text, "utf-8")
    page.goto(sheet().reading.as_uri())
    assert page.locator("article").last.get_by_label("Points, of").input_value() == "0.5"


def test_a_page_shows_what_is_kept_after_it_was_opened(sheet, page):
    """An entry that reaches the store late, as from another tab, is shown and so not overwritten by an empty one."""
    address = sheet().reading.as_uri()
    other = page.context.new_page()
    mine, others = (one.locator("article").first for one in (page, other))
    for attempt in range(20):  # with new pages where a busy browser has lost the way of these to its store
        page.goto(address)
        other.goto(address)
        others.get_by_label("1 point: the word").check()
        others.get_by_label("Comment").fill(f"seen {attempt}")
        try:
            expect(mine.get_by_label("Comment")).to_have_value(f"seen {attempt}")
            mine.get_by_label("Comment").fill(f"good {attempt}")
            expect(others.get_by_label("Comment")).to_have_value(f"good {attempt}")
        except AssertionError:
            continue
        break
    else:
        pytest.fail("no page showed what the other keeps")
    for shown in page, other:
        expect(shown.locator("article").first.get_by_label("1 point: the word")).to_be_checked()
        expect(shown.locator("#done")).to_have_text("1 of 2 answers have points.")


def test_a_page_that_can_keep_nothing_says_so(sheet, page):
    page.add_init_script("Object.defineProperty(window, 'localStorage', {get() { throw new Error('denied'); }})")
    page.goto(sheet().reading.as_uri())
    page.locator("article").last.get_by_label("Points, of").fill("2")
    assert "keeps nothing" in page.locator("#said").inner_text()


OVER = (
    r"$\rule{900px}{900px}$",
    r"$\kern-400px \text{x}$",
    r"$\raisebox{400px}{x}$",
    r"$a\\[-900px] b$",
    r"$\smash{x}\llap{y}$",
)


@pytest.mark.parametrize("formula", [*OVER, r"$\overset{\overset{\overset{x}{x}}{x}}{x}$ <div style='position:fixed'>"])
def test_a_formula_paints_nothing_outside_its_answer(formula, page):
    """The box of a student's text shows nothing beyond its edge, and commands that move or hide are shown as TeX."""
    html = str(their_prose(f"Words. {formula} More."))
    assert all(f"<code>{tex[1:-1]}</code>".replace("&", "&amp;") in html for tex in OVER if tex == formula)
    page.set_content(f"<style>.theirs {{ contain: paint }}</style><p id=above>above</p>{html}<p id=below>below</p>")
    for name in ("above", "below"):
        box = page.locator(f"#{name}").bounding_box()
        top = "(([x, y]) => document.elementFromPoint(x, y)?.id)"
        assert page.evaluate(top, [box["x"] + 5, box["y"] + box["height"] / 2]) == name


@pytest.mark.parametrize(
    ("text", "question", "shown", "over"),
    [
        ("one two three", "Say it in at most 150 words.", "3 words", ""),
        ("word " * 151, "In at most 150 words: why?", "151 words", "151 words, at most 150 were asked for"),
        (
            "One. Two! Three? Four.",
            "Answer in at most three sentences.",
            "4 words",
            "4 sentences, at most 3 were asked for",
        ),
        ("word", "Why?", "1 word", ""),
    ],
)
def test_the_limit_of_a_question_is_compared(text, question, shown, over):
    assert length(text, question) == (shown, over)


def test_a_guard_is_taken_off_as_it_was_put_on():
    for text in ("=a", "'=a", "''+a", "-x", "@b", "\t=", "plain", "'tis", "-1.5", "+2", "1e5", "", "'"):
        assert unguarded(guarded(text)) == text
        assert json.dumps(text)  # nothing else is special
    assert guarded("-s-1", {"-s-1"}) == "-s-1"
    assert guarded("=HYPERLINK(1)", {"=HYPERLINK(1)"}) == "'=HYPERLINK(1)"
    assert mark_of(None) == "sha-"
