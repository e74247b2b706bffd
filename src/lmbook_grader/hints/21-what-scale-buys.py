"""Hints to homework 21."""

import numpy as np

from lmbook_grader.hints import Hints, array, close

hint = Hints()


@hint("cost", "Of two runs that differ only in the context, yours cost the same: attention multiplies vectors too.")
def context_is_free(cost, AGAIN=0):
    return close(cost(10, 10, 2, 8, 4), cost(10, 10, 2, 8, 400))


@hint("cost", "Twice as many layers do not double what attention costs.")
def one_layer(cost, AGAIN=0):
    return close(cost(0, 10, 2, 8, 4), cost(0, 10, 4, 8, 4)) and not close(cost(0, 10, 2, 8, 4), 0)


@hint("cost", "Attention has two products of the size of its table: scores, and the weighted sums of values.")
def half_of_attention(cost, AGAIN=0):
    return close(cost(0, 10, 2, 8, 4) / cost(1, 10, 0, 8, 4), 2 * 8 * 4)


@hint("cost", "A weight takes a multiplication and an addition for each token: two operations in a forward pass.")
def one_operation(cost, AGAIN=0):
    return close(cost(0, 10, 2, 8, 4) / cost(1, 10, 0, 8, 4), 4 * 2 * 8 * 4)


@hint(
    "cost", "Your training is as cheap as a forward pass, or little more: the backward pass costs twice as much again."
)
def cheap_training(cost, AGAIN=0):
    passes = cost(10, 10, 0, 8, 4) / 200
    return passes < 3 + AGAIN - 0.5


@hint("cost", "The number of tokens comes out smaller than the number of weights.")
def exchanged(divide, RATIO=20):
    N, D = divide(3e15)
    return D < N


@hint("cost", "N and D multiply in the costs: a budget a hundred times as large makes N ten times as large.")
def divided_by_adding(divide, RATIO=20):
    return close(divide(3e13)[0], 100 * divide(3e11)[0])


@hint("cost", "What you divide costs more than the budget: count the backward pass.")
def over_budget(divide, AGAIN=0, RATIO=20):
    N, D = divide(3e11)
    return N * D * 5 > 3e11


SIZES = np.exp(np.arange(4.0))


@hint("laws", "The lowest point is one of the sizes, although the parabola is lower between two of them.")
def one_of_the_sizes(lowest):
    found = lowest(SIZES, (np.arange(4.0) - 1.4) ** 2)[0]
    return close(found, SIZES[1])


@hint("laws", "The size is returned as a logarithm.")
def size_as_logarithm(lowest):
    return close(lowest(SIZES, (np.arange(4.0) - 1.4) ** 2)[0], 1.4)


@hint("laws", "The losses of a parabola in ln N are not met: is yours one in N?")
def parabola_in_n(lowest):
    N, loss = lowest(SIZES, (np.arange(4.0) - 1.4) ** 2)
    return SIZES[0] < N < SIZES[3] and not close(N, np.exp(1.4)) and abs(loss) > 1e-3 and not close(N, np.exp(1.3))


@hint("laws", "Your lowest point lies twice as far from the middle of the sizes as it should.")
def twice_as_far(lowest):
    one, other = (np.log(lowest(SIZES, (np.arange(4.0) - at) ** 2)[0]) for at in (1.4, 1.6))
    return close(other - one, 0.4)


@hint("laws", "The loss that you return is that of the middle of the sizes: put the best size into the parabola.")
def loss_of_the_middle(lowest):
    return close(lowest(SIZES, (np.arange(4.0) - 1.0) ** 2)[1], 0.25)


def line(power_law):
    return power_law(np.array([1.0, 10.0, 100.0]), 7 * np.array([1.0, 10.0, 100.0]) ** 2)


@hint("laws", "The exponent is not that of an exact power: take logarithms of both, x and y.")
def half_logarithmic(power_law):
    return max(abs(float(one)) for one in line(power_law)) > 100


@hint("laws", "The factor is returned as a logarithm.")
def factor_as_logarithm(power_law):
    return close(line(power_law)[0], np.log(7))


