"""A rescoring: the recipe's own scores, from the shipped weights, without a step of training."""

import pytest
import torch
from torch import nn

from lmbook.lab import run
from lmbook.lab.checkpoints import CheckpointError
from lmbook.lab.recipes import RECIPES, Recipe, RecipeError, rescore, train


def line(run):
    """y = 3 x, learned by one weight; its score is the weight."""
    model = nn.Linear(1, 1, bias=False)
    other = nn.Linear(2, 1, bias=False)
    x = torch.linspace(-1, 1, 8).unsqueeze(1)
    loss = lambda model, batch: ((model(batch[0]) - batch[1]).square().sum(), torch.tensor(8))  # noqa: E731
    log = run.fit(model, lambda epoch: [(x, 3 * x)], loss, torch.optim.SGD(model.parameters(), 1.0), steps=200)
    if not run.rescoring:
        assert log
        run.fit(
            other,
            lambda epoch: [(x.repeat(1, 2), x)],
            loss,
            torch.optim.SGD(other.parameters(), 0.1),
            "other",
            steps=2,
        )
    return {"slope": model.weight.item(), "seed": run.seed, "other": other.weight.sum().item()}, model


@pytest.fixture
def recipe(monkeypatch):
    entered = Recipe("line", "one weight", line, 0.01, ships=True, score="slope", rescored=("slope", "seed"))
    monkeypatch.setitem(RECIPES, "line", entered)
    return entered


def test_shipped_weights_give_the_scores_again(recipe, tmp_path):
    record = train("line", seed=7, folder=tmp_path, device="cpu", progress=False)
    assert record["scores"]["slope"] == pytest.approx(3, abs=1e-3)
    again = rescore("line", tmp_path / "line-7")
    assert again["slope"] == pytest.approx(record["scores"]["slope"], rel=1 / 254)  # int8: half a step
    assert again["seed"] == 7, "the seed of the card"
    assert again.keys() == {"slope", "seed"}, "only what the recipe names"


def test_rescoring_trains_nothing(recipe, tmp_path, monkeypatch):
    train("line", folder=tmp_path, device="cpu", progress=False)
    monkeypatch.setattr(run, "fit", lambda *_, **__: pytest.fail("a rescoring must not train"))
    rescore("line", tmp_path / "line-0")


def test_weights_of_another_model_are_refused(recipe, tmp_path):
    train("line", folder=tmp_path, device="cpu", progress=False)
    (tmp_path / "line-0" / "line.json").replace(tmp_path / "wide.json")
    (tmp_path / "line-0" / "line.safetensors").replace(tmp_path / "wide.safetensors")
    RECIPES["wide"] = Recipe("wide", "another shape", lambda run: (run.fit(nn.Linear(2, 2), None, None, None), None), 1)
    try:
        with pytest.raises(RecipeError, match="fits no model of the recipe wide"):
            rescore("wide", tmp_path)
    finally:
        del RECIPES["wide"]
    with pytest.raises(CheckpointError, match=r"line\.safetensors cannot be read"):
        rescore("line", tmp_path)
