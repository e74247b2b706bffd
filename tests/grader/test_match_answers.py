"""Placing: only the answers of a returned notebook reach the clean copy, wherever in it they stand."""

import copy
import json
import time
from pathlib import Path

import mistune
import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook
from samples import DOUBLE, DOUBLE_AT, TRIPLE, TRIPLE_AT, WRITTEN, WRITTEN_AT, hand_in, master, release, returned

from lmbook_grader.intake.match_answers import grade_id, harmless, is_answer, place, titles
from lmbook_grader.intake.reading import open_submission
from lmbook_press.assignments.make import student_version
from lmbook_press.book import Book
from lmbook_press.editions.colab import edition
from lmbook_press.normalize import read

ANSWERS = (DOUBLE_AT, TRIPLE_AT, WRITTEN_AT)
FULL = [DOUBLE, TRIPLE, WRITTEN]


def placed(notebook, tmp_path):
    return place(open_submission(hand_in(notebook, tmp_path / "ann.ipynb")), release())


def answers(result) -> list[str]:
    return [cell.source for cell in result.notebook.cells if is_answer(cell)]


def without_marks(notebook):
    for cell in notebook.cells:
        cell.metadata = nbformat.from_dict({"id": "colab", "outputId": "x"})


def test_only_sources_are_moved(tmp_path):
    notebook = returned()
    for at, cell in enumerate(notebook.cells):
        cell.metadata["tags"] = ["skip-execution"]
        if at not in ANSWERS:
            cell.source += "\n# student was here"
    notebook.cells.append(new_code_cell("import os; os._exit(0)"))
    result = placed(notebook, tmp_path)
    own = [cell for cell in result.notebook.cells if cell.id.startswith("own")]
    assert [(cell.source, cell.metadata) for cell in own] == [
        ("import math\n# student was here", {"lmbook": {"cell": 2}})
    ]
    kept, wanted = [cell for cell in result.notebook.cells if cell not in own], returned()
    assert [cell.source for cell in kept] == [cell.source for cell in wanted.cells]
    places = [cell.metadata.pop("lmbook", {}).get("cell") for cell in kept]
    assert {at: places[at] for at in ANSWERS} == {at: at + 1 for at in ANSWERS}
    assert [cell.metadata for cell in kept] == [cell.metadata for cell in release().cells]
    assert result.missing == []


def test_an_untouched_release_misses_everything_and_says_nothing(tmp_path):
    result = placed(release(), tmp_path)
    assert result.missing == ["double", "triple", "why"]
    assert result.notes == []
    assert answers(result) == [release().cells[at].source for at in ANSWERS]


def test_half_a_submission(tmp_path):
    result = placed(returned(triple=None, written="  \n"), tmp_path)
    assert result.missing == ["triple", "why"]
    assert answers(result)[0] == DOUBLE


def lose_marks(notebook):
    without_marks(notebook)


def lose_marks_and_add_cells(notebook):
    without_marks(notebook)
    notebook.cells.insert(0, new_markdown_cell("My name is Ann"))
    notebook.cells.insert(5, new_code_cell("double(3)"))
    notebook.cells.append(new_code_cell("print('done')"))


def reorder(notebook):
    notebook.cells.reverse()


def reorder_without_marks(notebook):
    """The two questions of code change places, each with its check."""
    without_marks(notebook)
    notebook.cells[2:8] = notebook.cells[5:8] + notebook.cells[2:5]


def delete_checks(notebook):
    notebook.cells = [cell for cell in notebook.cells if "assert" not in cell.source]


def rename_ids(notebook):
    for at in ANSWERS[:2]:
        notebook.cells[at].metadata.nbgrader.grade_id += "-mine"


def swap_ids(notebook):
    one, other = (notebook.cells[at].metadata.nbgrader for at in ANSWERS[:2])
    one.grade_id, other.grade_id = other.grade_id, one.grade_id


def paste_twice(notebook):
    for at in reversed(ANSWERS):
        notebook.cells.insert(at, copy.deepcopy(notebook.cells[at]))


def paste_the_stub_again(notebook):
    for at in reversed(ANSWERS):
        notebook.cells.insert(at + 1, copy.deepcopy(release().cells[at]))


