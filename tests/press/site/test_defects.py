"""Faults that the site once had, each with what would have shown it: few pages, each visited once."""

import json
import re
from pathlib import Path

import pytest
from lxml import html
from playwright.sync_api import expect
from test_pages import CUT

from lmbook_press.site.features import chapters, code, mathematics, search

ROOT = Path(__file__).parents[3]
browser = pytest.mark.browser
LONG = "notebooks/17-gpt"  # two live figures above its last sections, a table, plots, questions to predict

# --- without a browser: the pieces ---------------------------------------------------------------------------------


def test_a_formula_is_cut_between_its_groups_only():
    assert mathematics.cut(r"a \quad {b \quad c} \qquad d", "quad") == ["a", r"{b \quad c}", "d"]
    assert mathematics.cut(r"a &= \begin{matrix} 1 & 2 \end{matrix} \\ b", "row")[1] == "b"
    assert mathematics.cut(r"\left( x \\ y \right) \leftarrow z", "row") == [r"\left( x \\ y \right) \leftarrow z"]


def test_rows_and_statements_of_a_formula_can_stand_alone():
    html = mathematics.pieces(r"\begin{aligned} a &= b \\ &= c, \qquad d \end{aligned}")
    assert (html.count('class="lm-row"'), html.count('class="lm-cell"'), html.count('class="lm-piece"')) == (2, 4, 2)
    assert html.count("<math ") == 4  # a, = b, {} = c and d; the empty cell has none
    assert mathematics.pieces("a = b") == mathematics.render("a = b", display=True)


def test_a_condition_stays_with_its_bar():
    html = mathematics.render(r"P(y \mid x) = 1")
    assert html.count('class="base"') == 2  # it may break behind "=" alone
    assert "<mi>y</mi><mo>∣</mo><mi>x</mi>" in html  # and is read as it was


def test_a_short_bracket_stays_on_one_line():
    kept = re.compile(r'<span class="lm-kept">(.*?)(?=<span class="lm-kept">|$)')
    html = mathematics.pieces(
        r"h = m f(x) + (1 - m) h, \qquad y = (a + b + c + d + e + f + g + h + i + j + k + l + m + n)"
    )
    assert html.count('class="lm-kept"') == 1
    assert re.sub(r"<[^>]+>", "", kept.search(html)[1]).replace("\u200b", "").startswith("(1−m)h")
    assert html.count("<span") == html.count("</span>")
    assert html.count('class="base"') == 19  # nothing is lost


def test_a_table_in_a_listing_keeps_its_columns():
    listing = '<div class="highlight-text notranslate"><div class="highlight"><pre><span></span>{}\n</pre></div></div>'
    row = "question          right  partly   wrong   error missing  manual  mean of"
    assert f'<span class="lm-columns">{row}\n</span>' in code.hang(listing.format(row))
    assert 'class="lm-line"' in code.hang(listing.format("  eve: the file is not a notebook; download it again as one"))


def test_a_long_line_of_code_wraps_and_is_copied_as_it_was():
    line = "    <span>print</span>(&quot;a line that is rather too long for a phone&quot;)"
    start = '<div class="highlight-ipython3 notranslate"><div class="highlight"><pre><span></span>'
    block = f"{start}x = 1\n{line}\n</pre></div>"
    html = code.hang(block)
    assert html.count("lm-line") == 1
    assert "style=--i:4" in html
    text = lambda page: re.sub(r"<[^>]+>", "", page)  # noqa: E731
    assert text(html) == text(block)


def test_the_columns_of_an_output_stay_unless_it_is_too_wide_for_any_screen():
    output = '<div class="output stream highlight-myst-ansi notranslate"><div class="highlight"><pre>{}\n</pre></div>'
    assert code.hang(output.format("a" * 70)) == output.format("a" * 70)
    assert "lm-line" in code.hang(output.format("word " * 30))
    assert "lm-line" in code.hang(output.format("the new loss is much lower than that of the table"))
    for columns in (
        "loss   1.38  1.40  1.52\nperplexity   3.97  4.06  4.57",
        "[[0 0 0 0 0 0 1 1 1 1]\n [0 0 0 0 0 0 0 1 1 1]]",
    ):
        assert code.hang(output.format(columns)) == output.format(columns)


