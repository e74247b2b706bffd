"""The talk sheets of a class: a page a student, the key, and the lines for marks.csv."""

import hashlib
import hmac
import random
import re
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from functools import partial
from importlib.resources import files
from pathlib import Path
from tempfile import TemporaryDirectory

from lmbook import write
from lmbook_grader.grading.execute import Runs
from lmbook_grader.grading.grade import file_digest
from lmbook_grader.grading.pool import warmed
from lmbook_grader.grading.shortened import shortened
from lmbook_grader.intake.collect import Submission
from lmbook_grader.intake.match_answers import titles
from lmbook_grader.intake.reading import Unreadable, open_and_place
from lmbook_grader.intake.roster import Roster
from lmbook_grader.report.feedback import TEMPLATES, name_of
from lmbook_grader.report.results import MARKS, mark_lines, mark_of
from lmbook_grader.sandbox import wire
from lmbook_grader.sandbox.commands import Command, Limits, available, command, copy_package
from lmbook_grader.sandbox.session import SandboxError, Session, Stopped
from lmbook_grader.sandbox.warm import Warm
from lmbook_grader.spreadsheet import write_csv
from lmbook_grader.talk.inputs import Call, drawn_calls
from lmbook_grader.talk.questions import Asked, Interview, Trace, agreed, read_trace
from lmbook_press.assignments.questions import Homework
from lmbook_press.book import BookError
from lmbook_press.rendering import render

LIMITS = Limits(cell=10, check=5, total=60)
ONE = 1  # second of one call or one changed cell
SEEDS = (1, 2)  # of Python's hashes: what is asked about is the same with both
LEVELS = (0, 1, 2)  # how much of a cell is left out where a process does not come through


@dataclass
class Sheet:
    """One student's questions; why: where there are fewer than three."""

    student: str
    submission: Submission
    asked: list[Asked] = field(default_factory=list)
    why: str = ""


def seed_of(secret: str, homework: str, student: str = "") -> str:
    """What all draws of a sheet follow from."""
    return hmac.new(secret.encode(), f"talk\n{homework}\n{student}".encode(), hashlib.sha256).hexdigest()


def talk_sheets(
    submissions: Iterable[Submission], course: Path, secret: str, *, jobs: int = 2, hidden: Iterable[Path] = (),
    progress: Callable[[Sheet], None] = lambda sheet: None,
) -> list[Sheet]:  # fmt: skip
    """The sheets of these submissions to the homework in folder `course`, the same for the same secret.

    Raises BookError where there is no bubblewrap: a student's code runs behind walls or not at all.
    """
    homework = Homework.load(course)
    if why := available("bwrap"):
        raise BookError(why)
    calls = drawn_calls(homework, seed_of(secret, homework.name))
    with TemporaryDirectory(prefix="lmbook-talk-") as folder:
        package = copy_package(Path(folder), homework.blocked)
        with ExitStack() as stack:
            warm = [stack.enter_context(warmed(homework, package, seed)) for seed in SEEDS]
            pool = stack.enter_context(ThreadPoolExecutor(jobs))

            def one(submission: Submission) -> Sheet:
                out_of_sight = [*hidden, course.resolve().parent, submission.path.resolve().parent]
                start = partial(command, "bwrap", LIMITS, package, None, out_of_sight)
                dice = random.Random(seed_of(secret, homework.name, submission.student))
                sheet = _sheet(submission, homework, calls, dice, start, warm)
                progress(sheet)
                return sheet

            return list(pool.map(one, submissions))


def _sheet(
    submission: Submission, homework: Homework, calls: dict, dice: random.Random, start: Callable[[], Command],
    warm: list[Warm],
) -> Sheet:  # fmt: skip
    sheet, homework = Sheet(submission.student, submission), homework.of(submission.student)
    try:
        placed = open_and_place(submission.path, homework.release)
    except Unreadable as error:
        sheet.why = str(error)
        return sheet
    runs = [
        Runs(homework, placed, lambda seed=seed: start().seeded(seed), LIMITS, one)
        for seed, one in zip(SEEDS, warm, strict=True)
    ]
    about = {
        name: question.name
        for question in homework.questions
        if question.name not in runs[0].missing
        for name in sorted(question.functions)
    }
    if not about:
        sheet.why = "no answer to a question that is programmed"
        return sheet
    shown = "".join("".join(cell.source.split()) for cell in homework.release.cells)
    calls = {name: [one for one in found if "".join(str(one).split()) not in shown] for name, found in calls.items()}
    state = dice.getstate()
    for level in LEVELS:
        dice.setstate(state)
        pair = [_Process(one, level) for one in runs]
        try:
            found = Interview(
                pair[0].own, about, calls, partial(_traced, pair), partial(_changed, pair), dice
            ).questions()
        except (SandboxError, Stopped) as error:
            sheet.why = f"the code could not be run ({type(error).__name__})"
            continue
        finally:
            for process in pair:
                process.close()
        sheet.asked = max(sheet.asked, found, key=len)
        if len(sheet.asked) == 3:
            break
    sheet.why = "" if len(sheet.asked) == 3 else sheet.why or "the code has no three questions that can be asked"
    return sheet


