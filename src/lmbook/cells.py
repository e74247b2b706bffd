"""Recurrent cells: a state of fixed size, rewritten at every step by one function with shared weights.

    state_t = cell(x_t, state_{t-1})

Shapes: B batch, T steps, d_in input width, hidden state width. Every weight has its name from the equations, where a
vector is a column; in the code vectors are rows of a matrix, so W x becomes x @ W.T. A state is a tuple of tensors
(B, hidden), h first: (h,) for RNNCell and GRUCell, (h, c) for LSTMCell. All cells share

    cell.start(batch_size)               the zero state
    cell.torch_weights()                 (w_ih, w_hh, b_ih, b_hh) as torch.nn stacks them, differentiable
    cell.load_torch_weights(w_ih, ...)   the way back

Initialisation: matrices uniform in [-1/sqrt(hidden), 1/sqrt(hidden)] as in torch.nn, biases 0, but b_f of LSTMCell is
an argument.
"""

from collections.abc import Callable, Sequence

import torch
from torch import Tensor, nn

State = tuple[Tensor, ...]


def _check_sizes(d_in: int, hidden: int) -> None:
    if d_in < 1 or hidden < 1:
        raise ValueError(f"d_in is {d_in} and hidden is {hidden}; both must be at least 1.")


def _matrix(hidden: int, columns: int) -> nn.Parameter:
    """(hidden, columns), uniform in [-1/sqrt(hidden), 1/sqrt(hidden)]."""
    bound = hidden**-0.5
    return nn.Parameter(torch.empty(hidden, columns).uniform_(-bound, bound))


def _bias(hidden: int) -> nn.Parameter:
    return nn.Parameter(torch.zeros(hidden))


@torch.no_grad()
def _load(weights: Sequence[nn.Parameter], stacked: Tensor) -> None:
    """Cuts a weight of torch.nn, in which those of all gates lie under each other, into ours."""
    shape = torch.Size((len(weights) * weights[0].shape[0], *weights[0].shape[1:]))
    if shape != stacked.shape:
        raise ValueError(
            f"this cell's weights are {tuple(shape)} under each other, the one given {tuple(stacked.shape)}."
        )
    for weight, rows in zip(weights, stacked.chunk(len(weights)), strict=True):
        weight.copy_(rows)


class RNNCell(nn.Module):
    """h_t = tanh(W_hh h_{t-1} + W_xh x_t + b)   (Elman 1990, with tanh)

    One bias, where nn.RNN has two that are always added; their sum is b.
    """

    def __init__(self, d_in: int, hidden: int):
        super().__init__()
        _check_sizes(d_in, hidden)
        self.d_in, self.hidden = d_in, hidden
        self.W_xh, self.W_hh = _matrix(hidden, d_in), _matrix(hidden, hidden)
        self.b = _bias(hidden)

    def start(self, batch_size: int) -> State:
        return (self.b.new_zeros(batch_size, self.hidden),)

    def forward(self, x: Tensor, state: State) -> State:
        """x: (B, d_in).  state: (h,) with h (B, hidden).  Returns the next state, of the same shape."""
        (h,) = state
        return (torch.tanh(h @ self.W_hh.T + x @ self.W_xh.T + self.b),)

    def torch_weights(self) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        return self.W_xh, self.W_hh, self.b, torch.zeros_like(self.b)

    def load_torch_weights(self, w_ih: Tensor, w_hh: Tensor, b_ih: Tensor, b_hh: Tensor) -> None:
        _load([self.W_xh], w_ih)
        _load([self.W_hh], w_hh)
        _load([self.b], b_ih + b_hh)


