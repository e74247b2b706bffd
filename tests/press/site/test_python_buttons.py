"""The buttons of a chapter: nothing comes before the first press, all of it works by keyboard, and it can be undone."""

import json
import zipfile

import pytest
from in_page import ROOT, python_files
from nbformat import v4

from lmbook_press.editions import offline
from lmbook_press.normalize import write_notebook
from lmbook_press.site.python import packs, pages
from lmbook_press.site.serving import serve

pytestmark = [pytest.mark.browser, pytest.mark.pyodide]
PAGE = "notebooks/05-backpropagation.html"
FIRST, SECOND = ".cell.lm-run-3", ".cell.lm-run-13"  # the second needs what the first binds
READY = "(cell) => !document.querySelector(cell).hasAttribute('data-running')"


@pytest.fixture
def chapter(visit, site):
    """The page of chapter 5, if the site has Python."""
    python_files()
    if not (site / "_static" / "python" / "manifest.json").is_file():
        pytest.skip("NO PYTHON RAN IN A PAGE: the site was built without (make python, then make site)")
    return visit(PAGE)


def done(page, cell: str) -> str:
    """What stands below a cell once it has run."""
    page.wait_for_function(READY, arg=cell, timeout=120_000)
    return page.locator(f"{cell} .lm-ran").inner_text()


def stored(page, cell: str) -> str:
    return page.locator(f"{cell} > .cell_output").inner_text().strip()


def test_a_page_that_nobody_presses_loads_only_its_buttons(served, request):
    _, sent = served
    before = len(sent)  # what other tests were sent
    chapter = request.getfixturevalue("chapter")
    loaded = [(path, size) for path, size, _ in sent[before:] if "python" in path or path.endswith("run.mjs")]
    assert {path for path, _ in loaded} == {"_static/run.mjs"}
    assert all(size < 2500 for _, size in loaded)
    assert chapter.locator(".lm-torch-40 .lm-run-bar a").get_attribute("href").startswith("https://colab.research")
    assert chapter.locator(".lm-torch-40 .lm-run-bar").text_content() == "In Colab"


def test_a_reader_runs_changes_stops_and_undoes_by_keyboard(chapter, axe_in_every_view, served):
    page = chapter
    _, sent = served
    page.locator(f"{SECOND} .lm-run").focus()
    page.keyboard.press("Enter")
    page.wait_for_selector(f"{SECOND} .lm-ran-head")
    page.wait_for_function(
        "(cell) => document.querySelector(cell + ' .lm-ran-head').textContent.includes('MB')", arg=SECOND
    )
    assert stored(page, SECOND) in done(page, SECOND)
    assert "Run here" in page.locator("[role=status].visually-hidden").inner_text()
    assert not [path for path, _, _ in sent if "matplotlib" in path]

    page.locator(f"{FIRST} .lm-edit").focus()
    page.keyboard.press("Enter")
    page.wait_for_selector(f"{FIRST} .cm-focused")
    page.keyboard.press("Tab")  # no trap
    page.wait_for_selector(f"{FIRST} .cm-editor:not(.cm-focused)")
    assert not page.evaluate("document.activeElement.closest('.cm-editor')")
    page.locator(f"{FIRST} .cm-content").focus()
    page.keyboard.press("Control+Home")
    page.keyboard.type("print('mine', 6 / 2)\n")  # each key by itself: the page had taken / for its search
    page.keyboard.press("Shift+Enter")
    page.wait_for_selector(f"{FIRST}[data-running]")
    assert "mine 3.0" in done(page, FIRST)
    page.keyboard.press("Escape")
    assert page.evaluate("document.activeElement.className") == "lm-run"

    page.locator(f"{FIRST} .cm-content").focus()
    page.keyboard.press("Control+Home")
    page.keyboard.insert_text("while True: pass\n")  # no key, no indentation
    page.keyboard.press("Shift+Enter")
    page.wait_for_selector(f"{FIRST}[data-running]")
    page.wait_for_function(
        "(cell) => document.querySelector(cell + ' .lm-ran-head').textContent === 'Running'", arg=FIRST, timeout=120_000
    )
    page.locator(f"{FIRST} .lm-run").click()
    assert done(page, FIRST).startswith("Stopped")
    page.locator(f"{FIRST} .cm-content").focus()
    for key in ("Control+Home", "Shift+ArrowDown", "Delete"):
        page.keyboard.press(key)
    page.locator(f"{SECOND} .lm-run").click()
    assert stored(page, SECOND) in done(page, SECOND), "after Stop a new Python runs what is needed again"

    page.reload()
    page.locator(FIRST).scroll_into_view_if_needed()
    page.wait_for_function(f"document.querySelector('{FIRST} .cm-content')?.textContent.startsWith('print(\\'mine')")
    assert axe_in_every_view(page) == []
    page.locator(f"{FIRST} .lm-reset").click()
    assert page.locator(f"{FIRST} .cell_input pre").first.is_visible()
    assert page.evaluate("localStorage.getItem('lmbook:code')") is None


