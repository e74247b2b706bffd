"""GPT: the decoder alone, without a source to attend to. Masked self-attention, repeated (Radford et al. 2018, 2019).

    X = E[w] + P                                   embeddings of tokens and of positions
    X = X + attention(norm(X))                     n_layers times: position t sees 1..t
    X = X + ffn(norm(X))                           ffn(x) = W_2 gelu(W_1 x + b_1) + b_2
    logits = E norm(X)                             the head is tied to the embeddings

As in GPT-2 the norm stands in front of each sublayer, and once more before the head; gelu is its tanh form.
Shapes: B batch, T time, vocab, d_model, d_ff = 4 d_model by default, n_heads, n_layers; window is the largest T.
"""

import math

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from lmbook.configuration import configured
from lmbook.layers import Encoder, check_tokens, initialise
from lmbook.positions import Learned, rotary

POSITIONS = ("learned", "rotary")


def gelu_tanh(x: Tensor) -> Tensor:
    """x Phi(x), Phi the normal distribution function, by tanh: x/2 (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3)))."""
    return F.gelu(x, approximate="tanh")


@configured
class GPT(nn.Module):
    """A language model of n_layers layers: model(tokens)[:, t] are the logits of token t + 1.

    positions: "learned", a vector added for each place in the window, or "rotary", queries and keys turned.
    dropout: on the embeddings, the attention weights and what each sublayer adds.  tied: the head is the embedding.
    fast: fused attention, which returns no weights, and fused norms.
    Initialised as GPT-2: weights normal with standard deviation 0.02, those that write to X (W_o and W_2) with
    0.02 / sqrt(2 n_layers), since 2 n_layers of them add up (Radford et al. 2019, section 2.3); biases 0, gains 1.

    Generation goes beyond the window: once it is full, the oldest `slide` tokens leave it, and the rest is read anew.
    So each step sees the last window tokens if slide is 1, for the price of a full pass a token from there on; a larger
    slide pays once in `slide` tokens, and sees window - slide + 1 tokens or more. (The old keys and values cannot be
    kept: they hold what they saw of the tokens that left, and learned positions would have to move.)
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
        fast: bool = False,
        slide: int = 1,
    ):
        super().__init__()
        if positions not in POSITIONS:
            raise ValueError(f"positions is {positions!r}; choose one of {', '.join(POSITIONS)}.")
        if not 1 <= slide <= window:
            raise ValueError(f"slide is {slide}; it must lie in 1..{window}, the window.")
        self.vocab, self.window, self.slide = vocab, window, slide
        self.embed = nn.Embedding(vocab, d_model)
        self.position = Learned(window, d_model) if positions == "learned" else None
        self.dropout = nn.Dropout(dropout)
        # An encoder whose attention is causal: a decoder without a source.
        self.decoder = Encoder(
            n_layers,
            d_model,
            n_heads,
            4 * d_model if d_ff is None else d_ff,
            norm="pre",
            dropout=dropout,
            activation=gelu_tanh,
            rotate=rotary if positions == "rotary" else None,
            fast=fast,
        )
        self.head = nn.Linear(d_model, vocab, bias=False)
        if tied:
            self.head.weight = self.embed.weight
        self.apply(initialise)
        for layer in self.decoder.layers:
            for W in (layer.attention.W_o, layer.feed_forward.W_2):
                nn.init.normal_(W.weight, std=0.02 / math.sqrt(2 * n_layers))

    def forward(self, tokens: Tensor, return_weights: bool = False) -> Tensor | tuple[Tensor, list[Tensor]]:
        """tokens: ids (B, T), T <= window.  Returns logits (B, T, vocab), and on demand the attention weights of each
        layer, (B, n_heads, T, T), which a fast model does not have.
        """
        check_tokens(tokens, self.vocab, self.window)
        x, weights = self.decoder(self._embedded(tokens, 0), causal=True)
        if not return_weights:
            return self.head(x)
        if None in weights:
            raise ValueError("The fused attention returns no weights: build the GPT with fast=False.")
        return self.head(x), weights

    def features(self, tokens: Tensor) -> Tensor:
        """What the head is applied to: norm(X), (B, T, d_model).  tokens: as for forward."""
        check_tokens(tokens, self.vocab, self.window)
        return self.decoder(self._embedded(tokens, 0), causal=True)[0]

    def _embedded(self, tokens: Tensor, start: int) -> Tensor:
        x = self.embed(tokens)
        if self.position is not None:
            x = x + self.position(tokens.shape[1], start)
        return self.dropout(x)

    def start(self, batch_size: int) -> dict:
        """The state before any token: no tokens (B, 0), and in each layer no keys and values (B, n_heads, 0, d_k)."""
        tokens = torch.empty(batch_size, 0, dtype=torch.int64, device=self.embed.weight.device)
        return {"tokens": tokens, "past": [layer.attention.start(batch_size) for layer in self.decoder.layers]}

    def run(self, tokens: Tensor, state: dict) -> tuple[Tensor, dict]:
        """Reads T more tokens at once, a prompt for instance: logits (B, T, vocab) as in the full pass, and the state.

        Raises ValueError where they do not fit into what is left of the window; step slides instead.
        """
        check_tokens(tokens, self.vocab, self.window)
        seen = state["tokens"].shape[1]
        if seen + tokens.shape[1] > self.window:
            raise ValueError(
                f"{seen} tokens and {tokens.shape[1]} more do not fit into the window of {self.window}: give the last "
                f"ones only, or read them by step, which slides the window."
            )
        x, past = self._embedded(tokens, seen), []
        for layer, cache in zip(self.decoder.layers, state["past"], strict=True):
            x, _, cache = layer.step(x, cache)
            past.append(cache)
        tokens = torch.cat([state["tokens"], tokens], dim=1)
        return self.head(self.decoder.norm(x)), {"tokens": tokens, "past": past}

    def step(self, state: dict, token: Tensor) -> tuple[Tensor, dict]:
        """Reads one more token, (B,) ids: logits (B, vocab) of the next, and the new state. Slides a full window."""
        if token.dim() != 1:
            raise ValueError(f"token is {tuple(token.shape)}; a step takes one id a row, (B,).")
        token = token.unsqueeze(1)
        if state["tokens"].shape[1] == self.window:
            token = torch.cat([state["tokens"][:, self.slide :], token], dim=1)
            state = self.start(len(token))
        logits, state = self.run(token, state)
        return logits[:, -1], state


def parameter_count(
    vocab: int,
    window: int,
    d_model: int,
    n_layers: int,
    d_ff: int | None = None,
    positions: str = "learned",
    tied: bool = True,
) -> int:
    """The number of parameters of a GPT, with d = d_model (n_heads does not matter: the heads share the width).

        vocab d + window d + n_layers (4 d^2 + 2 d d_ff + 4 d + d_ff + d + 4 d) + 2 d

    In the bracket: W_q, W_k, W_v, W_o; W_1, W_2; their biases; two norms. The last 2 d: the last norm. Rotary positions
    save window d, an untied head costs another vocab d.
    """
    d, d_ff = d_model, 4 * d_model if d_ff is None else d_ff
    layer = 4 * d * d + 2 * d * d_ff + (4 * d + d_ff + d) + 4 * d
    tables = vocab * d * (1 if tied else 2) + (window * d if positions == "learned" else 0)
    return tables + n_layers * layer + 2 * d


def decay_groups(model: nn.Module, weight_decay: float) -> list[dict]:
    """Two groups for torch.optim.AdamW: matrices and tables, which decay, and vectors (biases, gains), which do not."""
    parameters = [p for p in model.parameters() if p.requires_grad]  # a tied one comes once
    return [
        {"params": [p for p in parameters if p.dim() >= 2], "weight_decay": weight_decay},
        {"params": [p for p in parameters if p.dim() < 2], "weight_decay": 0.0},
    ]
