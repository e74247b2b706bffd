"""The Colab edition: each chapter as a notebook that sets itself up, without solutions, in plain Markdown.

`edition` makes one notebook, `write_editions` all of them.  Every stored output is cleared: the reader's own run makes
them, and a picture of another run beside the reader's numbers would mislead.  Drawings stay: they show no run.
"""

import re
from collections.abc import Iterable
from importlib import resources
from pathlib import Path

from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from lmbook_press.book import Book, BookError
from lmbook_press.drawn import shown_by
from lmbook_press.myst_blocks import PlainMarkdown
from lmbook_press.normalize import KERNEL, LANGUAGE, read, write_notebook

NEVER_INSTALLED = ("torch", "numpy", "matplotlib")  # Colab's own builds, chosen for its machines
# What in the code says that a package is needed -> the package.
ON_DEMAND = {
    "sacrebleu": "sacrebleu",
    "nltk": "nltk",
    r"sklearn|digits\.parts": "scikit-learn",
    "transformers": "transformers",
}
PREFIX = "application/papermill.record/"


def edition(path: str | Path, book: Book | None = None) -> NotebookNode:
    """The Colab edition of a chapter, of a homework's master or of its student version.

    path: the notebook inside the book's folder.  book: the book it belongs to; by default the one around `path`.
    Raises BookError, naming notebook, cell and line, for markup that is not known.
    """
    path = Path(path).resolve()
    book = book or Book.find(path.parent)
    origin = book.source_of(path)
    notebook = read(path)
    if path.parent == book.root / "notebooks" / "homework":
        from lmbook_press.assignments.make import student_version

        notebook = student_version(notebook, path.name)
    cells = [_set_up(notebook, book), _note(origin, book), *_cells(notebook, origin, book)]
    for number, cell in enumerate(cells, start=1):
        cell["id"] = f"c{number:02d}"
    metadata = {
        "colab": {"name": path.name, "provenance": [], "toc_visible": True},
        "kernelspec": dict(KERNEL),
        "language_info": dict(LANGUAGE),
    }
    return new_notebook(cells=cells, metadata=metadata)


def set_up_code(book: Book, needs: Iterable[str]) -> str:
    """The first cell: installs the package at the page's commit and, of `needs`, what the machine lacks."""
    body = resources.files("lmbook_press.editions").joinpath("setup_cell.txt").read_text(encoding="utf-8")
    return (
        "# @title Set-up: run this cell first\n"
        "# It installs the book's package at this page's version, unless it is here already.\n"
        f"VERSION = {_quoted(book.version)}\n"
        f"SOURCE = {_quoted(book.install_source)}\n"
        f"COMMIT = {_quoted(book.install_ref)}\n"
        f"NEEDS = [{', '.join(_quoted(need) for need in needs)}]\n\n{body.rstrip()}"
    )


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def needs_of(notebook: NotebookNode, book: Book) -> list[str]:
    """The packages that the notebook may have to install besides its own; never one that Colab must keep as it is."""
    code = "\n".join(cell.source for cell in notebook.cells if cell.cell_type == "code")
    always = [need for need in book.requirements if re.match(r"[\w-]+", need).group() not in NEVER_INSTALLED]
    return always + [package for word, package in ON_DEMAND.items() if re.search(rf"\b({word})(\b|_)", code)]


def _set_up(notebook: NotebookNode, book: Book) -> NotebookNode:
    return new_code_cell(set_up_code(book, needs_of(notebook, book)), metadata={"cellView": "form"})


def _note(origin: Path, book: Book) -> NotebookNode:
    homework = origin.parent.name == "homework"
    also = (
        "Answer where it says so; the checks below each answer tell you more."
        if homework
        else (
            "The page has the results stored, the figures alive without a kernel, and the solutions of the exercises."
        )
    )
    return new_markdown_cell(f"*Notebook edition of [{book.title(origin)}]({book.address(origin)}). {also}*")


def glued(notebook: NotebookNode) -> dict[str, str]:
    """Name -> text of every number that the cells stored with lmbook.glue."""
    found = {}
    for cell in notebook.cells:
        for output in cell.get("outputs", []):
            name = output.get("metadata", {}).get("scrapbook", {}).get("name")
            if name:
                found[name] = output["data"].get(PREFIX + "text/plain", "")
    return found


def _cells(notebook: NotebookNode, origin: Path, book: Book) -> list[NotebookNode]:
    markup = PlainMarkdown(book, origin, glued(notebook))
    cells = []
    for number, cell in enumerate(notebook.cells, start=1):
        if cell.cell_type == "raw":
            raise BookError(f"{origin.name}, cell {number}: a raw cell shows nothing in Colab: use Markdown")
        if cell.cell_type == "code":
            if not markup.solution:
                cells.append(_code(cell))
            continue
        text = markup.convert(cell.source, number)
        if text:
            cells.append(new_markdown_cell(text, metadata=_graded(cell)))
    markup.finish()
    return cells


def _graded(cell: NotebookNode) -> dict:
    """The metadata a cell keeps: what nbgrader finds an answer by, and whether it may be edited."""
    return {key: cell.metadata[key] for key in ("nbgrader", "deletable", "editable", "tags") if key in cell.metadata}


def _code(cell: NotebookNode) -> NotebookNode:
    metadata, source = _graded(cell), cell.source
    folded = {"hide-input", "remove-input"} & set(cell.metadata.get("tags", []))
    if folded:  # in JupyterLab by the one mark, in Colab by the other two
        metadata |= {"jupyter": {"source_hidden": True}, "cellView": "form"}
        source = f"# @title The code of this cell is folded\n{source}"
    return new_code_cell(source, metadata=metadata, outputs=cell.outputs if shown_by(cell) else [])


def write_editions(out: Path, book: Book) -> list[Path]:
    """Writes OUT/notebooks/NN-name.ipynb and OUT/book/homework/NN-name.ipynb; writes none if one of them fails."""
    notebooks = {
        out / book.place(path).relative_to(book.root): edition(path, book)
        for path in [*book.chapters(), *book.masters()]
    }
    for path, notebook in notebooks.items():
        write_notebook(notebook, path)
    return list(notebooks)