def test_a_short_piece_of_code_stays_on_its_line():
    piece = '<code class="docutils literal notranslate"><span class="pre">{}</span></code>'
    assert "lm-whole" in code.hang(piece.format("-math.inf"))
    assert "lm-whole" in code.hang(piece.format("&quot;&lt;eos&gt;&quot;"))  # 7 characters
    for whole in ("torch.Tensor", "x" * 40, "-" * 15):
        assert "lm-whole" not in code.hang(piece.format(whole))


@browser
def test_short_code_in_a_sentence_does_not_end_a_line_after_its_quote(visit):
    page = visit("book/homework/01-chain-rule.html", width=360)
    pieces = page.locator("article p > code .lm-whole")
    assert pieces.count() > 5
    lines = "(all) => all.map((piece) => new Set([...piece.getClientRects()].map((box) => Math.round(box.top))).size)"
    assert set(pieces.evaluate_all(lines)) == {1}


def test_the_first_chapter_to_link_a_term_is_its_home():
    pages = [("notebooks/01-x", "a {term}`token`"), ("notebooks/11-y", "{term}`Attention`, {term}`tokens <token>`")]
    homes = search.introduced(pages)
    assert homes["attention"] == "notebooks/11-y"
    assert homes["token"] == "notebooks/01-x"


# --- without a browser: the built pages ----------------------------------------------------------------------------


def test_chapter_and_homework_lead_to_each_other(site):
    for path in sorted((site / "notebooks").glob("*.html")):
        number = int(path.name[:2])
        text, back = path.read_text("utf8"), site / "book" / "homework" / path.name
        assert text.count(f'href="../book/homework/{path.name}"') >= (3 if number else 0), path.name
        assert not number or f'href="../../notebooks/{path.name}">chapter {number},' in back.read_text("utf8")
        assert bool(number) == ("@incollection{" in text), path.name


def test_each_page_has_one_viewport_a_description_and_a_card(site):
    for path in [*site.glob("book/**/*.html"), *site.glob("notebooks/*.html"), site / "search.html"]:
        head = path.read_text("utf8").split("</head>")[0]
        assert head.count('name="viewport"') == 1, path.name
        for mark in ('name="description"', 'property="og:title"', 'property="og:image"', 'property="og:description"'):
            assert head.count(mark) == 1, (path.name, mark)
        assert len(re.search(r'name="description" content="([^"]+)"', head)[1]) >= 30, path.name
    assert (site / chapters.CARD).stat().st_size < 100_000


def test_most_works_can_be_reached(site):
    entries = re.findall(
        r'<div class="citation".*?</div>', (site / "book/bibliography.html").read_text("utf8"), re.DOTALL
    )
    linked = [entry for entry in entries if re.search(r'href="https?://', entry)]
    assert len(linked) > 0.9 * len(entries) > 100


def test_the_answer_to_each_prediction_is_folded(site):
    for path in sorted((site / "notebooks").glob("*.html")):
        text = path.read_text("utf8")
        questions = re.findall(r'<div class="predict admonition"[^>]*id="predict-(\d+)"', text)
        assert questions == re.findall(r'<details class="lm-answer" id="answer-(\d+)"', text), path.name
        assert len(questions) == text.count('class="predict admonition"'), path.name


def test_no_answer_ends_before_what_belongs_to_it(site):
    for path in sorted((site / "notebooks").glob("*.html")):
        for fold in html.fromstring(path.read_text("utf8")).xpath('//details[@class="lm-answer"]'):
            after = fold.getnext()
            classes = after.classes if after is not None else ()
            assert "lm-equation" not in classes, (path.name, fold.get("id"), "a formula that the answer announces")
            if "tag_hide-input" in classes:  # a plot of what was asked, beside the closed fold, would tell
                assert after.xpath('.//figure[contains(@class, "lm-figure")]'), (path.name, fold.get("id"))


