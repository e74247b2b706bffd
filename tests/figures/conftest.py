"""Figures in a real browser: on a static page with every outside request refused, and in JupyterLab with a kernel."""

import json
import os
import re
import socket
import subprocess
import sys
import threading
import time
import urllib.request
from collections import defaultdict
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from itertools import count
from pathlib import Path

import nbformat
import pytest
from firefox import Firefox, firefox

from lmbook.figures import bundle, modules
from lmbook.figures.bundle import served
from lmbook.figures.trainer import LESSONS
from lmbook.figures.translator import TRANSLATORS

# Colours as the book's theme sets them, light and dark; everything else is plain HTML.
PAGE = """<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>Figures</title><link rel="icon" href="data:,">
<link rel="stylesheet" href="_static/figures/figures.css"><style>
:root {{ color-scheme: light dark; --pst-color-text-base: light-dark(#323232, #ced6dd);
  --pst-color-background: light-dark(#fff, #14181e); }}
body {{ margin: 10px; font: 1rem sans-serif }}
body {{ background: var(--pst-color-background); color: var(--pst-color-text-base) }}
</style></head><body><main><h1>Figures</h1>{figures}</main>
<script type="module" src="_static/figures/mount.mjs"></script></body></html>"""


def pytest_collection_modifyitems(items):
    for item in items:  # whatever opens a page needs Chromium
        if {"show", "lab", "new_context", "browser"} & set(getattr(item, "fixturenames", ())):
            item.add_marker("browser")


_numbers = count()  # of the pages
_SOURCES = "".join(path.read_text("utf8") for path in bundle.files().values())
BETS = re.findall(r'name: "([\w-]+)",\s+(?:of: "[^"]*",\s+)?asks', _SOURCES)
BETS += [f"trainer-{name}" for name in LESSONS] + [f"translator-{name}" for name in TRANSLATORS]
PARTS = "whole", "encoder", "decoder", "source", "target"
BETS += [f"opened-{kind}-{part}" for kind in ("translator", "blank", "next") for part in PARTS]
SETTLED = f"localStorage.setItem('lmbook-bets', '{json.dumps(dict.fromkeys(BETS))}')"


class _Handler(SimpleHTTPRequestHandler):
    def log_request(self, *args):
        self.server.asked[self.path.split("/")[1]].append(self.path)  # before the answer: none that is shown is missing

    def log_message(self, *args):
        pass


@pytest.fixture(scope="session")
def book(tmp_path_factory):
    """(folder, its modules, its server) of what one server serves: to stop a server takes up to half a second."""
    root = tmp_path_factory.mktemp("site")
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(_Handler, directory=root))
    server.asked = defaultdict(list)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    folder = root / "some" / "folder"
    texts = modules()
    _write(folder, texts, served())
    yield folder, texts, server
    server.shutdown()


def _write(folder: Path, texts: dict[str, str], others: dict[str, bytes]) -> None:
    static = folder / "_static" / "figures"
    static.mkdir(parents=True)
    for name, text in texts.items():
        (static / name).write_text(text, encoding="utf-8")
    for name, data in others.items():
        (static / name).write_bytes(data)


class _Tab:
    """A page of Firefox, as far as the tests of the engine need what Playwright's pages have."""

    def __init__(self, running: Firefox):
        self._running = running

    def evaluate(self, call, *given):
        """A function with what it is given, or an expression."""
        run = f"({call})({json.dumps(given[0])})" if given else call
        return self._running.evaluate(f"() => {run}")

    def add_script_tag(self, content):
        put = "document.head.append(Object.assign(document.createElement('script'), { textContent: text }))"
        self._running.evaluate(f"() => {{ const text = {json.dumps(content)}; {put}; }}")


