"""The command `lmbook`: what it writes, what it says, and how it fails."""

import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from click.testing import CliRunner
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

import lmbook
from lmbook_cli import main
from lmbook_press.normalize import check, faults, text_of, tidied

ROOT = Path(__file__).parents[2]


def lmbook_command(*words: object):
    return CliRunner().invoke(main, [str(word) for word in words])


def untidy() -> nbformat.NotebookNode:
    """A notebook as a front end may leave it."""
    widget = {"application/vnd.jupyter.widget-view+json": {"model_id": "1f"}}
    cells = [
        new_markdown_cell("# Title   ", metadata={"slideshow": {"slide_type": "slide"}}),
        new_code_cell("x = 1  \n", execution_count=7, metadata={"execution": {"iopub.busy": "2026-01-01"}, "tags": []}),
        new_code_cell("x", execution_count=9, metadata={"tags": ["real-data"], "collapsed": True}),
    ]
    cells[1].outputs = [
        new_output("stream", name="stdout", text="a\n"),
        new_output("stream", name="stdout", text="b\n"),
        new_output("display_data", widget),
    ]
    cells[2].outputs = [new_output("execute_result", {"text/html": "<p>1</p>", **widget}, execution_count=9)]
    metadata = {
        "kernelspec": {"name": "my-env", "display_name": "My env"},
        "language_info": {"name": "python", "version": "3.12.1"},
        "widgets": {"application/vnd.jupyter.widget-state+json": {"state": {}}},
        "lmbook": {"blocked": ["ngram"]},
    }
    return new_notebook(cells=cells, metadata=metadata)


def test_tidy_drops_what_differs_between_runs_and_keeps_the_rest():
    tidy = tidied(untidy())
    text = text_of(tidy)
    for gone in ("widget", "iopub", "3.12.1", "my-env", "slideshow", "collapsed", '"tags": []'):
        assert gone not in text
    assert [cell.id for cell in tidy.cells] == ["c01", "c02", "c03"]
    assert [cell.execution_count for cell in tidy.cells[1:]] == [1, 2]
    assert tidy.cells[2].outputs[0].execution_count == 2
    assert [output.text for output in tidy.cells[1].outputs] == ["a\nb\n"]
    assert tidy.cells[2].outputs[0].data == {"text/html": "<p>1</p>"}
    assert tidy.cells[2].metadata == {"tags": ["real-data"]}
    assert tidy.metadata.kernelspec.name == "python3"
    assert tidy.metadata.lmbook == {"blocked": ["ngram"]}
    assert text.endswith("}\n")
    nbformat.validate(tidy)


def test_tidying_twice_changes_nothing_and_the_original_stays():
    original = untidy()
    before = nbformat.writes(original)
    once = text_of(tidied(original))
    assert text_of(tidied(nbformat.reads(once, as_version=4))) == once
    assert nbformat.writes(original) == before


def test_streams_on_both_sides_of_a_picture_stay_apart():
    cell = new_code_cell("x", execution_count=1)
    picture = new_output("display_data", {"image/png": "aaaa"})
    cell.outputs = [new_output("stream", text="a"), picture, new_output("stream", text="b")]
    assert len(tidied(new_notebook(cells=[cell])).cells[0].outputs) == 3


@pytest.mark.parametrize(
    ("counts", "fault"),
    [
        ((1, 2), None),
        ((None, None), None),
        ((3, 8), None),
        ((2, 1), "out of order"),
        ((1, 1), "out of order"),
        ((1, None), "never run"),
    ],
)
def test_cells_out_of_order_are_a_fault(counts, fault):
    notebook = new_notebook(cells=[new_code_cell("x", execution_count=count) for count in counts])
    found = faults(notebook)
    assert (fault in found[0]) if fault else (found == [])


@pytest.mark.parametrize(
    ("text", "bad"),
    [
        ("saved to /home/ann/model.pt", True),
        ('File "/tmp/ipykernel_12/3.py", line 1', True),
        ("C:\\Users\\ann\\x.txt", True),
        ("file:///srv/x", True),
        ("see https://example.org/home/page", False),
        ("and/or, 1/2, tokens/s, he/she", False),
        ("<unk> </home>", False),
    ],
)
def test_paths_of_one_machine_are_a_fault(text, bad):
    cell = new_code_cell("x", execution_count=1, outputs=[new_output("stream", text=text)])
    assert bool(faults(new_notebook(cells=[cell]))) == bad


