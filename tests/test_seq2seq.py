"""Encoder-decoders: what is read and what is not, the weights, first steps by hand, and what is learned is written."""

import math
from functools import partial

import pytest
import torch

from lmbook.attention import SCORES
from lmbook.rnn_models import RecurrentLM
from lmbook.seq2seq import AttentionSeq2Seq, RecurrentEncoder, Seq2Seq, SingleRNNTranslator
from lmbook.text import SPECIALS
from lmbook.transformer import TransformerEncoder

PAD, SOS, EOS = (SPECIALS.index(token) for token in ("<pad>", "<sos>", "<eos>"))
V_SOURCE, V_TARGET = 13, 11
LENGTHS = [6, 3, 1]


def encoder(**options):
    return RecurrentEncoder(V_SOURCE, **({"d_embed": 8, "hidden": 10} | options))


def seq2seq(reads=None, **options):
    torch.manual_seed(0)
    return Seq2Seq(encoder(**(reads or {})), V_TARGET, **({"d_embed": 8, "hidden": 10} | options))


def attentive(reads=None, **options):
    torch.manual_seed(0)
    return AttentionSeq2Seq(encoder(**(reads or {})), V_TARGET, **({"d_embed": 8, "hidden": 10} | options))


def hybrid(kind=AttentionSeq2Seq, reads=None, **options):
    torch.manual_seed(0)
    encoder = TransformerEncoder(V_SOURCE, 8, n_heads=2, **(reads or {}))
    return kind(encoder, V_TARGET, **({"d_embed": 8, "hidden": 10} | options))


def one_rnn(**options):
    torch.manual_seed(0)
    return SingleRNNTranslator(V_SOURCE, **({"d_embed": 8, "hidden": 10} | options))


TWO = {"bidirectional": True}
DEEP = {"n_layers": 3, "cell": "lstm"}
ATTENTIVE = {
    f"{score}, {way}": partial(attentive, attention=way, score=score)
    for score in SCORES
    for way in ("bahdanau", "luong")
} | {
    "additive, two directions": partial(attentive, TWO, d_a=5),
    "two directions, 3 layers, lstm": partial(attentive, TWO | DEEP, attention="luong", score="multiplicative", **DEEP),
    "hybrid": partial(hybrid, score="scaled"),
    "hybrid, luong, lstm": partial(hybrid, reads={"positions": "rotary"}, attention="luong", cell="lstm", n_layers=2),
}
FIXED = {
    "context first": seq2seq,
    "context every": partial(seq2seq, context="every"),
    "lstm, 3 layers": partial(seq2seq, DEEP, **DEEP),
    "two directions, every": partial(seq2seq, TWO, context="every"),
    "4 layers after an encoder of 2": partial(seq2seq, {"n_layers": 2}, n_layers=4),
    "1 layer after an encoder of 2, two directions": partial(seq2seq, TWO | {"n_layers": 2}),
    "lstm after gru": partial(seq2seq, cell="lstm"),
    "tied": partial(seq2seq, d_embed=10, tied=True),
    "transformer encoder, no attention": partial(hybrid, Seq2Seq, context="every"),
}
ONE_RNN = {"one rnn": one_rnn, "one rnn, gru, 2 layers": partial(one_rnn, cell="gru", n_layers=2)}
VARIANTS = ATTENTIVE | FIXED | ONE_RNN


def build(name, **more):
    return VARIANTS[name](**more)


@pytest.fixture(params=VARIANTS, ids=str)
def name(request):
    return request.param


def batch(seed=1, T=5):
    """source (3, 6), rows of 6, 3 and 1 tokens padded on the right; target_in (3, T), which starts with <sos>."""
    generator = torch.Generator().manual_seed(seed)
    source = torch.randint(5, V_SOURCE, (3, 6), generator=generator)
    for row, length in enumerate(LENGTHS):
        source[row, length:] = PAD
    target_in = torch.randint(5, V_TARGET, (3, T), generator=generator)
    target_in[:, 0] = SOS
    return source, target_in


# ---- what is read


