"""Hints to homework 23."""

import numpy as np

from lmbook_grader.hints import Hints, array, close

hint = Hints()


@hint("tries", "With a right answer among two, two tries solve the task less than surely: choose without putting back.")
def plug_in(pass_at_k):
    return close(pass_at_k(2, 1, 2), 0.75)


@hint("tries", "With as many tries as answers and one of them right, your estimate is 0: one right try is enough.")
def other_way_round(pass_at_k):
    return close(pass_at_k(3, 1, 3), 0.0) and close(pass_at_k(3, 3, 1), 1.0)


@hint("tries", "Without a right answer your estimate is 1: that is the chance that all tries are wrong.")
def all_wrong(pass_at_k):
    return close(pass_at_k(3, 0, 2), 1.0)


@hint("tries", "A goal that is out of reach must give 0, and one that only all answers reach gives their number.")
def last_left_out(fewest_tries):
    return fewest_tries([1], 3, 0.99) == 0 or fewest_tries([0], 3, 0.5) == 3


@hint("tries", "A single solved task is enough for your function: take the mean over the tasks.")
def one_task(fewest_tries):
    return fewest_tries([3, 0, 0, 0], 3, 0.9) != 0


LOW_HIGH = np.array([0.01, 0.99]), np.array([True, False])


def error(calibration, confidence, right):
    with np.errstate(all="ignore"):
        return float(calibration(np.array(confidence), np.array(right)))


@hint("sure", "A confidence of exactly 1 breaks your function or counts in no bin: it belongs to the last one.")
def one_falls_out(calibration, BINS=4):
    try:
        return close(error(calibration, [1.0, 1.0], [False, False]), 0.0)
    except IndexError:
        return True


@hint("sure", "An error upwards and one downwards cancel: take each bin's distance without its sign.")
def signs_cancel(calibration, BINS=4):
    return error(calibration, [0.99, 0.99], [False, False]) < 0 or error(calibration, [0.01, 0.01], [True, True]) < 0


@hint("sure", "A very sure answer that is wrong and an unsure one that is right make no error: they share one bin.")
def one_bin(calibration, BINS=4):
    return close(error(calibration, *LOW_HIGH), 0.0)


@hint(
    "sure", "Ten answers in a bin weigh no more than one answer in another: weigh each bin by its share of the answers."
)
def bins_alike(calibration, BINS=4):
    many = error(calibration, [0.99] * 9 + [0.01], [False] * 9 + [False])
    few = error(calibration, [0.99] + [0.01] * 9, [False] + [False] * 9)
    return close(many, few)


FLAT = np.array([[4.0, 0.0], [4.0, 0.0]])


@hint(
    "sure", "Where every answer is right the sharpest distribution has the lowest loss: that needs a low temperature."
)
def upside_down(best_temperature):
    return best_temperature(FLAT, np.array([0, 0]), [0.5, 50.0]) == 50.0


@hint("sure", "With large logits your losses are no numbers: subtract the largest of each row before the exponential.")
def overflow(best_temperature):
    with np.errstate(all="ignore"):
        rows = np.array([[9000.0, 0.0], [0.0, 9000.0]])
        return best_temperature(rows, np.array([0, 0]), [0.25, 8.0]) == 0.25


TEXT = "abcdefghijklmnopqrstuvwxyz"


@hint("read", "An item of which a single piece was read is suspicious to you: half of the pieces are needed.")
def one_is_enough(suspicious, GRAM=4):
    return suspicious([TEXT[:GRAM] + "0123456789" * 2], [TEXT]) == [0]


@hint("read", "The end of one training text and the beginning of the next make a piece: no text has it.")
def glued(suspicious, GRAM=4):
    half = GRAM // 2
    return suspicious([TEXT[:GRAM]], [TEXT[:half], TEXT[half:]]) == [0]


@hint("read", "An item just as long as one piece, which was read, is not suspicious to you: how long are your pieces?")
def longer(suspicious, GRAM=4):
    return suspicious([TEXT[:GRAM]], [TEXT]) == []


@hint("read", "An item of which exactly half of the pieces were read is not suspicious to you.")
def more_than_half(suspicious, GRAM=4):
    return suspicious([TEXT[:GRAM] + "0"], [TEXT]) == []


@hint("read", "Equal losses should count half: they are no evidence for either side.")
def ties(lower_first):
    return close(lower_first(np.array([1.0]), np.array([1.0])), 0.0)


@hint("read", "Members with lower losses give you a small number: count how often theirs is the lower one.")
def reversed_order(lower_first):
    return close(lower_first(np.array([1.0]), np.array([2.0])), 0.0)


P, Q = np.array([[0.4, 0.4, 0.2], [1.0, 0.0, 0.0]]), np.array([[0.2, 0.1, 0.7]])


@hint("draft", "A draft that the target likes better than the draft model does is refused: look at the ratio again.")
def ratio(checked):
    return checked(P, Q, [0], [0.9])[0] == 0


def refused(checked):
    return array(checked(P, Q, [2], [0.9])[1])


@hint("draft", "After a refusal you draw from the target as it is: then a token can come in two ways, and too often.")
def from_p(checked):
    return close(refused(checked), P[0])


@hint("draft", "What is left of the target after a refusal does not sum to 1.")
def not_normalised(checked):
    return not close(refused(checked).sum(), 1.0)


@hint("draft", "After a refusal the refused token can be drawn again, though it was drafted too often already.")
def other_side(checked):
    return refused(checked)[2] > 0.5


@hint("draft", "With more drafts a round you get ever more tokens, though one refusal ends the round.")
def all_kept(times_as_fast, FEE=0):
    return times_as_fast(0.5, 40, 0.0) > 5


@hint("draft", "Drafts that are never kept give you no token: the target adds one in each round.")
def none_for_free(times_as_fast, FEE=0):
    return close(times_as_fast(0.0, 3, 0.1), 0.0)


@hint("draft", "A slow draft costs you nothing.")
def costs_nothing(times_as_fast, FEE=0):
    return close(times_as_fast(0.5, 3, 0.1), times_as_fast(0.5, 3, 0.9))


@hint("audit", "A claimed error that is far too low passes, or one that is generous fails.")
def error_turned(audit):
    report = {"n": 2, "counts": [2], "k": 1, "solved": 0.5, "items": [], "training": [], "beta": 1.0, "gamma": 4}
    report |= {"c": 0.0, "faster": 0.1, "error": 0.99, "confidence": np.array([0.99]), "right": np.array([True])}
    return not list(audit(report))[1]
