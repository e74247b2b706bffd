"""The commands of `lmbook homework`: make, check, grade, sheet, override, report, merge; those of others are added."""

import json
import sys
import time
from pathlib import Path

import click

from lmbook import write
from lmbook_grader.copies.commands import copies
from lmbook_grader.course.commands import gradebook
from lmbook_grader.platforms.commands import actions, autograder
from lmbook_grader.talk.commands import talk
from lmbook_press.book import Book, BookError
from lmbook_press.paths import FILE, FOLDER, READABLE, THERE
from lmbook_press.unseen import plain

INTERRUPTED = 130
PRIVATE = "# data about people\n*\n"
ROSTER = "CSV with id, name and email, or the export of Canvas, Moodle or Gradescope."
roster_option = click.option("--roster", "roster_file", type=FILE, required=True, help=ROSTER)


def say(text: object, err: bool = False) -> None:
    """Prints a line; names of files and people in it move no cursor."""
    click.echo(plain(text), err=err)


@click.group()
def homework():
    """Homework: make it, check one's own, grade a class, report, merge."""


homework.add_command(gradebook)
homework.add_command(autograder)
homework.add_command(talk)
homework.add_command(copies)
homework.add_command(actions)


@homework.command()
@click.argument("numbers", nargs=-1, metavar="[NN]...")
@click.option("--out", type=FOLDER, required=True, help="Folder to write to.")
@click.option("--seed", metavar="SECRET", envvar="LMBOOK_COURSE_SEED", help="The course's secret, from which the "
              "inputs of all hidden checks are drawn; also read from LMBOOK_COURSE_SEED. Default: the one in "
              "OUT/secret.txt, which is made if it is not there.")  # fmt: skip
@click.option("--roster", "roster_file", type=FILE, help="Also make OUT/NN/students/ID/ for each student of this "
              "roster, with numbers and cases of their own, drawn from the secret and the id.")  # fmt: skip
@click.option("--student-only", is_flag=True, help="Only the student versions, straight into the folder.")
@click.option("--hints-after", type=click.IntRange(0), metavar="N", help="`check` gives a hint after N tries of an "
              "answer; 0: there are no hints, on the pages of feedback neither. Default: 2.")  # fmt: skip
@click.option("--book", "root", type=THERE, metavar="FOLDER",
              help="The book's folder. Default: the one around the current folder.")  # fmt: skip
def make(
    numbers: tuple[str, ...], out: Path, seed: str | None, roster_file: Path | None, student_only: bool,
    hints_after: int | None, root: Path | None,
):  # fmt: skip
    """Make homework NN (all without any): OUT/NN/release/ for the class and OUT/NN/grading/ for the grader."""
    from lmbook_grader.intake.roster import read_roster
    from lmbook_press.assignments.make import chosen
    from lmbook_press.assignments.make import make as make_versions
    from lmbook_press.assignments.variants import course_secret

    book = Book.find(root)
    chosen(book, numbers)  # complains of a number before a secret is written
    if roster_file and student_only:
        raise BookError("--student-only makes one notebook for all, --roster one for each student: choose.")
    students = [student.id for student in read_roster(roster_file)] if roster_file else []
    if seed is None and not student_only:
        seed, where = course_secret(out)
        say(f"The secret of this course: {where}. Keep it, and keep it to yourself.", err=True)
    for path in make_versions(book, out, numbers, student_only, seed, students, hints_after):
        if path.parents[1].name != "students":
            say(path)
    if students:
        say(f"One for each of {len(students)} students: {out / 'NN' / 'students'}, with the id as the folder's name.")


@homework.command()
@click.argument("notebook", type=READABLE)
@click.option("--release", type=READABLE,
              help="The notebook as it was handed out. Default: the book's own homework that it is.")  # fmt: skip
@click.option("--seconds", default=300, show_default=True, help="How long the notebook may run.")
def check(notebook: Path, release: Path | None, seconds: int):
    """Check a NOTEBOOK of your own before you hand it in.

    Runs it on this machine as the grader does, with the visible checks, and says what passes. Exits with 0 if all is
    there. A course that has changed the book's homework names its own with --release.
    """
    from lmbook_grader import self_check as checking
    from lmbook_grader.verdict import lines

    checked = checking.check(notebook, release, seconds)
    say("\n".join(lines(checked, notebook.name)))
    if not checked.good:
        sys.exit(1)


