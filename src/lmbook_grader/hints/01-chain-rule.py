"""Hints to homework 1."""

import math

from lmbook_grader.hints import Hints, close, fails

hint = Hints()
COIN = {last: {"x": 0.5, "<eos>": 0.5} for last in ("<sos>", "x")}
LOADED = {last: {"x": 0.9, "<eos>": 0.1} for last in ("<sos>", "x")}


@hint("log-probability", "A word that the model has never seen stops your function: it has probability 0, no error.")
def unknown_word(log_probability):
    return fails(log_probability, COIN, ["y", "x"]) and not fails(log_probability, COIN, ["x"])


@hint("log-probability", "Your logarithms are to base 2: one toss of a fair coin gives -1. They are to be natural.")
def base_two(log_probability):
    return close(log_probability(COIN, ["x"]), -2)


@hint(
    "log-probability",
    "The end of the sentence does not count: whether it may end after its last word changes nothing in your result.",
)
def no_end(log_probability):
    other = {"<sos>": {"x": 0.5}, "x": {"x": 0.9, "<eos>": 0.1}}
    return close(log_probability(COIN, ["x"]), log_probability(other, ["x"]))


@hint(
    "log-probability",
    "You multiply the probabilities first: the product of a long sentence is rounded to 0, and its logarithm is lost.",
)
def product_first(log_probability):
    return log_probability(COIN, ["x"] * 2000) == -math.inf < log_probability(COIN, ["x"] * 20)


@hint("estimate", "No sentence begins or ends in your table: `<sos>` is a history, and `<eos>` is a word that follows.")
def no_ends(estimate, TIMES=1):
    table = estimate([["a", "b"], ["a", "c"]])
    return "<sos>" not in table and not any("<eos>" in row for row in table.values())


@hint(
    "estimate",
    "Your rows do not sum to 1, and all of them together do: these are joint probabilities. The sum over what follows "
    "one history is to be 1.",
)
def joint(estimate, TIMES=1):
    table = estimate([["a", "b"], ["a", "c"]])
    return close(sum(sum(row.values()) for row in table.values()), 1)


@hint(
    "estimate",
    "Your rows do not sum to 1: a pair is divided by how often its second word occurs. Which of the two is given?",
)
def by_the_next_word(estimate, TIMES=1):
    table = estimate([["q"], ["a", "b"], ["c", "b"]])
    return close(table["a"]["b"], 0.5) and close(table["<sos>"]["a"], 1)


@hint("loss", "The end of each sentence is predicted, and you do not count it among the tokens.")
def end_not_counted(loss, PER=1):
    return close(loss(COIN, [["x"]]), PER * 2 * math.log(2))


@hint("loss", "You take the mean of each sentence first, so a word of a short sentence weighs more than one of a long.")
def mean_of_means(loss, PER=1):
    short, long = loss(LOADED, [[]]), loss(LOADED, [["x"] * 9])
    return not close(short, long) and close(loss(LOADED, [[], ["x"] * 9]), (short + long) / 2)


@hint("vanishes", "Your positions begin with 0: a single probability of 0 makes the product vanish at position 1.")
def from_zero(vanishes_at):
    return vanishes_at([1.0, 1.0, 0.0]) == 2


@hint("vanishes", "Your product is kept in float64: it vanishes only where a number of 64 bits does.")
def in_float64(vanishes_at):
    return vanishes_at([0.5] * 1200) > 1000


@hint(
    "vanishes",
    "You stop below the smallest normal number, and there is room beneath: numbers below it lose digits before they "
    "become 0.",
)
def normal_numbers(vanishes_at):
    return 120 < vanishes_at([0.5] * 1200) < 140


@hint(
    "vanishes", "You add logarithms: that is another question. The product is rounded at each step, and may get stuck."
)
def logarithms(vanishes_at):
    return vanishes_at([0.75] * 3000) != 0 == vanishes_at([0.5] * 3)
