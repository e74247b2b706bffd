"""Several processes that train one model: each computes some rows of every batch, and their sums are added up.

    torchrun --nproc-per-node 2 script.py        with   with processes(): fit(...)   in the script

A batch is cut by rows. Losses and gradients are sums over tokens, so that adding them up and dividing by the number of
tokens of all processes gives what one process computes, however unequal the parts are.
"""

import contextlib
import os
from collections.abc import Iterator, Sequence

import torch
from torch import Tensor, nn
from torch import distributed as dist

from lmbook.resume import each


@contextlib.contextmanager
def processes() -> Iterator[tuple[int, int]]:
    """Joins the processes that torchrun started (gloo on CPU, nccl on GPU) and parts from them at the end.

    Gives this process's number and how many there are; (0, 1) without torchrun.
    """
    if "WORLD_SIZE" not in os.environ or dist.is_initialized():
        yield here()
        return
    if torch.cuda.is_available():
        torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
    dist.init_process_group("cpu:gloo,cuda:nccl" if torch.cuda.is_available() else "gloo")
    try:
        yield here()
    finally:
        dist.destroy_process_group()


def here() -> tuple[int, int]:
    """This process's number and how many there are."""
    return (dist.get_rank(), dist.get_world_size()) if dist.is_available() and dist.is_initialized() else (0, 1)


def rows(batch) -> int:
    """The number of rows of a batch. Raises ValueError where its tensors differ in it, or there are none."""
    sizes = []
    each(lambda tensor: sizes.append(len(tensor) if tensor.ndim else 0), batch)
    if len(set(sizes)) != 1:
        raise ValueError(f"the first axes of the batch are {sizes}; it must be the rows, B, in every tensor.")
    return sizes[0]


def cut(batch, number: int, parts: int):
    """Part `number` of a batch that is cut by rows into `parts`, as equal as can be; some are empty if rows are few."""
    if parts == 1:
        return batch
    rows(batch)
    return each(lambda tensor: tensor.tensor_split(parts)[number], batch)


def total(*numbers: float) -> list[float]:
    """The sums of these numbers over all processes."""
    if here()[1] == 1:
        return list(numbers)
    sums = torch.tensor(numbers, dtype=torch.float64)
    dist.all_reduce(sums)
    return sums.tolist()


def add_gradients(parameters: Sequence[Tensor]) -> None:
    """Replaces every gradient by its sum over all processes; one that no process has stays None."""
    if here()[1] == 1:
        return
    have = total(*(p.grad is not None for p in parameters))
    used = [p for p, count in zip(parameters, have, strict=True) if count]
    if not used:
        return
    flat = torch.cat([(torch.zeros_like(p) if p.grad is None else p.grad).flatten() for p in used])
    dist.all_reduce(flat)
    for p, grad in zip(used, flat.split([p.numel() for p in used]), strict=True):
        p.grad = grad.view_as(p)


def same_weights(model: nn.Module) -> None:
    """Gives every process the weights of the first, and random numbers of its own, so that dropout differs."""
    rank, world = here()
    if world == 1:
        return
    for tensor in model.state_dict().values():
        dist.broadcast(tensor, src=0)
    if rank:
        torch.manual_seed(torch.initial_seed() + rank)


def gather(value) -> list:
    """What every process has, in their order."""
    values = [None] * here()[1]
    if here()[1] == 1:
        return [value]
    dist.all_gather_object(values, value)
    return values


def of_first(value: float) -> float:
    """The first process's value, in every process."""
    return gather(value)[0]
