"""Training: one loop for every model.

    loss(model, batch) -> L, n       L = -sum over the n tokens of ln P(token), in nats
    g = (sum of dL/dtheta) / (sum of n)           over the processes that share a batch
    g = g min(1, clip / |g|)         theta = optimiser(theta, g)
    mean NLL = (sum of L) / (sum of n)            over all batches of an evaluation; perplexity = exp(mean NLL)

Sums and counts are added up before the division. A mean over tokens is thus never a mean of means, whatever the size of
the batches, the padding in them, and the number of processes.
"""

import contextlib
import math
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

import torch
from torch import Tensor, nn
from tqdm import tqdm  # the plain bar: tqdm.auto would leave a widget in the notebook

import lmbook
from lmbook.decode import evaluating, tree_map
from lmbook.lab.distributed import all_reduce_sum, broadcast, own_rows, rows, summed_gradients
from lmbook.lab.resume import Checkpoint, Progress, random_state, set_random_state
from lmbook.lab.schedules import constant


class TrainingError(RuntimeError):
    """A training cannot go on; the message says where it stopped and what to do."""


def fit(
    model: nn.Module, batches: Callable[[int], Iterable], loss: Callable, optimiser: torch.optim.Optimizer, *,
    steps: int | None = None, epochs: int | None = None, schedule: Callable[[int], float] = constant,
    clip: float | None = None, bf16: bool = False, stateful: bool = False,
    validate: Callable[[nn.Module], float] | None = None, evaluate_every: int | None = None,
    patience: int | None = None, folder: str | Path | None = None, save_every: int = 1000, resume: bool = False,
    generators: Sequence = (), progress: bool | None = None,
) -> list[dict]:  # fmt: skip
    """Trains a model where it is, on its own device, and returns the log.

    batches(epoch): the batches of epoch 0, 1, ...: tensors in tuples or dicts, all with B rows first. It must give the
        same ones whenever it is called with the same epoch.
    loss(model, batch): the summed NLL in nats and the number of tokens. With stateful=True loss(model, batch, state),
        which also returns the next state (tensors, B rows first); it is detached, and None where an epoch starts.
    steps, epochs: where to stop; at least one of them.  schedule(step): the factor of the optimiser's rate.
    clip: the largest norm of the gradient.  bf16: autocast to bfloat16, on a GPU only.
    validate(model): lower is better, such as `evaluate`; called every `evaluate_every` steps (else every epoch) and at
        the end.  patience: stop as soon as this many validations in a row are not below the lowest one before them.
        With it the model has the weights of the lowest (of equal ones the first) at the end of the training.
    folder: for checkpoint.pt, written every `save_every` steps and at the end, and for log.jsonl.  resume: go on from
        the checkpoint there; begin where there is none.  generators: the caller's own random generators, which the
        checkpoint is to keep.  progress: a bar, by default only on a terminal.

    The log has a dict for every step (step, epoch, loss, lr, norm: that of the gradient before it is clipped, tokens,
    seconds so far) and every validation (step, validation, seconds). Ctrl-C ends the step, saves, and raises
    KeyboardInterrupt. Raises ValueError for arguments that cannot be, TrainingError where loss or gradient is NaN or
    infinite or memory runs out, CheckpointError for a checkpoint that does not fit.
    """
    _check_arguments(
        validate, patience, steps=steps, epochs=epochs, evaluate_every=evaluate_every, save_every=save_every
    )
    bare = getattr(model, "_orig_mod", model)  # without torch.compile's wrapper, so that weights have their own names
    parameters = [p for group in optimiser.param_groups for p in group["params"]]
    settings = {"clip": clip, "bf16": bf16, "stateful": stateful}
    at, checkpoint = Progress(), Checkpoint(folder, bare, optimiser, generators, settings)
    checkpoint.load(at, resume, schedule)
    start, before, tokens = time.perf_counter() - at.seconds, at.seconds, 0.0

    def finished() -> bool:
        return at.step >= (steps or math.inf) or at.epoch >= (epochs or math.inf) or at.waited >= (patience or math.inf)

    def log(**values: float) -> None:
        at.seconds = time.perf_counter() - start
        at.log.append({"step": at.step} | values | {"seconds": round(at.seconds, 3)})

    def validation() -> None:
        if validate is None or (at.log and "validation" in at.log[-1]):
            return
        at.validating = True
        with fixed_seed(model):
            mean = broadcast(float(validate(model)))
        at.validating = False
        if not math.isfinite(mean):
            raise TrainingError(f"The validation is {mean} after step {at.step}. {checkpoint.last_good()}")
        log(validation=mean)
        at.waited += 1
        if mean < at.lowest:
            at.lowest, at.waited = mean, 0
            if patience:
                at.best = {name: weight.detach().cpu().clone() for name, weight in bare.state_dict().items()}

    hidden = True if checkpoint.rank else None if progress is None else not progress  # None: on a terminal
    bar = tqdm(total=steps, initial=at.step, unit="step", disable=hidden)
    with checkpoint.guard(at) as pressed, _memory_explained(at, checkpoint), bar:
        while not finished():
            for batch in checkpoint.rest(batches(at.epoch), at):
                at.batch = batch
                optimiser.zero_grad()
                nll, n, state = summed_nll(model, batch, loss, at.state, stateful, bf16)
                nll.backward()
                nll, n, stop = all_reduce_sum(nll.detach(), n, len(pressed))
                gradients = summed_gradients(parameters)
                for gradient in gradients:
                    gradient.div_(n)
                norm = nn.utils.get_total_norm(gradients)
                if not (n and math.isfinite(nll) and math.isfinite(norm)):
                    raise _no_step(nll, n, float(norm), at, checkpoint)
                if clip is not None:
                    nn.utils.clip_grads_with_norm_(parameters, clip, norm)
                for group in optimiser.param_groups:
                    group["lr"] = group["initial_lr"] * schedule(at.step + 1)
                optimiser.step()

                rate = optimiser.param_groups[0]["lr"]
                at.step, at.taken, at.state, tokens = at.step + 1, at.taken + 1, state, tokens + n
                log(epoch=at.epoch, loss=nll / n, lr=rate, norm=float(norm), tokens=int(n))
                speed = tokens / (at.seconds - before)
                bar.set_postfix_str(f"loss {nll / n:.3f}, {speed:,.0f} tokens/s", refresh=False)
                bar.update()
                if evaluate_every and at.step % evaluate_every == 0:
                    validation()
                if at.step % save_every == 0:
                    checkpoint.save(at)
                if stop:
                    checkpoint.interrupt(at)
                if finished():
                    break
            else:  # the epoch has ended
                if not at.taken:
                    raise ValueError(f"batches({at.epoch}) gave no batch; check the data and the size of a batch.")
                at.epoch, at.taken, at.state = at.epoch + 1, 0, None
                if not evaluate_every:
                    validation()
        validation()
        checkpoint.save(at)
        if all_reduce_sum(len(pressed))[0]:
            checkpoint.interrupt(at)
    if at.best:
        bare.load_state_dict(at.best)
    return at.log


