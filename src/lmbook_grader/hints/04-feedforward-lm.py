"""Hints to homework 4."""

import numpy as np

from lmbook_grader.hints import Hints, array, close

hint = Hints()


def net(E, W, U):
    return {"E": np.array(E, dtype=float), "W": np.array(W, dtype=float), "U": np.array(U, dtype=float)}


PLAIN = net([[2.0], [-1.0], [0.5]], [[1.0, 0.5], [-1.0, 2.0]], [[1.0, 0.0], [0.0, 2.0], [-1.0, 1.0]])
CYCLE = net(np.eye(3), 200 * np.eye(3) - 100, 200 * np.roll(np.eye(3), 1, axis=0))  # 0, 1, 2, 0, ...
COIN = net([[0.0], [0.0]], [[1.0]], [[0.0], [0.0]])


@hint("windows", "The token to be predicted is in its own window: nothing is left to predict.")
def target_in_window(windows):
    return all(list(history)[-1:] == [target] for history, target in windows([5, 6, 7], 2, 0))


@hint(
    "windows",
    "A text gives as many examples as it has tokens: the first ones have a history, too, filled up with `<sos>`.",
)
def first_tokens(windows):
    return len(windows([5, 6, 7], 2, 0)) < 3


@hint("windows", "Not every window has n ids: fill up what is missing at the beginning of a text.")
def not_filled(windows):
    return any(len(history) != 3 for history, _ in windows([5, 6, 7], 3, 0))


@hint(
    "windows",
    "Windows are filled up on the wrong side: the position farthest back is the first of the list, and the nearest token the last.",
)
def filled_right(windows):
    return any(list(history) == [5, 0] for history, _ in windows([5, 6, 7], 2, 0))


@hint("forward", "For a batch of two histories you return one row.")
def first_history(forward):
    return array(forward(PLAIN, np.array([[0, 1], [1, 2]]))).shape[0] == 1


@hint("forward", "These are logarithms of probabilities: all of them are below 0, and their exponentials sum to 1.")
def log_probabilities(forward):
    p = array(forward(PLAIN, np.array([[0, 1]])))
    return p.max() <= 0 and close(np.exp(p).sum(), 1)


@hint("forward", "Each column sums to 1, each row does not: the softmax runs over the batch in place of the words.")
def over_the_batch(forward):
    p = array(forward(PLAIN, np.array([[0, 1], [1, 2]])))
    return close(p.sum(axis=0), [1, 1, 1])


@hint("forward", "All rows together sum to 1: each history is to have a distribution of its own.")
def over_everything(forward):
    return close(array(forward(PLAIN, np.array([[0, 1], [1, 2]]))).sum(), 1)


@hint("forward", "Your rows do not sum to 1, for any history: these are logits, and the last step is missing.")
def logits(forward):
    p = array(forward(PLAIN, np.array([[0, 1]])))
    return np.isfinite(p).all() and not close(p.sum(), 1)


@hint("forward", "Large logits end as NaN: the exponential overflows before you divide.")
def overflow(forward):
    return np.isnan(array(forward(PLAIN | {"U": 3000 * PLAIN["U"]}, np.array([[0, 1]])))).any()


@hint("forward", "The first columns of W belong to the oldest word. In your network they answer to the nearest one.")
def nearest_first(forward):
    only_oldest = PLAIN | {"W": PLAIN["W"] * [1, 0]}
    return not close(forward(only_oldest, np.array([[0, 1]])), forward(only_oldest, np.array([[0, 2]])))


@hint(
    "forward",
    "The entries of different positions are mixed: the vectors are to stand side by side, one after the other.",
)
def mixed(forward):
    wide = net([[1, 2], [3, -1]], [[1, 1, 0, 0]], [[1.0], [0.0]])
    return not close(forward(wide, np.array([[0, 0]])), forward(wide, np.array([[0, 1]])))


@hint("forward", "A hidden unit of yours may grow without bound: the function between the two matrices is missing.")
def no_sigma(forward):
    p = array(forward(net([[100.0]], [[1.0]], [[0.1], [0.0]]), np.array([[0]])))
    return p[0, 0] > 0.99


