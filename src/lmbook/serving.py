"""Writing for less: texts in one batch, speculative decoding, in which a small model drafts and a large one checks, and
distillation.

    slots that write in a batch that waits for its longest text:  E[length] / E[max of B lengths]

    x ~ q, accepted with min(1, p(x) / q(x)); else drawn from max(p - q, 0), normalised       is distributed as p
    accepted with probability beta = sum_x min(p(x), q(x))
    tokens a round with gamma drafts: 1 + beta + .. + beta^gamma = (1 - beta^(gamma + 1)) / (1 - beta)

p: the large model's distribution of the next token, the target; q: the small one's, the draft  (Leviathan et al. 2023;
Chen et al. 2023).  Shapes: gamma drafted tokens, vocab.
"""

import functools
from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from lmbook.decode import distribution
from lmbook.gpt import GPT
from lmbook.networks import evaluating, tree_map
from lmbook.protocol import LanguageModel


def accepted_share(p: Tensor, q: Tensor) -> Tensor:
    """beta = sum_x min(p(x), q(x)), 1 less the total variation distance. p, q: (..., vocab).  Returns (...)."""
    return torch.minimum(p, q).sum(-1)


def leftover(p: Tensor, q: Tensor) -> Tensor:
    """max(p - q, 0) / sum: what a rejected token is replaced from. p, q: (vocab,), not equal; if equal, p."""
    rest = (p - q).clamp_min(0)
    return rest / rest.sum() if rest.sum() > 0 else p


def check(p: Tensor, q: Tensor, drafted: Tensor, generator: torch.Generator | None = None) -> list[int]:
    """The tokens of one round: accepted drafts, then one more of the target's.

    p: (gamma + 1, vocab), behind each of 0 .. gamma drafts.  q: (gamma, vocab), what they were drawn from.  drafted:
    (gamma,).  Returns 1 to gamma + 1 tokens, each distributed as the target's  (Leviathan et al. 2023, algorithm 1).
    """
    u = torch.rand(len(drafted), generator=generator, dtype=p.dtype)
    for i, x in enumerate(drafted.tolist()):
        if u[i] * q[i, x] >= p[i, x]:
            instead = torch.multinomial(leftover(p[i], q[i]), 1, generator=generator)
            return [*drafted[:i].tolist(), int(instead)]
    return [*drafted.tolist(), int(torch.multinomial(p[-1], 1, generator=generator))]


def _scaled(by: Tensor, h: Tensor) -> Tensor:
    """Row i of h (slots, ...) times by[i]."""
    return h * by.view(-1, *[1] * (h.dim() - 1))


def serve(
    model: LanguageModel, requests: Sequence[tuple[list[int], int]], slots: int, static: bool = False
) -> tuple[list[list[int]], int]:
    """The likeliest text behind each prompt, `slots` of them in a batch, and the number of steps.

    requests: the ids of a prompt and how many to write behind it.  A slot that is done takes the next request, or where
    static waits until all are done.  A prompt is read in its slot, an id a step.  model: recurrent, starts from zeros,
    so that a slot begins anew by a product with 0.  Raises ValueError for an empty prompt, or no id to be written.
    """
    if slots < 1 or any(not prompt or n < 1 for prompt, n in requests):
        raise ValueError(f"serve: {slots} slots must be 1 or more, as must the ids of each prompt and behind it.")
    texts, queue = [list(prompt) for prompt, _ in requests], list(enumerate(requests))
    busy: dict[int, tuple[int, int]] = {}  # slot: its request, and how long the text will be
    read, steps, state = [0] * slots, 0, model.start(slots)
    with evaluating(model):
        while queue or busy:
            kept = torch.ones(slots)
            for slot in range(slots) if not (static and busy) else ():
                if slot not in busy and queue:
                    i, (prompt, n) = queue.pop(0)
                    busy[slot], read[slot], kept[slot] = (i, len(prompt) + n), 0, 0.0
            state = tree_map(functools.partial(_scaled, kept), state)
            ids = [texts[busy[slot][0]][read[slot]] if slot in busy else 0 for slot in range(slots)]
            logits, state = model.step(torch.tensor(ids), state)
            steps += 1
            for slot, (i, end) in list(busy.items()):
                read[slot] += 1
                if read[slot] == len(texts[i]):
                    texts[i].append(int(logits[slot].argmax()))
                if len(texts[i]) == end:
                    del busy[slot]
    return texts, steps


