"""Hints to homework 11."""

import numpy as np
import torch

from lmbook_grader.hints import Hints, array, close

hint = Hints()
STOP, START = 10, 11


def rows(*numbers):
    return torch.tensor(numbers, dtype=torch.float64)


@hint("scores", "The additive score has an axis too many: a sum over the d_a products with v is one number.")
def not_summed(scores, POWER=0.5):
    w = {"W_h": torch.ones(3, 1).double(), "W_s": torch.ones(3, 1).double(), "v": torch.ones(3).double()}
    return array(scores("additive", rows([1.0]), rows([1.0], [2.0]), w)).ndim != 2


@hint("scores", "Large states make your additive score large without bound: tanh is missing between the two.")
def no_tanh(scores, POWER=0.5):
    w = {"W_h": 100 * torch.ones(1, 1).double(), "W_s": torch.ones(1, 1).double(), "v": torch.ones(1).double()}
    return array(scores("additive", rows([1.0]), rows([1.0]), w)).max() > 1 + 1e-6


@hint("scores", "W answers to the wrong side: its rows belong to the decoder's state, its columns to the encoder's.")
def turned(scores, POWER=0.5):
    found = array(scores("multiplicative", rows([1.0, 0.0]), rows([0.0, 1.0]), {"W": rows([0.0, 0.0], [1.0, 0.0])}))
    return abs(found).max() > 0.5


@hint("scores", "An encoder state with more numbers, all 0, changes your scaled score: which width does the root take?")
def wrong_width(scores, POWER=0.5):
    one = scores("scaled", rows([2.0, 1.0]), rows([1.0]), {"W": rows([1.0], [0.0])})
    wide = scores("scaled", rows([2.0, 1.0]), rows([1.0, 0, 0, 0]), {"W": rows([1.0, 0, 0, 0], [0.0, 0, 0, 0])})
    return not close(one, wide)


def weights(masked_weights, e, mask):
    return array(masked_weights(rows(e), torch.tensor([mask])))[0]


@hint("masked", "You look only where the mask forbids it: True means that a position may be attended to.")
def forbidden(masked_weights):
    return close(weights(masked_weights, [0.0, 0.0], [True, False]), [0, 1])


@hint("masked", "A forbidden position gets a weight: a score of 0 is a score like others, and its exponential is 1.")
def scores_to_zero(masked_weights):
    found = weights(masked_weights, [0.0, 3.0], [True, False])
    return found[1] > 1e-3 and close(found.sum(), 1)


@hint("masked", "Your mask comes after the softmax: the rows no longer sum to 1.")
def after_softmax(masked_weights):
    found = weights(masked_weights, [0.0, 3.0], [True, False])
    return found[1] == 0 and found.sum() < 1 - 1e-3


@hint("masked", "Large scores end as NaN or infinity: subtract the largest of each row before the exponential.")
def overflow(masked_weights):
    return not np.isfinite(weights(masked_weights, [5000.0, 0.0], [True, True])).all()


@hint("masked", "A step that may attend to nothing spreads its weight over forbidden positions.")
def nothing_allowed(masked_weights):
    found = weights(masked_weights, [1.0, 2.0], [False, False])
    return np.isfinite(found).all() and found.sum() > 1e-3


def looked(look_back, S, H, W_c, real=None):
    m = len(S[0])
    w = {"W": torch.eye(m).double(), "W_c": rows(*W_c), "W_o": torch.eye(len(W_c)).double()}
    real = torch.ones(1, len(H), dtype=torch.bool) if real is None else torch.tensor([real])
    z, A = look_back(w, rows(*S)[None], rows(*H)[None], real)
    return array(z)[0], array(A)[0]


@hint("contexts", "Your weights sum to 1 over the decoder's steps, not over the positions of the source.")
def over_the_steps(look_back):
    A = looked(look_back, [[1.0], [-1.0]], [[1.0], [0.0], [2.0]], [[1.0, 1.0]])[1]
    return close(A.sum(axis=0), [1, 1, 1]) and not close(A.sum(axis=1), [1, 1])


