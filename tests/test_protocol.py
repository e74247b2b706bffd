"""start, step, run: all models that write have them in one order, and say so where they are called in another.

The type checker reads this file too: the annotations of the two tables say that each model fits its protocol.
"""

from collections.abc import Callable
from typing import Any

import pytest
import torch

from lmbook.attention import MultiHeadAttention
from lmbook.feedforward import FeedForwardLM
from lmbook.gpt import GPT
from lmbook.protocol import LanguageModel, Translator
from lmbook.rnn import Recurrent
from lmbook.rnn_models import RecurrentLM
from lmbook.seq2seq import AttentionSeq2Seq, RecurrentEncoder, Seq2Seq, SingleRNNTranslator
from lmbook.transformer import Transformer

V, B = 9, 2
LANGUAGE_MODELS: dict[str, Callable[[], LanguageModel]] = {
    "feedforward": lambda: FeedForwardLM(V, 4, 5),
    "recurrent": lambda: RecurrentLM(V, 4, 5),
    "gpt": lambda: GPT(V, 8, 8, 2, 1),
}
TRANSLATORS: dict[str, Callable[[], Translator]] = {
    "seq2seq": lambda: Seq2Seq(RecurrentEncoder(V, 4, 5), V, 4, 5),
    "attention": lambda: AttentionSeq2Seq(RecurrentEncoder(V, 4, 5), V, 4, 5),
    "one network": lambda: SingleRNNTranslator(V, 4, 5),
    "transformer": lambda: Transformer(V, V, 8, 2, 8, 1),
}
LAYERS: dict[str, tuple[Callable[[], Recurrent | MultiHeadAttention], torch.Tensor]] = {
    "recurrent layers": (lambda: Recurrent(4, 5), torch.zeros(B, 4)),
    "attention": (lambda: MultiHeadAttention(8, 2), torch.zeros(B, 1, 8)),
}
SOURCE, TOKEN = torch.full((B, 3), 5), torch.full((B,), 5)
ORDER = "it comes first and the state second"


@pytest.mark.parametrize("name", LANGUAGE_MODELS)
def test_a_language_model_starts_steps_and_runs(name: str) -> None:
    model = LANGUAGE_MODELS[name]()
    assert isinstance(model, LanguageModel)
    assert model.step(TOKEN, model.start(B))[0].shape == (B, V)
    assert model.run(SOURCE, model.start(B))[0].shape == (B, 3, V)
    for method, tokens in ((model.step, TOKEN), (model.run, SOURCE)):
        with pytest.raises(TypeError, match=ORDER):
            method(model.start(B), tokens)


@pytest.mark.parametrize("name", TRANSLATORS)
def test_a_translator_starts_and_steps(name: str) -> None:
    model = TRANSLATORS[name]()
    assert not isinstance(model, LanguageModel)
    state = model.start(SOURCE)
    assert model.step(TOKEN, state)[0].shape == (B, V)
    with pytest.raises(TypeError, match=ORDER):
        model.step(state, TOKEN)


@pytest.mark.parametrize("name", LAYERS)
def test_a_layer_takes_its_input_first(name: str) -> None:
    make, x = LAYERS[name]
    layer: Any = make()
    layer.step(x, layer.start(B))
    with pytest.raises(TypeError, match=ORDER):
        layer.step(layer.start(B), x)
