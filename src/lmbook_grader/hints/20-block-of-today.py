"""Hints to homework 20."""

import numpy as np

from lmbook_grader.hints import Hints, array, close

hint = Hints()
ROW, GAIN = np.array([[3.0, 5.0]]), np.array([1.0, 2.0])


@hint("parts", "A row of equal numbers comes out as zeros: this norm does not subtract the mean.")
def mean_subtracted(rms_norm):
    return close(array(rms_norm(np.array([[2.0, 2.0]]), np.ones(2))), [[0, 0]])


@hint(
    "parts", "Two equal numbers come out as less than 1: divide by the root of the mean of the squares, not of the sum."
)
def sum_of_squares(rms_norm):
    return close(array(rms_norm(np.array([[2.0, 2.0]]), np.ones(2))), np.full((1, 2), 0.5**0.5))


@hint("parts", "A row of zeros becomes NaN: there the size is 0, and nothing may be divided by it.")
def zeros_divided(rms_norm):
    with np.errstate(all="ignore"):
        return np.isnan(array(rms_norm(np.zeros((1, 2)), np.ones(2)))).any()


@hint("parts", "Another gain changes nothing in your output.")
def no_gain(rms_norm):
    return close(array(rms_norm(ROW, GAIN)), array(rms_norm(ROW, 2 * GAIN)))


def gated(swiglu, x, first=1.0, second=1.0):
    one = np.ones((1, 1))
    with np.errstate(all="ignore"):
        return array(swiglu(x * one, first * one, second * one, one))[0, 0]


@hint("parts", "The gate is computed from the third matrix: it belongs to the first.")
def gate_exchanged(swiglu):
    return abs(gated(swiglu, 50.0, -1.0, 1.0)) > 1


@hint("parts", "With large negative entries your gate overflows: use an exponential whose argument is never positive.")
def gate_overflows(swiglu):
    with np.errstate(over="raise"):
        try:
            swiglu(np.array([[-1000.0]]), np.ones((1, 1)), np.ones((1, 1)), np.ones((1, 1)))
        except FloatingPointError:
            return True
    return False


@hint(
    "parts",
    "Doubling both inner matrices no more than doubles the output for a large input: silu is a times the sigmoid.",
)
def only_sigmoid(swiglu):
    return abs(gated(swiglu, 50.0, 2.0, 2.0)) < 2.5 * abs(gated(swiglu, 50.0))


@hint("sizes", "The number of heads of keys does not change your width: fewer of them leave more room.")
def all_heads(equal_width, ROOM=12):
    return equal_width(96, 8, 1, 2) == equal_width(96, 8, 8, 2)


@hint("sizes", "Two matrices and three give the same width: the one with fewer matrices may be wider.")
def same_for_both(equal_width, ROOM=12):
    return equal_width(96, 8, 8, 2) == equal_width(96, 8, 8, 3)


@hint(
    "sizes", "Your block holds more numbers than it may: is the output matrix of attention among those that you count?"
)
def output_forgotten(equal_width, ROOM=12):
    return (
        equal_width(96, 8, 8, 2) >= equal_width(96, 8, 8, 1) / 2 + 20 or equal_width(96, 8, 8, 2) > 48 * (ROOM - 3) - 1
    )


@hint("sizes", "A width that is one larger than yours does not fit, and neither does yours: round down.")
def one_too_wide(equal_width, ROOM=12):
    return equal_width(96, 8, 8, 2) == 48 * (ROOM - 4) + 1


def kept(numbers_kept, spans, tokens):
    return numbers_kept(1, 1, spans, tokens)


@hint("sizes", "One number for a token: its key and its value are both kept.")
def no_values(numbers_kept, SINKS=0):
    return kept(numbers_kept, [0], 5) == 5


@hint("sizes", "A layer with a span of 1 keeps something of its last token: the next query sees only its own.")
def one_too_many(numbers_kept, SINKS=0):
    return kept(numbers_kept, [1], 50) == 2 * (SINKS + 1)


