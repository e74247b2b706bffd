"""Training: one loop for every model.

    loss(model, batch) -> L, n       L = -sum over the n tokens of ln P(token), in nats
    g = (sum of dL/dtheta over all parts of the batch) / (sum of their n)
    g = g min(1, clip / |g|)         theta = optimiser(theta, g)

Sums and counts are added up before the division, over the parts of a batch, over processes and over the batches of an
evaluation alike. A mean over tokens is thus never a mean of means.
"""

import contextlib
import json
import math
import signal
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import torch
from torch import nn
from tqdm import tqdm  # the plain bar: tqdm.auto would leave a widget in the notebook

from lmbook import __version__, distributed, resume, say
from lmbook.checkpoints import CheckpointError, differences, write
from lmbook.evaluation import device_of, reproducibly, sums
from lmbook.schedules import constant


class TrainingError(RuntimeError):
    """A training cannot go on; the message says where it stopped and what to do."""


@contextlib.contextmanager
def _ctrl_c_after_the_step() -> Iterator[list]:
    """Ctrl-C fills the list, so that no step is cut in two; a second Ctrl-C interrupts at once."""
    asked = []

    def note(*_):
        if asked:
            raise KeyboardInterrupt
        asked.append(True)

    if threading.current_thread() is not threading.main_thread():
        yield asked
        return
    before = signal.signal(signal.SIGINT, note)
    try:
        yield asked
    finally:
        signal.signal(signal.SIGINT, before or signal.default_int_handler)


def fit(
    model, batches, loss, optimiser, *, resume: bool = False, progress: bool | None = None, **options
) -> list[dict]:
    """Trains a model and returns the log; options as for `Training`, resume and progress as for its `run`."""
    return Training(model, batches, loss, optimiser, **options).run(resume, progress)