def test_every_token_of_the_source_matters(name):
    model, (source, target_in) = build(name), batch()
    logits = model(source, target_in)
    for i in range(6):
        changed = source.clone()
        changed[0, i] = 5 + (changed[0, i] - 4) % 8
        assert not torch.equal(model(changed, target_in)[0], logits[0])
        assert torch.equal(model(changed, target_in)[1:], logits[1:])  # the other rows


def test_gradients_reach_every_parameter_of_the_encoder(name):
    model, (source, target_in) = build(name), batch()
    model(source, target_in).logsumexp(-1).sum().backward()
    parameters = [(n, p) for n, p in model.named_parameters() if n.startswith(("encoder", "bridge", "lm", "score"))]
    assert parameters
    for parameter, value in parameters:
        if "W_k.bias" in parameter:  # the same for all keys, so that softmax does not see it
            continue
        assert value.grad is not None, parameter
        assert value.grad.abs().max() > 0, parameter


# ---- attention


@pytest.mark.parametrize("name", ATTENTIVE)
def test_weights_are_a_distribution_over_the_source(name):
    model, (source, target_in) = build(name), batch()
    logits, weights = model(source, target_in, need_weights=True)
    assert torch.equal(logits, model(source, target_in))
    assert weights.shape == (3, 5, 6)
    assert torch.allclose(weights.sum(-1), torch.ones(3, 5), atol=1e-6)
    assert (weights >= 0).all()
    for row, length in enumerate(LENGTHS):
        assert (weights[row, :, length:] == 0).all()
    assert weights[0].std(dim=0).max() > 0  # they differ from step to step


@pytest.mark.parametrize("score", SCORES)
def test_scores_after_the_update_need_no_loop(score):
    """C = softmax(S H^T) H in one product, against a loop written out here."""
    model = attentive(attention="luong", score=score)
    source, target_in = batch()
    logits, weights = model(source, target_in, need_weights=True)
    mask = source != PAD
    H, final = model.encoder.recurrent(model.encoder.embedding(source), None, mask)
    S, _ = model.decoder(model.embedding(target_in), final)
    for b in range(3):
        for t in range(5):
            s, e = S[b, t], []
            for i in range(LENGTHS[b]):
                h = H[b, i]
                if score == "dot":
                    e.append(s @ h)
                elif score == "additive":
                    e.append(
                        model.score.v.weight[0] @ torch.tanh(model.score.W_h.weight @ h + model.score.W_s.weight @ s)
                    )
                else:
                    e.append(s @ (model.score.W.weight @ h) / (math.sqrt(10) if score == "scaled" else 1))
            alpha = torch.softmax(torch.stack(e), 0)
            c = sum(alpha[i] * H[b, i] for i in range(LENGTHS[b]))
            r = torch.tanh(model.W_r.weight @ torch.cat([s, c]))
            assert torch.allclose(weights[b, t, : LENGTHS[b]], alpha, atol=1e-6)
            assert torch.allclose(logits[b, t], model.output.weight @ r + model.output.bias, atol=1e-5)


def test_bahdanau_scores_the_state_before_the_update():
    """alpha_1 depends on s_0 alone, not on y_0; Luong's alpha_1 depends on both."""
    source, target_in = batch()
    other = target_in.clone()
    other[:, 0] = EOS
    same = {}
    for way in ("bahdanau", "luong"):
        model = attentive(attention=way)
        first, second = (model(source, y, need_weights=True)[1] for y in (target_in, other))
        same[way] = torch.equal(first[:, 0], second[:, 0])
        assert not torch.equal(first[0, 1], second[0, 1])
    assert same == {"bahdanau": True, "luong": False}


def test_a_transformer_encoder_without_positions_does_not_see_the_order():
    source, target_in = batch()
    turned = source.clone()
    turned[0] = turned[0].flip(0)
    for positions, blind in [("none", True), ("sinusoidal", False)]:
        model = hybrid(reads={"positions": positions})
        assert torch.allclose(model(source, target_in), model(turned, target_in), atol=1e-5) == blind


# ---- parts


@pytest.mark.parametrize("make", [seq2seq, partial(attentive, attention="bahdanau")])
def test_a_table_that_is_only_read_starts_with_variance_1_and_one_that_also_writes_within_a_tenth(make):
    read, shared = (make(tied=tied, d_embed=64, hidden=64).embedding.weight for tied in (False, True))
    assert abs(float(read.detach().std()) - 1) < 0.1
    assert float(shared.detach().abs().max()) <= 0.1


