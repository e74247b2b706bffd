"""The two runs of a placed notebook: one whose output the student may see, and one that asks the hidden checks.

Both go cell by cell.  A cell or a call that ends the process is left out from then on, and a new process
goes on after it: what does not depend on it is still graded.
"""

import ast
import contextlib
import re
from collections.abc import Callable, Sequence
from dataclasses import replace

from nbformat import NotebookNode

from lmbook_grader.grading import carried_forward
from lmbook_grader.grading.hidden_tests import Grader, Outcome, stopped
from lmbook_grader.intake.match_answers import Placed
from lmbook_grader.sandbox import wire
from lmbook_grader.sandbox.commands import Command, Limits
from lmbook_grader.sandbox.session import (
    MemoryLimitExceeded,
    ProcessDied,
    SandboxError,
    Session,
    Stopped,
    TimeLimitExceeded,
)
from lmbook_grader.sandbox.warm import Warm
from lmbook_press.assignments.questions import Check, Homework, bound_and_read, marks

NO_TIME = Outcome(False, "The notebook had used up its time before this check.")
Cell = tuple[str, str | None, str]  # name, grade_id, source
SET_UP = "# @title Set-up"  # the first cell of the Colab edition, which is the book's and not the student's


class Runs:
    """A placed notebook and what is known of its cells so far.

    start: gives the command of a new process.  warm: the processes that may be forked instead, if any.
    missing: the questions without an answer.
    broken: name of an answer or a check -> why its cell did not run to its end in the visible run, in words that
    follow "the cell".  Cells are called by their numbers in the student's own file.
    named: a cell of the student's that ran to its end -> the global names in its code, as the student's process says.
    carried: name of a check that failed by mistakes in other answers alone -> these answers' names.
    """

    def __init__(
        self,
        homework: Homework,
        placed: Placed,
        start: Callable[[], Command],
        limits: Limits,
        warm: Warm | None = None,
    ):
        self.homework, self.limits, self.missing = homework, limits, set(placed.missing)
        self.command, self.warm, self.notes = start, warm, []
        self.cells: list[Cell] = _named(placed.notebook)
        self.written = {
            marks(cell)["grade_id"]: cell.source
            for cell in placed.notebook.cells
            if cell.cell_type == "markdown" and marks(cell).get("solution")
        }
        self.checks = {check.name for question in homework.questions for check in question.checks}
        self.release = {cell.source for cell in homework.release.cells if cell.cell_type == "code"}
        mine = [source for _, _, source in self.cells if source not in self.release]
        own = "\n".join(source for source in mine if not source.startswith(SET_UP))
        for name in homework.closed:
            if re.search(rf"^[^#\n]*\b{name}[.(]|^[ \t]*(?:import|from)[ \t]+{name}\b", own, re.MULTILINE):
                self.notes.append(f"Your code uses {name}, which is closed while this homework is graded.")
        self.broken: dict[str | None, str] = {}
        self.carried: dict[str, list[str]] = {}
        self.named: dict[str, set[str]] = {}
        self.fatal: set[str] = set()  # cells that end the process
        self.spent = 0.0  # seconds charged to processes that have ended

    def session(self, hidden: bool = False) -> Session:
        """A new process for a run, warm where there is a warm one to fork."""
        closed = closed_in(self.homework, hidden)
        warm = self.warm.of(closed) if self.warm else None
        if warm is not None:
            with contextlib.suppress(SandboxError):
                return Session(self.start(closed), self.limits, warm)
        return Session(self.start(closed), self.limits)

    def start(self, closed: list[str]) -> Command:
        """The command of a new process."""
        started = self.command()
        return replace(started, settings=started.settings | {"closed": closed})

    def visible(self) -> str:
        """Runs every cell once and returns what was printed."""
        printed, at = "", 0
        while at < len(self.cells):
            with self.session() as session:
                with contextlib.suppress(Stopped):
                    self._again(session, self.cells[:at])
                already = len(session.output())
                at = self._onward(session, at)
                printed += session.output()[already:]
                self.spent += session.charged
        return printed[: self.limits.output]

    def _onward(self, session: Session, start: int) -> int:
        """Runs the cells from `start` on, to the end or until one is fatal; returns where to go on."""
        for at in range(start, len(self.cells)):
            cell, name, source = self.cells[at]
            if self.spent + session.charged > self.limits.total:
                for cell, name, _ in self.cells[at:]:
                    self.fatal.add(cell)
                    self.broken[name] = "was not run: the notebook had used up its time"
                break
            try:
                answer = session.ask(self._seconds(name), do="run", name=cell, source=source, stop=name in self.checks)
            except (Stopped, wire.NotData) as error:
                self.fatal.add(cell)
                self.broken[name] = self._words(error, name)
                return at + 1
            if answer["is"] != "value":
                self.broken[name] = _stops(answer, cell, source if name in self.checks else None)
            elif isinstance(answer.get("value"), list):
                self.named[cell] = {one for one in answer["value"] if isinstance(one, str)}
        return len(self.cells)

    def _seconds(self, name: str | None) -> float:
        return self.limits.check if name in self.checks else self.limits.cell

    def _words(self, error: BaseException, name: str | None) -> str:
        if isinstance(error, TimeLimitExceeded):
            return f"was stopped after {self._seconds(name):g} s"
        if isinstance(error, MemoryLimitExceeded):
            return f"was stopped: it used more than {self.limits.memory} MB of memory"
        return "ended the whole program" if isinstance(error, ProcessDied) else "could not be run"

    def _again(
        self,
        session: Session,
        cells: list[Cell],
        close: tuple[str, ...] = (),
        substitutes: dict[str, dict] | None = None,
    ) -> None:
        """Runs cells that have run before, without the fatal ones.  close: given functions that are closed then.

        substitutes: by answer, the functions that take the place of those that its cell defines.
        """
        for cell, name, source in cells:
            if cell not in self.fatal:
                try:
                    now = list(close) if source in self.release else []
                    stop = name in self.checks
                    session.ask(self._seconds(name), do="run", name=cell, source=source, stop=stop, close=now)
                except wire.NotData:
                    pass
                except Stopped:
                    self.fatal.add(cell)
                    raise
            if substitutes and name in substitutes:
                session.lend(self._seconds(name), substitutes[name])

    def hidden(self) -> dict[str, Outcome]:
        """The outcome of every check of an answered question.  What the process prints meanwhile is dropped."""
        found: dict[str, Outcome] = {}
        if all(question.name in self.missing for question in self.homework.questions if question.checks):
            return found
        self.spent, hidden = 0.0, _Hidden(self)
        try:
            for question in self.homework.questions:
                for check in question.checks:
                    if self.spent + hidden.charged > self.limits.total:
                        found[check.name] = NO_TIME
                        continue
                    outcome = hidden.outcome(check, ask=question.name not in self.missing)
                    if outcome is not None:
                        found[check.name] = outcome
        finally:
            hidden.close()
        if self.homework.grading is not self.homework.release:  # which has no solutions
            self._carry_forward(found)
        return found

    def _carry_forward(self, found: dict[str, Outcome]) -> None:
        """Asks the checks again that failed in an answer which calls another that failed, now with the master's."""
        questions, sources = self.homework.questions, {}
        failed = {one.name for one in questions if any(not found.get(c.name, NO_TIME).passed for c in one.checks)}
        for _, name, source in self.cells:
            if source not in self.release and name not in self.checks:
                key = name if any(one.name == name for one in questions) else ""
                sources[key] = f"{sources.get(key, '')}\n{source}"
        for question in questions:
            again = [check for check in question.checks if not found.get(check.name, NO_TIME).passed]
            others = carried_forward.needed(question, self.homework, failed, sources) if again else []
            if question.name in self.missing or not others:
                continue
            try:
                substitutes = carried_forward.substitutes(self.homework, others, self.limits.check)
            except (Exception, Stopped):  # a cell of the master that does not run here: then nothing is excused
                continue
            # A cell that ended the process with the student's functions may not end it with these.
            before, self.fatal = self.fatal, {cell for cell in self.fatal if self._name(cell) in others}
            hidden = _Hidden(self, substitutes, again)
            try:
                for check in again:
                    if self.spent + hidden.charged > self.limits.total:
                        break
                    outcome = hidden.outcome(check, ask=True)
                    if outcome.passed:
                        found[check.name], self.carried[check.name] = outcome, others
            finally:
                hidden.close()
                self.fatal = before

    def _name(self, cell: str) -> str | None:
        return next(name for one, name, _ in self.cells if one == cell)

    def unneeded(self) -> set[str]:
        """The checks whose cells need not run again in the student's process: no later cell has a name of theirs."""
        last = max((at for at, (_, name, _) in enumerate(self.cells) if name in self.checks), default=-1)
        found, later = set(), set()
        for cell, name, source in reversed(self.cells[: last + 1]):
            binds, reads = bound_and_read(source) if source in self.release else (set(), self.named.get(cell))
            if reads is None:  # it did not run to its end: it may contain anything
                break
            if name in self.checks and not binds & later:
                found.add(name)
            later |= reads
        return found