class LSTMCell(nn.Module):
    """Long short-term memory (Hochreiter and Schmidhuber 1997, with the forget gate of Gers et al. 2000):

        i_t = sigma(W_xi x_t + W_hi h_{t-1} + b_i)     input gate
        f_t = sigma(W_xf x_t + W_hf h_{t-1} + b_f)     forget gate
        o_t = sigma(W_xo x_t + W_ho h_{t-1} + b_o)     output gate
        g_t = tanh(W_xg x_t + W_hg h_{t-1} + b_g)      what could be written
        c_t = f_t * c_{t-1} + i_t * g_t                the memory: the old is kept by f, the new added by i
        h_t = o_t * tanh(c_t)                          what the rest of the network sees of it

    forget_bias: b_f at the start. With 1, about sigma(1) = 0.73 of the memory survives a step before anything is
    learned, with 0 only half (Jozefowicz et al. 2015 recommend 1).
    """

    def __init__(self, d_in: int, hidden: int, forget_bias: float = 1.0):
        super().__init__()
        _check_sizes(d_in, hidden)
        self.d_in, self.hidden = d_in, hidden
        self.W_xi, self.W_hi = _matrix(hidden, d_in), _matrix(hidden, hidden)
        self.W_xf, self.W_hf = _matrix(hidden, d_in), _matrix(hidden, hidden)
        self.W_xg, self.W_hg = _matrix(hidden, d_in), _matrix(hidden, hidden)
        self.W_xo, self.W_ho = _matrix(hidden, d_in), _matrix(hidden, hidden)
        self.b_i, self.b_f, self.b_g, self.b_o = _bias(hidden), _bias(hidden), _bias(hidden), _bias(hidden)
        nn.init.constant_(self.b_f, forget_bias)

    def start(self, batch_size: int) -> State:
        zeros = self.b_i.new_zeros(batch_size, self.hidden)
        return zeros, zeros

    def gates(self, x: Tensor, state: State) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """i_t, f_t, o_t and g_t, each (B, hidden)."""
        h, _ = state
        i = torch.sigmoid(x @ self.W_xi.T + h @ self.W_hi.T + self.b_i)
        f = torch.sigmoid(x @ self.W_xf.T + h @ self.W_hf.T + self.b_f)
        o = torch.sigmoid(x @ self.W_xo.T + h @ self.W_ho.T + self.b_o)
        g = torch.tanh(x @ self.W_xg.T + h @ self.W_hg.T + self.b_g)
        return i, f, o, g

    def forward(self, x: Tensor, state: State) -> State:
        """x: (B, d_in).  state: (h, c), both (B, hidden).  Returns the next state, of the same shapes."""
        _, c = state
        i, f, o, g = self.gates(x, state)
        c = f * c + i * g
        h = o * torch.tanh(c)
        return h, c

    def torch_weights(self) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        W_x = torch.cat([self.W_xi, self.W_xf, self.W_xg, self.W_xo])
        W_h = torch.cat([self.W_hi, self.W_hf, self.W_hg, self.W_ho])
        b = torch.cat([self.b_i, self.b_f, self.b_g, self.b_o])
        return W_x, W_h, b, torch.zeros_like(b)

    def load_torch_weights(self, w_ih: Tensor, w_hh: Tensor, b_ih: Tensor, b_hh: Tensor) -> None:
        _load([self.W_xi, self.W_xf, self.W_xg, self.W_xo], w_ih)
        _load([self.W_hi, self.W_hf, self.W_hg, self.W_ho], w_hh)
        _load([self.b_i, self.b_f, self.b_g, self.b_o], b_ih + b_hh)


