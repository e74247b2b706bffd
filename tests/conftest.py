"""Fixtures for all tests: corpora, the browser and what looks for faults in a page, the built site."""

import gc
import os
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path

import long
import pytest
from filelock import FileLock
from playwright._impl._driver import compute_driver_executable
from playwright.sync_api import sync_playwright

ROOT = Path(__file__).parents[1]
# The headless shell draws the same pages with a third of the work of the whole browser.
BROWSERS = ("chromium-headless-shell", "chromium")
SWITCHES = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"]
SWITCHES += ["--disable-component-update", "--disable-sync"]
# A page that still glides carries its buttons away under the pointer: on a busy machine a click then meets nothing.
SWITCHES += ["--disable-smooth-scrolling"]
# No name but this machine's has an address, so nothing goes out; `listen` notes whoever tries. A Playwright route would
# do both, but each request would go through this process and back: a second of work a page.
SWITCHES += ["--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"]
# Files are given to the workers whole, those that take minutes first, so that none is left with one at the end.
LONGEST = ["press/site/test_pages", "notebooks/test_colab", "lab/test_quick", "grader/test_grade"]
LONGEST += ["figures/test_explorer", "lab/test_trained", "grader/test_grader_cli", "homework/test_masters"]
LONGEST += ["grader/hostile/test_attacks", "grader/hostile/test_accidents", "grader/test_pool", "lab/test_train"]
LONGEST += ["invariants/test_models", "invariants/test_broken", "notebooks/test_nbval", "figures/test_with_kernel"]
LONGEST += ["lab/test_resume", "lab/test_distributed", "test_published"]


@pytest.hookimpl(wrapper=True)
def pytest_collection():
    """Nothing of what is collected is garbage: to look for some takes a sixth of the time now, and part of it later."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


@pytest.hookimpl(tryfirst=True)  # before pytest leaves out what is marked
def pytest_collection_modifyitems(config, items):
    long.mark(items, config.args)
    order = {ROOT / "tests" / f"{name}.py": number for number, name in enumerate(LONGEST)}
    items.sort(key=lambda item: order.get(item.path, len(order)))


LEFT_OUT = pytest.StashKey[int]()


def pytest_deselected(items):
    config = items[0].config
    config.stash[LEFT_OUT] = config.stash.get(LEFT_OUT, 0) + len(items)
    getattr(config, "workeroutput", {})["left out"] = config.stash[LEFT_OUT]


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node):
    """Each worker leaves out the same tests."""
    node.config.stash[LEFT_OUT] = getattr(node, "workeroutput", {}).get("left out", 0)


EXEMPT = {"gpu", "firefox", "slurm", "tex", "pyodide"}  # not every machine that tests everything else can have them


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    """With LMBOOK_SKIP_NOTHING set, as in continuous integration, a skip fails, but for want of what is EXEMPT."""
    report = yield
    if report.skipped and os.environ.get("LMBOOK_SKIP_NOTHING") and not EXEMPT & set(item.keywords):
        report.outcome = "failed"
        report.longrepr = f"LMBOOK_SKIP_NOTHING is set, yet this was skipped: {report.longrepr}"
    return report


def pytest_terminal_summary(terminalreporter):
    """One line for each reason to skip, in place of pytest's line for each test; how many were left out."""
    if left := terminalreporter.config.stash.get(LEFT_OUT, 0):
        terminalreporter.write_line(f"LEFT OUT: {left} tests, as -m or -k says; make test-all runs all", yellow=True)
    reasons = Counter(
        report.longrepr[2].removeprefix("Skipped: ") for report in terminalreporter.stats.get("skipped", [])
    )
    for reason, count in reasons.most_common():
        terminalreporter.write_line(f"SKIPPED: {count} tests: {reason}", yellow=True)


@pytest.fixture(scope="session")
def real_corpora() -> Path:
    """The folder with the real corpora; without it the test is skipped and says why."""
    folder = os.environ.get("LMBOOK_DATA")
    if not folder:
        pytest.skip("needs the real corpora: set LMBOOK_DATA to the folder that holds them")
    return Path(folder)


