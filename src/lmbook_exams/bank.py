"""The bank: every question by its chapter and by its name."""

from functools import cache
from importlib import import_module

from lmbook_exams.question import Question

CHAPTERS = range(1, 20)


@cache
def of_chapter(number: int) -> tuple[Question, ...]:
    """The questions of a chapter, in the order of its file."""
    found = vars(import_module(f"lmbook_exams.questions.chapter_{number:02d}"))
    return tuple(one for one in found.values() if isinstance(one, Question))


def chapters_of(text: str) -> list[int]:
    """The chapters in "1-5,7".  Raises ValueError with what is wrong."""
    numbers: set[int] = set()
    for part in text.split(","):
        first, dash, last = (piece.strip() for piece in part.partition("-"))
        if not (first.isdigit() and (last.isdigit() or not dash)) or (dash and int(first) > int(last)):
            raise ValueError(f"--chapters {text}: write numbers and ranges like 1-5 or 2,4,7-9.")
        numbers |= set(range(int(first), int(last or first) + 1))
    if strange := sorted(numbers - set(CHAPTERS)):
        there = f"there are questions for chapters {CHAPTERS[0]} to {CHAPTERS[-1]}"
        raise ValueError(f"--chapters {text}: {there}, none for {strange[0]}.")
    return sorted(numbers)


def by_name(name: str) -> Question:
    """One question.  Raises ValueError where there is none of that name."""
    found = [one for number in CHAPTERS for one in of_chapter(number) if one.name == name]
    if not found:
        raise ValueError(f"There is no question {name}: `lmbook exam list` names all that there are.")
    return found[0]
