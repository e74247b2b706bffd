"""Where the gradient is cut, and only there."""

import pytest
import torch

from lmbook.lab.recipes.tasks import stream_nll
from lmbook.lab.recipes.truncation import CUTS, cut_nll
from lmbook.rnn_models import RecurrentLM

T = CUTS[-1]


@pytest.fixture
def model():
    torch.manual_seed(0)
    return RecurrentLM(20, 8, 16, cell="rnn").double()


@pytest.fixture
def batch():
    ids = torch.randint(5, 20, (4, T + 1), generator=torch.Generator().manual_seed(1))
    return ids[:, :-1], ids[:, 1:]


def gradient(model, nll):
    return torch.autograd.grad(nll, model.recurrent.layers[0][0].W_hh)[0]


def test_a_cut_changes_no_loss_and_no_state(model, batch):
    whole, n, (state,) = stream_nll(model, batch, None)
    for cut in CUTS:
        nll, count, (found,) = cut_nll(model, batch, None, cut)
        assert torch.allclose(nll, whole)
        assert count == n == 4 * T
        assert torch.allclose(found[0], state[0])
        assert not found[0].requires_grad


def test_a_cut_of_the_window_is_no_cut(model, batch):
    given = ((torch.randn(4, 16, dtype=torch.double),),)
    for state in None, given:
        whole, found = (loss(model, batch, state) for loss in (stream_nll, lambda *a: cut_nll(*a, cut=T)))
        assert torch.allclose(gradient(model, whole[0]), gradient(model, found[0]))


def test_a_cut_after_every_step_takes_the_state_before_as_given(model, batch):
    inputs, targets = batch
    cell = model.recurrent.layers[0][0]
    h, expected = torch.zeros(4, 16, dtype=torch.double), 0
    for x, y in zip(model.embedding(inputs).unbind(1), targets.unbind(1), strict=True):
        (h,) = cell(x, (h.detach(),))
        nll = torch.nn.functional.cross_entropy(model.output(h), y, reduction="sum")
        expected = expected + gradient(model, nll)
    assert torch.allclose(gradient(model, cut_nll(model, batch, None, 1)[0]), expected)
    assert not torch.allclose(gradient(model, cut_nll(model, batch, None, 3)[0]), expected)