@pytest.fixture(scope="module", params=["chromium", pytest.param("firefox", marks=pytest.mark.firefox)])
def bare(request, browser, tmp_path_factory):
    """An empty page, to compute in: of Chromium, and of Firefox."""
    if request.param == "firefox":
        with firefox(tmp_path_factory.mktemp("firefox")) as running:
            yield _Tab(running)
    else:
        page = browser.new_page()
        yield page
        page.close()


@pytest.fixture
def show(new_context, book, listen):
    """show(figure, ...) -> a Playwright page that holds their text/html and mounts them, served from a subfolder.

    bets: open, as they are for one who comes for the first time; else all are settled.  width: of the window.
    scheme: "light" or "dark".  motion: "no-preference" or "reduce".  files: names and texts in
    place of modules().  The page's `errors` lists console errors and requests to other hosts: the test fails on any
    in which the page's `expected` does not stand (a console error may come after the test's last line).  Its `asked`
    lists what the server was asked for since it is live: the browser may tell late, or never, of a worker's requests.
    """
    pages, (common, usual, server) = [], book
    home = f"http://127.0.0.1:{server.server_port}/"

    def open_page(*figures, width=800, scheme="light", motion="no-preference", files=None, bets=False):
        folder, texts = common, modules() if files is None else files
        if texts != usual or files is not None:  # files given: these and no others, so without weights
            folder = common / f"other-modules-{next(_numbers)}"
            _write(folder, texts, served() if files is None else {})
        html = PAGE.format(
            figures="\n".join(figure if isinstance(figure, str) else figure.html() for figure in figures)
        )
        place = folder / f"page-{next(_numbers)}.html"
        place.write_text(html, encoding="utf-8")
        context = new_context(viewport={"width": width, "height": 900}, color_scheme=scheme, reduced_motion=motion)
        if not bets:
            context.add_init_script(SETTLED)
        page = context.new_page()
        view = f"view-{next(_numbers)}"  # addresses of its own: what an earlier page asks for late is not this one's
        (common.parents[1] / view).symlink_to(common.parents[1], target_is_directory=True)
        page.errors, page.expected, page.asked = [], None, server.asked[view]
        listen(context, home, page.errors)
        page.on("console", lambda message: page.errors.append(message.text) if message.type == "error" else None)
        page.on("pageerror", lambda error: page.errors.append(str(error)))
        page.goto(f"{home}{view}/{place.relative_to(common.parents[1]).as_posix()}")
        page.mouse.move(1, 1)  # a reader moves: figures that are far away come to life too
        page.wait_for_function("[...document.querySelectorAll('figure.lm-figure')].every((f) => f.dataset.live)")
        page.asked.clear()
        pages.append(page)
        return page

    yield open_page
    assert [error for page in pages for error in page.errors if not page.expected or page.expected not in error] == []


# --- JupyterLab --------------------------------------------------------------------------------------------------


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


OPEN = """async (path) => {
    const notebook = await jupyterapp.commands.execute("docmanager:open", { path, factory: "Notebook" });
    await notebook.context.ready;
    await notebook.sessionContext.ready;
    await notebook.sessionContext.session.kernel.info;
    await notebook.revealed;
    jupyterapp.shell.activateById(notebook.id);
}"""
CLOSE = """async () => {
    const notebook = jupyterapp.shell.currentWidget;
    if (!notebook?.sessionContext) return;
    await notebook.sessionContext.shutdown();
    notebook.context.model.dirty = false;
    notebook.dispose();
}"""


