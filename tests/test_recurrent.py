"""Recurrent layers and models: against torch.nn, padding, readable against fast, truncated back-propagation."""

import itertools
import math

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from torch import nn

from lmbook.batching import stream_batches
from lmbook.cells import CELLS
from lmbook.recurrent import Classifier, Recurrent, RecurrentLM, Tagger, detach, state_gradients, truncated
from lmbook.stacked import FUSED, one_buffer, run_cell

B, T, D_IN, HIDDEN, VOCAB = 4, 7, 3, 5, 23
LENGTHS = torch.tensor([7, 4, 1, 6])
MASK = torch.arange(T) < LENGTHS[:, None]
MODULES = {"rnn": nn.RNN, "lstm": nn.LSTM, "gru": nn.GRU}

kinds = pytest.mark.parametrize("cell", CELLS)
directions = pytest.mark.parametrize("bidirectional", [False, True], ids=["one direction", "two directions"])
fast_or_not = pytest.mark.parametrize("fast", [False, True], ids=["readable", "fast"])


@pytest.fixture(autouse=True)
def seeded():
    torch.manual_seed(0)


def randomised(network: nn.Module) -> nn.Module:
    """In float64, with every parameter, biases too, away from 0."""
    for parameter in network.parameters():
        nn.init.normal_(parameter, std=0.5)
    return network.double()


def flat(state) -> list[torch.Tensor]:
    return [part for layer in state for part in layer]


def random_state(network: Recurrent, batch_size: int = B) -> tuple:
    return tuple(tuple(torch.randn_like(part) for part in layer) for layer in network.start(batch_size))


def in_torch_form(network: Recurrent, state: tuple) -> torch.Tensor | tuple:
    """Our state as torch has it: (n_layers directions, B, hidden), layer by layer, forward before backward."""
    parts = [torch.stack([half for p in part for half in p.split(HIDDEN, dim=-1)]) for part in zip(*state, strict=True)]
    return parts[0] if len(parts) == 1 else tuple(parts)


def tokens_of(rows: int = B, length: int = T) -> torch.Tensor:
    return torch.randint(5, VOCAB, (rows, length))


@kinds
@directions
@fast_or_not
@pytest.mark.parametrize("n_layers", [1, 3])
def test_a_network_is_that_of_torch_forward_and_backward(cell, bidirectional, fast, n_layers):
    network = randomised(Recurrent(D_IN, HIDDEN, n_layers, cell, bidirectional, fast=fast))
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
@fast_or_not
def test_a_network_from_torch_is_the_same_network(cell, bidirectional, fast):
    module = MODULES[cell](D_IN, HIDDEN, 2, batch_first=True, bidirectional=bidirectional)
    network = Recurrent.from_torch(module, fast=fast)
    x = torch.randn(B, T, D_IN)
    torch.testing.assert_close(network(x)[0], module(x)[0])
    torch.testing.assert_close(network.to_torch()(x)[0], module(x)[0])


@kinds
@directions
@fast_or_not
def test_a_row_alone_and_in_a_padded_batch_is_the_same(cell, bidirectional, fast):
    network = randomised(Recurrent(D_IN, HIDDEN, 2, cell, bidirectional, fast=fast))
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
    monkeypatch.setattr("lmbook.stacked.run_cell", broken)
    with pytest.raises(AssertionError):
        test_readable_and_fast_are_equal_with_padding_and_an_empty_row_forward_and_backward("gru", True)


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
@pytest.mark.filterwarnings("error")
@kinds
@directions
def test_on_a_gpu_cudnn_gives_the_same_and_copies_no_weights(cell, bidirectional):
    network = randomised(Recurrent(D_IN, HIDDEN, 2, cell, bidirectional)).cuda()
    x = torch.randn(B, T, D_IN).double().cuda().requires_grad_()
    for mask in (None, MASK.cuda()):
        results = []
        for network.fast in (False, True):
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
def test_the_fast_form_is_the_same_out_of_one_buffer(cell, bidirectional, monkeypatch):
    fused = FUSED[CELLS[cell]]
    monkeypatch.setitem(FUSED, CELLS[cell], lambda *given: fused(*map(rearranged, given)))
    test_readable_and_fast_are_equal_with_padding_and_an_empty_row_forward_and_backward(cell, bidirectional)


def rearranged(given):
    """The list of weights, whose first is a matrix, in one buffer; every other argument as it is."""
    is_weights = isinstance(given, list) and given[0].dim() == 2
    return one_buffer(given) if is_weights else given


