"""The layers of a Transformer: attention, a feed-forward layer, and around each of them a residual and a LayerNorm.

    norm="post"   x <- LayerNorm(x + sublayer(x))      Vaswani et al. 2017, section 3.1
    norm="pre"    x <- x + sublayer(LayerNorm(x))      one LayerNorm more after the last layer

An encoder layer has two sublayers, self-attention and feed-forward; a decoder layer has three: causal self-attention,
attention to the encoder's output (the memory), feed-forward.

Shapes: B batch, N source, T target. Masks are boolean, True = may attend. Dropout acts on the weights of attention and
on the output of each sublayer, before it is added; nothing else is random.
"""

from collections.abc import Callable

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from lmbook.attention import Cache, MultiHeadAttention


class Residual(nn.Module):
    """x + sublayer(LayerNorm(x)) with norm="pre", LayerNorm(x + sublayer(x)) with norm="post"."""

    def __init__(self, d_model: int, norm: str, dropout: float = 0.0, eps: float = 1e-5, fast: bool = False):
        super().__init__()
        if norm not in ("pre", "post"):
            raise ValueError(f"norm is {norm!r}; it must be 'pre' or 'post'.")
        self.pre = norm == "pre"
        self.norm, self.dropout = LayerNorm(d_model, eps, fast), nn.Dropout(dropout)

    def forward(self, x: Tensor, sublayer: Callable[[Tensor], tuple]) -> tuple:
        """sublayer: a function of x that returns (out, ...). Returns (x, ...) with what else the sublayer gave."""
        out, *others = sublayer(self.norm(x) if self.pre else x)
        x = x + self.dropout(out)
        return (x if self.pre else self.norm(x)), *others


class EncoderLayer(nn.Module):
    """Self-attention, then feed-forward.  A decoder-only model uses it with causal=True.

    n_experts > 1: a mixture of experts in place of the feed-forward layer.  rotate: see MultiHeadAttention.
    """

    def __init__(
        self,
        d_model: int,
        n_heads: int,
        d_ff: int,
        dropout: float = 0.0,
        norm: str = "pre",
        activation: Callable[[Tensor], Tensor] = F.relu,
        eps: float = 1e-5,
        rotate: Callable[[Tensor, int], Tensor] | None = None,
        n_experts: int = 1,
        top_k: int = 2,
        fast: bool = False,
    ):
        super().__init__()
        self.attention = MultiHeadAttention(d_model, n_heads, dropout=dropout, rotate=rotate, fast=fast)
        from lmbook.moe import MixtureOfExperts

        self.feed_forward = (
            FeedForward(d_model, d_ff, activation)
            if n_experts == 1
            else MixtureOfExperts(d_model, d_ff, n_experts, top_k, activation, fast)
        )
        self.residual_1 = Residual(d_model, norm, dropout, eps, fast)
        self.residual_2 = Residual(d_model, norm, dropout, eps, fast)

    def forward(self, x: Tensor, mask: Tensor | None = None, causal: bool = False) -> tuple[Tensor, Tensor | None]:
        """x: (B, T, d_model).  mask: (B, T, T) or broadcastable.  Returns x and the weights (B, n_heads, T, T)."""
        x, weights = self.residual_1(x, lambda h: self.attention(h, h, h, mask, causal))
        (x,) = self.residual_2(x, lambda h: (self.feed_forward(h),))
        return x, weights

    def step(self, x: Tensor, cache: Cache, mask: Tensor | None = None) -> tuple[Tensor, Tensor | None, Cache]:
        """The next positions x (B, T, d_model) of a causal pass, after those of the cache: x, weights, longer cache."""
        x, weights, cache = self.residual_1(x, lambda h: self.attention.step(h, cache, mask))
        (x,) = self.residual_2(x, lambda h: (self.feed_forward(h),))
        return x, weights, cache


