"""Recurrent networks: what torch.rnn_tanh, torch.lstm and torch.gru compute, step by step, and their modules.

The weights of a layer and direction have PyTorch's names: weight_ih_l0, weight_hh_l0, bias_ih_l0, bias_hh_l0. The gates
are stacked in PyTorch's order: input, forget, cell, output in an LSTM; reset, update, new in a GRU.
"""

import math
from typing import Any

import numpy as np

from ..elementwise import METHODS, wrap
from ..engine import QUIET, node
from ..joins import cat, stack
from ..tensor import Tensor
from . import functional as F
from . import init
from .layers import fresh
from .module import Module
from .utils.rnn import PackedSequence

GATES = {"RNN": 1, "LSTM": 4, "GRU": 3}
sigmoid, tanh, relu = METHODS["sigmoid"], METHODS["tanh"], METHODS["relu"]


def lstm_gates(z: Tensor, c: Tensor) -> Tensor:
    """From the sum of both products to (h; c), one beside the other: a step of an LSTM as one operation."""
    n = c._a.shape[-1]
    with QUIET():
        i, f, o = (1 / (1 + np.exp(-z._a[..., k * n : (k + 1) * n])) for k in (0, 1, 3))
        g = np.tanh(z._a[..., 2 * n : 3 * n])
        new = f * c._a + i * g
        t = np.tanh(new)
        both = np.concatenate([o * t, new], -1)

    def cell(d: np.ndarray) -> np.ndarray:
        return d[..., n:] + d[..., :n] * o * (1 - t * t)

    def vjp_z(d: np.ndarray) -> np.ndarray:
        dc = cell(d)
        return np.concatenate(
            [dc * g * i * (1 - i), dc * c._a * f * (1 - f), dc * i * (1 - g * g), d[..., :n] * t * o * (1 - o)], -1
        )

    return node("LstmBackward0", wrap(both), [(z, vjp_z), (c, lambda d: cell(d) * f)], [c])


def step(kind: str, x: Tensor, state: tuple[Tensor, ...], w: dict[str, Tensor | None]) -> tuple[Tensor, ...]:
    """One step. x: W_ih x + b_ih, already computed.  state: (h,), or (h, c) of an LSTM."""
    z = F.linear(state[0], w["hh"], w["b_hh"])
    if kind == "LSTM":
        both, n = lstm_gates(x + z, state[1]), state[1].shape[-1]
        return both.narrow(-1, 0, n), both.narrow(-1, n, n)
    if kind == "GRU":
        (xr, xu, xn), (zr, zu, zn) = x.chunk(3, -1), z.chunk(3, -1)
        reset, update = sigmoid(xr + zr), sigmoid(xu + zu)
        new = tanh(xn + reset * zn)
        return (new + update * (state[0] - new),)
    return ((relu if kind == "RNN_RELU" else tanh)(x + z),)


def layer(kind: str, x: Tensor, sizes: list[int], state: tuple[Tensor, ...], w: dict, back: bool):
    """One layer in one direction over x (T, B, n), of which at step t only the first sizes[t] rows are there."""
    x = F.linear(x, w["ih"], w["b_ih"])
    steps = range(len(sizes) - 1, -1, -1) if back else range(len(sizes))
    if len(set(sizes)) == 1:
        found: list[Any] = [None] * len(sizes)
        for t in steps:
            state = step(kind, x[t], state, w)
            found[t] = state[0]
        return stack(found), state
    rows, out = state[0].shape[0], [None] * len(sizes)
    for t in steps:
        n = sizes[t]
        new = step(kind, x[t][:n], tuple(one[:n] for one in state), w)
        state = new if n == rows else tuple(cat([a, b[n:]]) for a, b in zip(new, state, strict=True))
        out[t] = new[0] if n == rows else F.pad(new[0], (0, 0, 0, rows - n))
    return stack(out), state