def answer_below_the_stub(notebook):
    for at in reversed(ANSWERS):
        mine = new_code_cell if at != WRITTEN_AT else new_markdown_cell
        notebook.cells.insert(at + 1, mine(notebook.cells[at].source))
        notebook.cells[at].source = release().cells[at].source


def turn_into_markdown(notebook):
    for at in ANSWERS[:2]:
        cell = notebook.cells[at]
        notebook.cells[at] = new_markdown_cell(cell.source, metadata=cell.metadata)


def turn_words_into_raw(notebook):
    cell = notebook.cells[WRITTEN_AT]
    notebook.cells[WRITTEN_AT] = nbformat.v4.new_raw_cell(cell.source, metadata=cell.metadata)


def mark_in_the_cell(notebook):
    without_marks(notebook)
    cells = [notebook.cells[at] for at in ANSWERS]
    cells[0].source = "# answer: double\n" + cells[0].source
    cells[2].source = "<!-- answer: why -->\n" + cells[2].source
    notebook.cells = [cells[2], cells[0], cells[1]]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lose_marks, "marks of the cells were lost"),
        (lose_marks_and_add_cells, "marks of the cells were lost"),
        (reorder, None),
        (reorder_without_marks, "marks of the cells were lost"),
        (delete_checks, None),
        (rename_ids, "found by the name double"),
        (swap_ids, "found by the name double"),
        (paste_twice, "2 times, each time the same"),
        (paste_the_stub_again, None),
        (answer_below_the_stub, "was not in the cell meant for it"),
        (turn_into_markdown, "the cell's type was changed"),
        (turn_words_into_raw, "the cell's type was changed"),
        (mark_in_the_cell, "marks of the cells were lost"),
    ],
)
def test_an_honest_answer_is_found(tmp_path, change, said):
    notebook = returned()
    change(notebook)
    result = placed(notebook, tmp_path)
    found = [text.split("why -->\n")[-1].removeprefix("# answer: double\n") for text in answers(result)]
    assert found == FULL
    assert result.missing == []
    assert any(said in note for note in result.notes) if said else result.notes == []


def by_vs_code(saved):
    saved |= {"metadata": {"language_info": {"name": "python"}}, "nbformat_minor": 2}
    for cell in saved["cells"]:
        cell["metadata"]["vscode"] = {"languageId": cell["cell_type"]}


def by_colab(saved):
    saved |= {"metadata": {"colab": {"provenance": []}, "accelerator": "GPU"}, "nbformat_minor": 0}
    for at, cell in enumerate(saved["cells"]):
        del cell["id"]
        cell["metadata"] = {"id": f"x{at}", "outputId": "y", "colab": {"base_uri": "https://localhost:8080/"}}
        cell["source"] = "".join(cell["source"]).replace("\n", "\r\n")


def with_widgets_and_outputs(saved):
    saved["nbformat_minor"] = 4
    saved["metadata"]["widgets"] = {"application/vnd.jupyter.widget-state+json": {"state": {"a": float("nan")}}}
    for cell in saved["cells"]:
        del cell["id"]
        if cell["cell_type"] == "code":
            cell["outputs"] = [{"output_type": "display_data", "data": {"image/png": "iVBOR"}, "metadata": {}}, None]


def with_attachments(saved):
    for cell in saved["cells"]:
        cell["attachments"] = {"a.png": {"image/png": "iVBORw0KGgo="}}


@pytest.mark.parametrize("change", [by_vs_code, by_colab, with_widgets_and_outputs, with_attachments])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_whatever_program_saved_the_file(tmp_path, change, mark):
    saved = json.loads(nbformat.writes(returned()))
    change(saved)
    (tmp_path / "ann.ipynb").write_text(mark + json.dumps(saved, indent=1), encoding="utf-8")
    result = place(open_submission(tmp_path / "ann.ipynb"), release())
    assert [source.rstrip() for source in answers(result)] == FULL
    assert result.missing == []
    assert not any("attachments" in cell for cell in result.notebook.cells)


def test_a_deleted_answer_is_missing_and_said(tmp_path):
    notebook = returned()
    del notebook.cells[TRIPLE_AT]
    result = placed(notebook, tmp_path)
    assert result.missing == ["triple"]
    assert answers(result)[0] == DOUBLE
    assert ["“2. Three times”: no cell with an answer" in note for note in result.notes] == [True]


