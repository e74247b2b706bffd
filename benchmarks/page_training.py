"""How fast the page trains: the lessons of the figure Trainer in Node, beside torch on the same networks and batches.

    python benchmarks/page_training.py              in Node
    python benchmarks/page_training.py --clock      in headless Chromium, by the clock on the wall
    python benchmarks/page_training.py --workers    there, how much faster several workers train that share a batch

CPU milliseconds a step of five networks, ours with the kernels in WebAssembly, ours in plain JavaScript, and torch's
(one thread): forward, backward and Adam, on equal batches; and what the page needs for 2,000 steps.
Then for each lesson the CPU seconds of the whole training, examples a CPU second, and where the loss begins and ends.
With workers: by the clock, the GPT of 209,000 parameters and the book's own, with at most as many workers as cores.
The clock runs from the press on "Train" to the sentence with the result, drawings and samples on the way included.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import torch
import torch.nn.functional as F
from playwright.sync_api import sync_playwright

from lmbook.figures import Trainer, bundle, modules
from lmbook.figures.trainer.lessons import BOOKS, BOOKS_GPT, GPT_LONG, LARGE_GPT, LESSONS, RNN, SMALL_GPT, TEXTS
from lmbook.figures.trainer.recorded import trained
from lmbook.gpt import GPT, gelu_tanh
from lmbook.rnn_models import RecurrentLM
from lmbook_press.site.serving import serve

VOCAB, STEPS = 70, 12
CASES = {  # what: the network in the page, B, T, the package's
    "RNN, 64 units": (RNN["network"], 16, 25, lambda: RecurrentLM(VOCAB, 24, 64, cell="rnn")),
    "LSTM, 32 units": (
        {"class": "RecurrentLM", "cell": "lstm", "d_embed": 16, "hidden": 32},
        32,
        20,
        lambda: RecurrentLM(VOCAB, 16, 32, cell="lstm"),
    ),
    "GPT, 2 layers of 32": (
        {**SMALL_GPT, "window": 32},
        12,
        32,
        lambda: GPT(VOCAB, 32, 32, n_heads=4, n_layers=2, activation=gelu_tanh),
    ),
    "GPT, 4 layers of 64": (
        {**LARGE_GPT, "window": 64},
        8,
        64,
        lambda: GPT(VOCAB, 64, 64, n_heads=4, n_layers=4, activation=gelu_tanh),
    ),
    "GPT, 4 layers of 128": (
        {**BOOKS, "window": 64},
        12,
        64,
        lambda: GPT(VOCAB, 64, 128, n_heads=4, n_layers=4, positions="rotary", activation=gelu_tanh),
    ),
}
PROGRAM = """
import { Adam, crossEntropy, network as begun, scoped } from "./page.mjs";
import { readFileSync } from "fs";
if (process.argv[2] === "plain") delete globalThis.WebAssembly;
for (const [about, B, T, vocab, steps] of JSON.parse(readFileSync("cases.json", "utf8"))) {
  const network = begun({ ...about, vocab }, Math.random);
  const adam = new Adam(network.parameters, { clip: 1 });
  const ids = Array.from({ length: B * T }, () => Math.floor(vocab * Math.random()));
  const step = () =>
    scoped(() => {
      crossEntropy(network.run(ids, B, network.start(B)).logits, ids).backward();
      adam.step(1e-3);
    });
  for (let i = 0; i < steps / 3; i += 1) step(); // compiled by then
  const start = process.cpuUsage();
  for (let i = 0; i < steps; i += 1) step();
  const { user, system } = process.cpuUsage(start);
  console.log((user + system) / steps / 1000);
}
"""


def ours(form: str = "") -> list[float]:
    """CPU milliseconds a step in Node, for each case; form "plain": without WebAssembly."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        parts = "export const { crossEntropy } = $autograd;\nexport const { scoped } = $kernels;\n"
        (place / "page.mjs").write_text(bundle.bundle("networks") + parts, encoding="utf-8")
        (place / "run.mjs").write_text(PROGRAM, encoding="utf-8")
        cases = [[about, B, T, VOCAB, STEPS] for about, B, T, _ in CASES.values()]
        (place / "cases.json").write_text(json.dumps(cases), encoding="utf-8")
        run = subprocess.run(["node", "run.mjs", form], cwd=place, capture_output=True, text=True, check=True)
    return [float(line) for line in run.stdout.splitlines()]


