"""Chapters 11 to 14."""

import math

import numpy as np
import torch
from torch import nn

from exam_answers import approx, close, floats, numbers
from lmbook import positions
from lmbook.attention import (
    AdditiveScore,
    DotScore,
    MultiHeadAttention,
    MultiplicativeScore,
    ScaledScore,
    attend,
    causal_mask,
    masked_softmax,
)

HOUR = math.pi / 6


def context_vector(n):
    alpha = masked_softmax(torch.log(floats(n["scores"])))
    assert close(alpha @ floats(n["h"]), n["context"])
    assert torch.allclose(masked_softmax(torch.log(2 * floats(n["scores"]))), alpha)
    assert n["top"] >= n["context"][0]


def scores_by_hand(n):
    s, h = floats(n["state"])[None, None], floats(n["source"])[None, None]
    general, scaled = (kind(4, 4).double() for kind in (MultiplicativeScore, ScaledScore))
    for score in (general, scaled):
        score.W.weight.data = torch.diag(floats(n["diagonal"]))
    assert DotScore(4, 4)(s, h).item() == n["dot"]
    assert general(s, general.keys(h)).item() == n["general"]
    assert scaled(s, scaled.keys(h)).item() == float(n["scaled"])


def additive_score(n):
    ln = {"0": 0.0, r"\ln 2": math.log(2), r"-\ln 2": -math.log(2), r"\ln 3": math.log(3), r"-\ln 3": -math.log(3)}
    score = AdditiveScore(1, 3, 3).double()
    score.W_h.weight.data, score.v.weight.data = torch.eye(3, dtype=torch.float64), floats(n["vector"])[None]
    score.W_s.weight.data.zero_()
    H = floats([[ln[one] for one in inside] for inside in n["inside"]])[None]
    e = score(torch.zeros(1, 1, 1, dtype=torch.float64), score.keys(H)).flatten()
    assert close(e, [n["e1"], n["e2"]])
    alpha = torch.softmax(e, 0)
    assert (alpha[0] / alpha[1]).item() == approx(n["ratio"])
    assert n["ratio"] < math.exp(n["twice"])


def padded_sources(n):
    scores, mask = torch.log(floats(n["scores"])), torch.arange(5) < n["real"]
    assert close(masked_softmax(scores, mask)[: n["real"]], n["weights"])
    assert masked_softmax(scores)[~mask].sum().item() == approx(float(n["lost"]))


def score_gradient(n):
    e, h = torch.log(floats(n["weights"])).requires_grad_(), floats(n["states"])
    c = torch.softmax(e, 0) @ h
    c.backward()
    assert c.item() == approx(float(n["c"]))
    assert close(e.grad, n["slopes"])
    assert (e.grad.argmax() + 1, e.grad.abs().argmin() + 1) == (n["best"], n["least"])


def one_product(n):
    S, H = torch.diag(torch.log(floats([n["a"], n["b"]]))), floats(n["states"])
    assert close(torch.softmax(S @ H.T, -1) @ H, n["contexts"])


def score_parameters(n):
    with torch.device("meta"):
        general, additive = MultiplicativeScore(n["ms"], n["mh"]), AdditiveScore(n["ms"], n["mh"], n["da"])
    count = [sum(p.numel() for p in score.parameters()) for score in (general, additive)]
    assert count == [n["general"], n["additive"]]
    assert n["equal"] * n["sum"] == approx(n["general"])


def two_queries(n):
    Q = math.sqrt(2) * torch.diag(torch.log(floats([n["a"], n["b"]])))
    K, V = floats(n["keys"]), floats(n["values"])
    assert close(attend(Q[None], K[None], V[None])[0], n["contexts"])
    assert close(attend(Q[None], K.flip(0)[None], V.flip(0)[None])[0], n["contexts"])


def why_the_root(n):
    generator = torch.Generator().manual_seed(0)
    q, k = torch.randn(2, 4000, n["dk"], generator=generator)
    assert (q * k).sum(-1).std().item() == approx(n["root"], rel=0.1)
    alpha = torch.softmax(floats([n["root"], 0]), 0)
    assert (alpha[0] / alpha[1]).item() == approx(n["without"])
    e = torch.log(floats([n["p"], 1 - n["p"]])).requires_grad_()
    torch.softmax(e, 0)[0].backward()
    assert e.grad[0].item() == approx(float(n["slope"]))


def head_parameters(n):
    with torch.device("meta"):
        layers = [MultiHeadAttention(n["d"], heads, bias=False) for heads in (n["n"], 2 * n["n"])]
    assert [sum(p.numel() for p in layer.parameters()) for layer in layers] == [n["all"]] * 2
    assert torch.empty(n["n"], n["T"], n["T"], device="meta").numel() == n["weights"]


def attention_cost(n):
    d, T = n["d"], n["T"]
    products = [(T, d, d)] * 4 + [(T, d, T), (T, T, d)]
    assert sum(a * b * c for a, b, c in products) == n["all"]
    assert 4 * n["equal"] * d * d == 2 * n["equal"] ** 2 * d


def projection_shapes(n):
    S, H = torch.zeros(1, n["T"], n["ds"]), torch.zeros(1, n["N"], n["dh"])
    W_q, W_k, W_v = torch.zeros(n["ds"], n["dk"]), torch.zeros(n["dh"], n["dk"]), torch.zeros(n["dh"], n["dv"])
    C, weights = attend(S @ W_q, H @ W_k, H @ W_v)
    assert C.shape == (1, n["T"], n["dv"])
    assert weights.shape == (1, n["T"], n["N"])