class DecoderLayer(EncoderLayer):
    """Causal self-attention, then attention to the memory, then feed-forward. Arguments as of EncoderLayer."""

    def __init__(
        self,
        d_model: int,
        n_heads: int,
        d_ff: int,
        dropout: float = 0.0,
        norm: str = "pre",
        activation: Callable[[Tensor], Tensor] = F.relu,
        eps: float = 1e-5,
        rotate: Callable[[Tensor, int], Tensor] | None = None,
        n_experts: int = 1,
        top_k: int = 2,
        fast: bool = False,
    ):
        super().__init__(d_model, n_heads, d_ff, dropout, norm, activation, eps, rotate, n_experts, top_k, fast)
        # Distances between a source and a target position mean nothing, so queries and keys are not turned here.
        self.cross = MultiHeadAttention(d_model, n_heads, dropout=dropout, fast=fast)
        self.residual_3 = Residual(d_model, norm, dropout, eps, fast)

    def forward(
        self, y: Tensor, memory: Tensor, mask: Tensor | None = None, memory_mask: Tensor | None = None
    ) -> tuple[Tensor, Tensor | None, Tensor | None]:
        """y: (B, T, d_model).  memory: (B, N, d_model).  mask: (B, T, T).  memory_mask: (B, T, N); or broadcastable.

        Returns y, the weights on the target (B, n_heads, T, T) and on the memory (B, n_heads, T, N).
        """
        y, weights = self.residual_1(y, lambda h: self.attention(h, h, h, mask, causal=True))
        y, cross = self.residual_2(y, lambda h: self.cross(h, memory, memory, memory_mask))
        (y,) = self.residual_3(y, lambda h: (self.feed_forward(h),))
        return y, weights, cross

    def step(
        self, y: Tensor, cache: Cache, memory: Cache, memory_mask: Tensor | None = None
    ) -> tuple[Tensor, Tensor | None, Cache]:
        """The next positions y, after those of the cache.  memory: cross.keys_values(memory, memory), computed once.

        Returns y, the weights on the memory and the longer cache.
        """
        y, _, cache = self.residual_1(y, lambda h: self.attention.step(h, cache))
        y, cross = self.residual_2(y, lambda h: self.cross.look_up(h, memory, memory_mask))
        (y,) = self.residual_3(y, lambda h: (self.feed_forward(h),))
        return y, cross, cache


class Encoder(nn.Module):
    """n_layers EncoderLayers; with norm="pre" a LayerNorm after the last.  options: as of EncoderLayer."""

    def __init__(self, n_layers: int, d_model: int, n_heads: int, d_ff: int, norm: str = "pre", **options):
        super().__init__()
        self.layers = nn.ModuleList(EncoderLayer(d_model, n_heads, d_ff, norm=norm, **options) for _ in range(n_layers))
        self.norm = _last_norm(d_model, norm, options)

    def forward(self, x: Tensor, mask: Tensor | None = None, causal: bool = False) -> tuple[Tensor, list]:
        """x: (B, N, d_model).  mask: (B, N, N) or broadcastable.  Returns x and the weights of every layer."""
        weights = []
        for layer in self.layers:
            x, layer_weights = layer(x, mask, causal)
            weights.append(layer_weights)
        return self.norm(x), weights


class Decoder(nn.Module):
    """n_layers DecoderLayers; with norm="pre" a LayerNorm after the last.  options: as of DecoderLayer."""

    def __init__(self, n_layers: int, d_model: int, n_heads: int, d_ff: int, norm: str = "pre", **options):
        super().__init__()
        self.layers = nn.ModuleList(DecoderLayer(d_model, n_heads, d_ff, norm=norm, **options) for _ in range(n_layers))
        self.norm = _last_norm(d_model, norm, options)

    def forward(self, y: Tensor, memory: Tensor, memory_mask: Tensor | None = None) -> tuple[Tensor, list]:
        """y: (B, T, d_model).  memory: (B, N, d_model).  Returns y and the weights on the memory of every layer."""
        weights = []
        for layer in self.layers:
            y, _, cross = layer(y, memory, memory_mask=memory_mask)
            weights.append(cross)
        return self.norm(y), weights


def _last_norm(d_model: int, norm: str, options: dict) -> nn.Module:
    if norm == "post":
        return nn.Identity()
    return LayerNorm(d_model, options.get("eps", 1e-5), options.get("fast", False))


class LayerNorm(nn.Module):
    """g (x - mean) / sqrt(variance + eps) + b over the last axis  (Ba et al. 2016).

    The variance divides by d_model, not by d_model - 1. g starts at 1 and b at 0.  fast: torch's fused form.
    """

    def __init__(self, d_model: int, eps: float = 1e-5, fast: bool = False):
        super().__init__()
        self.eps, self.fast = eps, fast
        self.g = nn.Parameter(torch.ones(d_model))
        self.b = nn.Parameter(torch.zeros(d_model))

    def forward(self, x: Tensor) -> Tensor:
        if self.fast:
            return F.layer_norm(x, self.g.shape, self.g, self.b, self.eps)
        mean = x.mean(dim=-1, keepdim=True)
        variance = (x - mean).square().mean(dim=-1, keepdim=True)
        return self.g * (x - mean) / torch.sqrt(variance + self.eps) + self.b


