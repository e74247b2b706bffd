"""BERT: transformers' BertModel on shared weights, padding, the masking procedure and its statistics, the loss."""

import math

import pytest
import torch
from test_gpt import livelier
from torch.nn import functional as F

from lmbook.bert import BERT, BERTClassifier, BERTTagger, MaskedLM, mask_tokens, masked_lm_loss
from lmbook.lab.pretrained import copy_weights, load_bert

VOCAB, WINDOW = 41, 14
PAD, UNK, SOS, EOS, MASK = range(5)


def small_bert(**options) -> BERT:
    torch.manual_seed(0)
    sizes = {"vocab": VOCAB, "window": WINDOW, "d_model": 16, "n_heads": 4, "n_layers": 3, "dropout": 0.0}
    return BERT(**(sizes | options)).eval()


def sentences(lengths: list[int], seed: int = 0) -> torch.Tensor:
    """Rows <sos> words <eos> of these lengths, padded on the right."""
    generator = torch.Generator().manual_seed(seed)
    rows = torch.randint(5, VOCAB, (len(lengths), max(lengths)), generator=generator)
    rows[:, 0] = SOS
    for row, length in zip(rows, lengths, strict=True):
        row[length - 1] = EOS
        row[length:] = PAD
    return rows


def their_config():
    from transformers import BertConfig

    return BertConfig(
        vocab_size=VOCAB,
        hidden_size=16,
        num_hidden_layers=3,
        num_attention_heads=4,
        intermediate_size=64,
        max_position_embeddings=WINDOW,
    )


@pytest.fixture(scope="module", params=[False, True], ids=["as initialised", "livelier"])
def reference(request):
    from transformers import BertModel

    torch.manual_seed(0)
    theirs = BertModel(their_config()).eval()
    return livelier(theirs) if request.param else theirs


@pytest.fixture(scope="module")
def reference_lm():
    from transformers import BertForMaskedLM

    torch.manual_seed(0)
    return livelier(BertForMaskedLM(their_config()).eval())


def masked_lm(weights) -> MaskedLM:
    """A MaskedLM with the weights of transformers' BertForMaskedLM."""
    start, transform = "cls.predictions.", "cls.predictions.transform."
    names = {start + "bias": "output.bias", transform + "dense.weight": "W.weight", transform + "dense.bias": "W.bias"}
    names |= {f"{transform}LayerNorm.{kind}": f"norm.{kind}" for kind in ("weight", "bias")}
    model = MaskedLM(load_bert(weights, n_heads=4))
    copy_weights(
        model, {name: weights[name] for name in names}, {name: ([ours], False) for name, ours in names.items()}
    )
    return model.eval()


@pytest.mark.slow
def test_hidden_states_are_those_of_bert(reference):
    ours = load_bert(reference.state_dict(), n_heads=4).eval()
    tokens = sentences([WINDOW, 9, 5])
    types = (torch.arange(WINDOW) > 4).long().expand(3, -1)
    real = tokens != PAD
    with torch.no_grad():
        theirs = reference(tokens, attention_mask=real.long(), token_type_ids=types)
        hidden = ours(tokens, types=types)
        assert (hidden - theirs.last_hidden_state)[real].abs().max() < 1e-4
        assert (ours.pool(hidden) - theirs.pooler_output).abs().max() < 1e-4


@pytest.mark.slow
def test_without_types_all_are_of_the_first(reference):
    ours = load_bert(reference.state_dict(), n_heads=4).eval()
    tokens = sentences([8, 8])
    with torch.no_grad():
        assert (ours(tokens) - reference(tokens).last_hidden_state).abs().max() < 1e-4


@pytest.mark.slow
def test_another_epsilon_would_be_noticed(reference):
    ours = load_bert(reference.state_dict(), n_heads=4).eval()
    tokens = sentences([8, 8])
    expected = reference(tokens).last_hidden_state
    ours.norm.eps = 1e-3
    assert (ours(tokens) - expected).abs().max() > 1e-4


@pytest.mark.slow
def test_the_masked_language_model_is_that_of_bert(reference_lm):
    ours = masked_lm(reference_lm.state_dict())
    tokens = sentences([WINDOW, 6])
    with torch.no_grad():
        theirs = reference_lm(tokens, attention_mask=(tokens != PAD).long()).logits
        assert theirs.std() > 0.5
        assert (ours(tokens) - theirs)[tokens != PAD].abs().max() < 1e-4


