"""Counts where an index has 32 bits, as NumPy has it in a browser: the same numbers, or they would be wrong unsaid."""

import numpy as np
import pytest

from lmbook import ngram
from lmbook.counts import Counts, distinct

V = 1_000_000  # a number of an n-gram times this needs more than 32 bits
INDICES = ("searchsorted", "flatnonzero", "argsort", "lexsort", "unique")
MADE = ("arange", "array", "asarray", "concatenate", "cumsum", "where")  # of Python's integers: as long as an index


def narrowed(found):
    if isinstance(found, tuple):  # of np.unique: the values keep their kind, the indices have the short one
        return (found[0], *(narrowed(part) for part in found[1:]))
    return found.astype(np.int32) if found.dtype == np.int64 else found


def long_ones(given) -> bool:
    """Whether a dtype or an array among the arguments, or in a list of them, has 64 bits."""
    if isinstance(given, list | tuple):
        return any(map(long_ones, given))
    return given is np.int64 or getattr(given, "dtype", None) == np.int64


@pytest.fixture
def narrow(monkeypatch):
    """NumPy's functions that give indices give those of 32 bits, and bincount refuses longer ones."""
    for name in INDICES:
        wide = getattr(np, name)
        monkeypatch.setattr(np, name, lambda *given, wide=wide, **named: narrowed(wide(*given, **named)))
    for name in MADE:
        plain = getattr(np, name)

        def made(*given, plain=plain, **named):
            found = plain(*given, **named)
            return found if long_ones([*given, *named.values()]) else narrowed(found)

        monkeypatch.setattr(np, name, made)
    count = np.bincount

    def bincount(ids, *given, **named):
        if np.asarray(ids).dtype == np.int64:
            raise TypeError("Cannot cast array data from dtype('int64') to dtype('int32') according to the rule 'safe'")
        return count(ids, *given, **named)

    monkeypatch.setattr(np, "bincount", bincount)
    monkeypatch.setattr(np, "intp", np.int32)


def all_of_it() -> list:
    """Numbers, look-ups and probabilities of a stream of few types with high ids."""
    rng = np.random.default_rng(0)
    train, new = (V - 1 - rng.integers(40, size=size) for size in (6000, 500))
    counts = Counts(train, 5, V)
    allowed = np.zeros(V, bool)
    allowed[-60:] = True
    models = [
        ngram.KneserNey(counts, 4, allowed=allowed),
        ngram.KneserNey(counts, 3, allowed=allowed, modified=True),
        ngram.MaximumLikelihood(counts, 3, allowed),
        ngram.AddK(counts, 4, 0.1, allowed),
        ngram.JelinekMercer(counts, [0.1, 0.2, 0.3, 0.4], allowed),
    ]
    found = [model.log_probs(new) for model in models]
    found += [model.distribution(train[100:103])[-60:] for model in models]
    found += [*counts.keys, *counts.counts, *counts.suffix, *counts.find(new)]
    found += [np.array(counts.most_common(3, 5)[0][0]), *counts.followers(train[50:53])]
    return [*found, ngram.fit_weights(counts, 3, new, allowed, steps=20), *distinct(train[:50] * 2**40)]


def test_counts_are_the_same_where_an_index_has_32_bits(request):
    expected = all_of_it()
    request.getfixturevalue("narrow")
    for one, other in zip(expected, all_of_it(), strict=True):
        assert np.array_equal(one, other, equal_nan=True)


def test_what_overflows_there_overflows_here(narrow):
    assert (np.flatnonzero([0, 0, 1]) * 2**30)[0] < 0
    with pytest.raises(TypeError, match="int32"):
        np.bincount(np.array([1], np.int64))
