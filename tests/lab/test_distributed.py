"""Two processes started by torchrun draw the loss curve that one process draws."""

import json
import os
import subprocess
import sys

import pytest
import torch
from test_train import batches, evaluate, loss, loss_with_state, train, values
from torch import distributed as dist

from lmbook.lab import distributed

SCRIPT = """
import json, sys
import torch
here, folder = sys.argv[1:]
sys.path.insert(0, here)
torch.set_num_threads(1)
from test_distributed import CASES, both_halves
from lmbook.lab.distributed import processes

with processes() as (rank, world):
    runs = {name: both_halves(f"{folder}/{name}", **options) for name, options in CASES.items()}
    open(f"{folder}/{rank}.json", "w").write(json.dumps(runs))
"""

CASES = {"plain": {}, "carried": {"loss": loss_with_state, "stateful": True}}


def five_rows(epoch: int):
    """Batches that two processes share as three rows and two, with unequal numbers of tokens."""
    return batches(epoch, B=5)


def both_halves(folder: str, **options) -> list[dict]:
    """The log of 12 steps, interrupted after 8. The validation has single rows, so that a second process is idle."""
    for steps in (8, 12):
        check = {"validate": lambda model: evaluate(model, batches(99, B=1), loss)}
        _, log = train(steps=steps, batches=five_rows, clip=0.5, folder=folder, resume=True, **check, **options)
    return log


@pytest.mark.slow
def test_two_processes_draw_the_loss_curve_of_one(tmp_path):
    (tmp_path / "script.py").write_text(SCRIPT)
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2"]
    command += [tmp_path / "script.py", os.path.dirname(__file__), tmp_path]
    done = subprocess.run(command, capture_output=True, text=True, timeout=200)
    assert done.returncode == 0, done.stderr[-3000:]
    first, second = (json.loads((tmp_path / f"{rank}.json").read_text()) for rank in (0, 1))
    for name, options in CASES.items():
        alone = both_halves(str(tmp_path / f"{name} alone"), **options)
        assert values(first[name]) == values(second[name])
        assert len(first[name]) == len(alone)
        for record, other in zip(values(first[name]), values(alone), strict=True):
            assert record == pytest.approx(other, abs=1e-6)


def said_and_summed():
    mine = torch.tensor([1.0 + dist.get_rank()])
    dist.all_reduce(mine)
    print(f"{mine.item():g}")


def fails():
    raise ValueError("this process fails")


@pytest.mark.slow
def test_torchrun_starts_the_last_definition_in_each_process_and_says_what_failed():
    imports = "import torch\nfrom torch import distributed as dist"
    said = distributed.torchrun(said_and_summed, imports=imports)
    assert "".join(said.split()) == "33"  # the two may write at once
    with pytest.raises(RuntimeError, match="this process fails"):
        distributed.torchrun(fails, processes=1)


def test_the_halves_hold_unequal_numbers_of_tokens():
    for _, targets in five_rows(0):
        assert (targets[:3] > 0).sum() != (targets[3:] > 0).sum()


def test_a_batch_is_cut_into_all_its_rows():
    batch = next(five_rows(0))
    for parts in (1, 2, 3, 7):
        cuts = [distributed.shard(batch, i, parts) for i in range(parts)]
        assert sum(map(distributed.rows, cuts)) == 5
        if parts > 1:
            assert torch.equal(torch.cat([targets for _, targets in cuts]), batch[1])


def test_rows_that_differ_between_tensors_are_named():
    with pytest.raises(ValueError, match=r"first axes .* \[2, 3\]"):
        distributed.shard((torch.zeros(2, 3), torch.zeros(3, 3)), 0, 2)
