"""Training: one loop for every model.

    loss(model, batch) -> L, n       L = -sum over the n tokens of ln P(token), in nats
    g = (sum of dL/dtheta) / (sum of n)           over the processes that share a batch
    g = g min(1, clip / |g|)         theta = optimizer(theta, g)
    mean NLL = (sum of L) / (sum of n)            over all batches of an evaluation; perplexity = exp(mean NLL)

Sums and counts are added up before the division. A mean over tokens is thus never a mean of means, whatever the size of
the batches, the padding in them, and the number of processes.
"""

from collections.abc import Callable, Iterable

import torch
from torch import Tensor, nn

from lmbook.lab.distributed import all_reduce_sum, own_rows, summed_gradients
from lmbook.lab.loop import Loop, TrainingError, at_least_one, fixed_seed
from lmbook.lab.schedules import constant
from lmbook.networks import tree_map

__all__ = ["TrainingError", "device_of", "evaluate", "fit", "fixed_seed", "summed_nll"]


def fit(
    model: nn.Module, batches: Callable[[int], Iterable], loss: Callable, optimizer: torch.optim.Optimizer, *,
    schedule: Callable[[int], float] = constant, clip: float | None = None, bf16: bool = False, stateful: bool = False,
    validate: Callable[[nn.Module], float] | None = None, evaluate_every: int | None = None, **around,
) -> list[dict]:  # fmt: skip
    """Trains a model where it is, on its own device, and returns the log.

    batches(epoch): the batches of epoch 0, 1, ...: tensors in tuples or dicts, all with B rows first. It must give the
        same ones whenever it is called with the same epoch.
    loss(model, batch): the summed NLL in nats and the number of tokens. With stateful=True loss(model, batch, state),
        which also returns the next state (tensors, B rows first); it is detached, and None where an epoch starts.
    schedule(step): the factor of the optimizer's rate.  clip: the largest norm of the gradient.  bf16: autocast to
        bfloat16, on a GPU only.  validate(model): lower is better, such as `evaluate`; called every `evaluate_every`
        steps (else every epoch) and at the end.
    around: where to stop (steps, epochs, patience) and what to keep (folder, resume, ...), as for `Loop`.

    The log has a dict for every step (step, epoch, loss, lr, norm: that of the gradient before it is clipped, tokens,
    seconds so far) and every validation (step, validation, seconds). Raises what `Loop` does, and TrainingError where
    loss or gradient is NaN or infinite.
    """
    if around.get("patience") and validate is None:
        raise ValueError("patience needs validate, a function of the model; give it, or leave both out.")
    at_least_one(evaluate_every=evaluate_every)
    parameters = [p for group in optimizer.param_groups for p in group["params"]]
    settings = {"clip": clip, "bf16": bf16, "stateful": stateful}
    with Loop(model, optimizer, schedule, settings=settings, **around).running() as loop:
        while not loop.finished():
            for batch in loop.epoch(batches):
                optimizer.zero_grad()
                nll, n, carried = summed_nll(model, batch, loss, loop.state.carried, stateful, bf16)
                nll.backward()
                nll, n = all_reduce_sum(nll.detach(), n)
                gradients = summed_gradients(parameters)
                for gradient in gradients:
                    gradient.div_(n)
                norm = nn.utils.get_total_norm(gradients)
                loop.check(nll, n, float(norm))
                if clip is not None:
                    nn.utils.clip_grads_with_norm_(parameters, clip, norm)
                for group in optimizer.param_groups:
                    group["lr"] = group["initial_lr"] * schedule(loop.step + 1)
                rate = optimizer.param_groups[0]["lr"]
                optimizer.step()
                loop.stepped(carried, loss=nll / n, lr=rate, norm=float(norm), tokens=int(n))
                if evaluate_every and loop.step % evaluate_every == 0:
                    loop.validate(validate)
            if not evaluate_every:
                loop.validate(validate)
        loop.validate(validate)
    return loop.log


def summed_nll(model, batch, loss, state, stateful: bool, bf16: bool) -> tuple[Tensor, int | Tensor, object]:
    """L and n of this process's rows of a batch, and the next state, detached."""
    device = device_of(model)
    batch = own_rows(batch, device)
    if batch is None:
        return torch.zeros((), requires_grad=True), 0, state
    with torch.autocast("cuda", torch.bfloat16, enabled=bf16 and device.type == "cuda"):
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


def device_of(model: nn.Module) -> torch.device:
    """Where the model's weights are."""
    return next(model.parameters(), torch.empty(0)).device
