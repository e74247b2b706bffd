"""Listed wrong answers get the listed points: a check that lets one of them pass is no check."""

import importlib.util
from pathlib import Path

import pytest
from points import STEMS, score


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


@pytest.mark.parametrize(("stem", "name", "case"), CASES, ids=[f"{stem}: {name}" for stem, name, _ in CASES])
def test_a_wrong_answer_gets_the_listed_points(stem, name, case):
    assert score(stem, case["answers"]) == case["score"]


def test_every_homework_lists_wrong_answers():
    assert set(STEMS) <= {stem for stem, name, _ in CASES if name != "no mistake"}
