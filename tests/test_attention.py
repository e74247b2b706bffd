"""Attention: against torch, explicit loops, and what a weighted mean must satisfy."""

import math

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from lmbook.attention import (
    SCORES,
    AdditiveScore,
    DotScore,
    MultiHeadAttention,
    MultiplicativeScore,
    ScaledScore,
    attend,
    causal_mask,
    masked_softmax,
    padding_mask,
)
from lmbook.positions import rotary

B, T, N, D, HEADS = 3, 5, 7, 12, 4


pytestmark = pytest.mark.usefixtures("float64")


def random_mask(*shape, empty_row=False):
    """A random mask with something to see in every row, or with one row that sees nothing."""
    mask = torch.rand(shape) < 0.6
    mask[..., 0] = True
    if empty_row:
        mask[0, 2] = False
    return mask


def leaves(*shapes):
    return [torch.randn(shape, requires_grad=True) for shape in shapes]


def assert_same_gradients(outs, inputs, others, other_inputs):
    """The two outputs agree, and so do their gradients in the given tensors, which are finite."""
    weight = torch.randn_like(outs)
    torch.testing.assert_close(outs, others)
    mine = torch.autograd.grad((outs * weight).sum(), inputs, retain_graph=True)
    theirs = torch.autograd.grad((others * weight).sum(), other_inputs, retain_graph=True)
    for a, b in zip(mine, theirs, strict=True):
        assert a.isfinite().all()
        torch.testing.assert_close(a, b)


# Masks


def test_causal_mask_by_its_definition():
    for queries, keys in [(1, 1), (4, 4), (2, 5), (1, 6)]:
        mask = causal_mask(queries, keys)
        assert mask.tolist() == [[i <= t + keys - queries for i in range(keys)] for t in range(queries)]
    with pytest.raises(ValueError, match="5 queries"):
        causal_mask(5, 4)


def test_padding_mask_marks_what_is_not_padding():
    tokens = torch.tensor([[5, 6, 0], [7, 0, 0]])
    assert padding_mask(tokens).tolist() == [[[True, True, False]], [[True, False, False]]]
    with pytest.raises(ValueError, match="batch axis"):
        padding_mask(tokens[0])


# Softmax and weights


def test_weights_are_the_softmax_over_what_is_allowed():
    scores, mask = torch.randn(B, T, N), random_mask(B, T, N)
    weights = masked_softmax(scores, mask)
    for b in range(B):
        for t in range(T):
            exps = [math.exp(scores[b, t, i]) if mask[b, t, i] else 0.0 for i in range(N)]
            expected = torch.tensor([e / sum(exps) for e in exps])
            torch.testing.assert_close(weights[b, t], expected)
    torch.testing.assert_close(weights.sum(-1), torch.ones(B, T))
    assert (weights[~mask] == 0).all()


def test_large_scores_do_not_overflow():
    assert torch.equal(masked_softmax(torch.tensor([[1e9, 0.0]])), torch.tensor([[1.0, 0.0]]))


def test_a_row_that_sees_nothing_gives_zeros_and_finite_gradients():
    q, k, v = leaves((B, T, D), (B, N, D), (B, N, D))
    mask = random_mask(B, T, N, empty_row=True)
    context, weights = attend(q, k, v, mask)
    assert (context[0, 2] == 0).all()
    assert (weights[0, 2] == 0).all()
    for gradient in torch.autograd.grad(context.square().sum(), (q, k, v)):
        assert gradient.isfinite().all()


def test_nan_in_the_scores_is_not_hidden():
    scores = torch.tensor([[math.nan, 1.0]])
    assert masked_softmax(scores, torch.tensor([[True, True]])).isnan().all()


def test_masks_that_are_not_boolean_or_do_not_fit_are_refused():
    scores = torch.randn(B, T, N)
    with pytest.raises(TypeError, match="boolean"):
        masked_softmax(scores, torch.ones(B, T, N))
    with pytest.raises(ValueError, match=r"mask\[:, None, :\]"):
        masked_softmax(scores, torch.ones(B, N, dtype=torch.bool))
    layer, x = MultiHeadAttention(D, HEADS), torch.randn(B, T, D)
    for options in ({}, {"causal": True}, {"need_weights": True}):
        with pytest.raises(TypeError, match="boolean"):
            layer(x, x, x, torch.ones(T, T), **options)
        with pytest.raises(ValueError, match="does not fit"):
            layer(x, x, x, torch.ones(B, T, dtype=torch.bool), **options)


# Scaled dot-product attention


@pytest.mark.parametrize("masked", [False, True])
def test_attend_equals_torch(masked):
    q, k, v = leaves((B, T, D), (B, N, D), (B, N, 2 * D))
    mask = random_mask(B, T, N) if masked else None
    context, _ = attend(q, k, v, mask)
    assert_same_gradients(context, (q, k, v), F.scaled_dot_product_attention(q, k, v, mask), (q, k, v))


