"""An exam question: a function whose docstring is the question, and which returns the numbers in it.

    @question("A fair coin", points=2, minutes=3, objective=1, level=1)
    def coin(rng):
        '''A coin is thrown «n» times. How likely is it that no head appears?

        *Solution.* $2^{-«n»} = «p»$.

        *Marks.* 1 point: independent throws multiply. 1 point: the number.
        '''
        n = whole(rng, 2, 5)
        return {"n": n, "p": Fraction(1, 2**n)}

Numbers are drawn so that every draw can be worked out by hand and has one answer.  Nothing in a solution is typed that
depends on what was drawn.  A question without numbers is a function without an argument, the same in every paper.
"""

import inspect
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

KINDS = ("calculation", "derivation", "shapes", "bug", "words", "what if")
PLACE = re.compile(r"«(\w+)(?::([^«»]+))?»")
DOLLARS = re.compile(r"\$\$?")
OPERATOR = re.compile(r"(?:[+-]|\\cdot|\\times)\s*$")
PARTS = re.compile(r"^\*(?:Solution|Marks)\.\*\s+", re.MULTILINE)


@dataclass(frozen=True)
class Asked:
    """A question with its numbers: text, solution and scheme in Markdown."""

    text: str
    solution: str
    scheme: str
    numbers: dict


@dataclass(frozen=True)
class Question:
    """minutes: for a student who has read the chapter; drawn: whether it has numbers that change.

    objective: which line of "What you will be able to do" at the top of the chapter it examines, from 1.
    level: 1 for one step that the chapter shows, 2 for several, 3 for a case that it does not show.
    """

    name: str
    chapter: int
    title: str
    kind: str
    points: int
    minutes: int
    objective: int
    level: int
    source: str
    draw: Callable

    @property
    def drawn(self) -> bool:
        return bool(inspect.signature(self.draw).parameters)

    @property
    def words(self) -> tuple[int, int]:
        """Its length: words and signs of the text to be read, and of the solution to be written."""
        asked = self.ask(np.random.default_rng(0))
        return len(asked.text.split()), len(asked.solution.split())

    def ask(self, rng: np.random.Generator) -> Asked:
        """The question with numbers from this generator."""
        numbers = self.draw(rng) if self.drawn else self.draw() or {}
        parts = PARTS.split(fill(self.source, numbers))
        if len(parts) != 3:
            raise ValueError(f"{self.name}: a question has a text, one *Solution.* and one *Marks.*, in this order.")
        text, solution, scheme = (part.strip() for part in parts)
        return Asked(text, solution, " ".join(scheme.split()), numbers)


def question(
    title: str, kind: str = "calculation", *, points: int, minutes: int, objective: int, level: int
) -> Callable[[Callable], Question]:
    """Makes a Question of a function in a file chapter_NN."""
    if kind not in KINDS:
        raise ValueError(f"{kind} is not a kind of question; there are {', '.join(KINDS)}.")

    def made(draw: Callable) -> Question:
        chapter, source = int(draw.__module__.rpartition("_")[2]), inspect.cleandoc(draw.__doc__)
        return Question(draw.__name__, chapter, title, kind, points, minutes, objective, level, source, draw)

    return made


def fill(text: str, numbers: dict) -> str:
    """The text with «name» or «name:format» replaced.  Raises KeyError for a name that is not there."""

    def value(found: re.Match) -> str:
        in_formula = len(DOLLARS.findall(text, 0, found.start())) % 2 == 1
        said = shown(numbers[found[1]], found[2] or "", in_formula)
        behind_a_sign = in_formula and OPERATOR.search(text[: found.start()])
        return f"({said})" if behind_a_sign and said.startswith("-") else said

    return PLACE.sub(value, text)


def shown(value: object, spec: str = "", in_formula: bool = True) -> str:
    """A value as it is printed: fractions as fractions, whole numbers in groups of three, others with four digits."""
    comma = "{,}" if in_formula else ","
    if isinstance(value, str):
        return value
    if spec:
        said = format(float(value) if isinstance(value, Fraction) else value, spec)
        return power_of_ten(said.replace(",", comma), in_formula)
    if isinstance(value, Fraction) and value.denominator > 1:
        sign = "-" if value < 0 else ""
        top, bottom = abs(value.numerator), value.denominator
        return rf"{sign}\tfrac{{{top}}}{{{bottom}}}" if in_formula else f"{sign}{top}/{bottom}"
    if isinstance(value, int | np.integer | Fraction):
        number = int(value)
        return (f"{number:,}" if abs(number) >= 10_000 else str(number)).replace(",", comma)
    return power_of_ten(f"{float(value):.4g}", in_formula)


def power_of_ten(number: str, in_formula: bool) -> str:
    """A number as a reader writes it: 2.2e+04 becomes 2.2 times ten to the fourth, as TeX."""
    said = re.sub(r"e([+-])0*(\d+)$", lambda found: rf" \cdot 10^{{{found[1].strip('+')}{found[2]}}}", number)
    return said if in_formula or said == number else f"${said}$"


def whole(rng: np.random.Generator, low: int, high: int) -> int:
    """A whole number from low to high, both included."""
    return int(rng.integers(low, high + 1))


def pick(rng: np.random.Generator, options: Sequence):
    """One of the options, as it is."""
    return options[int(rng.integers(len(options)))]


def some(rng: np.random.Generator, options: Sequence, count: int) -> list:
    """`count` different ones of the options, in any order."""
    return [options[at] for at in rng.permutation(len(options))[:count]]


def until(draw: Callable[[], tuple], fits: Callable[..., bool]) -> tuple:
    """The first draw that fits.  Raises RuntimeError where a thousand do not."""
    for _ in range(1000):
        drawn = draw()
        if fits(*drawn):
            return drawn
    raise RuntimeError("a thousand draws do not fit: the question asks for too much")


def matrix(rows: Sequence[Sequence]) -> str:
    """A matrix as TeX; entries are numbers or TeX."""
    lines = [" & ".join(entry if isinstance(entry, str) else shown(entry) for entry in row) for row in rows]
    return r"\begin{pmatrix} " + r" \\ ".join(lines) + r" \end{pmatrix}"


def column(entries: Sequence) -> str:
    """A column as TeX."""
    return matrix([[entry] for entry in entries])


def row(entries: Sequence) -> str:
    """Numbers side by side in round brackets, as TeX."""
    return "(" + r",\ ".join(entry if isinstance(entry, str) else shown(entry) for entry in entries) + ")"


def table(head: Sequence, *lines: Sequence) -> str:
    """A table in Markdown; entries are text or numbers, which become formulae."""

    def line(entries: Sequence) -> str:
        return "| " + " | ".join(one if isinstance(one, str) else f"${shown(one)}$" for one in entries) + " |"

    return "\n".join([line(head), "|" + "---|" * len(head), *map(line, lines)])


def dot(a: Sequence, b: Sequence):
    """The inner product."""
    return sum(x * y for x, y in zip(a, b, strict=True))


def shares(weights: Sequence[int]) -> list[Fraction]:
    """Weights divided by their sum: a softmax whose logits are ln weight."""
    return [Fraction(weight, sum(weights)) for weight in weights]
