"""Three questions about a student's own code, with the answers that their own process gave.

1. value    What is this variable after this line, for an input that they have not seen?
2. breaks   Which input breaks this line?
3. change   Which change of one line makes the function return this in place of that?

What the process says is data of unknown hands: it is bounded here, and escaped where it is shown.
"""

import ast
import random
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from lmbook_grader.talk.edits import edits
from lmbook_grader.talk.inputs import Call, broken_calls, source
from lmbook_press.unseen import plain

WIDEST, MOST_LINES = 112, 30  # of a function that is printed
NATURAL = ("ZeroDivisionError", "IndexError", "KeyError", "ValueError", "OverflowError")
TRIES, INPUTS = 24, 5
TIMES = {1: "for the first time", 2: "for the second time", 3: "for the third time"}


@dataclass(frozen=True)
class Code:
    """A function of the student as it stands in a cell: lines of it are numbered as in the cell.

    inner: the variables of its comprehensions, which are gone after the line.
    """

    cell: str
    name: str
    first: int
    lines: tuple[str, ...]

    inner: frozenset[str] = frozenset()

    @property
    def fits(self) -> bool:
        return len(self.lines) <= MOST_LINES and all(len(line) <= WIDEST for line in self.lines)

    def line(self, number: int) -> str:
        return self.lines[number - self.first].strip()


@dataclass(frozen=True)
class Asked:
    """A question of a sheet.  answer: of the question, `about`, for the marks; the key is for the instructor."""

    kind: str
    about: str
    code: Code
    text: str
    key: str
    call: str = ""


@dataclass
class Trace:
    """What one call did, taken from the student's process: changes of variables, how often lines ran, the end."""

    call: Call
    changes: list[tuple[str, int, str, str, str, int]] = field(default_factory=list)
    runs: dict[tuple[str, int], int] = field(default_factory=dict)
    result: str | None = None
    error: tuple[str, str, int] | None = None


def agreed(one: Trace, other: Trace) -> Trace | None:
    """What two runs have in common: no answer hangs on the order of a set, or on a number drawn without a seed."""
    if one.error != other.error:
        return None
    there = set(other.changes)
    runs = {place: count for place, count in one.runs.items() if other.runs.get(place) == count}
    result = one.result if one.result == other.result else None
    return Trace(one.call, [change for change in one.changes if change in there], runs, result, one.error)


def read_trace(call: Call, answer: Any) -> Trace:
    """The trace in an answer; whatever is not as it should be is left out."""
    trace = Trace(call)
    if not isinstance(answer, dict):
        return trace
    for one in _rows(answer.get("changes"), 400):
        cell, line, name, kind, text, count = (*one, None, None, None, None, None, None)[:6]
        words = [cell, name, kind, text]
        if all(isinstance(word, str) for word in words) and type(line) is int and type(count) is int:
            trace.changes.append((cell, line, plain(name, 60), kind, plain(text, 80), count))
    for one in _rows(answer.get("runs"), 2000):
        if len(one) == 3 and isinstance(one[0], str) and type(one[1]) is int and type(one[2]) is int:
            trace.runs[one[0], one[1]] = one[2]
    if isinstance(answer.get("result"), str):
        trace.result = plain(answer["result"], 100)
    error = answer.get("error")
    if isinstance(error, list | tuple) and len(error) == 4 and isinstance(error[2], str) and type(error[3]) is int:
        trace.error = (plain(error[0], 40), error[2], error[3])
    return trace


def _rows(value: Any, most: int) -> list:
    return [one for one in value[:most] if isinstance(one, list | tuple)] if isinstance(value, list) else []


