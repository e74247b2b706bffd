"""The house: which package, floor and room may import which, and how large they may grow."""

import ast
import re
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

import lmbook

SOURCE = Path(__file__).parents[1] / "src"
PACKAGES = (
    "lmbook_torch",
    "lmbook",
    "lmbook_press",
    "lmbook_exams",
    "lmbook_grader",
)  # each may import those before it
# lmbook from the ground up, by its files and folders; each imports only from its own floor and those below
FLOORS = {
    "ground": "__init__",
    "the lesson": " ".join(lmbook.READING_ORDER),
    "data": "data",
    "the laboratory, which no lesson needs": "lab",
    "figures and drawings, which show what they found": "figures drawings",
}
FLOOR = {room: number for number, rooms in enumerate(FLOORS.values()) for room in rooms.split()}
MOST_ROOMS, MOST_LINES = 37, 400


def modules(source: Path) -> dict[str, Path]:
    """Every module of the packages below this folder: dotted name -> file."""
    found = {}
    for path in sorted(path for package in PACKAGES for path in (source / package).rglob("*.py")):
        parts = path.relative_to(source).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


@cache
def imports(source: Path = SOURCE) -> dict[str, set[str]]:
    """Module -> the modules of ours that it imports, at its head or anywhere below."""
    files = modules(source)
    graph = {}
    for name, path in files.items():
        home = name.split(".") if path.name == "__init__.py" else name.split(".")[:-1]
        wanted = set()
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Import):
                wanted |= {alias.name for alias in node.names}
            elif isinstance(node, ast.ImportFrom):
                base = home[: len(home) - node.level + 1] if node.level else []
                base = ".".join([*base, *([node.module] if node.module else [])])
                inside = {f"{base}.{alias.name}" for alias in node.names}
                wanted |= {one if one in files else base for one in inside}
        graph[name] = (wanted & files.keys()) - {name}
    return graph


def room(module: str) -> str:
    """The file or folder of lmbook in which a module stands."""
    return [*module.split("."), "__init__"][1]


def across(graph: dict[str, set[str]]) -> list[str]:
    """Imports of a package that must not be known there."""
    order = {name: number for number, name in enumerate(PACKAGES)}
    pairs = [(a, b) for a, wanted in graph.items() for b in wanted]
    return sorted(f"{a} -> {b}" for a, b in pairs if order[a.split(".")[0]] < order[b.split(".")[0]])


def upwards(graph: dict[str, set[str]]) -> list[str]:
    """Imports inside lmbook from a higher floor."""
    inside = [(a, b) for a, wanted in graph.items() for b in wanted if {a.split(".")[0], b.split(".")[0]} == {"lmbook"}]
    return sorted(f"{a} -> {b}" for a, b in inside if FLOOR[room(a)] < FLOOR[room(b)])


def ahead(graph: dict[str, set[str]]) -> list[str]:
    """Imports inside the lesson of what a reader has not read yet."""
    place = {f"lmbook.{name}": number for number, name in enumerate(lmbook.READING_ORDER)}
    pairs = [(a, b) for a in graph.keys() & place for b in graph[a] & place.keys()]
    return sorted(f"{a} -> {b}" for a, b in pairs if place[a] < place[b])


def circle(graph: dict[str, set[str]]) -> list[str]:
    """Modules that import each other in a circle, if there are any."""
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as found:
        return found.args[1]
    return []


def test_packages_import_one_way():
    assert across(imports()) == []


def test_every_room_has_its_floor():
    assert {room(name) for name in imports() if name.split(".")[0] == "lmbook"} == set(FLOOR)


def test_no_floor_imports_from_above():
    assert upwards(imports()) == []


def test_the_lesson_can_be_read_from_first_to_last():
    assert ahead(imports()) == []


@pytest.mark.parametrize(
    "text", [lmbook.__doc__, (SOURCE.parent / "README.md").read_text("utf-8")], ids=["package", "README"]
)
def test_the_reading_order_is_the_same_wherever_it_is_told(text):
    start, end = lmbook.READING_ORDER[:2], lmbook.READING_ORDER[-1]
    told = re.search(rf"^ *{' '.join(start)}\b.*?\b{end}$", text, re.MULTILINE | re.DOTALL)
    assert told
    assert tuple(told[0].split()) == lmbook.READING_ORDER


def test_no_imports_go_in_a_circle():
    assert circle(imports()) == []


def test_a_wrong_import_is_seen(tmp_path):
    """The checks above can fail: at the head of a file or inside a function, absolute or relative."""
    files = {
        "lmbook/text.py": "def f():\n    from lmbook.lab import run",
        "lmbook/lab/run.py": "from .. import text",
        "lmbook/cells.py": "from lmbook import counts, rnn",
        "lmbook/rnn.py": "import lmbook.text",
        "lmbook/ngram.py": "def f():\n    from .gpt import GPT",
        "lmbook/gpt.py": "from lmbook import text",
        "lmbook_press/book.py": "import lmbook_grader.grade",
        "lmbook_grader/grade.py": "import ast, lmbook.text, lmbook_press.book",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    graph = imports(tmp_path)
    assert ahead(graph) == ["lmbook.cells -> lmbook.rnn", "lmbook.ngram -> lmbook.gpt"]
    assert across(graph) == ["lmbook_press.book -> lmbook_grader.grade"]
    assert upwards(graph) == ["lmbook.text -> lmbook.lab.run"]
    assert circle({"a": {"b"}, "b": {"a"}})
    assert set(circle(graph)) & {"lmbook.text", "lmbook_press.book"}


@pytest.mark.parametrize("package", PACKAGES)
def test_every_folder_says_what_belongs_there(package):
    folders = {path.parent for path in (SOURCE / package).rglob("*.py")}
    silent = [
        folder.name for folder in folders if not ast.get_docstring(ast.parse((folder / "__init__.py").read_text()))
    ]
    assert silent == []


def test_lmbook_can_be_taken_in_at_a_glance():
    assert len([path for path in (SOURCE / "lmbook").glob("*.py") if path.name != "__init__.py"]) <= MOST_ROOMS


def test_no_file_is_longer_than_one_reads_at_a_sitting():
    long = {name: len(path.read_text("utf-8").splitlines()) for name, path in modules(SOURCE).items()}
    assert {name: lines for name, lines in long.items() if lines > MOST_LINES} == {}
