"""What holds for all the book's figures at once, as they are printed in the chapters and on the first page."""

import json
import re
from pathlib import Path

import nbformat
import pytest
import test_digit as digit
import traitlets

from lmbook import figures
from lmbook.figures import FirstWords, bundle
from lmbook.figures.firstwords import NEXT, ODDS, likeliest

NOTEBOOKS = Path(__file__).parents[2] / "notebooks"


@pytest.fixture(scope="module")
def printed() -> list[str]:
    """The HTML of every figure of the book."""
    cells = (cell for path in sorted(NOTEBOOKS.glob("[0-9]*.ipynb")) for cell in nbformat.read(path, 4).cells)
    texts = (out.get("data", {}).get("text/html", "") for cell in cells for out in cell.get("outputs", []))
    found = [text.partition("</style>")[2] or text for text in texts if "lm-figure" in text]
    return [FirstWords().html(), *found]


# What a figure shows that somebody cannot see, read or hit: what a box cuts off, marks and words outside their drawing
# or the figure, letters of less than 12 px, targets of less than 24 px, more than two screens of a phone.
SEEN = """(figures) => figures.map((figure) => {
  const seen = (one) => one.checkVisibility({ checkOpacity: true, checkVisibilityCSS: true })
    && !one.closest(".lm-hidden");
  const all = [...figure.querySelectorAll("*")].filter(seen);
  const name = (one, ...more) => [figure.dataset.module, one.localName, one.getAttribute("class"), ...more].join(" ");
  const words = (one) => [...one.childNodes].some((node) => node.nodeType === 3 && node.data.trim());
  const cut = all.filter((one) => !(one instanceof SVGElement) && !one.matches("input, select, textarea")
    && /auto|scroll|hidden|clip/.test(getComputedStyle(one).overflowY)
    && (one.scrollHeight > one.clientHeight + 2 || one.scrollWidth > one.clientWidth + 2));
  const shape = "rect, circle, line, path, polyline, polygon, ellipse, text";
  const frames = (box) => box && getComputedStyle(box).overflowX !== "visible";
  const outside = all.filter((one) => one.matches(shape) || words(one)).filter((one) => {
    const frame = frames(one.ownerSVGElement) ? one.ownerSVGElement : figure;
    const [mark, box] = [one, frame].map((thing) => thing.getBoundingClientRect());
    return (mark.width || mark.height) && !one.closest("defs, style, script, [clip-path], details:not([open])")
      && Math.max(box.left - mark.left, mark.right - box.right, box.top - mark.top, mark.bottom - box.bottom) > 1.5;
  });
  const size = (one) => parseFloat(getComputedStyle(one).fontSize)
    * (one instanceof SVGElement ? Math.abs(one.getScreenCTM().a || one.getScreenCTM().b) : 1);
  const small = all.filter((one) => !one.closest("style, script") && words(one) && size(one) < 11.95);
  const target = "button, input:not([type=radio], [type=checkbox]), select, summary";
  const missed = all.filter((one) => one.matches(target))
    .filter((one) => Math.min(one.offsetWidth, one.offsetHeight) < 23.5);
  return {
    cut: cut.map((one) => name(one, one.scrollHeight, "of", one.clientHeight)),
    outside: outside.map((one) => name(one, one.textContent.slice(0, 20))),
    small: small.map((one) => name(one, size(one))),
    missed: missed.map((one) => name(one, one.offsetWidth, one.offsetHeight)),
    high: figure.offsetHeight > 2 * 844 ? [name(figure, figure.offsetHeight)] : [],
  };
})"""
FIGURES = "figure.lm-figure"


DRAWN = "new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)))"


def faults(page, *kinds: str) -> list[str]:
    figures = page.locator(FIGURES).evaluate_all(SEEN)
    return [f"{kind}: {one}" for kind in kinds for figure in figures for one in figure[kind]]