def test_no_heading_stands_directly_above_another(site):
    for path in [*sorted((site / "notebooks").glob("*.html")), *sorted((site / "book").glob("*.html"))]:
        for part in html.fromstring(path.read_text("utf8")).xpath("//article//section"):
            first = [child for child in part if child.tag != "span"][:2]
            assert [one.tag for one in first] != ["h2", "section"], (path.name, part.get("id"))


def test_the_tables_of_listings_fit_the_page(site):
    rows = html.fromstring((site / "book" / "instructors.html").read_text("utf8")).xpath('//*[@class="lm-columns"]')
    assert len(rows) >= 6
    assert max(len(row.text_content().rstrip()) for row in rows) <= 74


def test_a_page_that_does_not_exist_helps_on(site):
    text = (site / "404.html").read_text("utf8")
    base = re.search(r"baseurl: (\S+)", (ROOT / "_config.yml").read_text())[1]
    assert f'action="{base}search.html"' in text
    assert set(re.findall(r'href="([^"]+)"', text)) >= {f"{base}book/index.html"}


def test_nothing_says_one_threads_or_leaves_numbers_and_their_ranges_apart(site):
    text = (site / "book" / "results.html").read_text("utf8")
    assert "1 threads" not in text
    blank = "(?: |&#160;|\u00a0)"
    ranges = re.findall(rf"<td([^>]*)><p>[\d.,%]+ \([\d.,%]+{blank}to{blank}[\d.,%]+\)", text)
    assert len(ranges) > 50
    assert all("lm-number" in attributes for attributes in ranges)
    assert "&#160;" in text or "\u00a0" in text
    assert not re.search(r'<td class="[^"]*lm-number[^"]*"><p>[^<]*\([^()<]* to ', text)  # paper breaks before a range
    assert "Attention<wbr/>Seq2Seq" in text  # closed, for the EPUB
    assert "Wiki<wbr" not in text


def test_computed_numbers_have_a_minus_and_heads_keep_what_belongs_together(site):
    minus, kept = 0, set()
    for path in [*sorted((site / "notebooks").glob("*.html")), site / "book" / "results.html"]:
        page = html.fromstring(path.read_text("utf8"))
        numbers = page.xpath('//td[contains(@class, "lm-number")] | //span[@class="pasted-text"]')
        texts = [one.text_content().strip() for one in numbers]
        assert [text for text in texts if re.search(r"(^|[ (])-\d", text)] == [], path.name
        minus += sum("−" in text for text in texts)
        heads = page.xpath('//div[contains(@class, "pst-scrollable-table-container")]//thead//th')
        kept |= {part.text_content() for head in heads for part in head.xpath('.//span[@class="lm-short"]')}
        assert not any("\u2011" in head.text_content() for head in heads), "a sign that the book's fonts do not have"
    assert minus > 20
    assert {"10 to 12", "EN-DE", "seed 0"} <= kept, sorted(kept)


# signs that stand at the start of a line, without the formula that they follow
ALONE = """[...document.querySelectorAll("article span.math")].filter((math) => {
  const [next, place] = [math.nextSibling, document.createRange()];
  if (next?.nodeType !== 3 || !/^[,.;:?!)]/.test(next.data) || !math.checkVisibility()) return false;
  place.setStart(next, 0);
  place.setEnd(next, 1);
  return place.getBoundingClientRect().right < [...math.getClientRects()].at(-1).right - 1;
}).map((math) => math.textContent)"""
# names of axes upwards that meet the numbers beside them, or the edge
MET = """[...document.querySelectorAll("figure.lm-plot svg")].flatMap((svg) => {
  const [meet, edge] = [[], svg.parentElement.getBoundingClientRect().left];
  const words = [...svg.querySelectorAll("text")].map((text) => [text, text.getBoundingClientRect()]);
  const upwards = words.filter(([text]) => text.matches('[transform^="rotate(-90"][style*="font-size: 11px"]'));
  for (const [name, a] of upwards) {
    if (a.left < edge - 0.5) meet.push([name.textContent, "the edge"]);
    for (const [text, b] of words) {
      const [wide, high] = [["left", "right"], ["top", "bottom"]].map(([from, to]) => (
        Math.min(a[to], b[to]) - Math.max(a[from], b[from])));
      if (text !== name && wide > 1 && high > 1) meet.push([name.textContent, text.textContent]);
    }
  }
  return meet;
})"""


