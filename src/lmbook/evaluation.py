"""The loss of a model on batches: sums over tokens first, one division at the end.

    loss(model, batch) -> L, n       L = -sum over the n tokens of ln P(token), in nats
    mean NLL = (sum of L) / (sum of n)        perplexity = exp(mean NLL)

A mean over tokens is thus never a mean of means, whatever the size of the batches, the padding in them, and the number
of processes that share them.
"""

import contextlib
import math
from collections.abc import Callable, Iterable, Iterator

import torch
from torch import Tensor, nn

import lmbook
from lmbook import distributed, resume
from lmbook.decode import evaluating


@contextlib.contextmanager
def reproducibly(model: nn.Module) -> Iterator[None]:
    """The model without dropout and gradients, and random numbers from seed 0; afterwards both are as they were."""
    randomness = resume.random_state()
    lmbook.seed(0)
    try:
        with evaluating(model):
            yield
    finally:
        resume.set_random_state(randomness)


def device_of(model: nn.Module) -> torch.device:
    """Where the model's weights are."""
    return next((p.device for p in model.parameters()), torch.device("cpu"))


def sums(model, batch, loss, states: list, carry: bool, bf16: bool, backward: bool) -> tuple[float, int]:
    """L and n of this process's rows of a batch, computed in len(states) parts, each with its own state."""
    (rank, world), device = distributed.here(), device_of(model)
    nlls, counts = [], []
    for j in range(len(states)):
        part = distributed.cut(batch, rank * len(states) + j, world * len(states))
        if world * len(states) > 1 and distributed.rows(part) == 0:
            continue
        part = resume.each(lambda tensor: tensor.to(device, non_blocking=True), part)
        with torch.autocast(device.type, torch.bfloat16, enabled=bf16 and device.type == "cuda"):
            if carry:
                nll, n, state = loss(model, part, states[j])
                states[j] = resume.each(Tensor.detach, state)
            else:
                nll, n = loss(model, part)
        if nll.ndim:
            raise ValueError(f"loss gave a tensor of shape {tuple(nll.shape)}; it must give the sum, and the tokens.")
        if backward:
            nll.backward()
        nlls.append(nll.detach())
        counts.append(n)
    return math.fsum(map(float, nlls)), sum(map(int, counts))


def evaluate(model: nn.Module, batches: Iterable, loss: Callable, carry: bool = False, bf16: bool = False) -> float:
    """Mean NLL in nats a token over all batches, weighted by token; exp of it is the perplexity.

    loss, carry, bf16: as for `Training`. Raises ValueError where there is no token.
    """
    nll, tokens, states = 0.0, 0, [None]
    with reproducibly(model):
        for batch in batches:
            more, n = sums(model, batch, loss, states, carry, bf16, backward=False)
            nll, tokens = nll + more, tokens + n
    nll, tokens = distributed.total(nll, tokens)
    if not tokens:
        raise ValueError("the batches hold no token to evaluate; check the data.")
    return nll / tokens
