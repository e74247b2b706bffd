"""Retrieval: the passages of a collection that answer a question, by the words they share.

    tf-idf    w(t, d) = (1 + ln tf(t, d)) ln((1 + D) / (1 + df(t))) + (1 + ln tf), each text's vector of length 1
    score     inner product of question and passage: the cosine of their angle

Shapes: D texts, V words.  Vectors of sentences (chapter 16) take the place of the words' weights.
"""

import re
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np


def words(text: str) -> list[str]:
    """Its words in small letters: runs of two or more letters or digits."""
    return re.findall(r"\w\w+", text.lower())


class TfIdf:
    """The weighted words of D texts; `rows` (D, V), each of length 1 or 0  (Salton and Buckley 1988).

    weight = (1 + ln tf) (1 + ln((1 + D) / (1 + df))), as scikit-learn's TfidfVectorizer(sublinear_tf=True).
    """

    def __init__(self, texts: Sequence[str]):
        if not texts:
            raise ValueError("TfIdf: no texts; give at least one.")
        found = [Counter(words(text)) for text in texts]
        df = Counter(word for counts in found for word in counts)
        self.places = {word: i for i, word in enumerate(sorted(df))}
        self.idf = np.array([1 + np.log((1 + len(texts)) / (1 + df[word])) for word in self.places])
        self.rows = np.array([self.vector(text) for text in texts])

    def vector(self, text: str) -> np.ndarray:
        """(V,); words that no text of the collection has are left out."""
        weights = np.zeros(len(self.places))
        for word, tf in Counter(words(text)).items():
            if word in self.places:
                weights[self.places[word]] = (1 + np.log(tf)) * self.idf[self.places[word]]
        return weights / max(float(np.linalg.norm(weights)), 1e-12)

    def search(self, question: str, most: int = 5) -> list[tuple[int, float]]:
        """The numbers of the best texts and their scores, the best first; of equal ones the earlier first."""
        scores = self.rows @ self.vector(question)
        return [(int(i), float(scores[i])) for i in np.argsort(-scores, kind="stable")[:most]]


class Quote(NamedTuple):
    """text: word for word from passage `source`.  score: its cosine with the question."""

    text: str
    source: int
    score: float


def sentences(text: str) -> list[str]:
    """A text cut behind . ? and ! where a blank and a capital letter follow."""
    return re.split(r"(?<=[.?!]) (?=[A-Z])", text)


def quote(question: str, texts: Sequence[str], least: float = 0.2) -> Quote | None:
    """The sentence of the best passage that is nearest to the question; None where no passage reaches `least`.

    An answerer that cannot invent: what it says stands in the collection, and it says where.
    """
    (source, score), *_ = TfIdf(texts).search(question, 1)
    if score < least:
        return None
    parts = sentences(texts[source])
    best, _ = TfIdf(parts).search(question, 1)[0]
    return Quote(parts[best], source, score)
