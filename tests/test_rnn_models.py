"""Models of recurrent layers: in pieces, alone and padded, truncated back-propagation, gradients over distance."""

import itertools

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from recurrence import D_IN, HIDDEN, MASK, B, T, flat, kinds, randomised

from lmbook.cells import CELLS
from lmbook.data.batching import stream_batches
from lmbook.rnn import run_cell
from lmbook.rnn_models import Classifier, RecurrentLM, Tagger, detach, state_gradients, truncated_bptt

VOCAB = 23


@pytest.fixture(autouse=True)
def seeded():
    torch.manual_seed(0)


def tokens_of(rows: int = B, length: int = T) -> torch.Tensor:
    return torch.randint(5, VOCAB, (rows, length))


def language_model(cell: str = "lstm", **options) -> RecurrentLM:
    return randomised(RecurrentLM(VOCAB, 5, HIDDEN, 2, cell, **options))


def test_tied_weights_are_one_parameter():
    tied, free = RecurrentLM(VOCAB, 5, 5, tied=True), RecurrentLM(VOCAB, 5, 5)
    assert tied.output.weight is tied.embedding.weight
    assert sum(p.numel() for p in free.parameters()) - sum(p.numel() for p in tied.parameters()) == VOCAB * 5


def whole_gradient(model: RecurrentLM, inputs: torch.Tensor, targets: torch.Tensor) -> list[torch.Tensor]:
    loss = F.cross_entropy(model(inputs).flatten(0, 1), targets.flatten(), reduction="sum")
    return list(torch.autograd.grad(loss, list(model.parameters())))


def truncated_gradient(model: RecurrentLM, windows) -> tuple[list[torch.Tensor], float, int]:
    model.zero_grad()
    total = n = 0
    for loss, count in truncated_bptt(model, windows):
        loss.backward()
        total, n = total + loss.item(), n + count
    return [parameter.grad for parameter in model.parameters()], total, n


def test_truncation_cuts_gradients_not_losses():
    model, stream = language_model(), tokens_of(1, 25)[0].numpy()
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


def test_by_default_one_layer_reads_and_a_tagger_reads_both_ways():
    for model, ways in ((RecurrentLM(9, 3, 4), 1), (Tagger(9, 2, 3, 4), 2)):
        (layer,) = model.recurrent.layers
        assert len(layer) == ways
        assert model.recurrent.dropout == 0
    assert RecurrentLM(9, 3, 4).output.weight.shape == (9, 4)  # not tied: the sizes may differ


def test_a_tagger_of_two_directions_sees_the_right_context_and_one_of_one_does_not():
    tokens = tokens_of()
    changed = tokens.clone()
    changed[:, -1] = (changed[:, -1] - 4) % (VOCAB - 5) + 5
    both, left = (randomised(Tagger(VOCAB, 4, 6, HIDDEN, bidirectional=two)) for two in (True, False))
    assert (both(tokens)[:, 0] != both(changed)[:, 0]).any(dim=-1).all()
    assert torch.equal(left(tokens)[:, :-1], left(changed)[:, :-1])


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


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: RecurrentLM(9, 4, 5, tied=True), r"d_embed \(4\) must be hidden \(5\)"),
        (lambda: RecurrentLM(9, 4, 5)(torch.tensor([[1, 9]])), "from 0 to 8"),
        (lambda: RecurrentLM(9, 4, 5)(torch.zeros(2, 3)), "integer ids"),
        (lambda: RecurrentLM(9, 4, 5)(torch.tensor([1, 2])), r"\(B, T\)"),
        (lambda: RecurrentLM(9, 4, 5).step(torch.tensor([[1]]), RecurrentLM(9, 4, 5).start(1)), r"\(B,\)"),
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
    counts = [count for _, count in truncated_bptt(model, stream_batches(stream, 3, 4))]
    assert counts == [12, 12, 3]


@kinds
def test_bfloat16_where_torch_takes_it(cell):
    model, tokens = RecurrentLM(VOCAB, 8, HIDDEN, 2, cell), tokens_of()
    with torch.autocast("cpu", torch.bfloat16):
        logits, state = model.run(tokens, None, MASK)
        logits.float().sum().backward()
        step, _ = model.step(tokens[:, 0], state)
    torch.testing.assert_close(logits.float()[MASK], model(tokens)[MASK], rtol=0.05, atol=0.02)
    assert step.isfinite().all()
    assert all(parameter.grad.dtype == torch.float32 for parameter in model.parameters())
