"""The exercises of a chapter, and how long each takes by a rule: nobody has been timed.

    minutes = START[grade] + words of the question / READ + words of the solution / WRITTEN + lines of its code / LINES

rounded to five.  A formula counts as one word.  START is what it takes to find a way: a "check" takes one step, an
"explore" begins with a plan.  The rest is measured from the notebook, where question and solution stand.
"""

import re
from dataclasses import dataclass
from pathlib import Path

import nbformat

START = {"check": 2, "practice": 5, "explore": 15}  # minutes
READ, WRITTEN, LINES = 100, 15, 1.5  # words read, words found and written, lines of code written, in a minute
FORMULA = re.compile(r"\$\$.*?\$\$|\$[^$]*\$", re.DOTALL)
MARK = re.compile(
    r"^:{3,}\{exercise\}[ \t]*(?P<number>\d+\.\d+)[ \t]+(?P<grade>\w+)[^\n]*\n:label:[ \t]*(?P<label>\S+)"
    r"|^`{3,}\{solution-(?P<part>start|end)\}[^\n]*|^(?P<shut>:{3,})[ \t]*$",
    re.MULTILINE,
)


@dataclass
class Exercise:
    """words and written: of question and solution; lines: of the solution's code."""

    number: str
    grade: str
    label: str
    words: int = 0
    written: int = 0
    lines: int = 0

    @property
    def minutes(self) -> int:
        """By the rule above, a multiple of five."""
        exact = START[self.grade] + self.words / READ + self.written / WRITTEN + self.lines / LINES
        return max(5, 5 * round(exact / 5))


def exercises(path: Path) -> list[Exercise]:
    """The exercises of the chapter at `path`, in order.  A page that is no notebook has none."""
    found: list[Exercise] = []
    place = ""  # "question", "solution" or neither
    for cell in nbformat.read(path, as_version=4).cells if path.suffix == ".ipynb" else ():
        if cell.cell_type == "code":
            if place == "solution":
                found[-1].lines += sum(bool(line.strip()) for line in cell.source.split("\n"))
            continue
        text, at = FORMULA.sub("x", cell.source), 0
        for mark in MARK.finditer(text):
            _count(found, place, text[at : mark.start()])
            at = mark.end()
            if mark["number"]:
                found.append(Exercise(mark["number"], mark["grade"], mark["label"]))
                place = "question"
            elif mark["part"]:
                place = "solution" if mark["part"] == "start" else ""
            elif place == "question":
                place = ""
        _count(found, place, text[at:])
    return found


def _count(found: list[Exercise], place: str, text: str) -> None:
    if place:
        words = len(re.sub(r"^(?::[\w-]+:.*|`{3,}|:{3,})$", "", text, flags=re.MULTILINE).split())
        name = {"question": "words", "solution": "written"}[place]
        setattr(found[-1], name, getattr(found[-1], name) + words)
