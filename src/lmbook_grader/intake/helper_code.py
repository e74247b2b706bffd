"""Helpers: what an answer needs and its author wrote in another cell (an import, a function) is taken along with it.

Only sources of answers are graded: `import itertools` in a cell of its own would be lost, and an honest answer fail.
The statements that bind the names an answer uses, and nothing else of those cells, are put before the answer.
"""

import ast
import builtins

LONGEST = 50_000  # characters that are looked at
MOST = 50  # statements taken along


def helpers(answer: str, elsewhere: list[str], known: set[str]) -> tuple[str, list[str]]:
    """The statements in `elsewhere` (the student's own cells) that `answer` needs, and the names they bind.

    known: names that the release itself binds.  Of several statements for one name the last counts.  What cannot be
    parsed is passed over.
    """
    cells = [parsed for source in elsewhere if (parsed := _statements(source))]
    tree = _parse(answer)
    if tree is None or not cells:
        return "", []
    wanted, taken, names = _needed(tree) - known, {}, []
    while wanted and len(taken) < MOST:
        name = min(wanted)
        wanted.discard(name)
        names.append(name)
        found = [(at, part) for at, cell in enumerate(cells) for part in cell if name in _bound(part[0])]
        if not found:
            names.pop()
            continue
        at, (node, source) = found[-1]
        if (at, node.lineno) not in taken:
            taken[at, node.lineno] = source
            wanted |= _needed(ast.Module([node], [])) - known - set(names)
    return "\n\n".join(taken[place] for place in sorted(taken)), sorted(names)


def bound(sources: list[str]) -> set[str]:
    """The names that these cells bind at their top level."""
    return {name for source in sources for node, _ in _statements(source) for name in _bound(node)}


def _parse(source: str) -> ast.Module | None:
    if len(source) > LONGEST:
        return None
    lines = ["pass" if line.lstrip().startswith(("%", "!")) else line for line in source.split("\n")]
    try:
        return ast.parse("\n".join(lines))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _statements(source: str) -> list[tuple[ast.stmt, str]]:
    """The statements at the top level that bind a name and do little else, with their sources, decorators included."""
    tree = _parse(source)
    lines = source.split("\n")
    found = []
    for node in tree.body if tree else []:
        if _bound(node):
            first = min([node.lineno, *(one.lineno for one in getattr(node, "decorator_list", []))])
            found.append((node, "\n".join(lines[first - 1 : node.end_lineno])))
    return found


def _bound(node: ast.stmt) -> set[str]:
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return {node.name}
    if isinstance(node, ast.Import | ast.ImportFrom):
        return {alias.asname or alias.name.split(".")[0] for alias in node.names} - {"*"}
    if isinstance(node, ast.Assign | ast.AnnAssign):
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        return {one.id for target in targets for one in ast.walk(target) if isinstance(one, ast.Name)}
    return set()


def _needed(tree: ast.Module) -> set[str]:
    """Names that are read and that the code binds nowhere itself."""
    read, own = set(), set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            (read if isinstance(node.ctx, ast.Load) else own).add(node.id)
        elif isinstance(node, ast.arg):
            own.add(node.arg)
        elif isinstance(node, ast.stmt):
            own |= _bound(node) if not isinstance(node, ast.Assign | ast.AnnAssign) else set()
        elif isinstance(node, ast.ExceptHandler) and node.name:
            own.add(node.name)
    return read - own - set(dir(builtins))
