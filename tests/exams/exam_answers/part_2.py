"""Chapters 6 to 10."""

import itertools
import math

import numpy as np
import torch
from torch import nn

from exam_answers import approx, floats, numbers
from lmbook.cells import GRUCell, LSTMCell, RNNCell
from lmbook.data.batching import stream_batches
from lmbook.metrics import span_f1, spans


def two_steps_back(n):
    w, u, h0 = (floats(n[name]).requires_grad_() for name in ("w", "u", "h0"))
    h1 = w * h0 + u * n["x1"]
    h1.retain_grad()
    h2 = w * h1 + u * n["x2"]
    loss = (h2 - float(n["y"])) ** 2 / 2
    loss.backward()
    assert (h1.item(), h2.item(), loss.item()) == approx((float(n["h1"]), float(n["h2"]), float(n["L"])))
    assert (h1.grad.item(), w.grad.item(), u.grad.item()) == approx(tuple(float(n[k]) for k in ("e1", "dw", "du")))
    w.grad = None
    ((w * h1.detach() + u * n["x2"] - float(n["y"])) ** 2 / 2).backward()
    assert w.grad.item() == approx(float(n["short"]))


def through_tanh(n):
    w, h0 = floats(n["w"]).requires_grad_(), floats(n["h0"]).requires_grad_()
    x1 = math.atanh(n["h1"]) - float(n["w"] * n["h0"])
    x2 = math.atanh(n["h2"]) - float(n["w"] * n["h1"])
    h2 = torch.tanh(w * torch.tanh(w * h0 + x1) + x2)
    h2.backward()
    assert (w.grad.item(), h0.grad.item()) == approx((float(n["dw"]), float(n["d20"])))


def recurrent_parameters(n):
    with torch.device("meta"):
        model = nn.ModuleList([nn.Embedding(n["V"], n["P"]), RNNCell(n["P"], n["m"]), nn.Linear(n["m"], n["V"])])
    assert sum(p.numel() for p in model.parameters()) == n["all"]


def streams(n):
    batches = list(stream_batches(np.arange(n["n"]), n["B"], n["k"]))
    assert sum(inputs.shape == (n["B"], n["k"]) for inputs, _ in batches) == n["steps"]
    assert batches[0][0][1, 0] == n["length"]  # the second stream begins where the first has ended


def influence(n):
    h = [float(n["w"]) ** k for k in range(200)]
    assert h[n["k"]] * n["limit"] < 1 <= h[n["k"] - 1] * n["limit"] + 1e-12


def scalar_cell(cell: nn.Module, **values: float) -> nn.Module:
    """The cell of one unit with these parameters, all others 0."""
    with torch.no_grad():
        for name, parameter in cell.named_parameters():
            parameter.fill_(values.get(name, 0.0))
    return cell.double()


def lstm_step(n):
    i, f, o = (math.log(one) for one in n["ratios"])
    cell = scalar_cell(LSTMCell(1, 1), b_i=i, b_f=f, b_o=o, b_g=math.atanh(n["g"]))
    zero = torch.zeros(1, 1, dtype=torch.float64)
    h, c = cell(zero, (zero, zero + float(n["c0"])))
    assert (h.item(), c.item()) == approx((n["h"], float(n["c"])))


def gru_step(n):
    def logit(p) -> float:
        return math.log(p / (1 - p))

    x = math.log(n["k"]) - float(n["r"] * n["u"] * n["h0"])
    cell = scalar_cell(GRUCell(1, 1), b_r=logit(n["r"]), b_z=logit(n["z"]), b_n=x, W_hn=n["u"])
    (h,) = cell(torch.zeros(1, 1, dtype=torch.float64), (torch.full((1, 1), float(n["h0"]), dtype=torch.float64),))
    assert h.item() == approx(float(n["h"]))


def non_normal(n):
    W = np.array([[0.5, n["a"]], [0, 0.5]])
    assert np.linalg.matrix_power(W, 2) == approx(np.array(n["second"], float))
    assert np.linalg.matrix_power(W, 3) == approx(np.array(n["third"], float))
    corner = [np.linalg.matrix_power(W, k)[0, 1] for k in range(1, 12)]
    assert corner[:3] == approx([n["a"], float(n["b"]), float(n["c"])])
    assert max(corner) == corner[0]
    assert np.linalg.norm(W, 2) > 1


