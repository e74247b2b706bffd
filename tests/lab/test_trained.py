"""Every checkpoint in src/lmbook/lab/trained: file, card and recipe agree, and its scores come out again."""

import json
from pathlib import Path

import pytest
from torch import nn

from lmbook.lab import checkpoints, record, run
from lmbook.lab.recipes import RECIPES, TRAINED, rescore

SHIPPED = sorted(path.stem for path in Path(str(TRAINED)).glob("*.safetensors"))
MB = 1_000_000
TOLERANCE = 0.002  # another machine adds in another order
LOSS = 0.02  # what int8 may cost, as a share of the score of the float32 weights
# Read and scored by the very lines of another that ships: once a week is enough, and on a push the card's sha256 and
# that the model can be built.
SIBLINGS = {"shakespeare-rnn", "shakespeare-gru", "ewt-left", "sms-spam-left", "digits-page", "recall-32", "recall-128"}
SIBLINGS |= {"multi30k-additive", "multi30k-transformer"}  # as caption-ladder; they write a thousand translations
# The two that take longest; chapters 16, 17 and 19 compute with them at every push, and compare.
SIBLINGS |= {"bert-wikitext2", "shakespeare"}
NO_TEXT = {"digits-patches", "recall-32", "recall-64", "recall-128"}  # which read images, and symbols that are numbers

each = pytest.mark.parametrize("name", SHIPPED)


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
    tensors, card = checkpoints.read(TRAINED / f"{name}.safetensors")  # compares the sha256 of file and card
    assert tensors
    assert card["recipe"] == name
    recipe = RECIPES[name]
    assert recipe.ships
    assert card["data"] == run.hashes(recipe.corpora), "trained on other files than those registered now"


@each
def test_card_and_record_are_of_one_run(name):
    card = json.loads((TRAINED / f"{name}.json").read_text("utf-8"))
    recorded = record.read(run.RECORDED / f"{name}-{card['seed']}.json")
    assert card["scores"].items() <= recorded["scores"].items()
    assert card["int8"] == recorded["int8"]
    assert card["data"] == recorded["data"]


@each
def test_the_card_says_how_to_build_model_and_tokenizer(name):
    model, text, card = checkpoints.load(name)
    assert sum(p.numel() for p in model.parameters()) == card["parameters"]
    assert (text is None) == (name in NO_TEXT)
    sizes = [m.num_embeddings for m in model.modules() if isinstance(m, nn.Embedding)]
    for one in text if isinstance(text, list) else [text] if text else []:
        if hasattr(one, "vocabulary") or hasattr(one, "__len__"):
            assert len(getattr(one, "vocabulary", one)) in sizes


def test_what_was_recorded_and_ships_is_there():
    recorded = {found["recipe"] for found in run.records() if found["seed"] == 0 and RECIPES[found["recipe"]].ships}
    assert recorded
    assert set(SHIPPED) == recorded


def test_nothing_else_is_shipped():
    files = {path.name for path in Path(str(TRAINED)).glob("*")}
    assert files == {f"{name}{suffix}" for name in SHIPPED for suffix in (".safetensors", ".json")}


@pytest.mark.slow
@pytest.mark.parametrize("name", [pytest.param(n, marks=[pytest.mark.weekly] * (n in SIBLINGS)) for n in SHIPPED])
def test_scores_come_out_again(name, request, monkeypatch):
    if RECIPES[name].corpora:
        monkeypatch.setenv("LMBOOK_DATA", str(request.getfixturevalue("real_corpora")))
    card = json.loads((TRAINED / f"{name}.json").read_text("utf-8"))
    for score, value in rescore(name).items():
        assert value == pytest.approx(card["int8"][score], rel=TOLERANCE), score
        assert value == pytest.approx(card["scores"][score], rel=LOSS), score
