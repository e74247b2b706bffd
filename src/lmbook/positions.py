"""Positions: attention does not see the order of its keys, so order must be put into the vectors.

    integer     p_t = t                                           grows without bound
    binary      p_t = bits of t, lowest first                     bit j has period 2^(j+1)
    sinusoidal  p_t,2j = sin(t w_j),  p_t,2j+1 = cos(t w_j),  w_j = base^(-2j/d)      one clock hand for each j
    learned     p_t = row t of a table                            ends where the table ends
    rotary      turns the pairs of queries and keys by t w_j      scores see the distance only
    linear bias lowers the score of a key by m_h (t - i)          far keys count less, at any distance

All but the last two are added to the embeddings or put next to them:  x + p  or  torch.cat([x, p], -1)  (see place).
Shapes: B batch, T time, d width. A code is (T, d): it varies along time and is the same in every row of the batch.
"""

from functools import lru_cache

import torch
from torch import Tensor, nn


def integer(T: int, start: int = 0) -> Tensor:
    """p_t = t, shape (T, 1).  start: the position of the first row."""
    return torch.arange(start, start + T, dtype=torch.get_default_dtype()).unsqueeze(1)


def binary(T: int, n_bits: int | None = None, start: int = 0) -> Tensor:
    """The binary code of t with the lowest bit first: p_tj = floor(t / 2^j) mod 2, shape (T, n_bits).

    Bit j changes every 2^j positions. n_bits is by default the number that the last position needs.
    """
    _check_start(start)
    last = max(start + T - 1, 0)
    needed = max(last.bit_length(), 1)
    n_bits = needed if n_bits is None else n_bits
    if n_bits < needed:
        raise ValueError(f"Position {last} needs {needed} bits, more than n_bits = {n_bits}: codes would repeat.")
    t, j = torch.arange(start, start + T).unsqueeze(1), torch.arange(n_bits)
    return (t >> j & 1).to(torch.get_default_dtype())


def frequencies(d: int, base: float = 10000.0) -> Tensor:
    """w_j = base^(-2j/d) for j = 0..d/2-1, radians per position, shape (d/2,) in float64."""
    if d % 2 or d < 2:
        raise ValueError(f"A width of {d} cannot be cut into pairs (sin, cos); it must be even and positive.")
    return base ** (-torch.arange(0, d, 2, dtype=torch.float64) / d)


def sinusoidal(
    T: int, d: int, base: float = 10000.0, start: int = 0, device: torch.device | str | None = None
) -> Tensor:
    """p_t,2j = sin(t w_j), p_t,2j+1 = cos(t w_j) with w_j = base^(-2j/d), shape (T, d).

    Vaswani et al. 2017, section 3.5, with base = 10000.
    """
    sin, cos = _waves(start, T, d, base, torch.get_default_dtype(), torch.device(device or "cpu"))
    return torch.stack([sin, cos], dim=-1).flatten(1)


def _check_start(start: int) -> None:
    if start < 0:
        raise ValueError(f"start is {start}; positions begin at 0.")


def _waves(start: int, T: int, d: int, base: float, dtype: torch.dtype, device: torch.device) -> tuple[Tensor, Tensor]:
    """sin(t w_j) and cos(t w_j) for t = start..start+T-1, both (T, d/2)."""
    _check_start(start)
    length = max(64, 1 << (start + T - 1).bit_length()) if start + T > 1 else 64
    table = _table if torch.compiler.is_compiling() else _kept_table  # torch.compile sees through no cache
    sin, cos = table(length, d, base, dtype, device)
    return sin[start : start + T], cos[start : start + T]


def _table(length: int, d: int, base: float, dtype: torch.dtype, device: torch.device) -> tuple[Tensor, Tensor]:
    """All waves of the first positions.

    Angles are in double precision on the CPU: in single precision those of far positions would be wrong.
    """
    with torch.inference_mode(False):  # a table made while a model is only evaluated must also serve training
        angles = torch.arange(length, dtype=torch.float64).unsqueeze(1) * frequencies(d, base)
        return angles.sin().to(dtype).to(device), angles.cos().to(dtype).to(device)  # no double on some devices


