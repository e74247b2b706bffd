"""The commands that write a homework's autograder for other places."""

from pathlib import Path

import click

from lmbook_press.unseen import plain

FILE = click.Path(dir_okay=False, path_type=Path)
THERE = click.Path(exists=True, file_okay=False, path_type=Path)
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
