"""The command that lists equal passages."""

from pathlib import Path

import click

from lmbook import write
from lmbook_press.paths import FILE, FOLDER, THERE


@click.command()
@click.argument("course", type=THERE, metavar="COURSE/NN")
@click.argument("submissions", type=click.Path(path_type=Path))
@click.option("--roster", "roster_file", type=FILE, required=True, help="As for grade.")
@click.option("--before", type=THERE, metavar="FOLDER", help="Files of an earlier class, to compare with them too.")
@click.option("--out", type=FOLDER, default="graded", show_default=True, help="The list goes to OUT/NN/copies.html.")
def copies(course: Path, submissions: Path, roster_file: Path, before: Path | None, out: Path):
    """List passages that answers share with each other, the master and an earlier class: a hint, no verdict."""
    from lmbook_grader.copies.compare import compare
    from lmbook_grader.copies.run_order import run_order
    from lmbook_grader.intake.collect import collect
    from lmbook_grader.intake.roster import read_roster
    from lmbook_grader.report.feedback import TEMPLATES, name_of
    from lmbook_press.assignments.questions import Homework
    from lmbook_press.rendering import render

    task = Homework.load(course)
    here = collect(submissions, read_roster(roster_file), task.release).submissions
    pairs, size = compare(here, task, before), len(here)
    remarks = {one.student: run_order(one.path) for one in here}
    folder = out / course.resolve().name
    if not folder.exists():
        write(folder / ".gitignore", "# data about people\n*\n")
    page = render("copies.html", TEMPLATES, title=name_of(task.release), pairs=pairs, size=size, remarks=remarks)
    write(folder / "copies.html", page)
    click.echo(f"{size} files, {len(pairs)} pairs that share a passage which is not common: {folder / 'copies.html'}")
