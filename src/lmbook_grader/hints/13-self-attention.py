"""Hints to homework 13."""

import numpy as np
import torch

from lmbook_grader.hints import Hints, array, close

hint = Hints()
END = 0


def attend(causal_attention, X, q=1.0, d_k=1, d=1):
    """Values are the rows of X themselves; q: the size of the queries; d_k, d: zeros beside what counts."""
    wide = torch.zeros(len(X), d, dtype=torch.float64)
    wide[:, 0] = torch.tensor(X, dtype=torch.float64)
    W_q, W_k, W_v = (torch.zeros(d, width, dtype=torch.float64) for width in (d_k, d_k, 1))
    W_q[0, 0], W_k[0, 0], W_v[0, 0] = q, 1, 1
    return array(causal_attention(wide, W_q, W_k, W_v))[:, 0]


@hint("causal", "A word does not see itself: the first one has nothing to attend to.")
def not_itself(causal_attention):
    return close(attend(causal_attention, [3, 5], 0)[1], 3)


@hint("causal", "Words see what comes after them and not what came before: your mask is turned over.")
def turned_over(causal_attention):
    return close(attend(causal_attention, [3, 5], 0)[1], 5)


@hint("causal", "Each word sees one word too many: the next one changes its output.")
def one_too_far(causal_attention):
    return not close(attend(causal_attention, [3, 5], 0)[0], 3) and close(attend(causal_attention, [3, 5], 0)[0], 4)


@hint(
    "causal",
    "The mask comes after the softmax: the weights of the first word no longer sum to 1, and later words still change them.",
)
def after_softmax(causal_attention):
    return 0 < attend(causal_attention, [1, 1, 1])[0] < 1 - 1e-3


@hint("causal", "Queries change nothing: your attention is a mean.")
def a_mean(causal_attention):
    return close(attend(causal_attention, [3, 5], 0), attend(causal_attention, [3, 5], 1), 1e-5)


@hint("causal", "A wider X, with zeros, changes your output: the root is that of the width of the keys.")
def width_of_x(causal_attention):
    return not close(attend(causal_attention, [1, 2]), attend(causal_attention, [1, 2], d=4))


@hint("causal", "Wider keys change nothing: the scores are not divided by a root.")
def not_scaled(causal_attention):
    return close(attend(causal_attention, [1, 2]), attend(causal_attention, [1, 2], d_k=4))


BEFORE = np.eye(9, k=-1, dtype=bool)  # each position sees the one before it, and not itself


@hint("reach", "The residual connection is forgotten: an output depends on its own input whatever the mask says.")
def no_residual(can_depend):
    return not array(can_depend(BEFORE, 1))[3, 3]


@hint("reach", "Each of your layers doubles how far one can see; it adds what one mask allows.")
def squares(can_depend):
    return bool(array(can_depend(BEFORE, 2))[8, 4])


@hint("reach", "Without any layer an output already depends on other inputs: you count one layer too many.")
def one_more(can_depend):
    return bool(array(can_depend(BEFORE, 0))[3, 2])


@hint(
    "reach",
    "After many layers paths disappear: their number has become too large for an integer. Is there a path, not how many?",
)
def counted(can_depend):
    return not array(can_depend(np.ones((4, 4), dtype=bool), 80)).all()


def chain(AHEAD, *steps):
    """Everybody sees itself; the first output that counts sees AHEAD places further, over these places before it."""
    first = len(steps)
    mask = np.eye(first + AHEAD + 1, dtype=bool)
    way = [first, *steps, first + AHEAD]
    mask[way[:-1], way[1:]] = True
    return mask, first


@hint(
    "leaks",
    "A mask in which every position sees nothing but itself leaks by your count: its own place is no later one.",
)
def own_place(leaks_from, AHEAD=1):
    return leaks_from(np.eye(AHEAD + 3, dtype=bool), 0) != 0


@hint("leaks", "Outputs that do not count are blamed, too: only those from number `first` on enter the loss.")
def all_outputs(leaks_from, AHEAD=1):
    mask = np.eye(AHEAD + 3, dtype=bool)
    mask[0, AHEAD + 1] = True
    return leaks_from(mask, 1) != 0


@hint("leaks", "You look at one layer. In two, a position may see the future through another that is allowed to.")
def one_layer(leaks_from, AHEAD=1):
    return leaks_from(*chain(AHEAD, 0)) == 0


@hint("leaks", "A leak over two other positions takes three layers, and you stop before.")
def two_layers(leaks_from, AHEAD=1):
    return leaks_from(*chain(AHEAD, 1, 0)) == 0


def said(logits, w, *tokens):
    return array(logits(w, torch.tensor([tokens]), 1))[0]


def silent(w):
    return w | {name: 0 * value for name, value in w.items() if name[2:] in ("W_o", "W_2")}


