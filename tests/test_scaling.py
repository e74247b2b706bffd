"""Sizes, budgets and power laws are found again where they are known; under muP the base width stays as it was."""

import numpy as np
import pytest
import torch
from torch.nn.attention import SDPBackend, sdpa_kernel

from lmbook.lab.settings import Products
from lmbook.modern import ModernGPT
from lmbook.scaling import lowest, mup, power_law, tokens_for, weights_used


def gpt(d_model: int) -> ModernGPT:
    torch.manual_seed(0)
    return ModernGPT(20, 8, d_model, d_model // 4, 2)


def test_six_operations_a_weight_and_token():
    """Counted by torch: forward 2 N a token, and what the scores and weighted sums of attention add."""
    model = gpt(16)
    with sdpa_kernel(SDPBackend.MATH), Products() as products, torch.no_grad():
        model(torch.zeros(1, 8, dtype=torch.int64))
    attention = 2 * 4 * 8 * 8 * 16  # both layers: scores and sums of 8 queries, 8 keys, width 16
    assert products.flops == 8 * 2 * weights_used(model) + attention
    assert tokens_for(6.0e6, 1000) == 1000


def test_a_parabola_is_found_again():
    N = np.array([1e3, 4e3, 1e4, 6e4])
    best, least = lowest(N, 1.5 + 0.1 * np.log(N / 7e3) ** 2)
    assert best == pytest.approx(7e3)
    assert least == pytest.approx(1.5)


@pytest.mark.parametrize("loss", [[3, 2, 1], [1, 2, 3], [1, 2, 1]])
def test_a_best_size_outside_the_sizes_is_refused(loss):
    with pytest.raises(ValueError, match="other sizes"):
        lowest([1e3, 1e4, 1e5], loss)


def test_what_cannot_be_counted_or_fitted_is_named():
    with pytest.raises(ValueError, match="three or more"):
        lowest([1e3, 1e4], [1, 2])
    with pytest.raises(ValueError, match="positive"):
        tokens_for(1e9, 0)


def test_a_power_law_is_found_again():
    x = np.array([1.0, 10.0, 1000.0])
    assert power_law(x, 3 * x**-0.25) == pytest.approx((3, -0.25))


def test_at_the_base_width_nothing_changes():
    plain, under = gpt(16), gpt(16)
    groups = mup(under, 16, 0.01)
    assert {group["lr"] for group in groups} == {0.01}
    assert all(torch.equal(a, b) for a, b in zip(plain.parameters(), under.parameters(), strict=True))


def test_every_parameter_has_one_group_and_hidden_matrices_the_slow_one():
    model = gpt(64)
    slow, fast = mup(model, 16, 0.01)
    assert (slow["lr"], fast["lr"]) == (0.0025, 0.01)
    assert len(slow["params"]) + len(fast["params"]) == len(list(model.parameters()))
    assert any(p is model.blocks[0].mix.W_q.weight for p in slow["params"])
    assert any(p is model.embedding.weight for p in fast["params"])


@pytest.mark.parametrize("under_mup", [False, True])
def test_one_step_lowers_the_loss_alike_at_every_width_only_under_mup(under_mup):
    tokens, falls = torch.randint(20, (4, 9), generator=torch.Generator().manual_seed(0)), []
    for d_model in (16, 256):
        model = gpt(d_model)
        adam = torch.optim.Adam(mup(model, 16, 0.003) if under_mup else model.parameters(), lr=0.003)
        losses = []
        for _ in range(2):
            losses.append(torch.nn.functional.cross_entropy(model(tokens[:, :-1]).transpose(1, 2), tokens[:, 1:]))
            adam.zero_grad()
            losses[-1].backward()
            adam.step()
        falls.append((losses[0] - losses[1]).item())
    assert (falls[1] < 1.3 * falls[0]) is under_mup
