"""The record of a run: what it holds, and the one form in which it is written and read.

    record = {recipe, seed, scores, parts: {part: {parameters, steps, ..., settings}}, ...}

RECORD, PART and SETTINGS say which keys there are; `check` compares. A part is one training: a recipe that compares
four systems has four. Its settings are read off what was trained (`lab.settings`). For runs from before that was done
they were read off the recipe, of which the first steps were run again and gave the recorded losses
(benchmarks/first_steps.py). Where every batch is drawn anew, a training may have no validations: each loss of its curve
is that of a batch before the step that learns from it, on average that of unseen data (progressive validation; Blum,
Kalai and Langford 1999). A recipe that counts, measures, fits a logistic regression or only tries rates has no
parts.
"""

import json
from importlib.resources.abc import Traversable
from pathlib import Path

import numpy as np

NUMBER = (int, float)
WIDTH = 120  # of a line of the file

RECORD = {
    "recipe": str,
    "seed": int,
    "scores": dict,  # numbers, texts, counts of BLEU as arrays, or lists and dicts of them
    "parts": dict,  # the trainings by name: PART; "model" where there is one
    "seconds": NUMBER,  # of all trainings, validations included
    "hardware": str,
    "data": dict,  # corpus -> file -> sha256
    "torch": str,
    "lmbook": str,
}
RECORD_MAY = {
    "int8": dict,  # the scores of the shipped weights, which are rounded
    "evaluation_seconds": NUMBER,  # in some older records
}
PART = {
    "parameters": int,
    "steps": int,
    "tokens": int,  # predicted in all steps together
    "seconds": NUMBER,
    "train": list,  # [step, loss in nats per token], at most about POINTS
    "valid": list,  # [step, what validate gave], at most VALIDATIONS, the lowest among them
    "settings": dict,
}
NONE = type(None)
SETTINGS = {
    "model": dict,  # "class" and, of a configured class, its arguments
    "optimizer": str,
    "rate": float,  # the highest
    "optimizer options": dict,  # betas, eps, momentum, and the highest weight decay
    "schedule": str,  # of `schedules`, by name
    "warm-up": int,  # the first step with the highest rate
    "last rate": float,
    "dropout": float,  # the highest in the model
    "vocabulary": list,  # rows of each embedding
    "rows": int,  # of the first batch
    "clip": (*NUMBER, NONE),
    "budget": (int, NONE),  # steps, where they were limited
    "patience": (int, NONE),
    "evaluate every": (int, NONE),  # steps; None is an epoch
    "ended": str,  # "budget", or "plateau" where patience ended it
    "flops": int,  # of all steps: three times the products of a forward pass for every token, over the first batches
    "start": dict,  # standard deviations before the first step: "embeddings", "matrices" (lowest, highest); "note"
    "rates tried": list,  # {"rate", "validation", "steps", "seconds"} of each that Run.tune compared
}


def check(record: dict) -> dict:
    """The record itself. Raises ValueError that names a key that is missing, unknown, or of another type."""
    _compare(record, RECORD, RECORD_MAY, "the record")
    for name, part in record["parts"].items():
        _compare(part, PART, {}, f"part {name!r}")
        for curve in ("train", "valid"):
            if any(not isinstance(point, list) or len(point) != 2 for point in part[curve]):
                raise ValueError(f"part {name!r}: {curve} holds something else than pairs [step, loss].")
        _compare(part["settings"], SETTINGS, {}, f"the settings of part {name!r}")
    return record


def dumps(record: dict) -> str:
    """The record as JSON, lists filled up to the width of a line. Counts of BLEU, arrays (sentences, 10) of
    `metrics.bleu_counts`, are written as texts, a line of rows each. Where the n-grams follow from the length, they are
    left out, and so are the zeros of a sentence: if no trigram matches, no 4-gram does.
    """
    return _laid_out(_packed(record), 0) + "\n"


def read(file: Path | Traversable) -> dict:
    """A record as `dumps` wrote it, the counts of BLEU as arrays (sentences, 10) of floats."""
    return json.loads(file.read_text("utf-8"), object_hook=_unpacked)


def _ngrams(length: np.ndarray) -> np.ndarray:
    """n-grams, n = 1..4, of outputs of these lengths.  length: (sentences, 1).  Returns (sentences, 4)."""
    return np.maximum(length - np.arange(4), 0)


def _packed(value):
    if isinstance(value, np.ndarray):
        rows = value.astype(int)
        if np.array_equal(rows[:, 4:8], _ngrams(rows[:, 8:9])):
            rows = [[*np.trim_zeros(row[:4], "b"), *row[8:]] for row in rows]
        return _filled([" ".join(map(str, row)) for row in rows])
    if isinstance(value, dict):
        return {key: _packed(one) for key, one in value.items()}
    return [_packed(one) for one in value] if isinstance(value, list) else value


def _filled(rows: list[str]) -> list[str]:
    """The rows, joined by commas to texts that fill a line of the file."""
    lines: list[str] = []
    for row in rows:
        if lines and len(lines[-1]) + len(row) < WIDTH - 16:  # for the margin, the quotation marks and the comma
            lines[-1] += f",{row}"
        else:
            lines.append(row)
    return lines


def _unpacked(found: dict) -> dict:
    for key, value in found.items():
        if key.split()[-1:] == ["counts"] and isinstance(value, list):
            rows = [row.split() for line in value for row in line.split(",")]
            counts = np.array([row[:-2] + ["0"] * (6 - len(row)) + row[-2:] for row in rows], dtype=float)
            if counts.shape[1] < 10:
                counts = np.insert(counts, [4], _ngrams(counts[:, 4:5]), axis=1)
            found[key] = counts
    return found


def _laid_out(value, indent: int) -> str:
    flat = json.dumps(value, ensure_ascii=False, allow_nan=False)
    if len(flat) + indent <= WIDTH or not isinstance(value, dict | list):
        return flat
    margin = "\n" + " " * (indent + 1)
    if isinstance(value, dict):
        items = [f"{json.dumps(key, ensure_ascii=False)}: {_laid_out(one, indent + 1)}" for key, one in value.items()]
        return "{" + margin + f",{margin}".join(items) + margin[:-1] + "}"
    lines: list[str] = []
    for item in (_laid_out(one, indent + 1) for one in value):
        if lines and indent + len(lines[-1]) + len(item) + 3 <= WIDTH:
            lines[-1] += f", {item}"
        else:
            lines.append(item)
    return "[" + margin + f",{margin}".join(lines) + margin[:-1] + "]"


def _compare(found: dict, wanted: dict, may: dict, what: str) -> None:
    if missing := wanted.keys() - found.keys():
        raise ValueError(f"{what} lacks {', '.join(sorted(missing))}.")
    if unknown := found.keys() - wanted.keys() - may.keys():
        raise ValueError(f"{what} has {', '.join(sorted(unknown))}, which record.py does not describe.")
    for key, kind in (wanted | may).items():
        if key in found and (not isinstance(found[key], kind) or (isinstance(found[key], bool) and kind is not bool)):
            raise ValueError(f"{what}: {key} is {found[key]!r}, which is not what record.py says.")
