"""What a cell needs before it can run: which cells above it, which packages, and whether PyTorch is among them.

Read from the code alone, without running it. A cell needs the cells that bind the names it uses, and those that change
them in place:

    x[i] = ..., x.y = ..., x += ..., del x[i]      an assignment into x
    x.append(...), shuffle(x)                       a call whose value nobody takes; printing changes nothing
    rng.integers(...)                               any use of a random generator, which goes on to its next number

What comes from an import is not worth a whole cell: the line of the import is run by itself. Too much is brought rather
than too little; a test runs cells with what this says and nothing else.
"""

import ast
import json
import re
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

import lmbook

HOME = Path(lmbook.__file__).parent.parent
SHOWS = {"print", "display", "show", "glue", "say"}  # calls that leave their arguments as they are
DRAWN = {"default_rng", "Random", "Generator", "manual_seed"}
TORCH = {"torch", "safetensors"}
WEIGHTS = re.compile(r"\bbundle\.weights\(")  # of a figure that runs a trained model, which is not in the page's Python
NEVER = {"weights", "transformers", "sklearn", "nltk", "sacrebleu"}  # not in a page, with PyTorch or without


@dataclass
class Cell:
    """What a cell does to names: binds, changes, uses before it binds them; what its functions use when called."""

    binds: set[str] = field(default_factory=set)
    changes: set[str] = field(default_factory=set)
    uses: set[str] = field(default_factory=set)
    later: set[str] = field(default_factory=set)  # used by the body of a function, whenever it is called
    draws: set[str] = field(default_factory=set)  # random generators that it makes
    imports: dict[str, str] = field(default_factory=dict)  # the name -> the line that imports it
    modules: list[str] = field(default_factory=list)  # all that it imports, at its top or within a function
    settings: dict[str, list[str]] = field(default_factory=dict)  # a module -> calls like plots.use_style()


def root(node: ast.AST) -> str | None:
    """x of x, x.y, x[i].z."""
    while isinstance(node, ast.Attribute | ast.Subscript):
        node = node.value
    return node.id if isinstance(node, ast.Name) else None


def called(node: ast.Call) -> str:
    """The last part of what is called: `show` of plots.show(...)."""
    return node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")


def stored(node: ast.AST) -> set[str]:
    """The names that are bound anywhere in a piece of code."""
    names = {part.id for part in ast.walk(node) if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store)}
    return names | {part.name for part in ast.walk(node) if isinstance(part, FUNCTION | ast.ClassDef)}


FUNCTION = ast.FunctionDef | ast.AsyncFunctionDef
OWN = ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp


def free(node: ast.AST) -> set[str]:
    """The names that a piece of code takes from around it."""
    if isinstance(node, ast.Name):
        return {node.id} if isinstance(node.ctx, ast.Load) else set()
    inner = {name for child in ast.iter_child_nodes(node) for name in free(child)}
    if isinstance(node, OWN):
        return inner - {name for part in node.generators for name in stored(part.target)}
    if isinstance(node, FUNCTION | ast.Lambda):
        own = {part.arg for part in ast.walk(node.args) if isinstance(part, ast.arg)}
        asked = {name for part in ast.walk(node) if isinstance(part, ast.Global) for name in part.names}
        brought = {
            (alias.asname or alias.name).split(".")[0]
            for part in ast.walk(node)
            if isinstance(part, ast.Import | ast.ImportFrom)
            for alias in part.names
        }
        inside = set() if isinstance(node, ast.Lambda) else {n for part in node.body for n in stored(part)}
        return inner - own - brought - (inside - asked)
    if isinstance(node, ast.ClassDef):
        return inner - {name for part in node.body for name in stored(part) if not isinstance(part, FUNCTION)}
    return inner