@homework.command()
@click.argument("course", type=THERE, metavar="COURSE/NN")
@click.argument("submissions", type=click.Path(path_type=Path))
@roster_option
@click.option("--out", type=FOLDER, default="graded", show_default=True, help="Results go to OUT/NN/results.")
@click.option("--jobs", default=2, show_default=True, type=click.IntRange(1), help="Submissions at the same time.")
@click.option("--resume", is_flag=True, help="Keep the results that still fit their files and grade the rest.")
@click.option("--part", metavar="I/N", help="Only every N-th submission, from the I-th on: to use several machines.")
@click.option("--only", multiple=True, metavar="STUDENT", help="Grade this student again, whatever is there, "
              "and nobody else; may be given several times.")  # fmt: skip
@click.option("--dry-run", is_flag=True, help="Only say whose each file is; run and write nothing.")
@click.option("--sandbox", type=click.Choice(["bwrap", "docker", "podman", "none"]), default="bwrap", show_default=True)
@click.option("--image", help="The container image, for docker and podman.")
@click.option("--trusted", is_flag=True, help="With --sandbox none: run hidden checks although nothing is walled off.")
@click.option("--memory", type=click.IntRange(100), metavar="MB", help="Memory of one submission.")
@click.option("--seconds", type=click.IntRange(1), help="Time of one submission.")
def grade(
    course: Path, submissions: Path, roster_file: Path, out: Path, jobs: int, resume: bool, part: str | None,
    only: tuple[str, ...], dry_run: bool, sandbox: str, image: str | None, trusted: bool, memory: int | None,
    seconds: int | None,
):  # fmt: skip
    """Grade the SUBMISSIONS, a folder as the learning system gives it, to the homework in COURSE/NN.

    A result is on disk as soon as it is there: after Ctrl-C or a crash, --resume goes on. Exits with 1 if any
    submission is ungraded or unreadable, or any file is nobody's.
    """
    from lmbook_grader.grading.grade import Limits
    from lmbook_grader.grading.pool import grade_many
    from lmbook_grader.intake.collect import Collected, collect
    from lmbook_grader.intake.made_for import made_for
    from lmbook_grader.intake.reading import shown
    from lmbook_grader.intake.roster import read_roster
    from lmbook_grader.report.terminal import Progress, intake_lines, table_lines
    from lmbook_press.assignments.questions import Homework

    task, roster = Homework.load(course), read_roster(roster_file)
    collected = collect(submissions, roster, task.release, made_for(task))
    chosen, first = _part(collected.submissions, part)
    if only:
        chosen = [one for one in chosen if one.student in only]
        if lost := set(only) - {one.student for one in chosen}:
            raise BookError(f"--only {', '.join(sorted(lost))}: no submission of that student is in {submissions}.")
    if dry_run:
        say("\n".join(intake_lines(collected, submissions, roster)))
        sys.exit(1 if collected.faults else 0)
    if sandbox == "none":
        say("Without a sandbox a student's code can read and change all that you can, and the network.", err=True)
    folder = _private(out / course.resolve().name)
    given = {"memory": memory, "total": seconds}
    limits = Limits(**{name: value for name, value in given.items() if value})
    faults = [
        {"file": shown(fault.path.relative_to(submissions).as_posix()), "why": fault.why} for fault in collected.faults
    ]
    everybody = [one.student for one in collected.submissions]
    if only or not first:  # the first part speaks for all
        faults, collected = [], Collected()
    if not only:  # before the first result: a part that never ends is missed when the parts are merged
        _write_json({"faults": faults, "part": part, "submissions": everybody}, folder / "intake.json")
    started = time.monotonic()
    try:
        with Progress(len(chosen)) as progress:
            results = grade_many(
                chosen, course.resolve(), folder.resolve(), jobs=jobs, sandbox=sandbox, trusted=trusted, limits=limits,
                image=image, resume=resume or bool(only), again=only, progress=progress,
                hidden=[submissions.resolve(), roster_file.resolve()],
            )  # fmt: skip
    except KeyboardInterrupt:
        done = f"{progress.done} of {len(chosen)} results are in {folder / 'results'}"
        say(f"\nStopped; nothing is lost: {done}. The same command with --resume grades the rest.", err=True)
        sys.exit(INTERRUPTED)
    say("\n".join(table_lines(results, collected, submissions, time.monotonic() - started)))
    say(f"Results: {folder / 'results'}")
    if faults or any(result["status"] != "graded" for result in results):
        sys.exit(1)


