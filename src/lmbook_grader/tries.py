"""How often a student has tried an answer: a file beside the notebook, on the student's machine and for nobody else."""

import contextlib
import hashlib
import json
from pathlib import Path

from lmbook import write

NAME = ".lmbook-tries.json"
UNKNOWN = 1_000  # nothing can be kept in this folder: no hint is held back


def count(folder: Path, homework: str, wrong: dict[str, str]) -> dict[str, int]:
    """Of each answer that is wrong now, how many different versions have been; they are counted and kept.

    wrong: question -> the source of its answer.  The file holds short digests of these, no answers.
    """
    path, known = folder / NAME, {}
    with contextlib.suppress(OSError, ValueError):
        known = json.loads(path.read_text(encoding="utf-8"))
    known = known if isinstance(known, dict) else {}
    counted = note(known, homework, wrong)
    try:
        write(path, json.dumps(known, indent=1) + "\n")
    except OSError:
        return dict.fromkeys(wrong, UNKNOWN)
    return counted


def note(known: dict, homework: str, wrong: dict[str, str]) -> dict[str, int]:
    """The same, kept in `known`, homework -> question -> digests, which is changed."""
    mine = known.get(homework, {})
    mine = known[homework] = mine if isinstance(mine, dict) else {}
    for name, source in wrong.items():
        before = mine[name] if isinstance(mine.get(name), list) else []
        now = hashlib.sha256(source.strip().encode("utf-8", "replace")).hexdigest()[:12]
        mine[name] = before if now in before else [*before, now]
    return {name: len(mine[name]) for name in wrong}
