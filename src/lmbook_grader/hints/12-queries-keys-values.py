"""Hints to homework 12."""

import numpy as np

from lmbook_grader.hints import Hints, array, close, fails

hint = Hints()
Q, K, V = np.array([[2.0, 0, 0, 0]]), np.array([[1.0, 0, 0, 0], [0.0, 0, 0, 0]]), np.array([[1.0], [0.0]])
FIRST = np.array([[True, False]])


def odds(attention):
    share = array(attention(Q, K, V))[0, 0]
    return np.log(share / (1 - share))


@hint("attention", "Your scores grow with the width of the keys: they are not divided.")
def no_root(attention):
    return close(odds(attention), 2)


@hint("attention", "Your scores are divided by the width itself. Which spread has a sum of d_k products?")
def by_the_length(attention):
    return close(odds(attention), 0.5)


@hint("attention", "With more keys your scores get smaller: the width of a key counts, not how many there are.")
def number_of_keys(attention):
    return close(odds(attention), 2**0.5)


@hint("attention", "You look only where the mask forbids it: True means that a query may attend.")
def true_forbids(attention):
    return close(attention(Q, K, np.array([[0.0], [1.0]]), FIRST), [[1]])


@hint("attention", "The mask changes nothing.")
def mask_unused(attention):
    half, second = np.array([[1.0, 0, 0, 0], [0.5, 0, 0, 0]]), np.array([[0.0], [1.0]])
    return close(attention(Q, half, second, FIRST), attention(Q, half, second))


@hint("attention", "Your mask comes after the softmax: the weights no longer sum to 1.")
def after_softmax(attention):
    return (
        close(attention(Q, K, np.ones((2, 1)), np.ones((1, 2), bool)), [[1]])
        and 1e-3 < array(attention(Q, K, np.ones((2, 1)), FIRST))[0, 0] < 1 - 1e-3
    )


@hint("attention", "A forbidden key gets a weight: a score of 0 is a score like others.")
def scores_to_zero(attention):
    return array(attention(Q, K, np.array([[0.0], [1.0]]), FIRST))[0, 0] > 1e-3


@hint(
    "attention",
    "Where a forbidden key fits far better than the allowed ones nothing is left: the mask has to come before the exponentials.",
)
def nothing_left(attention):
    found = array(attention(Q, np.array([[0.0, 0, 0, 0], [5000.0, 0, 0, 0]]), np.ones((2, 1)), FIRST))[0, 0]
    return not close(found, 1)


@hint(
    "sharpness",
    "A query of length 0 looks at all keys alike, so for p = 1/N it is enough. Yours is not 0: count the other keys.",
)
def other_keys(sharpness, LENGTH=1):
    return not close(sharpness(4, 9, 0.25), 0)


@hint("sharpness", "The width of the keys changes nothing in your answer: the scores are divided by its root.")
def no_root_in_sharpness(sharpness, LENGTH=1):
    return close(sharpness(4, 4, 0.9), sharpness(4, 16, 0.9))


def heads(multi_head, S, H, W_o, n_heads, d_k=1, d_v=1):
    ones = [np.ones((1, n_heads * d)) for d in (d_k, d_k, d_v)]
    return array(
        multi_head(
            np.array(S, dtype=float)[:, None],
            np.array(H, dtype=float)[:, None],
            *ones,
            np.array(W_o, dtype=float),
            n_heads,
        )
    )


@hint("multi-head", "Heads whose values are wider than their keys stop with an error: the two widths are cut apart.")
def widths(multi_head):
    return fails(lambda: heads(multi_head, [1], [1, 0], np.ones((4, 1)), 2, 1, 2))


@hint("multi-head", "Your output is never negative: the heads are merged by a product alone.")
def relu(multi_head):
    return heads(multi_head, [1], [1, 2], -np.ones((1, 1)), 1)[0, 0] >= 0


def two_of_four(multi_head, n_heads):
    S, H = np.array([[1.0, -2.0]]), np.array([[1.0, 0.0], [0.0, 1.0], [2.0, 1.0]])
    return multi_head(S, H, np.eye(2), np.eye(2), np.eye(2), np.eye(2), n_heads)


@hint("multi-head", "One head or two, your answer is the same.")
def one_head(multi_head):
    return close(two_of_four(multi_head, 1), two_of_four(multi_head, 2))


@hint("multi-head", "The scores of a head get smaller with every other head: the root is that of one head's width.")
def root_of_all(multi_head):
    share = heads(multi_head, [1], [1, 0], [[1], [0], [0], [0]], 4)[0, 0]
    return 0 < share < 1 and close(np.log(share / (1 - share)), 0.5)


@hint(
    "multi-head",
    "A head's share changes with heads that the output ignores: their columns are cut from the rows of the input.",
)
def cut_from_rows(multi_head):
    W_q = np.array([[1.0, 5.0]])
    S, H = np.array([[1.0]]), np.array([[1.0], [0.0]])
    alone = multi_head(S, H, W_q[:, :1], W_q[:, :1], W_q[:, :1], np.ones((1, 1)), 1)
    beside = multi_head(S, H, W_q, W_q, W_q, np.array([[1.0], [0.0]]), 2)
    return not close(alone, beside)