@pytest.fixture(scope="session")
def browser_path() -> str:
    """The browser's program; without it, or where Playwright's driver cannot run, the test is skipped and says why."""
    path = next(filter(None, map(shutil.which, BROWSERS)), None)
    if path is None:
        pytest.skip("NO PAGE WAS LOOKED AT: no browser is on the path (Debian: apt install chromium-headless-shell)")
    driver = subprocess.run([compute_driver_executable()[0], "--version"], capture_output=True, text=True, timeout=60)
    if driver.returncode:
        why = driver.stderr.strip().split("\n")[0]
        pytest.skip(f"NO PAGE WAS LOOKED AT: Playwright's driver does not run (Debian: apt install libatomic1): {why}")
    return path


@pytest.fixture(scope="session")
def playwright(browser_path):
    """pytest-playwright's own, but started only where there is a browser to drive."""
    with sync_playwright() as driver:
        yield driver


@pytest.fixture(scope="session")
def browser_type_launch_args(browser_path, browser_type_launch_args):
    return {**browser_type_launch_args, "executable_path": browser_path, "args": SWITCHES}


@pytest.fixture(scope="session")
def listen():
    """listen(context, home, faults): notes in `faults` each request of the context's pages that goes not below home."""

    def to(context, home, faults):
        def note(request):
            if not request.url.startswith((home, "data:", "blob:")):
                faults.append(f"outside request: {request.url}")

        context.on("request", note)

    return to


@pytest.fixture(scope="session")
def site(tmp_path_factory) -> Path:
    """The html folder of the site, built strictly from the working tree, once for all workers.

    LMBOOK_SITE names one that is built already.
    """
    if os.environ.get("LMBOOK_SITE"):
        return Path(os.environ["LMBOOK_SITE"]).resolve()
    shared = tmp_path_factory.getbasetemp()
    if os.environ.get("PYTEST_XDIST_WORKER"):
        shared = shared.parent
    out, jupyter_book = shared / "site", "from jupyter_book.cli.main import main; main()"
    commands = [
        ["-m", "lmbook_cli", "homework", "make", "--student-only", "--out", "book/homework"],
        ["-W", "ignore", "-c", jupyter_book, "build", ".", "-W", "--keep-going", "-n", "--path-output", str(out)],
    ]
    with FileLock(f"{out}.lock"):
        for command in [] if (out / "_build" / "html" / "index.html").exists() else commands:
            done = subprocess.run([sys.executable, *command], cwd=ROOT, capture_output=True, text=True)
            assert done.returncode == 0, f"{' '.join(command)} failed:\n{(done.stdout + done.stderr)[-6000:]}"
    return out / "_build" / "html"


# On top of axe's defaults, a rule that it counts as experimental: a control's name contains the words in sight.
# Without preload axe asks for no stylesheets of its own, at addresses that it gets wrong.
AXE = {
    "rules": {"label-content-name-mismatch": {"enabled": True}},
    "preload": False,
    "resultTypes": ["violations"],
}
CONTRAST = ("color-contrast", "link-in-text-block")
# What a phone can change: places, sizes, what scrolls.
OF_WIDTH = ("target-size", "scrollable-region-focusable", "region")
# Contrast takes axe five seconds a chapter, nearly all of it for text like other text. This marks the first of each
# kind: same colour, size and weight, before the same pile of colours, pictures and layers, and has axe look at these
# alone. Without `thin` everything is looked at.
FIRST_OF_EACH_KIND = """() => {
  const kinds = new Set(), behind = new Map([[document.documentElement, ""]]);
  for (const box of document.querySelectorAll("body, body *")) {
    const style = getComputedStyle(box);
    const { backgroundColor, backgroundImage, opacity, position, color } = style;
    const layer = [backgroundColor, backgroundImage, opacity, position.replace("relative", "static")].join();
    const plain = layer === "rgba(0, 0, 0, 0),none,1,static";
    const pile = behind.get(box.parentElement) + (plain ? "" : ">" + layer);
    behind.set(box, pile);
    box.removeAttribute("data-axe");
    const words = [...box.childNodes].some((node) => node.nodeType === 3 && node.data.trim());
    if (!words && !box.matches("input, select, textarea")) continue;
    if (!box.checkVisibility({ visibilityProperty: true })) continue;
    const link = box.closest("a") ? "link" : "";
    const text = [pile, color, link, style.fontSize, style.fontWeight, style.fontStyle].join("|");
    if (!kinds.has(text)) kinds.add(text) && box.setAttribute("data-axe", "");
  }
  const [id, also] = ["color-contrast", "link-in-text-block"];
  axe.configure({ rules: [{ id, selector: "[data-axe]" }, { id: also, selector: "a[href][data-axe]" }] });
}"""