@pytest.mark.slow
def test_bert_can_be_taken_out_of_a_masked_language_model(reference_lm):
    tokens = sentences([7, 7])
    ours = load_bert(reference_lm.state_dict(), n_heads=4)
    assert ours.pooler is None
    assert torch.equal(ours.eval()(tokens), masked_lm(reference_lm.state_dict()).bert(tokens))


@pytest.mark.slow
def test_names_that_are_missing_or_too_many_are_reported(reference):
    weights = reference.state_dict()
    name = "encoder.layer.1.attention.self.key.bias"
    with pytest.raises(ValueError, match="missing: " + name.replace(".", r"\.")):
        load_bert({n: w for n, w in weights.items() if n != name}, n_heads=4)
    with pytest.raises(ValueError, match="not known: extra"):
        load_bert(weights | {"extra": torch.zeros(1)}, n_heads=4)
    with pytest.raises(ValueError, match="missing: embeddings"):
        load_bert({}, n_heads=4)
    wrong = weights["encoder.layer.0.intermediate.dense.weight"].T.contiguous()
    with pytest.raises(ValueError, match=r"encoder\.layer\.0\.intermediate\.dense\.weight"):
        load_bert(weights | {"encoder.layer.0.intermediate.dense.weight": wrong}, n_heads=4)


def test_every_position_sees_every_real_one_and_no_other():
    model = livelier(small_bert())
    tokens = sentences([8, 6])
    for t in range(8):
        changed = tokens.clone()
        changed[:, t] = torch.where(tokens[:, t] == PAD, PAD, 5 + (changed[:, t] + 1) % (VOCAB - 5))
        difference = (model(changed) - model(tokens)).abs().amax(-1)
        assert (difference[0] > 1e-6).all(), t
        assert (difference[1, :6] > 1e-6).all() == (t < 6), t


def test_a_mask_of_ones_own_is_obeyed_and_an_empty_row_is_finite():
    model = livelier(small_bert())
    tokens = sentences([8, 8])
    mask = torch.ones(2, 8, dtype=torch.bool)
    mask[0, 3] = mask[1] = False
    changed = tokens.clone()
    changed[0, 3] = 5 + (changed[0, 3] + 1) % (VOCAB - 5)
    seen = mask[0]
    torch.testing.assert_close(model(tokens, mask)[0, seen], model(changed, mask)[0, seen])
    assert model(tokens, mask).isfinite().all()
    with pytest.raises(ValueError, match="boolean"):
        model(tokens, mask.float())
    with pytest.raises(ValueError, match=r"\(2, 8\)"):
        model(tokens, mask[:, :7])


def test_input_that_does_not_fit_is_refused():
    model = small_bert()
    with pytest.raises(ValueError, match="learned for 0 to 13: cut the text"):
        model(sentences([WINDOW + 1]))
    with pytest.raises(ValueError, match="0 to 40"):
        model(torch.tensor([[VOCAB]]))
    with pytest.raises(ValueError, match=r"types.*0\.\.1"):
        model(torch.tensor([[5, 6]]), types=torch.tensor([[0, 2]]))


# The masking procedure


def many_tokens() -> torch.Tensor:
    return sentences([200] * 400, seed=3)


def test_shares_are_15_and_80_10_10():
    tokens = many_tokens()
    inputs, selected = mask_tokens(tokens, VOCAB, torch.Generator().manual_seed(0))
    ordinary = int((tokens >= 5).sum())
    n = int(selected.sum())
    assert n / ordinary == pytest.approx(0.15, abs=4 * math.sqrt(0.15 * 0.85 / ordinary))
    masked = (inputs == MASK) & selected
    kept = (inputs == tokens) & selected
    replaced = selected & ~masked & ~kept
    words = VOCAB - 5
    # one random word in `words` is the old one, so it counts as kept
    shares = {"masked": (masked, 0.8), "replaced": (replaced, 0.1 * (1 - 1 / words)), "kept": (kept, 0.1 + 0.1 / words)}
    for name, (where, share) in shares.items():
        assert where.sum().item() / n == pytest.approx(share, abs=4 * math.sqrt(share * (1 - share) / n)), name


