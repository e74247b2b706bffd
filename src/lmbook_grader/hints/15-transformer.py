"""Hints to homework 15."""

import numpy as np
import torch

from lmbook_grader.hints import Hints, array, close

hint = Hints()
PAD, SOS, EOS = 0, 1, 2
X = torch.tensor([[1.0, 2.0, 3.0, 6.0], [0.0, 1.0, 4.0, 4.0]], dtype=torch.float64)
H = torch.tensor([[1.0, 0.0, 0.5, 2.0], [0.5, 3.0, 0.0, 1.0]], dtype=torch.float64)
REAL = torch.tensor([True, True])


def without(w, *names):
    return w | {name: 0 * w[name] for name in names}


def encoded(encoder_layer, w, norm, x=X, real=REAL):
    return array(encoder_layer(x[None], real[None], w, 2, norm))[0]


@hint("encoder-layer", "With `pre` and with `post` your layer does the same.")
def same_norms(encoder_layer, layer_weights):
    w = layer_weights(1, 4, 8)
    return close(encoded(encoder_layer, w, "pre"), encoded(encoder_layer, w, "post"))


@hint("encoder-layer", "What stands at a padded position changes the others.")
def padding_seen(encoder_layer, layer_weights):
    w, real = layer_weights(1, 4, 8), torch.tensor([True, False])
    other = torch.stack([X[0], X[1].flip(0)])
    return not close(encoded(encoder_layer, w, "pre", X, real)[0], encoded(encoder_layer, w, "pre", other, real)[0])


@hint("encoder-layer", "A layer whose network adds nothing forgets what it has read: the network has a residual, too.")
def no_residual(encoder_layer, layer_weights):
    w = without(layer_weights(1, 4, 8), "W_2", "b_2", "W_o")
    return close(encoded(encoder_layer, w, "pre"), 0 * array(X))


@hint("encoder-layer", "With `post` the first norm has no influence: each of the two sums is normed.")
def first_sum(encoder_layer, layer_weights):
    w = layer_weights(1, 4, 8)
    return close(encoded(encoder_layer, w, "post"), encoded(encoder_layer, w | {"gain_1": 3 * w["gain_1"]}, "post"))


@hint(
    "encoder-layer", "With `pre` the second norm has no influence: the network reads what attention has left, normed."
)
def second_norm(encoder_layer, layer_weights):
    w = layer_weights(1, 4, 8)
    return close(encoded(encoder_layer, w, "pre"), encoded(encoder_layer, w | {"gain_2": 3 * w["gain_2"]}, "pre"))


@hint(
    "encoder-layer",
    "A normed row of four numbers has the variance 3/4 in your layer: LayerNorm divides by d, not by d - 1.",
)
def sample_variance(encoder_layer, layer_weights):
    w = without(layer_weights(1, 4, 8), "W_2", "b_2", "W_o", "shift_1", "shift_2")
    ones = {name: torch.ones(4).double() for name in ("gain_1", "gain_2")}
    return close(encoded(encoder_layer, w | ones, "post").var(axis=1), [0.75, 0.75], 1e-3)


def decoded(decoder_layer, w, y=X, h=H):
    return array(decoder_layer(y[None], h[None], REAL[None], w, 2))[0]


def crossed(layer_weights, *silent):
    return without(layer_weights(2, 4, 8, True), "W_2", "b_2", *silent)


@hint(
    "decoder-layer",
    "The source reaches the output only as queries: queries come from the target, keys and values from the source.",
)
def queries_from_source(decoder_layer, layer_weights):
    w = crossed(layer_weights, "C_q")
    return close(decoded(decoder_layer, w), decoded(decoder_layer, w, h=H.flip(1)))


@hint("decoder-layer", "A token does not look at itself: its own vector is among those it attends to.")
def not_itself(decoder_layer, layer_weights):
    w = crossed(layer_weights, "C_o", "W_q")
    first = decoded(decoder_layer, w, X[:1])[0] - array(X[0])
    return close(decoded(decoder_layer, w)[1] - array(X[1]), first)


@hint("decoder-layer", "A token sees those after it.")
def future(decoder_layer, layer_weights):
    w = crossed(layer_weights)
    other = torch.stack([X[0], X[1].flip(0)])
    return not close(decoded(decoder_layer, w)[0], decoded(decoder_layer, w, other)[0])


