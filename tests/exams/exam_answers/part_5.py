"""Chapters 20 to 23."""

import itertools
import math
import re

import numpy as np
import pytest
import torch
from torch import nn

from lmbook import evaluation, modern, retrieval, serving
from lmbook.answers import turns
from lmbook.lab.settings import Products
from lmbook.lora import LoRA
from lmbook.networks import n_parameters
from lmbook.preferences import bradley_terry_loss, optimum
from lmbook.reinforce import over_group
from lmbook.scaling import lowest, mup
from lmbook.scan import MinGRU, scan


def rms_by_hand(n):
    x = torch.tensor(n["entries"], dtype=torch.double)
    normed = nn.RMSNorm(4, eps=0.0, dtype=torch.double)(x)
    assert torch.allclose(normed * float(n["square"]) ** 0.5, x)
    assert x.mean().item() == pytest.approx(float(n["mean"]))


def equal_width(n):
    d = n["d"]

    def in_matrices(ffn, width):
        with torch.device("meta"):
            options = {"d_ff": width, "n_kv": n["kept"], "ffn": ffn, "qk_norm": False}
            block = modern.ModernGPT(5, 5, d, n["heads"], 1, **options).blocks[0]
        attention = sum(w.numel() for w in block.mix.parameters())
        return attention, sum(w.numel() for w in block.parameters() if w.dim() > 1)

    assert in_matrices("swiglu", n["three"]) == (n["attention"], 12 * d * d)
    assert in_matrices("gelu", n["two"]) == (n["attention"], 12 * d * d)
    assert n["share"] * n["heads"] == n["kept"]


def long_cache(n):
    with torch.device("meta"):
        every = modern.GroupedAttention(n["n"] * n["dk"], n["n"])
        x = torch.empty(1, n["s"], n["n"] * n["dk"])
        _, cache = every(x, every.start(1))  # as many as a window sees
        state = MinGRU(8, n["m"]).start(1)
    window = n["b"] * sum(X.numel() for X in cache)
    assert n["full"] * n["s"] == n["L"] * window * n["T"]
    assert n["mixed"] == n["full"] * (n["L"] - n["short"]) // n["L"] + n["short"] * window
    assert n["state"] == n["L"] * n["b"] * state.numel()


def scan_rounds(n):
    b = torch.tensor([float(one) for one in n["summands"]]).view(1, 4, 1)
    a = torch.full_like(b, float(n["a"]))
    assert scan(a, b).flatten().tolist() == pytest.approx([float(one) for one in n["states"]])
    pairs = [scan(a[:, :2], b[:, max(0, t - 1) : t + 1])[0, -1].item() if t else b[0, 0].item() for t in range(4)]
    assert pairs == pytest.approx([float(one) for one in n["pairs"]])
    assert 2 ** (n["rounds"] - 1) < n["T"] <= 2 ** n["rounds"]


def symbols_fit(n):
    states = 2 ** (n["m"] * n["b"])
    assert n["K"] ** n["most"] <= states < n["K"] ** n["fails"]
    assert n["K"] ** n["twice"] == states * 2 ** n["bits"]


def tiles(n):
    T, dk, r = n["T"], n["dk"], n["r"]
    assert sum(2 * r * dk + 2 * T * dk for _ in range(0, T, r)) == n["tiled"]
    Q = torch.empty(1, T, dk, device="meta")
    with Products() as products:
        scores = Q @ Q.transpose(1, 2)
        out = scores @ Q
    assert products.flops == 4 * T * T * dk
    assert 4 * out.numel() + 4 * scores.numel() == n["plain"]
    assert n["times"] * n["tiled"] == pytest.approx(np.float64(n["plain"]))


