"""Hints to homework 17."""

import numpy as np
import torch

from lmbook_grader.hints import Hints, array, close

hint = Hints()


def lost(causal_loss, tokens, place=None, size=3.0):
    """The loss on texts, with padding 0, after the logits at one place have changed."""
    tokens = torch.tensor(tokens)
    logits = torch.zeros(*tokens.shape, 4, dtype=torch.float64)
    if place is not None:
        logits[(0, place)] = torch.tensor([0.0, size, 0.0, -size], dtype=torch.float64)
    return float(causal_loss(logits, tokens, 0))


@hint("loss", "Large logits end as NaN or infinity: take the logarithm of the softmax in one step.")
def overflow(causal_loss):
    return not np.isfinite(lost(causal_loss, [[1, 3, 1]], 0, 5000.0))


@hint(
    "loss",
    "The logits at the first position change nothing: they say what follows it. Yours are shifted the other way.",
)
def other_way(causal_loss):
    return close(lost(causal_loss, [[1, 2, 3]]), lost(causal_loss, [[1, 2, 3]], 0))


@hint(
    "loss",
    "The logits at the last position change your loss, though nothing follows: each place is asked for the token after it.",
)
def no_shift(causal_loss):
    return not close(lost(causal_loss, [[1, 2, 3]]), lost(causal_loss, [[1, 2, 3]], 2))


@hint("loss", "Your model is asked for padding after padding: the text has ended there.")
def padding_predicted(causal_loss):
    return not close(lost(causal_loss, [[1, 2, 0, 0]]), lost(causal_loss, [[1, 2, 0, 0]], 2))


@hint(
    "loss",
    "The last token of a text is asked what follows, and padding is no answer: it is the target that has to be real.",
)
def real_inputs(causal_loss):
    return not close(lost(causal_loss, [[1, 2, 0, 0]]), lost(causal_loss, [[1, 2, 0, 0]], 1))


@hint("loss", "A token of a short text weighs more than one of a long text: the mean is over all predicted tokens.")
def mean_of_means(causal_loss):
    short, long = lost(causal_loss, [[1, 3, 0, 0]], 0), lost(causal_loss, [[1, 2, 1, 2]])
    return close(lost(causal_loss, [[1, 3, 0, 0], [1, 2, 1, 2]], 0), (short + long) / 2)


HALF = np.log([0.5, 0.25, 0.25])


def kept(nucleus, logits, temperature, top_p):
    return (array(nucleus(logits, temperature, top_p)) > 0).tolist()


@hint("top-p", "What is drawn from does not sum to 1.")
def not_divided(nucleus):
    return array(nucleus(HALF, 1.0, 0.6)).sum() < 1 - 1e-6


@hint("top-p", "Where the sum is met exactly, you keep one token too many.")
def one_too_many(nucleus):
    return kept(nucleus, HALF, 1.0, 0.5) == [True, True, False]


@hint("top-p", "Of two equally likely tokens you keep both where one is enough: the smaller id comes first.")
def ties(nucleus):
    return kept(nucleus, HALF, 1.0, 0.7) == [True, True, True]


@hint("top-p", "The temperature does not change which tokens are kept: it comes first, then the cut.")
def cut_first(nucleus):
    return kept(nucleus, np.log([0.7, 0.2, 0.1]), 20.0, 0.6) == [True, False, False]


@hint("top-p", "A number on the border of two tokens gives the first: the running sum has to be greater than it.")
def border(draw):
    return draw(np.array([0.5, 0.5]), 0.5) == 0


def whole(attention, X, n_heads=1, q=1.0):
    X = torch.tensor(X, dtype=torch.float64)
    eye = torch.eye(X.shape[1]).double()
    return array(attention({"W_q": q * eye, "W_k": eye, "W_v": eye, "W_o": eye}, X, n_heads)).reshape(X.shape)


@hint("cache", "Later weights are set to 0 after the softmax: those that are left no longer sum to 1.")
def after_softmax(attention):
    return 0 < whole(attention, [[1.0], [1.0]])[0, 0] < 1 - 1e-3


@hint("cache", "The first row sees the second: the mask is missing.")
def no_mask(attention):
    return not close(whole(attention, [[1.0], [3.0]])[0], [1.0])


@hint("cache", "The scores of a head get smaller with other heads: the root is that of one head's width.")
def root_of_all(attention):
    share = whole(attention, [[0.0, 0.0], [1.0, 0.0]], 2)[1, 0]
    return 0 < share < 1 and close(np.log(share / (1 - share)), 0.5**0.5)


@hint(
    "cache",
    "With two heads the first row no longer keeps its own values: rows and heads are mixed when the heads are cut.",
)
def axes_mixed(attention):
    return not close(whole(attention, [[1.0, 5.0], [2.0, 7.0]], 2)[0], [1.0, 5.0])


