"""How long the models of the figures compute: CPU time in Node, which has the JavaScript engine of Chromium.

    python benchmarks/page_models.py

With the kernels in WebAssembly, in plain JavaScript, and, of the tasks that have goals, torch's on one thread: a
translation, BERT's blanks (in one batch), a GPT that writes, whose window is full after 64 characters and then slides.
Goals: 40 ms a translation of twelve words, 150 ms for thirty blanks, 1 ms a character.
"""

import json
import statistics
import subprocess
import sys
import tempfile
import time
from functools import partial
from pathlib import Path

import torch

from lmbook import decode
from lmbook.figures import bundle
from lmbook.lab import checkpoints
from lmbook.text import EOS_ID, MASK_ID, SOS_ID

GERMAN = "Ein alter Mann mit einem roten Hut sitzt allein auf einer Bank."
ENGLISH = "The old king and his army were defeated in the battle ."
SPEECH = "To be, or not to be, that is the question: "
THIRTY = " ".join((3 * ENGLISH.split())[:30])
IDS = [5 + 7 * n % 60 for n in range(130)]
CASES = [  # model, task, what it is given (of several in turn), what is counted
    ("multi30k-transformer", "translate", {"text": GERMAN}, "12 words of German"),
    ("multi30k-additive", "translate", {"text": GERMAN}, "12 words of German"),
    ("caption-scores", "translate", {"text": "the happy red dog follows a white cat ."}, "a caption of 9 words"),
    ("bert-wikitext2", "sentence", {"typed": ENGLISH, "shown": 8}, "12 words, each hidden once"),
    ("bert-wikitext2", "sentence", {"typed": THIRTY, "shown": 8}, "30 words, each hidden once"),
    (
        "shakespeare",
        "next",
        [{"ids": IDS[: n + 1], "slide": 16} for n in range(len(IDS))],
        "a character of 130, one after the other",
    ),
    (
        "bert-wikitext2",
        "open",  # the last pass is kept: so another word is hidden each time
        [{"text": ENGLISH, "side": "source", "place": 5, "blank": blank} for blank in (4, 5)],
        "12 words, one hidden, opened at one",
    ),
    (
        "shakespeare",
        "open",
        [{"text": (cut + 2 * SPEECH)[:64], "side": "target", "place": 63} for cut in ("", "Is it ")],
        "64 characters, opened at the last",
    ),
    ("ewt-lstm", "beginnings", {"typed": ENGLISH}, "12 words, every beginning"),
    ("sms-spam", "beginnings", {"typed": ENGLISH}, "12 words, every beginning"),
    ("shakespeare-rnn", "read", {"text": 3 * SPEECH}, "129 characters"),
    ("shakespeare-gru", "read", {"text": 3 * SPEECH}, "129 characters"),
    ("shakespeare-lstm", "read", {"text": 3 * SPEECH}, "129 characters"),
]
PROGRAM = """
import { engine } from "./engine.mjs";
import { readFileSync } from "fs";
if (process.argv[2] === "plain") delete globalThis.WebAssembly;
const own = engine();
const [folder, cases, rounds] = JSON.parse(readFileSync("cases.json", "utf8"));
function took(work) {
  const start = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(start);
  return (user + system) / 1000;
}
for (const [name, task, given] of cases) {
  const file = new Uint8Array(readFileSync(`${folder}/${name}.safetensors`));
  const card = JSON.parse(readFileSync(`${folder}/${name}.json`, "utf8"));
  const load = took(() => own.load({ name, file, card }));
  const each = [given].flat();
  const length = Math.max(rounds, each.length);
  const times = Array.from({ length }, (_, i) => took(() => own[task]({ name, ...each[i % each.length] })));
  const [first] = times;
  const longest = Math.max(...times.slice(1));
  const median = times.sort((a, b) => a - b)[Math.floor(length / 2)];
  console.log(JSON.stringify([file.length, card.parameters, load, first, median, longest]));
}
"""


def torchs(name: str, task: str, given: dict | list, rounds: int) -> str:
    """Median CPU milliseconds of torch on one thread; "" for tasks without a goal."""
    model, text, _ = checkpoints.load(name)
    model.eval()
    if task == "translate":
        reader, _ = text if isinstance(text, list) else (text, text)
        source = torch.tensor([reader.encode(given["text"])])
        works = [lambda: decode.greedy(model, source, 60)] * rounds
    elif task == "sentence":
        ids = torch.tensor([SOS_ID, *text.encode(given["typed"].split()), EOS_ID])
        n = len(ids) - 2
        at = torch.eye(n + 2, dtype=torch.bool)[1:-1]
        hidden = ids.repeat(n, 1).masked_fill(at, MASK_ID)
        works = [lambda: model(hidden, at=at).softmax(-1)] * rounds
    elif task == "next":
        state = model.start(1)

        def step(token: int) -> None:
            nonlocal state
            _, state = model.step(torch.tensor([token]), state)

        works = [partial(step, token) for token in IDS]
    else:
        return ""
    times = []
    with torch.no_grad():
        for work in works:
            start = time.process_time()
            work()
            times.append(1000 * (time.process_time() - start))
    return f"{statistics.median(times):.1f}"


def ours(rounds: int, form: str = "") -> list[list[float]]:
    """Of each case: bytes, parameters, and CPU milliseconds in Node; form "plain": without WebAssembly."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        (place / "engine.mjs").write_text(bundle.bundle("engine"), encoding="utf-8")
        (place / "run.mjs").write_text(PROGRAM, encoding="utf-8")
        (place / "cases.json").write_text(json.dumps([str(bundle.TRAINED), [case[:3] for case in CASES], rounds]))
        run = subprocess.run(["node", "run.mjs", form], cwd=place, capture_output=True, text=True, check=True)
    return [json.loads(line) for line in run.stdout.splitlines()]


def main(rounds: int = 11) -> None:
    torch.set_num_threads(1)
    columns = "to load, ms | task | first time, ms | median, ms | longest after the first | plain, ms | torch, ms"
    print(f"| model | parameters | MB | {columns} |\n| --- | ---: | ---: | ---: | --- |" + " ---: |" * 5)
    for (name, task, given, what), row, plain in zip(CASES, ours(rounds), ours(rounds, "plain"), strict=True):
        size, parameters, load, first, median, longest = row
        times = f"{first:.0f} | {median:.1f} | {longest:.1f} | {plain[4]:.1f} | {torchs(name, task, given, rounds)}"
        print(f"| {name} | {parameters:,} | {size / 1e6:.2f} | {load:.0f} | {what} | {times} |", flush=True)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
