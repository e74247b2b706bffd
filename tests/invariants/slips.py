"""A slip: one wrong line in the book's own code, for as long as a test wants it; and the checks that find slips.

    Fault(name, function, right, wrong, check)

In the source of `function` the text `right` becomes `wrong`; while `slipped(fault)` lasts, everyone who calls the
function gets the slip. check() takes no arguments and runs one of `checks` on a small model, built afresh.
"""

import contextlib
import inspect
import textwrap
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import numpy as np
import torch
from torch import nn

from lmbook import metrics
from lmbook.attention import MultiHeadAttention
from lmbook.cells import GRUCell, LSTMCell, RNNCell
from lmbook.data import batching
from lmbook.lab.train import fit
from lmbook.layers import LayerNorm

from . import checks, test_models
from .models import ALLOWED, CASES, STREAM, VOCAB, ngrams, nll


class Fault(NamedTuple):
    name: str
    function: Callable
    right: str
    wrong: str
    check: Callable[[], None]


@contextlib.contextmanager
def slipped(fault: Fault) -> Iterator[None]:
    """The function with the slip. Raises ValueError where its source no longer holds the text that is to change."""
    function = inspect.unwrap(fault.function)
    source = textwrap.dedent(inspect.getsource(function))
    if fault.right not in source:
        raise ValueError(f"{fault.name}: {function.__qualname__} does not say {fault.right!r} any more; write it anew.")
    made: dict = {}
    exec(compile(source.replace(fault.right, fault.wrong), "<slip>", "exec"), function.__globals__, made)
    code, function.__code__ = function.__code__, inspect.unwrap(made[function.__name__]).__code__
    try:
        yield
    finally:
        function.__code__ = code


# The checks, each on one model


def on(check: Callable, name: str) -> Callable[[], None]:
    """A check of a model and its inputs."""
    return lambda: check(CASES[name].lively(), CASES[name].batch()[0])


causal, stepped, rows_apart, ordered = (
    partial(on, check) for check in (checks.causality, checks.step_by_step, checks.rows_apart, checks.order_seen)
)


def padded(name: str) -> Callable[[], None]:
    return lambda: test_models.test_padding(name)


def final(name: str) -> Callable[[], None]:
    return lambda: test_models.test_final_state(name)


def evaluated(name: str) -> Callable[[], None]:
    return lambda: test_models.test_token_weighted(name)


def repeated(name: str) -> Callable[[], None]:
    return lambda: test_models.test_repeatable(name)


def written(name: str, how: str = "sample") -> Callable[[], None]:
    return lambda: test_models.test_mode_restored(name, how)


def exhaustive(name: str) -> Callable[[], None]:
    return lambda: test_models.test_beam_is_exhaustive(name)


def summed(name: str) -> Callable[[], None]:
    return lambda: checks.sums_to_one(ngrams()[name](), STREAM, ALLOWED)


def empty(name: str) -> Callable[[], None]:
    return lambda: test_models.test_empty_row(name)


def learned(name: str) -> Callable[[], None]:
    return lambda: test_models.test_overfit(name)


def shifted() -> None:
    checks.shifted_once(batching.stream_batches, batching.batches)


def heads(causal: bool = False) -> None:
    checks.multi_head(MultiHeadAttention(8, 2), causal)


def norm() -> None:
    checks.layer_norm(LayerNorm(6))


def gru() -> None:
    checks.cell(GRUCell(4, 5), "gru", "rzn")


def lstm() -> None:
    checks.cell(LSTMCell(4, 5), "lstm", "ifgo")


def rnn() -> None:
    checks.cell(RNNCell(4, 5), "rnn", "h")


def uniform() -> None:
    checks.uniform(metrics.perplexity(metrics.nll(-np.log(np.full(9, 7.0)))), 7)


def seeded() -> None:
    """The order of the batches is all that depends on the seed."""
    pairs = [([5 + i % 5], [5 + i % 6, 5 + i % 4]) for i in range(24)]

    def losses(seed: int, steps: int) -> list[float]:
        model = CASES["seq2seq, first"].build()
        drawn = list(batching.batches(pairs, 1, seed))
        optimiser = torch.optim.SGD(model.parameters(), lr=0.1)
        log = fit(model, lambda epoch: [(b[:2], b[2]) for b in drawn], nll, optimiser, steps=steps, progress=False)
        return [record["loss"] for record in log]

    checks.same_losses(losses)


def comes_back() -> None:
    with TemporaryDirectory() as folder:
        test_models.test_saved("gru", Path(folder))


class Scaled(nn.Module):
    """A model with a buffer: logits = scale (E w)."""

    def __init__(self):
        super().__init__()
        self.E = nn.Embedding(VOCAB, VOCAB)
        self.remember(torch.ones(VOCAB))

    def remember(self, scale):
        self.register_buffer("scale", scale, persistent=True)

    def forward(self, tokens):
        return self.scale * self.E(tokens)


def buffer_comes_back() -> None:
    def build(seed: int) -> nn.Module:
        torch.manual_seed(seed)
        return Scaled()

    with TemporaryDirectory() as folder:
        checks.saved(build, (torch.tensor([[5, 6]]),), Path(folder) / "model.safetensors")
