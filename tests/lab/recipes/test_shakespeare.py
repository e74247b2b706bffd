"""The character recipes: windows do not see each other, and both losses agree."""

import math
from itertools import pairwise

import numpy as np
import pytest
import torch

from lmbook import data
from lmbook.gpt import GPT
from lmbook.lab import checkpoints
from lmbook.lab.recipes import shakespeare
from lmbook.lab.recipes.tasks import next_token_nll, nll_by_place
from lmbook.lab.train import evaluate
from lmbook.text import PAD_ID, CharTokenizer


@pytest.fixture
def ids():
    return np.random.default_rng(0).integers(5, 30, size=150)


@pytest.fixture
def model():
    torch.manual_seed(0)
    return GPT(30, 16, 8, n_heads=2, n_layers=1, positions="rotary")


def test_a_window_does_not_see_what_is_before_it(ids, model):
    changed = ids.copy()
    changed[:16] = 7  # all that window 0 reads; its last target is the first input of window 1
    nll = [[next_token_nll(model, (i[1:], t[1:]))[0] for i, t in data.windows(x, 16)] for x in (ids, changed)]
    assert nll[0] == nll[1]


def test_by_place_is_the_loss_cut_by_place(ids, model):
    places, lost = nll_by_place(model, data.windows(ids, 16)), shakespeare.cost_of_special_ids(model, ids)
    nll = evaluate(model, data.windows(ids, 16), next_token_nll)
    counts = [10] * 5 + [9] * 11  # 149 targets: nine full windows and one of five
    assert sum(n * x for n, x in zip(counts, places, strict=True)) / 149 == pytest.approx(nll, rel=1e-5)
    with torch.no_grad():  # without the special ids the loss is lower by what they take
        without = [
            -torch.log_softmax(model(i)[..., 5:], -1).gather(2, (t - 5).clamp(min=0)[..., None])[..., 0][t != PAD_ID]
            for i, t in data.windows(ids, 16)
        ]
    assert nll - torch.cat(without).mean().item() == pytest.approx(lost, rel=1e-3)
    assert lost == pytest.approx(math.log(30 / 25), rel=0.05), "untrained, the five take a sixth"


def test_the_shipped_alphabet_is_that_of_the_recipe_and_the_shipped_model_reads_it():
    corpus = data.load("tinyshakespeare")
    model, tokenizer, _ = checkpoints.load("shakespeare", window=70)
    assert model.window == 70
    assert len(tokenizer.vocabulary) == model.vocab
    if corpus.real:
        assert tokenizer.vocabulary.tokens == CharTokenizer.train(corpus["train"]).vocabulary.tokens


def test_the_scaling_line_has_six_widths_and_six_shares():
    assert len(set(shakespeare.WIDTHS)) >= 6
    assert len(set(shakespeare.SHARES)) >= 6
    assert max(shakespeare.SHARES) == 1


def test_a_share_comes_from_all_over_the_text_and_holds_the_smaller_ones():
    text = np.arange(50_000)
    assert np.array_equal(shakespeare.interleaved(text, 1.0, seed=0), text)
    shares = [shakespeare.interleaved(text, share, seed=3) for share in (0.1, 0.3, 0.5)]
    assert [len(share) for share in shares] == [5_000, 15_000, 25_000]
    for smaller, larger in pairwise(shares):
        assert set(smaller) < set(larger)
        assert (np.diff(larger) > 0).all(), "in the order of the text"
    thirds = np.histogram(shares[1], bins=3, range=(0, len(text)))[0]
    assert thirds.min() > 0.15 * len(shares[1]), "not one end of it"
    assert not np.array_equal(shares[0], shakespeare.interleaved(text, 0.1, seed=4))