# --- in a browser --------------------------------------------------------------------------------------------------


@browser
def test_a_link_into_a_page_lands_there_though_figures_grow(visit):
    page = visit(f"{LONG}.html#scale")
    assert page.locator("figure.lm-figure").count() >= 1
    page.wait_for_function(
        "Math.abs(document.getElementById('scale').getBoundingClientRect().top - 72) <= 10", timeout=10_000
    )


@browser
def test_a_page_opened_at_its_end_hardly_moves(new_context, served):
    watch = """(() => { window.moved = 0;
      new PerformanceObserver((list) => { for (const one of list.getEntries()) moved += one.value; })
        .observe({ type: "layout-shift", buffered: true }); })()"""
    context = new_context(viewport={"width": 1280, "height": 900})
    context.add_init_script(watch)
    page = context.new_page()
    page.goto(f"{served[0]}notebooks/06-recurrent-lm.html#further-reading", wait_until="networkidle")
    page.wait_for_timeout(1000)
    assert page.locator("#further-reading").bounding_box()["y"] > 0
    assert page.evaluate("moved") < 0.05


@browser
@pytest.mark.parametrize("chapter", ["07-long-memory", "08-rnn-tasks", "18-beyond-text"])
def test_no_comma_and_no_name_of_an_axis_is_astray_on_a_phone(visit, chapter):
    page = visit(f"notebooks/{chapter}.html", width=360)
    page.add_style_tag(content=".bd-article section { content-visibility: visible !important; }")
    page.mouse.move(9, 9)  # what is far away is measured once a reader moves
    framed = "[...document.querySelectorAll('figure.lm-plot:not(.lm-drawing) svg')].every((svg) => svg.dataset.drawn)"
    page.wait_for_function(framed)
    page.evaluate("document.fonts.ready")
    assert page.evaluate(ALONE) == []
    assert page.evaluate(MET) == []


@browser
@pytest.mark.parametrize("width", [1280, 360])
def test_far_sections_take_the_room_that_they_need(visit, width):
    page = visit(f"{LONG}.html", width=width)
    estimated = page.evaluate("document.scrollingElement.scrollHeight")
    page.mouse.move(9, 9)
    sections = "[...document.querySelectorAll('.bd-article > section > section')]"
    page.wait_for_function(f"{sections}.every((section) => section.style.containIntrinsicBlockSize)")
    measured = page.evaluate("document.scrollingElement.scrollHeight")
    page.evaluate("document.documentElement.classList.add('lm-laid-out')")
    real = page.evaluate("document.scrollingElement.scrollHeight")
    assert abs(measured - real) < 0.01 * real
    assert abs(estimated - real) < 0.2 * real


@browser
def test_a_table_of_sentences_has_the_width_of_a_phone(visit):
    page = visit("book/errata.html", width=360)
    widths = page.locator("#errata td").evaluate_all("(cells) => cells.map((cell) => cell.offsetWidth)")
    assert len(widths) > 100
    assert min(widths) > 280
    page.set_viewport_size({"width": 1280, "height": 900})  # and there it is a table
    assert page.locator("#errata tbody tr").first.locator("td").nth(3).evaluate("(cell) => cell.offsetLeft") > 300


