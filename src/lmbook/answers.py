"""Answers: what a model is asked is given, what it says is sampled, and only what it says is learned from.

    ln P(y | x) = sum_t ln P(y_t | x, y_<t)       x: the prompt, y: the answer with its end
    L = -sum over a batch of ln P(y | x)          supervised tuning: the loss on the answer alone

A batch is a pair of tensors (B, T): tokens, prompt and answer and padding, and said, boolean, True where a token of the
answer stands. P prompt length, A answer length, vocab types.
"""

from collections.abc import Sequence

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from lmbook.networks import evaluating
from lmbook.protocol import LanguageModel
from lmbook.text import EOS_ID, PAD_ID

Turns = tuple[Tensor, Tensor]


def turns(pairs: Sequence[tuple[Sequence[int], Sequence[int]]]) -> Turns:
    """Tokens (B, T) and said (B, T) of pairs (prompt ids, answer ids), padded on the right.

    Raises ValueError for an empty prompt: the first token of an answer needs something to be predicted from.
    """
    if any(len(prompt) == 0 for prompt, _ in pairs):
        raise ValueError("a prompt is empty; begin it with a token such as <sos>.")
    T = max((len(prompt) + len(answer) for prompt, answer in pairs), default=0)
    tokens = torch.full((len(pairs), T), PAD_ID, dtype=torch.int64)
    said = torch.zeros(len(pairs), T, dtype=torch.bool)
    for row, (prompt, answer) in enumerate(pairs):
        P, end = len(prompt), len(prompt) + len(answer)
        tokens[row, :end] = torch.tensor([*prompt, *answer])
        said[row, P:end] = True
    return tokens, said


def log_probs(model: nn.Module, batch: Turns) -> Tensor:
    """ln P(y_t | x, y_<t) of every token of the answers, (B, T - 1), and 0 elsewhere: of tokens 2 to T."""
    tokens, said = batch
    log_p = torch.log_softmax(model(tokens[:, :-1]), dim=-1)
    return log_p.gather(2, tokens[:, 1:, None]).squeeze(2) * said[:, 1:]


def answer_nll(model: nn.Module, batch: Turns) -> tuple[Tensor, Tensor]:
    """-sum ln P(y | x) over a batch, and the number of tokens in its answers."""
    return -log_probs(model, batch).sum(), batch[1][:, 1:].sum()


def exact(model: nn.Module, batch: Turns) -> Tensor:
    """Boolean (B,): whether the likeliest answer is the one given, token by token.

    Greedy writing gives y exactly if each y_t is the likeliest after x and y_<t, so one pass tells.
    """
    tokens, said = batch
    with evaluating(model):
        logits = model(tokens[:, :-1])
    logits[..., PAD_ID] = -torch.inf  # as in `say`
    likeliest = logits.argmax(-1)
    return ((likeliest == tokens[:, 1:]) | ~said[:, 1:]).all(1)


def say(
    model: LanguageModel,
    prompts: Tensor,
    most: int,
    temperature: float = 1.0,
    end: int = EOS_ID,
    generator: torch.Generator | None = None,
) -> Turns:
    """Answers of at most `most` tokens, sampled: tokens (B, P + A) and said; after the end there is padding.

    prompts: ids (B, P), all of one length.  temperature: 0 takes the likeliest.  <pad> is never said.
    """
    if temperature < 0 or most < 1:
        raise ValueError(f"temperature {temperature} must be 0 or more, most {most} at least 1.")
    written, going = [], torch.ones(len(prompts), dtype=torch.bool, device=prompts.device)
    said = []
    with evaluating(model):
        state = model.start(len(prompts))
        for token in prompts[:, :-1].T:
            _, state = model.step(token, state)
        token = prompts[:, -1]
        for _ in range(most):
            logits, state = model.step(token, state)
            logits[:, PAD_ID] = -torch.inf
            if temperature == 0:
                drawn = logits.argmax(1)
            else:
                drawn = torch.multinomial(F.softmax(logits / temperature, 1), 1, generator=generator).squeeze(1)
            written.append(torch.where(going, drawn, PAD_ID))
            said.append(going)
            going = going & (drawn != end)
            token = drawn
            if not going.any():
                break
    ones = torch.zeros_like(prompts, dtype=torch.bool)
    return torch.cat([prompts, torch.stack(written, 1)], 1), torch.cat([ones, torch.stack(said, 1)], 1)
