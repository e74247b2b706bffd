"""Hints to homework 9."""

import numpy as np
import torch

from lmbook_grader.hints import Hints, array, close

hint = Hints()
END = "<eos>"
STOP, START = 10, 11


def small(**other):
    """Zeros for three tokens, but for these weights, whose entries are all equal or as given."""
    sizes = {
        "E": (3, 1),
        "W_ss": (1, 1),
        "W_ys": (1, 1),
        "W_cs": (1, 1),
        "b_s": (1,),
        "W_so": (3, 1),
        "W_co": (3, 1),
        "b_o": (3,),
    }
    w = {name: torch.zeros(size, dtype=torch.float64) for name, size in sizes.items()}
    return w | {
        name: torch.tensor(value, dtype=torch.float64).expand(sizes[name]).clone() for name, value in other.items()
    }


UP = [[1.0], [0.0], [-1.0]]
ROW = torch.ones(1, 1, dtype=torch.float64)


def after(decoder_step, s=0.0, c=1.0, B=1, **weights):
    new, p = decoder_step(small(**weights), torch.tensor([0] * B), s * ROW.expand(B, 1), c * ROW.expand(B, 1))
    return array(new), array(p)


@hint(
    "decoder-step",
    "Your probabilities are as many as the state has numbers, not as there are tokens: the output layer is missing.",
)
def softmax_of_state(decoder_step):
    return after(decoder_step)[1].shape != (1, 3)


@hint(
    "decoder-step",
    "For a batch of two rows all probabilities together sum to 1: each row needs a distribution of its own.",
)
def whole_batch(decoder_step):
    return close(after(decoder_step, B=2)[1].sum(), 1)


@hint("decoder-step", "The context does not reach the output directly: W_co changes nothing.")
def cell_only(decoder_step):
    return close(after(decoder_step)[1], after(decoder_step, W_co=UP)[1])


@hint("decoder-step", "The context does not reach the state: W_cs changes nothing.")
def output_only(decoder_step):
    return close(after(decoder_step)[0], after(decoder_step, W_cs=[[1.0]])[0])


@hint("decoder-step", "Large logits end as NaN: subtract the largest of each row before the exponential.")
def overflow(decoder_step):
    return np.isnan(after(decoder_step, b_o=[5000.0, 0.0, 0.0])[1]).any()


def said(log_prob, targets, **weights):
    return array(log_prob(small(**weights), torch.tensor([targets]), 0, 0 * ROW, 0 * ROW))


@hint(
    "decoder-step",
    "The probability of a token depends on its own embedding: each step reads the token before, not the one it predicts.",
)
def not_shifted(log_prob):
    weights = {"W_ys": [[1.0]], "W_so": UP}
    return not close(said(log_prob, [1], **weights), said(log_prob, [1], E=[[0.0], [3.0], [0.0]], **weights))


@hint("decoder-step", "The last token of a target does not count: its end is predicted, too.")
def end_does_not_count(log_prob):
    return close(said(log_prob, [1, 1], b_o=[0.0, 1.0, 2.0]), said(log_prob, [1, 2], b_o=[0.0, 1.0, 2.0]))


@hint("decoder-step", "The state of one step does not reach the next: with other recurrent weights nothing changes.")
def not_carried(log_prob):
    weights = {"b_s": [0.5], "W_so": UP}
    return close(said(log_prob, [0, 0], **weights), said(log_prob, [0, 0], W_ss=[[2.0]], **weights))


def chosen(beam_search, table, width, alpha=0.0):
    return list(beam_search(table, width, alpha)["words"])


@hint(
    "beam-search",
    "A beam of two finds what the likeliest word at each step finds, and misses a better second beginning.",
)
def greedy(beam_search, OFFSET=0):
    table = {"": {"a": 0.6, "b": 0.4}, "a": {END: 0.5, "x": 0.5}, "a x": {END: 1.0}, "b": {END: 1.0}}
    return chosen(beam_search, table, 2)[0] == "a"


@hint("beam-search", "Your search ends with the first complete output, though an open one may still become better.")
def first_complete(beam_search, OFFSET=0):
    return chosen(beam_search, {"": {END: 0.4, "b": 0.6}, "b": {END: 1.0}}, 2) == [END]


@hint("beam-search", "The power of the length changes nothing in your choice.")
def no_division(beam_search, OFFSET=0):
    return chosen(beam_search, {"": {END: 0.5, "b": 0.5}, "b": {END: 0.9, "c": 0.1}, "b c": {END: 1.0}}, 9, 3.0) == [
        END
    ]


@hint(
    "beam-search",
    "A complete output that better beginnings have pushed out of the beam is forgotten: it still competes at the end.",
)
def pushed_out(beam_search, OFFSET=0):
    table = {"": {END: 0.3, "b": 0.7}, "b": {"x": 0.5, "y": 0.5}}
    for word in "xy":
        table[f"b {word}"] = dict.fromkeys("pqrs", 0.25)
        table |= {f"b {word} {last}": {END: 1.0} for last in "pqrs"}
    return chosen(beam_search, table, 2) != [END]