# Types into every line that acts while one types; says which figures jumped, and which lines were written back shorter.
JUMPED = """async (figures) => {
  const line = "input[type=text]:not(.lm-own-text *, [maxlength='6'])";
  const lines = figures.flatMap((figure) => [...figure.querySelectorAll(line)].filter((one) => one.checkVisibility())
    .map((one) => ({ figure, one, high: [], lost: false })));
  for (const text of ["a", "the s", "the sea was calm", "", "x".repeat(40), "The sea was calm and grey."]) {
    for (const { one } of lines) {
      one.value = one.maxLength > 0 ? text.slice(0, one.maxLength) : text;
      one.dispatchEvent(new Event("input", { bubbles: true }));
    }
    await new Promise((done) => setTimeout(() => requestAnimationFrame(done), 300));
    for (const it of lines) {
      it.high.push(it.figure.offsetHeight);
      it.lost ||= it.one.value !== text.slice(0, it.one.maxLength > 0 ? it.one.maxLength : undefined);
    }
  }
  return lines.flatMap(({ figure, high, lost }) => [
    ...(Math.max(...high) - Math.min(...high) > 90 ? [`${figure.dataset.module} is ${high} high`] : []),
    ...(lost ? [`${figure.dataset.module} lost letters`] : []),
  ]);
}"""


# Types a text into every line that acts while one types.
TYPED = """async (figures, text) => {
  const lines = figures.flatMap((figure) => [...figure.querySelectorAll("input[type=text]:not(.lm-own-text *)")])
    .filter((one) => one.checkVisibility() && one.maxLength !== 6);
  for (const one of lines) {
    one.value = one.maxLength > 0 ? text.slice(0, one.maxLength) : text;
    one.dispatchEvent(new Event("input", { bubbles: true }));
  }
  await new Promise((done) => setTimeout(done, 400));
}"""


def test_a_figure_shows_all_of_itself_and_keeps_its_height(show, printed):
    page = show(*printed, width=820)
    assert page.locator(FIGURES).count() == len(printed) > 30
    assert faults(page, "cut", "outside", "small") == []
    assert {"0.00", "0.000", "1.00", "1.000"}.isdisjoint(
        page.locator(".lm-bar-text").all_inner_texts()
    )  # nearly 0 or 1
    page.set_viewport_size({"width": 390, "height": 844})
    page.evaluate(DRAWN)
    assert faults(page, "cut", "outside", "small", "missed", "high") == []
    assert page.locator(FIGURES).evaluate_all(JUMPED) == []
    for text in ("a" * 200, "the sea was calm and " * 60):
        page.locator(FIGURES).evaluate_all(TYPED, text)
        page.evaluate(DRAWN)
        assert faults(page, "cut", "outside", "small", "missed", "high") == []


def test_a_figure_gets_no_less_high_while_it_is_used(show):
    page = show(figures.LSTMStep())
    high = page.locator(FIGURES).evaluate("(one) => one.offsetHeight")
    page.get_by_label("a trained LSTM on your text").check()  # shows a line of text alone
    assert page.locator(FIGURES).evaluate("(one) => one.offsetHeight") == high
    page.set_viewport_size({"width": 700, "height": 900})
    page.get_by_label("a trained LSTM on your text").click()  # another width has another height
    assert page.locator(FIGURES).evaluate("(one) => one.offsetHeight") < high


