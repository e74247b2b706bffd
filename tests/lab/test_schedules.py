"""Schedules: the factor of the optimizer's rate at a step."""

from functools import partial

import pytest

from lmbook.lab import schedules


def test_schedules_at_their_corners():
    cosine = partial(schedules.warmup_cosine, warmup=10, total=110, floor=0.1)
    assert [cosine(s) for s in (1, 5, 10, 60, 110, 999)] == pytest.approx([0.1, 0.5, 1, 0.55, 0.1, 0.1])
    assert schedules.warmup_cosine(1, 0, 10) < 1
    assert schedules.constant(5) == 1


def test_a_warm_up_alone_depends_on_no_end():
    schedule = partial(schedules.warmup, steps=50)
    assert [schedule(s) for s in (1, 25, 50, 51, 10**6)] == pytest.approx([0.02, 0.5, 1, 1, 1])
    with pytest.raises(ValueError, match="at least one step"):
        schedules.warmup(1, 0)