@hint(
    "decoder-layer",
    "The encoder's output three times as large changes nothing: it is normed again, and it was normed already.",
)
def normed_again(decoder_layer, layer_weights):
    w = crossed(layer_weights)
    return close(decoded(decoder_layer, w), decoded(decoder_layer, w, h=3 * H), 1e-3)


@hint("decoder-layer", "Your layer looks at the source first, and then at the target.")
def source_first(decoder_layer, layer_weights):
    own, cross = crossed(layer_weights, "C_o"), crossed(layer_weights, "W_o")
    after = torch.tensor(decoded(decoder_layer, cross))
    return close(decoded(decoder_layer, crossed(layer_weights)), decoded(decoder_layer, own, after))


def said(logits, w, source, *before):
    return array(logits(w, torch.tensor([source]), torch.tensor([before]), 2))[0, -1]


@hint("model", "The words of the source in another order give the same logits: it enters without its positions.")
def no_positions(logits, new_weights):
    w = new_weights(0, 9, 8, 8, 8, 1)
    return close(said(logits, w, [3, 4], SOS), said(logits, w, [4, 3], SOS), 1e-4)


@hint("model", "The encoder's last norm has no influence.")
def no_encoder_norm(logits, new_weights):
    w = new_weights(0, 9, 8, 8, 8, 1)
    return close(
        said(logits, w, [3, 4], SOS), said(logits, w | {"shift_encoder": 1 + w["shift_encoder"]}, [3, 4], SOS), 1e-4
    )


@hint("model", "What the decoder has read is looked up in the table of the source.")
def table_of_source(logits, new_weights):
    w = new_weights(0, 9, 8, 8, 8, 1)
    table = w["source"].clone()
    table[7] += torch.arange(8)
    return not close(said(logits, w, [3, 4], SOS, 7), said(logits, w | {"source": table}, [3, 4], SOS, 7), 1e-4)


def ratio(one):
    """Of a normed vector's first number to its second."""
    return (one[0] - one.mean()) / (one[1] - one.mean())


@hint(
    "model",
    "The embeddings enter as they are: they are to be as large as the positions that are added, so there is a factor.",
)
def not_scaled(logits, new_weights):
    w = new_weights(0, 9, 8, 4, 8, 1)
    w = without(w, *(name for name in w if name.endswith(("W_o", "C_o", "W_2", "b_2"))))
    table = torch.zeros(8, 4)
    table[3, 0], table[4, 0], table[5, 1] = 4, 1, 1
    z = said(logits, w | {"target": table}, [3], 3)
    return close(z[4] / z[5], ratio(np.array([4.0, 1, 0, 1])), 1e-3)


def trained(train, new_weights, pairs, steps=12):
    before = new_weights(0, 6, 9, 8, 16, 1)
    return before, train(before, pairs, 2, steps, 0.02)


def share(logits, w, token, *before):
    z = said(logits, w, [3], *before)
    return np.exp(z - z.max())[token] / np.exp(z - z.max()).sum()


@hint("training", "Training returns the weights that it was given.")
def as_it_was(train, new_weights):
    before, done = trained(train, new_weights, [([3], [4])] * 8)
    return all(close(before[name], done[name]) for name in before)


@hint("training", "Your decoder has learned to copy what it reads: it is given the word that it should predict.")
def reads_the_target(train, new_weights, logits):
    done = trained(train, new_weights, [([3], [k]) for k in range(3, 9)] * 4, 60)[1]
    return sum(said(logits, done, [3], k).argmax() == k for k in range(3, 9)) >= 5


@hint("training", "The end becomes less likely in training: after the last word it is to be predicted.")
def no_end(train, new_weights, logits):
    before, done = (share(logits, w, EOS, SOS, 4) for w in trained(train, new_weights, [([3], [4])] * 8))
    return done < before


@hint("training", "Pairs far from the first are never learned: every step takes the same one.")
def same_pair(train, new_weights, logits):
    before, done = (share(logits, w, 5, SOS) for w in trained(train, new_weights, [([3], [4])] + [([3], [5])] * 60))
    return done < before


@hint("writing", "Your translation contains its end.")
def end_kept(translate, new_weights):
    w = new_weights(0, 6, 6, 4, 8, 1) | {"gain_decoder": torch.zeros(4), "shift_decoder": torch.ones(4)}
    w["target"] = 0 * w["target"]
    w["target"][EOS] = 9
    return EOS in list(map(int, translate(w, [[3]], 2, 3)[0]))


