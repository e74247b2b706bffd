"""The page Today and the record of work: what is asked, when it comes again, and what stays."""

import random
from fractions import Fraction
from math import ceil

import pytest
from test_storage import FRAME

pytestmark = pytest.mark.browser

PAGE, RECORD = "book/today.html", "book/record.html"
BEGUN = {"guesses": {}, "answers": {}, "read": {"07-long-memory": 0.8}, "last": "07-long-memory"}
KEPT = "JSON.parse(localStorage.getItem('lmbook'))"


def begin(page, state=BEGUN) -> None:
    page.evaluate("(state) => localStorage.setItem('lmbook', JSON.stringify(state))", state)
    page.reload()


def due(page) -> int:
    """How many questions the page says are due."""
    return int(page.locator("#lm-today [role=status]").inner_text().split(" question")[0].split()[-1])


def sm2(qualities):
    """(interval, E) after each answer, by the text of Wozniak's section 3.2 and with exact numbers."""
    ease, intervals, found = Fraction(5, 2), [], []
    for q in qualities:
        if q < 3:  # repetitions begin anew, the factor stays
            intervals = [1]
        else:
            n = len(intervals) + 1
            intervals.append({1: 1, 2: 6}.get(n) or ceil(intervals[-1] * ease))
            change = Fraction(1, 10) - (5 - q) * (Fraction(8, 100) + (5 - q) * Fraction(2, 100))
            ease = max(Fraction(13, 10), ease + change)
        found.append([intervals[-1], int(100 * ease)])
    return found


def test_the_spacing_is_that_of_sm_2(visit):
    page = visit(PAGE)
    states = """async (all) => {
      const { repeated } = await import(document.querySelector('script[src*="today.mjs"]').src);
      return all.map((qualities) => {
        let state = [0, 0, 250];
        return qualities.map((quality) => (state = repeated(state, quality)).slice(1));
      });
    }"""
    rng = random.Random(0)
    drawn = [[rng.choice((1, 3, 4, 5)) for _ in range(12)] for _ in range(300)]
    assert page.evaluate(states, drawn) == [sm2(qualities) for qualities in drawn]
    always_four, rising = page.evaluate(states, [[4] * 5, [5, 3, 3]])
    assert [days for days, _ in always_four] == [1, 6, 15, 38, 95]  # each times 2.5, rounded up
    assert [ease for _, ease in rising] == [260, 246, 232]  # +0.1 for 5, -0.14 for 3


def test_what_is_answered_comes_back_when_it_is_due_and_not_before(visit):
    page = visit(PAGE)
    page.get_by_text("Nothing is asked yet").wait_for()
    page.clock.set_fixed_time("2027-03-01T12:00:00")
    begin(page)
    page.get_by_role("button", name="Show the answer").wait_for()
    assert due(page) == 20
    assert page.locator(".lm-asked .lm-kicker").inner_text().startswith("Chapter 7")
    asked = page.locator(".lm-asked > div").first.inner_text()
    page.get_by_role("button", name="Show the answer").focus()
    page.keyboard.press("Enter")
    assert page.locator(".lm-grades button").count() == 4
    page.keyboard.press("4")
    page.get_by_text("19 questions due today").wait_for()
    (card,) = page.evaluate(KEPT)["cards"].values()
    assert card == [1, 1, 260, page.evaluate("Date.parse('2027-03-02') / 864e5"), 7]

    page.get_by_role("button", name="Show the answer").click()  # wrong: again today, and tomorrow
    page.keyboard.press("1")
    assert due(page) == 19
    page.reload()
    page.get_by_text("18 questions due today, 18 of them new").wait_for()

    page.clock.set_fixed_time("2027-03-02T08:00:00")
    page.reload()
    page.get_by_text("22 questions due today, 20 of them new").wait_for()
    assert page.locator(".lm-asked > div").first.inner_text() == asked
    page.get_by_role("button", name="Show the answer").click()
    assert page.locator(".lm-grades small").all_inner_texts() == ["in 1 day", "in 6 days", "in 6 days", "in 6 days"]


