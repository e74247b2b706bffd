"""GPT: GPT-2's own code on shared weights, the cache against the full pass, causality, initialisation, counting."""

import math

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from lmbook.gpt import GPT, decay_groups, gelu_tanh
from lmbook.lab.pretrained import load_gpt2
from lmbook.networks import n_parameters

VOCAB, WINDOW = 37, 12


def small_gpt(**options) -> GPT:
    torch.manual_seed(0)
    sizes = {"vocab": VOCAB, "window": WINDOW, "d_model": 16, "n_heads": 4, "n_layers": 3}
    return GPT(**(sizes | options)).eval()


def livelier(model: nn.Module) -> nn.Module:
    """The same model with larger weights, so that attention is far from uniform and an error would show."""
    generator = torch.Generator().manual_seed(1)
    with torch.no_grad():
        for p in model.parameters():
            p.add_(0.3 * torch.randn(p.shape, generator=generator))
    return model


def random_tokens(batch: int, length: int, seed: int = 0) -> torch.Tensor:
    return torch.randint(VOCAB, (batch, length), generator=torch.Generator().manual_seed(seed))


@pytest.fixture(params=["learned", "rotary"])
def model(request):
    return livelier(small_gpt(positions=request.param))


@pytest.fixture(scope="module")
def reference():
    """GPT-2 as transformers writes it, with random weights everywhere (biases and gains too)."""
    from transformers import GPT2Config, GPT2LMHeadModel

    torch.manual_seed(0)
    config = GPT2Config(
        vocab_size=VOCAB, n_positions=WINDOW, n_embd=16, n_layer=3, n_head=4, bos_token_id=0, eos_token_id=0
    )
    return livelier(GPT2LMHeadModel(config).eval())


@pytest.mark.slow
def test_logits_are_those_of_gpt2(reference):
    ours = load_gpt2(reference.state_dict(), n_heads=4).eval()
    tokens = random_tokens(3, WINDOW)
    with torch.no_grad():
        expected = reference(tokens).logits
        difference = (ours(tokens) - expected).abs().max()
    assert expected.std() > 0.5  # otherwise small differences would prove little
    assert difference < 1e-4


@pytest.mark.slow
def test_loss_and_gradients_are_those_of_gpt2(reference):
    ours = load_gpt2(reference.state_dict(), n_heads=4).eval()
    tokens = random_tokens(2, WINDOW)
    reference.zero_grad()
    theirs = reference(tokens, labels=tokens).loss
    theirs.backward()
    loss = F.cross_entropy(ours(tokens[:, :-1]).flatten(0, 1), tokens[:, 1:].flatten())
    loss.backward()
    torch.testing.assert_close(loss, theirs)
    wte = reference.transformer.wte.weight.grad
    torch.testing.assert_close(ours.embedding.weight.grad, wte, atol=1e-5, rtol=1e-3)


@pytest.mark.slow
def test_the_other_gelu_would_be_noticed(reference):
    ours = load_gpt2(reference.state_dict(), n_heads=4).eval()
    for layer in ours.layers:
        layer.ffn.activation = F.gelu
    tokens = random_tokens(3, WINDOW)
    with torch.no_grad():
        assert (ours(tokens) - reference(tokens).logits).abs().max() > 1e-4


@pytest.mark.slow
def test_published_files_have_no_prefix_no_head_and_old_buffers(reference):
    full = reference.state_dict()
    weights = {name.removeprefix("transformer."): w for name, w in full.items() if name != "lm_head.weight"}
    weights |= {"h.0.attn.bias": torch.ones(1, 1, WINDOW, WINDOW), "h.2.attn.masked_bias": torch.tensor(-1e4)}
    tokens = random_tokens(2, 5)
    assert torch.equal(load_gpt2(weights, n_heads=4)(tokens), load_gpt2(full, n_heads=4)(tokens))


@pytest.mark.slow
def test_loading_copies(reference):
    weights = {name: w.clone() for name, w in reference.state_dict().items()}
    ours = load_gpt2(weights, n_heads=4)
    with torch.no_grad():
        ours.embedding.weight.zero_()
    assert weights["transformer.wte.weight"].abs().sum() > 0


