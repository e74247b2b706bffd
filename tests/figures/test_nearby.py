"""NearSections: the neighbours are those that were stored, and lead on by mouse and by keyboard."""

from seen import says

from lmbook.figures import NearSections
from lmbook.lab import passages


def shown(page):
    """(cosine, section) of each neighbour."""
    rows = page.locator(".lmns-near button").all()
    first = "(node) => node.firstChild.textContent"
    return [(row.locator("b").inner_text(), row.locator("span").last.evaluate(first)) for row in rows]


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
