"""Weight and steadiness of every page of the built site, as a table. How soon it paints: benchmarks/lighthouse.py.

    python benchmarks/pages.py [_build/html]               a row for each page, and how many miss a goal
    python benchmarks/pages.py --heights [_build/html]     measures the living figures, for heights.json

Each page is opened twice with an empty cache, compressed with gzip as a static host sends it: as the phone profile of
Lighthouse does it (412 pixels wide, 150 ms to the server and back, 1.6 Mbit/s, a processor four times slower), and
1280 pixels wide without brakes, at its last section, so that what grows above is seen to move it.
"""

import json
import shutil
import sys
from pathlib import Path

from playwright.sync_api import sync_playwright

from lmbook_press.site.features import heights
from lmbook_press.site.serving import serve

SWITCHES = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"]
GOAL = 0.05  # the largest layout shift
WATCH = """(() => {
  window.lmShift = 0;
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) if (!entry.hadRecentInput) lmShift += entry.value;
  }).observe({ type: "layout-shift", buffered: true });
})()"""
ALIVE = "[...document.querySelectorAll('figure.lm-figure')].every((figure) => figure.dataset.live)"
LAST = "[...document.querySelectorAll('article section[id]')].at(-1)?.id"
HIGH = """[...document.querySelectorAll("figure.lm-figure")]
  .map((box) => box.checkVisibility() ? box.offsetHeight : null)"""
BROWSERS = ("chromium-headless-shell", "chromium")


def visit(browser, address: str, phone: bool):
    """A tab with an empty cache on a page whose figures are alive; how far it has shifted is in lmShift."""
    context = browser.new_context(viewport={"width": 412, "height": 823} if phone else {"width": 1280, "height": 900})
    tab = context.new_page()
    tab.set_default_timeout(120_000)
    tab.add_init_script(WATCH)
    if phone:
        session = context.new_cdp_session(tab)
        session.send("Network.enable")
        slow = {"offline": False, "latency": 150, "downloadThroughput": 1.6e6 / 8, "uploadThroughput": 0.75e6 / 8}
        session.send("Network.emulateNetworkConditions", slow)
        session.send("Emulation.setCPUThrottlingRate", {"rate": 4})
    tab.goto(address, wait_until="networkidle")
    tab.mouse.move(1, 1)  # a reader moves: figures that are far away come to life too
    tab.wait_for_function(ALIVE)
    tab.wait_for_timeout(500)
    return tab


def pages(root: Path) -> list[str]:
    found = [path.relative_to(root).as_posix() for path in sorted(root.rglob("*.html")) if "_static" not in path.parts]
    return [name for name in found if name not in ("index.html", "404.html")]  # a redirect; for another address


def table(root: Path, browser) -> None:
    """Prints a row for each page, then how many pages miss the goal."""
    columns = ("kB", "requests", "shift, phone", "shift, wide")
    print("| page | " + " | ".join(columns) + " |\n|---|" + "--:|" * len(columns), flush=True)
    missed = [0, 0]
    with serve(root) as (address, sent):
        for name in pages(root):
            del sent[:]
            tab = visit(browser, address + name, phone=True)
            phone, weight = tab.evaluate("lmShift"), list(sent)
            last = tab.evaluate(LAST)
            tab.context.close()
            tab = visit(browser, f"{address}{name}#{last}" if last else address + name, phone=False)
            wide = tab.evaluate("lmShift")
            tab.context.close()
            missed = [count + (shift > GOAL) for count, shift in zip(missed, (phone, wide), strict=True)]
            kilobytes = sum(size for _, size, _ in weight) / 1000
            shown = [f"{kilobytes:.0f}", f"{len(weight)}", f"{phone:.3f}", f"{wide:.3f}"]
            print(f"| {name.removesuffix('.html')} | {' | '.join(shown)} |", flush=True)
    print(f"\nPages that shift by more than {GOAL}: {missed[0]} on the phone, {missed[1]} wide.")


def measure_heights(root: Path, browser) -> None:
    """Writes the heights of all living figures at the widths that the site knows."""
    found = {}
    with serve(root) as (address, _):
        for name in pages(root):
            if 'class="lm-figure"' not in (root / name).read_text("utf8"):
                continue
            high = []
            for width in heights.WIDTHS:
                context = browser.new_context(viewport={"width": width, "height": 900})
                tab = context.new_page()
                tab.goto(address + name)
                tab.mouse.move(1, 1)
                tab.wait_for_function(ALIVE)
                tab.evaluate("document.fonts.ready.then(() => null)")
                before, now = None, tab.evaluate(HIGH)
                while now != before:  # what a model has to compute first comes later
                    tab.wait_for_timeout(500)
                    before, now = now, tab.evaluate(HIGH)
                high.append(now)
                context.close()
            found[name.removesuffix(".html")] = [
                list(each) if None not in each else None for each in zip(*high, strict=True)
            ]
    lines = [f"{json.dumps(name)}: {json.dumps(high)}" for name, high in sorted(found.items())]
    heights.FILE.write_text("{\n" + ",\n".join(lines) + "\n}\n", "utf-8")
    print(heights.FILE)


def main(*arguments: str) -> None:
    root = Path(next((one for one in arguments if not one.startswith("--")), "_build/html"))
    chromium = next(filter(None, map(shutil.which, BROWSERS)))
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=SWITCHES)
        (measure_heights if "--heights" in arguments else table)(root, browser)


if __name__ == "__main__":
    main(*sys.argv[1:])