class Reader:
    """Goes through the statements of a cell in their order."""

    def __init__(self) -> None:
        self.cell = Cell()
        self.bound: set[str] = set()

    def use(self, *nodes: ast.AST | None) -> None:
        for node in nodes:
            if node is not None:
                self.cell.uses |= free(node) - self.bound
                self.cell.later |= {
                    name for part in ast.walk(node) if isinstance(part, ast.Lambda) for name in free(part)
                }
                self.bind(*(part.target for part in ast.walk(node) if isinstance(part, ast.NamedExpr)))

    def bind(self, *targets: ast.AST | None) -> None:
        for target in targets:
            for part in ast.walk(target) if target is not None else ():
                if isinstance(part, ast.Attribute | ast.Subscript) and (name := root(part)):
                    self.cell.changes |= {name} if isinstance(part.ctx, ast.Store | ast.Del) else set()
                    self.cell.uses |= free(part) - self.bound
                if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store):
                    self.bound.add(part.id)
                    self.cell.binds.add(part.id)

    def read(self, body: list[ast.stmt]) -> None:
        for node in body:
            self.statement(node)

    def branches(self, *bodies: list[ast.stmt]) -> None:
        """Any of these may run: what only one of them binds may be missing after them."""
        before, ends = set(self.bound), []
        for body in bodies:
            self.bound = set(before)
            self.read(body)
            ends.append(self.bound)
        self.bound = set.intersection(*ends)

    def statement(self, node: ast.stmt) -> None:
        match node:
            case ast.Import() | ast.ImportFrom():
                self.imported(node)
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                self.defined(node)
            case ast.Assign() | ast.AnnAssign() | ast.AugAssign():
                self.assigned(node)
            case ast.For() | ast.AsyncFor():
                self.use(node.iter)
                self.bind(node.target)
                self.read([*node.body, *node.orelse])
            case ast.While() | ast.If():
                self.use(node.test)
                self.branches(node.body, node.orelse)
            case ast.With() | ast.AsyncWith():
                for item in node.items:
                    self.use(item.context_expr)
                    self.bind(item.optional_vars)
                self.read(node.body)
            case ast.Try():
                self.branches([*node.body, *node.orelse], *([handler.body for handler in node.handlers] or [[]]))
                self.use(*(handler.type for handler in node.handlers))
                self.read(node.finalbody)
            case ast.Expr(value=ast.Call() as call) if called(call) not in SHOWS:
                # whose value nobody takes: it was made for what it does
                changed = [call.func] if isinstance(call.func, ast.Attribute) else []
                changed += [*call.args, *(keyword.value for keyword in call.keywords)]
                self.cell.changes |= {name for name in map(root, changed) if name}
                self.setting(call)
                self.use(call)
            case ast.Delete():
                self.bind(*node.targets)
            case _:
                self.use(node)
        for part in ast.walk(node):
            if part is not node and isinstance(part, ast.Import | ast.ImportFrom):
                self.modules(part)

    def setting(self, call: ast.Call) -> None:
        """A call that sets something of a module, plots.use_style(): whoever imports the module needs it."""
        given = [*call.args, *(keyword.value for keyword in call.keywords)]
        name = root(call.func) if isinstance(call.func, ast.Attribute) else None
        plain = all(isinstance(part, ast.Constant) for part in given) and ast.unparse(call.func) not in SEEDED
        if plain and name in self.cell.imports:
            self.cell.settings.setdefault(name, []).append(ast.unparse(call))

    def modules(self, node: ast.Import | ast.ImportFrom) -> None:
        inner = f"{node.module}." if isinstance(node, ast.ImportFrom) else ""
        self.cell.modules += [f"{inner}{alias.name}" for alias in node.names]

    def imported(self, node: ast.Import | ast.ImportFrom) -> None:
        self.modules(node)
        for alias in node.names:
            start = f"from {node.module} " if isinstance(node, ast.ImportFrom) else ""
            name = alias.asname or alias.name.split(".")[0]
            self.cell.imports[name] = f"{start}import {alias.name}" + (f" as {alias.asname}" if alias.asname else "")
            self.bound.add(name)

    def defined(self, node: FUNCTION | ast.ClassDef) -> None:
        if isinstance(node, FUNCTION):
            self.use(*node.decorator_list, *node.args.defaults, *(d for d in node.args.kw_defaults if d))
        else:
            self.use(node)
        self.cell.later |= free(node) - {node.name}
        self.bound.add(node.name)
        self.cell.binds.add(node.name)

    def assigned(self, node: ast.Assign | ast.AnnAssign | ast.AugAssign) -> None:
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        self.use(node.value)
        if isinstance(node, ast.AugAssign) and (name := root(node.target)):
            self.cell.uses |= {name} - self.bound
            self.cell.changes.add(name)
        if isinstance(node.value, ast.Call) and called(node.value) in DRAWN:
            self.cell.draws |= {name for name in map(root, targets) if name}
        self.bind(*targets)


@cache
def read(code: str) -> Cell:
    """What a cell does to names. Raises SyntaxError."""
    reader = Reader()
    reader.read(ast.parse(code).body)
    return reader.cell


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
SEEDED = {"lmbook.seed", "lmbook.device"}


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
    return [*reader.cell.modules, *(["weights"] if WEIGHTS.search(text) else [])]


@cache
def tainted(module: str) -> frozenset[str]:
    """The functions of a book's module that import what no page has when they are called, themselves or by others."""
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
        if {inner.split(".")[0] for inner in reader.cell.modules} & (TORCH | NEVER):
            found.add(name)
    while more := {name for name, node in functions.items() if name not in found and free(node) & found}:
        found |= more
    return frozenset(found)


def absent(modules: set[str], asked: list[str], code: str) -> bool:
    """Whether code that asks for some modules, and has all these behind it, needs what no page has."""
    if {name.split(".")[0] for name in modules} & (TORCH | NEVER):
        return True
    uses = {f"{root(node)}.{node.attr}" for node in ast.walk(ast.parse(code)) if isinstance(node, ast.Attribute)}
    unheld = {f"data.{name}" for name in LAZY}
    for module in asked:
        above, _, name = module.rpartition(".")
        if name in tainted(above):
            return True
        unheld |= {f"{name or above}.{function}" for function in tainted(module)}
    return bool(uses & unheld)


def plan(sources: list[str]) -> list[dict]:
    """For each code cell of a notebook: {before: numbers of the cells it needs, imports: lines to run first, torch}.

    torch: whether it, or a cell that it needs, asks for PyTorch or another package that a page does not have.
    """
    cells = [read(code) for code in sources]
    plans: list[dict] = []
    for number, cell in enumerate(cells):
        before, lines = needed(cells, number)
        asked = [*cell.modules, *of_lines(lines)]
        modules = {name for module in asked for name in behind(module)}
        torch = absent(modules, asked, sources[number]) or any(plans[other]["torch"] for other in before)
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
    """The code cells of a notebook with what each needs: [{id, source, tags, before, imports, torch}]."""
    cells = [cell for cell in json.loads(notebook.read_text(encoding="utf8"))["cells"] if cell["cell_type"] == "code"]
    sources = ["".join(cell["source"]) for cell in cells]
    return [
        {"id": cell["id"], "source": source, "tags": cell["metadata"].get("tags", []), **needs}
        for cell, source, needs in zip(cells, sources, plan(sources), strict=True)
    ]
