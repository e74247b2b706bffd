"""Reverse-mode differentiation in about a hundred lines: back-propagation through any graph of NumPy operations.

    y = log_softmax(U @ sigmoid(W @ e))      U, W, e are Nodes; so is y, and it knows its inputs
    L = -y[target]
    L.backward()                             now U.grad = dL/dU, W.grad = dL/dW, e.grad = dL/de

A graph without cycles (a DAG): each node holds a value and, for each input, a vector-Jacobian product. Going from L
towards the inputs, a gradient is multiplied along a path and added where paths meet: the chain rule of calculus. No
Jacobian is ever built. Everything is float64.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from lmbook import backprop


class Node:
    """An array in a graph of computations.  data: float64.  grad: dL/d(data) after L.backward(), of the same shape.

    edges: for each input a pair (node, vjp), where vjp(g) = g^T (d data / d input) turns the gradient of this node into
    its share in that of the input. So an operation is its value and one vjp per input:

        def square(a):
            return Node(a.data**2, (a, lambda g: 2 * a.data * g))

    Arrays are broadcast as in NumPy: the engine sums a vjp over the axes along which the input was repeated.
    """

    grad: Any = None  # no gradient before a backward pass
    __array_ufunc__ = None  # lets array + node come to Node.__radd__

    def __init__(self, data: ArrayLike, *edges: tuple["Node", Callable[[np.ndarray], np.ndarray]]):
        self.data, self.edges = np.asarray(data, dtype=np.float64), edges

    def __repr__(self) -> str:
        return f"Node({self.data}, {len(self.edges)} inputs)"

    def backward(self) -> None:
        """Sets grad of this node and of every node that it depends on: the sum over all paths, afresh in each call.

        Raises ValueError if this node is not one number, or if a vjp gives an array that does not fit its input.
        """
        if self.data.size != 1:
            raise ValueError(f"backward() starts from one number, not from shape {self.data.shape}; take .sum() first.")
        order = self.graph()
        for node in order:
            node.grad = np.zeros_like(node.data)
        self.grad = np.ones_like(self.data)
        for node in order:  # a node comes after all that use it, so its gradient is complete
            for parent, vjp in node.edges:
                parent.grad = parent.grad + _unbroadcast(vjp(node.grad), parent.data.shape)

    def graph(self) -> list["Node"]:
        """This node and all that it depends on, each once, every node before its inputs (a topological order)."""
        seen, finished, stack = set(), [], [(self, False)]
        while stack:  # depth first, without recursion: a graph may be deeper than Python's stack
            node, inputs_done = stack.pop()
            if inputs_done:
                finished.append(node)
            elif id(node) not in seen:
                seen.add(id(node))
                stack += [(node, True), *((parent, False) for parent, _ in node.edges)]
        return finished[::-1]

    def __add__(self, other: "Node | ArrayLike") -> "Node":
        a, b = self, _node(other)
        return Node(a.data + b.data, (a, lambda g: g), (b, lambda g: g))

    def __mul__(self, other: "Node | ArrayLike") -> "Node":
        a, b = self, _node(other)
        return Node(a.data * b.data, (a, lambda g: g * b.data), (b, lambda g: g * a.data))

    def __pow__(self, p: float) -> "Node":
        if not isinstance(p, int | float | np.number):
            raise TypeError(f"a node can be raised to a number, not to {type(p).__name__}; write exp(b * log(a)).")
        return Node(self.data**p, (self, lambda g: g * p * self.data ** (p - 1)))

    def __matmul__(self, other: "Node | ArrayLike") -> "Node":
        """Matrices (..., n, m) @ (..., m, p), or a vector on either side, as in NumPy."""
        a, b = self, _node(other)
        A = a.data[None, :] if a.data.ndim == 1 else a.data
        B = b.data[:, None] if b.data.ndim == 1 else b.data
        shape = (A @ B).shape

        def vjp_b(g: np.ndarray) -> np.ndarray:
            G = A.swapaxes(-1, -2) @ g.reshape(shape)
            return G[..., 0] if b.data.ndim == 1 else G

        return Node(a.data @ b.data, (a, lambda g: g.reshape(shape) @ B.swapaxes(-1, -2)), (b, vjp_b))

    def __getitem__(self, index: Any) -> "Node":
        def vjp(g: np.ndarray) -> np.ndarray:
            whole = np.zeros_like(self.data)
            np.add.at(whole, index, g)  # a row taken twice gets both gradients
            return whole

        return Node(self.data[index], (self, vjp))

    def __neg__(self) -> "Node":
        return self * -1

    def __sub__(self, other: "Node | ArrayLike") -> "Node":
        return self + -_node(other)

    def __truediv__(self, other: "Node | ArrayLike") -> "Node":
        return self * _node(other) ** -1

    def __rsub__(self, other: ArrayLike) -> "Node":
        return _node(other) - self

    def __rtruediv__(self, other: ArrayLike) -> "Node":
        return _node(other) / self

    def __rmatmul__(self, other: ArrayLike) -> "Node":
        return _node(other) @ self

    __radd__, __rmul__ = __add__, __mul__

    @property
    def T(self) -> "Node":
        return Node(self.data.T, (self, lambda g: g.T))

    def reshape(self, *shape: int) -> "Node":
        return Node(self.data.reshape(*shape), (self, lambda g: g.reshape(self.data.shape)))

    def sum(self, axis: int | None = None) -> "Node":
        def vjp(g: np.ndarray) -> np.ndarray:
            return np.broadcast_to(g if axis is None else np.expand_dims(g, axis), self.data.shape)

        return Node(self.data.sum(axis), (self, vjp))

    def mean(self, axis: int | None = None) -> "Node":
        return self.sum(axis) * (1 / (self.data.size if axis is None else self.data.shape[axis]))


def exp(a: Node) -> Node:
    y = np.exp(a.data)
    return Node(y, (a, lambda g: g * y))


def log(a: Node) -> Node:
    return Node(np.log(a.data), (a, lambda g: g / a.data))


def tanh(a: Node) -> Node:
    y = np.tanh(a.data)
    return Node(y, (a, lambda g: g * (1 - y**2)))


def sigmoid(a: Node) -> Node:
    y = backprop.sigmoid(a.data)
    return Node(y, (a, lambda g: g * y * (1 - y)))


def log_softmax(z: Node) -> Node:
    """Over the last axis; minus one entry of it is the loss of a language model."""
    y = backprop.log_softmax(z.data)
    return Node(y, (z, lambda g: g - np.exp(y) * g.sum(axis=-1, keepdims=True)))


def _node(value: "Node | ArrayLike") -> Node:
    return value if isinstance(value, Node) else Node(value)


def _unbroadcast(g: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    """Sums g over the axes along which an array of this shape was repeated to the shape of g."""
    g = g.sum(axis=tuple(range(g.ndim - len(shape)))) if g.ndim > len(shape) else g
    repeated = tuple(i for i, n in enumerate(shape) if n == 1 and g.ndim == len(shape) and g.shape[i] != 1)
    g = g.sum(axis=repeated, keepdims=True) if repeated else g
    if g.shape != shape:
        raise ValueError(f"a vjp gave a gradient of shape {g.shape} for an input of shape {shape}; they must be equal.")
    return g
