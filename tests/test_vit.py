"""Images as sequences: round trips, the strided convolution, orders by hand, and a classifier that learns."""

import pytest
import torch
from torch import nn

from lmbook.data.digits import ORDERS, PixelCodec, digits, from_levels, pixel_order, to_levels
from lmbook.decode import sample
from lmbook.gpt import GPT
from lmbook.vit import PatchClassifier, PatchEmbedding, from_patches, to_patches


@pytest.fixture(scope="module")
def data():
    return digits()


@pytest.mark.slow
def test_the_digits_are_whole_greys_and_labels(data):
    images, labels = data
    assert images.shape == (1797, 8, 8)
    assert images.dtype == torch.float32
    assert (images.min(), images.max()) == (0, 16)
    assert torch.equal(images, images.round())
    assert labels[:12].tolist() == [*range(10), 0, 1]


@pytest.mark.parametrize("levels", [2, 3, 4, 16, 17, 256])
def test_level_numbers_survive_the_way_to_grey_and_back(levels):
    numbers = torch.arange(levels)
    greys = from_levels(numbers, levels)
    assert torch.equal(to_levels(greys, levels), numbers)
    assert (greys[0], greys[-1]) == (0, 16)


@pytest.mark.parametrize("levels", [2, 4, 17])
def test_quantising_moves_a_grey_by_half_a_step_at_most(levels):
    greys = torch.linspace(0, 16, 1001)
    moved = (from_levels(to_levels(greys, levels), levels) - greys).abs().max()
    assert moved <= 16 / (levels - 1) / 2 + 1e-5
    assert moved > 16 / (levels - 1) / 2 * 0.9  # no finer grid than was asked for


@pytest.mark.parametrize("wrong", [-1.0, 16.5, float("nan")])
def test_a_grey_out_of_range_is_refused(wrong):
    with pytest.raises(ValueError, match=r"outside 0\.\.16"):
        to_levels(torch.tensor([0.0, wrong]), 4)


def test_one_level_is_refused():
    with pytest.raises(ValueError, match="at least 2"):
        to_levels(torch.zeros(3), 1)


def test_orders_by_hand():
    assert pixel_order("raster", 2, 3).tolist() == [0, 1, 2, 3, 4, 5]
    assert pixel_order("columns", 2, 3).tolist() == [0, 3, 1, 4, 2, 5]
    assert pixel_order("serpentine", 3, 3).tolist() == [0, 1, 2, 5, 4, 3, 6, 7, 8]
    assert pixel_order("spiral", 3, 4).tolist() == [0, 1, 2, 3, 7, 11, 10, 9, 8, 4, 5, 6]


@pytest.mark.parametrize("name", ORDERS)
@pytest.mark.parametrize(("height", "width"), [(8, 8), (3, 5), (5, 2), (1, 4), (4, 1)])
def test_an_order_visits_every_pixel_once(name, height, width):
    assert sorted(pixel_order(name, height, width).tolist()) == list(range(height * width))


