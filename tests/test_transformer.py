"""The Transformer: against torch's layers, and what every such model must satisfy."""

import itertools
import math

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from lmbook.attention import causal_mask
from lmbook.layers import Decoder, DecoderLayer, Encoder, EncoderLayer, FeedForward, LayerNorm
from lmbook.losses import smoothed_loss
from lmbook.moe import MixtureOfExperts, balance_losses, load_balancing_loss, top_gates
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


def model(norm="pre", positions="sinusoidal", **options):
    made = Transformer(
        VOCAB_SOURCE, VOCAB_TARGET, D, HEADS, D_FF, n_layers=2, norm=norm, positions=positions, dropout=0.1, **options
    )
    return randomised(made).eval()


def random_ids(vocab, batch, length):
    return torch.randint(5, vocab, (batch, length))


# LayerNorm and feed-forward


@pytest.mark.parametrize("fast", [False, True])
def test_layer_norm_equals_torch(fast):
    ours, theirs = randomised(LayerNorm(D, eps=1e-3, fast=fast)), nn.LayerNorm(D, eps=1e-3)
    theirs.load_state_dict({"weight": ours.g, "bias": ours.b})
    x = (3 * torch.randn(B, T, D) + 5).requires_grad_()
    assert_same(ours(x), theirs(x), [x])


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
    residuals = [ours.residual_1, ours.residual_2]
    if isinstance(ours, DecoderLayer):
        copy_attention(ours.cross, twin.multihead_attn)
        residuals.append(ours.residual_3)
    for i, residual in enumerate(residuals, 1):
        getattr(twin, f"norm{i}").load_state_dict({"weight": residual.norm.g, "bias": residual.norm.b})
    twin.linear1.load_state_dict(ours.feed_forward.W_1.state_dict())
    twin.linear2.load_state_dict(ours.feed_forward.W_2.state_dict())
    return twin


KEYS = torch.tensor([[True] * 7, [True] * 4 + [False] * 3, [True] * 6 + [False]])


@pytest.mark.parametrize("norm", ["pre", "post"])
@pytest.mark.parametrize(("activation", "fast"), [(F.relu, False), (F.gelu, True)])
@pytest.mark.parametrize("causal", [False, True])
def test_encoder_layer_equals_torch(norm, activation, fast, causal):
    ours = randomised(EncoderLayer(D, HEADS, D_FF, norm=norm, activation=activation, fast=fast))
    twin = torch_twin(ours, norm, activation)
    x = torch.randn(B, N, D, requires_grad=True)
    y, weights = ours(x, KEYS[:, None], causal)
    forbidden = ~causal_mask(N) if causal else None
    assert_same(y, twin(x, src_mask=forbidden, src_key_padding_mask=~KEYS), [x])
    assert (weights is None) == fast


@pytest.mark.parametrize("norm", ["pre", "post"])
@pytest.mark.parametrize(("activation", "fast"), [(F.relu, False), (F.gelu, True)])
def test_decoder_layer_equals_torch(norm, activation, fast):
    ours = randomised(DecoderLayer(D, HEADS, D_FF, norm=norm, activation=activation, fast=fast))
    twin = torch_twin(ours, norm, activation)
    y, memory = torch.randn(B, T, D, requires_grad=True), torch.randn(B, N, D, requires_grad=True)
    out, _, cross = ours(y, memory, memory_mask=KEYS[:, None])
    expected = twin(y, memory, tgt_mask=~causal_mask(T), memory_key_padding_mask=~KEYS)
    assert_same(out, expected, [y, memory])
    if not fast:
        assert cross.shape == (B, HEADS, T, N)
        torch.testing.assert_close(cross.sum(-1), torch.ones(B, HEADS, T))
        assert (cross[1, :, :, 4:] == 0).all()


