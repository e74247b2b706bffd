"""Skip-gram on WikiText-2: pairs are of the stream and near each other, negatives follow the noise."""

import math

import numpy as np
import pytest
import torch

from lmbook.lab.recipes.word_vectors import FAMILIES, LARGE, PAGE, K, drawn, families, family_share, loss
from lmbook.lab.train import evaluate
from lmbook.text import Vocabulary
from lmbook.word2vec import SkipGram, noise_distribution

STREAM = np.arange(200)  # every id once, so that a pair tells its two places
NOISE = noise_distribution(np.r_[np.zeros(190), np.full(9, 1), 16])


@pytest.mark.parametrize("setting", [LARGE, PAGE])
def test_pairs_are_at_most_a_window_apart_and_negatives_follow_the_noise(setting):
    batches = list(drawn(STREAM, NOISE, [0, 0], 3, setting))
    assert len(batches) == 3
    for centre, context, negatives in batches:
        assert negatives.shape == (setting.batch, K)
        apart = (centre - context).abs()
        assert apart.min() == 1
        assert apart.max() == setting.window
        assert negatives.min() >= 190, "what never occurs is never drawn"
        assert abs((negatives == 199).double().mean() - 8 / 17) < 0.02, "16 to the power 3/4 is 8"
    assert not torch.equal(batches[0][0], batches[1][0])


def test_an_untrained_pair_costs_six_times_ln_2():
    found = evaluate(SkipGram(200, 8), drawn(STREAM, NOISE, [0, 0], 2, PAGE), loss)
    assert abs(found - (1 + K) * math.log(2)) < 1e-6


def test_a_family_without_strangers_has_a_share_of_1_and_one_among_strangers_0():
    together = torch.eye(3).repeat_interleave(torch.tensor([4, 6, 7]), 0)  # of four members three can be near
    groups = [list(range(4)), list(range(4, 10)), list(range(10, 17))]
    assert family_share(together, groups) == 1
    apart = torch.eye(12)  # 0 and 1 are as far from each other as from all others
    assert family_share(torch.cat([apart[:2], apart[:1], apart[1:2]]), [[0, 1]]) == 1  # one of one, among five
    assert family_share(torch.cat([torch.eye(2), torch.eye(2).repeat(5, 1)]), [[0, 1]]) == 0  # its like are strangers


def test_words_that_a_vocabulary_lacks_are_in_no_family():
    some = Vocabulary.build(["north", "south", "east", "may", "king", "rock", "rock"])
    found = families(some)
    assert len(found) == len(FAMILIES)
    assert [some.decode(family) for family in found if family] == [["may"], ["north", "south", "east"], ["king"]]
