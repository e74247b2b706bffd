"""One student's process: messages to and from it, its time and memory watched from outside, its output cut."""

import contextlib
import math
import os
import re
import selectors
import subprocess
import time

from lmbook_grader.sandbox import wire
from lmbook_grader.sandbox.commands import MEGABYTE, Command, Limits
from lmbook_grader.sandbox.warm import WarmError, WarmProcess
from lmbook_press.book import BookError
from lmbook_press.unseen import plain

CLOCK = 10  # how many seconds may pass on the clock for one that is charged: the machine may be crowded
LOOK = 0.2  # seconds between two looks at what the process uses
LENT = 1_000_000  # the number of the first function that is lent; those that a check passes count from 0
MOST_LINES = 100_000
START = 120  # seconds on the clock for the walls to stand and Python to start
ESCAPES = re.compile(r"(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]|[\x00-\x08\x0b-\x1f\x7f]")
LONGEST = 500  # characters of an error's text


class SandboxError(Exception):
    """The walls did not stand: the machine's fault, not the student's."""


class Stopped(BaseException):
    """The process cannot answer any more.  No check can catch this by accident: it is no `Exception`."""


class TimeLimitExceeded(Stopped):
    """It went on for longer than it may."""


class MemoryLimitExceeded(Stopped):
    """It used more memory than it may."""


class ProcessDied(Stopped):
    """It ended by itself."""


class ProtocolError(Stopped):
    """What it says can no longer be told apart."""


