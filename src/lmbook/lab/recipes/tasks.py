"""The two kinds of task that most experiments have: their batches, their losses, and what a trained model says.

    language model   next_token_nll   over windows or padded texts: inputs w_1 .. w_T-1, targets w_2 .. w_T
                     stream_nll       the same over a running text, the state carried from window to window
    labels           label_nll        a label for each token, (B, T), or one for each row, (B,)

Each loss is as `train.fit` wants it: the summed NLL in nats and the number of targets.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence

import numpy as np
import torch
from torch import Tensor, nn

from lmbook import data
from lmbook.lab.run import Run
from lmbook.lab.train import device_of
from lmbook.losses import token_nll
from lmbook.networks import evaluating
from lmbook.text import PAD_ID

NO_LABEL = -100  # stands beside padding
Pair = tuple[Tensor, Tensor]  # inputs (B, T), and targets or labels


def next_token_nll(model: nn.Module, batch: Pair, never: Sequence[int] = ()) -> tuple[Tensor, Tensor]:
    """-sum ln P(target | inputs up to it) and the number of targets; <pad> is none.  never: ids without probability."""
    inputs, targets = batch
    return token_nll(_without(never, model(inputs)), targets)


def stream_nll(model: nn.Module, batch: Pair, state, never: Sequence[int] = ()) -> tuple[Tensor, Tensor, object]:
    """`next_token_nll` of a model with a state (None at the start of the stream), and the state after the window."""
    inputs, targets = batch
    logits, state = model.run(inputs, model.start(len(inputs)) if state is None else state)
    return *token_nll(_without(never, logits), targets), state


def _without(never: Sequence[int], logits: Tensor) -> Tensor:
    if never:
        logits[..., list(never)] = -torch.inf
    return logits


def label_nll(model: nn.Module, batch: Pair) -> tuple[Tensor, Tensor]:
    """-sum ln P(label | inputs) and the number of labels; NO_LABEL is none."""
    inputs, labels = batch
    return token_nll(model(inputs), labels, ignore=NO_LABEL)


def texts(rows: Sequence[Sequence[int]], size: int, seed=None) -> Iterator[Pair]:
    """Texts of like length together: inputs <sos> w_1 .. w_n and targets w_1 .. w_n <eos>, (B, T), padded."""
    for batch in data.batches([((), row) for row in rows], size, seed):
        yield batch.inputs, batch.targets


def shifted_stream(ids: Sequence[int], B: int, T: int, seed: list[int]) -> Iterator[Pair]:
    """`data.stream_batches` from a random place of the first window on, so that no epoch cuts the text as another."""
    return data.stream_batches(ids[int(np.random.default_rng(seed).integers(min(T, len(ids) // 4))) :], B, T)


def labelled(ids: Sequence[Sequence[int]], labels: Sequence, size: int, seed=None) -> Iterator[Pair]:
    """Batches of `size` rows of like length: ids (B, T), and their labels: (B,), or (B, T) where each token has one."""
    for batch in data.batches([(row, ()) for row in ids], size, seed):
        own = [labels[i] for i in batch.rows.tolist()]
        yield batch.source, torch.as_tensor(own) if np.ndim(own[0]) == 0 else data.pad(own, NO_LABEL)


def random_lengths(
    task: Callable, least: int, longest: int, steps: int, seed: int, rows: int = 32
) -> Callable[[int], Iterator[Pair]]:
    """A function of the epoch: `steps` batches task(generator, rows, N), each of one length N from least to longest."""

    def batches(epoch: int) -> Iterator[Pair]:
        generator = torch.Generator().manual_seed(1000 * seed + epoch)
        for _ in range(steps):
            N = int(torch.randint(least, longest + 1, (1,), generator=generator))
            yield task(generator, rows, N)

    return batches


def log_probs(model: nn.Module, inputs: Tensor) -> Tensor:
    """ln P of every type at every place, (B, T, vocab), on the CPU."""
    return torch.log_softmax(model(inputs.to(device_of(model))).float(), -1).cpu()


def nll_by_place(model: nn.Module, batches: Iterable[Pair]) -> list[float]:
    """Mean NLL of the first target of a row, of the second, ..."""
    sums: dict[int, Tensor] = {}  # by place: the summed NLL and the number of targets
    with evaluating(model):
        for inputs, targets in batches:
            nll = -log_probs(model, inputs).double().gather(2, targets.unsqueeze(2)).squeeze(2)  # (B, T)
            real = targets != PAD_ID
            for t, found in enumerate(torch.stack([nll.where(real, 0.0).sum(0), real.sum(0)], 1)):
                sums[t] = sums.get(t, 0) + found
    return [float(nll / n) for nll, n in sums.values()]


def outputs(model: nn.Module, ids: Sequence[Sequence[int]]) -> list[Tensor]:
    """The logits of each row, (its length, K) or (K,), in the order of the rows."""
    found: list[Tensor] = [torch.empty(0)] * len(ids)
    with evaluating(model):
        for batch in data.batches([(row, ()) for row in ids], 64):
            logits = model(batch.source.to(device_of(model))).cpu()
            for i, row in zip(batch.rows.tolist(), logits, strict=True):
                found[i] = row[: len(ids[i])] if row.ndim == 2 else row
    return found


def confusion(gold: Sequence[int], found: Sequence[int], n: int) -> np.ndarray:
    """How often label i was taken for label j, (n, n)."""
    counts = np.zeros((n, n), dtype=int)
    np.add.at(counts, (np.asarray(gold), np.asarray(found)), 1)
    return counts


def fit_labels(
    run: Run, model: nn.Module, ids: dict, labels: dict, optimizer, epochs: int, warmup: int | None = None,
    loss: Callable = label_nll, validations: int | None = None, **options,
) -> None:  # fmt: skip
    """Trains on the part "train" in batches of 32 rows; options: as for Run.fit.

    ids, labels: parts of a corpus; validated on "valid", where there is one, so many times, by default once an epoch.
    warmup: by default a tenth of the steps.
    """
    total = epochs * -(-len(ids["train"]) // 32)
    if validations:
        options["evaluate_every"] = max(1, total // validations)
    run.fit_cosine(
        model,
        lambda epoch: labelled(ids["train"], labels["train"], 32, [run.seed, epoch]),
        loss,
        optimizer,
        warmup=max(1, total // 10) if warmup is None else min(warmup, total - 1),
        total=total,
        valid=(lambda: labelled(ids["valid"], labels["valid"], 64)) if "valid" in ids else None,
        valid_loss=label_nll,
        epochs=epochs,
        **options,
    )


def by_part(cut: Callable, rows: dict[str, list], *how) -> tuple[dict, dict]:
    """What `fit_labels` takes: ids and labels by part, from cut(rows, *how) -> (ids, labels)."""
    found = {part: cut(some, *how) for part, some in rows.items()}
    return {part: ids for part, (ids, _) in found.items()}, {part: labels for part, (_, labels) in found.items()}


def adam(model: nn.Module, rate: float) -> torch.optim.Adam:
    """Adam with its usual settings, as `Run.tune` asks for an optimizer."""
    return torch.optim.Adam(model.parameters(), lr=rate)


def wider(model: nn.Module, factor: float = 4.0) -> nn.Module:
    """The model with its matrices multiplied: GPT-2's deviation of 0.02 suits widths near 1,000.

    At 64 the scores of attention would start so close to 0 that for long all places weigh the same.
    """
    with torch.no_grad():
        for weight in model.parameters():
            if weight.dim() > 1:
                weight.mul_(factor)
    return model