def test_of_two_different_answers_in_their_place_the_last_counts(tmp_path):
    """As when the notebook runs: it is the one that the check below sees."""
    notebook = returned()
    again = copy.deepcopy(notebook.cells[DOUBLE_AT])
    again.source = "def double(x): return x + x"
    notebook.cells.insert(DOUBLE_AT + 1, again)
    result = placed(notebook, tmp_path)
    assert answers(result)[0] == again.source
    assert "2 times" in result.notes[0]


@pytest.mark.parametrize("at", [0, 1, None])
def test_a_copy_to_try_things_in_does_not_win_over_the_answer(tmp_path, at):
    """Jupyter copies the cell's marks too."""
    notebook = returned()
    scrap = copy.deepcopy(notebook.cells[DOUBLE_AT])
    scrap.source = "def double(x): return 'scrap'"
    notebook.cells.insert(len(notebook.cells) if at is None else at, scrap)
    result = placed(notebook, tmp_path)
    assert answers(result)[0] == DOUBLE
    assert "2 times; the one in its place counts" in result.notes[0] or at is not None


def test_the_place_meant_for_the_answer_goes_before_a_copy_elsewhere(tmp_path):
    notebook = returned()
    notebook.cells.append(new_code_cell("def double(x): return 'scratch'"))
    assert answers(placed(notebook, tmp_path))[0] == DOUBLE


def test_a_renamed_function_is_graded_as_it_is_and_said(tmp_path):
    source = "def twice(x): return 2 * x"
    result = placed(returned(double=source), tmp_path)
    assert answers(result)[0] == source
    assert "does not define double, which the checks call" in result.notes[0]


@pytest.mark.parametrize(
    "source",
    [
        "double = lambda x: 2 * x",
        "if True:\n    def double(x):\n        return 2 * x",
        "import functools, operator\ndouble = functools.partial(operator.mul, 2)",
        "double, half = (lambda x: 2 * x), (lambda x: x / 2)",
    ],
)
def test_a_function_without_a_def_of_its_own_is_not_called_missing(tmp_path, source):
    result = placed(returned(double=source), tmp_path)
    assert (answers(result)[0], result.notes) == (source, [])


@pytest.mark.parametrize("picture", ["data:image/png;base64," + "iVBORw0KGgo+/" * 40_000 + "==", "attachment:a.png"])
def test_a_picture_costs_no_words(tmp_path, picture):
    result = placed(returned(written=f"{WRITTEN}\n\n![sketch]({picture})\n\nSee?"), tmp_path)
    assert result.missing == []
    assert answers(result)[-1].replace("\u2060", "") == f"{WRITTEN}\n\n![sketch](picture)\n\nSee?"
    assert result.notes == ["“3. In words”: pictures are not read; say in words what they show."]


def test_a_syntax_error_is_moved_like_any_answer(tmp_path):
    broken = "def double(x):\n    return 2 *"
    assert answers(placed(returned(double=broken), tmp_path))[0] == broken


def test_an_endless_answer_is_not_moved(tmp_path):
    result = placed(returned(double="def double(x): return 2\n" + "#" * 200_000), tmp_path)
    assert result.missing == ["double"]
    assert "at most 100,000 are read" in result.notes[0]


def test_two_runs_give_the_same(tmp_path):
    notebook = returned()
    lose_marks_and_add_cells(notebook)
    assert placed(notebook, tmp_path) == placed(notebook, tmp_path)


def test_titles_are_the_headings_without_their_points():
    assert titles(master())["triple-values"] == "2. Three times"
    assert titles(master())["why"] == "3. In words"


@pytest.mark.parametrize(
    "text",
    [
        "<script>alert(1)</script>",
        "<img src=x onerror=alert(1)>",
        "<!-- --><b>",
        "<javascript:alert(1)>",
        "[x](javascript:alert(1))",
        "![x](https://example.org/pixel.png)",
        "[x][a]\n\n[a]: javascript:alert(1)",
        "[x]\n\n[x]: java\nscript:alert(1)",
    ],
)
def test_written_answers_hold_no_markup_once_placed(tmp_path, text):
    result = placed(returned(written=text), tmp_path)
    html = mistune.create_markdown(escape=False)(answers(result)[2])
    assert "<a " not in html
    assert "<img" not in html
    assert "<script" not in html.lower()
    raw = mistune.create_markdown(escape=False)(text)
    assert any(tag in raw.lower() for tag in ("<a ", "<img", "<script", "<!--"))  # as it came, it was not harmless


