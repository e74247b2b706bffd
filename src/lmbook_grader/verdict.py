"""Verdict: what a student is told of a notebook that runs as the grader runs it, with the visible checks alone.

`lmbook homework check` says it, and so does the page of a homework, where all is inside of the browser.
"""

from collections.abc import Callable
from dataclasses import dataclass, field

from nbformat import NotebookNode

from lmbook_grader.grading import hint_run
from lmbook_grader.grading.execute import Runs
from lmbook_grader.grading.hidden_tests import Outcome
from lmbook_grader.hints import Hint
from lmbook_grader.intake.match_answers import Placed, grade_id, is_answer, titles
from lmbook_grader.promise import newer, python
from lmbook_grader.report.pointers import pointers
from lmbook_grader.sandbox.session import Session

PASSES_AND_WRONG = "The checks that you can see pass, and something is still wrong: try other inputs."
LATER = "There is a hint: it comes when you have changed this answer and check again, if it is still wrong then."


@dataclass
class Question:
    """One heading with its answers and checks.  state: one of STATES; said: what to do, a sentence each.

    hint: which misconception a probe has found, and the section to read again.
    """

    title: str
    state: str = "answered"
    passed: int = 0
    checks: int = 0
    said: list[str] = field(default_factory=list)
    hint: str = ""


@dataclass
class Checked:
    """faults: what costs points or hinders the grader; hints: what is good to know.

    against: the release by which it was checked as the grader does; lacks: why it was not, a sentence.
    python: the oldest Python that a grader may have.
    """

    questions: list[Question]
    faults: list[str]
    hints: list[str]
    seconds: float
    against: str = ""
    lacks: str = ""
    python: tuple[int, int] = field(default_factory=python)

    @property
    def good(self) -> bool:
        return not self.faults and all(one.state == "answered" and not one.said for one in self.questions)


def verdict(
    runs: Runs,
    placed: Placed,
    tried: Callable[[dict[str, str]], dict[str, int]],
    oldest: tuple[int, int] | None = None,
) -> Checked:
    """The grader's findings, with the visible checks in place of the hidden ones.

    placed: the notebook of `runs`, whose homework is a release.  tried: takes the sources of the answers with a hint,
    by question, and says how many different versions of each there have been.  oldest: the oldest Python of a grader.
    """
    homework, oldest = runs.homework, oldest or python()
    hints: dict[str, Hint] = {}

    def ask(outcomes: dict[str, Outcome], session: Session | None) -> None:  # no hidden check was heard in it
        answered = {one.name for one in homework.questions if one.checks} - runs.missing
        if homework.hints_after:
            hints.update(hint_run.given(runs, answered, runs.failed(outcomes) - runs.missing, session))

    runs.visible()
    outcomes = runs.hidden(then=ask)
    notes = [*placed.notes, *runs.notes]
    answers = {grade_id(cell): cell.source for cell in placed.notebook.cells if is_answer(cell)}
    times = tried({name: answers[name] for name in hints}) if hints else {}
    headings, found = titles(homework.release), []
    for question in homework.questions:
        one = Question(headings[question.name], checks=len(question.checks))
        if question.name in placed.missing:
            one.state = "not answered"
        for check in question.checks:
            outcome = outcomes.get(check.name)
            if outcome is not None and outcome.passed:
                one.passed += 1
            elif outcome is not None and one.state == "answered":
                seen = runs.broken.get(check.name)
                one.said.append(f"The check that you can see {seen.rstrip('.')}." if seen else outcome.message)
        if one.state == "answered" and question.name in runs.broken:
            stops = f"{one.title}: the cell of the answer {runs.broken[question.name]}."
            (one.said if one.passed < one.checks else notes).append(stops)
        if hint := hints.get(question.name):
            _hinted(one, hint, times[question.name] >= homework.hints_after, pointers(homework.release))
        found.append(one)
    faults = _of_newer_python(placed.notebook, oldest)
    return Checked(found, faults, notes, runs.spent, against=homework.files["release"].name, python=oldest)


def _hinted(one: Question, hint: Hint, now: bool, sections: dict[str, str]) -> None:
    """Says a hint, or that there will be one."""
    if one.passed == one.checks:
        one.said.append(PASSES_AND_WRONG)
    if not now:
        one.said.append(LATER)
        return
    section = sections.get(hint.question, "")
    one.hint = f"{hint.says} To read again: {section}." if section else hint.says


def _of_newer_python(notebook: NotebookNode, version: tuple[int, int]) -> list[str]:
    """Cells that this Python reads, and the oldest one that a grader may have does not."""
    faults = []
    for number, cell in enumerate(notebook.cells, start=1):
        if cell.cell_type == "code" and (why := newer(cell.source, version)):
            where = cell.metadata.get("lmbook", {}).get("cell", number)
            oldest = ".".join(map(str, version))
            faults.append(f"Cell {where} needs a newer Python than {oldest}, by which it is graded: {why}.")
    return faults


def lines(checked: Checked, name: str) -> list[str]:
    """The report for the terminal."""
    width = max([len(one.title) for one in checked.questions] + [10])
    said = [name]
    for one in checked.questions:
        passed = f", {one.passed} of {one.checks} visible checks pass" if one.checks else ""
        said.append(f"  {one.title:<{width}}  {one.state}{passed}")
        said += [f"    {text}" for text in one.said]
        said += [f"    Hint: {one.hint}"] if one.hint else []
    for text in checked.faults:
        said += ["", text]
    for text in checked.hints:
        said += ["", f"Note: {text}"]
    said.append("")
    if checked.against:
        by = f"by the syntax of Python {'.'.join(map(str, checked.python))} and the libraries that lmbook brings"
        said += [f"Checked as the grader does it, with {checked.against} as it was handed out, {by}.", ""]
    else:
        said += [f"Not checked as the grader does it. {checked.lacks}"]
        said += ["Name it with --release, and it says where the grader finds each answer, and what passes there.", ""]
    if checked.good and checked.against:
        said.append("All there: you can hand it in. The grader asks the same functions harder questions.")
    elif checked.good:
        said.append("The notebook runs from top to bottom, and the checks that you can see pass.")
    else:
        left = sum(one.state != "answered" for one in checked.questions)
        more = f"{left} of {len(checked.questions)} questions are not answered yet. " if left else ""
        said.append(f"{more}You can still hand it in: every question is graded for itself.")
    return said