# Moves each slider from end to end; says which changes nothing within a phone's screen.
MOVED = """async (figures) => {
  const far = [];
  for (const figure of figures) {
    const sliders = [...figure.querySelectorAll("input[type=range]")];
    for (const slider of sliders.filter((one) => one.checkVisibility() && !one.disabled && !one.closest(".lm-wager"))) {
      const control = slider.closest(".lm-control") ?? slider.parentElement;
      const changed = new Set();
      const watcher = new MutationObserver((all) => all.forEach(({ target }) => changed.add(target)));
      watcher.observe(figure, { subtree: true, childList: true, characterData: true, attributes: true });
      for (const value of [slider.max, slider.min]) {
        slider.value = value;
        slider.dispatchEvent(new Event("input", { bubbles: true }));
        await new Promise((done) => requestAnimationFrame(done));
      }
      if (!changed.size) await new Promise((done) => setTimeout(done, 500)); // a worker answers
      watcher.disconnect();
      const here = slider.getBoundingClientRect();
      const seen = [...changed].map((one) => (one.nodeType === 1 ? one : one.parentElement))
        .filter((one) => one?.isConnected && !control.contains(one) && !one.contains(control))
        .filter((one) => !one.closest(".lm-hidden") && one.checkVisibility())
        .map((one) => one.getBoundingClientRect())
        .map((box) => Math.max(box.bottom, here.bottom) - Math.min(box.top, here.top));
      if (!(Math.min(...seen) < 700)) far.push(`${figure.dataset.module}: ${control.textContent} ${Math.min(...seen)}`);
    }
  }
  return far;
}"""


def test_a_slider_and_what_it_changes_are_on_one_screen_of_a_phone(show, printed):
    page = show(*printed, width=390)
    assert page.locator("input[type=range]").count() > 40
    assert page.locator(FIGURES).evaluate_all(MOVED) == []


# Moves each slider from end to end; gives all sentences that were said, what is quoted left out. What was read out
# before is forgotten, so that HEARD waits for the last sentence of each figure that has a slider.
SAYS = """async (figures) => {
  const said = new Set();
  const note = (figure) => figure.querySelectorAll(".lm-says").forEach((one) => said.add(
    `${figure.dataset.module}: ${one.textContent.replace(/“[^”]*”/g, "“”")}`));
  for (const figure of figures) {
    note(figure);
    for (const slider of figure.querySelectorAll("input[type=range]")) {
      if (!slider.checkVisibility() || slider.closest(".lm-wager, .lm-bets")) continue;
      figure.querySelectorAll(".lm-says + *").forEach((one) => one.replaceChildren());
      const { value } = slider;
      for (const now of [slider.min, slider.max, value]) {
        slider.value = now;
        slider.dispatchEvent(new Event("input", { bubbles: true }));
        await new Promise((done) => requestAnimationFrame(done));
        note(figure);
      }
    }
  }
  return [...said];
}"""
HEARD = """[...document.querySelectorAll(".lm-says")].every((shown) => {
  const heard = shown.nextElementSibling;
  return heard.role === "status" && heard.ariaLive === "polite" && heard.textContent === shown.textContent;
})"""


def test_what_is_shown_in_words_is_read_out_and_short(show, printed):
    page = show(*printed)
    said = page.locator(FIGURES).evaluate_all(SAYS)
    page.wait_for_function(HEARD)
    assert len(said) > 60
    assert [one for one in said if len(re.findall(r"\S*[\w“]\S*", one.partition(": ")[2])) > 15] == []


# On paper: what says that something is missing, and how many square pixels of drawing there are.
ON_PAPER = """(figures) => figures.map((figure) => {
  const seen = (one) => one.checkVisibility({ checkOpacity: true, checkVisibilityCSS: true });
  const drawn = [...figure.querySelectorAll("svg, .lm-body :empty, canvas, mark, td, button")].filter(seen)
    .map((one) => one.getBoundingClientRect()).reduce((sum, box) => sum + box.width * box.height, 0);
  const shown = figure.innerText;
  return {
    name: figure.dataset.module,
    title: seen(figure.querySelector(".lm-title")),
    drawn,
    covered: [...figure.querySelectorAll(".lm-covered")].some((one) => getComputedStyle(one).visibility === "hidden"),
    asks: [...figure.querySelectorAll(".lm-wager")].some(seen),
    empty: /not yet|nothing yet|no text yet|press .* to see/i.test(shown),
    task: [...figure.querySelectorAll(".lm-task")].every(seen),
  };
})"""


