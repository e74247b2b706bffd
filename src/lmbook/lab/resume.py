"""What a training must remember to go on as if it had never stopped: one file, written whole or not at all.

    checkpoint.pt   weights, optimizer, where the training stands, the state of every random generator
    log.jsonl       one line for every step and every validation

checkpoint.pt is a line that names the format, a line with the sha256 of the rest, and the rest as torch.save writes it.
It is read with weights_only, so that a file from somewhere else can run no code.
"""

import contextlib
import hashlib
import io
import json
import math
import pickle
import random
import signal
import threading
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn

from lmbook import __version__, say, write
from lmbook.lab.checkpoints import CheckpointError, differences
from lmbook.lab.distributed import gather, rank_and_world_size, same_weights
from lmbook.networks import tree_map

FORMAT = b"lmbook training 3"


@dataclass
class RunState:
    """Where a training stands, beside weights, optimizer and random generators."""

    step: int = 0
    epoch: int = 0
    taken: int = 0  # batches of this epoch
    seconds: float = 0.0
    lowest: float = math.inf  # validation so far
    waited: int = 0  # validations since the lowest
    best: dict | None = None  # the weights of the lowest
    log: list[dict] = field(default_factory=list)
    carried: object = None  # the state of a stateful model, after the last batch
    batch: object = None  # the last one; the file keeps its fingerprint
    validating: bool = False

    def where(self) -> str:
        return f"at step {self.step + 1} (batch {self.taken} of epoch {self.epoch}, from 0)"