class _Hidden:
    """The process of the hidden run, replaced whenever it has ended, and how far the cells have been run in it.

    A check runs here in the grader; in the student's process its visible part has run already, in the visible run, and
    runs again only where a later cell may read what it binds.

    substitutes: by answer, functions of the master that take the place of the student's; then only the checks `again`
    are asked, and the cells left out that neither these nor the student's code need.
    """

    def __init__(self, runs: Runs, substitutes: dict[str, dict] | None = None, again: Sequence[Check] = ()):
        self.runs, self.session, self.done, self.substitutes, self.cells = runs, None, 0, substitutes, runs.cells
        self.grader, self.given, self.unneeded = Grader(runs.homework), _given(runs.homework), runs.unneeded()
        if substitutes is not None:
            others = runs.checks - {check.name for check in again}
            self.cells = [cell for cell in runs.cells if cell[1] not in others]
            texts = [check.source for check in again]
            texts += [source for _, name, source in self.cells if name or source not in runs.release]
            kept = carried_forward.read_by(texts, [cell.source for cells in self.given.values() for cell in cells])
            self.cells = [one for one in self.cells if one[1] or one[2] not in runs.release or one[2] in kept]
            waiting: list = []
            for name, cells in self.given.items():
                waiting += [cell for cell in cells if cell.source in kept or marks(cell).get("solution")]
                self.given[name], waiting = ([], waiting) if name in others else (waiting, [])
        self.places = {name: at for at, (_, name, _) in enumerate(self.cells)}

    @property
    def charged(self) -> float:
        return self.session.charged if self.session else 0.0

    def close(self) -> None:
        if self.session is not None:
            self.session.close()
            self.runs.spent += self.session.charged
            self.session = None

    def outcome(self, check: Check, ask: bool) -> Outcome | None:
        """Brings everything up to the check, and runs it if it is to be asked."""
        runs, upto = self.runs, self.places[check.name] + 1
        while True:  # each turn more leaves out one cell more, so it ends
            try:
                if self.session is None:
                    self.session, self.done = runs.session(hidden=True), 0
                    self.grader.session = self.session
                cells = [cell for cell in self.cells[self.done : upto] if cell[1] not in self.unneeded]
                runs._again(self.session, cells, tuple(runs.homework.closed), self.substitutes)
                self.done = max(self.done, upto)
                while self.given.get(check.name):
                    self.grader.prepare(self.given[check.name].pop(0), runs.limits.check)
                break
            except Stopped:
                self.close()
        if not ask:
            return None
        name, _, _ = self.cells[upto - 1]
        if name in runs.fatal:  # its visible part alone already ends the process
            return Outcome(False, f"The check that you can see {runs.broken.get(check.name, 'ended the program')}.")
        try:
            # A call of a substitute goes from one process to another, and the waiting is charged.
            return self.grader.run(check, runs.limits.check * (1 if self.substitutes is None else 3))
        except Stopped as error:
            self.close()
            return Outcome(False, stopped(error, self.grader.called, runs.limits.check))


