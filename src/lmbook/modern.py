"""The block of today: GPT-2's block with most of its parts replaced, one by one.

    x <- x + mix(norm(x))          mix: attention with fewer keys than queries, over a window, or a recurrence
    x <- x + ffn(norm(x))          ffn(x) = W_2 (silu(W_1 x) * W_3 x)

    LayerNorm           ->  RMSNorm, which does not subtract the mean          Zhang and Sennrich 2019
    gelu                ->  SwiGLU, at 2/3 of the width                        Shazeer 2020
    learned positions   ->  rotary, lmbook.positions                           Su et al. 2021
    a key for a query   ->  a key for a group of queries                       Ainslie et al. 2023
    q k                 ->  norm(q) norm(k), so that no score can grow         Henry et al. 2020
    all keys            ->  the last `span` keys                               Beltagy et al. 2020
    attention           ->  a linear recurrence, lmbook.scan                   Gu and Dao 2023, Feng et al. 2024

Shapes: B batch, T time, N keys, d_model, n_heads queries and n_kv keys at each place, d_k = d_model / n_heads, d_ff.
"""

import math
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from lmbook.attention import Cache, attend_fused, causal_mask
from lmbook.embeddings import check_dims, embed
from lmbook.layers import FeedForward, LayerNorm
from lmbook.networks import module_list
from lmbook.positions import Learned, rotary
from lmbook.protocol import check_input
from lmbook.scan import MinGRU, Selective, Unselective


class RMSNorm(nn.Module):
    """weight x / sqrt(mean(x^2) + eps) over the last axis  (Zhang and Sennrich 2019, eq. 4). weight starts at 1."""

    def __init__(self, d: int, eps: float = 1e-5):
        super().__init__()
        self.eps = eps
        self.weight = nn.Parameter(torch.ones(d))

    def forward(self, x: Tensor) -> Tensor:
        return self.weight * x * torch.rsqrt(x.square().mean(dim=-1, keepdim=True) + self.eps)


class SwiGLU(nn.Module):
    """W_2 (silu(W_1 x) * W_3 x), silu(a) = a sigmoid(a)  (Shazeer 2020, eq. 6).

    Three matrices instead of two: at d_ff = 8/3 d_model it costs as much as FeedForward at 4 d_model.
    """

    def __init__(self, d_model: int, d_ff: int, bias: bool = False):
        super().__init__()
        self.W_1, self.W_3 = nn.Linear(d_model, d_ff, bias=bias), nn.Linear(d_model, d_ff, bias=bias)
        self.W_2 = nn.Linear(d_ff, d_model, bias=bias)

    def forward(self, x: Tensor) -> Tensor:
        return self.W_2(F.silu(self.W_1(x)) * self.W_3(x))


def window_mask(T: int, N: int, span: int, device: torch.device | str | None = None) -> Tensor:
    """(T, N), True where query t may see key i: the last `span` keys up to its own. The queries are the last T of N."""
    return causal_mask(T, N, device).triu(N - T - span + 1)


