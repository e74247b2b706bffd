"""A student's process that is none: the worker in this very interpreter, for a page, which cannot start a process.

It answers as a `Session` does.  What a check passes and what a function returns go through the same frames, so that a
check sees the same plain data.  There are no walls, and none are needed: it is the student's own browser, where no
hidden check ever is.
"""

import builtins
import contextlib
import importlib.machinery
import io
import math
import os
import shutil
import sys
import tempfile
import time

from lmbook_grader.sandbox import clock, wire, worker
from lmbook_grader.sandbox.commands import Limits
from lmbook_grader.sandbox.session import LENT, ProcessDied, Stopped, TimeLimitExceeded, called_back, told
from lmbook_press.book import BookError


class Late(BaseException):
    """A cell or a call went on for too long.  No `except Exception` of a student's catches it."""


class Printed(io.StringIO):
    """What is printed, as far as it is kept."""

    def write(self, text: str) -> int:
        if self.tell() < 4 * Limits.output:
            super().write(text[: 4 * Limits.output])
        return len(text)


class Refused(worker.Closed):
    """Libraries that are closed, and modules of lmbook that are blocked."""

    def __init__(self, closed: list[str], blocked: list[str]):
        super().__init__(closed)
        self.blocked = blocked

    def find_spec(self, name, path=None, target=None):
        if any(f"{name}.".startswith(f"{one}.") for one in self.blocked):
            return importlib.machinery.ModuleSpec(name, self)
        return super().find_spec(name, path, target)


def nobody(prompt: object = "") -> str:
    """input() where nobody answers."""
    raise EOFError("EOF when reading a line")


class Inside(worker.Worker):
    """The worker; what it calls of the grader's is asked of its session."""

    passes = (Late, Stopped)

    def __init__(self, session: "Here"):
        super().__init__(None, None)
        self.session = session

    def back(self, number: int):
        def asked(*arguments, **options):
            data = wire.frame({"number": number, "arguments": list(arguments), "options": options})
            answer = _read(self.session.called(data), self.back)
            if answer["do"] == "value":
                return answer["value"]
            kind = getattr(builtins, answer["type"], RuntimeError)
            raise kind("raised by the function that was passed as an argument")

        return asked


class Here:
    """A worker in this interpreter; see `Session`.

    closed: libraries that are not imported.  blocked: modules of lmbook that are not.
    """

    def __init__(self, closed: list[str], blocked: list[str], limits: Limits):
        self.limits, self.latest, self.charged, self.served = limits, math.inf, 0.0, 0.0
        self.home, self.alive, self.inside = tempfile.mkdtemp(prefix="lmbook-"), True, False
        self.functions: dict = {}
        self.lent: dict = {}
        self.apart = {*closed, "lmbook", "__main__"}  # of these each process has its own
        self.finder, self.modules, self.printed = Refused(closed, blocked), {}, Printed()
        self.asking = {"display": print, "input": nobody}
        self.streams, self.folder, self.path = (self.printed, self.printed), self.home, [*sys.path, self.home]
        with self._swapped():
            self.worker = Inside(self)

    def __enter__(self) -> "Here":
        return self

    def __exit__(self, *_) -> None:
        self.close()

    def ask(self, seconds: float, **task) -> dict:
        functions: dict = {}
        try:
            data = wire.frame(task, functions)
        except wire.NotData as error:
            raise BookError(f"A check passes what cannot travel to {task.get('name')}: {error}") from error
        if not self.alive:
            raise ProcessDied
        before, self.functions = self.functions, self.lent | functions
        begun, used = time.monotonic(), time.process_time()
        try:
            with self._swapped(), clock.bounded(seconds, Late):
                data = self._answered(data)
        except Late:
            self.alive = False
            raise TimeLimitExceeded from None
        finally:
            self.functions = before
            self.charged += time.monotonic() - begun
            self.served += time.process_time() - used
        return told(_read(data))

    def _answered(self, data: bytes) -> bytes:
        """The frame with the worker's answer to the task in a frame, as its loop gives it."""
        try:
            return wire.frame(self.worker.answer(_read(data, self.worker.back)))
        except (wire.NotData, ImportError) as error:
            return wire.frame({"is": "odd", "type": str(error)})

    def called(self, data: bytes) -> bytes:
        """What a function of the grader says to the student's call."""
        with self._swapped(), clock.paused():
            return called_back(self.functions, _read(data))

    def lend(self, seconds: float, functions: dict) -> None:
        numbers = {name: LENT + len(self.lent) + at for at, name in enumerate(functions)}
        self.lent |= {numbers[name]: function for name, function in functions.items()}
        self.ask(seconds, do="lend", numbers=numbers)

    @contextlib.contextmanager
    def _swapped(self):
        """From the grader's interpreter to the student's; from there, while it calls the grader, back."""
        self._swap()
        try:
            yield
        finally:
            self._swap()

    def _swap(self) -> None:
        there = {name: one for name, one in sys.modules.items() if name.partition(".")[0] in self.apart}
        for name in there:
            del sys.modules[name]
        sys.modules.update(self.modules)
        self.modules = there
        sys.path, self.path = self.path, sys.path
        streams = sys.stdout, sys.stderr
        (sys.stdout, sys.stderr), self.streams = self.streams, streams
        there = {name: getattr(builtins, name, print) for name in self.asking}
        vars(builtins).update(self.asking)
        self.asking = there
        folder = os.getcwd()
        os.chdir(self.folder)
        self.inside, self.folder = not self.inside, folder
        if self.inside:
            sys.meta_path.insert(0, self.finder)
        else:
            sys.meta_path.remove(self.finder)

    def output(self) -> str:
        return self.printed.getvalue()[: self.limits.output]

    def close(self) -> None:
        self.alive = False
        shutil.rmtree(self.home, ignore_errors=True)


def _read(data: bytes, function=None):
    """The message of a frame."""
    head = wire.HEAD.size
    text, _ = wire.lengths(data[:head])
    return wire.message(data[head : head + text], data[head + text :], function)