@hint("sizes", "A window makes no difference to what you keep of a long text.")
def no_window(numbers_kept, SINKS=0):
    return kept(numbers_kept, [3], 50) == kept(numbers_kept, [0], 50)


def shared(attend, n_heads=4, n_kv=2, size=0.0, T=2, span=0):
    asked, keys = (np.full((heads, T, 1), size) for heads in (n_heads, n_kv))
    values = np.arange(n_kv * T, dtype=float).reshape(n_kv, T, 1)
    with np.errstate(all="ignore"):
        return array(attend(asked, keys, values, span))[..., 0]


@hint("shared", "The second head of queries reads the last head of keys: a group ends before the next begins.")
def turns(attend, SINKS=0):
    found = shared(attend)
    return close(found[1], found[3]) and not close(found[1], found[0])


@hint("shared", "The first query sees a later key: its output is not the first value.")
def future(attend, SINKS=0):
    return not close(shared(attend)[0, 0], 0.0)


@hint("shared", "With a span of 1 the last query sees a key besides its own and those that are never thrown away.")
def too_long(attend, SINKS=0):
    found = shared(attend, 1, 1, T=SINKS + 4, span=1)[0, -1]
    ones = [*range(SINKS), SINKS + 3]
    return not close(found, np.mean(ones)) and close(found, np.mean(sorted({*ones, SINKS + 2})))


@hint("shared", "Large scores end as NaN: subtract the largest of each row before the exponential.")
def large_scores(attend, SINKS=0):
    return np.isnan(shared(attend, size=5e3)).any()


@hint("shared", "The scores are not divided by the root of the width of the keys.")
def not_divided(attend, SINKS=0):
    Q, K = np.ones((1, 2, 4)), np.stack([np.zeros(4), np.full(4, 0.5)])[None]
    found = array(attend(Q, K, np.arange(2.0).reshape(1, 2, 1), 0))[0, 1, 0]
    return close(found, 1 / (1 + np.exp(-2.0)))


@hint("scan", "The second step is done before the first: `(a, b)` comes first.")
def other_order(compose):
    return close(compose(2.0, 1.0, 3.0, 5.0)[1], 11.0)


def round_of_one(doubled):
    a, b = np.full((4, 1), 0.5), np.array([[4.0], [2.0], [8.0], [0.0]])
    found = doubled(a, b, 1)
    return array(found[0])[:, 0], array(found[1])[:, 0]


@hint("scan", "After a round the factors are as before: that of two steps is a product.")
def factors_left(doubled):
    return close(round_of_one(doubled)[0], [0.5] * 4)


@hint("scan", "A round uses what the same round has just computed: all positions take the old values.")
def in_place(doubled):
    return close(round_of_one(doubled)[1], [4, 4, 10, 5])


def states(min_gru, x, h, bias=0.0):
    one = np.ones((1, 1))
    return array(min_gru(np.array(x, dtype=float)[:, None], one, np.full(1, bias), one, np.full(1, float(h))))[:, 0]


@hint("scan", "With the gate wide open the old state stays: then the proposal should take its place.")
def exchanged(min_gru):
    return close(states(min_gru, [20.0], 3.0)[0], 3.0, atol=1e-3)


@hint("scan", "No state exceeds 1, whatever the input is: the proposal has no tanh here.")
def tanh_left(min_gru):
    return abs(states(min_gru, [20.0], 0.0)[0]) < 1.01


@hint("scan", "The state to begin with makes no difference.")
def from_zero(min_gru):
    return close(states(min_gru, [1.0], 0.0), states(min_gru, [1.0], 5.0))


@hint("scan", "Another bias of the gate makes no difference.")
def no_bias(min_gru):
    return close(states(min_gru, [1.0], 5.0), states(min_gru, [1.0], 5.0, bias=2.0))
