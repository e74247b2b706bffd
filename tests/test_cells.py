"""Cells: against torch.nn and loops over single numbers, back-propagation by hand, the two forms of the GRU."""

import math

import pytest
import torch
from torch import nn

from lmbook.cells import CELLS, GRUCell, LSTMCell, RNNCell

B, T, D_IN, HIDDEN = 3, 5, 4, 6
TORCH_CELLS = {"rnn": nn.RNNCell, "lstm": nn.LSTMCell, "gru": nn.GRUCell}


@pytest.fixture(autouse=True)
def seeded():
    torch.manual_seed(0)


def random_cell(kind: str, **options) -> nn.Module:
    """A cell in float64 with every parameter, biases too, away from 0."""
    cell = CELLS[kind](D_IN, HIDDEN, **options).double()
    for parameter in cell.parameters():
        nn.init.normal_(parameter, std=0.7)
    return cell


def random_state(cell: nn.Module) -> tuple:
    return tuple(torch.randn_like(part).requires_grad_() for part in cell.start(B))


def torch_twin(kind: str, cell: nn.Module) -> nn.Module:
    twin = TORCH_CELLS[kind](D_IN, HIDDEN).double()
    names = ("weight_ih", "weight_hh", "bias_ih", "bias_hh")
    twin.load_state_dict(dict(zip(names, cell.torch_weights(), strict=True)))
    return twin


@pytest.mark.parametrize("kind", CELLS)
def test_a_cell_is_that_of_torch_forward_and_backward(kind):
    cell = random_cell(kind)
    twin = torch_twin(kind, cell)
    x, state = torch.randn(B, D_IN).double().requires_grad_(), random_state(cell)
    ours = cell(x, state)
    theirs = twin(x, state if len(state) > 1 else state[0])
    theirs = theirs if isinstance(theirs, tuple) else (theirs,)
    torch.testing.assert_close(ours, theirs)

    weights = [torch.randn_like(part) for part in ours]
    inputs = [x, *state]
    ours_grad = torch.autograd.grad(ours, inputs, weights, retain_graph=True)
    torch.testing.assert_close(ours_grad, torch.autograd.grad(theirs, inputs, weights, retain_graph=True))
    # the gradient of our weights, stacked as torch stacks them, is the gradient of torch's weights
    twin_grad = torch.autograd.grad(theirs, [*twin.parameters()], weights)
    names = [name for name, _ in cell.named_parameters()]
    own = dict(zip(names, torch.autograd.grad(ours, [*cell.parameters()], weights), strict=True))
    gates = {"rnn": "h", "lstm": "ifgo", "gru": "rzn"}[kind]
    torch.testing.assert_close(torch.cat([own[f"W_x{gate}"] for gate in gates]), twin_grad[0])
    torch.testing.assert_close(torch.cat([own[f"W_h{gate}"] for gate in gates]), twin_grad[1])
    biases = ["b"] if kind == "rnn" else [f"b_{gate}" for gate in gates]
    torch.testing.assert_close(torch.cat([own[name] for name in biases]), twin_grad[2])
    if kind == "gru":
        torch.testing.assert_close(own["b_hn"], twin_grad[3][-HIDDEN:])


@pytest.mark.parametrize("kind", CELLS)
def test_weights_of_torch_come_in_and_go_out_again(kind):
    twin = TORCH_CELLS[kind](D_IN, HIDDEN)
    cell = CELLS[kind](D_IN, HIDDEN)
    cell.load_torch_weights(*(parameter.detach() for parameter in twin.parameters()))
    x, state = torch.randn(B, D_IN), tuple(torch.randn(B, HIDDEN) for _ in cell.start(B))
    theirs = twin(x, state if len(state) > 1 else state[0])
    torch.testing.assert_close(cell(x, state)[0], theirs[0] if kind == "lstm" else theirs)
    again = CELLS[kind](D_IN, HIDDEN)
    again.load_torch_weights(*cell.torch_weights())
    assert all(torch.equal(one, other) for one, other in zip(cell.parameters(), again.parameters(), strict=True))


