"""Encoder and decoder: one network reads a source x, another writes a target y with probability P(y | x).

    H = h_1 .. h_N = encoder(x)                                      the source, one state per token
    s_0 = bridge(encoder's last state)                               where the decoder starts
    s_t = cell(E y_{t-1}, s_{t-1})                                   the decoder, given what has been written
    P(y_t | y_<t, x) = softmax(W_o s_t + b_o)

In a Seq2Seq all that the decoder knows of the source is one vector, however long the source is. In an AttentionSeq2Seq
it looks back at every step:

    e_ti = score(s, h_i)      alpha_t = softmax(e_t)      c_t = sum_i alpha_ti h_i

Both are given their encoder, a RecurrentEncoder for example. In a SingleRNNTranslator one network reads and writes.

Shapes: B batch, N source length, T target length, d_embed, hidden (of the decoder), width (of H), vocab. Masks are
boolean (B, N), True at real tokens. Dropout as in RecurrentLM: on embeddings, between layers and before the output,
never on a state that goes on to the next step. A table E that is only read starts as initialise_read says, W_o, b_o and
a tied E as initialise_vocabulary does, all other maps as torch's linear layers do.
"""

from collections.abc import Sequence
from typing import Any, Protocol, Unpack

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from lmbook.attention import make_score, masked_softmax, real_tokens
from lmbook.cells import State
from lmbook.embeddings import embed, initialise_read, initialise_vocabulary
from lmbook.fused import Weights
from lmbook.networks import module_list
from lmbook.rnn import Options, Recurrent
from lmbook.rnn_models import RecurrentLM


class SourceEncoder(Protocol):
    """Any network that reads the source for a decoder: the recurrent encoder below, or transformer.TransformerEncoder.

    source: (B, N) ids.  mask: (B, N).  Returns H (B, N, width) and the last states, tensors (B, width), one for each
    layer.  cell: the kind of cell whose states these are, None if of no cell.
    """

    cell: str | None
    width: int

    def __call__(self, source: Tensor, mask: Tensor) -> tuple[Tensor, tuple[State, ...]]: ...


class RecurrentEncoder(nn.Module):
    """H = recurrent(E x), and every layer's last state.  cell, options: as in Recurrent."""

    def __init__(
        self,
        vocab: int,
        d_embed: int,
        hidden: int,
        n_layers: int = 1,
        cell: str = "gru",
        bidirectional: bool = False,
        dropout: float = 0.0,
        **options: Unpack[Options],
    ):
        super().__init__()
        self.embedding = nn.Embedding(vocab, d_embed)
        initialise_read(self.embedding)
        self.recurrent = Recurrent(d_embed, hidden, n_layers, cell, bidirectional, dropout, **options)
        self.cell: str | None = cell
        self.width, self.dropout = self.recurrent.width, dropout

    def forward(self, source: Tensor, mask: Tensor) -> tuple[Tensor, tuple[State, ...]]:
        """source: (B, N) ids.  Returns H (B, N, width), 0 at padding, and the last states, tensors (B, width)."""
        x = F.dropout(embed(self.embedding, source), self.dropout, self.training)
        return self.recurrent(x, None, mask)


class Bridge(nn.Module):
    """From the encoder's last states (B, width) to the decoder's first (B, hidden): tanh(W h + b), and W c + b.

    The decoder's top layer starts from the encoder's top layer, and so on downwards; where the encoder has fewer
    layers, its lowest serves the rest, and where it has no memory c, its h serves. States of the decoder's cell and
    width are handed on as they are.
    """

    def __init__(self, encoder: SourceEncoder, hidden: int, n_layers: int, cell: str):
        super().__init__()
        self.n_layers, tensors = n_layers, 2 if cell == "lstm" else 1
        needed = encoder.cell != cell or encoder.width != hidden
        self.layers = module_list(
            module_list(nn.Linear(encoder.width, hidden) for _ in range(tensors))
            for _ in range(n_layers if needed else 0)
        )

    def forward(self, final: tuple[State, ...]) -> tuple[State, ...]:
        states = tuple(final[max(i + len(final) - self.n_layers, 0)] for i in range(self.n_layers))
        if not self.layers:
            return states
        return tuple(_bridged(maps, state) for maps, state in zip(self.layers, states, strict=True))