@pytest.mark.parametrize("norm", ["pre", "post"])
def test_stacks_are_their_layers_and_end_normalised(norm):
    encoder = randomised(Encoder(2, D, HEADS, D_FF, norm=norm))
    decoder = randomised(Decoder(2, D, HEADS, D_FF, norm=norm))
    x, y = torch.randn(B, N, D), torch.randn(B, T, D)
    h, s = x, y
    for layer in encoder.layers:
        h, _ = layer(h)
    h = F.layer_norm(h, (D,), encoder.norm.g, encoder.norm.b) if norm == "pre" else h
    for layer in decoder.layers:
        s, _, _ = layer(s, h)
    s = F.layer_norm(s, (D,), decoder.norm.g, decoder.norm.b) if norm == "pre" else s
    memory, weights = encoder(x)
    torch.testing.assert_close(memory, h)
    torch.testing.assert_close(decoder(y, memory)[0], s)
    assert [w.shape for w in weights] == [(B, HEADS, N, N)] * 2


def test_norm_is_pre_or_post():
    with pytest.raises(ValueError, match="'pre' or 'post'"):
        EncoderLayer(D, HEADS, D_FF, norm="before")


# The whole model

KINDS = list(itertools.product(["pre", "post"], ["sinusoidal", "learned", "rotary", "none"]))


@pytest.mark.parametrize("fast", [False, True])
@pytest.mark.parametrize(("norm", "positions"), KINDS)
def test_no_position_sees_the_future(norm, positions, fast):
    transformer = model(norm, positions, fast=fast)
    source, target = random_ids(VOCAB_SOURCE, B, N), random_ids(VOCAB_TARGET, B, 12)
    changed = target.clone()
    changed[:, 7:] = (target[:, 7:] - 5 + 1) % (VOCAB_TARGET - 5) + 5  # every one of them another token
    a, b = transformer(source, target), transformer(source, changed)
    assert torch.equal(a[:, :7], b[:, :7])
    assert not torch.isclose(a[:, 7:], b[:, 7:]).all(-1).any()


@pytest.mark.parametrize("fast", [False, True])
@pytest.mark.parametrize(("norm", "positions"), KINDS)
def test_cached_steps_equal_the_full_pass(norm, positions, fast):
    transformer = model(norm, positions, fast=fast, n_experts=3)
    source, target = random_ids(VOCAB_SOURCE, B, N), random_ids(VOCAB_TARGET, B, T)
    source[1, 4:] = 0
    state, steps = transformer.start(source), []
    for t in range(T):
        logits, state = transformer.step(state, target[:, t])
        steps.append(logits)
    torch.testing.assert_close(torch.stack(steps, 1), transformer(source, target))


def tensors(state):
    if isinstance(state, torch.Tensor):
        return [state]
    return [x for part in (state.values() if isinstance(state, dict) else state) for x in tensors(part)]


def test_a_state_is_not_changed_by_a_step_and_has_the_batch_first():
    transformer = model()
    state = transformer.start(random_ids(VOCAB_SOURCE, B, N))
    before = [x.clone() for x in tensors(state)]
    _, after = transformer.step(state, torch.full((B,), 2))
    assert all(torch.equal(a, b) for a, b in zip(before, tensors(state), strict=True))
    assert {len(x) for x in tensors(state) + tensors(after)} == {B}


@pytest.mark.parametrize("fast", [False, True])
def test_padding_changes_nothing(fast):
    transformer = model(fast=fast)
    source, target = random_ids(VOCAB_SOURCE, B, N), random_ids(VOCAB_TARGET, B, T)
    source[0, 4:], target[0, 3:] = 0, 0
    alone = transformer(source[:1, :4], target[:1, :3])
    torch.testing.assert_close(transformer(source, target)[:1, :3], alone)
    mask = torch.ones(1, N, dtype=torch.bool)
    mask[:, 4:] = False
    other_words = random_ids(VOCAB_SOURCE, 1, N)
    other_words[:, :4] = source[:1, :4]
    torch.testing.assert_close(transformer(other_words, target[:1], mask)[:, :3], alone)


