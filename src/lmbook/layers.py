"""The layers of a Transformer: attention, a feed-forward layer, and around each of them a residual and a LayerNorm.

    x <- post(x + sublayer(pre(x)))

    norm="post"   post is LayerNorm, pre is nothing      Vaswani et al. 2017, section 3.1
    norm="pre"    pre is LayerNorm, post is nothing      one LayerNorm more after the last layer

An encoder layer has two sublayers, self-attention and feed-forward; a decoder layer has three: causal self-attention,
attention to the encoder's output (the memory), feed-forward.

Shapes: B batch, N source, T target. Masks are boolean, True = may attend. Dropout acts on the weights of attention and
on the output of each sublayer, before it is added; nothing else is random.
"""

from collections.abc import Callable
from typing import TypedDict, Unpack

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from lmbook.attention import Cache, MultiHeadAttention
from lmbook.networks import module_list


class LayerNorm(nn.Module):
    """weight (x - mean) / sqrt(variance + eps) + bias over the last axis  (Ba et al. 2016), by torch's fused kernel.

    The variance divides by d_model, not by d_model - 1. weight starts at 1 and bias, if there is one, at 0.
    """

    def __init__(self, d_model: int, eps: float = 1e-5, bias: bool = True):
        super().__init__()
        self.eps = eps
        self.weight = nn.Parameter(torch.ones(d_model))
        self.bias = nn.Parameter(torch.zeros(d_model)) if bias else None

    def forward(self, x: Tensor) -> Tensor:
        return F.layer_norm(x, self.weight.shape, self.weight, self.bias, self.eps)


class NormOptions(TypedDict, total=False):
    """Arguments of LayerNorm that a layer or a stack hands on to it."""

    eps: float
    bias: bool


class FeedForward(nn.Module):
    """W_2 f(W_1 x + b_1) + b_2, the same at every position  (Vaswani et al. 2017, eq. 2, with f = ReLU).

    Widths d_model -> d_ff -> d_model. Weights start Xavier-uniform, biases at 0.
    """

    def __init__(self, d_model: int, d_ff: int, activation: Callable[[Tensor], Tensor] = F.relu, bias: bool = True):
        super().__init__()
        self.W_1, self.W_2 = nn.Linear(d_model, d_ff, bias=bias), nn.Linear(d_ff, d_model, bias=bias)
        self.activation = activation
        for W in (self.W_1, self.W_2):
            nn.init.xavier_uniform_(W.weight)
            if bias:
                nn.init.zeros_(W.bias)

    def forward(self, x: Tensor) -> Tensor:
        return self.W_2(self.activation(self.W_1(x)))


def norms(norm: str, d_model: int, **options: Unpack[NormOptions]) -> tuple[nn.Module, nn.Module]:
    """The maps before a sublayer and after its sum: LayerNorm and none ("pre"), or none and LayerNorm ("post")."""
    if norm not in ("pre", "post"):
        raise ValueError(f"norm is {norm!r}; it must be 'pre' or 'post'.")
    layer_norm, nothing = LayerNorm(d_model, **options), nn.Identity()
    return (layer_norm, nothing) if norm == "pre" else (nothing, layer_norm)


class EncoderLayer(nn.Module):
    """Self-attention, then feed-forward; a decoder-only model uses it with causal=True.

        x = post_1(x + attention(pre_1(x)))
        x = post_2(x + ffn(pre_2(x)))

    ffn: FeedForward, or any module from (B, T, d_model) to the same shape.  options: of LayerNorm.
    """

    def __init__(
        self,
        attention: MultiHeadAttention,
        ffn: nn.Module,
        norm: str = "pre",
        dropout: float = 0.0,
        **options: Unpack[NormOptions],
    ):
        super().__init__()
        self.attention, self.ffn, self.dropout = attention, ffn, nn.Dropout(dropout)
        self.pre_1, self.post_1 = norms(norm, attention.d_model, **options)
        self.pre_2, self.post_2 = norms(norm, attention.d_model, **options)

    def forward(
        self, x: Tensor, mask: Tensor | None = None, causal: bool = False, need_weights: bool = False
    ) -> tuple[Tensor, Tensor | None]:
        """x: (B, T, d_model).  mask: (B, T, T) or broadcastable.  Returns x, and weights (B, n_heads, T, T) or None."""
        h = self.pre_1(x)
        out, weights = self.attention(h, h, h, mask, causal, need_weights)
        x = self.post_1(x + self.dropout(out))
        x = self.post_2(x + self.dropout(self.ffn(self.pre_2(x))))
        return x, weights

    def step(self, x: Tensor, cache: Cache) -> tuple[Tensor, Cache]:
        """The next positions x (B, T, d_model) of a causal pass, after those of the cache: x, and the longer cache."""
        out, cache = self.attention.step(self.pre_1(x), cache)
        x = self.post_1(x + self.dropout(out))
        x = self.post_2(x + self.dropout(self.ffn(self.pre_2(x))))
        return x, cache


