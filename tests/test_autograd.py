"""The engine: each operation against finite differences and autograd, then graphs with reuse and several paths."""

import numpy as np
import pytest
import torch

from lmbook import autograd, backprop
from lmbook.autograd import Node

RNG = np.random.default_rng(0)


def normal(*shape: int) -> np.ndarray:
    return RNG.normal(size=shape)


def positive(*shape: int) -> np.ndarray:
    return RNG.uniform(0.5, 2, size=shape)


# name: (operation on nodes, the same on tensors, inputs)
OPERATIONS = {
    "a + b": (lambda a, b: a + b, None, normal(3, 4), normal(3, 4)),
    "a + b, a row": (lambda a, b: a + b, None, normal(3, 4), normal(4)),
    "a + b, a column": (lambda a, b: a + b, None, normal(3, 4), normal(3, 1)),
    "a + b, a number": (lambda a, b: a + b, None, normal(3, 4), normal()),
    "a + b, both repeated": (lambda a, b: a + b, None, normal(3, 1), normal(2, 1, 4)),
    "a - b": (lambda a, b: a - b, None, normal(3, 4), normal(4)),
    "1 - a": (lambda a: 1 - a, None, normal(3)),
    "-a": (lambda a: -a, None, normal(3)),
    "a * b": (lambda a, b: a * b, None, normal(2, 3), normal(2, 3)),
    "a * b, a column": (lambda a, b: a * b, None, normal(2, 3), normal(2, 1)),
    "a * b, a middle axis": (lambda a, b: a * b, None, normal(2, 3, 4), normal(2, 1, 4)),
    "2 * a": (lambda a: 2 * a, None, normal(3)),
    "a / b": (lambda a, b: a / b, None, normal(2, 3), positive(3)),
    "1 / a": (lambda a: 1 / a, None, positive(3)),
    "a ** 3": (lambda a: a**3, None, normal(2, 3)),
    "a ** 0.5": (lambda a: a**0.5, None, positive(2, 3)),
    "matrix @ matrix": (lambda a, b: a @ b, None, normal(2, 3), normal(3, 4)),
    "matrix @ vector": (lambda a, b: a @ b, None, normal(2, 3), normal(3)),
    "vector @ matrix": (lambda a, b: a @ b, None, normal(3), normal(3, 2)),
    "vector @ vector": (lambda a, b: a @ b, None, normal(3), normal(3)),
    "batch @ batch": (lambda a, b: a @ b, None, normal(5, 2, 3), normal(5, 3, 4)),
    "batch @ matrix": (lambda a, b: a @ b, None, normal(5, 2, 3), normal(3, 4)),
    "matrix @ batch": (lambda a, b: a @ b, None, normal(2, 3), normal(5, 3, 4)),
    "batch @ vector": (lambda a, b: a @ b, None, normal(5, 2, 3), normal(3)),
    "vector @ batch": (lambda a, b: a @ b, None, normal(3), normal(5, 3, 2)),
    "batch of 1 @ batch": (lambda a, b: a @ b, None, normal(1, 2, 3), normal(5, 3, 4)),
    "a[1]": (lambda a: a[1], None, normal(3, 2)),
    "a[:, 1:]": (lambda a: a[:, 1:], None, normal(3, 4)),
    "a[[0, 2, 0]], a row twice": (lambda a: a[[0, 2, 0]], None, normal(3, 2)),
    "a[[0, 1], [2, 2]]": (lambda a: a[[0, 1], [2, 2]], None, normal(3, 4)),
    "a.T": (lambda a: a.T, None, normal(3, 2)),
    "reshape": (lambda a: a.reshape(3, 4), None, normal(2, 6)),
    "sum": (lambda a: a.sum(), None, normal(2, 3)),
    "sum over 0": (lambda a: a.sum(0), None, normal(2, 3)),
    "sum over -1": (lambda a: a.sum(-1), None, normal(2, 3, 4)),
    "mean": (lambda a: a.mean(), None, normal(2, 3)),
    "mean over 0": (lambda a: a.mean(0), None, normal(2, 3)),
    "exp": (autograd.exp, torch.exp, normal(2, 3)),
    "log": (autograd.log, torch.log, positive(2, 3)),
    "tanh": (autograd.tanh, torch.tanh, normal(2, 3)),
    "sigmoid": (autograd.sigmoid, torch.sigmoid, normal(2, 3)),
    "log_softmax": (autograd.log_softmax, lambda z: torch.log_softmax(z, -1), normal(2, 5)),
}