@dataclass(eq=False, repr=False)
class Training:
    """A model, its data, its loss and its optimiser. `run` trains the model where it is, on its own device.

    batches(epoch): the batches of epoch 0, 1, ...: tensors or arrays in tuples or dicts, all with B rows first. It must
        give the same ones whenever it is called with the same epoch.
    loss(model, batch): the summed NLL in nats and the number of tokens. With carry=True loss(model, batch, state),
        which also returns the next state (tensors, B rows first); it is detached, and None where an epoch starts.
    steps, epochs: where to stop; at least one of them.
    schedule(step), plateau(validation losses so far): factors of the optimiser's rate; see `schedules`.
    clip: the largest norm of the gradient.  accumulate: parts in which a batch is computed, for less memory; the step
        is the same.  bf16: autocast, on a GPU only.
    validate(model): lower is better, such as `evaluate`; called every `evaluate_every` steps (else every epoch) and at
        the end.  patience: stop after so many validations without a new best. With it the model has the best weights at
        the end, whatever ended the training.
    folder: for checkpoint.pt, written every `save_every` steps and at the end, and for log.jsonl.
    generators: random generators of the caller's own, to be kept in the checkpoint (see `snapshot.random_state`).

    Raises ValueError for arguments that cannot be.
    """

    model: nn.Module
    batches: Callable[[int], Iterable]
    loss: Callable
    optimiser: torch.optim.Optimizer
    steps: int | None = None
    epochs: int | None = None
    schedule: Callable[[int], float] = constant
    plateau: Callable[[Sequence[float]], float] | None = None
    clip: float | None = None
    accumulate: int = 1
    bf16: bool = False
    carry: bool = False
    validate: Callable[[nn.Module], float] | None = None
    evaluate_every: int | None = None
    patience: int | None = None
    folder: str | Path | None = None
    save_every: int = 1000
    generators: Sequence = ()
    log: list[dict] = field(default_factory=list, init=False)

    def __post_init__(self):
        if self.steps is None and self.epochs is None:
            raise ValueError("the training would never end; give steps, epochs or both.")
        for name in ("steps", "epochs", "accumulate", "evaluate_every", "patience", "save_every"):
            if (value := getattr(self, name)) is not None and value < 1:
                raise ValueError(f"{name} is {value}; it must be at least 1.")
        if (self.patience or self.plateau) and not self.validate:
            raise ValueError("patience and plateau need validate, a function of the model; give it, or leave them out.")
        self.path = None if self.folder is None else Path(self.folder) / "checkpoint.pt"
        self.step = self.epoch = self.taken = 0  # taken: batches of this epoch
        self.seconds, self.saved, self.best, self.randomness = 0.0, None, None, None
        self.last, self.fingerprint = (), 0  # the batch before, and what a checkpoint says of it
        self.states, self.validations = [None] * self.accumulate, []
        self.parameters = [p for group in self.optimiser.param_groups for p in group["params"]]
        for group in self.optimiser.param_groups:
            group.setdefault("initial_lr", group["lr"])

    def run(self, resume: bool = False, progress: bool | None = None) -> list[dict]:
        """Trains to the end, in training mode, and leaves the modes of the model as they were.

        resume: go on from the checkpoint in the folder; begin where there is none.  progress: a bar, by default only on
        a terminal.

        Returns the log, a dict for every step (step, epoch, loss, lr, norm: that of the gradient before it is clipped,
        tokens, seconds so far) and every validation (step, validation, seconds). Ctrl-C ends the step, saves, and
        raises KeyboardInterrupt. Raises TrainingError where the loss is NaN or infinite or memory runs out,
        CheckpointError for a checkpoint that does not fit.
        """
        if self.path and self.path.exists():
            if not resume:
                raise CheckpointError(f"{self.path} exists; resume the training (resume=True), or delete the file.")
            self.load()
        else:
            distributed.same_weights(self.model)
        modes = [(module, module.training) for module in self.model.modules()]
        self.model.train()
        hidden = True if distributed.here()[0] or progress is False else None if progress is None else False
        began, tokens, before = time.perf_counter(), 0, self.seconds
        try:
            with (
                _ctrl_c_after_the_step() as asked,
                tqdm(total=self.steps, initial=self.step, unit="step", disable=hidden) as bar,
            ):
                for batch, last in self.walk():
                    record = self.train_on(batch)
                    self.taken, self.epoch = (0, self.epoch + 1) if last else (self.taken + 1, self.epoch)
                    if last:
                        self.states = [None] * self.accumulate
                    self.last = batch if self.taken else ()
                    self.seconds = before + time.perf_counter() - began
                    self.log.append({**record, "seconds": round(self.seconds, 3)})
                    tokens += record["tokens"]
                    bar.set_postfix_str(
                        f"loss {record['loss']:.3f}, {tokens / (self.seconds - before):,.0f} tokens/s", refresh=False
                    )
                    bar.update()
                    due = last if self.evaluate_every is None else self.step % self.evaluate_every == 0
                    if self.validate and (due or self.finished()):
                        self.evaluate()
                        self.seconds = before + time.perf_counter() - began
                    if self.step % self.save_every == 0 or self.finished():
                        self.save()
                    if distributed.total(len(asked))[0]:
                        self.interrupt()
        finally:
            self.write_log()
            for module, training in modes:
                module.training = training
        if self.best:
            self.bare.load_state_dict(self.best)
        return self.log

    def walk(self) -> Iterator[tuple[object, bool]]:
        """Batch after batch from where the training stands, and whether it is the last of its epoch."""
        none = object()
        while not self.finished():
            rest = resume.skip(self.batches(self.epoch), self.taken, self.fingerprint, self.path)
            batch = next(rest, none)
            if batch is none:
                raise ValueError(f"batches({self.epoch}) gave no batch; check the data and the size of a batch.")
            if self.taken and self.randomness:  # making the batches may have drawn random numbers a second time
                resume.set_random_state(self.randomness, self.generators)
            self.randomness = None
            while batch is not none and not self.finished():
                following = next(rest, none)
                yield batch, following is none
                batch = following

    def train_on(self, batch) -> dict:
        """One step. Raises TrainingError before the weights are touched."""
        step, where = self.step + 1, f"at step {self.step + 1} (batch {self.taken} of epoch {self.epoch}, from 0)"
        self.optimiser.zero_grad()
        try:
            nll, tokens = sums(self.model, batch, self.loss, self.states, self.carry, self.bf16, backward=True)
        except (RuntimeError, MemoryError) as error:
            raise self.explained(error, where, batch) from error
        nll, tokens = distributed.total(nll, tokens)
        distributed.add_gradients(self.parameters)
        if not tokens:
            raise ValueError(f"the batch {where} holds no token to predict; drop such batches.")
        gradients = [p.grad for p in self.parameters if p.grad is not None]
        for gradient in gradients:
            gradient.div_(tokens)
        norm = nn.utils.get_total_norm(gradients)
        if not (math.isfinite(nll) and torch.isfinite(norm)):
            what = f"loss is {nll / tokens}" if not math.isfinite(nll) else f"norm of the gradient is {float(norm)}"
            raise TrainingError(
                f"The {what} {where}. {self.last_good()} Lower the learning rate, lengthen the warm-up or clip the "
                "gradient; where it is the first step, look for a division by zero or a logarithm of zero."
            )
        if self.clip is not None:
            nn.utils.clip_grads_with_norm_(self.parameters, self.clip, norm)
        for group in self.optimiser.param_groups:
            group["lr"] = group["initial_lr"] * self.factor(step, self.validations)
        try:
            self.optimiser.step()  # the first one takes memory for the optimiser's own state
        except (RuntimeError, MemoryError) as error:
            raise self.explained(error, where, batch) from error
        self.step = step
        rate = self.optimiser.param_groups[0]["lr"]
        return {
            "step": step, "epoch": self.epoch, "loss": nll / tokens, "lr": rate, "norm": float(norm),
            "tokens": int(tokens),
        }  # fmt: skip

    def factor(self, step: int, validations: Sequence[float]) -> float:
        """Of the optimiser's rate at a step, after these validations."""
        return self.schedule(step) * (self.plateau(validations) if self.plateau else 1)

    def explained(self, error: Exception, where: str, batch=None) -> Exception:
        """The error, or where memory ran out one that says what to try; batch: None in the validation."""
        lacking = ("can't allocate memory", "not enough memory", "out of memory")
        if not isinstance(error, torch.OutOfMemoryError | MemoryError) and not any(s in str(error) for s in lacking):
            return error
        self.optimiser.zero_grad()
        if batch is None:
            return TrainingError(f"Out of memory {where}. Give validate smaller batches. {self.last_good()}")
        B = distributed.rows(batch)
        return TrainingError(
            f"Out of memory {where}, with a batch of {B} rows. Try {max(1, B // 2)} rows, or accumulate="
            f"{2 * self.accumulate}, which computes the same step in smaller parts. {self.last_good()}"
        )

    def last_good(self) -> str:
        if self.saved is None:
            return "No checkpoint was written."
        return f"The last good checkpoint, of step {self.saved}, is {self.path}."

    def finished(self) -> bool:
        losses = self.validations
        waited = len(losses) - 1 - losses.index(min(losses)) if losses else 0
        return (
            self.step >= (self.steps or math.inf)
            or self.epoch >= (self.epochs or math.inf)
            or waited >= (self.patience or math.inf)
        )

    def evaluate(self) -> None:
        try:
            with reproducibly(self.model):
                loss = distributed.of_first(float(self.validate(self.model)))
        except (RuntimeError, MemoryError) as error:
            raise self.explained(error, f"in the validation after step {self.step}") from error
        if not math.isfinite(loss):
            raise TrainingError(f"The validation is {loss} after step {self.step}. {self.last_good()}")
        if self.patience and loss < min(self.validations, default=math.inf):
            self.best = {name: weight.detach().cpu().clone() for name, weight in self.bare.state_dict().items()}
        self.validations.append(loss)
        self.log.append({"step": self.step, "validation": loss, "seconds": round(self.seconds, 3)})

    def interrupt(self) -> None:
        self.save()
        line = f"stopped after step {self.step}; " + (
            f"saved in {self.path}: resume=True (lmbook train RECIPE --resume) goes on from there."
            if self.path
            else "nothing was saved, for want of a folder."
        )
        if distributed.here()[0] == 0:
            say(line)
        raise KeyboardInterrupt(line)

    @property
    def bare(self) -> nn.Module:
        """The model without the wrapper of torch.compile, so that its weights have their own names."""
        return getattr(self.model, "_orig_mod", self.model)

    def settings(self) -> dict[str, str]:
        """What must be the same for a training to go on in the same way."""
        settings = {"optimiser": type(self.optimiser).__name__, "processes": distributed.here()[1]}
        settings |= {name: getattr(self, name) for name in ("accumulate", "carry", "clip", "bf16")}
        for i, group in enumerate(self.optimiser.param_groups):
            settings |= {f"{name} of group {i}": group[name] for name in group if name not in ("params", "lr")}
        return {name: repr(value) for name, value in settings.items()}

    def write_log(self) -> None:
        if self.path and distributed.here()[0] == 0:
            lines = "".join(json.dumps(record) + "\n" for record in self.log)
            write(self.path.with_name("log.jsonl"), lines.encode())

    def save(self) -> None:
        """Writes the log, then the checkpoint, each whole or not at all."""
        processes = distributed.gather({"random": resume.random_state(self.generators), "states": self.states})
        if not self.path or self.saved == self.step:
            return
        self.write_log()
        if distributed.here()[0] == 0:
            resume.save(
                self.path,
                {
                    "lmbook": __version__, "torch": str(torch.__version__), "settings": self.settings(),
                    "weights": self.bare.state_dict(), "optimiser": self.optimiser.state_dict(), "best": self.best,
                    "step": self.step, "epoch": self.epoch, "taken": self.taken,
                    "fingerprint": resume.fingerprint(self.last),
                    "processes": processes, "seconds": self.seconds, "log": self.log,
                },
            )  # fmt: skip
            if self.saved is None:  # better to learn now than after a kill that it cannot be read
                resume.load(self.path, __version__)
        self.saved = self.step

    def load(self) -> None:
        """Puts everything where the checkpoint says it was. Raises CheckpointError where it does not fit."""
        found = resume.load(self.path, __version__)
        if fault := differences(found["weights"], self.bare.state_dict()):
            raise CheckpointError(
                f"{self.path} is of another model: {fault}. Resume with the model that it was written for."
            )
        resume.same_settings(self.path, found["settings"], self.settings())
        if found["torch"] != torch.__version__:
            say(f"{self.path} is from torch {found['torch']}; with {torch.__version__} numbers may differ a little.")
        self.bare.load_state_dict(found["weights"])
        self.optimiser.load_state_dict(found["optimiser"])
        self.best, self.log, self.seconds = found["best"], found["log"], found["seconds"]
        self.validations = [record["validation"] for record in self.log if "validation" in record]
        self.step, self.epoch, self.taken = found["step"], found["epoch"], found["taken"]
        self.saved, self.fingerprint = self.step, found["fingerprint"]
        self.compare_rates()
        own = found["processes"][distributed.here()[0]]
        self.states = resume.each(lambda tensor: tensor.to(device_of(self.model)), own["states"])
        self.randomness = own["random"]
        resume.set_random_state(self.randomness, self.generators)

    def compare_rates(self) -> None:
        """Says so where the schedule gives another rate for the last step than it was taken with."""
        last = next((record for record in reversed(self.log) if "lr" in record), None)
        if last is None:
            return
        before = [r["validation"] for r in self.log if "validation" in r and r["step"] < last["step"]]
        now = self.optimiser.param_groups[0]["initial_lr"] * self.factor(last["step"], before)
        if not math.isclose(now, last["lr"], rel_tol=1e-6, abs_tol=1e-12):
            say(
                f"{self.path}: step {last['step']} had the rate {last['lr']:.3g}, the schedule now gives {now:.3g}; "
                "the training goes on with the new schedule."
            )
