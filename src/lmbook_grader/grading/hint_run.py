"""The hint run: the probes of a homework, asked of a process that has heard no hidden check.

What a probe finds is shown to the student.  A process that had heard hidden inputs could choose which hint it gets, and
carry them out by that, so in grading the probes have a process of their own: it hears what stands in the file of hints,
which every student has.
"""

from lmbook_grader import hints
from lmbook_grader.grading import carried_forward
from lmbook_grader.grading.hidden_run import Lost, OutOfTime
from lmbook_grader.grading.hidden_tests import Grader, RemoteFunction, bounded
from lmbook_grader.sandbox.session import Session, Stopped

SECONDS = 5  # of one probe
MOST = 60  # of all of them, with the cells before
ENDS = 3  # a question whose probes have ended the process so often is asked no more; the visible run counts for two


def given(runs, asked: set[str], wrong: set[str], session: Session | None = None) -> dict[str, hints.Hint]:
    """The hint to each question of `asked` in which a probe finds a misconception.

    runs: the `Runs` of the notebook, after its visible run.  wrong: the questions with a failed check: an answer that
    calls one of them, or one with a hint, is not asked, since the mistake may be there.
    session: a process in which all cells have run and no hidden check was heard, which stays open; otherwise new ones
    are started.
    """
    found: dict[str, hints.Hint] = {}
    listed, sources = hints.of(runs.homework.files["release"]), runs.sources()
    if not {hint.question for hint in listed} & asked:
        return found
    late, asking = runs.late, _Asking(runs, session)
    drawn = runs.homework.release.metadata.get("lmbook", {}).get("drawn", {})
    runs.begin(MOST)
    earlier: set[str] = set()
    try:
        for question in runs.homework.questions:
            blamed = earlier & (wrong | set(found))
            if question.name in asked and not carried_forward.needed(question, runs.homework, blamed, sources):
                values = drawn.get(question.name, {})
                for hint in [hint for hint in listed if hint.question == question.name and hint.holds(values)]:
                    if asking.finds(hint, values):
                        found[question.name] = hint
                        break
            earlier.add(question.name)
    except OutOfTime:
        pass
    finally:
        asking.close()
        runs.late = late
    return found


class _Asking:
    """The process of the moment, how far its cells have run, and which questions have ended one how often."""

    def __init__(self, runs, session: Session | None):
        self.runs, self.session, self.lent = runs, session, session
        lost = {name for cell, name, _ in runs.cells if cell in runs.fatal}  # answers and checks
        self.ends = {
            one.name: ENDS - 1 for one in runs.homework.questions if lost & {one.name, *(c.name for c in one.checks)}
        }
        self.done = len(runs.cells) if session else 0
        self.left_out, self.places = runs.unneeded(), {name: at for at, (_, name, _) in enumerate(runs.cells)}
        self.asker = Grader(runs.homework)

    def finds(self, hint: hints.Hint, values: dict) -> bool:
        """Whether the probe is true; one that raises, ends the process or does not end finds nothing.

        values: what was drawn for this student.
        """
        if self.ends.get(hint.question, 0) >= ENDS:
            return False
        given = {name: RemoteFunction(name, self.asker) for name in hint.functions}
        try:
            self._bring_up_to(hint.question)
            self.asker.session, self.asker.budget = self.session, SECONDS
            return bool(bounded(hint.probe, SECONDS)(**given, **hint.drawn(values)))
        except Stopped:
            self.close()
            self.ends[hint.question] = self.ends.get(hint.question, 0) + 1
        except Lost:
            self.close()
            self.ends[hint.question] = ENDS
        except OutOfTime:
            raise
        except Exception:
            pass
        return False

    def _bring_up_to(self, question: str) -> None:
        """Runs the cells up to the question's last check, without the checks that no later cell reads."""
        checks = next(one.checks for one in self.runs.homework.questions if one.name == question)
        upto = self.places[checks[-1].name] + 1
        self.runs.in_time(self.session.charged if self.session else 0.0)
        if self.session is None:
            self.session, self.done = self.runs.session(hidden=True), 0
        cells = [cell for cell in self.runs.cells[self.done : upto] if cell[1] not in self.left_out]
        self.runs.again(self.session, cells, tuple(self.runs.homework.closed))
        self.done = max(self.done, upto)

    def close(self) -> None:
        if self.session is not None and self.session is not self.lent:
            self.session.close()
            self.runs.spent += self.session.charged
        self.session = None
