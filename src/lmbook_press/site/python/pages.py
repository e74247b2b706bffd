"""Which code of a chapter can run in the page: a mark on each cell, and a file beside the page with what each needs."""

import json
import re
from pathlib import Path

from docutils import nodes

from lmbook.data import fetch
from lmbook_press.site.python import needs, packs

CHAPTER = re.compile(r"notebooks/(\d\d-[\w-]+)")
QUOTED = re.compile(r"[\"']([\w-]+)[\"']")


def wanted(modules: set[str], code: str) -> list[str]:
    """The packs that code with these imports loads, and the corpora that it names."""
    named = set(QUOTED.findall(code)) & set(fetch.registry())
    return sorted(
        name
        for name, about in packs.packs().items()
        if any(module == one or module.startswith(f"{one}.") for one in about["imports"] for module in modules)
        or about.get("named") in named
    )


def cells(notebook: Path) -> list[dict]:
    """The code cells of a chapter with all that cells.mjs asks of them."""
    found = needs.page(notebook)
    drawn = {name for cell in found for name in needs.read(cell["source"]).draws}
    for cell in found:
        read = needs.read(cell["source"])
        modules = {
            name for module in [*read.modules, *needs.of_lines(cell["imports"])] for name in needs.behind(module)
        }
        if not cell["torch"] and any(f"data.{name}" in cell["source"] for name in needs.LAZY):
            modules.add("torch")
        cell["packs"] = wanted(modules, cell["source"])
        cell["binds"] = sorted(read.binds)
        cell["changes"] = sorted(read.changes | (drawn & read.uses))
        cell["names"] = read.imports
    return found


def mark(app, doctree, docname):
    """Each cell gets a class, `lm-run-7` or `lm-torch-7` with its number, and `lm-slow-90` with seconds if slow."""
    found = CHAPTER.fullmatch(docname)
    if not found or app.lmbook_python is None or app.builder.format != "html":
        return
    source = Path(app.env.doc2path(docname))
    if source.suffix != ".ipynb":
        return
    listed = cells(source)
    places = [i for i, cell in enumerate(json.loads(source.read_text("utf8"))["cells"]) if cell["cell_type"] == "code"]
    for node in doctree.findall(nodes.container):
        if node.get("nb_element") == "cell_code" and node.get("cell_index") in places:
            number = places.index(node["cell_index"])
            node["classes"].append(f"lm-{'torch' if listed[number]['torch'] else 'run'}-{number}")
            if listed[number]["seconds"]:
                node["classes"].append(f"lm-slow-{listed[number]['seconds']}")
    folder = Path(app.outdir) / "_static" / "python" / "cells"
    folder.mkdir(parents=True, exist_ok=True)
    shown = json.dumps(listed, ensure_ascii=False, separators=(",", ":"))
    (folder / f"{found[1]}.json").write_text(shown, encoding="utf8")


def button(app, pagename, templatename, context, doctree):
    """The page of a chapter loads the script that makes the buttons."""
    if CHAPTER.fullmatch(pagename) and app.lmbook_python is not None:
        app.add_js_file("run.mjs", type="module")
