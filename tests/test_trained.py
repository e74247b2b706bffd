"""Every checkpoint in src/lmbook/trained: file, card and recipe agree, and its scores come out again."""

import json
from pathlib import Path

import pytest

from lmbook import checkpoints
from lmbook.recipes import RECIPES, TRAINED, core, rescore

SHIPPED = sorted(path.stem for path in Path(str(TRAINED)).glob("*.safetensors"))
MB = 1_000_000
# The weights are stored in int8 and a card has the scores of the float32 weights they were made from; the rest is the
# order of sums on another machine.
TOLERANCE = 0.01

each = pytest.mark.parametrize(
    "name", SHIPPED or [None]
)  # None while nothing is shipped: then there is nothing to test


def largest(name: str) -> float:
    """How many bytes a checkpoint may have."""
    return 3 * MB if name.startswith("multi30k") else 5 * MB if name.endswith("page") else MB


def test_size_limits():
    for name in SHIPPED:
        size = Path(TRAINED, f"{name}.safetensors").stat().st_size
        assert size <= largest(name), f"{name} has {size:,} bytes"
    assert sum(file.stat().st_size for file in Path(str(TRAINED)).glob("*")) <= 20 * MB


@each
def test_card_is_of_this_file(name):
    if name is None:
        return
    tensors, card = checkpoints.read(TRAINED / f"{name}.safetensors")  # compares the sha256 of file and card
    assert tensors
    assert card["recipe"] == name
    recipe = RECIPES[name]
    assert recipe.ships
    assert card["data"] == core.hashes(recipe.corpora), "trained on other files than those registered now"


@each
def test_card_and_record_are_of_one_run(name):
    if name is None:
        return
    card = json.loads((TRAINED / f"{name}.json").read_text("utf-8"))
    record = json.loads((core.RECORDED / f"{name}-{card['seed']}.json").read_text("utf-8"))
    assert card["scores"] == record["scores"]
    assert card["data"] == record["data"]


def test_nothing_else_is_shipped():
    files = {path.name for path in Path(str(TRAINED)).glob("*")}
    assert files == {f"{name}{suffix}" for name in SHIPPED for suffix in (".safetensors", ".json")}


@pytest.mark.slow
@each
def test_scores_come_out_again(name, request, monkeypatch):
    if name is None:
        return
    if RECIPES[name].corpora:
        monkeypatch.setenv("LMBOOK_DATA", str(request.getfixturevalue("real_corpora")))
    card = json.loads((TRAINED / f"{name}.json").read_text("utf-8"))
    for score, value in rescore(name).items():
        assert value == pytest.approx(card["scores"][score], rel=TOLERANCE), score