@hint("contexts", "Blanks behind the end of a source get a weight.")
def blanks(look_back):
    return looked(look_back, [[1.0]], [[1.0], [0.0]], [[1.0, 1.0]], [True, False])[1][0, 1] > 1e-6


@hint("contexts", "A wider state makes your weights sharper: the scaled score is asked for.")
def not_scaled(look_back):
    A = looked(look_back, [[1.0, 0, 0, 0]], [[1.0, 0, 0, 0], [0.0, 0, 0, 0]], [[1.0] * 8])[1][0]
    return close(np.log(A[0] / A[1]), 1)


@hint("contexts", "The first half of W_c is to read the state, and yours reads the context.")
def context_first(look_back):
    one, other = (looked(look_back, [[0.5]], [[h]], [[1.0, 0.0]])[0] for h in (1.0, 2.0))
    return not close(one, other)


@hint("contexts", "The context does not reach the output: other encoder states give the same logits.")
def no_context(look_back):
    one, other = (looked(look_back, [[0.5]], [[h]], [[0.0, 1.0]])[0] for h in (1.0, 2.0))
    return close(one, other)


def contexts(decode, when, T, U=0.0, first=1.0):
    H, eye = rows([2.0, 0.0], [0.0, 1.0]), torch.eye(2).double()
    Y = torch.full((T, 2), 0.1).double()
    Y[0, 0] = first
    return array(decode(H, torch.zeros(2).double(), Y, 0 * eye, eye, U * eye, when))


@hint(
    "stepwise", "With `before`, the word that is read changes where the same step looks: it looks first, then updates."
)
def always_after(decode, HEAT=1.0):
    return not close(contexts(decode, "before", 1), contexts(decode, "before", 1, first=-3.0))


@hint("stepwise", "With `before`, what a step has seen does not reach its state: U changes nothing.")
def not_reached(decode, HEAT=1.0):
    return close(contexts(decode, "before", 3), contexts(decode, "before", 3, 2.0))


@hint("stepwise", "With `before`, what a step has seen reaches the state one step too late.")
def one_late(decode, HEAT=1.0):
    return close(contexts(decode, "before", 2), contexts(decode, "before", 2, 2.0))


def trained(train, new_weights, targets, steps):
    before = new_weights(0, 4, 8)
    return before, train(before, torch.ones(len(targets), 1, dtype=torch.long), torch.tensor(targets), steps, 0.02)


def same(one, other, names):
    return all(close(one[name], other[name]) for name in names)


@hint("training", "Training returns the weights that it was given.")
def as_it_was(train, new_weights):
    before, done = trained(train, new_weights, [[3, STOP]] * 8, 8)
    return same(before, done, before)


@hint("training", "Training moves only the tables X and E: all weights learn.")
def only_tables(train, new_weights):
    before, done = trained(train, new_weights, [[3, STOP]] * 8, 8)
    return same(before, done, [name for name in before if name not in "XE"])


@hint(
    "training", "The end becomes less likely in training, though every target ends: the last token is predicted, too."
)
def no_end(train, new_weights, logits):
    read = torch.tensor([[START, 3]])
    before, done = (
        array(logits(w, torch.ones(1, 1, dtype=torch.long), read)[0])[0, 1]
        for w in trained(train, new_weights, [[3, STOP]] * 8, 8)
    )
    shares = [np.exp(z - z.max())[STOP] / np.exp(z - z.max()).sum() for z in (before, done)]
    return shares[1] < shares[0]


@hint("training", "Your decoder has learned to copy what it reads: it is given the token that it should predict.")
def reads_the_target(train, new_weights, logits):
    done = trained(train, new_weights, [[k, STOP] for k in range(8)], 60)[1]
    read = torch.arange(8)[:, None]
    said = array(logits(done, torch.ones(8, 1, dtype=torch.long), read)[0])[:, 0].argmax(axis=1)
    return (said == np.arange(8)).mean() > 0.7
