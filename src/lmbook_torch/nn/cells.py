"""One step of a recurrent network as a module: RNNCell, LSTMCell, GRUCell."""

import math
from typing import Any

import numpy as np

from ..elementwise import wrap
from ..tensor import Tensor
from . import init
from .layers import fresh
from .module import Module
from .recurrent import cell
from .steps import RULES


class CellBase(Module):
    """One step of one layer."""

    mode = "RNN_TANH"

    def __init__(
        self, input_size: int, hidden_size: int, bias: bool = True, nonlinearity: str = "tanh", dtype: Any = None
    ):
        super().__init__()
        self.input_size, self.hidden_size, self.nonlinearity = input_size, hidden_size, nonlinearity
        if nonlinearity == "relu":
            self.mode = "RNN_RELU"
        rows = RULES[self.mode].gates * hidden_size
        self.weight_ih, self.weight_hh = fresh(rows, input_size, dtype=dtype), fresh(rows, hidden_size, dtype=dtype)
        self.register_parameter("bias_ih", fresh(rows, dtype=dtype) if bias else None)
        self.register_parameter("bias_hh", fresh(rows, dtype=dtype) if bias else None)
        bound = 1.0 / math.sqrt(hidden_size)
        for weight in self.parameters():
            init.uniform_(weight, -bound, bound)

    def forward(self, input: Tensor, hx: Any = None) -> Any:
        if hx is None:
            zero = wrap(np.zeros((*input.shape[:-1], self.hidden_size), input._a.dtype))
            hx = (zero, zero) if self.mode == "LSTM" else zero
        return cell(self.mode)(input, hx, self.weight_ih, self.weight_hh, self.bias_ih, self.bias_hh)

    def extra_repr(self) -> str:
        return f"{self.input_size}, {self.hidden_size}"


class RNNCell(CellBase):
    """A step of a plain recurrent network."""


class LSTMCell(CellBase):
    """A step of an LSTM."""

    mode = "LSTM"


class GRUCell(CellBase):
    """A step of a GRU."""

    mode = "GRU"