def clipping(n):
    parameter = nn.Parameter(torch.zeros(2, dtype=torch.float64))
    parameter.grad = floats(n["long"])
    norm = nn.utils.clip_grad_norm_([parameter], n["theta"])
    assert norm.item() == approx(n["n1"])
    assert parameter.grad.tolist() == approx(numbers(n["clipped"]), rel=1e-5)
    assert n["n2"] <= n["theta"] < n["n1"]


def forgetting(n):
    cell = scalar_cell(LSTMCell(1, 1), b_i=-200.0, b_f=math.log(n["r"]))
    zero = torch.zeros(1, 1, dtype=torch.float64)
    start = torch.ones(1, 1, dtype=torch.float64, requires_grad=True)
    state = (zero, start)
    for _ in range(n["k"]):
        state = cell(zero, state)
    assert state[1].item() == approx(float(n["left"]))
    assert torch.autograd.grad(state[1], start)[0].item() == approx(float(n["left"]))


def cell_sizes(n):
    with torch.device("meta"):
        cells = [kind(n["P"], n["m"], bias=False) for kind in (nn.RNNCell, nn.GRUCell, nn.LSTMCell)]
    assert [sum(p.numel() for p in cell.parameters()) for cell in cells] == [n["rnn"], n["gru"], n["lstm"]]


def whole_spans(n):
    score = span_f1([n["rows"]["system"]], [n["rows"]["gold"]])
    assert sorted(score.values()) == approx(sorted(float(n[name]) for name in "PRF"))
    assert len(spans(n["rows"]["system"])) == n["o"]
    assert n["same"] == (np.array(n["rows"]["gold"]) == np.array(n["rows"]["system"])).sum()


def padded_mean(n):
    losses = floats([n["first"], n["second"]])
    mask = torch.ones(2, 5, dtype=torch.bool)
    mask[1, 5 - n["pads"] :] = False
    assert losses[mask].mean().item() == approx(float(n["right"]))
    assert losses.mean().item() == approx(float(n["wrong"]))
    rows = [losses[b][mask[b]].mean().item() for b in range(2)]
    assert sum(rows) / 2 == approx(float(n["rows"]))


def two_directions(n):
    x = n["inputs"]
    forward = [sum(n["w"] ** (t - s) * x[s] for s in range(t + 1)) for t in range(4)]
    backward = [sum(n["v"] ** (s - t) * x[s] for s in range(t, 4)) for t in range(4)]
    assert (forward, backward) == tuple(map(list, n["states"]))


def stack_parameters(n):
    with torch.device("meta"):
        layers = [nn.LSTM(n["P"], n["m"]), nn.LSTM(n["P"], n["m"], bidirectional=True)]
        layers.append(nn.LSTM(2 * n["m"], n["m"], bidirectional=True))
    # torch has two biases a gate where the question has one
    extra = [4 * n["m"], 8 * n["m"], 8 * n["m"]]
    counts = [sum(p.numel() for p in layer.parameters()) - e for layer, e in zip(layers, extra, strict=True)]
    assert counts == [n["one"], n["both"], n["second"]]


def spam_baseline(n):
    gold = np.arange(n["n"]) < n["spam"]
    said = np.zeros(n["n"], bool)
    said[: n["hit"]] = said[n["spam"] : n["spam"] + n["false"]] = True
    assert said.sum() == n["stopped"]
    assert (gold == said).mean() == approx(float(n["accuracy"]))
    assert (~gold).mean() == approx(float(n["base"]))
    P, R = gold[said].mean(), said[gold].mean()
    assert approx(tuple(float(n[name]) for name in "PRF")) == (P, R, 2 / (1 / P + 1 / R))


def four_tasks(n):
    states = torch.zeros(n["B"], n["T"], n["m"])
    assert nn.Linear(n["m"], n["tags"])(states).shape == (n["B"], n["T"], n["tags"])
    assert nn.Linear(n["m"], n["classes"])(states.mean(1)).shape == (n["B"], n["classes"])


