"""The feed-forward language model against an explicit loop over windows and against the gradients derived by hand."""

import math
from itertools import pairwise

import numpy as np
import pytest
import torch

from lmbook import backprop
from lmbook.feedforward import FeedForwardLM
from lmbook.networks import n_parameters
from lmbook.text import SOS_ID

VOCAB, D, HIDDEN = 11, 4, 6


def make(window: int = 3, **options) -> FeedForwardLM:
    torch.manual_seed(0)
    return FeedForwardLM(VOCAB, D, options.pop("hidden", HIDDEN), window, **options).double()


def random_tokens(B: int = 3, T: int = 8, seed: int = 1) -> torch.Tensor:
    return torch.randint(VOCAB, (B, T), generator=torch.Generator().manual_seed(seed))


@pytest.fixture(params=[1, 2, 3, 7, 12], ids=lambda n: f"window {n}")
def window(request):
    return request.param


@pytest.mark.parametrize("options", [{}, {"bias": True}, {"activation": "sigmoid"}, {"tied": True, "hidden": D}])
def test_forward_is_the_equations_window_by_window(window, options):
    model, tokens = make(window, **options), random_tokens()
    f = {"tanh": math.tanh, "sigmoid": lambda a: 1 / (1 + math.exp(-a))}[options.get("activation", "tanh")]
    E, W, U = (layer.weight.detach().numpy() for layer in (model.embedding, model.W, model.output))
    d, b = (layer.bias.detach().numpy() if options.get("bias") else 0 for layer in (model.W, model.output))
    logits = model(tokens).detach().numpy()
    for row, text in enumerate(tokens.tolist()):
        for t in range(len(text)):
            seen = ([SOS_ID] * window + text[: t + 1])[-window:]
            e = np.concatenate([E[i] for i in seen])
            h = np.array([f(a) for a in W @ e + d])
            np.testing.assert_allclose(logits[row, t], U @ h + b, rtol=1e-10, atol=1e-12)


def test_gradients_are_those_derived_by_hand(window):
    model, tokens, target = make(window, activation="sigmoid"), random_tokens(B=1, T=window), 5
    (-torch.log_softmax(model(tokens)[0, -1], -1)[target]).backward()
    E, W, U = (layer.weight.detach().numpy() for layer in (model.embedding, model.W, model.output))
    found = backprop.network_gradients(E.T, W, U, tokens[0].tolist(), target)
    gradients = {"E": model.embedding.weight.grad.T, "W": model.W.weight.grad, "U": model.output.weight.grad}
    for name, gradient in gradients.items():
        np.testing.assert_allclose(gradient, found[name], rtol=1e-10, atol=1e-14, err_msg=name)


def test_no_position_sees_the_future_or_further_back_than_its_window(window):
    model, tokens = make(window), random_tokens(T=15)
    changed = tokens.clone()
    changed[:, 1] = (changed[:, 1] + 1) % VOCAB
    same = (model(tokens) == model(changed)).all(-1).all(0)
    assert same.tolist() == [not 1 <= t < 1 + window for t in range(15)]


@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("tied", [False, True])
def test_parameters_as_a_function_of_the_window(bias, tied):
    hidden = D if tied else HIDDEN
    counts = []
    for window in (1, 2, 3, 10):
        model = make(window, bias=bias, tied=tied, hidden=hidden)
        counts.append(n_parameters(model))
        E_and_U = VOCAB * D if tied else VOCAB * D + VOCAB * hidden
        assert counts[-1] == E_and_U + hidden * window * D + (hidden + VOCAB if bias else 0)
    assert [b - a for a, b in pairwise(counts)] == [hidden * D, hidden * D, 7 * hidden * D]


def test_tied_weights_are_one_tensor_and_survive_a_round_trip():
    model, other = make(tied=True, hidden=D), make(tied=True, hidden=D)
    with torch.no_grad():
        model.embedding.weight.normal_()
    assert model.output.weight is model.embedding.weight
    other.load_state_dict(model.state_dict())
    assert other.output.weight is other.embedding.weight
    assert torch.equal(model(random_tokens()), other(random_tokens()))


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"window": 0}, "window 0"),
        ({"activation": "relu"}, "tanh, sigmoid"),
        ({"tied": True}, r"hidden \(6\) must be d_model \(4\)"),
    ],
)
def test_bad_sizes_are_refused(options, says):
    with pytest.raises(ValueError, match=says):
        make(**options)


@pytest.mark.parametrize(
    ("tokens", "says"),
    [
        (torch.zeros(4, dtype=torch.int64), r"integer ids \(B, T\)"),
        (torch.zeros(2, 4), "float32"),
        (torch.zeros(2, 0, dtype=torch.int64), "at least one"),
        (torch.tensor([[0, VOCAB]]), "run from 0 to 10"),
        (torch.tensor([[-1]]), "from -1"),
    ],
)
def test_bad_tokens_are_refused(tokens, says):
    with pytest.raises(ValueError, match=says):
        make()(tokens)


def test_a_step_wants_one_token_a_row():
    model = make()
    with pytest.raises(ValueError, match=r"integer ids \(B,\)"):
        model.step(torch.zeros(2, 1, dtype=torch.int64), model.start(2))
