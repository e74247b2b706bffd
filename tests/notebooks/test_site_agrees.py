"""The editions say what the site says: the same numbers for equations, and every link to the site leads somewhere."""

import re
from functools import cache
from pathlib import Path

import pytest
from lxml import html

from lmbook_press.book import Book, anchor
from lmbook_press.editions.colab import edition, glued
from lmbook_press.normalize import read

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def book() -> Book:
    return Book(ROOT, ref="0123abc")


@pytest.fixture(scope="module")
def built(site):
    """The parsed page at an address relative to the site, and its elements by id; None for a page that is not there."""

    @cache
    def get(name: str) -> tuple[html.HtmlElement, dict[str, html.HtmlElement]] | None:
        path = site / name
        if not path.is_file():
            return None
        page = html.fromstring(path.read_text(encoding="utf-8"))
        return page, {box.get("id"): box for box in page.xpath("//*[@id]")}

    return get


@pytest.fixture(scope="module")
def editions(book) -> dict[Path, list[str]]:
    """Path of a chapter or master -> the cells of its Colab edition."""
    return {path: [cell.source for cell in edition(path, book).cells] for path in book.chapters() + book.masters()}


def name_of(book: Book, path: Path) -> str:
    return book.address(path).removeprefix(book.site)


def test_equations_have_the_numbers_of_the_site(book, built):
    assert len(book.equations) > 20
    wrong = []
    for label, (path, number) in book.equations.items():
        shown = built(name_of(book, path))[1].get(f"equation-{anchor(label)}")
        beside = shown.find_class("eqno") if shown is not None else []
        found = re.search(r"\(([\d.]+)\)", beside[0].text_content()) if beside else None
        if not found or found.group(1) != number:
            wrong.append((label, number, found and found.group(1)))
    assert wrong == []


def test_every_link_of_the_editions_to_the_site_leads_to_a_page_and_a_place(book, built, editions):
    links = {
        link
        for cells in editions.values()
        for cell in cells
        for link in re.findall(rf"\(({re.escape(book.site)}[^)\s]*)\)", cell)
    }
    assert len(links) > 30
    dead = []
    for link in links:
        name, _, place = link.removeprefix(book.site).partition("#")
        found = built(name)
        place = "" if place.startswith("figure=") else place  # a figure's state: tests/notebooks/test_states.py
        if found is None or (place and place not in found[1]):
            dead.append(link)
    assert dead == []


def test_numbers_in_the_text_read_as_on_the_site(book, built, editions):
    """A sentence with a number from a cell stands on the page word by word as in the edition."""
    looked = 0
    for path in book.chapters():
        notebook = read(path)
        if not glued(notebook):
            continue
        shown = " ".join(built(name_of(book, path))[0].find(".//article").text_content().split())
        made = "\n".join(editions[path])
        for cell in notebook.cells:
            for before, after in re.findall(r"(\w+ \w+) \{glue:text\}`[^`]+` (\w+)", cell.source):
                number = re.search(rf"{before} (\S+) {after}", made)
                if number:
                    looked += 1
                    as_shown = re.sub(r"(?<= )-(?=\d)", "−", number.group())  # the site's minus is a true one
                    assert as_shown in shown
    assert looked > 3
