"""Where each objective of a chapter is practised and examined: exercises, questions of its homework, exam questions.

`book/objectives.toml` says it for exercises and homework, the bank for its questions.
"""

import re
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass

from lmbook_exams.bank import objectives, of_chapter
from lmbook_exams.question import Question
from lmbook_press.book import Book, BookError, markdown_of
from lmbook_press.editions.slides import chapter
from lmbook_press.exercises import Exercise, exercises

QUESTION = re.compile(r"^## (\d+)\. .* points?\)$", re.MULTILINE)  # of a homework that has points


@dataclass
class Trained:
    """An objective in the words of its chapter, and what asks for it; homework: numbers of questions."""

    words: str
    exercises: list[Exercise]
    homework: list[int]
    exam: list[Question]


def trained(book: Book, number: int) -> list[Trained]:
    """The objectives of a chapter; an exercise that is not listed, being new, practises none.

    Raises BookError where `book/objectives.toml` does not fit chapter or homework.
    """
    path = chapter(book, str(number))
    page = book.root / "notebooks" / "homework" / path.name
    there = {"exercises": exercises(path), "homework": [int(one) for one in QUESTION.findall(markdown_of(page))]}
    said = tomllib.loads((book.root / "book" / "objectives.toml").read_text("utf-8"))["chapter"].get(str(number), {})
    words = objectives(book, number)
    for what, items in there.items():
        if len(said.get(what, ())) > len(items):
            raise BookError(
                f"book/objectives.toml, chapter {number}: {len(said[what])} {what}, there are {len(items)}. "
                "Give one number of an objective, or a list of them, for each."
            )
        if strange := sorted({at for aims in said.get(what, ()) for at in _all(aims)} - set(range(1, len(words) + 1))):
            raise BookError(f"book/objectives.toml, chapter {number}: it has {len(words)} objectives, no {strange[0]}.")

    def of(what: str, at: int) -> list:
        return [one for one, aims in zip(there[what], said.get(what, ()), strict=False) if at in _all(aims)]

    asked = of_chapter(number)
    return [
        Trained(text, of("exercises", at), of("homework", at), [one for one in asked if one.objective == at])
        for at, text in enumerate(words, start=1)
    ]


def _all(aims: int | Sequence[int]) -> Sequence[int]:
    return [aims] if isinstance(aims, int) else aims
