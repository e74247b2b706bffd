"""NearSections: from each section of the book to those of other chapters that a published encoder finds nearest.

    near(i) = the sections j with the largest s_i . s_j       s: the mean of the states, of length 1

Vectors and neighbours were computed by all-MiniLM-L6-v2 from the first paragraph of each section (lab/passages.py); the
page only shows them.
"""

import html
import re
from itertools import groupby

import traitlets

from lmbook.figures import Figure, says
from lmbook.lab import passages

FIRST = "What a state cannot copy"
HOLE = re.compile(r"the formula|… |(of|from|by) They|[=√/^_∂Σ|\\]| \?")  # where a formula, a number, a name stood
SHORT = 60  # characters, in which a section seldom says what it is about
LONG = 5  # letters of a word that is looked for in both passages


def whole(text: str) -> str:
    """The longest run of sentences of a passage without holes, the last perhaps cut off; where that is short, all."""
    sentences = (one.strip() for one in re.findall(r".+?(?:[.?!](?= |$)|…$)", text))
    runs = groupby(sentences, lambda one: one != "…" and not HOLE.search(one))
    best = max((" ".join(run) for fits, run in runs if fits), key=len, default="")
    return best if len(best) >= SHORT else text


def words(section: list) -> set[str]:
    """The long words of a section's name and passage, without the ending of a plural and what stands for a formula."""
    found = re.findall(r"[^\W\d_]+", " ".join(section[1:]).lower())
    return {word.removesuffix("s") for word in found if len(word) >= LONG} - {"formula"}


class NearSections(Figure):
    """Choose a section; its neighbours are buttons that lead on.

    sections: [chapter, section, of its first paragraph].  near: for each [number, cosine, share of its long words that
    the section has too], nearest first.  chosen: the section, from 0.

    Raises ValueError for a section that does not exist.
    """

    module = "nearby"
    title = says("An encoder brings sections together that share a subject, or only its words")
    caption = says(
        "A section of this book, and the five of other chapters that all-MiniLM-L6-v2 finds nearest to it. Walk from "
        "neighbour to neighbour: which ones are about the same thing, and which only sound alike?"
    )

    sections = traitlets.List().tag(sync=True)
    near = traitlets.List().tag(sync=True)
    chosen = traitlets.Int(0).tag(sync=True, counts="sections")

    def __init__(self, **state):
        shipped = passages.shipped()
        sections = [[chapter, re.sub(r"^\d+\. ", "", name), whole(text)] for chapter, name, text in shipped["sections"]]
        has = [words(section) for section in shipped["sections"]]
        near = [
            [[j, cosine, round(len(has[i] & has[j]) / max(1, len(has[j])), 2)] for j, cosine in row]
            for i, row in enumerate(shipped["near"])
        ]
        state = {"sections": sections, "near": near} | state
        if "chosen" not in state:
            state["chosen"] = next((i for i, (_, name, _) in enumerate(state["sections"]) if name == FIRST), 0)
        super().__init__(**state)

    @traitlets.validate("chosen")
    def _check(self, proposal):
        if not 0 <= proposal["value"] < len(self.sections):
            raise ValueError(f"chosen is {proposal['value']}; it must be from 0 to {len(self.sections) - 1}.")
        return proposal["value"]

    def neighbours(self) -> list[tuple[str, float]]:
        """The nearest sections with their cosines."""
        return [(self.name(j), cosine) for j, cosine, _ in self.near[self.chosen]]

    def name(self, i: int) -> str:
        chapter, section, _ = self.sections[i]
        return f"{chapter}: {section}"

    def _describe(self, change=None):
        (first, cosine), *_ = self.neighbours()
        self.alt = f"Nearest to “{self.name(self.chosen)}” is “{first}”, with cosine {cosine:.2f}."

    def fallback(self) -> str:
        rows = "".join(
            f"<tr><th scope='row'>{html.escape(name)}</th><td>{cosine:.2f}</td></tr>"
            for name, cosine in self.neighbours()
        )
        head = "<th scope='col'>chapter and section</th><th scope='col'>cosine</th>"
        text = f"<p>{html.escape(self.alt)}</p><blockquote>{html.escape(self.sections[self.chosen][2])}</blockquote>"
        return f"{text}<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"