@pytest.fixture(scope="session")
def jupyterlab(tmp_path_factory):
    """A real JupyterLab on 127.0.0.1, in a folder of its own: (address, token, folder)."""
    folder = tmp_path_factory.mktemp("lab")
    home = tmp_path_factory.mktemp("lab-home")
    token, port = "figures", _free_port()
    names = ("JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR", "JUPYTERLAB_SETTINGS_DIR", "IPYTHONDIR")
    settings = {name: str(home / name.lower()) for name in (*names, "JUPYTERLAB_WORKSPACES_DIR")}
    overrides = Path(settings["JUPYTERLAB_SETTINGS_DIR"]) / "@jupyterlab" / "apputils-extension"
    overrides.mkdir(parents=True)
    (overrides / "notification.jupyterlab-settings").write_text(
        json.dumps({"fetchNews": "false", "checkForUpdates": False})
    )
    command = [sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root", "--expose-app-in-browser"]
    command += ["--ServerApp.ip=127.0.0.1"]
    command += [f"--ServerApp.port={port}", f"--IdentityProvider.token={token}", f"--ServerApp.root_dir={folder}"]
    log = (home / "log").open("w")
    server = subprocess.Popen(command, env={**os.environ, **settings}, stdout=log, stderr=log, cwd=folder)
    address = f"http://127.0.0.1:{port}"
    try:
        for _ in range(1200):  # five minutes at most: it answers as soon as it is there
            try:
                urllib.request.urlopen(f"{address}/api?token={token}", timeout=5).read()
                break
            except OSError:
                assert server.poll() is None, f"JupyterLab ended: {(home / 'log').read_text()[-2000:]}"
                time.sleep(0.25)
        yield address, token, folder
    finally:
        server.terminate()
        server.wait(20)
        log.close()


@pytest.fixture(scope="session")
def lab_page(jupyterlab, browser):
    """One page with JupyterLab, for all notebooks: to load its scripts takes longer than any test of a figure."""
    address, token, _ = jupyterlab
    context = browser.new_context(viewport={"width": 1100, "height": 1000}, color_scheme="light")
    context.add_init_script(SETTLED)
    page = context.new_page()
    page.set_default_timeout(120_000)
    page.goto(f"{address}/lab?token={token}")
    page.wait_for_function("window.jupyterapp")
    page.evaluate("jupyterapp.restored.then(() => null)")
    yield page
    context.close()


@pytest.fixture
def lab(jupyterlab, lab_page):
    """lab(source, ...) -> a page with a notebook of these code cells, all run, in JupyterLab; page.run(i) runs one.

    page.open_again() saves the notebook, ends its kernel, closes it and opens it with a new one.
    page.run_until(i, text) runs it until it shows the text: while a change of a figure is on its way to the kernel,
    ipywidgets keeps the next one back, and a cell that is run at that moment does not know of it yet.
    """
    folder, page = jupyterlab[2], lab_page

    def open_notebook(*sources):
        name = f"figure{len(list(folder.glob('*.ipynb')))}.ipynb"
        cells = [nbformat.v4.new_code_cell(source) for source in sources]
        meta = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
        nbformat.write(nbformat.v4.new_notebook(cells=cells, metadata=meta), folder / name)
        page.evaluate(OPEN, name)
        page.wait_for_function("(path) => jupyterapp.shell.currentWidget?.context?.path === path", arg=name)

        def run(index):
            ran = page.evaluate(
                """async (index) => {
                    jupyterapp.shell.currentWidget.content.activeCellIndex = index;
                    return await jupyterapp.commands.execute("notebook:run-cell");
                }""",
                index,
            )
            assert ran, page.cells.nth(index).inner_text()

        def run_until(index, text, **options):
            shown = page.cells.nth(index).locator(".jp-OutputArea").get_by_text(text, **options)
            for _ in range(400):  # a run is an answer of the kernel, and a frame lets the page do what is left
                run(index)
                page.evaluate("new Promise(requestAnimationFrame)")
                if shown.count():
                    return
            raise AssertionError(f"{text!r} is not in {page.cells.nth(index).inner_text()!r}")

        def open_again():
            page.evaluate("async () => jupyterapp.shell.currentWidget.context.save()")
            page.evaluate(CLOSE)
            page.evaluate(OPEN, name)

        page.run, page.run_until, page.open_again = run, run_until, open_again
        page.cells = page.locator(".jp-CodeCell")
        return page

    yield open_notebook
    page.evaluate(CLOSE)
