"""Captions in two small languages, the second an invented one: translation without a download and of any length.

The source is a plain English of some 75 words, the target is called Harbourish. A translator has to learn:
    words         each has one counterpart, but for the article
    order         adjectives follow their noun in reversed order, the verb ends its clause, prepositions follow
                  their noun
    agreement     article and adjectives end in -o or -a after the class of the noun, and in -n when there are several;
                  the verb ends in -a after one subject, in -en after several

    the happy boat waits with an old ball beside the horse .
    la nava luta ta puma verna cun la hira wem galma .
    (word by word: the boat happy a ball old with the horse beside waits)
"""

import random
import re
from collections.abc import Sequence

from lmbook.data.synthetic import unique

NOUNS = {  # English: (plural, Harbourish, class)
    "dog": ("dogs", "bolu", "o"),
    "cat": ("cats", "mika", "a"),
    "child": ("children", "pendo", "o"),
    "woman": ("women", "sela", "a"),
    "man": ("men", "garo", "o"),
    "girl": ("girls", "tiva", "a"),
    "boy": ("boys", "rudo", "o"),
    "boat": ("boats", "nava", "a"),
    "house": ("houses", "dumo", "o"),
    "tree": ("trees", "shalo", "o"),
    "ball": ("balls", "puma", "a"),
    "hat": ("hats", "kepo", "o"),
    "horse": ("horses", "hira", "a"),
    "bird": ("birds", "fita", "a"),
    "street": ("streets", "lano", "o"),
    "table": ("tables", "zeba", "a"),
}
ADJECTIVES = {
    "red": "ruv",
    "blue": "sin",
    "green": "gal",
    "white": "bel",
    "old": "vern",
    "young": "nil",
    "small": "pik",
    "big": "mag",
    "happy": "lut",
    "quiet": "sor",
}
TRANSITIVE = {  # one, many: Harbourish
    ("sees", "see"): "sunt",
    ("holds", "hold"): "dram",
    ("follows", "follow"): "velk",
    ("paints", "paint"): "korb",
    ("finds", "find"): "resk",
    ("carries", "carry"): "tond",
}
INTRANSITIVE = {
    ("sleeps", "sleep"): "numb",
    ("runs", "run"): "chirt",
    ("waits", "wait"): "galm",
    ("sings", "sing"): "lirn",
}
PREPOSITIONS = {"near": "bi", "behind": "zot", "under": "hup", "beside": "wem", "on": "ar", "with": "cun"}
CONJUNCTIONS = {"and": "ke", "while": "dum", "but": "mas"}
SINGULAR = {plural: noun for noun, (plural, *_) in NOUNS.items()}

# one letter a word, so that a caption of the grammar is a regular expression; s: "a" before a vowel is another word
LETTERS = {"the": "D", "a": "A", "an": "N", "two": "T", ".": "."} | dict.fromkeys(CONJUNCTIONS, "c")
LETTERS |= dict.fromkeys(PREPOSITIONS, "p") | dict.fromkeys(NOUNS, "n") | dict.fromkeys(SINGULAR, "m")
LETTERS |= {adjective: "e" if adjective[0] in "aeiou" else "j" for adjective in ADJECTIVES}
LETTERS |= {verb: letter for pair in TRANSITIVE for verb, letter in zip(pair, "vw", strict=True)}
LETTERS |= {verb: letter for pair in INTRANSITIVE for verb, letter in zip(pair, "iu", strict=True)}
ONE, MANY = "(?:D[ej]*|A(?:j[ej]*)?|Ne[ej]*)n", "[DT][ej]*m"
PHRASE = f"(?:{ONE}|{MANY})"
CLAUSE = f"(?:{ONE}(?:v{PHRASE}|i)|{MANY}(?:w{PHRASE}|u))(?:p{PHRASE})*"
CAPTION = re.compile(rf"{CLAUSE}(?:c{CLAUSE})*\.")


class _NounPhrase:
    """Article, up to four adjectives, noun, in both languages."""

    def __init__(self, rng: random.Random):
        self.noun = rng.choice(list(NOUNS))
        self.plural = rng.random() < 0.3
        self.article = rng.choice(("the", "two" if self.plural else "a"))
        self.adjectives: list[str] = []

    def source(self) -> list[tuple[str, str]]:
        noun = NOUNS[self.noun][0] if self.plural else self.noun
        tag = "NUM" if self.article == "two" else "DET"
        rest = [*((a, "ADJ") for a in self.adjectives), (noun, "NOUN")]
        article = "an" if self.article == "a" and rest[0][0][0] in "aeiou" else self.article
        return [(article, tag), *rest]

    def target(self) -> list[str]:
        _, noun, vowel = NOUNS[self.noun]
        article = {"the": "l", "a": "t", "two": "dv"}[self.article] + vowel
        plural = "n" if self.plural else ""
        return [article, noun + plural, *(ADJECTIVES[a] + vowel + plural for a in reversed(self.adjectives))]

    def order(self, start: int) -> list[int]:
        """Where the words of the target stand in the source, if the phrase begins there at `start`."""
        return [start, *range(start + 1 + len(self.adjectives), start, -1)]


