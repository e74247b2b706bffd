"""The form of a chapter: what every notebook of the book keeps to, so that each reads and runs like the others."""

import ast
import math
import re
import statistics
from functools import cache
from pathlib import Path

import nbformat
import pytest
from raw_markup import raw_markup

from lmbook.lab import tables
from lmbook_press.book import Book
from lmbook_press.editions.colab import edition, glued
from lmbook_press.myst import choices

ROOT = Path(__file__).parents[2]
CHAPTERS = sorted((ROOT / "notebooks").glob("[0-9]*.ipynb"))
NUMBERED = [path for path in CHAPTERS if not path.name.startswith("00-")]
MASTERS = sorted((ROOT / "notebooks" / "homework").glob("[0-9]*.ipynb"))
LAST_SECTIONS = [
    "Summary",
    "Exercises",
    "Compare with the paper",
    "What we simplified",
    "Further reading",
]
EXERCISE = re.compile(r"^:{3,}\{exercise\}[ \t]*(\d+\.\d+)[ \t]+(\w+)[^\n]*\n:label:[ \t]*(\S+)", re.MULTILINE)
SELF_CHECK = re.compile(r"^(:{3,})\{self-check\}[^\n]*\n(.*?)\n\1[ \t]*$", re.MULTILINE | re.DOTALL)
SOLUTION = re.compile(r"^`{3,}\{solution-(start|end)\}[ \t]*(\S*)", re.MULTILINE)
TABLE = re.compile(r"tables\.table\(\"([\w-]+)\"\)")
GRADES = {"check", "practice", "explore"}


def of(paths):
    return pytest.mark.parametrize("path", paths, ids=lambda path: path.relative_to(ROOT / "notebooks").as_posix())


@cache
def opened(path: Path) -> nbformat.NotebookNode:
    return nbformat.read(path, as_version=4)


@pytest.fixture
def notebook(path) -> nbformat.NotebookNode:
    """The notebook, read once for all tests; none of them changes it."""
    return opened(path)


@pytest.fixture(scope="module")
def book() -> Book:
    return Book.find(ROOT, ref="0123abc")


def code(notebook) -> list[nbformat.NotebookNode]:
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def prose(notebook) -> str:
    return "\n\n".join(cell.source for cell in notebook.cells if cell.cell_type == "markdown")


def lines_of(cell) -> int:
    """Lines of code: neither blank nor only a comment."""
    return sum(bool(line.strip()) and not line.strip().startswith("#") for line in cell.source.split("\n"))


def read_through(notebook) -> str:
    """The prose that one reads from beginning to end: exercises, and the explanations of self-checks, are apart."""
    text = re.sub(
        r"^## Exercises.*?(?=^## |\Z)", "", prose(without_solutions(notebook)), flags=re.MULTILINE | re.DOTALL
    )
    return re.sub(r"^(:{3,})\{self-check\}.*?^\1[ \t]*$", "", text, flags=re.MULTILINE | re.DOTALL)


def without_solutions(notebook) -> nbformat.NotebookNode:
    """The chapter as it is read: the folded solutions left out."""
    kept, inside = [], False
    for cell in notebook.cells:
        text, marks = cell.source, SOLUTION.findall(cell.source) if cell.cell_type == "markdown" else []
        if marks or not inside:
            shown = cell.copy()
            if marks:
                text = ("```{solution-start} x\n```\n" if inside else "") + text
                shown.source = re.sub(
                    r"^`{3,}\{solution-start\}.*?(^`{3,}\{solution-end\}\n`{3,}|\Z)", "", text, flags=re.M | re.S
                )
            kept.append(shown)
        inside = marks[-1][0] == "start" if marks else inside
    return nbformat.v4.new_notebook(cells=kept)


def words(text: str) -> int:
    """Words of prose: no formulae, no directives' first lines, no options, no addresses of a figure's state."""
    text = re.sub(r"\]\(#figure=[^)\s]*\)", "]", text)
    text = re.sub(r"\$\$.*?\$\$[^\n]*", " ", text, flags=re.DOTALL)
    text = re.sub(r"^(:{3,}|`{3,}|:[\w-]+:|\([\w-]+\)=).*$", " ", text, flags=re.MULTILINE)
    return len(re.findall(r"[A-Za-z][\w'’-]*", re.sub(r"\$[^$]+\$", " x ", text)))