class GroupedAttention(nn.Module):
    """Causal self-attention in which n_heads / n_kv heads of queries share a head of keys and values.

        head_j = attend(q_j, k_g, v_g),  g = j n_kv // n_heads        out = [head_1 ; ... ; head_n] W_o

    n_kv = n_heads is multi-head attention, n_kv = 1 multi-query, in between grouped (Ainslie et al. 2023).
    qk_norm: RMSNorm of every query and every key before they are turned.  span: how many keys a query sees, its own
    among them; None for all.  turned: by positions.rotary, with its base.  bias: of the linear maps.
    """

    def __init__(
        self,
        d_model: int,
        n_heads: int,
        n_kv: int | None = None,
        qk_norm: bool = False,
        span: int | None = None,
        turned: bool = True,
        bias: bool = False,
        base: float = 10000.0,
    ):
        super().__init__()
        self.n_heads, self.n_kv = n_heads, n_heads if n_kv is None else n_kv
        if n_heads < 1 or d_model % n_heads:
            raise ValueError(f"d_model {d_model} is not a multiple of n_heads {n_heads}.")
        if self.n_kv < 1 or n_heads % self.n_kv:
            raise ValueError(f"n_heads {n_heads} is not a multiple of n_kv {self.n_kv}: groups must be equally large.")
        if span is not None and span < 1:
            raise ValueError(f"span is {span}; a query sees at least its own key: 1 or more.")
        self.d_k, self.span, self.turned, self.base = d_model // n_heads, span, turned, base
        self.W_q = nn.Linear(d_model, d_model, bias=bias)
        self.W_k, self.W_v = (nn.Linear(d_model, self.n_kv * self.d_k, bias=bias) for _ in range(2))
        self.W_o = nn.Linear(d_model, d_model, bias=bias)
        self.norm_q = RMSNorm(self.d_k) if qk_norm else nn.Identity()
        self.norm_k = RMSNorm(self.d_k) if qk_norm else nn.Identity()

    def start(self, batch_size: int) -> Cache:
        """No keys and no values, (B, n_kv, 0, d_k)."""
        empty = self.W_k.weight.new_empty(batch_size, self.n_kv, 0, self.d_k)
        return empty, empty

    def forward(self, x: Tensor, state: Cache, position: int = 0) -> tuple[Tensor, Cache]:
        """x: (B, T, d_model), which follow the keys in the cache; position: of the first.  Returns out and the cache,
        in which no more than the last span - 1 keys are kept, all that a later query can see.
        """
        heads = (self.W_q(x), self.W_k(x), self.W_v(x))
        Q, K, V = (X.unflatten(-1, (-1, self.d_k)).transpose(1, 2) for X in heads)
        Q, K = self.norm_q(Q), self.norm_k(K)
        if self.turned:
            Q, K = rotary(Q, position, self.base), rotary(K, position, self.base)
        K, V = torch.cat([state[0], K], dim=2), torch.cat([state[1], V], dim=2)
        T, N, group = Q.shape[2], K.shape[2], self.n_heads // self.n_kv
        mask = None if self.span is None or self.span >= N else window_mask(T, N, self.span, x.device)
        shared_K, shared_V = (X.repeat_interleave(group, dim=1) for X in (K, V))
        context = attend_fused(Q, shared_K, shared_V, mask, causal=True)
        first = 0 if self.span is None else max(0, N - self.span + 1)
        return self.W_o(context.transpose(1, 2).flatten(2)), (K[:, :, first:], V[:, :, first:])


MIXERS = {"mingru": MinGRU, "selective": Selective, "unselective": Unselective}
Mixer = GroupedAttention | MinGRU | Selective


class Block(nn.Module):
    """x <- x + mix(norm_1(x)), x <- x + ffn(norm_2(x)): two parts that write to the residual stream."""

    def __init__(self, mix: Mixer, ffn: SwiGLU | FeedForward, norm_1: nn.Module, norm_2: nn.Module):
        super().__init__()
        self.mix, self.ffn, self.norm_1, self.norm_2 = mix, ffn, norm_1, norm_2

    def forward(self, x: Tensor, state: Any, position: int = 0) -> tuple[Tensor, Any]:
        out, state = self.mix(self.norm_1(x), state, position)
        x = x + out
        return x + self.ffn(self.norm_2(x)), state


