"""Streams cut into windows: where each row starts, and that nothing between two windows is lost or said twice."""

import numpy as np
import pytest

from lmbook.data.batching import stream_batches


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
