"""Chapters 1 to 5."""

import itertools
import math
from collections import Counter

import numpy as np
import torch
import torch.nn.functional as F

from exam_answers import approx, floats
from lmbook.metrics import nll, perplexity
from lmbook.ngram import AddK, Counts, MaximumLikelihood
from lmbook.text import BytePairTokenizer, CharTokenizer, Vocabulary, merge


def sentence_probability(n):
    logs = [-math.log(n[name]) for name in "abcd"]
    assert nll(logs) == approx(n["J"])
    assert math.exp(sum(logs)) == approx(1 / n["all"])


def short_sentences(n):
    end = 1 / n["k"]
    lengths = [(1 - end) ** (words - 1) * end for words in range(1, n["n"] + 1)]
    assert lengths[-1] == approx(float(n["exactly"]))
    assert sum(lengths) == approx(float(n["at_most"]))


def counts_as_model(n):
    p = np.array(n["tally"]) / sum(n["tally"])
    stream = np.repeat(np.arange(len(p)), n["tally"])
    assert -np.log2(p[stream]).mean() == approx(float(n["bits"]))
    assert n["gain"] == approx(np.log2(len(p)) + np.log2(p[stream]).mean())
    assert n["gain"] > 0


def vanishing_product(n):
    product, t = np.float32(1), 0
    while product > 0 and t < 200:
        product, t = product * np.float32(2.0 ** -n["k"]), t + 1
    assert t == n["t"]
    assert n["J"] == approx(nll([-n["k"] * math.log(2)] * 7))


def histories(n):
    assert n["V"] ** n["k"] == 10 ** n["h"]
    assert 10 ** n["e"] / n["V"] ** n["k"] == approx(10 ** n["share"])
    assert n["share"] < 0


def bigrams_of_a_line(n):
    types = ["red", "sea", "sky"]
    counts = Counts([types.index(w) for w in n["line"].split()], 2, 3)
    h, w = types.index(n["h"]), types.index(n["w"])
    ml = MaximumLikelihood(counts, 2).distribution([h])
    assert ml[w] == approx(float(n["ml"]))
    assert ml.sum() - ml[w] == approx(float(n["rest"]))
    assert AddK(counts, 2, k=1).prob([h], w) == approx(float(n["add"]))


def add_k(n):
    every = [n["chw"], *[0] * (n["V"] - n["seen"])]
    seen = np.array(every + [(n["ch"] - n["chw"]) / (n["seen"] - 1)] * (n["seen"] - 1))
    p = (seen + float(n["k"])) / (seen + float(n["k"])).sum()
    assert p[0] == approx(float(n["p"]))
    assert p[seen == 0].sum() == approx(float(n["lost"]))


def interpolation(n):
    weights, p = np.array([n["l3"], n["l2"], n["l1"]], float), np.array([0, n["p2"], n["p1"]], float)
    assert weights.sum() == approx(1)
    assert weights @ p == approx(float(n["p"]))
    assert (weights * p / (weights @ p))[1] == approx(float(n["share"]))


def kneser_ney(n):
    """The whole distribution of a made-up history adds up to 1, with the answer in it."""
    others = n["types"] - 1
    counts = np.array([n["chw"]] + [(n["ch"] - n["chw"]) / others] * others + [0.0])
    low = np.array([float(n["cont"])] + [0.0] * others + [1 - float(n["cont"])])
    D = float(n["D"])
    p = np.maximum(counts - D, 0) / n["ch"] + D * (counts > 0).sum() / n["ch"] * low
    assert p.sum() == approx(1)
    assert p[0] == approx(float(n["p"]))


def three_perplexities(n):
    logs = [-k * math.log(2) for k in n["powers"]]
    assert perplexity(nll(logs)) == approx(n["pp"])
    assert n["wrong"] == approx(2 ** nll(logs))
    assert n["wrong"] < n["pp"]


def operator(n):
    p = np.array([0.25] * n["count"] + [float(n["left"]) / n["M"]] * n["M"])
    assert p.sum() == approx(1)
    assert perplexity(-(p * np.log(p)).sum()) == approx(n["pp"])


def words_and_characters(n):
    words = 1000
    nats = words * math.log(2.0 ** n["k"])
    assert perplexity(nats / (words * n["c"])) == approx(n["ppc"])
    assert (n["winner"] == "words") == (n["ppc"] < n["pc"])


