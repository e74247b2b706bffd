"""What a cell needs before it can run: which cells above it, which packages, and whether all of them are in a page.

Read from the code alone, without running it. A cell needs the cells that bind the names it uses, and those that change
them in place:

    x[i] = ..., x.y = ..., x += ..., del x[i]      an assignment into x
    x.append(...), shuffle(x)                       a call whose value nobody takes; printing changes nothing
    rng.integers(...)                               any use of a random generator, which goes on to its next number

What comes from an import is not worth a whole cell: the line of the import is run by itself. Too much is brought rather
than too little; a test runs cells with what this says and nothing else.

PyTorch is in a page as far as `lmbook_torch` goes. torch.json names the chapters whose cells were run with it and held
to the stored outputs, those of their cells that are refused, with the reason, and those that take long.
"""

import ast
import json
import re
from collections.abc import Collection
from functools import cache
from pathlib import Path

import lmbook
from lmbook_press.site.python.names import FUNCTION, Cell, Reader, free, read, root
from lmbook_press.site.python.packs import TRAINED

HOME = Path(lmbook.__file__).parent.parent
TORCH = frozenset({"torch", "safetensors", "trained"})
WEIGHTS = re.compile(r"\b(bundle\.weights|checkpoints\.load)\(")  # of a figure that runs a trained model
QUOTED = re.compile(r"\"([\w-]+)\"")
NEVER = frozenset({"weights", "transformers", "sklearn", "nltk", "sacrebleu"})  # not in a page, with PyTorch or without
COVERED = json.loads(Path(__file__).with_name("torch.json").read_text(encoding="utf8"))


@cache
def behind(module: str) -> frozenset[str]:
    """All that importing a name of the book imports, the book's own modules and others, by their dotted names."""
    found, waiting = set(), [module]
    while waiting:
        name = waiting.pop()
        if name in found:
            continue
        found.add(name)
        if name.split(".")[0] == "lmbook":
            waiting += heads(name)
    return frozenset(found)


LAZY = {"batches", "pad", "random_windows", "stream_batches", "windows", "Batch"}  # of lmbook.data, which take torch


@cache
def heads(name: str) -> list[str]:
    """What the files on the way to this name import at their heads."""
    from lmbook.figures import FIGURES

    parts, found = name.split("."), []
    if parts[:2] == ["lmbook", "figures"] and len(parts) == 3 and parts[2] in FIGURES:
        return [f"lmbook.figures.{FIGURES[parts[2]]}"]
    for end in range(1, len(parts) + 1):
        place = HOME.joinpath(*parts[:end])
        file = next((f for f in (place / "__init__.py", place.with_suffix(".py")) if f.is_file()), None)
        if file is not None:
            found += head(file)
    return found


@cache
def head(file: Path) -> list[str]:
    """What a module imports at its head."""
    reader, text = Reader(), file.read_text(encoding="utf8")
    for node in ast.parse(text).body:
        if isinstance(node, ast.Import | ast.ImportFrom):
            reader.modules(node)
    return [*reader.cell.modules, *(models(text) if "figures" in file.parts else [])]


def models(text: str) -> list[str]:
    """What a figure that runs trained models needs beside its imports: "trained" where a page has all of them, or
    "weights", which no page has."""
    if not WEIGHTS.search(text):
        return []
    shipped = {file.stem for file in (HOME / "lmbook/lab/trained").glob("*.safetensors")}
    named = shipped & set(QUOTED.findall(text))
    return ["trained" if named and named <= {name for names in TRAINED.values() for name in names} else "weights"]


@cache
def tainted(module: str, no: frozenset[str]) -> frozenset[str]:
    """The functions of a book's module that import what no page has (no) when they are called, or call such."""
    place = HOME.joinpath(*module.split("."))
    file = next((f for f in (place / "__init__.py", place.with_suffix(".py")) if f.is_file()), None)
    if file is None or not module.startswith("lmbook"):
        return frozenset()
    body = ast.parse(file.read_text(encoding="utf8")).body
    functions = {node.name: node for node in body if isinstance(node, FUNCTION | ast.ClassDef)}
    found: set[str] = set()
    for name, node in functions.items():
        reader = Reader()
        for part in ast.walk(node):
            if isinstance(part, ast.Import | ast.ImportFrom):
                reader.modules(part)
        if {inner.split(".")[0] for inner in reader.cell.modules} & no:
            found.add(name)
    while more := {name for name, node in functions.items() if name not in found and free(node) & found}:
        found |= more
    return frozenset(found)


