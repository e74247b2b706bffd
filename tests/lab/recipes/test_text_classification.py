"""Scores of classifiers counted by hand; near copies are found."""

import numpy as np
import pytest
import torch

from lmbook.lab.recipes.text_classification import near_copies, probabilities, score_labels
from lmbook.rnn_models import Classifier


def test_scores_counted_by_hand():
    scores = score_labels(np.array([1, 1, 0, 0, 1]), np.array([1, 0, 0, 1, 1]))
    assert scores["accuracy"] == pytest.approx(3 / 5)
    assert scores["precision"] == pytest.approx(2 / 3)
    assert scores["recall"] == pytest.approx(2 / 3)
    assert scores["f1"] == pytest.approx(2 / 3)
    assert scores["confusion"] == [[1, 1], [1, 2]]
    assert scores["right"] == "10101"


def test_nothing_found_is_an_f1_of_zero():
    assert score_labels(np.zeros(3), np.array([0, 1, 1]))["f1"] == 0


def test_probabilities_come_in_order_whatever_the_lengths():
    torch.manual_seed(0)
    model = Classifier(20, 2, 8, 8, pool="mean")
    ids = [torch.randint(5, 20, (n,)).tolist() for n in (3, 9, 1, 5)]
    alone = [torch.softmax(model(torch.tensor([row])), -1)[0, 1].item() for row in ids]
    assert probabilities(model, ids) == pytest.approx(alone, abs=1e-6)


def test_near_copies_are_found_whatever_their_numbers():
    known = [["win", "500", "pounds", "call", "0800", "now"], ["see", "you", "at", "home"]]
    texts = [
        ["win", "900", "pounds", "call", "1234", "now"],
        ["see", "you", "there", "at", "noon"],
        [],
        ["see", "you", "at", "home"],
    ]
    assert near_copies(texts, known).tolist() == [True, False, False, True]
    assert near_copies(texts, known, share=0.5).tolist() == [True, True, False, True]