@hint(
    "multi-head",
    "With one key every query gets the same answer, and yours do not: the axes of heads and queries are mixed when the heads are put together.",
)
def not_turned_back(multi_head):
    W = np.array([[1.0, 5.0]])
    found = array(multi_head(np.array([[1.0], [2.0]]), np.array([[1.0]]), W, W, W, np.array([[1.0], [0.0]]), 2))
    return not close(found[0], found[1])


@hint("counting", "The number of heads changes nothing in your parameters: d_k and d_v are the widths of one head.")
def heads_free(parameters, TEXTS=1):
    return parameters(3, 5, 2, 2, 2, False) == parameters(3, 5, 2, 2, 1, False)


@hint(
    "counting", "The number of heads changes nothing in your multiplications: d_k and d_v are the widths of one head."
)
def heads_free_in_products(multiplications, TEXTS=1):
    return multiplications(2, 3, 3, 5, 2, 2, 2) == multiplications(2, 3, 3, 5, 2, 2, 1)


@hint(
    "counting",
    "For one number in, one out and one head you count more than one weight: words are no size of a projection.",
)
def words_counted(parameters, TEXTS=1):
    return parameters(1, 1, 1, 1, 1, False)["Q"] > 1


@hint("counting", "The keys are made from the other side: they belong to what is looked at.")
def keys_of_queries(parameters, TEXTS=1):
    return parameters(3, 5, 2, 2, 1, False)["K"] != parameters(4, 5, 2, 2, 1, False)["K"]


@hint("counting", "The bias of the output has as many entries as its input; it is added to the output.")
def bias_of_output(parameters, TEXTS=1):
    more = parameters(3, 5, 2, 7, 1, True)["O"] - parameters(3, 5, 2, 7, 1, False)["O"]
    return more == 7


@hint("counting", "The width of the values changes nothing in your look-up: the weighted sum has multiplications, too.")
def only_scores(multiplications, TEXTS=1):
    return multiplications(2, 3, 3, 5, 2, 2, 1)["look-up"] == multiplications(2, 3, 3, 5, 2, 9, 1)["look-up"]


@hint("counting", "The number of keys changes nothing in your projections.")
def as_many_keys(multiplications, TEXTS=1):
    return multiplications(2, 3, 3, 5, 2, 2, 1)["projections"] == multiplications(2, 9, 3, 5, 2, 2, 1)["projections"]


def back(gradients, q, K, V):
    return {
        k: array(v)
        for k, v in gradients(
            np.array(q, dtype=float), np.array(K, dtype=float), np.array(V, dtype=float), np.ones(1)
        ).items()
    }


WIDE = [[1.0, 0, 0, 0], [-1.0, 0, 0, 0]]


@hint(
    "gradients",
    "With one key its weight is 1 whatever the query says; your score has a gradient all the same: the weights depend on the scores through the softmax.",
)
def constant_weights(gradients):
    return np.abs(back(gradients, [1.0], [[1.0]], [[3.0]])["K"]).max() > 1e-6


@hint(
    "gradients",
    "If all scores rise by the same, nothing changes, so their gradients sum to 0; yours do not: the outputs of a softmax compete.",
)
def no_competition(gradients):
    return not close(back(gradients, [1.0], [[1.0], [-1.0]], [[3.0], [1.0]])["K"].sum(), 0)


@hint("gradients", "The gradients of the values sum to more than g: each value gets its weight's share of it.")
def values_unweighted(gradients):
    return back(gradients, [1.0], [[1.0], [-1.0]], [[3.0], [1.0]])["V"].sum() > 1 + 1e-6


@hint(
    "gradients",
    "Keys four times as wide give the same gradients: the scores are divided by a root, on the way forth and back.",
)
def no_root_at_all(gradients):
    one, wide = (
        back(gradients, [0.01], [[1.0], [-1.0]], [[3.0], [1.0]]),
        back(gradients, [0.01, 0, 0, 0], WIDE, [[3.0], [1.0]]),
    )
    return close(one["K"][:, 0], wide["K"][:, 0], 1e-3) and close(one["q"][0], wide["q"][0], 1e-3)


@hint("gradients", "On the way back to the query the root is forgotten.")
def root_forgotten(gradients):
    one, wide = (
        back(gradients, [0.0], [[1.0], [-1.0]], [[3.0], [1.0]]),
        back(gradients, [0.0] * 4, WIDE, [[3.0], [1.0]]),
    )
    return close(one["q"][0], wide["q"][0])


def both(merged, *pairs):
    found = merged([{"c": np.array([c], dtype=float), "l": float(size)} for c, size in pairs])
    return array(found["c"])[0], float(found["l"])


@hint("merging", "Large scores end as NaN or infinity: only differences of l matter.")
def overflow(merged):
    return not np.isfinite(both(merged, (0, 5000), (1, 5000))).all()


@hint("merging", "A machine whose scores are far larger counts no more than the others: a mean is not enough.")
def plain_mean(merged):
    return close(both(merged, (0, 0), (1, 30))[0], 0.5)


@hint("merging", "The answers are weighted by l itself; l is a logarithm.")
def weighted_by_l(merged):
    return close(both(merged, (0, 1), (1, 3))[0], 0.75)


@hint("merging", "Two equal machines report the l of one: together they have twice the sum of exponentials.")
def largest_l(merged):
    return close(both(merged, (1, 2), (1, 2))[1], 2)


@hint("merging", "Where no machine has a pair your report is NaN.")
def nobody(merged):
    return np.isnan(both(merged, (0, -np.inf), (0, -np.inf))).any()