def closed_in(homework: Homework, hidden: bool) -> list[str]:
    """The names closed in a run.  Those that the given cells themselves need are closed in the hidden run only."""
    given = "\n".join(cell.source for cell in homework.release.cells if cell.cell_type == "code")
    return [name for name in homework.closed if hidden or not re.search(rf"\bimport {name}\b", given)]


def _named(notebook: NotebookNode) -> list[Cell]:
    """The code cells, named by their numbers in the student's file, or in the homework where they are not in it."""
    found, taken = [], set()
    for number, cell in enumerate(notebook.cells, start=1):
        own = cell.metadata.get("lmbook", {}).get("cell")
        name = f"<cell {own}>" if own and own not in taken else f"<cell {number} of the homework>"
        taken.add(own)
        if cell.cell_type == "code":
            found.append((name, marks(cell).get("grade_id"), cell.source))
    return found


def _stops(answer: dict, cell: str, check: str | None) -> str:
    """Why a cell did not run to its end, in words that follow "the cell".  check: the source, where it is a check."""
    kind, said, line = (str(answer.get(key))[:200] for key in ("type", "text", "line"))
    inside = f" in line {line}" if line.isdigit() and answer.get("cell") == cell else ""
    if check is None or not inside:
        place = answer.get("cell")
        if not inside and isinstance(place, str) and line.isdigit():
            inside = f" in line {line} of {place[1:-1][:40]}"
        return f"stops{inside} with {kind}: {said}".rstrip(": ")
    if kind == "AssertionError":
        sides = [str(side)[:220] for side in answer["sides"]] if isinstance(answer.get("sides"), list) else []
        compared = f" Returned: {sides[0]}; expected: {sides[1]}." if len(sides) == 2 else ""
        return f"fails: {statement(check, int(line))}{compared}"
    return f"stops with {kind}: {said}".rstrip(": ") + f", at {statement(check, int(line))}"


def statement(source: str, line: int) -> str:
    """The statement at a line of a check, as code."""
    nodes = [node for node in ast.parse(source).body if node.lineno <= line <= node.end_lineno]
    return f"`{ast.unparse(nodes[0])}`." if nodes else "a line of it."


def _given(homework: Homework) -> dict[str, list[NotebookNode]]:
    """For each check, the code cells of the master between it and the check before it."""
    found, waiting = {}, []
    for cell in homework.grading.cells:
        mark = marks(cell)
        if cell.cell_type != "code":
            continue
        if mark.get("grade") and not mark.get("solution"):
            found[mark["grade_id"]], waiting = waiting, []
        else:
            waiting.append(cell)
    return found