@pytest.fixture(scope="session")
def axe():
    """axe(page) -> the violations that axe-core finds, one line each; axe(page, only=[...]): of these rules.

    thin: contrast is measured on the first text of each kind, from then on.  What makes axe slow is where each box of
    the page lies; a run finds that out once, for all of its rules.
    """
    from axe_playwright_python.sync_playwright import Axe

    script = Axe().axe_script
    call = "(options) => axe.run(document, options).then((found) => found.violations)"

    def run(page, only=(), thin=False):
        if page.evaluate("typeof axe") == "undefined":
            page.evaluate(script)
        if thin:
            page.evaluate(FIRST_OF_EACH_KIND)
        options = AXE | ({"runOnly": {"type": "rule", "values": list(only)}} if only else {})
        found = page.evaluate(call, options)
        return [f"{v['id']}: {node['html'][:200]} {node['failureSummary']}" for v in found for node in v["nodes"]]

    return run


def colours(page, scheme: str) -> None:
    """Makes an open page light or dark; the book's pages say when they have changed."""
    page.emulate_media(color_scheme=scheme)
    page.wait_for_function("(s) => [undefined, s].includes(document.documentElement.dataset.theme)", arg=scheme)
    page.evaluate("new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)))")


@pytest.fixture(scope="session")
def axe_in_every_view(axe, request):
    """axe_in_every_view(page) -> violations: all rules as it is open, contrast in both themes, width on a phone too.

    One visit in place of four; the page is left light.  dark_phone: dark and narrow are one view, not two; what only a
    wide page shows is then seen in light alone.  thin: as `axe` has it.  Both hold by default, and neither once a week,
    when no mark is left out.  one: (theme, width), the only view then, by all rules.
    """
    push = bool(request.config.option.markexpr)

    def run(page, wide=800, thin=push, dark_phone=push, one=None):
        found, views = [], [("light", 360, OF_WIDTH), ("dark", wide, CONTRAST)]
        if wide == 360:
            views = views[1:]
        if dark_phone:
            views = [("dark", 360, OF_WIDTH + CONTRAST)]
        page.add_style_tag(content="*, ::before, ::after { transition: none !important }")  # colours change at once
        for scheme, width, only in [(*one, ())] if one else [*views, ("light", wide, ())]:
            page.set_viewport_size({"width": width, "height": 900})
            colours(page, scheme)
            found += [f"{scheme}, {width} wide: {fault}" for fault in axe(page, only, thin)]
        colours(page, "light")
        return found

    return run


@pytest.fixture
def float64():
    """Random numbers from seed 0, and float64 wherever a test does not ask for another type."""
    import torch

    torch.manual_seed(0)
    torch.set_default_dtype(torch.float64)
    yield
    torch.set_default_dtype(torch.float32)


@pytest.fixture
def no_corpora(monkeypatch, tmp_path) -> Path:
    """A machine without corpora: LMBOOK_DATA unset, an empty cache (the folder returned), downloading allowed."""
    monkeypatch.delenv("LMBOOK_DATA", raising=False)
    monkeypatch.delenv("LMBOOK_OFFLINE", raising=False)
    cache = tmp_path / "cache"
    monkeypatch.setattr("lmbook.data.fetch.cache_folder", lambda: cache)
    return cache
