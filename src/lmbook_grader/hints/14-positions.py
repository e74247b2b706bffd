"""Hints to homework 14."""

import numpy as np

from lmbook_grader.hints import Hints, array, close

hint = Hints()


def table(binary_table, size):
    return [list(map(int, row)) for row in binary_table(size)]


@hint("binary", "A table of one position has no bit; one is asked for.")
def no_bit(binary_table):
    return table(binary_table, 1) == [[]]


@hint("binary", "Your rows differ in length: all codes of a table have as many bits as the last position needs.")
def own_length(binary_table):
    return len({len(row) for row in table(binary_table, 6)}) > 1


@hint("binary", "A table that ends before a power of two has a bit too many: the last position is n - 1.")
def too_many(binary_table):
    return len(table(binary_table, 8)[0]) == 4


@hint("binary", "The highest bit comes first in your codes; the lowest is asked for.")
def highest_first(binary_table):
    return table(binary_table, 3)[1] == [0, 1]


@hint("binary", "On the way back you read the first bit as the highest; it is the lowest.")
def read_from_highest(position_of):
    return position_of([1, 0]) == 2


def speed(codes, C=100):
    """By how much the last of two pairs turns from one position to the next, its numbers taken as sine and cosine."""
    one, other = array(codes([3, 4], 4, C))[:, 2:]
    turn = np.arctan2(*other) - np.arctan2(*one)
    return (turn + np.pi) % (2 * np.pi) - np.pi


@hint("sinusoids", "Sines and cosines stand in two blocks: the sine of a speed is followed by its cosine.")
def two_blocks(codes, FROM=0):
    c = array(codes([3], 4, 100))[0]
    return close(c[0] ** 2 + c[2] ** 2, 1) and not close(c[0] ** 2 + c[1] ** 2, 1)


@hint("sinusoids", "The list of positions changes nothing but the number of rows.")
def from_zero(codes, FROM=0):
    return close(codes([7], 4, 100), codes([2], 4, 100))


@hint("sinusoids", "The cosine comes first in your pairs.")
def cosine_first(codes, FROM=0):
    return -1 < speed(codes) < 0


@hint("sinusoids", "The base changes nothing.")
def fixed_base(codes, FROM=0):
    return close(speed(codes, 100), speed(codes, 50))


@hint("sinusoids", "Later pairs turn faster in your codes; they are to turn more slowly.")
def growing(codes, FROM=0):
    return not -1 < speed(codes, 2) < 1


@hint("sinusoids", "Your last pair is too fast: a pair takes two numbers of the width, and the exponent knows it.")
def half_exponent(codes, FROM=0):
    return close(speed(codes), 100 ** (-1 / 4))


@hint("shift", "A shift of yours goes back where it should go on: from position 0 the first number, a sine, rises.")
def other_way(shift):
    return array(shift(1, 4, 100))[0, 1] < 0


@hint("shift", "All pairs turn by the same angle: each has a speed of its own.")
def one_speed(shift):
    R = array(shift(1, 4, 100))
    return close(R[:2, :2], R[2:, 2:])


@hint("shift", "A negative offset shifts nothing.")
def no_negative(shift):
    return close(shift(-1, 4, 100), np.eye(4))


@hint("shift", "Your test looks at the first positions only.")
def first_positions(has_shift):
    return bool(has_shift(np.array([[1.0], [1.0], [5.0], [1.0]]), 1))


@hint("shift", "You allow a constant beside the matrix: counting, 1, 2, 3, ..., has no matrix that adds 1.")
def constant(has_shift):
    return bool(has_shift(np.arange(1.0, 9.0)[:, None], 1))


@hint("shift", "One position may be far off by your test, since you average: the map has to fit everywhere.")
def mean_error(has_shift):
    P = np.ones((60, 1))
    P[-1] = 1.5
    return bool(has_shift(P, 1, 0.1))


@hint("shift", "Equal products say nothing of a map: this table sends one code to two different ones.")
def products(has_shift):
    return bool(has_shift(np.eye(3)[[0, 1, 0, 2]], 1))


ROWS = np.array([[1.0, 0.5]] * 3)


@hint(
    "turned", "Equal rows get different scores with themselves at different positions: keys are turned as queries are."
)
def only_queries(turned_scores, STRETCH=1):
    found = array(turned_scores(ROWS, ROWS, 100))
    return not close(found[0, 0], found[2, 2])


@hint("turned", "A late start changes your scores: it moves queries and keys alike.")
def start_of_queries(turned_scores, STRETCH=1):
    return not close(turned_scores(ROWS, ROWS, 100, 5), turned_scores(ROWS, ROWS, 100), 1e-5)


@hint("turned", "Wider rows, with zeros, get the same scores: they are not divided.")
def not_divided(turned_scores, STRETCH=1):
    wide = np.hstack([ROWS, 0 * ROWS])
    return close(turned_scores(ROWS, ROWS, 100), turned_scores(wide, wide, 100))


@hint("turned", "All pairs turn at one speed: rows in the second pair score as in the first.")
def same_speed(turned_scores, STRETCH=1):
    first, second = np.hstack([ROWS, 0 * ROWS]), np.hstack([0 * ROWS, ROWS])
    return close(turned_scores(first, first, 100), turned_scores(second, second, 100))


@hint(
    "parts", "In your second table the positions ask and the words answer: a row belongs to a query, a column to a key."
)
def exchanged(four_parts):
    parts = four_parts(np.array([[1.0], [0.0]]), np.array([[0.0], [1.0]]), np.eye(1))
    return close(parts[1], [[0, 0], [1, 0]])