@kinds
@fast_or_not
def test_bfloat16_where_torch_takes_it(cell, fast):
    model, tokens = RecurrentLM(VOCAB, 8, HIDDEN, 2, cell, fast=fast), tokens_of()
    with torch.autocast("cpu", torch.bfloat16):
        logits, state = model.run(tokens, None, MASK)
        logits.float().sum().backward()
        step, _ = model.step(state, tokens[:, 0])
    torch.testing.assert_close(logits.float()[MASK], model(tokens)[MASK], rtol=0.05, atol=0.02)
    assert step.isfinite().all()
    assert all(parameter.grad.dtype == torch.float32 for parameter in model.parameters())


def test_without_the_mask_the_padding_is_read():
    network = randomised(Recurrent(D_IN, HIDDEN, 1, "gru", bidirectional=True))
    x = torch.randn(B, T, D_IN).double()
    outputs, final = network(x)
    masked, masked_final = network(x, None, MASK)
    assert (outputs - masked)[1, :4, HIDDEN:].abs().max() > 1e-3  # the backward cell has come through the padding
    assert (final[0][0] - masked_final[0][0])[1].abs().min() > 0
    assert torch.equal(outputs[1, :4, :HIDDEN], masked[1, :4, :HIDDEN])  # the forward cell has not


@kinds
@directions
def test_readable_and_fast_are_equal_with_padding_and_an_empty_row_forward_and_backward(cell, bidirectional):
    network = randomised(Recurrent(D_IN, HIDDEN, 2, cell, bidirectional, dropout=0.5))
    mask = torch.arange(T) < torch.tensor([7, 0, 1, 6])[:, None]
    x, state = torch.randn(B, T, D_IN).double().requires_grad_(), random_state(network)
    results = []
    for fast in (False, True):
        network.fast = fast
        torch.manual_seed(3)  # the same dropout
        outputs, final = network(x, state, mask)
        weights = torch.linspace(-1, 1, outputs.numel()).view_as(outputs)
        loss = (outputs * weights).sum() + sum((part**2).sum() for part in flat(final))
        gradients = torch.autograd.grad(loss, [x, *network.parameters()])
        assert [part[1].tolist() for part in flat(final)] == [part[1].tolist() for part in flat(state)]  # the empty row
        results.append((outputs, flat(final), gradients))
    torch.testing.assert_close(*results)


@directions
def test_padding_on_the_left_changes_nothing_but_the_fast_form_refuses_it(bidirectional):
    network = randomised(Recurrent(D_IN, HIDDEN, 2, "lstm", bidirectional))
    x, mask = torch.randn(1, T, D_IN).double(), torch.arange(T)[None] >= 3
    outputs, final = network(x, None, mask)
    alone, alone_final = network(x[:, 3:])
    torch.testing.assert_close(outputs[:, 3:], alone)
    torch.testing.assert_close(final, alone_final)
    network.fast = True
    with pytest.raises(ValueError, match="on the right"):
        network(x, None, mask)


@kinds
def test_step_by_step_is_the_whole_pass(cell):
    network = randomised(Recurrent(D_IN, HIDDEN, 2, cell))
    x = torch.randn(B, T, D_IN).double()
    outputs, final = network(x)
    state = network.start(B)
    for t in range(T):
        h, state = network.step(x[:, t], state)
        torch.testing.assert_close(h, outputs[:, t])
    torch.testing.assert_close(state, final)


def test_the_state_given_is_not_changed():
    network = Recurrent(D_IN, HIDDEN, 2, "lstm")
    state = random_state(network)
    before = [part.clone() for part in flat(state)]
    network.step(torch.randn(B, D_IN), state)
    network(torch.randn(B, T, D_IN), state, MASK)
    assert all(torch.equal(one, other) for one, other in zip(before, flat(state), strict=True))


@fast_or_not
def test_dropout_goes_up_between_layers_never_along_time(fast):
    one = Recurrent(D_IN, HIDDEN, 1, "gru", dropout=0.9, fast=fast)
    x = torch.randn(B, T, D_IN)
    assert torch.equal(one(x)[0], one.eval()(x)[0])  # one layer: there is nothing between
    two = Recurrent(D_IN, HIDDEN, 2, "gru", dropout=0.5, fast=fast).double()
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


def language_model(cell: str = "lstm", fast: bool = False, **options) -> RecurrentLM:
    return randomised(RecurrentLM(VOCAB, 5, HIDDEN, 2, cell, fast=fast, **options))


