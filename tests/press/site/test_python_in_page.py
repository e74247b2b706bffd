"""Python in the page: the kernel keeps its protocol, and each cell that it can run gives what the book prints."""

import hashlib
import json
import os
import shlex
import shutil
import subprocess
import time
import zipfile
from pathlib import Path

import in_page
import pytest
from firefox import firefox

from lmbook_press.site.python import files, needs
from lmbook_press.site.serving import serve

ROOT = Path(__file__).parents[3]
CHAPTERS = sorted(path for path in (ROOT / "notebooks").glob("*.ipynb"))
DAILY = ("05",)  # each costs a start of Python; what counts is in test_narrow_indices.py, too
pytestmark = [pytest.mark.browser, pytest.mark.pyodide]


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    """(address, sent) of a site with a blank page and Python, in a subfolder."""
    with serve(in_page.write_site(tmp_path_factory.mktemp("python"))) as found:
        yield found


@pytest.fixture
def blank(small, new_context, listen):
    """An open blank page; at the end nothing may have been asked of another host."""
    address, _ = small
    faults = []
    context = new_context()
    listen(context, address, faults)
    page = context.new_page()
    page.on("pageerror", lambda error: faults.append(str(error)))
    page.goto(f"{address}index.html")
    yield page
    assert faults == []


@pytest.fixture(scope="module")
def awake(small, browser):
    """A page whose Python is awake, for tests that leave nothing in it; that takes five seconds of a processor."""
    context = browser.new_context()
    page = context.new_page()
    page.goto(f"{small[0]}index.html")
    page.evaluate(in_page.START)
    yield page
    context.close()


def run(page, code: str, name: str = "cell") -> dict:
    return page.evaluate(in_page.RUN, [code, name])


def test_the_kernel_keeps_its_protocol(blank, small):
    """One visit: what is loaded and when, every kind of output, errors, names that last, Stop."""
    _, sent = small
    blank.evaluate(in_page.START)
    assert not [path for path, _, _ in sent if "pyodide" in path]  # nothing before it is asked for
    began = time.monotonic()
    assert run(blank, "x = 6\nx * 7") == {
        "status": "ok",
        "outputs": [
            {"output_type": "execute_result", "execution_count": 1, "data": {"text/plain": "42"}, "metadata": {}}
        ],
    }
    core = sum(size for _, size, _ in sent)
    run(blank, "import numpy as np")
    assert time.monotonic() - began < 60  # of a machine that does other things too
    assert core < 6.2e6, "Python by itself has grown"
    assert sum(size for _, size, _ in sent) < 9e6, "with NumPy it is more than 9 MB"

    printed = run(blank, "import sys\nprint('a')\nprint('b')\nprint('c', file=sys.stderr)\nx;")["outputs"]
    assert [(o["name"], o["text"]) for o in printed] == [("stdout", "a\nb\n"), ("stderr", "c\n")]
    assert run(blank, "np.bincount(np.array([1, 1, 3], np.int64)).tolist()")["outputs"][0]["data"] == {
        "text/plain": "[0, 2, 0, 1]"
    }
    wide = run(blank, "{word: 'x' * 30 for word in 'abc'}")["outputs"][0]["data"]["text/plain"]
    assert wide.count("\n") == 2, "IPython breaks a long dictionary into lines"

    bad = run(blank, "def halve(x):\n    return x / 0\nhalve(1)", "bad")
    assert bad["status"] == "error"
    assert bad["outputs"][-1]["ename"] == "ZeroDivisionError"
    told = "\n".join(bad["outputs"][-1]["traceback"])
    assert "this cell, line 3" in told
    assert "in halve" in told
    assert "page_kernel" not in told, "the reader's lines are named, not ours"
    for code, words in {
        "import torch.fx": "the part of PyTorch that the book uses",
        "import torch\ntorch.fft": "Open this notebook in Colab",
        "input()": "cannot wait for an answer",
        "!ls": "command of Jupyter",
        "x ==": "SyntaxError",
        "while True:\n    print('x' * 1000)": "printed more than",
    }.items():
        assert words in run(blank, code)["outputs"][-1]["traceback"][-1] + run(blank, code)["outputs"][-1]["evalue"]

    blank.evaluate("() => { globalThis.endless = kernel.run('while True: pass', { id: 'endless' }); }")
    blank.wait_for_timeout(300)
    assert blank.evaluate("() => { kernel.stop(); return endless; }")["status"] == "stopped"
    assert run(blank, "x")["outputs"][-1]["ename"] == "NameError", "a new Python knows nothing"


