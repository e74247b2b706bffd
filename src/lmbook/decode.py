"""Decoding: how a model that predicts the next token writes a sequence.

    greedy   y_t = argmax_y P(y | y_<t, x)
    sample   y_t ~ P(y | y_<t, x)^(1/temperature), normalised, perhaps over the likeliest tokens only (top-k, top-p)
    beam     keeps the `width` best beginnings, and in the end the sequence with the best log P(y | x) / |y|^alpha

All work with every model that has `start` and `step` (lmbook.protocol), whatever it is made of. A sequence is complete
when its last token is <eos>, or when it has max_length tokens; so the probabilities of all complete sequences sum to 1.
Arguments that the functions share:

    source        what model.start takes: ids (B, N), or for a language model the number of rows B
    max_length    tokens to write at most, <eos> among them
    prompt        ids (B, P), P >= 1, read before anything is written; by default one <sos>
    source_mask   boolean (B, N), True at real tokens, where the model is not to find them itself
    eos           id that ends a sequence; None for a stream without end
    forbid        ids that are never written: they get probability 0, and the others share it

The model is in evaluation mode meanwhile, and afterwards as it was. No row of a batch influences another.
"""

import itertools
import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor

from lmbook.networks import evaluating, tree_map
from lmbook.protocol import LanguageModel, State, Translator
from lmbook.text import EOS_ID, SOS_ID

Model = LanguageModel | Translator
NO_DOUBLES = {"mps"}  # devices without 64-bit floats: Apple's

__all__ = [
    "Hypothesis", "beam", "beam_hypotheses", "distribution", "greedy", "reorder", "sample",
]  # fmt: skip


class Hypothesis(NamedTuple):
    """One complete sequence of a beam: its tokens, log P(y | x) in nats, and score = log_prob / |y|^alpha."""

    tokens: list[int]
    log_prob: float
    score: float


def reorder(state: State, index: Tensor) -> State:
    """The state whose row i is row index[i] of the given one: rows dropped, repeated or put in another order.

    The batch is the first axis of each tensor.  index: (B',) int64.  Raises TypeError as `tree_map` does.
    """
    return tree_map(lambda tensor: tensor.index_select(0, index), state)


def greedy(
    model: Model,
    source: Tensor | int,
    max_length: int,
    *,
    prompt: Tensor | None = None,
    source_mask: Tensor | None = None,
    eos: int | None = EOS_ID,
    forbid: Sequence[int] = (),
) -> tuple[list[list[int]], list[float]]:
    """The likeliest token at each step, y_t = argmax_y P(y | y_<t, x); of equal ones the smallest id.

    Returns the token lists and their log P(y | x), one of each per row. The sequence need not be the likeliest one.
    """
    return _write(model, source, max_length, prompt, source_mask, eos, forbid, lambda log_p: log_p.argmax(-1))


def sample(
    model: Model,
    source: Tensor | int,
    max_length: int,
    *,
    temperature: float = 1.0,
    top_k: int | None = None,
    top_p: float = 1.0,
    generator: torch.Generator | None = None,
    prompt: Tensor | None = None,
    source_mask: Tensor | None = None,
    eos: int | None = EOS_ID,
    forbid: Sequence[int] = (),
) -> tuple[list[list[int]], list[float]]:
    """Each token drawn from `distribution`; temperature 0 is greedy.

    generator: torch.Generator().manual_seed(0), say; tokens are drawn on its device. By default torch's own generator.
    Returns the token lists and their log P(y | x) under the model itself, at temperature 1 and with no token cut.
    """
    _check_sampling(temperature, top_k, top_p)

    def draw(log_p: Tensor) -> Tensor:
        if temperature == 0:
            return log_p.argmax(-1)
        p = distribution(log_p, temperature, top_k, top_p)
        if generator is not None:
            p = p.to(generator.device)
        return torch.multinomial(p, 1, generator=generator).squeeze(1).to(log_p.device)

    return _write(model, source, max_length, prompt, source_mask, eos, forbid, draw)


