"""How long the models of the figures compute: CPU time in Node, which has the JavaScript engine of Chromium.

python benchmarks/page_models.py
"""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

from lmbook.figures import bundle

GERMAN = "Ein alter Mann mit einem roten Hut sitzt allein auf einer Bank."
ENGLISH = "The old king and his army were defeated in the battle ."
SPEECH = "To be, or not to be, that is the question: "
CASES = [  # model, task, what it is given (of several in turn), what is counted
    ("multi30k-transformer", "translate", {"text": GERMAN}, "12 words of German"),
    ("multi30k-additive", "translate", {"text": GERMAN}, "12 words of German"),
    ("caption-scores", "translate", {"text": "the happy red dog follows a white cat ."}, "a caption of 9 words"),
    ("bert-wikitext2", "sentence", {"typed": ENGLISH, "shown": 8}, "12 words, each hidden once"),
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
  const times = Array.from({ length: rounds }, (_, i) => took(() => own[task]({ name, ...each[i % each.length] })));
  const [first] = times;
  const median = times.sort((a, b) => a - b)[Math.floor(rounds / 2)];
  console.log(JSON.stringify([file.length, card.parameters, load, first, median]));
}
"""


def main(rounds: int = 11) -> None:
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        (place / "engine.mjs").write_text(bundle.bundle("engine"), encoding="utf-8")
        (place / "run.mjs").write_text(PROGRAM, encoding="utf-8")
        (place / "cases.json").write_text(json.dumps([str(bundle.TRAINED), [case[:3] for case in CASES], rounds]))
        run = subprocess.run(["node", "run.mjs"], cwd=place, capture_output=True, text=True, check=True)
    print("| model | parameters | MB | to load, ms | task | first time, ms | median, ms |")
    print("| --- | ---: | ---: | ---: | --- | ---: | ---: |")
    for (name, _, _, what), line in zip(CASES, run.stdout.splitlines(), strict=True):
        size, parameters, load, first, median = json.loads(line)
        print(f"| {name} | {parameters:,} | {size / 1e6:.2f} | {load:.0f} | {what} | {first:.0f} | {median:.0f} |")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
