"""Drawn numbers in their places, written as one would: `27 + 1` as 28, `x + 0` and `x * 1` as x, `[5] * 0 + y` as y."""

import ast

Edit = tuple[int, int, int, int, str]


def folded(source: str, values: dict[str, object]) -> str:
    """The source with its sums and products in which a drawn number stands, where they become simpler by it."""
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError):
        return source
    edits: list[Edit] = []
    _look(tree, values, edits)
    lines = [line.encode() for line in source.split("\n")]
    for line, start, last, end, text in reversed(edits):
        lines[line - 1 : last] = [lines[line - 1][:start] + text.encode() + lines[last - 1][end:]]
    return "\n".join(line.decode() for line in lines)


def _look(node: ast.AST, values: dict[str, object], edits: list[Edit]) -> None:
    """Notes what becomes simpler below this node, from the left to the right."""
    if isinstance(node, ast.BinOp | ast.UnaryOp):
        fold = _Fold(values)
        text = ast.unparse(fold.visit(ast.parse(ast.unparse(node), mode="eval").body))
        if fold.simpler:
            text = text if '"' in text else text.replace("'", '"')
            edits.append((node.lineno, node.col_offset, node.end_lineno or 0, node.end_col_offset or 0, text))
            return
    for child in ast.iter_child_nodes(node):
        _look(child, values, edits)


class _Fold(ast.NodeTransformer):
    """Puts values in place of names and simplifies what they stand in; not what is inside of a call or an index."""

    def __init__(self, values: dict[str, object]):
        self.values, self.simpler, self.drawn = values, False, set()

    def visit_Name(self, node: ast.Name) -> ast.expr:
        value = self.values.get(node.id)
        if isinstance(value, bool) or not isinstance(value, int | float):
            return node
        return self._new(value)

    def generic_visit(self, node: ast.AST) -> ast.AST:
        return super().generic_visit(node) if isinstance(node, ast.BinOp | ast.UnaryOp) else node

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.expr:
        self.generic_visit(node)
        zero = isinstance(node.op, ast.USub) and _number(node.operand) == 0
        return self._done(node.operand) if zero and node.operand in self.drawn else node

    def visit_BinOp(self, node: ast.BinOp) -> ast.expr:
        self.generic_visit(node)
        left, right, op = node.left, node.right, node.op
        one, other = (_number(side) if side in self.drawn else None for side in (left, right))
        if isinstance(op, ast.Mult) and (one == 1 or other == 1):
            return self._done(right if one == 1 else left)
        if isinstance(op, ast.Mult) and isinstance(left, ast.List) and other == 0:
            return self._done(ast.List([], ast.Load()), drawn=True)
        if isinstance(op, ast.Mult) and (one == 0 or other == 0):
            return self._done(left if one == 0 else right, drawn=True)
        if isinstance(op, ast.Add) and (one == 0 or _empty(left, self.drawn)):
            return self._done(right)
        if isinstance(op, ast.Add | ast.Sub) and (other == 0 or _empty(right, self.drawn)):
            return self._done(left)
        if isinstance(op, ast.Div | ast.FloorDiv | ast.Pow) and other == 1:
            return self._done(left)
        if isinstance(op, ast.Pow) and one == 1:
            return self._done(left, drawn=True)
        return self._computed(node, _number(left), _number(right))

    def _computed(self, node: ast.BinOp, one: float | None, other: float | None) -> ast.expr:
        """Whole numbers that are added, subtracted, multiplied, or divided without a rest's being kept."""
        known = isinstance(one, int) and isinstance(other, int) and {node.left, node.right} & self.drawn
        if not known or not isinstance(node.op, ast.Add | ast.Sub | ast.Mult | ast.FloorDiv):
            return node
        value = eval(compile(ast.Expression(ast.fix_missing_locations(node)), "", "eval"))
        return self._done(self._new(value)) if value >= 0 else node

    def _new(self, value: float) -> ast.expr:
        made = ast.Constant(value)
        self.drawn.add(made)
        return made

    def _done(self, node: ast.expr, drawn: bool = False) -> ast.expr:
        self.simpler = True
        if drawn or isinstance(node, ast.Constant):
            self.drawn.add(node)
        return node


def _number(node: ast.expr) -> float | None:
    value = node.value if isinstance(node, ast.Constant) else None
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None


def _empty(node: ast.expr, drawn: set) -> bool:
    return node in drawn and isinstance(node, ast.List) and not node.elts