def test_random_words_are_uniform_over_the_ordinary_ones():
    tokens = many_tokens()
    inputs, selected = mask_tokens(tokens, VOCAB, torch.Generator().manual_seed(0), rate=0.9)
    drawn = inputs[selected & (inputs != MASK) & (inputs != tokens)]
    counts = torch.bincount(drawn, minlength=VOCAB)
    assert counts[:5].sum() == 0
    expected = len(drawn) / (VOCAB - 5)
    chi_square = ((counts[5:] - expected) ** 2 / expected).sum()
    assert chi_square < 36 + 4 * math.sqrt(2 * 36)


def test_other_shares_replace_nothing_or_mask_all():
    tokens = torch.randint(5, VOCAB, (100, 100), generator=torch.Generator().manual_seed(1))
    for shares in (0.8, 0.0, 0.2), (1.0, 0.0, 0.0):
        inputs, selected = mask_tokens(tokens, VOCAB, torch.Generator().manual_seed(0), rate=0.9, shares=shares)
        assert ((inputs == MASK) | (inputs == tokens)).all(), "no word becomes another"
        assert (inputs[selected] == MASK).float().mean().item() == pytest.approx(shares[0], abs=0.02)


def test_special_tokens_are_never_selected_and_the_rest_is_untouched():
    tokens = many_tokens()
    tokens[:, 50] = UNK
    tokens[:, 60] = MASK
    tokens[:, 190:] = PAD
    inputs, selected = mask_tokens(tokens, VOCAB, torch.Generator().manual_seed(0), rate=1.0)
    assert torch.equal(selected, tokens >= 5)
    assert torch.equal(inputs[~selected], tokens[~selected])
    inputs, selected = mask_tokens(tokens, VOCAB, torch.Generator().manual_seed(0))
    assert torch.equal(inputs[~selected], tokens[~selected])
    assert not selected[tokens < 5].any()


def test_masking_depends_on_the_generator_alone():
    tokens = many_tokens()[:20]
    before = tokens.clone()
    torch.manual_seed(0)
    first = mask_tokens(tokens, VOCAB, torch.Generator().manual_seed(7))
    torch.manual_seed(1)
    again = mask_tokens(tokens, VOCAB, torch.Generator().manual_seed(7))
    other = mask_tokens(tokens, VOCAB, torch.Generator().manual_seed(8))
    assert torch.equal(tokens, before)
    assert torch.equal(first[0], again[0])
    assert torch.equal(first[1], again[1])
    assert not torch.equal(first[1], other[1])


def test_masking_refuses_what_makes_no_sense():
    tokens, generator = sentences([8]), torch.Generator()
    with pytest.raises(ValueError, match="rate"):
        mask_tokens(tokens, VOCAB, generator, rate=1.5)
    with pytest.raises(ValueError, match="ordinary"):
        mask_tokens(tokens, 5, generator)
    with pytest.raises(TypeError, match="Generator"):
        mask_tokens(tokens, VOCAB, 0)
    assert not mask_tokens(tokens, VOCAB, generator, rate=0)[1].any()
    for shares in (0.8, 0.1, 0.2), (1.2, -0.1, -0.1):
        with pytest.raises(ValueError, match="shares are"):
            mask_tokens(tokens, VOCAB, generator, shares=shares)


def test_the_loss_is_the_mean_over_selected_positions():
    generator = torch.Generator().manual_seed(0)
    logits = torch.randn(3, 7, VOCAB, generator=generator)
    tokens = torch.randint(5, VOCAB, (3, 7), generator=generator)
    selected = torch.rand(3, 7, generator=generator) < 0.4
    total, n = 0.0, 0
    for b in range(3):
        for t in range(7):
            if selected[b, t]:
                total -= math.log(math.exp(logits[b, t, tokens[b, t]]) / logits[b, t].exp().sum().item())
                n += 1
    assert 0 < n < 21
    assert masked_lm_loss(logits, tokens, selected).item() == pytest.approx(total / n, rel=1e-5)


def test_other_positions_have_no_part_in_the_loss():
    logits = torch.randn(2, 5, VOCAB, requires_grad=True)
    tokens = torch.randint(5, VOCAB, (2, 5))
    selected = torch.tensor([[0, 1, 0, 0, 1], [0, 0, 0, 0, 0]], dtype=torch.bool)
    masked_lm_loss(logits, tokens, selected).backward()
    assert torch.equal(logits.grad.abs().sum(-1) > 0, selected)


