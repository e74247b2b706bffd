"""A clock for code that cannot be stopped from outside: in a page there are neither signals nor other processes.

Python (from 3.12 on, as in a page) tells it of every jump, and no loop goes on without one.  What a library computes in
one call is not interrupted.
"""

import contextlib
import signal
import sys
import time
from collections.abc import Iterator

SIGNALS = hasattr(signal, "setitimer") and sys.platform != "emscripten"
EVERY = 32  # jumps between two looks at the clock
TOOL = 4  # a number of sys.monitoring that nobody else has

_ends: list[tuple[float, type[BaseException]]] = []
_jumps = 0


def _jumped(*_: object) -> None:
    global _jumps
    _jumps += 1
    if _jumps % EVERY:
        return
    now = time.monotonic()
    for end, error in _ends:
        if now > end:
            raise error


def _watch(on: bool) -> None:
    watch = getattr(sys, "monitoring", None)
    if watch is None:
        return
    if on:
        watch.use_tool_id(TOOL, "lmbook")
        watch.register_callback(TOOL, watch.events.JUMP, _jumped)
        watch.set_events(TOOL, watch.events.JUMP)
    else:
        watch.set_events(TOOL, 0)
        watch.free_tool_id(TOOL)


@contextlib.contextmanager
def bounded(seconds: float, error: type[BaseException]) -> Iterator[None]:
    """Raises `error` in whatever loop runs inside of it after that many seconds; it may be nested."""
    if not _ends:
        _watch(True)
    _ends.append((time.monotonic() + seconds, error))
    try:
        yield
    finally:
        _ends.pop()
        if not _ends:
            _watch(False)


@contextlib.contextmanager
def paused() -> Iterator[None]:
    """What runs inside of it takes from no bound."""
    kept, begun = [*_ends], time.monotonic()
    _ends.clear()
    if kept:
        _watch(False)
    try:
        yield
    finally:
        waited = time.monotonic() - begun
        _ends.extend((end + waited, error) for end, error in kept)
        if kept:
            _watch(True)
