"""NearSections: the neighbours are those that were stored, and lead on by mouse and by keyboard."""

import re

import pytest
from seen import says

from lmbook.figures import NearSections
from lmbook.figures.nearby import CLEAR, agreed, telling
from lmbook.lab import passages

NONE = "no telling word in common"

# Presses the first row until that leads there: a second press of the same hand goes nowhere.
GOES = """(chosen) => {
  document.querySelector(".lmns-near button").click();
  return document.querySelector("figure select").value !== chosen;
}"""
# Both at once: between two calls from here a busy machine may take longer than a hasty hand.
TWO_PRESSES = """(row, keys) => {
  const place = [...row.parentNode.children].indexOf(row);
  if (keys) row.focus();
  row.click();
  (keys ? document.activeElement : document.querySelectorAll(".lmns-near button")[place]).click();
}"""


def shown(page):
    """(cosine, section) of each neighbour."""
    name = "(node) => node.firstChild.firstChild.textContent"
    return [(row.locator("b").inner_text(), row.evaluate(name)) for row in page.locator(".lmns-near button").all()]


def expected(figure):
    return [(f"{cosine:.2f}", name) for name, cosine, _ in figure.neighbours()]


def test_neighbours_are_those_stored():
    stored = passages.shipped()
    figure = NearSections(chosen=7)
    assert [row[1:] for row in figure.neighbours()] == [(cosine, place) for _, cosine, place, _ in stored["near"][7]]
    assert figure.neighbours()[0][0].startswith(f"{stored['sections'][stored['near'][7][0][0]][0]}: ")
    figure.chosen = 8
    assert figure.neighbours()[0][0] in figure.fallback()


def test_neighbours_lead_on_by_mouse_and_by_keyboard(show):
    figure = NearSections(chosen=7)
    page = show(figure)
    assert shown(page) == expected(figure)
    page.locator(".lmns-near button").nth(2).click()
    figure = NearSections(chosen=figure.near[7][2][0])
    assert shown(page) == expected(figure)
    page.locator(".lmns-near button[tabindex='0']").focus()
    page.keyboard.press("Home")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    figure = NearSections(chosen=figure.near[figure.chosen][1][0])
    assert shown(page) == expected(figure)
    among = sum(1 <= place <= 5 for _, _, place in figure.neighbours())
    none = sum(not any(1 <= place <= 5 for *_, place, _ in row) for row in figure.near)
    usual = f"on average {agreed(figure.near):.1f}, in {none} of {len(figure.near)} sections none"
    assert says(page) == f"TF-IDF finds {among} of these five; {usual}."
    page.get_by_label("Chapter and section").select_option(index=0)
    assert shown(page) == expected(NearSections(chosen=0))


def test_underlined_are_the_words_that_both_passages_have(show):
    figure = NearSections()
    page = show(figure)
    for row, (_, _, place, common) in zip(
        page.locator(".lmns-near button").all(), figure.near[figure.chosen], strict=True
    ):
        marked = {word.lower() for word in row.locator("u").all_inner_texts()}
        assert marked <= set(common.split())
        said = row.locator("span > small").last.inner_text()
        assert said == NONE if not place else said.startswith(f"TF-IDF: {place}")
    there = {word.lower() for word in page.locator(".lmns-text u").all_inner_texts()}
    assert there <= set(" ".join(common for *_, common in figure.near[figure.chosen]).split())
    figure = NearSections(chosen=next(i for i, row in enumerate(figure.near) if any(not place for *_, place, _ in row)))
    rows = show(figure).locator(f".lmns-near button:has(small:text-is('{NONE}'))")
    assert rows.count() >= 1
    assert rows.locator("u").count() == 0


def test_each_place_by_words_has_a_word_for_its_reason(show):
    """It is underlined, or where the part in sight does not have it, named."""
    figure = NearSections()
    words = lambda text: set(re.findall(r"\w+", text.lower()))  # noqa: E731
    unseen = [[set(common.split()) - words(figure.sections[j][2]) for j, _, _, common in row] for row in figure.near]
    page = show(figure)
    for most in (1, 2, 3, 4):
        i = next(i for i, row in enumerate(unseen) if max(map(len, row)) == most)
        page.get_by_label("Chapter and section").select_option(value=str(i))
        for row, lack, (*_, place, common) in zip(
            page.locator(".lmns-near button").all(), unseen[i], figure.near[i], strict=True
        ):
            said = row.locator("span > small").last.inner_text()
            marked = {word.lower() for word in row.locator("u").all_inner_texts()}
            assert ("in the rest" in said) == bool(lack)
            assert marked == set(common.split()) - lack
            named = set(re.findall(r"\w+", said.partition("in the rest: ")[2]))
            assert named <= lack
            assert len(named) == min(3, len(lack))
            assert bool(place) == bool(named | marked)


