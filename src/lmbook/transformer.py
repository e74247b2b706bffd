"""The Transformer: an encoder that reads the source at once, a decoder that writes the target, attention in both.

    memory = encoder(sqrt(d_model) E[x] + p)
    y_hat_t = softmax(W decoder(sqrt(d_model) E'[y_<t] + p, memory)_t)      W is the map `output`

Training is parallel over t, by teacher forcing; writing goes one token at a time, with cached keys and values.
The layers are in lmbook.layers.

Shapes: B batch, N source, T target. Masks are boolean, True = may attend.
"""

import math
from typing import Any

from torch import Tensor, nn

from lmbook.attention import real_tokens
from lmbook.embeddings import check_dims, embed, initialise_read
from lmbook.layers import Decoder, Encoder
from lmbook.positions import Learned, rotary, sinusoidal


class Embedding(nn.Module):
    """sqrt(d_model) E[w_t] + p_t  (Vaswani et al. 2017, sections 3.4 and 3.5), then dropout.

    positions: "sinusoidal", "learned" (max_length rows), or "none", which also goes with rotary attention.
    scaled: whether the factor is there.  E starts N(0, 1 / (9 d_model)): used again as output matrix, it gives first
    logits of standard deviation 1/3, and a first loss within 0.06 nats of ln vocab.
    """

    def __init__(
        self,
        vocab: int,
        d_model: int,
        positions: str = "sinusoidal",
        max_length: int = 512,
        dropout: float = 0.0,
        scaled: bool = True,
    ):
        super().__init__()
        if positions not in ("sinusoidal", "learned", "rotary", "none"):
            raise ValueError(f"positions is {positions!r}; it must be 'sinusoidal', 'learned', 'rotary' or 'none'.")
        self.positions, self.scale = positions, math.sqrt(d_model) if scaled else 1.0
        self.embedding = nn.Embedding(vocab, d_model)
        nn.init.normal_(self.embedding.weight, std=1 / (3 * math.sqrt(d_model)))
        self.learned = Learned(max_length, d_model) if positions == "learned" else None
        self.dropout = nn.Dropout(dropout)

    def forward(self, tokens: Tensor, start: int = 0) -> Tensor:
        """tokens: ids (B, T), the first at position start.  Returns (B, T, d_model)."""
        x = self.scale * embed(self.embedding, tokens)
        if self.learned is not None:
            x = x + self.learned(tokens.shape[1], start)
        elif self.positions == "sinusoidal":
            x = x + sinusoidal(x.shape[1], x.shape[2], start=start, device=x.device).to(x)
        return self.dropout(x)


