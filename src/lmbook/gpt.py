"""GPT: the decoder alone, without a source to attend to. Masked self-attention, repeated (Radford et al. 2018, 2019).

    X = E[w] + P                                   embeddings of tokens and of positions
    X = X + attention(norm(X))                     n_layers times: position t sees 1..t
    X = X + ffn(norm(X))                           ffn(x) = W_2 gelu(W_1 x + b_1) + b_2
    logits = E norm(X)                             the output is tied to the embeddings

As in GPT-2 the norm comes before each sublayer, and once more before the output.
Shapes: B batch, T time, vocab, d_model, d_ff = 4 d_model by default, n_heads, n_layers; window is the largest T.
"""

import math
from collections.abc import Callable

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from lmbook.attention import MultiHeadAttention
from lmbook.embeddings import check_dims, embed
from lmbook.layers import EncoderLayer, FeedForward, LayerNorm, initialise
from lmbook.networks import module_list
from lmbook.positions import Learned, rotary

POSITIONS = ("learned", "rotary")


def gelu_tanh(x: Tensor) -> Tensor:
    """x/2 (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))), within 0.0005 of F.gelu; what GPT-2 was trained with."""
    return F.gelu(x, approximate="tanh")


class GPT(nn.Module):
    """A language model of n_layers layers: model(tokens)[:, t] are the logits of token t + 1.

    positions: "learned", a vector added for each place in the window, or "rotary", queries and keys turned.
    dropout: on the embeddings, the attention weights and what each sublayer adds.  tied: the output is the embedding.
    bias: whether linear maps and norms have one.  activation: F.gelu, x Phi(x); gelu_tanh for the weights of GPT-2.
    Initialised as GPT-2: weights normal with standard deviation 0.02, those that write to X (W_o and W_2) with
    0.02 / sqrt(2 n_layers), since 2 n_layers of them add up (Radford et al. 2019, section 2.3); biases 0, gains 1.

    Generation goes beyond the window: once it is full, the oldest `slide` tokens leave it, and the rest is read anew.
    So each step sees the last window tokens if slide is 1, for the price of a full pass per token from there on; a
    larger slide pays once in `slide` tokens, and sees window - slide + 1 tokens or more. (The old keys and values
    cannot be kept: they hold what they saw of the tokens that left, and learned positions would have to move.)
    """

    def __init__(
        self,
        vocab: int,
        window: int,
        d_model: int,
        n_heads: int,
        n_layers: int,
        d_ff: int | None = None,
        dropout: float = 0.0,
        positions: str = "learned",
        tied: bool = True,
        slide: int = 1,
        bias: bool = True,
        activation: Callable[[Tensor], Tensor] = F.gelu,
    ):
        super().__init__()
        if positions not in POSITIONS:
            raise ValueError(f"positions is {positions!r}; choose one of {', '.join(POSITIONS)}.")
        if not 1 <= slide <= window:
            raise ValueError(f"slide is {slide}; it must lie in 1..{window}, the window.")
        self.vocab, self.window, self.slide = vocab, window, slide
        self.embedding = nn.Embedding(vocab, d_model)
        self.position = Learned(window, d_model) if positions == "learned" else None
        self.dropout = nn.Dropout(dropout)
        rotate = rotary if positions == "rotary" else None
        layers, write = [], []  # write: the maps whose output is added to X
        for _ in range(n_layers):
            attention = MultiHeadAttention(d_model, n_heads, bias=bias, dropout=dropout, rotate=rotate)
            ffn = FeedForward(d_model, 4 * d_model if d_ff is None else d_ff, activation, bias)
            layers.append(EncoderLayer(attention, ffn, "pre", dropout, bias=bias))
            write += [attention.W_o, ffn.W_2]
        self.layers = module_list(layers)
        self.norm = LayerNorm(d_model, bias=bias)
        self.output = nn.Linear(d_model, vocab, bias=False)
        if tied:
            self.output.weight = self.embedding.weight
        self.apply(initialise)
        for W in write:
            nn.init.normal_(W.weight, std=0.02 / math.sqrt(2 * n_layers))

    def forward(self, tokens: Tensor, need_weights: bool = False) -> Tensor | tuple[Tensor, list[Tensor | None]]:
        """tokens: ids (B, T), T <= window.  Returns logits (B, T, vocab), and with need_weights the attention weights
        of each layer, (B, n_heads, T, T).
        """
        x, weights = self._read(tokens, need_weights)
        return (self.output(x), weights) if need_weights else self.output(x)

    def features(self, tokens: Tensor) -> Tensor:
        """The input of the output layer: norm(X), (B, T, d_model).  tokens: as for forward."""
        return self._read(tokens)[0]

    def _read(self, tokens: Tensor, need_weights: bool = False) -> tuple[Tensor, list[Tensor | None]]:
        x, weights = self._embedded(tokens), []
        for layer in self.layers:
            x, layer_weights = layer(x, causal=True, need_weights=need_weights)
            weights.append(layer_weights)
        return self.norm(x), weights

    def _embedded(self, tokens: Tensor, position: int = 0) -> Tensor:
        """E[w] + P of tokens (B, T), the first at this position. Raises ValueError where the window ends before."""
        x, T = embed(self.embedding, tokens), tokens.shape[1]
        if position + T > self.window:
            after = f" after {position}" if position else ""
            raise ValueError(
                f"{T} tokens{after} do not fit into the window of {self.window}: cut the text, read it by step, which "
                "slides the window, or build a larger model."
            )
        if self.position is not None:
            x = x + self.position(T, position)
        return self.dropout(x)

    def start(self, batch_size: int) -> dict:
        """The state before any token: no tokens (B, 0), and in each layer no keys and values (B, n_heads, 0, d_k)."""
        tokens = torch.empty(batch_size, 0, dtype=torch.int64, device=self.embedding.weight.device)
        return {"tokens": tokens, "past": [layer.attention.start(batch_size) for layer in self.layers]}

    def run(self, tokens: Tensor, state: dict) -> tuple[Tensor, dict]:
        """Reads T more tokens at once, a prompt for instance: logits (B, T, vocab) as in the full pass, and the state.

        Raises ValueError where they do not fit into what is left of the window; step slides instead.
        """
        check_dims(tokens, 2)
        x, past = self._embedded(tokens, state["tokens"].shape[1]), []
        for layer, cache in zip(self.layers, state["past"], strict=True):
            x, cache = layer.step(x, cache)
            past.append(cache)
        tokens = torch.cat([state["tokens"], tokens], dim=1)
        return self.output(self.norm(x)), {"tokens": tokens, "past": past}

    def step(self, token: Tensor, state: dict) -> tuple[Tensor, dict]:
        """Reads one more token, (B,) ids: logits (B, vocab) of the next, and the new state. Slides a full window."""
        check_dims(token, 1)
        token = token.unsqueeze(1)
        if state["tokens"].shape[1] == self.window:
            token = torch.cat([state["tokens"][:, self.slide :], token], dim=1)
            state = self.start(len(token))
        logits, state = self.run(token, state)
        return logits[:, -1], state


def decay_groups(model: nn.Module, weight_decay: float) -> list[dict]:
    """Two groups for torch.optim.AdamW: matrices and tables, which decay, and vectors (biases, gains), which do not."""
    parameters = [p for p in model.parameters() if p.requires_grad]  # a tied one comes once
    return [
        {"params": [p for p in parameters if p.dim() >= 2], "weight_decay": weight_decay},
        {"params": [p for p in parameters if p.dim() < 2], "weight_decay": 0.0},
    ]
