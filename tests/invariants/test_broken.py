"""The checks can fail: a few broken models, and the check that catches each. benchmarks/mutants.py makes many more."""

import pytest
import torch
from torch import Tensor, nn

from lmbook import decode
from lmbook.gpt import GPT
from lmbook.rnn_models import Classifier, RecurrentLM

from . import checks
from .models import CASES, FIRST, VOCAB, WINDOW, Case
from .test_models import one_thread, unequal  # noqa: F401 (a fixture)


class ReadsItsTarget(RecurrentLM):
    """Position t sees token t + 1."""

    def features(self, tokens, state=None, mask=None):
        return super().features(tokens.roll(-1, 1), state, mask)


class ReadsPadding(Classifier):
    """The mean is taken over padding too."""

    def forward(self, tokens, mask=None):
        return super().forward(tokens, torch.ones_like(tokens, dtype=torch.bool))


class StartsAnew(GPT):
    """Every step takes its token for the first of the text: its position is 0."""

    def _embedded(self, tokens, position=0):
        return super()._embedded(tokens)


class Scaled(nn.Module):
    """logits = scale (E w), where the scale is not saved unless it is `persistent`."""

    def __init__(self, persistent: bool):
        super().__init__()
        self.E = nn.Embedding(VOCAB, VOCAB)
        self.register_buffer("scale", torch.ones(VOCAB), persistent)

    def forward(self, tokens: Tensor) -> Tensor:
        return self.scale * self.E(tokens)


def lm(model) -> Case:
    return Case("lm", lambda V, dropout: model(V))


def test_causality():
    case = lm(lambda V: ReadsItsTarget(V, 8, 8))
    with pytest.raises(AssertionError):
        checks.causality(case.lively(), case.batch()[0])


def test_padding():
    case = Case("classifier", lambda V, dropout: ReadsPadding(V, V, 8, 8, pool="mean"))
    with pytest.raises(AssertionError):
        checks.padding(case.lively(), unequal("classifier, mean"), masked=True)


def test_step_by_step():
    case = lm(lambda V: StartsAnew(V, WINDOW, 8, 2, 2))
    with pytest.raises(AssertionError, match="step 1"):
        checks.step_by_step(case.lively(), case.batch()[0])


def test_beam_is_exhaustive():
    """A beam whose scores are sums, however long the sequence."""

    def unnormalised(model, source, length, width, alpha, **options):
        return decode.beam_hypotheses(model, source, length, width, 0.0, **options)

    with pytest.raises(AssertionError):
        checks.beam_is_exhaustive(CASES["gru"].lively(), 2, unnormalised)


@pytest.mark.parametrize("persistent", [True, False])
def test_saved(persistent, tmp_path):
    def build(seed: int) -> nn.Module:
        torch.manual_seed(seed)
        return Scaled(persistent)

    def check() -> None:
        checks.saved(build, (torch.tensor([[FIRST, FIRST + 1]]),), tmp_path / "model.safetensors")

    if persistent:
        check()
    else:
        with pytest.raises(AssertionError, match="other logits"):
            check()
