"""The index of the book on paper: terms of the glossary, names of code, and headings, each with its pages.

A term stands at the glossary, where the text links it to that, and where a section speaks of it again and again; a name
at the sections whose code or text uses it; a heading at its section.
"""

import inspect
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from importlib import import_module

import lmbook
from lmbook_press.editions.articles import Page, heading

GLOSSARY, CHAPTERS, TERM = "book/glossary", "notebooks/", "#book-glossary--term-"
STANDARD = {"exercises", "summary", "further reading", "homework", "compare with the paper"}
SENTENCE = re.compile(
    r"\?$|^(What|Where|Why|How|By|Follow|Look|On|All|From|With|It|Does|Is|Can|To|In|Read|Now|Do|\d+)\b"
)
ARTICLE = re.compile(r"^(A|An|The) (?=\w)")
LONGEST = 5  # words of a heading that is an entry; a longer one is a sentence
COMMON = 8  # chapters; what a library has and more of them use says nothing
OFTEN, MOST = 3, 4  # so often a section must name a term, and so many such sections stand for all
NAME = re.compile(r"\b(?:torch|nn|F)\.[a-z]\w*(?:\.\w+)*|\bnn\.[A-Z]\w+|\b[A-Za-z_]\w*\b")
LIBRARY = re.compile(r"(torch|nn|F)\.")
SHORT = (
    ("torch.nn.functional.", "F."),
    ("nn.functional.", "F."),
    ("torch.nn.", "nn."),
)  # one name for each thing: chapters import both
PART_OF_NAME = re.compile(r"(?<=[._])(?=\w)")  # where a long name may go on on the next line


@dataclass
class Entry:
    """One line: what it says, whether it is code, and the ids of its places in their order."""

    words: str
    code: bool = False
    places: list[str] = field(default_factory=list)

    def at(self, place: str | None) -> None:
        if place and place not in self.places:
            self.places.append(place)


def _plain(name: str) -> str:
    """A name as the index has it."""
    return next((short + name.removeprefix(long) for long, short in SHORT if name.startswith(long)), name)


def _section(element) -> str | None:
    """The id of the section that an element stands in."""
    return next((up.get("id") for up in element.iterancestors("section") if up.get("id")), None)


def names() -> set[str]:
    """The names of the lesson's classes and functions."""
    modules = [import_module(f"lmbook.{name}") for name in lmbook.READING_ORDER]
    found = [(name, value, module) for module in modules for name, value in vars(module).items()]
    return {
        name
        for name, value, module in found
        if name[0] != "_" and getattr(value, "__module__", "") == module.__name__
        if inspect.isclass(value) or (inspect.isfunction(value) and len(name) > 3)
    }


def _own_words(page: Page) -> Iterator[tuple[str, str]]:
    """(id, text) of each section, without the sections in it and without formulae and code."""
    for section in page.body.iter("section"):
        if section.get("id"):
            inside = "self::section or self::pre or self::svg or contains(@class, 'katex')"
            path = f".//text()[not(ancestor::*[{inside}][ancestor::section[@id=$own]])]"
            yield section.get("id"), " ".join(section.xpath(path, own=section.get("id")))


def _terms(pages: list[Page]) -> list[Entry]:
    found = {
        f"#{term.get('id')}": Entry(" ".join(term.text_content().split()), places=[term.get("id")])
        for page in pages
        if page.name == GLOSSARY
        for term in page.body.iter("dt")
    }
    chapters = [page for page in pages if page.name.startswith(CHAPTERS)]
    for page in chapters:
        for link in page.body.iter("a"):
            if link.get("href", "") in found:
                found[link.get("href")].at(_section(link))
    texts = [one for page in chapters for one in _own_words(page)]
    for entry in found.values():
        spoken = re.compile(rf"\b{re.escape(entry.words)}(?:s|es)?\b", re.IGNORECASE)
        count = Counter({place: len(spoken.findall(text)) for place, text in texts})
        for place, often in count.most_common(MOST):
            if often >= OFTEN:
                entry.at(place)
    return list(found.values())


def _code(pages: list[Page]) -> list[Entry]:
    found: dict[str, Entry] = {}
    known = names()
    for page in pages:
        for snippet in page.body.iter("code", "pre") if page.name.startswith(CHAPTERS) else ():
            for name in sorted(set(map(_plain, NAME.findall(snippet.text_content())))):
                if name in known or LIBRARY.match(name):
                    entry = found.setdefault(name, Entry(name, code=True))
                    if not any(place.startswith(f"{page.slug}--") for place in entry.places):
                        entry.at(_section(snippet))  # one place a chapter
    return [entry for entry in found.values() if not LIBRARY.match(entry.words) or len(entry.places) <= COMMON]


def _headings(pages: list[Page]) -> list[Entry]:
    found: dict[str, Entry] = {}
    for page in pages:
        for section in page.body.iter("section") if page.name.startswith(CHAPTERS) else ():
            words = heading(section)
            if words and len(words.split()) <= LONGEST and words.lower() not in STANDARD and not SENTENCE.search(words):
                words = ARTICLE.sub("", words)
                found.setdefault(words.casefold(), Entry(words[0].upper() + words[1:])).at(section.get("id"))
    return list(found.values())


def entries(pages: Iterable[Page], numbers: dict[str, int]) -> list[dict]:
    """The entries by the alphabet: words, their parts, code, and places, each with its page where that is known.

    Of places on one page the first stands for all.  first: whether an entry is the first with its letter.
    """
    pages = list(pages)
    found: dict[str, Entry] = {}
    for entry in [*_terms(pages), *_code(pages), *_headings(pages)]:
        first = found.setdefault(f"{entry.code} {entry.words.casefold()}", entry)
        for place in entry.places:
            first.at(place)
    every = sorted(found.values(), key=lambda entry: (entry.words.casefold(), entry.words))
    letters = [one.words[0].casefold() for one in every]
    return [
        {
            "words": one.words,
            "parts": PART_OF_NAME.split(one.words) if one.code else [one.words],
            "code": one.code,
            "first": letter != before,
            "places": _numbered(one.places, numbers),
        }
        for one, letter, before in zip(every, letters, ["", *letters], strict=False)
    ]


def _numbered(places: list[str], numbers: dict[str, int]) -> list[tuple[str, int | None]]:
    found: dict[object, tuple[str, int | None]] = {}
    for place in places:
        found.setdefault(numbers.get(place, place), (place, numbers.get(place)))
    return sorted(found.values(), key=lambda one: one[1] or 0)
