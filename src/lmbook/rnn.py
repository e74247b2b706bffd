"""Recurrent networks: cells run along a sequence, stacked, in one or two directions.

    h_t^(1) = cell_1(x_t, h_{t-1}^(1))      h_t^(l) = cell_l(h_t^(l-1), h_{t-1}^(l))      outputs: the top layer's h_t

With residual connections a layer l > 1 passes on h_t^(l) plus what it was given  (Wu et al. 2016, section 3.1).

Shapes: B batch, T steps, d_in input width, hidden state width, width = hidden, or 2 hidden with two directions.
A state is a tuple with one entry per layer, each a tuple of tensors (B, width): (h,) or, for the LSTM, (h, c). With two
directions the first half of the width is the forward cell's state, the second half the backward cell's.
Masks are boolean (B, T), True at a token. Where it is False the state stays as it is and the output is 0, so that
padding changes nothing, whichever side it is on.

`run_cell` is what happens. Where torch has a kernel for it, that kernel does it, with the same parameters and the same
numbers: `lmbook.fused`.
"""

from collections.abc import Sequence
from typing import TypedDict, Unpack

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from lmbook.cells import CELLS, Cell, GRUCell, LSTMCell, RNNCell, State
from lmbook.fused import Weights, fused_step, fusible, has_kernel, run_fused
from lmbook.networks import module_list
from lmbook.protocol import check_input


class CellOptions(TypedDict, total=False):
    """Arguments of one kind of cell: forget_bias of LSTMCell, reset of GRUCell."""

    forget_bias: float
    reset: str


class Options(CellOptions, total=False):
    """Arguments of Recurrent that a model hands on to it."""

    residual: bool


def run_cell(
    cell: Cell, x: Tensor, state: State, mask: Tensor | None = None, backward: bool = False
) -> tuple[Tensor, State]:
    """One cell along x (B, T, d_in), from the last step to the first with backward=True.

    Returns the outputs h_1..h_T (B, T, hidden), in the order of x, and the state after the last step taken.
    """
    outputs = []
    steps = list(enumerate(x.unbind(1)))  # not x[:, t], whose gradient would be as large as x at every step
    for t, x_t in reversed(steps) if backward else steps:
        new = cell(x_t, state)
        if mask is None:
            state = new
            outputs.append(state[0])
        else:
            token = mask[:, t, None]
            state = tuple(torch.where(token, now, before) for now, before in zip(new, state, strict=True))
            outputs.append(state[0].masked_fill(~token, 0.0))
    return torch.stack(outputs[::-1] if backward else outputs, dim=1), state


def run_layer(cells: Sequence[Cell], x: Tensor, state: State, mask: Tensor | None = None) -> tuple[Tensor, State]:
    """A layer of one cell, or of two that read x in opposite directions: outputs and states side by side.

    state: tensors (B, width).
    """
    states = zip(*(tensor.chunk(len(cells), dim=-1) for tensor in state), strict=True)  # one for each direction
    runs = [run_cell(cells[i], x, start, mask, backward=i == 1) for i, start in enumerate(states)]
    outputs = torch.cat([output for output, _ in runs], dim=-1)
    return outputs, tuple(torch.cat(halves, dim=-1) for halves in zip(*(last for _, last in runs), strict=True))


