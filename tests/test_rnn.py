"""Recurrent layers: against torch.nn, the kernels against cell by cell, padding, dropout, and broken ones caught."""

import pytest
import torch
import torch.nn.functional as F
from recurrence import D_IN, HIDDEN, LENGTHS, MASK, B, T, directions, flat, kinds, randomised
from torch import nn

from lmbook.cells import CELLS, LSTMCell
from lmbook.fused import FUSED, fusible, one_buffer
from lmbook.rnn import Recurrent, run_cell


@pytest.fixture(autouse=True)
def seeded():
    torch.manual_seed(0)


def random_state(network: Recurrent, batch_size: int = B) -> tuple:
    return tuple(tuple(torch.randn_like(part) for part in layer) for layer in network.start(batch_size))


def in_torch_form(network: Recurrent, state: tuple) -> torch.Tensor | tuple:
    """Our state as torch has it: (n_layers directions, B, hidden), layer by layer, forward before backward."""
    parts = [torch.stack([half for p in part for half in p.split(HIDDEN, dim=-1)]) for part in zip(*state, strict=True)]
    return parts[0] if len(parts) == 1 else tuple(parts)


@kinds
@directions
@pytest.mark.parametrize("n_layers", [1, 3])
def test_a_network_is_that_of_torch_forward_and_backward(cell, bidirectional, n_layers):
    network = randomised(Recurrent(D_IN, HIDDEN, n_layers, cell, bidirectional))
    module = network.to_torch()
    x, state = torch.randn(B, T, D_IN).double().requires_grad_(), random_state(network)
    outputs, final = network(x, state)
    theirs, their_final = module(x, in_torch_form(network, state))
    torch.testing.assert_close(outputs, theirs)
    torch.testing.assert_close(in_torch_form(network, final), their_final)

    weight = torch.randn_like(outputs)
    loss, their_loss = (outputs * weight).sum(), (theirs * weight).sum()
    torch.testing.assert_close(*(torch.autograd.grad(one, x, retain_graph=True) for one in (loss, their_loss)))
    # our gradients, loaded as if they were weights, are the gradients of torch's weights
    loss.backward()
    their_loss.backward()
    for own, name in zip(network.layers, range(n_layers), strict=True):
        for one, suffix in zip(own, ("", "_reverse")[: len(own)], strict=True):
            gates = {"rnn": "h", "lstm": "ifgo", "gru": "rzn"}[cell]
            for ours, torchs in (("W_x", "weight_ih"), ("W_h", "weight_hh")):
                stacked = torch.cat([getattr(one, ours + gate).grad for gate in gates])
                torch.testing.assert_close(stacked, getattr(module, f"{torchs}_l{name}{suffix}").grad)


@kinds
@directions
def test_a_row_alone_and_in_a_padded_batch_is_the_same(cell, bidirectional):
    network = randomised(Recurrent(D_IN, HIDDEN, 2, cell, bidirectional))
    x, state = torch.randn(B, T, D_IN).double(), random_state(network)
    outputs, final = network(x, state, MASK)
    for row, length in enumerate(LENGTHS.tolist()):
        own = tuple(tuple(part[row : row + 1] for part in layer) for layer in state)
        alone, alone_final = network(x[row : row + 1, :length], own)
        torch.testing.assert_close(outputs[row : row + 1, :length], alone)
        assert not outputs[row, length:].any()
        torch.testing.assert_close([part[row : row + 1] for part in flat(final)], flat(alone_final))


def without_mask(cell, x, state, mask=None, backward=False):
    return run_cell(cell, x, state, None, backward)


def not_turned_back(cell, x, state, mask=None, backward=False):
    outputs, state = run_cell(cell, x, state, mask, backward)
    return outputs.flip(1) if backward else outputs, state


def starts_from_zero(cell, x, state, mask=None, backward=False):
    return run_cell(cell, x, cell.start(len(x)), mask, backward)


