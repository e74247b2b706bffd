"""What the comparison holds equal: the GRU has the parameters of the recorded GPT, whose start fits its width."""

import pytest
import torch

from lmbook.gpt import GPT
from lmbook.lab.recipes.shakespeare_beside import HIDDEN, fitted
from lmbook.lab.run import records
from lmbook.networks import n_parameters
from lmbook.rnn_models import RecurrentLM


def test_the_gru_is_as_large_as_the_gpt_of_the_recipe():
    (gpt, *_), vocab = records("shakespeare"), 70
    assert n_parameters(RecurrentLM(vocab, 64, HIDDEN, 1, "gru")) == pytest.approx(
        gpt["parts"]["model"]["parameters"], rel=0.01
    )


def test_a_fitted_start_is_as_large_as_that_of_gpt_2_for_its_width():
    torch.manual_seed(0)
    model = GPT(70, 16, 128, n_heads=4, n_layers=1)
    before = {name: weight.detach().clone() for name, weight in model.named_parameters()}
    for name, weight in fitted(model).named_parameters():
        factor = 6**0.5 if weight.dim() > 1 else 1.0
        assert torch.allclose(weight, factor * before[name])