def _bridged(maps: Sequence[nn.Linear], state: State) -> State:
    """tanh(W h + b), and for a cell with a memory also W c + b."""
    h = torch.tanh(maps[0](state[0]))
    return (h,) if len(maps) == 1 else (h, maps[1](state[-1]))


class Seq2Seq(nn.Module):
    """The source as one vector c, the top layer of the encoder's last state  (Cho et al. 2014, Sutskever et al. 2014).

        context="first"   s_t = cell(E y_{t-1}, s_{t-1})            r_t = s_t
        context="every"   s_t = cell([E y_{t-1} ; c], s_{t-1})      r_t = tanh(W_r [s_t ; c])
        both              s_0 = bridge(c)                           logits_t = W_o r_t + b_o

    So with "first" the source reaches the decoder through s_0 alone, with "every" through each step, as in Cho et al.
    encoder: gives H and its last states, as a RecurrentEncoder does.  cell, options: of the decoder, as in Recurrent.
    tied: W_o is the target's E; then d_embed must be hidden.
    """

    def __init__(
        self,
        encoder: SourceEncoder,
        vocab: int,
        d_embed: int,
        hidden: int,
        n_layers: int = 1,
        cell: str = "gru",
        context: str = "first",
        dropout: float = 0.0,
        tied: bool = False,
        **options: Unpack[Options],
    ):
        super().__init__()
        _check_choice("context", context, ("first", "every"))
        every = context == "every"
        self.context, self.dropout = context, dropout
        self.encoder, self.bridge = encoder, Bridge(encoder, hidden, n_layers, cell)
        self.embedding = nn.Embedding(vocab, d_embed)
        d_in = d_embed + encoder.width if every else d_embed
        self.decoder = Recurrent(d_in, hidden, n_layers, cell, dropout=dropout, **options)
        self.W_r = nn.Linear(hidden + encoder.width, hidden, bias=False) if every else None
        self.output = nn.Linear(hidden, vocab)
        initialise_vocabulary(self.embedding, self.output, tied)
        if not tied:
            initialise_read(self.embedding)

    def start(self, source: Tensor, source_mask: Tensor | None = None) -> dict:
        """Reads the source (B, N): the state before the first step, a dict with s, one tuple per layer, each tensor
        (B, hidden), and with context="every" also c (B, width).  source_mask: (B, N), by default source != <pad>.
        """
        _, final = self.encoder(source, real_tokens(source, source_mask))
        return {"s": self.bridge(final)} | ({"c": final[-1][0]} if self.context == "every" else {})

    def step(self, token: Tensor, state: dict) -> tuple[Tensor, dict]:
        """Reads y_{t-1}, token (B,): the logits (B, vocab) of y_t, and the next state."""
        y, c = self._dropped(embed(self.embedding, token, dims=1)), state.get("c")
        s_t, s = self.decoder.step(_concatenated(y, c), state["s"])
        return self._logits(s_t, c), {**state, "s": s}

    def forward(self, source: Tensor, target_in: Tensor, source_mask: Tensor | None = None) -> Tensor:
        """Teacher forcing.  source: (B, N).  target_in: (B, T) ids, <sos> y_1 .. y_{T-1}.

        Returns logits (B, T, vocab), logits[:, t] predicting what follows target_in[:, t].
        """
        state, y = self.start(source, source_mask), self._dropped(embed(self.embedding, target_in))
        c = state["c"].unsqueeze(1).expand(-1, y.shape[1], -1) if self.context == "every" else None
        S, _ = self.decoder(_concatenated(y, c), state["s"])  # (B, T, hidden)
        return self._logits(S, c)

    def _logits(self, s: Tensor, c: Tensor | None) -> Tensor:
        r = s if self.W_r is None else torch.tanh(self.W_r(_concatenated(s, c)))
        return self.output(self._dropped(r))

    def _dropped(self, x: Tensor) -> Tensor:
        return F.dropout(x, self.dropout, self.training)


