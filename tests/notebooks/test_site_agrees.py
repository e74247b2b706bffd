"""The editions say what the site says: the same numbers for equations, and every link to the site leads somewhere."""

import re
from pathlib import Path

import pytest
from bs4 import BeautifulSoup

from lmbook_press.book import Book, anchor
from lmbook_press.colab import edition, glued
from lmbook_press.normalize import read

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def book() -> Book:
    return Book(ROOT, ref="0123abc")


@pytest.fixture(scope="module")
def built(site):
    """The parsed page at an address relative to the site; None for a page that is not there."""
    parsed: dict[str, BeautifulSoup | None] = {}

    def get(name: str) -> BeautifulSoup | None:
        if name not in parsed:
            path = site / name
            parsed[name] = BeautifulSoup(path.read_text(encoding="utf-8"), "lxml") if path.is_file() else None
        return parsed[name]

    return get


def name_of(book: Book, path: Path) -> str:
    return book.address(path).removeprefix(book.site)


def test_equations_have_the_numbers_of_the_site(book, built):
    assert len(book.equations) > 20
    wrong = []
    for label, (path, number) in book.equations.items():
        shown = built(name_of(book, path)).find(id=f"equation-{anchor(label)}")
        beside = shown and shown.select_one(".eqno")
        found = re.search(r"\(([\d.]+)\)", beside.get_text()) if beside else None
        if not found or found.group(1) != number:
            wrong.append((label, number, found and found.group(1)))
    assert wrong == []


def test_every_link_of_the_editions_to_the_site_leads_to_a_page_and_a_place(book, built):
    links = {
        link
        for path in book.chapters() + book.masters()
        for cell in edition(path, book).cells
        for link in re.findall(rf"\(({re.escape(book.site)}[^)\s]*)\)", cell.source)
    }
    assert len(links) > 30
    dead = []
    for link in links:
        name, _, place = link.removeprefix(book.site).partition("#")
        found = built(name)
        if found is None or (place and found.find(id=place) is None):
            dead.append(link)
    assert dead == []


def test_numbers_in_the_text_read_as_on_the_site(book, built):
    """A sentence with a number from a cell stands on the page word by word as in the edition."""
    looked = 0
    for path in book.chapters():
        if not glued(read(path)):
            continue
        shown = " ".join(built(name_of(book, path)).find("article").get_text().split())
        made = [cell.source for cell in edition(path, book).cells]
        for cell in read(path).cells:
            for before, after in re.findall(r"(\w+ \w+) \{glue:text\}`[^`]+` (\w+)", cell.source):
                number = re.search(rf"{before} (\S+) {after}", "\n".join(made))
                if number:
                    looked += 1
                    assert number.group() in shown
    assert looked > 3
