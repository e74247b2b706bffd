"""Slides: from the chapter alone, whole, on one page that loads nothing, and each fits its frame."""

import re
from pathlib import Path

import nbformat
import pytest

from lmbook_press.book import Book, BookError
from lmbook_press.editions.slides import Deck, chapter, sentences, slides

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
    cells = nbformat.read(path, as_version=4).cells
    end = next((n for n, cell in enumerate(cells) if "{exercise}" in cell.source), len(cells))
    return "\n\n".join(cell.source for cell in cells[:end] if cell.cell_type == "markdown")


@pytest.mark.parametrize("path", SOME)
def test_a_chapter_is_there_and_nothing_is_loaded(path, made):
    page, source = made(path).read_text(encoding="utf-8"), before_the_exercises(path)
    shown = re.sub(r"<(style|script|pre|code|annotation)\b.*?</\1>", "", page, flags=re.DOTALL)
    assert not re.search(r'(?:src|href)="(?!#|data:)|url\((?!data:|#)|@import', re.sub(r"<a [^>]*>", "", page))
    assert not re.search(r"\{(?:glue|term|eq|cite|ref)\b|:::|\$\$|\{\{", shown)
    assert page.count(">Predict first</h2>") == source.count(":class: predict")
    assert (
        page.count(">Check yourself</h2>") == source.count("{self-check}") == page.count("Check yourself: the answer<")
    )
    assert "What you will be able to do" in page or path.stem.startswith("00")
    sources = "".join(cell.source for cell in nbformat.read(path, as_version=4).cells)
    drawn = set(re.findall(r'drawings.show\("([\w-]+)"', sources))
    assert set(re.findall(r'data-drawing="([\w-]+)"', page)) == drawn
    assert page.count("<section") > 15


@pytest.mark.browser
@pytest.mark.parametrize("path", SOME)
def test_every_slide_fits_and_the_print_has_a_page_for_each(path, made, page):
    asked = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(made(path).as_uri())
    over = """() => [...document.querySelectorAll("section .body")].filter((body) =>
      body.offsetTop + body.scrollHeight > 700 || body.scrollWidth > body.clientWidth + 1)
      .map((body) => body.parentElement.innerText.slice(0, 60))"""
    assert page.evaluate(over) == []
    assert asked == [made(path).as_uri()]
    count = page.locator("section").count()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    assert page.locator("section:visible").count() == 1
    page.keyboard.press("Escape")
    assert page.locator("section:visible").count() == count
    assert len(re.findall(rb"/Type\s*/Page\b", page.pdf(prefer_css_page_size=True))) == count


def test_a_sentence_is_not_cut_inside_a_formula():
    text = "Take $f(x). Y$ and `a. B`. Then e.g. Ann comes. “Why?” asks [Bob. C](x). It ends"
    assert sentences(text) == [
        "Take $f(x). Y$ and `a. B`.",
        "Then e.g. Ann comes.",
        "“Why?” asks [Bob. C](x).",
        "It ends",
    ]


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
