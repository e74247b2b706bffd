"""Models built of recurrent layers: language model, tagger, classifier; truncated back-propagation through time.

    x_t = E w_t      h_t = recurrent(x_t, h_{t-1})      logits_t = W h_t + b

The cells are in lmbook.cells, the layers (one or two directions, stacked, masked) in lmbook.rnn.
Shapes: B batch, T steps, vocab, d_embed, hidden. A state is a tuple of layers, each a tuple of tensors (B, hidden).
"""

from collections.abc import Callable, Iterable, Iterator
from typing import Unpack

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from lmbook.cells import Cell, State
from lmbook.embeddings import embed, initialise_vocabulary
from lmbook.rnn import Options, Recurrent
from lmbook.text import PAD_ID

__all__ = ["Classifier", "Recurrent", "RecurrentLM", "Tagger", "detach", "state_gradients", "truncated_bptt"]


class RecurrentLM(nn.Module):
    """A language model: x_t = E w_t, h_t = recurrent(x_t, h_{t-1}), P(w_{t+1} | w_1..w_t) = softmax(W h_t + b).

    Dropout as in Zaremba et al. 2014: on what goes up (the embedding, between layers, before the output), never on the
    state that goes on to the next step.  tied: W is E; then d_embed must be hidden.  options: as in Recurrent.
    E, W and b start as initialise_vocabulary says.
    """

    def __init__(
        self,
        vocab: int,
        d_embed: int,
        hidden: int,
        n_layers: int = 1,
        cell: str = "lstm",
        dropout: float = 0.0,
        tied: bool = False,
        **options: Unpack[Options],
    ):
        super().__init__()
        self.embedding = nn.Embedding(vocab, d_embed)
        self.recurrent = Recurrent(d_embed, hidden, n_layers, cell, False, dropout, **options)
        self.output = nn.Linear(hidden, vocab)
        self.dropout = dropout
        initialise_vocabulary(self.embedding, self.output, tied)

    def start(self, batch_size: int) -> tuple[State, ...]:
        """The state before the first token: zeros."""
        return self.recurrent.start(batch_size)

    def forward(self, tokens: Tensor, mask: Tensor | None = None) -> Tensor:
        """tokens: (B, T) ids.  Returns logits (B, T, vocab); logits[:, t] predicts token t + 1."""
        return self.run(tokens, None, mask)[0]

    def run(
        self, tokens: Tensor, state: tuple[State, ...] | None = None, mask: Tensor | None = None
    ) -> tuple[Tensor, tuple[State, ...]]:
        """A piece of a longer text: logits (B, T, vocab) and the state from which the next piece goes on.

        mask: (B, T), True at a token; only the final state depends on it where padding is on the right.
        """
        h, state = self.features(tokens, state, mask)
        return self.output(h), state

    def features(
        self, tokens: Tensor, state: tuple[State, ...] | None = None, mask: Tensor | None = None
    ) -> tuple[Tensor, tuple[State, ...]]:
        """As `run`, but for the logits what W is applied to: h_t (B, T, hidden), after dropout."""
        x = F.dropout(embed(self.embedding, tokens), self.dropout, self.training)
        h, state = self.recurrent(x, state, mask)
        return F.dropout(h, self.dropout, self.training), state

    def step(self, token: Tensor, state: tuple[State, ...]) -> tuple[Tensor, tuple[State, ...]]:
        """One token (B,) further: logits (B, vocab) of the token after it, and the next state."""
        x = F.dropout(embed(self.embedding, token, dims=1), self.dropout, self.training)
        h, state = self.recurrent.step(x, state)
        return self.output(F.dropout(h, self.dropout, self.training)), state


class Tagger(nn.Module):
    """A tag for every token: logits_t = W h_t + b, where h_t has read the left context, or both sides if bidirectional.

    mask: (B, T), True at a token; without it every token but <pad>. Dropout as in RecurrentLM.
    """

    def __init__(
        self,
        vocab: int,
        tags: int,
        d_embed: int,
        hidden: int,
        n_layers: int = 1,
        cell: str = "lstm",
        bidirectional: bool = True,
        dropout: float = 0.0,
        **options: Unpack[Options],
    ):
        super().__init__()
        self.embedding = nn.Embedding(vocab, d_embed)
        self.recurrent = Recurrent(d_embed, hidden, n_layers, cell, bidirectional, dropout, **options)
        self.output = nn.Linear(self.recurrent.width, tags)
        self.dropout = dropout
        initialise_vocabulary(self.embedding)

    def forward(self, tokens: Tensor, mask: Tensor | None = None) -> Tensor:
        """tokens: (B, T) ids.  Returns logits (B, T, tags)."""
        mask = tokens != PAD_ID if mask is None else mask
        x = F.dropout(embed(self.embedding, tokens), self.dropout, self.training)
        h, _ = self.recurrent(x, None, mask)
        return self.output(F.dropout(h, self.dropout, self.training))


