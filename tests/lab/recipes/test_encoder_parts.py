"""The pieces of the recipe that takes a published encoder apart."""

import numpy as np
import torch

from lmbook.bert import BERT
from lmbook.lab.pretrained import sentence_vectors
from lmbook.lab.recipes import published_encoder
from lmbook.lab.recipes.encoder_parts import System, mean_states, on_pairs, shuffled, word_states
from lmbook.lab.recipes.published_encoder import found_first

ROWS = [[2, 7, 8, 3], [2, 9, 3], [2, 11, 12, 13, 3], [2, 8, 7, 3]]


def small():
    torch.manual_seed(0)
    return BERT(20, 16, 8, 2, 2, dropout=0.0).eval()


def test_shuffled_weights_are_the_same_numbers_in_other_places():
    bert = small()
    before = {name: w.detach().clone() for name, w in bert.named_parameters()}
    one, again, other = shuffled(bert, 0), shuffled(bert, 0), shuffled(bert, 1)
    for name, w in one.named_parameters():
        assert torch.equal(w.flatten().sort().values, before[name].flatten().sort().values), name
    assert torch.equal(one.embedding.weight, again.embedding.weight)
    assert not torch.equal(one.embedding.weight, other.embedding.weight)
    assert not torch.equal(one.embedding.weight, before["embedding.weight"])
    assert all(torch.equal(w, before[name]) for name, w in bert.named_parameters()), "the model itself is left alone"


def test_mean_states_are_those_of_each_text_in_its_place():
    bert = small()
    found = mean_states(bert, ROWS, batch=1)
    assert found.shape == (3, 4, 8)
    np.testing.assert_allclose(found[-1], sentence_vectors(bert, ROWS).numpy(), atol=1e-6)
    assert not torch.allclose(found[0, 0], found[0, 1])
    assert torch.equal(found, mean_states(bert, ROWS))


def test_states_of_words_are_those_read_one_sentence_after_another():
    frames = {"a": (ROWS[0], [1, 2]), "b": (ROWS[2], [1, 3]), "c": (ROWS[3], [2])}
    system = System(small(), lambda words: frames[words[0]], list)
    texts = [["a"], ["b"], ["c"]]
    expected = published_encoder.word_states(system.bert, system.frame, texts)
    np.testing.assert_allclose(word_states(system, texts), expected, atol=1e-6)


def test_pairs_are_found_after_a_training_on_them():
    texts = [f"{a} {b}" for a in (5, 6, 7, 8) for b in (9, 10)]
    pairs = [(text, " ".join(reversed([str(int(x) + 6) for x in text.split()]))) for text in texts]
    numbers = lambda text: [2, *map(int, text.split()), 3]  # noqa: E731
    system = System(small(), lambda words: (words, []), numbers)
    start = system.bert.embedding.weight.detach().clone()

    def share(one):
        sides = (mean_states(one.bert, [numbers(pair[i]) for pair in pairs])[-1] for i in (0, 1))
        return found_first(*sides)["accuracy"]

    assert share(on_pairs(system, pairs, 0, 1e-2, steps=150)) == 1 > share(system)
    assert torch.equal(system.bert.embedding.weight, start)
