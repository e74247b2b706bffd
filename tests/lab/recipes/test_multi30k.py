"""One rule of dropout for all rungs on Multi30k."""

import pytest
from torch import nn

from lmbook.attention import MultiHeadAttention
from lmbook.lab.recipes.multi30k import RUNGS, hybrid


def on_attention(model):
    return [part.dropout for part in model.modules() if isinstance(part, MultiHeadAttention)]


@pytest.mark.parametrize("name", RUNGS)
def test_no_rung_drops_weights_of_attention_and_all_drop_as_much_elsewhere(name):
    model = RUNGS[name].model(50)
    assert not any(on_attention(model))
    told = [getattr(part, "dropout", 0.0) for part in model.modules() if not isinstance(part, MultiHeadAttention)]
    told += [part.p for part in model.modules() if isinstance(part, nn.Dropout)]
    assert {p for p in told if isinstance(p, float) and p} == {0.3}


def test_without_the_rule_the_hybrid_would_drop_them():
    assert set(on_attention(hybrid(50))) == {0.3}
