"""Text as numbers: special tokens, the vocabulary, and tokenizers by character, by word and by byte pair.

A tokenizer cuts a string into tokens, a vocabulary numbers them. Every vocabulary of the book starts with the same
five special tokens, so that their ids are the same everywhere:

    <pad> 0   fills up a short row of a batch        <sos> 2   start of a sequence      <mask> 4   a hidden token
    <unk> 1   any token that was never seen          <eos> 3   end of a sequence
"""

import heapq
import re
import unicodedata
import warnings
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from itertools import pairwise

import numpy as np

PAD, UNK, SOS, EOS, MASK = "<pad>", "<unk>", "<sos>", "<eos>", "<mask>"
SPECIALS = (PAD, UNK, SOS, EOS, MASK)
PAD_ID, UNK_ID, SOS_ID, EOS_ID, MASK_ID = range(len(SPECIALS))
# Accents, vowel signs and the like, characters of their own after the letter that they belong to; \w has none of them.
_PLANES = map(chr, (*range(0x20000), *range(0xE0100, 0xE01F0)))  # those that have any
MARKS = "".join(character for character in _PLANES if unicodedata.category(character).startswith("M"))
W = rf"\w{MARKS}"
WORD = re.compile(rf"[{W}]+(?:'[{W}]+)*|[^{W}\s][{MARKS}]*")
# Cuts a text into pieces that together are the text again; byte pairs are never merged across their borders.
PIECE = re.compile(r" ?\w+| ?[^\w\s]+|\s+(?!\S)|\s+")
# What nobody sees: soft hyphens, joiners, marks of direction and of the byte order; a space of no width ends a word.
UNSEEN = str.maketrans(dict.fromkeys("\u00ad\u200c\u200d\u200e\u200f\u2060\ufeff", "") | {"\u200b": " ", "’": "'"})


def composed(text: str) -> str:
    """The text with letter and accent as one character where Unicode has one (NFC), straight apostrophes, and without
    what nobody sees."""
    return unicodedata.normalize("NFC", text.translate(UNSEEN)) if not text.isascii() else text


def words(text: str) -> list[str]:
    """Lower-case words and punctuation marks: words("Isn't it late?") is ["isn't", "it", "late", "?"].

    A word is a run of letters with their marks, digits and underscores; an apostrophe between two of them stays inside
    (the curly one becomes straight). Every other visible character is a token of its own. A letter and its accent are
    one character wherever Unicode has one for both (form NFC).  Scripts that put no blanks between words, such as
    Chinese or Thai, are not cut into words.
    """
    if not isinstance(text, str):
        raise TypeError(f"words() wants one string, not {type(text).__name__}; join a list with ' '.join(...) first.")
    return WORD.findall(composed(text.lower()))


class Vocabulary:
    """The types of a text, numbered: the five special tokens are 0 to 4, the given types follow in their order.

    A type that is itself a special token keeps its special id; a repeated type is an error.
    """

    def __init__(self, types: Iterable[str]):
        if isinstance(types, str):
            raise TypeError("Vocabulary() wants a list, not one string; for characters pass sorted(set(text)).")
        ordinary = [token for token in types if token not in SPECIALS]
        repeated = [token for token, n in Counter(ordinary).items() if n > 1]
        if repeated:
            raise ValueError(f"Vocabulary() got {repeated[0]!r} twice; for running text use Vocabulary.build(tokens).")
        self.tokens: list[str] = [*SPECIALS, *ordinary]
        self._ids = {token: i for i, token in enumerate(self.tokens)}

    @classmethod
    def build(cls, tokens: Iterable[str], max_size: int | None = None, min_count: int = 1) -> "Vocabulary":
        """The vocabulary of a running text, by falling count, ties in alphabetical order.

        max_size: at most this many types, the five special ones included.  min_count: rarer types are left out.
        """
        if max_size is not None and max_size <= len(SPECIALS):
            raise ValueError(f"max_size is {max_size}; it must be above {len(SPECIALS)}, the number of special tokens.")
        counts = Counter(tokens)
        types = [token for token in sorted(counts, key=lambda token: (-counts[token], token)) if token not in SPECIALS]
        types = [token for token in types if counts[token] >= min_count]
        return cls(types if max_size is None else types[: max_size - len(SPECIALS)])

    def __len__(self) -> int:
        return len(self.tokens)

    def __contains__(self, token: object) -> bool:
        return token in self._ids

    def __getitem__(self, token: str) -> int:
        """The id of a token, that of <unk> where the token is not in the vocabulary."""
        if not isinstance(token, str):
            raise TypeError(f"vocabulary[{token!r}]: a token is a string; the token of an id is vocabulary.tokens[id].")
        return self._ids.get(token, UNK_ID)

    def __repr__(self) -> str:
        return f"Vocabulary({len(self):,} types)"

    def encode(self, tokens: Iterable[str]) -> np.ndarray:
        """The ids of the tokens, int64, shape (T,); unknown tokens become <unk>."""
        if isinstance(tokens, str):
            raise TypeError("encode() wants a list of tokens, not one string; cut it first, for instance with words().")
        get = self._ids.get
        return np.array([get(token, UNK_ID) for token in tokens], dtype=np.int64)

    def decode(self, ids: Iterable[int]) -> list[str]:
        """The tokens of the ids. Raises ValueError for an id outside the vocabulary."""
        ids = [int(i) for i in ids]
        wrong = next((i for i in ids if not 0 <= i < len(self)), None)
        if wrong is not None:
            raise ValueError(f"id {wrong} is outside this vocabulary, whose ids run from 0 to {len(self) - 1}.")
        return [self.tokens[i] for i in ids]


