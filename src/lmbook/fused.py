"""Recurrent layers by torch's own kernels, which are cuDNN's on a GPU: the numbers of lmbook.rnn, in less time.

No chapter needs an idea of this file. It hands the weights of our cells to the functions that nn.RNN, nn.LSTM and
nn.GRU call, with states and masks in the form that these want.  Shapes: as in lmbook.rnn.
"""

from collections.abc import Callable, Sequence

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import PackedSequence, pack_padded_sequence, pad_packed_sequence

from lmbook.cells import Cell, GRUCell, LSTMCell, RNNCell, State

Kernels = dict[type[nn.Module], Callable]
FUSED: Kernels = {RNNCell: torch.rnn_tanh, LSTMCell: torch.lstm, GRUCell: torch.gru}  # along a sequence
FUSED_STEP: Kernels = {RNNCell: torch.rnn_tanh_cell, LSTMCell: torch.lstm_cell, GRUCell: torch.gru_cell}
Weights = tuple[Tensor, Tensor, Tensor, Tensor]  # of one cell, as its torch_weights() gives them


def has_kernel(cell: Cell) -> bool:
    """Whether torch's kernels compute this cell: not reset="before", nor a subclass, which may compute anything."""
    return type(cell) in FUSED and getattr(cell, "reset", "after") == "after"


def fusible(cell: Cell, x: Tensor, mask: Tensor | None) -> bool:
    """Whether torch has a kernel that runs this cell along x: padding must be on the right, where packing wants it."""
    if not has_kernel(cell):
        return False
    if not x.is_cuda and (torch.is_autocast_enabled("cpu") or x.dtype not in (torch.float32, torch.float64)):
        return False  # on a CPU there are no kernels in half precision
    return mask is None or bool((mask[:, 1:] <= mask[:, :-1]).all())


def one_buffer(weights: list[Tensor]) -> list[Tensor]:
    """The same weights, side by side in one piece of memory, matrices before biases: cuDNN copies any others at every
    call, and warns."""
    order = sorted(range(len(weights)), key=lambda i: weights[i].dim(), reverse=True)
    buffer = torch.cat([weights[i].flatten() for i in order])
    pieces = buffer.split([weights[i].numel() for i in order])
    views = {i: piece.view_as(weights[i]) for i, piece in zip(order, pieces, strict=True)}
    return [views[i] for i in range(len(weights))]


def run_fused(cells: Sequence[Cell], x: Tensor, state: State, mask: Tensor | None = None) -> tuple[Tensor, State]:
    """run_layer through what nn.RNN, nn.LSTM and nn.GRU call, where it is `fusible`; padding is left out by packing."""
    fused = FUSED[type(cells[0])]
    weights = [weight for cell in cells for weight in cell.torch_weights()]
    if x.is_cuda:
        weights = one_buffer(weights)
    learns = x.is_cuda and torch.is_grad_enabled()  # cuDNN keeps what the backward pass needs only where it is told to
    settings = (True, 1, 0.0, learns, len(cells) == 2)  # biases, layers, dropout, training, bidirectional
    # torch wants a state as (directions, B, hidden)
    hx = [tensor.unflatten(-1, (len(cells), -1)).transpose(0, 1).contiguous() for tensor in state]
    if mask is None or bool(mask.all()):
        outputs, *hx = fused(x, hx if len(hx) > 1 else hx[0], weights, *settings, True)
        # contiguous, as the readable form is: dropout draws its zeros in the order of memory
        return outputs.contiguous(), tuple(tensor.transpose(0, 1).flatten(1) for tensor in hx)

    lengths = mask.sum(dim=1)
    packed = pack_padded_sequence(x, lengths.clamp(min=1).cpu(), batch_first=True, enforce_sorted=False)
    hx = [tensor[:, packed.sorted_indices] for tensor in hx]
    data, *hx = fused(packed.data, packed.batch_sizes, hx if len(hx) > 1 else hx[0], weights, *settings)
    packed = PackedSequence(data, packed.batch_sizes, packed.sorted_indices, packed.unsorted_indices)
    outputs, _ = pad_packed_sequence(packed, batch_first=True, total_length=mask.shape[1])
    new = [tensor[:, packed.unsorted_indices].transpose(0, 1).flatten(1) for tensor in hx]
    some = lengths[:, None] > 0  # packing allows no empty row: it was given one step, which is taken back here
    state = tuple(torch.where(some, now, before) for now, before in zip(new, state, strict=True))
    return outputs.masked_fill(~mask[:, :, None], 0.0).contiguous(), state


def fused_step(cell: Cell, x: Tensor, state: State, weights: Weights) -> State:
    """cell(x, state) through what nn.RNNCell, nn.LSTMCell and nn.GRUCell call.  weights: of cell.torch_weights()."""
    new = FUSED_STEP[type(cell)](x, state if len(state) > 1 else state[0], *weights)
    return new if isinstance(new, tuple) else (new,)