# While a bet is open: numbers with a point that are in the name of something, and nowhere in sight; and in each figure
# that has one, whether it is open.
NAMED = """(figures) => figures.map((figure) => {
  const seen = (one) => one.checkVisibility({ visibilityProperty: true, opacityProperty: true });
  const words = document.createTreeWalker(figure.querySelector(".lm-body"), NodeFilter.SHOW_TEXT);
  let shown = "";
  while (words.nextNode()) if (seen(words.currentNode.parentElement)) shown += ` ${words.currentNode.data}`;
  const named = [...figure.querySelectorAll("[aria-label], [aria-valuetext], [aria-description]")].filter(seen)
    .flatMap((one) => ["aria-label", "aria-valuetext", "aria-description"].map((it) => one.getAttribute(it)));
  const told = named.filter(Boolean).flatMap((name) => name.match(/\\d*[.]\\d+/g) ?? []);
  return {
    name: figure.dataset.module,
    open: figure.querySelector(".lm-wager")?.dataset.open,
    told: told.filter((number) => !shown.includes(number)),
  };
})"""
PLAYED = {"shannon"}  # a bet on every word


def test_every_figure_takes_a_bet_and_on_paper_is_the_finding_and_its_drawing(show, printed):
    page = show(*printed, bets=True)
    found = page.locator(FIGURES).evaluate_all(NAMED)
    assert {one["name"] for one in found if one["open"] != "true"} <= PLAYED
    assert {one["name"]: one["told"] for one in found if one["told"]} == {}
    page.emulate_media(media="print")
    for one in page.locator(FIGURES).evaluate_all(ON_PAPER):
        name, drawn = one.pop("name"), one.pop("drawn")
        assert drawn > 4000, name
        assert one == {"title": True, "task": True, "covered": False, "asks": False, "empty": False}, name
    page.add_style_tag(content="@media print { .lm-figure .lm-covered { visibility: hidden } }")
    assert any(one["covered"] for one in page.locator(FIGURES).evaluate_all(ON_PAPER))


# What a reader can see or hear of a figure, but for its bets: texts, and names that are only read out.
SAID = """(figures) => figures.map((figure) => {
  const open = (one) => one.checkVisibility({ checkVisibilityCSS: true })
    && !one.closest(".lm-wager, .lm-covered, script");
  const names = ["aria-label", "aria-valuetext", "title"];
  const all = [...figure.querySelectorAll(".lm-body *")].filter(open);
  const said = all.flatMap((one) => [
    ...[...one.childNodes].filter((node) => node.nodeType === 3).map((node) => node.data),
    ...names.map((name) => one.getAttribute(name) ?? ""),
  ]);
  const bets = [...figure.querySelectorAll(".lm-wager[data-open=true] > p")].filter((one) => one.checkVisibility());
  return { name: figure.dataset.module, said: said.join(" | "), asked: bets.map((one) => one.textContent).join(" ") };
})"""
# Presses Skip once in every bet; says what each figure tells then, and whether something stays hidden.
SKIPPED = """(figures) => figures.map((figure) => {
  const bets = [...figure.querySelectorAll(".lm-wager[data-open=true]")].filter((one) => one.checkVisibility());
  for (const one of bets) one.querySelector(".lm-skip").click();
  return {
    told: bets.map((one) => one.querySelector("p").textContent).join(" "),
    open: bets.filter((one) => one.dataset.open === "true").length,
    covered: figure.querySelectorAll(".lm-body .lm-covered").length,
  };
})"""
# Takes each bet again by key; says where the focus fell out of it.
AGAIN = """(figures) => figures.filter((figure) => [...figure.querySelectorAll(".lm-wager")].some((bet) => {
  const again = bet.querySelector("button");
  again.focus();
  const there = document.activeElement === again; // it is in sight
  again.click();
  return there && !bet.contains(document.activeElement);
})).map((figure) => figure.dataset.module)"""
NUMBER = re.compile(r"(?<![\d.,])\d[\d.,]*\d(?!\d)")  # of two digits at least: one alone is found anywhere


