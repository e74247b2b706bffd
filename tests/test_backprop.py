"""Hand gradients against finite differences and torch's autograd, in float64; stability at the ends of float64."""

import math

import numpy as np
import pytest
import torch

from lmbook import backprop as bp

RNG = np.random.default_rng(0)
NEAR = {"rtol": 1e-6, "atol": 1e-8}  # central differences with step 1e-6 in float64
EQUAL = {"rtol": 1e-12, "atol": 1e-14}


def by_torch(f, *arrays: np.ndarray) -> list[np.ndarray]:
    """Gradients of a torch function of float64 leaves with these values."""
    leaves = [torch.tensor(array, dtype=torch.float64, requires_grad=True) for array in arrays]
    return [g.numpy() for g in torch.autograd.grad(f(*leaves), leaves)]


# ---- softmax and its logarithm


@pytest.mark.parametrize("shape", [(3,), (4, 7), (2, 3, 5), (1,)])
def test_softmax_and_log_softmax_are_those_of_torch(shape):
    z = RNG.normal(size=shape) * 5
    np.testing.assert_allclose(bp.softmax(z), torch.softmax(torch.tensor(z), -1), **EQUAL)
    np.testing.assert_allclose(bp.log_softmax(z), torch.log_softmax(torch.tensor(z), -1), **EQUAL)
    np.testing.assert_allclose(bp.softmax(z).sum(-1), 1, **EQUAL)


def test_log_softmax_keeps_what_the_plain_formula_loses():
    z = np.array([1000.0, 0.0, -1000.0])
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        plain = np.log(np.exp(z) / np.exp(z).sum())
    assert not np.isfinite(plain).any()
    np.testing.assert_array_equal(bp.log_softmax(z), [0, -1000, -2000])
    np.testing.assert_array_equal(bp.softmax(z), [1, 0, 0])


def test_softmax_does_not_change_when_all_logits_move():
    z = RNG.normal(size=6)
    np.testing.assert_allclose(bp.softmax(z + 700), bp.softmax(z), rtol=1e-11)


def test_a_forbidden_type_has_probability_zero():
    np.testing.assert_allclose(bp.softmax([0.0, -math.inf, 0.0]), [0.5, 0, 0.5], **EQUAL)


@pytest.mark.parametrize("row", [[-math.inf, -math.inf], [0.0, math.inf], [0.0, math.nan]])
def test_a_row_without_a_finite_maximum_is_refused(row):
    with pytest.raises(ValueError, match="finite"):
        bp.softmax([[0.0, 0.0], row])


def test_sigmoid_neither_overflows_nor_differs_from_its_formula():
    a = RNG.normal(size=50) * 4
    np.testing.assert_allclose(bp.sigmoid(a), 1 / (1 + np.exp(-a)), rtol=1e-12)
    with np.errstate(all="raise"):
        np.testing.assert_array_equal(bp.sigmoid([-1e4, 0, 1e4]), [0, 0.5, 1])


# ---- the loss


def test_nll_of_one_hot_targets_is_minus_the_log_of_one_entry():
    z, targets = RNG.normal(size=(4, 6)), np.array([0, 5, 2, 2])
    y = bp.one_hot(targets, 6)
    expected = [-math.log(bp.softmax(row)[i]) for row, i in zip(z, targets, strict=True)]
    np.testing.assert_allclose(bp.nll(bp.softmax(z), y), expected, **EQUAL)
    np.testing.assert_allclose(bp.nll_from_logits(z, y), expected, **EQUAL)


def test_the_loss_of_a_hopeless_prediction_is_infinite_only_through_the_softmax():
    z, y = np.array([0.0, -2000.0]), np.array([0.0, 1.0])
    assert bp.nll(bp.softmax(z), y) == math.inf
    assert bp.nll_from_logits(z, y) == 2000
    assert bp.nll_from_logits(np.array([0.0, -math.inf]), np.array([1.0, 0.0])) == 0


def test_nll_counts_0_ln_0_as_0():
    assert bp.nll([0.0, 1.0], [0.0, 1.0]) == 0
    assert bp.nll_gradient([0.0, 1.0], [0.0, 1.0]).tolist() == [0, -1]


