"""A layer of a recurrent network along a sequence as one operation: all steps forward, and all steps back.

    a_t = W_ih x_t + b_ih        z_t = W_hh h_{t-1} + b_hh        h_t (and c_t of an LSTM) from a_t, z_t and the state before

The gates are stacked in PyTorch's order: input, forget, cell, output in an LSTM; reset, update, new in a GRU.
Shapes: T steps, B rows, n units, G n rows of the weights with G gates.  Step t has only the first sizes[t] rows; the
state of the others stays as it is, and their output is 0.
"""

from typing import Any

import numpy as np

from ..elementwise import wrap
from ..engine import QUIET, Mode, node
from ..matrix import product
from ..tensor import Tensor

Arrays = tuple[np.ndarray, ...]


def sigmoid(x: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-x))


class Tanh:
    """h' = tanh(a + z)."""

    gates = 1

    @staticmethod
    def step(a: np.ndarray, z: np.ndarray, state: Arrays) -> tuple[Arrays, Arrays]:
        h = np.tanh(a + z)
        return (h,), (h,)

    @staticmethod
    def back(grads: Arrays, state: Arrays, kept: Arrays) -> tuple[np.ndarray, np.ndarray, Arrays]:
        """From the gradients of the new state: those of a, of z, and of the old state but for its way through z."""
        da = grads[0] * (1 - kept[0] * kept[0])
        return da, da, (0,)


class Relu(Tanh):
    """h' = max(a + z, 0)."""

    @staticmethod
    def step(a, z, state):
        h = np.maximum(a + z, 0)
        return (h,), (h,)

    @staticmethod
    def back(grads, state, kept):
        da = grads[0] * (kept[0] > 0)
        return da, da, (0,)


class Lstm(Tanh):
    """i, f, o = sigma(a + z), g = tanh(a + z);  c' = f c + i g;  h' = o tanh(c')."""

    gates = 4

    @staticmethod
    def step(a, z, state):
        c, n = state[1], state[1].shape[-1]
        a = a + z
        i, f, o = (sigmoid(a[:, k * n : (k + 1) * n]) for k in (0, 1, 3))
        g = np.tanh(a[:, 2 * n : 3 * n])
        new = f * c + i * g
        t = np.tanh(new)
        return (o * t, new), (i, f, g, o, t)

    @staticmethod
    def back(grads, state, kept):
        (dh, dc), (i, f, g, o, t) = grads, kept
        dc = dc + dh * o * (1 - t * t)
        da = np.concatenate(
            [dc * g * i * (1 - i), dc * state[1] * f * (1 - f), dc * i * (1 - g * g), dh * t * o * (1 - o)], 1
        )
        return da, da, (0, dc * f)


class Gru(Tanh):
    """r, u = sigma(a + z);  new = tanh(a + r z);  h' = new + u (h - new)."""

    gates = 3

    @staticmethod
    def step(a, z, state):
        h, n = state[0], state[0].shape[-1]
        both = sigmoid(a[:, : 2 * n] + z[:, : 2 * n])
        r, u, zn = both[:, :n], both[:, n:], z[:, 2 * n :]
        new = np.tanh(a[:, 2 * n :] + r * zn)
        return (new + u * (h - new),), (r, u, zn, new)

    @staticmethod
    def back(grads, state, kept):
        (dh,), (r, u, zn, new) = grads, kept
        dnew = dh * (1 - u) * (1 - new * new)
        du = dh * (state[0] - new) * u * (1 - u)
        dr = dnew * zn * r * (1 - r)
        return np.concatenate([dr, du, dnew], 1), np.concatenate([dr, du, dnew * r], 1), (dh * u,)


RULES: dict[str, Any] = {"RNN_TANH": Tanh, "RNN_RELU": Relu, "LSTM": Lstm, "GRU": Gru}


def along(kind: str, x: Tensor, sizes: list[int], state: tuple[Tensor, ...], w_hh: Tensor, b_hh: Any, back: bool):
    """All steps of a layer, the last one first with `back`.  x: a_t for all t (T, B, G n).  state: (B, n) each.

    Returns the outputs (T, B, n) and the state after the last step.
    """
    rule, first = RULES[kind], tuple(one._a for one in state)
    a, w = x._a, w_hh._a
    b = w.dtype.type(0) if b_hh is None else b_hh._a
    steps = range(len(sizes) - 1, -1, -1) if back else range(len(sizes))
    learns = Mode.now and any(one.requires_grad for one in (x, w_hh, *state))
    rows = np.zeros((len(sizes) + len(first), *first[0].shape), w.dtype)
    now, kept = first, {}
    with QUIET():
        for t in steps:
            m = sizes[t]
            before = tuple(one[:m] for one in now)
            new, gates = rule.step(a[t, :m], product(before[0], w.T) + b, before)
            rows[t, :m] = new[0]
            if learns:
                kept[t] = before, gates
            now = new if m == len(now[0]) else tuple(np.concatenate([n, o[m:]]) for n, o in zip(new, now, strict=True))
    rows[len(sizes) :] = now
    taken: list[Any] = [None, None]

    def grads(g: np.ndarray) -> Arrays:
        """Of x, w_hh, b_hh and the parts of the state, computed once for all of them."""
        if taken[0] is g:
            return taken[1]
        T, across = len(sizes), np.ascontiguousarray(w.T).T
        da, dz, hs = np.zeros_like(a), np.zeros_like(a), np.zeros((T, *first[0].shape), w.dtype)
        ds = [np.array(one) for one in g[T:]]
        for t in reversed(steps):
            m = sizes[t]
            before, gates = kept[t]
            hs[t, :m] = before[0]
            ds[0][:m] += g[t, :m]
            da[t, :m], dz[t, :m], rest = rule.back(tuple(one[:m] for one in ds), before, gates)
            for one, direct in zip(ds, rest, strict=True):
                one[:m] = direct
            ds[0][:m] += product(dz[t, :m], across)
        flat = dz.reshape(-1, dz.shape[-1])
        taken[:] = g, (da, product(flat.T, hs.reshape(-1, hs.shape[-1])), flat.sum(0), *ds)
        return taken[1]

    def vjp(i: int):
        return lambda g: grads(g)[i]

    given = [(x, vjp(0)), (w_hh, vjp(1)), *((one, vjp(3 + i)) for i, one in enumerate(state))]
    given += [] if b_hh is None else [(b_hh, vjp(2))]
    out = node(f"{kind.title().replace('_', '')}Backward0", wrap(rows), given, [w_hh])
    return out[: len(sizes)], tuple(out[len(sizes) + i] for i in range(len(first)))