def test_harmless_text_reads_the_same():
    text = "If $a<b$ then `<unk>` costs [less](x), 1 < 2."
    assert harmless(text).replace("\u2060", "") == text
    assert harmless("a < b, x[1] <= 2") == "a < b, x[1] <= 2"


def test_the_students_own_cells_come_along_in_their_order(tmp_path):
    notebook = returned(double="def double(x):\n    return plus(x, x)")
    cells = {
        0: "from math import *",
        DOUBLE_AT: "K = 2",
        DOUBLE_AT + 1: "def plus(a, b): return a + b",
        99: "def double(x): 0",
    }
    for shift, (at, source) in enumerate(cells.items()):
        notebook.cells.insert(at + shift, new_code_cell(source))
    result = placed(notebook, tmp_path)
    code = [cell.source for cell in result.notebook.cells if cell.cell_type == "code"]
    assert code[:5] == [
        "from math import *",
        "import math",
        "K = 2",
        notebook.cells[DOUBLE_AT + 2].source,
        cells[DOUBLE_AT + 1],
    ]
    assert not any("0" in source for source in code if source.startswith("def double"))  # behind all that counts
    assert len(code) == 5 + 3
    assert not any(cell.metadata.get("nbgrader") for cell in result.notebook.cells if cell.source in cells.values())


def test_an_older_version_at_the_end_does_not_count_where_marks_are_lost(tmp_path):
    notebook = returned()
    notebook.cells.append(new_code_cell("def double(x):\n    return 3"))
    for cell in notebook.cells:
        cell.metadata = {}
    assert answers(placed(notebook, tmp_path))[0] == DOUBLE


@pytest.mark.parametrize("id_too", [True, False])
def test_words_may_stand_in_comments(tmp_path, id_too):
    notebook = returned()
    said = new_code_cell(
        "# Because it is\n#   repeated.", metadata=notebook.cells[WRITTEN_AT].metadata if id_too else {}
    )
    notebook.cells[WRITTEN_AT] = said
    assert answers(placed(notebook, tmp_path))[-1] == "Because it is\nrepeated."


def test_what_is_too_long_is_left_out_at_once_and_said(tmp_path):
    notebook = returned()
    notebook.cells.insert(1, new_code_cell("a=1\n" * 300_000))
    notebook.cells.insert(1, new_code_cell("x" + "\n" * 400_000 + "x"))
    start = time.process_time()
    result = placed(notebook, tmp_path)
    assert time.process_time() - start < 5
    assert len(result.notebook.cells) == len(notebook.cells) - 2
    assert sum("was left out" in note for note in result.notes) == 2


def test_a_notebook_of_many_cells_is_placed_at_once(tmp_path):
    cells = [new_code_cell(f"def double(x): return {n}") for n in range(900)]
    result = placed(new_notebook(cells=cells), tmp_path)
    assert answers(result)[0] == "def double(x): return 899"
    assert "900 times" in "".join(result.notes)


BOOK = Book.find(Path(__file__).parent)


@pytest.mark.parametrize("path", BOOK.masters(), ids=[path.stem for path in BOOK.masters()])
def test_the_colab_edition_comes_back_whole_without_any_marks(path, tmp_path):
    """Set-up cell, rewritten Markdown, no metadata: every answer of every homework is found again."""
    right = {grade_id(cell): cell.source for cell in read(path).cells if is_answer(cell)}
    notebook = edition(path, Book(BOOK.root, ref="0" * 40))
    for cell in notebook.cells:
        if grade_id(cell) in right:
            cell.source = right[grade_id(cell)]
        cell.metadata = {}
    result = place(open_submission(hand_in(notebook, tmp_path / "ann.ipynb")), student_version(read(path), path.stem))
    assert result.missing == []
    found = {grade_id(cell): cell.source.replace("\u2060", "") for cell in result.notebook.cells if is_answer(cell)}
    assert found == right
