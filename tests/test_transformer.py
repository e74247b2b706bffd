"""The Transformer: against torch's layers, and what every such model must satisfy."""

import itertools
import math

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from lmbook.attention import MultiHeadAttention, causal_mask
from lmbook.layers import Decoder, DecoderLayer, Encoder, EncoderLayer, FeedForward, LayerNorm
from lmbook.moe import MixtureOfExperts, load_balancing_loss, top_gates
from lmbook.positions import sinusoidal
from lmbook.transformer import Embedding, Transformer

B, N, T, D, HEADS, D_FF = 3, 7, 6, 16, 4, 24
VOCAB_SOURCE, VOCAB_TARGET = 30, 20


pytestmark = pytest.mark.usefixtures("float64")


def randomised(layer):
    """Random weights and biases everywhere, so that no zero bias and no unit gain hides a mistake."""
    for parameter in layer.parameters():
        nn.init.normal_(parameter, std=0.3)
    return layer


def assert_same(ours, theirs, inputs):
    """Outputs and gradients in the inputs agree."""
    weight = torch.randn_like(ours)
    torch.testing.assert_close(ours, theirs)
    mine = torch.autograd.grad((ours * weight).sum(), inputs, retain_graph=True)
    other = torch.autograd.grad((theirs * weight).sum(), inputs, retain_graph=True)
    for a, b in zip(mine, other, strict=True):
        torch.testing.assert_close(a, b)


def model(norm="pre", positions="sinusoidal", n_layers=2, **options):
    options |= {"norm": norm, "positions": positions, "n_layers": n_layers, "dropout": 0.1}
    made = Transformer(VOCAB_SOURCE, VOCAB_TARGET, D, HEADS, D_FF, **options)
    return randomised(made).eval()


def random_ids(vocab, batch, length):
    return torch.randint(5, vocab, (batch, length))


# LayerNorm and feed-forward


@pytest.mark.parametrize("bias", [False, True])
def test_layer_norm_by_its_formula(bias):
    layer = randomised(LayerNorm(D, eps=1e-3, bias=bias))
    x = (3 * torch.randn(B, T, D) + 5).requires_grad_()
    variance = (x - x.mean(-1, keepdim=True)).square().sum(-1, keepdim=True) / D
    expected = layer.weight * (x - x.mean(-1, keepdim=True)) / (variance + 1e-3).sqrt()
    assert_same(layer(x), expected + layer.bias if bias else expected, [x])


def test_layer_norm_gives_mean_0_and_variance_1():
    y = LayerNorm(D)(7 * torch.randn(B, T, D) - 2)
    torch.testing.assert_close(y.mean(-1), torch.zeros(B, T))
    torch.testing.assert_close(y.var(-1, correction=0), torch.ones(B, T), atol=1e-4, rtol=0)


def test_feed_forward_by_its_formula_and_every_position_alone():
    layer, x = randomised(FeedForward(D, D_FF)), torch.randn(B, T, D)
    y = layer(x)
    for b, t in itertools.product(range(B), range(T)):
        hidden = (layer.W_1.weight @ x[b, t] + layer.W_1.bias).clamp(min=0)
        torch.testing.assert_close(y[b, t], layer.W_2.weight @ hidden + layer.W_2.bias)


# Layers against torch


def copy_attention(ours, theirs):
    theirs.in_proj_weight.copy_(torch.cat([ours.W_q.weight, ours.W_k.weight, ours.W_v.weight]))
    theirs.in_proj_bias.copy_(torch.cat([ours.W_q.bias, ours.W_k.bias, ours.W_v.bias]))
    theirs.out_proj.load_state_dict(ours.W_o.state_dict())


@torch.no_grad()
def torch_twin(ours, norm, activation):
    """torch's encoder or decoder layer with the weights of ours."""
    kind = nn.TransformerDecoderLayer if isinstance(ours, DecoderLayer) else nn.TransformerEncoderLayer
    twin = kind(D, HEADS, D_FF, dropout=0.0, activation=activation, batch_first=True, norm_first=norm == "pre")
    copy_attention(ours.attention, twin.self_attn)
    if isinstance(ours, DecoderLayer):
        copy_attention(ours.cross, twin.multihead_attn)
    for i in range(1, 4 if isinstance(ours, DecoderLayer) else 3):
        getattr(twin, f"norm{i}").load_state_dict(getattr(ours, f"{norm}_{i}").state_dict())
    twin.linear1.load_state_dict(ours.ffn.W_1.state_dict())
    twin.linear2.load_state_dict(ours.ffn.W_2.state_dict())
    return twin


KEYS = torch.tensor([[True] * 7, [True] * 4 + [False] * 3, [True] * 6 + [False]])


@pytest.mark.parametrize("norm", ["pre", "post"])
@pytest.mark.parametrize(("activation", "need_weights"), [(F.relu, False), (F.gelu, True)])
@pytest.mark.parametrize("causal", [False, True])
def test_encoder_layer_equals_torch(norm, activation, need_weights, causal):
    ours = randomised(EncoderLayer(MultiHeadAttention(D, HEADS), FeedForward(D, D_FF, activation), norm))
    twin = torch_twin(ours, norm, activation)
    x = torch.randn(B, N, D, requires_grad=True)
    y, weights = ours(x, KEYS[:, None], causal, need_weights)
    forbidden = ~causal_mask(N) if causal else None
    assert_same(y, twin(x, src_mask=forbidden, src_key_padding_mask=~KEYS), [x])
    assert (weights is not None) == need_weights


