"""The site as a reader gets it: built once a session, served from a subfolder, read in Chromium alone.

LMBOOK_SITE names a site that is built already (its html folder); otherwise the working tree is built, strictly.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from filelock import FileLock

from lmbook_press.sphinx.serving import serve

ROOT = Path(__file__).parents[3]
CHROMIUM = Path("/usr/bin/chromium")
SWITCHES = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"]
SWITCHES += ["--disable-component-update", "--disable-sync"]
JUPYTER_BOOK = "from jupyter_book.cli.main import main; main()"


def run(*command, **options):
    done = subprocess.run([sys.executable, *command], cwd=ROOT, capture_output=True, text=True, **options)
    assert done.returncode == 0, f"{' '.join(map(str, command))} failed:\n{(done.stdout + done.stderr)[-6000:]}"


@pytest.fixture(scope="session")
def site(tmp_path_factory) -> Path:
    """The html folder of the built site."""
    if os.environ.get("LMBOOK_SITE"):
        return Path(os.environ["LMBOOK_SITE"]).resolve()
    shared = tmp_path_factory.getbasetemp()
    if os.environ.get("PYTEST_XDIST_WORKER"):
        shared = shared.parent
    folder = shared / "site"
    with FileLock(f"{folder}.lock"):
        if not (folder / "_build" / "html" / "index.html").exists():
            run("-m", "lmbook_grader.cli", "homework", "make", "--student-only", "--out", "book/homework")
            run("-W", "ignore", "-c", JUPYTER_BOOK, "build", ".", "-W", "--keep-going", "-n", "--path-output", folder)
    return folder / "_build" / "html"


@pytest.fixture(scope="session")
def served(site):
    """(address, sent) of the site in a subfolder; see lmbook_press.sphinx.serving."""
    with serve(site) as found:
        yield found


@pytest.fixture(scope="session")
def browser_type_launch_args(browser_type_launch_args):
    if not CHROMIUM.exists():
        pytest.skip("THE SITE WAS NOT TESTED IN A BROWSER: install chromium (/usr/bin/chromium)")
    return {**browser_type_launch_args, "executable_path": str(CHROMIUM), "args": SWITCHES}


@pytest.fixture
def visit(new_context, served):
    """visit(page, width=, scheme=, ...) -> a Playwright page.

    At the end the test fails on any console error, any answer but 200, and any request to another host.
    """
    address, sent = served
    faults = []
    before = len(sent)

    def gate(route):
        if route.request.url.startswith((address, "data:")):
            return route.continue_()
        faults.append(f"request to another host: {route.request.url}")
        return route.abort()

    def open_page(name, width=1280, scheme="light", **options):
        context = new_context(viewport={"width": width, "height": 900}, color_scheme=scheme, **options)
        context.route("**/*", gate)
        page = context.new_page()
        page.on("console", lambda m: faults.append(f"{name}: {m.text}") if m.type in ("error", "warning") else None)
        page.on("pageerror", lambda error: faults.append(f"{name}: {error}"))
        page.goto(address + name)
        page.wait_for_function("[...document.querySelectorAll('figure.lm-figure')].every((f) => f.dataset.live)")
        return page

    yield open_page
    missing = [path for path, _, status in sent[before:] if status != 200]
    assert faults == []
    assert missing == []
