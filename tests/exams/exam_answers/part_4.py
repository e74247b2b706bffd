"""Chapters 15 to 19."""

import math

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

from exam_answers import approx, close, floats
from lmbook import decode, moe
from lmbook.attention import MultiHeadAttention
from lmbook.bert import BERT, BERTClassifier, BERTTagger
from lmbook.gpt import GPT
from lmbook.lab import flops
from lmbook.lab.schedules import warmup_cosine
from lmbook.layers import DecoderLayer, EncoderLayer, FeedForward
from lmbook.losses import smoothed_loss
from lmbook.networks import n_parameters


def layer_norm(n):
    gain, bias = floats(n["gain"]), floats(n["bias"])
    x = floats(n["input"])
    assert close(F.layer_norm(x, (4,), gain, bias, 0.0), n["result"])
    assert close(F.layer_norm(3 * x + 2, (4,), gain, bias, 0.0), n["result"])
    assert (x.mean().item(), x.std(correction=0).item()) == approx((n["mean"], n["sd"]))


def layer_parameters(n):
    heads = 4
    with torch.device("meta"):
        attention, cross = MultiHeadAttention(n["d"], heads), MultiHeadAttention(n["d"], heads)
        ffn = FeedForward(n["d"], n["ff"])
        encoder, decoder = EncoderLayer(attention, ffn), DecoderLayer(attention, cross, ffn)
    assert n_parameters(encoder) == n["layer"]
    assert n_parameters(decoder) - n_parameters(encoder) == n["more"]


def layer_flops(n):
    assert flops.encoder(n["N"], n["d"], n["ff"], 1) == n["all"]
    assert flops.feed_forward(n["N"], n["d"], n["ff"]) == n["forward"]
    assert n["share"] * n["all"] == approx(n["scores"])


def what_must_wait(n):
    """Counts the links of a chain: which result needs which."""
    need = {("h", 0): 0}
    for t in range(1, n["N"] + n["T"] + 1):
        need["h", t] = need["h", t - 1] + 1
    assert need["h", n["N"] + n["T"]] == n["both"]
    written = n["L"]  # the encoder's layers
    for _ in range(n["T"]):
        for _ in range(n["L"]):
            written += 1
    assert written == n["writing"]


def smoothed_labels(n):
    V, eps = n["V"], float(n["eps"])
    z = torch.log(floats([n["p"], *[n["po"]] * (V - 1)]))[None].requires_grad_()
    smoothed_loss(z, torch.tensor([0]), eps, pad=-1).backward()
    assert close(z.grad, [n["gr"], *[n["go"]] * (V - 1)])


def warm_up(n):
    warm, total = n["warm"], n["total"]
    assert n["eta"] * warmup_cosine(n["early"], warm, total) == approx(n["first"])
    assert n["eta"] * warmup_cosine(n["late"], warm, total) == approx(n["second"])


def decoder_shapes(n):
    layer = nn.MultiheadAttention(n["d"], n["n"], batch_first=True)
    y, H = torch.zeros(1, n["T"], n["d"]), torch.zeros(1, n["N"], n["d"])
    assert layer(y, H, H, average_attn_weights=False)[1].shape == (1, n["n"], n["T"], n["N"])
    assert layer.head_dim == n["dk"]


def masking_counts(n):
    rng = np.random.default_rng(0)
    counts = rng.random(40_000) < n["percent"] / 100
    masked = counts & (rng.random(40_000) < 0.8)
    assert masked.mean() == approx(n["masked"] / n["n"], rel=0.1)
    assert (counts & ~masked).sum() / (~masked).sum() == approx(float(n["share"]), rel=0.15)
    assert n["masked"] + 2 * n["kept"] == n["chosen"]


def masked_loss(n):
    p = floats([2.0**-k for k in n["powers"]])
    assert -torch.log2(p[n["chosen"]]).mean().item() == approx(n["bits"])
    assert -torch.log(p[n["chosen"]]).mean().item() == approx(n["nats"])
    assert -torch.log2(p).mean().item() == approx(n["all"])


def bert_parameters(n):
    with torch.device("meta"):
        model = BERT(n["V"], n["T"], n["d"], n_heads=1, n_layers=n["L"], d_ff=4 * n["d"])
    assert n_parameters(model) == n["all"]


