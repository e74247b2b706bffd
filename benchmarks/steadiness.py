"""First load, longest task and frames of every chapter, on a quiet machine, in headless Chromium at 1280 x 900.

    python benchmarks/steadiness.py [_build/html] [NN ...]      chapters by their numbers; all without

For each chapter, with an empty cache: kB that came in the first 2.5 seconds, as a static host sends them; the longest
task of the main thread in the first 6 seconds, in which what is out of sight may come too; and the longest while a
reader pages down to the end, past every figure. Where the chapter has a trainer: frames a second and the longest task
in TRAINED seconds from the press on "Train", for each set of data that is not the reader's own. A task below 50 ms is
no long one and is not reported by a browser. Goals: 350 kB in chapter 17, no task over 50 ms, 55 frames a second.
"""

import shutil
import sys
import time
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

from lmbook_press.site.serving import serve

SWITCHES = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"]
BROWSERS = ("chromium-headless-shell", "chromium")
TRAINED = 8  # seconds
WATCH = """
  window.lmTasks = [];
  new PerformanceObserver((list) => lmTasks.push(...list.getEntries().map((one) => one.duration)))
    .observe({ type: "longtask", buffered: true });
"""
LONGEST = "Math.max(0, ...lmTasks.splice(0))"
FRAMES = """(seconds) => new Promise((then) => {
  let frames = 0, gap = 0, first = null, before = null;
  const next = (now) => {
    first ??= now;
    if (before !== null) { frames += 1; gap = Math.max(gap, now - before); }
    before = now;
    if (now - first < 1000 * seconds) requestAnimationFrame(next);
    else then([1000 * frames / (now - first), gap]);
  };
  requestAnimationFrame(next);
})"""


def load(tab: Page, address: str, sent: list) -> str:
    """Cells of a row: kB in the first 2.5 seconds, longest task in the first 6, longest task on the way down."""
    start = time.monotonic()
    tab.goto(address, wait_until="commit")
    tab.wait_for_timeout(1000 * max(0.0, start + 2.5 - time.monotonic()))
    kilobytes = sum(size for _, size, _ in sent) / 1000
    tab.wait_for_timeout(1000 * max(0.0, start + 6 - time.monotonic()))
    opened = tab.evaluate(LONGEST)
    tab.mouse.move(640, 450)
    while tab.evaluate("scrollY + innerHeight < document.body.scrollHeight - 2"):
        tab.mouse.wheel(0, 800)
        tab.wait_for_timeout(60)
    tab.wait_for_timeout(500)
    return f"{kilobytes:.0f} | {opened:.0f} | {tab.evaluate(LONGEST):.0f}"


def trainings(tab: Page) -> list[str]:
    """For each set of data of the page's trainer: its name, frames a second, largest gap, longest task."""
    figure = tab.locator("figure.lm-figure[data-module=trainer]")
    if not figure.count():
        return []
    figure.scroll_into_view_if_needed()
    tab.wait_for_function("document.querySelector('figure[data-module=trainer]').dataset.live")
    if (skip := figure.get_by_role("button", name="Skip", exact=True)).is_visible():
        skip.click()  # a bet hides what is drawn while it trains
    found = []
    names = figure.locator("fieldset label").all_inner_texts() or [""]
    for name in names:
        if "your" in name:
            continue
        if name:
            figure.get_by_label(name, exact=True).check()
        tab.evaluate(LONGEST)
        figure.get_by_role("button", name="Train", exact=True).click()
        frames, gap = tab.evaluate(FRAMES, TRAINED)
        found.append(f"{name or 'drawn anew'}: {frames:.1f} | {gap:.0f} | {tab.evaluate(LONGEST):.0f}")
        figure.get_by_role("button", name="Reset", exact=True).click()
    return found


def main(*arguments: str) -> None:
    root = Path(next((one for one in arguments if not one.isdecimal()), "_build/html"))
    chosen = [one for one in arguments if one.isdecimal()]
    print(
        "| chapter | kB, 2.5 s | longest task, ms: 6 s | down the page | data: frames a second | gap, ms | task, ms |"
    )
    print("|---|--:|--:|--:|---|--:|--:|", flush=True)
    with sync_playwright() as playwright, serve(root) as (address, sent):
        executable = next(filter(None, map(shutil.which, BROWSERS)))
        browser = playwright.chromium.launch(executable_path=executable, args=SWITCHES)
        for page in sorted((root / "notebooks").glob("[0-9][0-9]-*.html")):
            if chosen and page.name[:2] not in chosen:
                continue
            context = browser.new_context(viewport={"width": 1280, "height": 900})
            tab = context.new_page()
            tab.add_init_script(WATCH)
            del sent[:]
            row = load(tab, f"{address}notebooks/{page.name}", sent)
            rows = trainings(tab) or [" | | "]
            for number, training in enumerate(rows):
                print(f"| {page.name[:2]} | {row if not number else ' | | '} | {training} |", flush=True)
            context.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