@pytest.mark.parametrize("call", [bp.nll, bp.nll_from_logits, bp.nll_gradient, bp.softmax_vjp])
def test_an_integer_target_where_a_one_hot_one_is_wanted_is_refused(call):
    with pytest.raises(ValueError, match="one-hot"):
        call(np.full(3, 1 / 3), 2)


@pytest.mark.parametrize("ids", [3, -1, [0, 3], [0.0, 1.0]])
def test_one_hot_refuses_what_is_no_id(ids):
    with pytest.raises(ValueError, match="from 0 to 2"):
        bp.one_hot(ids, 3)


# ---- each factor of the chain rule


@pytest.mark.parametrize("V", [1, 3, 8])
def test_gradient_of_the_loss_by_the_probabilities(V):
    y_hat, y = bp.softmax(RNG.normal(size=V)), bp.one_hot(V - 1, V)
    numbers = bp.numerical_gradient(lambda p: bp.nll(p, y), y_hat)
    np.testing.assert_allclose(bp.nll_gradient(y_hat, y), numbers, **NEAR)
    soft = bp.softmax(RNG.normal(size=V))  # a target need not be one-hot
    expected = by_torch(lambda p: -(torch.tensor(soft) * p.log()).sum(), y_hat)[0]
    np.testing.assert_allclose(bp.nll_gradient(y_hat, soft), expected, **EQUAL)


@pytest.mark.parametrize("V", [1, 3, 8])
def test_softmax_jacobian_row_by_row(V):
    z = RNG.normal(size=V) * 2
    J = bp.softmax_jacobian(bp.softmax(z))
    numbers = np.stack([bp.numerical_gradient(lambda z, i=i: bp.softmax(z)[i], z) for i in range(V)])
    np.testing.assert_allclose(J, numbers, **NEAR)
    autograd = torch.autograd.functional.jacobian(lambda z: torch.softmax(z, -1), torch.tensor(z))
    np.testing.assert_allclose(J, autograd, **EQUAL)
    np.testing.assert_allclose(J.sum(0), 0, atol=1e-15)  # probabilities go on summing to 1


def test_softmax_jacobian_of_a_batch_is_that_of_each_row():
    y_hat = bp.softmax(RNG.normal(size=(2, 3, 4)))
    J = bp.softmax_jacobian(y_hat)
    assert J.shape == (2, 3, 4, 4)
    for i in np.ndindex(2, 3):
        np.testing.assert_array_equal(J[i], bp.softmax_jacobian(y_hat[i]))


def test_softmax_vjp_is_the_product_with_the_jacobian():
    y_hat, g = bp.softmax(RNG.normal(size=(5, 7))), RNG.normal(size=(5, 7))
    expected = np.einsum("bi,bij->bj", g, bp.softmax_jacobian(y_hat))
    np.testing.assert_allclose(bp.softmax_vjp(y_hat, g), expected, rtol=1e-12, atol=1e-15)


def test_logits_by_weights_in_the_3_by_2_case():
    a, b = 0.7, -1.2
    expected = [[a, b, 0, 0, 0, 0], [0, 0, a, b, 0, 0], [0, 0, 0, 0, a, b]]
    np.testing.assert_array_equal(bp.linear_jacobian([a, b], 3), expected)


def test_logits_by_weights_in_general():
    W, x = RNG.normal(size=(5, 4)), RNG.normal(size=4)
    autograd = torch.autograd.functional.jacobian(lambda W: W @ torch.tensor(x), torch.tensor(W))
    np.testing.assert_array_equal(bp.linear_jacobian(x, 5), autograd.reshape(5, 20))


# ---- their product


def test_the_3_by_2_case_written_out():
    (x1, x2), W, y = (0.4, -0.9), np.array([[0.1, -0.3], [0.8, 0.5], [-0.6, 0.2]]), (0, 1, 0)
    exps = [math.exp(row[0] * x1 + row[1] * x2) for row in W]
    p1, p2, p3 = (value / sum(exps) for value in exps)
    expected = [[p1 * x1, p1 * x2], [(p2 - 1) * x1, (p2 - 1) * x2], [p3 * x1, p3 * x2]]
    x, y = np.array([x1, x2]), np.array(y, float)
    np.testing.assert_allclose(bp.gradient_collapsed(W, x, y), expected, **EQUAL)
    np.testing.assert_allclose(bp.gradient_by_jacobians(W, x, y), expected, **EQUAL)