class Classifier(nn.Module):
    """A class for the whole sequence: logits = W s + b.

    pool="last": s is the top layer's final state h, of both directions if bidirectional.
    pool="mean": s is the mean of its outputs over the tokens of the row (0 where there are none).
    mask: (B, T), True at a token; without it every token but <pad>. Dropout as in RecurrentLM.
    """

    def __init__(
        self,
        vocab: int,
        classes: int,
        d_embed: int,
        hidden: int,
        n_layers: int = 1,
        cell: str = "lstm",
        bidirectional: bool = True,
        dropout: float = 0.0,
        pool: str = "last",
        **options: Unpack[Options],
    ):
        super().__init__()
        if pool not in ("last", "mean"):
            raise ValueError(f'pool is {pool!r}; it must be "last" or "mean".')
        self.embedding = nn.Embedding(vocab, d_embed)
        self.recurrent = Recurrent(d_embed, hidden, n_layers, cell, bidirectional, dropout, **options)
        self.output = nn.Linear(self.recurrent.width, classes)
        self.dropout, self.pool = dropout, pool
        initialise_vocabulary(self.embedding)

    def forward(self, tokens: Tensor, mask: Tensor | None = None) -> Tensor:
        """tokens: (B, T) ids.  Returns logits (B, classes)."""
        mask = tokens != PAD_ID if mask is None else mask
        x = F.dropout(embed(self.embedding, tokens), self.dropout, self.training)
        outputs, state = self.recurrent(x, None, mask)
        mean = outputs.sum(dim=1) / mask.sum(dim=1, keepdim=True).clamp(min=1)  # outputs are 0 where the mask is False
        s = mean if self.pool == "mean" else state[-1][0]
        return self.output(F.dropout(s, self.dropout, self.training))


def detach(state: tuple[State, ...]) -> tuple[State, ...]:
    """The same state, as a constant: no gradient flows back through it."""
    return tuple(tuple(tensor.detach() for tensor in layer) for layer in state)


def truncated_bptt(
    model: RecurrentLM, windows: Iterable[tuple[Tensor, Tensor]], state: tuple[State, ...] | None = None
) -> Iterator[tuple[Tensor, int]]:
    """Truncated back-propagation through time: window after window, the state carried on, the gradient cut.

    windows: inputs and targets (B, T), each the continuation of the one before, as `stream_batches` gives them (NumPy
    arrays will do).  Yields each window's summed negative log-likelihood in nats and its number of targets; call
    backward on it (for the mean: on loss / n) and take the optimizer's step before asking for the next.
    """
    where = next(model.parameters()).device
    for inputs, targets in windows:
        inputs, targets = torch.as_tensor(inputs, device=where), torch.as_tensor(targets, device=where)
        logits, state = model.run(inputs, state)
        yield F.cross_entropy(logits.flatten(0, 1), targets.flatten(), reduction="sum"), targets.numel()
        state = detach(state)


def state_gradients(
    cell: Cell, x: Tensor, loss: Callable[[Tensor], Tensor], state: State | None = None
) -> tuple[Tensor, ...]:
    """How much the loss at the end depends on the state t = 1..T: the norms ||d loss(h_T) / d h_t||.

    x: (B, T, d_in), the inputs of one cell.  loss: takes h_T (B, hidden) and returns one number per row (B,); for a
    language model of one layer  lambda h: F.cross_entropy(model.output(h), target, reduction="none").
    Returns (B, T) norms for each tensor of the state: (of h,), or for an LSTMCell (of h, of c). There d loss / d h_t is
    taken with c_t held, and d loss / d c_t counts all that passes through the memory, h_t = o_t * tanh(c_t) included.
    The last column is h_T itself, distance 0.
    """
    if state is None:
        state = cell.start(x.shape[0])
    state = tuple(tensor.detach().requires_grad_() for tensor in state)
    states: list[Tensor] = []
    for t in range(x.shape[1]):
        state = cell(x[:, t], state)
        states.extend(state)
    gradients = torch.autograd.grad(loss(state[0]).sum(), states)
    norms = torch.stack([gradient.norm(dim=-1) for gradient in gradients], dim=1)  # (B, T * tensors of a state)
    return norms.unflatten(1, (x.shape[1], len(state))).unbind(dim=-1)
