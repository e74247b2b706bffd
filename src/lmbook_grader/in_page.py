"""Check in a page: what `lmbook homework check` says, where there is a browser and no other process.

The page of a homework runs this file in its own Python (`lmbook_press/site/python`).  Placing, running, the checks, the
hints and the words are the grader's own; in place of a student's process stands `sandbox.here`.
"""

import json
import tempfile
from dataclasses import asdict
from pathlib import Path

from lmbook_grader import tries
from lmbook_grader.grading.execute import Runs, closed_in
from lmbook_grader.grading.hidden_tests import Outcome
from lmbook_grader.intake.match_answers import place
from lmbook_grader.intake.reading import Unreadable, open_submission
from lmbook_grader.sandbox.commands import Limits
from lmbook_grader.sandbox.here import Here
from lmbook_grader.verdict import Checked, lines, verdict
from lmbook_press.assignments.questions import Homework
from lmbook_press.book import BookError


class RunsHere(Runs):
    """The runs of a notebook whose processes are no processes."""

    def session(self, hidden: bool = False) -> Here:
        return Here(closed_in(self.homework, hidden), self.homework.blocked, self.limits)


def checked(
    release: Path, notebook: Path, known: dict, oldest: tuple[int, int], seconds: float = Limits.total
) -> tuple[Checked, dict[str, Outcome]]:
    """What `check` finds, and the outcome of each check that was asked.

    known: the tries so far, as `tries` keeps them, which are counted on.  oldest: the oldest Python of a grader.
    Raises Unreadable or BookError, with a sentence.
    """
    homework, limits = Homework.handed_out(release), Limits(total=seconds)
    placed = place(open_submission(notebook), homework.release)
    outcomes: dict[str, Outcome] = {}
    runs = RunsHere(homework, placed, None, limits, so_far=outcomes.update)
    return verdict(runs, placed, lambda wrong: tries.note(known, homework.name, wrong), oldest), outcomes


def check(release: str, notebook: str, name: str, known: str = "{}", oldest: tuple[int, int] = (3, 11)) -> None:
    """Prints JSON for the page: what was found, the lines of the report, and the tries to keep; or an error, in words.

    release, notebook: the texts of both files.  name: the release's name, NN-name.ipynb.
    """
    tried = json.loads(known)
    with tempfile.TemporaryDirectory(prefix="lmbook-") as folder:
        own, theirs = Path(folder, name), Path(folder, "yours.ipynb")
        own.write_text(release, encoding="utf-8")
        theirs.write_text(notebook, encoding="utf-8", errors="replace")
        try:
            found, outcomes = checked(own, theirs, tried, oldest)
        except (Unreadable, BookError) as error:
            said = {"error": str(error)}
        else:
            passed = {check: outcome.passed for check, outcome in outcomes.items()}
            said = asdict(found) | {"good": found.good, "passed": passed, "tries": tried, "lines": lines(found, name)}
    print(json.dumps(said))
