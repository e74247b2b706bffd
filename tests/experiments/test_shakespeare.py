"""The character recipes: which characters are scored, which are trained on, and that both losses agree."""

import math

import numpy as np
import pytest
import torch

from lmbook import checkpoints, data
from lmbook.experiments import shakespeare
from lmbook.experiments.tasks import next_token_nll
from lmbook.gpt import GPT
from lmbook.text import PAD_ID, CharTokenizer
from lmbook.train import evaluate


@pytest.fixture
def ids():
    return np.random.default_rng(0).integers(5, 30, size=150)


@pytest.fixture
def model():
    torch.manual_seed(0)
    return GPT(30, 16, 8, n_heads=2, n_layers=1, positions="rotary")


@pytest.mark.parametrize("B", [1, 3, 64])
@pytest.mark.parametrize("length", [150, 145, 146, 17, 5])
def test_every_character_but_the_first_is_a_target_once_and_in_order(ids, length, B):
    found = []
    for inputs, targets in data.windows(ids[:length], 16, B):
        assert inputs.shape == targets.shape
        found += targets[targets != PAD_ID].tolist()
        assert torch.equal(inputs[:, 1:][targets[:, 1:] != PAD_ID], targets[:, :-1][targets[:, 1:] != PAD_ID])
    assert found == ids[1:length].tolist()


def test_a_window_does_not_see_what_is_before_it(ids, model):
    changed = ids.copy()
    changed[:16] = 7  # all that window 0 reads; its last target is the first input of window 1
    nll = [[next_token_nll(model, (i[1:], t[1:]))[0] for i, t in data.windows(x, 16)] for x in (ids, changed)]
    assert nll[0] == nll[1]


def test_an_epoch_is_pieces_of_the_text_and_repeats_no_target(ids):
    seen = []
    for inputs, targets in data.random_windows(np.arange(1000), 16, 4, [0, 0]):
        assert inputs.shape == (4, 16)
        assert torch.equal(inputs + 1, targets)
        seen += targets.flatten().tolist()
    assert len(seen) == len(set(seen)) > 900


def test_epochs_differ_and_come_back(ids):
    first, again, other = (list(data.random_windows(ids, 16, 2, [0, epoch])) for epoch in (0, 0, 1))
    assert all(torch.equal(a[0], b[0]) for a, b in zip(first, again, strict=True))
    assert not torch.equal(first[0][0], other[0][0])


def test_by_place_is_the_loss_cut_by_place(ids, model):
    places, lost = shakespeare.by_place(model, ids)
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


def test_the_scaling_line_has_six_runs_each_way():
    assert len({d_model for d_model, share in shakespeare.GRID if share == 1}) >= 6
    assert len({share for d_model, share in shakespeare.GRID if d_model == 64}) >= 6
