"""Words in pieces: against the library tokenizers."""

import random

import pytest
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers

from lmbook.lab.word_pieces import WordPieces

VOCABULARY = [
    "[PAD]",
    "[UNK]",
    "[CLS]",
    "[SEP]",
    *"abcdeio'.,-?_中",
    "cab",
    "##b",
    "##ad",
    "##a",
    "##d",
    "##e",
    "bad",
    "##!",
]
SIGNS = [
    *"abcdeioABÉé ñß\t\n\r'.,-?_!中文½€—“\u0301\u00a0\u00ad\u200b\u3000\ufffd\0\x07🙂",
    "cab",
    "bad",
    "İ",
    "ad" * 60,
]


@pytest.fixture(scope="module")
def pieces():
    return WordPieces({piece: i for i, piece in enumerate(VOCABULARY)})


def test_word_pieces_are_those_of_the_library(pieces):
    theirs = Tokenizer(models.WordPiece(pieces.vocabulary, unk_token="[UNK]", max_input_chars_per_word=100))
    theirs.normalizer = normalizers.BertNormalizer(lowercase=True)
    theirs.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    generator = random.Random(0)
    texts = ["".join(generator.choices(SIGNS, k=generator.randint(0, 15))) for _ in range(3000)]
    wrong = [text for text in texts if pieces.split(text) != theirs.encode(text).tokens]
    assert not wrong, ascii(wrong[:3])


def test_a_word_is_cut_from_the_left_by_the_longest_piece(pieces):
    assert pieces.split("Cabad cabbie?") == ["cab", "##ad", "[UNK]", "?"]
    assert pieces.encode("bad") == [2, VOCABULARY.index("bad"), 3]


def test_a_frame_says_where_each_word_begins(pieces):
    words = ["bad", "cabad", "\u200b", "a"]
    ids, firsts = pieces.framed(words)
    assert (ids[0], ids[-1]) == (2, 3)
    assert firsts == [1, 2, 4, 5]
    assert ids[4] == VOCABULARY.index("[UNK]"), "a word that nobody sees is still one token"
    assert ids[1:4] == pieces.encode("bad cabad")[1:-1]
    assert pieces.framed([]) == ([2, 3], [])
