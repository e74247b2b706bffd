"""A cell runs with what `needs` says and nothing else, and then prints what the book prints."""

import json
import os
import subprocess
import sys
import zipfile
from io import BytesIO
from pathlib import Path

import nbformat
import pytest
from in_page import EARLY, ROOT, Rules

from lmbook_press.site.python import needs, packs

CHAPTERS = sorted((ROOT / "notebooks").glob("*.ipynb"))
DAILY = ("05",)
ALONE = """
import asyncio, json, os, sys
import page_kernel
page_kernel.HOME = sys.argv[1]
import numpy, matplotlib.pyplot
for cell in json.load(sys.stdin):
    sys.stdout.flush()
    reads, writes = os.pipe()
    if os.fork() == 0:
        shown = []
        kernel = page_kernel.Kernel(lambda text: shown.append(json.loads(text)))
        async def run():
            for code in cell["before"]:
                if await kernel.run(code) != "ok":
                    return
            shown.clear()
            await kernel.run(cell["source"])
        asyncio.run(run())
        os.close(reads)
        with open(writes, "w") as file:
            json.dump(shown, file)
        os._exit(0)
    os.close(writes)
    with open(reads) as file:
        print(file.read())
    os.wait()
"""


def alone(notebook: Path, folder: Path, limit: int | None) -> dict[str, str]:
    """Each cell that a page can run in a Python of its own, after what it needs: id -> what differs."""
    with zipfile.ZipFile(BytesIO(packs.archives()["kernel.zip"])) as archive:
        archive.extractall(folder)
    stored = {cell.id: cell for cell in nbformat.read(notebook, as_version=4).cells if cell.cell_type == "code"}
    plans = needs.page(notebook)[:limit]
    asked = [
        {
            "before": ["\n".join(plan["imports"]), *(plans[i]["source"] for i in plan["before"])],
            "source": plan["source"],
        }
        for plan in plans
        if not plan["torch"]
    ]
    path = os.pathsep.join((str(folder), str(ROOT / "src")))
    environment = {**os.environ, "PYTHONPATH": path, "MPLBACKEND": "agg"}
    done = subprocess.run(
        [sys.executable, "-c", ALONE, str(ROOT / "src")],
        input=json.dumps(asked), capture_output=True, text=True, env=environment, check=True,
    )  # fmt: skip
    rules, found = Rules(), {}
    for plan, line in zip((plan for plan in plans if not plan["torch"]), done.stdout.splitlines(), strict=True):
        outputs = json.loads(line)
        errors = [output for output in outputs if output["output_type"] == "error"]
        if errors:
            found[plan["id"]] = "\n".join(errors[0]["traceback"])
        elif "nbval-ignore-output" not in plan["tags"]:
            found[plan["id"]] = rules.difference(outputs, stored[plan["id"]].outputs)
    return found


@pytest.mark.parametrize(
    ("notebook", "limit"),
    [
        *(pytest.param(path, EARLY, id=path.stem) for path in CHAPTERS if path.name.startswith(DAILY)),
        *(pytest.param(path, None, id=f"{path.stem}-whole", marks=pytest.mark.weekly) for path in CHAPTERS),
    ],
)
def test_a_cell_needs_what_is_said_and_nothing_else(notebook, limit, tmp_path, real_corpora):
    found = alone(notebook, tmp_path, limit)
    assert found
    assert not {name: said for name, said in found.items() if said}


def plans(*sources: str) -> list[dict]:
    return needs.plan(list(sources))


def test_names_lead_to_the_cells_that_bind_or_change_them():
    found = plans("x = [1]", "y = 2", "x.append(3)", "print(x)", "y += 1\nfor x in x:\n    print(x)", "y")
    assert [plan["before"] for plan in found] == [[], [], [0], [0, 2], [0, 1, 2], [0, 1, 2, 4]]


def test_names_that_a_cell_has_to_itself_bring_nothing():
    found = plans("n = 1", "for n in range(3):\n    n", "[n for n in range(3)]", "def f(n):\n    return n", "f(2)")
    assert [plan["before"] for plan in found] == [[], [], [], [], [3]]


def test_what_a_function_uses_is_what_there_is_when_it_is_called():
    found = plans("def f():\n    return table[0]", "table = [1]", "f()")
    assert found[2]["before"] == [0, 1]