@hint("beam-search", "Your beam keeps its width for every beginning apart; all extensions compete with each other.")
def apart(beam_search, OFFSET=0):
    table = {
        "": {"b": 0.6, "c": 0.4},
        "b": {"x": 0.5, "y": 0.5},
        "c": {"z": 0.6, "v": 0.4},
        "c z": {END: 1.0},
        "c v": {END: 1.0},
    }
    for word in "xy":
        table[f"b {word}"] = dict.fromkeys("pqrs", 0.25)
        table |= {f"b {word} {last}": {END: 1.0} for last in "pqrs"}
    return "z" in chosen(beam_search, table, 2)


@hint(
    "beam-search",
    "Complete outputs do not take a place in your beam, so it holds more open beginnings than its width allows.",
)
def leave_the_beam(beam_search, OFFSET=0):
    table = {
        "": {END: 0.5, "b": 0.3, "c": 0.2},
        "b": {"x": 0.6, "y": 0.4},
        "b x": {END: 1.0},
        "b y": {"z": 1.0},
        "b y z": {END: 1.0},
        "c": {END: 1.0},
    }
    return "y" in chosen(beam_search, table, 2, 3.0)


@hint(
    "beam-search",
    "What stays in the beam is decided by ln P; the length counts only among the complete outputs at the end.",
)
def by_the_mean(beam_search, OFFSET=0):
    table = {
        "": {END: 0.3, "b": 0.7},
        "b": {"w": 0.42, "x": 0.3, "y": 0.28},
        "b w": {END: 1.0},
        "b x": {"z": 1.0},
        "b x z": {END: 1.0},
        "b y": {END: 1.0},
    }
    return "x" in chosen(beam_search, table, 2, 3.0)


SOURCES, TARGETS = torch.tensor([[1], [2]]), torch.tensor([[3, STOP], [4, STOP]])


def trained(train, new_weights, steps=12):
    before = new_weights(0, 4, 8)
    return before, train(before, SOURCES, TARGETS, steps, 0.02)


@hint("training", "Training returns the weights that it was given.")
def as_it_was(train, new_weights):
    before, done = trained(train, new_weights)
    return all(close(before[name], done[name]) for name in before)


@hint("training", "The encoder stays as it was: the gradient has to go through the context into its weights.")
def encoder_untrained(train, new_weights):
    before, done = trained(train, new_weights)
    return all(close(before[name], done[name]) for name in ("X", "G_x", "G_h"))


def likely(log_prob, encode, w, targets=TARGETS):
    c = encode(w, SOURCES)
    return array(log_prob(w, targets, START, c, c))


@hint("training", "Training makes the targets less likely.")
def less_likely(train, new_weights, log_prob, encode):
    before, done = (likely(log_prob, encode, w).sum() for w in trained(train, new_weights))
    return done < before


@hint(
    "training",
    "After training your model knows the targets, but not which source each belongs to: do the pairs stay together in your batches?",
)
def pairs_broken(train, new_weights, log_prob, encode):
    done = trained(train, new_weights, 80)[1]
    own, other = (np.exp(likely(log_prob, encode, done, t)) for t in (TARGETS, TARGETS.flip(0)))
    return (own + other).min() > 0.7 and np.abs(own - other).max() < 0.3


def chain(by_state):
    """Weights that write 3, 4: one token calls the next, or the states do without them."""
    sizes = {
        "X": (400, 1),
        "G_x": (36, 1),
        "G_h": (36, 12),
        "g_x": (36,),
        "g_h": (36,),
        "E": (12, 12),
        "W_ss": (12, 12),
        "W_ys": (12, 12),
        "W_cs": (12, 12),
        "b_s": (12,),
        "W_so": (12, 12),
        "W_co": (12, 12),
        "b_o": (12,),
    }
    w = {name: torch.zeros(size) for name, size in sizes.items()}
    if by_state:
        w["W_ss"][0, 0], w["W_ss"][1, 0] = -200, 100
        w["b_s"][:] = torch.tensor([50.0] + [-50.0] * 11)
        w["W_so"][3, 0], w["W_so"][4, 1] = 50, 50
        return w
    w["E"], w["W_ys"] = torch.eye(12), 100 * torch.eye(12)
    for read, written in ((START, 3), (3, 4), (4, STOP)):
        w["W_so"][written, read] = 50
    return w


def written(translate, by_state):
    return list(map(int, translate(chain(by_state), torch.tensor([[1]]), 5)[0]))


@hint("writing", "Your output contains the token that ends it.")
def end_written(translate, LEAST=0):
    return STOP in written(translate, False)


@hint("writing", "What was written does not change what comes next: each step reads the token before.")
def reads_the_start(translate, LEAST=0):
    return written(translate, False)[:2] == [3, 3]


@hint("writing", "The state is thrown away after each token: every step begins with that of the encoder.")
def state_thrown_away(translate, LEAST=0):
    return written(translate, True)[:2] == [3, 3]


@hint("writing", "A source gets another output in company than alone: where one output ends, the others go on.")
def all_end(translate, new_weights, LEAST=0):
    sources = torch.tensor([[1, 2], [7, 3], [5, 9]])
    for seed in range(12):
        w = {name: 2 * value for name, value in new_weights(seed, 4, 6).items()}
        together = [list(map(int, row)) for row in translate(w, sources, 8)]
        if together != [list(map(int, translate(w, sources[i : i + 1], 8)[0])) for i in range(3)]:
            return True
    return False