@pytest.mark.parametrize("options", [{"norm": "pre"}, {"norm": "post"}, {"n_experts": 3}, {"positions": "rotary"}])
def test_fast_equals_readable(options):
    readable, fast = model(**options), model(**options, fast=True)
    fast.load_state_dict(readable.state_dict())
    source, target = random_ids(VOCAB_SOURCE, B, N), random_ids(VOCAB_TARGET, B, T)
    source[1, 4:] = 0
    outs = [m(source, target) for m in (readable, fast)]
    torch.testing.assert_close(*outs)
    for out in outs:
        out.square().mean().backward()
    for (name, a), b in zip(readable.named_parameters(), fast.parameters(), strict=True):
        assert a.grad is not None, name
        torch.testing.assert_close(a.grad, b.grad, msg=name)


def test_weights_are_returned_on_request():
    transformer = model()
    source, target = random_ids(VOCAB_SOURCE, B, N), random_ids(VOCAB_TARGET, B, T)
    source[1, 4:] = 0
    logits, weights = transformer(source, target, return_weights=True)
    assert torch.equal(logits, transformer(source, target))
    torch.testing.assert_close(weights.sum(-1), torch.ones(B, T))
    assert (weights[1, :, 4:] == 0).all()
    with pytest.raises(ValueError, match="fast=False"):
        model(fast=True)(source, target, return_weights=True)


def test_an_empty_source_gives_finite_logits_and_gradients():
    transformer = model()
    source = random_ids(VOCAB_SOURCE, B, N)
    source[1] = 0
    logits = transformer(source, random_ids(VOCAB_TARGET, B, T))
    logits.square().sum().backward()
    assert logits.isfinite().all()
    assert all(p.grad.isfinite().all() for p in transformer.parameters())


def test_embeddings_are_scaled_by_the_square_root_of_the_width():
    tokens = random_ids(VOCAB_SOURCE, B, N)
    scaled, plain = Embedding(VOCAB_SOURCE, D, "none"), Embedding(VOCAB_SOURCE, D, "none", scaled=False)
    torch.testing.assert_close(scaled(tokens), math.sqrt(D) * scaled.E(tokens))
    assert torch.equal(plain(tokens), plain.E(tokens))
    learned = Embedding(VOCAB_SOURCE, D, "learned", max_length=9)
    expected = 4 * learned.E.weight[tokens[1, 2]] + learned.learned.table.weight[3 + 2]
    torch.testing.assert_close(learned(tokens[:, :6], start=3)[1, 2], expected)


def test_tied_matrices_are_one():
    sizes = dict(d_model=D, n_heads=HEADS, d_ff=D_FF, n_layers=1)
    none = Transformer(25, 25, **sizes, tied="none")
    target = Transformer(25, 25, **sizes, tied="target")
    every = Transformer(25, 25, **sizes, tied="all")
    assert target.W.weight is target.target.E.weight
    assert target.W.weight is not target.source.E.weight
    assert every.W.weight is every.source.E.weight
    count = [sum(p.numel() for p in m.parameters()) for m in (none, target, every)]
    assert [count[0] - count[1], count[1] - count[2]] == [25 * D, 25 * D]
    with pytest.raises(ValueError, match="24 and 25"):
        Transformer(24, 25, **sizes, tied="all")


@pytest.mark.parametrize("tied", ["none", "target", "all"])
@pytest.mark.parametrize("norm", ["pre", "post"])
def test_the_first_loss_is_that_of_guessing(tied, norm):
    losses = []
    for seed in range(3):
        torch.manual_seed(seed)
        made = Transformer(100, 100, 64, 4, 128, 2, tied=tied, norm=norm).eval()
        loss = smoothed_loss(made(random_ids(100, 8, 20), random_ids(100, 8, 20)), random_ids(100, 8, 20), 0.0)
        losses.append(loss.item())
    assert sum(losses) / 3 == pytest.approx(math.log(100), rel=0.03)


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


def test_dropout_is_off_in_evaluation():
    transformer = model()
    source, target = random_ids(VOCAB_SOURCE, B, N), random_ids(VOCAB_TARGET, B, T)
    assert torch.equal(transformer(source, target), transformer(source, target))
    transformer.train()
    assert not torch.equal(transformer(source, target), transformer(source, target))


# Mixture of experts


