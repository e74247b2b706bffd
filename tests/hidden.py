"""What no student may see before handing in: the lines of the masters' solutions and hidden checks."""

import json
import re
from functools import cache
from pathlib import Path

PART = re.compile(r"### BEGIN (?:HIDDEN TESTS|SOLUTION)\n(.*?)### END", re.DOTALL)


@cache
def secrets() -> frozenset[str]:
    """Those that are long enough to be told from other lines, and stand nowhere in the notebook of a student."""
    found: set[str] = set()
    for master in sorted((Path(__file__).parents[1] / "notebooks" / "homework").glob("*.ipynb")):
        source = "\n".join("".join(cell["source"]) for cell in json.loads(master.read_text("utf8"))["cells"])
        shown = PART.sub("", source)
        lines = {line.strip() for block in PART.findall(source) for line in block.splitlines()}
        found |= {line for line in lines if len(line) > 40 and line not in shown}
    return frozenset(found)
