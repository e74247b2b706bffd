"""Hints to homework 6."""

import numpy as np

from lmbook_grader.hints import Hints, array, close

hint = Hints()
SHIFT = [[0.0, 1.0], [0.0, 0.0]]  # unit 0 reads unit 1, and nobody reads unit 0


def rnn(hh, ih, b_ih=0.0, b_hh=0.0, **more):
    hh = np.atleast_2d(np.array(hh, dtype=float))
    biases = {"bias_ih_l0": np.full(len(hh), float(b_ih)), "bias_hh_l0": np.full(len(hh), float(b_hh))}
    more = {name: np.array(value, dtype=float) for name, value in more.items()}
    return {"weight_hh_l0": hh, "weight_ih_l0": np.array(ih, dtype=float).reshape(len(hh), -1)} | biases | more


def run(unroll, weights, x, h0, length=None):
    x = np.array(x, dtype=float).reshape(1, len(x), -1)
    found = unroll(weights, x, np.array([h0], dtype=float), [x.shape[1] if length is None else length])
    return array(found["outputs"])[0], array(found["final"])[0]


@hint("unroll", "With all weights 0 your state is 1/2: that is the sigmoid, not tanh.")
def sigmoid(unroll):
    return close(run(unroll, rnn(0, [0]), [1], [0])[1], [0.5])


@hint("unroll", "A large bias takes your state above 1: it is added before tanh.")
def bias_outside(unroll):
    return run(unroll, rnn(0, [0], 5, 5), [0], [0])[1][0] > 1 + 1e-6


@hint("unroll", "One of the two biases changes nothing.")
def one_bias(unroll):
    return not close(run(unroll, rnn(0, [0], 0.5, 0), [0], [0])[1], run(unroll, rnn(0, [0], 0, 0.5), [0], [0])[1])


@hint("unroll", "The state you are given changes nothing: a text goes on from it.")
def from_zero(unroll):
    return close(run(unroll, rnn(1, [1]), [1], [0])[1], run(unroll, rnn(1, [1]), [1], [0.9])[1])


@hint("unroll", "A unit answers to a unit that it does not read: row i of the recurrent matrix says what unit i reads.")
def transposed(unroll):
    return not close(
        run(unroll, rnn(SHIFT, [0, 0]), [0], [0.0, 0.5])[1], run(unroll, rnn(SHIFT, [0, 0]), [0], [0.9, 0.5])[1]
    )


@hint("unroll", "What stands in the padding changes the final state of a text that has ended.")
def padding_read(unroll):
    return not close(run(unroll, rnn(1, [1]), [1, 0], [0], 1)[1], run(unroll, rnn(1, [1]), [1, 9], [0], 1)[1])


@hint("unroll", "The state of a text that has ended becomes 0; it stays what it was.")
def becomes_zero(unroll):
    return close(run(unroll, rnn(1, [1]), [1, 1], [0], 1)[1], [0])


@hint(
    "unroll", "After the end of a text the outputs change, and the state does not: the output of a step is its state."
)
def outputs_go_on(unroll):
    outputs, final = run(unroll, rnn(1, [1]), [1, 1], [0], 1)
    return not close(outputs[1], final) and close(outputs[0], final)


def grads(back, weights, inputs, targets, H, h0=None):
    H = np.array(H, dtype=float)
    h0 = np.zeros((len(H), H.shape[2])) if h0 is None else np.array(h0, dtype=float)
    return {
        name: array(value)
        for name, value in back(weights, np.array(inputs), np.array(targets), h0, H)["gradients"].items()
    }


OUT = [[1.0], [-0.5]]


@hint("window", "Twice as many steps give twice the loss: it is the mean over all targets of the batch.")
def sum_of_losses(back):
    even = rnn(0, [0, 0], out=[[0], [0]])
    one, two = (
        float(back(even, np.zeros((1, T), int), np.ones((1, T), int), np.zeros((1, 1)), np.zeros((1, T, 1)))["loss"])
        for T in (1, 2)
    )
    return close(two, 2 * one)


@hint("window", "Large logits make the loss infinite or NaN: subtract the largest of each row first.")
def overflow(back):
    loss = back(
        rnn(0, [0, 0], out=[[5000], [0]]), np.array([[0]]), np.array([[0]]), np.zeros((1, 1)), np.ones((1, 1, 1))
    )["loss"]
    return not np.isfinite(loss)


def through(back, h):
    return grads(back, rnn(0, [0, 0], out=OUT), [[0]], [[1]], [[[h]]])["bias_hh_l0"][0]


@hint("window", "A state at the end of tanh, where its curve is flat, lets your gradient through undiminished.")
def no_slope(back):
    return abs(through(back, 1.0)) > 1e-6


@hint("window", "The slope of tanh is 0 at both of its ends, at -1 too; yours is not.")
def wrong_slope(back):
    return abs(through(back, -1.0)) > 1e-6


@hint("window", "The loss at a step does not reach the state of that step directly: a state counts twice.")
def own_loss(back):
    one, other = (grads(back, rnn(0, [0, 0], out=OUT), [[0, 0]], [[t, 1]], [[[0.1], [0.1]]]) for t in (0, 1))
    return close(one["bias_hh_l0"], other["bias_hh_l0"])