def given_away(page) -> list[str]:
    """The figures in which all numbers of two digits that the answer tells are seen or heard before the bet.

    One of several may be: a size or a start with which the answer compares.
    """
    before = page.locator(FIGURES).evaluate_all(SAID)
    after = page.locator(FIGURES).evaluate_all(SKIPPED)
    assert {one["name"] for one in before if not one["asked"]} <= PLAYED
    assert [one["name"] for one, then in zip(before, after, strict=True) if then["open"] or then["covered"]] == []
    numbers = [
        [set(NUMBER.findall(text)) for text in (then["told"], one["asked"], one["said"])]
        for one, then in zip(before, after, strict=True)
    ]
    answers = [(told - asked, said) for told, asked, said in numbers]
    return [one["name"] for one, (new, said) in zip(before, answers, strict=True) if new and new <= said]


def test_a_bet_is_taken_before_its_answer_can_be_seen_or_heard(show, printed):
    page = show(*printed, bets=True)
    assert given_away(page) == []
    assert page.locator(FIGURES).evaluate_all(AGAIN) == []
    assert given_away(page) == []  # nor where it is asked again


# Which bets are settled; of each element that can have the focus, which one has it.
OPEN = "() => [...document.querySelectorAll('.lm-wager')].filter((one) => one.dataset.open === 'true').length"
AT = "() => [...document.querySelectorAll('*')].indexOf(document.activeElement)"


def test_a_bet_stays_open_for_one_who_passes_by_it_with_the_keys(show, printed):
    page = show(*printed, bets=True)
    before, seen = page.evaluate(OPEN), set()
    assert before >= len(printed) - len(PLAYED)
    for _ in range(3000):
        page.keyboard.press("Tab")
        place = page.evaluate(AT)
        if place in seen:
            break
        seen.add(place)
        if len(seen) % 5 == 0:
            for key in ("Shift", "Control", "Escape", "Control+c"):
                page.keyboard.press(key)
    assert len(seen) > 300
    assert page.evaluate(OPEN) == before
    page.keyboard.press("Shift+Tab")
    menu = page.locator('figure[data-module="nearby"] select')
    menu.press("ArrowDown")
    assert page.evaluate(OPEN) == before - 1  # to use it is to skip


# What the sentence of a bet does not speak of: of each module whose bet depends on its state, one value of one trait.
OTHER = {
    "backprop": {"label": 3},
    "blank": {"chosen": 3},
    "block": {"tokens": 17},
    "decoding": {"chosen": 1},
    "digit": {"pixels": digit.greys(1)},
    "directions": {"at": 1},
    "draft": {"draft": "even"},
    "firstwords": {"temperature": 1.2},
    "fits": {"model": 0},
    "forward": {"chosen": "h2"},
    "distance": {"T": 20},
    "lookup": {"heads": 2},
    "lstm": {"bias": -1},
    "masks": {"mask": [[1] * 8] * 8},
    "nearby": {"chosen": 8},
    "neighbours": {"words": "paris"},
    "opened": {"read": 2},
    "preferring": {"beta": 1},
    "sentence": {"order": 2},
    "tokenizers": {"text": "x" * 40},
    "translator": {"place": 1},
    "unrolled": {"unit": 39},
    "wheels": {"width": 12},
}
SENTENCE = """(module) => {
  const bet = document.querySelector(`figure[data-module="${module}"] .lm-wager`);
  const p = bet.querySelector("p");
  return { open: bet.dataset.open, high: bet.offsetHeight, said: p.textContent };
}"""