@kinds
@fast_or_not
def test_no_position_of_the_language_model_sees_the_future(cell, fast):
    model, tokens = language_model(cell, fast), tokens_of()
    changed = tokens.clone()
    changed[:, 4:] = (changed[:, 4:] - 4) % (VOCAB - 5) + 5
    assert torch.equal(model(tokens)[:, :4], model(changed)[:, :4])
    assert (model(tokens)[:, 4:] != model(changed)[:, 4:]).any()


@kinds
@fast_or_not
@pytest.mark.parametrize("tie", [False, True])
def test_language_model_teacher_forced_step_by_step_and_in_pieces(cell, fast, tie):
    model, tokens = language_model(cell, fast, tie=tie), tokens_of()
    logits, state = model(tokens), model.start(B)
    assert logits.shape == (B, T, VOCAB)
    for t in range(T):
        step, state = model.step(state, tokens[:, t])
        torch.testing.assert_close(step, logits[:, t])
    first, middle = model.run(tokens[:, :3], model.start(B))
    second, end = model.run(tokens[:, 3:], middle)
    torch.testing.assert_close(torch.cat([first, second], dim=1), logits)
    torch.testing.assert_close(end, state)


@fast_or_not
def test_language_model_alone_and_padded(fast):
    model, tokens = language_model(fast=fast), tokens_of()
    tokens[~MASK] = 0
    logits, state = model.run(tokens, None, MASK)
    for row, length in enumerate(LENGTHS.tolist()):
        alone, final = model.run(tokens[row : row + 1, :length], None)
        torch.testing.assert_close(logits[row : row + 1, :length], alone)
        torch.testing.assert_close([part[row : row + 1] for part in flat(state)], flat(final))


@kinds
@pytest.mark.parametrize("tie", [False, True])
def test_first_loss_is_near_the_logarithm_of_the_vocabulary(cell, tie):
    model, tokens = RecurrentLM(1000, 32, 32, 2, cell, tie=tie), torch.randint(1000, (8, 30))
    loss = F.cross_entropy(model(tokens)[:, :-1].flatten(0, 1), tokens[:, 1:].flatten())
    assert loss.item() == pytest.approx(math.log(1000), rel=0.02)


def test_tied_weights_are_one_parameter():
    tied, free = RecurrentLM(VOCAB, 5, 5, tie=True), RecurrentLM(VOCAB, 5, 5)
    assert tied.output.weight is tied.embedding.weight
    assert sum(p.numel() for p in free.parameters()) - sum(p.numel() for p in tied.parameters()) == VOCAB * 5


@kinds
@fast_or_not
def test_one_batch_is_learned_by_heart(cell, fast):
    model, tokens = RecurrentLM(VOCAB, 16, 32, 1, cell, fast=fast), tokens_of()
    optimiser = torch.optim.Adam(model.parameters(), lr=0.02)
    for _ in range(80):
        loss = F.cross_entropy(model(tokens)[:, :-1].flatten(0, 1), tokens[:, 1:].flatten())
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
    assert loss.item() < 0.45  # the first target of a row may be a guess among rows that start alike


def whole_gradient(model: RecurrentLM, inputs: torch.Tensor, targets: torch.Tensor) -> list[torch.Tensor]:
    loss = F.cross_entropy(model(inputs).flatten(0, 1), targets.flatten(), reduction="sum")
    return list(torch.autograd.grad(loss, list(model.parameters())))


def truncated_gradient(model: RecurrentLM, windows) -> tuple[list[torch.Tensor], float, int]:
    model.zero_grad()
    total = n = 0
    for loss, count in truncated(model, windows):
        loss.backward()
        total, n = total + loss.item(), n + count
    return [parameter.grad for parameter in model.parameters()], total, n


@fast_or_not
def test_truncation_cuts_gradients_not_losses(fast):
    model, stream = language_model(fast=fast), tokens_of(1, 25)[0].numpy()
    (inputs, targets), *none = stream_batches(stream, 2, 12)
    assert not none
    inputs, targets = torch.as_tensor(inputs), torch.as_tensor(targets)
    whole = whole_gradient(model, inputs, targets)
    one_piece, loss, n = truncated_gradient(model, stream_batches(stream, 2, 12))
    torch.testing.assert_close(one_piece, whole)
    pieces, same_loss, same_n = truncated_gradient(model, stream_batches(stream, 2, 5))
    assert (same_n, n) == (24, 24)
    assert same_loss == pytest.approx(loss)  # the state goes on, so what is predicted stays the same
    assert any((one - other).abs().max() > 1e-4 for one, other in zip(pieces, whole, strict=True))
    # what is left is the gradient of each piece with the state before it as a constant
    by_piece, state = [torch.zeros_like(gradient) for gradient in whole], model.start(2)
    for piece in (slice(0, 5), slice(5, 10), slice(10, 12)):
        constant = tuple(tuple(part.data.clone() for part in layer) for layer in state)
        logits, state = model.run(inputs[:, piece], constant)
        piece_loss = F.cross_entropy(logits.flatten(0, 1), targets[:, piece].flatten(), reduction="sum")
        for total, gradient in zip(by_piece, torch.autograd.grad(piece_loss, list(model.parameters())), strict=True):
            total += gradient
    torch.testing.assert_close(pieces, by_piece)


