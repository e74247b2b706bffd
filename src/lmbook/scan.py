"""Recurrence without a tanh: a state that is linear in the one before can be computed for all times at once.

    h_t = a_t h_t-1 + b_t                   entry by entry; a_t and b_t come from the input x_t alone
    (a, b) then (a', b')  =  (a' a, a' b + b')          two steps are one step of the same kind

Composition is associative, so T steps may be paired in any way: ceil(log2 T) rounds, each over all times together.

    MinGRU      a = 1 - z, b = z * (W_h x),  z = sigmoid(W_z x + b_z)             Feng et al. 2024, section 3.1
    Selective   a = exp(Delta A), b = Delta B x,  Delta, B and C read from x      Gu and Dao 2023, algorithm 2
    Unselective the same with Delta, B and C learned once for all x: a filter     Gu and Dao 2023, algorithm 1

Shapes: B batch, T time, d_model; m units, n_state numbers for each unit of the selective layer.
A layer has start(B), its state before any input, and layer(x, state, position), which reads T inputs (B, T, d_model)
and returns as many outputs and the state after the last. A recurrence does not need to be told the position.
"""

import torch
from torch import Tensor, nn
from torch.nn import functional as F


def scan(a: Tensor, b: Tensor, h: Tensor | None = None) -> Tensor:
    """h_t = a_t h_t-1 + b_t for all t, in ceil(log2 T) rounds  (Hillis and Steele 1986; Martin and Cundy 2018).

    a, b: (B, T, ...), of one shape.  h: the state before the first step, (B, ...), by default 0.  Returns all states,
    as b. After a round that reaches back r steps, (a_t, b_t) stands for the last 2r steps up to t.
    """
    if a.shape != b.shape or a.dim() < 2:
        raise ValueError(f"scan: a {tuple(a.shape)} and b {tuple(b.shape)} must have one shape (B, T, ...).")
    if h is not None:
        b = torch.cat([a[:, :1] * h.unsqueeze(1) + b[:, :1], b[:, 1:]], dim=1)
    r = 1
    while r < a.shape[1]:
        b = torch.cat([b[:, :r], a[:, r:] * b[:, :-r] + b[:, r:]], dim=1)
        a = torch.cat([a[:, :r], a[:, r:] * a[:, :-r]], dim=1)
        r *= 2
    return b


class MinGRU(nn.Module):
    """h_t = (1 - z_t) h_t-1 + z_t (W_h x_t),   z_t = sigmoid(W_z x_t + b_z),   out = W_o h_t  (Feng et al. 2024).

    The GRU without its reset gate, without tanh, and with gates that do not see the state: so it is a scan.
    bias: whether the linear maps, without the gate's, have one.
    """

    def __init__(self, d_model: int, m: int | None = None, bias: bool = False):
        super().__init__()
        self.m = d_model if m is None else m
        self.W_z, self.W_h = nn.Linear(d_model, self.m), nn.Linear(d_model, self.m, bias=bias)
        self.W_o = nn.Linear(self.m, d_model, bias=bias)

    def start(self, batch_size: int) -> Tensor:
        """h = 0, (B, m)."""
        return self.W_h.weight.new_zeros(batch_size, self.m)

    def forward(self, x: Tensor, state: Tensor, position: int = 0) -> tuple[Tensor, Tensor]:
        z = torch.sigmoid(self.W_z(x))  # (B, T, m)
        h = scan(1 - z, z * self.W_h(x), state)
        return self.W_o(h), h[:, -1]


class Selective(nn.Module):
    """A selective state space, n_state numbers for each of m units  (Gu and Dao 2023, algorithm 2).

        u = W_u x       Delta = softplus(W_D u + b_D)       B = W_B u       C = W_C u
        h_t = exp(Delta_t A) h_t-1 + Delta_t B_t u_t        y_t = C_t h_t + D u_t        out = W_o (y * silu(W_g x))

    A (m, n_state) is negative, so that the factor lies in 0..1: near 1 where Delta is small, and the state is kept;
    near 0 where Delta is large, and the input takes its place. Mamba also has a short convolution behind W_u, and W_D
    of low rank.  A starts at -1 .. -n_state, Delta between 0.001 and 0.1, D at 1, as there.
    """

    def __init__(self, d_model: int, m: int | None = None, n_state: int = 4, bias: bool = False):
        super().__init__()
        self.m, self.n_state = d_model if m is None else m, n_state
        self.W_u, self.W_g = nn.Linear(d_model, self.m, bias=bias), nn.Linear(d_model, self.m, bias=bias)
        self.W_D, self.W_B, self.W_C = (nn.Linear(self.m, k, bias=False) for k in (self.m, n_state, n_state))
        self.W_o = nn.Linear(self.m, d_model, bias=bias)
        self.A_log = nn.Parameter(torch.arange(1.0, n_state + 1).log().repeat(self.m, 1))
        delta = torch.logspace(-3, -1, self.m)
        self.b_D = nn.Parameter(delta.expm1().log())  # softplus(b_D) = delta
        self.D = nn.Parameter(torch.ones(self.m))

    def start(self, batch_size: int) -> Tensor:
        """h = 0, (B, m, n_state)."""
        return self.A_log.new_zeros(batch_size, self.m, self.n_state)

    def selected(self, u: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Delta, B and C for u (B, T, m): (B, T, m) and twice (B, T, n_state)."""
        return F.softplus(self.W_D(u) + self.b_D), self.W_B(u), self.W_C(u)

    def forward(self, x: Tensor, state: Tensor, position: int = 0) -> tuple[Tensor, Tensor]:
        u = self.W_u(x)
        delta, B, C = self.selected(u)
        a = torch.exp(delta.unsqueeze(-1) * -self.A_log.exp())  # (B, T, m, n_state)
        b = (delta * u).unsqueeze(-1) * B.unsqueeze(-2)
        h = scan(a, b, state)
        y = (h @ C.unsqueeze(-1)).squeeze(-1) + self.D * u
        return self.W_o(y * F.silu(self.W_g(x))), h[:, -1]


class Unselective(Selective):
    """Selective with the same Delta (m,), B and C (n_state,) for every input  (Gu and Dao 2023, algorithm 1).

    y is then u, filtered by weights that depend on the distance alone, not on what stands there.
    """

    def __init__(self, d_model: int, m: int | None = None, n_state: int = 4, bias: bool = False):
        super().__init__(d_model, m, n_state, bias)
        del self.W_D, self.W_B, self.W_C
        self.B, self.C = (nn.Parameter(torch.randn(n_state)) for _ in range(2))

    def selected(self, u: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        batch = u.shape[:-1]
        return F.softplus(self.b_D).expand_as(u), self.B.expand(*batch, -1), self.C.expand(*batch, -1)