def _private(folder: Path) -> Path:
    """The folder, which git is told to pass over where it is new: what a class makes is data about people."""
    if not folder.exists() or not any(folder.iterdir()):
        write(folder / ".gitignore", PRIVATE)
    return folder


def _write_json(content: object, path: Path) -> None:
    write(path, json.dumps(content, ensure_ascii=False, indent=1) + "\n")


def _part(submissions: list, part: str | None) -> tuple[list, bool]:
    """The I-th of N parts, I from 1: every N-th submission; and whether it is the first part."""
    if part is None:
        return submissions, True
    number, _, of = part.partition("/")
    if not (number.isdigit() and of.isdigit() and 1 <= int(number) <= int(of)):
        raise BookError(f"--part {part}: write it as I/N with I from 1 to N, like 3/10.")
    return submissions[int(number) - 1 :: int(of)], int(number) == 1


@homework.command()
@click.argument("course", type=THERE, metavar="COURSE/NN")
@click.argument("submissions", type=click.Path(path_type=Path))
@roster_option
@click.option("--out", type=FOLDER, default="graded", show_default=True, help="marks.csv goes to OUT/NN.")
def sheet(course: Path, submissions: Path, roster_file: Path, out: Path):
    """Write a sheet for marking the written answers: OUT/NN/marks.csv to fill in, OUT/NN/written.html to read.

    Called again, it keeps every mark and adds what is new.  A mark is for one file: where a student has handed in
    another one since, the answer waits for a new mark.
    """
    from lmbook_grader.intake.collect import collect
    from lmbook_grader.intake.made_for import made_for
    from lmbook_grader.intake.roster import read_roster
    from lmbook_grader.report.written_answers import write_sheet
    from lmbook_press.assignments.questions import Homework

    task = Homework.load(course)
    collected = collect(submissions, read_roster(roster_file), task.release, made_for(task))
    sheet = write_sheet(collected.submissions, task, _private(out / course.resolve().name))
    again = f", {sheet.replaced} of them in files that replace marked ones" if sheet.replaced else ""
    say(f"{sheet.answers} written answers, {sheet.new} new{again}.")
    if sheet.minutes:
        each, left = sum(sheet.minutes) / len(sheet.minutes), sheet.answers - sheet.marked
        noted = f"{each:.1f} minutes an answer, from {len(sheet.minutes)} with their minutes noted"
        say(f"{noted}: about {each * left:.0f} minutes for the {left} that have no points.")
    say(f"Read them in {sheet.reading}, put points and comments into {sheet.marks}.")


@homework.command()
@click.argument("graded", type=THERE, metavar="GRADED/NN")
@click.argument("student")
@click.argument("question")
@click.argument("points", type=float)
@click.option("--reason", required=True, help="Why; the student reads it, and the summary of the class lists it.")
def override(graded: Path, student: str, question: str, points: float, reason: str):
    """Give a STUDENT other POINTS for a QUESTION, by its name in `scores.csv`.

    They are written to GRADED/NN/marks.csv, kept when the same file is graded again, and part of the next report.
    """
    from lmbook_grader.report.results import number, read_results
    from lmbook_grader.report.results import override as put

    marks = graded / "marks.csv"
    before = put(marks, read_results(graded), student, question, points, reason)
    say(f"{student}, {question}: {number(points)} in place of {number(before)} points, in {marks}.")


@homework.command()
@click.argument("course", type=THERE, metavar="COURSE/NN")
@click.argument("graded", type=THERE, metavar="GRADED/NN")
@roster_option
@click.option("--marks", "marks_file", type=FILE, help="Marks given by people: the sheet, filled in. Default: "
              "GRADED/NN/marks.csv, if it is there.")  # fmt: skip
