"""Attention: a weighted mean whose weights the data choose.

    e_ti = score(s_t, h_i)      alpha_t = softmax(e_t)      c_t = sum_i alpha_ti h_i

Four scores compare a state s_t with a state h_i:  dot s^T h,  multiplicative s^T W h,  scaled s^T W h / sqrt(m),
additive v^T tanh(W_h h + W_s s).  Each has

    score.keys(H)       what depends on the states H (B, N, key_size) alone, computed once for all queries
    score(s, keys)      the scores (B, T, N) of the states s (B, T, query_size)

The general form has queries, keys and values, softmax(Q K^T / sqrt(d_k)) V.

Shapes: B batch, T queries, N keys, d_k key width, d_v value width, d_a width of the additive comparison.
Masks are boolean and True where a query may attend, as in torch's scaled_dot_product_attention and against
nn.MultiheadAttention, where True forbids.
"""

import math
from collections.abc import Callable

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from lmbook.protocol import check_input
from lmbook.text import PAD_ID

Cache = tuple[Tensor, Tensor]  # keys (B, n_heads, N, d_k) and values (B, n_heads, N, d_v) already projected


def causal_mask(T: int, N: int | None = None, device: torch.device | str | None = None) -> Tensor:
    """(T, N), True where query t may see key i. The queries are the last T of N positions: i <= t + N - T.

    N is T by default, which gives the lower triangle with its diagonal.
    """
    N = T if N is None else N
    if N < T:
        raise ValueError(f"causal_mask: {T} queries are the last of {N} keys, which is impossible; N must be >= T.")
    return torch.ones(T, N, dtype=torch.bool, device=device).tril(N - T)


def padding_mask(tokens: Tensor, pad: int = PAD_ID) -> Tensor:
    """(B, 1, N), True where a token is not padding: the same keys for every query.  tokens: ids (B, N)."""
    if tokens.dim() != 2:
        raise ValueError(f"padding_mask wants ids of shape (B, N), not {tuple(tokens.shape)}; add the batch axis.")
    return (tokens != pad).unsqueeze(1)


def real_tokens(source: Tensor, mask: Tensor | None = None) -> Tensor:
    """The mask (B, N) as it was given, or where the source (B, N) is not <pad>. Raises ValueError for other shapes."""
    if source.ndim != 2 or source.shape[1] < 1:
        raise ValueError(f"source has shape {tuple(source.shape)}; give ids (B, N) with at least one column.")
    mask = source != PAD_ID if mask is None else mask
    if mask.dtype != torch.bool or mask.shape != source.shape:
        raise ValueError(f"source_mask is {mask.dtype} {tuple(mask.shape)}; give booleans {tuple(source.shape)}.")
    return mask


def masked_softmax(scores: Tensor, mask: Tensor | None = None) -> Tensor:
    """Softmax over the last axis, over the positions the mask allows.

    scores: (..., N).  mask: boolean, broadcastable to scores, True = may attend.
    Returns weights (..., N) that sum to 1, or to 0 in a row that may attend to nothing.
    """
    if mask is None:
        return torch.softmax(scores, dim=-1)
    _check_mask(mask, scores.shape)
    weights = torch.softmax(scores.masked_fill(~mask, -math.inf), dim=-1)
    # Softmax makes a row of -inf NaN; only such a row is filled, so a NaN from elsewhere still shows.
    return weights.masked_fill(~mask.any(dim=-1, keepdim=True), 0.0)


def _check_mask(mask: Tensor, shape: torch.Size) -> None:
    """Raises unless the mask is boolean and broadcasts to the shape (..., T, N) of the scores."""
    if mask.dtype != torch.bool:
        raise TypeError(f"The mask is {mask.dtype}; it must be boolean, True = may attend: mask.bool() or mask == 0.")
    fits = mask.dim() <= len(shape) and all(
        m in (1, s) for m, s in zip(reversed(mask.shape), reversed(shape), strict=False)
    )
    if not fits:
        raise ValueError(
            f"A mask of shape {tuple(mask.shape)} does not fit scores of shape {tuple(shape)}; for a batch of "
            f"sequences of keys (B, N) insert the axis of the queries: mask[:, None, :]."
        )


