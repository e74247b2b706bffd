"""What surrounds a training loop: epochs, an end, a log, validations, files to go on from, Ctrl-C, a bar.

`train.fit` is the loop itself.  Nothing here changes a number of a step.
"""

import contextlib
import math
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

import torch
from torch import nn
from tqdm import tqdm  # the plain bar: tqdm.auto would leave a widget in the notebook

import lmbook
from lmbook.lab.distributed import all_reduce_sum, broadcast, rows
from lmbook.lab.resume import Progress, Snapshots, random_state, set_random_state
from lmbook.networks import evaluating


class TrainingError(RuntimeError):
    """A training cannot go on; the message says where it stopped and what to do."""


class Loop:
    """A training from its first step, or from where it was stopped, to its end.

    steps, epochs: where to stop; at least one of them.  patience: stop as soon as this many validations in a row are
        not below the lowest one before them; the model then gets the weights of the lowest (of equal ones the first).
    folder: for checkpoint.pt, written every `save_every` steps and at the end, and for log.jsonl.  resume: go on from
        the checkpoint there; begin where there is none.  generators: the caller's own random generators, which the
        checkpoint is to keep.  settings: what must be the same when it is resumed.
    progress: a bar, by default only on a terminal.

    Ctrl-C ends the step, saves, and raises KeyboardInterrupt. Raises ValueError for arguments that cannot be,
    TrainingError where memory runs out, CheckpointError for a checkpoint that does not fit.
    """

    def __init__(
        self, model: nn.Module, optimizer: torch.optim.Optimizer, schedule: Callable[[int], float], *,
        steps: int | None = None, epochs: int | None = None, patience: int | None = None,
        folder: str | Path | None = None, save_every: int = 1000, resume: bool = False, generators: Sequence = (),
        progress: bool | None = None, settings: dict | None = None,
    ):  # fmt: skip
        if steps is None and epochs is None:
            raise ValueError("the training would never end; give steps, epochs or both.")
        at_least_one(steps=steps, epochs=epochs, save_every=save_every, patience=patience)
        self.steps, self.epochs, self.patience = steps or math.inf, epochs or math.inf, patience
        self.model, self.save_every = model, save_every
        self.bare = getattr(model, "_orig_mod", model)  # without torch.compile's wrapper: weights have their own names
        self.at = Progress()
        self.snapshots = Snapshots(folder, self.bare, optimizer, generators, settings or {})
        self.snapshots.load(self.at, resume, schedule)
        hidden = None if progress is None else not progress  # None: on a terminal
        hidden = True if self.snapshots.rank else hidden
        self.bar = tqdm(total=steps, initial=self.at.step, unit="step", disable=hidden)
        self.begun = time.perf_counter() - self.at.seconds
        self.before, self.tokens = self.at.seconds, 0.0

    @property
    def step(self) -> int:
        """Steps that were taken so far."""
        return self.at.step

    @property
    def log(self) -> list[dict]:
        return self.at.log

    @contextlib.contextmanager
    def running(self) -> Iterator["Loop"]:
        """Around all steps."""
        with self.snapshots.guard(self.at) as self.pressed, _memory_explained(self.at, self.snapshots), self.bar:
            yield self
            self.snapshots.save(self.at)
            self.interrupt_if_asked()
        if self.at.best:
            self.bare.load_state_dict(self.at.best)

    def finished(self) -> bool:
        at = self.at
        return at.step >= self.steps or at.epoch >= self.epochs or at.waited >= (self.patience or math.inf)

    def epoch(self, batches: Callable[[int], Iterable]) -> Iterator:
        """The batches of this epoch that are still to come; after each, what has to be done between two steps."""
        at = self.at
        for batch in self.snapshots.rest(batches(at.epoch), at):
            at.batch = batch
            yield batch
            if at.step % self.save_every == 0:
                self.snapshots.save(at)
            self.interrupt_if_asked()
            if self.finished():
                return
        if not at.taken:
            raise ValueError(f"batches({at.epoch}) gave no batch; check the data and the size of a batch.")
        at.epoch, at.taken, at.state = at.epoch + 1, 0, None

    def stepped(self, state: object, **values: float) -> None:
        """Enters a step into the log.  state: of a stateful model, for the next batch."""
        at = self.at
        at.step, at.taken, at.state = at.step + 1, at.taken + 1, state
        self._enter(epoch=at.epoch, **values)
        self.tokens += values["tokens"]
        speed = self.tokens / (at.seconds - self.before)
        self.bar.set_postfix_str(f"loss {values['loss']:.3f}, {speed:,.0f} tokens/s", refresh=False)
        self.bar.update()

    def validate(self, validate: Callable[[nn.Module], float] | None) -> None:
        """Enters a validation into the log, unless the last entry is one."""
        at = self.at
        if validate is None or (at.log and "validation" in at.log[-1]):
            return
        at.validating = True
        with fixed_seed(self.model):
            mean = broadcast(float(validate(self.model)))
        at.validating = False
        if not math.isfinite(mean):
            raise TrainingError(f"The validation is {mean} after step {at.step}. {self.snapshots.last_good()}")
        self._enter(validation=mean)
        at.waited += 1
        if mean < at.lowest:
            at.lowest, at.waited = mean, 0
            if self.patience:
                at.best = {name: weight.detach().cpu().clone() for name, weight in self.bare.state_dict().items()}

    def check(self, nll: float, n: float, norm: float) -> None:
        """Raises TrainingError where loss or gradient is NaN or infinite, ValueError where there is no token."""
        if n and math.isfinite(nll) and math.isfinite(norm):
            return
        if not n:
            raise ValueError(f"the batch {self.at.where()} holds no token to predict; drop such batches.")
        what = f"loss is {nll / n}" if not math.isfinite(nll) else f"norm of the gradient is {norm}"
        raise TrainingError(
            f"The {what} {self.at.where()}. {self.snapshots.last_good()} Lower the learning rate, lengthen the warm-up "
            "or clip the gradient; where it is the first step, look for a division by zero or a logarithm of zero."
        )

    def interrupt_if_asked(self) -> None:
        """Ctrl-C in any of the processes stops them all, between two steps."""
        if all_reduce_sum(len(self.pressed))[0]:
            self.snapshots.interrupt(self.at)

    def _enter(self, **values: float) -> None:
        self.at.seconds = time.perf_counter() - self.begun
        self.at.log.append({"step": self.at.step} | values | {"seconds": round(self.at.seconds, 3)})


