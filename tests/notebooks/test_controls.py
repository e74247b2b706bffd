"""The controls of chapter 16: what a classifier says of a word none of whose features it has seen."""

from pathlib import Path

import nbformat
import pytest
import torch
import torch.nn.functional as F
from torch import nn

CHAPTER = Path(__file__).parents[2] / "notebooks" / "16-bert.ipynb"


@pytest.fixture(scope="module")
def by_word():
    (cell,) = (cell for cell in nbformat.read(CHAPTER, as_version=4).cells if "def by_word(" in cell.source)
    names = {"torch": torch, "nn": nn, "F": F}
    exec(cell.source, names)
    return names["by_word"]


def test_a_word_never_seen_gets_the_commonest_tag_and_not_the_first(by_word):
    words, tags = ["blue"] * 3 + ["sea", "boat"] * 5, torch.tensor([0] * 3 + [1] * 10)
    found = by_word(words, tags, ["blue", "sea", "jetty"], classes=3, kinds=2)
    assert found.tolist() == [0, 1, 1]
    assert by_word(words, tags, ["jetty"], classes=3, kinds=2, bias=False).tolist() == [0]