@hint("writing", "The words before the last are not read, so that it always stands at the first position.")
def last_word_alone(translate, new_weights):
    """The positions decide: at the first one 3 is written, at the second 4."""
    w = new_weights(0, 6, 6, 4, 8, 1)
    w = without(w, "target", *(name for name in w if name.endswith(("W_o", "C_o", "W_2", "b_2"))))
    w["target"][3, 0], w["target"][4, 0] = -0.01, 0.01
    return list(map(int, translate(w, [[3]], 2, 2)[0])) == [3, 3]


def cached(step, w, length, K=0.0, V=0.0, token=3):
    L = 1 + max(int(name[0]) for name in w if name[0].isdigit())
    d = w["E"].shape[1]
    cache = {
        name: torch.zeros(L, length, d, dtype=w["E"].dtype) + torch.tensor(value, dtype=w["E"].dtype).reshape(-1, 1, 1)
        for name, value in (("K", K), ("V", V))
    }
    return {name: array(value) for name, value in step(token, cache, w, 2).items()}


@hint(
    "cached-step",
    "What the cache holds changes nothing: it is there so that earlier tokens need not be computed again.",
)
def computed_again(step, writer_weights, FIRST=0):
    w = writer_weights(2, 2, 4, 8, 7)
    return close(cached(step, w, 2)["logits"], cached(step, w, 2, V=[1.0, -2.0])["logits"])


@hint("cached-step", "The second layer does not read its own part of the cache.")
def first_cache(step, writer_weights, FIRST=0):
    w = writer_weights(2, 2, 4, 8, 7)
    return close(cached(step, w, 2)["logits"], cached(step, w, 2, V=[0.0, 2.0])["logits"])


@hint("cached-step", "The norm before attention has no influence on your keys: they are made from the normed vector.")
def keys_before_norm(step, writer_weights, FIRST=0):
    w = writer_weights(2, 1, 4, 8, 7)
    larger = {name: 3 * value for name, value in w.items() if name.endswith("gain_1")}
    return close(cached(step, w, 1)["K"], cached(step, w | larger, 1)["K"])


@hint("cached-step", "The last norm has no influence on your logits.")
def no_last_norm(step, writer_weights, FIRST=0):
    w = writer_weights(2, 1, 4, 8, 7)
    return close(cached(step, w, 1)["logits"], cached(step, w | {"gain": 3 * w["gain"]}, 1)["logits"])


def plain(writer_weights):
    """Weights whose layer adds nothing and whose last norm has no gain, and a table for `ratio`."""
    w = writer_weights(2, 1, 4, 8, 7)
    w = without(w, "0.W_o", "0.W_2", "0.b_2", "shift", "E") | {"gain": torch.ones_like(w["gain"])}
    w["E"][3, 0], w["E"][4, 0], w["E"][5, 1] = 4, 1, 1
    return w


@hint("cached-step", "A token behind three others gets what it would get at the first position.")
def stands_first(step, writer_weights, FIRST=0):
    w = plain(writer_weights)
    return close(cached(step, w, 0)["logits"], cached(step, w, 3)["logits"])


@hint("cached-step", "The embedding enters as it is: there is a factor before the position is added.")
def embedding_not_scaled(step, writer_weights, position, FIRST=0):
    z = cached(step, plain(writer_weights), 0)["logits"]
    return close(z[4] / z[5], ratio(np.array([4.0, 0, 0, 0]) + array(position(FIRST, 4))), 1e-3)


def layer(parameters):
    return parameters(1, 1, 2, 5, 5, True) - parameters(1, 1, 1, 5, 5, True)


@hint("parameters", "The smallest layers have too few: the decoder's attention to the source has weights, too.")
def no_cross(parameters, LEARNED=0):
    return layer(parameters) == 34


@hint("parameters", "Your layers have no biases; those of the text have.")
def no_biases(parameters, LEARNED=0):
    return layer(parameters) == 26


@hint("parameters", "Tied or not, you count the same: a tied table is there once.")
def tied_twice(parameters, LEARNED=0):
    return parameters(1, 1, 1, 5, 5, True) == parameters(1, 1, 1, 5, 5, False)
