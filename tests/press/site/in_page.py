"""Cells of a notebook, run in the page's Python, and held to the stored outputs by nbval's own rules."""

import base64
import json
import re
import time
from pathlib import Path
from types import SimpleNamespace

import nbformat
import pytest
from nbval import plugin

from lmbook.data import fetch
from lmbook_press.site.python import files, needs, packs

ROOT = Path(__file__).parents[3]
BLANK = "<!doctype html><html lang=en><title>Python</title><p>blank"
START = """async () => {
  const { Kernel } = await import("./python/kernel.mjs");
  globalThis.kernel = new Kernel();
}"""
PUT = """async ([path, data]) => {
  const text = atob(data);
  await kernel.put(path, Uint8Array.from(text, (sign) => sign.charCodeAt(0)));
}"""
RUN = "([code, id]) => kernel.run(code, { id })"


def python_files() -> dict[str, Path]:
    """The files of Pyodide; without them the test is skipped and says why."""
    found = files.complete()
    if found is None:
        pytest.skip("NO PYTHON RAN IN A PAGE: its files are not on this machine (python -m lmbook_press.site.python)")
    return found


def write_site(folder: Path) -> Path:
    """A site that has a blank page and Python."""
    packs.write(folder / "python", python_files())
    (folder / "index.html").write_text(BLANK, encoding="utf8")
    return folder


class Rules:
    """nbval's comparison without its run of a kernel."""

    compare_outputs = plugin.IPyNbCell.compare_outputs
    sanitize = plugin.IPyNbCell.sanitize
    colors = plugin.nocolors
    skipped = ("metadata", "traceback", "prompt_number", "output_type", "name", "execution_count")
    skipped += ("application/vnd.jupyter.widget-view+json", "image/png", "image/jpeg")

    def __init__(self) -> None:
        patterns = plugin.get_sanitize_patterns((ROOT / "tests/notebooks/sanitize.cfg").read_text(encoding="utf8"))
        self.parent = SimpleNamespace(sanitize_patterns=dict(patterns), skip_compare=self.skipped)
        self.comparison_traceback: list[str] = []

    def format_output_compare(self, key: str, left: object, right: object) -> None:
        self.comparison_traceback.append(f"{key}:\n  stored {str(left)[:900]!r}\n  page   {str(right)[:900]!r}")

    def difference(self, outputs: list[dict], stored: list) -> str:
        """What differs between outputs and those stored, or nothing."""
        self.comparison_traceback = []
        ran = plugin.coalesce_streams([nbformat.from_dict(output) for output in outputs])
        same = self.compare_outputs(ran, plugin.coalesce_streams(stored))
        return "" if same else "\n".join(map(str, self.comparison_traceback))


def put_corpora(page, code: str) -> None:
    """Puts the corpora that code names where the page's Python looks for them."""
    for name in fetch.registry():
        if not re.search(rf"['\"]{name}['\"]", code):
            continue
        for file in fetch.card(name)["files"]:
            place = fetch.read(name, file["name"])[2]
            data = base64.b64encode(place.read_bytes()).decode()
            page.evaluate(PUT, [f"/cache/lmbook/data/{name}/{place.name}", data])


EARLY = 24  # code cells of a chapter that are run at each push; the first of chapter 5 that takes long is the 26th


def chapter(page, notebook: Path, limit: int | None = None, seen=lambda *cell: None) -> dict[str, str]:
    """Runs the cells that a page can run, from top to bottom: id -> "equal", "free", or what is wrong with it.

    seen: is told of each cell when it has run: its id, the same word, its seconds.
    """
    cells = [cell for cell in nbformat.read(notebook, as_version=4).cells if cell.cell_type == "code"]
    plans, rules, found = needs.page(notebook), Rules(), {}
    page.evaluate(START)
    put_corpora(page, "\n".join(cell.source for cell in cells))
    for cell, plan in list(zip(cells, plans, strict=True))[:limit]:
        if plan["torch"]:
            continue
        began = time.monotonic()
        if plan["imports"]:
            page.evaluate(RUN, ["\n".join(plan["imports"]), f"imports of {cell.id}"])
        done = json.loads(json.dumps(page.evaluate(RUN, [cell.source, cell.id])))
        if done["status"] != "ok":
            found[cell.id] = "\n".join(done["outputs"][-1]["traceback"])
        elif "nbval-ignore-output" in cell.metadata.get("tags", []):
            found[cell.id] = "free"
        else:
            found[cell.id] = rules.difference(done["outputs"], cell.outputs) or "equal"
        seen(cell.id, found[cell.id], time.monotonic() - began)
    return found
