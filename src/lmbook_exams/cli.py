"""The commands of `lmbook exam`: list, make."""

from pathlib import Path

import click

from lmbook_press.book import Book


@click.group()
def exam():
    """Written exams: list the questions of the bank, and make papers with solutions from it."""


@exam.command("list")
@click.option("--chapters", default="1-19", show_default=True, help="Such as 1-5 or 2,4,7-9.")
def list_questions(chapters: str):
    """List the questions of the CHAPTERS: name, kind, points, minutes, title.

    A star marks those whose numbers are drawn.
    """
    from lmbook_exams.bank import chapters_of, of_chapter

    for number in chapters_of(chapters):
        for one in of_chapter(number):
            star = "*" if one.drawn else " "
            about = f"{one.points} points {one.minutes:>2} min  {one.title}"
            click.echo(f"{number:>2} {star} {one.name:<26} {one.kind:<11} {about}")


@exam.command()
@click.option("--chapters", required=True, help="Such as 1-5 or 2,4,7-9; they are asked about evenly.")
@click.option(
    "--questions", "count", type=click.IntRange(1), help="How many questions. Default: 10, or what --minutes needs."
)
@click.option("--minutes", type=click.IntRange(1), help="How long the paper takes: the sum of its questions' minutes.")
@click.option(
    "--take", "named", multiple=True, metavar="NAME", help="A question that must be in it; may be given several times."
)
@click.option(
    "--seed", default=0, show_default=True, type=click.IntRange(0), help="From it follow questions and numbers."
)
@click.option(
    "--versions", default="A", show_default=True, metavar="A,B", help="The same questions with other numbers in each."
)
@click.option("--title", default="Exam", show_default=True, help="The heading of each page.")
@click.option("--compact", is_flag=True, help="Leave no room for answers below the questions.")
@click.option("--overwrite", is_flag=True, help="Replace papers that are there already.")
@click.option("--out", type=click.Path(file_okay=False, path_type=Path), required=True, help="Folder to write to.")
def make(
    chapters: str, count: int | None, minutes: int | None, named: tuple[str, ...], seed: int, versions: str, title: str,
    compact: bool, overwrite: bool, out: Path,
):  # fmt: skip
    """Make a paper about CHAPTERS and, in a file of its own, its solutions with the marking scheme.

    Both are HTML pages that load nothing; print them. The same seed makes the same paper again.
    """
    from lmbook_exams.bank import chapters_of
    from lmbook_exams.paper import choose, papers, versions_of
    from lmbook_exams.sheets import write_papers

    chosen = choose(chapters_of(chapters), seed, count, minutes, named)
    made = papers(chosen, seed, versions_of(versions))
    for path in write_papers(made, Book.find(), out, title, seed, compact, overwrite):
        click.echo(path)
    click.echo(f"{len(chosen)} questions, {made[0].points} points, {made[0].minutes} minutes.")
