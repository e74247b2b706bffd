"""What the code of a cell does to names: which it binds, changes in place, and takes from the cells above it.

Read from its syntax, statement after statement: a name that a cell binds before it uses it is its own.
"""

import ast
from dataclasses import dataclass, field
from functools import cache

SHOWS = {"print", "display", "show", "glue", "say"}  # calls that leave their arguments as they are
DRAWN = {"default_rng", "Random", "Generator", "manual_seed"}
SEEDED = {"lmbook.seed", "lmbook.device"}  # which import torch: no setting of a module


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