def test_a_bet_says_so_where_something_else_is_shown(show, printed):
    ours = bundle.files().values()
    depends = {path.parent.name for path in ours if re.search(r'^ +of: "', path.read_text("utf8"), re.M)}
    assert depends == OTHER.keys()
    page = show(*printed, bets=True)
    for module, other in OTHER.items():
        bet = page.locator(f'figure[data-module="{module}"] .lm-wager').first
        asks = page.evaluate(SENTENCE, module)["said"]
        bet.evaluate("(one) => one.querySelector('.lm-skip').click()")
        before = page.evaluate(SENTENCE, module)
        assert before["open"] == "false", module
        texts = {trait: value if isinstance(value, str) else json.dumps(value) for trait, value in other.items()}
        page.evaluate("(asked) => { location.hash = new URLSearchParams(asked); }", {"figure": module} | texts)
        page.wait_for_function(f"({SENTENCE})('{module}').said.startsWith('The question was on')")
        after = page.evaluate(SENTENCE, module)
        assert after["high"] == before["high"], module
        bet.evaluate("(one) => one.querySelector('.lm-skip').click()")  # bet again, of what was asked
        again = page.evaluate(SENTENCE, module)
        assert (again["open"], again["said"]) == ("true", asks), module


def test_an_answer_that_is_read_out_is_seen(show):
    page = show(figures.SentenceProbability(), bets=True)
    page.locator(".lm-strip svg").evaluate("(one) => { one.ariaLabel = 'float32 gives 0 from token 31 on'; }")
    assert given_away(page) == ["sentence"]


@pytest.mark.parametrize(
    ("style", "kind"),
    [
        ("height: 60px; overflow: auto", "cut"),
        ("transform: translateX(-60px)", "outside"),
        ("height: 1700px", "high"),
        ("font-size: 9px", "small"),
        ("min-height: 0; height: 20px; padding: 0", "missed"),
    ],
)
def test_what_is_cut_off_or_too_small_is_seen(show, style, kind):
    page = show(FirstWords())
    target = page.locator(".lm-button" if kind == "missed" else ".lm-says" if kind == "small" else ".lm-body").first
    target.evaluate("(one, style) => { one.style.cssText = style; }", style)
    assert faults(page, kind) != []


# Presses each button many times, where it stands and as long as it stands; says where the focus fell out of the figure.
PRESSED = """(figures) => figures.flatMap((figure) => [...figure.querySelectorAll(".lm-button, .lmo-way button")]
  .filter((one) => one.checkVisibility() && !one.matches(".lm-main, .lm-skip"))
  .filter((one) => {
    one.focus();
    for (let i = 0; i < 60 && one.isConnected; i += 1) one.click();
    return one.disabled || (document.activeElement === document.body && one.isConnected);
  })
  .map((one) => `${figure.dataset.module}: ${one.textContent}`))"""


def test_the_focus_is_never_lost_on_a_button_that_has_done_all_it_can(show, printed):
    page = show(*printed)
    assert page.locator(FIGURES).evaluate_all(PRESSED) == []


def test_a_name_that_tells_the_answer_is_seen(show):
    page = show(figures.MaskPainter(), bets=True)
    assert page.locator(FIGURES).evaluate_all(NAMED) == [{"name": "masks", "open": "true", "told": []}]
    page.locator("[aria-label]").last.evaluate("(one) => one.setAttribute('aria-label', 'layer 2: 0.47')")
    assert page.locator(FIGURES).evaluate_all(NAMED)[0]["told"] == ["0.47"]


def test_a_lost_focus_is_seen(show):
    page = show(FirstWords())
    page.locator(".lm-button").last.evaluate("(one) => one.addEventListener('click', () => { one.disabled = true; })")
    assert page.locator(FIGURES).evaluate_all(PRESSED) == ["firstwords: Another draw"]


# Bars, pixels and swatches are boxes without text that have a colour of their own: first they are marked.
MARK = """(figures) => figures.flatMap((figure) => [...figure.querySelectorAll(".lm-body *")])
  .filter((one) => !(one instanceof SVGElement) && one.checkVisibility() && !one.children.length && !one.textContent)
  .filter((one) => /^rgb\\((?!255, 255, 255)/.test(getComputedStyle(one).backgroundColor))
  .map((one) => one.setAttribute("data-vivid", ""))"""
COLOURS = "(all) => all.map((one) => getComputedStyle(one).backgroundColor)"