def test_order_of_keys_does_not_matter_and_order_of_queries_is_kept():
    q, k, v = torch.randn(B, T, D), torch.randn(B, N, D), torch.randn(B, N, D)
    context, weights = attend(q, k, v)
    keys, queries = torch.randperm(N), torch.randperm(T)
    shuffled, shuffled_weights = attend(q, k[:, keys], v[:, keys])
    torch.testing.assert_close(shuffled, context)
    torch.testing.assert_close(shuffled_weights, weights[..., keys])
    torch.testing.assert_close(attend(q[:, queries], k, v)[0], context[:, queries])


def test_the_scale_keeps_the_variance_of_scores_at_one():
    q, k = torch.randn(1, 400, 64), torch.randn(1, 400, 64)
    scores = q @ k.transpose(1, 2) / math.sqrt(64)
    assert scores.var() == pytest.approx(1, abs=0.1)
    torch.testing.assert_close(attend(q, k, k)[1], torch.softmax(scores, -1))


def test_sizes_that_must_agree():
    q, k, v = torch.randn(B, T, D), torch.randn(B, N, D), torch.randn(B, N, D)
    with pytest.raises(ValueError, match="width"):
        attend(q, k[..., :-1], v)
    with pytest.raises(ValueError, match="7 keys but 6 values"):
        attend(q, k, v[:, :-1])


# The four scores


def test_scores_against_loops():
    s, h, same = torch.randn(B, T, D), torch.randn(B, N, D + 2), torch.randn(B, N, D)
    multiplicative, scaled, additive = MultiplicativeScore(D, D + 2), ScaledScore(D, D + 2), AdditiveScore(D, D + 2, 6)
    W, W_scaled, v = multiplicative.W.weight, scaled.W.weight, additive.v.weight[0]
    for b, t, i in [(0, 0, 0), (1, 4, 6), (2, 3, 2)]:
        torch.testing.assert_close(DotScore(D, D)(s, same)[b, t, i], sum(s[b, t] * same[b, i]))
        product = sum(s[b, t, j] * W[j, k] * h[b, i, k] for j in range(D) for k in range(D + 2))
        torch.testing.assert_close(multiplicative(s, multiplicative.keys(h))[b, t, i], product)
        product = sum(s[b, t, j] * W_scaled[j, k] * h[b, i, k] for j in range(D) for k in range(D + 2))
        torch.testing.assert_close(scaled(s, scaled.keys(h))[b, t, i], product / math.sqrt(D))
        inner = torch.tanh(additive.W_h.weight @ h[b, i] + additive.W_s.weight @ s[b, t])
        torch.testing.assert_close(additive(s, additive.keys(h))[b, t, i], v @ inner)
    for score in (multiplicative, scaled, additive):
        assert score(s, score.keys(h)).shape == (B, T, N)


def test_only_the_dot_needs_equal_widths():
    with pytest.raises(ValueError, match="equal widths, but s has 12 and h has 14"):
        DotScore(D, D + 2)
    s, h = torch.randn(B, T, D), torch.randn(B, N, D + 2)
    for name, Score in SCORES.items():
        if name != "dot":
            score = Score(D, D + 2)
            assert score(s, score.keys(h)).shape == (B, T, N)


def test_parameters_of_each_score():
    count = [
        sum(p.numel() for p in m.parameters())
        for m in (MultiplicativeScore(3, 5), ScaledScore(3, 5), AdditiveScore(3, 5, 7))
    ]
    assert count == [15, 15, 3 * 7 + 5 * 7 + 7]


# Several heads


def torch_twin(layer):
    """nn.MultiheadAttention with the weights of ours."""
    twin = nn.MultiheadAttention(layer.d_model, layer.n_heads, batch_first=True)
    with torch.no_grad():
        twin.in_proj_weight.copy_(torch.cat([layer.W_q.weight, layer.W_k.weight, layer.W_v.weight]))
        twin.in_proj_bias.copy_(torch.cat([layer.W_q.bias, layer.W_k.bias, layer.W_v.bias]))
        twin.out_proj.weight.copy_(layer.W_o.weight)
        twin.out_proj.bias.copy_(layer.W_o.bias)
    return twin


def randomised(layer):
    for parameter in layer.parameters():
        nn.init.normal_(parameter, std=0.4)
    return layer


@pytest.mark.parametrize("masked", [False, True])
@pytest.mark.parametrize("need_weights", [False, True])
def test_multi_head_equals_torch(masked, need_weights):
    layer = randomised(MultiHeadAttention(D, HEADS))
    twin = torch_twin(layer)
    q, k, v = leaves((B, T, D), (B, N, D), (B, N, D))
    mask = random_mask(B, T, N) if masked else None
    out, weights = layer(q, k, v, mask, need_weights=need_weights)
    forbidden = None if mask is None else (~mask).repeat_interleave(HEADS, dim=0)  # there True forbids
    expected, expected_weights = twin(q, k, v, attn_mask=forbidden, average_attn_weights=False)
    ours = (q, k, v, layer.W_o.weight, layer.W_o.bias)
    theirs = (q, k, v, twin.out_proj.weight, twin.out_proj.bias)
    assert_same_gradients(out, ours, expected, theirs)
    projections = [layer.W_q.weight, layer.W_k.weight, layer.W_v.weight]
    inner = torch.autograd.grad(out.square().sum(), projections)
    outer = torch.autograd.grad(expected.square().sum(), twin.in_proj_weight)[0]
    torch.testing.assert_close(torch.cat(inner), outer)
    if need_weights:
        torch.testing.assert_close(weights, expected_weights)
    else:
        assert weights is None