def distribution(logits: Tensor, temperature: float = 1.0, top_k: int | None = None, top_p: float = 1.0) -> Tensor:
    """The probabilities that `sample` draws from: p = softmax(logits / temperature), then cut, then normalised again.

    top_k: the k likeliest tokens stay (Fan et al. 2018).  top_p: of these, the fewest that together have at least
    top_p stay, the likeliest first (nucleus sampling, Holtzman et al. 2020). Of equal tokens the smaller id stays.
    Temperature 0 gives the likeliest token all. logits: (..., vocab).  Returns (..., vocab) float64, on the CPU where
    the device of the logits has none.
    Raises ValueError unless temperature >= 0, top_k >= 1 and 0 < top_p <= 1.
    """
    _check_sampling(temperature, top_k, top_p)
    if temperature == 0:
        temperature, top_k = 1.0, 1
    logits = (logits.cpu() if logits.device.type in NO_DOUBLES else logits).double()
    # Less its maximum, which softmax ignores: no logit overflows, however small the temperature.
    p = torch.softmax((logits - logits.amax(-1, keepdim=True)) / temperature, dim=-1)
    if top_k is None and top_p == 1:
        return p
    p, ids = p.sort(dim=-1, descending=True, stable=True)  # the likeliest first
    if top_k is not None:
        p[..., top_k:] = 0
        p = p / p.sum(-1, keepdim=True)
    if top_p < 1:
        before = p.cumsum(-1) - p
        p = torch.where(before < top_p, p, 0.0)
    p = p / p.sum(-1, keepdim=True)
    return torch.zeros_like(p).scatter(-1, ids, p)


def beam(
    model: Model, source: Tensor | int, max_length: int, width: int = 5, alpha: float = 1.0, **options: Any
) -> tuple[list[list[int]], list[float]]:
    """The best hypothesis of `beam_hypotheses` for each row, and its score log P(y | x) / |y|^alpha."""
    best = [hypotheses[0] for hypotheses in beam_hypotheses(model, source, max_length, width, alpha, **options)]
    return [hypothesis.tokens for hypothesis in best], [hypothesis.score for hypothesis in best]


def beam_hypotheses(
    model: Model,
    source: Tensor | int,
    max_length: int,
    width: int = 5,
    alpha: float = 1.0,
    *,
    prompt: Tensor | None = None,
    source_mask: Tensor | None = None,
    eos: int | None = EOS_ID,
    forbid: Sequence[int] = (),
) -> list[list[Hypothesis]]:
    """Beam search over a batch: for each row at most `width` complete hypotheses, the best score first.

        score(y) = log P(y | x) / |y|^alpha       |y| counts <eos>; alpha 0: the plain log P, 1: its mean over tokens

    A sum of logs falls with every token, so without the division short sequences win (Wu et al. 2016, section 7, divide
    by a similar power of the length). At each step the beam holds the `width` beginnings with the largest log P. One
    that is complete stays in it as it is until better ones push it out, and is kept aside in any case. A row is done
    when all that its beam holds is complete. Width 1 is greedy, and a beam as wide as the tree finds the best of all;
    in between, a wider beam is not always better.
    """
    if width < 1 or not 0 <= alpha < math.inf:
        raise ValueError(f"width is {width} and alpha {alpha}; a beam needs width >= 1 and alpha >= 0.")
    with evaluating(model):
        logits, state = _begin(model, source, max_length, prompt, source_mask)
        (B, V), K, device = logits.shape, width, logits.device
        first = torch.arange(B, device=device).repeat_interleave(K)  # each row K times
        logits, state = logits[first], reorder(state, first)
        total = torch.full((B, K), -math.inf, device=device)  # log P of what the beam holds
        total[:, 0] = 0.0  # at first it holds one beginning, the empty one
        ended = torch.zeros(B, K, dtype=torch.bool, device=device)
        tokens = torch.empty(B, K, 0, dtype=torch.long, device=device)
        stay = torch.full((V,), -math.inf, device=device)
        stay[0] = 0.0  # what is complete has one extension, itself; the token written is cut off
        complete: list[list[Hypothesis]] = [[] for _ in range(B)]
        rows = list(range(B))  # the rows that are not done: the tensors hold these alone
        for length in range(1, max_length + 1):
            log_p = torch.where(ended.unsqueeze(2), stay, _log_probs(logits, forbid).view(-1, K, V))
            total, index = (total.unsqueeze(2) + log_p).flatten(1).topk(K)  # (B, K), the best first
            parent, token = index // V, index % V
            tokens = torch.cat([tokens.gather(1, parent.unsqueeze(2).expand_as(tokens)), token.unsqueeze(2)], dim=2)
            before = ended.gather(1, parent)
            ended = before | (total == -math.inf)  # a small tree does not fill the beam
            if eos is not None:
                ended = ended | (token == eos)
            new = (ended | (length == max_length)) & ~before & (total > -math.inf)
            for b, k in new.nonzero().tolist():
                log_prob = total[b, k].item()
                complete[rows[b]].append(Hypothesis(tokens[b, k].tolist(), log_prob, log_prob / length**alpha))
            still = (~ended).any(1).nonzero().squeeze(1)  # the rows that go on
            if length == max_length or not len(still):
                break
            rows = [rows[b] for b in still.tolist()]
            state = reorder(state, (still.unsqueeze(1) * K + parent[still]).flatten())
            total, ended, tokens = total[still], ended[still], tokens[still]
            logits, state = model.step(token[still].flatten(), state)
    return [sorted(hypotheses, key=lambda hypothesis: -hypothesis.score)[:width] for hypotheses in complete]


