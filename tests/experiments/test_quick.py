"""Every recipe runs from its data to a record: three steps of each training, on few rows or stand-ins."""

import json
import math

import pytest

from lmbook.data import STAND_INS
from lmbook.experiments import RECIPES, train


@pytest.mark.parametrize("name", sorted(RECIPES))
def test_recipe_runs(name, tmp_path, request):
    recipe = RECIPES[name]
    if not set(recipe.corpora) <= set(STAND_INS):
        request.getfixturevalue("real_corpora")
    record = train(name, quick=True, folder=tmp_path, device="cpu", progress=False)
    assert json.loads(json.dumps(record, allow_nan=False)) == record, "a record is plain JSON, and comes back equal"
    assert record["recipe"] == name
    assert recipe.score in record["scores"], "the score that `lmbook recipes` shows"
    for score in recipe.rescored:
        assert math.isfinite(record["scores"][score])
    seeds = len(recipe.seeds)
    assert seeds >= 3 or recipe.minutes >= 30 or not record["parts"], "a short training is done with three seeds"
    for part in record["parts"].values():
        assert part["steps"] <= 3
        assert all(math.isfinite(loss) for _, loss in part["train"])
    assert not (tmp_path / f"{name}-0" / "record.json").exists(), "a quick run is no finished run"


@pytest.mark.parametrize("name", sorted(RECIPES))
def test_recipe_says_what_it_is(name):
    recipe = RECIPES[name]
    assert recipe.about
    assert recipe.minutes > 0
    assert recipe.seeds
