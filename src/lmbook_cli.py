"""The command `lmbook`: corpora, recipes and results here, and what the packages that stand on lmbook add to it.

Every command imports what it needs when it runs, so that the command itself starts at once.
"""

import io
import sys
from pathlib import Path

import click

import lmbook_exams.cli
import lmbook_grader.cli
import lmbook_press.cli
from lmbook import __version__
from lmbook_press.book import BookError
from lmbook_press.unseen import plain


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
            raise click.ClickException(plain(error)) from error


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="lmbook")
def main():
    """Tools of the book "From the Chain Rule to Transformers"."""
    for stream in (sys.stdout, sys.stderr):  # a name that a terminal has no sign for must not end the command
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


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


for command in (*lmbook_press.cli.COMMANDS, lmbook_grader.cli.homework, *lmbook_exams.cli.COMMANDS):
    main.add_command(command)


if __name__ == "__main__":
    main(prog_name="lmbook")
