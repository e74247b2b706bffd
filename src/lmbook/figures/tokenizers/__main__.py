"""Trains the tables again (a minute) and writes tokenizers.json:  python -m lmbook.figures.tokenizers"""

import json

from lmbook.figures.tokenizers import PLACE, compute

PLACE.write_text(json.dumps(compute(), indent=1) + "\n", "utf-8")