class ModernGPT(nn.Module):
    """A language model of n_layers Blocks; by default all parts are today's, and each can be put back.

    norm: "rms" or "layer".  ffn: "swiglu" or "gelu".  positions: "rotary", or "learned" for `window` places.
    n_kv, qk_norm, span, base: as of GroupedAttention.  bias: of linear maps and LayerNorm.  d_ff: by default
    8/3 d_model for swiglu, 4 d_model for gelu.  mixers: of the first layer, the second, ..., again from the first after
    the last: "attention", "mingru", "selective" or "unselective".  units: m of a recurrence.
    ModernGPT(..., norm="layer", ffn="gelu", positions="learned", qk_norm=False, bias=True) is GPT. Weights start as
    GPT-2's do at its width of 768, normal with standard deviation 0.02, and at others with 0.02 sqrt(768 / d_model), so
    that a product with a normed vector is as large at every width; W_o and W_2 with 1 / sqrt(2 n_layers) of it.
    """

    def __init__(
        self,
        vocab: int,
        window: int,
        d_model: int,
        n_heads: int,
        n_layers: int,
        d_ff: int | None = None,
        norm: str = "rms",
        ffn: str = "swiglu",
        positions: str = "rotary",
        n_kv: int | None = None,
        qk_norm: bool = True,
        span: int | None = None,
        bias: bool = False,
        mixers: Sequence[str] = ("attention",),
        units: int | None = None,
        base: float = 10000.0,
    ):
        super().__init__()
        for name, given, known in (
            ("norm", norm, ("rms", "layer")),
            ("ffn", ffn, ("swiglu", "gelu")),
            ("positions", positions, ("rotary", "learned")),
            *(("mixers", mixer, ("attention", *MIXERS)) for mixer in mixers),
        ):
            if given not in known:
                raise ValueError(f"{name}: {given!r} is none of {', '.join(known)}.")
        self.vocab, self.window = vocab, window

        def a_norm() -> nn.Module:
            return RMSNorm(d_model) if norm == "rms" else LayerNorm(d_model, bias=bias)

        def a_mixer(kind: str) -> Mixer:
            if kind == "attention":
                return GroupedAttention(d_model, n_heads, n_kv, qk_norm, span, positions == "rotary", bias, base)
            return MIXERS[kind](d_model, units, bias=bias)

        def an_ffn() -> SwiGLU | FeedForward:
            if ffn == "swiglu":
                return SwiGLU(d_model, round(8 * d_model / 3) if d_ff is None else d_ff, bias)
            return FeedForward(d_model, 4 * d_model if d_ff is None else d_ff, F.gelu, bias)

        self.embedding = nn.Embedding(vocab, d_model)
        self.position = Learned(window, d_model) if positions == "learned" else None
        blocks = [Block(a_mixer(mixers[i % len(mixers)]), an_ffn(), a_norm(), a_norm()) for i in range(n_layers)]
        self.blocks = module_list(blocks)
        self.norm = a_norm()
        std = 0.02 * math.sqrt(768 / d_model)
        for module in self.modules():
            if isinstance(module, nn.Linear | nn.Embedding):
                nn.init.normal_(module.weight, std=std)
            if isinstance(module, nn.Linear) and module.bias is not None:
                nn.init.zeros_(module.bias)
        for block in blocks:
            for W in (block.mix.W_o, block.ffn.W_2):
                nn.init.normal_(W.weight, std=std / math.sqrt(2 * n_layers))

    def forward(self, tokens: Tensor) -> Tensor:
        """tokens: ids (B, T).  Returns logits (B, T, vocab): a run from the start."""
        check_dims(tokens, 2)
        return self.run(tokens, self.start(len(tokens)))[0]

    def start(self, batch_size: int) -> dict:
        """The state before any token: how many have been read, (B,), and the state of each layer."""
        read = torch.zeros(batch_size, dtype=torch.int64, device=self.embedding.weight.device)
        return {"read": read, "layers": [block.mix.start(batch_size) for block in self.blocks]}

    def run(self, tokens: Tensor, state: dict) -> tuple[Tensor, dict]:
        """Reads T more tokens, ids (B, T): logits (B, T, vocab) and the next state. Learned positions end at window."""
        h, state = self.hidden(tokens, state)
        return h @ self.embedding.weight.T, state

    def hidden(self, tokens: Tensor, state: dict) -> tuple[Tensor, dict]:
        """As run, with the vectors (B, T, d_model) that the logits are made of."""
        check_input(tokens)
        check_dims(tokens, 2)
        position, T, layers = int(state["read"][0]), tokens.shape[1], []
        x = embed(self.embedding, tokens)
        if self.position is not None:
            x = x + self.position(T, position)
        for block, old in zip(self.blocks, state["layers"], strict=True):
            x, new = block(x, old, position)
            layers.append(new)
        return self.norm(x), {"read": state["read"] + T, "layers": layers}

    def step(self, token: Tensor, state: dict) -> tuple[Tensor, dict]:
        """Reads one more token, (B,) ids: logits (B, vocab) of the next, and the new state."""
        check_input(token)
        check_dims(token, 1)
        logits, state = self.run(token.unsqueeze(1), state)
        return logits[:, -1], state
