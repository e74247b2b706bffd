"""Several processes that train one model: each computes some rows of every batch, and their sums are added up.

    torchrun --nproc-per-node 2 script.py        with   with processes(): fit(...)   in the script

Losses and gradients are sums over tokens, so that adding them up and dividing by the number of tokens of all processes
gives what one process computes, however unequal the shards are. (torch's DistributedDataParallel takes the mean over
processes instead, a mean of means.) Without torchrun every function here does nothing, or next to it.
"""

import contextlib
import inspect
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from operator import methodcaller
from pathlib import Path

import torch
from torch import Tensor, nn
from torch import distributed as dist

from lmbook.networks import tree_map


@contextlib.contextmanager
def processes() -> Iterator[tuple[int, int]]:
    """Joins the processes that torchrun started (gloo on CPU, nccl on GPU) and parts from them at the end.

    Gives this process's rank and how many there are; (0, 1) without torchrun.
    """
    if "WORLD_SIZE" not in os.environ or dist.is_initialized():
        yield rank_and_world_size()
        return
    if torch.cuda.is_available():
        torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
    dist.init_process_group("cpu:gloo,cuda:nccl" if torch.cuda.is_available() else "gloo")
    try:
        yield rank_and_world_size()
    finally:
        dist.destroy_process_group()


def rank_and_world_size() -> tuple[int, int]:
    """This process's number, from 0, and how many there are."""
    return (dist.get_rank(), dist.get_world_size()) if dist.is_available() and dist.is_initialized() else (0, 1)


def rows(batch) -> int:
    """The number of rows of a batch. Raises ValueError where its tensors differ in it, or there are none."""
    sizes = []
    tree_map(lambda tensor: sizes.append(len(tensor) if tensor.ndim else 0), batch)
    if len(set(sizes)) != 1:
        raise ValueError(f"the first axes of the batch are {sizes}; it must be the rows, B, in every tensor.")
    return sizes[0]


def shard(batch, rank: int, world: int):
    """Shard `rank` of a batch whose rows `world` processes share as equally as can be; empty where rows are few."""
    rows(batch)
    return tree_map(lambda tensor: tensor.tensor_split(world)[rank], batch)


def own_rows(batch, device: torch.device):
    """This process's rows of a batch, on its device; None where it has none."""
    rank, world = rank_and_world_size()
    if world > 1:
        batch = shard(batch, rank, world)
        if rows(batch) == 0:
            return None
    return tree_map(methodcaller("to", device, non_blocking=True), batch)


def all_reduce_sum(*numbers: float | Tensor) -> list[float]:
    """The sums of these numbers over all processes."""
    sums = torch.tensor(list(map(float, numbers)), dtype=torch.float64)
    if rank_and_world_size()[1] > 1:
        dist.all_reduce(sums)
    return sums.tolist()


def summed_gradients(parameters: Sequence[Tensor]) -> list[Tensor]:
    """Replaces every gradient by its sum over all processes, and gives them; one that no process has stays None."""
    have = [p.grad is not None for p in parameters]
    if rank_and_world_size()[1] > 1:
        have = all_reduce_sum(*have)
    used = [p for p, count in zip(parameters, have, strict=True) if count]
    if rank_and_world_size()[1] == 1 or not used:
        return [p.grad for p in used]
    flat = torch.cat([(torch.zeros_like(p) if p.grad is None else p.grad).flatten() for p in used])
    dist.all_reduce(flat)
    for p, grad in zip(used, flat.split([p.numel() for p in used]), strict=True):
        p.grad = grad.view_as(p)
    return [p.grad for p in used]


def same_weights(model: nn.Module) -> None:
    """Gives every process the weights of the first, and random numbers of its own, so that dropout differs."""
    rank, world = rank_and_world_size()
    if world == 1:
        return
    for tensor in model.state_dict().values():
        dist.broadcast(tensor, src=0)
    if rank:
        torch.manual_seed(torch.initial_seed() + rank)


def gather(value) -> list:
    """What every process has, in their order."""
    world = rank_and_world_size()[1]
    if world == 1:
        return [value]
    values = [None] * world
    dist.all_gather_object(values, value)
    return values


def broadcast(value):
    """The first process's value, in every process."""
    return gather(value)[0]


def torchrun(*definitions: Callable | type, processes: int = 2, imports: str = "") -> str:
    """What `processes` processes print when torchrun starts the last definition in each of them, on one machine.

    definitions: functions and classes of a notebook or module; their source, behind `imports`, becomes a script. The
    last one is called without arguments once the processes have joined (gloo on CPU, nccl on GPU).
    Raises RuntimeError with the last lines of what was said where a process fails.
    """
    sources = [inspect.getsource(definition) for definition in definitions]
    start = f"with processes():\n    {definitions[-1].__name__}()\n"
    parts = ["from lmbook.lab.distributed import processes", imports, *sources, start]
    with tempfile.TemporaryDirectory() as folder:
        script = Path(folder) / "script.py"
        script.write_text("\n\n".join(parts), encoding="utf-8")
        command = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", str(processes)]
        env = os.environ | {"OMP_NUM_THREADS": "1"}
        done = subprocess.run([*command, str(script)], capture_output=True, text=True, env=env, check=False)
    if done.returncode:
        raise RuntimeError(f"one of {processes} processes failed:\n{done.stderr[-3000:]}")
    return done.stdout