@of(CHAPTERS)
def test_every_cell_was_run_in_order_and_says_nothing_on_stderr(notebook):
    counts = [cell.execution_count for cell in code(notebook)]
    assert counts == list(range(1, len(counts) + 1))
    outputs = [output for cell in code(notebook) for output in cell.outputs]
    assert [output.ename for output in outputs if output.output_type == "error"] == []
    assert [output.text for output in outputs if output.get("name") == "stderr"] == []
    assert not any("raises-exception" in cell.metadata.get("tags", []) for cell in code(notebook))


@of(CHAPTERS + MASTERS)
def test_outputs_are_the_same_in_every_run(notebook):
    """No addresses in memory, no widget state, no picture as bytes (which nothing can compare)."""
    for cell in code(notebook):
        text = "".join(str(output.get("text", "")) + str(output.get("data", "")) for output in cell.outputs)
        assert not re.search(r"\bat 0x[0-9a-f]{6,}", text), cell.source
        kinds = {mime for output in cell.outputs for mime in output.get("data", {})}
        assert not kinds & {"image/png", "image/jpeg", "application/vnd.jupyter.widget-view+json"}, cell.source


@of(CHAPTERS)
def test_cells_are_short(notebook):
    sizes = [lines_of(cell) for cell in code(notebook)]
    assert max(len(cell.source.split("\n")) for cell in code(notebook)) <= 30
    assert statistics.median(sizes) <= 10


def in_sight(notebook) -> list[nbformat.NotebookNode]:
    folded = {"hide-input", "remove-input", "hide-cell"}
    return [cell for cell in code(notebook) if not folded & set(cell.metadata.get("tags", []))]


@of(CHAPTERS)
def test_no_line_in_sight_is_wider_than_the_column(notebook):
    """Solutions, once unfolded, are in sight too. Wider lines of folded cells go on below, by the page's own means."""
    assert [line for cell in in_sight(notebook) for line in cell.source.split("\n") if len(line) > 80] == []


@of(NUMBERED)
def test_a_chapter_has_the_length_that_can_be_read(notebook):
    assert 1500 <= words(read_through(notebook)) <= 3200
    assert 100 <= sum(lines_of(cell) for cell in in_sight(without_solutions(notebook))) <= 250


@of(CHAPTERS)
def test_one_title_without_a_number(notebook):
    titles = re.findall(r"^# +(.+)$", re.sub(r"^```.*?^```", "", prose(notebook), flags=re.M | re.S), re.MULTILINE)
    assert len(titles) == 1
    assert not re.match(r"\d|chapter", titles[0], re.IGNORECASE)
    assert notebook.cells[0].source.startswith("# ")


@of(NUMBERED)
def test_the_sections_stand_in_order(notebook):
    headings = re.findall(r"^## +(.+?) *$", prose(notebook), re.MULTILINE)
    assert headings[-len(LAST_SECTIONS) :] == LAST_SECTIONS
    assert len(headings) > len(LAST_SECTIONS) + 2


@of(NUMBERED)
def test_the_head_says_what_one_will_be_able_to_do_what_one_needs_and_how_long_it_takes(notebook):
    head = prose(notebook).split("\n## ")[0]
    assert "able to" in head
    assert re.search(r"\bneed\b", head)
    assert re.search(r"\b(seconds|minutes?|hours?)\b", head)
    assert "CPU" in head


@of(CHAPTERS)
def test_every_picture_has_alternative_text_and_every_figure_a_caption(notebook):
    for cell in code(notebook):
        for output in cell.outputs:
            html = output.get("data", {}).get("text/html", "")
            if "<svg" in html and "data-module" not in html:
                label = re.search(r"<svg[^>]*\brole=\"img\"[^>]*\baria-label=\"([^\"]*)\"", html)
                assert label, cell.source
                assert len(label.group(1)) > 40, cell.source
            if "data-module" in html:
                assert re.search(r"<figcaption[^>]*>[^<]{20,}", html), cell.source
        assert "![" not in cell.source