class Session:
    """A worker behind its walls.  As a context manager it leaves no process behind.

    charged: seconds it computed, those in which it only slept, and those that this process computed to read its
    messages and to answer its calls.  Time in which it waited for its turn on a crowded machine, or for a grader that
    did, is not charged, so that the same program always gets as far.
    latest: when, on the clock, nothing is waited for any more.

    warm: the process of which the worker is to be a fork, or None for a new one.
    """

    def __init__(self, command: Command, limits: Limits, warm: WarmProcess | None = None):
        self.command, self.limits, self.printed, self.cut = command, limits, b"", False
        try:
            self.process = warm.start(command) if warm else Started(command)
        except (OSError, WarmError) as error:
            raise SandboxError(f"{command.words[0]} could not be started: {error}") from error
        self.pipes = self.process.pipes()
        for descriptor in self.pipes.values():
            os.set_blocking(descriptor, False)
        self.received, self.looked, self.charged, self.slept = bytearray(), time.monotonic(), 0.0, 0.0
        self.served, self.begun, self.latest = 0.0, 0.0, math.inf
        self.lent: dict = {}
        try:
            end = time.monotonic() + START
            self._send(wire.frame(command.settings), end)
            ready = self._answer(end)
        except (Stopped, wire.NotData) as error:
            self.close()
            said = self.output().strip()[-500:] or f"it said nothing ({type(error).__name__})"
            raise SandboxError(f"the student's process could not be started: {said}") from error
        if ready["is"] != "ready":
            self.close()
            raise SandboxError("the student's process did not start as it should")

    def __enter__(self) -> "Session":
        return self

    def __exit__(self, *_) -> None:
        self.close()

    def ask(self, seconds: float, **task) -> dict:
        """The answer to a task, within so many seconds of computing.

        Raises wire.NotData for an answer that cannot travel, BookError for a task that cannot, and one of Stopped,
        after which only `close` is left.
        """
        outer, self.begun = self.begun, self.begun or time.process_time()
        try:
            return self._asked(seconds, task)
        finally:
            if not outer:  # a function of a check that is called back may ask in its turn
                self.served, self.begun = self._serving(), 0.0

    def _serving(self) -> float:
        """Seconds that this process has computed to ask."""
        return self.served + (time.process_time() - self.begun if self.begun else 0.0)

    def _asked(self, seconds: float, task: dict) -> dict:
        functions: dict = {}
        self._look(math.inf, math.inf, waited=True)
        end, until = min(time.monotonic() + CLOCK * seconds, self.latest), self.charged + seconds
        try:
            data = wire.frame(task, functions)
        except wire.NotData as error:
            raise BookError(f"A check passes what cannot travel to {task.get('name')}: {error}") from error
        self._send(data, end, until)
        while True:
            answer = self._answer(end, until)
            if answer.get("is") != "back":
                return answer
            reply = called_back(self.lent | functions, answer)
            # Here too: where one call follows the other, there is always something to read, and nothing to wait for.
            if time.monotonic() - self.looked >= LOOK:
                self._look(end, until, waited=True)
            self._send(reply, end, until)

    def lend(self, seconds: float, functions: dict) -> None:
        """Binds these names in the student's process to functions that run here, as arguments of a check do."""
        numbers = {name: LENT + len(self.lent) + at for at, name in enumerate(functions)}
        self.lent |= {numbers[name]: function for name, function in functions.items()}
        self.ask(seconds, do="lend", numbers=numbers)

    def _answer(self, end: float, until: float = math.inf) -> dict:
        """The next message.  end: when it is late on the clock; until: charged seconds at which it is late."""
        while not (sizes := self._whole()):
            if not self._wait(("stdout", "stderr"), end, until):
                self._drain()
                raise ProcessDied
        head = wire.HEAD.size
        text = bytes(self.received[head : head + sizes[0]])
        data = bytes(self.received[head + sizes[0] : head + sum(sizes)])
        del self.received[: head + sum(sizes)]
        self._read("stderr")
        answer = wire.message(text, data)
        if not isinstance(answer, dict) or not isinstance(answer.get("is"), str):
            raise ProtocolError
        return told(answer)

    def _whole(self) -> tuple[int, int] | None:
        """The lengths of the next message's parts once all of it is there."""
        head = wire.HEAD.size
        if len(self.received) < head:
            return None
        try:
            sizes = wire.lengths(bytes(self.received[:head]))
        except wire.NotData as error:
            raise ProtocolError from error
        return sizes if len(self.received) >= head + sum(sizes) else None

    def _send(self, data: bytes, end: float, until: float = math.inf) -> None:
        view = memoryview(data)
        while view:
            try:
                view = view[os.write(self.pipes["stdin"], view) :]
            except BlockingIOError:
                self._wait(("stderr",), end, until, writing=True)
            except BrokenPipeError as error:
                self._drain()
                raise ProcessDied from error

    def _wait(self, pipes: tuple[str, ...], end: float, until: float = math.inf, writing: bool = False) -> bool:
        """Waits for something to read (or room to write) and reads it; False at the end of the answers."""
        with selectors.DefaultSelector() as selector:
            for name in pipes:
                if name in self.pipes:
                    selector.register(self.pipes[name], selectors.EVENT_READ, name)
            if writing:
                selector.register(self.pipes["stdin"], selectors.EVENT_WRITE, "stdin")
            ready = selector.select(LOOK)
        for key, _ in ready:
            if key.data != "stdin" and not self._read(key.data):
                if key.data == "stdout":
                    return False
                del self.pipes[key.data]  # it closed its output; the answers may still come
        if time.monotonic() - self.looked >= LOOK and (writing or not self._whole()):
            self._look(end, until, waited="stdin" in [key.data for key, _ in ready])
        return True

    def _look(self, end: float, until: float, waited: bool) -> None:
        """Brings what is charged up to date.  Raises one of Stopped where a limit is passed.

        waited: it has been the grader's turn, so that a process that sleeps may only wait for it.
        """
        now = time.monotonic()
        computed, memory, busy = used(*self.process.pids)
        if not busy and not waited:
            self.slept += min(now - self.looked, 1.0)  # more than that, and it was the grader that waited
        self.looked, self.charged = now, max(self.charged, computed + self.slept + self._serving())
        if memory > 1.25 * self.limits.memory * MEGABYTE:
            raise MemoryLimitExceeded
        if now > end or self.charged > until:
            raise TimeLimitExceeded

    def _read(self, name: str) -> bool:
        """Reads what is there from one pipe; False where it is closed."""
        if name not in self.pipes:
            return True
        try:
            data = os.read(self.pipes[name], 1 << 16)
        except BlockingIOError:
            return True
        if name == "stdout":
            self.received += data
        else:
            room = 4 * self.limits.output - len(self.printed)
            self.cut = self.cut or len(data) > room
            self.printed += data[: max(room, 0)]
        return bool(data)

    def _drain(self) -> None:
        """Reads what a process that has ended had printed: the end of its answers may be seen before that."""
        before = -1
        while len(self.printed) > before:
            before = len(self.printed)
            self._read("stderr")

    def output(self) -> str:
        """What was printed so far, as plain text of limited length."""
        text = self.printed.decode("utf-8", "replace")
        for folder in self.command.private:
            text = text.replace(folder, "...")
        text = plain(ESCAPES.sub("", text.replace("\r\n", "\n").replace("\r", "\n")))
        cut = self.cut or len(text) > self.limits.output
        return text[: self.limits.output] + ("\n[the rest of the output is cut]\n" if cut else "")

    def close(self) -> None:
        """Ends every process of the student."""
        if self.command.stop:
            with contextlib.suppress(OSError, subprocess.TimeoutExpired):
                subprocess.run(self.command.stop, capture_output=True, env=self.command.environment, timeout=30)
        self.process.end()


