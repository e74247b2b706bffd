"""Small changes of a program, each in one place of one line, so that all else stays as its author wrote it."""

import ast
from collections.abc import Iterator
from dataclasses import dataclass

COMPARED = {
    ast.Lt: ("<", "<="), ast.LtE: ("<=", "<"), ast.Gt: (">", ">="), ast.GtE: (">=", ">"), ast.Eq: ("==", "!="),
    ast.NotEq: ("!=", "=="),
}  # fmt: skip
COMBINED = {
    ast.Add: ("+", "-"),
    ast.Sub: ("-", "+"),
    ast.Mult: ("*", "+"),
    ast.Div: ("/", "*"),
    ast.FloorDiv: ("//", "*"),
}
NAMES = {"min": "max", "max": "min", "sum": "max", "any": "all", "all": "any", "ones": "zeros", "argmax": "argmin"}


@dataclass(frozen=True)
class Edit:
    """source: the whole cell with the change; text: the changed line."""

    line: int
    text: str
    source: str


def edits(source: str) -> list[Edit]:
    """All such changes of a cell; none of one that is not plain Python."""
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []
    lines = source.split("\n")
    found = []
    for line, start, end, new in _places(tree, lines):
        data = lines[line - 1].encode()
        changed = (data[:start] + new.encode() + data[end:]).decode("utf-8", "replace")
        whole = "\n".join([*lines[: line - 1], changed, *lines[line:]])
        found.append(Edit(line, changed.strip(), whole))
    return found


def _places(tree: ast.Module, lines: list[str]) -> Iterator[tuple[int, int, int, str]]:
    """Line, first and last byte in it, and what stands there after the change."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Compare) and len(node.ops) == 1 and type(node.ops[0]) in COMPARED:
            yield from _between(node.left, node.comparators[0], COMPARED[type(node.ops[0])], lines)
        elif isinstance(node, ast.BinOp) and type(node.op) in COMBINED:
            yield from _between(node.left, node.right, COMBINED[type(node.op)], lines)
        elif isinstance(node, ast.Constant) and lines[node.lineno - 1].strip() == f"return {node.value}":
            continue  # to change what is returned would say nothing of the program
        elif isinstance(node, ast.Constant) and type(node.value) is int and 0 <= node.value < 10:
            yield node.lineno, node.col_offset, node.end_col_offset, str(node.value + 1)
        elif isinstance(node, ast.Constant) and type(node.value) is bool:
            yield node.lineno, node.col_offset, node.end_col_offset, str(not node.value)
        elif isinstance(node, ast.Name) and node.id in NAMES:
            yield node.lineno, node.col_offset, node.end_col_offset, NAMES[node.id]
        elif isinstance(node, ast.Attribute) and node.attr in NAMES and node.end_lineno == node.lineno:
            end = node.end_col_offset
            yield node.lineno, end - len(node.attr), end, NAMES[node.attr]
        elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            yield node.lineno, node.col_offset, node.col_offset + 1, ""


def _between(
    left: ast.expr, right: ast.expr, swap: tuple[str, str], lines: list[str]
) -> Iterator[tuple[int, int, int, str]]:
    """The operator between two expressions in one line."""
    if left.end_lineno != right.lineno:
        return
    start = left.end_col_offset
    data = lines[right.lineno - 1].encode()[start : right.col_offset]
    at = data.find(swap[0].encode())
    if at >= 0:
        yield right.lineno, start + at, start + at + len(swap[0]), swap[1]