class RNNBase(Module):
    """Layers of recurrent units."""

    def __init__(
        self, mode: str, input_size: int, hidden_size: int, num_layers: int = 1, bias: bool = True,
        batch_first: bool = False, dropout: float = 0.0, bidirectional: bool = False, dtype: Any = None, device: Any = None,
    ):  # fmt: skip
        super().__init__()
        self.mode, self.input_size, self.hidden_size, self.num_layers = mode, input_size, hidden_size, num_layers
        self.bias, self.batch_first, self.dropout, self.bidirectional = bias, batch_first, dropout, bidirectional
        rows, ways = GATES[mode[:4].rstrip("_")] * hidden_size, 2 if bidirectional else 1
        for depth in range(num_layers):
            for back in range(ways):
                end = f"l{depth}" + "_reverse" * back
                reads = input_size if depth == 0 else hidden_size * ways
                setattr(self, f"weight_ih_{end}", fresh(rows, reads, dtype=dtype))
                setattr(self, f"weight_hh_{end}", fresh(rows, hidden_size, dtype=dtype))
                if bias:
                    setattr(self, f"bias_ih_{end}", fresh(rows, dtype=dtype))
                    setattr(self, f"bias_hh_{end}", fresh(rows, dtype=dtype))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        bound = 1.0 / math.sqrt(self.hidden_size) if self.hidden_size > 0 else 0
        for weight in self.parameters():
            init.uniform_(weight, -bound, bound)

    def flatten_parameters(self) -> None:
        """Nothing to do here."""

    @property
    def all_weights(self) -> list[list[Tensor]]:
        ends = [f"l{i}" + "_reverse" * back for i in range(self.num_layers) for back in range(1 + self.bidirectional)]
        names = ("weight_ih", "weight_hh", *(("bias_ih", "bias_hh") if self.bias else ()))
        return [[getattr(self, f"{name}_{end}") for name in names] for end in ends]

    def extra_repr(self) -> str:
        text = f"{self.input_size}, {self.hidden_size}"
        text += f", num_layers={self.num_layers}" if self.num_layers != 1 else ""
        text += ", bias=False" if not self.bias else ""
        text += ", batch_first=True" if self.batch_first else ""
        text += f", dropout={self.dropout}" if self.dropout else ""
        return text + (", bidirectional=True" if self.bidirectional else "")

    def forward(self, input: Any, hx: Any = None) -> tuple:
        packed = input if isinstance(input, PackedSequence) else None
        x, sizes = padded(packed) if packed else (input, [])
        if x.shape[-1] != self.input_size:
            raise RuntimeError(
                f"input.size(-1) must be equal to input_size. Expected {self.input_size}, got {x.shape[-1]}"
            )
        alone = not packed and x.dim() == 2
        x = x.unsqueeze(0 if self.batch_first else 1) if alone else x
        x = x.transpose(0, 1) if self.batch_first and not packed else x
        sizes = sizes or [x.shape[1]] * x.shape[0]
        if hx is None:
            shape = (len(self.all_weights), x.shape[1], self.hidden_size)
            state = tuple(wrap(np.zeros(shape, x._a.dtype)) for _ in range(1 + (self.mode == "LSTM")))
        else:
            state = tuple(hx) if self.mode == "LSTM" else (hx,)
            state = tuple(one.unsqueeze(1) for one in state) if alone else state
            if packed and packed.sorted_indices is not None:
                state = tuple(one.index_select(1, packed.sorted_indices) for one in state)
        out, last = run(
            self.mode, x, sizes, state, self.all_weights, self.dropout if self.training else 0.0, self.bidirectional
        )
        if packed:
            if packed.unsorted_indices is not None:
                last = tuple(one.index_select(1, packed.unsorted_indices) for one in last)
            data = cat([out[t][:n] for t, n in enumerate(sizes)])
            out = PackedSequence(data, packed.batch_sizes, packed.sorted_indices, packed.unsorted_indices)
        else:
            out = out.transpose(0, 1) if self.batch_first else out
            out = out.squeeze(0 if self.batch_first else 1) if alone else out
            last = tuple(one.squeeze(1) for one in last) if alone else last
        return out, last if self.mode == "LSTM" else last[0]


def padded(packed: PackedSequence) -> tuple[Tensor, list[int]]:
    """The data of a packed sequence with zeros where a sequence has ended."""
    sizes = packed.batch_sizes.tolist()
    parts = packed.data.split(sizes)
    lead = [0, 0] * (packed.data.dim() - 1)
    return stack([F.pad(part, (*lead, 0, sizes[0] - n)) for part, n in zip(parts, sizes, strict=True)]), sizes


def run(mode: str, x: Tensor, sizes: list[int], state: tuple, weights: list, dropout: float, both: bool):
    """All layers over x (T, B, n)."""
    lasts, ways = [], 2 if both else 1
    for depth in range(len(weights) // ways):
        outs = []
        for back in range(ways):
            number = depth * ways + back
            w = dict(zip(("ih", "hh", "b_ih", "b_hh"), [*weights[number], None, None], strict=False))
            begin = tuple(one[number] for one in state)
            out, last = layer(mode, x, sizes, begin, w, bool(back))
            outs.append(out)
            lasts.append(last)
        x = cat(outs, -1) if both else outs[0]
        if dropout and depth + 1 < len(weights) // ways:
            x = F.dropout(x, dropout)
    return x, tuple(stack(list(one)) for one in zip(*lasts, strict=True))


def function(mode: str):
    """torch.lstm and its kin: (input, state, weights, has_biases, layers, dropout, train, bidirectional, batch_first)."""

    def of(input, hx, params, has_biases, num_layers, dropout, train, bidirectional, batch_first):
        n = 4 if has_biases else 2
        weights = [list(params[i : i + n]) for i in range(0, len(params), n)]
        state = tuple(hx) if mode == "LSTM" else (hx,)
        x = input.transpose(0, 1) if batch_first else input
        out, last = run(mode, x, [x.shape[1]] * x.shape[0], state, weights, dropout if train else 0.0, bidirectional)
        return (out.transpose(0, 1) if batch_first else out, *last)

    return of


def cell(mode: str):
    """torch.lstm_cell and its kin."""

    def of(input, hx, w_ih, w_hh, b_ih=None, b_hh=None):
        state = tuple(hx) if mode == "LSTM" else (hx,)
        new = step(mode, F.linear(input, w_ih, b_ih), state, {"hh": w_hh, "b_hh": b_hh})
        return new if mode == "LSTM" else new[0]

    return of


class RNN(RNNBase):
    """h' = tanh(W_ih x + b_ih + W_hh h + b_hh)."""

    def __init__(self, *args: Any, nonlinearity: str = "tanh", **kwargs: Any):
        self_mode = "RNN_RELU" if nonlinearity == "relu" else "RNN_TANH"
        super().__init__("RNN", *args, **kwargs)
        self.mode = self_mode


class LSTM(RNNBase):
    """Long short-term memory."""

    def __init__(self, *args: Any, **kwargs: Any):
        super().__init__("LSTM", *args, **kwargs)


class GRU(RNNBase):
    """Gated recurrent units."""

    def __init__(self, *args: Any, **kwargs: Any):
        super().__init__("GRU", *args, **kwargs)
