"""What a reader does on the site: search, check, unfold, choose a theme, print; with the keyboard, without scripts."""

import pytest
from lxml import html
from test_pages import CUT

pytestmark = pytest.mark.browser

CHAPTER = "notebooks/01-chain-rule.html"
OPEN = "document.querySelectorAll('details[open]').length"


def test_search_finds_perplexity(visit):
    page = visit("search.html?q=perplexity")
    results = page.locator("#search-results ul.search li")
    results.first.wait_for()
    titles = results.all_inner_texts()
    assert any("n-gram models" in title for title in titles)
    page.wait_for_function("document.querySelectorAll('#search-results .context').length > 2")
    excerpts = " ".join(page.locator("#search-results .context").all_inner_texts())
    assert "\\" not in excerpts  # a formula once, as its letters
    assert "On this page" not in excerpts
    results.filter(has_text="n-gram models").first.locator("a").first.click()
    page.wait_for_url("**/02-ngrams-and-perplexity.html*")


def solutions_fold_with_all_that_is_in_them(page):
    solutions = page.locator("details.solution")
    assert solutions.count() == page.locator(".admonition.exercise").count() > 0
    assert page.evaluate(OPEN) == 0
    assert page.locator("details.solution .cell_input").count() > 0
    assert not any(code.is_visible() for code in page.locator("details.solution .cell_input").all())
    solutions.first.locator("summary").focus()
    page.keyboard.press("Enter")
    assert solutions.first.locator(".lm-folded-body").is_visible()


def every_option_of_every_question_is_explained(page):
    names = page.locator(".lm-check input").evaluate_all("(all) => all.map((input) => input.name)")
    assert len(set(names)) == page.locator(".lm-check").count() >= 2
    words = page.locator(".lm-option .lm-why").evaluate_all("(all) => all.map((why) => why.textContent.trim().length)")
    assert min(words) > len("Right.") + 10


def a_question_is_answered_by_keyboard(page):
    question = page.locator(".lm-check").first
    options = question.locator(".lm-option")
    whys = question.locator(".lm-why > div")
    assert options.count() >= 2
    assert not any(whys.nth(i).is_visible() for i in range(whys.count()))
    question.locator("input").first.focus()
    page.keyboard.press("Space")
    for i in range(options.count()):
        assert [whys.nth(k).is_visible() for k in range(options.count())] == [k == i for k in range(options.count())]
        right = "lm-right" in options.nth(i).get_attribute("class")
        assert whys.nth(i).inner_text().startswith("Right." if right else "Wrong.")
        page.keyboard.press("ArrowDown")


def menus_and_tooltips_look_as_bootstrap_has_them(page):
    """Their rules stand in a stylesheet from which what no page seems to use is cut."""
    page.get_by_role("button", name="Download this page").click()
    menu = page.locator(".dropdown-menu.show")
    menu.wait_for()
    style = "(box, name) => getComputedStyle(box)[name]"
    assert [menu.evaluate(style, name) for name in ("position", "zIndex")] == ["absolute", "1000"]
    assert menu.evaluate(style, "backgroundColor") != "rgba(0, 0, 0, 0)"
    assert menu.get_by_text(".ipynb").is_visible()
    page.keyboard.press("Escape")
    menu.wait_for(state="detached")
    page.locator(".theme-switch-button").first.hover()
    tip = page.locator(".tooltip.show .tooltip-inner")
    tip.wait_for()
    assert tip.inner_text() == "Color mode"
    assert tip.evaluate(style, "backgroundColor") != tip.evaluate(style, "color") == "rgb(255, 255, 255)"


def the_reader_chooses_the_theme(page):
    seen = set()
    for _ in range(3):
        page.locator(".theme-switch-button").first.click()
        seen.add(page.evaluate("document.documentElement.dataset.mode"))
    assert seen == {"light", "dark", "auto"}