def really_this_word(n):
    """All cases: what stood there, whether it was kept, what was drawn."""
    p, V = float(n["p"]), n["V"]
    shows, true = 0.0, 0.0
    for word, chance in (("v", p), ("other", 1 - p)):
        for kept in (True, False):
            shown = (1.0 if word == "v" else 0.0) if kept else 1 / V
            shows += chance * shown / 2
            true += chance * shown / 2 * (word == "v")
    assert true / shows == approx(float(n["answer"]))


def predictions_per_text(n):
    rows = n["n"] * 1e6 / n["T"]
    assert rows * (n["T"] - 1) / 1e6 == approx(n["causal"])
    assert n["passes"] * n["masked"] == approx(n["causal"])


def fine_tuning_adds(n):
    with torch.device("meta"):
        encoder = BERT(10, 8, n["d"], n_heads=1, n_layers=1, d_ff=8)
        before = n_parameters(encoder)
        assert n_parameters(BERTTagger(encoder, n["tags"])) - before == n["tagger"]
        assert n_parameters(BERTClassifier(encoder, n["classes"])) - before == n["classifier"]


def temperature(n):
    logits = torch.log(floats(n["probabilities"]))
    assert close(decode.distribution(logits, 0.5), n["half"])
    assert close(decode.distribution(logits, 2.0), n["double"])


def top_cuts(n):
    logits = torch.log(floats(n["parts"]))
    for options, wanted, names in (
        ({"top_k": n["k"]}, n["by_k"], n["top_k"]),
        ({"top_p": n["p"]}, n["by_p"], n["top_p"]),
    ):
        p = decode.distribution(logits, **options)
        assert close(p.sort(descending=True).values[: len(wanted)], wanted)
        assert {"ABCDE"[at] for at in p.nonzero().flatten()} == set(names.split(", "))
    assert (decode.distribution(torch.zeros(5), top_p=n["p"]) > 0).sum() == n["even"]


def shifted_windows(n):
    ids, start = n["ids"], n["s"] - 1
    for name, shift in (("input", 0), ("target", 1)):
        shown = [int(one) for one in n[name].strip("()").split(r",\ ")]
        assert shown == ids[start + shift : start + shift + n["T"]]


def power_law(n):
    x, y = np.log([n["n1"], n["n2"]]), np.log([float(n["first"]), float(n["second"])])
    slope, height = np.polyfit(x, y, 1)
    assert -slope == approx(n["alpha"])
    assert np.exp(height + slope * np.log(n["n3"])) == approx(float(n["J3"]))


def training_cost(n):
    with torch.device("meta"):
        layer = nn.Linear(1000, n["n"] * 1000)
    assert flops.linear(1, layer) == 2 * n["n"] * 10**6
    assert 3 * flops.linear(1, layer) * n["w"] * 10**9 == n["flops"]
    assert n["hours"] * 3600 * n["speed"] * 1e12 == approx(n["flops"])


def cache_saves(n):
    assert sum(range(1, n["T"] + 1)) == n["positions"]
    assert sum(t * t for t in range(1, n["T"] + 1)) == n["scores"]


def per_character(n):
    tokens = 1000
    text = tokens * n["c"]
    chars, pairs = float(n["first"]) * text, float(n["second"]) * tokens
    assert (n["winner"] == "byte pairs") == (pairs < chars)
    assert math.log(n["pp"]) == approx(chars / tokens)


def pixels_or_patches(n):
    image = torch.zeros(1, 1, n["h"], n["w"])
    patches = F.unfold(image, n["r"], stride=n["r"])
    assert patches.shape == (1, n["size"], n["patches"])
    assert n["ps"] == n["ratio"] * n["qs"]


def bits_per_pixel(n):
    total = n["total"]
    assert total / n["side"] ** 2 == approx(float(n["bits"]))
    assert total * math.log(2) / n["side"] ** 2 == approx(n["nats"])
    assert n["each"] * (n["pixels"] - n["blank"]) == approx(total)
    assert n["bits"] < n["uniform"] == math.log2(n["levels"])


def bayes_classifier(n):
    likelihood = np.array([2.0**-one for one in n["down"]])
    for prior, wanted in ((np.ones(3), n["P"]), (np.array([1, n["times"], 1]), n["Q"])):
        assert likelihood * prior / (likelihood * prior).sum() == approx(np.array(wanted, float))