def _check_widths(**states: tuple[Tensor, int]) -> None:
    """Raises ValueError unless each (states, width) agrees along the last axis."""
    for name, (x, width) in states.items():
        if x.shape[-1] != width:
            raise ValueError(f"The {name} has width {x.shape[-1]}, but {width} is expected here.")


def attend(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None) -> tuple[Tensor, Tensor]:
    """Scaled dot-product attention, softmax(Q K^T / sqrt(d_k)) V  (Vaswani et al. 2017, eq. 1).

    query: (B, T, d_k).  key: (B, N, d_k).  value: (B, N, d_v).  mask: (B, T, N) or broadcastable.
    Returns the contexts (B, T, d_v) and the weights (B, T, N). All may have an axis of heads after B.
    """
    _check_widths(key=(key, query.shape[-1]))
    if key.shape[-2] != value.shape[-2]:
        raise ValueError(f"There are {key.shape[-2]} keys but {value.shape[-2]} values; each key needs its value.")
    scores = query @ key.transpose(-2, -1) / math.sqrt(key.shape[-1])  # (B, T, N)
    weights = masked_softmax(scores, mask)
    return weights @ value, weights


def attend_fused(
    query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None, causal: bool = False, dropout: float = 0.0
) -> Tensor:
    """The contexts of `attend` by torch's kernel, which keeps no weights, with dropout on them.

    causal: also forbids every key after the query, as causal_mask(T, N).
    """
    T, N = query.shape[-2], key.shape[-2]
    if causal and T > 1 and (mask is not None or T != N):  # else the kernel masks by itself
        mask = _past_of(mask, query, key)
    if mask is None:
        return F.scaled_dot_product_attention(query, key, value, dropout_p=dropout, is_causal=causal and T > 1)
    some = mask.any(dim=-1, keepdim=True)  # a row that may attend to nothing is 0, whatever the kernel does
    return F.scaled_dot_product_attention(query, key, value, mask | ~some, dropout).masked_fill(~some, 0.0)


def _past_of(mask: Tensor | None, query: Tensor, key: Tensor) -> Tensor:
    """The mask without every key after its query."""
    past = causal_mask(query.shape[-2], key.shape[-2], query.device)
    return past if mask is None else mask & past


class DotScore(nn.Module):
    """e = s^T h  (Luong et al. 2015, section 3.1, "dot"). Nothing to learn; both states need one width."""

    def __init__(self, query_size: int, key_size: int):
        super().__init__()
        if query_size != key_size:
            raise ValueError(
                f"the dot score needs equal widths, but s has {query_size} and h has {key_size}; take the "
                f"multiplicative score, or an encoder of one direction."
            )

    def keys(self, H: Tensor) -> Tensor:
        return H

    def forward(self, s: Tensor, keys: Tensor) -> Tensor:
        return s @ keys.transpose(-2, -1)


class MultiplicativeScore(nn.Module):
    """e = s^T W h  (Luong et al. 2015, section 3.1, "general"). W is query_size x key_size, so the widths may differ.

    W starts uniform with variance 1 / (3 key_size), torch's default.
    """

    def __init__(self, query_size: int, key_size: int):
        super().__init__()
        self.W = nn.Linear(key_size, query_size, bias=False)

    def keys(self, H: Tensor) -> Tensor:
        return self.W(H)

    def forward(self, s: Tensor, keys: Tensor) -> Tensor:
        return s @ keys.transpose(-2, -1)


class ScaledScore(MultiplicativeScore):
    """e = s^T W h / sqrt(m), where m = query_size products are added up."""

    def forward(self, s: Tensor, keys: Tensor) -> Tensor:
        return s @ keys.transpose(-2, -1) / math.sqrt(s.shape[-1])