class FeedForward(nn.Module):
    """W_2 f(W_1 x + b_1) + b_2, the same at every position  (Vaswani et al. 2017, eq. 2, with f = ReLU).

    Widths d_model -> d_ff -> d_model. Weights start Xavier-uniform, biases at 0.
    """

    def __init__(self, d_model: int, d_ff: int, activation: Callable[[Tensor], Tensor] = F.relu):
        super().__init__()
        self.W_1, self.W_2, self.activation = nn.Linear(d_model, d_ff), nn.Linear(d_ff, d_model), activation
        for linear in (self.W_1, self.W_2):
            nn.init.xavier_uniform_(linear.weight)
            nn.init.zeros_(linear.bias)

    def forward(self, x: Tensor) -> Tensor:
        return self.W_2(self.activation(self.W_1(x)))


def initialise(module: nn.Module) -> None:
    """Weights of a linear map or a table normal with standard deviation 0.02, biases 0; for nn.Module.apply.

    So start GPT-2 and BERT (Radford et al. 2019, Devlin et al. 2019); LayerNorm keeps its gains 1 and biases 0.
    """
    if isinstance(module, nn.Linear | nn.Embedding):
        nn.init.normal_(module.weight, std=0.02)
    if isinstance(module, nn.Linear) and module.bias is not None:
        nn.init.zeros_(module.bias)


def initialise_vocabulary(embedding: nn.Embedding, output: nn.Linear | None = None, tied: bool = False) -> None:
    """Embedding and output matrix uniform in [-0.1, 0.1], the output's bias 0: the first loss is near ln vocab.

    tied: the two are one matrix (Press and Wolf 2017). Raises ValueError where their widths then differ.
    """
    nn.init.uniform_(embedding.weight, -0.1, 0.1)
    if output is None:
        return
    nn.init.uniform_(output.weight, -0.1, 0.1)
    nn.init.zeros_(output.bias)
    if tied:
        d_embed, hidden = embedding.embedding_dim, output.in_features
        if d_embed != hidden:
            raise ValueError(f"tied=True shares E with the output, so d_embed ({d_embed}) must be hidden ({hidden}).")
        output.weight = embedding.weight


def n_parameters(model: nn.Module) -> int:
    """The numbers that training may change; a tied one counts once."""
    return sum(p.numel() for p in model.parameters() if p.requires_grad)


def check_ids(ids: Tensor, vocab: int, shape: str = "(B, T)") -> None:
    """Raises ValueError unless ids are whole numbers of this shape, (B, T) or (B,), in 0..vocab-1.

    The values are looked at on the CPU only: a GPU would have to stop and wait for the answer.
    """
    if ids.dim() != len(shape.strip("(),").split(",")) or ids.dtype not in (torch.int64, torch.int32):
        raise ValueError(f"tokens are {ids.dtype} {tuple(ids.shape)}; they must be integer ids {shape}.")
    if ids.device.type == "cpu" and ids.numel() and not torch.compiler.is_compiling():
        low, high = (int(end) for end in ids.aminmax())
        if low < 0 or high >= vocab:
            raise ValueError(
                f"tokens run from {low} to {high}; ids of this model run from 0 to {vocab - 1}: encode the text with "
                "the vocabulary the model was made for."
            )


def check_tokens(tokens: Tensor, vocab: int, window: int) -> None:
    """check_ids for tokens (B, T), and ValueError where T is above the window."""
    check_ids(tokens, vocab)
    if tokens.shape[1] > window:
        raise ValueError(
            f"{tokens.shape[1]} tokens do not fit into the window of {window}: cut the text, or build a larger model."
        )


def embed(embedding: nn.Embedding, tokens: Tensor, shape: str = "(B, T)") -> Tensor:
    """The rows of E, with an error that says what is wrong with the ids; shape as of check_ids."""
    check_ids(tokens, embedding.num_embeddings, shape)
    return embedding(tokens)
