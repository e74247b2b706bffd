"""The two runs of a placed notebook: one whose output the student may see, and one that asks the hidden checks.

Both go cell by cell.  A cell or a call that ends the process is left out from then on, and a new process
goes on after it: what does not depend on it is still graded.
"""

import ast
import contextlib
import math
import re
import time
from collections.abc import Callable

from nbformat import NotebookNode

from lmbook_grader.grading import carried_forward
from lmbook_grader.grading.hidden_run import HiddenRun, Lost, OutOfTime
from lmbook_grader.grading.hidden_tests import Outcome
from lmbook_grader.grading.shortened import KEPT, MOST_CUT, shortened
from lmbook_grader.intake.match_answers import Placed
from lmbook_grader.sandbox import wire
from lmbook_grader.sandbox.commands import Command, Limits
from lmbook_grader.sandbox.session import (
    CLOCK,
    MemoryLimitExceeded,
    ProcessDied,
    SandboxError,
    Session,
    Stopped,
    TimeLimitExceeded,
)
from lmbook_grader.sandbox.warm import Warm
from lmbook_press.assignments.questions import Homework, bound_and_read, marks

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
    cut: a cell that ended the process or did not end -> how much of it is left out since.  fatal: cells left out whole.
    late: the time on the clock was up while that which is charged was not.
    so_far: called with the outcomes known after each check.
    """

    def __init__(
        self,
        homework: Homework,
        placed: Placed,
        start: Callable[[], Command],
        limits: Limits,
        warm: Warm | None = None,
        so_far: Callable[[dict[str, Outcome]], None] | None = None,
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
                self.notes.append(f"Your code uses {name}, which {wire.CLOSED}.")
        self.broken: dict[str | None, str] = {}
        self.carried: dict[str, list[str]] = {}
        self.named: dict[str, set[str]] = {}
        self.fatal: set[str] = set()
        self.cut: dict[str, int] = {}
        self.so_far, self.late = so_far, False
        self.begin()

    def begin(self, seconds: float = math.inf) -> None:
        """A run has its time for itself.  spent: seconds charged to processes that have ended, and to checks.

        seconds: of the time of a whole run, where this one gets less.
        """
        least = min(seconds, self.limits.total)
        self.spent, self.latest = self.limits.total - least, time.monotonic() + CLOCK * least

    def in_time(self, charged: float) -> None:
        """Raises OutOfTime where the run may not go on; asked in every turn of every loop."""
        late = time.monotonic() > self.latest
        self.late = self.late or late
        if late or self.spent + charged > self.limits.total:
            raise OutOfTime

    def session(self, hidden: bool = False) -> Session:
        """A new process for a run, warm where there is a warm one to fork."""
        closed = closed_in(self.homework, hidden)
        warm, session = self.warm.of(closed) if self.warm else None, None
        if warm is not None:
            with contextlib.suppress(SandboxError):
                session = Session(self.start(closed), self.limits, warm)
        session = session or Session(self.start(closed), self.limits)
        session.latest = self.latest
        return session

    def start(self, closed: list[str]) -> Command:
        """The command of a new process."""
        return self.command().closing(closed)

    def visible(self) -> str:
        """Runs every cell once and returns what was printed."""
        printed, at = "", 0
        self.begin()
        while at < len(self.cells):
            with self.session() as session:
                try:
                    self.again(session, self.cells[:at])
                    already = len(session.output())
                    at = self._onward(session, at)
                    printed += session.output()[already:]
                except Stopped:  # one cell more is left out, so this ends
                    pass
                except OutOfTime:
                    self._give_up(at)
                    break
                finally:
                    self.spent += session.charged
        for cell, level in self.cut.items():
            self.notes.append(f"{cell[1:-1].capitalize()} did not run to its end: {KEPT[level]} it are kept.")
        return printed[: self.limits.output]

    def _give_up(self, at: int) -> None:
        for cell, name, _ in self.cells[at:]:
            self.fatal.add(cell)
            self.broken.setdefault(name, "was not run: the notebook had used up its time")

    def _onward(self, session: Session, start: int) -> int:
        """Runs the cells from `start` on, to the end or until one is fatal; returns where to go on."""
        for at in range(start, len(self.cells)):
            cell, name, source = self.cells[at]
            if cell in self.fatal:
                continue
            try:
                self.in_time(session.charged)
            except OutOfTime:
                self._give_up(at)
                break
            part, stop = shortened(source, self.cut.get(cell, 0)), name in self.checks
            try:
                answer = session.ask(self._seconds(name), do="run", name=cell, source=part, stop=stop)
            except (Stopped, wire.NotData) as error:
                self.broken.setdefault(name, self._words(error, name))
                self._condemn(cell, name, source)
                return at
            if answer["is"] != "value":
                self.broken.setdefault(name, _stops(answer, cell, source if stop else None))
            elif isinstance(answer.get("value"), list):
                self.named[cell] = {one for one in answer["value"] if isinstance(one, str)}
        return len(self.cells)

    def _condemn(self, cell: str, name: str | None, source: str) -> None:
        """A cell has ended the process: it is run with less of it from now on, and at last not at all."""
        level = self.cut.get(cell, 0)
        before = shortened(source, level)
        while level < MOST_CUT and name not in self.checks:
            level += 1
            if shortened(source, level) not in (before, ""):
                self.cut[cell] = level
                return
        self.cut.pop(cell, None)
        self.fatal.add(cell)

    def _seconds(self, name: str | None) -> float:
        return self.limits.check if name in self.checks else self.limits.cell

    def _words(self, error: BaseException, name: str | None) -> str:
        if isinstance(error, TimeLimitExceeded):
            return f"was stopped after {self._seconds(name):g} s"
        if isinstance(error, MemoryLimitExceeded):
            return f"was stopped: it used more than {self.limits.memory} MB of memory"
        return "ended the whole program" if isinstance(error, ProcessDied) else "could not be run"

    def again(
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
            self.in_time(session.charged)
            try:
                if cell not in self.fatal:
                    now = list(close) if source in self.release else []
                    part, stop = shortened(source, self.cut.get(cell, 0)), name in self.checks
                    with contextlib.suppress(wire.NotData):
                        session.ask(self._seconds(name), do="run", name=cell, source=part, stop=stop, close=now)
                if substitutes and name in substitutes:
                    session.lend(self._seconds(name), substitutes[name])
            except wire.NotData:
                raise Lost from None  # it answers a loan with nonsense
            except Stopped:
                if cell in self.fatal:  # without a line of it the process ends all the same
                    raise Lost from None
                self._condemn(cell, name, source)
                raise

    def hidden(self, then: Callable[[dict[str, Outcome], Session | None], None] | None = None) -> dict[str, Outcome]:
        """The outcome of every check of an answered question.  What the process prints meanwhile is dropped.

        then: called with the outcomes and the process, in which all cells have run by then.
        """
        found: dict[str, Outcome] = {}
        if all(question.name in self.missing for question in self.homework.questions if question.checks):
            return found
        self.begin()
        hidden = HiddenRun(self)
        try:
            for question in self.homework.questions:
                for check in question.checks:
                    try:
                        self.in_time(hidden.charged)
                        outcome = hidden.outcome(check, ask=question.name not in self.missing)
                    except OutOfTime:
                        outcome = NO_TIME
                    if outcome is not None:
                        found[check.name] = outcome
                        if self.so_far is not None:
                            self.so_far(found)
            if then is not None:
                then(found, hidden.session)
        finally:
            hidden.close()
        if self.homework.grading is not self.homework.release:  # which has no solutions
            self._carry_forward(found)
        return found

    def _carry_forward(self, found: dict[str, Outcome]) -> None:
        """Asks the checks again that failed in an answer which calls another that failed, now with the master's."""
        questions, sources, failed = self.homework.questions, self.sources(), self.failed(found)
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
            hidden = HiddenRun(self, substitutes, again)
            try:
                for check in again:
                    self.in_time(hidden.charged)
                    outcome = hidden.outcome(check, ask=True)
                    if outcome.passed:
                        found[check.name], self.carried[check.name] = outcome, others
            except (OutOfTime, Lost):
                continue
            finally:
                hidden.close()
                self.fatal = before

    def failed(self, found: dict[str, Outcome]) -> set[str]:
        """The questions with a check that does not pass."""
        questions = self.homework.questions
        return {one.name for one in questions if any(not found.get(c.name, NO_TIME).passed for c in one.checks)}

    def sources(self) -> dict[str, str]:
        """The student's code by question, under "" what is in no answer."""
        found, questions = {}, {one.name for one in self.homework.questions}
        for _, name, source in self.cells:
            if source not in self.release and name not in self.checks:
                key = name if name in questions else ""
                found[key] = f"{found.get(key, '')}\n{source}"
        return found

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
    kind, said, place = (answer.get(key, "") for key in ("type", "text", "cell"))
    line = answer.get("line")
    inside = f" in line {line}" if line and place == cell else ""
    if check is None or not inside:
        if not inside and line and place:
            inside = f" in line {line} of {place[1:-1][:40]}"
        return f"stops{inside} with {kind[:200]}: {said[:200]}".rstrip(": ")
    if kind == "AssertionError":
        sides = [side[:220] for side in answer.get("sides", [])]
        compared = f" Returned: {sides[0]}; expected: {sides[1]}." if len(sides) == 2 else ""
        return f"fails: {statement(check, line)}{compared}"
    return f"stops with {kind[:200]}: {said[:200]}".rstrip(": ") + f", at {statement(check, line)}"


def statement(source: str, line: int) -> str:
    """The statement at a line of a check, as code."""
    nodes = [node for node in ast.parse(source).body if node.lineno <= line <= node.end_lineno]
    return f"`{ast.unparse(nodes[0])}`." if nodes else "a line of it."