def the_number_of_an_equation_stays_in_sight_on_a_phone(page):
    page.set_viewport_size({"width": 360, "height": 900})
    in_sight = "(all) => all.every((one) => one.getBoundingClientRect().right <= 360)"
    page.wait_for_function(f"({in_sight})([...document.querySelectorAll('.lm-equation .eqno')])")
    places = page.locator(".lm-equation .eqno").evaluate_all(
        "(all) => all.map((number) => number.getBoundingClientRect()).map(({ left, right }) => [left, right])"
    )
    assert places
    assert all(left >= 0 and right <= 360 for left, right in places)
    page.set_viewport_size({"width": 1280, "height": 900})


def the_search_button_leads_there(page):
    page.get_by_role("button", name="Search").first.click()
    page.keyboard.type("perplexity")
    page.keyboard.press("Enter")
    page.wait_for_url("**/search.html?q=perplexity")
    page.locator("#search-results ul.search li").first.wait_for()


def test_a_chapter_is_used_with_its_questions_its_menus_and_its_search(visit):
    page = visit(CHAPTER)
    solutions_fold_with_all_that_is_in_them(page)
    every_option_of_every_question_is_explained(page)
    a_question_is_answered_by_keyboard(page)
    menus_and_tooltips_look_as_bootstrap_has_them(page)
    the_reader_chooses_the_theme(page)
    the_number_of_an_equation_stays_in_sight_on_a_phone(page)
    the_search_button_leads_there(page)


def test_options_are_shuffled_at_each_visit_and_lettered_anew(visit):
    """With four questions of three options, three visits in the same order have a chance of one in 1.7 million."""
    orders, page = set(), visit(CHAPTER)
    for _ in range(3):
        page.reload()
        questions = page.locator(".lm-check").evaluate_all(
            "all => all.map(q => [...q.querySelectorAll('label')].map(l => [l.firstChild.textContent, l.htmlFor]))"
        )
        assert all([letter for letter, _ in one] == sorted(letter for letter, _ in one) for one in questions)
        assert all(len({name for _, name in one}) == len(one) for one in questions)
        orders.add(str(questions))
    assert len(orders) > 1


def test_without_scripts_questions_and_solutions_still_work(visit, new_context, served):
    page = new_context(java_script_enabled=False).new_page()
    page.goto(served[0] + CHAPTER)
    option = page.locator(".lm-check .lm-option").first
    assert not option.locator(".lm-why > div").is_visible()
    option.locator("label").click()
    assert option.locator(".lm-why > div").is_visible()
    solution = page.locator("details.solution").first
    assert not solution.locator(".lm-folded-body").is_visible()
    solution.locator("summary").click()
    assert solution.locator(".lm-folded-body").is_visible()


def test_a_link_to_a_solution_opens_it(visit, site):
    name = html.parse(site / CHAPTER).findall(".//details[@id]")[-1].get("id")
    page = visit(f"{CHAPTER}#{name}")
    assert page.locator(f"details#{name}").get_attribute("open") is not None


def test_a_printed_page_is_light_and_has_everything_open(visit):
    page = visit(CHAPTER, scheme="dark", reduced_motion="reduce")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert page.evaluate("document.documentElement.dataset.theme") == "light"
    assert page.evaluate("document.querySelectorAll('main details:not([open], .hide, .lm-table)').length") == 0
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert page.evaluate(OPEN) == 0
    assert page.evaluate("document.documentElement.dataset.theme") == "dark"
    page.emulate_media(media="print")
    assert not page.locator(".bd-sidebar-primary").is_visible()
    page.emulate_media(media="screen")
    page.add_style_tag(content="* { content-visibility: visible !important }")  # or each box is laid out by itself
    slow = """() => [...document.querySelectorAll(":not(.katex *, svg *)")].filter((box) =>
      getComputedStyle(box).transitionDuration.split(",").some((time) => parseFloat(time) > 0.01)).length"""
    assert page.evaluate(slow) == 0, "who wants no motion has none"


def test_on_paper_tables_show_all_columns_and_only_long_ones_are_parted(visit):
    page = visit("book/results.html")
    page.emulate_media(media="print")
    hidden = """() => [...document.querySelectorAll(".pst-scrollable-table-container")].map(getComputedStyle)
      .filter((style) => style.overflowX !== "visible" || style.maskImage !== "none").length"""
    assert page.evaluate(hidden) == 0
    parted = """() => [...document.querySelectorAll("article table")].map((table) =>
      [getComputedStyle(table).breakInside === "auto", table.tBodies[0].rows.length > 12])"""
    found = page.evaluate(parted)
    assert all(auto == long for auto, long in found)
    assert {True, False} == {long for _, long in found}


