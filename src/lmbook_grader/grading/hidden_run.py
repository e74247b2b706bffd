"""The process of the hidden run, which hears the inputs of the checks: its cells and the checks asked in it."""

import time
from collections.abc import Sequence

from nbformat import NotebookNode

from lmbook_grader.grading import carried_forward
from lmbook_grader.grading.hidden_tests import Grader, Outcome, stopped
from lmbook_grader.sandbox.session import Stopped
from lmbook_press.assignments.questions import Check, Homework, marks


class OutOfTime(Exception):
    """The time of the run is used up.  Never raised while a check runs."""


class Lost(Exception):
    """The process ends whatever is left out of its cells: nothing can be asked in it."""


class HiddenRun:
    """The process of the hidden run, replaced whenever it has ended, and how far the cells have been run in it.

    A check runs here in the grader; in the student's process its visible part has run already, in the visible run, and
    runs again only where a later cell may read what it binds.

    runs: the `Runs` of the notebook, whose hidden run this is.
    substitutes: by answer, functions of the master that take the place of the student's; then only the checks `again`
    are asked, and the cells left out that neither these nor the student's code need.
    """

    def __init__(self, runs, substitutes: dict[str, dict] | None = None, again: Sequence[Check] = ()):
        self.runs, self.session, self.done, self.substitutes, self.cells = runs, None, 0, substitutes, runs.cells
        self.grader, self.given, self.unneeded = Grader(runs.homework), given(runs.homework), runs.unneeded()
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
                runs.again(self.session, cells, tuple(runs.homework.closed), self.substitutes)
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
        session, begun = self.session, time.process_time() - self.session.served
        try:
            # A call of a substitute goes from one process to another, and the waiting is charged.
            return self.grader.run(check, runs.limits.check * (1 if self.substitutes is None else 3))
        except Stopped as error:
            self.close()
            return Outcome(False, stopped(error, self.grader.called, runs.limits.check))
        finally:  # what the check itself computed with what it was given
            runs.spent += max(time.process_time() - session.served - begun, 0)


def given(homework: Homework) -> dict[str, list[NotebookNode]]:
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