# The contrast of each plotted point with the page behind it.
POINTS = """[...document.querySelectorAll("figure.lm-plot svg use[style*='fill-opacity: 0.6']")].map((use) => {
  const numbers = (colour) => colour.match(/[\\d.]+/g).slice(0, 3).map(Number);
  const style = getComputedStyle(use), share = Number(style.fillOpacity);
  const ground = numbers(getComputedStyle(document.body).backgroundColor);
  const light = (colour) => colour.map((v) => v / 255)
    .map((v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4))
    .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0.05);
  const [a, b] = [numbers(style.fill).map((v, i) => share * v + (1 - share) * ground[i]), ground].map(light);
  return Math.max(a, b) / Math.min(a, b);
})"""


@browser
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_points_of_a_plot_stand_out_from_the_page(visit, scheme):
    found = visit(f"{LONG}.html", scheme=scheme).evaluate(POINTS)
    assert len(found) == 24
    assert min(found) >= 3


@browser
def test_a_guess_opens_the_answer_stands_beside_it_and_stays(visit):
    page = visit(f"{LONG}.html")
    answer, question = page.locator("#answer-1"), page.locator("#predict-1")
    assert not answer.locator(".lm-answer-body").is_visible()
    question.get_by_label("Your guess").fill("about 12")
    page.keyboard.press("Enter")
    assert answer.locator(".lm-answer-body").is_visible()
    assert "about 12" in answer.locator(".lm-yours").inner_text()
    page.reload()
    page.locator("#answer-1 .lm-yours strong").wait_for()
    assert "about 12" in answer.locator(".lm-yours").text_content()  # far away, nothing is laid out yet
    page.locator("#answer-1").get_by_role("button", name="Change it").click()
    assert not answer.locator(".lm-answer-body").is_visible()
    assert json.loads(page.evaluate("localStorage.getItem('lmbook')"))["guesses"] == {}


@browser
@pytest.mark.parametrize("place", ["summary", "further-reading"])
def test_a_link_of_the_contents_leads_to_its_heading_in_a_page_just_opened(visit, place):
    page = visit(f"{LONG}.html")
    page.locator(f'.bd-toc-nav a[href="#{place}"]').first.click()
    there = """(id) => {
      const top = document.getElementById(id).getBoundingClientRect().top;
      const bar = parseFloat(getComputedStyle(document.documentElement).scrollPaddingTop) || 0;
      const last = innerHeight + scrollY >= document.documentElement.scrollHeight - 2;
      return Math.abs(top - bar) <= 20 || (last && top > 0 && top < 900);
    }"""
    page.wait_for_function(there, arg=place, timeout=10_000)
    page.wait_for_timeout(500)  # and it stays there: what is laid out on the way moves nothing
    assert page.evaluate(there, place)


@browser
def test_the_contents_mark_the_section_that_is_read(visit):
    page = visit(f"{LONG}.html")
    marked = page.locator(".bd-toc-nav a.active").last
    for place in ("summary", "further-reading"):
        page.evaluate("(id) => document.getElementById(id).scrollIntoView({ behavior: 'instant' })", place)
        expect(marked).to_have_attribute("href", f"#{place}")
    page.evaluate("scrollTo({ top: 0, behavior: 'instant' })")
    expect(page.locator('.bd-toc-nav a.active[href="#summary"]')).to_have_count(0)


