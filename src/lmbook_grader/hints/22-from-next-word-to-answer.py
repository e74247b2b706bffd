"""Hints to homework 22."""

import numpy as np

from lmbook_grader.hints import Hints, array, close

hint = Hints()
NONE = np.zeros(2)


def written(in_template):
    tokens, learned = in_template(["a b", "c"])
    return list(tokens), [bool(one) for one in learned]


@hint("template", "Words of the user are among those that are learned: they are given.")
def user_learned(in_template):
    tokens, learned = written(in_template)
    return any(own and token in "ab" for token, own in zip(tokens, learned, strict=False))


@hint("template", "A turn of the user ends with `<end>`: only the assistant has to know when to stop.")
def user_ends(in_template):
    return written(in_template)[0].count("<end>") == 2


@hint("template", "The end of an answer is not learned: then the model never stops.")
def end_not_learned(in_template):
    tokens, learned = written(in_template)
    return tokens[-1] == "<end>" and not learned[-1]


@hint("template", "The marker `<assistant>` is learned: it is written by the template, not by the model.")
def marker_learned(in_template):
    tokens, learned = written(in_template)
    return "<assistant>" in tokens and learned[tokens.index("<assistant>")]


def two_rows(answer_loss):
    learned = np.array([[True, True, True], [True, False, False]])
    return array(answer_loss(np.array([[-1.0, -1.0, -1.0], [-5.0, 0.0, 0.0]]), learned))


@hint("template", "A short answer counts as much as a long one: add up all of the batch, then divide once.")
def mean_of_means(answer_loss):
    return close(two_rows(answer_loss), 3.0)


@hint("template", "You divide by the number of all tokens: only those that are learned count.")
def all_tokens(answer_loss):
    return close(two_rows(answer_loss), 8 / 6)


@hint(
    "template",
    "Minus infinity beside the answer makes the loss NaN: 0 times infinity is no number, so pick, do not multiply.",
)
def infinite_beside(answer_loss):
    with np.errstate(all="ignore"):
        return np.isnan(array(answer_loss(np.array([[-np.inf, -1.0]]), np.array([[False, True]]))))


ONE = np.ones((1, 1))


@hint("lora", "Another alpha changes nothing in the output: the product has a scale.")
def no_scale(lora, HALVES=2):
    return close(array(lora(ONE, ONE, ONE, ONE, 1.0)), array(lora(ONE, ONE, ONE, ONE, 2.0)))


@hint("lora", "The change of the matrix is not B A: row i of it is made with row i of B.")
def product_turned(merged, HALVES=2):
    found = array(merged(np.zeros((2, 1)), ONE, np.array([[1.0], [2.0]]), 1.0))
    return close(found[::-1], [[1.0], [2.0]])


def slopes(lora_gradient, alpha=1.0, n=1):
    dA, dB = lora_gradient(np.ones((n, 1)), np.ones((n, 1)), ONE, 3 * ONE, alpha)
    return array(dA), array(dB)


@hint("lora", "The gradient of A is the same for every alpha: the scale belongs into both gradients.")
def gradient_without_scale(lora_gradient, HALVES=2):
    return close(slopes(lora_gradient)[0], slopes(lora_gradient, 2.0)[0])


@hint("lora", "Twice as many rows do not double the gradient of B: the loss is a sum, and so is its gradient.")
def gradient_mean(lora_gradient, HALVES=2):
    return close(slopes(lora_gradient)[1], slopes(lora_gradient, n=2)[1])


@hint("lora", "The first of the two gradients has the shape of B: that of A comes first.")
def gradients_exchanged(lora_gradient, HALVES=2):
    dA, dB = lora_gradient(np.ones((2, 3)), np.ones((2, 4)), np.ones((1, 3)), np.ones((4, 1)), 1.0)
    return np.shape(dA) == (4, 1) and np.shape(dB) == (1, 3)


def compared(dpo, better=0.0, ref=0.0, beta=1.0, n=1):
    loss, slope = dpo(np.full(n, better), np.zeros(n), np.full(n, ref), np.zeros(n), beta)
    return float(array(loss)), array(slope)


@hint("preferences", "Another reference changes nothing: a reward is the distance from it.")
def no_reference(dpo, MARGIN=0):
    return close(compared(dpo, 1.0, 0.0)[0], compared(dpo, 1.0, 1.0)[0])


@hint("preferences", "The loss rises when the better answer becomes more likely: better and worse are exchanged.")
def exchanged(dpo, MARGIN=0):
    return compared(dpo, 1.0)[0] > compared(dpo, 0.0)[0]


@hint("preferences", "At small beta the slope is as steep as at 1: the chain rule leaves a factor beta.")
def slope_without_beta(dpo, MARGIN=0):
    return abs(compared(dpo, 0.0, 0.0, 1e-3)[1][0]) > 0.1


@hint("preferences", "The slope is positive, though the loss falls when the better answer becomes more likely.")
def slope_sign(dpo, MARGIN=0):
    return compared(dpo)[1][0] > 0


