"""The formula against torch's own count of a real forward and backward pass."""

import pytest
import torch
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils.flop_counter import FlopCounterMode

from lmbook.lab import flops
from lmbook.seq2seq import AttentionSeq2Seq, RecurrentEncoder, Seq2Seq
from lmbook.transformer import Transformer, TransformerEncoder

VOCAB, B, N, T = 40, 3, 7, 9


def fixed(bidirectional: bool = True, n_layers: int = 1, cell: str = "gru", **options) -> Seq2Seq:
    encoder = RecurrentEncoder(VOCAB, 12, 16, n_layers, cell, bidirectional)
    return Seq2Seq(encoder, VOCAB, 12, 16, n_layers, cell, **options)


def attentive(bidirectional: bool = False, **options) -> AttentionSeq2Seq:
    return AttentionSeq2Seq(RecurrentEncoder(VOCAB, 12, 16, bidirectional=bidirectional), VOCAB, 12, 16, **options)


MODELS = {
    "Transformer": lambda: Transformer(VOCAB, VOCAB + 1, 16, 4, 32, 2, dropout=0.0),
    "fixed vector": lambda: fixed(context="every"),
    "two layers": lambda: fixed(False, n_layers=2),
    "LSTM": lambda: fixed(cell="lstm").double(),  # torch does not count its kernel of single precision
    "additive": lambda: attentive(True, d_a=10),
    "dot": lambda: attentive(attention="luong", score="dot"),
    "multiplicative": lambda: attentive(attention="luong", score="multiplicative"),
    "hybrid": lambda: AttentionSeq2Seq(TransformerEncoder(VOCAB, 12, n_layers=2), VOCAB, 12, 16),
}


def counted(model, backward: bool) -> int:
    source, target = (torch.randint(5, VOCAB, size) for size in ((B, N), (B, T)))
    with sdpa_kernel(SDPBackend.MATH), FlopCounterMode(display=False) as counter:  # no count of the fused kernel
        out = model(source, target)
        if backward:
            out.sum().backward()
    return counter.get_total_flops()


@pytest.mark.parametrize("name", MODELS)
def test_the_forward_pass_is_counted_exactly(name):
    model = MODELS[name]()
    assert counted(model, backward=False) == B * flops.forward(model, N, T)


@pytest.mark.parametrize("name", MODELS)
def test_a_training_step_costs_three_times_as_much_but_for_the_first_states(name):
    model = MODELS[name]()
    found, formula = counted(model, backward=True), flops.training(model, B, N, T)
    assert 0.96 * formula <= found <= formula
    if name == "Transformer":
        assert found == formula


def test_what_depends_on_the_source_alone_is_counted_once():
    model = MODELS["additive"]()
    shorter = flops.forward(model, N, T) - flops.forward(model, N, T - 1)
    assert shorter < flops.forward(model, N, 1)


def test_other_models_are_refused():
    with pytest.raises(TypeError, match="not Linear"):
        flops.forward(torch.nn.Linear(2, 2), 3, 3)