@hint("window", "What comes later does not reach the state before: with a larger recurrent weight nothing changes.")
def nothing_later(back):
    one, other = (grads(back, rnn(w, [0, 0], out=OUT), [[0, 0]], [[0, 1]], [[[0.1], [0.1]]]) for w in (0, 2))
    return close(one["bias_hh_l0"], other["bias_hh_l0"])


@hint(
    "window",
    "On the way back the gradient goes to the wrong unit: the forward pass reads along rows, the way back goes along columns.",
)
def back_transposed(back):
    weights = rnn(SHIFT, [[0, 0], [0, 0]], out=[[1, 0], [0, 0]])
    return close(grads(back, weights, [[0, 0]], [[0, 1]], [[[0.1, 0.2], [0.1, 0.2]]])["bias_hh_l0"][1], 0)


@hint("window", "The state from which a window starts has no share in the gradient of the recurrent matrix.")
def start_forgotten(back):
    one, other = (grads(back, rnn(1, [0, 0], out=OUT), [[0]], [[1]], [[[0.1]]], [[h]]) for h in (0, 0.5))
    return close(one["weight_hh_l0"], other["weight_hh_l0"])


@hint(
    "window",
    "Only the first step has a share in the gradient of the recurrent matrix: all steps use it, and their shares are added.",
)
def first_step_only(back):
    return close(grads(back, rnn(0, [0, 0], out=OUT), [[0, 0]], [[1, 1]], [[[0.5], [0.5]]])["weight_hh_l0"], [[0]])


@hint(
    "window",
    "A letter that several rows read at one step gets the share of one row only. (NumPy's `+=` on repeated indices adds once.)",
)
def letter_once(back):
    found = grads(back, rnn(0, [0, 0], out=OUT), [[0], [0]], [[1], [1]], [[[0.1]], [[0.2]]])
    return not close(found["weight_ih_l0"].sum(axis=1), found["bias_ih_l0"])


@hint(
    "windows", "A target is the first input of its own row: at the end of a window the next token of the stream comes."
)
def turned_round(windows, HEAD=0):
    inputs, targets = windows(list(range(-HEAD, 9)), 1, 4)[0]
    return targets[0][-1] == inputs[0][0]


@hint(
    "windows",
    "The rows of a window follow each other in the text. Each row is a stream of its own, which goes on in the next window.",
)
def stretch_of_text(windows, HEAD=0):
    return windows(list(range(-HEAD, 13)), 2, 3)[0][0][1][0] == 3


@hint("windows", "A window shorter than T is among yours.")
def short_window(windows, HEAD=0):
    return any(len(row) < 4 for inputs, _ in windows(list(range(-HEAD, 11)), 1, 4) for row in inputs)


@hint("windows", "Your streams are one token too long: the last input needs a target, too.")
def no_last_target(windows, HEAD=0):
    return len(windows(list(range(-HEAD, 8)), 2, 4)) > 0


def trained(train, ids, T=4):
    before = rnn(0.1, [[0.3, -0.2]], 1.0, out=[[0.1], [0.2]])
    after = train({name: value.copy() for name, value in before.items()}, [1] * 40 + ids, 1, T, 3, 0.02)
    return before, {name: array(value) for name, value in after.items()}


@hint("writing", "Training returns the weights that it was given.")
def as_it_was(train, HEAT=1.0):
    before, after = trained(train, [1] * 21)
    return all(close(before[name], after[name]) for name in before)


@hint("writing", "What stands later in the text changes nothing: every step reads the first window.")
def first_window(train, HEAT=1.0):
    one, other = trained(train, [1] * 21)[1], trained(train, [1] * 5 + [0] * 16)[1]
    return all(close(one[name], other[name]) for name in one)


@hint("writing", "Training makes the letters of the text less likely.")
def uphill(train, HEAT=1.0):
    before, after = (one["out"][1, 0] - one["out"][0, 0] for one in trained(train, [1] * 21))
    return after < before


SURE, EVEN = rnn(0, [[0, 0]], 9, out=[[50], [-50]]), rnn(0, [[0, 0]], 9, out=[[0], [0]])


def texts(write, weights):
    return [list(map(int, write(weights, [1], 12, seed))) for seed in range(8)]


@hint("writing", "Your text begins with its own start: only what is new is asked for.")
def start_again(write, HEAT=1.0):
    return 1 in list(map(int, write(SURE, [1, 1, 1], 4, 0)))


@hint("writing", "Every seed writes the same, though all letters are equally likely: the next letter is to be drawn.")
def likeliest(write, HEAT=1.0):
    found = texts(write, EVEN)
    return all(text == found[0] for text in found)


@hint(
    "writing",
    "One text never changes its letter, though all letters are equally likely: the chance begins anew at each step.",
)
def same_chance(write, HEAT=1.0):
    return all(len(set(text)) == 1 for text in texts(write, EVEN))


@hint("writing", "What was read before the last letter is forgotten: the state goes on from letter to letter.")
def last_letter_only(write, HEAT=1.0):
    keeps = rnn(100, [[-1, 50]], out=[[50], [-50]])  # the first letter decides for ever
    return any(map(int, write(keeps, [1, 0], 6, 0)))
