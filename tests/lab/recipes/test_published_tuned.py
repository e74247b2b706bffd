"""The published encoder, fine-tuned: where a word's tag stands, and which words are counted."""

import torch
from torch import nn

from lmbook.lab.recipes.published_encoder import LONGEST
from lmbook.lab.recipes.published_tuned import right_tags, rows_of
from lmbook.lab.recipes.tasks import NO_LABEL
from lmbook.lab.word_pieces import WordPieces

PIECES = WordPieces({t: i for i, t in enumerate(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "sea", "##side", "blue"])})


def test_a_label_stands_at_the_first_piece_of_its_word():
    ((ids,), (labels,)) = rows_of([(["blue", "seaside", "sea"], ["A", "N", "N"])], PIECES, ["N", "A"])
    assert ids == [2, 6, 4, 5, 4, 3]
    assert labels == [NO_LABEL, 1, 0, NO_LABEL, 0, NO_LABEL]


def test_no_word_of_a_long_sentence_is_left_out():
    ids, labels = rows_of([(["sea"] * (LONGEST + 5), ["N"] * (LONGEST + 5))], PIECES, ["N"])
    assert [len(row) for row in ids] == [LONGEST + 2, 7]
    assert sum(label == 0 for row in labels for label in row) == LONGEST + 5


def test_only_words_are_counted():
    class Says(nn.Module):
        """Tag 0 for "sea", tag 1 for all else."""

        def forward(self, tokens):
            return nn.functional.one_hot((tokens != 4).long(), 2).float()

    rows = [(["blue", "sea"], ["A", "N"]), (["sea"], ["A"])]
    assert abs(right_tags(Says(), *rows_of(rows, PIECES, ["N", "A"])) - 2 / 3) < 1e-6
    assert torch.equal(Says()(torch.tensor([[4]])), torch.tensor([[[1.0, 0.0]]]))
