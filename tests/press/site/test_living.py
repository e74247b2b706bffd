"""The living figures in their pages.

None is taller than the screen it is read on, 1280 x 800: when opened, and after it was typed at. Whatever a reader does
at one, in whatever order, it says no nonsense and stays as wide as the phone.
"""

import random
import re
from pathlib import Path

import pytest
from frames import DRAWN

from lmbook_press.site.serving import serve

pytestmark = pytest.mark.browser
NOTEBOOKS = Path(__file__).parents[3] / "notebooks"
PAGES = ["book/index.html"] + [
    f"notebooks/{path.stem}.html"
    for path in sorted(NOTEBOOKS.glob("[0-9]*.ipynb"))
    if "lm-figure" in path.read_text("utf8")
]
# On a push these; of the others the height that is kept, which test_pages compares with that of the opened page.
SAMPLE = ("book/index", "notebooks/02", "notebooks/11")
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


def test_no_height_that_is_kept_is_taller_than_a_screen(site):
    kept = [re.findall(r"--lm-high-1280:(\d+)px", (site / name).read_text("utf8")) for name in PAGES]
    assert all(kept)
    assert max(int(high) for page in kept for high in page) <= HIGHEST


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.weekly] * (not name.startswith(SAMPLE))) for name in PAGES]
)
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
            page.evaluate(DRAWN)
            page.wait_for_function(QUIET, timeout=60_000)
        for button in AFTER.get(module, []):
            figure.locator(button).first.click()
    assert too_high(page) == []


def test_a_figure_that_is_too_tall_is_seen(visit):
    page = visit("book/index.html")
    page.locator("figure.lm-figure").first.evaluate("(box) => { box.style.paddingBottom = '500px'; }")
    assert [re.sub(r"\d", "", str(one)) for one in too_high(page)] == ["['firstwords', ]"]


# --- whatever a reader does -------------------------------------------------------------------------------------------

STEPS = 40
TEXTS = ["", "  ", "0", "-1", "1e9", "a", "the sea the sea", "KING:", "Anna’s boat", "two\ttabs", "x" * 200]
TEXTS += [
    "🐕 ÄÖß “q”",
    "Zwei Hunde laufen am Strand.",
    "ta tiva verna lo shalon velka.",
    "ABCDEFGHIJKLMNOP",
    "<b>bold</b>",
]
KEYS = ["ArrowRight", "ArrowLeft", "ArrowUp", "ArrowDown", "Home", "End", "PageUp", "Enter", " ", "Escape"]
NONSENSE = re.compile(r"\bNaN\b|\bundefined\b|\bInfinity\b|\[object|\bnull\b")
# What can be used in a figure now, by kind.
CONTROLS = """(figure) => {
  window.controls = [...figure.querySelectorAll("button, input, select, summary, textarea, [tabindex='0']")]
    .filter((one) => one.checkVisibility() && !one.disabled);
  return window.controls.map((one) => one.matches("input") ? one.type : one.localName);
}"""
NAME = """(i) => { const one = window.controls[i]; one.focus();
  return (one.ariaLabel ?? one.labels?.[0]?.textContent ?? one.textContent).trim().slice(0, 40); }"""
TYPE = """([i, text]) => { const one = window.controls[i]; one.value = text;
  for (const kind of ["input", "change"]) one.dispatchEvent(new Event(kind, { bubbles: true })); }"""
CHOOSE = """([i, share]) => { const one = window.controls[i];
  one.selectedIndex = Math.floor(share * one.options.length);
  for (const kind of ["input", "change"]) one.dispatchEvent(new Event(kind, { bubbles: true })); }"""
TOO_WIDE = "document.documentElement.scrollWidth - document.documentElement.clientWidth"


def wander(page, figure, steps: int, draw: random.Random) -> list[str]:
    """Uses one control after the other; the steps up to the first after which something is wrong, and what."""
    done, errors = [], []
    page.on("pageerror", lambda error: errors.append(str(error)))
    for _ in range(steps):
        kinds = figure.evaluate(CONTROLS)
        kind = draw.choice(sorted(set(kinds)))  # a figure of a hundred cells has other controls too
        at = draw.choice([i for i, one in enumerate(kinds) if one == kind])
        done.append(f"{kind} {page.evaluate(NAME, at)!r}")
        if kind in ("text", "textarea"):
            text = draw.choice(TEXTS)
            done[-1] += f" <- {text[:30]!r}"
            page.evaluate(TYPE, [at, text])
            page.keyboard.press("Enter")
        elif kind == "select":
            page.evaluate(CHOOSE, [at, draw.random()])
        elif kind in ("button", "summary", "radio", "checkbox"):
            page.evaluate("(i) => window.controls[i].click()", at)
        else:
            for key in draw.choices(KEYS, k=3):
                page.keyboard.press(key)
        page.evaluate(DRAWN)
        if errors:
            return [*done, *errors]
        if found := NONSENSE.search(figure.inner_text()):
            return [*done, f"says {found[0]}"]
        if page.evaluate(TOO_WIDE) > 0:
            return [*done, "is wider than the phone"]
    return []


@pytest.mark.weekly
@pytest.mark.parametrize("name", PAGES)
def test_whatever_is_done_a_figure_keeps_its_word(visit, name):
    for number in range(visit(name, width=360).locator("figure.lm-figure").count()):
        page = visit(name, width=360, reduced_motion="reduce")
        figure = page.locator("figure.lm-figure").nth(number)
        figure.scroll_into_view_if_needed()
        assert wander(page, figure, STEPS, random.Random(f"{name} {number}")) == []


@pytest.mark.parametrize(
    ("fault", "said"),
    [("this.textContent = 'a loss of NaN'", "says NaN"), ("this.style.width = '900px'", "is wider than the phone")],
)
def test_a_figure_that_breaks_its_word_is_seen(visit, fault, said):
    page = visit("book/index.html", width=360)
    page.set_content(
        f'<meta name="viewport" content="width=device-width"><figure><button onclick="{fault}">Go</button></figure>'
    )
    assert wander(page, page.locator("figure"), 1, random.Random(0)) == ["button 'Go'", said]