def run_costs(n):
    with torch.device("meta"):
        layer = nn.Linear(n["d"], 12 * n["d"], bias=False)
        tokens = torch.empty(n["T"], n["d"])
        with Products() as products:
            layer(tokens)
            (tokens @ tokens.T) @ tokens
    weights = n["L"] * layer.weight.numel()
    assert weights == n["N"]
    assert n["C"] == 3 * 2 * weights * n["D"] == pytest.approx(n["flops"] / 10**9)
    assert products.flops == 2 * layer.weight.numel() * n["T"] * (1 + n["share"])
    assert n["equal"] == n["T"] / n["share"]


def budget_divided(n):
    assert 6 * n["N2"] * n["D2"] == n["C"] * n["factor"]
    assert n["N2"] / n["N"] == pytest.approx(n["factor"] ** float(n["a"]))
    assert n["r"] * n["N"] == n["D"]
    assert n["r2"] * n["N2"] == n["D2"]


def lowest_point(n):
    x, y = np.array(n["places"], dtype=float), np.array([float(one) for one in n["losses"]])
    assert np.polyfit(x, y, 2)[:2] == pytest.approx([float(n["a"]), float(n["b"])])
    N, loss = lowest(np.exp(x), y)
    assert (np.log(N), loss) == pytest.approx((float(n["best"]), float(n["least"])))
    assert x[np.argmin(y)] == n["nearest"]
    printed = re.findall(r"[\d.]+", n["y"])
    assert [float(one) for one in printed] == pytest.approx(y.tolist(), abs=1e-12)


def around_ring(n):
    g, after = np.array(n["gradients"]), np.array(n["after"])
    assert all(after[i, (i + 1) % 3] == g[:, (i + 1) % 3].sum() for i in range(3))
    own, twice = np.trace(g), sum(g[i, i] + g[(i + 1) % 3, i] for i in range(3))  # what travels in both steps
    assert after.sum() == g.sum() + own + twice


def who_holds(n):
    each = {"all": 16 * n["N"], "one": 4 * n["N"] + 12 * n["N"] / n["P"], "three": 16 * n["N"] / n["P"]}
    assert {name: float(n[name]) for name in each} == pytest.approx(each)


def rate_carried(n):
    model = modern.ModernGPT(5, 5, n["m"] * 2, 1, 1)
    slow, fast = mup(model, 2, float(n["rate"]))
    assert (slow["lr"], fast["lr"]) == (float(n["hidden"]), n["rate"])
    assert n["wide"] == n["base"] * n["m"]


def learned_tokens(n):
    log_p = torch.tensor([-float(n["p"])] * n["first"] + [-float(n["q"])] * n["second"])
    pairs = [([9] * (n["a"] + 2), [8] * n["first"]), ([9] * (n["c"] + 2), [8] * n["second"])]
    tokens, said = turns(pairs)
    assert (tokens != 0).sum() == n["all"]
    assert said.sum() == n["learned"]
    assert -log_p.mean().item() == pytest.approx(float(n["loss"]))


def thin_product(n):
    with torch.device("meta"):
        linear = nn.Linear(n["m"], n["n"], bias=False)
        assert linear.weight.numel() == n["full"]
        assert n_parameters(LoRA(linear, n["r"])) == n["thin"]
    assert np.outer(n["b"], n["a"]).tolist() == n["product"]


def odds(n):
    r = torch.tensor([0.0, -np.log(n["oab"]), -np.log(n["oab"]) - np.log(n["obc"])], dtype=torch.double)
    won = torch.exp(-bradley_terry_loss(r[[0, 1, 0]], r[[1, 2, 2]]))
    assert won.tolist() == pytest.approx([n["wab"] / n["tab"], n["wbc"] / n["tbc"], float(n["share"])])


def tilted(n):
    ref, pi = (torch.tensor([float(p) for p in n[name]], dtype=torch.double) for name in ("p", "policy"))
    r = 0.7 * torch.tensor([1.0, n["u"], n["v"]], dtype=torch.double).log()
    best = optimum(ref, r, 0.7)
    assert best.tolist() == pytest.approx([float(p) for p in n["optimum"]])
    value = best @ r - 0.7 * best @ (best / ref).log()
    assert value.item() == pytest.approx(0.7 * np.log(float(n["Z"])))
    seen = (pi / ref).log()
    assert (seen[1:] - seen[0]).exp().tolist() == pytest.approx([float(n["d2"]), float(n["d3"])])


