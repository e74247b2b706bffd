"""Runs the cells of a notebook one after the other in a fresh process of this machine, and says how each went.

For a student who checks a notebook of their own: nothing is walled off, as in Jupyter.  The same file is the child:
it gets the cells as JSON and writes one line of JSON a cell, so that what ran before a stop is not lost.
"""

import contextlib
import json
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Ran:
    """One code cell.  error: None, or its kind ("NameError"); place, line: the cell and the line it came from."""

    cell: int
    error: str | None = None
    message: str = ""
    place: int | None = None
    line: int | None = None
    seconds: float = 0.0


def run_cells(sources: dict[int, str], folder: Path, seconds: float) -> tuple[list[Ran], str | None]:
    """Runs the code cells {number: source} in `folder`, in this order, each one whatever happened before.

    Returns how each went, and why it stopped early: None, or a sentence.  Output of the cells is not kept.
    """
    with tempfile.TemporaryDirectory() as private:
        tasks, log = Path(private, "cells.json"), Path(private, "log")
        tasks.write_text(json.dumps(list(sources.items())), encoding="utf-8")
        environment = os.environ | {"MPLBACKEND": "agg", "IPYTHONDIR": private, "PYTHONDONTWRITEBYTECODE": "1"}
        command = [sys.executable, __file__, str(tasks), str(log)]
        silent = subprocess.DEVNULL
        child = subprocess.Popen(
            command, cwd=folder, env=environment, stdin=silent, stdout=silent, stderr=silent, start_new_session=True
        )
        try:
            code = child.wait(seconds)
            why = _stopped(code)
        except subprocess.TimeoutExpired:
            why = f"it had not finished after {seconds:.0f} seconds: is there an endless loop?"
        finally:
            _end(child)
        lines = log.read_text(encoding="utf-8").splitlines() if log.exists() else []
        done = [Ran(**json.loads(line)) for line in lines if line.endswith("}")]  # a killed child may leave half a line
    return done, why if len(done) < len(sources) else None


def _stopped(code: int) -> str:
    if code < 0:
        return f"Python was killed (signal {-code}): too little memory, or a fault in a library?"
    return "Python ended early: does a cell call exit() or quit()?"


def _end(child: subprocess.Popen) -> None:
    """Ends the child and what it started."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        if hasattr(os, "killpg"):
            os.killpg(child.pid, 9)
        else:
            child.kill()
    child.wait()


def main(tasks: str, log: str) -> None:
    """The child: runs the cells as IPython would."""
    import linecache
    import time

    from IPython.core.interactiveshell import InteractiveShell
    from traitlets.config import Config

    sys.path[0] = ""  # the notebook's folder, as in Jupyter, instead of this file's
    shell = InteractiveShell.instance(config=Config({"HistoryManager": {"enabled": False}}))
    shell.showtraceback = shell.showsyntaxerror = lambda *_, **__: None
    shell.ask_exit = lambda: os._exit(1)
    places: dict[str, int] = {}  # IPython's name of a cell's code -> the cell
    with open(log, "a", encoding="utf-8") as out:
        for number, source in json.loads(Path(tasks).read_text(encoding="utf-8")):
            known, start = set(linecache.cache), time.monotonic()
            result = shell.run_cell(source, store_history=False)
            new = set(linecache.cache) - known
            places |= {name: number for name in new if name.startswith("<ipython-input")}
            error = result.error_before_exec or result.error_in_exec
            ran = {"cell": number, "seconds": round(time.monotonic() - start, 3)}
            if isinstance(error, SystemExit):
                os._exit(1)
            if error is not None:
                place, line = _place(error, places) or (number, getattr(error, "lineno", None))
                message = error.msg if isinstance(error, SyntaxError) else str(error)
                ran |= {"error": type(error).__name__, "message": message[:300], "place": place, "line": line}
            out.write(json.dumps(ran) + "\n")
            out.flush()


def _place(error: BaseException, places: dict[str, int]) -> tuple[int, int | None] | None:
    import traceback

    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename in places]
    return (places[frames[-1].filename], frames[-1].lineno) if frames else None


if __name__ == "__main__":
    main(*sys.argv[1:])
