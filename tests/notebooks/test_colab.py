"""The Colab edition, executed as a reader does: an empty folder, Colab's versions, the package from git."""

import ast
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

import nbformat
import psutil
import pytest
from jupyter_client import AsyncKernelManager
from jupyter_client.kernelspec import KernelSpecManager
from jupyter_core.utils import run_sync
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError
from packaging.requirements import Requirement

from lmbook_press.book import Book
from lmbook_press.editions.colab import NEVER_INSTALLED, edition, needs_of, set_up_code

ROOT = Path(__file__).parents[2]
# `make notebooks` has run the same cells; what is new here is the set-up. So every push runs one chapter, and for the
# others, in one kernel, what they install and import. Once a week all are run, in Colab's own image too (colab.yml).
SAMPLE = ("00",)
FILES = sorted((ROOT / "notebooks").glob("[0-9]*.ipynb"))
CHAPTERS = [
    pytest.param(path.name, marks=() if path.name[:2] in SAMPLE else pytest.mark.weekly, id=path.stem) for path in FILES
]
# One call of each package that only some chapters need, and a figure.
USED = """import torch
import transformers
from lmbook import metrics
from lmbook.figures import SoftLookup
from lmbook.lab.pretrained import load_gpt2

sizes = {"vocab_size": 90, "n_positions": 32, "n_embd": 32, "n_layer": 2, "n_head": 4}
theirs = transformers.GPT2LMHeadModel(transformers.GPT2Config(**sizes, bos_token_id=None, eos_token_id=None)).eval()
tokens = torch.randint(90, (1, 8))
with torch.no_grad():
    assert torch.allclose(load_gpt2(theirs.state_dict(), 4).eval()(tokens), theirs(tokens).logits, atol=1e-4)
assert round(metrics.sacrebleu_score(["a b c d e"], ["a b c d e"])[0]) == 100
SoftLookup(["red", "blue"], [[1, 0], [0, 1]], [[1, 0], [0, 1]])"""
KEPT_OUT = ("VIRTUAL_ENV", "PYTHONPATH", "MPLBACKEND", "JUPYTER_PATH", "PYTEST_CURRENT_TEST")


def environment() -> dict[str, str]:
    """What the kernel sees: LMBOOK_DATA, LMBOOK_OFFLINE; pip fetches nothing to build the package, compiles nothing."""
    passed = {key: value for key, value in os.environ.items() if key not in KEPT_OUT}
    return passed | {"PIP_NO_BUILD_ISOLATION": "0", "PIP_COMPILE": "0", "PYTHONNOUSERSITE": "1"}


def execute(notebook: nbformat.NotebookNode, python: Path, folder: Path) -> nbformat.NotebookNode:
    """Runs the notebook from top to bottom in `folder`, in a kernel of `python`; raises at the first error."""
    kernels = KernelSpecManager(
        kernel_dirs=[str(python.parents[1] / "share/jupyter/kernels")], ensure_native_kernel=False
    )
    manager = AsyncKernelManager(kernel_name="colab", kernel_spec_manager=kernels)
    client = NotebookClient(notebook, km=manager, timeout=300, resources={"metadata": {"path": str(folder)}})
    try:
        return client.execute(env=environment())
    finally:  # a kernel of a manager from outside is the client's to use, not to end
        run_sync(manager.shutdown_kernel)(now=True)


def printed(cell: nbformat.NotebookNode) -> str:
    return "".join(output.get("text", "") for output in cell.outputs)


def freeze(python: Path) -> dict[str, str]:
    command = [str(python), "-m", "pip", "list", "--format", "json", "--disable-pip-version-check"]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return {entry["name"].lower(): entry["version"] for entry in json.loads(done.stdout)}


def imports(notebook: nbformat.NotebookNode) -> list[str]:
    """The imports among a notebook's code, one statement a line."""
    sources = [cell.source for cell in notebook.cells if cell.cell_type == "code"]
    trees = [ast.parse(re.sub(r"^[%!].*$", "", source, flags=re.MULTILINE)) for source in sources]
    return [ast.unparse(node) for tree in trees for node in tree.body if isinstance(node, ast.Import | ast.ImportFrom)]


def silent(notebook: nbformat.NotebookNode) -> bool:
    """Nothing on stderr but our own word on a corpus that is lacking."""
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    said = [output.text for output in outputs if output.get("name") == "stderr"]
    return [text for text in said if not text.startswith("lmbook: ")] == []


@pytest.fixture(scope="session")
def book(clone):
    return Book.find(clone, source=f"git+{clone.as_uri()}")


def tiny(book: Book, *code: str, needs: Iterable[str] = ()) -> nbformat.NotebookNode:
    """The set-up cell of the book, followed by these cells."""
    cells = [nbformat.v4.new_code_cell(source) for source in (set_up_code(book, needs), *code)]
    return nbformat.v4.new_notebook(cells=cells)


@pytest.fixture(autouse=True)
def no_kernel_left():
    """Fails where a kernel outlives its test: each holds up to a gigabyte."""
    yield
    children = [child.info for child in psutil.process_iter(["ppid", "cmdline"]) if child.info["ppid"] == os.getpid()]
    assert [child for child in children if "ipykernel_launcher" in (child["cmdline"] or ())] == []


@pytest.fixture
def nothing_else_installed(colab_python):
    """Fails where a test leaves another version of any package than it found."""
    before = freeze(colab_python)
    yield
    after = freeze(colab_python)
    assert {package: before[package] for package in NEVER_INSTALLED} == {p: after[p] for p in NEVER_INSTALLED}
    assert {package for package in before if before[package] != after.get(package)} == set()


