"""The recipes for names: what is predicted, that parts do not mix, and the customary bigram figure counted by hand."""

import math
from collections import Counter

import numpy as np
import pytest
import torch

from lmbook import data
from lmbook.lab.recipes import RECIPES, Run, given_names
from lmbook.text import EOS_ID, SOS_ID

NAMES = [[5, 6, 7], [6], [8, 5], [7, 7, 7, 5, 6]]


def test_histories_do_not_reach_another_name():
    ids = given_names.stream(NAMES, 2)
    assert len(ids) == sum(len(name) + 3 for name in NAMES)
    for t in np.flatnonzero(ids == EOS_ID)[:-1]:
        assert ids[t + 1 : t + 3].tolist() == [SOS_ID, SOS_ID]


def test_the_longest_name_fits_and_can_be_written(tmp_path):
    run = Run(RECIPES["names-gpt"], 0, tmp_path, progress=False, quick=True)
    _, model = given_names.gpt(run)
    assert model.window == given_names.LONGEST + 1
    model(torch.full((1, given_names.LONGEST + 1), 5))


@pytest.mark.data
def test_the_bigram_of_the_whole_file(real_corpora, tmp_path):
    scores, _ = given_names.counts(Run(RECIPES["names-counts"], 0, tmp_path))
    pairs, firsts = Counter(), Counter()
    for name in (data.path("names", "names.txt")).read_text().removesuffix("\n").split("\n"):
        pairs.update(zip("." + name, name + ".", strict=True))
    for (first, _), n in pairs.items():
        firsts[first] += n
    nll = -sum(n * math.log(n / firsts[first]) for (first, _), n in pairs.items()) / pairs.total()
    assert scores["bigram, whole file"] == pytest.approx(nll, abs=1e-9)
    assert scores["predictions"] == pairs.total()
    assert round(nll, 4) == 2.4540, "the customary figure"


@pytest.mark.data
def test_no_name_is_in_two_parts(real_corpora):
    corpus = data.load("names")
    parts = [set(corpus[part]) for part in ("train", "valid", "test")]
    assert sum(map(len, parts)) == len(set.union(*parts)) == 29494
    assert max(map(len, set.union(*parts))) == given_names.LONGEST