def sharper(n):
    e = floats([math.log(n["r"]), 0.0])
    assert close(torch.softmax(e, 0), [n["w1"], n["w2"]])
    assert close(torch.softmax(n["beta"] * e, 0), [n["v1"], n["v2"]])


def causal_softmax(n):
    alpha = masked_softmax(torch.log(floats(n["scores"])), causal_mask(3))
    assert close(alpha, n["weights"])
    assert (alpha @ floats(n["values"]))[2].item() == approx(float(n["o3"]))


def zero_after(n):
    scores, mask = torch.log(floats(n["scores"])), torch.tensor([True, True, False, False])
    assert close(masked_softmax(scores, mask), n["allowed"])
    assert close(masked_softmax(scores) * mask, n["zeroed"])
    assert (masked_softmax(scores) * mask).sum().item() == approx(float(n["sum"]))
    assert n["old"] != n["new"]


def reach(n):
    at = np.arange(n["N"])
    M = (abs(at[:, None] - at) <= n["w"]).astype(int)
    seen, layers = np.eye(n["N"], dtype=int), 0
    while not seen[0, -1] and layers < 100:
        seen, layers = (M @ seen > 0).astype(int), layers + 1
        if layers == n["L"]:
            assert seen[0].sum() == min(n["far"] + 1, n["N"])
    assert layers == n["need"]


def three_layers(n):
    with torch.device("meta"):
        conv = nn.Conv1d(n["d"], n["d"], 2 * n["w"] + 1, bias=False)
        full = nn.Linear(n["N"] * n["d"], n["N"] * n["d"], bias=False)
        attention = MultiHeadAttention(n["d"], 1, bias=False)
    counts = [sum(p.numel() for p in layer.parameters()) for layer in (conv, full, attention)]
    assert counts == [n["conv"], n["full"], n["attention"]]


def masks_together(n):
    causal, real = causal_mask(n["T"]), (torch.arange(n["T"]) < n["real"])[None].expand(n["T"], -1)
    assert [one.sum().item() for one in (causal, real, causal & real)] == [n["causal"], n["padding"], n["both"]]


def find_the_leak(n):
    right = causal_mask(4)
    masks = {name: torch.tensor(mask).bool() for name, mask in n["masks"].items()}
    (leaks,) = [name for name, mask in masks.items() if (mask & ~right).any()]
    (less,) = [name for name, mask in masks.items() if (right & ~mask).any()]
    assert (n["leaks"], n["less"]) == (f"${leaks}$", f"${less}$")
    assert (masks[leaks] & ~right).nonzero().tolist() == [[n["q"] - 1, n["k"] - 1]]
    assert (right & ~masks[less]).nonzero().tolist() == [[n["i"] - 1, n["j"] - 1]]


def value(tex: str) -> float:
    """Of the entries that clock hands have."""
    size = {"0": 0, "1": 1, r"\tfrac12": 0.5, r"\tfrac{\sqrt3}{2}": math.sqrt(3) / 2}[tex.removeprefix("-")]
    return -size if tex.startswith("-") else size


def two_hands(n):
    speeds = np.array([math.pi / n["slow0"], HOUR])

    def code(t: int) -> np.ndarray:
        return np.stack([np.sin(t * speeds), np.cos(t * speeds)], 1).flatten()

    for name, t in (("pt", n["t"]), ("pi", n["i"])):
        assert [value(one) for one in n[name].strip("()").split(r",\ ")] == approx(code(t).tolist())
    assert code(n["t"]) @ code(n["i"]) == approx(n["g"])
    assert value(n["c0"]) + value(n["c1"]) == approx(n["g"])
    assert code(n["t"] + 12) == approx(code(n["t"]))


def speeds(n):
    omega = positions.frequencies(n["D"], n["C"])
    assert omega.tolist() == approx(numbers(n["speeds"]))
    assert 2 * math.pi / omega[-1].item() == approx(n["period"] * math.pi)
    assert n["length"] * omega[-1].item() / (2 * math.pi) == approx(n["part"])


def binary_codes(n):
    codes = positions.binary(2 ** n["bits"], n["bits"]).int().tolist()
    assert (codes[n["a"]], codes[n["b"]]) == n["codes"]
    assert sum(a != b for a, b in zip(codes[n["c"]], codes[n["d"]], strict=True)) == n["differ"]


def rotary_score(n):
    q, k = (complex(*n[name]) for name in ("query", "key"))

    def score(t: int, i: int) -> float:
        return (q * 1j**t * (k * 1j**i).conjugate()).real

    assert score(n["t"], n["i"]) == score(n["t"] + 3, n["i"] + 3) == n["score"]


def alibi(n):
    assert positions.slopes(n["n"])[n["h"] - 1].item() == approx(float(n["m"]))
    alpha = torch.softmax(floats([-float(n["m"]) * n["far"], 0]), 0)
    assert (alpha[0] / alpha[1]).item() == approx(n["factor"])


def shift_map(n):
    rows = n["R"].removeprefix(r"\begin{pmatrix} ").removesuffix(r" \end{pmatrix}").split(r" \\ ")
    R = np.array([[value(one) for one in line.split(" & ")] for line in rows])
    omega = math.pi / n["slow"]
    for t in range(5):
        at, later = ([math.sin(s * omega), math.cos(s * omega)] for s in (t, t + n["k"]))
        assert R @ at == approx(np.array(later))


def no_positions(n):
    value = floats([1.0] + [0.0] * (n["t"] - 1))[:, None]
    context, _ = attend(*(torch.zeros(1, n["t"], 2).double(),) * 2, value[None], causal_mask(n["t"]))
    assert context[0, -1].item() == approx(float(n["reads"]))