def codes(cells: list[tuple[str, str]]) -> dict[str, list[Code]]:
    """The functions in the student's own cells (name, source), by cell."""
    found: dict[str, list[Code]] = {}
    for cell, text in cells:
        try:
            tree = ast.parse(re.sub(r"^(\s*)[%!].*$", r"\1pass", text, flags=re.MULTILINE))
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            continue
        lines = text.replace("\t", "    ").split("\n")
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                first = min([node.lineno, *(one.lineno for one in node.decorator_list)])
                shown = [line.rstrip() for line in lines[first - 1 : node.end_lineno]]
                if ast.get_docstring(node) is not None:  # a long one is the homework's own text
                    for at in range(node.body[0].lineno - first, node.body[0].end_lineno - first + 1):
                        shown[at] = shown[at] if len(shown[at]) <= WIDEST else shown[at][: WIDEST - 3] + "..."
                inner = [part.target for part in ast.walk(node) if isinstance(part, ast.comprehension)]
                names = {part.id for target in inner for part in ast.walk(target) if isinstance(part, ast.Name)}
                found.setdefault(cell, []).append(Code(cell, node.name, first, tuple(shown), frozenset(names)))
    return found


class Interview:
    """Finds the questions for one submission.

    cells: the student's own code cells, by name.  about: function -> the question of the homework that it answers.
    trace: calls a function in their process.  change: runs a cell there with another source, and the old one again.
    """

    def __init__(
        self,
        cells: dict[str, str],
        about: dict[str, str],
        calls: dict[str, list[Call]],
        trace: Callable[[Call], Trace | None],
        change: Callable[[str, str], bool],
        dice: random.Random,
    ):
        self.cells, self.about, self.trace, self.change, self.dice = cells, about, trace, change, dice
        self.codes = codes(list(cells.items()))
        self.names = [name for name in about if calls.get(name)]
        dice.shuffle(self.names)
        self.calls = {name: dice.sample(calls[name], min(INPUTS, len(calls[name]))) for name in self.names}
        self.seen: dict[str, list[Trace]] = {}
        self.used: set[tuple[str, int]] = set()

    def traces(self, name: str) -> list[Trace]:
        if name not in self.seen:
            found = [self.trace(call) for call in self.calls[name]]
            self.seen[name] = [one for one in found if one is not None]
        return self.seen[name]

    def code(self, cell: str, line: int) -> Code | None:
        """The innermost function around a line of a student's cell, if it can be printed."""
        around = [one for one in self.codes.get(cell, ()) if one.first <= line < one.first + len(one.lines)]
        found = min(around, key=lambda one: len(one.lines), default=None)
        return found if found and found.fits else None

    def questions(self) -> list[Asked]:
        """Three where the code has them, about different functions where it can be."""
        found: list[Asked] = []
        for finders in ((self.value, self.ran), (self.breaks, self.value), (self.changed, self.value, self.ran)):
            one = next((asked for finder in finders if (asked := self._first(finder, found))), None)
            found += [one] if one else []
        return found

    def _first(self, finder: Callable[[str], Iterator[Asked]], before: list[Asked]) -> Asked | None:
        taken = [asked.about for asked in before]
        for name in sorted(self.names, key=lambda name: taken.count(self.about[name])):
            for asked in finder(name):
                at = (asked.code.cell, hash(asked.text))
                if at not in self.used and asked.text not in [one.text for one in before]:
                    self.used.add(at)
                    return asked
        return None

    def value(self, name: str) -> Iterator[Asked]:
        """The value of a variable after a line; of a long one its length or shape."""
        found = []
        for trace in self.traces(name):
            if trace.error:
                continue
            call = str(trace.call)
            for cell, line, variable, kind, text, count in trace.changes:
                code = self.code(cell, line)
                if code is None or count not in TIMES or self._trivial(code, line, variable):
                    continue
                if kind == "value" and _on_the_page(text, call, code):
                    continue
                rank = {"value": 0, "shape": 1, "length": 2}.get(kind, 3) + (not re.search(r"[1-9]|'", text))
                found.append((rank, trace, code, line, variable, kind, text, count))
        self.dice.shuffle(found)
        for _, trace, code, line, variable, kind, text, count in sorted(found, key=lambda one: one[0]):
            what = {"value": f"What is {variable}", "shape": f"What is the shape of {variable}"}.get(
                kind, f"How many entries does {variable} have"
            )
            when = f" {TIMES[count]}" if trace.runs.get((code.cell, line), 1) > 1 else ""
            asked = f"{what} after line {line} has run{when}?"
            yield Asked("value", self.about[name], code, asked, f"{variable}: {text}", str(trace.call))

    def _trivial(self, code: Code, line: int, variable: str) -> bool:
        """Whether the line only gives a name to a constant, or to an argument; or the variable is none of its own."""
        if variable in code.inner:
            return True
        text = code.line(line)
        return bool(re.fullmatch(rf"{re.escape(variable)}\s*=\s*([\w.'\"-]+|\[\]|\{{\}}|\(\)|\w+\(\))", text))

    def ran(self, name: str) -> Iterator[Asked]:
        """How often a line runs."""
        for trace in self.traces(name):
            call = str(trace.call)
            for (cell, line), count in self.dice.sample(sorted(trace.runs.items()), len(trace.runs)):
                code = self.code(cell, line)
                if code and 1 < count < 20 and not _on_the_page(str(count), call, code):
                    asked = f"How often does line {line} run?"
                    yield Asked("value", self.about[name], code, asked, f"{count} times", call)

    def breaks(self, name: str) -> Iterator[Asked]:
        """An input that stops a line."""
        if not self.calls[name]:
            return
        found = []
        for call in broken_calls(self.calls[name][0])[:TRIES]:
            trace = self.trace(call)
            if trace is None or trace.error is None:
                continue
            kind, cell, line = trace.error
            if (code := self.code(cell, line)) is not None and kind != "TimeoutError":
                found.append((kind not in NATURAL, kind, code, line, call))
            if kind in NATURAL and found and not found[-1][0]:
                break
        for _, kind, code, line, call in sorted(found, key=lambda one: one[0]):
            asked = f"Which call of {name} stops in line {line} with an error, and which error is it?"
            yield Asked("breaks", self.about[name], code, asked, f"{call} stops there with {kind}; others may, too.")

    def changed(self, name: str) -> Iterator[Asked]:
        """A change of one line that makes another result."""
        for trace in self.traces(name)[:3]:
            if trace.result is None:
                continue
            cells = {cell for cell, _ in trace.runs if cell in self.cells}
            tries = [(cell, edit) for cell in sorted(cells) for edit in edits(self.cells[cell])]
            tries = [
                (cell, edit) for cell, edit in tries if (cell, edit.line) in trace.runs and self.code(cell, edit.line)
            ]
            self.dice.shuffle(tries)
            for cell, edit in tries[:TRIES]:
                after = self._after(cell, edit.source, trace.call)
                if after is None or after.error or after.result in (None, trace.result) or "nan" in after.result:
                    continue
                code = self.code(cell, edit.line)
                asked = f"The call returns {trace.result}. Which change of one line makes it return {after.result}?"
                key = f"line {edit.line}, for example: {edit.text}"
                yield Asked("change", self.about[name], code, asked, key, str(trace.call))
                return

    def _after(self, cell: str, text: str, call: Call) -> Trace | None:
        """The trace of a call after a cell was run with another source; the cell is put back."""
        before = self.cells[cell]
        try:
            return self.trace(call) if self.change(cell, text) else None
        finally:
            self.change(cell, before)


def _on_the_page(text: str, call: str, code: Code) -> bool:
    """Whether an answer can be read off the input or the code."""
    page = re.sub(r"(\d)\.0\b", r"\1", f"{call}\n" + "\n".join(code.lines))
    if re.search(rf"(?<![\w.]){re.escape(text)}(?![\w.])", page):
        return True
    try:
        return re.sub(r"\s", "", source(ast.literal_eval(text))) in re.sub(r"\s", "", page) and len(text) > 3
    except (ValueError, SyntaxError, TypeError):
        return False
