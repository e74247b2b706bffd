"""Every answer with numbers, computed another way; and each of these checks can fail."""

from fractions import Fraction

import numpy as np
import pytest
from exam_answers import part_1, part_2, part_3, part_4, part_5

from lmbook_exams.bank import CHAPTERS, of_chapter

CHECKS = {name: check for part in (part_1, part_2, part_3, part_4, part_5) for name, check in vars(part).items()}
DRAWS = 2


def drawn_numbers(question, seed: int) -> dict:
    return question.ask(np.random.default_rng([seed, question.chapter])).numbers


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_the_answers_are_right(chapter):
    for one in of_chapter(chapter):
        for seed in range(DRAWS if one.drawn else 0):
            try:
                CHECKS[one.name](drawn_numbers(one, seed))
            except AssertionError as error:
                raise AssertionError(f"{one.name}, draw {seed}: {error}") from error


def wrong(value: object) -> object:
    """Another number in its place; a list with another first number; None for what is no number."""
    if isinstance(value, (int, float, Fraction)) and not isinstance(value, bool):
        return value + 1
    if isinstance(value, (list, tuple)) and value and (first := wrong(value[0])) is not None:
        return type(value)([first, *value[1:]])
    return None


def notices(name: str, numbers: dict, key: str) -> bool:
    other = wrong(numbers[key])
    try:
        if other is not None:
            CHECKS[name]({**numbers, key: other})
    except Exception:
        return True
    return False


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_a_wrong_number_is_seen(chapter):
    for one in of_chapter(chapter):
        numbers = drawn_numbers(one, 0) if one.drawn else {}
        last_first = reversed(numbers)  # answers stand behind what was drawn
        computed = one.drawn and one.kind != "shapes"  # where sizes are given, and the answer is their order
        assert not computed or any(notices(one.name, numbers, key) for key in last_first), one.name
