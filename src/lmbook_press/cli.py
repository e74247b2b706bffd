"""The command `lmbook`: the other editions, tidy notebooks, drawings, corpora, recipes and results.

`lmbook_grader.cli` adds `lmbook homework` and `lmbook exam`, and is where the command starts: the grader stands on the
press.
"""

import sys
from pathlib import Path

import click

from lmbook import __version__
from lmbook_press.book import Book, BookError


class Commands(click.Group):
    """Shows a fault of the book, of its data or of a file as one message, without a traceback."""

    def invoke(self, ctx: click.Context):
        try:
            return super().invoke(ctx)
        except (click.exceptions.Exit, click.Abort):
            raise
        except ModuleNotFoundError as error:
            raise click.ClickException(f"This needs {error.name}: pip install 'lmbook[book,homework]'.") from error
        except (BookError, OSError, RuntimeError, ValueError) as error:
            raise click.ClickException(str(error)) from error


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="lmbook")
def main():
    """Tools of the book "From the Chain Rule to Transformers"."""


@main.command()
@click.option(
    "--out",
    type=click.Path(file_okay=False, path_type=Path),
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
@click.option("--book", "root", type=click.Path(exists=True, file_okay=False, path_type=Path), metavar="FOLDER",
              help="The book's folder. Default: the one around the current folder.")  # fmt: skip
def editions(out: Path, source: str | None, ref: str | None, root: Path | None):
    """Write the Colab edition of every chapter and homework.

    Each notebook installs lmbook at one commit in its first cell, has plain Markdown, a link instead of each
    solution, and no stored outputs.
    """
    from lmbook_press.colab import write_editions

    for path in write_editions(out, Book.find(root, source=source, ref=ref)):
        click.echo(path)


@main.command()
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


@main.command()
@click.option("--out", type=click.Path(file_okay=False, path_type=Path), metavar="FOLDER",
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


@main.command()
@click.argument("chapter")
@click.option("--out", type=click.Path(dir_okay=False, path_type=Path), metavar="FILE",
              help="The page to write. Default: slides-CHAPTER.html in the current folder.")  # fmt: skip
def slides(chapter: str, out: Path | None):
    """Make slides of a CHAPTER, by its number or name: one page that opens offline and prints to PDF."""
    from lmbook import write
    from lmbook_press import slides as making

    book = Book.find()
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


@main.group()
def data():
    """The corpora: which there are, and fetching one before it is needed."""


@data.command("list")
def list_corpora():
    """List the corpora with title and licence."""
    from lmbook import data as corpora

    for name in corpora.names():
        card = corpora.card(name)
        click.echo(f"{name:<18}{card['title']} [{card['licence'].get('id') or card['licence']['name']}]")


@data.command()
@click.argument("names", nargs=-1, required=True)
def fetch(names: tuple[str, ...]):
    """Fetch corpora into the cache (or find them in LMBOOK_DATA) and verify their checksums.

    Exits with 1 where one was not to be had.
    """
    from lmbook import data as corpora

    for name in names:
        files = corpora.card(name)["files"]
        for file in files:
            click.echo(corpora.path(name, file["name"]))
        if not files:
            click.echo(f"{name} is built in: there is nothing to fetch.")


@main.command()
@click.argument("recipe")
@click.option("--seed", default=0, show_default=True, help="Seed of weights, batches and dropout.")
@click.option("--device", help="cpu or cuda. Default: the GPU where there is one.")
@click.option("--resume", is_flag=True, help="Go on where an earlier run stopped.")
@click.option("--quick", is_flag=True, help="Three steps only, to see whether it runs; nothing is recorded.")
@click.option("--out", type=click.Path(file_okay=False, path_type=Path), default="runs", show_default=True,
              help="Folder for checkpoint, log, record and weights, in RECIPE-SEED.")  # fmt: skip
def train(recipe: str, seed: int, device: str | None, resume: bool, quick: bool, out: Path):
    """Train RECIPE (`lmbook recipes` lists them) and write its scores to OUT/RECIPE-SEED/record.json.

    Ctrl-C ends after the step and saves; --resume goes on from there. Several devices: start it with torchrun.
    """
    from lmbook.lab import recipes as book_of
    from lmbook.lab.distributed import processes

    with processes():
        record = book_of.train(recipe, seed, out, device, resume, quick=quick)
    if quick:
        click.echo(f"{recipe} runs: {', '.join(record['scores'])}")


@main.command()
def recipes():
    """List the recipes with the expected time on two CPU cores and the recorded score."""
    from lmbook.lab import tables

    click.echo(tables.listing())


@main.command()
@click.argument("name", required=False, metavar="[TABLE]")
@click.option("--out", type=click.Path(dir_okay=False, path_type=Path), help="File to write to instead of the screen.")
def results(name: str | None, out: Path | None):
    """Write the tables of results from the recorded runs, all of them or one TABLE, as Markdown."""
    from lmbook.lab import tables

    text = tables.page() if name is None else tables.table(name) + "\n"
    if out is None:
        click.echo(text, nl=False)
    else:
        out.write_text(text, "utf-8")
        click.echo(out)


@main.command()
@click.argument("kind", type=click.Choice(["zip", "pdf", "epub"]))
@click.option("--site", type=click.Path(file_okay=False, path_type=Path), default="_build/html", show_default=True,
              help="The built site (make site).")  # fmt: skip
@click.option("--out", type=click.Path(dir_okay=False, path_type=Path), metavar="FILE",
              help="Default: build/lmbook.KIND")  # fmt: skip
def portable(kind: str, site: Path, out: Path | None):
    """Make the book to carry away from the built site.

    zip: the site for a disk, opened by double click on its index.html. pdf: the whole book on numbered pages, printed
    by Chromium. epub: for reading apps, with formulae as MathML.
    """
    import yaml

    root = Book.find().root
    if not (site / "index.html").is_file():
        raise click.ClickException(f"{site} holds no built site: run make site first.")
    settings = yaml.safe_load((root / "_config.yml").read_text("utf-8"))
    about = (settings["title"], settings["author"], settings["html"]["baseurl"])
    out = out or Path("build") / f"lmbook.{kind}"
    if kind == "zip":
        from lmbook_press.portable.offline import write_zip

        made = write_zip(out, site, "lmbook")
    elif kind == "pdf":
        from lmbook_press.portable.pdf import write_pdf

        made = write_pdf(out, root, site, *about)
    else:
        from lmbook_press.portable.epub import write_epub

        made = write_epub(out, root, site, *about)
    click.echo(f"{made}: {made.stat().st_size / 1e6:.1f} MB")