_kept_table = lru_cache(maxsize=32)(_table)  # every layer and every step of a decoding asks for the same table


def shift_matrix(k: int, d: int, base: float = 10000.0) -> Tensor:
    """The (d, d) matrix R_k with p_t+k = R_k p_t for every t, where p is sinusoidal.

    With a = k w_j the addition theorems give, for each pair,

        sin(t w_j + a) =  cos(a) sin(t w_j) + sin(a) cos(t w_j)
        cos(t w_j + a) = -sin(a) sin(t w_j) + cos(a) cos(t w_j)

    so R_k is made of 2 x 2 rotations along its diagonal. It depends on the offset k and not on t.
    """
    a = k * frequencies(d, base)
    pairs = torch.stack([a.cos(), a.sin(), -a.sin(), a.cos()], dim=-1).view(-1, 2, 2)
    return torch.block_diag(*pairs).to(torch.get_default_dtype())


def place(x: Tensor, code: Tensor, how: str = "add") -> Tensor:
    """x + p (how="add") or [x ; p] (how="concatenate").  x: (B, T, d_model).  code: (T, d).

    Returns (B, T, d_model), or (B, T, d_model + d). Adding needs d = d_model.
    """
    if x.dim() != 3 or x.shape[1] != code.shape[0]:
        raise ValueError(f"x {tuple(x.shape)} must be (B, T, d_model) with T = {code.shape[0]} rows of the code.")
    code = code.to(x)
    if how == "add":
        if x.shape[-1] != code.shape[-1]:
            raise ValueError(f"To add, widths must agree: {x.shape[-1]} and {code.shape[-1]}; or how='concatenate'.")
        return x + code
    if how == "concatenate":
        return torch.cat([x, code.expand(x.shape[0], -1, -1)], dim=-1)
    raise ValueError(f"how is {how!r}; it must be 'add' or 'concatenate'.")


class Learned(nn.Module):
    """p_t = row t of a table of max_length rows, learned like an embedding. Starts N(0, 0.02^2)."""

    def __init__(self, max_length: int, d: int):
        super().__init__()
        self.table = nn.Embedding(max_length, d)
        nn.init.normal_(self.table.weight, std=0.02)

    def forward(self, T: int, start: int = 0) -> Tensor:
        """Rows start..start+T-1, shape (T, d). Raises ValueError past the table."""
        if start < 0 or start + T > self.table.num_embeddings:
            raise ValueError(
                f"Position {start + T - 1} was asked for, but positions were learned for 0 to "
                f"{self.table.num_embeddings - 1}: cut the text, or build the model with a larger max_length."
            )
        return self.table.weight[start : start + T]


def slopes(n_heads: int) -> Tensor:
    """m_h = 2^(-8h/n) for the heads h = 1..n, shape (n_heads,)  (Press et al. 2022, section 3): by how much linear bias
    lowers the score of a key for each place that it lies behind the query, -m_h (t - i).

    The paper's examples have 8 and 16 heads; we take the formula for every number.
    """
    return 2.0 ** (-8 * torch.arange(1, n_heads + 1, dtype=torch.get_default_dtype()) / n_heads)


def rotary(X: Tensor, start: int = 0, base: float = 10000.0) -> Tensor:
    """Each pair (x_2j, x_2j+1) of the vector at position t turned by the angle t w_j  (Su et al. 2021, section 3.2.2).

        x_2j cos(t w_j) - x_2j+1 sin(t w_j),      x_2j sin(t w_j) + x_2j+1 cos(t w_j),      w_j = base^(-2j/d)

    Applied to queries and keys, not to values: the product of a query turned by t and a key turned by i depends on
    t - i.  X: (..., T, d) with d even.  start: the position of the first row.  Returns the shape of X.
    """
    sin, cos = _waves(start, X.shape[-2], X.shape[-1], base, X.dtype, X.device)  # (T, d/2)
    even, odd = X[..., 0::2], X[..., 1::2]
    return torch.stack([even * cos - odd * sin, even * sin + odd * cos], dim=-1).flatten(-2)
