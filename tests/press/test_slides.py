"""Slides: from the chapter alone, whole, on one page that loads nothing, and each fits its frame."""

import re
from collections import Counter
from pathlib import Path

import nbformat
import pytest

from lmbook_press.book import Book, BookError
from lmbook_press.editions.code import MOST_LINES, marked
from lmbook_press.editions.slide import MOST_CORE, cut, inline, sentences, stacked
from lmbook_press.editions.slides import LONGEST_TITLE, Deck, chapter, slides

BOOK = Book.find(Path(__file__).parent)
CHAPTERS = sorted((BOOK.root / "notebooks").glob("[0-9]*.ipynb"))
# One chapter at every push; all of them once a week.
SOME = [
    pytest.param(path, id=path.stem, marks=() if path.stem[:2] == "06" else pytest.mark.weekly) for path in CHAPTERS
]


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """made(path): the page of a chapter, made once."""
    folder = tmp_path_factory.mktemp("slides")

    def page(path: Path) -> Path:
        out = folder / f"{path.stem}.html"
        if not out.exists():
            out.write_text(slides(path, BOOK), encoding="utf-8")
        return out

    return page


def before_the_exercises(path: Path) -> str:
    text = "\n\n".join(cell.source for cell in nbformat.read(path, as_version=4).cells if cell.cell_type == "markdown")
    return re.split(r"^(?:## Exercises$|:{3,}\{exercise\})", text, maxsplit=1, flags=re.MULTILINE)[0]


@pytest.mark.parametrize("path", SOME)
def test_a_chapter_is_there_and_nothing_is_loaded(path, made):
    page, source = made(path).read_text(encoding="utf-8"), before_the_exercises(path)
    plain = re.sub(r"<(style|script)\b.*?</\1>", "", page, flags=re.DOTALL)
    shown = re.sub(r"<(pre|code|annotation)\b.*?</\1>", "", plain, flags=re.DOTALL)
    assert not re.search(r'(?:src|href)="(?!#|data:)', re.sub(r"<a [^>]*>", "", plain))
    styles = "".join(re.findall(r"<style>(.*?)</style>", page, re.DOTALL))
    assert not re.search(r"url\((?![\"']?(?:data:|#))|@import", styles)
    assert not re.search(r"\{(?:glue|term|eq|cite|ref)\b|:::|\$\$|\{\{|\*\*", shown)
    assert page.count(">Predict first</h2>") == source.count(":class: predict")
    assert (
        page.count(">Check yourself</h2>") == source.count("{self-check}") == page.count("Check yourself: the answer<")
    )
    assert "What you will be able to do" in page or path.stem.startswith("00")
    sources = "".join(cell.source for cell in nbformat.read(path, as_version=4).cells)
    drawn = set(re.findall(r'drawings.show\("([\w-]+)"', sources))
    assert set(re.findall(r'data-drawing="([\w-]+)"', page)) == drawn
    assert page.count("<section") > 15


@pytest.mark.parametrize("path", SOME)
def test_the_core_is_a_meeting_and_questions_stay_with_their_answers(path):
    deck = Deck(nbformat.read(path, as_version=4), path, BOOK).read()
    stacks = cut(deck.slides)
    core = [slide for stack in stacks for slide in stack if slide.core]
    assert 12 <= len(core) <= MOST_CORE
    assert sum(map(len, stacks)) == len(deck.slides)
    assert all(not slide.core for stack in stacks for slide in stack[1:])
    asked = [slide for slide in core if slide.kind == "ask"]
    assert sum(slide.kind == "answer" for slide in core) >= len(asked) - 1
    checks = sum(slide.heading == "Check yourself" for slide in core)
    assert checks <= 2 or all(slide.core for slide in deck.slides if slide.kind == "formula"), "formulae come first"
    shown = "".join(part for slide in deck.slides for part in slide.parts)
    code = re.findall(r'<pre class="code">(.*?)</pre>', shown, re.DOTALL)
    assert max(part.strip().count("\n") + 1 for part in code) <= MOST_LINES
    told = [slide for slide in core if slide.kind not in ("ask", "answer")]
    assert all(len(slide.heading) <= LONGEST_TITLE for slide in told)
    assert [slide.heading for slide in told if not slide.claim] == []
    bare = [slide.heading for slide in core if slide.kind == "formula" and len(slide.parts) == 1]
    assert len(bare) <= 1, "a formula stands with the words that lead to it or explain it"
    assert len({slide.heading for slide in told}) == len(told)