@pytest.mark.parametrize("fast", [False, True])
def test_one_expert_is_the_feed_forward_layer(fast):
    mixture, single = randomised(MixtureOfExperts(D, D_FF, 1, top_k=1, fast=fast)), FeedForward(D, D_FF)
    single.load_state_dict(mixture.experts[0].state_dict())
    x = torch.randn(B, T, D)
    torch.testing.assert_close(mixture(x), single(x))


def test_gates_sum_to_1_over_the_top_k():
    logits = torch.randn(B, T, 5)
    gates = top_gates(logits, 2)
    torch.testing.assert_close(gates.sum(-1), torch.ones(B, T))
    assert ((gates > 0).sum(-1) == 2).all()
    assert (gates.argmax(-1) == logits.argmax(-1)).all()


@pytest.mark.parametrize("fast", [False, True])
@pytest.mark.parametrize("top_k", [1, 2, 4])
def test_every_token_reaches_its_experts(top_k, fast):
    mixture, x = randomised(MixtureOfExperts(D, D_FF, 4, top_k, fast=fast)), torch.randn(B, T, D)
    y = mixture(x)
    for b, t in itertools.product(range(B), range(T)):
        logits = (mixture.W_g.weight @ x[b, t]).tolist()
        best = sorted(range(4), key=lambda e: -logits[e])[:top_k]
        total = sum(math.exp(logits[e]) for e in best)
        expected = sum(math.exp(logits[e]) / total * mixture.experts[e](x[b, t]) for e in best)
        torch.testing.assert_close(y[b, t], expected)


@pytest.mark.parametrize("fast", [False, True])
def test_experts_compute_in_mixed_precision(fast):
    mixture, x = MixtureOfExperts(D, D_FF, 4, 2, fast=fast).float(), torch.randn(B, T, D, dtype=torch.float32)
    with torch.autocast("cpu", torch.bfloat16):
        y = mixture(x)
    torch.testing.assert_close(y.float(), mixture(x), rtol=0.02, atol=0.02)


def test_an_expert_that_no_token_chose_gets_no_gradient_from_either_form():
    for fast in (False, True):
        mixture = MixtureOfExperts(D, D_FF, 3, top_k=1, fast=fast)
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


def test_balance_losses_are_collected_inside_the_block_only():
    transformer = model(n_experts=4)
    source, target = random_ids(VOCAB_SOURCE, B, N), random_ids(VOCAB_TARGET, B, T)
    with balance_losses(transformer) as balance:
        transformer(source, target)
    transformer(source, target)
    assert len(balance) == 4  # two layers on each side
    gates = [m.W_g.weight for m in transformer.modules() if isinstance(m, MixtureOfExperts)]
    assert all(g.abs().sum() > 0 for g in torch.autograd.grad(sum(balance), gates))


def test_top_k_is_at_most_the_number_of_experts():
    with pytest.raises(ValueError, match="between 1 and n_experts = 3"):
        MixtureOfExperts(D, D_FF, 3, top_k=4)


# Label smoothing


@pytest.mark.parametrize("smoothing", [0.0, 0.1])
def test_smoothed_loss_equals_torch(smoothing):
    logits, targets = torch.randn(B, T, VOCAB_TARGET, requires_grad=True), random_ids(VOCAB_TARGET, B, T)
    targets[0, 4:] = 0
    expected = F.cross_entropy(logits.transpose(1, 2), targets, ignore_index=0, label_smoothing=smoothing)
    assert_same(smoothed_loss(logits, targets, smoothing), expected, [logits])


def test_the_smoothed_loss_of_padding_alone_is_0():
    assert smoothed_loss(torch.randn(1, 2, 5), torch.zeros(1, 2, dtype=torch.long)) == 0


def test_the_smallest_smoothed_loss_is_the_entropy_of_the_smoothed_target():
    q = torch.full((VOCAB_TARGET,), 0.1 / VOCAB_TARGET)
    q[7] += 0.9
    loss = smoothed_loss(q.log().view(1, 1, -1), torch.tensor([[7]]))
    torch.testing.assert_close(loss, -(q * q.log()).sum())