@of(NUMBERED)
def test_every_chapter_has_figures_and_asks_before_it_shows(notebook):
    html = "".join(output.get("data", {}).get("text/html", "") for cell in code(notebook) for output in cell.outputs)
    assert html.count("data-module") >= 1
    assert ":class: predict" in prose(notebook)
    assert prose(notebook).count("{self-check}") >= 6
    assert prose(notebook).count("$$ (") >= 3


def test_neither_the_place_nor_the_length_of_a_right_option_says_anything():
    """Over all chapters, and nearly so in each; on the page and on the slides they are shuffled besides."""
    places, longest = [], 0
    for path in CHAPTERS:
        before = longest, len(places)
        for _, body in SELF_CHECK.findall(prose(opened(path))):
            found = choices(body.split("\n"))
            right = [at for at, (is_right, *_) in enumerate(found) if is_right]
            places += right if len(right) == 1 else []
            sizes = [len(" ".join(words)) for _, _, words, _ in found]
            longest += len(right) == 1 and sizes[right[0]] == max(sizes)
        assert longest - before[0] <= 0.67 * (len(places) - before[1]), (
            f"{path.stem}: the longest option is the right one"
        )
    shares = [places.count(at) / len(places) for at in range(3)]
    assert len(places) >= 50
    assert min(shares) > 0.15, shares
    assert max(shares) < 0.5, shares
    assert longest / len(places) < 0.45, "of three options a third is the longest by chance"


@of(NUMBERED)
def test_exercises_come_in_three_grades_numbered_and_each_with_its_solution(path, notebook):
    chapter = int(path.name[:2])
    exercises = EXERCISE.findall(prose(notebook))
    assert prose(notebook).count("{exercise}") == len(exercises), "number, grade and label of each exercise"
    assert [number for number, _, _ in exercises] == [f"{chapter}.{i}" for i in range(1, len(exercises) + 1)]
    assert {grade for _, grade, _ in exercises} == GRADES
    assert [label for _, _, label in exercises] == [f"ex-{number.replace('.', '-')}" for number, _, _ in exercises]
    marks = SOLUTION.findall(prose(notebook))
    assert [kind for kind, _ in marks] == ["start", "end"] * len(exercises)
    assert [label for kind, label in marks if kind == "start"] == [label for _, _, label in exercises]


@of(CHAPTERS + MASTERS)
def test_the_other_editions_know_all_its_markup_and_every_stored_number(path, book):
    """The conversion fails on unknown markup, on a glue without its cell, on a self-check without an explanation."""
    made = edition(path, book)
    assert [left for cell in made.cells if cell.cell_type == "markdown" for left in raw_markup(cell.source)] == []


@of(CHAPTERS)
def test_tables_are_those_of_the_records(notebook):
    """No run compares cells with free output with anything, so a table can fall behind a newer record."""
    for cell in code(notebook):
        for name in TABLE.findall(cell.source):
            shown = [output["data"].get("text/markdown") for output in cell.outputs if "data" in output]
            assert tables.table(name) in shown, f"the table {name} has changed: run the chapter again"


@of(CHAPTERS)
def test_every_stored_number_is_used(notebook):
    used = set(re.findall(r"\{glue:text\}`([\w-]+)", prose(notebook)))
    assert set(glued(notebook)) == used


@of(CHAPTERS)
def test_a_cell_with_free_output_is_followed_by_an_assertion(notebook):
    cells = code(notebook)
    for at, cell in enumerate(cells):
        if "nbval-ignore-output" in cell.metadata.get("tags", []):
            following = "\n".join(other.source for other in cells[at : at + 2])
            assert re.search(r"^\s*assert\b", following, re.MULTILINE), cell.source


CLOCK = re.compile(r"\b(?:perf_counter|process_time|monotonic|timeit|time\.time)\b")

SAME = re.compile(r"\b(equal|allclose|isclose)\(")  # what was timed, not how long it took