def test_an_import_is_a_line_and_not_a_cell():
    found = plans(
        "import numpy as np\nimport torch\nfrom lmbook import plots\nplots.use_style()", "np.ones(3)", "plots"
    )
    assert [plan["torch"] for plan in found] == [True, False, False]
    assert found[1] == {"before": [], "imports": ["import numpy as np"], "torch": False}
    assert found[2]["imports"] == ["from lmbook import plots", "plots.use_style()"]


def test_pytorch_is_found_behind_the_books_own_modules_and_in_cells_that_are_needed():
    found = plans(
        "from lmbook.word2vec import SkipGram", "from lmbook.ngram import Counts", "model = SkipGram", "model"
    )
    assert [plan["torch"] for plan in found] == [True, False, True, True]


def test_pytorch_is_in_a_page_where_it_is_covered_but_for_the_cells_that_are_refused():
    cells = ("import torch\nx = torch.ones(2)", "y = x.sum()", "y", "import transformers", "x")
    found = needs.plan(list(cells), covered=True, refused={1})
    assert [plan["torch"] for plan in found] == [False, True, True, True, False]


def test_a_figure_that_runs_trained_models_is_in_a_page_that_has_them_and_pytorch():
    cells = ["from lmbook.figures import UnrolledRNN, GPTWriter", "UnrolledRNN()", "GPTWriter()"]
    found = {covered: [plan["torch"] for plan in needs.plan(cells, covered)] for covered in (False, True)}
    assert found == {False: [True, True, True], True: [True, False, True]}
    assert needs.models('checkpoints.load("shakespeare-rnn")') == ["trained"]
    assert needs.models('bundle.weights("shakespeare")') == needs.models("bundle.weights(name)") == ["weights"]
    assert needs.models('print("shakespeare")') == []


def test_the_record_names_cells_of_its_chapters_with_a_reason():
    for stem, about in needs.COVERED.items():
        cells = nbformat.read(ROOT / "notebooks" / f"{stem}.ipynb", as_version=4).cells
        ids = {cell.id for cell in cells if cell.cell_type == "code"}
        assert ids >= set(about["refused"]) | set(about["slow"])
        assert all(about["refused"].values())
        assert all(seconds >= 30 for seconds in about["slow"].values())


def test_a_random_generator_that_was_used_goes_on():
    found = plans("import numpy as np\nrng = np.random.default_rng(0)", "a = rng.normal()", "b = rng.normal()")
    assert found[2]["before"] == [0, 1]


def test_a_cell_keeps_its_rules_natively(tmp_path):
    """The kernel's own rules, without a browser: a value after a `;` is not shown, an error ends a cell."""
    with zipfile.ZipFile(BytesIO(packs.archives()["kernel.zip"])) as archive:
        archive.extractall(tmp_path)
    program = """
import asyncio, json, page_kernel
shown = []
kernel = page_kernel.Kernel(lambda text: shown.append(json.loads(text)["output_type"]))
for code in ("1;", "1 # ;", "'a;'", "1/0", "await asyncio.sleep(0, 5)", "x = 3"):
    kernel.names["asyncio"] = asyncio
    asyncio.run(kernel.run(code))
    print(code, shown)
    shown.clear()
"""
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, env=environment, check=True)
    result = "['execute_result']"
    assert done.stdout.splitlines() == [
        "1; []",
        f"1 # ; {result}",
        f"'a;' {result}",
        "1/0 ['error']",
        f"await asyncio.sleep(0, 5) {result}",
        "x = 3 []",
    ]


def test_the_kernel_knows_what_a_figure_with_a_trained_model_loads(tmp_path):
    """When Python runs already, it alone says which packs a cell lacks."""
    with zipfile.ZipFile(BytesIO(packs.archives()["kernel.zip"])) as archive:
        archive.extractall(tmp_path)
    program = f"""
import json, page_kernel, sys
page_kernel.HOME = {str(ROOT / "src")!r}
kernel = page_kernel.Kernel(print, sys.stdin.read())
for name in ("LSTMStep", "UnrolledRNN", "NGramExplorer"):
    print(kernel.needs(f"from lmbook.figures import {{name}}"))
"""
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-c", program],
        input=json.dumps(packs.packs()), capture_output=True, text=True, env=environment, check=True,
    )  # fmt: skip
    found = [set(json.loads(line)) for line in done.stdout.splitlines()]
    assert all({"numpy", "torch", "trained", "traitlets"} <= one for one in found[:2])
    assert "trained" not in found[2]