class AttentionSeq2Seq(nn.Module):
    """A decoder that looks back at all states H of the source. Which of its own states asks is an argument:

        attention="bahdanau"   alpha_t = softmax(score(s_{t-1}, H))      c_t = sum_i alpha_ti h_i
                               s_t = cell([E y_{t-1} ; c_t], s_{t-1})                          (Bahdanau et al. 2015)
        attention="luong"      s_t = cell(E y_{t-1}, s_{t-1})
                               alpha_t = softmax(score(s_t, H))          c_t = sum_i alpha_ti h_i  (Luong et al. 2015)
        both                   logits_t = W_o tanh(W_r [s_t ; c_t]) + b_o

    The last line is Luong's eq. 5 and 6; Bahdanau's maxout layer is left out. With several layers the top one's state
    asks. score: a name in attention.SCORES; d_a is the width of the additive one, hidden by default. The rest is as in
    Seq2Seq.
    """

    def __init__(
        self,
        encoder: SourceEncoder,
        vocab: int,
        d_embed: int,
        hidden: int,
        n_layers: int = 1,
        cell: str = "gru",
        attention: str = "bahdanau",
        score: str = "additive",
        d_a: int | None = None,
        dropout: float = 0.0,
        tied: bool = False,
        **options: Unpack[Options],
    ):
        super().__init__()
        _check_choice("attention", attention, ("bahdanau", "luong"))
        self.attention, self.dropout = attention, dropout
        self.encoder, self.bridge = encoder, Bridge(encoder, hidden, n_layers, cell)
        self.embedding = nn.Embedding(vocab, d_embed)
        d_in = d_embed + encoder.width if attention == "bahdanau" else d_embed
        self.decoder = Recurrent(d_in, hidden, n_layers, cell, dropout=dropout, **options)
        self.score = make_score(score, hidden, encoder.width, d_a)
        self.W_r = nn.Linear(hidden + encoder.width, hidden, bias=False)
        self.output = nn.Linear(hidden, vocab)
        initialise_vocabulary(self.embedding, self.output, tied)
        if not tied:
            initialise_read(self.embedding)

    def start(self, source: Tensor, source_mask: Tensor | None = None) -> dict:
        """Reads the source (B, N): a dict with s, as in Seq2Seq, and what all steps look at: H (B, N, width), the keys
        of the score, and the mask (B, N), by default source != <pad>.
        """
        mask = real_tokens(source, source_mask)
        H, final = self.encoder(source, mask)
        return {"s": self.bridge(final), "H": H, "keys": self.score.keys(H), "mask": mask}

    def attend(self, s: Tensor, state: dict) -> tuple[Tensor, Tensor]:
        """alpha = softmax(score(s, H)), c = alpha H.  s: (B, T, hidden).  Returns c (B, T, width), alpha (B, T, N)."""
        alpha = masked_softmax(self.score(s, state["keys"]), state["mask"].unsqueeze(1))
        return alpha @ state["H"], alpha

    def step(self, token: Tensor, state: dict) -> tuple[Tensor, dict]:
        """Reads y_{t-1}, token (B,): the logits (B, vocab) of y_t, and the next state."""
        s, c, _, state = self._update(state, self._dropped(embed(self.embedding, token, dims=1)))
        return self._logits(s, c), state

    def forward(
        self, source: Tensor, target_in: Tensor, source_mask: Tensor | None = None, need_weights: bool = False
    ) -> Tensor | tuple[Tensor, Tensor]:
        """Teacher forcing, as in Seq2Seq: logits (B, T, vocab), and with need_weights also alpha (B, T, N)."""
        state, y = self.start(source, source_mask), self._dropped(embed(self.embedding, target_in))
        if self.attention == "luong":  # no s_t waits for a c_t: all at once
            S, _ = self.decoder(y, state["s"])
            C, alpha = self.attend(S, state)
        else:
            steps, weights = [], self.decoder.step_weights()
            for y_t in y.unbind(1):
                *step, state = self._update(state, y_t, weights)
                steps.append(step)
            S, C, alpha = (torch.stack(parts, dim=1) for parts in zip(*steps, strict=True))
        logits = self._logits(S, C)
        return (logits, alpha) if need_weights else logits

    def _update(
        self, state: dict, y: Tensor, weights: list[Weights] | None = None
    ) -> tuple[Tensor, Tensor, Tensor, dict]:
        """s_t (B, hidden), c_t (B, width), alpha_t (B, N) and the next state.  weights: of decoder.step_weights()."""
        if self.attention == "bahdanau":
            c, alpha = self.attend(state["s"][-1][0].unsqueeze(1), state)  # the top layer's s_{t-1}
            s_t, s = self.decoder.step(_concatenated(y, c.squeeze(1)), state["s"], weights)
        else:
            s_t, s = self.decoder.step(y, state["s"], weights)
            c, alpha = self.attend(s_t.unsqueeze(1), state)
        return s_t, c.squeeze(1), alpha.squeeze(1), {**state, "s": s}

    def _logits(self, s: Tensor, c: Tensor) -> Tensor:
        return self.output(self._dropped(torch.tanh(self.W_r(_concatenated(s, c)))))

    def _dropped(self, x: Tensor) -> Tensor:
        return F.dropout(x, self.dropout, self.training)


