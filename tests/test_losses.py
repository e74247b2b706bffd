"""Losses: label smoothing is torch's; the sampled softmax is exact with all types, unbiased with some, and says what
cannot be."""

import pytest
import torch
import torch.nn.functional as F

from lmbook.losses import class_buckets, sampled_nll, smoothed_loss, token_nll

VOCAB, D, NEVER = 100, 8, (0, 2, 4)


@pytest.fixture
def example():
    torch.manual_seed(0)
    h = torch.randn(60, D, dtype=torch.float64, requires_grad=True)
    W = torch.randn(VOCAB, D, dtype=torch.float64, requires_grad=True)
    b = torch.randn(VOCAB, dtype=torch.float64, requires_grad=True)
    return h, torch.randint(5, VOCAB, (60,)), W, b


def full(h, targets, W, b):
    logits = h @ W.T + b
    logits[:, list(NEVER)] = -torch.inf
    return F.cross_entropy(logits, targets, reduction="sum")


def test_the_first_type_of_all_may_be_a_target(example):
    h, _, W, b = example
    targets = torch.zeros(60, dtype=torch.long)
    ours = sampled_nll(h, targets, W, b, class_buckets(VOCAB, (30,), (0, 0)))
    torch.testing.assert_close(ours, F.cross_entropy(h @ W.T + b, targets, reduction="sum"))


@pytest.mark.parametrize("edges", [(30, 60), (5,), (99,)])
def test_with_every_type_drawn_it_is_the_cross_entropy_forward_and_backward(example, edges):
    h, targets, W, b = example
    if edges == (99,):
        edges = (50, 98)
    parts = class_buckets(VOCAB, edges, (0,) * (len(edges) + 1))
    ours, torchs = sampled_nll(h, targets, W, b, parts, NEVER), full(h, targets, W, b)
    torch.testing.assert_close(ours, torchs)
    for a, c in zip(torch.autograd.grad(ours, (h, W, b)), torch.autograd.grad(torchs, (h, W, b)), strict=True):
        torch.testing.assert_close(a, c)


def test_the_estimate_of_z_is_unbiased(example):
    """exp(nll) of one token is Z / exp z_w; its mean over draws is the true value, for frequent and rare targets."""
    h, _, W, b = example
    parts = class_buckets(VOCAB, (30, 60), (0, 20, 25))
    for target in (7, 45, 88):
        targets = torch.full((60,), target)
        logits = h @ W.T + b
        logits[:, list(NEVER)] = -torch.inf
        truth = (torch.logsumexp(logits, 1) - logits[:, target]).exp()
        with torch.no_grad():
            draws = torch.stack([sampled_nll(h[:1], targets[:1], W, b, parts, NEVER) for _ in range(400)]).exp()
        error = draws.std() / 400**0.5
        assert (draws.mean() - truth[0]).abs() < 4 * error + 1e-9


def test_a_draw_of_few_types_is_not_exact(example):
    h, targets, W, b = example
    ours = sampled_nll(h, targets, W, b, class_buckets(VOCAB, (30,), (0, 5)), NEVER)
    assert (ours - full(h, targets, W, b)).abs().item() > 0.1


def test_a_target_that_never_occurs_or_lies_outside_is_an_error(example):
    h, targets, W, _ = example
    parts = class_buckets(VOCAB, (30,), (0, 10))
    for wrong in (2, 100):
        bad = targets.clone()
        bad[3] = wrong
        weight = torch.cat([W, W[:1]])
        with pytest.raises(ValueError, match=f"target {wrong}"):
            sampled_nll(h, bad, weight, None, parts, NEVER)


@pytest.mark.parametrize(
    ("edges", "drawn"), [((60, 30), (0, 0, 0)), ((30,), (0,)), ((30,), (0, 71)), ((30,), (1, 0)), ((100,), (0, 0))]
)
def test_buckets_that_do_not_fit_are_refused(edges, drawn):
    with pytest.raises(ValueError, match=r"edges|drawn"):
        class_buckets(VOCAB, edges, drawn)


def test_the_loss_of_tokens_is_torchs():
    logits, targets = torch.randn(3, 4, VOCAB), torch.randint(0, VOCAB, (3, 4))
    total, n = token_nll(logits, targets)
    log_p = torch.log_softmax(logits, -1)
    by_hand = -sum(log_p[b, t, targets[b, t]] for b in range(3) for t in range(4) if targets[b, t] != 0)
    assert total.item() == pytest.approx(by_hand.item(), rel=1e-5)
    assert n == (targets > 0).sum()


@pytest.mark.parametrize("smoothing", [0.0, 0.1])
def test_smoothed_loss_equals_torch(smoothing):
    torch.manual_seed(0)
    logits, targets = torch.randn(3, 6, VOCAB, requires_grad=True), torch.randint(1, VOCAB, (3, 6))
    targets[0, 4:] = 0
    expected = F.cross_entropy(logits.transpose(1, 2), targets, ignore_index=0, label_smoothing=smoothing)
    ours = smoothed_loss(logits, targets, smoothing)
    torch.testing.assert_close(ours, expected)
    torch.testing.assert_close(*(torch.autograd.grad(loss, logits)[0] for loss in (ours, expected)))


def test_the_smoothed_loss_of_padding_alone_is_0():
    assert smoothed_loss(torch.randn(1, 2, 5), torch.zeros(1, 2, dtype=torch.long)) == 0


def test_the_smallest_smoothed_loss_is_the_entropy_of_the_smoothed_target():
    q = torch.full((VOCAB,), 0.1 / VOCAB)
    q[7] += 0.9
    loss = smoothed_loss(q.log().view(1, 1, -1), torch.tensor([[7]]))
    torch.testing.assert_close(loss, -(q * q.log()).sum())
