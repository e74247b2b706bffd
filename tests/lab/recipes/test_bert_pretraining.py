"""The pieces of the small BERT's recipes: sentences, frames, and losses over blanks."""

import math

import pytest
import torch

from lmbook.bert import BERT, MaskedLM
from lmbook.lab.recipes import bert_pretraining
from lmbook.lab.run import RECIPES, RecipeError, Run
from lmbook.lab.word_shapes import WordForms


def test_wikitext_becomes_sentences():
    text = "<eos> = Title = <eos> <eos> It cost 1 @,@ 200 or 3 @.@ 5 . He did n't @-@ no ? Yes <eos> The end . <eos>"
    assert [" ".join(row) for row in bert_pretraining.sentences(text.split())] == [
        "It cost 1,200 or 3.5 .",
        "He did n't - no ?",
        "Yes",
        "The end .",
    ]


def test_pieces_are_the_sentence_again():
    for n in (1, 61, 62, 63, 124, 125):
        cut = bert_pretraining.pieces(list(range(n)))
        assert [word for piece in cut for word in piece] == list(range(n))
        assert max(map(len, cut)) + 2 <= bert_pretraining.WINDOW


@pytest.fixture
def forms():
    return WordForms(["the", "cat", "sat", "on", "mat"], ["<xx->", "<Xx->", "<.->"])


@pytest.fixture
def model(forms):
    torch.manual_seed(0)
    return MaskedLM(BERT(len(forms), window=64, d_model=16, n_heads=2, n_layers=1)).eval()


def test_a_model_that_knows_nothing_has_the_entropy_of_its_output(model, forms):
    for parameter in model.parameters():
        torch.nn.init.zeros_(parameter)
    ids = [bert_pretraining.framed(forms, ["the", "cat", "sat"] * 9) for _ in range(30)]
    unigram = torch.full((len(forms),), -1.0)
    scores = bert_pretraining.score_blanks(model, ids, unigram)
    assert scores["nll"] == pytest.approx(math.log(len(forms)))
    assert scores["unigram nll"] == 1
    assert scores["perplexity"] == pytest.approx(len(forms))
    assert scores["blanks"] == pytest.approx(0.15 * 30 * 27, rel=0.3)
    assert bert_pretraining.score_blanks(model, ids, unigram) == scores, "the same blanks at every evaluation"


def test_loss_of_blanks_is_a_sum_over_the_selected_alone(model, forms):
    batch = next(bert_pretraining.rows([bert_pretraining.framed(forms, ["the", "cat", "sat", "on"])] * 8, 4096))
    total, n = bert_pretraining.blank_loss(model, batch, torch.Generator().manual_seed(3), 0.5)
    inputs, selected = bert_pretraining.mask_tokens(batch[0], len(forms), torch.Generator().manual_seed(3), 0.5)
    log_p = torch.log_softmax(model(inputs), -1)
    by_hand = -sum(log_p[b, t, batch[0][b, t]] for b, t in selected.nonzero().tolist())
    assert n == selected.sum() > 0
    assert total.item() == pytest.approx(by_hand.item(), rel=1e-5)


def test_blanks_are_filled_with_words_alone(model, forms):
    with torch.no_grad():
        model.output.bias[: len(forms.vocabulary)] = torch.arange(len(forms), dtype=torch.float32)
    ((first, chance), *others), other_blank = bert_pretraining.fill(model, forms, ["the", "<mask>", "sat", "<mask>"])
    assert {first, *(word for word, _ in others)} == set(forms.words), "no class, no special token"
    assert chance >= others[0][1]
    assert len(other_blank) == 5


def test_fine_tuning_without_a_pretrained_model_says_what_to_do(tmp_path, monkeypatch):
    monkeypatch.setattr(bert_pretraining, "TRAINED", tmp_path)
    run = Run(RECIPES["bert-tagging"], 0, tmp_path / "bert-tagging-0")
    with pytest.raises(RecipeError, match="lmbook train bert-wikitext2 first"):
        bert_pretraining.pretrained(run)