@pytest.mark.parametrize("name", OPERATIONS)
def test_operation(name):
    ours, theirs, *inputs = OPERATIONS[name]
    nodes = [Node(x) for x in inputs]
    tensors = [torch.tensor(x, requires_grad=True) for x in inputs]
    out, expected = ours(*nodes), (theirs or ours)(*tensors)
    np.testing.assert_allclose(out.data, expected.detach(), rtol=1e-12, atol=1e-14)
    weights = np.random.default_rng(1).normal(size=out.data.shape)  # so that no two entries of the gradient are alike
    (out * weights).sum().backward()
    (expected * torch.tensor(weights)).sum().backward()
    for i, (node, tensor) in enumerate(zip(nodes, tensors, strict=True)):
        assert node.grad.shape == node.data.shape
        np.testing.assert_allclose(node.grad, tensor.grad, rtol=1e-10, atol=1e-12)

        def loss(x: np.ndarray, i: int = i) -> float:
            return (ours(*(Node(x if j == i else y) for j, y in enumerate(inputs))).data * weights).sum()

        np.testing.assert_allclose(node.grad, backprop.numerical_gradient(loss, inputs[i]), rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("side", ["left", "right"])
@pytest.mark.parametrize("operator", ["+", "-", "*", "/", "@"])
def test_arrays_and_nodes_mix_on_either_side(operator, side):
    array, x = positive(3, 3), positive(3, 3)
    operation = {
        "+": lambda a, b: a + b,
        "-": lambda a, b: a - b,
        "*": lambda a, b: a * b,
        "/": lambda a, b: a / b,
        "@": lambda a, b: a @ b,
    }[operator]
    order = (lambda v, w: (w, v)) if side == "left" else (lambda v, w: (v, w))
    node, tensor = Node(x), torch.tensor(x, requires_grad=True)
    out, expected = operation(*order(node, array)), operation(*order(tensor, torch.tensor(array)))
    assert isinstance(out, Node)
    np.testing.assert_allclose(out.data, expected.detach(), rtol=1e-12)
    (out**2).sum().backward()
    (expected**2).sum().backward()
    np.testing.assert_allclose(node.grad, tensor.grad, rtol=1e-10)


# ---- graphs


def test_a_node_used_twice_gets_both_shares():
    a = Node(3.0)
    (a * a + a).backward()
    assert a.grad == 2 * 3 + 1


def test_a_ladder_of_diamonds_is_walked_once_a_node():
    a = node = Node(1.0)
    for _ in range(60):  # 2^60 paths
        node = node + node
    assert len(node.graph()) == 61
    node.backward()
    assert a.grad == 2.0**60


def test_every_node_comes_before_its_inputs():
    a, b = Node(normal(3)), Node(normal(3))
    c = a * b
    loss = (c + a * autograd.sigmoid(c)).sum()
    order = loss.graph()
    place = {id(node): i for i, node in enumerate(order)}
    assert order[0] is loss
    assert len(place) == len(order)
    assert all(place[id(node)] < place[id(parent)] for node in order for parent, _ in node.edges)


def test_a_graph_may_be_deeper_than_the_stack_of_python():
    a = node = Node(0.5)
    for _ in range(20_000):
        node = node + 0.0
    node.backward()
    assert a.grad == 1


def test_backward_starts_afresh_each_time():
    a = Node(2.0)
    loss = a**2
    loss.backward()
    loss.backward()
    assert a.grad == 4


def test_random_graphs_agree_with_autograd():
    for seed in range(30):
        rng = np.random.default_rng(seed)
        inputs = rng.normal(size=(3, 2, 2))
        ours, theirs = [Node(x) for x in inputs], [torch.tensor(x, requires_grad=True) for x in inputs]
        leaves = list(zip(ours, theirs, strict=True))
        for _ in range(12):
            i, j, kind = rng.integers(len(ours)), rng.integers(len(ours)), rng.integers(6)
            for side, library in ((ours, autograd), (theirs, torch)):
                a, b = side[i], side[j]
                side.append([a + b, a - b, library.tanh(a * b), library.tanh(a @ b), library.sigmoid(a), b.T][kind])
        sum(ours[1:], ours[0]).sum().backward()
        sum(theirs[1:], theirs[0]).sum().backward()
        for node, tensor in leaves:
            np.testing.assert_allclose(node.grad, tensor.grad, rtol=1e-9, atol=1e-11)


def test_the_engine_finds_what_was_derived_by_hand():
    rng = np.random.default_rng(5)
    values = rng.normal(size=(3, 7)), rng.normal(size=(5, 9)), rng.normal(size=(7, 5))
    window, target = [2, 2, 6], 4
    E, W, U = map(Node, values)
    e = E[:, window].T.reshape(-1)
    h = autograd.sigmoid(W @ e)
    z = U @ h
    (-autograd.log_softmax(z)[target]).backward()
    by_hand = backprop.network_gradients(*values, window, target)
    for name, node in {"E": E, "W": W, "U": U, "e": e, "h": h, "z": z}.items():
        np.testing.assert_allclose(node.grad, by_hand[name], rtol=1e-10, atol=1e-14, err_msg=name)


def test_a_new_operation_is_a_value_and_a_vjp():
    def square(a: Node) -> Node:
        return Node(a.data**2, (a, lambda g: 2 * a.data * g))

    a = Node(normal(3))
    square(a).sum().backward()
    np.testing.assert_array_equal(a.grad, 2 * a.data)


def test_a_vjp_of_the_wrong_shape_is_refused():
    a = Node(normal(3, 2))
    wrong = Node(a.data.sum(), (a, lambda g: g))  # forgot to spread g over a
    with pytest.raises(ValueError, match=r"\(\) for an input of shape \(3, 2\)"):
        wrong.backward()


def test_backward_from_an_array_is_refused():
    with pytest.raises(ValueError, match="sum"):
        Node(normal(3)).backward()


def test_an_exponent_may_be_a_number_of_numpy():
    for p in np.int64(2), np.float32(2):
        assert (Node([1.0, 3.0]) ** p).data.tolist() == [1.0, 9.0]


def test_a_node_as_exponent_is_refused():
    with pytest.raises(TypeError, match="exp"):
        Node(2.0) ** Node(3.0)


def test_a_wrong_vjp_is_caught_by_finite_differences():
    def wrong_tanh(a: Node) -> Node:
        y = np.tanh(a.data)
        return Node(y, (a, lambda g: g * (1 - y)))

    a = Node(normal(3))
    wrong_tanh(a).sum().backward()
    numbers = backprop.numerical_gradient(lambda x: np.tanh(x).sum(), a.data)
    with pytest.raises(AssertionError):
        np.testing.assert_allclose(a.grad, numbers, rtol=1e-5, atol=1e-7)
