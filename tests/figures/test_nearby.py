"""NearSections: the neighbours are those that were stored, and lead on by mouse and by keyboard."""

from seen import says

from lmbook.figures import NearSections
from lmbook.figures.nearby import HOLE, whole, words
from lmbook.lab import passages


def shown(page):
    """(cosine, section) of each neighbour."""
    name = """(node) => [...node.firstChild.childNodes].filter((one) => !one.matches?.("small, em"))
      .map((one) => one.textContent).join("")"""
    return [(row.locator("b").inner_text(), row.evaluate(name)) for row in page.locator(".lmns-near button").all()]


def expected(figure):
    return [(f"{cosine:.2f}", name) for name, cosine in figure.neighbours()]


def test_neighbours_are_those_stored():
    stored = passages.shipped()
    figure = NearSections(chosen=7)
    assert [cosine for _, cosine in figure.neighbours()] == [cosine for _, cosine in stored["near"][7]]
    assert figure.neighbours()[0][0].startswith(f"{stored['sections'][stored['near'][7][0][0]][0]}: ")
    figure.chosen = 8
    assert figure.neighbours()[0][0] in figure.fallback()


def test_neighbours_lead_on_by_mouse_and_by_keyboard(show):
    figure = NearSections(chosen=7)
    page = show(figure)
    assert shown(page) == expected(figure)
    assert figure.name(7) in says(page)
    page.locator(".lmns-near button").nth(2).click()
    figure = NearSections(chosen=figure.near[7][2][0])
    assert shown(page) == expected(figure)
    page.locator(".lmns-near button[tabindex='0']").focus()
    page.keyboard.press("Home")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    figure = NearSections(chosen=figure.near[figure.chosen][1][0])
    assert shown(page) == expected(figure)
    assert figure.name(figure.chosen) in says(page)
    page.get_by_label("Chapter and section").select_option(index=0)
    assert shown(page) == expected(NearSections(chosen=0))


def test_a_text_has_a_hole_only_where_little_would_be_left():
    told = "A state keeps every symbol that it has read, in some form. The rest is noise, as in the formula, or less."
    assert whole(told) == told
    assert whole(f"{told} It keeps them in an order.") == f"{told} It keeps them in an order."
    kept = "A state keeps every symbol that it has read, in one form or another."
    assert whole(f"Take 1/2 of it. {kept} So 1/2 ends it …") == kept
    texts = [text for *_, text in NearSections().sections]
    assert min(map(len, texts)) > 40
    assert sum(not HOLE.search(text.removesuffix(" …")) for text in texts) > 0.7 * len(texts)


def test_words_in_common_are_those_of_the_passages_that_the_encoder_read():
    figure, stored = NearSections(), passages.shipped()["sections"]
    for i, row in enumerate(figure.near):
        for j, _, share in row:
            assert (share == 0) == (not words(stored[i]) & words(stored[j]))
    assert words([1, "States", "The state, of 12 numbers; a thin état"]) == {"state", "number"}


def test_the_bet_stays_marked_beside_the_answer(show):
    page = show(NearSections(), bets=True)
    assert not page.locator(".lmns-near b").first.is_visible()
    page.locator(".lmns-near button").last.click()
    page.get_by_role("button", name="Show").click()
    figure = NearSections()
    assert [cosine for cosine, _ in shown(page)] == [f"{cosine:.2f}" for _, cosine in figure.neighbours()]
    last = max(i for i, *_ in figure.near[figure.chosen])
    place = [i for i, *_ in figure.near[figure.chosen]].index(last)
    assert "your bet" in page.locator(".lmns-near button").nth(place).inner_text()
    assert (
        f"; yours, {place + 1} of 5, has {figure.neighbours()[place][1]:.2f}." in page.locator(".lm-wager").inner_text()
    )
