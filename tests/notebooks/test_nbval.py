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


def run(*notebooks: Path, **environment: str) -> subprocess.CompletedProcess:
    """nbval on notebooks of one folder, as `make test` runs it."""
    command = [sys.executable, "-m", "pytest", "--nbval", "--nbval-current-env", "--nbval-sanitize-with", str(SANITIZE)]
    command += ["--nbval-cell-timeout=120", "-p", "no:cacheprovider", "-q", "-rfp"]
    command += ["-p", "lmbook_press", "-p", "nbval.plugin"]
    command += [f"--rootdir={notebooks[0].parent}", *map(str, notebooks)]
    passed = {key: value for key, value in os.environ.items() if not key.startswith(("PYTEST", "LMBOOK"))}
    passed |= {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}  # without the browser's and the others a second sooner
    return subprocess.run(command, cwd=notebooks[0].parent, capture_output=True, text=True, env=passed | environment)


@pytest.fixture(scope="module")
def executed(tmp_path_factory) -> Path:
    """A small notebook with its outputs, beside the hook of the chapters; the tests work on copies."""
    from nbclient import NotebookClient

    notebook = new_notebook(cells=[new_code_cell(source) for source in CELLS])
    NotebookClient(notebook, kernel_name="python3").execute()
    path = tmp_path_factory.mktemp("nbval") / "small.ipynb"
    nbformat.write(notebook, path)
    shutil.copy(ROOT / "notebooks" / "conftest.py", path.parent)
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


# What is changed in a stored output: a number, which must fail, or a coordinate inside a drawing.
WRONG = {
    "printed": ("4.48", "4.49"),
    "value-of-a-cell": ("3.142", "3.141"),
    "number-for-the-prose": ("0.6931472", "0.6931473"),
    "caption-of-a-figure": (">0.75<", ">0.76<"),
}
MOVED = "M0 1.25", "M0 1.26"


@pytest.fixture(scope="module")
def compared(executed) -> str:
    """What nbval says of copies of the notebook: one as it is, and one for each change."""
    copies = [executed]
    for name, change in (WRONG | {"moved": MOVED}).items():
        copies.append(executed.with_stem(name))
        shutil.copy(executed, copies[-1])
        plant(copies[-1], *change)
    done = run(*copies)
    assert done.returncode == 1, done.stdout
    return done.stdout


def cells(said: str, outcome: str, name: str) -> int:
    """Cells of a notebook with this outcome, by the summary at the end."""
    return len(re.findall(rf"^{outcome} \S*\b{name}\.ipynb", said, re.M))


@pytest.mark.parametrize("name", ["small", "moved"])
def test_true_outputs_pass_wherever_the_curves_of_a_drawing_lie(compared, name):
    assert cells(compared, "PASSED", name) == len(CELLS)
    assert cells(compared, "FAILED", name) == 0


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_stored_number_fails(compared, name):
    assert "Cell outputs differ" in compared
    assert cells(compared, "PASSED", name) == len(CELLS) - 1
    assert cells(compared, "FAILED", name) == 1


@pytest.fixture
def needs_corpus(executed, tmp_path) -> Path:
    """The same notebook with another stored number, as on the fallback, in a cell tagged as needing the corpus."""
    stored = tmp_path / executed.name
    for file in (executed, executed.with_name("conftest.py")):
        shutil.copy(file, tmp_path)
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
    """The whole way once, on the shortest chapter; that it passes as it is says `make notebooks`."""
    chapter = min((ROOT / "notebooks").glob("[0-9]*.ipynb"))
    wrong = tmp_path / "wrong.ipynb"
    shutil.copy(ROOT / "notebooks" / "conftest.py", tmp_path)
    notebook = nbformat.read(chapter, as_version=4)
    for cell in notebook.cells:
        numbers = [o for o in cell.get("outputs", []) if o.output_type == "stream" and re.search(r"\d", o.text)]
        if numbers and not cell.metadata.get("tags"):
            numbers[0].text = re.sub(r"\d", lambda digit: str((int(digit.group()) + 1) % 10), numbers[0].text, count=1)
            break
    else:
        pytest.fail(f"{chapter.name} prints no number that is compared")
    nbformat.write(notebook, wrong)
    environment = {key: os.environ[key] for key in ("LMBOOK_DATA", "LMBOOK_OFFLINE") if key in os.environ}
    said = run(wrong, **environment).stdout
    assert cells(said, "PASSED", "wrong") == sum(cell.cell_type == "code" for cell in notebook.cells) - 1
    assert cells(said, "FAILED", "wrong") == 1
