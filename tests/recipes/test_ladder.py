"""The ladder: rungs of one size on one set of captions, whose cost is counted as it is computed."""

import pytest
import torch

from lmbook import costs, data
from lmbook.recipes import ladder
from lmbook.recipes.core import records
from lmbook.recipes.translation import TYPES as TYPES_OF_MULTI30K

READER, WRITER, PARTS = ladder.captions(quick=True)
TYPES = len(READER.vocabulary), len(WRITER.vocabulary)


def test_every_word_has_an_id_and_nothing_of_the_test_is_trained_on():
    for part, pairs in PARTS.items():
        for source, target in pairs:
            assert 1 not in READER.encode(source) + WRITER.encode(target)
            longest = ladder.FAR if part == "far" else ladder.WORDS
            assert longest[0] <= len(target.split()) - 1 <= longest[1]
    trained = {source for source, _ in PARTS["train"]}
    for part in ("valid", "test", "far"):
        assert not trained & {source for source, _ in PARTS[part]}


def test_the_rungs_are_about_as_large_and_cost_about_as_much():
    models = [ladder.rung(name, TYPES) for name in ladder.RUNGS]
    sizes = [sum(weight.numel() for weight in model.parameters()) for model in models]
    work = [costs.training(model, 1, 14, 14) for model in models]
    assert max(sizes) / min(sizes) < 1.35
    assert max(work) / min(work) < 1.35


def test_flops_are_summed_over_the_batches_that_are_trained_on():
    model = ladder.rung("Transformer", TYPES)
    ids = ladder.encode_pairs(READER, WRITER, PARTS["train"])
    batches = lambda epoch: data.batches(ids, 64, seed=[0, epoch])  # noqa: E731
    shapes = [(*batch.source.shape, batch.inputs.shape[1]) for epoch in (0, 1) for batch in batches(epoch)]
    assert len(shapes) >= 7
    assert ladder.flops(model, batches, 7) == sum(costs.training(model, *shape) for shape in shapes[:7])


def test_the_clock_counts_steps_and_takes_the_median(monkeypatch):
    times = iter([0.0, 1.0, 2.0, 50.0, 51.0])
    monkeypatch.setattr(ladder.time, "process_time", lambda: next(times))
    clock = ladder.Clock()
    assert list(clock.watch("abcde")) == list("abcde")
    assert clock.steps == [1.0, 1.0, 48.0, 1.0]
    assert clock.seconds(10) == 10.0


@pytest.mark.parametrize("name", ladder.STACKS)
def test_a_stack_is_timed_forward_and_backward(name):
    layers = ladder.STACKS[name](16)
    assert ladder.pass_seconds(layers, torch.randn(2, 5, 16), repeats=1) > 0
    assert all(weight.grad is not None for weight in layers.parameters())


@pytest.mark.parametrize("name", ladder.MULTI30K_RUNS)
def test_the_rungs_of_multi30k_are_as_large_as_those_that_were_trained(name):
    for run in records(name):
        model = ladder.multi30k(name, TYPES_OF_MULTI30K)
        assert sum(weight.numel() for weight in model.parameters()) == run["parts"]["model"]["parameters"]
        assert ladder.MULTI30K_RUNS[name][0] == run["parts"]["model"]["steps"]


def test_the_seconds_of_a_step_leave_out_the_first(monkeypatch):
    times = iter([0.0, 9.0, 10.0, 12.0])
    monkeypatch.setattr(ladder.time, "process_time", lambda: next(times))
    batches = [next(iter(data.batches(ladder.encode_pairs(READER, WRITER, PARTS["test"]), 4))) for _ in range(9)]
    assert ladder.step_seconds(ladder.rung("Transformer", TYPES), iter(batches), 2) == 1.5
