"""DraftAndCheck: a draft proposes letters, the target keeps or replaces them, and what is written is the target's.

x ~ q, kept where u < p(x) / q(x); else drawn from max(p - q, 0), normalised        (Leviathan et al. 2023)

p: the Shakespeare GPT behind PLACE; q: the GRU of chapter 7 there, or a draft that knows nothing.
"""

import html

import traitlets

from lmbook.figures import Figure, bars_svg, says
from lmbook.figures.digit import uniforms
from lmbook.serving import tokens_a_round

PLACE = "\nROMEO:\nI w"
LETTERS = ("i", "o", "a", "e", "h", "others")
TARGET = (0.402, 0.277, 0.206, 0.061, 0.03, 0.024)
DRAFTS = {
    "itself": TARGET,
    "GRU": (0.464, 0.276, 0.163, 0.065, 0.019, 0.013),
    "even": (1 / 6,) * 6,
    "stubborn": (0.01, 0.01, 0.01, 0.01, 0.95, 0.01),
}
SEED, MOST = 11, 14


def drawn(p: tuple[float, ...], u: float) -> int:
    """The place at which the running sum of p passes u."""
    total, last = 0.0, 0
    for i, one in enumerate(p):
        if one > 0:
            total, last = total + one, i
            if u < total:
                break
    return last


def written(draft: str, letters: int) -> tuple[list[int], int]:
    """How often each letter was written, and how many drafts were kept, of 2^letters: the same as in the page."""
    p, q = TARGET, DRAFTS[draft]
    rest = [max(0.0, a - b) for a, b in zip(p, q, strict=True)]
    leftover = tuple(one / (sum(rest) or 1.0) for one in rest)
    counts, kept, u = [0] * len(p), 0, uniforms(SEED)
    for _ in range(2**letters):
        x, at, instead = drawn(q, next(u)), next(u), next(u)
        keeps = at * q[x] < p[x]
        counts[x if keeps else drawn(leftover, instead)] += 1
        kept += keeps
    return counts, kept


class DraftAndCheck(Figure):
    """What a target and its draft write at one place of a text, and how many letters one pass of the target gives.

    draft: itself, GRU, even or stubborn.  letters: how many are written, as a power of 2.  gamma: drafts a round.
    """

    module = "draft"
    title = says("A bad draft costs time and changes nothing in the text")
    caption = says(
        "Behind “ROMEO: I w” a draft proposes a letter, and the Shakespeare GPT keeps or replaces it. "
        "Which draft bends the written shares away from the GPT's? And which one is kept so rarely that drafting "
        "is not worth the trouble?"
    )

    draft = traitlets.Enum(tuple(DRAFTS), "GRU").tag(sync=True)
    letters = traitlets.Int(10, min=0, max=MOST).tag(sync=True)
    gamma = traitlets.Int(4, min=1, max=8).tag(sync=True)

    def beta(self) -> float:
        """The probability that a draft is kept, sum min(p, q)."""
        return sum(map(min, TARGET, DRAFTS[self.draft]))

    def _describe(self, change=None):
        counts, kept = written(self.draft, self.letters)
        n = 2**self.letters
        shares = ", ".join(f"{x} {c / n:.1%}" for x, c in zip(LETTERS, counts, strict=True))
        self.alt = (
            f"Draft: {self.draft}. Of {n:,} drafts {kept / n:.1%} were kept, {self.beta():.1%} expected. Written: "
            f"{shares}. With {self.gamma} drafts a round {tokens_a_round(self.beta(), self.gamma):.2f} letters for "
            "each pass of the GPT."
        )

    def fallback(self) -> str:
        counts, _ = written(self.draft, self.letters)
        n = 2**self.letters
        rows = [(f"{x}, {p:.1%}", c / n, f"{c / n:.1%}") for x, p, c in zip(LETTERS, TARGET, counts, strict=True)]
        return f"<p>{html.escape(self.alt)}</p>{bars_svg(rows, alt=self.alt)}"
