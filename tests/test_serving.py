"""Speculative decoding writes what the target would write; distillation is a divergence."""

import itertools
import math

import numpy as np
import pytest
import torch
from torch.nn import functional as F

from lmbook import decode, serving
from lmbook.gpt import GPT
from lmbook.rnn_models import RecurrentLM
from lmbook.serving import accepted_share, check, distillation_loss, leftover, serve, speculate, tokens_a_round


def two(V=4, rounds=2):
    """Random distributions p (rounds + 1, V) and q (rounds, V)."""
    p = torch.softmax(2 * torch.randn(rounds + 1, V, dtype=torch.double), -1)
    return p, torch.softmax(2 * torch.randn(rounds, V, dtype=torch.double), -1)


def test_the_rule_gives_the_target_exactly():
    """Summed over all drafts: q(x) min(1, p(x) / q(x)) + P(rejected) leftover(x) = p(x)."""
    torch.manual_seed(0)
    for V in (2, 3, 50):
        p, q = (one[0] for one in two(V))
        kept = q * (p / q).clamp(max=1)
        assert torch.allclose(kept + (1 - kept.sum()) * leftover(p, q), p)
        assert kept.sum() == pytest.approx(accepted_share(p, q).item())
        assert accepted_share(p, q) == pytest.approx(1 - (p - q).abs().sum().item() / 2)
    assert torch.equal(leftover(p, p), p)


def chi_squared(counts, expected) -> float:
    """The p-value of counts against what is expected: the upper tail of chi squared, without importing scipy."""
    counts, expected = torch.tensor(np.array([counts, expected]))
    statistic = ((counts - expected) ** 2 / expected).sum()
    return torch.special.gammaincc(torch.tensor((len(counts) - 1) / 2, dtype=torch.double), statistic / 2).item()


def p_value(rule, draws=1500) -> float:
    """The p-value of the first two tokens of a round of two drafts against p_0 p_1, for a fixed p_1."""
    torch.manual_seed(1)
    p, q = two(3)
    generator, seen = torch.Generator().manual_seed(2), np.zeros((3, 3))
    for _ in range(draws):
        drafted = torch.multinomial(q, 1, generator=generator).squeeze(1)
        new = rule(p, q, drafted, generator)
        second = new[1] if len(new) > 1 else int(torch.multinomial(p[1], 1, generator=generator))
        seen[new[0], second] += 1
    return chi_squared(seen.flatten(), (draws * p[0, :, None] * p[1]).flatten().numpy())


def test_a_round_is_distributed_as_the_target():
    assert p_value(check) > 0.01


def test_a_wrong_rule_is_noticed():
    def from_the_target(p, q, drafted, generator):
        u = torch.rand(len(drafted), generator=generator)
        for i, x in enumerate(drafted.tolist()):
            if u[i] * q[i, x] >= p[i, x]:
                return [*drafted[:i].tolist(), int(torch.multinomial(p[i], 1, generator=generator))]
        return drafted.tolist()

    assert p_value(from_the_target) < 1e-6


@pytest.fixture(scope="module")
def models():
    torch.manual_seed(3)
    target = GPT(4, 12, 8, 2, 2)
    with torch.no_grad():
        target.embedding.weight.mul_(40)
    return target, RecurrentLM(4, 4, 6, 1, "gru")


@pytest.mark.slow
def test_texts_of_a_whole_run_are_those_of_plain_sampling(models):
    """Two tokens behind a prompt, 300 times: against the probabilities of all texts, the rare ones together."""
    target, draft = models
    prompt, V = torch.tensor([[3, 1, 3]]), 4
    texts = torch.tensor(list(itertools.product(range(V), repeat=2)))
    rows = torch.cat([prompt.expand(V * V, -1), texts], 1)
    with torch.no_grad():
        log_p = target(rows[:, :-1])[:, 2:].double().log_softmax(-1)
    p = log_p.gather(-1, texts[..., None]).sum((1, 2)).exp().numpy()
    generator, seen = torch.Generator().manual_seed(4), np.zeros(V * V)
    for _ in range(300):
        first, second = speculate(target, draft, prompt, 2, 2, generator=generator).tokens
        seen[V * first + second] += 1
    often = 300 * p >= 5
    counts, wanted = [*seen[often], seen[~often].sum()], [*p[often], p[~often].sum()]
    assert often.sum() > 4
    assert chi_squared(counts, 300 * np.array(wanted)) > 0.01


