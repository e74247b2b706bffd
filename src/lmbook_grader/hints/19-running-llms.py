"""Hints to homework 19."""

import numpy as np

from lmbook_grader.hints import Hints, array, close

hint = Hints()


def renamed(to_gpt2, random_pair):
    ours = random_pair(1, 5, 4, 2, 3, 0)[1]
    return ours, to_gpt2(ours)


def named(found, name):
    return array(found["transformer." + name])


@hint("names", "Their names begin with `transformer.`; yours do not.")
def prefix(to_gpt2, random_pair):
    return not any(name.startswith("transformer.") for name in renamed(to_gpt2, random_pair)[1])


@hint("names", "The matrices of the layers have the shape of ours: theirs are stored (in, out).")
def not_transposed(to_gpt2, random_pair):
    return named(renamed(to_gpt2, random_pair)[1], "h.0.mlp.c_fc.weight").shape == (3, 2)


@hint("names", "The tables are transposed: they have a row for each token and each position, there as here.")
def tables(to_gpt2, random_pair):
    return named(renamed(to_gpt2, random_pair)[1], "wte.weight").shape == (2, 5)


@hint(
    "names",
    "A square matrix is taken over as it is: its shape does not tell, and it has to be transposed all the same.",
)
def square(to_gpt2, random_pair):
    ours, found = renamed(to_gpt2, random_pair)
    return close(named(found, "h.0.attn.c_proj.weight"), ours["layers.0.attention.W_o.weight"])


@hint("names", "Queries, keys and values stand side by side in another order than theirs.")
def another_order(to_gpt2, random_pair):
    ours, found = renamed(to_gpt2, random_pair)
    first = named(found, "h.0.attn.c_attn.bias")[:2]
    return any(close(first, ours[f"layers.0.attention.W_{x}.bias"]) for x in "kv")


@hint("names", "Queries, keys and values are mixed entry by entry: they stand side by side, each as a whole.")
def interleaved(to_gpt2, random_pair):
    ours, found = renamed(to_gpt2, random_pair)
    return not close(named(found, "h.0.attn.c_attn.bias")[:2], ours["layers.0.attention.W_q.bias"])


def held(held_and_used, L=1, E=4, k=1):
    return held_and_used(3, 2, L, 1, 1, E, k)


@hint("held-and-used", "A token uses as many parameters as the model holds: of the experts it asks only k.")
def all_used(held_and_used, SHARED=0):
    one, two = held(held_and_used)
    return one == two


@hint("held-and-used", "What a token leaves out does not grow with the layers: each layer has experts of its own.")
def one_layer(held_and_used, SHARED=0):
    one, three = held(held_and_used), held(held_and_used, L=3)
    return one[0] - one[1] == three[0] - three[1]


@hint("held-and-used", "Another expert costs its matrices alone: its biases count, and its row in the router.")
def no_biases(held_and_used, SHARED=0):
    return held(held_and_used, E=5)[0] - held(held_and_used, E=4)[0] == 3


@hint("held-and-used", "Another expert costs only itself: the router has a row for it.")
def no_router(held_and_used, SHARED=0):
    return held(held_and_used, E=5)[0] - held(held_and_used, E=4)[0] == 4


@hint("serving", "One number for keys and none for values: both are kept.")
def no_values(cache_bytes, RESERVED=0):
    return cache_bytes(1, 1, 1, 1, 8) == 1


@hint("serving", "The number of layers changes nothing in your cache.")
def of_one_layer(cache_bytes, RESERVED=0):
    return cache_bytes(1, 1, 4, 1, 8) == cache_bytes(3, 1, 4, 1, 8)


def texts(most_texts, room, RESERVED):
    """With weights of 100 bytes, and 4 bytes for the cache of one text."""
    return most_texts(RESERVED + room, 100, 8, 1, 1, 1, 1)


@hint("serving", "Where not even the weights fit you return a negative number.")
def fewer_than_none(most_texts, RESERVED=0):
    return texts(most_texts, 0, RESERVED) < 0


@hint("serving", "The weights count once for each text; they are there once.")
def weights_each(most_texts, RESERVED=0):
    return texts(most_texts, 208, RESERVED) == 2


@hint("serving", "Weights of 8 bits take as much room as if each bit were a byte.")
def bits_for_bytes(most_texts, RESERVED=0):
    return texts(most_texts, 140, RESERVED) <= 0


@hint("serving", "A cache that does not fit whole counts as one that does.")
def rounded(most_texts, RESERVED=0):
    return texts(most_texts, 143, RESERVED) > texts(most_texts, 140, RESERVED)


def steps(quantise, W, b=8):
    q, s = quantise(np.array(W, dtype=float), b)
    return array(q), array(s)


@hint("int8", "A row of small numbers has the scale of a row of large ones: each row has its own.")
def one_scale(quantise):
    s = steps(quantise, [[1.0, 0.5], [100.0, 50.0]])[1]
    return close(s[0], s[-1])


@hint("int8", "A row whose largest number is negative gets too small a scale: the absolute value decides.")
def without_size(quantise):
    one, other = steps(quantise, [[1.0, -2.0]])[1], steps(quantise, [[1.0, 2.0]])[1]
    return not close(one, other)


@hint("int8", "With 4 bits your largest number is 8: the numbers go from -7 to 7.")
def a_step_too_many(quantise):
    return np.abs(steps(quantise, [[-7.0, 1.0]], 4)[0]).max() == 8


@hint("int8", "What is nearly a step more is cut off: some entries are off by more than half a step.")
def cut_off(quantise):
    return steps(quantise, [[127.0, 0.9]])[0][0, 1] == 0


def summed(product, n, size):
    p = np.full((1, n), size, dtype=np.int8)
    return array(product(p, np.ones(1), np.where(p > 9, p, 1).astype(np.int8), np.ones(1)))[0, 0]


@hint("int8", "A sum of a few small products is already wrong: it is kept in eight bits and overflows.")
def eight_bits(product):
    return summed(product, 40, 5) < 100


@hint("int8", "A long sum becomes negative: it is kept in sixteen bits and overflows.")
def sixteen_bits(product):
    return summed(product, 4, 100) < 100


@hint("experts", "Large scores end as NaN: subtract the largest of each row before the exponential.")
def overflow(gates):
    return not np.isfinite(array(gates(np.array([[5000.0, 0.0, 0.0]]), 2))).all()


@hint("experts", "Of three equal scores all are chosen where two were asked for.")
def ties(gates):
    return (array(gates(np.zeros((1, 3)), 2)) > 0).sum() == 3


@hint("experts", "The weights of the chosen experts sum to less than 1: the softmax is over these alone.")
def over_all(gates):
    return array(gates(np.array([[1.0, 0.5, 0.0]]), 2)).sum() < 1 - 1e-6


def mixed(mixture, A, C=(1.0, 1.0), router=(1.0, 0.0), k=2):
    A, C = (np.array(one, dtype=float).reshape(2, 1, 1) for one in (A, C))
    return array(mixture(np.ones((1, 1)), np.array(router)[:, None], A, C, k)[0])[0, 0]


@hint("experts", "Two equal experts together say twice what one says: their answers are weighted by the gates.")
def gates_forgotten(mixture):
    return close(mixed(mixture, (1, 1)), 2)


@hint("experts", "A hidden unit of an expert may be negative: relu is missing.")
def no_relu(mixture):
    return mixed(mixture, (-1, -1)) < -1e-6


@hint("experts", "A broken expert that nobody has chosen makes the output NaN: it must not be asked at all.")
def all_asked(mixture):
    return np.isnan(mixed(mixture, (1, np.nan), k=1))
