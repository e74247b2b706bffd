"""What a neural model must beat: the commonest answer, and linear models on counted features.

    majority     y_hat = the label most frequent for this word in training
    linear       y_hat = argmax_k (w_k . f(x) + b_k), f: which features a token or a text has

The linear models are logistic regressions of scikit-learn: over the word, its beginning, its ending and its neighbours
for a token, over TF-IDF for a text. The tagger decides each token for itself, from the words alone.
"""

import importlib
from collections import Counter, defaultdict
from collections.abc import Sequence

from lmbook.lab.word_shapes import shape


class MajorityTagger:
    """The most frequent tag of each word in training, that of all words together for a word never seen.

    Ties go to the tag that came first.
    """

    def __init__(self, sentences: Sequence[Sequence[str]], tags: Sequence[Sequence[str]]):
        counts: dict[str, Counter] = defaultdict(Counter)
        for words, labels in zip(sentences, tags, strict=True):
            for word, tag in zip(words, labels, strict=True):
                counts[word][tag] += 1
        if not counts:
            raise ValueError("there is no word to learn from; give at least one sentence.")
        self.tags = {word: tags.most_common(1)[0][0] for word, tags in counts.items()}
        self.fallback = sum(counts.values(), Counter()).most_common(1)[0][0]

    def predict(self, sentences: Sequence[Sequence[str]]) -> list[list[str]]:
        """A tag for every word."""
        return [[self.tags.get(word, self.fallback) for word in words] for words in sentences]


def token_features(words: Sequence[str], t: int) -> list[str]:
    """What the linear tagger sees of the token at t: the word, its shape, first and last letters, two neighbours on
    each side, and the endings of the nearest two."""

    def at(i: int) -> str:
        return words[i] if 0 <= i < len(words) else "<edge>"

    word = words[t].lower()
    names = [f"form {words[t]}", f"word {word}", f"shape {shape(words[t])}", f"first {t == 0}"]
    names += [f"starts {word[:n]}" for n in range(1, 4)]
    names += [f"ends {word[-n:]}" for n in range(1, 5)]
    names += [f"{i:+d} {at(t + i).lower()}" for i in (-2, -1, 1, 2)]
    names += [f"{i:+d} ends {at(t + i).lower()[-3:]}" for i in (-1, 1)]
    names += [f"{i:+d} shape {shape(at(t + i))}" for i in (-1, 1)]
    return names


class LinearTagger:
    """Logistic regression on `token_features`, one tag against all others, by stochastic gradient descent.

    alpha: strength of the L2 penalty.  epochs: passes over the training set.  The weights are averages over the steps.
    """

    def __init__(self, alpha: float = 3e-6, epochs: int = 8, seed: int = 0):
        self.features = _sklearn("feature_extraction.text").CountVectorizer(analyzer=list)
        self.model = _sklearn("linear_model").SGDClassifier(
            loss="log_loss", alpha=alpha, max_iter=epochs, tol=None, average=True, random_state=seed
        )

    def fit(self, sentences: Sequence[Sequence[str]], tags: Sequence[Sequence[str]]) -> "LinearTagger":
        self.model.fit(self.features.fit_transform(self._rows(sentences)), [tag for labels in tags for tag in labels])
        return self

    def predict(self, sentences: Sequence[Sequence[str]]) -> list[list[str]]:
        """A tag for every word."""
        found = iter(self.model.predict(self.features.transform(self._rows(sentences))))
        return [[str(next(found)) for _ in words] for words in sentences]

    @staticmethod
    def _rows(sentences: Sequence[Sequence[str]]) -> list[list[str]]:
        return [token_features(words, t) for words in sentences for t in range(len(words))]


class LinearClassifier:
    """TF-IDF of single words and pairs of words, then logistic regression (L2 penalty 1 / C)."""

    def __init__(self, tokenize, C: float = 10.0):
        self.features = _sklearn("feature_extraction.text").TfidfVectorizer(
            tokenizer=tokenize, token_pattern=None, lowercase=False, ngram_range=(1, 2), sublinear_tf=True
        )
        self.model = _sklearn("linear_model").LogisticRegression(C=C, max_iter=1000)

    def fit(self, texts: Sequence[str], labels: Sequence[str]) -> "LinearClassifier":
        self.model.fit(self.features.fit_transform(texts), labels)
        return self

    def predict(self, texts: Sequence[str]) -> list[str]:
        """A label for every text."""
        return [str(label) for label in self.model.predict(self.features.transform(texts))]


def _sklearn(module: str):
    """A module of scikit-learn, imported on demand."""
    try:
        return importlib.import_module(f"sklearn.{module}")
    except ImportError as error:
        raise ImportError("The linear baselines need scikit-learn: pip install scikit-learn.") from error
