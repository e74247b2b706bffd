"""Streams cut into windows: where each row starts, and that nothing between two windows is lost or said twice."""

from itertools import pairwise

import numpy as np
import pytest
import torch

from lmbook.data.batching import batches, random_windows, stream_batches, windows
from lmbook.text import PAD_ID


@pytest.mark.parametrize("T", [1, 4, 7, 20])
def test_the_rows_of_the_windows_are_the_text(T):
    ids = 100 + np.arange(23)  # 22 have a next token: three streams of 7, and one left over
    windows = list(stream_batches(ids, 3, T))
    assert [part.shape[1] for part, _ in windows] == [T] * (7 // T) + [7 % T] * (7 % T > 0)
    inputs, targets = (np.concatenate(side, axis=1) for side in zip(*windows, strict=True))
    assert inputs.tolist() == [[100 + start + t for t in range(7)] for start in (0, 7, 14)]
    assert (targets == inputs + 1).all()


def test_too_short_a_text_is_refused():
    assert len(list(stream_batches([5, 6], 1, 9))) == 1
    for ids, B, T in (([5, 6, 7], 3, 2), ([5], 1, 2), ([5, 6, 7], 0, 2), ([5, 6, 7], 1, 0)):
        with pytest.raises(ValueError, match=r"cannot make|must be at least 1"):
            list(stream_batches(ids, B, T))


@pytest.fixture
def ids():
    return np.random.default_rng(0).integers(5, 30, size=150)


@pytest.mark.parametrize("B", [1, 3, 64])
@pytest.mark.parametrize("length", [150, 145, 146, 17, 5])
def test_every_character_but_the_first_is_a_target_once_and_in_order(ids, length, B):
    found = []
    for inputs, targets in windows(ids[:length], 16, B):
        assert inputs.shape == targets.shape
        found += targets[targets != PAD_ID].tolist()
        assert torch.equal(inputs[:, 1:][targets[:, 1:] != PAD_ID], targets[:, :-1][targets[:, 1:] != PAD_ID])
    assert found == ids[1:length].tolist()


def test_an_epoch_is_pieces_of_the_text_and_repeats_no_target(ids):
    seen = []
    for inputs, targets in random_windows(np.arange(1000), 16, 4, [0, 0]):
        assert inputs.shape == (4, 16)
        assert torch.equal(inputs + 1, targets)
        seen += targets.flatten().tolist()
    assert len(seen) == len(set(seen)) > 900


@pytest.mark.parametrize(("length", "B", "full"), [(17, 1, 1), (96, 2, 2), (96, 5, 1), (18, 1, 1)])
def test_every_window_that_fits_is_drawn_and_every_batch_is_full(length, B, full):
    """96 tokens make 5 windows of 16 wherever the first begins; those that fill no batch are left out."""
    for seed in range(20):
        found = [inputs for inputs, _ in random_windows(np.arange(length), 16, B, seed)]
        assert [len(inputs) for inputs in found] == [B] * full
        starts = sorted(row[0].item() for inputs in found for row in inputs)
        assert all((later - start) % 16 == 0 for start, later in pairwise(starts))
        assert 0 <= starts[0] < 96
        assert starts[-1] + 16 < length


def test_a_text_of_any_length_is_cut_to_its_end():
    for length in range(17, 80):
        drawn = random_windows(np.arange(length), 16, 1, length)
        starts = sorted(inputs[0, 0].item() for inputs, _ in drawn)
        assert starts == list(range(starts[0], length - 16, 16))
        assert starts[0] < 16


def test_epochs_differ_and_come_back(ids):
    first, again, other = (list(random_windows(ids, 16, 2, [0, epoch])) for epoch in (0, 0, 1))
    assert all(torch.equal(a[0], b[0]) for a, b in zip(first, again, strict=True))
    assert not torch.equal(first[0][0], other[0][0])


@pytest.mark.parametrize("length", [5, 9, 10, 100, 101])
def test_every_token_is_predicted_once_after_as_many_others_as_promised(length):
    window, stride, text = 8, 4, np.arange(10, 10 + length)
    seen = {}
    for inputs, targets in windows(text, window, B=3, stride=stride):
        for row, wanted in zip(inputs.tolist(), targets.tolist(), strict=True):
            for t, token in enumerate(wanted):
                if token != PAD_ID:
                    assert token not in seen
                    assert row[: t + 1] == list(range(token - t - 1, token))  # the text right before it
                    seen[token] = t + 1
    assert sorted(seen) == text[1:].tolist()
    assert all(window - stride + 1 <= n <= window for token, n in seen.items() if token > 10 + window)


def test_a_text_shorter_than_a_window_is_one_row():
    ((inputs, targets),) = windows(range(10, 15), T=8, stride=1)
    assert (inputs.tolist(), targets.tolist()) == ([[10, 11, 12, 13]], [[11, 12, 13, 14]])


@pytest.mark.parametrize(
    ("cut", "says"),
    [
        (lambda: windows(range(99), T=16, stride=17), "stride is 17"),
        (lambda: windows(range(99), T=16, stride=-1), "stride is -1"),
        (lambda: windows(range(99), T=16, stride=0), "stride is 0"),
        (lambda: windows(range(99), T=0), "T is 0"),
        (lambda: windows(range(99), T=16, B=0), "B is 0"),
        (lambda: windows([7], T=16), "text of 1 tokens"),
        (lambda: random_windows(np.arange(16), 16, 4, 0), "text of 16 tokens"),
        (lambda: random_windows(np.arange(99), 16, 0, 0), "B is 0"),
    ],
)
def test_what_would_lose_targets_is_refused(cut, says):
    with pytest.raises(ValueError, match=says):
        next(cut())


def test_every_token_but_the_first_is_a_target_once_at_any_stride():
    for stride in range(1, 17):
        targets = torch.cat([part[part != 0] for _, part in windows(range(1, 100), 16, B=4, stride=stride)])
        assert targets.tolist() == list(range(2, 100))


def test_the_order_of_pairs_depends_on_the_seed_alone():
    pairs = [([5 + i % 5], [5 + i, 5]) for i in range(24)]

    def order(seed: int) -> list[int]:
        return [int(batch[2][0, 0]) for batch in batches(pairs, 1, seed)]

    assert order(0) == order(0)
    assert order(0) != order(1)
    assert sorted(order(0)) == [target[0] for _, target in pairs]
