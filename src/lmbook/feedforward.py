"""A neural language model that sees a fixed window of n tokens (Bengio et al. 2003).

    e = [E w_{t-n+1}; ...; E w_t]      h = f(W e)      z = U h      P(w_{t+1} | w_<=t) = softmax(z)

f is tanh in the paper, sigma in the lectures. W has a block of columns for each position of the window, so that the
model is larger the further it looks back, and what it learns at one position it does not know at the next.

In the code E is `embedding` and U is `output`.
Shapes: B batch, T tokens, d_model width of an embedding, hidden width of h, vocab types.
"""

import math

import torch
from torch import Tensor, nn

from lmbook.embeddings import check_ids
from lmbook.text import SOS_ID

ACTIVATIONS = {"tanh": torch.tanh, "sigmoid": torch.sigmoid}


class FeedForwardLM(nn.Module):
    """Bengio et al. 2003, equation 1, without its direct connections from e to z; biases with bias=True.

    logits[:, t] predicts token t + 1 from tokens t - window + 1 to t; places before the text are <sos>.
    dropout applies to e and to h.  tied=True takes U = E (Press and Wolf 2017) and needs hidden = d_model.
    E is drawn from N(0, 1), or from N(0, 1 / d_model) where it is tied; W and U as in nn.Linear, so that the first loss
    is close to ln vocab. Without biases these are vocab d_model + hidden window d_model + vocab hidden numbers: a token
    more in the window costs hidden d_model of them. Raises ValueError for sizes below 1, an unknown activation, or tied
    widths that differ.
    """

    def __init__(
        self,
        vocab: int,
        d_model: int,
        hidden: int,
        window: int = 3,
        activation: str = "tanh",
        bias: bool = False,
        dropout: float = 0.0,
        tied: bool = False,
    ):
        super().__init__()
        if min(vocab, d_model, hidden, window) < 1:
            raise ValueError(
                f"vocab {vocab}, d_model {d_model}, hidden {hidden}, window {window}: all must be above 0."
            )
        if activation not in ACTIVATIONS:
            raise ValueError(f"activation is {activation!r}; take one of {', '.join(ACTIVATIONS)}.")
        if tied and hidden != d_model:
            raise ValueError(f"tied=True makes U = E, so hidden ({hidden}) must be d_model ({d_model}).")
        self.window, self.f = window, ACTIVATIONS[activation]
        self.embedding = nn.Embedding(vocab, d_model)
        self.W = nn.Linear(window * d_model, hidden, bias=bias)
        self.output = nn.Linear(hidden, vocab, bias=bias)
        self.dropout = nn.Dropout(dropout)
        if tied:
            nn.init.normal_(self.embedding.weight, std=1 / math.sqrt(d_model))
            self.output.weight = self.embedding.weight

    def forward(self, tokens: Tensor) -> Tensor:
        """tokens: (B, T) ids.  Returns logits (B, T, vocab)."""
        return self.run(tokens, self.start(len(tokens)))[0]

    def start(self, batch_size: int) -> tuple[Tensor]:
        """The state before the first token: the last window - 1 tokens (B, window - 1), all <sos>."""
        return (torch.full((batch_size, self.window - 1), SOS_ID, device=self.embedding.weight.device),)

    def run(self, tokens: Tensor, state: tuple[Tensor]) -> tuple[Tensor, tuple[Tensor]]:
        """Goes on with a text: the windows at its head reach back into the tokens before, which are the state.

        tokens: (B, T).  Returns logits (B, T, vocab) and the state after the last token.
        """
        h, state = self.features(tokens, state)
        return self.output(h), state

    def features(self, tokens: Tensor, state: tuple[Tensor]) -> tuple[Tensor, tuple[Tensor]]:
        """As `run`, but for the logits what U is applied to: h (B, T, hidden), after dropout."""
        check_ids(tokens, self.embedding.num_embeddings)
        if not tokens.numel():
            raise ValueError(f"tokens are {tuple(tokens.shape)}; give at least one.")
        text = torch.cat([state[0], tokens], dim=1)  # (B, window - 1 + T)
        windows = self.embedding(text).unfold(1, self.window, 1)  # (B, T, d_model, window)
        e = windows.transpose(2, 3).flatten(2)  # (B, T, window * d_model), the oldest token first
        h = self.f(self.W(self.dropout(e)))
        return self.dropout(h), (text[:, tokens.shape[1] :],)

    def step(self, token: Tensor, state: tuple[Tensor]) -> tuple[Tensor, tuple[Tensor]]:
        """One token on.  token: (B,) ids.  Returns logits (B, vocab) and the new state."""
        check_ids(token, self.embedding.num_embeddings, dims=1)
        logits, state = self.run(token.unsqueeze(1), state)
        return logits[:, 0], state