def test_the_right_option_of_a_self_check_has_no_place_of_its_own():
    places = Counter()
    for path in CHAPTERS[::3]:
        for slide in Deck(nbformat.read(path, as_version=4), path, BOOK).read().slides:
            if slide.heading == "Check yourself: the answer":
                places.update(re.findall(r'class="right"><p><strong>(\w)', "".join(slide.parts)))
    assert min(places[letter] for letter in "ABC") / places.total() > 0.2, places


def test_a_tag_decides_for_its_cell():
    notebook = nbformat.read(CHAPTERS[6], as_version=4)
    first = Deck(notebook, CHAPTERS[6], BOOK).read().slides
    for cell in notebook.cells:
        if cell.cell_type == "code" and any("lm-plot" in str(output) for output in cell.outputs):
            cell.metadata.tags = [*cell.metadata.get("tags", []), "slide-below"]
    cut(slides := Deck(notebook, CHAPTERS[6], BOOK).read().slides)
    assert len(slides) == len(first)
    plots = [slide for slide in slides if "lm-plot" in "".join(slide.parts) and "data-drawing" not in str(slide.parts)]
    assert plots
    assert not any(slide.core for slide in plots if slide.kind != "answer")


def test_a_title_is_that_of_the_cell_and_none_is_lost():
    notebook = nbformat.read(CHAPTERS[6], as_version=4)
    cell = next(cell for cell in notebook.cells if "slides" in cell.metadata)
    cell.metadata.slides.titles[0] = "Told"
    assert "Told" in [slide.heading for slide in Deck(notebook, CHAPTERS[6], BOOK).read().slides]
    cell.metadata.slides.titles += ["Nowhere"] * 9
    with pytest.raises(BookError, match="no slide begins for the title 'Nowhere'"):
        Deck(notebook, CHAPTERS[6], BOOK).read()


def test_the_marked_lines_of_a_code_are_shown():
    code = "a\nif b:\n    c\n    d\n    e\nf"
    assert marked(code, "1-2, 4-5") == "a\nif b:\n    ...\n    d\n    e\n..."
    assert marked(code, "2-6") == "...\nif b:\n    c\n    d\n    e\nf"


@pytest.fixture
def stage(made, new_context):
    """stage(path, width, height, query): a deck on stage, and what it asked the network for."""

    def opened(path: Path, width: int = 1280, height: int = 720, query: str = ""):
        page, asked = new_context(viewport={"width": width, "height": height}).new_page(), []
        page.on("request", lambda request: asked.append(request.url))
        page.goto(made(path).as_uri() + query)
        page.wait_for_function("window.Reveal && Reveal.isReady()")
        return page, asked

    return opened


EACH = "Reveal.getSlides().forEach((slide) => { const at = Reveal.getIndices(slide); Reveal.slide(at.h, at.v, 99); "


