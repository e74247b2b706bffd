"""In which order and when the cells of a file were run, as the file itself says; whoever edits it can change that."""

from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path
from typing import Any

from lmbook_grader.intake.reading import Unreadable, content_of, read_bytes
from lmbook_press.unseen import plain

HASTE = 60  # seconds in which nobody has written a homework


def run_order(path: Path) -> list[str]:
    """Sentences: cells never run, runs out of order, when cells were run (Colab, JupyterLab) and by whom (Colab)."""
    try:
        content = content_of(read_bytes(path))
    except (Unreadable, ValueError, RecursionError, MemoryError):
        return []
    cells = content.get("cells") if isinstance(content, dict) else None
    code = [cell for cell in cells or () if isinstance(cell, dict) and cell.get("cell_type") == "code"]
    if not code:
        return []
    counts = [cell["execution_count"] for cell in code if type(cell.get("execution_count")) is int]
    said = [f"{len(code) - len(counts)} of {len(code)} code cells were never run."] if len(counts) < len(code) else []
    if turns := sum(before > after for before, after in pairwise(counts)):
        said.append(f"The cells were not run from top to bottom: {turns} times a cell was run before one above it.")
    if counts and sorted(counts) == list(range(1, len(counts) + 1)) == counts:
        said.append("Every cell was run once, from top to bottom, in a fresh process.")
    times = sorted(time for cell in code if (time := _time(cell.get("metadata"))))
    if times:
        span = (times[-1] - times[0]).total_seconds()
        haste = f"; all of them within {span:.0f} s" if len(times) > 3 and span < HASTE else ""
        said.append(f"Cells were run from {times[0]:%Y-%m-%d %H:%M} to {times[-1]:%Y-%m-%d %H:%M} UTC{haste}.")
    people = sorted({name for cell in code if (name := _person(cell.get("metadata")))})
    return said + ([f"Colab names as who ran them: {', '.join(people)}."] if people else [])


def _time(metadata: Any) -> datetime | None:
    """Colab: executionInfo.timestamp in milliseconds; JupyterLab: execution["iopub.execute_input"]."""
    if not isinstance(metadata, dict):
        return None
    info, execution = metadata.get("executionInfo"), metadata.get("execution")
    try:
        if isinstance(info, dict) and type(info.get("timestamp")) is int:
            return datetime.fromtimestamp(info["timestamp"] / 1000, UTC)
        if isinstance(execution, dict) and isinstance(text := execution.get("iopub.execute_input"), str):
            moment = datetime.fromisoformat(text)
            return moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC)
    except (ValueError, OverflowError, OSError):
        pass
    return None


def _person(metadata: Any) -> str:
    info = metadata.get("executionInfo") if isinstance(metadata, dict) else None
    user = info.get("user") if isinstance(info, dict) else None
    return plain(user["displayName"], 60) if isinstance(user, dict) and isinstance(user.get("displayName"), str) else ""