class AdditiveScore(nn.Module):
    """e = v^T tanh(W_h h + W_s s)  (Bahdanau et al. 2015, appendix A.1.2).

    The two states may differ in size; d_a is the width of the comparison, query_size by default.
    """

    def __init__(self, query_size: int, key_size: int, d_a: int | None = None):
        super().__init__()
        d_a = query_size if d_a is None else d_a
        self.W_s = nn.Linear(query_size, d_a, bias=False)
        self.W_h = nn.Linear(key_size, d_a, bias=False)
        self.v = nn.Linear(d_a, 1, bias=False)

    def keys(self, H: Tensor) -> Tensor:
        return self.W_h(H)

    def forward(self, s: Tensor, keys: Tensor) -> Tensor:
        return self.v(torch.tanh(self.W_s(s).unsqueeze(2) + keys.unsqueeze(1))).squeeze(-1)  # tanh of (B, T, N, d_a)


Score = DotScore | MultiplicativeScore | ScaledScore | AdditiveScore
SCORES: dict[str, type[Score]] = {
    "dot": DotScore,
    "multiplicative": MultiplicativeScore,
    "additive": AdditiveScore,
    "scaled": ScaledScore,
}


def make_score(name: str, query_size: int, key_size: int, d_a: int | None = None) -> Score:
    """The score of this name in SCORES.  d_a: of the additive one, and ignored by the others."""
    if name not in SCORES:
        raise ValueError(f"score is {name!r}; it must be one of {', '.join(map(repr, SCORES))}.")
    if name == "additive":
        return AdditiveScore(query_size, key_size, d_a)
    return SCORES[name](query_size, key_size)