def two_merges(n):
    text = "".join(f"{word} " * n[name] for word, name in (("sea", "a"), ("seat", "b"), ("tea", "c")))
    pieces = [list(word.encode()) for word in text.split()]
    before = sum(map(len, pieces))
    for new in (300, 301):
        pairs = Counter(pair for piece in pieces for pair in itertools.pairwise(piece))
        (best, count), (_, second) = pairs.most_common(2)
        assert count > second
        pieces = [merge(piece, best, new) for piece in pieces]
    assert (before, sum(map(len, pieces))) == (n["before"], n["after"])
    assert count == n["count"]


def lookup_gradient(n):
    D = floats(n["table"]).requires_grad_()
    (F.embedding(torch.tensor(n["tokens"]), D) * floats(n["arrives"])).sum().backward()
    assert torch.equal(D.grad, floats(n["gradient"]))
    assert n["tokens"].count(n["twice"]) == 2


def one_hot_price(n):
    W = np.broadcast_to(np.zeros(1), (n["T"], n["V"]))
    D = np.broadcast_to(np.zeros(1), (n["V"], n["d"]))
    assert (W.size, D.size) == (n["W"], n["D"])
    assert n["product"] == W.shape[0] * D.size
    assert n["copied"] == W.shape[0] * D.shape[1]


def negative_sampling(n):
    v = floats(n["centre"]).requires_grad_()
    loss = -F.logsigmoid(floats(n["context"]) @ v) - F.logsigmoid(-floats(n["negative"]) @ v)
    loss.backward()
    assert loss.item() == approx(n["J"])
    assert v.grad.tolist() == approx([float(x) for x in n["gradient"]])


def negative_distribution(n):
    counts = np.array([n["c0"], n["c1"], n["c2"]], float)
    p = counts**0.75 / (counts**0.75).sum()
    assert p == approx(np.array(n["P"], float))
    assert p.max() / p.min() == approx(float(n["less"]))
    assert counts.max() / counts.min() == approx(float(n["plain"]))


def encode_two_lines(n):
    vocabulary = Vocabulary(n["listed"])
    for line, ids in zip((n["first"], n["second"]), n["rows"], strict=True):
        real = [id_ for id_ in ids if id_ != 0]
        assert real == [2, *vocabulary.encode(line.split()), 3]
    assert n["n"] == sum(len(line.split()) + 1 for line in (n["first"], n["second"]))


def bytes_and_characters(n):
    untrained = BytePairTokenizer([])
    assert len(untrained.encode(n["text"])) == n["bytes"]
    assert len(CharTokenizer.train(n["text"]).encode(n["text"])) == n["chars"]


def window_parameters(n):
    with torch.device("meta"):
        E, W, U = torch.empty(n["V"], n["d"]), torch.empty(n["h"], n["w"] * n["d"]), torch.empty(n["V"], n["h"])
        wider = torch.empty(n["h"], (n["w"] + 1) * n["d"])
    assert E.numel() + W.numel() + U.numel() == n["all"]
    assert wider.numel() - W.numel() == n["more"]


def forward_by_hand(n):
    E, W, U, window, target = n["parts"]
    e = math.log(3) * floats(E)[window]
    z = math.log(2) * floats(U) @ torch.sigmoid(floats(W) @ e)
    assert torch.softmax(z, 0).tolist() == approx([float(p) for p in n["yhat"]])
    assert F.cross_entropy(z, torch.tensor(target)).item() == approx(n["L"])


def output_step(n):
    h, c = floats(n["hidden"]), n["c"] - 1
    target = torch.log(floats(n["yhat"]))
    U = (target[:, None] * h / (h @ h)).requires_grad_()  # its logits are ln y
    F.cross_entropy(U @ h, torch.tensor(c)).backward()
    assert U.grad.flatten().tolist() == approx([float(x) for line in n["gradient"] for x in line])
    stepped = U.detach() - float(n["eta"]) * U.grad
    assert ((stepped - U.detach()) @ h)[c].item() == approx(float(n["change"]))


def adam_first_step(n):
    m = v = np.zeros(2)
    g = np.array(n["gradient"], float)
    m, v = 0.9 * m + 0.1 * g, 0.999 * v + 0.001 * g**2
    step = n["eta"] * (m / (1 - 0.9)) / np.sqrt(v / (1 - 0.999))
    assert (-step).tolist() == approx(n["change"])
    assert np.sqrt((m / np.sqrt(v)) ** 2) == approx(np.full(2, 0.1 / math.sqrt(0.001)))


