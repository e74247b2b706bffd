"""Words by their look: what a model can still know of a word that it has never seen.

    "blogged" -> <xx-ged>      "Falluja" -> <Xx-uja>      "EOS-400D" -> <X0->      ":-/" -> <.->

A class is the shape of a word and its last letters. A vocabulary of word forms holds the frequent words themselves, and
classes for all others. In training the rare words are read as their classes, so the model learns what the look of a
word tells, and knows as much of a word that training never had. Endings, hyphens and capitals were put to this use in
the part-of-speech tagger of Weischedel et al. 1993.
"""

import re
from collections import Counter
from collections.abc import Iterable, Sequence

import numpy as np

from lmbook.lab.configuration import configured
from lmbook.text import SPECIALS, UNK, Vocabulary

LONGEST = 3  # letters of an ending
PATTERNS = (  # what no dictionary holds, tried in this order
    (re.compile(r"https?:|www\."), "url"),
    (re.compile(r"[^\s@]+@[^\s@]+\.\w"), "mail"),
    (re.compile(r"@\w"), "@"),
    (re.compile(r"#\w"), "#"),
)


def shape(word: str) -> str:
    """url, mail, @ (a name in a message), # (a tag), 0 (a number), X0 and x0 (with letters), . (neither letter nor
    digit), XX (capitals), Xx (a capital first), xX (one further on), x-x (a hyphen), xx (lower case)."""
    for pattern, name in PATTERNS:
        if pattern.match(word):
            return name
    letters = [character for character in word if character.isalpha()]
    if any(character.isdigit() for character in word):
        return "0" if not letters else "X0" if letters[0].isupper() else "x0"
    if not letters:
        return "."
    capitals = [letter.isupper() for letter in letters]
    if all(capitals):
        return "XX"
    if capitals[0]:
        return "Xx"
    return "xX" if any(capitals) else "x-x" if "-" in word else "xx"


def classes(word: str) -> list[str]:
    """The classes of a word, the finest first: its shape with its last 3, 2, 1 and no letters, these in lower case.

    An ending is of letters alone and leaves at least one character of the word before it.
    """
    kind, lower = shape(word), word.lower()
    longest = 0
    if kind in ("XX", "Xx", "xX", "x-x", "xx"):
        while longest < min(LONGEST, len(lower) - 1) and lower[-longest - 1].isalpha():
            longest += 1
    return [f"<{kind}-{lower[len(lower) - n :]}>" for n in range(longest, -1, -1)]


@configured
class WordForms:
    """A vocabulary of words and of classes for all other words: forms.encode(words) gives ids.

    words, classes: those it holds, in the order of their ids, after the five special tokens. A word none of whose
    classes is held is <unk>.
    """

    def __init__(self, words: Iterable[str], classes: Iterable[str]):
        self.words, self.classes = list(words), list(classes)
        self.vocabulary = Vocabulary([*self.words, *self.classes])
        self._known: dict[str, str] = {}

    @classmethod
    def build(
        cls, tokens: Iterable[str], min_count: int = 2, max_words: int | None = None, min_class: int = 10
    ) -> "WordForms":
        """Words that occur min_count times or more, by falling count, at most max_words of them; classes of the others.

        A class with an ending is held if at least min_class of the rare words (types, not tokens) have it and no longer
        one that is held. Rare are the words left out, or if these are few those that occur once or twice.
        """
        counts = Counter(token for token in tokens if token not in SPECIALS)
        size = None if max_words is None else max_words + len(SPECIALS)
        words = Vocabulary.build(counts.elements(), size, min_count).tokens[len(SPECIALS) :]
        kept = set(words)
        rare = [classes(word) for word in counts if word not in kept or counts[word] <= 2]
        held: set[str] = set()
        for letters in range(LONGEST, -1, -1):
            here = [names for names in rare if len(names) == letters + 1]
            numbers = Counter(names[0] for names in here)
            held |= {name for name, n in numbers.items() if letters == 0 or n >= min_class}
            rare = [names for names in rare if len(names) <= letters]
            rare += [names[1:] for names in here if names[0] not in held and letters]
        return cls([word for word in words if word not in held], sorted(held))

    def __len__(self) -> int:
        return len(self.vocabulary)

    def __repr__(self) -> str:
        return f"WordForms({len(self.words):,} words, {len(self.classes):,} classes)"

    def class_of(self, word: str) -> str:
        """The finest class of a word that is held, or <unk>."""
        if word not in self._known:
            self._known[word] = next((name for name in classes(word) if name in self.vocabulary), UNK)
        return self._known[word]

    def token(self, word: str) -> str:
        """What stands for a word: the word itself, or its class."""
        return word if word in self.vocabulary else self.class_of(word)

    def encode(self, words: Sequence[str]) -> np.ndarray:
        """The ids of words, int64, shape (T,)."""
        if isinstance(words, str):
            raise TypeError("encode() wants a list of words, not one string; cut it first, for instance with words().")
        return self.vocabulary.encode([self.token(word) for word in words])

    def class_ids(self) -> np.ndarray:
        """For every id that of its class, int64, shape (vocab,): what a model reads where a word is hidden from it.

        A class and a special token stand for themselves.
        """
        first, last = len(SPECIALS), len(self) - len(self.classes)
        own = np.arange(len(self))
        own[first:last] = self.vocabulary.encode([self.class_of(word) for word in self.vocabulary.tokens[first:last]])
        return own
