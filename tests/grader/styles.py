"""Right answers to the book's homeworks as honest students may hand them in: each a combination of several habits.

`styled(stem, number)` is a finished notebook; the number is the seed of its habits.
"""

import ast
import random
import re

import nbformat
from nbformat.v4 import new_code_cell, new_markdown_cell
from points import master

from lmbook_grader.self_check import RELEASES
from lmbook_press.assignments.questions import marks

SOLUTION = re.compile(r"^[ \t]*### (?:BEGIN|END) SOLUTION\n?", re.MULTILINE)


def functions(source: str) -> list[str]:
    return [node.name for node in ast.parse(source).body if isinstance(node, ast.FunctionDef)]


def indented(source: str) -> str:
    return "\n".join(f"    {line}" if line else line for line in source.split("\n"))


# A habit takes the cells of one answer (the last is the answer itself), with what it defines, and changes them.  A
# function that is renamed or wrapped keeps its name in the answer's cell, where the marks and the grader look for it.


def split(cells, names, dice):
    """The work in a cell of its own, the answer only hands on."""
    last = names[-1]
    if "def make()" in cells[-1]:
        return cells
    work, found = re.subn(rf"^def {last}\(", f"def {last}_work(", cells[-1], flags=re.MULTILINE)
    if found != 1:  # it is indented by now, or stands there twice
        return cells
    return [*cells[:-1], work, f"def {last}(*given, **named):\n    return {last}_work(*given, **named)"]


def first_version(cells, names, dice):
    """An older version that was wrong, above the answer."""
    wrong = "\n\n".join(f"def {name}(*given, **named):\n    return None" for name in names)
    return [wrong, *cells]


def twice_in_one_cell(cells, names, dice):
    return [*cells[:-1], f"def {names[-1]}(*given):\n    raise ValueError('later')\n\n\n{cells[-1]}"]


def annotated(cells, names, dice):
    """Annotations with names that exist nowhere."""
    tree = ast.parse(cells[-1])
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            node.returns = ast.Constant("Answer")
            for argument in node.args.args:
                argument.annotation = ast.Constant("Something")
    return ["from __future__ import annotations", *cells[:-1], ast.unparse(tree)]


def in_a_factory(cells, names, dice):
    each = ", ".join(names)
    body = f"def make():\n{indented(cells[-1])}\n    return [{each}]\n\n\n[{each}] = make()"
    stubs = "\n".join(f"def {name}(): pass" for name in names)
    return [*cells[:-1], f"{stubs}\n{body}"]


def under_try(cells, names, dice):
    return [*cells[:-1], f"try:\n{indented(cells[-1])}\nexcept ImportError:\n    raise"]


def counted(cells, names, dice):
    """A counter outside, which the function changes."""
    last = names[-1]
    more = f"\n\n{last}_inner = {last}\n\n\ndef {last}(*given, **named):\n    global calls\n    calls += 1\n"
    return [*cells[:-1], "calls = 0", cells[-1] + more + f"    return {last}_inner(*given, **named)"]


def callable_object(cells, names, dice):
    last = names[-1]
    kind = f"class {last.title()}:\n    def __init__(self, work):\n        self.work = work\n\n"
    kind += "    def __call__(self, *given, **named):\n        return self.work(*given, **named)"
    return [*cells[:-1], kind, f"{cells[-1]}\n\n\n{last} = {last.title()}({last})"]


def as_lambda(cells, names, dice):
    """A table of its own for each function: one name for two of them would be a mistake, not a style."""
    last = names[-1]
    table = f"{last}_table"
    return [*cells[:-1], f"{cells[-1]}\n\n\n{table} = {{'f': {last}}}\n{last} = lambda *a, **k: {table}['f'](*a, **k)"]


def remarks(cells, names, dice):
    return [*cells[:-1], f"# My answer, third attempt.\n'''It took long.'''\n\n\n{cells[-1]}  \n\n# Shorter?\n"]


def windows(cells, names, dice):
    return [cell.replace("\n", "\r\n") for cell in cells]


def magic(cells, names, dice):
    lines = ("%matplotlib inline", "%time None", "!echo hello", "took = %timeit -o -n 1 -r 1 sum(range(9))", "?len")
    return [f"{dice.choice(lines)}\nready = True", *cells[:-1], f"{dice.choice(lines[:3])}\n{cells[-1]}"]


