"""Encoder and decoder: one network reads a source x, another writes a target y with probability P(y | x).

    H = h_1 .. h_N = encoder(x)                                      the source, one state a token
    s_0 = bridge(encoder's last state)                               where the decoder starts
    s_t = cell(E y_{t-1}, s_{t-1})                                   the decoder, given what has been written
    P(y_t | y_<t, x) = softmax(W_o s_t + b_o)

Without attention all that the decoder knows of the source is one vector, however long the source is. With attention it
looks back at every step:

    e_ti = score(s, h_i)      alpha_t = softmax(e_t)      c_t = sum_i alpha_ti h_i

Shapes: B batch, N source length, T target length, d_embed, hidden (of the decoder), width (of H), vocab. Masks are
boolean (B, N), True at real tokens. Dropout as in RecurrentLM: on embeddings, between layers and before the output,
never on a state that goes on to the next step.
"""

import math

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from lmbook.attention import AdditiveScore, MultiplicativeScore, ScaledScore, dot_score, masked_softmax
from lmbook.cells import State
from lmbook.configuration import configured
from lmbook.layers import Encoder, embed
from lmbook.positions import rotary
from lmbook.rnn import Recurrent
from lmbook.rnn_models import RecurrentLM
from lmbook.text import PAD_ID
from lmbook.transformer import Embedding

SCORES = ("dot", "multiplicative", "additive", "scaled")


