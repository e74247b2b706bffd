"""Runs chapters with the page's PyTorch, without a browser, and writes which of their cells a page refuses.

    python tests/press/site/record_torch.py 05          chapter 5 into src/lmbook_press/site/python/torch.json

A cell is refused when it ends with an error, or prints what nbval would not take for the stored output. Cells that took
long here take long in a page, which is up to three times as slow: their seconds are said before they run.
"""

import asyncio
import json
import os
import subprocess
import sys
import tempfile
import time
import zipfile
from io import BytesIO
from pathlib import Path

ROOT = Path(__file__).parents[3]
RECORD = ROOT / "src/lmbook_press/site/python/torch.json"
IN_A_PAGE = 3  # times as slow
LONG = 25  # seconds in a page, from which on a button says so


def inside(sources: list[str]) -> None:
    """In a Python whose torch is ours: each cell's status, seconds and outputs as a line of JSON."""
    import page_kernel

    page_kernel.HOME = str(ROOT / "src")
    import matplotlib.pyplot  # noqa: F401

    shown: list[dict] = []
    kernel = page_kernel.Kernel(lambda text: shown.append(json.loads(text)))
    told = os.dup(1)

    async def run() -> None:
        for source in sources:
            shown.clear()
            began = time.process_time()
            status = await kernel.run(source)
            line = json.dumps([status, time.process_time() - began, shown])
            os.write(told, f"{line}\n".encode())

    asyncio.run(run())


def run(notebook: Path, rules, limit: int | None = None) -> dict[str, tuple[str, float]]:
    """id -> ("equal", "free", or what is wrong; seconds) of each code cell."""
    import nbformat

    from lmbook_press.site.python import packs

    cells = [cell for cell in nbformat.read(notebook, as_version=4).cells if cell.cell_type == "code"][:limit]
    with tempfile.TemporaryDirectory() as folder:
        for name in ("kernel.zip", "torch.zip"):
            with zipfile.ZipFile(BytesIO(packs.archives()[name])) as archive:
                archive.extractall(folder)
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join((folder, str(ROOT / "src"))), "MPLBACKEND": "agg"}
        given = json.dumps([cell.source for cell in cells])
        done = subprocess.run(
            [sys.executable, "-W", "ignore", __file__, "inside"],
            input=given, capture_output=True, text=True, env=environment, check=True,
        )  # fmt: skip
    found = {}
    for cell, line in zip(cells, done.stdout.splitlines(), strict=True):
        status, seconds, outputs = json.loads(line)
        if status != "ok":
            said = outputs[-1]["traceback"][-1]
        elif "nbval-ignore-output" in cell.metadata.get("tags", []):
            said = "free"
        else:
            said = rules.difference(outputs, cell.outputs) or "equal"
        found[cell.id] = said, seconds
    return found


def main() -> None:
    from in_page import Rules

    for number in sys.argv[1:]:
        (notebook,) = (ROOT / "notebooks").glob(f"{number}-*.ipynb")
        found = run(notebook, Rules())
        refused = {
            cell: said.split("\n")[0][:160] for cell, (said, _) in found.items() if said not in ("equal", "free")
        }
        slow = {cell: 10 * round(IN_A_PAGE * s / 10) for cell, (_, s) in found.items() if IN_A_PAGE * s > LONG}
        record = json.loads(RECORD.read_text(encoding="utf8"))
        record[notebook.stem] = {
            "refused": refused,
            "slow": {cell: s for cell, s in slow.items() if cell not in refused},
        }
        RECORD.write_text(
            json.dumps(dict(sorted(record.items())), indent=1, ensure_ascii=False) + "\n", encoding="utf8"
        )
        print(notebook.stem, len(found), "cells,", len(refused), "refused")


if __name__ == "__main__":
    if sys.argv[1:] == ["inside"]:
        inside(json.load(sys.stdin))
    else:
        main()