MASKS = {
    "none": None,
    "causal": causal_mask(T),
    "rows": random_mask(B, T, T),
    "keys": torch.tensor([[True] * 5, [True] * 3 + [False] * 2, [True] + [False] * 4])[:, None],
    "heads": random_mask(B, HEADS, T, T),
    "an empty row": random_mask(B, T, T, empty_row=True),
    "an empty sentence": torch.tensor([[True] * 5, [False] * 5, [True] * 5])[:, None],
}


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("mask", MASKS.values(), ids=MASKS.keys())
@pytest.mark.parametrize("rotate", [None, rotary])
@pytest.mark.parametrize("cross", [False, True])
def test_the_fused_kernel_equals_the_formula(mask, causal, rotate, cross):
    layer = randomised(MultiHeadAttention(D, HEADS, d_k=6, d_v=2, rotate=rotate))
    x, y = leaves((B, T, D), (B, T, D))
    y = y if cross else x
    inputs = (*({x, y}), *layer.parameters())
    fused, nothing = layer(x, y, y, mask, causal)
    formula, weights = layer(x, y, y, mask, causal, need_weights=True)
    assert nothing is None
    assert weights.shape == (B, HEADS, T, T)
    assert_same_gradients(fused, inputs, formula, inputs)


@pytest.mark.parametrize("need_weights", [False, True])
def test_nothing_to_attend_to_leaves_the_bias_of_the_output(need_weights):
    layer = randomised(MultiHeadAttention(D, HEADS))
    x = torch.randn(B, T, D)
    out, _ = layer(x, x, x, MASKS["an empty sentence"], need_weights=need_weights)
    torch.testing.assert_close(out[1], layer.W_o.bias.expand(T, D))


def test_causal_argument_is_the_causal_mask():
    layer, x = MultiHeadAttention(D, HEADS), torch.randn(B, T, D)
    assert torch.equal(layer(x, x, x, causal=True)[0], layer(x, x, x, causal_mask(T))[0])


@pytest.mark.parametrize("need_weights", [False, True])
@pytest.mark.parametrize("rotate", [None, rotary])
def test_cached_steps_equal_one_pass(need_weights, rotate):
    layer = MultiHeadAttention(D, 3, rotate=rotate)
    x = torch.randn(B, 9, D)
    whole, _ = layer(x, x, x, causal=True, need_weights=need_weights)
    cache, parts = layer.start(B), []
    for a, b in [(0, 1), (1, 2), (2, 6), (6, 9)]:  # one position at a time, then several
        out, cache = layer.step(x[:, a:b], cache)
        parts.append(out)
    torch.testing.assert_close(torch.cat(parts, 1), whole)
    assert cache[0].shape == (B, 3, 9, 4)


def test_keys_and_values_may_be_projected_beforehand():
    layer = MultiHeadAttention(D, 3, rotate=rotary)
    x, y, mask = torch.randn(B, T, D), torch.randn(B, N, D), random_mask(B, T, N)
    for whole, part in zip(
        layer(x, y, y, mask, need_weights=True),
        layer.attend(x, layer.project(y, y), mask, need_weights=True),
        strict=True,
    ):
        assert torch.equal(whole, part)
    first = layer.project(y, y)[0][:, :, 0]  # position 0 is turned by no angle
    torch.testing.assert_close(first.flatten(1), layer.W_k(y)[:, 0])


def test_a_step_leaves_the_cache_it_was_given_alone():
    layer, x = MultiHeadAttention(D, HEADS), torch.randn(B, 1, D)
    _, cache = layer.step(x, layer.start(B))
    before = [part.clone() for part in cache]
    layer.step(x, cache)
    assert all(torch.equal(a, b) for a, b in zip(before, cache, strict=True))


def test_dropout_acts_in_training_only():
    x = torch.randn(B, T, D)
    for need_weights in (False, True):
        layer = MultiHeadAttention(D, HEADS, dropout=0.5)
        first, second = (layer(x, x, x, need_weights=need_weights)[0] for _ in range(2))
        assert not torch.equal(first, second)
        layer.eval()
        first, second = (layer(x, x, x, need_weights=need_weights)[0] for _ in range(2))
        assert torch.equal(first, second)


def test_widths():
    with pytest.raises(ValueError, match="not a multiple"):
        MultiHeadAttention(10, 4)
    layer = MultiHeadAttention(10, 4, d_k=3, d_v=2, bias=False)
    x = torch.randn(B, T, 10)
    assert layer(x, x, x)[0].shape == (B, T, 10)
    assert sum(p.numel() for p in layer.parameters()) == 2 * 10 * 12 + 2 * 10 * 8
    wrong = torch.randn(B, T, 12)
    for states, name in (((wrong, x, x), "query"), ((x, wrong, x), "key"), ((x, x, wrong), "value")):
        with pytest.raises(ValueError, match=f"{name} has width 12"):
            layer(*states)
