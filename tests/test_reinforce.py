import itertools

import pytest
import torch

from lmbook.answers import log_probs, turns
from lmbook.modern import ModernGPT
from lmbook.reinforce import grpo_loss, over_batch, over_group, reinforce_loss

END, TYPES = 3, 6


@pytest.fixture
def world():
    """A model, every answer of at most two tokens to one prompt, and a reward for each."""
    torch.manual_seed(0)
    model = ModernGPT(TYPES, 6, 8, 2, 1).double()
    others = [k for k in range(TYPES) if k != END]
    answers = [[END], *([a, END] for a in others), *([a, b] for a, b in itertools.product(others, others))]
    return model, turns([([4], answer) for answer in answers]), torch.randn(len(answers), dtype=torch.double)


def gradient(model, loss):
    model.zero_grad()
    loss.backward()
    return torch.cat([w.grad.flatten() for w in model.parameters() if w.grad is not None])


@pytest.mark.parametrize("baseline", [0.0, 3.0])
def test_reinforce_is_the_gradient_of_the_expected_reward(world, baseline):
    """Enumeration: its mean over all answers, by their probabilities, with and without a number subtracted."""
    model, batch, rewards = world
    exact = gradient(model, -(log_probs(model, batch).sum(1).exp() * rewards).sum())
    p = log_probs(model, batch).sum(1).exp().detach()
    weights = p * (rewards - baseline) * len(p)
    assert torch.allclose(gradient(model, reinforce_loss(log_probs(model, batch), weights)), exact, atol=1e-9)
    assert not torch.allclose(gradient(model, reinforce_loss(log_probs(model, batch), p * rewards)), exact, atol=1e-3)


def test_a_baseline_that_leaves_the_answer_out_makes_no_error_in_the_mean(world):
    """All pairs of answers that could be drawn, by their probability: (R - b) grad ln pi has the same mean."""
    model, (tokens, said), rewards = world
    log_p = log_probs(model, (tokens, said)).sum(1)
    p = log_p.exp().detach()
    i, j = (x.flatten() for x in torch.meshgrid(torch.arange(len(p)), torch.arange(len(p)), indexing="ij"))
    own = torch.stack([over_batch(rewards[list(pair)]) for pair in zip(i.tolist(), j.tolist(), strict=True)])
    both = own[:, 0] * log_p[i] + own[:, 1] * log_p[j]
    exact = gradient(model, (log_probs(model, (tokens, said)).sum(1).exp() * rewards).sum())
    log_p = log_probs(model, (tokens, said)).sum(1)
    both = own[:, 0] * log_p[i] + own[:, 1] * log_p[j]
    assert torch.allclose(gradient(model, (p[i] * p[j] * both).sum() / 2), exact, atol=1e-9)


def test_groups_are_normed_each_by_itself():
    rewards = torch.tensor([1.0, 0.0, 0.0, 1.0, 5.0, 5.0, 5.0, 5.0, 2.0, 4.0, 6.0, 8.0])
    A = over_group(rewards, 4).view(3, 4)
    assert A.mean(1).tolist() == pytest.approx([0, 0, 0], abs=1e-5)
    assert A.std(1).tolist() == pytest.approx([1, 0, 1], abs=1e-3)
    assert over_group(rewards, 4, scaled=False).tolist()[8:] == [-3, -1, 1, 3]
    with pytest.raises(ValueError, match="12 rewards do not fall into groups of 5"):
        over_group(rewards, 5)


def loop(log_pi, log_old, A, said, clip, log_ref, beta):
    """The same, token by token with Python's numbers."""
    total = 0.0
    for i in range(len(A)):
        own = []
        for t in range(said.shape[1]):
            if said[i, t]:
                rho = (log_pi[i, t] - log_old[i, t]).exp().item()
                bounded = max(1 - clip, min(1 + clip, rho))
                ratio = (log_ref[i, t] - log_pi[i, t]).exp().item()
                kl = ratio - (log_ref[i, t] - log_pi[i, t]).item() - 1
                own.append(min(rho * A[i].item(), bounded * A[i].item()) - beta * kl)
        total -= sum(own) / len(own)
    return total / len(A)


@pytest.mark.parametrize("beta", [0.0, 0.7])
def test_grpo_is_its_formula(beta):
    torch.manual_seed(1)
    said = torch.tensor([[True] * 4, [True, True, False, False], [True] * 3 + [False]])
    log_pi, log_old, log_ref = (-torch.rand(3, 4) * said for _ in range(3))
    A = torch.tensor([1.0, -2.0, 0.5])
    ours = grpo_loss(log_pi, log_old, A, said, 0.2, log_ref, beta)
    assert ours.item() == pytest.approx(loop(log_pi, log_old, A, said, 0.2, log_ref, beta), abs=1e-5)


def test_the_first_step_of_grpo_is_reinforce_with_another_mean(world):
    """Where nothing has moved, rho is 1, and for answers of equal length the two gradients are the same direction."""
    model, (tokens, said), rewards = world
    batch = tokens[6:], said[6:]  # two tokens each
    A = over_group(rewards[6:30], 4)
    batch = batch[0][:24], batch[1][:24]
    log_pi = log_probs(model, batch)
    first = gradient(model, grpo_loss(log_pi, log_pi.detach(), A, batch[1][:, 1:]))
    plain = gradient(model, reinforce_loss(log_probs(model, batch), A))
    assert torch.allclose(2 * first, plain, atol=1e-9)


def test_beyond_the_clip_an_answer_moves_no_further():
    log_pi = torch.full((1, 1), 0.5, requires_grad=True)  # rho = e^0.5, above 1.2
    said, old = torch.ones(1, 1, dtype=torch.bool), torch.zeros(1, 1)
    assert torch.autograd.grad(grpo_loss(log_pi, old, torch.ones(1), said), log_pi)[0].item() == 0
    assert torch.autograd.grad(grpo_loss(log_pi, old, -torch.ones(1), said), log_pi)[0].item() > 0
    with pytest.raises(ValueError, match="beta needs log_ref"):
        grpo_loss(log_pi, old, torch.ones(1), said, beta=0.1)
