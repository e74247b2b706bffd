import pytest
import torch
from torch import nn
from torch.nn import functional as F

from lmbook.gpt import GPT
from lmbook.modern import GroupedAttention, ModernGPT, RMSNorm, SwiGLU, window_mask
from lmbook.networks import n_parameters
from lmbook.positions import rotary

OLD = {"norm": "layer", "ffn": "gelu", "positions": "learned", "qk_norm": False, "bias": True}


def test_rms_norm_is_torchs():
    ours, torchs = RMSNorm(6), nn.RMSNorm(6, eps=1e-5)
    with torch.no_grad():
        ours.weight.copy_(torch.randn(6))
        torchs.weight.copy_(ours.weight)
    x = 10 * torch.randn(3, 4, 6)
    assert torch.allclose(ours(x), torchs(x), atol=1e-5)
    assert torch.allclose(ours(7 * x), ours(x), atol=1e-4), "the length of the input does not matter"
    assert not torch.allclose(ours(x + 5), ours(x), atol=0.1), "its mean does: nothing subtracts it"


def test_swiglu_is_its_formula_and_costs_what_two_matrices_did():
    layer, x = SwiGLU(48, 128), torch.randn(5, 48)
    a, b = x @ layer.W_1.weight.T, x @ layer.W_3.weight.T
    assert torch.allclose(layer(x), (a / (1 + torch.exp(-a)) * b) @ layer.W_2.weight.T, atol=1e-6)
    assert n_parameters(layer) == 2 * 48 * 4 * 48


def by_torch(layer, x, mask):
    """The same layer from torch's own kernel, which shares keys by enable_gqa."""
    Q, K, V = (
        W(x).unflatten(-1, (n, layer.d_k)).transpose(1, 2)
        for W, n in ((layer.W_q, layer.n_heads), (layer.W_k, layer.n_kv), (layer.W_v, layer.n_kv))
    )
    Q, K = rotary(Q), rotary(K)
    context = F.scaled_dot_product_attention(Q, K, V, mask, enable_gqa=True)
    return layer.W_o(context.transpose(1, 2).flatten(2))


@pytest.mark.parametrize("n_kv", [1, 2, 4])
@pytest.mark.parametrize("span", [None, 1, 3])
def test_grouped_attention_is_torchs(n_kv, span):
    torch.manual_seed(n_kv)
    layer, x = GroupedAttention(16, 4, n_kv, span=span), torch.randn(2, 7, 16)
    t, i = torch.arange(7).unsqueeze(1), torch.arange(7)
    mask = (i <= t) & (t - i < (span or 7))
    assert torch.allclose(layer(x, layer.start(2))[0], by_torch(layer, x, mask), atol=1e-5)


def test_heads_that_share_keys_in_another_order_are_seen():
    layer, x = GroupedAttention(16, 4, 2), torch.randn(2, 7, 16)
    order = torch.tensor([0, 2, 1, 3])
    with torch.no_grad():
        expected = by_torch(layer, x, torch.ones(7, 7).tril().bool())
        layer.W_q.weight.copy_(layer.W_q.weight.view(4, 4, 16)[order].reshape(16, 16))
    assert not torch.allclose(layer(x, layer.start(2))[0], expected, atol=1e-3)


def test_normed_queries_and_keys_bound_every_score():
    """A score is at most sqrt(d_k), whatever the weights are."""
    layer = GroupedAttention(16, 2, qk_norm=True)
    nn.init.normal_(layer.W_q.weight, std=100.0)
    x = torch.randn(3, 5, 16)
    Q, K = (norm(W(x).unflatten(-1, (2, 8))) for norm, W in ((layer.norm_q, layer.W_q), (layer.norm_k, layer.W_k)))
    scores = torch.einsum("bthd,bnhd->bhtn", Q, K) / 8**0.5
    assert scores.abs().max() <= 8**0.5 + 1e-4
    plain = torch.einsum("bthd,bnhd->bhtn", *(W(x).unflatten(-1, (2, 8)) for W in (layer.W_q, layer.W_k))) / 8**0.5
    assert plain.abs().max() > 20, "without the norm they grow with the weights"


def test_a_window_keeps_no_more_than_it_can_see():
    layer = GroupedAttention(8, 2, span=3)
    state = layer.start(2)
    for t in range(6):
        _, state = layer(torch.randn(2, 1, 8), state, t)
        assert state[0].shape == (2, 2, min(t + 1, 2), 4)
    assert window_mask(2, 5, 3).int().tolist() == [[0, 1, 1, 1, 0], [0, 0, 1, 1, 1]]


def test_windows_reach_further_with_every_layer():
    """Two layers of span 3 see 5 tokens: a change at token 2 is gone at token 7, and not at token 6."""
    model, tokens = ModernGPT(20, 12, 16, 2, 2, span=3), torch.randint(0, 20, (1, 12))
    changed = tokens.clone()
    changed[0, 2] = (tokens[0, 2] + 1) % 20
    same = torch.isclose(model(tokens), model(changed), atol=1e-6).all(-1)[0]
    assert same.tolist() == [True] * 2 + [False] * 5 + [True] * 5


def test_with_all_parts_put_back_it_is_gpt():
    torch.manual_seed(0)
    gpt, model = GPT(20, 12, 16, 2, 2), ModernGPT(20, 12, 16, 2, 2, **OLD)
    for layer, block in zip(gpt.layers, model.blocks, strict=True):
        block.mix.load_state_dict(layer.attention.state_dict())
        block.ffn.load_state_dict(layer.ffn.state_dict())
        block.norm_1.load_state_dict(layer.pre_1.state_dict())
        block.norm_2.load_state_dict(layer.pre_2.state_dict())
    model.embedding.load_state_dict(gpt.embedding.state_dict())
    model.position.load_state_dict(gpt.position.state_dict())
    assert n_parameters(gpt) == n_parameters(model)
    tokens = torch.randint(0, 20, (3, 12))
    assert torch.allclose(gpt(tokens), model(tokens), atol=1e-6)
    assert not torch.allclose(gpt(tokens), ModernGPT(20, 12, 16, 2, 2, **OLD | {"norm": "rms"})(tokens), atol=1e-2)


def test_weights_begin_as_those_of_gpt():
    for d in (48, 192):
        model = ModernGPT(50, 8, d, 4, 8)
        std = 0.02 * (768 / d) ** 0.5
        assert model.blocks[0].mix.W_q.weight.std().item() == pytest.approx(std, rel=0.1)
        assert model.blocks[0].ffn.W_2.weight.std().item() == pytest.approx(std / 4, rel=0.1)
        assert model.embedding.weight.std().item() == pytest.approx(std, rel=0.1)


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"norm": "batch"}, "norm: 'batch' is none of rms, layer"),
        ({"mixers": ["lstm"]}, "mixers: 'lstm' is none of attention, mingru, selective"),
        ({"n_kv": 3}, "groups must be equally large"),
        ({"span": 0}, "1 or more"),
    ],
)
def test_bad_parts_are_named(options, match):
    with pytest.raises(ValueError, match=match):
        ModernGPT(20, 12, 16, 2, 2, **options)
