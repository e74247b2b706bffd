"""The pieces of the recipe that reads a published encoder as it is."""

import numpy as np
import torch

from lmbook.bert import BERT
from lmbook.lab.recipes import published_encoder
from lmbook.networks import evaluating

ROWS = [
    ("he forgot to buy some bread", "il a oublié le pain"),
    ("the loaf slipped out of his mind", "il a oublié le pain"),
    ("he forgot to buy some milk", "il a oublié le lait"),
    ("he forgot to buy the milk", "il a oublié le lait"),
    ("too short", "il a oublié le pain"),
    ("the loaf slipped out of his mind", "ça lui est sorti de la tête"),
    ("that went clean past us all", "ça lui est sorti de la tête"),
]


def test_pairs_say_the_same_in_other_words_and_share_no_sentence():
    for seed in range(5):
        ((one, other),) = published_encoder.same_meaning(ROWS, seed)
        assert {"the loaf slipped out of his mind"} < {one, other}
        assert published_encoder.common(one, other) <= published_encoder.COMMON
    many = published_encoder.same_meaning(ROWS, alike=1.0)
    assert len({text for pair in many for text in pair}) == 2 * len(many) == 4
    assert published_encoder.same_meaning(ROWS, most=1) == published_encoder.same_meaning(ROWS)[:1]


def test_common_words_are_a_share_of_all():
    assert published_encoder.common("A cat sat.", "a CAT ran") == 2 / 4
    assert published_encoder.common("", "") == 0


def test_the_nearest_is_found_first():
    unit = torch.eye(4)
    assert published_encoder.found_first(unit, unit) == {"accuracy": 1.0, "right": "1111"}
    assert published_encoder.found_first(unit, unit[[0, 1, 3, 2]]) == {"accuracy": 0.5, "right": "1100"}


def test_counts_find_the_same_words():
    found = published_encoder.counted([("a red boat", "the boat is red"), ("some bread", "buy the bread")])
    assert published_encoder.found_first(*found)["accuracy"] == 1


def test_states_are_those_of_the_model_at_the_first_pieces():
    torch.manual_seed(0)
    bert = BERT(20, 16, 8, 2, 2).eval()
    frames = {"a": ([2, 7, 8, 3], [1, 2]), "b": ([2, 9, 10, 11, 3], [1, 3])}
    found = published_encoder.word_states(bert, lambda words: frames[words[0]], [["a"], ["b"]])
    assert found.shape == (3, 4, 8)
    with evaluating(bert):
        last = [bert(torch.tensor([ids]))[0, firsts] for ids, firsts in frames.values()]
    np.testing.assert_allclose(found[-1], torch.cat(last).numpy(), atol=1e-6)


def test_the_probe_reads_what_a_line_can_separate_and_nothing_from_noise():
    rng = np.random.default_rng(0)
    gold = [rng.integers(2, size=n) for n in (400, 200, 400)]
    noise = [rng.normal(size=(2, len(y), 5)) for y in gold]
    told = [np.stack([H[0], H[1] + 4 * y[:, None]]) for H, y in zip(noise, gold, strict=True)]
    best = published_encoder.probed(*told, tuple(gold), 2)
    assert best["layer"] == 1
    assert best["accuracy"] > 0.95
    assert abs(published_encoder.probed(*noise, tuple(gold), 2)["accuracy"] - 0.5) < 0.1
