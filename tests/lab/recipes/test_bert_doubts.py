"""What a masked model answers behind a mask and where it reads."""

import numpy as np
import torch

from lmbook.bert import BERT, FIRST_ORDINARY, MaskedLM
from lmbook.lab.recipes.bert_doubts import SHARES, doubts
from lmbook.lab.recipes.bert_pretraining import framed
from lmbook.lab.word_shapes import WordForms
from lmbook.text import MASK_ID

FORMS = WordForms(["the", "boat", "sails", "lies"], ["<xx->"])


def test_each_word_is_asked_behind_a_mask_and_where_it_is_read():
    torch.manual_seed(0)
    model = MaskedLM(BERT(len(FORMS), 8, 8, 2, 1)).eval()
    sentence = ["the", "boat", "sails"]
    found = doubts(model, FORMS, sentence, np.random.default_rng(0))
    assert found.shape == (4, 3)
    wrong = np.random.default_rng(0).integers(FIRST_ORDINARY, len(FORMS), size=3).tolist()
    ids = framed(FORMS, sentence)
    for t, (v, other) in enumerate(zip(ids[1:-1], wrong, strict=True), 1):
        for row, (shown, asked) in enumerate([(MASK_ID, v), (v, v), (MASK_ID, other), (other, other)]):
            read = torch.tensor([[*ids[:t], shown, *ids[t + 1 :]]])
            with torch.no_grad():
                p = torch.softmax(model(read)[0, t], -1)[asked]
            assert torch.isclose(found[row, t - 1], p, atol=1e-6)


def test_shares_are_probabilities():
    for shares in SHARES.values():
        assert abs(sum(shares) - 1) < 1e-9