@pytest.mark.parametrize("gamma", [1, 3, 8])
def test_greedy_is_the_greedy_text_of_the_target(models, gamma):
    target, draft = models
    prompt = torch.tensor([[1, 2]])
    plain, _ = decode.greedy(target, 1, 10, prompt=prompt, eos=None)
    for drafter in (draft, target):
        written = speculate(target, drafter, prompt, 10, gamma, temperature=0)
        assert written.tokens == plain[0]
        assert len(written.tokens) == written.rounds + written.accepted
    assert written.accepted == written.drafted  # its own draft is never refused
    assert written.rounds == -(-10 // (gamma + 1))


def test_tokens_a_round_are_those_of_a_simulation():
    rng = np.random.default_rng(0)
    for beta, gamma in ((0.0, 3), (0.5, 2), (0.8, 4), (1.0, 3)):
        kept = (rng.uniform(size=(20_000, gamma)) < beta).cumprod(1).sum(1)
        assert tokens_a_round(beta, gamma) == pytest.approx(1 + kept.mean(), abs=0.03)


def test_distillation_is_torchs_divergence_and_its_gradient():
    torch.manual_seed(5)
    student, teacher = torch.randn(2, 3, 6, requires_grad=True), torch.randn(2, 3, 6)
    p, q = torch.softmax(teacher / 2, -1), torch.softmax(student / 2, -1)
    by_hand = 4 * (p * (p / q).log()).sum() / 6
    loss = distillation_loss(student, teacher, 2.0)
    assert torch.allclose(loss, by_hand, atol=1e-6)
    (gradient,) = torch.autograd.grad(loss, student)
    assert torch.allclose(gradient, 2 * (q - p) / 6, atol=1e-6)
    assert distillation_loss(teacher, teacher).item() == pytest.approx(0, abs=1e-6)
    hard = F.one_hot(teacher.argmax(-1), 6) * 200.0
    one = distillation_loss(student, hard)  # a teacher without doubt: the ordinary loss
    assert torch.allclose(one, F.cross_entropy(student.flatten(0, 1), teacher.argmax(-1).flatten()), atol=1e-5)


def test_bad_input_is_named(models):
    target, draft = models
    for call, says in (
        (lambda: speculate(target, draft, torch.tensor([[1]]), 3, 2), "two or more ids"),
        (lambda: speculate(target, draft, torch.tensor([[1, 2]]), 11, 2), "window, 12"),
        (lambda: speculate(target, draft, torch.tensor([[1, 2]]), 3, 0), "gamma 0"),
        (lambda: tokens_a_round(1.5, 2), r"0\.\.1"),
    ):
        with pytest.raises(ValueError, match=says):
            call()
    assert serving.cut(target.run(torch.tensor([[1, 2, 3]]), target.start(1))[1], 2)["tokens"].tolist() == [[1, 2]]


REQUESTS = [([1, 2], 9), ([3], 1), ([4, 5, 6], 4), ([2], 12), ([1], 2), ([6, 1], 3), ([5], 7)]


@pytest.mark.parametrize("cell", ["gru", "lstm"])
@pytest.mark.parametrize("static", [True, False])
def test_served_together_each_text_is_the_one_written_alone(cell, static):
    torch.manual_seed(0)
    model = RecurrentLM(7, 8, 12, n_layers=2, cell=cell)
    for weight in model.parameters():
        weight.data.normal_(std=0.7)
    alone = [decode.greedy(model, 1, n, prompt=torch.tensor([prompt]), eos=None)[0][0] for prompt, n in REQUESTS]
    texts, steps = serve(model, REQUESTS, 3, static)
    assert texts == [[*prompt, *one] for (prompt, _), one in zip(REQUESTS, alone, strict=True)]
    spans = [len(prompt) + n - 1 for prompt, n in REQUESTS]
    if static:
        assert steps == sum(max(spans[k : k + 3]) for k in range(0, len(spans), 3))
    else:
        assert math.ceil(sum(spans) / 3) <= steps <= math.ceil(sum(spans) / 3) + max(spans)
    assert len({tuple(text[-3:]) for text in texts}) > 2


def test_a_batch_that_waits_wastes_what_the_formula_says():
    """Geometric lengths: E[max] = sum over t of 1 - F(t)^B; by simulation."""
    rng, mean, B = np.random.default_rng(0), 20, 8
    F = 1 - (1 - 1 / mean) ** np.arange(2000)
    longest = rng.geometric(1 / mean, (4000, B)).max(1).mean()
    assert longest == pytest.approx((1 - F**B).sum(), rel=0.02)


def test_requests_that_cannot_be_served_are_named():
    model = RecurrentLM(7, 8, 12)
    for requests, slots in (([([], 2)], 1), ([([1], 0)], 1), ([([1], 1)], 0)):
        with pytest.raises(ValueError, match="serve: "):
            serve(model, requests, slots)