@pytest.mark.parametrize(("name", "touch"), [("serpentine", True), ("spiral", True), ("raster", False)])
def test_neighbours_in_a_path_touch(name, touch):
    order = pixel_order(name, 8, 8)
    steps = (order // 8).diff().abs() + (order % 8).diff().abs()
    assert bool((steps == 1).all()) == touch


def test_an_unknown_order_is_refused():
    with pytest.raises(ValueError, match="raster, columns, serpentine, spiral"):
        pixel_order("zigzag", 8, 8)


@pytest.mark.slow
@pytest.mark.parametrize("order", ORDERS)
def test_digits_come_back_from_their_tokens(data, order):
    images, labels = data
    codec = PixelCodec(order=order)
    ids = codec.encode(images, labels)
    assert ids.shape == (1797, 65)
    back, names = codec.decode(ids)
    assert torch.equal(back, images)
    assert torch.equal(names, labels)


@pytest.mark.slow
def test_pixels_stand_in_the_order_that_was_asked_for(data):
    images, labels = data[0][:5], data[1][:5]
    for order in ORDERS:
        codec = PixelCodec(order=order)
        ids = codec.encode(images, labels)
        for b in range(5):
            assert ids[b, 0] == 5 + 17 + labels[b]
            for t, place in enumerate(pixel_order(order, 8, 8).tolist()):
                assert ids[b, 1 + t] == 5 + images[b, place // 8, place % 8]


@pytest.mark.slow
def test_few_levels_lose_what_they_must_and_no_more(data):
    codec = PixelCodec(levels=4)
    ids = codec.encode(*data)
    back, _ = codec.decode(ids)
    assert torch.equal(codec.encode(back, data[1]), ids)
    assert 0 < (back - data[0]).abs().max() <= 16 / 6 + 1e-5


def test_ids_of_the_codec_are_apart():
    codec = PixelCodec(levels=4, classes=3)
    assert codec.vocab == 5 + 4 + 3
    assert codec.forbid == [0, 1, 2, 3, 4, 9, 10, 11]
    assert codec.class_tokens(torch.tensor([0, 2])).tolist() == [9, 11]


@pytest.mark.slow
def test_what_the_codec_cannot_read_is_named(data):
    codec = PixelCodec()
    images, labels = data[0][:2], data[1][:2]
    with pytest.raises(ValueError, match=r"\(B, 8, 8\)"):
        codec.encode(images[:, :7], labels)
    with pytest.raises(ValueError, match="each of the 2 images"):
        codec.encode(images, labels[:1])
    with pytest.raises(ValueError, match=r"0\.\.9"):
        codec.encode(images, labels + 10)
    ids = codec.encode(images, labels)
    with pytest.raises(ValueError, match=r"\(B, 65\)"):
        codec.decode(ids[:, :-1])
    with pytest.raises(ValueError, match="no class"):
        codec.decode(torch.cat([ids[:, 1:], ids[:, :1]], dim=1))
    with pytest.raises(ValueError, match="no grey level"):
        codec.decode(torch.cat([ids[:, :1], ids[:, :1], ids[:, 2:]], dim=1))


@pytest.mark.slow
def test_a_gpt_reads_pixels_and_takes_the_class_into_account(data):
    torch.manual_seed(0)
    codec = PixelCodec(levels=4)
    model = GPT(codec.vocab, codec.window, d_model=16, n_heads=2, n_layers=1)
    ids = codec.encode(data[0][:2], torch.tensor([3, 4]))
    ids[1, 1:] = ids[0, 1:]
    logits = model(ids[:, :-1])
    assert logits.shape == (2, 64, codec.vocab)
    assert not torch.allclose(logits[0], logits[1], atol=1e-6)


@pytest.mark.slow
def test_a_pixel_gpt_draws_digits_and_completes_them(data):
    """Untrained it draws noise, but always an image, with ids 3 (<eos>) and those of classes never among the pixels."""
    torch.manual_seed(0)
    codec = PixelCodec(levels=4, order="spiral")
    model = GPT(codec.vocab, codec.window, d_model=16, n_heads=2, n_layers=1)
    ids = codec.encode(data[0][:3], data[1][:3])
    for known in (1, 33):  # the class alone, or with half of the pixels
        options = {"prompt": ids[:, :known], "eos": None, "forbid": codec.forbid}
        drawn, _ = sample(model, 3, 65 - known, generator=torch.Generator().manual_seed(0), **options)
        images, labels = codec.decode(torch.cat([ids[:, :known], torch.tensor(drawn)], 1))
        assert torch.equal(labels, data[1][:3])
        seen = codec.order[: known - 1]
        back, _ = codec.decode(ids)
        assert torch.equal(images.flatten(1)[:, seen], back.flatten(1)[:, seen])
        assert images.unique().numel() == 4


@pytest.mark.parametrize("size", [1, 2, 4])
def test_patches_by_an_explicit_loop_and_back(size):
    images = torch.randn(3, 4, 8)
    patches = to_patches(images, size)
    n = 0
    for i in range(0, 4, size):
        for j in range(0, 8, size):
            assert torch.equal(patches[:, n], images[:, i : i + size, j : j + size].reshape(3, -1))
            n += 1
    assert patches.shape[1] == n
    assert torch.equal(from_patches(patches, 4, 8), images)


def test_patches_that_do_not_fit_are_refused():
    with pytest.raises(ValueError, match="divisor of both sides"):
        to_patches(torch.zeros(1, 8, 8), 3)
    with pytest.raises(ValueError, match="divisor of both sides"):
        PatchClassifier(8, 6, 4, 10, d_model=8, n_heads=2, n_layers=1)
    with pytest.raises(ValueError, match="do not make"):
        from_patches(torch.zeros(1, 3, 4), 4, 4)
    with pytest.raises(ValueError, match="height, width"):
        to_patches(torch.zeros(8, 8), 2)


def test_patch_embedding_is_a_strided_convolution():
    torch.manual_seed(0)
    embed, conv = PatchEmbedding(2, 5), nn.Conv2d(1, 5, kernel_size=2, stride=2)
    with torch.no_grad():
        conv.weight.copy_(embed.W.weight.view(5, 1, 2, 2))
        conv.bias.copy_(embed.W.bias)
    images = torch.randn(3, 8, 6)
    ours, theirs = embed(images), conv(images[:, None]).flatten(2).transpose(1, 2)
    torch.testing.assert_close(ours, theirs)
    ours.square().sum().backward()
    theirs.square().sum().backward()
    torch.testing.assert_close(embed.W.weight.grad, conv.weight.grad.view(5, 4))


def small_classifier(**options) -> PatchClassifier:
    torch.manual_seed(0)
    return PatchClassifier(8, 8, 2, 10, d_model=24, n_heads=3, n_layers=2, **options)


@pytest.mark.slow
def test_where_a_patch_stands_matters(data):
    model = small_classifier()
    turned = torch.rot90(data[0][:3], 2, dims=(1, 2))  # every patch elsewhere
    shuffled = from_patches(to_patches(data[0][:3], 2).flip(1), 8, 8)
    for other in (turned, shuffled):
        assert not torch.allclose(model(data[0][:3]), model(other), atol=1e-6)
    with torch.no_grad():
        model.position.weight.zero_()  # without positions a bag of patches is left
    torch.testing.assert_close(model(data[0][:3]), model(shuffled), atol=1e-5, rtol=1e-4)


def test_everything_learned_starts_with_the_deviation_of_gpt_2():
    model = PatchClassifier(8, 8, 2, 10, d_model=512, n_heads=4, n_layers=1)
    for parameter in (model.class_vector, model.position.weight):
        assert abs(float(parameter.detach().std()) - 0.02) < 0.003


@pytest.mark.slow
def test_weights_are_returned_and_sum_to_one(data):
    logits, weights = small_classifier()(data[0][:3], need_weights=True)
    assert logits.shape == (3, 10)
    assert [w.shape for w in weights] == [(3, 3, 17, 17)] * 2
    torch.testing.assert_close(weights[0].sum(-1), torch.ones(3, 3, 17))


def test_an_image_of_another_size_is_refused():
    with pytest.raises(ValueError, match=r"\(B, 8, 8\)"):
        small_classifier()(torch.zeros(2, 8, 9))