class Written(NamedTuple):
    """tokens: what was written.  rounds: passes of the target.  accepted: drafts kept, of `drafted`."""

    tokens: list[int]
    rounds: int
    accepted: int
    drafted: int


def cut(state: dict, length: int) -> dict:
    """The state of a GPT as it was after `length` tokens: later keys and values are forgotten."""
    past = [(K[:, :, :length], V[:, :, :length]) for K, V in state["past"]]
    return {"tokens": state["tokens"][:, :length], "past": past}


def speculate(
    target: GPT, draft: LanguageModel, prompt: Tensor, length: int, gamma: int,
    temperature: float = 1.0, generator: torch.Generator | None = None,
) -> Written:  # fmt: skip
    """`length` tokens behind the prompt, distributed as `decode.sample(target, ...)` would draw them.

    target: in whose window prompt and text fit.  draft: any language model with the same vocabulary.
    prompt: ids (1, P), P >= 2.  Raises ValueError for another prompt, a length or gamma below 1, a window too small.
    """
    if prompt.dim() != 2 or prompt.shape[0] != 1 or prompt.shape[1] < 2:
        raise ValueError(f"speculate: prompt is {tuple(prompt.shape)}; give one row of two or more ids, (1, P).")
    if length < 1 or gamma < 1:
        raise ValueError(f"speculate: length {length} and gamma {gamma} must be 1 or more.")
    if prompt.shape[1] + length > target.window:
        raise ValueError(f"speculate: {prompt.shape[1]} + {length} tokens exceed the target's window, {target.window}.")
    text, rounds, accepted, drafted = prompt[0].tolist(), 0, 0, 0
    end = len(text) + length
    with evaluating(target), evaluating(draft):
        # Both have read all of the text but its last token.
        _, seen = target.run(prompt[:, :-1], target.start(1))
        _, state = draft.run(prompt[:, :-1], draft.start(1))
        while len(text) < end:
            tokens, states, q = [text[-1]], [], []
            for _ in range(min(gamma, end - len(text) - 1)):
                logits, state = draft.step(torch.tensor(tokens[-1:]), state)
                states.append(state)
                q.append(distribution(logits[0], temperature))
                tokens.append(int(torch.multinomial(q[-1], 1, generator=generator)))
            logits, seen = target.run(torch.tensor([tokens]), seen)
            p = distribution(logits[0], temperature)
            new = check(p, torch.stack(q) if q else p[:0], torch.tensor(tokens[1:], dtype=torch.int64), generator)
            rounds, accepted, drafted = rounds + 1, accepted + len(new) - 1, drafted + len(q)
            text += new
            seen = cut(seen, len(text) - 1)
            if len(new) <= len(states):
                state = states[len(new) - 1]
            elif states or len(text) < end:  # all drafts were kept: the last has not been read yet
                _, state = draft.step(torch.tensor(tokens[-1:]), state)
    return Written(text[prompt.shape[1] :], rounds, accepted, drafted)


def tokens_a_round(beta: float, gamma: int) -> float:
    """(1 - beta^(gamma + 1)) / (1 - beta), each draft accepted with chance beta  (Leviathan et al. 2023, eq. 1).

    Raises ValueError unless 0 <= beta <= 1 and gamma >= 0.
    """
    if not 0 <= beta <= 1 or gamma < 0:
        raise ValueError(f"tokens_a_round: beta {beta} must lie in 0..1 and gamma {gamma} be 0 or more.")
    return sum(beta**i for i in range(gamma + 1))


def distillation_loss(student: Tensor, teacher: Tensor, temperature: float = 1.0) -> Tensor:
    """Mean over positions of tau^2 KL(p || q), p = softmax(teacher / tau), q = softmax(student / tau), in nats.

    student, teacher: logits (..., vocab).  tau^2 keeps the gradient's size  (Hinton et al. 2015, section 2).
    """
    p, q = ((logits / temperature).log_softmax(-1).flatten(0, -2) for logits in (teacher, student))
    return temperature**2 * F.kl_div(q, p, reduction="batchmean", log_target=True)


def followed(teacher: nn.Module, student: nn.Module, tokens: Tensor) -> Tensor:
    """`distillation_loss` of a student at every place of tokens (B, T); the teacher is not trained."""
    with torch.no_grad():
        wanted = teacher(tokens)
    return distillation_loss(student(tokens), wanted)
