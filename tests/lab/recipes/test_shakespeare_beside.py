"""What the comparison holds equal: the GRU has the parameters of the recorded GPT."""

import pytest

from lmbook.lab.recipes.shakespeare_beside import HIDDEN
from lmbook.lab.run import records
from lmbook.networks import n_parameters
from lmbook.rnn_models import RecurrentLM


def test_the_gru_is_as_large_as_the_gpt_of_the_recipe():
    (gpt, *_), vocab = records("shakespeare"), 70
    assert n_parameters(RecurrentLM(vocab, 64, HIDDEN, 1, "gru")) == pytest.approx(
        gpt["parts"]["model"]["parameters"], rel=0.01
    )