def test_a_decoder_has_one_layer_unless_more_are_asked_for():
    encoder = RecurrentEncoder(V_SOURCE, 8, 8)
    assert len(Seq2Seq(encoder, V_TARGET, 8, 8).start(batch()[0])["s"]) == 1


def test_the_decoder_starts_at_the_last_state_of_the_encoder():
    source, _ = batch()
    model = seq2seq({"n_layers": 2, "cell": "lstm"}, n_layers=2, cell="lstm")
    network = model.encoder.recurrent.to_torch()
    for row, length in enumerate(LENGTHS):
        _, (h, c) = network(model.encoder.embedding(source[row : row + 1, :length]))
        for layer, state in enumerate(model.start(source)["s"]):
            assert torch.allclose(state[0][row], h[layer, 0], atol=1e-6)
            assert torch.allclose(state[1][row], c[layer, 0], atol=1e-6)


def test_the_first_step_of_bahdanau_by_hand():
    source, target_in = batch()
    model = attentive({"n_layers": 2}, n_layers=2)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.mul_(5)  # near 0 tanh is linear, and softmax then hardly sees which state is scored
    mask = source != PAD
    H, s_0 = model.encoder(source, mask)
    e = model.score(s_0[-1][0].unsqueeze(1), model.score.keys(H)).masked_fill(
        ~mask.unsqueeze(1), -math.inf
    )  # the top layer's state
    c = (torch.softmax(e, -1) @ H).squeeze(1)
    s_1, _ = model.decoder.step(torch.cat([model.embedding(target_in[:, 0]), c], -1), s_0)
    expected = model.output(torch.tanh(model.W_r(torch.cat([s_1, c], -1))))
    logits, weights = model(source, target_in, need_weights=True)
    assert torch.allclose(weights[:, :1], torch.softmax(e, -1), atol=1e-6)
    assert torch.allclose(logits[:, 0], expected, atol=1e-5)


def test_the_context_of_every_step_is_the_top_layers_last_state():
    source, target_in = batch()
    model = seq2seq({"n_layers": 2}, context="every", n_layers=2)
    H, s_0 = model.encoder(source, source != PAD)
    c = torch.stack([H[row, length - 1] for row, length in enumerate(LENGTHS)])
    assert torch.equal(model.start(source)["c"], c)
    s_1, _ = model.decoder.step(torch.cat([model.embedding(target_in[:, 0]), c], -1), s_0)
    expected = model.output(torch.tanh(model.W_r(torch.cat([s_1, c], -1))))
    assert torch.allclose(model(source, target_in)[:, 0], expected, atol=1e-6)


def test_one_rnn_is_a_language_model_of_both_texts():
    """Its logits are those of a RecurrentLM over source and target as one text, at the target's positions."""
    model = one_rnn(n_layers=2)
    assert isinstance(model.lm, RecurrentLM)
    source, target_in = batch()
    expected = model.lm(torch.cat([source[:1], target_in[:1]], dim=1))[:, 6:]
    assert torch.allclose(model(source[:1], target_in[:1]), expected, atol=1e-6)


# ---- errors


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: seq2seq(context="last"), "context is 'last'"),
        (lambda: attentive(attention="during"), "attention is 'during'"),
        (lambda: attentive(score="cosine"), "score is 'cosine'"),
        (lambda: attentive(TWO, score="dot"), "s has 10 and h has 20"),
        (lambda: seq2seq(tied=True), r"d_embed \(8\)"),
        (lambda: seq2seq().start(torch.tensor([5, 6])), r"\(2,\)"),
        (lambda: seq2seq().start(torch.tensor([[5, 6]]), torch.ones(1, 2)), "float32"),
        (lambda: seq2seq().start(torch.tensor([[5, V_SOURCE]])), "0 to 12"),
        (lambda: seq2seq()(batch()[0], torch.full((3, 1), V_TARGET)), "0 to 10"),
        (lambda: one_rnn().start(torch.zeros(2, 0, dtype=torch.long)), r"\(2, 0\)"),
    ],
)
def test_errors_name_the_input(call, message):
    with pytest.raises(ValueError, match=message):
        call()
