"""A living figure is no taller than the screen it is read on, 1280 x 800: when opened, and after it was typed at."""

import re
from pathlib import Path

import pytest

from lmbook_press.sphinx.serving import serve

pytestmark = pytest.mark.browser
NOTEBOOKS = Path(__file__).parents[3] / "notebooks"
PAGES = ["book/index.html"] + [
    f"notebooks/{path.stem}.html"
    for path in sorted(NOTEBOOKS.glob("[0-9]*.ipynb"))
    if "lm-figure" in path.read_text("utf8")
]
HIGHEST = 800
HIGH = "(figures) => figures.map((one) => [one.dataset.module, one.offsetHeight])"
# What is typed into the first line of text of a figure; other figures get a sentence.
TYPED = {
    "backprop": "a lot",
    "bottleneck": "ABABABAB",
    "decoding": "ta tiva verna lo shalon velka.",
    "neighbours": "winter two father rain river king",
    "trainer": "7",
    "translator": "Zwei Kinder in roten Jacken spielen mit einem Hund im tiefen Schnee.",
}
SENTENCE = "The old keeper of the lighthouse sees a small boat far out at sea."
# What is pressed before, where a first view hides the line or is far from the largest one.
PRESSED = {
    "lstm": ["label:has-text('a trained LSTM')"],
    "shannon": ["button:text('spread evenly')", "button:text('Bet and look')"],
}
AFTER = {
    "decoding": ["label:has-text('beam of 4')", "button:text('To the end')"],
    "explorer": ["button:text('Sample a sentence')"],
    "writer": ["button:text('Write 100 characters')"],
}
QUIET = """() => !document.querySelector("[data-state=busy]")
  && ![...document.querySelectorAll(".lmx-go")].some((one) => one.innerText.includes("…"))"""


@pytest.fixture(scope="module")
def served(site):
    """In the book's own fonts, on a busy machine too."""
    with serve(site, fonts=True) as found:
        yield found


def too_high(page) -> list:
    return [one for one in page.locator("figure.lm-figure").evaluate_all(HIGH) if one[1] > HIGHEST]


@pytest.mark.parametrize("name", PAGES)
def test_a_figure_is_no_taller_than_a_screen(visit, name):
    page = visit(name, reduced_motion="reduce")
    assert page.locator("figure.lm-figure").count() > 0
    assert too_high(page) == []
    for figure in page.locator("figure.lm-figure").all():
        module = figure.get_attribute("data-module")
        for button in PRESSED.get(module, []):
            figure.locator(button).first.click()
        line = figure.locator("input[type=text]:visible, textarea:visible").first
        if line.count():
            line.fill(TYPED.get(module, SENTENCE))
            line.press("Enter")
            go = figure.locator(".lm-own-text:visible .lm-main, .lmx-line .lm-main")
            if go.count():
                go.first.click()
            page.wait_for_timeout(300)  # a line that is typed at is read when the hands rest
            page.wait_for_function(QUIET, timeout=60_000)
        for button in AFTER.get(module, []):
            figure.locator(button).first.click()
    assert too_high(page) == []


def test_a_figure_that_is_too_tall_is_seen(visit):
    page = visit("book/index.html")
    page.locator("figure.lm-figure").first.evaluate("(box) => { box.style.paddingBottom = '500px'; }")
    assert [re.sub(r"\d", "", str(one)) for one in too_high(page)] == ["['firstwords', ]"]
