"""Chapter 20."""

import numpy as np
import pytest
import torch
from torch import nn

from lmbook import modern
from lmbook.lab.settings import Products
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
