"""Listed wrong answers get the listed points: a check that lets one of them pass is no check."""

import importlib.util
from pathlib import Path

import pytest
from points import STEMS, TRAINING, graded, score


def listed(path: Path) -> dict:
    spec = importlib.util.spec_from_file_location("answers_" + path.stem.replace("-", "_"), path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return {"no mistake": {"answers": {}, "score": module.FULL}, **module.WRONG}


CASES = [
    (path.stem, name, case)
    for path in sorted((Path(__file__).parent / "answers").glob("*.py"))
    for name, case in listed(path).items()
]


def of(cases: list, weekly: tuple[str, ...] = ()):
    """These cases; once a week the wrong answers to these homeworks."""
    found = [
        pytest.param(*case, id=f"{case[0]}: {case[1]}", marks=[pytest.mark.weekly] * (case[0] in weekly))
        for case in cases
    ]
    return pytest.mark.parametrize(("stem", "name", "case"), found)


RIGHT, WRONG = ([case for case in CASES if bool(case[2]["answers"]) == wrong] for wrong in (False, True))


@of(RIGHT)
def test_right_answers_get_all_points(stem, name, case):
    assert score(stem, {}) == case["score"] > 0


@of(WRONG, weekly=TRAINING)
def test_a_wrong_answer_gets_the_listed_points(stem, name, case):
    assert score(stem, case["answers"]) == case["score"]


@of([case for case in WRONG if case[0] in TRAINING])
def test_a_wrong_answer_loses_points_where_it_stands(stem, name, case):
    """At most as many as listed: a training that stands on it, and may fail with it, is left out.

    But where it loses none: then that training alone costs points, or nothing does.
    """
    lost = sum(points for points, passed in graded(stem, case["answers"], own=True).values() if not passed)
    assert lost <= score(stem, {}) - case["score"]
    assert lost > 0 or score(stem, case["answers"]) == case["score"]


def test_every_homework_lists_wrong_answers():
    assert set(STEMS) <= {stem for stem, name, _ in CASES if name != "no mistake"}