def torchs(B: int, T: int, build) -> float:
    """CPU milliseconds a step of torch on one thread."""
    torch.set_num_threads(1)
    model, ids = build(), torch.randint(VOCAB, (B, T))
    adam = torch.optim.Adam(model.parameters(), lr=1e-3)

    def step() -> None:
        adam.zero_grad()
        F.cross_entropy(model(ids).flatten(0, 1), ids.flatten()).backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        adam.step()

    for _ in range(STEPS // 3):
        step()
    start = time.process_time()
    for _ in range(STEPS):
        step()
    return 1000 * (time.process_time() - start) / STEPS


PAGE = """<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Trainer</title>
<link rel="icon" href="data:,"><link rel="stylesheet" href="figures.css"></head><body>{figure}
<script type="module" src="mount.mjs"></script></body></html>"""
SWITCHES = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"]


def by_the_clock() -> None:
    """Prints a row for each lesson and set of data: seconds on the wall in Chromium, and what the figure says then."""
    chromium = next(filter(None, map(shutil.which, ("chromium-headless-shell", "chromium"))))
    print("| lesson | data | networks at once | steps | s in Chromium | what the figure says |")
    print("| --- | --- | ---: | ---: | ---: | --- |")
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        for name, text in modules().items():
            Path(folder, name).write_text(text, encoding="utf-8")
        browser = playwright.chromium.launch(executable_path=chromium, args=SWITCHES)
        for lesson, about in LESSONS.items():
            Path(folder, f"{lesson}.html").write_text(PAGE.format(figure=Trainer(lesson).html()), encoding="utf-8")
            for way in about["ways"]:
                if way["text"] == "own":
                    continue
                with serve(Path(folder)) as (address, _):
                    tab = browser.new_page(viewport={"width": 1280, "height": 900})
                    tab.goto(f"{address}{lesson}.html")
                    tab.locator("figure[data-live='true']").wait_for()
                    if len(about["ways"]) > 1:
                        tab.get_by_label(way["label"], exact=True).check()
                    start = time.monotonic()
                    tab.get_by_role("button", name="Train", exact=True).click()
                    tab.locator(".lm-main:text-is('Go on')").wait_for(timeout=600_000)
                    seconds, says = time.monotonic() - start, tab.locator(".lm-says").inner_text()
                    tab.close()
                data, at_once = way["label"] or "drawn anew", len(way["runs"])
                print(f"| {lesson} | {data} | {at_once} | {way['steps']:,} | {seconds:.0f} | {says} |", flush=True)


SHARING = 60, 15  # steps whose time is taken, and those before them, in which all is compiled
TIMED = """async ([program, about, parts, text, [steps, before]]) => {
  const address = URL.createObjectURL(new Blob([`(${program})().serve(self);`], { type: "text/javascript" }));
  const workers = Array.from({ length: parts }, () => new Worker(address));
  const ends = Array.from({ length: parts - 1 }, () => new MessageChannel());
  const crew = (part, lines) => workers[part].postMessage({ crew: { part, parts, lines } }, lines);
  crew(0, ends.map(({ port1 }) => port1));
  ends.forEach(({ port2 }, i) => crew(i + 1, [port2]));
  const start = { abouts: [about], seed: 0, text, every: before, steps: steps + before, rate: 0.003 };
  let first = null;
  const seconds = await new Promise((done, failed) => {
    workers[0].onmessage = ({ data }) => {
      if (data.error) failed(data.error);
      if (data.step === before) first = performance.now();
      if (data.done) done((performance.now() - first) / 1000);
    };
    for (const worker of workers) worker.postMessage({ start });
    workers[0].postMessage({ go: true });
  });
  for (const worker of workers) worker.terminate();
  return seconds;
}"""


def by_workers() -> None:
    """Prints a row for each network and number of workers: steps a second, reports included, and against one worker."""
    chromium = next(filter(None, map(shutil.which, ("chromium-headless-shell", "chromium"))))
    program = bundle.source("program-engine").split("program = ", 1)[1].rstrip("\n;")
    print("| network | batch | workers | steps a second | against one |\n| --- | --- | ---: | ---: | ---: |")
    with sync_playwright() as playwright:
        tab = playwright.chromium.launch(executable_path=chromium, args=SWITCHES).new_page()
        for name, about in (("209,000 parameters", GPT_LONG), ("802,000 parameters", BOOKS_GPT)):
            alone = None
            for parts in (1, 2, 4):
                if parts > (os.cpu_count() or 1):
                    continue
                seconds = tab.evaluate(TIMED, [program, about, parts, TEXTS["stories"], SHARING])
                alone = alone or seconds
                row = f"{parts} | {SHARING[0] / seconds:.1f} | {alone / seconds:.2f}"
                print(f"| {name} | {about['B']} x {about['T']} | {row} |", flush=True)


def main() -> None:
    print("| network | batch | page, ms a step | plain | torch | page / torch | 2,000 steps, CPU s |")
    print("| --- | --- | ---: | ---: | ---: | ---: | ---: |")
    for (name, (_, B, T, build)), page, plain in zip(CASES.items(), ours(), ours("plain"), strict=True):
        other = torchs(B, T, build)
        print(f"| {name} | {B} x {T} | {page:.1f} | {plain:.1f} | {other:.1f} | {page / other:.2f} | {2 * page:.0f} |")
    print("\n| lesson | data | network | steps | CPU s | examples a second | held-out loss, first and last |")
    print("| --- | --- | --- | ---: | ---: | ---: | ---: |")
    for lesson, about in LESSONS.items():
        for way in about["ways"]:
            for run in way["runs"] if way["text"] != "own" else []:
                told, seconds = trained(way, run["about"], way.get("rate", about["rate"]))
                speed = f"{way['steps'] * way['batch'] / seconds:,.0f} {way['unit']}"
                losses = f"{told[0]['valid']:.2f} to {told[-1]['valid']:.2f}"
                data = way["label"] or "drawn anew"
                print(f"| {lesson} | {data} | {run['label']} | {way['steps']:,} | {seconds:.0f} | {speed} | {losses} |")


if __name__ == "__main__":
    {"--clock": by_the_clock, "--workers": by_workers}.get(sys.argv[-1], main)()