def test_detach_keeps_the_values_and_cuts_the_graph():
    model = language_model()
    _, state = model.run(tokens_of(), model.start(B))
    cut = detach(state)
    assert all(part.requires_grad for part in flat(state))
    assert not any(part.requires_grad for part in flat(cut))
    torch.testing.assert_close(flat(cut), [part.detach() for part in flat(state)])


@fast_or_not
@directions
@pytest.mark.parametrize("explicit", [False, True], ids=["mask from <pad>", "mask given"])
def test_tagger_alone_and_padded(fast, bidirectional, explicit):
    model, tokens = randomised(Tagger(VOCAB, 4, 6, HIDDEN, 2, bidirectional=bidirectional, fast=fast)), tokens_of()
    if not explicit:
        tokens[~MASK] = 0
    logits = model(tokens, MASK if explicit else None)
    assert logits.shape == (B, T, 4)
    for row, length in enumerate(LENGTHS.tolist()):
        torch.testing.assert_close(logits[row : row + 1, :length], model(tokens[row : row + 1, :length]))


def test_a_tagger_of_two_directions_sees_the_right_context_and_one_of_one_does_not():
    tokens = tokens_of()
    changed = tokens.clone()
    changed[:, -1] = (changed[:, -1] - 4) % (VOCAB - 5) + 5
    both, left = (randomised(Tagger(VOCAB, 4, 6, HIDDEN, bidirectional=two)) for two in (True, False))
    assert (both(tokens)[:, 0] != both(changed)[:, 0]).any(dim=-1).all()
    assert torch.equal(left(tokens)[:, :-1], left(changed)[:, :-1])


@fast_or_not
@directions
@pytest.mark.parametrize("pool", ["last", "mean"])
def test_classifier_alone_and_padded(fast, bidirectional, pool):
    model = randomised(Classifier(VOCAB, 3, 6, HIDDEN, 2, "gru", bidirectional, pool=pool, fast=fast))
    tokens = tokens_of()
    tokens[~MASK] = 0
    logits = model(tokens)
    assert logits.shape == (B, 3)
    for row, length in enumerate(LENGTHS.tolist()):
        torch.testing.assert_close(logits[row : row + 1], model(tokens[row : row + 1, :length]))
    tokens[1] = 0
    torch.testing.assert_close(model(tokens)[1], model.output.bias)  # an empty row: no state, no NaN


def test_the_classifier_reads_the_final_states_or_the_mean():
    tokens = tokens_of()
    last, mean = (randomised(Classifier(VOCAB, 3, 6, HIDDEN, pool=pool)) for pool in ("last", "mean"))
    outputs, _ = last.recurrent(last.embedding(tokens))
    ends = torch.cat([outputs[:, -1, :HIDDEN], outputs[:, 0, HIDDEN:]], dim=-1)  # backward, the end is the first token
    torch.testing.assert_close(last(tokens), last.output(ends))
    outputs, _ = mean.recurrent(mean.embedding(tokens))
    torch.testing.assert_close(mean(tokens), mean.output(outputs.mean(dim=1)))


@kinds
def test_state_gradients_against_finite_differences(cell):
    one = randomised(CELLS[cell](D_IN, HIDDEN))
    x, y = torch.randn(B, T, D_IN).double(), torch.randn(B, HIDDEN).double()

    def loss(h):
        return 0.5 * (h - y).square().sum(dim=-1)

    norms = state_gradients(one, x, loss)
    assert [norm.shape for norm in norms] == [(B, T)] * (2 if cell == "lstm" else 1)
    states = [one.start(B)]
    with torch.no_grad():
        for t in range(T):
            states.append(one(x[:, t], states[-1]))
        for t, part in itertools.product(range(1, T), range(len(norms))):
            gradient = torch.zeros(B, HIDDEN).double()
            for k, sign in itertools.product(range(HIDDEN), (1, -1)):
                moved = [tensor.clone() for tensor in states[t]]
                moved[part][:, k] += sign * 1e-6
                if part == 1:  # h_t = o_t tanh(c_t) moves with c_t
                    moved[0] = one.gates(x[:, t - 1], states[t - 1])[2] * torch.tanh(moved[1])
                _, (h, *_) = run_cell(one, x[:, t:], tuple(moved))
                gradient[:, k] += sign * loss(h) / 2e-6
            torch.testing.assert_close(norms[part][:, t - 1], gradient.norm(dim=-1), rtol=1e-5, atol=1e-8)
        torch.testing.assert_close(norms[0][:, -1], (states[-1][0] - y).norm(dim=-1))