@hint("preferences", "Two equal pairs have each the slope of one: the loss is a mean, so each has half of it.")
def slope_of_sum(dpo, MARGIN=0):
    return close(compared(dpo, n=2)[1][0], compared(dpo)[1][0])


@hint("preferences", "A large beta moves the policy further away from the reference: it should hold it there.")
def beta_multiplies(optimum, MARGIN=0):
    ref, r = np.array([0.5, 0.5]), np.array([0.0, 1.0])
    return array(optimum(ref, r, 5.0))[1] > array(optimum(ref, r, 0.5))[1] + 1e-6


@hint("preferences", "With equal rewards the policy is not the reference.")
def reference_lost(optimum, MARGIN=0):
    return close(array(optimum(np.array([0.2, 0.8]), np.zeros(2), 1.0)), [0.5, 0.5])


@hint("preferences", "Rewards of thousands overflow: subtract the largest one before the exponential.")
def overflows(optimum, MARGIN=0):
    with np.errstate(all="ignore"):
        return not np.isfinite(array(optimum(np.array([0.5, 0.5]), np.array([7000.0, 6998.0]), 0.5))).all()


def back(reward_of, beta=1.0):
    return array(reward_of(np.array([0.5, 0.5]), np.array([0.2, 0.8]), beta))


@hint("preferences", "The plain mean of your rewards is 0: it is the mean under ref that should be.")
def plain_mean(reward_of, MARGIN=0):
    return close(np.mean(back(reward_of)), 0.0)


@hint("preferences", "Your rewards shrink when beta grows: to move as far against a larger beta needs larger rewards.")
def beta_divides(reward_of, MARGIN=0):
    found, twice = (np.ptp(back(reward_of, beta)) for beta in (1.0, 2.0))
    return close(twice, found / 2)


@hint("groups", "A group's advantages depend on the rewards of another group.")
def other_groups(advantages):
    found, other = (array(advantages(np.array([0.0, 1.0, a, a + 1]), 2)) for a in (0.0, 10.0))
    return not close(found[:2], other[:2])


@hint("groups", "Your standard deviation divides by G - 1.")
def sample_spread(advantages):
    return close(np.abs(array(advantages(np.array([0.0, 1.0]), 2))), [0.5**0.5] * 2)


@hint("groups", "A group of equal rewards gives NaN: there is nothing to learn from it, so 0.")
def equal_rewards(advantages):
    with np.errstate(all="ignore"):
        return not np.isfinite(array(advantages(np.ones(2), 2))).all()


def objective(clipped, gap, A=1.0, T=1, padded=0):
    said = np.arange(T + padded)[None] < T
    return float(array(clipped(np.full((1, T + padded), gap), np.zeros((1, T + padded)), np.array([A]), said, 0.2)))


@hint(
    "groups",
    "An answer that is already too likely is pushed further: take the smaller product, and cut the ratio above too.",
)
def larger_one(clipped):
    return close(objective(clipped, 1.0), np.e)


@hint("groups", "An answer of two tokens counts twice as much as one of one: take the mean over its own tokens.")
def long_counts_more(clipped):
    return close(objective(clipped, 0.0, T=2), 2.0)


@hint("groups", "Padding behind an answer changes its mean.")
def padding_counts(clipped):
    return not close(objective(clipped, 0.0), objective(clipped, 0.0, padded=3))


GOODS = ("crates", "barrels", "lamps", "nets", "sails")


def harbour(reply):
    """The goods that this assistant takes notice of, and two facts about them."""
    goods = next((one for one in GOODS if reply([f"the red boat has 1 {one} ."]) == "noted ."), GOODS[0])
    return goods, [f"the red boat has 1 {goods} .", "noted .", f"the old boat has 2 {goods} .", "noted ."]


@hint("assistant", "A fact that was told again has its old number: the later one holds.")
def first_stays(reply, CASE=0):
    goods, facts = harbour(reply)
    told = [*facts, f"the red boat has 3 {goods} .", "noted .", f"how many {goods} has the red boat ?"]
    return reply(told) == f"1 {goods} ."


@hint("assistant", "The sum of two boats comes without a call: the assistant may not add.")
def adds(reply, CASE=0):
    goods, facts = harbour(reply)
    return "<call>" not in str(reply([*facts, f"how many {goods} have the red boat and the old boat ?"]))


@hint("assistant", "The calculator is called though one of the boats is not known.")
def calls_anyway(reply, CASE=0):
    goods, facts = harbour(reply)
    return "<call>" in str(reply([*facts, f"how many {goods} have the red boat and the lost boat ?"]))


@hint("assistant", "After a result the answer does not have the number of the result.")
def own_sum(reply, CASE=0):
    goods, facts = harbour(reply)
    both = f"how many {goods} have the red boat and the old boat ?"
    return "7" not in str(reply([*facts, both, "<call> 1 + 2", "<result> 7"]))