class Snapshots:
    """A training's files in a folder; without a folder nothing is written.

    settings: what must be the same when the training is resumed; those of the optimizer are added.
    """

    def __init__(
        self, folder: str | Path | None, model: nn.Module, optimizer: torch.optim.Optimizer, generators: Sequence,
        settings: dict,
    ):  # fmt: skip
        self.path = None if folder is None else Path(folder) / "checkpoint.pt"
        self.model, self.optimizer, self.generators = model, optimizer, generators
        self.rank, world = rank_and_world_size()
        self.settings = {"optimizer": type(optimizer).__name__, "processes": world} | settings
        for i, group in enumerate(optimizer.param_groups):
            group.setdefault("initial_lr", group["lr"])
            self.settings |= {f"{name} of group {i}": group[name] for name in group if name not in ("params", "lr")}
        self.settings = {name: repr(value) for name, value in self.settings.items()}
        self.saved = None  # (step, epoch, entries of the log) of the file
        self.found = None  # what the file said when the training was resumed

    def save(self, state: RunState) -> None:
        """Writes the log, then the checkpoint, each whole or not at all. Raises OSError."""
        if not self.path or self.saved == (state.step, state.epoch, len(state.log)):
            return
        processes = gather({"random": random_state(self.generators), "state": state.carried})
        self.write_log(state)
        if self.rank == 0:
            apart = ("carried", "batch", "validating")
            place = {name: value for name, value in vars(state).items() if name not in apart}
            weights, moments = self.model.state_dict(), self.optimizer.state_dict()
            write_state(
                self.path,
                {
                    "settings": self.settings, "weights": weights, "optimizer": moments, "progress": place,
                    "fingerprint": fingerprint(state.batch), "processes": processes,
                },
            )  # fmt: skip
            if self.saved is None:  # better to learn now than after a kill that it cannot be read
                read_state(self.path)
        self.saved = (state.step, state.epoch, len(state.log))

    def write_log(self, state: RunState) -> None:
        if self.path and self.rank == 0:
            lines = "".join(json.dumps(record) + "\n" for record in state.log)
            write(self.path.with_name("log.jsonl"), lines.encode())

    def load(self, state: RunState, resume: bool, schedule: Callable[[int], float]) -> None:
        """Puts everything where the file says it was; without a file the training begins.

        Raises CheckpointError where there is a file and resume is False, and where the file does not fit.
        """
        if self.path and self.rank == 0:
            for part in self.path.parent.glob(".part-*"):  # what a killed process was writing
                part.unlink()
        if not self.path or not self.path.exists():
            same_weights(self.model)
            return
        if not resume:
            raise CheckpointError(f"{self.path} exists; resume the training (resume=True), or delete the file.")
        self.found = found = read_state(self.path)
        if fault := differences(found["weights"], self.model.state_dict()):
            raise CheckpointError(
                f"{self.path} is of another model: {fault}. Resume with the model that it was written for."
            )
        then, now = found["settings"], self.settings
        if other := [f"{name} was {then.get(name)}, now {now[name]}" for name in now if then.get(name) != now[name]]:
            raise CheckpointError(
                f"{self.path} began with other settings: {'; '.join(other)}. Resume with the same ones."
            )
        if found["torch"] != torch.__version__:
            say(f"{self.path} is from torch {found['torch']}; with {torch.__version__} numbers may differ a little.")
        self.model.load_state_dict(found["weights"])
        self.optimizer.load_state_dict(found["optimizer"])
        vars(state).update(found["progress"])
        self.saved = (state.step, state.epoch, len(state.log))
        own = found["processes"][self.rank]
        device = next(self.model.parameters()).device
        state.carried = tree_map(lambda tensor: tensor.to(device), own["state"])
        set_random_state(own["random"], self.generators)
        last = next((record for record in reversed(state.log) if "lr" in record), {"lr": 0.0, "step": 0})
        rate = self.optimizer.param_groups[0]["initial_lr"] * schedule(last["step"]) if last["step"] else 0.0
        if not math.isclose(rate, last["lr"], rel_tol=1e-6, abs_tol=1e-12):
            say(
                f"{self.path}: step {last['step']} had the rate {last['lr']:.3g}, the schedule now gives {rate:.3g}; "
                "the training goes on with the new schedule."
            )

    def rest(self, batches: Iterable, state: RunState) -> Iterator:
        """The batches of the epoch from where the training stands. Raises CheckpointError where these are others."""
        rest, last = iter(batches), None
        if not state.taken:
            return rest
        for _ in range(state.taken):
            last = next(rest, None)
        if last is None or fingerprint(last) != self.found["fingerprint"]:
            raise CheckpointError(
                f"{self.path} was trained on other batches: number {state.taken - 1} of the epoch differs. "
                "batches(epoch) must give the same batches whenever it is called; let it seed its own generator from "
                "the epoch, and check the data."
            )
        state.batch = last
        # Making them may have drawn random numbers a second time.
        set_random_state(self.found["processes"][self.rank]["random"], self.generators)
        return rest

    def last_good(self) -> str:
        """Where to go on from after an error, in a sentence."""
        if self.saved is None:
            return "No checkpoint was written."
        return f"The last good checkpoint, of step {self.saved[0]}, is {self.path}."

    def interrupt(self, state: RunState) -> None:
        """Saves, says how to go on, and raises KeyboardInterrupt."""
        self.save(state)
        line = f"stopped after step {state.step}; " + (
            f"saved in {self.path}: resume=True (lmbook train RECIPE --resume) goes on from there."
            if self.path
            else "nothing was saved, because there is no folder."
        )
        if self.rank == 0:
            say(line)
        raise KeyboardInterrupt(line)

    @contextlib.contextmanager
    def guard(self, state: RunState) -> Iterator[list]:
        """Around a training: Ctrl-C fills the list, so that no step is cut in two; a second one interrupts at once.

        The model is in training mode. At the end its modes are as they were and the log is written, whatever ended it.
        """
        pressed = []

        def note(*_):
            if pressed:
                raise KeyboardInterrupt
            pressed.append(True)

        modes = [(module, module.training) for module in self.model.modules()]
        main = threading.current_thread() is threading.main_thread()  # signals come to no other
        before = signal.signal(signal.SIGINT, note) if main else None
        self.model.train()
        try:
            yield pressed
        finally:
            self.write_log(state)
            for module, training in modes:
                module.training = training
            if main:
                signal.signal(signal.SIGINT, before or signal.default_int_handler)