def absent(modules: set[str], asked: list[str], code: str, no: frozenset[str]) -> bool:
    """Whether code that asks for some modules, and has all these behind it, needs what no page has (no)."""
    if {name.split(".")[0] for name in modules} & no:
        return True
    uses = {f"{root(node)}.{node.attr}" for node in ast.walk(ast.parse(code)) if isinstance(node, ast.Attribute)}
    unheld = {f"data.{name}" for name in LAZY} if "torch" in no else set()
    for module in asked:
        above, _, name = module.rpartition(".")
        if name in tainted(above, no):
            return True
        unheld |= {f"{name or above}.{function}" for function in tainted(module, no)}
    return bool(uses & unheld)


def plan(sources: list[str], covered: bool = False, refused: Collection[int] = ()) -> list[dict]:
    """For each code cell of a notebook: {before: numbers of the cells it needs, imports: lines to run first, torch}.

    torch: whether it, or a cell that it needs, asks for a package that a page does not have, PyTorch among them unless
    it is covered, or is one of those refused.
    """
    no = NEVER if covered else TORCH | NEVER
    cells = [read(code) for code in sources]
    plans: list[dict] = []
    for number, cell in enumerate(cells):
        before, lines = needed(cells, number)
        asked = [*cell.modules, *of_lines(lines)]
        modules = {name for module in asked for name in behind(module)}
        torch = (
            number in refused
            or absent(modules, asked, sources[number], no)
            or any(plans[other]["torch"] for other in before)
        )
        plans.append({"before": sorted(before), "imports": lines, "torch": torch})
    return plans


def of_lines(lines: list[str]) -> list[str]:
    """The modules that lines import."""
    return [module for line in lines for module in read(line).modules]


def needed(cells: list[Cell], number: int) -> tuple[set[int], list[str]]:
    """The cells above that one needs, and the lines of imports that none of them has."""
    before: set[int] = set()
    lines: dict[str, str] = {}
    settings: dict[str, str] = {}
    for cell in cells[:number]:  # what is said of warnings holds for all cells below
        settings.update(dict.fromkeys(cell.settings.get("warnings", []), "warnings"))
    if settings:
        lines["warnings"] = "import warnings"
    drawn = {name for cell in cells[:number] for name in cell.draws}
    waiting = [(name, number) for name in cells[number].uses | cells[number].later]
    seen: set[tuple[str, int]] = set()
    while waiting:
        name, limit = waiting.pop()
        if (name, limit) in seen:
            continue
        seen.add((name, limit))
        for other in reversed(range(limit)):
            cell = cells[other]
            if name in cell.imports and name not in cell.binds:
                lines.setdefault(name, cell.imports[name])
                settings.update({line: name for line in cell.settings.get(name, [])})
                break
            changed = name in cell.changes or (name in drawn and name in cell.uses)
            if name in cell.binds or changed:
                before.add(other)
                waiting += [(used, other) for used in cell.uses | cell.later | (cell.changes - cell.binds)]
                waiting += [(used, number) for used in cell.later]  # as they are when the function is called
            if name in cell.binds and not (changed and name in cell.uses):
                break
    there = {name for other in before for name in cells[other].imports}
    brought = sorted(line for name, line in lines.items() if name not in there)
    return before, [*brought, *(line for line, name in settings.items() if name not in there)]


def page(notebook: Path) -> list[dict]:
    """The code cells of a notebook with what each needs: [{id, source, tags, before, imports, torch, seconds}].

    seconds: how long a cell takes in a page, where that is more than a reader would expect; else 0.
    """
    cells = [cell for cell in json.loads(notebook.read_text(encoding="utf8"))["cells"] if cell["cell_type"] == "code"]
    sources = ["".join(cell["source"]) for cell in cells]
    about = COVERED.get(notebook.stem)
    refused = {i for i, cell in enumerate(cells) if about and cell["id"] in about["refused"]}
    slow = about["slow"] if about else {}
    return [
        {
            "id": cell["id"], "source": source, "tags": cell["metadata"].get("tags", []), **needs,
            "seconds": slow.get(cell["id"], 0),
        }
        for cell, source, needs in zip(cells, sources, plan(sources, about is not None, refused), strict=True)
    ]  # fmt: skip