def one_group(n):
    G, k = n["G"], n["k"]
    R = torch.tensor([1.0] * k + [0.0] * (G - k))
    assert R.mean().item() == pytest.approx(float(n["mean"]))
    assert R.std(correction=0).item() == pytest.approx(float(n["std"]))
    A = over_group(R, G) * R.std() / R.std(correction=0)
    assert [A[0].item(), A[-1].item()] == pytest.approx([float(n["good"]), float(n["bad"])], rel=1e-3)


def variance(n):
    z = torch.tensor(float(n["p"] / (1 - n["p"])), dtype=torch.double).log().requires_grad_()
    log_pi = torch.stack([nn.functional.logsigmoid(z), nn.functional.logsigmoid(-z)])
    R = torch.tensor([float(n["R"]), float(n["S"])], dtype=torch.double)
    (slope,) = torch.autograd.grad((log_pi.exp() * R).sum(), z, retain_graph=True)
    each = [torch.autograd.grad(one, z, retain_graph=True)[0].item() for one in log_pi]
    assert slope.item() == pytest.approx(float(n["slope"]))
    assert [R[0].item() * each[0], R[1].item() * each[1]] == pytest.approx([float(n["first"]), float(n["second"])])
    b = float(n["b"])
    assert [(R[0].item() - b) * each[0], (R[1].item() - b) * each[1]] == pytest.approx(
        [float(n["first_b"]), float(n["second_b"])]
    )


def several_tries(n):
    for k in 1, 2:
        choices = list(itertools.combinations([1] * n["c"] + [0] * n["w"], k))
        assert sum(map(max, choices)) == {1: n["one"], 2: n["two"]}[k] * len(choices)
    p = np.array([n["c"], n["w"]]) / n["n"]
    assert 1 - p[1] ** 2 == pytest.approx(float(n["plug"]))
    tries = [evaluation.pass_at_k(n["n"], n["c"], k) for k in range(1, n["n"] + 1)]
    assert tries.index(1) + 1 == n["sure"]


def error_in_bins(n):
    confidence = np.repeat([0.59999, 0.9], [n["n1"], n["n2"]])
    right = np.arange(n["N"]) < n["r1"]
    right[n["n1"] : n["n1"] + n["r2"]] = True
    for bins, found in ((10, n["two"]), (1, n["one"])):
        assert evaluation.calibration_error(confidence, right, bins) == pytest.approx(float(found), abs=2e-5)
    assert n["g1"] + n["g2"] == n["two"] * n["N"]


def what_is_new(n):
    kinds = [*range(n["once"]), *np.repeat(range(n["once"], n["once"] + n["twice"]), 2).tolist()]
    rest = n["N"] - len(kinds)
    assert rest >= 3 * n["more"], "each of the others occurs at least three times"
    kinds += [10**6 + at % n["more"] for at in range(rest)]
    assert evaluation.seen_once(kinds) == pytest.approx(float(n["share"]))
    assert n["wrong"] == n["share"] - n["share"] / n["K"]


def shared_pieces(n):
    item = [*range(n["m"]), *range(1000, 1000 + n["T"] - n["m"])]
    for size, every, read in ((n["n"], n["all"], n["read"]), (n["longer"], n["all2"], n["read2"])):
        assert len(evaluation.ngrams(item, size)) == every
        assert evaluation.overlap([item], [list(range(n["m"]))], size)[0] * every == pytest.approx(read)