class Transformer(nn.Module):
    """Encoder and decoder  (Vaswani et al. 2017).  Logits are y W^T for an output matrix W (vocab_target, d_model).

    tied: "none"; "target": W is the target embedding; "all": the source embedding too, for one shared vocabulary.
    positions: "sinusoidal", "learned", "rotary" (in self-attention) or "none".  n_layers: of each side.
    options: as of layers.Encoder (norm, ffn, ...).
    """

    def __init__(
        self,
        vocab_source: int,
        vocab_target: int,
        d_model: int,
        n_heads: int,
        d_ff: int,
        n_layers: int,
        dropout: float = 0.1,
        positions: str = "sinusoidal",
        max_length: int = 512,
        tied: str = "target",
        scaled: bool = True,
        **options: Any,
    ):
        super().__init__()
        if tied not in ("none", "target", "all"):
            raise ValueError(f"tied is {tied!r}; it must be 'none', 'target' or 'all'.")
        if tied == "all" and vocab_source != vocab_target:
            raise ValueError(f"tied='all' needs one vocabulary, but the sizes are {vocab_source} and {vocab_target}.")
        options |= {"dropout": dropout, "rotate": rotary if positions == "rotary" else None}
        self.source = Embedding(vocab_source, d_model, positions, max_length, dropout, scaled)
        self.target = Embedding(vocab_target, d_model, positions, max_length, dropout, scaled)
        self.encoder = Encoder(n_layers, d_model, n_heads, d_ff, **options)
        self.decoder = Decoder(n_layers, d_model, n_heads, d_ff, **options)
        self.output = nn.Linear(d_model, vocab_target, bias=False)
        nn.init.normal_(self.output.weight, std=1 / (3 * math.sqrt(d_model)))
        if tied != "none":
            self.output.weight = self.target.embedding.weight
        if tied == "all":
            self.source.embedding.weight = self.target.embedding.weight
        for table in (self.source, self.target):
            if table.embedding.weight is not self.output.weight:
                initialise_read(table.embedding, table.scale)

    def forward(
        self, source: Tensor, target_in: Tensor, source_mask: Tensor | None = None, need_weights: bool = False
    ) -> Tensor | tuple[Tensor, Tensor]:
        """source: ids (B, N).  target_in: ids (B, T), <sos> first.  source_mask: (B, N), source != <pad> by default.

        Returns logits (B, T, vocab_target); with need_weights also the last layer's weights on the source, the mean
        over its heads (B, T, N).
        """
        mask = real_tokens(source, source_mask)
        y, weights = self.decoder(self.target(target_in), self.encode(source, mask), mask.unsqueeze(1), need_weights)
        return (self.output(y), weights[-1].mean(dim=1)) if need_weights else self.output(y)

    def encode(self, source: Tensor, source_mask: Tensor | None = None) -> Tensor:
        """The memory (B, N, d_model)."""
        mask = real_tokens(source, source_mask)
        return self.encoder(self.source(source), mask.unsqueeze(1))[0]

    def start(self, source: Tensor, source_mask: Tensor | None = None) -> dict:
        """The state before the first token: keys and values of the memory for every layer, and empty caches."""
        mask = real_tokens(source, source_mask)
        memory = self.encode(source, mask)
        return {
            "source_mask": mask.unsqueeze(1),
            "memory": [layer.cross.project(memory, memory) for layer in self.decoder.layers],
            "past": [layer.attention.start(len(source)) for layer in self.decoder.layers],
        }

    def step(self, token: Tensor, state: dict) -> tuple[Tensor, dict]:
        """token: ids (B,).  Returns logits (B, vocab_target) for the next token, and the next state."""
        check_dims(token, 1)
        position, past = state["past"][0][0].shape[2], []
        y = self.target(token.unsqueeze(1), position)
        for layer, cache, memory in zip(self.decoder.layers, state["past"], state["memory"], strict=True):
            y, cache = layer.step(y, cache, memory, state["source_mask"])
            past.append(cache)
        return self.output(self.decoder.norm(y)).squeeze(1), {**state, "past": past}


class TransformerEncoder(nn.Module):
    """H = encoder(E x + p), and in place of a last state the mean of H over the real tokens.

    d_ff: 4 d_model by default.  positions: as in Embedding; with "none" the order is not seen.
    """

    def __init__(
        self,
        vocab: int,
        d_model: int,
        n_heads: int = 4,
        d_ff: int | None = None,
        n_layers: int = 1,
        positions: str = "sinusoidal",
        dropout: float = 0.0,
    ):
        super().__init__()
        self.embedding = Embedding(vocab, d_model, positions, dropout=dropout)
        initialise_read(self.embedding.embedding, self.embedding.scale)
        rotate = rotary if positions == "rotary" else None
        self.encoder = Encoder(n_layers, d_model, n_heads, d_ff or 4 * d_model, dropout=dropout, rotate=rotate)
        self.cell: str | None = None
        self.width = d_model

    def forward(self, source: Tensor, mask: Tensor) -> tuple[Tensor, tuple[tuple[Tensor, ...], ...]]:
        """source: (B, N) ids.  Returns H (B, N, width) and one state of one tensor, the mean (B, width)."""
        H, _ = self.encoder(self.embedding(source), mask.unsqueeze(1))
        real = mask.unsqueeze(2).to(H)
        mean = (H * real).sum(1) / real.sum(1).clamp(min=1)
        return H, ((mean,),)
