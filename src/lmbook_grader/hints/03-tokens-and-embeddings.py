"""Hints to homework 3."""

import numpy as np

from lmbook_grader.hints import Hints, close, fails

hint = Hints()
PAIRS = [[0, 1], [2, 3], [1, 0], [3, 2]] * 20  # two circles of two words


def of(pair):
    return tuple(map(int, pair))


@hint(
    "best-pair",
    "Where no piece has two ids your function stops with an error: there is no pair, and the question says what to return.",
)
def no_pair(best_pair, TIMES=1):
    return fails(best_pair, [[1], []])


@hint("best-pair", "Of pairs that are equally frequent you take the one that came first; the smallest is asked for.")
def tie_by_order(best_pair, TIMES=1):
    return of(best_pair([[], [8, 9], [3, 4]])) == (8, 9)


@hint("best-pair", "A pair that repeats itself within a piece counts only once in your table.")
def once_a_piece(best_pair, TIMES=1):
    return of(best_pair([[], [9, 8, 9, 8, 9, 8], [1, 2]])) == (1, 2)


@hint(
    "best-pair",
    "A run of equal ids counts too little: neighbouring pairs may share an id, as the question's last sentence says.",
)
def no_overlap(best_pair, TIMES=1):
    return of(best_pair([[], [7, 7, 7], [1, 2]])) == (1, 2)


@hint("merge", "An id is used twice: in a run of three equal ids only the first two are a pair, and one is left over.")
def used_twice(merge):
    return list(merge([5, 5, 5], (5, 5), 300)) == [300, 300]


@hint("encode", "A letter beyond ASCII gives one id in your encoder: a token is made of bytes, not of characters.")
def code_points(encode):
    return len(encode("ü", [])) == 1


@hint(
    "encode",
    "Your encoder takes the longest token that fits; in what order were the merges learned? The earlier one has used up its letters.",
)
def longest_first(encode):
    return 257 not in encode("pqrs", [(113, 114), (112, 113), (257, 114)]) and 256 not in encode(
        "pqrs", [(113, 114), (112, 113), (257, 114)]
    )


@hint(
    "encode",
    "Merges that were learned later are applied first: they are built from the earlier ones, which are not there yet.",
)
def last_first(encode):
    return 257 not in encode("pqr", [(112, 113), (256, 114)])


@hint(
    "decode",
    "Each byte becomes a character of its own: the bytes of all tokens belong together before they are decoded.",
)
def byte_by_byte(decode):
    return decode([195, 188], []) == "Ã¼"


@hint("decode", "Each token is decoded on its own; a character's bytes may lie in two tokens.")
def token_by_token(decode):
    return "\ufffd" in decode([195, 188], [])


@hint("learn", "You learn pairs of characters: merges begin with bytes, or `encode` will not find them.")
def learns_code_points(learn):
    return any(max(of(pair)) > 257 for pair in learn("⸹⸹⸹⸹", 1))


@hint("learn", "No merge of yours uses a token that was made before: after each merge the pairs are counted anew.")
def from_the_bytes(learn):
    return all(max(of(pair)) < 128 for pair in learn("pqrpqrpqr", 2)) and (0, 114) not in map(of, learn("pqrpqrpqr", 2))


@hint("learn", "The new tokens get ids that bytes have already: the first 256 are taken.")
def ids_from_zero(learn):
    return (0, 114) in map(of, learn("pqrpqrpqr", 2))


@hint(
    "skip-gram",
    "A step down your gradient makes the context less likely: the sign is that of the step, not of the derivative.",
)
def sign(centre_gradient):
    return centre_gradient(np.zeros(1), np.ones(1), np.zeros((1, 1)))[0] > 0


@hint("skip-gram", "Only one of the negative samples changes your gradient: each of them adds its term.")
def last_sample(centre_gradient):
    v, u = np.ones(1), np.zeros(1)
    return close(centre_gradient(v, u, np.array([[9.0], [1.0]])), centre_gradient(v, u, np.array([[1.0]])))


@hint(
    "neighbours", "Training changes nothing: with more passes over the sentences the vectors stay as they were drawn."
)
def not_trained(train, SPECIAL=0):
    return close(train(PAIRS, 4, 3, 1, 0.3), train(PAIRS, 4, 3, 5, 0.3))


@hint(
    "neighbours",
    "Training makes the company of a word less likely: in which direction does your step change the vectors?",
)
def uphill(train, SPECIAL=0):
    v = np.asarray(train([[0, 1], [1, 0]] * 60, 6, 4, 3, 0.3))
    return np.isnan(v).any() or np.abs(v).max() > 1e3


def near(nearest, SPECIAL, vectors, k):
    """The nearest to the first of these vectors, counted from it; before them come those of special tokens."""
    rows = [[-1.0, 0.0]] * SPECIAL + vectors
    return [int(other) - SPECIAL for other in nearest(np.array(rows, dtype=float), SPECIAL, k)]


@hint("neighbours", "Your list contains the word itself: it is nearest to itself, and not asked for.")
def itself(nearest, SPECIAL=0):
    return 0 in near(nearest, SPECIAL, [[1.0, 0], [1, 1], [0, 1]], 2)


@hint("neighbours", "A long vector wins in your list whatever its direction: the cosine does not see lengths.")
def product(nearest, SPECIAL=0):
    return near(nearest, SPECIAL, [[1.0, 0], [1, 0.1], [50, 50]], 1)[0] == 2


@hint(
    "neighbours", "A vector that points the same way and is longer counts as far: you measure distance, not the angle."
)
def distance(nearest, SPECIAL=0):
    return near(nearest, SPECIAL, [[1.0, 0], [0.5, 0.5], [50, 0]], 1)[0] == 1
