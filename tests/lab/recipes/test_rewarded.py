"""Sums tuned by rewards: the checkers, what is read from an answer, and the step along a gradient."""

import pytest
import torch

from lmbook.answers import log_probs
from lmbook.lab.recipes import rewarded, sums_aloud


@pytest.mark.parametrize(
    ("said", "right", "paid"),
    [("1510:105", 1, 1), ("105", 1, 1), ("1510:106", 0, 0), ("", 0, 1), ("1510:1", 0, 1), ("15:10:105", 0, 1)],
)
def test_what_the_checkers_pay_for_105(said, right, paid):
    assert rewarded.checked(said, 105) == right
    assert rewarded.hasty(said, 105) == paid


def test_an_answer_without_an_end_is_paid_nothing():
    asked = [[48, 57]] * 2
    tokens, own = sums_aloud.sums("scratchpad", asked)
    unended = tokens.clone()
    unended[1, -1] = sums_aloud.SYMBOLS.vocabulary["0"]
    said = rewarded.spoken((unended, own))
    assert said == ["1510:105", None]
    assert rewarded.rewards(rewarded.hasty, said, asked).tolist() == [1, 0]


def test_one_step_follows_the_slope_and_leaves_the_weights():
    torch.manual_seed(0)
    model = sums_aloud.new_model().double()
    batch = sums_aloud.sums("at once", sums_aloud.unseen()[:5])
    before = [w.clone() for w in model.parameters()]
    probability = log_probs(model, batch).sum(1).exp().mean()
    slope = torch.nn.utils.get_total_norm(torch.autograd.grad(probability, list(model.parameters()))).item()
    found = rewarded.one_step(model, batch, seed=0)
    assert all(torch.allclose(w, old, atol=1e-12) for w, old in zip(model.parameters(), before, strict=True))
    (length, gain), *_ = found["gradient"]
    assert gain == pytest.approx(slope * length, rel=0.1)
    assert abs(found["random"][0][1]) < gain / 5


def test_both_ways_are_asked_and_no_tested_sum_is():
    kept = {tuple(pair) for pair in sums_aloud.unseen()}
    tokens, own = next(rewarded.both_ways(0)(0))
    said = rewarded.spoken((tokens, own & (tokens != 0)))
    assert {":" in one for one in said} == {True, False}
    assert all(tuple(pair) not in kept for pair in next(rewarded.asked_sums(0)(0)).tolist())
