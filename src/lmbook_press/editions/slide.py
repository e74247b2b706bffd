"""What a slide is, which slides are the core of a lecture, and the pieces of Markdown that they are made of."""

import re
from dataclasses import dataclass, field

from markupsafe import Markup

from lmbook_press.prose import inline as inline_of
from lmbook_press.prose import prose as html_of
from lmbook_press.rendering import filled

SENTENCE = re.compile(r"(?<=[.!?:])[\"”)*]*\s+(?=[A-Z“\"*`$(\[])")
KEPT_WHOLE = re.compile(r"\*\*[^*]+\*\*|\$[^$]+\$|`[^`]+`|\[[^\]]*\]\([^)]*\)|\b(?:e\.g|i\.e|et al|Fig|eq|cf|vs|M|J)\.")
LONG_FORMULA = 60  # signs of TeX
MOST_CORE, LEAST_CORE = 24, 3  # slides, and the weight of those that may be among them


@dataclass
class Slide:
    """parts and notes are HTML; kind: "", "formula", "ask" for a question or "answer"; section: above the heading.

    claim: the heading was written as one, in the cell's metadata or as the title of a figure.
    after, before: what the book says first behind a formula and last in front of it; one is shown where the formula
    would be alone.
    """

    heading: str
    kind: str = ""
    parts: list[Markup] = field(default_factory=list)
    notes: list[Markup] = field(default_factory=list)
    section: str = ""
    tag: str = ""
    claim: bool = False
    core: bool = False
    after: str | None = None
    before: str = ""

    @property
    def weight(self) -> int:
        """How much a meeting needs it: 0 most, 4 least."""
        shown = "".join(self.parts)
        if self.tag:
            return {"slide-core": -1, "slide-below": LEAST_CORE + 1}[self.tag]
        if self.kind in ("ask", "answer"):
            return 0 if self.heading == "Predict first" else 2
        if "data-module" in shown or self.heading.startswith("What you will"):
            return 0
        if "data-drawing" in shown:
            return 1
        if "lm-plot" in shown:
            return 2
        return 3 if self.kind == "formula" else 4


def sentences(paragraph: str) -> list[str]:
    """The sentences of a paragraph in Markdown; what stands between dollars or in code is never cut."""
    kept: list[str] = []

    def aside(found: re.Match) -> str:
        kept.append(found[0])
        return f"\x00{len(kept) - 1}\x01"

    def back(text: str) -> str:
        return re.sub(r"\x00(\d+)\x01", lambda found: kept[int(found[1])], text)

    plain = KEPT_WHOLE.sub(aside, " ".join(paragraph.split()))
    return [back(part) for part in SENTENCE.split(plain) if part]


def prose(markdown: str) -> Markup:
    return html_of(markdown, katex=True)


def inline(markdown: str) -> Markup:
    return inline_of(markdown, katex=True)


def stacked(formula: str) -> str:
    r"""A long formula in dollars whose parts are set apart by \qquad, with each part on a line of its own."""
    formula = re.sub(r"\\qquad\s*(\\text\{[^{}]*\})\s*\\qquad", r"\\qquad \1\\quad", formula)  # "hence" and the like
    tag = "".join(re.findall(r"\\tag\{[^}]*\}", formula))
    parts = [part.strip() for part in formula.strip().strip("$").replace(tag, "").split(r"\qquad")]
    whole = all(part and part.count("{") == part.count("}") for part in parts)
    if len(parts) == 1 or not whole or r"\begin" in formula or len("".join(parts)) < LONG_FORMULA:
        return formula
    return "\n".join(["$$", r"\begin{gathered}", " \\\\[0.5em]\n".join(parts), r"\end{gathered}", tag, "$$"])


def paragraph(markdown: str) -> Markup:
    """A paragraph that stands above or below what a slide shows."""
    return filled('<div class="text">{}</div>', prose(markdown))


def cut(slides: list[Slide]) -> list[list[Slide]]:
    """Stacks of slides: a slide of the core, then what lies below it until the next one of the core."""
    answers = [at for at, slide in enumerate(slides) if slide.kind == "answer"]
    checks = [at for at, slide in enumerate(slides) if slide.heading == "Check yourself" and not slide.tag]
    spare = set(checks) - {checks[at] for at in ((len(checks) - 1) // 2, -1) if checks}  # all but one in each half
    core: set[int] = set()
    for at in sorted(range(len(slides)), key=lambda at: (at in spare, slides[at].weight, at)):
        if slides[at].kind == "answer" or slides[at].weight > LEAST_CORE:
            continue  # an answer comes with its question
        both = {at} | ({next((one for one in answers if one > at), at)} if slides[at].kind == "ask" else set())
        if len(core | both) <= MOST_CORE:
            core |= both
    stacks: list[list[Slide]] = []
    for at, slide in enumerate(slides):
        slide.core = at in core
        if slide.core or not stacks:
            stacks.append([])
        stacks[-1].append(slide)
    return stacks