@pytest.mark.browser
@pytest.mark.parametrize("size", [(1280, 720), (1920, 1080)])
@pytest.mark.parametrize("path", SOME)
def test_on_stage_nothing_is_cut_and_nothing_is_tiny(path, stage, size):
    page, asked = stage(path, *size)
    cut_off = page.evaluate(
        "() => { const found = [];"
        + EACH
        + """const body = slide.querySelector(".body");
        if (body && !body.querySelector(".lm-figure")) {
          const words = slide.innerText.slice(0, 60), below = body.getBoundingClientRect().bottom - innerHeight;
          if (below > 1 || body.scrollWidth > body.clientWidth + 1) found.push(`${below} px below: ${words}`);
            const texts = document.createTreeWalker(body, NodeFilter.SHOW_TEXT);
          while (texts.nextNode()) {
            const box = texts.currentNode.parentElement, matrix = box.closest("svg") && box.getScreenCTM?.();
            const first = box.matches("tspan[x]") ? box.parentElement.querySelector("tspan[x]") : box; // of an exponent
            const exponent = parseFloat(getComputedStyle(box).fontSize) < parseFloat(getComputedStyle(first).fontSize);
            const silent = exponent || box.closest(".katex, annotation, style, title, desc, details, sub, sup");
            if (!texts.currentNode.data.trim() || silent) continue;
            if (!box.checkVisibility() || !box.getBoundingClientRect().width) continue;
            const size = parseFloat(getComputedStyle(box).fontSize) * (matrix ? Math.hypot(matrix.b, matrix.d) : 1);
            if (size < 17.9) found.push(`${size} px: ${texts.currentNode.data.slice(0, 30)} in ${words}`);
          }
          for (const formula of body.querySelectorAll(".katex-html")) {
            const size = parseFloat(getComputedStyle(formula).fontSize);
            if (size < 24 && formula.getBoundingClientRect().width) found.push(`a formula of ${size} px: ${words}`);
          }
          const last = body.lastElementChild; // nothing leads to what stands on another slide
          if (/[:,]$/.test(last.textContent.trim()) && !last.querySelector(".katex-display"))
            found.push(`leads away: ${words}`);
          for (const part of body.querySelectorAll(".lm-drawing :is(text, tspan)"))
            if (part.style.display === "none") found.push(`${part.textContent} is not shown: ${words}`);
          for (const svg of body.querySelectorAll(".panels svg")) { // words above a picture stand on one line
            const upright = [...svg.querySelectorAll("text")].filter((text) => Math.abs(text.getScreenCTM().a) < 0.01);
            const ends = upright.map((text) => text.getBoundingClientRect().bottom);
            if (ends.length > 4 && Math.max(...ends) - Math.min(...ends) > 60) found.push(`letters inside: ${words}`);
          }
        }}); return found; }"""
    )
    assert cut_off == []
    assert not [url for url in asked if not url.startswith(("file:", "data:", "blob:"))]


LEAST_LETTERS = 18  # pixels on a stage of 1280
WHOLE = """() => { const slide = Reveal.getCurrentSlide(), body = slide.querySelector(".body"), found = [];
  const figure = body.querySelector(".lm-figure"), texts = document.createTreeWalker(figure, NodeFilter.SHOW_TEXT);
  if (body.scrollHeight > body.clientHeight + 1 || body.scrollWidth > body.clientWidth + 1)
    found.push(`${body.scrollWidth} x ${body.scrollHeight} in ${body.clientWidth} x ${body.clientHeight}`);
  if (body.getBoundingClientRect().bottom > innerHeight) found.push("below the stage");
  while (texts.nextNode()) {
    const box = texts.currentNode.parentElement, matrix = box.closest("svg") && box.getScreenCTM?.();
    if (!texts.currentNode.data.trim() || box.closest("style, title, desc, details, option, sub, sup")) continue;
    if (!box.checkVisibility({ visibilityProperty: true }) || box.getBoundingClientRect().width < 2) continue;
    const scale = matrix ? Math.hypot(matrix.b, matrix.d) : figure.currentCSSZoom;
    const size = parseFloat(getComputedStyle(box).fontSize) * scale;
    if (size < LEAST) found.push(`${size} px: ${texts.currentNode.data.slice(0, 30)}`);
  }
  return found; }""".replace("LEAST", str(LEAST_LETTERS - 0.1))


