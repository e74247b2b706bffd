"""Weight and speed of every page of the built site, as a table.

    python benchmarks/pages.py [_build/html]

Bytes are those of a first visit, compressed with gzip; first contentful paint is the median of three visits with an
empty cache, in Chromium on this machine, from a server on this machine (so without any network delay).
"""

import statistics
import sys
from pathlib import Path

from playwright.sync_api import sync_playwright

from lmbook_press.sphinx.serving import serve

SWITCHES = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"]
PAINT = """new Promise((done) => new PerformanceObserver((list) => {
  for (const entry of list.getEntries()) if (entry.name === "first-contentful-paint") done(entry.startTime);
}).observe({ type: "paint", buffered: true }))"""
KINDS = {".html": "html", ".css": "css", ".js": "script", ".mjs": "script", ".woff2": "font"}


def main(folder: str = "_build/html") -> None:
    root = Path(folder)
    pages = [p.relative_to(root).as_posix() for p in sorted(root.rglob("*.html")) if "_static" not in p.parts]
    pages.remove("index.html")  # a redirect
    columns = ("html", "css", "script", "font", "other")
    print("| page | requests | " + " | ".join(f"{c} kB" for c in columns) + " | all kB | first paint ms |")
    print("|---|" + "--:|" * (len(columns) + 3))
    chromium = "/usr/bin/chromium" if Path("/usr/bin/chromium").exists() else None
    with serve(root) as (address, sent), sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=SWITCHES)
        for page in pages:
            paints = []
            for _ in range(3):
                del sent[:]
                context = browser.new_context()
                tab = context.new_page()
                tab.goto(address + page, wait_until="networkidle")
                paints.append(tab.evaluate(PAINT))
                visit = list(sent)
                context.close()
            weights = dict.fromkeys(columns, 0)
            for path, size, _ in visit:
                weights[KINDS.get(Path(path).suffix, "other")] += size
            cells = [f"{weights[c] / 1000:.0f}" for c in columns] + [f"{sum(weights.values()) / 1000:.0f}"]
            print(f"| {page} | {len(visit)} | " + " | ".join(cells) + f" | {statistics.median(paints):.0f} |")


if __name__ == "__main__":
    main(*sys.argv[1:])
