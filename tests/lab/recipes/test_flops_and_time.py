"""Costs are counted as they are computed, and timed without the first step."""

import pytest
import torch

from lmbook.lab import flops
from lmbook.lab.recipes import caption_ladder, flops_and_time
from lmbook.lab.recipes.multi30k import RUNGS
from lmbook.lab.recipes.multi30k import TYPES as TYPES_OF_MULTI30K
from lmbook.lab.recipes.translation import Task
from lmbook.lab.run import RECORDED, records


@pytest.fixture(scope="module")
def task() -> Task:
    reader, writer, parts = caption_ladder.captions(quick=True)
    return Task(parts, reader, writer)


def test_flops_are_summed_over_the_batches_that_are_trained_on(task):
    model = caption_ladder.rung("Transformer", task.types)
    batches = task.batches(0, 4)
    shapes = [(*batch.source.shape, batch.inputs.shape[1]) for epoch in (0, 1) for batch in batches(epoch)]
    assert len(shapes) >= 7
    assert flops_and_time.flops(model, batches, 7) == sum(flops.training(model, *shape) for shape in shapes[:7])


@pytest.mark.parametrize("name", flops_and_time.STACKS)
def test_a_stack_is_timed_forward_and_backward(name):
    layers = flops_and_time.STACKS[name](16)
    assert flops_and_time.pass_seconds(layers, torch.randn(2, 5, 16), repeats=1) > 0
    assert all(weight.grad is not None for weight in layers.parameters())


@pytest.mark.parametrize("name", [name for name in RUNGS if (RECORDED / f"{name}-0.json").is_file()])
def test_the_rungs_of_multi30k_are_as_large_as_those_that_were_trained(name):
    for run in records(name):
        model = RUNGS[name].model(TYPES_OF_MULTI30K)
        assert sum(weight.numel() for weight in model.parameters()) == run["parts"]["model"]["parameters"]
        assert RUNGS[name].steps == run["parts"]["model"]["steps"]


def test_what_is_counted_are_rungs():
    """A quick run counts some of them, and their own recipes run them all."""
    assert set(flops_and_time.FAMILIES) < set(flops_and_time.MULTI30K) <= set(RUNGS)


def test_the_seconds_of_a_step_leave_out_the_first(task, monkeypatch):
    times = iter([0.0, 9.0, 10.0, 11.0, 11.0, 13.0])  # a beginning and an end for each step
    monkeypatch.setattr(flops_and_time.time, "process_time", lambda: next(times))
    assert flops_and_time.step_seconds(caption_ladder.rung("Transformer", task.types), task.batches(0, 4)(0), 2) == 1.5
