import math

import pytest
import torch

from lmbook.scan import MinGRU, Selective, Unselective, scan


def by_loop(a, b, h):
    states = []
    for t in range(a.shape[1]):
        h = a[:, t] * h + b[:, t]
        states.append(h)
    return torch.stack(states, dim=1)


@pytest.mark.parametrize("T", [1, 2, 3, 7, 8, 9, 33])
def test_a_scan_is_the_loop(T):
    g = torch.Generator().manual_seed(T)
    a, b, h = torch.rand(2, T, 3, generator=g), torch.randn(2, T, 3, generator=g), torch.randn(2, 3, generator=g)
    assert torch.allclose(scan(a, b, h), by_loop(a, b, h), atol=1e-6)
    assert torch.allclose(scan(a, b), by_loop(a, b, torch.zeros(2, 3)), atol=1e-6)


def test_its_gradients_are_those_of_the_loop():
    g = torch.Generator().manual_seed(0)
    inputs = [torch.rand(2, 9, 3, generator=g, dtype=torch.double).requires_grad_() for _ in range(2)]
    h = torch.randn(2, 3, generator=g, dtype=torch.double).requires_grad_()
    weights = torch.randn(2, 9, 3, generator=g, dtype=torch.double)
    found = torch.autograd.grad((scan(*inputs, h) * weights).sum(), [*inputs, h])
    expected = torch.autograd.grad((by_loop(*inputs, h) * weights).sum(), [*inputs, h])
    for one, other in zip(found, expected, strict=True):
        assert torch.allclose(one, other)


def test_a_scan_takes_the_rounds_that_it_promises(monkeypatch):
    rounds, cat = [], torch.cat
    monkeypatch.setattr(torch, "cat", lambda *args, **options: rounds.append(1) or cat(*args, **options))
    for T in (1, 2, 5, 64, 100):
        rounds.clear()
        scan(torch.ones(1, T, 1), torch.ones(1, T, 1))
        assert len(rounds) == 2 * math.ceil(math.log2(T)), "two joins a round"


def test_a_scan_names_shapes_that_do_not_fit():
    with pytest.raises(ValueError, match="one shape"):
        scan(torch.ones(1, 3, 2), torch.ones(1, 3, 1))


def by_hand_gru(layer, x):
    """Algorithm of the paper, step by step, for one row."""
    h, outputs = torch.zeros(layer.m), []
    for x_t in x:
        z = torch.sigmoid(layer.W_z.weight @ x_t + layer.W_z.bias)
        h = (1 - z) * h + z * (layer.W_h.weight @ x_t)
        outputs.append(layer.W_o.weight @ h)
    return torch.stack(outputs)


def by_hand_selective(layer, x):
    """One unit and one number of its state at a time."""
    A, outputs, h = -layer.A_log.exp(), [], torch.zeros(layer.m, layer.n_state)
    for x_t in x:
        u = layer.W_u.weight @ x_t
        delta = (layer.W_D.weight @ u + layer.b_D).exp().add(1).log()
        B, C = layer.W_B.weight @ u, layer.W_C.weight @ u
        y = layer.D * u
        new = h.clone()
        for i in range(layer.m):
            for n in range(layer.n_state):
                new[i, n] = math.exp(delta[i] * A[i, n]) * h[i, n] + delta[i] * B[n] * u[i]
            y[i] += C @ new[i]
        h, gate = new, layer.W_g.weight @ x_t
        outputs.append(layer.W_o.weight @ (y * gate * torch.sigmoid(gate)))
    return torch.stack(outputs)


@pytest.mark.parametrize(
    ("layer", "by_hand"),
    [(MinGRU(6, 5), by_hand_gru), (Selective(6, 5, 3), by_hand_selective)],
    ids=["gru", "selective"],
)
@torch.no_grad()
def test_a_layer_is_its_recurrence_step_by_step(layer, by_hand):
    torch.manual_seed(0)
    for weight in layer.parameters():
        weight.add_(0.3 * torch.randn_like(weight))
    x = torch.randn(2, 7, 6)
    out, state = layer(x, layer.start(2))
    assert torch.allclose(out, torch.stack([by_hand(layer, row) for row in x]), atol=1e-5)
    first, half = layer(x[:, :3], layer.start(2))
    rest, end = layer(x[:, 3:], half, 3)
    assert torch.allclose(torch.cat([first, rest], 1), out, atol=1e-5)
    assert torch.allclose(end, state, atol=1e-5)


def test_a_selective_layer_starts_with_memories_of_many_lengths():
    layer = Selective(8, 4, 2)
    assert torch.allclose(torch.nn.functional.softplus(layer.b_D), torch.logspace(-3, -1, 4), atol=1e-6)
    assert torch.allclose(layer.A_log.exp(), torch.tensor([1.0, 2.0]).repeat(4, 1))


@torch.no_grad()
def test_without_selection_a_layer_weighs_by_distance_alone():
    """y is linear in u with weights that depend on the distance: a shifted input gives the shifted output."""
    torch.manual_seed(0)
    layers = {kind: kind(6, 5, 3) for kind in (Selective, Unselective)}
    x = torch.randn(1, 9, 6)
    later = torch.cat([torch.zeros(1, 2, 6), x], dim=1)
    for kind, layer in layers.items():
        shifted = layer(later, layer.start(1))[0][:, 2:]
        assert torch.allclose(shifted, layer(x, layer.start(1))[0], atol=1e-6)
        u = layer.W_u(x)
        a, b = (layer.selected(u * factor) for factor in (1.0, 2.0))
        same = all(torch.allclose(one, other) for one, other in zip(a, b, strict=True))
        assert same == (kind is Unselective)