def bleu_by_hand(n):
    from sacrebleu.metrics import BLEU

    outputs, references = ([" ".join(pair[side]) for pair in n["pairs"]] for side in (0, 1))
    metric = BLEU(max_ngram_order=2, smooth_method="none", tokenize="none")
    score = metric.corpus_score(outputs, [references])
    assert score.score == approx(n["bleu"])
    assert score.bp == approx(n["BP"])
    assert score.precisions[:2] == approx([100 * float(n["p1"]), 100 * float(n["p2"])])


def beam_of_two(n):
    every = {a + b: n["first"][a] * n["second"][a][b] for a, b in itertools.product("ABC", "XYZ")}
    assert sum(every.values()) == 1
    assert every[n["best"]] == max(every.values()) == n["p"]
    a = max(n["first"], key=n["first"].get)
    assert n["greedy"] == a + max(n["second"][a], key=n["second"][a].get)
    assert every[n["greedy"]] == n["pg"] < n["p"]
    beam = sorted(n["first"], key=n["first"].get)[1:]
    assert n["beam"] == max((one for one in every if one[0] in beam), key=every.get)


def length_normalisation(n):
    def score(name: str, alpha: float) -> float:
        return n[f"l{name}"] / n[f"n{name}"] ** alpha

    assert score("a", 0) > score("b", 0)
    assert score("a", 1) < score("b", 1)
    assert score("a", n["alpha"]) == approx(score("b", n["alpha"]))
    assert 0 < n["alpha"] < 1


def context_cost(n):
    with torch.device("meta"):
        plain, every = nn.GRUCell(n["P"], n["m"], bias=False), nn.GRUCell(n["P"] + n["m"], n["m"], bias=False)
    assert [sum(p.numel() for p in cell.parameters()) for cell in (plain, every)] == [n["plain"], n["every"]]


def exact_match(n):
    right = np.random.default_rng(0).random((40_000, n["T"])) < n["p"]
    assert right.all(1).mean() == approx(n["share"], abs=0.02)
    assert n["need"] ** n["T"] == approx(0.99, abs=1e-3)


def translator_shapes(n):
    states, last = nn.GRU(n["d"], n["m"], batch_first=True)(torch.zeros(2, n["N"], n["d"]))
    assert states.shape == (2, n["N"], n["m"])
    assert last[-1].shape == (2, n["m"])


def capacity(n):
    states = 2 ** (n["b"] * n["m"])
    assert n["K"] ** n["N"] <= states < n["K"] ** (n["N"] + 1)


def share_that_returns(n):
    assert n["share"] * n["K"] ** n["N"] == 2 ** n["s"]
    assert n["share"] < 1


def reversed_source(n):
    N = n["N"]
    read = {word: step for step, word in enumerate(reversed(range(1, N + 1)), start=1)}
    distance = {i: N + i - read[i] for i in range(1, N + 1)}
    assert (distance[1], distance[n["i"]], distance[N]) == (1, n["di"], n["dN"])
    assert sum(distance.values()) == N * N


def information_bound(n):
    assert n["H"] == approx(n["N"] * math.log2(n["K"]))
    assert n["I"] == n["H"] - n["N"] * n["cross"]
    assert 0 < n["I"] < n["H"]


def three_summaries(n):
    h = floats(n["h"])
    assert h.mean(0).tolist() == approx(numbers(n["average"]))
    assert h.amax(0).tolist() == numbers(n["maximum"])


def last_state_weights(n):
    a, N = float(n["a"]), n["N"]
    x = torch.zeros(N, dtype=torch.float64, requires_grad=True)
    h = torch.zeros((), dtype=torch.float64)
    for one in x:
        h = a * h + one
    h.backward()
    assert x.grad[0].item() == approx(float(n["first"]))
    assert x.grad[-1] == 1
    sums = sorted(sum(a**k * bit for k, bit in enumerate(bits)) for bits in itertools.product((0, 1), repeat=N))
    assert min(b - a for a, b in itertools.pairwise(sums)) > 0
    assert 1 - sum(a**k for k in range(1, N)) >= float(n["gap"])  # what a difference in the newest input leaves


def reader_memory(n):
    states = torch.zeros(n["N"], n["m"])
    assert (states[-1].numel() * 4, states.numel() * 4) == (n["fixed"], n["all"])
