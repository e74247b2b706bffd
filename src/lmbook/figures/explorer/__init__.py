"""NGramExplorer: everything an n-gram model knows, counted from a text that the reader can look at.

    P(w | h) = sum over orders of what each order gives to w        (lmbook.ngram, ngram.mjs)

The page counts the text and computes every number anew; here the same numbers give the first view.
"""

import re
from collections.abc import Sequence
from functools import cached_property

import numpy as np
import traitlets

from lmbook.figures import Figure, bars_svg, says, table_html

ORDERS, SHOWN, MOST = 5, 10, 50_000
SMOOTHINGS = {"none": "raw shares", "add-k": "add-k", "interpolated": "interpolated", "kneser-ney": "Kneser-Ney"}


def _compact(tokens: Sequence[str], name: str) -> str:
    """A stream of tokens as one string: tokens apart by spaces, a line end for each <eos>."""
    if isinstance(tokens, str):
        raise TypeError(f"{name} wants a list of tokens, not one string; cut it first with lmbook.text.words().")
    tokens = list(tokens)
    if not tokens or len(tokens) > MOST:
        raise ValueError(
            f"{name} has {len(tokens):,} tokens; the page counts them itself, so give between 1 and {MOST:,}."
        )
    odd = next((token for token in tokens if not token or token.split() != [token]), None)
    if odd is not None:
        raise ValueError(f"{name} holds the token {odd!r}; a token has no spaces and is not empty.")
    return " ".join("\n" if token == "<eos>" else token for token in tokens)


def _times(n: int) -> str:
    return {1: "once", 2: "twice"}.get(n, f"{n:,} times")


def _typed(history: str) -> list[str]:
    """The tokens of a typed history, which may hold <eos> and <unk>."""
    from lmbook.text import words

    parts = re.split(r"(<eos>|<unk>)", history)
    return [token for part in parts for token in ([part] if part in ("<eos>", "<unk>") else words(part))]