class DecoderLayer(nn.Module):
    """Causal self-attention, then attention to the memory, then feed-forward.

        y = post_1(y + attention(pre_1(y)))
        y = post_2(y + cross(pre_2(y), memory))
        y = post_3(y + ffn(pre_3(y)))

    Arguments as of EncoderLayer.
    """

    def __init__(
        self,
        attention: MultiHeadAttention,
        cross: MultiHeadAttention,
        ffn: nn.Module,
        norm: str = "pre",
        dropout: float = 0.0,
        **options: Unpack[NormOptions],
    ):
        super().__init__()
        self.attention, self.cross, self.ffn, self.dropout = attention, cross, ffn, nn.Dropout(dropout)
        self.pre_1, self.post_1 = norms(norm, attention.d_model, **options)
        self.pre_2, self.post_2 = norms(norm, attention.d_model, **options)
        self.pre_3, self.post_3 = norms(norm, attention.d_model, **options)

    def forward(
        self, y: Tensor, memory: Tensor, memory_mask: Tensor | None = None, need_weights: bool = False
    ) -> tuple[Tensor, Tensor | None]:
        """y: (B, T, d_model).  memory: (B, N, d_model).  memory_mask: (B, T, N) or broadcastable.

        Returns y, and the weights on the memory (B, n_heads, T, N) or None.
        """
        h = self.pre_1(y)
        y = self.post_1(y + self.dropout(self.attention(h, h, h, causal=True)[0]))
        out, weights = self.cross(self.pre_2(y), memory, memory, memory_mask, need_weights=need_weights)
        y = self.post_2(y + self.dropout(out))
        y = self.post_3(y + self.dropout(self.ffn(self.pre_3(y))))
        return y, weights

    def step(self, y: Tensor, cache: Cache, memory: Cache, memory_mask: Tensor | None = None) -> tuple[Tensor, Cache]:
        """The next positions y, after those of the cache.  memory: cross.project(memory, memory), computed once.

        Returns y and the longer cache.
        """
        out, cache = self.attention.step(self.pre_1(y), cache)
        y = self.post_1(y + self.dropout(out))
        y = self.post_2(y + self.dropout(self.cross.attend(self.pre_2(y), memory, memory_mask)[0]))
        y = self.post_3(y + self.dropout(self.ffn(self.pre_3(y))))
        return y, cache


class Encoder(nn.Module):
    """n_layers EncoderLayers; with norm="pre" a LayerNorm after the last.

    rotate: as of MultiHeadAttention.  ffn: makes the feed-forward layer of d_model and d_ff, as FeedForward does, or
    partial(FeedForward, activation=F.gelu), or partial(MixtureOfExperts, n_experts=4).  options: of LayerNorm.
    """

    def __init__(
        self,
        n_layers: int,
        d_model: int,
        n_heads: int,
        d_ff: int,
        norm: str = "pre",
        dropout: float = 0.0,
        rotate: Callable[[Tensor, int], Tensor] | None = None,
        ffn: Callable[[int, int], nn.Module] = FeedForward,
        **options: Unpack[NormOptions],
    ):
        super().__init__()
        layers = []
        for _ in range(n_layers):
            attention = MultiHeadAttention(d_model, n_heads, dropout=dropout, rotate=rotate)
            layers.append(EncoderLayer(attention, ffn(d_model, d_ff), norm, dropout, **options))
        self.layers = module_list(layers)
        self.norm = norms(norm, d_model, **options)[0]

    def forward(
        self, x: Tensor, mask: Tensor | None = None, causal: bool = False, need_weights: bool = False
    ) -> tuple[Tensor, list[Tensor | None]]:
        """x: (B, N, d_model).  mask: (B, N, N) or broadcastable.  Returns x, and for each layer its weights or None."""
        weights = []
        for layer in self.layers:
            x, layer_weights = layer(x, mask, causal, need_weights)
            weights.append(layer_weights)
        return self.norm(x), weights


class Decoder(nn.Module):
    """n_layers DecoderLayers; with norm="pre" a LayerNorm after the last. Arguments as of Encoder."""

    def __init__(
        self,
        n_layers: int,
        d_model: int,
        n_heads: int,
        d_ff: int,
        norm: str = "pre",
        dropout: float = 0.0,
        rotate: Callable[[Tensor, int], Tensor] | None = None,
        ffn: Callable[[int, int], nn.Module] = FeedForward,
        **options: Unpack[NormOptions],
    ):
        super().__init__()
        layers = []
        for _ in range(n_layers):
            attention = MultiHeadAttention(d_model, n_heads, dropout=dropout, rotate=rotate)
            forward = ffn(d_model, d_ff)
            # Distances between a source and a target position mean nothing, so queries and keys are not turned here.
            cross = MultiHeadAttention(d_model, n_heads, dropout=dropout)
            layers.append(DecoderLayer(attention, cross, forward, norm, dropout, **options))
        self.layers = module_list(layers)
        self.norm = norms(norm, d_model, **options)[0]

    def forward(
        self, y: Tensor, memory: Tensor, memory_mask: Tensor | None = None, need_weights: bool = False
    ) -> tuple[Tensor, list[Tensor | None]]:
        """y: (B, T, d_model).  memory: (B, N, d_model).  Returns y, and for each layer its weights on the memory."""
        weights = []
        for layer in self.layers:
            y, layer_weights = layer(y, memory, memory_mask, need_weights)
            weights.append(layer_weights)
        return self.norm(y), weights


def initialise(module: nn.Module) -> None:
    """Weights of a linear map or a table normal with standard deviation 0.02, biases 0; for nn.Module.apply.

    So start GPT-2 and BERT (Radford et al. 2019, Devlin et al. 2019); LayerNorm keeps its gains 1 and biases 0.
    """
    if isinstance(module, nn.Linear | nn.Embedding):
        nn.init.normal_(module.weight, std=0.02)
    if isinstance(module, nn.Linear) and module.bias is not None:
        nn.init.zeros_(module.bias)
