"""Windows for a model without a state: what is predicted, and after how much of the text."""

import numpy as np
import pytest

from lmbook.experiments.wikitext import strided
from lmbook.text import PAD_ID


@pytest.mark.parametrize("length", [5, 9, 10, 100, 101])
def test_every_token_is_predicted_once_after_as_many_others_as_promised(length):
    window, stride, text = 8, 4, np.arange(10, 10 + length)
    seen = {}
    for inputs, targets in strided(text, window, stride, B=3):
        for row, wanted in zip(inputs.tolist(), targets.tolist(), strict=True):
            for t, token in enumerate(wanted):
                if token != PAD_ID:
                    assert token not in seen
                    assert row[: t + 1] == list(range(token - t - 1, token))  # the text right before it
                    seen[token] = t + 1
    assert sorted(seen) == text[1:].tolist()
    assert all(window - stride + 1 <= n <= window for token, n in seen.items() if token > 10 + window)