@configured
class Seq2Seq(nn.Module):
    """Encoder and recurrent decoder; attention=None is the bottleneck (Cho et al. 2014, Sutskever et al. 2014).

    context="first": the source reaches the decoder through s_0 alone. context="every": its summary c = h_N (the top
    layer's last state, both directions) also enters each step, as in Cho et al. 2014:

        s_t = cell([E y_{t-1} ; c], s_{t-1})        r_t = tanh(W_r [s_t ; c])        logits_t = W_o r_t + b_o

    attention="dot", "multiplicative", "additive" or "scaled": c_t in place of c (so context stays at "first"). Which
    state is scored is an argument:

        query="before"   e_ti = score(s_{t-1}, h_i), and c_t enters the update, as above       (Bahdanau et al. 2015)
        query="after"    s_t = cell(E y_{t-1}, s_{t-1}), then e_ti = score(s_t, h_i)           (Luong et al. 2015)

    r_t and the logits are the same in both (Luong's eq. 5 and 6; Bahdanau's maxout layer is left out). With several
    layers the top one's state is scored. Additive attention compares in d_a dimensions, hidden by default.

    encoder="recurrent": layers of the decoder's cell and size, in two directions if bidirectional (width = 2 hidden).
    encoder="attention": the hybrid, a Transformer encoder of width d_embed with n_heads, d_ff (4 d_embed by default)
    and positions. encoder_layers: n_layers by default.
    The decoder's top layer starts at the last state of the encoder's top layer, and so on downwards (where the encoder
    has fewer layers, its lowest serves the rest): as it is where the widths agree, else through encoders.Bridge; the
    hybrid always through the bridge.

    cell, fast, options: as in Recurrent. fast also computes the part of a score that depends on H alone once, and runs
    all target steps at once where no step needs the attention of the step before (query="after", or no attention):
    then C = softmax(S H^T) H is one product.
    tie: W_o is the target's E; then d_embed must be hidden. E and W_o start uniform in [-0.1, 0.1], b_o at 0, so that
    the first loss is near ln vocab_target; scores, bridge and W_r start as torch's linear layers do.
    """

    def __init__(
        self,
        vocab_source: int,
        vocab_target: int,
        d_embed: int,
        hidden: int,
        n_layers: int = 1,
        cell: str = "gru",
        bidirectional: bool = False,
        context: str = "first",
        attention: str | None = None,
        query: str = "before",
        d_a: int | None = None,
        encoder: str = "recurrent",
        encoder_layers: int | None = None,
        n_heads: int = 4,
        d_ff: int | None = None,
        positions: str = "sinusoidal",
        dropout: float = 0.0,
        tie: bool = False,
        fast: bool = False,
        **options: float | str,
    ):
        super().__init__()
        _check_choice("context", context, ("first", "every"))
        _check_choice("attention", attention, (None, *SCORES))
        _check_choice("query", query, ("before", "after"))
        _check_choice("encoder", encoder, ("recurrent", "attention"))
        if attention and context == "every":
            raise ValueError('attention gives every step a context of its own; leave context at "first".')
        if tie and d_embed != hidden:
            raise ValueError(f"tie=True shares E with the output, so d_embed ({d_embed}) must be hidden ({hidden}).")
        self.dropout, self.every, self.fast = dropout, context == "every", fast
        self.before, self.after = (attention is not None and query == name for name in ("before", "after"))
        parts, deep = 2 if cell == "lstm" else 1, n_layers if encoder_layers is None else encoder_layers
        if encoder == "recurrent":
            settings = {"bidirectional": bidirectional, "fast": fast, **options}
            self.encoder = RecurrentEncoder(vocab_source, d_embed, hidden, deep, cell, dropout, **settings)
        else:
            wide = 4 * d_embed if d_ff is None else d_ff
            self.encoder = AttentionEncoder(
                vocab_source, d_embed, n_heads, wide, deep, n_layers, parts, positions, dropout, fast
            )
        width = self.encoder.width
        bridged = width != hidden or encoder == "attention"
        self.bridge = Bridge(width, hidden, n_layers, parts) if bridged else None
        self.embedding = nn.Embedding(vocab_target, d_embed)
        d_in = d_embed + width if self.every or self.before else d_embed
        self.decoder = Recurrent(d_in, hidden, n_layers, cell, False, dropout, fast, **options)
        self.score = _score(attention, hidden, width, hidden if d_a is None else d_a)
        self.W_r = nn.Linear(hidden + width, hidden, bias=False) if self.every or attention else None
        self.output = nn.Linear(hidden, vocab_target)
        nn.init.uniform_(self.embedding.weight, -0.1, 0.1)
        nn.init.uniform_(self.output.weight, -0.1, 0.1)
        nn.init.zeros_(self.output.bias)
        if tie:
            self.output.weight = self.embedding.weight

    def start(self, source: Tensor, source_mask: Tensor | None = None) -> dict:
        """Reads the source (B, N): the decoder's first state, and what its steps need of the source.

        source_mask: (B, N), by default source != <pad>.  Returns a dict: s, one tuple a layer, each tensor (B, hidden);
        c (B, width) for context="every"; for attention H (B, N, width), mask (B, N) and, if fast, keys.
        """
        mask = real_tokens(source, source_mask)
        H, final = self.encoder(source, mask)
        deeper = len(final) - len(self.decoder.layers)
        first = tuple(final[max(layer + deeper, 0)] for layer in range(len(self.decoder.layers)))
        state = {"s": first if self.bridge is None else self.bridge(first)}
        if self.every:
            state["c"] = final[-1][0]
        if self.score is not None:
            state |= {"H": H, "mask": mask}
            if self.fast:
                state["keys"] = _keys(self.score, H)
        return state

    def step(self, state: dict, token: Tensor) -> tuple[Tensor, dict]:
        """Reads y_{t-1}, token (B,): the logits (B, vocab_target) of y_t, and the next state."""
        h, c, _, state = self._step(state, self._drop(embed(self.embedding, token, "(B,)")))
        return self._logits(h, c), state

    def forward(
        self, source: Tensor, target_in: Tensor, source_mask: Tensor | None = None, return_weights: bool = False
    ) -> Tensor | tuple[Tensor, Tensor]:
        """Teacher forcing.  source: (B, N).  target_in: (B, T) ids, <sos> y_1 .. y_{T-1}.

        Returns logits (B, T, vocab_target), logits[:, t] predicting what follows target_in[:, t]; with return_weights
        also alpha (B, T, N). Raises ValueError if weights are wanted of a model without attention.
        """
        if return_weights and self.score is None:
            raise ValueError("this model has no attention, hence no weights; build it with attention=...")
        if not target_in.shape[1]:
            raise ValueError("target_in has no tokens; begin it with <sos>.")
        state, y = self.start(source, source_mask), self._drop(embed(self.embedding, target_in))
        S, C, weights = (self._all_steps if self.fast and not self.before else self._each_step)(state, y)
        logits = self._logits(S, C)
        return (logits, weights) if return_weights else logits

    def _step(
        self, state: dict, y: Tensor, decoder: list | None = None
    ) -> tuple[Tensor, Tensor | None, Tensor | None, dict]:
        """s_t (B, hidden) of the top layer, c_t (B, width), alpha_t (B, N), and the next state; None for what is not.

        y: (B, d_embed).  decoder: of decoder.step_weights(), once for many steps.
        """
        c, weights = state.get("c"), None
        if self.before:
            c, weights = self._look(state["s"][-1][0].unsqueeze(1), state)  # the top layer's s_{t-1}
            c = c.squeeze(1)
        h, s = self.decoder.step(y if c is None else torch.cat([y, c], dim=-1), state["s"], decoder)
        if self.after:
            c, weights = self._look(h.unsqueeze(1), state)
            c = c.squeeze(1)
        return h, c, None if weights is None else weights.squeeze(1), {**state, "s": s}

    def _each_step(self, state: dict, y: Tensor) -> tuple[Tensor, Tensor | None, Tensor | None]:
        """Step by step through y (B, T, d_embed): S (B, T, hidden), C (B, T, width) and alpha (B, T, N), or None."""
        steps, decoder = [], self.decoder.step_weights()
        for y_t in y.unbind(1):
            *step, state = self._step(state, y_t, decoder)
            steps.append(step)
        S, C, weights = (None if parts[0] is None else torch.stack(parts, 1) for parts in zip(*steps, strict=True))
        return S, C, weights

    def _all_steps(self, state: dict, y: Tensor) -> tuple[Tensor, Tensor | None, Tensor | None]:
        """The same for all t at once, where s_t does not depend on c_t."""
        c, weights = None, None
        if self.every:
            c = state["c"].unsqueeze(1).expand(-1, y.shape[1], -1)
        S, _ = self.decoder(y if c is None else torch.cat([y, c], dim=-1), state["s"])  # (B, T, hidden)
        if self.after:
            c, weights = self._look(S, state)  # softmax(S H^T) H for the dot score
        return S, c, weights

    def _look(self, s: Tensor, state: dict) -> tuple[Tensor, Tensor]:
        """c = softmax(score(s, H)) H.  s: (B, T, hidden).  Returns contexts (B, T, width) and weights (B, T, N)."""
        scores = _compare(self.score, s, state["keys"]) if "keys" in state else self.score(s, state["H"])
        weights = masked_softmax(scores, state["mask"].unsqueeze(1))
        return weights @ state["H"], weights

    def _logits(self, s: Tensor, c: Tensor | None) -> Tensor:
        r = s if c is None else torch.tanh(self.W_r(torch.cat([s, c], dim=-1)))
        return self.output(self._drop(r))

    def _drop(self, x: Tensor) -> Tensor:
        return F.dropout(x, self.dropout, self.training)


