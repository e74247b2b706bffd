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
WIDE, VERY_WIDE = 46, 75  # signs that are seen in a row
COMMANDS = r"[dt]?frac|math\w+|operatorname|text|[Bb]igg?|underbrace|q?quad|[,;! ]"
UNSEEN = re.compile(rf"\\(?:begin|end|tag)\{{[^}}]*\}}|\\(?:{COMMANDS})(?![A-Za-z])")
TAG = re.compile(r"\\tag\{[^}]*\}")
TOKEN = re.compile(r"\\[A-Za-z]+|\\.|.", re.DOTALL)
RELATIONS = {"=", r"\ge", r"\le", r"\approx"}
ABOVE = re.compile(r"\\(?:[dt]?frac|underbrace|qquad)")  # signs that stand above each other, or parts to be stacked
SIGN = re.compile(r"\\[A-Za-z]+|[^\s{}_^&\\$]")
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


def _signs(tex: str) -> int:
    """How many signs of a formula are seen, more or less."""
    return len(SIGN.findall(UNSEEN.sub("", tex)))


def _parted(tex: str, signs: set[str]) -> list[str]:
    """A formula cut in front of these signs where they stand outside all brackets; a whole one has one part."""
    parts, depth, open_still = [""], 0, True
    for token in TOKEN.findall(tex):
        depth += (token in ("{", "(", "[")) - (token in ("}", ")", "]"))
        if depth < 0:
            return [tex]  # a bracket without its other half
        open_still &= token != r"\quad" or depth > 0  # what stands behind belongs to the whole
        if token in signs and not depth and open_still and parts[-1].strip():
            parts.append("")
        parts[-1] += token
    return [part.strip() for part in parts]


def _broken(formula: str) -> str:
    """A wide formula of one line with its equations below each other; one that has only one is cut at a plus."""
    left, *equal = _parted(TAG.sub("", formula).strip("$\n "), RELATIONS)
    if not equal:
        return formula
    if len(equal) > 1:
        rows = [f"{left} &{equal[0]}"]
        for one in equal[1:]:
            if _signs(rows[-1] + one) > WIDE:
                rows.append(f"&{one}")
            else:
                rows[-1] += f" {one}"
    else:
        first, *terms = _parted(equal[0], {"+"})
        cuts = [(" ".join([first, *terms[:at]]), " ".join(terms[at:])) for at in range(len(terms))]
        if not cuts:
            return formula
        above, below = min(cuts, key=lambda cut: max(_signs(left + cut[0]), _signs(cut[1])))
        rows = [f"{left} &{above}", rf"&\quad {below}"]
    return "\n".join(["$$", r"\begin{aligned}", " \\\\\n".join(rows), r"\end{aligned}", *TAG.findall(formula), "$$"])


def _in_rows(formula: str) -> str:
    """A wide formula in more rows: pairs of columns below each other, or parted where its source begins a line."""
    if aligned := re.search(r"(?<=\\begin\{aligned\})(?!.*\\begin)(.*)(?=\\end\{aligned\})", formula, re.DOTALL):
        rows = [row.split("&") for row in aligned[1].split(r"\\")]
        if max(_signs("".join(row)) for row in rows) <= WIDE:
            return formula
        pairs = ["&".join(row[at : at + 2]).strip() for row in rows for at in range(0, len(row), 2)]
        pairs = [pair.replace(r"\qquad", r"\\ &\quad") if _signs(pair) > WIDE else pair for pair in pairs]
        inside = " \\\\\n".join(pair for pair in pairs if pair.strip("& "))
        return f"{formula[: aligned.start()]}\n{inside}\n{formula[aligned.end() :]}"
    first, *others = TAG.sub("", formula).strip("$\n").split("\n")
    if _signs(formula) <= WIDE or r"\begin" in formula:
        return formula
    if not others or not all(one[0] in "=+<>" for one in others):
        return formula if ABOVE.search(formula) and _signs(formula) < VERY_WIDE else _broken(formula)
    rows = " \\\\\n".join([f"&{first}", *(rf"&\quad {one}" for one in others)])
    return "\n".join(["$$", r"\begin{aligned}", rows, r"\end{aligned}", *TAG.findall(formula), "$$"])


def stacked(formula: str) -> str:
    r"""A long formula in dollars whose parts are set apart by \qquad, with each part on a line of its own."""
    formula = _in_rows(formula)
    formula = re.sub(r"\\qquad\s*(\\text\{[^{}]*\})\s*\\qquad", r"\\qquad \1\\quad", formula)  # "hence" and the like
    tag = "".join(TAG.findall(formula))
    parts = [part.strip() for part in formula.strip().strip("$").replace(tag, "").split(r"\qquad")]
    both = (("{", "}"), (r"\begin", r"\end"))
    whole = all(part and all(part.count(one) == part.count(other) for one, other in both) for part in parts)
    short = _signs(formula) <= WIDE if r"\begin" in formula else len("".join(parts)) < LONG_FORMULA
    if len(parts) == 1 or not whole or short:
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