@pytest.mark.parametrize("gradient", [bp.gradient_collapsed, bp.gradient_by_jacobians])
@pytest.mark.parametrize(("V", "m"), [(3, 2), (1, 1), (2, 6), (9, 5)])
def test_gradient_by_the_weights(gradient, V, m):
    W, x, y = RNG.normal(size=(V, m)), RNG.normal(size=m), bp.one_hot(int(RNG.integers(V)), V)
    ours = gradient(W, x, y)
    numbers = bp.numerical_gradient(lambda W: bp.nll(bp.softmax(W @ x), y), W)
    np.testing.assert_allclose(ours, numbers, **NEAR)
    X, Y = torch.tensor(x), torch.tensor(y)
    expected = by_torch(lambda W: -(Y * torch.log_softmax(W @ X, -1)).sum(), W)[0]
    np.testing.assert_allclose(ours, expected, rtol=1e-10, atol=1e-14)


def test_the_collapsed_gradient_survives_where_the_jacobians_do_not():
    W, x, y = np.array([[0.0], [-2000.0]]), np.array([1.0]), np.array([0.0, 1.0])
    np.testing.assert_array_equal(bp.gradient_collapsed(W, x, y), [[1], [-1]])
    with np.errstate(invalid="ignore"):
        assert not np.isfinite(bp.gradient_by_jacobians(W, x, y)).all()  # -1/0 times 0


# ---- the network of the feed-forward language model

V, D, HIDDEN = 7, 3, 5
TARGET = 4


def parameters(n: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(n)
    return rng.normal(size=(D, V)), rng.normal(size=(HIDDEN, n * D)), rng.normal(size=(V, HIDDEN))


WINDOWS = [(1, 0, 6), (2, 2, 5), (3, 3, 3), (4,), (0, 1, 2, 3, 4)]


@pytest.mark.parametrize("window", WINDOWS)
def test_network_is_the_equations(window):
    E, W, U = parameters(len(window))
    e = np.concatenate([E @ bp.one_hot(i, V) for i in window])
    h = 1 / (1 + np.exp(-(W @ e)))
    z = U @ h
    for ours, expected in zip(bp.network(E, W, U, window), (e, h, z, np.exp(z) / np.exp(z).sum()), strict=True):
        np.testing.assert_allclose(ours, expected, rtol=1e-12)


@pytest.mark.parametrize("window", WINDOWS)
def test_every_gradient_of_the_network_against_autograd(window):
    E, W, U = (torch.tensor(array, requires_grad=True) for array in parameters(len(window)))
    e = torch.cat([E[:, i] for i in window])
    a = W @ e
    h = torch.sigmoid(a)
    z = U @ h
    places = {"z": z, "U": U, "h": h, "a": a, "W": W, "e": e, "E": E}
    expected = torch.autograd.grad(-torch.log_softmax(z, -1)[TARGET], list(places.values()))
    ours = bp.network_gradients(*parameters(len(window)), window, TARGET)
    assert list(ours) == list(places)
    for name, gradient in zip(places, expected, strict=True):
        np.testing.assert_allclose(ours[name], gradient, rtol=1e-10, atol=1e-14, err_msg=name)


def test_a_token_that_stands_twice_gets_the_sum_of_both_gradients():
    E, W, U = parameters(3)
    found = bp.network_gradients(E, W, U, (2, 2, 5), TARGET)
    first, second, third = found["e"].reshape(3, D)
    np.testing.assert_array_equal(found["E"][:, 2], first + second)
    np.testing.assert_array_equal(found["E"][:, 5], third)
    assert not found["E"][:, [0, 1, 3, 4, 6]].any()


def test_a_window_that_does_not_fit_the_weights_is_refused():
    with pytest.raises(ValueError, match="9 columns"):
        bp.network(*parameters(3), (1, 2))
    with pytest.raises(ValueError, match="from 0 to 6"):
        bp.network_gradients(*parameters(3), (1, 2, 3), V)


def test_numerical_gradient_of_a_known_function_leaves_its_input_alone():
    x = RNG.normal(size=(2, 3))
    copy = x.copy()
    np.testing.assert_allclose(bp.numerical_gradient(lambda x: (x**3).sum(), x), 3 * x**2, **NEAR)
    np.testing.assert_array_equal(x, copy)