@pytest.mark.slow
def test_names_that_are_missing_or_too_many_are_reported(reference):
    weights = reference.state_dict()
    missing = {n: w for n, w in weights.items() if n != "transformer.h.1.ln_2.bias"}
    with pytest.raises(ValueError, match=r"missing: h\.1\.ln_2\.bias"):
        load_gpt2(missing, n_heads=4)
    with pytest.raises(ValueError, match=r"not known: h\.1\.attn\.rotary"):
        load_gpt2(weights | {"transformer.h.1.attn.rotary": torch.zeros(2)}, n_heads=4)
    with pytest.raises(ValueError, match=r"missing: h\.3\.attn\.c_attn\.weight"):  # a fourth layer, not complete
        load_gpt2(weights | {"transformer.h.3.ln_1.weight": torch.zeros(16)}, n_heads=4)
    with pytest.raises(ValueError, match=r"missing: wte\.weight"):
        load_gpt2({}, n_heads=4)


@pytest.mark.slow
def test_weights_of_a_wrong_shape_or_an_untied_head_are_reported(reference):
    weights = reference.state_dict()
    name = "transformer.h.0.mlp.c_fc.weight"
    with pytest.raises(ValueError, match=r"h\.0\.mlp\.c_fc\.weight"):
        load_gpt2(weights | {name: weights[name].T.contiguous()}, n_heads=4)
    with pytest.raises(ValueError, match="tied"):
        load_gpt2(weights | {"lm_head.weight": torch.zeros(VOCAB, 16)}, n_heads=4)
    with pytest.raises(ValueError, match="n_heads"):
        load_gpt2(weights)  # 16 is no multiple of 64, GPT-2's width of a head


def test_every_position_sees_the_whole_past(model):
    tokens = random_tokens(1, WINDOW)
    for t in range(WINDOW):
        changed = tokens.clone()
        changed[:, t] = (changed[:, t] + 1) % VOCAB
        difference = (model(changed) - model(tokens)).abs().amax(-1)[0]
        assert (difference[t:] > 1e-6).all(), t


def test_a_context_longer_than_the_window_is_refused(model):
    with pytest.raises(ValueError, match=r"13 tokens.*window of 12"):
        model(random_tokens(1, WINDOW + 1))
    with pytest.raises(ValueError, match="window of 12"):
        model.features(random_tokens(1, WINDOW + 1))
    with pytest.raises(ValueError, match=r"13 tokens.*window of 12"):
        model.run(random_tokens(1, WINDOW + 1), model.start(1))
    _, state = model.run(random_tokens(1, WINDOW - 4), model.start(1))
    _, full = model.run(random_tokens(1, 4), state)
    assert full["tokens"].shape == (1, WINDOW)
    with pytest.raises(ValueError, match=r"5 tokens after 8.*window of 12"):
        model.run(random_tokens(1, 5), state)


@pytest.mark.parametrize("slide", [1, 5, WINDOW])
def test_generation_slides_the_window(slide):
    model = livelier(small_gpt(slide=slide))
    tokens = random_tokens(2, 3 * WINDOW)
    state, first = model.start(2), 0
    for t in range(3 * WINDOW):
        if t + 1 - first > WINDOW:
            first += slide
        logits, state = model.step(tokens[:, t], state)
        torch.testing.assert_close(logits, model(tokens[:, first : t + 1])[:, -1], atol=1e-5, rtol=1e-4)


def test_tokens_outside_the_vocabulary_are_refused(model):
    for wrong in (VOCAB, -1):
        with pytest.raises(ValueError, match="0 to 36"):
            model(torch.tensor([[0, wrong]]))
    with pytest.raises(ValueError, match=r"\(B, T\)"):
        model(torch.tensor([0, 1]))
    with pytest.raises(ValueError, match=r"\(B,\)"):
        model.step(torch.tensor([[0]]), model.start(1))


def test_attention_weights_are_returned(model):
    tokens = random_tokens(2, 6)
    logits, weights = model(tokens, need_weights=True)
    torch.testing.assert_close(logits, model(tokens))
    assert [w.shape for w in weights] == [(2, 4, 6, 6)] * 3
    for w in weights:
        torch.testing.assert_close(w.sum(-1), torch.ones(2, 4, 6))
        assert (w.triu(1) == 0).all()


def test_initialisation_is_that_of_gpt2():
    model = small_gpt(d_model=64, n_layers=8, vocab=500, window=100)
    for name, p in model.named_parameters():
        if p.ndim == 1:
            assert (p == (0 if name.endswith("bias") else 1)).all(), name
            continue
        expected = 0.02 / math.sqrt(2 * 8) if name.endswith(("W_o.weight", "W_2.weight")) else 0.02
        assert p.std().item() == pytest.approx(expected, rel=0.05), name
    tokens = torch.randint(500, (8, 100))
    loss = F.cross_entropy(model(tokens[:, :-1]).flatten(0, 1), tokens[:, 1:].flatten())
    assert loss.item() == pytest.approx(math.log(500), rel=0.02)


