"""Hints to homework 16."""

import numpy as np
import torch

from lmbook_grader.hints import Hints, array, close

hint = Hints()


def blanks(make_blanks, token=9, chance=0.0, fate=0.5, rate=0.15):
    read, selected = make_blanks(*(np.array([[one]]) for one in (token, chance, fate, 7)), rate)
    return int(array(read)[0, 0]), bool(array(selected)[0, 0])


@hint("masking", "A special token is selected: only words are.")
def special(make_blanks, LOW=0.8, HIGH=0.9):
    return blanks(make_blanks, token=2)[1]


@hint("masking", "A chance equal to the rate selects; it has to be below.")
def equal_to_rate(make_blanks, LOW=0.8, HIGH=0.9):
    return blanks(make_blanks, chance=0.25, rate=0.25)[1]


@hint("masking", "A selected word that stays as it is does not count as selected: it is predicted, too.")
def only_masked(make_blanks, LOW=0.8, HIGH=0.9):
    return not blanks(make_blanks, fate=0.99)[1]


@hint("masking", "Whatever the fate, a selected word becomes `<mask>`; some change into another word, and some stay.")
def always_mask(make_blanks, LOW=0.8, HIGH=0.9):
    return blanks(make_blanks, fate=0.99)[0] == 4


@hint("masking", "The last part of the fates changes the word, and the part before it keeps it: they are exchanged.")
def exchanged(make_blanks, LOW=0.8, HIGH=0.9):
    return blanks(make_blanks, fate=0.99)[0] == 7


SURE = np.array([[[0.0, 0.0], [9.0, 0.0], [9.0, 0.0]]])


def lost(loss_and_gradient, logits, selected):
    logits = np.array(logits, dtype=float)
    J, gradient = loss_and_gradient(logits, np.zeros(logits.shape[:2], dtype=int), np.array(selected))
    return float(J), array(gradient)


@hint("loss", "Large logits end as NaN or infinity: subtract the largest of each row first.")
def overflow(loss_and_gradient):
    return not np.isfinite(lost(loss_and_gradient, [[[5000.0, 5000.0]]], [[True]])[0])


@hint("loss", "Logits at a place that was not selected change your loss.")
def every_place(loss_and_gradient):
    one, other = (lost(loss_and_gradient, k * SURE, [[True, False, False]])[0] for k in (1, 0.2))
    return not close(one, other)


@hint("loss", "With more places that are not selected your loss gets smaller: the mean is over the blanks.")
def over_all_places(loss_and_gradient):
    one, other = (lost(loss_and_gradient, SURE[:, :n], [[True, False, False][:n]])[0] for n in (1, 3))
    return not close(one, other)


@hint(
    "loss",
    "A blank of a row with few blanks weighs more than one of a row with many: the mean is over all blanks of the batch.",
)
def mean_of_means(loss_and_gradient):
    rows, selected = np.vstack([SURE, 9 * SURE[:, [1, 1, 1]]]), np.array([[True, False, False], [True, True, True]])
    apart = [lost(loss_and_gradient, rows[i : i + 1], selected[i : i + 1])[0] for i in (0, 1)]
    return close(lost(loss_and_gradient, rows, selected)[0], sum(apart) / 2)


@hint("loss", "Your gradient is not 0 where nothing was selected.")
def gradient_everywhere(loss_and_gradient):
    return np.abs(lost(loss_and_gradient, SURE, [[True, False, False]])[1][0, 1:]).max() > 1e-9


@hint("loss", "With a second blank the gradient at the first stays the same: the loss is a mean over the blanks.")
def not_divided(loss_and_gradient):
    one, two = (lost(loss_and_gradient, SURE, [[True, more, False]])[1][0, 0] for more in (False, True))
    return close(one, two)


def seen(what_was_there, FIRST, p, a, b):
    """For four words, of which the third is shown, behind the FIRST ids that are none."""
    return array(what_was_there(np.array([0.0] * FIRST + p), FIRST + 2, a, b))[FIRST:]


@hint(
    "answer",
    "A word that nobody would expect there becomes possible by being shown: what is impossible stays so, whatever is seen.",
)
def fixed_shares(what_was_there, FIRST=0):
    found = seen(what_was_there, FIRST, [0.5, 0.25, 0.0, 0.25], 0.8, 0.1)
    return 0 < found[2] < 1


@hint("answer", "You take the word that is shown for certain; it may be a random one.")
def taken_for_certain(what_was_there, FIRST=0):
    return seen(what_was_there, FIRST, [0.25] * 4, 0.6, 0.2)[2] == 1


@hint(
    "answer",
    "If all words are drawn at random, you rule out the one that is shown: a random draw may hit the word that was there.",
)
def never_hits(what_was_there, FIRST=0):
    return seen(what_was_there, FIRST, [0.25] * 4, 0.0, 1.0)[2] == 0


