"""Writes decoding.json anew:  python -m lmbook.figures.decoding 23 52          (numbers of test sentences)"""

import json
import sys

from lmbook.figures.decoding import PLACE, stored

PLACE.write_text(json.dumps(stored([int(i) for i in sys.argv[1:]]), ensure_ascii=False, separators=(",", ":")))
