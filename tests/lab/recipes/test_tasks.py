"""What experiments share: targets and labels stay where they belong, losses are plain sums, every length is drawn."""

import pytest
import torch
from torch import nn

from lmbook.feedforward import FeedForwardLM
from lmbook.lab.recipes import tasks
from lmbook.lab.recipes.tasks import NO_LABEL, texts
from lmbook.lab.train import evaluate
from lmbook.rnn_models import Classifier, RecurrentLM, Tagger
from lmbook.text import EOS_ID, SOS_ID

NAMES = [[5, 6, 7], [6], [8, 5], [7, 7, 7, 5, 6]]


def test_every_letter_and_one_end_a_name_are_predicted():
    found = []
    for inputs, targets in texts(NAMES, 3):
        for row, wanted in zip(inputs.tolist(), targets.tolist(), strict=True):
            n = wanted.index(EOS_ID) + 1
            assert row[:n] == [SOS_ID, *wanted[: n - 1]]
            assert set(wanted[n:]) <= {0}
            found.append(wanted[: n - 1])
    assert sorted(found) == sorted(NAMES)


def test_labels_of_tokens_stay_beside_them():
    labels = [[10 * i for i in row] for row in NAMES]
    for tokens, own in tasks.labelled(NAMES, labels, 2, seed=0):
        assert torch.equal(own, torch.where(tokens == 0, NO_LABEL, 10 * tokens))


def test_labels_of_texts_stay_beside_them():
    for tokens, own in tasks.labelled(NAMES, [sum(row) for row in NAMES], 3, seed=0):
        assert torch.equal(own, tokens.sum(1))


@pytest.mark.parametrize("kind", [Tagger, Classifier])
def test_outputs_come_in_order_whatever_the_lengths(kind):
    torch.manual_seed(0)
    model = kind(20, 3, 8, 8).eval()
    for found, row in zip(tasks.outputs(model, NAMES), NAMES, strict=True):
        torch.testing.assert_close(found, model(torch.tensor([row]))[0])


def test_losses_are_sums_over_targets_and_labels():
    torch.manual_seed(0)
    model = FeedForwardLM(10, 4, 6, window=2)
    ((inputs, targets),) = texts(NAMES, 4)
    nll, n = tasks.next_token_nll(model, (inputs, targets))
    log_p = torch.log_softmax(model(inputs), -1)
    wanted = -sum(log_p[b, t, targets[b, t]] for b, t in targets.nonzero().tolist())
    assert n == sum(len(name) + 1 for name in NAMES)
    assert nll.item() == pytest.approx(wanted.item(), rel=1e-5)
    assert torch.equal(tasks.label_nll(model, (inputs, targets.where(targets != 0, NO_LABEL)))[0], nll)


def test_by_place_is_the_loss_cut_by_place():
    torch.manual_seed(0)
    model = FeedForwardLM(10, 4, 6, window=2)
    places = tasks.nll_by_place(model, texts(NAMES, 2))
    counts = [4, 4, 3, 2, 1, 1]  # characters and ends at each place
    nll = evaluate(model, texts(NAMES, 2), tasks.next_token_nll)
    assert sum(n * x for n, x in zip(counts, places, strict=True)) / sum(counts) == pytest.approx(nll, rel=1e-6)


def test_what_can_never_occur_leaves_its_share_to_the_others():
    model, batch = FeedForwardLM(10, 4, 6, window=2), next(texts(NAMES, 4))
    for parameter in model.parameters():
        nn.init.zeros_(parameter)
    nll, n = tasks.next_token_nll(model, batch, never=(0, 2, 4))
    assert (nll / n).exp().item() == pytest.approx(10 - 3)


def test_a_stream_in_windows_is_the_stream_in_one_piece():
    torch.manual_seed(0)
    model, ids = RecurrentLM(10, 4, 6, 1, "gru"), torch.randint(5, 10, (2, 13))
    whole, n, _ = tasks.stream_nll(model, (ids[:, :-1], ids[:, 1:]), None)
    first, n1, state = tasks.stream_nll(model, (ids[:, :5], ids[:, 1:6]), None)
    second, n2, _ = tasks.stream_nll(model, (ids[:, 5:-1], ids[:, 6:]), state)
    assert n == n1 + n2 == 24
    torch.testing.assert_close(first + second, whole)


def test_each_batch_has_one_length_and_all_are_drawn():
    batches = tasks.random_lengths(lambda generator, rows, N: (torch.rand(rows, N, generator=generator),), 2, 5, 60, 3)
    epoch = [x for (x,) in batches(0)]
    assert {x.shape for x in epoch} == {(32, N) for N in (2, 3, 4, 5)}
    assert all(torch.equal(a, b) for a, (b,) in zip(epoch, batches(0), strict=True))
    assert not torch.equal(epoch[0][:, :2], next(batches(1))[0][:, :2])