def test_the_command_tidies_in_place_and_check_only_looks(tmp_path):
    path = tmp_path / "a.ipynb"
    nbformat.write(untidy(), path)
    before = path.read_bytes()
    looked = lmbook_command("tidy", "--check", tmp_path)
    assert looked.exit_code == 1
    assert "a.ipynb" in looked.stderr
    assert path.read_bytes() == before
    done = lmbook_command("tidy", path)
    assert done.exit_code == 0, done.output
    assert check(path) == []
    assert lmbook_command("tidy", "--check", path).exit_code == 0
    assert [file.name for file in tmp_path.iterdir()] == ["a.ipynb"]


def test_tidy_cannot_repair_an_order_and_says_so(tmp_path):
    path = tmp_path / "a.ipynb"
    cells = [new_code_cell("x", execution_count=count) for count in (2, 1)]
    nbformat.write(new_notebook(cells=cells), path)
    done = lmbook_command("tidy", path)
    assert done.exit_code == 1
    assert "out of order" in done.stderr
    assert [cell.execution_count for cell in nbformat.read(path, as_version=4).cells] == [2, 1]


def test_version_and_help():
    assert lmbook.__version__ in lmbook_command("--version").output
    for words in ([], ["editions"], ["tidy"], ["data", "list"], ["data", "fetch"], ["homework", "make"]):
        shown = lmbook_command(*words, "--help")
        assert shown.exit_code == 0
        assert len(shown.output.splitlines()) > 4


def test_the_command_starts_without_the_heavy_libraries():
    heavy = ("torch", "nbformat", "yaml", "numpy", "nbgrader", "tqdm")
    code = f"import sys, lmbook_cli; print([m for m in {heavy} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout.strip() == "[]"


def test_data_list_names_every_corpus():
    from lmbook import data

    shown = lmbook_command("data", "list").output
    assert all(name in shown for name in data.names())


def test_recipes_are_listed_by_name():
    """In a process of its own: no other test has imported the recipes there."""
    words = [sys.executable, "-m", "lmbook_cli", "recipes"]
    shown = subprocess.run(words, check=True, capture_output=True, text=True).stdout
    assert "multi30k-transformer " in shown
    assert "shakespeare-lstm " in shown


def test_data_fetch_says_what_is_wrong(monkeypatch, tmp_path):
    unknown = lmbook_command("data", "fetch", "wikitext")
    assert unknown.exit_code == 1
    assert "wikitext2" in unknown.stderr
    assert "Traceback" not in unknown.output
    monkeypatch.delenv("LMBOOK_DATA", raising=False)
    monkeypatch.setenv("LMBOOK_OFFLINE", "1")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    nothing = lmbook_command("data", "fetch", "wikitext2")
    assert nothing.exit_code == 1
    assert "LMBOOK_OFFLINE" in nothing.stderr


def test_editions_writes_where_it_is_told(tmp_path):
    done = lmbook_command("editions", "--book", ROOT, "--out", tmp_path / "out", "--ref", "0123abc")
    assert done.exit_code == 0, done.output
    written = {path.relative_to(tmp_path / "out").as_posix() for path in (tmp_path / "out").rglob("*.ipynb")}
    chapters = {f"notebooks/{path.name}" for path in (ROOT / "notebooks").glob("[0-9]*.ipynb")}
    masters = {f"book/homework/{path.name}" for path in (ROOT / "notebooks/homework").glob("[0-9]*.ipynb")}
    assert written == chapters | masters


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("editions", "--book", "{here}"), "or name it with --book"),
        (("homework", "make", "--book", ROOT, "--out", "{here}/x", "77"), "There is no homework 77"),
        (("tidy", "{here}/nothing.ipynb"), "does not exist"),
    ],
)
def test_a_fault_is_one_message_and_writes_nothing(tmp_path, words, said):
    done = lmbook_command(*(str(word).format(here=tmp_path) for word in words))
    assert done.exit_code != 0
    assert said in done.stderr
    assert "Traceback" not in done.output
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_is_no_notebook_is_named(tmp_path):
    path = tmp_path / "broken.ipynb"
    path.write_text("{")
    done = lmbook_command("tidy", path)
    assert done.exit_code == 1
    assert "broken.ipynb" in done.stderr