def test_bars_and_pixels_keep_their_colours_in_high_contrast(show, printed):
    page = show(*printed)
    assert len(page.locator(FIGURES).evaluate_all(MARK)) > 100
    page.emulate_media(forced_colors="active")
    assert {"rgb(255, 255, 255)", "rgba(0, 0, 0, 0)"}.isdisjoint(page.locator("[data-vivid]").evaluate_all(COLOURS))


# Fills each line of text that has an end, without the pause in which a line awaits the next letter; which ones do not
# say that they are full?
FULL = """async (figures) => {
  const later = window.setTimeout;
  window.setTimeout = (then, pause, ...rest) => later(then, 0, ...rest);
  const silent = figures.flatMap((figure) => [...figure.querySelectorAll("input[maxlength]")].filter((line) => {
    line.value = "a".repeat(line.maxLength);
    line.dispatchEvent(new Event("input", { bubbles: true }));
    return !line.parentElement.textContent.includes(`full: ${line.maxLength} characters`);
  }).map((line) => figure.dataset.module));
  window.setTimeout = later;
  await new Promise((then) => later(() => later(then))); // all that was to come later has come
  return silent;
}"""


def test_a_line_that_is_full_says_so_and_typing_fetches_no_model(show, printed):
    page = show(*printed)
    page.wait_for_load_state("networkidle")  # what a figure fetches by itself
    page.asked.clear()
    assert page.locator("input[maxlength]").count() >= 10
    assert page.locator(FIGURES).evaluate_all(FULL) == []
    assert [one for one in page.asked if "safetensors" in one] == []


# An arrow key on a closed menu: the browser changes it at once and tells so.
ARROWS = """async (figures) => {
  const moved = [];
  for (const figure of figures) for (const menu of figure.querySelectorAll("select")) {
    menu.focus(); // what was chosen in the menu before acts now
    const before = figure.querySelector(".lm-says")?.textContent;
    menu.dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowDown", bubbles: true }));
    menu.selectedIndex = (menu.selectedIndex + 1) % menu.options.length;
    menu.dispatchEvent(new Event("change", { bubbles: true }));
    if (figure.querySelector(".lm-says")?.textContent !== before) moved.push(figure.dataset.module);
  }
  return moved;
}"""


def test_a_menu_acts_on_enter_not_on_an_arrow(show, printed):
    page = show(*printed)
    assert page.locator("select").count() >= 10
    assert page.locator(FIGURES).evaluate_all(ARROWS) == []
    page = show(figures.DoesItFit())
    menu, said = page.locator("select").first, page.locator(".lm-says")
    before = said.text_content()
    menu.press("ArrowDown")
    assert said.text_content() == before
    menu.press("Enter")
    assert said.text_content() != before


def test_typed_accents_are_composed_before_they_are_read(show):
    page = show(figures.NGramExplorer(), figures.SentenceProbability(), figures.TokenizerComparison("the sea"))
    for figure in page.locator(FIGURES).all():
        line = figure.locator("input[type=text]").first
        line.fill("cafe\u0301")
        line.press("Enter")
        shown = figure.locator(".lm-body").inner_text() + figure.locator(".lm-says").text_content()
        assert "caf\u00e9" in shown
        assert "\u0301" not in shown
        assert line.input_value() == "cafe\u0301"  # as it was typed


def test_every_line_of_text_is_one_of_the_shared_ones():
    for path in Path(figures.__file__).parent.rglob("*.mjs"):
        assert path.name == "controls.mjs" or 'type: "text"' not in path.read_text("utf8"), path