class SingleRNNTranslator(nn.Module):
    """One recurrent network that reads the source and goes on with the target, one text  x_1 .. x_N <sos> y_1 .. y_T:

        P(y | x) = prod_t P(y_t | x, <sos>, y_<t)

    A RecurrentLM (whose arguments these are) with one vocabulary for both sides. Only target positions give logits, so
    only they count in the loss: nothing is spent on predicting the source. Padding between the two leaves the state as
    it is.
    """

    def __init__(self, vocab: int, d_embed: int, hidden: int, n_layers: int = 1, cell: str = "lstm", **options: Any):
        super().__init__()
        self.lm = RecurrentLM(vocab, d_embed, hidden, n_layers, cell, **options)
        if self.lm.embedding.weight is not self.lm.output.weight:
            initialise_read(self.lm.embedding)

    def start(self, source: Tensor, source_mask: Tensor | None = None) -> tuple[State, ...]:
        """The state after the source.  source: (B, N) ids.  source_mask: by default source != <pad>."""
        return self.lm.features(source, None, real_tokens(source, source_mask))[1]

    def step(self, token: Tensor, state: tuple[State, ...]) -> tuple[Tensor, tuple[State, ...]]:
        """Reads y_{t-1}, token (B,): the logits (B, vocab) of y_t, and the next state."""
        return self.lm.step(token, state)

    def forward(self, source: Tensor, target_in: Tensor, source_mask: Tensor | None = None) -> Tensor:
        """source: (B, N).  target_in: (B, T) ids, <sos> y_1 .. y_{T-1}.  Returns logits (B, T, vocab)."""
        return self.lm.run(target_in, self.start(source, source_mask))[0]


def _concatenated(x: Tensor, c: Tensor | None) -> Tensor:
    """[x ; c], or x where there is no c."""
    return x if c is None else torch.cat([x, c], dim=-1)


def _check_choice(name: str, value: str, allowed: tuple[str, ...]) -> None:
    if value not in allowed:
        raise ValueError(f"{name} is {value!r}; it must be one of {', '.join(map(repr, allowed))}.")
