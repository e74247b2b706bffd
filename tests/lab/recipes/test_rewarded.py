"""Sums tuned by rewards: the checkers, what is read from an answer, and the distance from the start."""

import pytest
import torch

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


def test_held_near_it_leaves_the_loss_at_the_start_and_not_elsewhere():
    torch.manual_seed(0)
    model, other = sums_aloud.new_model(), sums_aloud.new_model()
    batch = torch.tensor(sums_aloud.unseen()[:4])

    def loss(ref):
        torch.manual_seed(1)
        return rewarded.rewarded(model, batch, rewarded.coin, ref=ref)[0].item()

    assert loss(model) == pytest.approx(loss(None), abs=1e-5)
    assert loss(other) > loss(None) + 1, "away from the reference its divergence is added"


def test_the_distance_is_0_at_the_start_and_a_mean_of_log_ratios_elsewhere():
    torch.manual_seed(0)
    model, start = sums_aloud.new_model(), sums_aloud.new_model()
    asked = sums_aloud.unseen()[:200]
    assert rewarded.judged(model, rewarded.checked, asked, model)["far"] == 0
    assert rewarded.judged(model, rewarded.checked, asked, start)["far"] > 0


def test_both_ways_are_asked_and_no_tested_sum_is():
    kept = {tuple(pair) for pair in sums_aloud.unseen()}
    tokens, own = next(rewarded.both_ways(0)(0))
    said = rewarded.spoken((tokens, own & (tokens != 0)))
    assert {":" in one for one in said} == {True, False}
    assert all(tuple(pair) not in kept for pair in next(rewarded.asked_sums(0)(0)).tolist())
