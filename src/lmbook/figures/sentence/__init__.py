"""SentenceProbability: type a sentence, see the chain rule multiply.

    P(w_1 .. w_T) = prod_t P(w_t | w_<t)          ln P = sum_t ln P(w_t | w_<t)

The model is interpolated Kneser-Ney (Chen and Goodman 1999) over the training set of the built-in harbour corpus. The
page counts it anew (ngram.mjs); here the same numbers give the first view.
"""

import html
from functools import cache

import numpy as np
import traitlets

from lmbook.figures import Figure, says
from lmbook.figures.stills import PALETTE, drawing

EXAMPLES = [
    ["in order", "in the morning the boats go out to sea ."],
    ["out of order", "sea morning the to in boats . out go the"],
    ["their father", "their father mended the nets ."],
    ["there father", "there father mended the nets ."],
    ["she sleeps", "the cat sleeps where she likes ."],
    ["she sleep", "the cat sleep where she likes ."],
    ["a new word", "the astronaut looked at the sea ."],
    [
        "a long one",
        "in the evening the captain told the children a story of an old fisherman who went out to sea in a small boat "
        "and did not come home until the ice was gone and the birds were back on the island .",
    ],
]


@cache
def harbour_model(order: int):
    """The model of the figure and its vocabulary: (KneserNey, Vocabulary)."""
    from lmbook import data
    from lmbook.ngram import Counts, KneserNey
    from lmbook.text import MASK, PAD, SOS, Vocabulary

    tokens = data.load("harbour")["train"]
    vocabulary = Vocabulary.build(tokens)
    allowed = np.array([token not in (PAD, SOS, MASK) for token in vocabulary.tokens])
    return KneserNey(Counts(vocabulary.encode(tokens), order, len(vocabulary)), order, allowed=allowed), vocabulary


def _num(x: float) -> str:
    return f"{x:.2f}".replace("-", "−")  # a true minus sign, as on the page


class SentenceProbability(Figure):
    """The conditional probability of each word of a sentence, their running product and the sum of their logarithms.

    sentence: the sentence to start with.  order: n of the n-gram model, 1 to 5 (3: the two words before).
    examples: pairs [label, sentence] to try.  Title, caption and alternative text may be given too.

    A sentence starts after <eos>, the end of the one before it, and its own <eos> is predicted with it. Unknown words
    become <unk>. At most 60 words are used.
    """

    module = "sentence"
    title = says("A product of probabilities vanishes; the sum of their logarithms does not")
    caption = says(
        "Each piece of the strip is as long as −ln P of its word, so the whole strip is −ln P of the sentence. "
        "Type a sentence, or try the examples in pairs. Swap two words and see how much the order mattered."
    )

    sentence = traitlets.Unicode().tag(sync=True)
    order = traitlets.Int(3, min=1, max=5).tag(sync=True)
    examples = traitlets.List().tag(sync=True)

    def __init__(self, sentence: str = EXAMPLES[-1][1], **state):
        state.setdefault("examples", EXAMPLES)
        super().__init__(sentence=sentence, **state)

    def tokens(self) -> list[tuple[str, float]]:
        """Every token of the sentence, <eos> last, with its natural log probability."""
        from lmbook.text import words

        model, vocabulary = harbour_model(self.order)
        tokens = [*words(self.sentence)[:60], "<eos>"]
        logs = model.log_probs(vocabulary.encode(["<eos>", *tokens]), start=1)
        return list(zip(tokens, logs.tolist(), strict=True))

    def _describe(self, change=None):
        logs = self.tokens()
        total = sum(log for _, log in logs)
        token, log = min(logs, key=lambda pair: pair[1])
        self.alt = (
            f"“{self.sentence}” has {len(logs)} tokens with its end; the sum of their log probabilities is "
            f"{_num(total)}. The most surprising is “{token}”, ln P = {_num(log)}."
        )
        products = np.cumprod(np.exp([log for _, log in logs]).astype(np.float32), dtype=np.float32)
        if not products[-1]:
            self.alt += f" In float32 the product is 0 from token {int(np.argmax(products == 0)) + 1} on."

    def fallback(self) -> str:
        """The strip of all words, the end of float32, and the numbers as text."""
        logs = [-log for _, log in self.tokens()]
        most, end = max(150.0, sum(logs)), 149 * np.log(2)
        x, parts, at = (lambda nats: 398 * nats / most + 1), [], 0.0
        for i, long in enumerate(logs):
            opacity = 0.7 if i % 2 else 0.95
            parts.append(
                f'<rect x="{x(at):.1f}" y="18" width="{x(long) - 1:.1f}" height="30" fill="{PALETTE[0]}" '
                f'fill-opacity="{opacity}"/>'
            )
            at += long
        for nats in range(0, int(most) + 1, 50):
            side = "start" if not nats else "middle"
            power = "1" if not nats else f"e<tspan dy='-4' font-size='9'>−{nats}</tspan>"
            parts.append(f'<text x="{x(nats):.1f}" y="12" text-anchor="{side}">{nats}</text>')
            parts.append(f'<text x="{x(nats):.1f}" y="64" text-anchor="{side}">{power}</text>')
        parts.append(
            f'<path d="M{x(end):.1f} 14V74" stroke="currentColor"/><text x="{x(end):.1f}" y="86" '
            'text-anchor="middle">float32 ends: from here 0</text>'
        )
        words = ", ".join(f"{token} {np.exp(log):.2g}" for token, log in self.tokens())
        return (
            drawing("".join(parts), alt=self.alt, tall=92)
            + f"<p>{html.escape(self.alt)}</p><p>{html.escape(words)}</p>"
        )