def kept_or_replaced(n):
    p, q = (torch.tensor([float(one) for one in n[key]], dtype=torch.double) for key in ("three", "draft"))
    assert serving.accepted_share(p, q).item() == pytest.approx(float(n["beta"]))
    assert serving.leftover(p, q).tolist() == pytest.approx([float(one) for one in n["left"]])
    assert n["low"] + n["back"] == n["p3"] == n["three"][2]
    assert serving.tokens_a_round(float(n["beta"]), 2) == pytest.approx(float(n["tokens"]))


def is_it_faster(n):
    beta = float(n["beta"])
    for gamma, tokens, fast in ((1, n["one"], n["fast1"]), (2, n["two"], n["fast2"])):
        lengths = [(j + 1) * beta**j * (1 - beta) for j in range(gamma)]
        assert sum(lengths) + (gamma + 1) * beta**gamma == pytest.approx(float(tokens))
        assert fast * (1 + gamma * float(n["c"])) == pytest.approx(float(tokens))
    assert serving.tokens_a_round(beta, 500) == pytest.approx(float(n["most"]))


def student_is_told(n):
    p = torch.tensor([float(one) for one in n["given"]], dtype=torch.double)
    z = torch.zeros(3, dtype=torch.double, requires_grad=True)
    (gradient,) = torch.autograd.grad(serving.distillation_loss(z[None], p.log()[None]), z)
    assert gradient.tolist() == pytest.approx([float(one) for one in n["gradient"]])
    each = [torch.autograd.grad(-z.log_softmax(-1)[x], z)[0] for x in range(3)]
    assert sum(p[x] * each[x] for x in range(3)).tolist() == pytest.approx(gradient.tolist())


def passage_found(n):
    texts = ["model"] * (n["often"] - 1) + ["gate"] * (n["rare"] - 1) + ["model model", "gate"]
    texts += ["nothing"] * (n["D"] - len(texts))
    index = retrieval.TfIdf(texts)
    idf = {word: index.idf[place] for word, place in index.places.items()}
    assert (1 + math.log(2)) * idf["model"] == pytest.approx(n["a"])
    assert idf["gate"] == pytest.approx(n["b"])
    assert n["first"] == ("A" if n["a"] > n["b"] else "B")


def leak_adds(n):
    """A test of 1,000 items, item by item: those that leaked gain the effect, the others nothing."""
    leaked = 10 * n["share"]
    gain = (leaked * n["effect"] + (1000 - leaked) * 0) / 1000
    assert gain == pytest.approx(n["high"])
    easier, better = n["cL"] - n["cK"], n["K"] - n["cK"]
    assert n["L"] == n["cK"] + better + easier + n["effect"]


def slots_wait(n):
    batches = list(itertools.product((n["short"], n["long"]), repeat=n["B"]))
    assert sum(map(max, batches)) / len(batches) == pytest.approx(float(n["steps"]))
    assert sum(map(sum, batches)) / (n["B"] * sum(map(max, batches))) == pytest.approx(n["used"])


def shared_heads(n):
    layer, X = modern.GroupedAttention(n["d"], n["nh"], n["nkv"]), torch.zeros(1, n["T"], n["d"])
    assert layer.W_q(X).shape == (1, n["T"], n["d"])
    assert layer.W_k(X).shape == (1, n["T"], n["k"])
    out, cache = layer(X, layer.start(1))
    assert out.shape == X.shape
    assert [kept.shape for kept in cache] == 2 * [(1, n["nkv"], n["T"], n["dk"])]
    assert layer.d_k == n["dk"]
    assert n["group"] * n["nkv"] == n["nh"]


def beside_a_matrix(n):
    layer, x = LoRA(nn.Linear(n["inside"], n["out"]), n["r"]), torch.randn(2, 3, n["inside"])
    layer(x).square().sum().backward()
    assert layer.A.shape == (n["r"], n["inside"])
    assert layer.B.shape == (n["out"], n["r"])
    assert not layer.A.grad.any()
    assert layer.B.grad.any()
    assert layer.linear.weight.grad is None
    assert n["thin"] == layer.A.numel() + layer.B.numel()
    assert n["full"] == layer.linear.weight.numel()
