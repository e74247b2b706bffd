"""The formula against torch's own count of a real forward and backward pass."""

import pytest
import torch
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils.flop_counter import FlopCounterMode

from lmbook import flops
from lmbook.seq2seq import Seq2Seq
from lmbook.transformer import Transformer

VOCAB, B, N, T = 40, 3, 7, 9
MODELS = {
    "Transformer": lambda: Transformer(VOCAB, VOCAB + 1, 16, 4, 32, 2, dropout=0.0),
    "fixed vector": lambda: Seq2Seq(VOCAB, VOCAB, 12, 16, bidirectional=True, context="every", fast=True),
    "two layers": lambda: Seq2Seq(VOCAB, VOCAB, 12, 16, n_layers=2, fast=True),
    "LSTM": lambda: Seq2Seq(VOCAB, VOCAB, 12, 16, cell="lstm", bidirectional=True),
    "additive": lambda: Seq2Seq(VOCAB, VOCAB, 12, 16, bidirectional=True, attention="additive", d_a=10, fast=True),
    "dot": lambda: Seq2Seq(VOCAB, VOCAB, 12, 16, attention="dot", query="after", fast=True),
    "multiplicative": lambda: Seq2Seq(VOCAB, VOCAB, 12, 16, attention="multiplicative", query="after", fast=True),
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
