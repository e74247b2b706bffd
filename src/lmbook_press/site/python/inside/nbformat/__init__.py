"""What the grader's own code uses of nbformat, in a page: nodes, and to read a notebook of format 4."""

import json
from pathlib import Path

from nbformat import v4
from nbformat.v4 import NotebookNode, from_dict

__all__ = ["NotebookNode", "from_dict", "read", "v4"]


def read(path: str | Path, as_version: int) -> NotebookNode:
    """The notebook in a file, its sources as text. Raises ValueError where it holds none of format 4."""
    found = json.loads(Path(path).read_text(encoding="utf-8"))
    if not isinstance(found, dict) or found.get("nbformat") != as_version:
        raise ValueError(f"it is not a notebook of format {as_version}")
    for cell in found["cells"]:
        if isinstance(cell["source"], list):
            cell["source"] = "".join(cell["source"])
    return from_dict(found)