def _visible(tokens: list[str]) -> list[str]:
    """Without <pad>, <sos> and <eos>, which mark places rather than stand for text."""
    return [token for token in tokens if token not in (PAD, SOS, EOS)]


class CharTokenizer:
    """One token per character. Characters never seen in training become <unk>, and a warning names them."""

    def __init__(self, vocabulary: Vocabulary):
        self.vocabulary = vocabulary

    @classmethod
    def train(cls, text: str) -> "CharTokenizer":
        return cls(Vocabulary(sorted(set(text))))

    def split(self, text: str) -> list[str]:
        return list(text)

    def encode(self, text: str) -> list[int]:
        if unknown := [character for character in dict.fromkeys(text) if character not in self.vocabulary]:
            some = ", ".join(map(repr, unknown[:5])) + (f" and {len(unknown) - 5} more" if len(unknown) > 5 else "")
            warnings.warn(f"the text this tokenizer was made from has no {some}: <unk> in their place", stacklevel=2)
        return self.vocabulary.encode(self.split(text)).tolist()

    def decode(self, ids: Iterable[int]) -> str:
        return "".join(_visible(self.vocabulary.decode(ids)))


class WordTokenizer:
    """One token per word or punctuation mark, as `words` splits them. Decoding puts one space between any two."""

    def __init__(self, vocabulary: Vocabulary):
        self.vocabulary = vocabulary

    @classmethod
    def train(cls, text: str, max_size: int | None = None, min_count: int = 1) -> "WordTokenizer":
        return cls(Vocabulary.build(words(text), max_size, min_count))

    def split(self, text: str) -> list[str]:
        return words(text)

    def encode(self, text: str) -> list[int]:
        return self.vocabulary.encode(self.split(text)).tolist()

    def decode(self, ids: Iterable[int]) -> str:
        return " ".join(_visible(self.vocabulary.decode(ids)))


def merge(sequence: Sequence[int], pair: tuple[int, int], new: int) -> list[int]:
    """The sequence with every occurrence of the pair, from the left, replaced by the one id `new`."""
    (left, right), merged, i = pair, [], 0
    while i < len(sequence):
        if sequence[i] == left and i + 1 < len(sequence) and sequence[i + 1] == right:
            merged.append(new)
            i += 2
        else:
            merged.append(sequence[i])
            i += 1
    return merged