def test_on_paper_code_that_is_longer_than_a_page_begins_where_its_box_does(visit):
    page = visit("book/homework/16-bert.html")
    page.emulate_media(media="print")
    kinds = """() => [...document.querySelectorAll("div.cell_input, div.cell_input :is(div, pre)")].map((box) =>
      [box.matches("div.cell_input"), getComputedStyle(box).display, getComputedStyle(box).breakInside].join(" "))"""
    assert set(page.evaluate(kinds)) == {"true block avoid", "false block auto"}


@pytest.mark.parametrize("name", ["index.html", "notebooks/03-tokens-and-embeddings.html"])
def test_on_paper_no_figure_hides_what_one_would_scroll_to(visit, name):
    page = visit(name, width=720)
    page.emulate_media(media="print")
    hidden = """() => [...document.querySelectorAll("figure.lm-figure *")].filter((box) => (
      ["auto", "scroll"].includes(getComputedStyle(box).overflowY) && box.scrollHeight > box.clientHeight + 1))
      .map((box) => box.className)"""
    assert page.evaluate(hidden) == []
    page.set_viewport_size({"width": 360, "height": 900})
    assert page.evaluate(hidden) == []


def test_on_narrow_paper_an_equation_begins_with_its_left_side(visit):
    page = visit("notebooks/07-long-memory.html", width=360)
    page.emulate_media(media="print")
    late = """() => [...document.querySelectorAll(".lm-aligned .lm-row")].filter((row) => {
      const [left, right] = [...row.querySelectorAll(".lm-cell")].map((cell) => cell.querySelector(".base"));
      return left && right && left.getBoundingClientRect().top > right.getBoundingClientRect().top + 8;
    }).map((row) => row.textContent)"""
    assert page.locator(".lm-aligned .lm-row").count() > 8
    assert page.evaluate(late) == []


def test_what_is_kept_on_the_device_has_no_buttons_on_paper(visit):
    page = visit("book/how-to-use.html")
    page.emulate_media(media="print")
    assert page.locator("article button:visible").count() == 0


@pytest.mark.parametrize(
    ("name", "figures"), [("book/index.html", 1), (CHAPTER, 2), ("notebooks/02-ngrams-and-perplexity.html", 1)]
)
def test_a_first_visit_is_light_and_has_living_figures(visit, served, name, figures):
    _, sent = served
    before = len(sent)
    page = visit(name)
    page.wait_for_load_state("networkidle")
    assert sum(size for _, size, _ in sent[before:]) < 400_000  # bytes, compressed
    assert page.locator("figure.lm-figure[data-live='true']").count() == figures


def test_sliders_have_the_colour_of_the_book(visit):
    page = visit("notebooks/02-ngrams-and-perplexity.html")
    accent = """() => { const box = document.createElement("i");
      box.style.color = "var(--lm-accent)";
      document.querySelector(".lm-figure").append(box);
      return getComputedStyle(box).color; }"""
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        page.wait_for_function("(scheme) => document.documentElement.dataset.theme === scheme", arg=scheme)
        found = page.locator(".lm-figure input[type=range]").evaluate_all(
            "(all) => all.map((input) => getComputedStyle(input).accentColor)"
        )
        assert len(found) > 1
        assert set(found) == {page.evaluate(accent)}


def test_a_table_of_sentences_has_the_width_of_a_phone(visit):
    page = visit("book/errata.html", width=360)
    widths = page.locator("#errata td").evaluate_all("(cells) => cells.map((cell) => cell.offsetWidth)")
    assert widths
    assert min(widths) > 280
    page.set_viewport_size({"width": 1280, "height": 900})  # and there it is a table
    assert page.locator("#errata tbody tr").first.locator("td").nth(3).evaluate("(cell) => cell.offsetLeft") > 300