class _Clause:
    """Subject, verb, perhaps an object, and up to two places, in both languages."""

    def __init__(self, rng: random.Random, room: int):
        self.subject = _NounPhrase(rng)
        self.object = _NounPhrase(rng) if room >= 5 and rng.random() < 0.7 else None
        self.verb = rng.choice(list(TRANSITIVE if self.object else INTRANSITIVE))
        self.places: list[tuple[str, _NounPhrase]] = []

    def noun_phrases(self) -> list[_NounPhrase]:
        return [self.subject, *([self.object] if self.object else []), *(phrase for _, phrase in self.places)]

    def source(self) -> list[tuple[str, str]]:
        words = [*self.subject.source(), (self.verb[self.subject.plural], "VERB")]
        words += self.object.source() if self.object else []
        for preposition, phrase in self.places:
            words += [(preposition, "ADP"), *phrase.source()]
        return words

    def target(self) -> list[str]:
        words = self.subject.target() + (self.object.target() if self.object else [])
        for preposition, phrase in self.places:
            words += [*phrase.target(), PREPOSITIONS[preposition]]
        return [
            *words,
            (TRANSITIVE if self.object else INTRANSITIVE)[self.verb] + ("en" if self.subject.plural else "a"),
        ]

    def order(self, start: int) -> list[int]:
        """Where the words of the target stand in the source, if the clause begins there at `start`."""
        order = self.subject.order(start)
        verb = start + len(order)
        order += self.object.order(verb + 1) if self.object else []
        for _, phrase in self.places:
            preposition = start + len(order) + 1  # the verb is not among them yet
            order += [*phrase.order(preposition + 1), preposition]
        return [*order, verb]


def _caption(rng: random.Random, length: int) -> tuple[list[tuple[str, str]], list[str], list[int]]:
    """One caption whose source has exactly `length` words before its full stop: (word, tag) pairs, the target, and for
    each word of the target where its counterpart stands in the source."""
    clauses, joints = [_Clause(rng, length)], []
    left = length - len(clauses[0].source())
    while left > 0:
        clause = clauses[-1]
        roomy = [phrase for phrase in clause.noun_phrases() if len(phrase.adjectives) < 2]
        steps = ["adjective"] * (2 * bool(roomy))
        steps += ["place"] * (left >= 3 and len(clause.places) < 2)
        steps += ["clause"] * (left >= 4)
        if not steps:  # nothing fits behind: an adjective in any earlier clause does
            roomy = [p for c in clauses for p in c.noun_phrases() if len(p.adjectives) < 4]
            steps = ["adjective"]
        step = rng.choice(steps)
        if step == "adjective":
            phrase = rng.choice(roomy)
            phrase.adjectives.append(rng.choice([a for a in ADJECTIVES if a not in phrase.adjectives]))
            left -= 1
        elif step == "place":
            clause.places.append((rng.choice(list(PREPOSITIONS)), _NounPhrase(rng)))
            left -= 3
        else:
            joints.append(rng.choice(list(CONJUNCTIONS)))
            clauses.append(_Clause(rng, left - 1))
            left -= 1 + len(clauses[-1].source())
    source, target, order = clauses[0].source(), clauses[0].target(), clauses[0].order(0)
    for joint, clause in zip(joints, clauses[1:], strict=True):
        order += [len(source), *clause.order(len(source) + 1)]
        source += [(joint, "CCONJ" if joint != "while" else "SCONJ"), *clause.source()]
        target += [CONJUNCTIONS[joint], *clause.target()]
    return [*source, (".", "PUNCT")], [*target, "."], [*order, len(source)]


def _many(n: int, seed: int, min_words: int, max_words: int) -> list:
    if not 3 <= min_words <= max_words <= 60:
        raise ValueError(f"captions have 3 to 60 words; min_words is {min_words} and max_words is {max_words}.")
    rng = random.Random(seed)
    return unique(
        n,
        lambda: _caption(rng, rng.randint(min_words, max_words)),
        "captions()",
        key=lambda pair: " ".join(word for word, _ in pair[0]),
    )


def captions(n: int, seed: int = 0, min_words: int = 4, max_words: int = 14) -> list[tuple[str, str]]:
    """n different captions, (English, Harbourish), tokens apart by blanks; lengths drawn evenly.

    min_words, max_words: words of the English before its full stop, 3 to 60.
    Raises ValueError for other lengths, and where so many different captions of such lengths do not exist.
    """
    return [
        (" ".join(w for w, _ in source), " ".join(target)) for source, target, _ in _many(n, seed, min_words, max_words)
    ]


def aligned_captions(
    n: int, seed: int = 0, min_words: int = 4, max_words: int = 14
) -> list[tuple[list[str], list[str], list[int]]]:
    """Such captions with their true alignment: (English words, Harbourish words, order).

    The Harbourish word t translates the English word order[t]; each English word is the counterpart of exactly one.
    """
    return [
        ([word for word, _ in source], target, order) for source, target, order in _many(n, seed, min_words, max_words)
    ]


def tagged_captions(
    n: int, seed: int = 0, min_words: int = 4, max_words: int = 14
) -> list[tuple[list[str], list[str]]]:
    """The English sides of such captions with the universal part of speech of each word: (words, tags)."""
    made = _many(n, seed, min_words, max_words)
    return [([word for word, _ in source], [tag for _, tag in source]) for source, *_ in made]


def grammatical(words: Sequence[str]) -> bool:
    """Whether the words are a caption: agreement, order, "an" before a vowel, a full stop."""
    return CAPTION.fullmatch("".join(LETTERS.get(word, "?") for word in words)) is not None
