"""nbval compares every stored output: a wrong number fails, and what is let through is said."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook

ROOT = Path(__file__).parents[2]
SANITIZE = ROOT / "tests" / "notebooks" / "sanitize.cfg"

CELLS = (
    "import math",
    "print(f'perplexity {math.exp(1.5):.2f}')",
    "import lmbook\nlmbook.glue('nats', math.log(2))",
    "from IPython.display import HTML\n"
    "HTML('<figure><svg><path d=\"M0 1.25\"/></svg><figcaption>0.75</figcaption></figure>')",
    "round(math.pi, 3)",
)


def run(notebook: Path, **environment: str) -> subprocess.CompletedProcess:
    """nbval on one notebook, as `make test` runs it."""
    command = [sys.executable, "-m", "pytest", "--nbval", "--nbval-current-env", "--nbval-sanitize-with", str(SANITIZE)]
    command += ["--nbval-cell-timeout=120", "-p", "no:cacheprovider", "-q", "-rf", str(notebook)]
    passed = {key: value for key, value in os.environ.items() if not key.startswith(("PYTEST", "LMBOOK"))}
    return subprocess.run(command, cwd=notebook.parent, capture_output=True, text=True, env=passed | environment)


@pytest.fixture
def stored(tmp_path) -> Path:
    """A small notebook with its stored outputs, beside the hook of the chapters."""
    from nbclient import NotebookClient

    notebook = new_notebook(cells=[new_code_cell(source) for source in CELLS])
    NotebookClient(notebook, kernel_name="python3").execute()
    path = tmp_path / "small.ipynb"
    nbformat.write(notebook, path)
    shutil.copy(ROOT / "notebooks" / "conftest.py", tmp_path)
    return path


def plant(path: Path, old: str, new: str, tag: str | None = None) -> None:
    """Changes a stored output, never the source; `tag` is put on the cell."""
    notebook = nbformat.read(path, as_version=4)
    changed = 0
    for cell in notebook.cells:
        for output in cell.outputs:
            before = dict(output.get("data", {})) or output.text
            if "text" in output:
                output.text = output.text.replace(old, new)
            for mime in output.get("data", {}):
                output.data[mime] = output.data[mime].replace(old, new)
            if (dict(output.get("data", {})) or output.text) != before:
                changed += 1
                cell.metadata["tags"] = [tag] if tag else []
    assert changed == 1
    nbformat.write(notebook, path)


def test_true_outputs_pass(stored):
    done = run(stored)
    assert done.returncode == 0, done.stdout
    assert f"{len(CELLS)} passed" in done.stdout


@pytest.mark.parametrize(
    ("old", "new"),
    [
        pytest.param("4.48", "4.49", id="printed"),
        pytest.param("3.142", "3.141", id="value of a cell"),
        pytest.param("0.6931471805599453", "0.6931471805599454", id="number for the prose"),
        pytest.param(">0.75<", ">0.76<", id="caption of a figure"),
    ],
)
def test_a_wrong_stored_number_fails(stored, old, new):
    plant(stored, old, new)
    done = run(stored)
    assert done.returncode == 1, done.stdout
    assert "Cell outputs differ" in done.stdout
    assert "1 failed" in done.stdout


def test_coordinates_inside_a_drawing_are_not_compared(stored):
    plant(stored, "M0 1.25", "M0 1.26")
    assert run(stored).returncode == 0


@pytest.fixture
def needs_corpus(stored) -> Path:
    """The same notebook with another stored number, as on the fallback, in a cell tagged as needing the corpus."""
    plant(stored, "4.48", "99.9", tag="real-data")
    notebook = nbformat.read(stored, as_version=4)
    notebook.cells[0].source += "\nneeded = 'wikitext2'"
    nbformat.write(notebook, stored)
    return stored


def test_without_the_corpus_its_cells_run_uncompared_and_are_counted(needs_corpus, tmp_path):
    (tmp_path / "cache").mkdir()
    nothing = {"LMBOOK_OFFLINE": "1", "XDG_CACHE_HOME": str(tmp_path / "cache"), "HOME": str(tmp_path)}
    done = run(needs_corpus, **nothing)
    assert done.returncode == 0, done.stdout
    assert re.search(r"NOT COMPARED: 1 cells .*without wikitext2", done.stdout)
    strict = run(needs_corpus, LMBOOK_SKIP_NOTHING="1", **nothing)
    assert strict.returncode == 1


@pytest.mark.data
def test_with_the_corpus_they_are_compared(needs_corpus, real_corpora):
    done = run(needs_corpus, LMBOOK_DATA=os.environ["LMBOOK_DATA"])
    assert done.returncode == 1
    assert "Cell outputs differ" in done.stdout


@pytest.mark.slow
def test_a_wrong_number_in_a_chapter_fails(tmp_path):
    """The whole way once, on the shortest chapter."""
    chapters = sorted((ROOT / "notebooks").glob("[0-9]*.ipynb"))
    chapter = chapters[0]
    shutil.copy(ROOT / "notebooks" / "conftest.py", tmp_path)
    copy = tmp_path / chapter.name
    shutil.copy(chapter, copy)
    environment = {key: os.environ[key] for key in ("LMBOOK_DATA", "LMBOOK_OFFLINE") if key in os.environ}
    assert run(copy, **environment).returncode == 0
    notebook = nbformat.read(copy, as_version=4)
    for cell in notebook.cells:
        numbers = [o for o in cell.get("outputs", []) if o.output_type == "stream" and re.search(r"\d", o.text)]
        if numbers and not cell.metadata.get("tags"):
            numbers[0].text = re.sub(r"\d", lambda digit: str((int(digit.group()) + 1) % 10), numbers[0].text, count=1)
            break
    else:
        pytest.fail(f"{chapter.name} prints no number that is compared")
    nbformat.write(notebook, copy)
    done = run(copy, **environment)
    assert done.returncode == 1
    assert "1 failed" in done.stdout
