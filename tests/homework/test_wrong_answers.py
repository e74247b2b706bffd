"""Listed wrong answers get the listed points: a check that lets one of them pass is no check."""

import pytest
from points import STEMS, TRAINING, graded, score, with_functions
from slips import wrong_answers

HOMEWORKS = {stem: wrong_answers(stem) for stem in STEMS}
CASES = [(stem, name, *case) for stem, wrong in HOMEWORKS.items() for name, case in wrong.cases.items()]


def of(cases: list, weekly: tuple[str, ...] = ()):
    """These cases; once a week the wrong answers to these homeworks."""
    found = [
        pytest.param(*case, id=f"{case[0]}: {case[1]}", marks=[pytest.mark.weekly] * (case[0] in weekly))
        for case in cases
    ]
    return pytest.mark.parametrize(("stem", "name", "points", "functions"), found)


@pytest.mark.parametrize("stem", STEMS)
def test_right_answers_get_all_points(stem):
    assert score(stem, {}) == HOMEWORKS[stem].full > 0


@pytest.mark.parametrize(
    "stem", [pytest.param(stem, marks=[pytest.mark.weekly] * (stem in TRAINING)) for stem in STEMS]
)
def test_so_do_the_right_answers_in_which_slips_are_made(stem):
    assert score(stem, with_functions(stem, HOMEWORKS[stem].right)) == HOMEWORKS[stem].full


@of(CASES, weekly=TRAINING)
def test_a_wrong_answer_gets_the_listed_points(stem, name, points, functions):
    assert score(stem, with_functions(stem, functions)) == points


@of([case for case in CASES if case[0] in TRAINING])
def test_a_wrong_answer_loses_points_where_it_stands(stem, name, points, functions):
    """At most as many as listed: a training that stands on it, and may fail with it, is left out.

    But where it loses none: then that training alone costs points, or nothing does.
    """
    answers = with_functions(stem, functions)
    lost = sum(points for points, passed in graded(stem, answers, alone=True).values() if not passed)
    assert lost <= score(stem, {}) - points
    assert lost > 0 or score(stem, answers) == points


def test_every_homework_lists_wrong_answers():
    assert all(wrong.cases for wrong in HOMEWORKS.values())
