"""Counts of all n-grams of one stream, up to a chosen order, without a loop over tokens.

An n-gram is a history h of n-1 types and one more type w. Number the distinct histories 0, 1, 2, ...; then

    key(h w) = number(h) * vocab_size + w

is one integer, whatever n is, and counting is sorting: equal keys end up side by side. Sorted keys also keep all
followers of a history together, so that they are a slice, and a binary search finds any n-gram.

Keys and numbers have 64 bits everywhere: where an address has 32, as in a browser, so has what NumPy calls an index,
and number(h) * vocab_size would overflow without a word.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike


def as_ids(ids: ArrayLike, vocab_size: int, name: str = "ids") -> np.ndarray:
    """The ids as a one-dimensional int64 array.

    Raises TypeError unless they are integers, ValueError unless they are one-dimensional and in 0..vocab_size-1.
    """
    ids = np.asarray(ids)
    if ids.size == 0:
        ids = ids.astype(np.int64)
    if ids.ndim != 1:
        raise ValueError(f"{name} has {ids.ndim} dimensions; give one stream, a list or array of one dimension.")
    if not np.issubdtype(ids.dtype, np.integer):
        raise TypeError(f"{name} holds {ids.dtype}, not integers; encode tokens with a vocabulary first.")
    outside = (ids < 0) | (ids >= vocab_size)
    if outside.any():
        first = int(np.argmax(outside))
        raise ValueError(
            f"{name}[{first}] is {ids[first]}, outside the vocabulary of {vocab_size} types (0..{vocab_size - 1})."
        )
    return ids.astype(np.int64, copy=False)


class Counts:
    """How often each n-gram occurs in a stream of ids, for n = 1..order.

    ids: (T,) integers in 0..vocab_size-1, the stream.  The histories run over everything in it, line ends too.
    For n = 1..order, and with N_n distinct n-grams in the order of their keys:
        keys[n]    (N_n,) number of the history * vocab_size + last type
        counts[n]  (N_n,) occurrences
        suffix[n]  (N_n,) number of the (n-1)-gram that is left when the first type is dropped
    Index 0 is the empty n-gram: one of it, occurring T times.
    Raises ValueError for an empty stream, an order below 1, and ids outside the vocabulary.
    """

    def __init__(self, ids: ArrayLike, order: int, vocab_size: int):
        ids = as_ids(ids, vocab_size)
        if len(ids) == 0:
            raise ValueError("ids is empty; there is nothing to count.")
        if order < 1:
            raise ValueError(f"order is {order}; n-grams start at order 1.")
        self.order, self.vocab_size, self.length = order, vocab_size, len(ids)
        self.keys, self.counts = [np.zeros(1, np.int64)], [np.array([len(ids)])]
        self.suffix = [np.zeros(1, np.int64)]
        number = np.zeros(len(ids) + 1, np.int64)  # number[t]: the (n-1)-gram that starts at t; empty ones at first
        for n in range(1, order + 1):
            history = number[: max(len(ids) - n + 1, 0)]
            keys, first, grams, counts = distinct(history * vocab_size + ids[n - 1 :])
            self.keys.append(keys)
            self.counts.append(counts)
            self.suffix.append(number[first + 1])
            number = grams

    def types(self, n: int) -> int:
        """How many distinct n-grams the stream holds."""
        return len(self.keys[self._checked(n)])

    def count(self, ngram: Sequence[int]) -> int:
        """How often this n-gram, given as ids, occurs in the stream; the empty one occurs at every token."""
        number = self.number(as_ids(ngram, self.vocab_size, "ngram"))
        return int(self.counts[len(ngram)][number]) if number >= 0 else 0

    def followers(self, history: Sequence[int]) -> tuple[np.ndarray, np.ndarray]:
        """The types seen after this history, as ids in rising order, and how often each.

        Both arrays are empty where the history never occurs. Raises ValueError if it has order or more types.
        """
        n = self._checked(len(history) + 1)
        span = self.span(n, self.number(as_ids(history, self.vocab_size, "history")))
        return self.keys[n][span] % self.vocab_size, self.counts[n][span]

    def most_common(self, n: int, k: int = 10) -> list[tuple[tuple[int, ...], int]]:
        """The k most frequent n-grams as (ids, count), ties in the order of the ids."""
        best = np.argsort(-self.counts[self._checked(n)], kind="stable")[:k]
        ngrams, number = [], best
        for m in range(n, 0, -1):
            number, last = np.divmod(self.keys[m][number], self.vocab_size)
            ngrams.append(last)
        return [
            (tuple(g), c)
            for g, c in zip(np.stack(ngrams[::-1], 1).tolist(), self.counts[n][best].tolist(), strict=True)
        ]

    def number(self, ngram: np.ndarray) -> int:
        """The number of one n-gram among the distinct ones of its length, -1 if it never occurs."""
        self._checked(len(ngram), least=0)
        return int(self.find(ngram, len(ngram))[len(ngram)][-1]) if len(ngram) else 0

    def find(self, ids: np.ndarray, order: int | None = None) -> list[np.ndarray]:
        """Looks up every n-gram of another stream: find(ids)[n][t] is the number of the one that ends at position t.

        It is -1 where the n-gram does not occur here, or where there are fewer than n tokens; entry 0 is 0 everywhere.
        """
        ids = as_ids(ids, self.vocab_size)
        numbers = [np.zeros(len(ids), np.int64)]
        for n in range(1, self._checked(self.order if order is None else order, least=0) + 1):
            history = numbers[-1] if n == 1 else shift(numbers[-1])
            keys = np.where(history >= 0, history * self.vocab_size + ids, -1)
            place = np.minimum(np.searchsorted(self.keys[n], keys), len(self.keys[n]) - 1)
            known = self.keys[n][place] == keys if len(self.keys[n]) else np.zeros(len(ids), bool)
            numbers.append(np.where(known, place, -1).astype(np.int64, copy=False))
        return numbers

    def span(self, n: int, history: int) -> slice:
        """The n-grams with this history (its number, or -1), as a slice of all n-grams."""
        first = history * self.vocab_size
        ends = np.searchsorted(self.keys[n], [first, first + self.vocab_size]) if history >= 0 else (0, 0)
        return slice(*ends)

    def _checked(self, n: int, least: int = 1) -> int:
        if not least <= n <= self.order:
            raise ValueError(
                f"n-grams of length {n} were not counted: Counts has order {self.order}; count to a higher one."
            )
        return n


def distinct(keys: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """np.unique of keys >= 0, with the place of each one's first occurrence, the number of each key, and the counts.

    Faster, since NumPy sorts integers ten times faster than it finds their order: where key and place fit together into
    one integer, that integer is sorted.
    """
    T = len(keys)
    if T == 0 or (int(keys.max()) + 1) * T >= 2**63:
        keys, *found = np.unique(keys, return_index=True, return_inverse=True, return_counts=True)
        first, number, counts = (part.astype(np.int64, copy=False) for part in found)
        return keys, first, number, counts
    keys, place = np.divmod(np.sort(keys * T + np.arange(T)), T)
    new = np.diff(keys, prepend=-1) > 0
    first, number = np.flatnonzero(new).astype(np.int64, copy=False), np.empty(T, np.int64)
    number[place] = np.cumsum(new) - 1
    return keys[first], place[first], number, np.diff(first, append=T)


class Tokens:
    """Table entries for every token w_t of a stream from `start`, h being the tokens before it: arrays (T - start,).

    word(table) takes the entries of w_t from a table over types, ngram(n, table) those of h w_t from one over n-grams,
    history(n, table) those of h from one over (n-1)-grams; 0 where the stream counted has no such n-gram or history.
    exists[n]: whether the position has n-1 tokens before it.
    """

    def __init__(self, counts: Counts, order: int, ids: np.ndarray, start: int):
        cut = max(0, start - order + 1)  # earlier tokens are in no history that is asked for
        position = np.arange(start, len(ids))
        numbers = counts.find(ids[cut:], order)
        before = [numbers[0], *(shift(ending) for ending in numbers[1:])]
        self.words = ids[start:]
        self.ngrams = {n: numbers[n][start - cut :] for n in range(1, order + 1)}
        self.histories = {n: before[n - 1][start - cut :] for n in range(1, order + 1)}
        self.exists = {n: position >= n - 1 for n in range(1, order + 1)}

    def word(self, table: np.ndarray) -> np.ndarray:
        return table[self.words]

    def ngram(self, n: int, table: np.ndarray) -> np.ndarray:
        return _entries(table, self.ngrams[n])

    def history(self, n: int, table: np.ndarray) -> np.ndarray:
        return _entries(table, self.histories[n])


class Context:
    """The same for every type w of the vocabulary after one history h: arrays (vocab,), one number for h alone."""

    def __init__(self, counts: Counts, order: int, history: np.ndarray):
        self.counts = counts
        self.exists = {n: len(history) >= n - 1 for n in range(1, order + 1)}
        self.histories = {
            n: counts.number(history[len(history) - n + 1 :]) if exists else -1 for n, exists in self.exists.items()
        }

    def word(self, table: np.ndarray) -> np.ndarray:
        return table

    def ngram(self, n: int, table: np.ndarray) -> np.ndarray:
        span = self.counts.span(n, self.histories[n])
        row = np.zeros(self.counts.vocab_size)
        row[self.counts.keys[n][span] % self.counts.vocab_size] = table[span]
        return row

    def history(self, n: int, table: np.ndarray) -> np.float64:
        # an unseen history: dividing by a NumPy zero warns, by 0.0 it raises
        return table[self.histories[n]] if self.histories[n] >= 0 else np.float64(0)


def _entries(table: np.ndarray, numbers: np.ndarray) -> np.ndarray:
    return np.where(numbers >= 0, table[numbers], 0.0) if len(table) else np.zeros(len(numbers))


def shift(numbers: np.ndarray) -> np.ndarray:
    """One position later: entry t of the result is entry t-1, and -1 at the start, where no history exists."""
    return np.concatenate([[-1], numbers[:-1]])[: len(numbers)]
