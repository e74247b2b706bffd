"""What chapter 1 measures with counts, in cases where one can say before what must come out."""

import numpy as np
import pytest

from lmbook.counts import Counts
from lmbook.lab.recipes.counting import Numerators, corrected, draw, held_out, one_edit
from lmbook.ngram import AddK
from lmbook.text import UNK_ID, Vocabulary

LINE = "the boat sails to the coast and the goat stays at the coat by the coast <eos>"
TEXT = LINE.split() * 6


@pytest.fixture(scope="module")
def counted():
    vocabulary = Vocabulary.build(TEXT)
    ids = vocabulary.encode(TEXT)
    return vocabulary, ids, Counts(ids, 2, len(vocabulary))


def test_an_edit_changes_adds_drops_or_swaps_one_letter():
    known = {"coast", "coat", "boast", "coats", "caost", "roast", "post"}
    assert one_edit("coast", known) == ["boast", "caost", "coast", "coat", "coats", "roast"]


def test_each_slip_has_its_right_word_among_words_one_edit_from_what_was_written(counted):
    vocabulary, ids, _ = counted
    stretches, right = draw(ids, vocabulary, 12, np.random.default_rng(0))
    assert len(stretches) == len(right) == 12
    for stretch, answer in zip(stretches, right, strict=True):
        outer = np.delete(stretch, 4, axis=1)
        assert (outer == outer[0]).all(), "only the middle differs"
        assert any((ids[t : t + 9] == stretch[answer]).all() for t in range(len(ids) - 8))


@pytest.mark.parametrize("factors", [slice(4, 5), slice(4, 9)])
def test_choosing_many_at_once_is_choosing_one_by_one(counted, factors):
    vocabulary, ids, counts = counted
    stretches, right = draw(ids, vocabulary, 12, np.random.default_rng(1))
    model = AddK(counts, 2, 1.0)
    found = corrected(model, stretches, right, factors)
    for stretch, answer, ok in zip(stretches, right, found, strict=True):
        products = [
            np.prod([model.prob(row[:t], row[t]) for t in range(factors.start, factors.stop)]) for row in stretch
        ]
        assert ok == (int(np.argmax(products)) == answer)


def test_numerators_are_those_of_add_one(counted):
    _, ids, counts = counted
    found = np.exp(Numerators(counts, 2, 1.0).log_probs(ids[:20], start=1))
    expected = [counts.count(ids[t - 1 : t + 1]) + 1 for t in range(1, 20)]
    assert np.allclose(found, expected)


def test_a_type_that_only_the_held_out_text_has_is_dear_unless_it_is_unknown(counted):
    vocabulary, ids, _ = counted
    kept, rest = ids[ids != vocabulary["goat"]], ids[:17]
    full, own = np.ones(len(vocabulary), bool), np.isin(np.arange(len(vocabulary)), kept)
    kept = np.append(kept, UNK_ID)
    dear, cheap = held_out(kept, rest, full), held_out(kept, rest, own)
    assert dear["share uncounted"] == pytest.approx(1 / 17)
    assert cheap["share uncounted"] == 0
    assert dear["loss"] > cheap["loss"]