def stepped(step, x, n_heads=1):
    """One row after a cache with one row of zeros: its output, and the new cache."""
    d, eye = len(x), torch.eye(len(x)).double()
    w = {name: eye for name in ("W_q", "W_k", "W_v", "W_o")}
    cache = {name: torch.zeros(1, d, dtype=torch.float64) for name in "KV"}
    return step(w, torch.tensor(x, dtype=torch.float64), cache, n_heads)


@hint("cache", "The cache does not grow.")
def does_not_grow(step):
    return len(stepped(step, [1.0])[1]["K"]) < 2


@hint("cache", "A new row does not see itself.")
def not_itself(step):
    return close(stepped(step, [1.0])[0], [0.0])


@hint("cache", "In `step` the scores of a head get smaller with other heads: the root is that of one head's width.")
def root_of_all_in_steps(step):
    share = array(stepped(step, [1.0, 0.0], 2)[0])[0]
    return 0 < share < 1 and close(np.log(share / (1 - share)), 0.5**0.5)


def trained(train, new_gpt, text, steps=6):
    before = new_gpt(0, 5, 4, 1, 4)
    return before, train(before, text, 1, steps, 0.02)


@hint("training", "Training returns the weights that it was given.")
def as_it_was(train, new_gpt, LESS=0.0):
    before, done = trained(train, new_gpt, [1, 2] * 12)
    return all(close(before[name], done[name]) for name in before)


@hint("training", "What stands later in the text changes nothing: every piece is its beginning.")
def always_beginning(train, new_gpt, LESS=0.0):
    one, other = (trained(train, new_gpt, [1, 2, 1, 2, *more * 12])[1] for more in ([1, 2], [3, 4]))
    return all(close(one[name], other[name]) for name in one)


@hint("training", "Training makes the text less likely.")
def uphill(train, new_gpt, gpt, LESS=0.0):
    shares = []
    for w in trained(train, new_gpt, [1, 2] * 12):
        z = array(gpt(w, torch.tensor([[1, 2, 1]]), 1))[0, -1]
        shares.append(np.exp(z - z.max())[2] / np.exp(z - z.max()).sum())
    return shares[1] < shares[0]


def copies(longest=4, last=0.0):
    """A model without layers that says what it has read last; at the last place it says 0 where `last` is large."""
    P = torch.zeros(longest, 5)
    P[-1, 0] = last
    return {"E": 10 * torch.eye(5), "P": P}


def written(write, w, start, n=4, seed=0):
    return list(map(int, write(w, start, n, 1, 1.0, 1.0, seed)))


EVEN = {"E": torch.zeros(40, 4), "P": torch.zeros(4, 4)}


@hint("training", "Your text begins with its own start: only what is new is asked for.")
def start_again(write, LESS=0.0):
    return all(written(write, EVEN, [3, 1, 2], 4, seed)[:3] == [3, 1, 2] for seed in range(3))


@hint("training", "What is written follows the beginning of a long text: the model reads the last tokens.")
def first_read(write, LESS=0.0):
    return written(write, copies(), [1, 1, 1, 1, 2]) == [1, 1, 1, 1]


@hint(
    "training",
    "The model is asked at its last place, which has learned nothing: in training no target stands behind it.",
)
def unlearned_place(write, LESS=0.0):
    return 0 in written(write, copies(last=1000.0), [1, 1, 1, 1, 2])


@hint(
    "training",
    "Hardly any two tokens of a text differ, though all are equally likely: the chance begins anew at each step.",
)
def same_chance(write, LESS=0.0):
    return all(len(set(written(write, EVEN, [3], 20, seed))) <= 3 for seed in range(3))


N = np.array([1.0, 10.0, 100.0])


@hint(
    "power-law", "The logarithms have one base and the power another: for a law without slope A is not the loss itself."
)
def two_bases(fit_power, FLOOR=0.0):
    return close(fit_power(N, np.full(3, 2.0) + FLOOR)[0], np.exp(np.log10(2)), 1e-4)


@hint("power-law", "For losses that fall your alpha is negative: mind the sign in the law.")
def sign_of_slope(fit_power, FLOOR=0.0):
    return float(fit_power(N, 3 / N + FLOOR)[1]) < 0


@hint("power-law", "Losses ten times as large have a residual ten times as large: it is asked for in the logarithms.")
def residual_of_loss(fit_power, FLOOR=0.0):
    L = np.array([3.0, 1.0, 2.0])
    return close(10 * float(fit_power(N, L + FLOOR)[2]), float(fit_power(N, 10 * L + FLOOR)[2]), 1e-4)


@hint("power-law", "A goal above A needs less than one parameter by the law; yours is cut off at 1.")
def goal_above(needed, FLOOR=0.0):
    return needed(8, 0.5, 16 + FLOOR) == 1


@hint("power-law", "Solve for N: the exponent has to be turned over.")
def exponent(needed, FLOOR=0.0):
    return close(needed(16, 0.5, 4 + FLOOR), 2)