def test_with_nothing_selected_the_loss_is_zero_and_trains_nothing():
    logits = torch.randn(2, 5, VOCAB, requires_grad=True)
    nothing = torch.zeros(2, 5, dtype=torch.bool)
    loss = masked_lm_loss(logits, torch.full((2, 5), 5), nothing)
    loss.backward()
    assert loss.item() == 0
    assert (logits.grad == 0).all()


def test_logits_at_selected_positions_alone_are_the_same():
    model = MaskedLM(livelier(small_bert())).eval()
    tokens = sentences([WINDOW, 9])
    inputs, selected = mask_tokens(tokens, VOCAB, torch.Generator().manual_seed(0), rate=0.5)
    torch.testing.assert_close(model(inputs, at=selected), model(inputs)[selected])
    few = masked_lm_loss(model(inputs, at=selected), tokens, selected)
    torch.testing.assert_close(few, masked_lm_loss(model(inputs), tokens, selected))


# Heads


def test_the_output_of_the_masked_language_model_is_the_embedding():
    model = MaskedLM(small_bert())
    assert model.output.weight is model.bert.embedding.weight
    assert len({id(p) for p in model.parameters()}) == len(list(model.parameters()))


def test_heads_have_the_shapes_of_their_tasks():
    tokens = sentences([9, 6])
    assert BERTClassifier(small_bert(), 3)(tokens).shape == (2, 3)
    assert BERTTagger(small_bert(), 7)(tokens).shape == (2, 9, 7)
    classifier = BERTClassifier(livelier(small_bert()), 3).eval()
    torch.testing.assert_close(classifier(tokens)[1:], classifier(tokens[1:, :6]), atol=1e-5, rtol=1e-4)


def test_the_mean_is_over_the_tokens_of_the_row_and_needs_no_pooler():
    tokens, bert = sentences([9, 6, 1]), livelier(small_bert()).eval()
    classifier = BERTClassifier(bert, 3, pool="mean").eval()
    assert bert.pooler is None
    for row, length in zip(tokens, (9, 6, 1), strict=True):
        expected = classifier.output(bert(row[None, :length])[0].mean(0))
        torch.testing.assert_close(classifier(row[None])[0], expected, atol=1e-5, rtol=1e-4)
    with pytest.raises(ValueError, match='must be "first" or "mean"'):
        BERTClassifier(bert, 3, pool="last")


def test_fine_tuning_starts_from_the_weights_of_the_encoder():
    bert = small_bert()
    classifier = BERTClassifier(bert, 2)
    assert classifier.bert is bert
    F.cross_entropy(classifier(sentences([6, 6])), torch.tensor([0, 1])).backward()
    assert all(p.grad is not None and p.grad.abs().sum() > 0 for n, p in bert.named_parameters() if "bias" not in n)


def test_initialisation_and_silence(capsys):
    model = small_bert(d_model=64, vocab=500, window=100)
    for name, p in model.named_parameters():
        if p.ndim == 2 and "segment" not in name:
            assert p.std().item() == pytest.approx(0.02, rel=0.05), name
        elif name.endswith("bias"):
            assert (p == 0).all(), name
    assert capsys.readouterr() == ("", "")


@pytest.mark.slow
def test_old_names_and_heads_without_counterpart_are_understood(reference_lm):
    weights = {
        name.replace("LayerNorm.weight", "LayerNorm.gamma").replace("LayerNorm.bias", "LayerNorm.beta"): w
        for name, w in reference_lm.state_dict().items()
        if "decoder" not in name
    }
    weights |= {
        "bert.embeddings.position_ids": torch.arange(WINDOW)[None],
        "bert.pooler.dense.weight": torch.eye(16),
        "bert.pooler.dense.bias": torch.zeros(16),
        "cls.seq_relationship.weight": torch.zeros(2, 16),
    }
    tokens = sentences([8, 5])
    old = load_bert(weights, n_heads=4).eval()
    assert torch.equal(old(tokens), load_bert(reference_lm.state_dict(), n_heads=4).eval()(tokens))
    assert old.pooler is not None