@hint("answer", "The shares a and b change nothing in your answer.")
def shares_fixed(what_was_there, FIRST=0):
    return close(seen(what_was_there, FIRST, [0.25] * 4, 0.8, 0.1), seen(what_was_there, FIRST, [0.25] * 4, 0.1, 0.7))


H, Y = np.array([[0.0], [1.0], [2.0], [3.0]]), np.array([0, 0, 1, 1])


@hint("probe", "The labels of the new states change nothing: you test on what you have fitted.")
def tested_on_known(probe_accuracy):
    return probe_accuracy(H, Y, H, Y, 2, 0.1) == probe_accuracy(H, Y, H, 1 - Y, 2, 0.1)


@hint(
    "probe",
    "New states that all lie on one side get both labels: they are to be centred as the old ones were, not by their own mean.",
)
def own_mean(probe_accuracy):
    return probe_accuracy(H, Y, H + 50, np.ones(4, dtype=int), 2, 0.1) == 0.5


@hint("probe", "Where the border between two classes is not at 0 your probe misses it: it has no bias.")
def no_bias(probe_accuracy):
    return probe_accuracy(H, Y, H, Y, 2, 1e-6) < 1


@hint("probe", "A strong penalty moves your border away from the middle: it is on the bias, too.")
def penalty_on_bias(probe_accuracy):
    return probe_accuracy(H, Y, H, Y, 2, 1e4) < 1


def quiet(**other):
    w = {name: torch.zeros(4, 4) for name in ("W_q", "W_k", "W_v", "W_o", "W_1", "W_2")} | {"P": torch.zeros(9, 4)}
    E = torch.tensor([[5.0, -5, 5, -5], [1, -1, 1, -1], [1, 1, -1, -1], [1, -1, -1, 1]])
    return w | {"E": E, "W_p": torch.eye(4), "W_c": torch.tensor([[1.0, 0.0]] * 4)} | other


@hint("verdict", "The padding changes your summary.")
def padding_counts(summary):
    return not close(summary(quiet(), [[1, 2]]), array(summary(quiet(), [[1, 2, 0], [1, 2, 3]]))[:1], 1e-4)


@hint("verdict", "An opinion of twice as many words has a summary twice as large: that is a sum, not a mean.")
def a_sum(summary):
    return close(2 * array(summary(quiet(), [[1]])), summary(quiet(), [[1, 1]]), 1e-4)


@hint("verdict", "A large W_p makes your logits large without bound: tanh is missing.")
def no_tanh(verdict):
    return (
        np.abs(
            array(verdict(quiet(W_p=100 * torch.eye(4), W_c=torch.tensor([[1.0, 0], [-1, 0], [1, 0], [-1, 0]])), [[1]]))
        ).max()
        > 5
    )


@hint("verdict", "The first column of W_c says what your second logit is: blame comes first, then praise.")
def flipped(verdict):
    found = array(verdict(quiet(W_c=torch.tensor([[1.0, 0], [-1, 0], [1, 0], [-1, 0]])), [[1]]))[0]
    return found[0] == 0 and found[1] != 0


def tuned(fine_tune, pretrained, language, opinions, steps, rate=0.02):
    words = language(3)
    before, (rows, verdicts) = pretrained(words), opinions(words, 5, 24)
    return before, fine_tune(before, rows, verdicts, steps, rate), rows, verdicts


@hint("training", "Fine-tuning returns the weights that it was given.")
def as_it_was(fine_tune, pretrained, language, opinions):
    before, done, _, _ = tuned(fine_tune, pretrained, language, opinions, 2)
    return all(close(before[name], done[name]) for name in before)


@hint("training", "Only the two new matrices learn: the encoder stays as it was.")
def only_new(fine_tune, pretrained, language, opinions):
    before, done, _, _ = tuned(fine_tune, pretrained, language, opinions, 2)
    return all(close(before[name], done[name]) for name in before if name not in ("W_p", "W_c"))


@hint(
    "training", "After one tiny step the encoder is another one: fine-tuning goes on from the weights that it is given."
)
def from_scratch(fine_tune, pretrained, language, opinions):
    before, done, _, _ = tuned(fine_tune, pretrained, language, opinions, 1, 1e-5)
    return np.abs(array(before["W_q"]) - array(done["W_q"])).max() > 0.05


def right(fine_tune, pretrained, language, opinions, verdict):
    _, done, rows, verdicts = tuned(fine_tune, pretrained, language, opinions, 40)
    return (array(verdict(done, rows)).argmax(axis=1) == verdicts).mean()


@hint("training", "After fine-tuning blame and praise are exchanged.")
def verdicts_exchanged(fine_tune, pretrained, language, opinions, verdict):
    return right(fine_tune, pretrained, language, opinions, verdict) < 0.25


@hint(
    "training",
    "After fine-tuning the verdicts on its own opinions are no better than guesses: do rows and verdicts stay together in a step?",
)
def other_rows(fine_tune, pretrained, language, opinions, verdict):
    return 0.25 <= right(fine_tune, pretrained, language, opinions, verdict) < 0.75
