"""The buttons of a chapter: nothing comes before the first press, all of it works by keyboard, and it can be undone."""

import zipfile

import pytest
from in_page import ROOT, python_files

from lmbook_press.editions import offline

pytestmark = [pytest.mark.browser, pytest.mark.pyodide]
PAGE = "notebooks/05-backpropagation.html"
FIRST, SECOND = ".cell.lm-run-4", ".cell.lm-run-14"  # the second needs what the first binds
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
    assert chapter.locator(".lm-torch-36 .lm-run-bar a").get_attribute("href").startswith("https://colab.research")
    assert chapter.locator(".lm-torch-36 .lm-run-bar").text_content() == "In Colab"


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
    page.keyboard.insert_text("print('mine')\n")
    page.keyboard.press("Shift+Enter")
    page.wait_for_selector(f"{FIRST}[data-running]")
    assert "mine" in done(page, FIRST)
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