def fingerprint(batch) -> int:
    """A number that tells two batches apart: CRC-32 over the shapes and bytes of their tensors."""
    crc = 0

    def add(tensor: Tensor) -> None:
        nonlocal crc
        flat = tensor.detach().cpu().contiguous().reshape(-1)
        crc = zlib.crc32(flat.view(torch.uint8).numpy(), zlib.crc32(repr(tuple(tensor.shape)).encode(), crc))

    tree_map(add, batch)
    return crc


def _plain(value):
    """NumPy's arrays and numbers as Python's, which weights_only can read."""
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    if isinstance(value, dict):
        return {key: _plain(v) for key, v in value.items()}
    return tuple(_plain(v) for v in value) if isinstance(value, tuple) else value


def random_state(generators: Sequence = ()) -> dict:
    """The state of every random generator: Python's, NumPy's, torch's on each device, and those of the caller.

    generators: of the classes random.Random, numpy.random.Generator or torch.Generator.
    """
    own = []
    for generator in generators:
        if isinstance(generator, np.random.Generator):
            own.append(_plain(generator.bit_generator.state))
        else:
            own.append(generator.get_state() if isinstance(generator, torch.Generator) else generator.getstate())
    return {
        "python": random.getstate(),
        "numpy": _plain(np.random.get_state()),  # noqa: NPY002 (libraries may still draw from it)
        "torch": torch.get_rng_state(),
        "cuda": torch.cuda.get_rng_state_all() if torch.cuda.is_available() else [],
        "mps": torch.mps.get_rng_state() if torch.backends.mps.is_available() else None,
        "own": own,
    }


def set_random_state(state: dict, generators: Sequence = ()) -> None:
    """Puts every generator where `random_state` found it."""
    random.setstate(state["python"])
    np.random.set_state(state["numpy"])  # noqa: NPY002
    torch.set_rng_state(state["torch"])
    if state["cuda"] and torch.cuda.is_available():
        torch.cuda.set_rng_state_all(state["cuda"])
    if state.get("mps") is not None and torch.backends.mps.is_available():
        torch.mps.set_rng_state(state["mps"])
    for generator, own in zip(generators, state["own"], strict=True):
        if isinstance(generator, np.random.Generator):
            generator.bit_generator.state = own
        elif isinstance(generator, torch.Generator):
            generator.set_state(own)
        else:
            generator.setstate(own)


def write_state(path: Path, state: dict) -> None:
    """Writes the state of a training; the file of before stays until this one is complete. Raises OSError."""
    buffer = io.BytesIO()
    torch.save({"lmbook": __version__, "torch": str(torch.__version__)} | state, buffer)
    payload = buffer.getvalue()
    write(path, b"\n".join([FORMAT, hashlib.sha256(payload).hexdigest().encode(), payload]))


def read_state(path: Path) -> dict:
    """The state that `write_state` wrote. Raises CheckpointError for a file that is damaged or of another version."""
    form, _, rest = path.read_bytes().partition(b"\n")
    digest, _, payload = rest.partition(b"\n")
    if form != FORMAT:
        if form.startswith(FORMAT[:-1]):
            raise CheckpointError(
                f"{path} is of another version of lmbook: its format is {form.decode(errors='replace')!r}, and "
                f"this one reads {FORMAT.decode()!r}. Install the version that wrote it, or delete it and train again."
            )
        raise CheckpointError(f"{path} is not the checkpoint of a training, or damaged. Delete it and train again.")
    if hashlib.sha256(payload).hexdigest().encode() != digest:
        raise CheckpointError(f"{path} is damaged: its checksum does not fit. Delete it and train again.")
    try:
        state = torch.load(io.BytesIO(payload), map_location="cpu", weights_only=True)
    except (RuntimeError, pickle.UnpicklingError) as error:
        raise CheckpointError(
            f"{path} holds more than tensors, numbers, texts, tuples, lists and dicts, and so is not read; keep to "
            "these in the groups and the state of the optimizer."
        ) from error
    if state["lmbook"] != __version__:
        raise CheckpointError(
            f"{path} is of lmbook {state['lmbook']}, and this is {__version__}: it would not go on in the same way. "
            f"Install lmbook {state['lmbook']}, or delete the file and train again."
        )
    return state
