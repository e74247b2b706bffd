"""Recipes: what a run writes, what it refuses, how its record comes back; with a recipe of one second."""

import json

import pytest
import torch
from torch import nn

from lmbook import checkpoints, experiments
from lmbook.experiments import run


def line(run):
    """y = 2 x + 1, learned: the score is known."""
    torch.manual_seed(run.seed)
    x = torch.linspace(-1, 1, 32)[:, None]
    model = nn.Linear(1, 1)

    def loss(model, batch):
        return (model(batch[0]) - batch[1]).square().sum(), len(batch[0])

    optimiser = torch.optim.SGD(model.parameters(), lr=0.3)
    run.fit(model, lambda epoch: [(x, 2 * x + 1)], loss, optimiser, steps=200)
    return {"slope": model.weight.item()}, model


@pytest.fixture
def toy(monkeypatch):
    monkeypatch.setattr(run, "RECIPES", dict(run.RECIPES))
    return run.recipe("toy", about="a line", minutes=0.1, ships=True, score="slope")(line)


def test_a_run_learns_and_writes_record_and_weights(toy, tmp_path):
    record = experiments.train("toy", 1, tmp_path, "cpu", progress=False)
    assert record["scores"]["slope"] == pytest.approx(2, abs=1e-3)
    assert record["parts"]["model"]["parameters"] == 2
    assert record["parts"]["model"]["steps"] == 200
    assert record["parts"]["model"]["tokens"] == 200 * 32
    assert len(record["parts"]["model"]["train"]) <= 2 * run.POINTS
    folder = tmp_path / "toy-1"
    assert json.loads((folder / "record.json").read_text()) == record
    weights, card = checkpoints.read(folder / "toy.safetensors")
    assert weights["weight"].item() == pytest.approx(2, abs=0.02)  # int8
    assert card["recipe"] == "toy"
    assert card["seed"] == 1
    assert card["int8"] == {"slope": weights["weight"].item()}, "the score of the weights in the file"
    assert record["int8"] == card["int8"] != card["scores"]


def test_the_same_seed_gives_the_same_scores(toy, tmp_path):
    first, second = (experiments.train("toy", 3, tmp_path / part, "cpu", progress=False) for part in "ab")
    assert first["scores"] == second["scores"]
    assert experiments.train("toy", 4, tmp_path, "cpu", progress=False)["parts"] != first["parts"]


def test_a_finished_run_is_not_overwritten(toy, tmp_path):
    experiments.train("toy", 0, tmp_path, "cpu", progress=False)
    before = (tmp_path / "toy-0" / "record.json").read_bytes()
    for resume in (False, True):
        with pytest.raises(experiments.RecipeError, match=r"finished.*Delete"):
            experiments.train("toy", 0, tmp_path, "cpu", resume, progress=False)
    assert (tmp_path / "toy-0" / "record.json").read_bytes() == before


def test_an_interrupted_run_goes_on_and_ends_as_one_that_was_not(toy, tmp_path, monkeypatch):
    whole = experiments.train("toy", 0, tmp_path / "whole", "cpu", progress=False)
    step = torch.optim.SGD.step
    calls = []

    def interrupted(self, *args, **kwargs):
        calls.append(1)
        if len(calls) == 120:
            raise RuntimeError("power cut")
        return step(self, *args, **kwargs)

    fit = run.fit
    monkeypatch.setattr(run, "fit", lambda *args, **options: fit(*args, **options, save_every=50))
    monkeypatch.setattr(torch.optim.SGD, "step", interrupted)
    with pytest.raises(RuntimeError, match="power cut"):
        experiments.train("toy", 0, tmp_path, "cpu", progress=False)
    assert not (tmp_path / "toy-0" / "record.json").exists()
    with pytest.raises(checkpoints.CheckpointError, match="resume"):
        experiments.train("toy", 0, tmp_path, "cpu", progress=False)
    resumed = experiments.train("toy", 0, tmp_path, "cpu", True, progress=False)
    assert resumed["scores"] == whole["scores"]
    assert resumed["parts"]["model"]["train"] == whole["parts"]["model"]["train"]


def test_a_quick_run_leaves_nothing_that_looks_finished(toy, tmp_path):
    record = experiments.train("toy", 0, tmp_path, "cpu", progress=False, quick=True)
    assert record["parts"]["model"]["steps"] == 3
    assert not list(tmp_path.iterdir())
    whole = experiments.train("toy", 0, tmp_path, "cpu", progress=False)  # nothing of the quick run is in its way
    assert whole["parts"]["model"]["steps"] > 3


def test_a_run_on_a_named_processor_is_recorded(toy, tmp_path):
    record = experiments.train("toy", 0, tmp_path, "cpu:0", progress=False)
    assert record["hardware"].endswith(f"CPU, {torch.get_num_threads()} threads")


def test_an_unknown_recipe_is_named(tmp_path):
    with pytest.raises(experiments.RecipeError, match=r"'nothing'.*lmbook recipes"):
        experiments.train("nothing", folder=tmp_path)


def test_two_recipes_of_one_name_are_refused(toy):
    with pytest.raises(ValueError, match="two recipes are called toy"):
        run.recipe("toy", about="another", minutes=1)(line)


def test_a_stand_in_makes_no_result(no_corpora, monkeypatch, tmp_path):
    monkeypatch.setenv("LMBOOK_OFFLINE", "1")
    with pytest.raises(experiments.RecipeError, match=r"needs the corpus names itself.*LMBOOK_DATA"):
        experiments.Run(run.Recipe("x", "", line, 1, ("names",)), 0, tmp_path).corpus("names")
    quick = experiments.Run(run.Recipe("x", "", line, 1, ("names",)), 0, tmp_path, quick=True)
    assert not quick.corpus("names").real


def test_a_corpus_must_be_declared(tmp_path):
    with pytest.raises(experiments.RecipeError, match="does not declare"):
        experiments.Run(run.Recipe("x", "", line, 1), 0, tmp_path).corpus("names")


def test_every_recorded_run_is_of_a_recipe_and_whole():
    """What lies in recorded/ has the name of its recipe and seed, its data's hashes, and a score to show."""
    for file in run.RECORDED.iterdir() if run.RECORDED.is_dir() else ():
        record = json.loads(file.read_text("utf-8"))
        assert file.name == f"{record['recipe']}-{record['seed']}.json"
        recipe = run.RECIPES[record["recipe"]]
        assert record["seed"] in recipe.seeds
        assert record["data"] == run.hashes(recipe.corpora)
        assert recipe.score in record["scores"]
        assert len(file.read_bytes()) < 250_000