def output_left_over(cell, x, state, mask=None, backward=False):
    """Only the state is masked: in the padding, the last output stays."""
    outputs, state = run_cell(cell, x, state, mask, backward)
    return outputs + (outputs == 0) * state[0][:, None], state


@pytest.mark.parametrize("broken", [without_mask, not_turned_back, starts_from_zero, output_left_over])
def test_a_broken_run_is_caught(broken, monkeypatch):
    monkeypatch.setattr("lmbook.rnn.run_cell", broken)
    with pytest.raises(AssertionError):
        test_the_kernels_are_cell_by_cell_with_padding_and_an_empty_row_forward_and_backward("gru", True, monkeypatch)


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
@pytest.mark.filterwarnings("error")
@kinds
@directions
def test_on_a_gpu_cudnn_gives_the_same_and_copies_no_weights(cell, bidirectional, monkeypatch):
    network = randomised(Recurrent(D_IN, HIDDEN, 2, cell, bidirectional)).cuda()
    x = torch.randn(B, T, D_IN).double().cuda().requires_grad_()
    for mask in (None, MASK.cuda()):
        results = []
        for kernel in (fusible, cell_by_cell):
            monkeypatch.setattr("lmbook.rnn.fusible", kernel)
            outputs, final = network(x, None, mask)
            gradients = torch.autograd.grad((outputs**2).sum(), [x, *network.parameters()])
            results.append((outputs, flat(final), gradients))
        torch.testing.assert_close(*results)


def test_weights_in_one_buffer_are_the_same_weights():
    weights = [weight for layer in Recurrent(D_IN, HIDDEN, 1, "gru", True).layers for weight in both_ways(layer)]
    views = one_buffer(weights)
    assert all(torch.equal(one, other) for one, other in zip(views, weights, strict=True))
    assert len({view.untyped_storage().data_ptr() for view in views}) == 1
    places = [(view.storage_offset(), view.dim()) for view in views]
    assert [dim for _, dim in sorted(places)] == [2] * 4 + [1] * 4


def both_ways(cells: nn.ModuleList) -> list[torch.Tensor]:
    return [weight for cell in cells for weight in cell.torch_weights()]


@kinds
@directions
def test_the_kernels_give_the_same_out_of_one_buffer(cell, bidirectional, monkeypatch):
    fused = FUSED[CELLS[cell]]
    monkeypatch.setitem(FUSED, CELLS[cell], lambda *given: fused(*map(rearranged, given)))
    test_the_kernels_are_cell_by_cell_with_padding_and_an_empty_row_forward_and_backward(
        cell, bidirectional, monkeypatch
    )


def rearranged(given):
    """The list of weights, whose first is a matrix, in one buffer; every other argument as it is."""
    is_weights = isinstance(given, list) and given[0].dim() == 2
    return one_buffer(given) if is_weights else given


def test_without_the_mask_the_padding_is_read():
    network = randomised(Recurrent(D_IN, HIDDEN, 1, "gru", bidirectional=True))
    x = torch.randn(B, T, D_IN).double()
    outputs, final = network(x)
    masked, masked_final = network(x, None, MASK)
    assert (outputs - masked)[1, :4, HIDDEN:].abs().max() > 1e-3  # the backward cell has come through the padding
    assert (final[0][0] - masked_final[0][0])[1].abs().min() > 0
    torch.testing.assert_close(outputs[1, :4, :HIDDEN], masked[1, :4, :HIDDEN])  # the forward cell has not


def cell_by_cell(cell, x, mask):
    """In the place of `fusible`: no kernel for anything."""
    return False


