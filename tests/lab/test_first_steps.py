"""A recipe that no longer does what its record says is told by its first steps."""

import importlib.util
from functools import partial
from pathlib import Path

import pytest
import torch
from torch import nn

from lmbook.lab import recipes, run

FILE = Path(__file__).parents[2] / "benchmarks" / "first_steps.py"
spec = importlib.util.spec_from_file_location("first_steps", FILE)
first_steps = importlib.util.module_from_spec(spec)
spec.loader.exec_module(first_steps)


def lines(run, rate=0.1, seeded=True):
    """Two lines, one after the other."""
    x = torch.linspace(-1, 1, 32)[:, None]

    def loss(model, batch):
        return (model(batch[0]) - batch[1]).square().sum(), len(batch[0])

    for slope in (2, 3):
        if seeded:
            torch.manual_seed(run.seed)
        model = nn.Sequential(nn.Linear(1, 4), nn.Dropout(0.5), nn.Linear(4, 1))
        optimizer = torch.optim.SGD(model.parameters(), lr=rate)
        batches = [(x, slope * x + 1)]
        run.fit(model, lambda epoch, batches=batches: batches, loss, optimizer, part=f"slope {slope}", steps=200)
    return {"slope": 1.0}, model


@pytest.fixture
def recorded(monkeypatch, tmp_path):
    """Records a recipe, then puts another function in its place; gives what its first steps are compared to."""
    monkeypatch.setattr(run, "RECIPES", {})
    monkeypatch.setattr(first_steps, "RECIPES", run.RECIPES)
    monkeypatch.setattr(first_steps, "RECORDED", tmp_path)

    def compared(before, after):
        run.RECIPES.clear()
        run.recipe("toy", about="lines", minutes=0.1)(before)
        recipes.train("toy", 0, tmp_path / "runs", "cpu", progress=False)
        (tmp_path / "runs/toy-0/record.json").rename(tmp_path / "toy-0.json")
        run.RECIPES.clear()
        run.recipe("toy", about="lines", minutes=0.1)(after)
        return first_steps.again("toy-0")

    return compared


def test_the_same_recipe_gives_the_same_losses_and_settings(recorded):
    again = recorded(lines, lines)
    assert max(again.compared.values()) < 1e-4  # four digits are kept
    for part, made in again.parts.items():
        assert made["settings"] == again.record["parts"][part]["settings"]


@pytest.mark.parametrize("changed", [{"rate": 0.11}, {"seeded": False}])
def test_another_rate_or_start_is_told(recorded, changed):
    assert max(recorded(lines, partial(lines, **changed)).compared.values()) > 1e-3


def test_in_one_stream_of_random_numbers_the_first_training_agrees(recorded):
    stream = partial(lines, seeded=False)
    first, second = recorded(stream, stream).compared.values()
    assert first < 1e-4
    assert second > 1e-3