class Recurrent(nn.Module):
    """A stack of n_layers recurrent layers, each with one cell, or with two cells that read in opposite directions.

    cell: "rnn", "lstm" or "gru"; `options` go to it (forget_bias for "lstm", reset for "gru").
    dropout: share of the values set to 0 between the layers, in training. It is never applied from one step to the next
    (Zaremba et al. 2014, section 3.1).  residual: every layer but the first adds its input to its output.
    """

    def __init__(
        self,
        d_in: int,
        hidden: int,
        n_layers: int = 1,
        cell: str = "lstm",
        bidirectional: bool = False,
        dropout: float = 0.0,
        residual: bool = False,
        **options: Unpack[CellOptions],
    ):
        super().__init__()
        if cell not in CELLS:
            raise ValueError(f"cell is {cell!r}; it must be one of {', '.join(CELLS)}.")
        if n_layers < 1:
            raise ValueError(f"n_layers is {n_layers}; there must be at least one layer.")
        if not 0 <= dropout < 1:
            raise ValueError(f"dropout is {dropout}; it is a share, at least 0 and below 1.")
        directions = 2 if bidirectional else 1
        self.d_in, self.hidden, self.width = d_in, hidden, directions * hidden
        self.dropout, self.bidirectional, self.residual = dropout, bidirectional, residual
        self.layers = module_list(
            module_list(CELLS[cell](d_in if i == 0 else self.width, hidden, **options) for _ in range(directions))
            for i in range(n_layers)
        )

    def start(self, batch_size: int) -> tuple[State, ...]:
        """The zero state."""
        return tuple(
            tuple(torch.cat(halves, dim=-1) for halves in zip(*(cell.start(batch_size) for cell in cells), strict=True))
            for cells in self.layers
        )

    def forward(
        self, x: Tensor, state: tuple[State, ...] | None = None, mask: Tensor | None = None
    ) -> tuple[Tensor, tuple[State, ...]]:
        """x: (B, T, d_in).  state: zero if None.  mask: (B, T), True at a token.

        Returns the outputs of the top layer (B, T, width) and the state after the last token of every row (after its
        first one, for the backward cells).
        """
        state = self._checked(x, state, mask)
        run = run_fused if fusible(self.layers[0][0], x, mask) else run_layer
        final = []
        for i, (cells, layer_state) in enumerate(zip(self.layers, state, strict=True)):
            if i > 0:
                x = F.dropout(x, self.dropout, self.training)
            outputs, new = run(cells, x, layer_state, mask)
            x = x + outputs if self.residual and i > 0 else outputs
            final.append(new)
        return x, tuple(final)

    def step_weights(self) -> list[Weights] | None:
        """For `step`: the weights of every layer as torch's fused cell wants them; None where it has no such cell."""
        if not has_kernel(self.layers[0][0]):
            return None
        return [cells[0].torch_weights() for cells in self.layers]

    def step(
        self, x: Tensor, state: tuple[State, ...], weights: list[Weights] | None = None
    ) -> tuple[Tensor, tuple[State, ...]]:
        """One step: x (B, d_in) gives the top layer's output (B, hidden) and the next state.

        weights: of step_weights(), computed once for many steps; then all gates of a cell are one product.
        """
        if self.bidirectional:
            raise ValueError("a bidirectional network needs the whole sequence; it cannot go step by step.")
        check_input(x)
        final = []
        for i, ((cell,), layer_state) in enumerate(zip(self.layers, state, strict=True)):
            if i > 0:
                x = F.dropout(x, self.dropout, self.training)
            final.append(cell(x, layer_state) if weights is None else fused_step(cell, x, layer_state, weights[i]))
            x = x + final[-1][0] if self.residual and i > 0 else final[-1][0]
        return x, tuple(final)

    def _checked(self, x: Tensor, state: tuple[State, ...] | None, mask: Tensor | None) -> tuple[State, ...]:
        check_input(x)
        if x.dim() != 3 or x.shape[1] < 1 or x.shape[2] != self.d_in:
            raise ValueError(f"x is {tuple(x.shape)}; it must be (B, T, {self.d_in}) with at least one step.")
        if mask is not None and (mask.dtype != torch.bool or mask.shape != x.shape[:2]):
            raise ValueError(f"mask is {mask.dtype} {tuple(mask.shape)}; it must be boolean {tuple(x.shape[:2])}.")
        zero = self.start(x.shape[0])
        if state is None:
            return zero
        shapes = [[tuple(tensor.shape) for tensor in layer] for layer in state]
        wanted = [[tuple(tensor.shape) for tensor in layer] for layer in zero]
        if shapes != wanted:
            raise ValueError(f"state has shapes {shapes}; this network wants {wanted}, as start({x.shape[0]}) gives.")
        return state

    def to_torch(self) -> nn.RNN | nn.LSTM | nn.GRU:
        """The same network as torch's own module (batch first), with a copy of the weights.

        Raises ValueError with residual connections, which torch's modules do not have.
        """
        if self.residual:
            raise ValueError("torch's modules have no residual connections: residual must be False.")
        kind = {RNNCell: nn.RNN, LSTMCell: nn.LSTM, GRUCell: nn.GRU}[type(self.layers[0][0])]
        dropout = self.dropout if len(self.layers) > 1 else 0.0  # torch warns of one that has no effect
        options = {"batch_first": True, "bidirectional": self.bidirectional, "dropout": dropout}
        module = kind(self.d_in, self.hidden, len(self.layers), **options).to(next(self.parameters()))
        with torch.no_grad():
            cells = [cell for layer in self.layers for cell in layer]
            for cell, weights in zip(cells, module.all_weights, strict=True):
                for target, weight in zip(weights, cell.torch_weights(), strict=True):
                    target.copy_(weight)
        return module