def at_least_one(**counts: int | None) -> None:
    """Raises ValueError for a count below 1."""
    for name, value in counts.items():
        if value is not None and value < 1:
            raise ValueError(f"{name} is {value}; it must be at least 1.")


@contextlib.contextmanager
def fixed_seed(model: nn.Module) -> Iterator[None]:
    """The model without dropout and gradients, and random numbers from seed 0; afterwards both are as they were."""
    randomness = random_state()
    lmbook.seed(0)
    try:
        with evaluating(model):
            yield
    finally:
        set_random_state(randomness)


@contextlib.contextmanager
def _memory_explained(at: Progress, snapshots: Snapshots) -> Iterator[None]:
    """Says where memory ran out and what to try."""
    try:
        yield
    except (RuntimeError, MemoryError) as error:
        lacking = ("can't allocate memory", "not enough memory", "out of memory")
        if not isinstance(error, torch.OutOfMemoryError | MemoryError) and not any(s in str(error) for s in lacking):
            raise
        what = f"{at.where()}. Give smaller batches."
        if at.validating:
            what = f"in the validation after step {at.step}. Give validate smaller batches."
        elif at.batch is not None:
            B = rows(at.batch)
            what = f"{at.where()}, with a batch of {B} rows. Try {max(1, B // 2)} rows."
        raise TrainingError(f"Out of memory {what} {snapshots.last_good()}") from error
