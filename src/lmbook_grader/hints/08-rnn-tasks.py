"""Hints to homework 8."""

import numpy as np

from lmbook_grader.hints import Hints, array, close

hint = Hints()
SURE = np.array([[[0.0, 0.0], [9.0, 0.0], [9.0, 0.0]], [[6.0, 0.0], [6.0, 0.0], [6.0, 0.0]]])


def lost(masked_loss, logits, lengths, labels=None):
    logits = np.array(logits, dtype=float)
    return float(masked_loss(logits, np.zeros(logits.shape[:2], int) if labels is None else labels, lengths)["loss"])


@hint("masked-loss", "More padding makes your loss smaller: the mean is over words, and padding is none.")
def whole_array(masked_loss, WEIGHT=1.0):
    return not close(lost(masked_loss, SURE[:1, :1], [1]), lost(masked_loss, SURE[:1], [1]))


@hint("masked-loss", "Large logits make the loss infinite or NaN: subtract the largest of each row first.")
def overflow(masked_loss, WEIGHT=1.0):
    return not np.isfinite(lost(masked_loss, [[[5000.0, 5000.0]]], [1]))


@hint("masked-loss", "A word of a short sentence weighs more in your mean than one of a long sentence.")
def mean_of_means(masked_loss, WEIGHT=1.0):
    apart = [lost(masked_loss, SURE[i : i + 1], [n]) for i, n in ((0, 1), (1, 3))]
    return close(lost(masked_loss, SURE, [1, 3]), sum(apart) / 2)


@hint(
    "masked-loss",
    "NaN in the padding reaches the loss: 0 times NaN is NaN, so padding has to be left out before you compute.",
)
def times_zero(masked_loss, WEIGHT=1.0):
    return np.isnan(lost(masked_loss, [[[0.0, 0.0], [np.nan, np.nan]]], [1]))


@hint("masked-loss", "The gradient at the padding is not 0, though the loss does not depend on it.")
def gradient_at_padding(masked_loss, WEIGHT=1.0):
    return np.abs(array(masked_loss(SURE[:1], np.zeros((1, 3), int), [1])["gradient"])[0, 1:]).max() > 1e-9


RIGHT = {"W": np.array([[0.5], [0.3], [1.0], [0.2]]), "U": np.array([[0.1], [0.2], [0.5], [0.3]]), "b": np.zeros(4)}
LEFT = {name: -value for name, value in RIGHT.items()}


def both(both_ways, x, n, left=LEFT):
    found = both_ways(np.array(x, dtype=float).reshape(1, -1, 1), [n], RIGHT, left)
    return array(found["outputs"])[0], array(found["final"])[0]


@hint("both-ways", "Both directions use the same weights: those of the second change nothing.")
def one_set(both_ways):
    return close(both(both_ways, [1, 2], 2)[0], both(both_ways, [1, 2], 2, {k: 3 * v for k, v in LEFT.items()})[0])


@hint("both-ways", "The padding changes what the backward direction says of the words: it starts at the last word.")
def begins_in_padding(both_ways):
    return not close(both(both_ways, [1, 0, 0], 1)[0][0], both(both_ways, [1, 5, 5], 1)[0][0])


@hint("both-ways", "At the padding the outputs are not 0.")
def repeated(both_ways):
    return np.abs(both(both_ways, [1, 0], 1)[0][1]).max() > 1e-9


@hint(
    "both-ways",
    "The final state of the backward direction is its state at the last word, where it has read one word only.",
)
def final_at_last_word(both_ways):
    outputs, final = both(both_ways, [1, 2, 3], 3)
    return close(final[1], outputs[2, 1])


def spans(find_spans, *tags):
    return [tuple(span) for span in find_spans(list(tags))]


@hint("find-spans", "The end of your spans is the place after the last word; both places are to be included.")
def place_after(find_spans, MOST=1000000):
    return spans(find_spans, "S-x", "O") == [(0, 1, "x")]


@hint(
    "find-spans",
    "A span is among yours that breaks off inside: between its beginning and its end all tags have to continue it.",
)
def whatever_between(find_spans, MOST=1000000):
    return len(spans(find_spans, "B-x", "O", "E-x")) > 0


@hint("find-spans", "A type with a hyphen loses its second half.")
def hyphen(find_spans, MOST=1000000):
    return [kind for _, _, kind in spans(find_spans, "S-x-y")] == ["x"]


def model(**other):
    m = {"to_right": RIGHT, "to_left": LEFT, "E": np.array([[1.0], [-1.0]]), "W": np.zeros((9, 2)), "b": np.zeros(9)}
    return m | other


def trained(train, *examples):
    after = train(model(), list(examples), 15, 0.05)
    return array(after["W"]), array(after["b"])


@hint("tagger", "Training returns the model as it was.")
def as_it_was(train):
    W, b = trained(train, *[([0, 1], [1, 2])] * 30)
    return close(W, np.zeros((9, 2))) and close(b, np.zeros(9))


@hint("tagger", "Training moves the bias alone: W stays as it was.")
def bias_only(train):
    return close(trained(train, *[([0, 1], [1, 2])] * 30)[0], np.zeros((9, 2)))


@hint("tagger", "Training makes the right tags less likely.")
def uphill(train):
    b = trained(train, *[([0, 1], [1, 1])] * 30)[1]
    return b[1] < b[5]


@hint("tagger", "The tags stand one word too far to the right: the tag of the last word is never learned.")
def shifted(train):
    b = trained(train, *[([0, 1], [1, 2])] * 30)[1]
    return b[2] < 0 < b[1]


@hint("tagger", "Tags that only later sentences have are never learned: every step takes the same ones.")
def same_sentence(train):
    b = trained(train, ([0], [1]), *[([1], [3])] * 60)[1]
    return b[3] < 0 < b[1]


@hint("tagger", "A short sentence gets tags for its padding, too.")
def padding_tagged(tag):
    return len(list(tag(model(), [[0, 0], [0]])[1])) == 2


@hint("tagger", "You return numbers where the names of tags are asked for.")
def numbers(tag):
    return not isinstance(tag(model(), [[0]])[0][0], str)


@hint("tagger", "The bias of the last layer changes nothing when you tag.")
def no_bias(tag):
    return list(tag(model(b=9 * np.eye(9)[3]), [[0]])[0]) == list(tag(model(b=9 * np.eye(9)[5]), [[0]])[0])
