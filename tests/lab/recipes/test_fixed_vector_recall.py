"""Recall through one vector: the batches are right, recall and the bits kept are those of models that are known."""

import numpy as np
import pytest
import torch
from torch import nn

from lmbook.lab.recipes.fixed_vector_recall import (
    LONGEST,
    PAGE,
    STEPS,
    SYMBOLS,
    bits_read,
    hits,
    letters,
    symbol_batches,
)
from lmbook.lab.run import records


@pytest.mark.parametrize("backwards", [True, False])
def test_symbol_batches_are_the_source_backwards_or_forwards_and_shifted_by_one(backwards):
    lengths = set()
    for source, inputs, targets, _ in symbol_batches([0, 0], 4, 6, 60, backwards):
        right = source.flip(1) if backwards else source
        assert torch.equal(inputs[:, 1:], right)
        assert torch.equal(targets[:, :-1], right)
        assert (inputs[:, 0] == 2).all()
        assert (targets[:, -1] == 3).all()
        assert source.min() >= 5
        assert source.max() < 5 + SYMBOLS
        lengths.add(source.shape[1])
    assert lengths == {1, 2, 3, 4, 5, 6}


class Remembers(nn.Module):
    """Writes the last `size` symbols of the source backwards, and after them symbol 5: recall that can be counted."""

    def __init__(self, size: int):
        super().__init__()
        self.size, self.nothing = size, nn.Parameter(torch.zeros(1))

    def start(self, source):
        kept = source.flip(1)[:, : self.size]
        return {"kept": torch.cat([kept, torch.full((len(source), 100), 5)], dim=1), "at": 0}

    def step(self, token, state):
        logits = nn.functional.one_hot(state["kept"][:, state["at"]], 5 + SYMBOLS).float()
        return logits, {**state, "at": state["at"] + 1}


def test_recall_is_the_share_of_symbols_in_their_places():
    assert hits(Remembers(10), 10, 50, backwards=True).mean() == 1.0
    half = hits(Remembers(10), 20, 400, backwards=True).mean()
    assert half == pytest.approx((10 + 10 / SYMBOLS) / 20, abs=0.02), "the other half is guessed"
    assert hits(Remembers(10), 10, 400, backwards=False).mean() == pytest.approx(1 / SYMBOLS, abs=0.05)


def test_the_newest_symbols_stand_last_in_what_was_kept():
    right = hits(Remembers(3), 8, 300, backwards=True)
    assert right.shape == (300, 8)
    assert right[:, 5:].all(), "read last, written first"
    assert right[:, :5].mean() == pytest.approx(1 / SYMBOLS, abs=0.03)
    assert letters(np.array([5, 6, 20])) == "ABP"


class Guesses(nn.Module):
    """Knows each symbol with probability p, and guesses evenly among the rest."""

    def __init__(self, p: float):
        super().__init__()
        self.p, self.nothing = p, nn.Parameter(torch.zeros(1))

    def forward(self, source, inputs):
        kinds, target = 5 + SYMBOLS, torch.cat([inputs[:, 1:], inputs[:, :1]], dim=1)
        others = torch.full((*target.shape, kinds), (1 - self.p) / (SYMBOLS - 1))
        others[..., :5] = 0.0
        return others.scatter(2, target.unsqueeze(2), self.p).log()


@pytest.mark.parametrize("backwards", [True, False])
def test_bits_read_are_those_of_the_channel(backwards):
    assert bits_read(Guesses(1.0), 7, 20, backwards) == pytest.approx(28)
    assert bits_read(Guesses(1 / 16), 7, 20, backwards) == pytest.approx(0, abs=1e-4)
    assert bits_read(Guesses(0.5), 7, 20, backwards) == pytest.approx(21, abs=1e-4), "-log2 0.5 of 4 bits are missing"
    assert bits_read(Guesses(0.01), 7, 20, backwards) < 0, "sure and wrong"


def test_every_size_has_as_many_steps():
    for run in records("recall"):
        assert {part["steps"] for part in run["parts"].values()} == {STEPS}


@pytest.mark.parametrize("size", PAGE)
def test_a_memory_that_ships_is_that_of_the_curve(size):
    """Both begin with the same random numbers, so every loss on the way agrees, and what comes back at the end."""
    (whole,) = [run for run in records("recall") if run["seed"] == 0]
    (own,) = records(f"recall-{size}")
    part, again = (dict(run["parts"][f"{size} backwards"]) for run in (whole, own))
    for one in (part, again):
        one.pop("seconds")
    assert again == part
    assert own["scores"]["recall of 20"] == whole["scores"]["backwards"][str(size)]["recall"][LONGEST - 1]
