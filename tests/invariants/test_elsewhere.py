"""Models, samplers and training loops on a device that is not the CPU, with no 64-bit floats: as on an Apple GPU."""

from functools import partial

import numpy as np
import pytest
import torch
from torch import Tensor

from invariants.elsewhere import Elsewhere, elsewhere
from invariants.models import CASES, FIRST, VOCAB, names, of_each_class
from lmbook import bert, decode, losses, word2vec
from lmbook.lab import train
from lmbook.networks import tree_map

WRITERS = names("lm", "translator")
SAMPLERS = {
    "greedy": decode.greedy,
    "beam": decode.beam,
    "top k": partial(decode.sample, top_k=3),
    "top p": partial(decode.sample, top_p=0.8, temperature=0.7),
}


def moved(tree):
    """Everything in it, there."""
    return tree_map(lambda tensor: tensor.to(Elsewhere.place), tree)


def back(tree):
    return tree_map(lambda tensor: tensor.cpu(), tree)


def single(case, there=False):
    """The model in 32-bit floats and its batch."""
    model, batch = case.build().float(), case.batch()
    batch = tree_map(lambda tensor: tensor.float() if tensor.is_floating_point() else tensor, batch)
    return (model.to(Elsewhere.place), moved(batch)) if there else (model, batch)


def loss(model, batch, *carried) -> tuple[Tensor, Tensor]:
    inputs, targets = batch
    return losses.token_nll(model(*inputs), targets)


def passed(case, there=False):
    """The loss, and its gradient for all weights."""
    model, batch = single(case, there)
    nll, n = loss(model, batch)
    nll.backward()
    return back((nll.detach(), n, *(p.grad for p in model.parameters() if p.grad is not None)))


@pytest.mark.parametrize("name", CASES)
def test_a_model_gives_there_what_it_gives_here(name):
    wanted = passed(CASES[name])
    with elsewhere():
        found = passed(CASES[name], there=True)
    torch.testing.assert_close(found, wanted)


def written(case, sampler, there=False):
    model, (inputs, _) = single(case, there)
    source = len(inputs[0]) if case.kind == "lm" else inputs[0]
    torch.manual_seed(0)
    return sampler(model.requires_grad_(False), source, 5)


@of_each_class(WRITERS)
def test_what_is_written_there_is_what_is_written_here(name, monkeypatch):
    monkeypatch.setattr(decode, "NO_DOUBLES", {"meta"})
    for sampler in SAMPLERS.values():
        wanted = written(CASES[name], sampler)
        with elsewhere():
            found = written(CASES[name], sampler, there=True)
        assert found[0] == wanted[0]
        assert found[1] == pytest.approx(wanted[1], abs=1e-5)


def trained(case, stateful=False, there=False):
    model, batch = single(case, there)
    optimizer = torch.optim.Adam(model.parameters(), 0.01)
    with_state = lambda model, batch, state: (*loss(model, batch), state)  # noqa: E731
    options = {
        "clip": 1.0,
        "steps": 3,
        "stateful": stateful,
        "validate": partial(train.evaluate, batches=[back(batch)], loss=loss),
    }
    log = train.fit(model, lambda epoch: [back(batch)], with_state if stateful else loss, optimizer, **options)
    return [entry[key] for entry in log for key in ("loss", "norm", "validation") if key in entry]


@pytest.mark.parametrize(
    "name", ["lstm", "gpt, rotary", "transformer, experts", "seq2seq, additive", "bert", "patches"]
)
def test_training_there_has_the_curve_of_training_here(name):
    wanted = trained(CASES[name])
    with elsewhere():
        found = trained(CASES[name], there=True)
    assert len(found) > 6
    assert found == pytest.approx(wanted, rel=1e-4)


def word_vectors(place="cpu"):
    torch.manual_seed(0)
    return list(word2vec.train(word2vec.SkipGram(VOCAB, 4).to(place), np.arange(FIRST, VOCAB).repeat(9), 3, batch=8))


def sampled_and_masked(place="cpu"):
    rng = torch.Generator().manual_seed(0)
    ids = torch.randint(FIRST, VOCAB, (4, 6), generator=rng).to(place)
    x, W = (torch.randn(shape, generator=rng).to(place) for shape in ((24, 5), (VOCAB, 5)))
    buckets = losses.class_buckets(VOCAB, (8,), (0, 0), FIRST)
    masked, selected = bert.mask_tokens(ids, VOCAB, rng, rate=0.5)
    logits = (x @ W.T).view(4, 6, VOCAB)
    found = losses.sampled_nll(x, ids.flatten(), W, None, buckets), losses.smoothed_loss(logits, ids).sum()
    return [*map(float, found), float(bert.masked_lm_loss(logits, ids, selected)), masked.tolist()]


@pytest.mark.parametrize("made", [word_vectors, sampled_and_masked])
def test_word_vectors_and_losses_are_there_what_they_are_here(made):
    with elsewhere() as place:
        found = made(place)
    assert torch.utils._pytree.tree_leaves(found) == pytest.approx(torch.utils._pytree.tree_leaves(made()), rel=1e-4)


def test_tensors_of_two_devices_and_64_bits_are_noticed():
    with elsewhere():
        model, (inputs, _) = single(CASES["gpt"], there=True)
        with pytest.raises(RuntimeError, match="two devices"):
            model(back(inputs[0]))
        with pytest.raises(TypeError, match="64-bit"):
            model(*inputs).double()
