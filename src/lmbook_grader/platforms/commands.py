"""The commands that write a homework's autograder for other places."""

import re
from pathlib import Path

import click

from lmbook import write
from lmbook_press.book import BookError
from lmbook_press.paths import FILE, THERE
from lmbook_press.unseen import plain

VISIBILITIES = ["visible", "after_due_date", "after_published", "hidden"]


@click.command()
@click.argument("course", type=THERE, metavar="COURSE/NN")
@click.option("--out", type=FILE, required=True, help="The zip to write. It holds the hidden checks: keep it private.")
@click.option("--roster", "roster_file", type=FILE, help="As for grade. Needed where each student has a homework of "
              "their own.")  # fmt: skip
@click.option("--points", "visibility", type=click.Choice(VISIBILITIES), default="after_due_date", show_default=True,
              help="When students see the points; what the visible checks say is always seen.")  # fmt: skip
@click.option("--seconds", type=click.IntRange(1), help="Time of one submission.")
def autograder(course: Path, out: Path, roster_file: Path | None, visibility: str, seconds: int | None):
    """Write the autograder zip of the homework in COURSE/NN for Gradescope."""
    from lmbook_grader.intake.roster import read_roster
    from lmbook_grader.platforms.autograder_zip import write_zip

    roster = read_roster(roster_file) if roster_file else None
    names = write_zip(course.resolve(), out, roster, visibility, seconds)
    click.echo(plain(f"{len(names)} files, {out.stat().st_size / 1e6:.1f} MB: {out}"))


@click.command()
@click.argument("course", type=THERE, metavar="COURSE/NN")
@click.option(
    "--organization", required=True, help="The organization at GitHub in which the students' repositories are."
)
@click.option("--assignment", required=True, help="The name by which these repositories begin, as in homework-1-ann.")
@click.option("--out", type=FILE, required=True, help="The workflow to write, like .github/workflows/grade-01.yml.")
def actions(course: Path, organization: str, assignment: str, out: Path):
    """Write a workflow for GitHub Actions that grades the homework in COURSE/NN, one student's repository a job."""
    course = course.resolve()
    for said in (organization, assignment):
        if not re.fullmatch(r"[A-Za-z0-9_.-]+", said):
            raise BookError(f"{said!r} is no name at GitHub: letters, digits, hyphens, dots and underscores.")
    text = (Path(__file__).parent / "files/actions.yml").read_text(encoding="utf-8")
    roster = " --roster roster.csv" if (course / "students").is_dir() else ""
    for mark, value in {
        "@NUMBER": course.name, "@ORGANIZATION": organization, "@ASSIGNMENT": assignment, "@ROSTER": roster,
    }.items():  # fmt: skip
        text = text.replace(mark, value)
    write(out, text)
    click.echo(plain(f"{out}: put it into the course's private repository, and set its two secrets."))