class MultiHeadAttention(nn.Module):
    """n_heads attentions side by side, each in its own projection  (Vaswani et al. 2017, section 3.2.2).

        head_j = attend(query W_q^j, key W_k^j, value W_v^j)      out = [head_1 ; ... ; head_n] W_o

    W_q, W_k, W_v hold the projections of all heads side by side. d_k and d_v are the widths of one head, both
    d_model / n_heads by default.  dropout: on the weights.  rotate: a function (X, start) -> X applied to Q and K
    (B, n_heads, T, d_k) whose first position is start, as positions.rotary.
    Weights start Xavier-uniform, biases at 0.
    """

    def __init__(
        self,
        d_model: int,
        n_heads: int,
        d_k: int | None = None,
        d_v: int | None = None,
        bias: bool = True,
        dropout: float = 0.0,
        rotate: Callable[[Tensor, int], Tensor] | None = None,
    ):
        super().__init__()
        if n_heads < 1:
            raise ValueError(f"n_heads is {n_heads}; there must be at least 1.")
        if d_model % n_heads and (d_k is None or d_v is None):
            raise ValueError(
                f"d_model {d_model} is not a multiple of n_heads {n_heads}; choose one, or give d_k and d_v."
            )
        self.d_model, self.n_heads, self.dropout, self.rotate = d_model, n_heads, dropout, rotate
        self.d_k = d_model // n_heads if d_k is None else d_k
        self.d_v = d_model // n_heads if d_v is None else d_v
        self.W_q = nn.Linear(d_model, n_heads * self.d_k, bias=bias)
        self.W_k = nn.Linear(d_model, n_heads * self.d_k, bias=bias)
        self.W_v = nn.Linear(d_model, n_heads * self.d_v, bias=bias)
        self.W_o = nn.Linear(n_heads * self.d_v, d_model, bias=bias)
        for W in (self.W_q, self.W_k, self.W_v, self.W_o):
            nn.init.xavier_uniform_(W.weight)
            if bias:
                nn.init.zeros_(W.bias)

    def forward(
        self,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        mask: Tensor | None = None,
        causal: bool = False,
        need_weights: bool = False,
    ) -> tuple[Tensor, Tensor | None]:
        """query: (B, T, d_model).  key, value: (B, N, d_model).  mask: (T, N), (B, T, N) or (B, n_heads, T, N), or
        broadcastable, True = may attend.  causal: also forbids every key after the query, as causal_mask(T, N).

        Returns out (B, T, d_model) and None, or with need_weights the weights (B, n_heads, T, N): then the formula of
        `attend` is computed, else torch's fused kernel, which gives the same out and keeps no weights.
        """
        width = self.d_model
        _check_widths(query=(query, width), key=(key, width), value=(value, width))
        if query is key is value:  # one product with [W_q ; W_k ; W_v] is faster than three
            maps = (self.W_q, self.W_k, self.W_v)
            bias = None if self.W_q.bias is None else torch.cat([W.bias for W in maps])
            together = F.linear(query, torch.cat([W.weight for W in maps]), bias)
            Q, K, V = map(self._heads, together.split([W.out_features for W in maps], dim=-1))
            return self.attend_in_heads(self._rotated(Q), self._rotated(K), V, mask, causal, need_weights)
        return self.attend(query, self.project(key, value), mask, causal, need_weights)

    def project(self, key: Tensor, value: Tensor, position: int = 0) -> Cache:
        """K = key W_k and V = value W_v, cut into heads: computed once, attended to often.

        position: that of the first key.
        """
        return self._rotated(self._heads(self.W_k(key)), position), self._heads(self.W_v(value))

    def attend(
        self,
        query: Tensor,
        cache: Cache,
        mask: Tensor | None = None,
        causal: bool = False,
        need_weights: bool = False,
        position: int = 0,
    ) -> tuple[Tensor, Tensor | None]:
        """As forward, with keys and values already projected.  position: that of the first query."""
        Q = self._rotated(self._heads(self.W_q(query)), position)
        return self.attend_in_heads(Q, *cache, mask, causal, need_weights)

    def start(self, batch_size: int) -> Cache:
        """A cache of no keys and no values."""
        empty = self.W_k.weight.new_empty
        return empty(batch_size, self.n_heads, 0, self.d_k), empty(batch_size, self.n_heads, 0, self.d_v)

    def step(self, x: Tensor, cache: Cache) -> tuple[Tensor, Cache]:
        """Causal self-attention of T new positions, which follow the N of the cache: what forward gives for them.

        x: (B, T, d_model).  Returns out (B, T, d_model) and the longer cache.
        """
        check_input(x)
        N = cache[0].shape[2]
        K, V = (torch.cat(pair, dim=2) for pair in zip(cache, self.project(x, x, N), strict=True))
        return self.attend(x, (K, V), causal=True, position=N)[0], (K, V)

    def _heads(self, X: Tensor) -> Tensor:
        """(B, T, n_heads * d) cut into heads: (B, n_heads, T, d)."""
        return X.unflatten(-1, (self.n_heads, -1)).transpose(1, 2)

    def _rotated(self, X: Tensor, position: int = 0) -> Tensor:
        return X if self.rotate is None else self.rotate(X, position)

    def attend_in_heads(
        self, Q: Tensor, K: Tensor, V: Tensor, mask: Tensor | None, causal: bool, need_weights: bool
    ) -> tuple[Tensor, Tensor | None]:
        """[head_1 ; ... ; head_n] W_o: attend in every head.  Q: (B, n_heads, T, d_k).  K, V: (B, n_heads, N, ...).

        mask, causal, need_weights and what is returned: as of forward. Another score is another Q and K here.
        """
        if mask is not None:
            mask = mask.unsqueeze(1) if mask.dim() == 3 else mask  # the same for every head
            _check_mask(mask, torch.Size((*Q.shape[:-1], K.shape[2])))
        dropout = self.dropout if self.training else 0.0
        weights = None
        if need_weights:
            context, weights = attend(Q, K, V, _past_of(mask, Q, K) if causal else mask)
            if dropout:
                context = F.dropout(weights, dropout) @ V
        else:
            context = attend_fused(Q, K, V, mask, causal, dropout)
        return self.W_o(context.transpose(1, 2).flatten(2)), weights