@hint("laws", "Factor and exponent are exchanged.")
def law_exchanged(power_law):
    return close(line(power_law), [2, 7])


def three():
    return np.array([[1.0, 2.0, 4.0], [10.0, 20.0, 40.0], [100.0, 200.0, 400.0]])[..., None]


@hint("ring", "The array that was given is changed: all send at once, so that what is sent must be the old numbers.")
def in_place(ring_step, OPT=12):
    parts = three()
    ring_step(parts, 0)
    return not close(parts, three())


@hint("ring", "A number arrives at the left neighbour.")
def leftwards(ring_step, OPT=12):
    return close(array(ring_step(three(), 0))[2, 0, 0], 101.0)


@hint("ring", "In the second step the same chunk travels as in the first.")
def same_chunk(ring_step, OPT=12):
    moved = [np.abs(array(ring_step(three(), step)) - three())[..., 0] > 0 for step in (0, 1)]
    return np.array_equal(*moved)


@hint("ring", "In the last step something is still added: complete sums take the place of what was there.")
def added_at_the_end(ring_step, OPT=12):
    return array(ring_step(three(), 3))[1, 0, 0] > 10.5 and array(ring_step(three(), 3)).sum() > three().sum() + 100


@hint("ring", "There is one adding step too many: after P - 1 of them every sum is complete.")
def one_too_many(ring_step, OPT=12):
    after = array(ring_step(three(), 2))
    return after.sum() > three().sum() + 100


def held(bytes_held):
    return [float(bytes_held(1200, 4, stage)) / 1200 for stage in range(4)]


@hint("ring", "Without any sharing each process holds all three: weights, gradients and the numbers of the optimizer.")
def not_sixteen(bytes_held, OPT=12):
    return held(bytes_held)[0] < OPT + 3.9


@hint("ring", "Stage one saves nothing in yours: it shares out the numbers of the optimizer.")
def no_stage_one(bytes_held, OPT=12):
    return close(held(bytes_held)[0], held(bytes_held)[1])


@hint("ring", "Stages two and three hold the same: weights are shared out in stage three only.")
def two_is_three(bytes_held, OPT=12):
    return close(held(bytes_held)[2], held(bytes_held)[3])


@hint("predict", "The width of an interval that holds costs nothing.")
def no_width(interval_score):
    return close(interval_score(0.0, 5.0, 1.0, 0.1), 0)


@hint("predict", "A loss above the interval costs no more than one inside.")
def above_is_free(interval_score):
    return close(interval_score(0.0, 1.0, 2.0, 0.1), 1)


@hint("predict", "A smaller alpha does not make a miss dearer.")
def without_alpha(interval_score):
    return close(interval_score(0.0, 1.0, 2.0, 0.1), interval_score(0.0, 1.0, 2.0, 0.5))


@hint("predict", "With an alpha of 1 a miss costs once its distance; it should cost twice.")
def half_as_dear(interval_score):
    return close(interval_score(0.0, 1.0, 2.0, 1.0), 2)


def scattered(predict, away):
    C = 10.0 ** np.arange(8)
    signs = np.array([1, -1, -1, 1, 1, -1, -1, 1])
    low, high = predict(C, 5 * C**-0.1 * np.exp(0.05 * signs), 10.0**away)
    return float(low), float(high)


@hint("predict", "Losses that scatter get an interval without width.")
def no_interval(predict):
    low, high = scattered(predict, 8)
    return high - low < 1e-6


@hint("predict", "Your middle is far from an exact power law: fit in the logarithms of both.")
def not_logarithmic(predict):
    C = 10.0 ** np.arange(8)
    low, high = predict(C, 5 * C**-0.1, 1e9)
    return abs((low * high) ** 0.5 / (5 * 1e9**-0.1) - 1) > 0.05 if min(low, high) > 0 else True


@hint("predict", "Your interval is much narrower than the runs scatter, so that few of the losses will be in it.")
def too_sure(predict):
    low, high = scattered(predict, 8)
    return np.log(high / low) < 0.1


@hint("predict", "Your interval is many times as wide as the runs scatter.")
def too_wide(predict):
    low, high = scattered(predict, 8)
    return np.log(high / low) > 1