def summed_nll(model, batch, loss, state, stateful: bool, bf16: bool) -> tuple[Tensor, int | Tensor, object]:
    """L and n of this process's rows of a batch, and the next state, detached."""
    device = device_of(model)
    batch = own_rows(batch, device)
    if batch is None:
        return torch.zeros((), requires_grad=True), 0, state
    with torch.autocast(device.type, torch.bfloat16, enabled=bf16 and device.type == "cuda"):
        nll, n, *state = loss(model, batch, state) if stateful else loss(model, batch)
    if nll.ndim:
        raise ValueError(f"loss gave a tensor of shape {tuple(nll.shape)}; it must give the sum, and the tokens.")
    return nll, n, tree_map(Tensor.detach, state[0]) if stateful else None


def evaluate(model: nn.Module, batches: Iterable, loss: Callable, stateful: bool = False, bf16: bool = False) -> float:
    """Mean NLL in nats per token over all batches, weighted by token; exp of it is the perplexity.

    loss, stateful, bf16: as for `fit`. Raises ValueError where there is no token.
    """
    nll, tokens, state = 0.0, 0, None
    with fixed_seed(model):
        for batch in batches:
            more, n, state = summed_nll(model, batch, loss, state, stateful, bf16)
            nll, tokens = nll + float(more), tokens + int(n)
    nll, tokens = all_reduce_sum(nll, tokens)
    if not tokens:
        raise ValueError("the batches hold no token to evaluate; check the data.")
    return nll / tokens


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


def device_of(model: nn.Module) -> torch.device:
    """Where the model's weights are."""
    return next(model.parameters(), torch.empty(0)).device


def _check_arguments(validate: Callable | None, patience: int | None, **counts: int | None) -> None:
    if counts["steps"] is None and counts["epochs"] is None:
        raise ValueError("the training would never end; give steps, epochs or both.")
    for name, value in (counts | {"patience": patience}).items():
        if value is not None and value < 1:
            raise ValueError(f"{name} is {value}; it must be at least 1.")
    if patience and validate is None:
        raise ValueError("patience needs validate, a function of the model; give it, or leave both out.")


def _no_step(nll: float, n: float, norm: float, at: Progress, checkpoint: Checkpoint) -> Exception:
    """Why the weights stay as they are."""
    if not n:
        return ValueError(f"the batch {at.where()} holds no token to predict; drop such batches.")
    what = f"loss is {nll / n}" if not math.isfinite(nll) else f"norm of the gradient is {norm}"
    return TrainingError(
        f"The {what} {at.where()}. {checkpoint.last_good()} Lower the learning rate, lengthen the warm-up or clip the "
        "gradient; where it is the first step, look for a division by zero or a logarithm of zero."
    )


@contextlib.contextmanager
def _memory_explained(at: Progress, checkpoint: Checkpoint) -> Iterator[None]:
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
        raise TrainingError(f"Out of memory {what} {checkpoint.last_good()}") from error
