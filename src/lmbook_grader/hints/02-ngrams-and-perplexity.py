"""Hints to homework 2."""

import math

from lmbook_grader.hints import Hints, close, fails

hint = Hints()
XYX, XYZ = list("xyxyx"), ["x", "y", "z"]  # z is of the vocabulary and not in the text


@hint("add-k", "Without k a history that never occurs divides by 0: the question says what to return then.")
def unseen_history(add_k):
    return fails(add_k, XYX, XYZ, 0, "z", "x") and not fails(add_k, XYX, XYZ, 1, "x", "y")


@hint(
    "add-k",
    "A longer vocabulary changes nothing in your result: you count the types of the text, and the vocabulary is a given list.",
)
def types_of_the_text(add_k):
    return close(sum(add_k(XYX, XYZ, 1, "x", word) for word in "xy"), 1)


@hint(
    "add-k",
    "Your probabilities sum to more than 1: k is added to the count of every word, and the denominator gets it only once.",
)
def k_once(add_k):
    return sum(add_k(XYX, XYZ, 1, "x", word) for word in XYZ) > 1 + 1e-9


@hint(
    "add-k",
    "Your probabilities sum to less than 1 after the text's last word: there it occurs once more than it is followed.",
)
def last_word(add_k):
    return sum(add_k(list("xyxx"), ["x", "y"], 1, "x", w) for w in "xy") < 1 - 1e-9


@hint("perplexity", "Your perplexity falls below 1 where the model is unsure: the sign in the exponent is missing.")
def inverse(perplexity, SKIP=0):
    return perplexity([0.5] * SKIP + [0.5, 0.5]) < 1


@hint("perplexity", "The exponential does not fit the logarithm: powers of 2 belong to bits, powers of e to nats.")
def two_to_nats(perplexity, SKIP=0):
    return 1.0 < perplexity([0.5] * SKIP + [0.5, 0.5]) < 2 - 1e-6


@hint(
    "perplexity",
    "You average probabilities. Perplexity averages their logarithms: two tokens of 1 and 1/9 are as hard as two of 1/3.",
)
def arithmetic_mean(perplexity, SKIP=0):
    return not close(perplexity([0.5] * SKIP + [1.0, 1 / 9]), perplexity([0.5] * SKIP + [1 / 3, 1 / 3]))


@hint(
    "perplexity",
    "A product of thousands of probabilities is rounded to 0, and your perplexity becomes infinite: add logarithms.",
)
def underflow(perplexity, SKIP=0):
    return perplexity([0.5] * SKIP + [0.5] * 5000) == math.inf


@hint(
    "perplexity",
    "A token of probability 0 changes nothing in your result: the model has ruled out what came, and that is infinitely bad.",
)
def zero_skipped(perplexity, SKIP=0):
    return math.isfinite(perplexity([0.5] * SKIP + [0.5, 0.0]))


@hint(
    "operator", "Your function gives the same for different sources: the formula has to work for every list of groups."
)
def one_example(source_perplexity, TOGETHER=1):
    return close(source_perplexity([(2, 0.5)]), source_perplexity([(5, 0.2)]))


@hint("operator", "Your source does not depend on how many events a group has, only on their probability.")
def number_forgotten(source_perplexity, TOGETHER=1):
    return close(source_perplexity([(2, 0.5)]), source_perplexity([(1, 0.5)]))


@hint(
    "operator", "Bits and nats are mixed: for two equally likely events it should not matter which logarithm you take."
)
def mixed_bases(source_perplexity, TOGETHER=1):
    return source_perplexity([(2, 0.5)]) > 2**TOGETHER + 1e-6


@hint("continuation", "A word that only begins the text is missing in your table: it has the value 0.")
def first_word_missing(continuation):
    return "q" not in continuation(list("qxx"))


@hint(
    "continuation",
    "Frequent pairs weigh more in your result: a pair that occurs again is no new place for its second word.",
)
def every_bigram(continuation):
    return not close(continuation(list("xyxyxyxz"))["y"], continuation(list("xyxz"))["y"])


@hint("continuation", "Your values do not sum to 1: which number are the different predecessors of all words together?")
def do_not_sum(continuation):
    return not close(sum(continuation(list("aabbcab")).values()), 1)


@hint("kneser-ney", "An unseen word gets a probability below 0: a count minus D may not fall below 0.")
def negative(kneser_ney):
    return kneser_ney(list("xyxy"), 0.5, "x", "x") < 0


@hint(
    "kneser-ney",
    "How often a word occurs changes what it gets after a history that never was: the shorter distribution is still that of plain counts.",
)
def plain_unigram(kneser_ney):
    return not close(kneser_ney(list("xyxyxyxz"), 0.5, "q", "y"), kneser_ney(list("xyxz"), 0.5, "q", "y"))


@hint(
    "kneser-ney",
    "Your probabilities sum to more than 1. Is the weight of the shorter distribution exactly what the discount took away?",
)
def tokens_in_the_weight(kneser_ney):
    return sum(kneser_ney(list("xyxyxyxz"), 0.5, "x", word) for word in XYZ) > 1 + 1e-6


@hint(
    "kneser-ney",
    "Your probabilities sum to less than 1: a pair that was seen gets nothing from the shorter distribution. It is added to all words.",
)
def backing_off(kneser_ney):
    return sum(kneser_ney(list("xyxyxyxz"), 0.5, "x", word) for word in XYZ) < 1 - 1e-6