class Started:
    """A worker that is a new process.  pids: it, and what else was started for it."""

    def __init__(self, command: Command):
        pipe = subprocess.PIPE
        try:
            self.process = subprocess.Popen(
                command.words, stdin=pipe, stdout=pipe, stderr=pipe, env=command.environment, cwd=command.folder,
                pass_fds=command.descriptors, start_new_session=True,
            )  # fmt: skip
        finally:
            for descriptor in command.descriptors:
                os.close(descriptor)
        self.pids = [self.process.pid]

    def pipes(self) -> dict[str, int]:
        return {name: getattr(self.process, name).fileno() for name in ("stdin", "stdout", "stderr")}

    def end(self) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, 9)
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            with contextlib.suppress(OSError):
                stream.close()
        self.process.wait()


def told(answer: dict) -> dict:
    """The answer with its words as a page, a terminal and a file can hold them, and without what is none of them.

    Values go to the checks as they are; all else that a student's process says comes through here.
    """
    told = {key: answer[key] for key in ("is", "value", "number", "arguments", "options") if key in answer}
    words = {key: plain(answer[key], LONGEST) for key in ("type", "text", "cell") if isinstance(answer.get(key), str)}
    sides, line = answer.get("sides"), answer.get("line")
    if isinstance(sides, list) and len(sides) == 2:
        words["sides"] = [plain(side, LONGEST) for side in sides if isinstance(side, str)]
    if type(line) is int and 0 < line < MOST_LINES:
        words["line"] = line
    return told | words | {"missing": answer.get("missing") is True}


def called_back(functions: dict, answer: dict) -> bytes:
    """The frame with what a function of the check says to the student's call.

    Raises ProtocolError for what is no call.
    """
    number, arguments, options = (answer.get(key) for key in ("number", "arguments", "options"))
    if type(number) is not int or not isinstance(arguments, list) or not isinstance(options, dict):
        raise ProtocolError
    try:
        return wire.frame({"do": "value", "value": functions[number](*arguments, **options)})
    except Exception as error:
        return wire.frame({"do": "raised", "type": type(error).__name__})


def used(*pids: int) -> tuple[float, int, bool]:
    """Of processes and all below them: seconds computed, bytes of memory, and whether one of them computes or waits to.

    (0, 0, False) where the system has no /proc: then all time counts as slept.
    """
    below, computed, memory, busy = list(pids), 0.0, 0, False
    tick, page = os.sysconf("SC_CLK_TCK"), os.sysconf("SC_PAGE_SIZE")
    for known in below:  # the list grows by the children of those in it
        try:
            with open(f"/proc/{known}/stat", encoding="ascii", errors="replace") as file:
                fields = file.read().rpartition(")")[2].split()
            before = len(below)
            for task in os.listdir(f"/proc/{known}/task"):  # each thread has its own children
                with open(f"/proc/{known}/task/{task}/children", encoding="ascii") as file:
                    below += map(int, file.read().split())
        except OSError:  # it has ended meanwhile
            continue
        computed, memory = computed + sum(map(int, fields[11:15])) / tick, memory + int(fields[21]) * page
        waits = fields[0] == "D" and len(below) == before  # for a disk; with a child it is vfork, for what that does
        busy = busy or fields[0] == "R" or waits
    return computed, memory, busy
