"""What each tagger reads and when its tags are due; a new output layer learns from states and leaves them alone."""

import numpy as np
import pytest
import torch

from lmbook.lab.recipes import tagging_directions as directions
from lmbook.lab.recipes.tasks import NO_LABEL
from lmbook.rnn_models import Tagger
from lmbook.text import EOS_ID

ROWS = [[5, 6, 7], [8]], [[0, 1, 2], [2]]


@pytest.mark.parametrize("k", [1, 2])
def test_a_late_tag_is_due_when_k_more_words_were_read(k):
    ids, labels = directions.seen(f"late {k}", ROWS)
    for row, due, (words, tags) in zip(ids, labels, zip(*ROWS, strict=True), strict=True):
        assert len(row) == len(due) == len(words) + k
        assert row[: len(words)] == words
        assert set(row[len(words) :]) == {EOS_ID}
        assert [due[t + k] for t in range(len(words))] == tags
        assert due[:k] == [NO_LABEL] * k


def test_from_the_right_words_and_tags_turn_round_together():
    ids, labels = directions.seen("right", ROWS)
    assert (ids, labels) == ([[7, 6, 5], [8]], [[2, 1, 0], [2]])
    for system in ("left", "both", "both, two layers"):
        assert directions.seen(system, ROWS) == ROWS


def test_only_places_with_a_tag_count():
    logits = [torch.eye(3)[[0, 0, 1, 2]], torch.eye(3)[[1, 1]]]
    labels = [[NO_LABEL, 0, 1, 0], [NO_LABEL, 1]]
    assert directions.accuracy(logits, labels) == pytest.approx(3 / 4)


def test_the_states_are_those_that_the_output_layer_reads():
    torch.manual_seed(0)
    model = Tagger(20, 3, 8, 6, dropout=0.5).eval()
    for row, h in zip(ROWS[0], directions.states(model, ROWS[0]), strict=True):
        assert h.shape == (len(row), 12)
        torch.testing.assert_close(model.output(h), model(torch.tensor([row]))[0])


def test_a_new_output_layer_learns_from_the_states_and_leaves_them_alone():
    class Run:
        quick = False

    rng = np.random.default_rng(0)
    features = [torch.tensor(rng.normal(size=(30, 2)), dtype=torch.float32) for _ in range(3)]
    labels = [(h[:, 0] > 0).long().tolist() for h in features]
    torch.manual_seed(0)
    layer, before = torch.nn.Linear(2, 2), [h.clone() for h in features]
    learned = directions.trained_output(Run(), layer, features, labels)
    assert directions.accuracy([learned(h).detach() for h in features], labels) > 0.95
    assert all(torch.equal(a, b) for a, b in zip(before, features, strict=True))
