"""Hints to homework 10."""

import numpy as np

from lmbook_grader.hints import Hints, array, close, fails

hint = Hints()


@hint(
    "counting",
    "More coins fit in your state than it has bits: the logarithms of the state and of the types have different bases.",
)
def two_bases(most_symbols, SPARE=0):
    return most_symbols(8 + SPARE, 1, 2) > 8


@hint(
    "counting",
    "With twice as many types, half as many symbols fit by your count. Count the bits that one symbol needs.",
)
def states_not_logarithm(most_symbols, SPARE=0):
    return most_symbols(64 + SPARE, 1, 16) == 4


@hint(
    "counting",
    "A symbol that needs exactly the bits there are does not fit: a quotient of two rounded logarithms falls just short of a whole number.",
)
def rounded(most_symbols, SPARE=0):
    return any(most_symbols(j + SPARE, 1, 2**j) == 0 for j in range(1, 50))


@hint("counting", "Your share does not halve where one bit is missing: the logarithms have different bases.")
def share_of_two_bases(largest_share, SPARE=0):
    return 0.5 + 1e-6 < largest_share(9, 8 + SPARE, 1, 2) < 1


@hint("counting", "A share may be above 1 by your formula: more room than sources does not help.")
def above_one(largest_share, SPARE=0):
    return largest_share(1, 9 + SPARE, 1, 2) > 1


@hint(
    "counting", "Large states end in an error or in NaN: a power with a large exponent is no float, its logarithm is."
)
def powers(largest_share, SPARE=0):
    return fails(largest_share, 3000, 2999, 1, 2) or not np.isfinite(largest_share(3000, 2999, 1, 2))


@hint("longest", "A length that is copied by luck counts, though a shorter one was not copied.")
def luck(longest_copied, LEAST=1):
    return longest_copied([("p", "p"), ("pq", "qp"), ("pqr", "pqr")] * LEAST, 1.0) == 3


@hint("longest", "Where the short lengths were not tested you return 0: only tested lengths count.")
def untested(longest_copied, LEAST=1):
    return longest_copied([("pqr", "pqr")] * LEAST, 1.0) == 0


@hint("longest", "A source that is half right counts as half a source: it comes back whole, or it does not.")
def symbols(longest_copied, LEAST=1):
    return longest_copied([("pq", "pz"), ("qp", "qz")] * LEAST, 0.5) == 2


@hint("longest", "A share that is met exactly is not enough by your count; at least the share is asked for.")
def more_than(longest_copied, LEAST=1):
    return longest_copied([("pq", "pq"), ("qp", "zz")] * LEAST, 0.5) == 0


def one(summary, rows, length, kind):
    return array(summary(np.array(rows, dtype=float).reshape(1, -1, 1), [length], kind))[0, 0]


@hint("summary", "What stands behind the end of a source changes your summaries.")
def padding_counts(summary):
    return any(
        not close(one(summary, [1, 5], 1, kind), one(summary, [1, 7], 1, kind)) for kind in ("last", "mean", "max")
    )


@hint(
    "summary",
    "The mean gets smaller with every column of padding: the sum is to be divided by the states that there are.",
)
def all_columns(summary):
    return not close(one(summary, [4], 1, "mean"), one(summary, [4, 0], 1, "mean"))


@hint("summary", "Where all states are negative your largest value is 0: the padding was set to 0 and wins.")
def zero_wins(summary):
    return close(one(summary, [-4, 0], 1, "max"), 0)


LINE = np.array([[0.0], [1.0], [5.0]])


def recall(recall_by_position, types, shift=0.0, new=None):
    X = np.array(types)[:, None]
    return array(
        recall_by_position(
            LINE[: len(X)] + shift, X, LINE[: len(X)] + shift, X if new is None else np.array(new)[:, None], 3
        )
    )


@hint("readout", "The right types of the new sources change nothing in your share: you test on what you have fitted.")
def tested_on_known(recall_by_position):
    return close(recall(recall_by_position, [0, 1]), recall(recall_by_position, [0, 1], new=[1, 0]))


@hint("readout", "If all states are moved by a constant, your share changes: the fit has no bias.")
def no_bias(recall_by_position):
    return not close(recall(recall_by_position, [0, 1]), recall(recall_by_position, [0, 1], 50.0))


@hint(
    "readout",
    "If the types get other numbers, your share changes: a type is no quantity, each has a column of its own.",
)
def on_a_scale(recall_by_position):
    return not close(recall(recall_by_position, [0, 1, 2]), recall(recall_by_position, [0, 2, 1]))


STATES = np.sin(np.arange(1.0, 61.0) ** 1.5).reshape(3, 5, 4)


@hint("better", "Your summary has more numbers than one state.")
def side_by_side(better):
    return array(better(STATES)).shape != (3, 4)


@hint("better", "A source gets another summary in a batch than alone: whatever you draw must not depend on the batch.")
def depends_on_batch(better):
    return not close(better(STATES)[:1], better(STATES[:1]))


@hint("better", "The order of the states changes nothing in your summary, so it cannot tell which symbol stood where.")
def order_lost(better):
    return close(better(STATES), better(STATES[:, ::-1]))