@pytest.mark.browser
@pytest.mark.parametrize("path", SOME)
def test_a_living_figure_is_whole_on_its_slide_before_and_after_the_bet(path, stage):
    page, _ = stage(path)
    living = "Reveal.getSlides().filter((slide) => slide.querySelector('.lm-figure'))"
    for at in page.evaluate(f"{living}.map((slide) => Reveal.getIndices(slide))"):
        page.evaluate("(at) => Reveal.slide(at.h, at.v)", at)
        figure = page.locator("section.present > .body > .lm-figure")
        page.wait_for_function("Reveal.getCurrentSlide().querySelector('.lm-figure').dataset.live === 'true'")
        page.wait_for_function("Reveal.getCurrentSlide().querySelector('.body').dataset.settled === 'true'")
        parts = page.locator("section.present > .parts button")
        for part in parts.all() or [None]:
            if part:
                part.click()
            assert page.evaluate(WHOLE) == [], figure.get_attribute("data-module")
        if parts.count():
            page.evaluate("document.activeElement.blur()")
            page.keyboard.press("1")
            assert parts.first.get_attribute("aria-pressed") == "true"
        for skip in figure.get_by_role("button", name="Skip", exact=True).all()[:1]:
            if skip.is_visible():
                skip.click()
                page.wait_for_function(f"({WHOLE})().length === 0")  # the figure is fitted anew


@pytest.mark.browser
def test_slides_have_addresses_keys_notes_and_living_figures(stage):
    page, _ = stage(CHAPTERS[6])
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    page.wait_for_function("location.hash.startsWith('#/2')")
    figure = page.locator(".slides section.present figure.lm-figure:visible").first
    figure.locator(".lm-controls, button, input, select").first.wait_for()
    here = page.evaluate("location.hash")
    figure.locator("button:visible, input:visible, select:visible").first.focus()  # a slide leaves some out
    page.keyboard.press("ArrowRight")
    assert page.evaluate("location.hash") == here, "a key in a figure is the figure's"
    figure.click(modifiers=["Alt"], position={"x": 300, "y": 200})
    page.wait_for_function("document.body.getBoundingClientRect().width > 1.9 * innerWidth")
    exponent = "getComputedStyle(document.querySelector('.slides').appendChild(document.createElement('sup')))"
    assert page.evaluate(f"{exponent}.verticalAlign") == "super", "not on the line of its base"
    page.reload()
    page.wait_for_function("window.Reveal && Reveal.isReady()")
    assert page.evaluate("Reveal.getIndices().h") == 2, "a reload stays"
    page.evaluate("document.activeElement.blur()")
    with page.expect_popup() as opened:
        page.keyboard.press("s")
    notes = opened.value
    notes.locator(".speaker-controls-notes").wait_for(state="attached")
    assert notes.locator(".clock-value").count() == 1


@pytest.mark.browser
def test_the_print_has_a_page_for_each_slide(stage):
    page, _ = stage(CHAPTERS[6], query="?view=print")
    page.wait_for_function("document.querySelectorAll('.pdf-page').length > 20")
    count = page.locator(".pdf-page").count()
    assert len(re.findall(rb"/Type\s*/Page\b", page.pdf(prefer_css_page_size=True))) == count
    assert count >= page.evaluate("Reveal.getTotalSlides()")


def test_a_heading_with_a_number_is_no_list():
    assert inline("1. Numbers") == "1. Numbers"


def test_a_sentence_is_not_cut_inside_a_formula():
    text = "Take $f(x). Y$ and `a. B`. Then e.g. Ann comes. “Why?” asks [Bob. C](x). It ends"
    assert sentences(text) == [
        "Take $f(x). Y$ and `a. B`.",
        "Then e.g. Ann comes.",
        "“Why?” asks [Bob. C](x).",
        "It ends",
    ]


def test_parts_of_a_long_formula_stand_below_each_other():
    long = (
        "$$\nx = \\frac{a}{b} + \\sum_{i=1}^{n} w_i z_i, \\qquad y = \\operatorname{softmax}(W h + b)\n\\tag{1.2}\n$$"
    )
    parts = stacked(long).split("\n")
    assert parts[1] == r"\begin{gathered}"
    assert parts[2].endswith("\\\\[0.5em]")
    assert parts[3].startswith("y = ")
    assert parts[5] == r"\tag{1.2}"
    assert stacked(long.replace("\\qquad", "\\quad")) == long.replace("\\qquad", "\\quad")
    inside = long.replace("\\frac{a}{b}", "\\text{a \\qquad b}")
    assert stacked(inside) == inside, "a part is never cut inside its braces"


