"""The keyboard's measures, in cases where one can say before what they must be."""

import numpy as np

from lmbook.lab.recipes.keyboard import SHOWN, Keyboard, gain, measures, typed
from lmbook.text import UNK_ID, Vocabulary

WORDS = ["tide", "tin", "ten", "to", "toe", "sea", ","]
VOCABULARY = Vocabulary(WORDS)
BOARD = Keyboard(VOCABULARY)


def scores(chances, text: list[str]) -> dict:
    ids = VOCABULARY.encode(text)
    return measures(typed(BOARD, ids, text, 0, len(text), lambda t: {0: chances(ids, t)})[0])


def test_a_keyboard_that_knows_the_word_costs_one_stroke_a_word():
    found = scores(lambda ids, t: np.eye(len(VOCABULARY))[ids[t]], ["tide", ",", "to", "sea"])
    assert found == {"hit rate": 1, "keystrokes saved": 1 - 3 / (5 + 3 + 4), "words": 3}


def test_a_keyboard_that_never_names_the_word_saves_nothing():
    """Every other word is likelier, and an unknown word is never suggested."""
    assert scores(lambda ids, t: np.ones(len(VOCABULARY)), ["kelp", "kelp"])["keystrokes saved"] == 0
    assert BOARD.letters(np.ones(len(VOCABULARY)), UNK_ID, "kelp") is None


def test_letters_are_typed_until_the_word_is_among_the_three():
    p = np.zeros(len(VOCABULARY))
    p[VOCABULARY.encode(["ten", "to", "tin", "tide", "toe", "sea"])] = [6, 5, 4, 3, 2, 1]
    letters = {w: BOARD.letters(p, int(VOCABULARY.encode([w])[0]), w) for w in ("ten", "tin", "tide", "toe", "sea")}
    assert letters == {"ten": 0, "tin": 0, "tide": 2, "toe": 2, "sea": 1}
    assert SHOWN == 3
    p[VOCABULARY.encode([","])] = 9  # a comma is likeliest and yet takes no place
    assert BOARD.letters(p, int(VOCABULARY.encode(["tin"])[0]), "tin") == 0


def test_the_gain_is_zero_against_itself_and_its_range_holds_it():
    rng = np.random.default_rng(0)
    worse = np.stack([np.zeros(500), rng.integers(2, 8, 500), np.full(500, 8)], 1).astype(float)
    better = worse.copy()
    better[:, 1] -= rng.random(500)
    assert gain(worse, worse) == [0, 0, 0]
    difference, low, high = gain(better, worse)
    assert 0 < low < difference < high
    assert np.isclose(difference, (worse[:, 1] - better[:, 1]).sum() / worse[:, 2].sum())
