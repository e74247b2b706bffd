"""The press's commands: the other editions, tidy notebooks, drawings, slides, the book to carry away."""

import sys
from pathlib import Path

import click

from lmbook_press.book import Book
from lmbook_press.paths import BOOK, FILE, FOLDER


@click.command()
@click.option(
    "--out",
    type=FOLDER,
    default="build/colab",
    show_default=True,
    help="Folder to write to; the notebooks keep their paths in it.",
)
@click.option(
    "--source",
    metavar="ADDRESS",
    help="Where the set-up cell installs lmbook from, as pip writes it (git+https://…, git+file:///…). "
    "Default: the repository of _config.yml.",
)
@click.option("--ref", metavar="COMMIT", help="The commit it installs. Default: the one checked out.")
@BOOK
def editions(out: Path, source: str | None, ref: str | None, root: Path | None):
    """Write the Colab edition of every chapter and homework.

    Each notebook installs lmbook at one commit in its first cell, has plain Markdown, a link instead of each
    solution, and no stored outputs.
    """
    from lmbook_press.editions.colab import write_editions

    for path in write_editions(out, Book.find(root, source=source, ref=ref)):
        click.echo(path)


@click.command()
@click.option(
    "--check", "only_check", is_flag=True, help="Change nothing; name the notebooks that are not tidy and exit with 1."
)
@click.argument("paths", nargs=-1, type=click.Path(exists=True, path_type=Path))
def tidy(only_check: bool, paths: tuple[Path, ...]):
    """Bring notebooks into normal form: PATHS are notebooks or folders; without any, the folder notebooks.

    Sets kernel, cell ids and execution counts, drops widget state, timings and front-end settings. Says which
    notebooks must be run again because their cells ran out of order or their outputs hold paths of one machine.
    """
    from lmbook_press.normalize import check, tidy_file

    bad = 0
    for path in _notebooks(paths):
        changed, found = (False, check(path)) if only_check else tidy_file(path)
        if changed:
            click.echo(f"{path}: tidied")
        for fault in found:
            click.echo(f"{path}: {fault}", err=True)
        bad += bool(found)
    if bad:
        sys.exit(1)


@click.command()
@click.option("--out", type=FOLDER, metavar="FOLDER",
              help="Also write every drawing there, as SVG, and a page that shows them all.")  # fmt: skip
@click.argument("paths", nargs=-1, type=click.Path(exists=True, path_type=Path))
def draw(out: Path | None, paths: tuple[Path, ...]):
    """Put the drawings, as their source has them now, into the notebooks that show them.

    PATHS are notebooks or folders; without any, the folder notebooks. No notebook is run.
    """
    from lmbook_press.drawn import gallery, redraw

    for path in _notebooks(paths):
        for name in redraw(path):
            click.echo(f"{path}: {name} drawn")
    if out:
        click.echo(gallery(out)[-1])


@click.command()
@click.argument("chapter")
@click.option("--out", type=FILE, metavar="FILE",
              help="The page to write. Default: slides-CHAPTER.html in the current folder.")  # fmt: skip
@BOOK
def slides(chapter: str, out: Path | None, root: Path | None):
    """Make slides of a CHAPTER, by its number or name: one page that opens offline and prints to PDF."""
    from lmbook import write
    from lmbook_press.editions import slides as making

    book = Book.find(root)
    path = making.chapter(book, chapter)
    out = out or Path(f"slides-{path.stem}.html")
    write(out, making.slides(path, book))
    click.echo(out)


def _notebooks(paths: tuple[Path, ...]) -> list[Path]:
    found = []
    for path in paths or (Book.find().root / "notebooks",):
        inside = sorted(path.rglob("*.ipynb")) if path.is_dir() else [path]
        found += [file for file in inside if ".ipynb_checkpoints" not in file.parts]
    return found


@click.command()
@click.argument("kind", type=click.Choice(["zip", "pdf", "epub"]))
@click.option("--site", type=FOLDER, default="_build/html", show_default=True,
              help="The built site (make site).")  # fmt: skip
@click.option("--out", type=FILE, metavar="FILE",
              help="Default: build/lmbook.KIND")  # fmt: skip
@BOOK
def portable(kind: str, site: Path, out: Path | None, root: Path | None):
    """Make the book to carry away from the built site.

    zip: the site for a disk, opened by double click on its index.html. pdf: the whole book on numbered pages, printed
    by Chromium. epub: for reading apps, with formulae as MathML.
    """
    book = Book.find(root)
    if not (site / "index.html").is_file():
        raise click.ClickException(f"{site} holds no built site: run make site first.")
    about = (book.root, site, book.config["title"], book.config["author"], book.site)
    out = out or Path("build") / f"lmbook.{kind}"
    if kind == "zip":
        from lmbook_press.editions.offline import write_zip

        made = write_zip(out, site, "lmbook")
    elif kind == "pdf":
        from lmbook_press.editions.pdf import write_pdf

        made = write_pdf(out, *about)
    else:
        from lmbook_press.editions.epub import write_epub

        made = write_epub(out, *about)
    click.echo(f"{made}: {made.stat().st_size / 1e6:.1f} MB")


COMMANDS = (editions, tidy, draw, slides, portable)