def test_chapters_are_chosen_and_more_can_be_asked(visit):
    page = visit(PAGE)
    page.get_by_text("Chapters that are asked about").click()
    page.get_by_label("0. Are you ready?").check()
    page.get_by_role("button", name="Show the answer").wait_for()
    few = due(page)
    assert 0 < few < 20
    page.get_by_label("9. Encoder and decoder").check()
    page.get_by_text("20 questions due today").wait_for()
    page.get_by_label("9. Encoder and decoder").uncheck()
    page.get_by_text(f"{few} questions due today").wait_for()
    for left in range(few, 0, -1):
        page.get_by_text(f"{left} question{'s' * (left > 1)} due today").wait_for()
        page.get_by_role("button", name="Show the answer").click()
        page.keyboard.press("3")
    page.get_by_text("Nothing more is due today. The next one comes in 1 day.").wait_for()
    assert page.evaluate(KEPT)["chosen"] == {"00-warm-up": True, "09-sequence-to-sequence": False}
    assert {card[4] for card in page.evaluate(KEPT)["cards"].values()} == {0}


# Every question of the chapter but one, and one that was answered long ago, as the page keeps them.
ALL_BUT = """async ([chapter, id]) => {
  const text = await (await fetch(`../_static/questions/${chapter}.html`)).text();
  const cards = [...new DOMParser().parseFromString(text, "text/html").querySelectorAll("article")];
  const kept = cards.filter((card) => card.id !== id).map((card) => [card.id, [3, 15, 250, 99999, Number(chapter)]]);
  return Object.fromEntries(kept);
}"""


def test_it_is_for_everybody(visit, axe_in_every_view):
    page = visit(PAGE, width=360)
    cards = page.evaluate(ALL_BUT, ["14", "ex-14-4"])  # it has formulae, code and what that prints
    begin(page, {"guesses": {}, "answers": {}, "read": {"14-positions": 1}, "cards": cards})
    page.get_by_text("1 question due today").wait_for()
    page.get_by_role("button", name="Show the answer").click()
    page.locator(".lm-grades").wait_for()
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    assert page.locator(".lm-asked pre[tabindex='0']").count() == 1  # the code, which is wider than the phone
    assert axe_in_every_view(page) == []
    page.emulate_media(media="print")
    assert page.locator(".lm-today button:visible, .lm-today details:visible").count() == 0
    assert page.locator(".lm-asked > div:visible").count() == 2


def test_a_browser_that_keeps_nothing_is_named(new_context, served):
    page = new_context().new_page()
    page.set_content(FRAME.format("sandbox='allow-scripts allow-forms'", served[0] + PAGE))
    frame = page.frames[1]
    frame.wait_for_url(served[0] + PAGE)
    frame.get_by_text("keeps nothing").wait_for()
    frame.get_by_text("Chapters that are asked about").click()
    frame.get_by_label("0. Are you ready?").check()
    frame.get_by_role("button", name="Show the answer").click()
    frame.locator(".lm-grades button").first.click()
    assert "all this is gone" in frame.locator("#lm-today [role=status]").inner_text()


def test_the_record_says_what_was_done_when_and_what_it_is_not(visit, axe_in_every_view):
    page = visit(RECORD)
    assert "Nothing has been done" in page.locator("#lm-record").inner_text()
    day = {"guesses": 2, "answers": 1, "read 07-long-memory": 0.8, "questions": 5, "new": 5}
    state = BEGUN | {"guesses": {"07-long-memory: a": "x", "06-recurrent-lm: a": "y"}, "days": {"2026-11-27": day}}
    begin(page, state | {"cards": {"term-Gate": [1, 1, 250, 20785, 7]}})
    rows = page.locator("#lm-record tr")
    rows.first.wait_for()
    said = [" ".join(row.split()) for row in rows.all_inner_texts()]
    assert "6. Recurrence 0% 1 0 0" in said
    assert "7. Vanishing gradients, LSTM and GRU 80% 1 0 1" in said
    assert "2026-11-27 7 to 80% 2 1 5" in said
    words = page.locator("article").inner_text()
    for word in ("no certificate", "this device only", "Nobody has checked"):
        assert word in words
    assert axe_in_every_view(page) == []
    page.set_viewport_size({"width": 360, "height": 800})
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    page.emulate_media(media="print")
    assert page.locator("#lm-record button:visible").count() == 0
    assert "no certificate" in page.locator("article").inner_text()


def test_a_day_is_noted_when_a_chapter_is_worked_through(visit):
    page = visit("notebooks/17-gpt.html")
    page.clock.set_fixed_time("2027-03-01T12:00:00")
    page.locator("#predict-1").get_by_label("Your guess").fill("12")
    page.keyboard.press("Enter")
    page.locator(".lm-check input").first.check()
    (done,) = page.evaluate(KEPT)["days"].values()
    assert done["guesses"] == done["answers"] == 1