def test_the_temperature_of_the_first_page_acts_at_once_before_its_model_comes_and_when_all_is_written(show):
    page = show(FirstWords(), motion="reduce", bets=True)
    page.get_by_role("slider").fill("1.6")  # whoever moves it skips the bet
    shown = lambda: [float(p) for p in page.locator(".lm-bar-text").all_inner_texts()]  # noqa: E731
    assert shown() == pytest.approx([p for _, p in likeliest(ODDS, 1.6)], abs=0.006)
    page.get_by_role("slider").fill("0.7")
    assert shown() == pytest.approx([p for _, p in NEXT], abs=0.006)
    page.get_by_label("Begin with").fill("JULIET:")
    page.get_by_role("button", name="Write on").click()
    page.wait_for_function("/^JULIET:[^]{200}/.test(document.querySelector('.lmo-text').textContent)")
    before = page.locator(".lm-bar-text").all_inner_texts()
    page.get_by_role("slider").fill("1.6")
    page.wait_for_function("(old) => document.querySelector('.lm-bar-text').textContent !== old", arg=before[0])
    assert float(page.locator(".lm-bar-text").first.inner_text()) < float(before[0])
    written = page.locator(".lmo-text").text_content()
    page.locator(".lmo-pick").first.click()  # the reader's choice in place of a draw
    page.wait_for_function("(old) => document.querySelector('.lmo-text').textContent.length > old", arg=len(written))
    assert page.locator(".lmo-text").text_content()[:-1] == written


# --- addresses --------------------------------------------------------------------------------------------------------

VALUES = [-1, 0, 1, 2, 7, 9, 99, 1e9, 0.5, "x", "", [], [1], [9], [0, 1], [99, 0], [[1, 2], [3, 4]]]
ASKED = """async ([module, values]) => {
  const { addressed } = await import("./_static/figures/mount.mjs");
  const figure = document.querySelector("figure");
  const state = JSON.parse(figure.querySelector('script[type="application/json"]').textContent);
  const source = performance.getEntriesByType("resource").find((one) => one.name.includes(`/${module}.`));
  const found = (await import(source.name)).default;
  return values.map(([name, value]) => {
    location.hash = new URLSearchParams({ figure: module, [name]: value });
    return name in addressed(figure, state, found).taken;
  });
}"""


def acceptable(kind, name: str, value) -> bool:
    """Whether the class of the figure takes this value of the trait."""
    try:
        kind(**{name: value})
    except (traitlets.TraitError, ValueError, TypeError):
        return False
    return True


SETTABLE = {
    "BackpropGraph": ["x", "W", "label", "step", "chosen"],
    "DecodingSteps": ["chosen", "picks", "width", "step", "alpha"],
    "DraftAndCheck": ["draft", "letters", "gamma"],
    "DoesItFit": ["model", "gpu", "bits", "texts", "tokens"],
    "FillTheBlank": ["chosen", "blank"],
    "GPTWriter": ["temperature", "top_k", "top_p", "layer", "head", "prompt"],
    "GradientOverDistance": ["scale", "T", "bias"],
    "LSTMStep": ["bias", "events", "chosen"],
    "MaskPainter": ["layers", "mask", "chosen"],
    "NGramExplorer": ["n", "k", "smoothing"],
    "NearSections": ["chosen"],
    "PositionWheels": ["i", "offset", "width", "base"],
    "SentenceProbability": ["order"],
    "SpendTheBudget": ["budget", "size"],
    "SwapTheBlock": ["norm", "ffn", "kept", "reach", "tokens"],
    "TokenizerComparison": ["merges"],
    "TwoDirections": ["at"],
    "UnrolledRNN": ["passage", "t", "unit"],
    "YourPreferences": ["clicks", "updates", "beta"],
}


@pytest.mark.parametrize("name", SETTABLE)
def test_an_address_is_checked_as_the_class_checks_it(show, name):
    kind = getattr(figures, name)
    page = show(kind())
    asked = [(trait, value) for trait in SETTABLE[name] for value in VALUES]
    texts = [(trait, value if isinstance(value, str) else json.dumps(value)) for trait, value in asked]
    taken = page.evaluate(ASKED, [kind.module, texts])
    wanted = [acceptable(kind, *one) for one in asked]
    assert [one for one, got, right in zip(asked, taken, wanted, strict=True) if got != right] == []
