"""Recall across a gap: the questions are what they say; accuracy tells a reader that knows from one that guesses."""

import pytest
import torch
from torch import nn

from lmbook.lab.recipes import recall_across_gap
from lmbook.text import SPECIALS

FIRST = len(SPECIALS)


@pytest.mark.parametrize("length", [1, 7])
def test_a_question_has_the_symbol_first_the_gap_and_the_question_last(length):
    tokens, symbol = recall_across_gap.questions(torch.Generator().manual_seed(0), 500, length)
    assert tokens.shape == (500, length + 2)
    assert torch.equal(tokens[:, :1], symbol)
    assert set(symbol.flatten().tolist()) == set(range(FIRST, FIRST + recall_across_gap.SYMBOLS))
    others = tokens[:, 1:-1]
    assert others.min() >= FIRST + recall_across_gap.SYMBOLS
    assert others.max() < FIRST + 2 * recall_across_gap.SYMBOLS
    assert (tokens[:, -1] == FIRST + 2 * recall_across_gap.SYMBOLS).all()


class Reader(nn.Module):
    """Knows the first symbol, or always says the same."""

    def __init__(self, knows: bool):
        super().__init__()
        self.knows, self.nothing = knows, nn.Parameter(torch.zeros(1))

    def features(self, tokens):
        said = tokens[:, :1] if self.knows else torch.full_like(tokens[:, :1], FIRST)
        return nn.functional.one_hot(said.expand(-1, tokens.shape[1]), 30).float() + self.nothing, None

    def output(self, h):
        return h


def test_accuracy_is_the_share_of_right_answers():
    assert recall_across_gap.accuracy(Reader(True), 5) == 1
    assert recall_across_gap.accuracy(Reader(False), 5) == pytest.approx(1 / recall_across_gap.SYMBOLS, abs=0.05)


def test_the_loss_is_that_of_the_answer_alone():
    torch.manual_seed(0)
    model = recall_across_gap.reader("lstm")
    tokens, symbol = recall_across_gap.questions(torch.Generator().manual_seed(0), 10, 4)
    nll, n = recall_across_gap.loss(model, (tokens, symbol))
    wanted = nn.functional.cross_entropy(model(tokens)[:, -1], symbol[:, 0], reduction="sum")
    assert n == 10
    assert nll.item() == pytest.approx(wanted.item(), rel=1e-5)


def test_the_orthogonal_start_differs_in_the_recurrent_matrix_alone():
    models = []
    for name in ("rnn", "rnn, orthogonal"):
        torch.manual_seed(0)
        models.append(dict(recall_across_gap.started(name).named_parameters()))
    plain, orthogonal = models
    changed = [name for name in plain if not torch.equal(plain[name], orthogonal[name])]
    assert [name.rpartition(".")[2] for name in changed] == ["W_hh"]
    W = orthogonal[changed[0]]
    torch.testing.assert_close(W.T @ W, torch.eye(len(W)))


def test_validation_asks_across_every_gap_of_the_training_once():
    gaps = [tokens.shape[1] - 2 for tokens, _ in recall_across_gap.validation(rows=2)]
    assert gaps == list(range(1, recall_across_gap.LONGEST + 1))