def test_pictures_have_the_colours_of_the_page(awake):
    shown = run(awake, "import matplotlib.pyplot as plt\nplt.plot([1, 3, 2])\nplt.title('Up')\n_ = 1")["outputs"]
    assert [sorted(output["data"]) for output in shown] == [["image/svg+xml", "text/plain"]]
    drawing = shown[0]["data"]["image/svg+xml"]
    assert "currentColor" in drawing
    assert "#010203" not in drawing
    assert run(awake, "plt.get_fignums()")["outputs"][0]["data"] == {"text/plain": "[]"}


PRODUCTS = """
import numpy as np
from torch import matrix
rng = np.random.default_rng(0)
asked = []
loops = matrix.page_products.product
class Counted:
    def product(*given):
        asked.append(given)
        loops(*given)
matrix.page_products = Counted
shapes = ((64, 32), (32, 48)), ((3, 4, 16, 32), (3, 4, 32, 40)), ((5, 33, 17), (5, 17, 99)), ((900, 900), (900, 70))
for a, b in shapes:
    x, y = rng.normal(size=a).astype("f"), rng.normal(size=b).astype("f")
    turned = [np.ascontiguousarray(one.swapaxes(-1, -2)).swapaxes(-1, -2) for one in (x, y)]
    for pair in (x, y), turned, (x[..., ::-1, :], y[..., ::-1]):
        right = np.matmul(*(one.astype("d") for one in pair))
        assert np.abs(matrix.product(*pair) - right).max() < 2e-4, (a, b)
len(asked)
"""


def test_large_matrices_are_multiplied_by_the_loops_of_the_engine(awake):
    """Rows or columns first, batches, more than the loops' memory holds at the start; NumPy's own product agrees."""
    shown = run(awake, PRODUCTS)["outputs"]
    assert shown[-1]["data"] == {"text/plain": "12"}, shown


