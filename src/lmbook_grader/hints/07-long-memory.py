"""Hints to homework 7."""

import numpy as np

from lmbook_grader.hints import Hints, array, close

hint = Hints()
ONE, NONE = np.ones((1, 1)), np.zeros((1, 1))


def cell(b_ih=(0, 0, 0, 0), b_hh=(0, 0, 0, 0)):
    w = {"w_ih": np.zeros((4, 1)), "w_hh": np.zeros((4, 1))}
    return w | {"b_ih": np.array(b_ih, dtype=float), "b_hh": np.array(b_hh, dtype=float)}


@hint("lstm", "One of the two biases changes nothing.")
def one_bias(lstm_step):
    one, other = lstm_step(cell((1, 1, 1, 1)), ONE, NONE, ONE), lstm_step(cell(b_hh=(1, 1, 1, 1)), ONE, NONE, ONE)
    return not close(one[1], other[1])


@hint("lstm", "The last quarter of the weights changes the memory: in which order does torch keep the four?")
def order(lstm_step):
    return not close(lstm_step(cell(), ONE, NONE, ONE)[1], lstm_step(cell((0, 0, 0, 9)), ONE, NONE, ONE)[1])


@hint("lstm", "With a large memory the state you show is above 1: something is missing between memory and state.")
def shown_without_tanh(lstm_step):
    return array(lstm_step(cell(), ONE, NONE, 100 * ONE)[0]).max() > 1


@hint("lstm", "The state that a sequence is given changes nothing.")
def from_zeros(lstm_run):
    x = np.zeros((1, 2, 1))
    return close(lstm_run(cell(), x, NONE, NONE)[2], lstm_run(cell(), x, NONE, 9 * ONE)[2])


@hint("back", "What later steps send along the memory alone is lost: with dh = 0 nothing comes back.")
def nothing_along_memory(lstm_back):
    return close(lstm_back(cell(), ONE, NONE, ONE, NONE, ONE)["c"], NONE)


@hint("back", "An empty memory gives the forget gate a gradient: what it multiplies is the memory before the step.")
def memory_after(lstm_back):
    return abs(array(lstm_back(cell((0, 0, 2, 0)), ONE, NONE, NONE, NONE, ONE)["b_ih"])[1]) > 1e-6


@hint("back", "A gate that is wide open still gets a gradient: the slope of its sigma is missing.")
def slope_of_gates(lstm_back):
    return abs(array(lstm_back(cell((0, 60, 0, 0)), ONE, NONE, ONE, NONE, ONE)["b_ih"])[1]) > 1e-3


@hint("clip", "Entries of one array are cut one by one: that turns the gradient into another direction.")
def entries_cut(clip, P=2):
    return close(clip({"W": np.array([3.0, 40.0])}, 1.0)[0]["W"], [1, 1])


@hint("clip", "Each array is clipped for itself: after clipping, all of them together are still longer than the limit.")
def each_for_itself(clip, P=2):
    clipped = clip({"W": np.array([5.0]), "b": np.array([7.0])}, 1.0)[0]
    return sum(float((np.abs(array(g)) ** P).sum()) for g in clipped.values()) > 1 + 1e-6


@hint("clip", "A gradient shorter than the limit is made longer.")
def longer(clip, P=2):
    return close(clip({"W": np.array([0.25])}, 1.0)[0]["W"], [1])


@hint("clip", "One entry that is not finite spoils the step: the clipped gradients are not finite, either.")
def not_finite(clip, P=2):
    return not np.isfinite(array(clip({"W": np.array([np.inf, 1.0])}, 1.0)[0]["W"])).all()


@hint("fate", "You look at the entries of W: many small entries together can make a vector grow.")
def largest_entry(fate, SLOPE=1.0):
    return fate(np.full((3, 3), 0.5) / SLOPE) == "vanishes"


@hint(
    "fate",
    "A rotation changes no length, and you say something else: eigenvalues may be negative or complex, their size counts.",
)
def without_size(fate, SLOPE=1.0):
    return fate(np.array([[0.0, -1.0], [1.0, 0.0]]) / SLOPE) == "vanishes"


@hint(
    "fate",
    "You measure how far one step can stretch a vector. This matrix stretches once, and its square is 0: [[0, 2], [0, 0]].",
)
def singular_value(fate, SLOPE=1.0):
    return fate(np.array([[0.0, 2.0], [0.0, 0.0]]) / SLOPE) == "explodes"


@hint("fate", "Few powers do not tell: a product may grow at first and vanish later.")
def few_powers(fate, SLOPE=1.0):
    return fate(np.array([[0.6, 20.0], [0.0, 0.6]]) / SLOPE) == "explodes"


@hint(
    "fate",
    "Not even some hundred powers tell: there are matrices whose powers grow for that long and vanish then. What decides in the end?",
)
def many_powers(fate, SLOPE=1.0):
    return fate(np.array([[0.9954321, 20.0], [0.0, 0.9954321]]) / SLOPE) != "vanishes"


def trained(train):
    before = cell((0, 3, 0, 0)) | {"w_ih": np.full((4, 9), 0.1), "out": np.full((4, 1), 0.1)}
    after = train(
        {name: value.copy() for name, value in before.items()}, np.array([[1, 5]] * 20), np.array([2] * 20), 20, 0.02
    )
    return before, {name: array(value) for name, value in after.items()}


@hint("memory", "Training returns the weights that it was given.")
def as_it_was(train):
    before, after = trained(train)
    return all(close(before[name], after[name]) for name in before)


@hint("memory", "Training makes the right key less likely: in which direction does the loss fall?")
def uphill(train, lstm_run):
    before, after = (array(w["out"]) @ array(lstm_run(w, np.eye(9)[[[1, 5]]])[1])[0] for w in trained(train))
    return after[2] - after[0] < before[2] - before[0] - 1e-6