def patch_index(n):
    r = n["r"]
    at = torch.arange(n["h"] * n["w"]).reshape(n["h"], n["w"])
    cut = at.reshape(n["h"] // r, r, n["w"] // r, r).transpose(1, 2).reshape(-1, r * r)
    assert cut[n["patch"], n["place"]] == at[n["y"], n["x"]]
    assert cut[n["n"], n["k"]] == at[n["yy"], n["xx"]]


def patch_convolution(n):
    image, kernel = floats(n["image"])[None, None], floats(n["weights"]).reshape(1, 1, 2, 2)
    assert close(F.conv2d(image, kernel, floats([n["b"]]), stride=2), n["embedded"])


def known_so_far(n):
    raster = np.arange(1, n["h"] * n["w"] + 1).reshape(n["h"], n["w"])
    columns = np.arange(1, n["h"] * n["w"] + 1).reshape(n["w"], n["h"]).T
    y, x = n["y"] - 1, n["x"] - 1
    assert (raster[y, x], columns[y, x]) == (n["raster"], n["columns"])
    assert (raster[y, x] - raster[y - 1, x], columns[y, x] - columns[y - 1, x]) == (n["w"], 1)


def gpt_numbers(n):
    with torch.device("meta"):
        model = GPT(n["V"], n["T"], n["d"], n_heads=1, n_layers=n["L"])
    assert n_parameters(model) == n["all"]
    assert n["share"] * n["all"] == approx(n["V"] * n["d"] + n["T"] * n["d"])


def eight_bits(n):
    W = floats(n["weights"])[None]
    scale = W.abs().amax(1, keepdim=True) / 127
    q = torch.round(W / scale)
    assert q.flatten().tolist() == n["whole"]
    assert (scale * q - W).abs().max().item() == approx(float(n["error"]))
    assert (scale * q - W).abs().max() <= scale / 2
    assert scale.item() == approx(float(n["scale"]))


def cache_size(n):
    keys = torch.empty(n["L"], 2, n["T"], n["d"], device="meta", dtype={2: torch.float16, 4: torch.float32}[n["b"]])
    assert keys.numel() * keys.element_size() == n["one"]
    assert n["one"] * n["B"] == n["many"]
    assert (n["texts"] - 1) * n["one"] < n["gb"] * 1e9 <= n["texts"] * n["one"]


def writing_speed(n):
    def seconds(B: float) -> float:
        weights = n["n"] * 1e9
        return max(n["b"] * weights / (n["beta"] * 1e12), 2 * weights * B / (n["phi"] * 1e12))

    assert 1 / seconds(1) == approx(n["single"])
    assert seconds(float(n["batch"])) == approx(seconds(1))
    assert seconds(2 * float(n["batch"])) == approx(2 * seconds(1))
    assert 1000 * float(n["batch"]) / seconds(1000 * float(n["batch"])) == approx(n["most"])


def experts(n):
    rng = np.random.default_rng(0)
    asked = rng.permuted(np.tile(np.arange(n["ne"]), (4000, n["B"], 1)), axis=-1)[..., : n["k"]].reshape(4000, -1)
    assert np.mean([len(set(one)) / n["ne"] for one in asked.tolist()]) == approx(float(n["share"]), abs=0.03)
    assert n["held"] - n["used"] == (n["ne"] - n["k"]) * n["e"]


def router_gates(n):
    z, y = torch.log(floats(n["scores"])), floats(n["outputs"])
    gates = moe.top_gates(z, 2)
    assert close(gates, n["weights"])
    assert (gates @ y).item() == approx(float(n["out"]))
    assert (torch.softmax(z, 0) @ y).item() == approx(float(n["full"]))


def weight_names(n):
    d, dk = n["d"], n["d"] // n["n"]
    columns = torch.arange(3 * d)
    keys = columns.split(d)[1]
    assert keys[-1] == n["kend"]
    head = keys.reshape(n["n"], dk)[n["head"] - 1]
    assert (head[0], head[-1]) == (n["first"], n["last"])


def patch_shapes(n):
    patches = F.unfold(torch.zeros(n["B"], 1, n["h"], n["w"]), n["r"], stride=n["r"]).transpose(1, 2)
    assert patches.shape == (n["B"], n["N"], n["size"])
    embed = nn.Linear(n["size"], n["d"])
    assert embed.weight.shape == (n["d"], n["size"])
    x = torch.cat([torch.zeros(n["B"], 1, n["d"]), embed(patches)], dim=1)[:1]
    assert x.shape[1] == n["M"]
    scores = nn.MultiheadAttention(n["d"], n["n"], batch_first=True)(x, x, x, average_attn_weights=False)[1]
    assert scores.shape == (1, n["n"], n["M"], n["M"])
