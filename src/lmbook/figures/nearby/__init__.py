"""NearSections: from each section of the book to those of other chapters that a published encoder finds nearest.

    near(i) = the sections j with the largest s_i . s_j       s: the mean of the states, of length 1

Vectors, neighbours and their places by TF-IDF were computed from the first paragraph of each section, of at least 30
words (lab/passages.py); the page only shows them.
"""

import html
import re

import traitlets

from lmbook.figures import Figure, counts, says, table_html
from lmbook.lab import passages

CLEAR = 0.05  # by which the nearest of the section to begin with leads: more than rounding


def agreed(near: list[list]) -> float:
    """How many of five neighbours are among the five nearest by TF-IDF too, on average."""
    return sum(1 <= place <= passages.NEAR for row in near for _, _, place, _ in row) / len(near)


def telling(sections: list[list], near: list[list]) -> int:
    """The section to begin with: the nearest leads clearly and is far down by TF-IDF, whose own nearest is there too.

    Of those whose passages, and their neighbours', are long and have no signs of formulae, the one with the largest
    lead.
    """

    def lead(i: int) -> float:
        (_, first, *_), (_, second, *_), *_ = near[i]
        return first - second

    def fits(i: int) -> bool:
        texts = [sections[j][2].strip("…") for j in (i, *(row[0] for row in near[i]))]
        readable = all(len(text) >= passages.LONG and not passages.SIGN.search(text) for text in texts)
        places = [row[2] for row in near[i]]
        return readable and lead(i) >= CLEAR and places[0] > passages.NEAR and 1 in places

    return max(range(len(near)), key=lambda i: (fits(i), lead(i)))


class NearSections(Figure):
    """Choose a section; its neighbours are buttons that lead on.

    sections: [chapter, section, of its first paragraph].  near: for each [number, cosine, place by TF-IDF, 0 without a
    word in common, words in common], nearest first.  chosen: the section, from 0.

    Raises ValueError for a section that does not exist.
    """

    module = "nearby"
    caption = says(
        "A section of this book, and the five of other chapters whose first paragraphs, shown in part, "
        "all-MiniLM-L6-v2 finds nearest. Which are about the same thing, and which only sound alike?"
    )

    sections = traitlets.List().tag(sync=True)
    near = traitlets.List().tag(sync=True)
    chosen = traitlets.Int(0).tag(sync=True, counts="sections")
    _chosen_exists = counts("chosen", "sections")

    def __init__(self, **state):
        shipped = passages.shipped()
        near = shipped["near"]
        sections = [[chapter, re.sub(r"^\d+\. ", "", name), text] for chapter, name, text in shipped["sections"]]
        title = f"An encoder and TF-IDF agree on {agreed(near):.1f} of the five nearest sections, on average"
        super().__init__(
            **{"sections": sections, "near": near, "title": title, "chosen": telling(sections, near)} | state
        )

    def neighbours(self) -> list[tuple[str, float, int]]:
        """The nearest sections with their cosines and their places by TF-IDF."""
        return [(self.name(j), cosine, place) for j, cosine, place, _ in self.near[self.chosen]]

    def name(self, i: int) -> str:
        chapter, section, _ = self.sections[i]
        return f"{chapter}: {section}"

    def _describe(self, change=None):
        (first, cosine, place), *_ = self.neighbours()
        words = f"by TF-IDF it is number {place}" if place else "they have no telling word in common"
        self.alt = f"Nearest to “{self.name(self.chosen)}” is “{first}”, with cosine {cosine:.2f}; {words}."

    def fallback(self) -> str:
        rows = ((name, f"{cosine:.2f}", place or "–") for name, cosine, place in self.neighbours())
        passage = f"<blockquote>{html.escape(self.sections[self.chosen][2])}</blockquote>"
        return super().fallback() + passage + table_html(("chapter and section", "cosine", "place by TF-IDF"), rows)
