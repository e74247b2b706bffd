"""For nbval: cells whose stored output needs a real corpus, on a machine that has none.

Such a cell has the tag `real-data`. It is executed like any other, on the built-in fallback, but its output is not
compared; the summary says how many there were and why. With LMBOOK_SKIP_NOTHING set this makes the run fail.

LMBOOK_STATUS names a file for the record of the run, from which the site says when each chapter was last executed.

Kernels are forked from a process with PyTorch and Matplotlib in it, where `tests/warm_kernels.py` can be imported.
"""

import json
import os
import platform
import re
from contextlib import suppress
from datetime import date
from importlib.metadata import version
from pathlib import Path

import nbformat

# Those that run longest come first, so that no worker is left with one at the end; build/status.json has the seconds.
# A chapter that is not listed comes before them.
LONGEST = ("17", "16", "19", "04", "07", "08", "10", "15", "18", "06", "13", "11", "12", "14", "02", "03", "01", "20")
LONGEST += ("09", "05", "00")
QUOTED = re.compile(r"[\"']([\w-]+)[\"']")
NOT_COMPARED = "not compared"


def lacking(notebook: nbformat.NotebookNode) -> str | None:
    """Which of the corpora that the notebook names are not to be had, and why; None if all are."""
    from lmbook.data.fetch import DataError, read, registry

    missing, said = [], None
    code = "\n".join(cell.source for cell in notebook.cells if cell.cell_type == "code")
    for name in sorted(set(QUOTED.findall(code)) & set(registry())):
        try:
            for file in registry()[name]["files"]:
                read(name, file["name"])
        except DataError as reason:
            missing.append(name)
            said = said or reason
    return f"without {', '.join(missing)}: {said}" if missing else None


def pytest_configure():
    with suppress(ImportError):
        import warm_kernels

        warm_kernels.use()


def pytest_collection_modifyitems(config, items):
    order = {number: place for place, number in enumerate(LONGEST)}
    items.sort(key=lambda item: order.get(item.path.name[:2], -1 if item.path.suffix == ".ipynb" else len(order)))


def pytest_runtest_setup(item):
    cell = getattr(item, "cell", None)
    if cell is not None and "real-data" in cell.metadata.get("tags", []):
        if not hasattr(item.parent, "lacking"):
            item.parent.lacking = lacking(item.parent.nb)
        if item.parent.lacking:
            item.options["check"] = False
            item.user_properties.append((NOT_COMPARED, item.parent.lacking))


def _not_compared(reporter) -> dict[str, int]:
    """Reason -> how many cells ran without comparison."""
    counts: dict[str, int] = {}
    for report in reporter.getreports("passed") if reporter else []:
        for name, reason in report.user_properties if report.when == "call" else []:
            if name == NOT_COMPARED:
                counts[reason] = counts.get(reason, 0) + 1
    return counts


def pytest_terminal_summary(terminalreporter):
    for reason, count in _not_compared(terminalreporter).items():
        terminalreporter.write_line(
            f"NOT COMPARED: {count} cells were executed on the fallback only ({reason})", yellow=True
        )


def record(reports, file: Path, root: Path) -> None:
    """Enters each notebook of which every cell ran: day, seconds, cells, versions, and whether all of them passed."""
    found: dict[str, list] = {}
    for report in reports:
        if report.when == "call" and report.fspath.endswith(".ipynb"):
            found.setdefault(str(root / report.fspath), []).append(report)
    known = json.loads(file.read_text("utf-8")) if file.is_file() else {}
    for path, ran in found.items():
        if len(ran) == sum(cell.cell_type == "code" for cell in nbformat.read(path, as_version=4).cells):
            known[Path(path).stem] = {
                "date": date.today().isoformat(),
                "seconds": round(sum(report.duration for report in ran), 1),
                "cells": len(ran),
                "torch": version("torch"),
                "python": platform.python_version(),
                "passed": all(report.passed for report in ran),
            }
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(known, indent=1, sort_keys=True) + "\n", "utf-8")


def pytest_sessionfinish(session):
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    if os.environ.get("LMBOOK_SKIP_NOTHING") and _not_compared(reporter):
        session.exitstatus = 1
    if os.environ.get("LMBOOK_STATUS") and reporter and not hasattr(session.config, "workerinput"):
        reports = [report for kind in ("passed", "failed") for report in reporter.getreports(kind)]
        record(reports, Path(os.environ["LMBOOK_STATUS"]), session.config.rootpath)
