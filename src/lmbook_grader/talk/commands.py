"""The command that prints talk sheets."""

import os
from pathlib import Path

import click

from lmbook import write
from lmbook_press.book import BookError
from lmbook_press.paths import FILE, FOLDER, THERE
from lmbook_press.unseen import plain


@click.command()
@click.argument("course", type=THERE, metavar="COURSE/NN")
@click.argument("submissions", type=click.Path(path_type=Path))
@click.option("--roster", "roster_file", type=FILE, required=True, help="As for grade.")
@click.option("--out", type=FOLDER, default="graded", show_default=True, help="The sheets go to OUT/NN.")
@click.option("--only", multiple=True, metavar="STUDENT", help="A sheet for this student; may be given several times.")
@click.option("--jobs", default=2, show_default=True, type=click.IntRange(1), help="Submissions at the same time.")
@click.option("--seed", metavar="SECRET", envvar="LMBOOK_COURSE_SEED", help="The course's secret, from which all is "
              "drawn. Default: the one in the course's secret.txt.")  # fmt: skip
def talk(
    course: Path, submissions: Path, roster_file: Path, out: Path, only: tuple[str, ...], jobs: int, seed: str | None
):
    """Print a page a student with three questions about their own code, and the key for you.

    The answers are found by running the code behind the walls of the grader, on inputs that are drawn from the course's
    secret and the student's id: called again, the command asks the same.
    """
    from lmbook_grader.intake.collect import collect
    from lmbook_grader.intake.roster import read_roster
    from lmbook_grader.talk.sheets import talk_sheets, write_sheets
    from lmbook_press.assignments.questions import Homework

    task, roster = Homework.load(course), read_roster(roster_file)
    chosen = [one for one in collect(submissions, roster, task.release).submissions if not only or one.student in only]
    if lost := set(only) - {one.student for one in chosen}:
        raise BookError(f"--only {', '.join(sorted(lost))}: no submission of that student is in {submissions}.")
    if not chosen:
        raise BookError(f"{submissions} holds no submission of anybody in {roster_file}.")
    folder = out / course.resolve().name
    if not folder.exists():
        write(folder / ".gitignore", "# data about people\n*\n")
    hidden = [submissions.resolve(), roster_file.resolve(), out.resolve()]
    sheets = talk_sheets(chosen, course, seed or _secret(course), jobs=jobs, hidden=hidden)
    page, key, marks = write_sheets(sheets, task, roster, folder)
    full = sum(len(sheet.asked) == 3 for sheet in sheets)
    click.echo(f"{len(sheets)} sheets, {full} of them with three questions.")
    for sheet in sheets:
        if sheet.why:
            click.echo(plain(f"{sheet.student}: {len(sheet.asked)} questions; {sheet.why}"))
    click.echo(
        f"To print: {page}\nThe key: {key}\nIts lines are in {marks}; write points into one only to change them."
    )


def _secret(course: Path) -> str:
    path = course.resolve().parent / "secret.txt"
    text = path.read_text(encoding="utf-8").strip() if os.path.isfile(path) else ""
    if not text:
        raise BookError(f"{path} holds no secret: name the course's with --seed.")
    return text
