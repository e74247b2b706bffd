"""One returned file, read without trusting it: its notebook as plain cells, sources and grade ids and nothing else."""

import json
import os
import stat
from pathlib import Path

import nbformat
from nbformat import NotebookNode

from lmbook_grader.intake.match_answers import Placed, place
from lmbook_press.book import BookError

LARGEST = 20 * 2**20  # bytes
MOST_CELLS = 1000
OTHERS = {b"%PDF": "a PDF", b"PK\x03\x04": "a zip or a Word file", b"<": "a web page"}  # named like a notebook
KINDS = {"code": {"outputs": [], "execution_count": None}, "markdown": {}, "raw": {}}  # and what only they have


def shown(name: object) -> str:
    """A file's name or path as it can be printed: what is invisible, or would move a terminal's cursor, as \\x1b."""
    return "".join(sign if sign.isprintable() else ascii(sign)[1:-1] for sign in str(name))


class Unreadable(BookError):
    """A file that holds no notebook we can grade; the message is a sentence for the student."""


def read_bytes(path: Path) -> bytes:
    """The file's bytes.  Raises Unreadable for a link, a device, or a file over 20 MB, before anything is read."""
    flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
    try:
        handle = os.open(path, flags)
    except OSError as error:
        raise Unreadable(f"The file {shown(path.name)} could not be opened ({error.strerror}).") from error
    with os.fdopen(handle, "rb") as file:
        found = os.fstat(file.fileno())
        if not stat.S_ISREG(found.st_mode):
            raise Unreadable(f"{shown(path.name)} is not a plain file.")
        if found.st_size > LARGEST:
            size = f"{found.st_size / 2**20:.0f} MB"
            raise Unreadable(
                f"The file has {size}, more than the {LARGEST // 2**20} MB that are read. Clear its outputs (in "
                "Jupyter: Edit, Clear Outputs of All Cells), save it and hand it in again."
            )
        return file.read(LARGEST + 1)


def content_of(data: bytes) -> object:
    """What a file's JSON holds, in UTF-8 or, as some editors of Windows save it, UTF-16."""
    return json.loads(data.decode("utf-16" if data[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig"))


def open_submission(path: str | Path) -> NotebookNode:
    """The notebook in a student's file as plain cells: type, source, grade id, without outputs or other metadata.

    Format 3 and newer minor versions of format 4 are read too.  Raises Unreadable with a sentence for the student.
    """
    path = Path(path)
    data = read_bytes(path)
    if not data.strip():
        raise Unreadable("The file is empty. Save the notebook and hand it in again.")
    try:
        content = content_of(data)
    except (ValueError, RecursionError, MemoryError) as error:
        cut = data.lstrip()[:1] == b"{" and data.rstrip()[-1:] != b"}"
        kind = next((f"but {kind}" for start, kind in OTHERS.items() if data.lstrip().startswith(start)), "(not JSON)")
        what = "The file is a notebook that was cut off" if cut else f"The file is not a notebook {kind}"
        raise Unreadable(
            f"{what}. Download it again as .ipynb, open it once to see that it is whole, and hand it in."
        ) from error
    if not isinstance(content, dict) or not isinstance(content.get("nbformat"), int):
        raise Unreadable("The file is not a notebook: it does not say its format. Hand in the .ipynb file itself.")
    major = content["nbformat"]
    if major not in (3, 4):
        raise Unreadable(f"The notebook has format {major}; formats 3 and 4 are read. Save it in Jupyter or Colab.")
    cells = content.get("cells") if major == 4 else _of_format_3(content.get("worksheets"))
    if not isinstance(cells, list):
        raise Unreadable("The notebook has no list of cells. Download it again as .ipynb and hand it in.")
    if len(cells) > MOST_CELLS:
        raise Unreadable(f"The notebook has {len(cells)} cells; at most {MOST_CELLS} are read.")
    # Not nbformat's functions, which validate each cell: ten milliseconds a notebook, and here everything is our own.
    plain = [plain for position, cell in enumerate(cells) if (plain := _plain(cell, position))]
    return nbformat.from_dict({"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": plain})


def open_and_place(path: Path, release: NotebookNode) -> Placed:
    """The answers of a student's file in their places.  Raises Unreadable for whatever cannot be taken apart."""
    try:
        return place(open_submission(path), release)
    except Unreadable:
        raise
    except Exception as error:  # what students hand in is a fault of no course and no machine
        raise Unreadable(f"The file could not be taken apart ({type(error).__name__}). Hand in a new copy.") from error


def _of_format_3(worksheets: object) -> list | None:
    """The cells of all sheets as format 4 has them; None where there is no list of cells.

    Not nbformat's conversion, which takes a second and 40 MB for each 50 kB of outputs.
    """
    sheets = worksheets if isinstance(worksheets, list) else [None]
    found = [sheet.get("cells") if isinstance(sheet, dict) else None for sheet in sheets]
    if not all(isinstance(cells, list) for cells in found):
        return None
    return [_upgraded(cell) if isinstance(cell, dict) else cell for cells in found for cell in cells]


def _upgraded(cell: dict) -> dict:
    """A cell of format 3: the source of code is its `input`, and a heading has its level apart."""
    if cell.get("cell_type") == "code":
        return cell | {"source": cell.get("input", "")}
    if cell.get("cell_type") != "heading":
        return cell
    source, level = cell.get("source"), cell.get("level")
    lines = source if isinstance(source, list) else [source]
    return cell | {"cell_type": "markdown", "source": ["#" * (level if level in range(1, 7) else 1), " ", *lines]}


def _plain(cell: object, position: int) -> dict | None:
    """The cell with its source and grade id alone; None for anything that is not a cell."""
    if not isinstance(cell, dict):
        return None
    source = cell.get("source", "")
    if isinstance(source, list):
        source = "".join(line for line in source if isinstance(line, str))
    if not isinstance(source, str):
        return None
    kind = str(cell.get("cell_type"))  # whatever stands there
    if kind not in KINDS:
        return None
    metadata = cell.get("metadata")
    marks = metadata.get("nbgrader") if isinstance(metadata, dict) else None
    name = marks.get("grade_id") if isinstance(marks, dict) else None
    text = source.replace("\r\n", "\n").encode("utf-8", "replace").decode("utf-8")  # lone surrogates cannot be stored
    kept = {"nbgrader": {"grade_id": name}} if isinstance(name, str) else {}
    return {"cell_type": kind, "id": f"s{position}", "metadata": kept, "source": text, **KINDS[kind]}