@pytest.mark.parametrize("norm", ["pre", "post"])
@pytest.mark.parametrize(("activation", "need_weights"), [(F.relu, False), (F.gelu, True)])
def test_decoder_layer_equals_torch(norm, activation, need_weights):
    attention, cross = MultiHeadAttention(D, HEADS), MultiHeadAttention(D, HEADS)
    ours = randomised(DecoderLayer(attention, cross, FeedForward(D, D_FF, activation), norm))
    twin = torch_twin(ours, norm, activation)
    y, memory = torch.randn(B, T, D, requires_grad=True), torch.randn(B, N, D, requires_grad=True)
    out, weights = ours(y, memory, KEYS[:, None], need_weights)
    expected = twin(y, memory, tgt_mask=~causal_mask(T), memory_key_padding_mask=~KEYS)
    assert_same(out, expected, [y, memory])
    if need_weights:
        torch.testing.assert_close(weights.sum(-1), torch.ones(B, HEADS, T))
        assert (weights[1, :, :, 4:] == 0).all()
    else:
        assert weights is None


@pytest.mark.parametrize("norm", ["pre", "post"])
def test_stacks_are_their_layers_and_end_normalised(norm):
    encoder = randomised(Encoder(2, D, HEADS, D_FF, norm=norm))
    decoder = randomised(Decoder(2, D, HEADS, D_FF, norm=norm))
    x, y = torch.randn(B, N, D), torch.randn(B, T, D)
    h, s = x, y
    for layer in encoder.layers:
        h, _ = layer(h)
    h = F.layer_norm(h, (D,), encoder.norm.weight, encoder.norm.bias) if norm == "pre" else h
    for layer in decoder.layers:
        s, _ = layer(s, h)
    s = F.layer_norm(s, (D,), decoder.norm.weight, decoder.norm.bias) if norm == "pre" else s
    memory, weights = encoder(x, need_weights=True)
    torch.testing.assert_close(memory, h)
    torch.testing.assert_close(decoder(y, memory)[0], s)
    assert [w.shape for w in weights] == [(B, HEADS, N, N)] * 2


def test_norm_is_pre_or_post():
    with pytest.raises(ValueError, match="'pre' or 'post'"):
        Encoder(1, D, HEADS, D_FF, norm="before")


# The whole model


def test_weights_are_returned_on_request():
    transformer = model()
    source, target = random_ids(VOCAB_SOURCE, B, N), random_ids(VOCAB_TARGET, B, T)
    source[1, 4:] = 0
    logits, weights = transformer(source, target, need_weights=True)
    torch.testing.assert_close(logits, transformer(source, target))
    torch.testing.assert_close(weights.sum(-1), torch.ones(B, T))
    assert (weights[1, :, 4:] == 0).all()
    _, every = transformer.decoder(transformer.target(target), transformer.encode(source), None, True)
    assert [w.shape for w in every] == [(B, HEADS, T, N)] * 2


def test_embeddings_are_scaled_by_the_square_root_of_the_width():
    tokens = random_ids(VOCAB_SOURCE, B, N)
    scaled, plain = Embedding(VOCAB_SOURCE, D, "none"), Embedding(VOCAB_SOURCE, D, "none", scaled=False)
    torch.testing.assert_close(scaled(tokens), math.sqrt(D) * scaled.embedding(tokens))
    assert torch.equal(plain(tokens), plain.embedding(tokens))
    waves = Embedding(VOCAB_SOURCE, D, "sinusoidal")
    torch.testing.assert_close(waves(tokens), math.sqrt(D) * waves.embedding(tokens) + sinusoidal(N, D))
    learned = Embedding(VOCAB_SOURCE, D, "learned", max_length=9)
    expected = 4 * learned.embedding.weight[tokens[1, 2]] + learned.learned.table.weight[3 + 2]
    torch.testing.assert_close(learned(tokens[:, :6], start=3)[1, 2], expected)


def test_tied_matrices_are_one():
    sizes = dict(d_model=D, n_heads=HEADS, d_ff=D_FF, n_layers=1)
    none = Transformer(25, 25, **sizes, tied="none")
    target = Transformer(25, 25, **sizes, tied="target")
    every = Transformer(25, 25, **sizes, tied="all")
    assert target.output.weight is target.target.embedding.weight
    assert target.output.weight is not target.source.embedding.weight
    assert every.output.weight is every.source.embedding.weight
    count = [sum(p.numel() for p in m.parameters()) for m in (none, target, every)]
    assert [count[0] - count[1], count[1] - count[2]] == [25 * D, 25 * D]
    with pytest.raises(ValueError, match="24 and 25"):
        Transformer(24, 25, **sizes, tied="all")