def _write(
    model: Model,
    source: Tensor | int,
    max_length: int,
    prompt: Tensor | None,
    source_mask: Tensor | None,
    eos: int | None,
    forbid: Sequence[int],
    choose: Callable[[Tensor], Tensor],
) -> tuple[list[list[int]], list[float]]:
    """Writes one token per step, as choose(log P (B, vocab)) -> (B,) says, until every row has ended."""
    with evaluating(model):
        logits, state = _begin(model, source, max_length, prompt, source_mask)
        ended = torch.zeros(len(logits), dtype=torch.bool, device=logits.device)
        total, written = torch.zeros(len(logits), device=logits.device), []
        for length in range(1, max_length + 1):
            log_p = _log_probs(logits, forbid)
            token = choose(log_p)
            written.append(token)
            total = torch.where(ended, total, total + log_p.gather(1, token.unsqueeze(1)).squeeze(1))
            if eos is not None:
                ended = ended | (token == eos)
            if length == max_length or ended.all():
                break
            logits, state = model.step(token, state)  # a row that has ended goes on; what it writes is cut off below
    tokens = torch.stack(written, dim=1).tolist()
    return [row[: row.index(eos) + 1] if eos in row else row for row in tokens], total.tolist()


def _begin(
    model: Model, source: Tensor | int, max_length: int, prompt: Tensor | None, source_mask: Tensor | None
) -> tuple[Tensor, State]:
    """Starts the model and lets it read the prompt. Returns the logits (B, vocab) of the first token, and the state."""
    if max_length < 1:
        raise ValueError(f"max_length is {max_length}; write at least 1 token.")
    if isinstance(source, Tensor) and isinstance(model, LanguageModel):
        raise ValueError("a language model starts from a number of rows B; give B, and the ids (B, P) as prompt=.")
    batch_size = len(source) if isinstance(source, Tensor) else int(source)
    if batch_size < 1:
        raise ValueError("source has no rows; decode at least one.")
    if isinstance(model, LanguageModel):
        state, device = model.start(batch_size), next(itertools.chain(model.parameters(), model.buffers())).device
    elif isinstance(source, Tensor):
        state = model.start(source) if source_mask is None else model.start(source, source_mask)
        device = source.device
    else:
        raise ValueError(f"source is {source}; this model translates (it has no run): give ids (B, N) as a tensor.")
    if prompt is None:
        prompt = torch.full((batch_size, 1), SOS_ID, device=device)
    if prompt.ndim != 2 or len(prompt) != batch_size or prompt.shape[1] < 1:
        raise ValueError(f"prompt has shape {tuple(prompt.shape)}; give ids ({batch_size}, P) with P >= 1.")
    for token in prompt.unbind(1):
        logits, state = model.step(token, state)
    return logits, state


def _log_probs(logits: Tensor, forbid: Sequence[int]) -> Tensor:
    """log P (B, vocab) in nats, at least float32, without the forbidden ids."""
    if len(forbid):
        if not all(0 <= id < logits.shape[1] for id in forbid):
            raise ValueError(f"forbid is {list(forbid)}; the ids of this model are 0 to {logits.shape[1] - 1}.")
        logits = logits.index_fill(1, torch.as_tensor(list(forbid), device=logits.device), -math.inf)
    log_p = torch.log_softmax(logits.float() if logits.dtype in (torch.float16, torch.bfloat16) else logits, dim=-1)
    if log_p.isnan().any():
        raise ValueError("the model gave NaN or infinite logits, or every id is forbidden; check its weights first.")
    return log_p


def _check_sampling(temperature: float, top_k: int | None, top_p: float) -> None:
    if not 0 <= temperature < math.inf:
        raise ValueError(f"temperature is {temperature}; it must be 0 (greedy) or a positive number.")
    if top_k is not None and top_k < 1:
        raise ValueError(f"top_k is {top_k}; keep at least 1 token, or all with None.")
    if not 0 < top_p <= 1:
        raise ValueError(f"top_p is {top_p}; it is a probability in (0, 1], and 1 keeps all tokens.")