class GRUCell(nn.Module):
    """Gated recurrent unit (Cho et al. 2014), in the form of torch.nn.GRU:

        r_t = sigma(W_xr x_t + W_hr h_{t-1} + b_r)                 reset gate
        z_t = sigma(W_xz x_t + W_hz h_{t-1} + b_z)                 update gate
        n_t = tanh(W_xn x_t + b_n + r_t * (W_hn h_{t-1} + b_hn))   what could be written
        h_t = z_t * h_{t-1} + (1 - z_t) * n_t                      z keeps the old state

    reset="after" the product with W_hn is the line above. reset="before" it, as Cho et al. 2014 define the unit, is
        n_t = tanh(W_xn x_t + W_hn (r_t * h_{t-1}) + b_n)          (and there is no b_hn)
    The first multiplies h once for all three gates, the second has to wait for r; torch has only the first.

    z keeps the old state here, in torch and in Cho et al. 2014. Chung et al. 2014 and Bahdanau et al. 2015 write it the
    other way round, h_t = (1 - z_t) * h_{t-1} + z_t * n_t: there 1 - z keeps it. Since sigma(-a) = 1 - sigma(a),
    negating W_xz, W_hz and b_z turns one into the other: the models are the same.
    """

    def __init__(self, d_in: int, hidden: int, reset: str = "after"):
        super().__init__()
        if reset not in ("after", "before"):
            raise ValueError(f'reset is {reset!r}; it must be "after" (as torch) or "before" (as Cho et al. 2014).')
        _check_sizes(d_in, hidden)
        self.d_in, self.hidden, self.reset = d_in, hidden, reset
        self.W_xr, self.W_hr = _matrix(hidden, d_in), _matrix(hidden, hidden)
        self.W_xz, self.W_hz = _matrix(hidden, d_in), _matrix(hidden, hidden)
        self.W_xn, self.W_hn = _matrix(hidden, d_in), _matrix(hidden, hidden)
        self.b_r, self.b_z, self.b_n = _bias(hidden), _bias(hidden), _bias(hidden)
        if reset == "after":
            self.b_hn = _bias(hidden)

    def start(self, batch_size: int) -> State:
        return (self.b_r.new_zeros(batch_size, self.hidden),)

    def gates(self, x: Tensor, state: State) -> tuple[Tensor, Tensor, Tensor]:
        """r_t, z_t and n_t, each (B, hidden)."""
        (h,) = state
        r = torch.sigmoid(x @ self.W_xr.T + h @ self.W_hr.T + self.b_r)
        z = torch.sigmoid(x @ self.W_xz.T + h @ self.W_hz.T + self.b_z)
        if self.reset == "after":
            n = torch.tanh(x @ self.W_xn.T + self.b_n + r * (h @ self.W_hn.T + self.b_hn))
        else:
            n = torch.tanh(x @ self.W_xn.T + (r * h) @ self.W_hn.T + self.b_n)
        return r, z, n

    def forward(self, x: Tensor, state: State) -> State:
        """x: (B, d_in).  state: (h,) with h (B, hidden).  Returns the next state, of the same shape."""
        (h,) = state
        _, z, n = self.gates(x, state)
        return (z * h + (1 - z) * n,)

    def torch_weights(self) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        self._only_after()
        W_x = torch.cat([self.W_xr, self.W_xz, self.W_xn])
        W_h = torch.cat([self.W_hr, self.W_hz, self.W_hn])
        zeros = torch.zeros_like(self.b_hn)
        return W_x, W_h, torch.cat([self.b_r, self.b_z, self.b_n]), torch.cat([zeros, zeros, self.b_hn])

    def load_torch_weights(self, w_ih: Tensor, w_hh: Tensor, b_ih: Tensor, b_hh: Tensor) -> None:
        self._only_after()
        _load([self.W_xr, self.W_xz, self.W_xn], w_ih)
        _load([self.W_hr, self.W_hz, self.W_hn], w_hh)
        (b_xr, b_xz, b_xn), (b_hr, b_hz, b_hn) = b_ih.chunk(3), b_hh.chunk(3)
        _load([self.b_r, self.b_z, self.b_n, self.b_hn], torch.cat([b_xr + b_hr, b_xz + b_hz, b_xn, b_hn]))

    def _only_after(self) -> None:
        if self.reset != "after":
            raise ValueError('torch has no GRU with reset="before"; only reset="after" can be mapped to it.')


Cell = RNNCell | LSTMCell | GRUCell
CELLS: dict[str, Callable[..., Cell]] = {"rnn": RNNCell, "lstm": LSTMCell, "gru": GRUCell}