def _traced(pair: list["_Process"], call: Call) -> Trace | None:
    """What both processes say."""
    one, other = (process.trace(call) for process in pair)
    return agreed(one, other) if one and other else None


def _changed(pair: list["_Process"], cell: str, source: str) -> bool:
    return all([process.change(cell, source) for process in pair])


class _Process:
    """The student's process with their cells run in it; made anew, with what broke it left out, when it ends."""

    def __init__(self, runs: Runs, level: int):
        self.runs, self.level = runs, level
        self.cells = [cell for cell in runs.cells if cell[1] not in runs.checks]
        self.own = {cell: source for cell, _, source in self.cells if source not in runs.release}
        self.session: Session | None = None
        self.tracer = files("lmbook_grader.talk").joinpath("tracer.py").read_text(encoding="utf-8")
        self.lost = 0

    def _ready(self) -> Session:
        if self.session is None:
            self.runs.begin()
            self.session = self.runs.session()
            for cell, _, source in self.cells:
                part = source if cell not in self.own else shortened(source, self.level)
                with suppress(wire.NotData):
                    self.session.ask(LIMITS.cell, do="run", name=cell, source=part)
            self.session.ask(ONE, do="run", name="<talk>", source=self.tracer)
        return self.session

    def trace(self, call: Call) -> Trace | None:
        arguments = [call.name, list(call.arguments), dict(call.options)]
        try:
            answer = self._ready().ask(ONE, do="call", name="lmbook_trace", arguments=arguments, options={})
        except (wire.NotData, BookError):
            return None
        except Stopped:
            self._again()
            return None
        return read_trace(call, answer.get("value")) if answer["is"] == "value" else None

    def change(self, cell: str, source: str) -> bool:
        """Runs a cell with this source; False where it does not come through."""
        try:
            answer = self._ready().ask(ONE, do="run", name=cell, source=shortened(source, self.level) or source)
        except wire.NotData:
            return False
        except Stopped:
            self._again()
            return False
        return answer["is"] == "value"

    def _again(self) -> None:
        """Raises Stopped where the process has ended too often."""
        self.close()
        self.lost += 1
        if self.lost > 3:
            raise Stopped

    def close(self) -> None:
        if self.session is not None:
            self.session.close()
            self.session = None


def write_sheets(sheets: list[Sheet], homework: Homework, roster: Roster, out: Path) -> tuple[Path, Path, Path]:
    """Writes OUT/talk.html, a page a student, OUT/talk-key.html, and lines without points into OUT/marks.csv."""
    headings = titles(homework.release)
    people = [
        {
            "name": roster[sheet.student].name or sheet.student,
            "student": sheet.student,
            "why": sheet.why,
            "asked": [_shown(asked, sheet, place, headings) for place, asked in enumerate(sheet.asked)],
        }
        for sheet in sheets
    ]
    pages = out / "talk.html", out / "talk-key.html"
    for path, key in zip(pages, (False, True), strict=True):
        write(path, render("talk.html", TEMPLATES, title=name_of(homework.release), people=people, key=key))
    return *pages, _into_marks(sheets, out / "marks.csv")


def _shown(asked: Asked, sheet: Sheet, place: int, headings: dict[str, str]) -> dict:
    """A question for the template; a function is printed once on a page."""
    before = [one.code for one in sheet.asked[:place]]
    rows = [(asked.code.first + at, line) for at, line in enumerate(asked.code.lines)]
    return {
        "text": asked.text, "call": asked.call, "answer": asked.key, "about": asked.about, "name": asked.code.name,
        "heading": re.sub(r"^\d+\. ", "", headings.get(asked.about, asked.about)), "cell": asked.code.cell[1:-1],
        "rows": [] if asked.code in before else rows,
    }  # fmt: skip


def _into_marks(sheets: list[Sheet], path: Path) -> Path:
    """A line for each answer that is talked about, without points: where a talk changes them, a person writes them."""
    rows, columns = mark_lines(path) if path.exists() else ([], [])
    there = {(row["student"], row["question"], row.get("submission")) for row in rows}
    for sheet in sheets:
        digest = mark_of(file_digest(sheet.submission.path))
        for name in dict.fromkeys(asked.about for asked in sheet.asked):
            if (sheet.student, name, digest) not in there:
                new = {"student": sheet.student, "question": name, "points": "", "comment": "Talk: "}
                rows.append(new | {"submission": digest})
    write_csv(rows, list(dict.fromkeys([*columns, *MARKS])), path)
    return path