@kinds
@directions
def test_the_kernels_are_cell_by_cell_with_padding_and_an_empty_row_forward_and_backward(
    cell, bidirectional, monkeypatch
):
    network = randomised(Recurrent(D_IN, HIDDEN, 2, cell, bidirectional, dropout=0.5))
    mask = torch.arange(T) < torch.tensor([7, 0, 1, 6])[:, None]
    x, state = torch.randn(B, T, D_IN).double().requires_grad_(), random_state(network)
    results = []
    for kernel in (fusible, cell_by_cell):
        monkeypatch.setattr("lmbook.rnn.fusible", kernel)
        torch.manual_seed(3)  # the same dropout
        outputs, final = network(x, state, mask)
        weights = torch.linspace(-1, 1, outputs.numel()).view_as(outputs)
        loss = (outputs * weights).sum() + sum((part**2).sum() for part in flat(final))
        gradients = torch.autograd.grad(loss, [x, *network.parameters()])
        assert [part[1].tolist() for part in flat(final)] == [part[1].tolist() for part in flat(state)]  # the empty row
        results.append((outputs, flat(final), gradients))
    torch.testing.assert_close(*results)


@directions
def test_padding_on_the_left_which_no_kernel_takes_changes_nothing(bidirectional):
    network = randomised(Recurrent(D_IN, HIDDEN, 2, "lstm", bidirectional))
    x, mask = torch.randn(1, T, D_IN).double(), torch.arange(T)[None] >= 3
    outputs, final = network(x, None, mask)
    alone, alone_final = network(x[:, 3:])
    torch.testing.assert_close(outputs[:, 3:], alone)
    torch.testing.assert_close(final, alone_final)


def test_a_kernel_is_used_where_there_is_one(monkeypatch):
    """Right padding, single and double precision, torch's cells; not left padding, bfloat16, the unit of Cho et al."""
    gru, x, mask = Recurrent(3, 4, cell="gru").layers[0][0], torch.randn(2, 5, 3), torch.ones(2, 5, dtype=torch.bool)
    left, right = mask.clone(), mask.clone()
    left[0, 0], right[0, 3:] = False, False
    assert fusible(gru, x, None)
    assert fusible(gru, x.double(), right)
    assert not fusible(gru, x, left)
    assert not fusible(gru, x.bfloat16(), None)
    with torch.autocast("cpu", torch.bfloat16):
        assert not fusible(gru, x, None)
    cho = Recurrent(3, 4, cell="gru", reset="before")
    assert not fusible(cho.layers[0][0], x, None)
    assert cho.step_weights() is None
    monkeypatch.setattr("lmbook.rnn.run_cell", None)
    Recurrent(3, 4, cell="gru")(x, None, right)  # no cell is asked
    with pytest.raises(TypeError):
        cho(x)


@kinds
def test_fused_steps_are_the_whole_pass_and_so_are_their_gradients(cell):
    network = randomised(Recurrent(D_IN, HIDDEN, 2, cell))
    x = torch.randn(B, T, D_IN).double()
    outputs, final = network(x)
    state, weights, hs = network.start(B), network.step_weights(), []
    for x_t in x.unbind(1):
        h, state = network.step(x_t, state, weights)
        hs.append(h)
    torch.testing.assert_close(torch.stack(hs, 1), outputs)
    torch.testing.assert_close(state, final)
    wanted, found = (
        torch.autograd.grad(hidden.square().sum(), list(network.parameters()), retain_graph=True)
        for hidden in (outputs, torch.stack(hs, 1))
    )
    torch.testing.assert_close(found, wanted)


@kinds
@directions
def test_with_residual_connections_each_layer_of_torch_but_the_first_adds_its_input(cell, bidirectional):
    network = randomised(Recurrent(D_IN, HIDDEN, 3, cell, bidirectional, residual=True))
    x, state = torch.randn(B, T, D_IN).double(), random_state(network)
    outputs, final = network(x, state)
    expected, finals = x, []
    for i, cells in enumerate(network.layers):
        alone = Recurrent(network.width if i else D_IN, HIDDEN, 1, cell, bidirectional).double()
        alone.layers[0].load_state_dict(cells.state_dict())
        theirs, last = alone.to_torch()(expected, in_torch_form(network, state[i : i + 1]))
        expected = theirs + expected if i else theirs
        finals.append(last)
    torch.testing.assert_close(outputs, expected)
    for i, last in enumerate(finals):
        torch.testing.assert_close(in_torch_form(network, final[i : i + 1]), last)
    padded, _ = network(x, state, MASK)
    torch.testing.assert_close(padded[0], outputs[0])
    assert not padded[~MASK].any()