def test_the_title_is_what_the_neighbours_are():
    figure = NearSections()
    both = [sum(place in range(1, 6) for *_, place, _ in row) for row in figure.near]
    assert f"agree on {sum(both) / len(both):.1f} of the five" in figure.title
    assert sum(both) < 0.5 * 5 * len(both), "they differ more than they agree"


def test_the_first_section_has_a_clear_nearest_that_words_alone_do_not_find():
    figure = NearSections()
    start = telling(figure.sections, figure.near)
    assert figure.chosen == start
    (_, first, place), (_, second, _), *_ = figure.neighbours()
    assert first - second >= CLEAR, "the bet does not turn on rounding"
    assert place > 5
    assert 1 in [place for _, _, place in figure.neighbours()]
    texts = [figure.sections[j][2] for j in (start, *(row[0] for row in figure.near[start]))]
    assert min(map(len, texts)) >= passages.LONG
    assert not any(passages.SIGN.search(text.strip("…")) for text in texts)


@pytest.mark.parametrize("place", [0, 4])
def test_to_press_a_section_is_to_bet_and_it_stays_marked(show, place):
    page = show(NearSections(), bets=True)
    figure = NearSections()
    rows = page.locator(".lmns-near button")
    assert not page.locator(".lmns-near b").first.is_visible()
    assert not page.get_by_text("TF-IDF: 1st").is_visible()
    number = sorted(i for i, *_ in figure.near[figure.chosen]).index(figure.near[figure.chosen][place][0])
    rows.nth(number).click()
    assert shown(page) == expected(figure)
    assert "your bet" in rows.nth(place).inner_text()
    told = page.locator(".lm-wager").inner_text()
    assert ("as you said" in told) == (place == 0)
    if place:
        assert f"; yours has {figure.neighbours()[place][1]:.2f}." in told
    assert f"TF-IDF has it {figure.neighbours()[0][2]}" in told
    name = rows.nth(place).evaluate("(one) => one.textContent")
    assert f" your bet{figure.sections[figure.near[figure.chosen][place][0]][2][:10]}" in name
    assert f", cosine {figure.neighbours()[place][1]:.2f}" in name
    page.wait_for_function(GOES, arg=str(figure.chosen))
    page.get_by_label("Chapter and section").select_option(value=str(figure.chosen))
    assert page.locator(".lmns-near em").count() == 1
    assert "your bet" in rows.nth(place).inner_text()


@pytest.mark.parametrize("way", ["mouse", "keys"])
def test_a_bet_that_is_pressed_twice_keeps_its_answer_and_the_focus(show, way):
    page = show(NearSections(), bets=True)
    figure = NearSections()
    row = page.locator(".lmns-near button").nth(2)
    name = row.evaluate("(node) => node.firstChild.firstChild.textContent")
    row.evaluate(TWO_PRESSES, way == "keys")
    assert page.get_by_label("Chapter and section").input_value() == str(figure.chosen)
    assert page.locator(".lm-wager").inner_text().startswith("Nearest: ")
    if way == "keys":
        focus = page.locator(".lmns-near button:focus")
        assert focus.evaluate("(node) => node.firstChild.firstChild.textContent") == name


def test_on_a_phone_who_walks_sees_where_he_is(show):
    page = show(NearSections(), width=390)
    page.set_viewport_size({"width": 390, "height": 844})
    for _ in range(3):
        page.locator(".lmns-near button").nth(3).click()
        for seen in (page.get_by_label("Chapter and section"), page.locator(".lmns-text")):
            box = seen.bounding_box()
            assert box["y"] >= 0
            assert box["y"] + box["height"] <= 844
    page.keyboard.press("End")
    page.keyboard.press("Enter")
    assert page.locator(".lmns-text").bounding_box()["y"] >= 0
    assert page.locator(".lmns-near button").first.evaluate("(node) => node === document.activeElement")


def test_who_skips_has_no_bet(show):
    page = show(NearSections(), bets=True)
    page.get_by_role("button", name="Skip").click()
    page.locator(".lmns-near button").first.click()
    page.get_by_label("Chapter and section").select_option(value=str(NearSections().chosen))
    assert page.locator(".lmns-near em").count() == 0


def test_on_paper_the_nearest_stands_first(show):
    page = show(NearSections(), bets=True)
    page.emulate_media(media="print")
    heights = [row.bounding_box()["y"] for row in page.locator(".lmns-near button").all()]
    cosines = [float(row.locator("b").inner_text()) for row in page.locator(".lmns-near button").all()]
    assert cosines != sorted(cosines, reverse=True), "before the bet they are in the order of the book"
    by_height = [cosine for _, cosine in sorted(zip(heights, cosines, strict=True))]
    assert by_height == sorted(cosines, reverse=True)
