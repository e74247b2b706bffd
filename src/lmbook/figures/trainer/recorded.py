"""The recorded trainings of the lessons, by the code of the page: they are what is seen before anything is trained."""

import functools
import json
import math
import subprocess
import tempfile
from collections import Counter
from pathlib import Path

from lmbook.figures import bundle
from lmbook.figures.trainer.lessons import GAP, LESSONS, TEXTS

PLACE = Path(__file__).with_name("trainer.json")
CHECKED = 200  # held-out names that a report looks at, as in texts.mjs
SEEDS = range(1, 5)  # of the first set of data, beside the recorded seed 0
PROGRAM = """
import { training } from "./training.mjs";
import { readFileSync } from "fs";
const told = [];
const hear = training((message) => {
  told.push(message);
  const { user, system } = process.cpuUsage();
  if (message.done || message.error) console.log(JSON.stringify([told, (user + system) / 1e6]));
}, 100);
hear({ start: JSON.parse(readFileSync("start.json", "utf8")), go: true });
"""


def trained(way: dict, about: dict, rate: float, seed: int = 0) -> tuple[list[dict], float]:
    """What training.mjs tells of one training, in Node, whose JavaScript engine is Chromium's, and the CPU seconds.

    Raises RuntimeError where there is no Node, or the training ends with an error.
    """
    start = {key: way[key] for key in ("every", "steps", "warmup") if key in way} | {
        "abouts": [about],
        "seed": seed,
        "rate": rate,
        "text": TEXTS.get(way["text"], ""),
    }
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        (place / "training.mjs").write_text(bundle.bundle("training"), encoding="utf-8")
        (place / "run.mjs").write_text(PROGRAM, encoding="utf-8")
        (place / "start.json").write_text(json.dumps(start), encoding="utf-8")
        try:
            run = subprocess.run(["node", "run.mjs"], cwd=place, capture_output=True, text=True, check=True)
        except (FileNotFoundError, subprocess.CalledProcessError) as error:
            raise RuntimeError(f"the training did not run in Node: {getattr(error, 'stderr', error)}") from None
    told, seconds = json.loads(run.stdout)
    if "error" in told[-1]:
        raise RuntimeError(told[-1]["error"])
    return told[:-1], seconds


def marks(lesson: str, way: dict) -> list[tuple[float, str]]:
    """Losses to compare with: a guess, a table of counts on the same text, the GPT that made the names up."""
    if lesson == "gap":
        return [(round(math.log(GAP["symbols"]), 3), "a guess")]
    if lesson == "blanks":
        words = Counter(TEXTS["captions"].split())
        shares = [count / words.total() for count in words.values()]
        return [(round(-sum(p * math.log(p) for p in shares), 3), "words as often as they occur")]
    if way["text"] == "names":
        names = TEXTS["names"].split()
        same = all(run["about"].get("listed") for run in way["runs"])
        return [(round(_of_the_author(held_out(names) if same else names), 3), "the GPT that made them up")]
    return [(round(_of_counts(TEXTS["stories"], 3), 3), "a table of 3-grams")] if way["text"] == "stories" else []


def held_out(names: list[str]) -> list[str]:
    """The names that a report looks at, as in texts.mjs, where they are held out as they are listed."""
    return names[-(-len(names) * 9 // 10) :][:CHECKED]


def _of_the_author(names: list[str]) -> float:
    """Mean loss of the shipped names-gpt on names that it invented."""
    from lmbook.lab import checkpoints
    from lmbook.lab.recipes.tasks import next_token_nll, texts
    from lmbook.lab.train import evaluate

    model, tokenizer, _ = checkpoints.load("names-gpt")
    return evaluate(model, texts([tokenizer.encode(name) for name in names], 256), next_token_nll)


def _of_counts(text: str, order: int) -> float:
    """Mean loss of a Kneser-Ney table of nine tenths of a text on the rest."""
    import numpy as np

    from lmbook.counts import Counts
    from lmbook.ngram import KneserNey

    cut = -(-len(text) * 9 // 10)
    number = {char: i for i, char in enumerate(sorted(set(text[:cut])))}
    train, held_out = (np.array([number[char] for char in part if char in number]) for part in (text[:cut], text[cut:]))
    return float(-KneserNey(Counts(train, order, len(number)), order).log_probs(held_out).mean())


def early(told: list[dict]) -> list[dict]:
    """Of the reports with samples the first two, that in the middle and the last, as stagesOf in writings.mjs."""
    wrote = [one for one in told if one["samples"]]
    return [wrote[k] for k in (0, 1, len(wrote) // 2, -1)]


def compute(lesson: str) -> list[dict | None]:
    """What trainer.json holds of a lesson: for each set of data the recorded training, None for the reader's own."""

    def rounded(value: float | None) -> float | None:
        return None if value is None else round(value, 3)

    records = []
    for way in LESSONS[lesson]["ways"]:
        if way["text"] == "own":
            records.append(None)
            continue
        runs, seconds = [], []
        for run in way["runs"]:
            told, took = trained(way, run["about"], way.get("rate", LESSONS[lesson]["rate"]))
            points = [[one["step"], rounded(one["train"]), rounded(one["valid"])] for one in told]
            last = {key: told[-1][key] for key in ("samples", "right") if key in told[-1]}
            for sample in last.get("samples", []):
                if "odds" in sample:
                    sample["odds"] = [[word, rounded(p)] for word, p in sample["odds"]]
            if "source" not in last.get("samples", [{"source": ""}])[0]:
                last["written"] = [[one["step"], [text["text"][:80] for text in one["samples"]]] for one in early(told)]
            runs.append({"label": run["label"], "points": points} | last)
            seconds.append(took)
        records.append({"seconds": round(max(seconds), 1), "runs": runs, "marks": marks(lesson, way)})
        if len(records) == 1:
            rate = LESSONS[lesson]["rate"]
            others = [[trained(way, run["about"], rate, seed)[0] for seed in SEEDS] for run in way["runs"]]
            records[-1]["seeds"] = [[[rounded(one["valid"]) for one in told] for told in seeds] for seeds in others]
            if len(runs) == 1 and "right" in runs[0]:
                records[-1]["rights"] = [told[-1]["right"] for told in others[0]]
    return records


@functools.cache
def stored() -> dict:
    return json.loads(PLACE.read_text("utf-8"))