def window_shapes(n):
    ids = torch.zeros(n["B"], n["w"], dtype=torch.long)
    vectors = F.embedding(ids, torch.zeros(n["V"], n["d"]))
    W, U = torch.zeros(n["h"], n["e"]), torch.zeros(n["V"], n["h"])
    assert (vectors.flatten(1) @ W.T @ U.T).shape == (n["B"], n["V"])


def first_loss(n):
    assert F.cross_entropy(torch.zeros(1, n["V"]), torch.tensor([0])).item() == approx(n["J"], rel=1e-5)
    assert n["low"] < n["J"] < n["high"]


def loss_to_weights(n):
    x, c = floats(n["input"]), n["c"] - 1
    W = (torch.log(floats(n["logits"]))[:, None] * x / (x @ x)).requires_grad_()
    loss = F.cross_entropy(W @ x, torch.tensor(c))
    loss.backward()
    assert loss.item() == approx(n["L"])
    assert W.grad.flatten().tolist() == approx([float(v) for line in n["gradient"] for v in line])
    moved = W.detach().clone()
    moved[n["i"] - 1, n["j"] - 1] += 0.01
    assert F.cross_entropy(moved @ x, torch.tensor(c)).item() - n["L"] == approx(n["move"], abs=1e-3)


def softmax_jacobian(n):
    z = torch.log(floats(n["yhat"]))
    J = torch.autograd.functional.jacobian(lambda z: torch.softmax(z, 0), z)
    assert J.flatten().tolist() == approx([float(x) for line in n["jacobian"] for x in line])
    assert (floats(n["arrives"]) @ J).tolist() == approx([float(x) for x in n["result"]])
    assert sum(n["result"]) == 0


def large_logits(n):
    z = n["top"] + floats([0, -math.log(n["a"]), -math.log(n["b"])])
    assert F.cross_entropy(z, torch.tensor(0)).item() == approx(n["value"])
    naive = torch.exp(z) / torch.exp(z).sum()
    assert naive.isnan().all()


def two_paths(n):
    a, b = floats(n["a"]).requires_grad_(), floats(n["b"]).requires_grad_()
    p = a * b
    q = p + n["k"] * a
    p.retain_grad()
    (q * p).backward()
    assert (p.item(), q.item(), (q * p).item()) == (n["p"], n["q"], n["L"])
    assert (p.grad.item(), a.grad.item(), b.grad.item()) == (n["dp"], n["da"], n["db"])


def through_a_sigmoid(n):
    w, u = floats(math.log(n["r"]) / n["x"]).requires_grad_(), floats(n["u"]).requires_grad_()
    loss = (u * torch.sigmoid(w * n["x"]) - n["y"]) ** 2 / 2
    loss.backward()
    assert (loss.item(), u.grad.item(), w.grad.item()) == approx((float(n["L"]), float(n["du"]), float(n["dw"])))


def jacobian_size(n):
    with torch.device("meta"):
        U = torch.empty(n["V"], n["m"])
        J = torch.empty(n["V"], *U.shape, dtype=torch.float32)
    assert (J.numel(), J.numel() * J.element_size()) == (n["full"], n["size"])
    small = torch.autograd.functional.jacobian(lambda U: U @ torch.ones(4), torch.ones(3, 4))
    assert small.count_nonzero() == 3 * 4  # |V| m of |V| |V| m
    assert n["nonzero"] == U.numel()


def difference_quotient(n):
    x, s = n["x"], n["s"]
    central, onesided = ((x + s) ** 3 - (x - s) ** 3) / (2 * s), ((x + s) ** 3 - x**3) / s
    assert central == approx(float(n["central"]))
    assert onesided == approx(float(n["onesided"]))
    assert (central - n["exact"], onesided - n["exact"]) == approx((n["e2"], n["e1"]))


def softmax_twice(n):
    perfect = F.one_hot(torch.tensor([0]), n["n"]).double()
    assert F.cross_entropy(perfect, torch.tensor([0])).item() == approx(n["sure"])
    even = torch.full((1, n["n"]), 1 / n["n"], dtype=torch.float64)
    assert F.cross_entropy(even, torch.tensor([0])).item() == approx(n["even"])
