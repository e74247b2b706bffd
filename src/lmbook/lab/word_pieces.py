"""Words in pieces, as published BERTs without capitals read them (Devlin et al. 2019, section 3; Wu et al. 2016).

A text becomes [CLS] pieces [SEP]. Where one state stands for a word, it is that of its first piece (section 5.3).
"""

import unicodedata
from collections.abc import Mapping, Sequence

import numpy as np

CHINESE = (
    (0x3400, 0x4DBF), (0x4E00, 0x9FFF), (0xF900, 0xFAFF), (0x20000, 0x2A6DF), (0x2A700, 0x2B73F), (0x2B740, 0x2B81F),
    (0x2B820, 0x2CEAF), (0x2F800, 0x2FA1F),
)  # fmt: skip


class WordPieces:
    """The tokenizer of those BERTs.

    A text is lower-cased, loses its accents and is cut at blanks, punctuation and Chinese characters. A word is then
    cut from the left, each time after the longest piece in the vocabulary; "##" stands before all but the first.
    vocabulary: the id of each piece.
    """

    def __init__(self, vocabulary: Mapping[str, int]):
        self.vocabulary = dict(vocabulary)
        self.sos, self.eos = self.vocabulary["[CLS]"], self.vocabulary["[SEP]"]

    def __len__(self) -> int:
        return len(self.vocabulary)

    def split(self, text: str) -> list[str]:
        """The pieces of a text, without [CLS] and [SEP]."""
        return [piece for word in self.words(text) for piece in self._pieces(word)]

    def encode(self, text: str) -> list[int]:
        """[CLS] pieces [SEP] as ids."""
        return [self.sos, *(self.vocabulary[piece] for piece in self.split(text)), self.eos]

    def framed(self, words: Sequence[str]) -> tuple[list[int], list[int]]:
        """[CLS] w_1 .. w_T [SEP] as ids, and where each word begins. A word of which nothing is left is [UNK]."""
        cuts = [self.split(word) or ["[UNK]"] for word in words]
        ids = [self.sos, *(self.vocabulary[piece] for cut in cuts for piece in cut), self.eos]
        return ids, np.cumsum([1, *map(len, cuts)])[:-1].tolist()

    @staticmethod
    def words(text: str) -> list[str]:
        """Lower-case words without accents, and punctuation marks."""
        shown = ""
        for character in unicodedata.normalize("NFD", text.lower()):
            kind, code = unicodedata.category(character), ord(character)
            if kind == "Mn" or character in "\0\ufffd" or (kind[0] == "C" and character not in "\t\n\r"):
                continue
            ascii_mark = code < 128 and not character.isalnum() and not character.isspace()
            chinese = any(low <= code <= high for low, high in CHINESE)
            shown += f" {character} " if ascii_mark or kind[0] == "P" or chinese else character
        return shown.split()

    def _pieces(self, word: str) -> list[str]:
        pieces: list[str] = []
        while word:
            mark = "##" if pieces else ""
            ends = (end for end in range(len(word), 0, -1) if mark + word[:end] in self.vocabulary)
            end = next(ends, 0)
            if not end or len(word) > 100:
                return ["[UNK]"]
            pieces.append(mark + word[:end])
            word = word[end:]
        return pieces