def cell_magic(cells, names, dice):
    return [dice.choice(("%%time", "%%capture", "%%javascript\nlet x = 1", "%%html\n<b>x</b>")) + "\n1", *cells]


def failing_cell(cells, names, dice):
    """A cell that stops, as input() does, and what stands below it in the same cell."""
    stop = dice.choice(("input('Your name? ')", "1 / 0", "from google.colab import drive", "open('my-data.txt')"))
    return [f"{stop}\nLATER = 1", *cells[:-1], f"{stop}\n{cells[-1]}"]


def awaited(cells, names, dice):
    return ["async def ready():\n    return True\n\n\nis_ready = await ready()", *cells]


def imported(cells, names, dice):
    lines = ("import itertools, functools", "from collections import *", "import numpy as np\nfrom numpy import array")
    return [dice.choice(lines), *cells]


def printed(cells, names, dice):
    """Tries of the function, which print."""
    name = names[0]
    return [*cells[:-1], f"{cells[-1]}\n\nprint({name}.__name__)\ndisplay({name})\n{name}"]


def default(cells, names, dice):
    last = names[-1]
    more = f"def {last}(*given, work={last}, **named):\n    return work(*given, **named)"
    return [*cells[:-1], "FACTOR = 1\nTABLE = {n: n for n in range(3)}", f"{cells[-1]}\n\n\n{more}"]


HABITS = [
    split, first_version, twice_in_one_cell, annotated, in_a_factory, under_try, counted, callable_object, as_lambda,
    remarks, windows, magic, cell_magic, failing_cell, awaited, imported, printed, default,
]  # fmt: skip
ALONE = (annotated, in_a_factory, under_try)  # they rewrite the answer, so they come first, and only one of them


def styled(stem: str, number: int) -> tuple[nbformat.NotebookNode, list[str]]:
    """A finished notebook of this homework, and the names of its habits."""
    dice = random.Random(f"{stem} {number}")
    right = {marks(cell).get("grade_id"): SOLUTION.sub("", cell.source).rstrip() for cell in master(stem).cells}
    notebook = nbformat.read(RELEASES / f"{stem}.ipynb", as_version=4)
    cells, used, own = [], set(), 0
    for cell in notebook.cells:
        name = marks(cell).get("grade_id")
        if not marks(cell).get("solution"):
            cells.append(cell)
            continue
        sources = [right[name]]
        names = functions(right[name]) if cell.cell_type == "code" else []
        if names:
            habits = dice.sample(HABITS, dice.randint(1, 4))
            first = [habit for habit in habits if habit in ALONE][:1]
            rest = [habit for habit in habits if habit not in (*ALONE, magic, failing_cell, windows)]
            last = [habit for habit in habits if habit in (magic, failing_cell)][:1] + [windows] * (windows in habits)
            for habit in (*first, *rest, *last):
                sources = habit(sources, names, dice)
                used.add(habit.__name__)
        for source in sources[:-1]:
            own += 1
            cells.append(new_code_cell(source, id=f"mine{own}"))
        cells.append(cell | {"source": sources[-1]})
    notebook.cells = [nbformat.from_dict(cell) for cell in cells]
    return notebook, sorted(used | _whole(notebook, dice))


def _whole(notebook: nbformat.NotebookNode, dice: random.Random) -> set[str]:
    """What happens to the notebook as a whole."""
    used = {name for name in ("notes", "numbers", "edited", "scratch", "colab") if dice.random() < 0.3}
    if "notes" in used:
        for at in (3, 6):
            notebook.cells.insert(at, new_markdown_cell("## My notes\n\nTo do."))
    if "numbers" in used:
        for count, cell in enumerate(cell for cell in notebook.cells if cell.cell_type == "code"):
            cell.execution_count = 90 - count
    if "edited" in used:
        for cell in notebook.cells:
            if marks(cell).get("grade") and cell.cell_type == "code":
                cell.source += "\nprint('passed!')"
    if "scratch" in used:
        notebook.cells.append(new_code_cell("raise SystemExit('end of my work')"))
    if "colab" in used:
        for cell in notebook.cells:
            cell.metadata["id"], cell.metadata["outputId"] = "x", "y"
    return used