def sigma(a: float) -> float:
    return 1 / (1 + math.exp(-a))


def affine(cell: nn.Module, gate: str, x: torch.Tensor, h: torch.Tensor, k: int) -> float:
    """(W_x x + W_h h + b) of one unit k of one gate, as sums over single numbers."""
    from_x = sum(float(getattr(cell, f"W_x{gate}")[k, j] * x[j]) for j in range(D_IN))
    from_h = sum(float(getattr(cell, f"W_h{gate}")[k, j] * h[j]) for j in range(HIDDEN))
    return from_x + from_h + float(getattr(cell, "b" if gate == "h" else f"b_{gate}")[k])


class GatesInAnotherOrder(LSTMCell):
    def gates(self, x, state):
        i, f, o, g = super().gates(x, state)
        return f, i, o, g


class NoTanhOnTheWayOut(LSTMCell):
    def forward(self, x, state):
        i, f, o, g = self.gates(x, state)
        c = f * state[1] + i * g
        return o * c, c


class OneMinusZKeeps(GRUCell):
    def forward(self, x, state):
        _, z, n = self.gates(x, state)
        return ((1 - z) * state[0] + z * n,)


class BiasOutsideTheReset(GRUCell):
    def gates(self, x, state):
        r, z, n = super().gates(x, state)
        return r, z, torch.tanh(torch.atanh(n) + (1 - r) * self.b_hn)


class NoBias(RNNCell):
    def forward(self, x, state):
        return (torch.tanh(state[0] @ self.W_hh.T + x @ self.W_xh.T),)


@pytest.mark.parametrize(
    ("kind", "broken"),
    [
        ("lstm", GatesInAnotherOrder),
        ("lstm", NoTanhOnTheWayOut),
        ("gru", OneMinusZKeeps),
        ("gru", BiasOutsideTheReset),
        ("rnn", NoBias),
    ],
)
def test_a_broken_cell_is_caught(kind, broken, monkeypatch):
    monkeypatch.setitem(CELLS, kind, broken)
    with pytest.raises(AssertionError):
        test_a_cell_is_that_of_torch_forward_and_backward(kind)


@torch.no_grad()
def test_the_equations_of_the_gru_that_resets_before_the_product_unit_by_unit():
    """Of Cho et al. 2014; the cells of torch are compared with torch."""
    cell = random_cell("gru", reset="before")
    x, (h,) = torch.randn(B, D_IN).double(), random_state(cell)
    (new,) = cell(x, (h,))
    for row in range(B):
        r = [sigma(affine(cell, "r", x[row], h[row], k)) for k in range(HIDDEN)]
        for k in range(HIDDEN):
            z = sigma(affine(cell, "z", x[row], h[row], k))
            a = sum(float(cell.W_xn[k, j] * x[row, j]) for j in range(D_IN)) + float(cell.b_n[k])
            a += sum(float(cell.W_hn[k, j] * h[row, j]) * r[j] for j in range(HIDDEN))
            assert float(new[row, k]) == pytest.approx(z * float(h[row, k]) + (1 - z) * math.tanh(a))


def test_reset_before_and_after_the_product_are_two_models():
    after, before = random_cell("gru"), random_cell("gru", reset="before")
    with torch.no_grad():
        after.b_hn.zero_()
    before.load_state_dict({name: weight for name, weight in after.state_dict().items() if name != "b_hn"})
    x, state = torch.randn(B, D_IN).double(), random_state(after)
    assert (after(x, state)[0] - before(x, state)[0]).abs().max() > 0.01
    with torch.no_grad():  # where r is 1 nothing is reset, and they agree
        after.b_r.fill_(50)
        before.b_r.fill_(50)
    torch.testing.assert_close(after(x, state), before(x, state))


