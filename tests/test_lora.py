import copy

import pytest
import torch
from torch import nn

from lmbook.lora import LoRA, add_lora, merge
from lmbook.modern import ModernGPT
from lmbook.networks import n_parameters


def tuned(r=3, alpha=None):
    torch.manual_seed(0)
    model = ModernGPT(20, 12, 16, 2, 2)
    add_lora(model, r, alpha)
    for part in model.modules():
        if isinstance(part, LoRA):
            nn.init.normal_(part.B)
    return model


def test_at_the_start_nothing_changes_and_only_the_thin_matrices_learn():
    torch.manual_seed(0)
    model, tokens = ModernGPT(20, 12, 16, 2, 2), torch.randint(0, 20, (3, 9))
    before = model(tokens)
    matrices = [w.shape for name, w in model.named_parameters() if "W_" in name]
    add_lora(model, 3)
    assert torch.equal(model(tokens), before)
    assert n_parameters(model) == sum(3 * (d_out + d_in) for d_out, d_in in matrices)
    model(tokens).sum().backward()
    learned = {name.split(".")[-1] for name, w in model.named_parameters() if w.grad is not None}
    assert learned == {"A", "B"}


@pytest.mark.parametrize("alpha", [None, 6.0])
def test_merged_it_computes_the_same_in_its_old_form(alpha):
    model, tokens = tuned(3, alpha), torch.randint(0, 20, (3, 9))
    names, expected = [name for name, _ in ModernGPT(20, 12, 16, 2, 2).named_parameters()], model(tokens)
    merge(model)
    assert torch.allclose(model(tokens), expected, atol=1e-4)
    assert [name for name, _ in model.named_parameters()] == names
    assert all(w.requires_grad for w in model.parameters())


def test_the_change_of_a_matrix_has_the_rank_that_was_asked_for():
    layer = nn.Linear(9, 7)
    before, bias = copy.deepcopy(layer.weight.detach()), layer.bias.detach().clone()
    lora = LoRA(layer, 2, alpha=4)
    nn.init.normal_(lora.B)
    x = torch.randn(5, 9)
    by_hand = x @ (before + 2 * lora.B @ lora.A).T + bias
    assert torch.allclose(lora(x), by_hand, atol=1e-5)
    assert torch.linalg.matrix_rank(lora.merged().weight - before) == 2


def test_a_rank_that_cannot_be_is_named():
    with pytest.raises(ValueError, match="rank 8 is not between 1 and 7"):
        LoRA(nn.Linear(9, 7), 8)