def stand_in(folder: Path) -> None:
    """A wheel that calls itself torch, and a lock with its checksum."""
    about = {"version": "2.13.0", "file_name": "torch-2.13.0-py3-none-any.whl", "imports": ["torch"]}
    about |= {"depends": ["numpy"], "package_type": "package", "install_dir": "site"}
    wheel, info = folder / about["file_name"], "torch-2.13.0.dist-info"
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr("torch/__init__.py", "__version__ = '2.13.0'\nfrom numpy import tanh\n")
        archive.writestr(f"{info}/METADATA", "Metadata-Version: 2.1\nName: torch\nVersion: 2.13.0\n")
        archive.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
    data = wheel.read_bytes()
    listed = {wheel.name: {"bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()}}
    (folder / "lock.json").write_text(json.dumps({"files": listed, "packages": {"torch": about}}), encoding="utf8")


@pytest.mark.weekly  # which files are taken, test_python_files.py asks on every push
def test_a_pytorch_that_is_given_by_its_checksum_runs_behind_the_same_buttons(tmp_path, monkeypatch, new_context):
    """Another wheel of the same form: Pyodide itself unpacks it, in place of what the book has of torch."""
    stand_in(tmp_path)
    monkeypatch.setenv("LMBOOK_PYODIDE_LOCK", str(tmp_path / "lock.json"))
    monkeypatch.setenv("LMBOOK_PYODIDE", str(tmp_path))
    files.lock.cache_clear()
    try:
        with serve(in_page.write_site(tmp_path / "site")) as (address, sent):
            page = new_context().new_page()
            page.goto(f"{address}index.html")
            page.evaluate(in_page.START)
            shown = run(page, "import torch\ntorch.__version__, float(torch.tanh(0.0))")["outputs"]
            assert shown[-1]["data"] == {"text/plain": "('2.13.0', 0.0)"}
            assert any(path.endswith("torch-2.13.0-py3-none-any.whl") for path, _, _ in sent)
    finally:
        files.lock.cache_clear()


@pytest.mark.parametrize(
    ("notebook", "limit"),
    [
        *(pytest.param(path, in_page.EARLY, id=path.stem) for path in CHAPTERS if path.name.startswith(DAILY)),
        *(pytest.param(path, None, id=f"{path.stem}-whole", marks=pytest.mark.weekly) for path in CHAPTERS),
    ],
)
def test_a_chapter_prints_in_the_page_what_it_prints_in_the_book(blank, notebook, limit, real_corpora):
    blank.set_default_timeout(0)
    found = in_page.chapter(blank, notebook, limit)
    wrong = {cell: said for cell, said in found.items() if said not in ("equal", "free")}
    assert not wrong, "\n\n".join(f"cell {cell}:\n{said}" for cell, said in wrong.items())
    assert len(found) == sum(not plan["torch"] for plan in needs.page(notebook)[:limit])
    if report := os.environ.get("LMBOOK_PAGE_REPORT"):  # chapter, cells, ran, equal, free, refused
        total, ran = len(needs.page(notebook)), len(found)
        equal, free = (list(found.values()).count(kind) for kind in ("equal", "free"))
        with open(report, "a", encoding="utf8") as file:
            file.write(f"{notebook.stem} | {total} | {ran} | {equal} | {free} | {total - ran}\n")


@pytest.mark.firefox
@pytest.mark.weekly
def test_firefox_runs_it_too(small, tmp_path):
    """The worker, the streams that unpack, WebAssembly: all of it in another browser. The socket waits for a minute."""
    with firefox(tmp_path) as browser:
        browser.open(f"{small[0]}index.html")
        browser.evaluate(in_page.START)
        browser.evaluate("() => { kernel.run('import numpy as np').then(() => { globalThis.ready = true; }); }")
        for _ in range(120):
            if browser.evaluate("() => globalThis.ready ?? false"):
                break
            time.sleep(1)
        done = browser.evaluate("() => kernel.run('print(np.arange(3).sum())', { id: 'sum' })")
        assert done == {"status": "ok", "outputs": [{"output_type": "stream", "name": "stdout", "text": "3\n"}]}


def test_the_editor_is_what_its_source_makes(tmp_path):
    """codemirror.js is made by `npm run editor`, and nobody has changed it since."""
    if not (ROOT / "node_modules" / "esbuild").is_dir() or not shutil.which("npx"):
        pytest.skip("the bundler is not installed (make javascript)")
    script = shlex.split(json.loads((ROOT / "package.json").read_text("utf-8"))["scripts"]["editor"])
    made = tmp_path / "codemirror.js"
    subprocess.run(["npx", "--no-install", *script[:-1], f"--outfile={made}"], cwd=ROOT, check=True)
    assert made.read_bytes() == (ROOT / "src/lmbook_press/site/python/codemirror.js").read_bytes()


def test_a_wrong_output_is_noticed(awake):
    """The comparison can fail: one digit in a stored output."""
    import nbformat

    stored = [nbformat.from_dict({"output_type": "stream", "name": "stdout", "text": "45.8%\n"})]
    outputs = run(awake, "print('69.0%')")["outputs"]
    assert "69.0" in in_page.Rules().difference(outputs, stored)
