"""The command about the course as a whole."""

from datetime import datetime
from pathlib import Path

import click

from lmbook_press.paths import FILE, FOLDER, THERE
from lmbook_press.unseen import plain

FORMS = ["%Y-%m-%d", "%Y-%m-%dT%H:%M:%S"]
KINDS = ["canvas", "moodle", "gradescope"]


@click.command()
@click.argument("course", type=THERE, metavar="COURSE")
@click.argument("graded", type=THERE, metavar="GRADED")
@click.option("--roster", "roster_file", type=FILE, required=True, help="As for grade.")
@click.option("--scores", "kinds", multiple=True, type=click.Choice(KINDS),
              help="Also write the points that count in this system's columns.")  # fmt: skip
@click.option("--as-of", type=click.DateTime(FORMS), metavar="TIME",
              help="The time for which it is decided what is due, in the course's zone. Default: now.")  # fmt: skip
@click.option("--out", type=FOLDER, help="Folder to write to. Default: GRADED.")
def gradebook(
    course: Path, graded: Path, roster_file: Path, kinds: tuple[str, ...], as_of: datetime | None, out: Path | None
):
    """Write one gradebook for all homeworks of a course, by the rules in COURSE/course.toml.

    A page with plots (gradebook.html), a table (gradebook.csv), and tables that learning systems read.
    """
    from lmbook_grader.course.gradebook import gradebook as computed
    from lmbook_grader.course.gradebook import read_course, waiting
    from lmbook_grader.course.gradebook_csv import write_gradebook, write_system
    from lmbook_grader.course.page import write_page
    from lmbook_grader.course.policy import read_policy
    from lmbook_grader.intake.roster import read_roster

    roster, out = read_roster(roster_file), out or graded
    policy = read_policy(course, roster)
    homeworks = read_course(course, graded, policy, roster)
    lines = computed(policy, homeworks, roster, as_of)
    if left := [number for number in policy.tasks if number not in homeworks]:
        click.echo(f"Not graded yet, and left out: homework {', '.join(left)}.")
    write_page(policy, homeworks, lines, graded, out / "gradebook.html")
    write_gradebook(policy, homeworks, lines, out / "gradebook.csv")
    stand = sum(line.total is not None for line in lines)
    click.echo(f"{len(homeworks)} homeworks, {len(lines)} students, {stand} totals that stand.")
    for sentence in waiting(lines):
        click.echo(plain(f"Waiting: {sentence}"))
    click.echo(f"The page: {out / 'gradebook.html'}\nThe table: {out / 'gradebook.csv'}")
    for kind in kinds:
        path = out / f"gradebook-{kind}.csv"
        unsure = write_system(kind, policy, homeworks, lines, roster, path)
        click.echo(f"For {kind}: {path}")
        if unsure:
            click.echo(plain(f"{kind} can find these by their names only: {', '.join(unsure)}"), err=True)