def test_the_output_is_tied_unless_it_is_not():
    tied, untied = small_gpt(), small_gpt(tied=False)
    assert tied.output.weight is tied.embedding.weight
    assert untied.output.weight is not untied.embedding.weight


def test_the_size_is_that_of_the_published_gpt2():
    with torch.device("meta"):
        model = GPT(50257, 1024, 768, 12, 12)
    assert n_parameters(model) == 124_439_808


@pytest.mark.parametrize("options", [{}, {"positions": "rotary"}, {"tied": False}, {"d_ff": 20}], ids=str)
def test_parameters_by_hand(options):
    d, d_ff = 16, options.get("d_ff", 64)
    layer = 4 * d * d + 2 * d * d_ff + (4 * d + d_ff + d) + 4 * d  # matrices, their biases, two norms
    tables = VOCAB * d * (2 if options.get("tied") is False else 1) + (0 if "positions" in options else WINDOW * d)
    assert n_parameters(small_gpt(**options)) == tables + 3 * layer + 2 * d
    without = tables + 3 * (4 * d * d + 2 * d * d_ff + 2 * d) + d
    model = small_gpt(**options, bias=False)
    assert n_parameters(model) == without
    assert not any(name.endswith("bias") for name, _ in model.named_parameters())


def test_without_biases_it_is_the_same_model_with_biases_0():
    model = livelier(small_gpt(bias=False))
    with_biases, tokens = small_gpt(), random_tokens(2, WINDOW)
    found = with_biases.load_state_dict(model.state_dict(), strict=False)
    assert all(name.endswith("bias") for name in found.missing_keys)
    torch.testing.assert_close(model(tokens), with_biases(tokens))


def test_the_activation_is_the_exact_gelu_unless_another_is_given():
    tokens = random_tokens(2, WINDOW)
    exact, tanh, relu = (
        livelier(small_gpt(**options))(tokens) for options in ({}, {"activation": gelu_tanh}, {"activation": F.relu})
    )
    assert 1e-6 < (exact - tanh).abs().max() < 0.05 * (exact - relu).abs().max()
    x = torch.linspace(-5, 5, 101)
    assert 0 < (gelu_tanh(x) - x * 0.5 * (1 + torch.erf(x / math.sqrt(2)))).abs().max() < 5e-4


def test_weight_decay_spares_biases_and_norms():
    model = small_gpt()
    decayed, spared = decay_groups(model, 0.1)
    assert (decayed["weight_decay"], spared["weight_decay"]) == (0.1, 0.0)
    assert {p.ndim for p in decayed["params"]} == {2}
    assert {p.ndim for p in spared["params"]} == {1}
    together = [id(p) for group in (decayed, spared) for p in group["params"]]
    assert sorted(together) == sorted(id(p) for p in model.parameters())  # each once, the tied one too
    before = {name: p.detach().clone() for name, p in model.named_parameters()}
    optimizer = torch.optim.AdamW([decayed, spared], lr=0.1)
    for p in model.parameters():
        p.grad = torch.zeros_like(p)
    optimizer.step()
    for name, p in model.named_parameters():
        torch.testing.assert_close(p.detach(), before[name] * (0.99 if p.ndim == 2 else 1))


def test_rotary_attention_depends_on_distance_only():
    model = livelier(small_gpt(positions="rotary", n_layers=1))
    tokens = random_tokens(1, 1).expand(1, WINDOW)  # one type everywhere: only the positions differ
    _, (weights,) = model(tokens, need_weights=True)
    logs = weights.log()
    ratio = logs[..., 5, 4] - logs[..., 5, 2]  # scores of distances 1 and 3
    torch.testing.assert_close(logs[..., 9, 8] - logs[..., 9, 6], ratio, atol=1e-5, rtol=1e-4)


def test_wrong_options_are_refused():
    with pytest.raises(ValueError, match="learned, rotary"):
        small_gpt(positions="sinusoidal")
    with pytest.raises(ValueError, match="n_heads"):
        small_gpt(n_heads=3)
    with pytest.raises(ValueError, match="slide"):
        small_gpt(slide=0)
    with pytest.raises(ValueError, match="slide"):
        small_gpt(slide=WINDOW + 1)
