"""Normal form of a stored notebook: what differs between two runs of the same notebook on two machines is taken out.

Kept: sources, tags, marks for slides and of nbgrader, outputs.  Set: kernel, cell ids by position, execution counts.
Dropped: widget state, timings, front-end settings.  Not repairable, hence a fault: cells run out of order, absolute
paths in outputs.
"""

import re
from itertools import pairwise
from pathlib import Path

import nbformat
from nbformat import NotebookNode

from lmbook import write
from lmbook_press.book import BookError

KERNEL = {"display_name": "Python 3", "language": "python", "name": "python3"}
LANGUAGE = {"file_extension": ".py", "mimetype": "text/x-python", "name": "python", "pygments_lexer": "ipython3"}
NOTEBOOK_KEYS = ("kernelspec", "language_info", "lmbook")
CELL_KEYS = ("tags", "slides", "nbgrader", "deletable", "editable")
WIDGETS = ("application/vnd.jupyter.widget-view+json", "application/vnd.jupyter.widget-state+json")
ABSOLUTE = re.compile(
    r"(?<![\w.:/])/(?:home|Users|tmp|root|work|usr|opt|mnt|private|var|content|workspaces?)/[\w.-][^\s\"'<>)]*"
    r"|\b[A-Z]:\\\\?Users\\[^\s\"'<>]*"
    r"|file://[^\s\"'<>)]+"
)


def tidied(notebook: NotebookNode) -> NotebookNode:
    """A copy of `notebook` in normal form; tidying it again changes nothing."""
    tidy = nbformat.from_dict(notebook)
    tidy.nbformat, tidy.nbformat_minor = 4, 5
    kept = {key: value for key, value in tidy.metadata.items() if key in NOTEBOOK_KEYS}
    tidy.metadata = nbformat.from_dict(kept | {"kernelspec": KERNEL, "language_info": LANGUAGE})
    in_order = not faults(notebook)
    count = 0
    for position, cell in enumerate(tidy.cells, start=1):
        cell["id"] = f"c{position:02d}"
        cell.source = "\n".join(line.rstrip() if cell.cell_type == "code" else line for line in cell.source.split("\n"))
        cell.source = cell.source.rstrip()
        kept = {key: cell.metadata.get(key) for key in CELL_KEYS}
        cell.metadata = nbformat.from_dict({key: value for key, value in kept.items() if value not in (None, [], {})})
        if "attachments" in cell and not cell.attachments:
            del cell["attachments"]
        if cell.cell_type != "code":
            continue
        if cell.execution_count is not None and in_order:
            count += 1
            cell.execution_count = count
        cell.outputs = _outputs(cell)
    return tidy


def _outputs(cell: NotebookNode) -> list[NotebookNode]:
    from lmbook.figures import (
        HIDE_DEAD_VIEW,
    )  # with the libraries of the figures, which a reader of notebooks can spare

    kept: list[NotebookNode] = []
    for output in cell.outputs:
        if output.output_type in ("display_data", "execute_result"):
            for mime in WIDGETS:
                output.data.pop(mime, None)
            if "text/html" in output.data:
                output.data["text/html"] = output.data["text/html"].removeprefix(HIDE_DEAD_VIEW)
            if not output.data:
                continue
            if output.output_type == "execute_result":
                output.execution_count = cell.execution_count
        if output.output_type == "stream":
            before = kept[-1] if kept else None
            if before is not None and before.output_type == "stream" and before.name == output.name:
                before.text += output.text
                continue
        kept.append(output)
    return kept


def faults(notebook: NotebookNode) -> list[str]:
    """The faults that only a new run can repair: cells run out of order or not at all, machine paths in outputs."""
    found = []
    code = [cell for cell in notebook.cells if cell.cell_type == "code" and cell.source.strip()]
    counts = [cell.execution_count for cell in code]
    if any(count is not None for count in counts):
        if None in counts:
            found.append(f"code cell {counts.index(None) + 1} was never run: run the notebook from top to bottom")
        elif any(second <= first for first, second in pairwise(counts)):
            found.append("the cells were run out of order: restart the kernel and run the notebook from top to bottom")
    for number, cell in enumerate(notebook.cells, start=1):
        for output in cell.get("outputs", []):
            texts = [output.get("text", ""), *(value for value in output.get("data", {}).values())]
            for text in (text for text in texts if isinstance(text, str)):
                if path := ABSOLUTE.search(text):
                    found.append(f"cell {number} prints the path {path.group()}, which is of one machine only")
                    break
    return found


def text_of(notebook: NotebookNode) -> str:
    """The file's text: JSON, one space of indentation, one newline at the end."""
    return nbformat.writes(notebook, version=4, indent=1).rstrip("\n") + "\n"


def read(path: Path) -> NotebookNode:
    """The notebook in the file.  Raises BookError, naming the file, where it holds none."""
    try:
        return nbformat.read(path, as_version=4)
    except (ValueError, KeyError, AttributeError) as error:  # nbformat's own errors are of these kinds
        raise BookError(f"{path} is not a notebook: {error}") from error


def check(path: Path) -> list[str]:
    """The parts of a file that are not in normal form; none for a tidy one."""
    notebook = read(path)
    found = faults(notebook)
    if text_of(tidied(notebook)) != path.read_text(encoding="utf-8"):
        found.append("not in normal form: run 'lmbook tidy' on it")
    return found


def tidy_file(path: Path) -> tuple[bool, list[str]]:
    """Tidies the file in place.  Returns whether it changed, and the faults that remain."""
    notebook = read(path)
    text = text_of(tidied(notebook))
    changed = text != path.read_text(encoding="utf-8")
    if changed:
        write(path, text)
    return changed, faults(notebook)


def write_notebook(notebook: NotebookNode, path: Path) -> None:
    write(path, text_of(notebook))