def test_mistakes_are_named():
    transformer = model(positions="learned", max_length=8)
    source, target = random_ids(VOCAB_SOURCE, B, N), random_ids(VOCAB_TARGET, B, T)
    with pytest.raises(ValueError, match="run from 30 to 30; ids of this model run from 0 to 29"):
        transformer(torch.full((B, N), 30), target)
    with pytest.raises(ValueError, match="learned for 0 to 7"):
        transformer(random_ids(VOCAB_SOURCE, B, 9), target)
    with pytest.raises(ValueError, match="source_mask"):
        transformer(source, target, torch.ones(B, N + 1, dtype=torch.bool))
    with pytest.raises(ValueError, match="positions"):
        Embedding(9, D, "sine")


# Mixture of experts


def test_one_expert_is_the_feed_forward_layer():
    mixture, single = randomised(MixtureOfExperts(D, D_FF, 1, top_k=1)), FeedForward(D, D_FF)
    single.load_state_dict(mixture.experts[0].state_dict())
    x = torch.randn(B, T, D)
    torch.testing.assert_close(mixture(x), single(x))


def test_gates_sum_to_1_over_the_top_k():
    logits = torch.randn(B, T, 5)
    gates = top_gates(logits, 2)
    torch.testing.assert_close(gates.sum(-1), torch.ones(B, T))
    assert ((gates > 0).sum(-1) == 2).all()
    assert (gates.argmax(-1) == logits.argmax(-1)).all()


@pytest.mark.parametrize("top_k", [1, 2, 4])
def test_every_token_reaches_its_experts(top_k):
    mixture, x = randomised(MixtureOfExperts(D, D_FF, 4, top_k)), torch.randn(B, T, D)
    y = mixture(x)
    for b, t in itertools.product(range(B), range(T)):
        logits = (mixture.W_g.weight @ x[b, t]).tolist()
        best = sorted(range(4), key=lambda e: -logits[e])[:top_k]
        total = sum(math.exp(logits[e]) for e in best)
        expected = sum(math.exp(logits[e]) / total * mixture.experts[e](x[b, t]) for e in best)
        torch.testing.assert_close(y[b, t], expected)


@pytest.mark.parametrize("top_k", [1, 2, 4])
def test_a_mixture_is_the_sum_of_all_experts_weighed_by_their_gates(top_k):
    mixture = randomised(MixtureOfExperts(D, D_FF, 4, top_k))
    x = torch.randn(B, T, D, requires_grad=True)
    gates = top_gates(mixture.W_g(x), top_k)
    plain = sum(gates[..., e : e + 1] * expert(x) for e, expert in enumerate(mixture.experts))
    assert_same(mixture(x), plain, [x, *mixture.parameters()])


def test_experts_compute_in_mixed_precision():
    mixture, x = MixtureOfExperts(D, D_FF, 4, 2).float(), torch.randn(B, T, D, dtype=torch.float32)
    with torch.autocast("cpu", torch.bfloat16):
        y = mixture(x)
    torch.testing.assert_close(y.float(), mixture(x), rtol=0.02, atol=0.02)


def test_an_expert_that_no_token_chose_gets_no_gradient():
    mixture = MixtureOfExperts(D, D_FF, 3, top_k=1)
    nn.init.zeros_(mixture.W_g.weight)
    mixture.W_g.weight.data[1] = 1.0
    mixture(torch.rand(B, T, D)).square().sum().backward()
    gradients = [expert.W_1.weight.grad for expert in mixture.experts]
    assert gradients[1].abs().sum() > 0
    assert all(g is None or not g.any() for g in (gradients[0], gradients[2]))


def test_load_balancing_loss():
    balanced = torch.eye(4).repeat(3, 1) * 50  # 12 tokens, three for each of four experts
    assert load_balancing_loss(balanced, 1).item() == pytest.approx(1)
    assert load_balancing_loss(balanced[:1].expand(12, 4), 1).item() == pytest.approx(4)
    logits = torch.randn(B, T, 4, requires_grad=True)
    loss = load_balancing_loss(logits, 2)
    rows, expected = logits.flatten(0, 1).softmax(-1), 0.0
    for e in range(4):
        share = sum(e in row.topk(2).indices.tolist() for row in rows) / (2 * len(rows))
        expected += 4 * share * sum(row[e] for row in rows) / len(rows)
    torch.testing.assert_close(loss, expected)
    assert torch.autograd.grad(loss, logits)[0].abs().sum() > 0


def test_top_k_is_at_most_the_number_of_experts():
    with pytest.raises(ValueError, match="between 1 and n_experts = 3"):
        MixtureOfExperts(D, D_FF, 3, top_k=4)


def test_weights_are_returned_where_they_are_asked_for_only():
    x, memory = torch.randn(B, T, D), torch.randn(B, N, D)
    encoder, decoder = Encoder(2, D, HEADS, D_FF), Decoder(2, D, HEADS, D_FF)
    assert encoder(x)[1] == decoder(x, memory)[1] == [None, None]
    assert [weights.shape for weights in encoder(x, need_weights=True)[1]] == [(B, HEADS, T, T)] * 2
