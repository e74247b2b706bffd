"""Sentences longer than the window are tagged piece by piece."""

import torch
from torch import nn

from lmbook.lab.recipes import bert_tagging
from lmbook.lab.word_shapes import WordForms
from lmbook.text import EOS_ID, SOS_ID


def test_frame_and_tags_of_long_sentences():
    forms = WordForms(["the", "cat"], ["<xx->", "<Xx->", "<.->"])
    text = ["the"] * 100
    ids, labels = bert_tagging.tagged([(text, ["D"] * 99 + ["N"])], forms, {"D": 0, "N": 1})
    assert [len(row) for row in ids] == [64, 40]
    assert all(row[0] == SOS_ID and row[-1] == EOS_ID for row in ids)
    assert [label for row in labels for label in row if label >= 0] == [0] * 99 + [1]

    class Position(nn.Module):
        """Tags token t of a piece as t modulo 3."""

        def forward(self, tokens):
            return nn.functional.one_hot(torch.arange(tokens.shape[1]) % 3, 3).expand(len(tokens), -1, -1).float()

    (found,) = bert_tagging.tag_pieces(Position(), [(text, text)], forms, ["a", "b", "c"])
    assert found == ["abc"[t % 3] for t in (*range(1, 63), *range(1, 39))]