def of_the_clock(sources: list[str]) -> list[str]:
    """The assertions of cells that ask for a name which was given a time: by a clock, or by what calls one."""
    timed: set[str] = set()
    found = []

    def names(*nodes):
        parts = [part for node in nodes for part in ast.walk(node)]
        own = {name for part in parts if isinstance(part, ast.comprehension) for name in names(part.target)}
        return {part.id for part in parts if isinstance(part, ast.Name)} - own

    def tells(node):
        return bool(CLOCK.search(ast.unparse(node)) or names(node) & timed)

    def read(body):
        for node in body:
            given, by = set(), []
            if isinstance(node, ast.FunctionDef):
                returned = [one.value for one in ast.walk(node) if isinstance(one, ast.Return) and one.value]
                given, by = {node.name}, [node] if any(CLOCK.search(ast.unparse(node)) for _ in returned) else []
            elif isinstance(node, ast.Assign):
                given, by = names(*node.targets), [node.value]
            elif isinstance(node, ast.For):
                given, by = names(node.target), [node.iter]
            elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call) and any(map(tells, node.value.args)):
                timed.update(names(node.value.func) - {"print"})  # a list that a time is appended to
            elif isinstance(node, ast.Assert) and tells(node.test) and not SAME.search(ast.unparse(node)):
                found.append(ast.unparse(node))
            change = timed.update if any(map(tells, by)) else timed.difference_update
            change(given)
            if isinstance(node, (ast.For, ast.With, ast.If)):
                read(node.body)

    for source in sources:
        read(ast.parse(re.sub(r"^[%!].*$", "", source, flags=re.MULTILINE)).body)
    return found


@of(CHAPTERS)
def test_no_assertion_rests_on_the_clock(notebook):
    assert of_the_clock([cell.source for cell in code(notebook)]) == []


def test_assertions_on_the_clock_are_found():
    cells = ["def s(f):\n    t = time.perf_counter()\n    f()\n    return time.perf_counter() - t", "a = {1: s(int)}"]
    assert of_the_clock([*cells, "b = a[1]\nc = 2\nassert c == 2", "assert b > 0"]) == ["assert b > 0"]


@of(CHAPTERS + MASTERS)
def test_only_known_tags(notebook):
    known = {"real-data", "nbval-ignore-output", "hide-input", "hide-output", "hide-cell", "remove-input"}
    assert {tag for cell in notebook.cells for tag in cell.metadata.get("tags", [])} <= known


def too_exact(text: str) -> list[str]:
    """The decimals of more than seven digits in what a reader sees; a number of half precision is exact as it is."""
    found = re.findall(r"(?<![\w.])\d*\.\d+(?:e[+-]?\d+)?(?![\w.])", re.sub(r"<(svg|script)\b[\s\S]*?</\1>", "", text))
    digits = [len(re.sub(r"e.*|\.", "", number).lstrip("0")) for number in found]
    return [n for n, count in zip(found, digits, strict=True) if count > 7 and math.frexp(float(n))[0] * 2**11 % 1]


@of(CHAPTERS)
def test_no_stored_number_has_digits_that_differ_between_processors(notebook):
    outputs = [output for cell in code(notebook) for output in cell.outputs]
    texts = [output.get("text", "") for output in outputs]
    texts += [str(part) for output in outputs for part in output.get("data", {}).values()]
    assert [number for text in texts for number in too_exact(text)] == []
    assert too_exact("-24.035014632840436 1e-5 0.003997802734375 12.345 <svg>0.123456789</svg>") == [
        "24.035014632840436"
    ]


def test_the_counting_of_words_and_lines_can_fail():
    assert words("one two\n\n$$\na b c\n$$ (eq)\n\n:::{note} x\n:class: y\nthree $a$\n:::") == 4
    assert lines_of(nbformat.v4.new_code_cell("# a\n\nx = 1\ny = 2  # b")) == 2
    solution = ["```{solution-start} ex-1\n```\nhidden", "hidden too", "hidden\n\n```{solution-end}\n```\nseen"]
    made = nbformat.v4.new_notebook(cells=[nbformat.v4.new_markdown_cell(text) for text in ["seen", *solution]])
    assert prose(without_solutions(made)).split() == ["seen", "seen"]
    aside = ":::{self-check} a?\n- [x] b\n\n  c\n:::\n\n## Exercises\n\nx y z\n\n## Last\n\nseen too"
    made.cells.append(nbformat.v4.new_markdown_cell(aside))
    assert read_through(made).split() == ["seen", "seen", "##", "Last", "seen", "too"]
