"""Lighthouse's marks for every page of the built site, on its phone profile, as a table.

    npm install --global lighthouse@12.8.2
    python benchmarks/lighthouse.py [PAGE ...]      such as notebooks/07-long-memory; without a name, all pages

The site, in _build/html, is compressed with gzip as a static host sends it. Goals: performance 90, the other marks 100,
the largest paint within 2,500 ms, a layout shift below 0.05. Lighthouse computes the times of a slow phone from what it
sees here, so other programs on this machine make every page slower: "processor" is its own measure of that. It takes a
phone to be four times as slow as this machine; where the measure is below 1,500, its documentation (docs/throttling.md)
asks for twice. "times" is what was taken. A browser without a screen sometimes draws its first frame a second
after the page is loaded and nothing is left to do; then the page is measured again, up to TRIES times.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from lmbook_press.site.serving import serve

BROWSERS = ("chromium-headless-shell", "chromium")
SWITCHES = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"]
SWITCHES += ["--disable-background-networking", "--disable-component-update", "--disable-sync"]
MARKS = {"performance": 0.9, "accessibility": 1, "best-practices": 1, "seo": 1}
TRIES = 5
LATE = 400  # ms from the end of loading to the first frame
SLOW = 1500  # of Lighthouse's measure: below, a phone is twice, not four times, as slow as this machine
TIMES = {"largest-contentful-paint": 2500, "cumulative-layout-shift": 0.05, "total-blocking-time": None}


def report(lighthouse: str, address: str, browser: str, slowdown: int = 4) -> dict:
    """What Lighthouse says of one page, for a phone `slowdown` times as slow as this machine."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "report.json"
        command = [lighthouse, address, "--quiet", "--output=json", f"--output-path={file}"]
        command.append(f"--throttling.cpuSlowdownMultiplier={slowdown}")
        command.append(f"--chrome-flags={' '.join(SWITCHES)}")
        subprocess.run(command, env={**os.environ, "CHROME_PATH": browser}, check=True, capture_output=True)
        return json.loads(file.read_text(encoding="utf8"))


def fair(lighthouse: str, address: str, browser: str) -> dict:
    """The report of a page drawn in time, or of the last try, with the slowdown that this machine asks for."""
    slowdown = 4
    for _ in range(TRIES):
        found = report(lighthouse, address, browser, slowdown)
        seen = found["audits"]["metrics"]["details"]["items"][0]
        if slowdown == 4 and found["environment"]["benchmarkIndex"] < SLOW:
            slowdown = 2
        elif seen["observedFirstPaint"] < seen["observedLoad"] + LATE:
            break
    return found


def main() -> None:
    site = Path("_build/html")
    lighthouse, browser = shutil.which("lighthouse"), next(filter(None, map(shutil.which, BROWSERS)), None)
    if not (lighthouse and browser and (site / "book").exists()):
        sys.exit("This needs the site (make site), Chromium, and lighthouse (npm install --global lighthouse@12.8.2).")
    # the page of lost addresses asks not to be found, and the search is no page to read
    every = (path.relative_to(site) for path in site.rglob("*.html") if "_static" not in path.parts)
    pages = sys.argv[1:] or sorted(p.with_suffix("").as_posix() for p in every if p.stem not in ("404", "search"))
    heads = ["page", "performance", "accessibility", "best practices", "SEO"]
    print(f"| {' | '.join([*heads, 'largest paint, ms', 'shift', 'blocked, ms', 'processor', 'times'])} |")
    print("|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|")
    missed = []
    with serve(site) as (address, _):
        for page in pages:
            found = fair(lighthouse, f"{address}{page}.html", browser)
            marks = {name: found["categories"][name]["score"] or 0 for name in MARKS}
            times = {name: found["audits"][name]["numericValue"] for name in TIMES}
            missed += [f"{page}: {name} {mark:.2f}" for name, mark in marks.items() if mark < MARKS[name]]
            missed += [
                f"{page}: {name} {times[name]:.3g}" for name, goal in TIMES.items() if goal and times[name] > goal
            ]
            row = [page, *(f"{100 * mark:.0f}" for mark in marks.values())]
            paint, shift, blocked = times.values()
            row += [f"{paint:.0f}", f"{shift:.3f}", f"{blocked:.0f}", f"{found['environment']['benchmarkIndex']:.0f}"]
            row.append(f"{found['configSettings']['throttling']['cpuSlowdownMultiplier']}")
            print(f"| {' | '.join(row)} |", flush=True)
    print(f"\n{len(pages)} pages; goals missed: {'; '.join(missed) or 'none'}.")


if __name__ == "__main__":
    main()
