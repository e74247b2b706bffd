"""Recurrent networks: torch.rnn_tanh, torch.lstm and torch.gru, along a sequence (`steps`) and a step, and the modules.

The weights of a layer and direction have PyTorch's names: weight_ih_l0, weight_hh_l0, bias_ih_l0, bias_hh_l0.
"""

import math
from typing import Any

import numpy as np

from ..elementwise import wrap
from ..joins import cat, stack
from ..tensor import Tensor
from . import functional as F
from . import init
from .layers import fresh
from .module import Module
from .steps import RULES, along
from .utils.rnn import PackedSequence


def layer(kind: str, x: Tensor, sizes: list[int], state: tuple[Tensor, ...], w: list, back: bool = False):
    """One layer in one direction over x (T, B, n), of which at step t only the first sizes[t] rows are there."""
    w_ih, w_hh, b_ih, b_hh = [*w, None, None][:4]
    return along(kind, F.linear(x, w_ih, b_ih), sizes, state, w_hh, b_hh, back)


class RNNBase(Module):
    """Layers of recurrent units."""

    def __init__(
        self, mode: str, input_size: int, hidden_size: int, num_layers: int = 1, bias: bool = True,
        batch_first: bool = False, dropout: float = 0.0, bidirectional: bool = False, dtype: Any = None, device: Any = None,
    ):  # fmt: skip
        super().__init__()
        self.mode, self.input_size, self.hidden_size, self.num_layers = mode, input_size, hidden_size, num_layers
        self.bias, self.batch_first, self.dropout, self.bidirectional = bias, batch_first, dropout, bidirectional
        rows, ways = RULES[mode].gates * hidden_size, 2 if bidirectional else 1
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
            out = PackedSequence(there(out, sizes), packed.batch_sizes, packed.sorted_indices, packed.unsorted_indices)
        else:
            out = out.transpose(0, 1) if self.batch_first else out
            out = out.squeeze(0 if self.batch_first else 1) if alone else out
            last = tuple(one.squeeze(1) for one in last) if alone else last
        return out, last if self.mode == "LSTM" else last[0]


def places(sizes: list[int]) -> np.ndarray:
    """Where the rows of packed data stand in a padded batch (T, B) that is seen as one row after the other."""
    return np.concatenate([t * sizes[0] + np.arange(n) for t, n in enumerate(sizes)])


def padded(packed: PackedSequence) -> tuple[Tensor, list[int]]:
    """The data of a packed sequence as (T, B, n), with any numbers where a sequence has ended, and its sizes."""
    sizes = packed.batch_sizes.tolist()
    rows = np.zeros(len(sizes) * sizes[0], np.int64)
    rows[places(sizes)] = np.arange(len(packed.data))
    return packed.data[wrap(rows.reshape(len(sizes), sizes[0]))], sizes


def there(x: Tensor, sizes: list[int]) -> Tensor:
    """Of (T, B, n) what a packed sequence has."""
    return x.flatten(0, 1)[wrap(places(sizes))]


def run(mode: str, x: Tensor, sizes: list[int], state: tuple, weights: list, dropout: float, both: bool):
    """All layers over x (T, B, n)."""
    lasts, ways = [], 2 if both else 1
    for depth in range(len(weights) // ways):
        outs = []
        for back in range(ways):
            number = depth * ways + back
            out, last = layer(mode, x, sizes, tuple(one[number] for one in state), weights[number], bool(back))
            outs.append(out)
            lasts.append(last)
        x = cat(outs, -1) if both else outs[0]
        if dropout and depth + 1 < len(weights) // ways:
            x = F.dropout(x, dropout)
    return x, tuple(stack(list(one)) for one in zip(*lasts, strict=True))


def function(mode: str):
    """torch.lstm and its kin: (input, state, weights, has_biases, layers, dropout, train, bidirectional, batch_first), or
    of a packed sequence (data, batch_sizes, state, weights, ...)."""

    def of(input, *given):
        packed = not isinstance(given[2], bool)
        hx, params, has_biases, _, dropout, train, bidirectional = given[packed : 7 + packed]
        n = 4 if has_biases else 2
        weights = [list(params[i : i + n]) for i in range(0, len(params), n)]
        if packed:
            x, sizes = padded(PackedSequence(input, given[0]))
        else:
            x = input.transpose(0, 1) if given[7] else input
            sizes = [x.shape[1]] * x.shape[0]
        state = tuple(hx) if mode == "LSTM" else (hx,)
        out, last = run(mode, x, sizes, state, weights, dropout if train else 0.0, bidirectional)
        return (there(out, sizes) if packed else out.transpose(0, 1) if given[7] else out, *last)

    return of


def cell(mode: str):
    """torch.lstm_cell and its kin."""

    def of(input, hx, w_ih, w_hh, b_ih=None, b_hh=None):
        alone = input.dim() == 1
        state = tuple(one[None] if alone else one for one in (hx if mode == "LSTM" else (hx,)))
        x = input[None] if alone else input
        _, new = layer(mode, x[None], [x.shape[0]], state, [w_ih, w_hh, b_ih, b_hh])
        new = tuple(one[0] if alone else one for one in new)
        return new if mode == "LSTM" else new[0]

    return of


class RNN(RNNBase):
    """h' = tanh(W_ih x + b_ih + W_hh h + b_hh)."""

    def __init__(self, *args: Any, nonlinearity: str = "tanh", **kwargs: Any):
        super().__init__("RNN_RELU" if nonlinearity == "relu" else "RNN_TANH", *args, **kwargs)


class LSTM(RNNBase):
    """Long short-term memory."""

    def __init__(self, *args: Any, **kwargs: Any):
        super().__init__("LSTM", *args, **kwargs)


class GRU(RNNBase):
    """Gated recurrent units."""

    def __init__(self, *args: Any, **kwargs: Any):
        super().__init__("GRU", *args, **kwargs)