# A kernel that runs nothing: it prints the code, and says of what is loaded what lmbook.data.load says.
SAYS = """
const stream = (name, text) => ({ output_type: "stream", name, text: `${text}\\n` });
export const manifest = async () => ({ packs: {} });
export class Kernel {
  generation = 1;
  started = true;
  async run(code) {
    (globalThis.asked ??= []).push(code);
    if (code.includes("wrong")) return { status: "error", outputs: [stream("stderr", "an error")] };
    const said = code.includes("load") ? [stream("stderr", "built-in stories stand in")] : [];
    return { status: "ok", outputs: [...said, stream("stdout", code)] };
  }
}
export const weight = () => 0;
"""
CODES = ["corpus = load('names')", "size = len(corpus)", "print(size)"]


@pytest.fixture
def dry(tmp_path, new_context, monkeypatch):
    """A page with these three cells whose kernel runs nothing, its storage full."""
    monkeypatch.setattr(packs, "corpora", dict)
    static = tmp_path / "site" / "_static"
    (static / "python" / "cells").mkdir(parents=True)
    for name in packs.SCRIPTS:
        (static / "python" / name).write_bytes((packs.HERE / name).read_bytes())
    (static / "python" / "kernel.mjs").write_text(SAYS)
    (static / "run.mjs").write_bytes((ROOT / "book/_static/run.mjs").read_bytes())
    write_notebook(v4.new_notebook(cells=[v4.new_code_cell(code) for code in CODES]), tmp_path / "00-dry.ipynb")
    (static / "python/cells/index.json").write_text(json.dumps(pages.cells(tmp_path / "00-dry.ipynb")))
    cell = "<div class='cell lm-run-{}'><div class='cell_input'><div class='highlight'><pre>{}</pre></div></div></div>"
    body = "".join(cell.format(number, code) for number, code in enumerate(CODES))
    script = '<script type="module" src="_static/run.mjs"></script>'
    (tmp_path / "site/index.html").write_text(f"<!doctype html><html lang=en><title>Page</title>{body}{script}")
    with serve(tmp_path / "site") as (address, _):
        page = new_context().new_page()
        page.add_init_script(
            "Storage.prototype.setItem = () => { throw new DOMException('full', 'QuotaExceededError'); }"
        )
        page.goto(f"{address}index.html")
        yield page


def test_a_cell_says_what_the_code_above_said_of_its_data(dry):
    """Once it was lost, and numbers of the built-in text stood below a cell as if they were the corpus's."""

    def ran(number: int) -> list[str]:
        before = dry.evaluate("globalThis.asked?.length ?? 0")
        dry.click(f".lm-run-{number} .lm-run")
        dry.wait_for_function("(before) => globalThis.asked?.length > before", arg=before)
        return [line for line in done(dry, f".cell.lm-run-{number}").splitlines() if line]

    assert ran(2)[1:] == ["built-in stories stand in", CODES[2]]
    assert ran(1)[1:] == ["built-in stories stand in", CODES[1]]
    assert dry.evaluate("asked") == [*CODES, CODES[1]], "what has run does not run again"

    dry.click(".lm-run-1 .lm-edit")
    dry.wait_for_selector(".lm-run-1 .cm-focused")
    dry.keyboard.press("Control+Home")
    dry.keyboard.insert_text("wrong = ")
    assert "keeps nothing" in dry.locator("[role=status].visually-hidden").inner_text()
    assert "an error" in ran(1)
    assert ran(2)[0] == "Code above, which this needs, ended with an error."
    assert dry.evaluate("asked").count(f"wrong = {CODES[1]}") == 2, "what has failed is not taken as run"


def test_a_page_from_a_disk_says_how_to_serve_it(new_context, tmp_path, monkeypatch):
    """The zip has Python as it lies on the site, for those who serve it; its pages say so where they cannot load it."""
    monkeypatch.setattr(offline, "figures", dict)
    site = tmp_path / "site"
    cell = "<div class='cell lm-run-0 docutils container'><div class='cell_input'><pre>1 + 1</pre></div></div>"
    script = '<script type="module" src="_static/run.mjs?v=1"></script>'
    pages = {"index.html": f"<!doctype html><html lang=en><title>Page</title>{cell}{script}"}
    pages |= {f"book/{name}.html": '<article class="bd-article"></article>' for name in offline.CARDS}
    for name, text in {**pages, "_static/python/kernel.mjs": "export class Kernel {}"}.items():
        (site / name).parent.mkdir(parents=True, exist_ok=True)
        (site / name).write_text(text)
    (site / "_static/run.mjs").write_bytes((ROOT / "book/_static/run.mjs").read_bytes())
    with zipfile.ZipFile(offline.write_zip(tmp_path / "book.zip", site, "book")) as archive:
        archive.extractall(tmp_path)
    assert (tmp_path / "book/_static/python/kernel.mjs").read_text() == "export class Kernel {}"
    page = new_context().new_page()
    page.goto((tmp_path / "book/index.html").as_uri())
    page.click(".lm-run")
    assert "python -m http.server" in page.locator("p.lm-ran[role=status]").inner_text()
