"""Batches: rows of unequal length padded into one tensor, and streams cut into windows.

This is the only place of the book where targets are shifted against inputs. Everything is a tensor, batch first, int64:
B rows of a batch, N source length, T target length.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from lmbook.text import EOS_ID, PAD_ID, SOS_ID


class Batch(NamedTuple):
    """source (B, N);  inputs = <sos> y_1 .. y_T-1;  targets = y_1 .. y_T-1 <eos>;  (B, T);  rows (B,): which pairs."""

    source: Tensor
    inputs: Tensor
    targets: Tensor
    rows: Tensor


def pad(rows: Sequence[Sequence[int]], value: int = PAD_ID) -> Tensor:
    """Rows of ids as one tensor (B, longest row), short rows filled up on the right."""
    padded = np.full((len(rows), max(map(len, rows), default=0)), value, dtype=np.int64)
    for i, row in enumerate(rows):
        padded[i, : len(row)] = row
    return torch.from_numpy(padded)


def batches(
    pairs: Sequence[tuple[Sequence[int], Sequence[int]]], size: int, seed: int | None = None, tokens: bool = False
) -> Iterator[Batch]:
    """Batches of pairs (source ids, target ids, both without special tokens), rows of like length together.

    size: rows in a batch, or with tokens=True padded tokens in the larger of its two tensors (a single longer pair is a
    batch of its own).  seed: shuffles rows of equal length and the order of the batches; None keeps them by length.
    Every pair comes exactly once. Raises ValueError for a size below 1.
    """
    if size < 1:
        raise ValueError(f"size is {size}; a batch needs at least one row.")
    order = np.arange(len(pairs))
    rng = None if seed is None else np.random.default_rng(seed)
    if rng is not None:
        rng.shuffle(order)
    lengths = np.array([(len(target) + 1, len(source)) for source, target in pairs]).reshape(-1, 2)
    order = order[np.lexsort((lengths[order, 1], lengths[order, 0]))]
    groups: list[list[int]] = []
    longest = 0
    for i in order.tolist():
        longest_with = max(longest, *lengths[i].tolist())
        full = groups and (len(groups[-1]) + 1) * (longest_with if tokens else 1) > size
        if not groups or full:
            groups.append([])
            longest_with = int(lengths[i].max())
        groups[-1].append(i)
        longest = longest_with
    if rng is not None:
        rng.shuffle(groups)
    for group in groups:
        yield Batch(
            source=pad([pairs[i][0] for i in group]),
            inputs=pad([[SOS_ID, *pairs[i][1]] for i in group]),
            targets=pad([[*pairs[i][1], EOS_ID] for i in group]),
            rows=torch.tensor(group),
        )


def _at_least_one(B: int, T: int, stride: int = 1) -> None:
    for name, number in {"B": B, "T": T, "stride": stride}.items():
        if number < 1:
            raise ValueError(f"{name} is {number}; it must be at least 1.")


def stream_batches(ids: Sequence[int] | np.ndarray | Tensor, B: int, T: int) -> Iterator[tuple[Tensor, Tensor]]:
    """Windows of a running text for a language model: inputs w_t and targets w_t+1, both (B, T), the last one shorter.

    The text is cut into B streams of equal length; window after window continues each stream, so a state may be
    carried along. The first token is never a target (put <eos> before the text if it must be), nor are the up to B - 1
    last ones that do not fill a row. Raises ValueError where the text is too short for B streams.
    """
    ids = torch.as_tensor(ids, dtype=torch.long)
    _at_least_one(B, T)
    steps = (len(ids) - 1) // B
    if steps < 1:
        raise ValueError(f"a text of {len(ids)} tokens cannot make {B} streams; take fewer.")
    inputs, targets = ids[: B * steps].reshape(B, steps), ids[1 : B * steps + 1].reshape(B, steps)
    for start in range(0, steps, T):
        yield inputs[:, start : start + T], targets[:, start : start + T]


def windows(ids: Sequence[int], T: int, B: int = 64, stride: int | None = None) -> Iterator[tuple[Tensor, Tensor]]:
    """Windows of a running text for a model without a state: every token but the first is a target once, in order.

    stride: how far the next window starts, by default T, so that none overlap. Behind the first window a token comes
    after T - stride + 1 to T others. Inputs and targets (B, T); targets that an earlier window has predicted are <pad>.
    Raises ValueError for a text of fewer than two tokens, and for a stride beyond T, which would pass over targets.
    """
    stride = T if stride is None else stride
    _at_least_one(B, T, stride)
    if stride > T:
        raise ValueError(f"the stride is {stride}; beyond T = {T} it would pass over targets. Take at most {T}.")
    if len(ids) < 2:
        raise ValueError(f"a text of {len(ids)} tokens has no next token to predict; it needs at least two.")
    starts = range(0, max(1, len(ids) - 1 - T + stride), stride)
    for i in range(0, len(starts), B):
        rows = [ids[start : start + T + 1] for start in starts[i : i + B]]
        inputs, targets = pad([row[:-1] for row in rows]), pad([row[1:] for row in rows])
        targets[i == 0 :, : T - stride] = PAD_ID
        yield inputs, targets


def random_windows(ids: np.ndarray, T: int, B: int, seed: int | Sequence[int]) -> Iterator[tuple[Tensor, Tensor]]:
    """Windows of T in random order, from a random start below T; no token is a target twice in an epoch.

    Inputs and targets (B, T), the second a token later.  Raises ValueError for a text without a whole window.
    """
    _at_least_one(B, T)
    if len(ids) <= T:
        raise ValueError(f"a text of {len(ids)} tokens holds no window of T = {T} and its targets; take a smaller T.")
    rng = np.random.default_rng(seed)
    first = rng.integers(min(T, len(ids) - T))
    starts = first + T * rng.permutation((len(ids) - 1 - first) // T)
    for i in range(0, max(1, len(starts) - B + 1), B):
        rows = torch.as_tensor(ids[starts[i : i + B, None] + np.arange(T + 1)])
        yield rows[:, :-1], rows[:, 1:]
