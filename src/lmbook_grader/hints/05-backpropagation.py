"""Hints to homework 5."""

import numpy as np

from lmbook_grader.hints import Hints, array, close

hint = Hints()
W, X = np.array([[1.0, 0.0], [0.5, -1.0], [0.0, 2.0]]), np.array([[1.0, 2.0], [-1.0, 0.5]])


def by_b(gradients, rows, came, b=(0.0, 0.0, 0.0), weights=W):
    return array(gradients(weights, np.array(b), rows, np.array(came))["b"])


@hint("gradients", "A change of the bias changes nothing in your gradients: it belongs to the logits.")
def bias_forgotten(gradients, DECAY=0.0):
    return close(by_b(gradients, X, [0, 1]), by_b(gradients, X, [0, 1], (3.0, 0.0, -1.0)))


@hint("gradients", "The gradient at the word that came is positive: a step down would make it less likely.")
def sign(gradients, DECAY=0.0):
    return by_b(gradients, X[:1], [0])[0] > 0


@hint("gradients", "The same window twice gives twice the gradient: J is the mean over the batch.")
def sum_of_batch(gradients, DECAY=0.0):
    return close(by_b(gradients, X[[0, 0]], [0, 0]), 2 * by_b(gradients, X[:1], [0]))


@hint(
    "gradients",
    "For several windows your gradient with respect to the bias does not sum to 0: the probabilities of each row are to sum to 1, not those of the batch.",
)
def over_the_batch(gradients, DECAY=0.0):
    return close(by_b(gradients, X[:1], [0]).sum(), 0) and abs(by_b(gradients, X, [0, 1]).sum()) > 0.1


@hint(
    "gradients",
    "Beside a very unlikely word your gradients are rounded away: small steps are too inexact, derive the formula.",
)
def small_steps(gradients, DECAY=0.0):
    far = by_b(gradients, X[:1], [2], (0.0, 0.0, -3e11), 0 * W)
    return not np.isfinite(far).all() or abs(far.sum()) > 1e-3


@hint(
    "log-softmax", "Large logits overflow: what may be subtracted from all logits of a row without changing the result?"
)
def nothing_subtracted(log_softmax):
    return not np.isfinite(array(log_softmax(np.array([5000.0, 5000.0])))).all()


@hint("log-softmax", "A row far below another row breaks: each row needs a maximum of its own.")
def one_maximum(log_softmax):
    return not np.isfinite(array(log_softmax(np.array([[0.0, 0.0], [-5000.0, -5000.0]])))).all()


@hint(
    "log-softmax",
    "An unlikely word gets minus infinity, though its logit is finite: its probability has underflowed before you took the logarithm.",
)
def logarithm_of_softmax(log_softmax):
    return array(log_softmax(np.array([0.0, -5000.0])))[1] == -np.inf


TABLE = np.zeros((3, 1))


@hint("lookup", "The gradient has the shape of what was looked up; it belongs to E, and has its shape.")
def a_look_up_too(lookup_vjp, PAD=-1):
    return array(lookup_vjp(TABLE, [1, 1], np.array([[1.0], [2.0]]))).shape == (2, 1)


@hint(
    "lookup",
    "A row that is taken twice gets only one of its two gradients. (NumPy's `+=` on repeated indices adds once.)",
)
def one_wins(lookup_vjp, PAD=-1):
    return array(lookup_vjp(TABLE, [1, 1], np.array([[4.0], [2.0]])))[1, 0] in (4, 2)


@hint("lookup", "A row that is taken twice gets the mean of its gradients: how do two paths to one number add up?")
def mean_of_shares(lookup_vjp, PAD=-1):
    return close(lookup_vjp(TABLE, [1, 1], np.array([[4.0], [2.0]])), [[0], [3], [0]])


def of(engine, program, *leaves):
    return engine(program, [np.array(leaf, dtype=float) for leaf in leaves])["gradients"]


TANH = [["tanh", [0]], ["total", [1]]]


@hint("engine", "You return gradients of the last nodes; the leaves are the first.")
def last_nodes(engine):
    return array(of(engine, [["total", [0]]], [1, 2])[0]).shape != (2,)


@hint("engine", "A leaf that no line uses is missing among your gradients: its gradient is 0, of its shape.")
def unused_leaf(engine):
    return len(of(engine, [["total", [0]]], [1, 2], [3, 4])) < 2


@hint(
    "engine",
    "Nothing arrives at the leaves: a line can hand on its gradient only after the lines that use it have given theirs.",
)
def first_to_last(engine):
    return close(of(engine, TANH, [0.0])[0], [0.0])


@hint(
    "engine",
    "A factor far from the end is missing in your gradient: each line multiplies the gradient of its own node, not that of the last.",
)
def last_gradient(engine):
    far = of(engine, [["times", [0, 1]], ["times", [2, 1]], ["total", [3]]], [1.0], [7.0])[0]
    return close(far, [7.0])


@hint("engine", "A node that two lines use gets the share of one of them only: shares are added.")
def replaced(engine):
    return close(of(engine, [["tanh", [0]], ["plus", [1, 0]], ["total", [2]]], [0.0])[0], [1.0])


@hint("engine", "A node that stands twice in one line gets one of its two shares only.")
def twice_in_a_line(engine):
    return close(of(engine, [["times", [0, 0]], ["total", [1]]], [7.0])[0], [7.0])


@hint(
    "engine",
    "Your gradients are inexact for large arrays and need as many runs as there are numbers: go back through the lines instead.",
)
def steps_for_gradients(engine):
    slope = array(of(engine, [["total", [0]]], [1e10, 1.0])[0])
    return abs(slope - 1).max() > 1e-9 and abs(slope - 1).max() < 0.9


def trained(train, examples):
    before = {"E": np.array([[1.0], [0.5]]), "W": np.ones((1, 1)), "b": np.zeros(1), "U": np.array([[0.5, -0.5]])}
    after = train({name: value.copy() for name, value in before.items()}, examples, 20, 0.1)
    return before, {name: array(value) for name, value in after.items()}


BOTH = [[[0], 0], [[1], 1]] * 20


@hint("language", "Training returns the network as it was.")
def as_it_was(train):
    before, after = trained(train, BOTH)
    return all(close(before[name], after[name]) for name in before)


@hint("language", "Training moves U alone: the gradients of E, W and b are at hand, too.")
def last_layer(train):
    before, after = trained(train, BOTH)
    return all(close(before[name], after[name]) for name in "EWb")


@hint("language", "Training makes the right language less likely: in which direction does the loss fall?")
def uphill(train):
    before, after = (one["U"][0] for one in trained(train, [[[0], 0]] * 40))
    return after[0] - after[1] < before[0] - before[1]


@hint("language", "Words far from the first never change the network: every step takes the same examples.")
def same_words(train):
    before, after = trained(train, [[[0], 0]] + [[[1], 1]] * 60)
    return close(before["E"][1], after["E"][1])
