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
from lmbook.lab.resume import RunState, Snapshots, random_state, set_random_state
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
        self.state = RunState()
        self.snapshots = Snapshots(folder, self.bare, optimizer, generators, settings or {})
        self.snapshots.load(self.state, resume, schedule)
        hidden = None if progress is None else not progress  # None: on a terminal
        hidden = True if self.snapshots.rank else hidden
        self.bar = tqdm(total=steps, initial=self.state.step, unit="step", disable=hidden)
        self.begun = time.perf_counter() - self.state.seconds
        self.before, self.tokens = self.state.seconds, 0.0

    @property
    def step(self) -> int:
        """Steps that were taken so far."""
        return self.state.step

    @property
    def log(self) -> list[dict]:
        return self.state.log

    @contextlib.contextmanager
    def running(self) -> Iterator["Loop"]:
        """Around all steps."""
        with self.snapshots.guard(self.state) as self.pressed, _memory_explained(self.state, self.snapshots), self.bar:
            yield self
            self.snapshots.save(self.state)
            self.interrupt_if_asked()
        if self.state.best:
            self.bare.load_state_dict(self.state.best)

    def finished(self) -> bool:
        state = self.state
        return state.step >= self.steps or state.epoch >= self.epochs or state.waited >= (self.patience or math.inf)

    def epoch(self, batches: Callable[[int], Iterable]) -> Iterator:
        """The batches of this epoch that are still to come; after each, what has to be done between two steps."""
        state = self.state
        for batch in self.snapshots.rest(batches(state.epoch), state):
            state.batch = batch
            yield batch
            if state.step % self.save_every == 0:
                self.snapshots.save(state)
            self.interrupt_if_asked()
            if self.finished():
                return
        if not state.taken:
            raise ValueError(f"batches({state.epoch}) gave no batch; check the data and the size of a batch.")
        state.epoch, state.taken, state.carried = state.epoch + 1, 0, None

    def stepped(self, carried: object, **values: float) -> None:
        """Enters a step into the log.  carried: the state of a stateful model, for the next batch."""
        state = self.state
        state.step, state.taken, state.carried = state.step + 1, state.taken + 1, carried
        self._enter(epoch=state.epoch, **values)
        self.tokens += values["tokens"]
        speed = self.tokens / (state.seconds - self.before)
        self.bar.set_postfix_str(f"loss {values['loss']:.3f}, {speed:,.0f} tokens/s", refresh=False)
        self.bar.update()

    def validate(self, validate: Callable[[nn.Module], float] | None) -> None:
        """Enters a validation into the log, unless the last entry is one."""
        state = self.state
        if validate is None or (state.log and "validation" in state.log[-1]):
            return
        state.validating = True
        with fixed_seed(self.model):
            mean = broadcast(float(validate(self.model)))
        state.validating = False
        if not math.isfinite(mean):
            raise TrainingError(f"The validation is {mean} after step {state.step}. {self.snapshots.last_good()}")
        self._enter(validation=mean)
        state.waited += 1
        if mean < state.lowest:
            state.lowest, state.waited = mean, 0
            if self.patience:
                state.best = {name: weight.detach().cpu().clone() for name, weight in self.bare.state_dict().items()}

    def check(self, nll: float, n: float, norm: float) -> None:
        """Raises TrainingError where loss or gradient is NaN or infinite, ValueError where there is no token."""
        if n and math.isfinite(nll) and math.isfinite(norm):
            return
        if not n:
            raise ValueError(f"the batch {self.state.where()} holds no token to predict; drop such batches.")
        what = f"loss is {nll / n}" if not math.isfinite(nll) else f"norm of the gradient is {norm}"
        raise TrainingError(
            f"The {what} {self.state.where()}. {self.snapshots.last_good()} Lower the learning rate, lengthen the "
            "warm-up or clip the gradient; where it is the first step, look for a division by zero or a logarithm of "
            "zero."
        )

    def interrupt_if_asked(self) -> None:
        """Ctrl-C in any of the processes stops them all, between two steps."""
        if all_reduce_sum(len(self.pressed))[0]:
            self.snapshots.interrupt(self.state)

    def _enter(self, **values: float) -> None:
        self.state.seconds = time.perf_counter() - self.begun
        self.state.log.append({"step": self.state.step} | values | {"seconds": round(self.state.seconds, 3)})


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
def _memory_explained(state: RunState, snapshots: Snapshots) -> Iterator[None]:
    """Says where memory ran out and what to try."""
    try:
        yield
    except (RuntimeError, MemoryError) as error:
        lacking = ("can't allocate memory", "not enough memory", "out of memory")
        if not isinstance(error, torch.OutOfMemoryError | MemoryError) and not any(s in str(error) for s in lacking):
            raise
        what = f"{state.where()}. Give smaller batches."
        if state.validating:
            what = f"in the validation after step {state.step}. Give validate smaller batches."
        elif state.batch is not None:
            B = rows(state.batch)
            what = f"{state.where()}, with a batch of {B} rows. Try {max(1, B // 2)} rows."
        raise TrainingError(f"Out of memory {what} {snapshots.last_good()}") from error