@configured
class OneRNNTranslator(nn.Module):
    """One recurrent network that reads the source and goes on with the target, one text  x_1 .. x_N <sos> y_1 .. y_T:

        P(y | x) = prod_t P(y_t | x, <sos>, y_<t)

    A RecurrentLM (whose arguments these are) with one vocabulary for both sides. Only target positions give logits, so
    only they count in the loss: nothing is spent on predicting the source. Padding between the two leaves the state as
    it is.
    """

    def __init__(self, vocab: int, d_embed: int, hidden: int, n_layers: int = 1, cell: str = "lstm", **options):
        super().__init__()
        self.lm = RecurrentLM(vocab, d_embed, hidden, n_layers, cell, **options)

    def start(self, source: Tensor, source_mask: Tensor | None = None) -> tuple[State, ...]:
        """The state after the source.  source: (B, N) ids.  source_mask: by default source != <pad>."""
        x = F.dropout(embed(self.lm.embedding, source), self.lm.dropout, self.training)
        return self.lm.recurrent(x, None, real_tokens(source, source_mask))[1]

    def step(self, state: tuple[State, ...], token: Tensor) -> tuple[Tensor, tuple[State, ...]]:
        """Reads y_{t-1}, token (B,): the logits (B, vocab) of y_t, and the next state."""
        return self.lm.step(state, token)

    def forward(self, source: Tensor, target_in: Tensor, source_mask: Tensor | None = None) -> Tensor:
        """source: (B, N).  target_in: (B, T) ids, <sos> y_1 .. y_{T-1}.  Returns logits (B, T, vocab)."""
        return self.lm.run(target_in, self.start(source, source_mask))[0]


def _score(attention: str | None, hidden: int, width: int, d_a: int):
    if attention == "dot" and hidden != width:
        raise ValueError(
            f"the dot score needs equal widths, but s has {hidden} and h has {width}; take "
            f'attention="multiplicative", or an encoder of one direction.'
        )
    if attention == "additive":
        return AdditiveScore(hidden, width, d_a)
    learned = {"multiplicative": MultiplicativeScore, "scaled": ScaledScore}
    return learned[attention](hidden, width) if attention in learned else dot_score if attention == "dot" else None