@hint(
    "model",
    "Where no layer adds anything, all tokens get the same logits: attention is added to the vectors, it does not replace them.",
)
def replaced(logits, new_weights):
    w = silent(new_weights(0, 5, 4, 1))
    return close(said(logits, w, 1), said(logits, w, 2), 1e-5)


@hint("model", "The network after attention changes nothing.")
def no_network(logits, new_weights):
    w = new_weights(0, 5, 4, 1)
    return close(said(logits, w, 1, 2), said(logits, w | {"0.W_2": 5 * w["0.W_2"]}, 1, 2), 1e-5)


@hint("model", "The second layer's attention has no influence: each layer has weights of its own.")
def first_layer_again(logits, new_weights):
    w = new_weights(0, 5, 4, 2)
    return close(said(logits, w, 1, 2), said(logits, w | {"1.W_o": 5 * w["1.W_o"]}, 1, 2), 1e-5)


@hint("model", "Longer vectors give larger logits: the last vectors are to be normed, too.")
def last_norm(logits, new_weights):
    w = silent(new_weights(0, 5, 4, 1))
    return not close(said(logits, w, 1, 2), said(logits, w | {"E": 3 * w["E"]}, 1, 2), 1e-3)


def trained(train, new_weights, rows, steps=40):
    before = new_weights(0, 6, 8, 1)
    return before, train(before, rows, 2, steps, 0.02)


def shares(logits, w, *tokens):
    z = array(logits(w, torch.tensor([tokens]), 2))[0]
    p = np.exp(z - z.max(axis=-1, keepdims=True))
    return p / p.sum(axis=-1, keepdims=True)


@hint("training", "Training returns the weights that it was given.")
def as_it_was(train, new_weights):
    before, done = trained(train, new_weights, [[1, 2]] * 8, 4)
    return all(close(before[name], done[name]) for name in before)


@hint("training", "Your model has learned to say what it reads: each place is asked for the token after it.")
def says_what_it_reads(train, new_weights, logits):
    done = trained(train, new_weights, [[1, 2]] * 8)[1]
    return shares(logits, done, END, 1, 2)[1:].argmax(axis=1).tolist() == [1, 2]


@hint("training", "The end becomes less likely in training: after the last dish `END` is to be predicted.")
def no_end(train, new_weights, logits):
    before, done = (shares(logits, w, END, 1, 2)[2, END] for w in trained(train, new_weights, [[1, 2]] * 8, 12))
    return done < before


@hint("training", "Menus far from the first are never learned: every step takes the same one.")
def same_menu(train, new_weights, logits):
    before, done = (shares(logits, w, END)[0, 3] for w in trained(train, new_weights, [[1, 2]] + [[3, 4]] * 60, 12))
    return done < before


@hint("training", "Your model knows what follows a dish and not what came before it: are the menus read as a whole?")
def only_pairs(train, new_weights, logits):
    done = trained(train, new_weights, [[1, 5, 3], [2, 5, 4]] * 20, 150)[1]
    one, other = shares(logits, done, END, 1, 5), shares(logits, done, END, 2, 5)
    knows = one[1, 5] > 0.8 and one[2, 3:5].sum() > 0.8 and other[2, 3:5].sum() > 0.8
    return knows and one[2, 3] - one[2, 4] < 0.4 and other[2, 4] - other[2, 3] < 0.4


def even(new_weights):
    w = new_weights(0, 6, 4, 1)
    return w | {"W_out": 0 * w["W_out"]}


@hint("writing", "Every seed makes the same menu, though all dishes are equally likely: each is to be drawn.")
def likeliest(compose, new_weights, HEAT=1.0):
    return len({tuple(map(int, compose(even(new_weights), 1, seed))) for seed in range(12)}) == 1


@hint("writing", "Your menu contains `END`, which is no dish.")
def end_served(compose, new_weights, HEAT=1.0):
    return any(END in list(compose(even(new_weights), 1, seed)) for seed in range(12))


@hint("writing", "Dishes before the last change nothing: the model reads the whole menu so far.")
def last_dish_only(compose, HEAT=1.0):
    """Attention is a mean here: the start calls 1, start and 1 call 2, and 1 alone would call 3."""
    eye = torch.eye(4)
    names = {f"0.{name}": torch.zeros(4, 4) for name in ("W_q", "W_k")} | {"0.W_v": eye, "0.W_o": 1000 * eye}
    names |= {"0.W_1": torch.zeros(4, 8), "0.W_2": torch.zeros(8, 4), "E": eye}
    W_out = torch.zeros(4, 4)
    W_out[:, 1], W_out[:, 2], W_out[:, 3] = 500 * (eye[0] - eye[1]), 300 * (eye[0] + eye[1]), 500 * (eye[1] - eye[0])
    return list(map(int, compose(names | {"W_out": W_out}, 1, 0)))[1:2] == [3]
