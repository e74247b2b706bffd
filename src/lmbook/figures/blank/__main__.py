"""Writes blank.json anew:  python -m lmbook.figures.blank"""

import json

from lmbook.figures.blank import PLACE, stored

PLACE.write_text(json.dumps(stored(), ensure_ascii=False, separators=(",", ":")))
