"""Reward models: the judge, captions that no pair had, and what the best policy for a belief gains in truth."""

import numpy as np
import pytest
import torch

from lmbook.lab.recipes import reward_models


@pytest.mark.parametrize(
    ("text", "reward"), [("a red dog sings .", 1), ("a red old dog sees a red cat .", 0), ("the dog sings .", 0)]
)
def test_the_judge_counts_adjectives_and_dislikes_repetitions(text, reward):
    assert reward_models.truth(text) == reward


def test_the_judge_errs_as_bradley_and_terry_say():
    _, R = reward_models.world()
    w, o = reward_models.asked(20_000, 0, 4000, torch.Generator().manual_seed(0))
    gap = (R[w] - R[o]).abs()
    for size in 1, 2, 3:
        took_the_better = (R[w] > R[o])[gap == size].float().mean().item()
        assert took_the_better == pytest.approx(1 / (1 + np.exp(-size)), abs=0.02)


def test_a_policy_at_seven_nats_gains_what_a_search_over_beta_says():
    """Against interpolation on a grid, as the chapter draws it; and no belief gains more than the truth itself."""
    _, R = reward_models.world()
    truth = R.double().numpy()
    believed = truth + np.random.default_rng(0).normal(0, 2, len(truth))
    distance, gain = [], []
    for beta in np.geomspace(30, 0.03, 400):
        p = np.exp((believed - believed.max()) / beta)
        p /= p.sum()
        distance.append(np.sum(p[p > 0] * np.log(p[p > 0] * len(p))))
        gain.append(p @ truth - truth.mean())
    found = reward_models.gained(torch.tensor(believed))
    assert found == pytest.approx(np.interp(reward_models.FAR, distance, gain), abs=0.02)
    assert found < reward_models.gained(R.double())


def test_words_are_added_up_over_the_answer_alone():
    (tokens, said), _ = reward_models.world()
    model = reward_models.Words(int(tokens.max()) + 1)
    torch.nn.init.normal_(model.w.weight)
    one = model.w.weight[tokens[0][said[0]]].sum()
    assert model((tokens[:3], said[:3]))[0].item() == pytest.approx(one.item(), abs=1e-5)