def the_way_to_the_text_is_short_and_named(page):
    page.wait_for_function("document.querySelector('button.copybtn')")
    names = page.locator("button.copybtn").evaluate_all("(all) => all.map((box) => box.getAttribute('aria-label'))")
    assert set(names) == {"Copy this code"}
    stops = """[...document.querySelectorAll("a[href], button, input, select, summary, [tabindex]")].filter((box) =>
      box.tabIndex >= 0 && box.checkVisibility() && box.getBoundingClientRect().width
      && box.compareDocumentPosition(document.querySelector("article")) & Node.DOCUMENT_POSITION_FOLLOWING).length"""
    assert page.evaluate(stops) <= 51  # 24 of them are the chapters, all in the list of pages
    page.keyboard.press("Tab")
    skip = page.locator("#pst-skip-link")
    assert skip.bounding_box()["y"] >= 0
    same = "(box) => getComputedStyle(box).backgroundColor === getComputedStyle(document.body).backgroundColor"
    assert skip.evaluate(same)  # a colour of the book


def a_card_says_what_a_link_leads_to(page):
    card = page.locator("#lm-card")
    kinds = (("bibliography.html#", "20"), ("glossary.html#", " "), ("#equation-", "="), ("#figure-", "Figure"))
    for link, words in kinds:
        place = page.locator(f'article a.reference[href*="{link}"]').first
        place.hover()
        card.wait_for(state="visible")
        assert words in card.inner_text()
        assert place.get_attribute("aria-describedby") == "lm-card"
        page.keyboard.press("Escape")
        assert card.is_hidden()
        page.mouse.move(0, 0)


def paper_has_no_empty_boxes_and_the_answers_at_its_end(page):
    below = page.locator(".admonition.exercise + details.solution").count()
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    page.emulate_media(media="print")
    assert page.locator("main details.hide:visible, .lm-figure details:visible, .lm-guess:visible").count() == 0
    assert page.locator(".lm-check .lm-why > div:visible").count() == 0
    # a figure that is not alive yet takes the room of what it shows, not of what it would become
    figure = page.locator("figure.lm-figure").last
    room = figure.evaluate("(f) => { delete f.dataset.live; return getComputedStyle(f).minHeight; }")
    assert room in ("0px", "auto")
    figure.evaluate("(f) => { f.dataset.live = 'true'; }")
    assert page.locator(".lm-figure .lm-hand:visible").count() == 0
    figure = page.locator("figure.lm-figure").first
    assert figure.evaluate("(f) => getComputedStyle(f.querySelector('p')).printColorAdjust") == "exact"
    figure.evaluate("(f) => f.removeAttribute('data-live')")  # a figure that is far away when the page is printed
    assert figure.evaluate("(f) => getComputedStyle(f).minHeight") in ("0px", "auto")
    kept = "(pre) => getComputedStyle(pre.closest('div.cell_input')).breakInside"
    assert page.locator("div.cell_input pre.lm-long").first.evaluate(kept) == "auto"
    assert page.locator("div.cell_input pre:not(.lm-long)").first.evaluate(kept) == "avoid"
    end = page.locator("#lm-print-end")
    assert end.locator("details.solution").count() == page.locator(".admonition.exercise").count() > 0
    assert end.locator(".lm-print-answer").count() == page.locator(".lm-check").count() > 0
    assert page.evaluate("document.querySelector('article').lastElementChild.id") == "lm-print-end"
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert page.locator("#lm-print-end").count() == 0
    assert page.locator(".admonition.exercise + details.solution").count() == below > 0


def test_a_chapter_by_keyboard_with_its_cards_and_on_paper(visit):
    page = visit("notebooks/17-gpt.html")
    the_way_to_the_text_is_short_and_named(page)
    a_card_says_what_a_link_leads_to(page)
    paper_has_no_empty_boxes_and_the_answers_at_its_end(page)


def test_the_line_of_chapters_fits_a_phone(visit):
    page = visit("book/index.html", width=360)
    assert page.evaluate(CUT, ".lm-stations, .lm-station") == []
    boxes = page.locator(".sd-card").evaluate_all("(all) => all.map((card) => getComputedStyle(card).overflow)")
    assert set(boxes) == {"hidden"}