def test_the_ranges_of_the_package_admit_what_colab_has():
    text = (ROOT / "tests/colab/requirements.txt").read_text()
    colab = {name.lower(): version for name, version in re.findall(r"^([\w.-]+)==(\S+)$", text, re.MULTILINE)}
    colab["torch"] = "2.11.0"
    needs = [Requirement(line) for line in Book.find(ROOT).requirements]
    assert needs
    assert [str(need) for need in needs if colab.get(need.name) not in need.specifier] == []


def set_up_here(book: Book) -> subprocess.CompletedProcess:
    """The set-up cell in the environment of the tests, where lmbook is a working copy and Colab is not."""
    command = [sys.executable, "-c", set_up_code(book, book.requirements)]
    return subprocess.run(command, capture_output=True, text=True, env=environment())


def test_a_working_copy_is_used_as_it_is():
    nowhere = {"source": "git+file:///nowhere", "ref": "0123abc"}  # installing from there would fail
    done = set_up_here(Book(ROOT, **nowhere))
    assert done.returncode == 0, done.stderr
    assert re.fullmatch(r"lmbook \S+ \(0123abc\) is ready\. Device: c\w+\.\n", done.stdout)
    assert done.stderr == ""


@pytest.mark.slow
@pytest.mark.usefixtures("nothing_else_installed")
def test_what_the_chapters_need_is_there_and_works_with_colabs_versions(book, colab_python, tmp_path):
    chapters = [nbformat.read(path, as_version=4) for path in FILES]
    needs = dict.fromkeys(need for chapter in chapters for need in needs_of(chapter, book))
    assert {"sacrebleu", "transformers", "scikit-learn"} <= set(needs)
    lines = list(dict.fromkeys(line for chapter in chapters for line in imports(chapter)))
    assert len(lines) > 50
    done = execute(tiny(book, "\n".join(lines), USED, needs=needs), colab_python, tmp_path)
    assert silent(done)
    printed, living = [output.data for output in done.cells[-1].outputs]
    assert "data-module" in printed["text/html"]
    assert "application/vnd.jupyter.widget-view+json" in living


@pytest.mark.slow
@pytest.mark.usefixtures("nothing_else_installed")
@pytest.mark.parametrize("name", CHAPTERS)
def test_a_chapter_runs_in_an_empty_folder_with_colabs_versions(name, book, colab_python, tmp_path):
    notebook = edition(book.root / "notebooks" / name, book)
    done = execute(notebook, colab_python, tmp_path)
    first = next(cell for cell in done.cells if cell.cell_type == "code")
    assert f"lmbook {book.version} ({book.install_ref[:7]}) is ready" in printed(first)
    assert "Device: c" in printed(first)
    assert silent(done)
    html = [output.get("data", {}) for cell in done.cells for output in cell.get("outputs", [])]
    figures = [data for data in html if "data-module" in data.get("text/html", "")]
    assert len(figures) == sum("application/vnd.jupyter.widget-view+json" in data for data in html)
    assert figures or name.startswith("00-")


@pytest.mark.slow
def test_the_set_up_cell_installs_once_and_only_this_commit(book, colab_python, tmp_path):
    origin = "import importlib.metadata as m; print(m.distribution('lmbook').read_text('direct_url.json'))"
    stat = "import lmbook, os; print(os.stat(lmbook.__file__).st_ino, lmbook.__file__)"
    first = execute(tiny(book, origin, stat), colab_python, tmp_path)
    record = json.loads(printed(first.cells[1]))
    assert record["vcs_info"]["commit_id"] == book.install_ref
    again = execute(tiny(book, origin, stat), colab_python, tmp_path)
    assert printed(again.cells[2]) == printed(first.cells[2])  # the very same file: not installed a second time
    assert str(book.root) not in printed(again.cells[2])


@pytest.mark.slow
@pytest.mark.weekly
def test_another_commit_replaces_it_and_asks_for_a_restart(book, clone, git, colab_python, tmp_path):
    execute(tiny(book), colab_python, tmp_path)
    (clone / "src/lmbook/later.py").write_text("LATER = True\n")
    git(clone, "add", "--all")
    git(clone, "commit", "--quiet", "--message", "later")
    try:
        later = Book(clone, source=book.source, ref=git(clone, "rev-parse", "HEAD"))
        loaded = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("import lmbook"), *tiny(later).cells])
        with pytest.raises(CellExecutionError, match=r"older lmbook was already loaded.*restart the session"):
            execute(loaded, colab_python, tmp_path)
        fresh = execute(tiny(later, "import lmbook.later; print(lmbook.later.LATER)"), colab_python, tmp_path)
        assert printed(fresh.cells[1]) == "True\n"
    finally:
        git(clone, "reset", "--quiet", "--hard", book.install_ref)


@pytest.mark.slow
def test_a_page_of_another_version_is_told_apart(book, colab_python, tmp_path):
    notebook = tiny(book)
    notebook.cells[0].source = notebook.cells[0].source.replace(f'VERSION = "{book.version}"', 'VERSION = "99.0"')
    with pytest.raises(CellExecutionError, match=r"This page is of version 99\.0"):
        execute(notebook, colab_python, tmp_path)


@pytest.mark.slow
def test_an_address_that_cannot_be_reached_is_said_plainly(book, colab_python, tmp_path):
    subprocess.run([str(colab_python), "-m", "pip", "uninstall", "--quiet", "--yes", "lmbook"], check=True)
    nowhere = Book(book.root, source=f"git+{tmp_path.as_uri()}/nowhere", ref=book.install_ref)
    with pytest.raises(CellExecutionError, match="pip could not install lmbook @ git"):
        execute(tiny(nowhere), colab_python, tmp_path)
