"""Scores of taggers counted by hand, hidden words, and the sum of two embeddings as one table."""

from collections import Counter

import pytest
import torch

from lmbook.lab.recipes.tagging import SumEmbedding, hide, hiding, hiding_loss, predict, score_entities, score_tags
from lmbook.lab.recipes.tasks import NO_LABEL, label_nll
from lmbook.lab.word_shapes import WordForms
from lmbook.rnn_models import Tagger

TAGS = ["D", "N", "V"]
GOLD = [(["the", "cat", "sat"], ["D", "N", "V"]), (["the", "yak"], ["D", "N"])]


def test_tags_counted_by_hand():
    words = Counter({"the": 200, "cat": 1, "sat": 3})
    scores = score_tags([["D", "N", "N"], ["D", "V"]], GOLD, words, TAGS)
    assert scores["accuracy"] == pytest.approx(3 / 5)
    assert (scores["tokens"], scores["unknown"]) == (5, 1)
    assert scores["accuracy unknown"] == 0
    assert scores["accuracy known"] == pytest.approx(3 / 4)
    assert scores["confusion"] == [[2, 0, 0], [0, 1, 1], [0, 1, 0]]
    assert scores["f1 by tag"] == [1, pytest.approx(1 / 2), 0]
    assert scores["right"] == [2, 1]
    assert scores["by count"] == [[0, 1, 0], [1, 1, 1], [3, 1, 0], [10, 0, None], [100, 2, 1], [1000, 0, None]]


def test_entities_counted_by_hand():
    gold = [(["in", "New", "Ulm", "Bob"], ["O", "B-place", "I-place", "B-person"])]
    words = Counter({"in": 5, "New": 2, "Bob": 1})
    tags = ["O", "B-place", "I-place", "B-person", "I-person"]
    scores = score_entities([["O", "B-place", "O", "B-person"]], gold, words, tags)
    assert (scores["precision"], scores["recall"], scores["f1"]) == (0.5, 0.5, 0.5)
    assert scores["types"]["person"]["f1"] == 1
    assert scores["types"]["place"]["f1"] == 0
    assert (scores["recall known"], scores["recall unknown"], scores["entities"]) == (1, 0, 2)


@pytest.fixture
def forms():
    return WordForms.build(["the"] * 8 + ["cat"] * 2 + ["rug"], min_count=2)


def test_the_rarer_a_word_the_more_often_it_is_hidden(forms):
    own, chance = hiding(forms, Counter({"the": 8, "cat": 2, "rug": 1}))
    the, cat = forms.encode(["the", "cat"]).tolist()
    assert chance[the].item() == pytest.approx(0.25 / 8.25)
    assert chance[cat].item() == pytest.approx(0.25 / 2.25)
    assert chance.count_nonzero() == 2, "classes and special tokens are never hidden"
    torch.manual_seed(0)
    tokens = torch.full((40_000,), cat)
    hidden = hide(tokens, own, chance)
    assert set(hidden.tolist()) == {cat, own[cat].item()}
    assert (hidden != cat).float().mean().item() == pytest.approx(1 / 9, abs=0.01)


def test_two_embeddings_become_one_table(forms):
    torch.manual_seed(0)
    own = torch.from_numpy(forms.class_ids())
    both = SumEmbedding(7, own)
    tokens = torch.randint(0, len(forms), (4, 9))
    assert torch.equal(both.added_up()(tokens), both(tokens))
    cat, rug = forms.encode(["cat", "rug"]).tolist()
    assert torch.allclose(both(torch.tensor(cat)), both.weight[cat] + both.weight[own[cat]])
    assert torch.equal(both(torch.tensor(rug)), both.weight[rug]), "a class has no class of its own"
    assert list(both.state_dict()) == ["weight"], "so that the weights of a plain table fit"


def test_predictions_come_in_order_whatever_the_lengths():
    torch.manual_seed(0)
    model = Tagger(20, 3, 8, 8)
    ids = [torch.randint(5, 20, (n,)).tolist() for n in (3, 9, 1, 5, 9, 2)]
    alone = [[TAGS[k] for k in model(torch.tensor([row])).argmax(-1)[0]] for row in ids]
    assert predict(model, ids, TAGS) == alone


def test_the_training_reads_hidden_words_and_counts_every_label(forms):
    torch.manual_seed(0)
    model, words = Tagger(len(forms), 3, 8, 8), Counter({"the": 8, "cat": 2, "rug": 1})
    tokens = torch.stack([torch.from_numpy(forms.encode(["the", "cat"] * 20))] * 20)
    labels = torch.zeros_like(tokens)
    labels[:, 30:] = NO_LABEL
    torch.manual_seed(1)
    nll, n = hiding_loss(forms, words)(model, (tokens, labels))
    torch.manual_seed(1)
    wanted, _ = label_nll(model, (hide(tokens, *hiding(forms, words)), labels))
    assert n == 600
    assert torch.equal(nll, wanted)
    assert not torch.equal(nll, label_nll(model, (tokens, labels))[0])
