"""A model without a part is the whole model, and lacks that part."""

import pytest
import torch

import lmbook
from lmbook.data.batching import pad
from lmbook.lab.recipes.ablation import PARTS, without, written
from lmbook.text import SOS_ID

SOURCE = torch.tensor([[5, 6, 7, 8, 9], [8, 7, 6, 5, 0]])
INPUTS = torch.tensor([[SOS_ID, 5, 6, 7], [SOS_ID, 9, 8, 7]])


def made(part):
    lmbook.seed(3)
    return without(part, (12, 12)).eval()


@pytest.mark.parametrize("part", PARTS)
def test_what_is_left_begins_like_the_whole(part):
    whole, left = made("nothing").state_dict(), made(part).state_dict()
    gone = 0
    for name, weight in whole.items():
        same = left.get(name, left.get(name.replace(".attention.", ".attention.attention.")))
        gone += same is None or not torch.equal(same, weight)
    expected = {"LayerNorms": 2 * (4 + 6 + 2), "feed-forward networks": 4, "cross-attention": 2}
    expected |= {"encoder's self-attention": 2, "decoder's self-attention": 2}  # biases are 0 before and after
    assert gone == expected.get(part, 0)
    assert torch.equal(made(part)(SOURCE, INPUTS), made("nothing")(SOURCE, INPUTS)) == (part == "nothing")


def test_a_silenced_sublayer_adds_nothing_and_learns_nothing():
    model = made("feed-forward networks")
    for layer in (*model.encoder.layers, *model.decoder.layers):
        assert not layer.ffn(torch.randn(2, 3, 32)).any()
    model(SOURCE, INPUTS).sum().backward()
    assert all(layer.ffn.W_2.weight.grad is None for layer in model.encoder.layers)


def test_without_cross_attention_the_source_is_not_seen():
    for part, seen in {"cross-attention": False, "nothing": True}.items():
        model = made(part)
        assert torch.equal(model(SOURCE, INPUTS), model(SOURCE.flip(0), INPUTS)) != seen


def test_without_positions_the_order_of_the_source_is_not_seen():
    turned = SOURCE[:1].flip(1)
    for part, seen in {"positions": False, "nothing": True}.items():
        model = made(part)
        assert torch.allclose(model(SOURCE[:1], INPUTS[:1]), model(turned, INPUTS[:1]), atol=1e-5) != seen


def test_without_the_mask_the_decoder_looks_ahead():
    changed = INPUTS.clone()
    changed[:, 3] = 11
    for part, sees in {"causal mask": True, "nothing": False}.items():
        model = made(part)
        assert torch.equal(model(SOURCE, INPUTS)[:, :3], model(SOURCE, changed)[:, :3]) != sees


def test_without_residuals_a_sublayer_replaces_what_it_reads():
    layer = made("residuals").encoder.layers[0]
    x = torch.randn(2, 5, 32)
    h = layer.pre_1(x)
    assert torch.allclose(layer(x)[0], layer.ffn(layer.pre_2(layer.attention(h, h, h)[0])))


def test_writing_agrees_with_the_cached_steps_of_the_whole_model():
    model = made("nothing")
    state, token, found = model.start(SOURCE[:1]), torch.tensor([SOS_ID]), []
    for _ in range(5):
        logits, state = model.step(token, state)
        token = logits.argmax(-1)
        found.append(token.item())
    wanted = found[: [*found, 3].index(3)]
    assert written(model, pad([[5, 6, 7, 8, 9]]), 5) == [wanted]