@kinds
def test_with_residual_connections_step_by_step_is_the_whole_pass(cell):
    network = randomised(Recurrent(D_IN, HIDDEN, 3, cell, residual=True))
    x = torch.randn(B, T, D_IN).double()
    outputs, final = network(x)
    for weights in (None, network.step_weights()):
        state = network.start(B)
        for t in range(T):
            h, state = network.step(x[:, t], state, weights)
            torch.testing.assert_close(h, outputs[:, t])
        torch.testing.assert_close(state, final)


def test_the_state_given_is_not_changed():
    network = Recurrent(D_IN, HIDDEN, 2, "lstm")
    state = random_state(network)
    before = [part.clone() for part in flat(state)]
    network.step(torch.randn(B, D_IN), state)
    network(torch.randn(B, T, D_IN), state, MASK)
    assert all(torch.equal(one, other) for one, other in zip(before, flat(state), strict=True))


def test_dropout_goes_up_between_layers_never_along_time():
    one = Recurrent(D_IN, HIDDEN, 1, "gru", dropout=0.9)
    x = torch.randn(B, T, D_IN)
    start = one.start(B)
    assert torch.equal(one.step(x[:, 0], start)[0], one.eval().step(x[:, 0], start)[0])  # nothing is below one layer
    assert torch.equal(one.train()(x)[0], one.eval()(x)[0])
    two = Recurrent(D_IN, HIDDEN, 2, "gru", dropout=0.5).double()
    x = x.double()
    first, _ = run_cell(two.layers[0][0], x, two.layers[0][0].start(B))
    torch.manual_seed(5)
    outputs, state = two(x)
    torch.manual_seed(5)
    dropped = F.dropout(first, 0.5)
    again, _ = run_cell(two.layers[1][0], dropped, two.layers[1][0].start(B))
    torch.testing.assert_close(outputs, again)
    torch.testing.assert_close(state[0][0], first[:, -1])  # what goes on in time is whole
    assert torch.equal(two.eval()(x)[0], two(x)[0])


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: Recurrent(3, 4, cell="elman"), "rnn, lstm, gru"),
        (lambda: Recurrent(3, 4, 0), "at least one layer"),
        (lambda: Recurrent(3, 4, dropout=1.0), "below 1"),
        (lambda: Recurrent(3, 4)(torch.zeros(2, 5)), r"\(B, T, 3\)"),
        (lambda: Recurrent(3, 4)(torch.zeros(2, 0, 3)), "at least one step"),
        (lambda: Recurrent(3, 4)(torch.zeros(2, 5, 3), None, torch.ones(2, 5)), "boolean"),
        (lambda: Recurrent(3, 4)(torch.zeros(2, 5, 3), Recurrent(3, 4).start(3)), r"start\(2\)"),
        (lambda: Recurrent(3, 4, bidirectional=True).step(torch.zeros(2, 3), ()), "whole sequence"),
        (lambda: Recurrent(3, 4, residual=True).to_torch(), "residual must be False"),
    ],
)
def test_errors_say_what_is_wrong_and_what_to_do(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_a_subclass_of_a_cell_runs_as_it_says_and_not_as_its_parent():
    class Doubled(LSTMCell):
        def forward(self, x, state):
            h, c = super().forward(x, state)
            return 2 * h, c

    network = randomised(Recurrent(D_IN, HIDDEN, 1, "lstm"))
    x = torch.randn(B, T, D_IN).double()
    plain, _ = network(x)
    network.layers[0][0].__class__ = Doubled
    outputs, _ = network(x)
    torch.testing.assert_close(outputs, run_cell(network.layers[0][0], x, network.start(B)[0])[0])
    assert not torch.allclose(outputs, plain)
    assert network.step_weights() is None
