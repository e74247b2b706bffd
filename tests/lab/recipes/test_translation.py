"""The spine of the experiments on translation: texts become ids and come back, and a score counts what it says."""

import pytest
import torch
from torch import nn

from lmbook import data, metrics
from lmbook.lab.recipes.translation import Task, Tokens, counts, encoder_decoder, translate
from lmbook.networks import evaluating


def test_tokens_come_back_and_rare_ones_are_unknown():
    tokens = Tokens.build(["a b b .", "c b a ."])
    assert tokens.decode([*tokens.encode("c a b ."), 3]) == "c a b ."
    assert Tokens.build(["a b b .", "c b a ."], min_count=2).decode([1, 3]) == "<unk>"
    assert 1 in Tokens.build(["a b b .", "c b a ."], min_count=2).encode("c a")


class Copies(nn.Module):
    """Writes the source again and then <eos>."""

    def start(self, source):
        ends = torch.full((len(source), 1), 3)
        source = torch.where(source == 0, 3, source)
        return {"left": torch.cat([source, ends], dim=1), "at": 0}

    def step(self, token, state):
        at = state["left"][:, min(state["at"], state["left"].shape[1] - 1)]
        return nn.functional.one_hot(at, 8) * 50.0, {**state, "at": state["at"] + 1}


@pytest.mark.parametrize("width", [1, 2])
def test_translations_are_in_the_order_of_their_sources(width):
    words = Tokens.build(["a b c"])
    sources = ["a b c", "c", *["b a"] * 60, "a"]
    assert translate(Copies(), sources, words, width=width) == sources
    assert translate(Copies(), ["a b c"], words, Tokens(type(words.vocabulary)(list("xyz")))) == ["x y z"]
    outputs, references = Task({"test": list(zip(sources, sources, strict=True))}, words).written(Copies(), 3)
    assert outputs == references == sources[:3]


def test_the_nll_of_a_task_is_a_mean_over_all_its_tokens():
    pairs = data.captions(130, 3, 4, 9)
    task = Task({"valid": pairs}, *(Tokens.build([pair[side] for pair in pairs]) for side in (0, 1)))
    model = encoder_decoder(task.types, 8, 8)
    (batch,) = data.batches(task.ids["valid"], 130)
    with evaluating(model):
        log_p = model(batch.source, batch.inputs).log_softmax(-1).gather(2, batch.targets.unsqueeze(2)).squeeze(2)
    assert task.nll(model) == pytest.approx(-log_p[batch.targets != 0].mean().item(), rel=1e-5)


def test_counts_come_back_and_give_the_bleu_of_the_texts():
    references = ["a b c d e .", "x y .", "p q r s t u v ."]
    outputs = ["a b c d .", "x .", "p q r s t u v ."]
    found = counts(outputs, references)
    assert metrics.bleu_from_counts(found.sum(0)) == pytest.approx(metrics.bleu(outputs, references, str.split))
    ours, theirs = ["the dog sees a red cat.", "two birds sing."], ["the dog sees a cat.", "two birds sing."]
    with_marks = counts(ours, theirs, metrics.tokenize_13a).sum(0)
    assert metrics.bleu_from_counts(with_marks) == metrics.bleu(ours, theirs)