def test_z_keeps_the_old_state_and_negated_weights_give_the_form_of_chung():
    cell = random_cell("gru")
    x, (h,) = torch.randn(B, D_IN).double(), random_state(cell)
    _, z, n = cell.gates(x, (h,))
    negated = GRUCell(D_IN, HIDDEN).double()
    negated.load_state_dict({k: -w if k in ("W_xz", "W_hz", "b_z") else w for k, w in cell.state_dict().items()})
    torch.testing.assert_close(negated(x, (h,))[0], (1 - z) * h + z * n)
    with torch.no_grad():
        cell.b_z.fill_(50)
    torch.testing.assert_close(cell(x, (h,))[0], h)


def test_an_lstm_with_open_forget_gate_and_closed_input_gate_keeps_its_memory():
    cell = random_cell("lstm")
    with torch.no_grad():
        cell.b_f.fill_(60)
        cell.b_i.fill_(-60)
    _, c = state = random_state(cell)
    for _ in range(200):
        state = cell(torch.randn(B, D_IN).double(), state)
    torch.testing.assert_close(state[1], c)


@pytest.mark.parametrize("forget_bias", [0.0, 1.0, 2.5])
def test_forget_bias_is_the_only_bias_that_is_not_zero(forget_bias):
    cell = LSTMCell(D_IN, HIDDEN, forget_bias=forget_bias)
    assert torch.equal(cell.b_f, torch.full((HIDDEN,), forget_bias))
    assert not any(bias.any() for bias in (cell.b_i, cell.b_g, cell.b_o))
    _, f, _, _ = cell.gates(torch.zeros(B, D_IN), cell.start(B))
    torch.testing.assert_close(f, torch.full((B, HIDDEN), sigma(forget_bias)))


@pytest.mark.parametrize(("kind", "options"), [("rnn", {}), ("lstm", {}), ("gru", {}), ("gru", {"reset": "before"})])
def test_gradients_of_every_cell_against_finite_differences(kind, options):
    cell = random_cell(kind, **options)
    names = [name for name, _ in cell.named_parameters()]
    x, state = torch.randn(B, 3, D_IN).double().requires_grad_(), random_state(cell)

    def three_steps(x, *others):
        state, weights = others[: len(others) - len(names)], dict(zip(names, others[-len(names) :], strict=True))
        for t in range(3):
            state = torch.func.functional_call(cell, weights, (x[:, t], state))
        return state

    assert torch.autograd.gradcheck(three_steps, (x, *state, *cell.parameters()), fast_mode=True)


def test_errors_name_what_is_wrong():
    with pytest.raises(ValueError, match="hidden is 0"):
        RNNCell(3, 0)
    with pytest.raises(ValueError, match='"after"'):
        GRUCell(3, 4, reset="never")
    with pytest.raises(ValueError, match="only reset"):
        GRUCell(3, 4, reset="before").torch_weights()
    with pytest.raises(ValueError, match=r"this cell's weights are \(16, 3\)"):
        LSTMCell(3, 4).load_torch_weights(*LSTMCell(2, 4).torch_weights())


@pytest.mark.parametrize("kind", CELLS)
def test_weights_start_uniform_within_the_root_of_the_width_and_biases_at_0(kind):
    cell = CELLS[kind](30, 16)
    for name, weight in cell.named_parameters():
        if name.startswith("W"):
            assert 0.24 < weight.abs().max() <= 1 / 4
        else:
            assert (weight == (1 if name == "b_f" else 0)).all()


@pytest.mark.parametrize("kind", CELLS)
def test_a_cell_of_one_number_is_a_cell(kind):
    cell = CELLS[kind](1, 1)
    assert cell(torch.ones(2, 1), cell.start(2))[0].shape == (2, 1)
    for sizes, said in (((0, 1), "d_in is 0"), ((1, 0), "hidden is 0")):
        with pytest.raises(ValueError, match=f"{said}.* must be at least 1"):
            CELLS[kind](*sizes)