@browser
def test_what_is_kept_can_be_saved_deleted_and_brought_back(visit):
    page = visit("book/how-to-use.html")
    page.evaluate(
        """localStorage.setItem("lmbook", JSON.stringify({ guesses: { a: "b" }, answers: { c: 1, d: 0 } }))"""
    )
    page.reload()
    box = page.locator("#lm-kept")
    box.get_by_role("button", name="Save them").wait_for()
    assert "1 guess, 2 answers" in box.inner_text()
    with page.expect_download() as saved:
        box.get_by_role("button", name="Save them").click()
    text = Path(saved.value.path()).read_text()
    assert json.loads(text)["answers"] == {"c": 1, "d": 0}
    box.get_by_role("button", name="Delete them").click()
    stored = "localStorage.getItem('lmbook')"
    assert page.evaluate(stored) is None

    def bring(content, answer):
        """Waits for this file's own answer: what was said of the file before it still stands until then."""
        file = {"name": "mine.json", "mimeType": "application/json", "buffer": content.encode()}
        box.locator("input[type=file]").set_input_files(file)
        box.get_by_text(answer).wait_for()

    for wrong, why in (
        ("not json", "not JSON"),
        ("[1]", "no table"),
        ('{"guesses": {}}', "no answers"),
        (json.dumps({"guesses": {"a": 1}, "answers": {}, "read": {}}), "“a”"),
        (json.dumps({"guesses": {}, "answers": {"c": -1}, "read": {}}), "“c”"),
        (json.dumps({"guesses": {}, "answers": {}, "read": {"01": 7}}), "between 0 and 1"),
        ("x" * 1_000_001, "too long"),
    ):
        bring(wrong, why)
        assert "Nothing was changed" in box.inner_text()
    assert page.evaluate(stored) is None
    bring(text, "1 guess, 2 answers")
    assert "from mine.json" in box.inner_text()
    further = {"guesses": {"a": "z", "e": "f"}, "answers": {}, "read": {"01-chain-rule": 0.5}}
    bring(json.dumps(further), "2 guesses, 2 answers")
    kept = json.loads(page.evaluate(stored))
    assert kept["guesses"] == {"a": "z", "e": "f"}
    assert kept["answers"] == {"c": 1, "d": 0}
    assert kept["read"] == {"01-chain-rule": 0.5}


def the_way_to_the_text_is_short_and_named(page):
    page.wait_for_function("document.querySelector('button.copybtn')")
    names = page.locator("button.copybtn").evaluate_all("(all) => all.map((box) => box.getAttribute('aria-label'))")
    assert set(names) == {"Copy this code"}
    stops = """[...document.querySelectorAll("a[href], button, input, select, summary, [tabindex]")].filter((box) =>
      box.tabIndex >= 0 && box.checkVisibility() && box.getBoundingClientRect().width
      && box.compareDocumentPosition(document.querySelector("article")) & Node.DOCUMENT_POSITION_FOLLOWING).length"""
    assert page.evaluate(stops) <= 45
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


@browser
def test_a_chapter_by_keyboard_with_its_cards_and_on_paper(visit):
    page = visit(f"{LONG}.html")
    the_way_to_the_text_is_short_and_named(page)
    a_card_says_what_a_link_leads_to(page)
    paper_has_no_empty_boxes_and_the_answers_at_its_end(page)


@browser
def test_search_knows_abbreviations_and_begins_with_the_chapter_that_explains(visit):
    page = visit("search.html?q=BPE")
    page.locator("#search-results ul.search li").nth(1).wait_for()
    assert "notebooks/03-tokens" in page.locator("#search-results ul.search li a").first.get_attribute("href")
    asked = {"backprop": "05", "attention": "11", "perplexity": "02", "RoPE": "14", "layernorm": "15", "GPT": "17"}
    found = page.evaluate("(asked) => asked.map((query) => LM.find(query).results.at(-1)[0])", list(asked))
    assert [name[10:12] for name in found] == list(asked.values())
    assert page.evaluate("LM.find('BPE').results.length") > 5


@browser
def test_what_was_searched_is_marked_in_the_text_alone(visit):
    page = visit(f"{LONG}.html?highlight=transformers")
    page.locator("article .highlighted").first.wait_for()
    assert page.locator(".highlighted").count() == page.locator("article .highlighted").count()


@browser
def test_the_line_of_chapters_fits_a_phone(visit):
    page = visit("book/index.html", width=360)
    assert page.evaluate(CUT, ".lm-stations, .lm-station") == []
    boxes = page.locator(".sd-card").evaluate_all("(all) => all.map((card) => getComputedStyle(card).overflow)")
    assert set(boxes) == {"hidden"}