def test_a_wide_formula_has_a_row_for_each_pair_of_columns_or_line_of_its_source():
    short, long = "a &= b, & c &= d", "softmax(x) &= y_1 + y_2 + y_3 + y_4 + y_5 + y_6, & normalised(x) &= (x - m) / s"
    aligned = "$$\n\\begin{aligned}\n%s \\\\\ne &= f\n\\end{aligned}\n\\tag{1.3}\n$$"
    assert stacked(aligned % short) == aligned % short
    assert stacked(aligned % long) == aligned % long.replace(", & ", ", \\\\\n")
    parts = "f(x, y, z) = a_1 b_1 + a_2 b_2 + a_3 b_3", "= (c_1 d_1 + c_2 d_2) / 2", "+ e_1 + e_2 + e_3 + e_4"
    lines = "\n".join(["$$", *parts, r"\tag{1.4}", "$$"])
    rows = stacked(lines).split("\n")
    assert rows[1] == r"\begin{aligned}"
    assert rows[3:5] == [r"&\quad = (c_1 d_1 + c_2 d_2) / 2 \\", r"&\quad + e_1 + e_2 + e_3 + e_4"]
    assert rows[6] == r"\tag{1.4}"
    assert stacked(lines.replace("+ a_2 b_2 + a_3 b_3", "")) == lines.replace("+ a_2 b_2 + a_3 b_3", "")


def test_a_wide_formula_of_one_line_has_a_row_for_each_equation_or_is_cut_at_a_plus():
    wide = r"f(x, y) &= (a_1 b_1 + a_2 b_2 + a_3 b_3) c_1 c_2 \\ &= d_1 d_2 d_3 + e_1 e_2 e_3 + g_1 g_2 g_3"
    one = "$$\n" + wide.replace("&", "").replace(r"\\ ", "") + "\n\\tag{1.5}\n$$"
    assert " ".join(stacked(one).split()) == rf"$$ \begin{{aligned}} {wide} \end{{aligned}} \tag{{1.5}} $$"
    plus = stacked("$$\nn = (a_1 + a_2 + a_3)\\,d + L\\,(b_1 c_1 d_1 + b_2 c_2 d_2 + b_3 c_3 d_3 + b_4 c_4 d_4)uv\n$$")
    assert "d \\\\\n&\\quad + L" in plus, "and not inside the brackets"
    over = "$$\nx = \\frac{a_1 + b_1 + c_1 + d_1 + e_1 + f_1 + g_1}{a_2 + b_2 + c_2 + d_2 + e_2 + f_2 + g_2} + 1\n$$"
    assert stacked(over) == over, "a fraction is as wide as its longer half"
    text = "$$\n[a_1, a_2, a_3, a_4, a_5) = [b_1, b_2, b_3, b_4, b_5) = c_1 c_2 c_3 c_4 \\quad\\text{for } i = 1\n$$"
    assert stacked(text).count("\\\\") == 1, "what stands behind belongs to the whole"


def test_what_explains_a_formula_stands_below_it_and_nothing_that_leads_away():
    texts = ["# T\n\n## S\n\nWords.\n\n$$\na = b\n$$\n\nHere $b$ is small. See the next cell.\n\n## U\n\nMore."]
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_markdown_cell(text) for text in texts])
    (formula,) = (one for one in Deck(notebook, CHAPTERS[6], BOOK).read().slides if one.kind == "formula")
    assert "is small." in formula.parts[-1]
    assert "next cell" not in "".join(formula.parts)


def test_a_chapter_has_a_number_or_a_name():
    assert chapter(BOOK, "6") == chapter(BOOK, "06") == chapter(BOOK, "06-recurrent-lm")
    with pytest.raises(BookError, match="There is no chapter 99; there are 00-warm-up"):
        chapter(BOOK, "99")


def test_what_answers_a_prediction_stands_behind_it():
    deck = Deck(nbformat.read(CHAPTERS[6], as_version=4), CHAPTERS[6], BOOK).read()
    asked = [number for number, slide in enumerate(deck.slides) if slide.heading == "Predict first"]
    assert asked
    for number in asked:
        following = [slide.kind for slide in deck.slides[number + 1 :]]
        assert "answer" in following[:4]
        assert not deck.slides[number].parts[1:]