class NGramExplorer(Figure):
    """Type a history; see its counts, the way down to shorter histories, and the likeliest next words. Sample onwards.

    text: training tokens, at most 50,000; by default the training set of the built-in harbour corpus.
    test: tokens of held-out text, whose perplexity is shown; by default harbour's test set if text is harbour's.
    history: words, as typed.  n: order, 1 to 5.  smoothing: "none", "add-k", "interpolated" or "kneser-ney".
    k: the added count, above 0.  weights: for interpolation, one list for each order 1 to 5, the weight of the uniform
    distribution first (`lmbook.ngram.fit_weights` on held-out text, by default on harbour's validation set; equal
    weights for another text).  seed: of the sampling. Title, caption and alternative text may be given too.

    Unknown words become <unk>. With smoothing "none" and an unseen history the shorter one takes over, and the figure
    says so. Refuses an order, a k or a smoothing that does not exist; TypeError for a text left uncut.
    """

    module = "explorer"
    title = says("The longer the history, the less the text has to say about it")
    caption = says(
        "Each bar is a next word's probability, patterned by the history that it comes from; the line below is the "
        "raw share. Raise n, and bar and line part. Which setting has the lowest perplexity?"
    )

    text = traitlets.Unicode().tag(sync=True)  # "" stands for harbour's, which the module carries
    test = traitlets.Unicode().tag(sync=True)
    history = traitlets.Unicode().tag(sync=True)
    n = traitlets.Int(3, min=1, max=ORDERS).tag(sync=True)
    k = traitlets.Float(0.1).tag(sync=True)
    smoothing = traitlets.Enum(SMOOTHINGS, "kneser-ney").tag(sync=True)
    weights = traitlets.List().tag(sync=True)
    seed = traitlets.Int(1).tag(sync=True)

    def __init__(
        self,
        text: Sequence[str] | None = None,
        *,
        test: Sequence[str] | None = None,
        history: str = "they looked at the",
        n: int = 3,
        k: float = 0.1,
        smoothing: str = "kneser-ney",
        weights: Sequence[Sequence[float]] | None = None,
        seed: int = 1,
        **state,
    ):
        from lmbook import data

        harbour = data.load("harbour")
        at_home = text is None or list(text) == list(harbour["train"])
        self.training = harbour["train"] if at_home else text
        if test is None and at_home:
            test = harbour["test"]
        self.held_out = list(test or [])
        self._held_valid = harbour["valid"] if at_home else None
        compact = "" if at_home else _compact(text, "text")
        super().__init__(
            text=compact,
            test=_compact(self.held_out, "test") if self.held_out else "",
            history=history,
            n=n,
            k=k,
            smoothing=smoothing,
            weights=self._weights(weights),
            seed=seed,
            **state,
        )

    @traitlets.validate("k")
    def _check_k(self, proposal):
        if not 0 < proposal["value"] < float("inf"):
            raise ValueError(f"k is {proposal['value']}; add a positive number (for k = 0 take smoothing='none').")
        return proposal["value"]

    # --- the model in Python, for the first view and for tests

    @cached_property
    def vocabulary(self):
        from lmbook.text import Vocabulary

        return Vocabulary.build(self.training)

    @cached_property
    def allowed(self) -> np.ndarray:
        """The types that can be predicted: all but <pad>, <sos> and <mask>."""
        return np.array([token not in ("<pad>", "<sos>", "<mask>") for token in self.vocabulary.tokens])

    @cached_property
    def counts(self):
        from lmbook.ngram import Counts

        return Counts(self.vocabulary.encode(self.training), ORDERS, len(self.vocabulary))

    def model(self):
        """The model of the moment, from lmbook.ngram."""
        from lmbook import ngram

        if self.smoothing == "none":
            return ngram.MaximumLikelihood(self.counts, self.n, self.allowed)
        if self.smoothing == "add-k":
            return ngram.AddK(self.counts, self.n, self.k, self.allowed)
        if self.smoothing == "interpolated":
            return ngram.JelinekMercer(self.counts, self.weights[self.n - 1], self.allowed)
        return ngram.KneserNey(self.counts, self.n, allowed=self.allowed)

    def _weights(self, given) -> list[list[float]]:
        from lmbook.ngram import fit_weights

        if given is not None:
            weights = [[float(weight) for weight in row] for row in given]
            if [len(row) for row in weights] != list(range(2, ORDERS + 2)):
                raise ValueError(
                    f"weights must be {ORDERS} lists, of 2 to {ORDERS + 1} numbers, uniform's weight first."
                )
            return weights
        if self._held_valid is None:
            return [[1 / (n + 1)] * (n + 1) for n in range(1, ORDERS + 1)]
        held_out = self.vocabulary.encode(self._held_valid)
        fitted = [fit_weights(self.counts, n, held_out, self.allowed) for n in range(1, ORDERS + 1)]
        # Four decimals keep stored outputs stable; uniform takes what rounding leaves, so that the sum stays 1.
        upper = [[round(float(weight), 4) for weight in row[1:]] for row in fitted]
        return [[round(1 - sum(row), 4), *row] for row in upper]

    def top(self, count: int = SHOWN) -> list[tuple[str, float]]:
        """The likeliest next words and their probabilities, ties in the order of the vocabulary."""
        p = self.model().distribution(self.vocabulary.encode(_typed(self.history)))
        best = [int(i) for i in np.argsort(-p, kind="stable")[:count] if p[i] > 0]
        return [(self.vocabulary.tokens[i], float(p[i])) for i in best]

    def suffixes(self) -> list[tuple[str, int, int]]:
        """The model's history and its ever shorter ends: (words, times seen before a word, different followers)."""
        tokens = _typed(self.history)
        tokens = tokens[max(0, len(tokens) - self.n + 1) :]
        rows = []
        for start in range(len(tokens) + 1):
            followers, how_often = self.counts.followers(self.vocabulary.encode(tokens[start:]))
            rows.append((" ".join(tokens[start:]), int(how_often.sum()), len(followers)))
        return rows

    def _describe(self, change=None):
        (word, p), *others = self.top(3)
        rest = ", ".join(f"“{other}” with {q:.3g}" for other, q in others)
        seen, times, followers = self.suffixes()[0]
        how_often = (
            f"seen {_times(times)} with {followers} different follower{'s' if followers > 1 else ''}"
            if times
            else "never seen"
        )
        after = f"After “{seen}”, {how_often}," if seen else "With no history"
        model = f"a model of order {self.n} ({SMOOTHINGS[self.smoothing]})"
        then = f"; then {rest}" if rest else ""
        self.alt = f"{after} {model} finds “{word}” likeliest, with probability {p:.3g}{then}."

    def fallback(self) -> str:
        top = bars_svg([(word, p, f"{p:.3g}") for word, p in self.top()], alt=self.alt)
        rows = ((words or "no history", *numbers) for words, *numbers in self.suffixes())
        return top + super().fallback() + table_html(("history", "seen", "different followers"), rows)
