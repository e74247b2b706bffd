"""Encoders: a source x_1 .. x_N becomes H = h_1 .. h_N, one state a token, and the decoder's first state.

Two kinds with one interface, `H, final = encoder(source, mask)` and `encoder.width`, and the bridge to the decoder:

    RecurrentEncoder    h_i = recurrent(E x_i, h_{i-1}), in one direction or in two
    AttentionEncoder    H = Transformer encoder(sqrt(d_model) E x + p): no recurrence, every token sees all others

Shapes: B batch, N source length, width of H. final has one tuple a layer, (h,) or (h, c), each (B, width).
Masks are boolean (B, N), True at real tokens.
"""

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from lmbook.batching import PAD_ID
from lmbook.cells import State
from lmbook.common import embed
from lmbook.positions import rotary
from lmbook.recurrent import Recurrent
from lmbook.transformer import Embedding, Encoder


def real_tokens(source: Tensor, mask: Tensor | None) -> Tensor:
    """The mask (B, N) as it was given, or where the source (B, N) is not <pad>. Raises ValueError for other shapes."""
    if source.ndim != 2 or source.shape[1] < 1:
        raise ValueError(f"source has shape {tuple(source.shape)}; give ids (B, N) with at least one column.")
    mask = source != PAD_ID if mask is None else mask
    if mask.dtype != torch.bool or mask.shape != source.shape:
        raise ValueError(f"source_mask is {mask.dtype} {tuple(mask.shape)}; give booleans {tuple(source.shape)}.")
    return mask


class RecurrentEncoder(nn.Module):
    """Recurrent over the embedded source; final is every layer's last state. E starts uniform in [-0.1, 0.1]."""

    def __init__(self, vocab: int, d_embed: int, hidden: int, n_layers: int, cell: str, dropout: float, **options):
        super().__init__()
        self.embedding = nn.Embedding(vocab, d_embed)
        nn.init.uniform_(self.embedding.weight, -0.1, 0.1)
        self.recurrent = Recurrent(d_embed, hidden, n_layers, cell, dropout=dropout, **options)
        self.width, self.dropout = self.recurrent.width, dropout

    def forward(self, source: Tensor, mask: Tensor) -> tuple[Tensor, tuple[State, ...]]:
        """source: (B, N) ids.  Returns H (B, N, width), 0 at padding, and final."""
        x = F.dropout(embed(self.embedding, source), self.dropout, self.training)
        return self.recurrent(x, None, mask)


class AttentionEncoder(nn.Module):
    """The encoder of a Transformer, for the hybrid: attention reads the source, a recurrent decoder writes.

    It has no last state, so final is the mean of H over the real tokens, once for each of the `parts` of each of the
    decoder's `n_final` layers. positions as in transformer.Embedding; with "none" the order of the source is not seen.
    """

    def __init__(
        self,
        vocab: int,
        d_model: int,
        n_heads: int,
        d_ff: int,
        n_layers: int,
        n_final: int,
        parts: int,
        positions: str,
        dropout: float,
        fast: bool,
    ):
        super().__init__()
        self.embedding = Embedding(vocab, d_model, positions, dropout=dropout)
        rotate = rotary if positions == "rotary" else None
        self.encoder = Encoder(n_layers, d_model, n_heads, d_ff, dropout=dropout, rotate=rotate, fast=fast)
        self.width, self.n_final, self.parts = d_model, n_final, parts

    def forward(self, source: Tensor, mask: Tensor) -> tuple[Tensor, tuple[State, ...]]:
        """source: (B, N) ids.  Returns H (B, N, width) and final."""
        H = self.encoder(self.embedding(source), mask.unsqueeze(1))[0]
        real = mask.unsqueeze(2).to(H)
        mean = (H * real).sum(1) / real.sum(1).clamp(min=1)
        return H, ((mean,) * self.parts,) * self.n_final


class Bridge(nn.Module):
    """From the encoder's last states (B, width) to the decoder's first (B, hidden): tanh(W h + b), and W c + b."""

    def __init__(self, width: int, hidden: int, n_layers: int, parts: int):
        super().__init__()
        self.layers = nn.ModuleList(
            nn.ModuleList(nn.Linear(width, hidden) for _ in range(parts)) for _ in range(n_layers)
        )

    def forward(self, final: tuple[State, ...]) -> tuple[State, ...]:
        first = []
        for maps, (h, *c) in zip(self.layers, final, strict=True):
            first.append((torch.tanh(maps[0](h)), *(W(part) for W, part in zip(maps[1:], c, strict=True))))
        return tuple(first)
