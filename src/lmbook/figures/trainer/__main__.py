"""Trains the lessons named, all without a name, and writes trainer.json:  python -m lmbook.figures.trainer gap"""

import json
import sys

from lmbook.figures.trainer import LESSONS, PLACE, compute

for name in sys.argv[1:] or LESSONS:
    found = {name: compute(name)}
    kept = (json.loads(PLACE.read_text("utf-8")) if PLACE.exists() else {}) | found
    PLACE.write_text(json.dumps(kept, ensure_ascii=False, indent=None, separators=(",", ":")) + "\n", "utf-8")
