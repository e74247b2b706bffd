import math

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from lmbook.answers import turns
from lmbook.modern import ModernGPT
from lmbook.preferences import RewardModel, bradley_terry_loss, dpo_loss, optimum, reward_loss

K, BETA = 6, 0.5


@pytest.fixture
def world():
    torch.manual_seed(0)
    return torch.softmax(torch.randn(K, dtype=torch.double), 0), torch.randn(K, dtype=torch.double)


def value(policy, ref, reward):
    return (policy * (reward - BETA * (policy / ref).log())).sum()


def test_no_policy_does_better_than_the_optimum(world):
    """Gradient ascent over all policies ends there, and it beats thousands drawn at random."""
    ref, reward = world
    best = optimum(ref, reward, BETA)
    logits = torch.zeros(K, dtype=torch.double, requires_grad=True)
    ascent = torch.optim.LBFGS([logits], max_iter=300, tolerance_grad=1e-10, line_search_fn="strong_wolfe")

    def loss():
        ascent.zero_grad()
        below = -value(torch.softmax(logits, 0), ref, reward)
        below.backward()
        return below

    ascent.step(loss)
    assert torch.allclose(torch.softmax(logits, 0), best, atol=1e-5)
    drawn = torch.distributions.Dirichlet(torch.ones(K, dtype=torch.double)).sample((3000,))
    assert max(value(policy, ref, reward) for policy in drawn) < value(best, ref, reward)
    assert value(best, ref, reward).item() == pytest.approx(
        BETA * torch.logsumexp(ref.log() + reward / BETA, 0).item()
    )  # beta ln Z


def test_dpo_on_all_pairs_of_a_bradley_terry_judge_ends_at_the_optimum(world):
    """Enumeration: every pair, weighted by how often the judge prefers which; no sampling, no model in between."""
    ref, reward = world
    i, j = torch.tril_indices(K, K, -1)
    wins = torch.sigmoid(reward[i] - reward[j])
    logits = ref.log().clone().requires_grad_()
    descent = torch.optim.LBFGS([logits], max_iter=300, tolerance_grad=1e-10, line_search_fn="strong_wolfe")

    def loss():
        descent.zero_grad()
        log_pi = torch.log_softmax(logits, 0)
        a, b, ra, rb = log_pi[i], log_pi[j], ref.log()[i], ref.log()[j]
        total = (wins * dpo_loss(a, b, ra, rb, BETA) + (1 - wins) * dpo_loss(b, a, rb, ra, BETA)).sum()
        total.backward()
        return total

    descent.step(loss)
    assert torch.allclose(torch.softmax(logits, 0), optimum(ref, reward, BETA), atol=1e-5)


def test_the_losses_are_binary_cross_entropy():
    w, o, rw, ro = torch.randn(4, 7)
    ones = torch.ones(7)
    expected = F.binary_cross_entropy_with_logits(w - o, ones, reduction="none")
    assert torch.allclose(bradley_terry_loss(w, o), expected, atol=1e-6)
    expected = F.binary_cross_entropy_with_logits(0.3 * ((w - rw) - (o - ro)), ones, reduction="none")
    assert torch.allclose(dpo_loss(w, o, rw, ro, 0.3), expected, atol=1e-6)
    assert not torch.allclose(dpo_loss(o, w, ro, rw, 0.3), expected, atol=1e-2), "better and worse exchanged is seen"
    assert torch.allclose(dpo_loss(rw, ro, rw, ro, 0.3), torch.full((7,), 2.0).log()), "ln 2 where nothing has moved"


def test_a_reward_is_read_at_the_last_token_of_the_answer():
    model = RewardModel(ModernGPT(10, 12, 16, 2, 1), 16)
    nn.init.normal_(model.w.weight)
    pairs = [([4, 5], [6, 3]), ([7], [8, 9, 8, 3])]
    alone = [model(turns([pair])).item() for pair in pairs]
    assert model(turns(pairs)).tolist() == pytest.approx(alone, abs=1e-5)


def test_the_loss_of_a_reward_model_is_that_of_the_logistic_function_pair_by_pair():
    """Against a loop over pairs, each alone and without padding, by Python's own functions."""
    torch.manual_seed(0)
    model = RewardModel(ModernGPT(10, 12, 16, 2, 1), 16)
    nn.init.normal_(model.w.weight)
    better = [([4, 5], [6, 3]), ([7], [8, 9, 8, 3]), ([7], [6, 3])]
    worse = [([4, 5], [9, 9, 3]), ([7], [4, 3]), ([7], [5, 5, 5, 5, 3])]
    expected = 0.0
    for w, o in zip(better, worse, strict=True):
        gap = model(turns([w])).item() - model(turns([o])).item()
        expected += math.log(1 + math.exp(-gap))
    total, n = reward_loss(model, (*turns(better), *turns(worse)))
    assert n == 3
    assert total.item() == pytest.approx(expected, abs=1e-4)
    exchanged, _ = reward_loss(model, (*turns(worse), *turns(better)))
    assert exchanged.item() != pytest.approx(expected, abs=1e-2), "better and worse exchanged is seen"
    total.backward()
    assert all(w.grad is not None and w.grad.norm() > 0 for w in model.body.blocks.parameters() if w.dim() > 1)


def test_a_beta_of_zero_is_refused():
    with pytest.raises(ValueError, match="beta is 0"):
        optimum(torch.ones(2) / 2, torch.zeros(2), 0)