def _keys(score, H: Tensor) -> Tensor:
    """What a score needs of H (B, N, width) alone, computed once for all steps: W_h H, W H, or H itself."""
    if isinstance(score, AdditiveScore):
        return score.W_h(H)
    return score.W(H) if isinstance(score, MultiplicativeScore) else H


def _compare(score, s: Tensor, keys: Tensor) -> Tensor:
    """score(s, H) (B, T, N) from _keys(score, H).  s: (B, T, hidden)."""
    if isinstance(score, AdditiveScore):
        return score.v(torch.tanh(score.W_s(s).unsqueeze(2) + keys.unsqueeze(1))).squeeze(-1)
    scores = dot_score(s, keys)
    return scores / math.sqrt(s.shape[-1]) if isinstance(score, ScaledScore) else scores


def _check_choice(name: str, value, allowed: tuple) -> None:
    if value not in allowed:
        raise ValueError(f"{name} is {value!r}; it must be one of {', '.join(map(repr, allowed))}.")


def real_tokens(source: Tensor, mask: Tensor | None) -> Tensor:
    """The mask (B, N) as it was given, or where the source (B, N) is not <pad>. Raises ValueError for other shapes."""
    if source.ndim != 2 or source.shape[1] < 1:
        raise ValueError(f"source has shape {tuple(source.shape)}; give ids (B, N) with at least one column.")
    mask = source != PAD_ID if mask is None else mask
    if mask.dtype != torch.bool or mask.shape != source.shape:
        raise ValueError(f"source_mask is {mask.dtype} {tuple(mask.shape)}; give booleans {tuple(source.shape)}.")
    return mask


class RecurrentEncoder(nn.Module):
    """Recurrent over the embedded source; final is every layer's last state. E starts uniform in [-0.1, 0.1]."""

    def __init__(self, vocab: int, d_embed: int, hidden: int, n_layers: int, cell: str, dropout: float, **options):
        super().__init__()
        self.embedding = nn.Embedding(vocab, d_embed)
        nn.init.uniform_(self.embedding.weight, -0.1, 0.1)
        self.recurrent = Recurrent(d_embed, hidden, n_layers, cell, dropout=dropout, **options)
        self.width, self.dropout = self.recurrent.width, dropout

    def forward(self, source: Tensor, mask: Tensor) -> tuple[Tensor, tuple[State, ...]]:
        """source: (B, N) ids.  Returns H (B, N, width), 0 at padding, and final."""
        x = F.dropout(embed(self.embedding, source), self.dropout, self.training)
        return self.recurrent(x, None, mask)


class AttentionEncoder(nn.Module):
    """The encoder of a Transformer, for the hybrid: attention reads the source, a recurrent decoder writes.

    It has no last state, so final is the mean of H over the real tokens, once for each of the `parts` of each of the
    decoder's `n_final` layers. positions as in transformer.Embedding; with "none" the order of the source is not seen.
    """

    def __init__(
        self,
        vocab: int,
        d_model: int,
        n_heads: int,
        d_ff: int,
        n_layers: int,
        n_final: int,
        parts: int,
        positions: str,
        dropout: float,
        fast: bool,
    ):
        super().__init__()
        self.embedding = Embedding(vocab, d_model, positions, dropout=dropout)
        rotate = rotary if positions == "rotary" else None
        self.encoder = Encoder(n_layers, d_model, n_heads, d_ff, dropout=dropout, rotate=rotate, fast=fast)
        self.width, self.n_final, self.parts = d_model, n_final, parts

    def forward(self, source: Tensor, mask: Tensor) -> tuple[Tensor, tuple[State, ...]]:
        """source: (B, N) ids.  Returns H (B, N, width) and final."""
        H = self.encoder(self.embedding(source), mask.unsqueeze(1))[0]
        real = mask.unsqueeze(2).to(H)
        mean = (H * real).sum(1) / real.sum(1).clamp(min=1)
        return H, ((mean,) * self.parts,) * self.n_final


class Bridge(nn.Module):
    """From the encoder's last states (B, width) to the decoder's first (B, hidden): tanh(W h + b), and W c + b."""

    def __init__(self, width: int, hidden: int, n_layers: int, parts: int):
        super().__init__()
        self.layers = nn.ModuleList(
            nn.ModuleList(nn.Linear(width, hidden) for _ in range(parts)) for _ in range(n_layers)
        )

    def forward(self, final: tuple[State, ...]) -> tuple[State, ...]:
        first = []
        for maps, (h, *c) in zip(self.layers, final, strict=True):
            first.append((torch.tanh(maps[0](h)), *(W(part) for W, part in zip(maps[1:], c, strict=True))))
        return tuple(first)
