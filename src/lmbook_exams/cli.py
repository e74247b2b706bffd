"""The commands of `lmbook exam`, list and make, and the Anki deck."""

from datetime import datetime
from pathlib import Path

import click

from lmbook_press.book import Book
from lmbook_press.paths import BOOK, FILE, FOLDER

CHAPTERS = click.option("--chapters", default="1-23", show_default=True, help="Such as 1-5 or 2,4,7-9.")
KIND = click.option("--kinds", help='Only these: calculation, derivation, shapes, bug, words, "what if"; with commas.')
LEVELS = click.option("--levels", default="1-3", show_default=True, help="1 takes one step, 3 a case that the chapter "
                      "does not show.")  # fmt: skip


@click.group()
def exam():
    """Written exams: list the questions of the bank, and make papers with solutions from it."""


def _pool(chapters: str, kinds: str | None, levels: str) -> list:
    from lmbook_exams.bank import selected

    return selected(chapters, levels=levels, **({} if kinds is None else {"kinds": kinds}))


@exam.command("list")
@CHAPTERS
@KIND
@LEVELS
@click.option("--objectives", is_flag=True, help="Group them by what a reader of the chapter will be able to do.")
@click.option("--book", "book", type=FOLDER, help="The book's folder. Default: the current one.")
def list_questions(chapters: str, kinds: str | None, levels: str, objectives: bool, book: Path | None):
    """List the questions of the CHAPTERS: name, kind, level, points, minutes, words to read and to write, title.

    A star marks those whose numbers are drawn.
    """
    from lmbook_exams.bank import objectives as aims

    said = None
    for one in sorted(_pool(chapters, kinds, levels), key=lambda one: (one.chapter, objectives and one.objective)):
        if objectives and said != (said := (one.chapter, one.objective)):
            click.echo(f"{one.chapter}.{one.objective} {aims(Book.find(book), one.chapter)[one.objective - 1]}")
        read, written = one.words
        about = f"{one.points} points {one.minutes:>2} min {read:>3}/{written:<3} words  {one.title}"
        click.echo(f"{one.chapter:>2} {'*' if one.drawn else ' '} {one.name:<26} {one.kind:<11} {one.level} {about}")


@exam.command()
@click.option("--chapters", required=True, help="Such as 1-5 or 2,4,7-9; they are asked about evenly.")
@KIND
@LEVELS
@click.option(
    "--questions", "count", type=click.IntRange(1), help="How many questions. Default: 10, or what --minutes needs."
)
@click.option("--minutes", type=click.IntRange(1), help="How long the paper takes: the sum of its questions' minutes.")
@click.option("--time", type=click.IntRange(1), help="The minutes that students have, as the paper says it. Default: "
              "those of its questions.")  # fmt: skip
@click.option(
    "--take", "named", multiple=True, metavar="NAME", help="A question that must be in it; may be given several times."
)
@click.option(
    "--seed",
    metavar="SECRET",
    help="From it follow questions and numbers; the bank is public, so keep it to yourself. Default: what stands in "
    "OUT/secret.txt, which is made if it is not there.",
)
@click.option(
    "--versions", default="A", show_default=True, metavar="A,B", help="The same questions with other numbers in each."
)
@click.option("--title", default="Exam", show_default=True, help="The heading of each page.")
@click.option("--course", default="", help="The course, above the heading.")
@click.option("--date", default="", help="The day, as it is to be printed. Default: room to write it.")
@click.option("--aids", default="A pocket calculator. No books, notes, telephones or computers.", show_default=True,
              help="What students may use.")  # fmt: skip
@click.option(
    "--extra-time", type=click.IntRange(0, 200), default=0, metavar="PERCENT", help="More time, for one student."
)
@click.option("--large", is_flag=True, help="Large print.")
@click.option("--compact", is_flag=True, help="Leave no room for answers below the questions.")
@click.option("--latex", is_flag=True, help="Write each paper and its solutions as a LaTeX file, too.")
@click.option("--qti", is_flag=True, help="Write each version as two QTI 2.1 packages, too, one with solutions.")
@click.option("--overwrite", is_flag=True, help="Replace papers that are there already.")
@click.option("--book", "book", type=FOLDER, help="The book's folder. Default: the current one.")
@click.option("--out", type=FOLDER, required=True, help="Folder to write to.")
def make(
    chapters: str, kinds: str | None, levels: str, count: int | None, minutes: int | None, named: tuple[str, ...],
    seed: str | None, versions: str, overwrite: bool, book: Path | None, out: Path, **look,
):  # fmt: skip
    """Make a paper about CHAPTERS and, in a file of its own, its solutions with the marking scheme.

    Both are HTML pages that load nothing; print them. The same secret makes the same paper again. About half of the
    questions are calculations; a paper of an hour has a derivation, a mistake to find, a question in words, one on
    shapes and a "what if" as well, where the chapters have them.
    """
    from lmbook_exams.paper import choose, papers, seed_of, versions_of
    from lmbook_exams.sheets import Sheet, write_papers
    from lmbook_press.assignments.variants import course_secret

    names, pool, found = versions_of(versions), _pool(chapters, kinds, levels), Book.find(book)
    choose(pool, 0, count, minutes, named)  # complains before a secret is written
    if seed is None:
        seed, where = course_secret(out, ignored=("*",))
        click.echo(f"The secret of this exam: {where}. Keep it, and keep it to yourself.", err=True)
    number = seed_of(seed)
    chosen = choose(pool, number, count, minutes, named)
    made = papers(chosen, number, names)
    for path in write_papers(made, found, out, Sheet(**look), overwrite):
        click.echo(path)
    click.echo(f"{len(chosen)} questions, {made[0].points} points, {made[0].minutes} minutes.")


@click.command()
@click.option("--out", type=FILE, default="build/lmbook.apkg", show_default=True,
              metavar="FILE", help="The deck to write.")  # fmt: skip
@BOOK
def deck(out: Path, root: Path | None):
    """Make an Anki deck of the questions that the page "Today" asks: self-checks, exercises, glossary, exam bank."""
    from lmbook_exams.recall.deck import write_deck

    count = write_deck(out, Book.find(root))
    click.echo(f"{out}: {count} cards, {out.stat().st_size / 1e6:.1f} MB")


@click.command()
@click.option("--plan", "plan", type=FILE, help="Default: book/plan.toml.")
@click.option("--out", default="plan.html", show_default=True, type=FILE,
              help="The page to write.")  # fmt: skip
@click.option("--syllabus", type=FILE, help="Write the syllabus there, as Markdown, in place of the page.")
@click.option("--begin", type=click.DateTime(["%Y-%m-%d"]), help="The day on which the first week begins, for the "
              "syllabus.")  # fmt: skip
@click.option("--free", type=click.DateTime(["%Y-%m-%d"]), multiple=True, help="The first day of a week without the "
              "course, such as holidays, for the syllabus; may be given several times.")  # fmt: skip
@BOOK
def plan(
    plan: Path | None, out: Path, syllabus: Path | None, begin: datetime | None, free: tuple[datetime, ...],
    root: Path | None,
):  # fmt: skip
    """Make the plan of a course: its hours, and a run sheet of each meeting, as one page that prints."""
    from lmbook import write
    from lmbook_exams import plan as making
    from lmbook_exams import syllabus as text

    book = Book.find(root)
    file = plan or book.root / "book" / "plan.toml"
    if syllabus:
        days = [one.date() for one in free]
        write(syllabus, text.syllabus(making.read(file, book), book, begin and begin.date(), days))
    else:
        write(out, making.page(book, file))
    click.echo(syllabus or out)


COMMANDS = (exam, deck, plan)