class BytePairTokenizer:
    """Byte-level byte-pair encoding (Sennrich et al. 2016, section 3.2; bytes as in Radford et al. 2019, section 2.2).

    Ids 0 to 4 are the special tokens, the next 256 the bytes, then one id per merge, in the order of learning.
    Since every string is a sequence of bytes, every string can be encoded, and decoding gives it back exactly.
    """

    FIRST_BYTE = len(SPECIALS)
    FIRST_MERGE = len(SPECIALS) + 256

    def __init__(self, merges: Sequence[tuple[int, int]]):
        self.merges = [tuple(pair) for pair in merges]
        self.ranks = {pair: self.FIRST_MERGE + i for i, pair in enumerate(self.merges)}
        self.pieces = [token.encode() for token in SPECIALS] + [bytes([b]) for b in range(256)]
        for i, (left, right) in enumerate(self.merges):
            if not (self.FIRST_BYTE <= left < self.FIRST_MERGE + i and self.FIRST_BYTE <= right < self.FIRST_MERGE + i):
                raise ValueError(f"merge {i} is {(left, right)}; it may only join bytes and earlier merges.")
            self.pieces.append(self.pieces[left] + self.pieces[right])
        self._known: dict[str, list[int]] = {}

    def __len__(self) -> int:
        return len(self.pieces)

    @classmethod
    def train(cls, text: str, merges: int = 1000) -> "BytePairTokenizer":
        """Learns up to `merges` merges: each joins the pair that is most frequent now, ties to the smaller ids.

        Counts words, not positions: a piece that occurs 10,000 times is looked at once. It stops early when no pair
        occurs twice.
        """
        if merges < 0:
            raise ValueError(f"merges is {merges}; it must be 0 or more.")
        frequencies = Counter(PIECE.findall(text))
        sequences = [cls._bytes(piece) for piece in frequencies]
        weights = list(frequencies.values())
        counts: dict[tuple[int, int], int] = defaultdict(int)
        where: dict[tuple[int, int], set[int]] = defaultdict(set)  # the pieces a pair occurs in (or once occurred in)
        for i, sequence in enumerate(sequences):
            for pair in pairwise(sequence):
                counts[pair] += weights[i]
                where[pair].add(i)
        queue = [(-n, pair) for pair, n in counts.items()]
        heapq.heapify(queue)
        learned: list[tuple[int, int]] = []
        while queue and len(learned) < merges:
            n, pair = heapq.heappop(queue)
            if -n != counts[pair]:
                continue  # out of date: the pair was counted anew after this entry was made
            if -n < 2:
                break
            new = cls.FIRST_MERGE + len(learned)
            learned.append(pair)
            changed = set()
            for i in where.pop(pair):
                old, sequences[i] = sequences[i], merge(sequences[i], pair, new)
                for sequence, sign in ((old, -1), (sequences[i], 1)):
                    for neighbour in pairwise(sequence):
                        counts[neighbour] += sign * weights[i]
                        changed.add(neighbour)
                        if sign == 1:
                            where[neighbour].add(i)
            for neighbour in changed:
                if counts[neighbour] > 0:
                    heapq.heappush(queue, (-counts[neighbour], neighbour))
        return cls(learned)

    @classmethod
    def _bytes(cls, piece: str) -> list[int]:
        # surrogatepass: half of a surrogate pair is not Unicode text, but a Python string may hold one
        return [cls.FIRST_BYTE + b for b in piece.encode("utf-8", "surrogatepass")]

    def _encode_piece(self, piece: str) -> list[int]:
        ids = self._bytes(piece)
        while len(ids) > 1:
            first = min(pairwise(ids), key=lambda pair: self.ranks.get(pair, len(self)))
            if first not in self.ranks:
                break
            ids = merge(ids, first, self.ranks[first])
        return ids

    def encode(self, text: str) -> list[int]:
        """The ids of a text: within each piece the merges are applied in the order in which they were learned."""
        ids: list[int] = []
        for piece in PIECE.findall(text):
            if piece not in self._known:
                self._known[piece] = self._encode_piece(piece)
            ids += self._known[piece]
        return ids

    def decode(self, ids: Iterable[int]) -> str:
        """The text of the ids, without special tokens. Ids that cut a character in two show U+FFFD there."""
        ids = [int(i) for i in ids]
        wrong = next((i for i in ids if not 0 <= i < len(self)), None)
        if wrong is not None:
            raise ValueError(f"id {wrong} is outside this tokenizer, whose ids run from 0 to {len(self) - 1}.")
        data = b"".join(self.pieces[i] for i in ids if i >= self.FIRST_BYTE)
        try:
            return data.decode("utf-8", "surrogatepass")
        except UnicodeDecodeError:
            return data.decode("utf-8", "replace")

    def split(self, text: str) -> list[str]:
        """The pieces a reader sees; one that is not a whole character is written as its bytes, for instance <C3>."""
        shown = []
        for i in self.encode(text):
            try:
                shown.append(self.pieces[i].decode())
            except UnicodeDecodeError:
                shown.append("".join(f"<{b:02X}>" for b in self.pieces[i]))
        return shown
