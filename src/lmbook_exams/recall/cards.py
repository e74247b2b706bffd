"""Questions to be asked again: one source for the page "Today" and for the Anki deck.

They come from the chapters' self-checks and exercises (open ones, "explore", stay out), from the glossary in both
directions, and from the exam bank with one draw of its numbers each.  Nothing of a homework is read.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from zlib import crc32

import numpy as np

from lmbook_exams.bank import CHAPTERS, of_chapter
from lmbook_exams.exports import parted
from lmbook_press.book import Book, markdown_of, term_anchor
from lmbook_press.editions.colab import glued
from lmbook_press.myst import DIRECTIVE, FENCES, blocks, choices, options_of
from lmbook_press.myst_blocks import PlainMarkdown
from lmbook_press.normalize import read

KINDS = ("self-check", "exercise", "glossary", "exam question")
LINKED = re.compile(r"\{term\}`([^`<]*?)(?:\s*<([^>]+)>)?`")


@dataclass(frozen=True)
class Card:
    """A question and its answer in Markdown, and where the book treats it: an address below the site's.

    id: stays while the question does, whatever else is added.
    """

    id: str
    chapter: int
    kind: str
    front: str
    back: str
    where: str


def cards(book: Book) -> list[Card]:
    """All of them, chapter by chapter; the kinds of a chapter are mixed, the same way each time."""
    found = [*_of_chapters(book), *_of_glossary(book), *cards_of_exams(book)]
    return sorted(found, key=lambda card: (card.chapter, _digest(card.id)))


def _digest(text: str) -> str:
    return sha256(text.encode()).hexdigest()[:10]


def _address(book: Book, path: Path, place: str = "") -> str:
    return book.address(path).removeprefix(book.site) + (f"#{place}" if place else "")


def _of_chapters(book: Book) -> Iterator[Card]:
    for path in book.chapters():
        yield from _Chapter(book, path).read()


class _Chapter:
    """Goes through a chapter cell by cell, and holds the exercise that is being read."""

    def __init__(self, book: Book, path: Path):
        self.book, self.path, self.notebook = book, path, read(path)
        self.markup = PlainMarkdown(book, path, glued(self.notebook))
        self.label, self.explore, self.checks = "", False, 0
        self.front: list[str] = []
        self.back: list[str] | None = None  # None until the solution begins

    def read(self) -> Iterator[Card]:
        for number, cell in enumerate(self.notebook.cells, start=1):
            if cell.cell_type == "markdown":
                for kind, token, _, lines in blocks(cell.source):
                    yield from self._block(kind, token, "\n".join(lines), number)
            elif cell.cell_type == "code" and self.label:
                self._add(_shown(cell))

    def _add(self, text: str) -> None:
        if text.strip():
            (self.front if self.back is None else self.back).append(text.strip("\n"))

    def _card(self, id: str, kind: str, front: str, back: str, place: str) -> Card:
        where = _address(self.book, self.path, place)
        return Card(id, int(self.path.name[:2]), kind, front, back, where)

    def _block(self, kind: str, token, text: str, number: int) -> Iterator[Card]:
        name, title = found.groups() if kind in FENCES and (found := DIRECTIVE.match(token.info)) else ("", "")
        if name == "self-check":
            self.checks += 1
            yield self._check(title, options_of(token)[1], number)
        elif name == "exercise":
            options, body = options_of(token)
            self.label, self.explore = options["label"], "explore" in title
            self.front, self.back = [self.markup.convert("\n".join(body), number)], None
        elif name == "solution-start":
            self.back = []
        elif name == "solution-end":
            if not self.explore:
                front, back = "\n\n".join(self.front), "\n\n".join(self.back or ())
                yield self._card(self.label, "exercise", front, back, self.label)
            self.label = ""
        elif self.label:
            self._add(self.markup.convert(text, number))

    def _check(self, question: str, body: list[str], number: int) -> Card:
        said = lambda lines: self.markup.convert("\n".join(lines), number)  # noqa: E731
        front, right, wrong = [said([question])], [], []
        for letter, (is_right, _, option, why) in zip("ABCDEFGH", choices(body), strict=False):
            front.append(f"**{letter}.** {said(option)}")
            (right if is_right else wrong).append(f"**{letter}{' is right' if is_right else ''}.** {said(why)}")
        id = f"check-{_digest(self.path.stem + question)}"
        return self._card(id, "self-check", "\n\n".join(front), "\n\n".join(right + wrong), f"check-{self.checks}")


def _shown(cell) -> str:
    """What a page shows of a code cell: its code, unless that is folded, and what it printed."""
    parts = []
    if not {"hide-input", "remove-input", "remove-cell"} & set(cell.metadata.get("tags", ())):
        parts.append(f"```python\n{cell.source}\n```")
    printed = "".join(output.text for output in cell.outputs if output.output_type == "stream")
    return "\n\n".join(parts + ([f"```text\n{printed.rstrip()}\n```"] if printed.strip() else []))


def _of_glossary(book: Book) -> Iterator[Card]:
    """What a term means, and which term has this meaning."""
    path = book.root / "book" / "glossary.md"
    markup, home = PlainMarkdown(book, path), homes(book)
    for term, meaning in entries(markdown_of(path)):
        said, anchor = markup.convert(meaning), term_anchor(term)
        about = (home[term.lower()], "glossary")
        where = _address(book, path, anchor)
        yield Card(anchor, *about, f"What does **{term}** mean?", said, where)
        hidden = re.sub(rf"\b{re.escape(term)}(?:s|ing)?\b", "…", said, flags=re.IGNORECASE)
        yield Card(f"name-{anchor}", *about, f"Which term is meant?\n\n{hidden}", f"**{term}**\n\n{said}", where)


def entries(page: str) -> list[tuple[str, str]]:
    """(term, meaning) of the glossary, in its order."""
    inside = page.partition("```{glossary}\n")[2].partition("\n```")[0]
    parts = re.findall(r"^(\S.*)\n((?:[ \t]+.*\n?|\n)+)", inside + "\n", re.MULTILINE)
    return [(term.strip(), "\n".join(line.strip() for line in text.strip().split("\n"))) for term, text in parts]


def homes(book: Book) -> dict[str, int]:
    """Term of the glossary -> the first chapter that links it; else the one that says it most; else the last one."""
    texts = {book.chapter_number(path): markdown_of(path) for path in book.chapters()}
    found: dict[str, int] = {}
    for number, text in texts.items():
        for shown, target in LINKED.findall(text):
            found.setdefault((target or shown).lower(), number)
    spoken = {number: text.lower() for number, text in texts.items()}
    for term in book.terms.keys() - found.keys():
        most = max(spoken, key=lambda number: spoken[number].count(term))
        found[term] = most if term in spoken[most] else max(spoken)
    return found


def cards_of_exams(book: Book) -> Iterator[Card]:
    pages = {book.chapter_number(path): path for path in book.chapters()}
    for number in CHAPTERS:
        for question in of_chapter(number):
            asked = question.ask(np.random.default_rng(crc32(question.name.encode())))
            front, back = parted(asked.text), parted(asked.solution)
            yield Card(f"exam-{question.name}", number, "exam question", front, back, _address(book, pages[number]))