def test_the_gradient_of_an_rnn_fades_and_that_of_an_open_lstm_does_not():
    x = torch.randn(B, 60, D_IN)
    rnn, lstm = CELLS["rnn"](D_IN, 20), CELLS["lstm"](D_IN, 20, forget_bias=8.0)
    (of_h,) = state_gradients(rnn, x, lambda h: h.sum(dim=-1))
    _, of_c = state_gradients(lstm, x, lambda h: h.sum(dim=-1))
    assert (of_h[:, 0] < 1e-4 * of_h[:, -1]).all()
    assert (of_c[:, 0] > 0.1 * of_c[:, -1]).all()


def test_gradients_are_taken_even_where_the_weights_are_frozen():
    cell = CELLS["gru"](D_IN, HIDDEN).requires_grad_(False)
    (norms,) = state_gradients(cell, torch.randn(B, T, D_IN), lambda h: h.sum(dim=-1))
    assert (norms > 0).all()


@kinds
def test_a_saved_model_gives_the_same_logits_in_both_forms(cell, tmp_path):
    model, tokens = language_model(cell), tokens_of()
    torch.save(model.state_dict(), tmp_path / "model.pt")
    again = RecurrentLM(VOCAB, 5, HIDDEN, 2, cell, fast=True).double()
    again.load_state_dict(torch.load(tmp_path / "model.pt"))
    torch.testing.assert_close(again(tokens), model(tokens))


def test_evaluation_twice_is_the_same_and_dropout_is_for_training():
    model, tokens = language_model(dropout=0.5), tokens_of()
    assert not torch.equal(model(tokens), model(tokens))
    model.eval()
    assert torch.equal(model(tokens), model(tokens))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: Recurrent(3, 4, cell="elman"), "rnn, lstm, gru"),
        (lambda: Recurrent(3, 4, 0), "at least one layer"),
        (lambda: Recurrent(3, 4, dropout=1.0), "below 1"),
        (lambda: Recurrent(3, 4, cell="gru", reset="before", fast=True), "fast=False"),
        (lambda: Recurrent(3, 4)(torch.zeros(2, 5)), r"\(B, T, 3\)"),
        (lambda: Recurrent(3, 4)(torch.zeros(2, 0, 3)), "at least one step"),
        (lambda: Recurrent(3, 4)(torch.zeros(2, 5, 3), None, torch.ones(2, 5)), "boolean"),
        (lambda: Recurrent(3, 4)(torch.zeros(2, 5, 3), Recurrent(3, 4).start(3)), r"start\(2\)"),
        (lambda: Recurrent(3, 4, bidirectional=True).step(torch.zeros(2, 3), ()), "whole sequence"),
        (lambda: Recurrent.from_torch(nn.RNN(3, 4, nonlinearity="relu")), "tanh"),
        (lambda: Recurrent.from_torch(nn.LSTM(3, 4, proj_size=2)), "no projection"),
        (lambda: RecurrentLM(9, 4, 5, tie=True), r"d_embed \(4\) must be hidden \(5\)"),
        (lambda: RecurrentLM(9, 4, 5)(torch.tensor([[1, 9]])), "from 0 to 8"),
        (lambda: RecurrentLM(9, 4, 5)(torch.zeros(2, 3)), "integer ids"),
        (lambda: RecurrentLM(9, 4, 5)(torch.tensor([1, 2])), r"\(B, T\)"),
        (lambda: RecurrentLM(9, 4, 5).step(RecurrentLM(9, 4, 5).start(1), torch.tensor([[1]])), r"\(B,\)"),
        (lambda: Classifier(9, 2, 4, 5, pool="max"), '"last" or "mean"'),
        (lambda: Tagger(9, 2, 4, 5)(torch.tensor([[-1, 3]])), "run from -1 to 3"),
    ],
)
def test_errors_say_what_is_wrong_and_what_to_do(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_windows_may_be_numpy_arrays_of_any_length():
    model = language_model()
    stream = np.random.default_rng(0).integers(VOCAB, size=30)
    counts = [count for _, count in truncated(model, stream_batches(stream, 3, 4))]
    assert counts == [12, 12, 3]
