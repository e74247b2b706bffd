"""What the comparisons hold equal: parameters of GRU and GPT, and the size of a product at the start, at every width."""

import pytest
import torch

from lmbook.gpt import GPT
from lmbook.lab.recipes import shakespeare_compared
from lmbook.lab.run import records
from lmbook.networks import n_parameters
from lmbook.rnn_models import RecurrentLM


def test_the_gru_is_as_large_as_the_gpt_of_the_recipe():
    (gpt, *_), vocab = records("shakespeare"), 70
    gru = RecurrentLM(vocab, 64, 472, 1, "gru")
    assert n_parameters(gru) == pytest.approx(gpt["parts"]["model"]["parameters"], rel=0.01)


@pytest.mark.parametrize("d_model", [16, 64, 256])
def test_a_fitted_start_keeps_the_size_of_products_whatever_the_width(d_model):
    torch.manual_seed(0)
    plain = GPT(70, 16, d_model, n_heads=4, n_layers=2, positions="rotary")
    W = plain.layers[0].attention.W_q.weight
    before = (torch.randn(2000, d_model) @ W.T).std().item()
    shakespeare_compared.fitted(plain, d_model)
    after = (torch.randn(2000, d_model) @ W.T).std().item()
    assert after == pytest.approx(0.02 * 768**0.5, rel=0.15), "as in GPT-2 at its own width"
    assert before == pytest.approx(0.02 * d_model**0.5, rel=0.15), "which without it depends on the width"
