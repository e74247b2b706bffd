"""The bank: every question by its chapter, kind, level and name, and the objective of the chapter that it examines."""

import re
from collections.abc import Sequence
from functools import cache
from importlib import import_module

from lmbook_exams.question import KINDS, Question
from lmbook_press.book import Book, markdown_of

CHAPTERS = range(1, 24)
AIMS = re.compile(r"^:::\{admonition\} What you will be able to do\n((?:- .+\n)+)", re.MULTILINE)


@cache
def of_chapter(number: int) -> tuple[Question, ...]:
    """The questions of a chapter, in the order of its file."""
    found = vars(import_module(f"lmbook_exams.questions.chapter_{number:02d}"))
    return tuple(one for one in found.values() if isinstance(one, Question))


def chapters_of(text: str) -> list[int]:
    """The chapters in "1-5,7".  Raises ValueError with what is wrong."""
    return numbers_of(text, CHAPTERS, "--chapters", "questions for chapters")


def numbers_of(text: str, there: Sequence[int], option: str, what: str) -> list[int]:
    """The numbers in "1-5,7", all of them in a range.  Raises ValueError with what is wrong."""
    numbers: set[int] = set()
    for part in text.split(","):
        first, dash, last = (piece.strip() for piece in part.partition("-"))
        if not (first.isdigit() and (last.isdigit() or not dash)) or (dash and int(first) > int(last)):
            raise ValueError(f"{option} {text}: write numbers and ranges like 1-5 or 2,4,7-9.")
        numbers |= set(range(int(first), int(last or first) + 1))
    if strange := sorted(numbers - set(there)):
        raise ValueError(f"{option} {text}: there are {what} {there[0]} to {there[-1]}, none for {strange[0]}.")
    return sorted(numbers)


def kinds_of(text: str) -> set[str]:
    """The kinds in "bug,what if".  Raises ValueError for what is none."""
    kinds = {part.strip() for part in text.split(",")}
    if strange := sorted(kinds - set(KINDS)):
        raise ValueError(f"--kinds {text}: {strange[0]!r} is no kind of question; there are {', '.join(KINDS)}.")
    return kinds


def selected(chapters: str, kinds: str = ",".join(KINDS), levels: str = "1-3") -> list[Question]:
    """The questions of these chapters, kinds and levels.  Raises ValueError with what is wrong."""
    wanted, of_level = kinds_of(kinds), numbers_of(levels, range(1, 4), "--levels", "levels")
    there = [one for number in chapters_of(chapters) for one in of_chapter(number)]
    found = [one for one in there if one.kind in wanted and one.level in of_level]
    if not found:
        raise ValueError(
            f"No question of chapters {chapters} is of kind {kinds} and level {levels}: allow more of them."
        )
    return found


def objectives(book: Book, number: int) -> list[str]:
    """What a reader of the chapter will be able to do, as the list at its top says it."""
    (path,) = (book.root / "notebooks").glob(f"{number:02d}-*.ipynb")
    return [line.rstrip(";.") for line in AIMS.search(markdown_of(path))[1].strip().removeprefix("- ").split("\n- ")]


def by_name(name: str) -> Question:
    """One question.  Raises ValueError where there is none of that name."""
    found = [one for number in CHAPTERS for one in of_chapter(number) if one.name == name]
    if not found:
        raise ValueError(f"There is no question {name}: `lmbook exam list` names all that there are.")
    return found[0]