@click.option("--scores", "kinds", multiple=True, type=click.Choice(["canvas", "moodle", "gradescope"]),
              help="Also write scores in this system's columns; may be given several times.")  # fmt: skip
@click.option("--zip", "zips", multiple=True, type=click.Choice(["canvas", "moodle"]),
              help="Also put the feedback pages into a zip as this system takes them back.")  # fmt: skip
@click.option("--column", help="The name of the column of points. Default: the homework's title.")
@click.option("--without-written", is_flag=True, help="Leave written questions out of scores and of their maximum.")
@click.option(
    "--site", metavar="ADDRESS", help="The book's site, for links to sections. Default: the one in _config.yml."
)
@click.option("--out", type=FOLDER, help="Folder to write to. Default: GRADED/NN.")
def report(
    course: Path, graded: Path, roster_file: Path, marks_file: Path | None, kinds: tuple[str, ...],
    zips: tuple[str, ...], column: str | None, without_written: bool, site: str | None, out: Path | None,
):  # fmt: skip
    """Write feedback pages, the summary of the class and scores from the results in GRADED/NN."""
    from lmbook_grader.intake.roster import read_roster
    from lmbook_grader.report.feedback import name_of, write_report
    from lmbook_grader.report.lms_csv import write_scores
    from lmbook_grader.report.lms_zip import write_zip
    from lmbook_grader.report.results import marked, read_marks, read_results, score
    from lmbook_press.assignments.questions import Homework

    task, roster, out = Homework.load(course), read_roster(roster_file), _private(out or graded)
    marks_file = marks_file or (graded / "marks.csv" if (graded / "marks.csv").exists() else None)
    results = read_results(graded)
    if results[0]["homework"] != task.name:
        raise BookError(f"{graded} holds results of {results[0]['homework']}, not of {task.name} in {course}.")
    results = marked(results, read_marks(marks_file, results) if marks_file else {})
    intake = graded / "intake.json"
    faults = json.loads(intake.read_text(encoding="utf-8"))["faults"] if intake.is_file() else []
    written = write_report(results, task, roster, out, faults, site or _site())
    say(f"{len(written) - 1} feedback pages: {out / 'feedback'}")
    say(f"The class: {out / 'summary.html'}")
    for kind in ("plain", *kinds):
        path = out / ("scores.csv" if kind == "plain" else f"scores-{kind}.csv")
        count = write_scores(kind, results, roster, column or name_of(task.release), path, not without_written)
        say(f"Scores of {count} of {len(roster)} students: {path}")
    for kind in zips:
        path, unnamed = write_zip(kind, results, roster, out)
        say(f"Feedback as {kind} takes it: {path}")
        if unnamed:
            where = f"it is in the names of the files as {kind} gives them"
            say(f"Not in it, because {kind}'s number is missing ({where}): {', '.join(unnamed)}", err=True)
    open_ones = sum(result["status"] == "graded" and bool(score(result).waiting) for result in results)
    if open_ones and not without_written:
        who = "1 student has" if open_ones == 1 else f"{open_ones} students have"
        where = marks_file or graded / "marks.csv"
        say(f"{who} a written answer without a mark, and so no score yet: put it into {where}.", err=True)


def _site() -> str | None:
    try:
        return Book.find().site
    except (BookError, ModuleNotFoundError):
        return None


@homework.command()
@click.argument("folders", nargs=-1, required=True, type=THERE, metavar="GRADED/NN...")
@click.option("--out", type=FOLDER, required=True, help="Folder to merge into, like graded/NN.")
def merge(folders: tuple[Path, ...], out: Path):
    """Merge results that were graded on several machines; a conflict is named, and then nothing is written."""
    from lmbook_grader.grading.merge import merge as merge_results

    new = not out.exists()
    count, remarks = merge_results(list(folders), out)
    if new:
        write(out / ".gitignore", PRIVATE)
    for remark in remarks:
        say(remark)
    say(f"{count} results: {out / 'results'}")
