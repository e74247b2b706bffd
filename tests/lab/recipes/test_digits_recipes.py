"""The digit recipes: parts that share no image, shifts, the histogram against a plain count, and Bayes' rule."""

import math

import numpy as np
import pytest
import torch

from lmbook.data.digits import PixelCodec
from lmbook.gpt import GPT
from lmbook.lab.recipes import RECIPES, Run, digits
from lmbook.lab.recipes.tasks import next_token_nll
from lmbook.lab.train import evaluate


@pytest.fixture(scope="module")
def split(tmp_path_factory):
    return digits.parts(Run(RECIPES["digits-pixels"], 0, tmp_path_factory.mktemp("run")))


def test_the_parts_are_all_digits_and_share_none(split):
    sizes = {part: len(images) for part, (images, _) in split.items()}
    assert sum(sizes.values()) == 1797
    assert 0.17 < sizes["test"] / 1797 < 0.23
    assert 0.08 < sizes["valid"] / 1797 < 0.12
    seen = [{image.numpy().tobytes() for image in images} for images, _ in split.values()]
    assert len(set.union(*seen)) == sum(map(len, seen))
    for _, labels in split.values():
        counts = torch.bincount(labels, minlength=10) / len(labels)
        assert 0.04 < counts.min() < counts.max() < 0.16


def test_without_a_run_the_parts_are_the_same(split):
    for name, part in digits.parts().items():
        assert all(torch.equal(a, b) for a, b in zip(part, split[name], strict=True))


def test_shifts_move_what_is_there(split):
    images = split["train"][0][:4]
    moved = digits.shifted(images, np.array([[0, 0], [1, 0], [0, -1], [-1, 1]]))
    assert torch.equal(moved[0], images[0])
    assert torch.equal(moved[1][1:], images[1][:-1])
    assert torch.equal(moved[2][:, :-1], images[2][:, 1:])
    assert torch.equal(moved[3][:-1, 1:], images[3][1:, :-1])
    assert not moved[1][0].any()
    assert not moved[2][:, -1].any()
    assert not moved[3][-1].any()


def test_an_epoch_has_every_image_once(split):
    batches = list(digits.shuffled(split["valid"], 50, [0, 0]))
    for i, whole in enumerate(split["valid"]):
        seen = torch.cat([batch[i] for batch in batches])
        assert torch.equal(*(x.flatten(1).sum(1).sort()[0] if i == 0 else x.sort()[0] for x in (seen, whole)))
    again = list(digits.shuffled(split["valid"], 50, [0, 1], shift=1))
    assert not torch.equal(again[0][1], batches[0][1])


@pytest.mark.parametrize("by_class", [False, True])
def test_the_histogram_counts(split, by_class):
    train, test = (tuple(x[:60] for x in split[part]) for part in ("train", "test"))
    bits = 0.0
    for image, label in zip(*test, strict=True):
        rows = train[0][train[1] == label] if by_class else train[0]
        for place in range(64):
            same = (rows.flatten(1)[:, place] == image.flatten()[place]).sum().item()
            bits -= math.log2((same + 0.1) / (len(rows) + 1.7))
    assert digits.histogram_bits(train, test, by_class) == pytest.approx(bits / (60 * 64), rel=1e-5)


def test_pixel_nll_and_bayes_are_the_model(split):
    torch.manual_seed(0)
    codec = PixelCodec()
    model = GPT(codec.vocab, codec.window, 8, n_heads=2, n_layers=1)
    torch.nn.init.normal_(model.embedding.weight)  # so that classes matter
    ids = codec.encode(*(x[:5] for x in split["test"]))
    nll = digits.pixel_nll(model, ids)
    assert nll.shape == (5, 64)
    assert nll.mean().item() == pytest.approx(evaluate(model, [(ids[:, :-1], ids[:, 1:])], next_token_nll), rel=1e-5)
    best = []
    for row in ids:
        asked = row.repeat(10, 1)
        asked[:, 0] = codec.first_class + torch.arange(10)
        best.append(min(range(10), key=lambda c, asked=asked: digits.pixel_nll(model, asked[c : c + 1]).sum().item()))
    accuracy, counts = digits.bayes(model, codec, ids)
    labels = split["test"][1][:5].tolist()
    assert accuracy == pytest.approx(sum(a == b for a, b in zip(labels, best, strict=True)) / 5)
    assert all(counts[a][b] for a, b in zip(labels, best, strict=True))
    assert sum(map(sum, counts)) == 5