@hint(
    "forward",
    "At 0 your hidden units are 0, too, and they may be negative: that is tanh, not the function of the question.",
)
def tanh(forward):
    p = array(forward(net([[0.0]], [[1.0]], [[5.0], [0.0]]), np.array([[0]])))
    return close(p, [[0.5, 0.5]])


@hint("count", "A longer window costs you nothing, and each position has its own columns in W.")
def window_is_free(count, MORE=0):
    return count(7, 2, 3, 5) == count(7, 2, 3, 4)


@hint("count", "One more position costs you as much as a whole table: all positions share one E.")
def table_for_each(count, MORE=0):
    return count(1000, 1, 1, 2) - count(1000, 1, 1, 1) >= 1000


@hint(
    "count",
    "For one word, one number and one unit you count more than the three entries of E, W and U: there are no biases.",
)
def biases(count, MORE=0):
    return count(1, 1, 1, 1) > 3 + MORE


@hint("step", "Your step makes the word that came less likely: it goes up the loss.")
def uphill(step, DECAY=0.0):
    return array(step(np.zeros((2, 1)), np.ones((1, 1)), np.array([0]), 0.1))[0, 0] < 0


@hint("step", "Only the row of the word that came moves. All other words lose what it wins.")
def one_row(step, DECAY=0.0):
    return close(array(step(np.zeros((3, 1)), np.ones((1, 1)), np.array([0]), 0.1))[1:], [[0], [0]])


@hint(
    "step",
    "A hidden unit that is 0 changes its column all the same: the gradient of a weight has its input as a factor.",
)
def no_hidden(step, DECAY=0.0):
    return not close(array(step(np.zeros((2, 2)), np.array([[0.0, 1.0]]), np.array([0]), 0.1))[:, 0], [0, 0])


@hint("step", "In a batch only the last example moves U.")
def last_example(step, DECAY=0.0):
    H = np.array([[1.0], [2.0]])
    return close(step(np.zeros((2, 1)), H, np.array([0, 1]), 0.1), step(np.zeros((2, 1)), H, np.array([1, 1]), 0.1))


@hint(
    "step",
    "With another word in the vocabulary, one that never comes, all steps get smaller: the mean is over examples.",
)
def mean_over_words(step, DECAY=0.0):
    U = np.array([[0.0], [0.0], [-1000.0]])
    two = array(step(U[:2], np.ones((1, 1)), np.array([0]), 0.1))
    three = array(step(U, np.ones((1, 1)), np.array([0]), 0.1))
    return close(2 * two, 3 * three[:2])


@hint("step", "The same example twice moves U twice as far: the mean over the batch is asked for, not the sum.")
def sum_of_losses(step, DECAY=0.0):
    one, two = (array(step(np.zeros((2, 1)), np.ones((B, 1)), np.array([0] * B), 0.1)) for B in (1, 2))
    return close(two, 2 * one)


def trained(train, steps=20):
    before = net([[0.3], [-0.2]], [[0.5], [-0.4]], [[0.1, 0.2], [0.3, -0.1]])
    after = train({name: value.copy() for name, value in before.items()}, [[[0], 1], [[1], 1]] * 4, steps, 0.02)
    return before, {name: array(value) for name, value in after.items()}


@hint("names", "Training returns the network as it was: what you improve is not what you return.")
def as_it_was(train):
    before, after = trained(train)
    return all(close(before[name], after[name]) for name in before)


@hint("names", "Training moves U alone: the vectors in E stay as they were drawn, and so does W.")
def last_layer(train):
    before, after = trained(train)
    return close(before["E"], after["E"]) and close(before["W"], after["W"])


@hint("names", "Training makes what came less likely.")
def less_likely(train, forward):
    before, after = (array(forward(one, np.array([[0]])))[0, 1] for one in trained(train))
    return after < before - 1e-3


@hint("names", "Your names contain the id 0: it ends a name and is no letter of it.")
def end_in_name(make_up):
    return any(0 in list(make_up(COIN, seed)) for seed in range(6))


@hint("names", "Every seed gives the same name, though two signs are equally likely: the next sign is to be drawn.")
def likeliest(make_up):
    return len({tuple(map(int, make_up(COIN, seed))) for seed in range(12)}) == 1


@hint("names", "What was written last does not change what comes next: the window is the end of what there is so far.")
def start_is_read(make_up):
    return set(map(int, make_up(CYCLE, 0))) == {1}
