"""A cell that did not end, without what may be to blame: a slow demonstration costs nobody the function above it."""

import ast
from collections import Counter
from functools import cache

MOST_CUT = 3
KEPT = {1: "all but the calls and loops in", 2: "the functions and constants of", 3: "the functions of"}


@cache
def shortened(source: str, level: int) -> str:
    """A cell without the statements at its top level that may not end; the others keep their lines.

    level 0: all of it; 1: without calls, loops and assertions; 2: imports, functions, classes, and values that nothing
    is called for; 3: without values.  "" for a cell that cannot be cut so.
    """
    if not level:
        return source
    try:
        body = ast.parse(source).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):  # IPython's own lines, or no Python
        return ""
    lines = source.split("\n")
    left = [node for node in body if not _stays(node, level)]
    ends = Counter(at for node in body for at in (node.lineno, node.end_lineno))
    if max(ends.values(), default=0) > 2:  # several in one line
        return ast.unparse(ast.Module([node for node in body if node not in left], []))
    for node in left:
        lines[node.lineno - 1 : node.end_lineno] = [""] * (node.end_lineno - node.lineno + 1)
    return "\n".join(lines) if len(left) < len(body) else ""


def _stays(node: ast.stmt, level: int) -> bool:
    if level == 1:
        return not isinstance(node, ast.Expr | ast.For | ast.AsyncFor | ast.While | ast.Assert)
    value = isinstance(node, ast.Assign | ast.AnnAssign) and level == 2
    called = any(isinstance(part, ast.Call | ast.ListComp | ast.DictComp | ast.SetComp) for part in ast.walk(node))
    kinds = ast.Import | ast.ImportFrom | ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
    return isinstance(node, kinds) or (value and not called)
