"""The kinds of paths that commands take."""

from pathlib import Path

import click

FILE = click.Path(dir_okay=False, path_type=Path)
FOLDER = click.Path(file_okay=False, path_type=Path)
THERE = click.Path(exists=True, file_okay=False, path_type=Path)
READABLE = click.Path(exists=True, dir_okay=False, path_type=Path)
BOOK = click.option("--book", "root", type=THERE, metavar="FOLDER",
                    help="The book's folder. Default: the one around the current folder.")  # fmt: skip
