"""The hidden checks, run in the grader while the student's functions stay behind the walls.

A check is a graded cell of the grading master. Here it runs as it is written, with one change: each function that an
answer cell defines is a `RemoteFunction`, which sends its arguments to the student's process and gets plain data back.
So nothing of the check is ever where a student's code could read or patch it, and what it compares are our own
numbers, strings, lists and arrays.
"""

import ast
import builtins
import contextlib
import io
import signal
import time
from dataclasses import dataclass
from typing import NamedTuple

from nbformat import NotebookNode

from lmbook_grader.sandbox import clock, wire
from lmbook_grader.sandbox.session import MemoryLimitExceeded, Session, Stopped, TimeLimitExceeded
from lmbook_press.assignments.questions import Check, Homework, marks, undefined_names
from lmbook_press.book import BookError

try:
    import resource
except ImportError:  # in a page, which has a memory of its own
    resource = None

ROOM = 1_500_000_000  # bytes
AGAIN = 1  # seconds until an alarm that a library swallowed rings once more
TYPES = {"function", "generator", "module", "type", "object", "method", "coroutine", "ellipsis"}


class Outcome(NamedTuple):
    """Of a check: whether it passed; and why not, for somebody who may see every line of it."""

    passed: bool
    message: str = ""


class Raised(Exception):
    """The student's function raised; a check may catch it as the built-in type that it was."""

    def __init__(self, function: str, answer: dict):
        self.function, self.missing = function, answer.get("missing", False)
        name = answer.get("type")
        self.type = name if name in STANDARD else "an exception of its own"
        self.line = answer.get("line")
        Exception.__init__(self, self.type)


class Unserializable(Exception):
    """The student's function returned what cannot travel."""

    def __init__(self, function: str, what: str):
        self.function = function
        self.what = f"a value of type {what}" if what in TYPES else "something"
        super().__init__(self.what)


STANDARD = {
    name: kind for name, kind in vars(builtins).items() if isinstance(kind, type) and issubclass(kind, Exception)
}
KINDS = {}
for _name, _kind in STANDARD.items():
    with contextlib.suppress(TypeError):  # a few built-in types cannot be combined with another, or made from these
        _both = type(_name, (Raised, _kind), {})
        _both("", {})
        KINDS[_name] = _both


class Overtime(Stopped):
    """The check itself went on for too long with what the student's function returned."""


@contextlib.contextmanager
def _alarm(seconds: float):
    """Raises Overtime after that many seconds of wall time; a nested one leaves the outer one its rest."""
    if not clock.SIGNALS:
        with clock.bounded(seconds, Overtime):
            yield
        return

    def ring(*_):
        raise Overtime

    before, (left, _) = signal.signal(signal.SIGALRM, ring), signal.getitimer(signal.ITIMER_REAL)
    begun = time.monotonic()
    signal.setitimer(signal.ITIMER_REAL, min(seconds, left) if left else seconds, AGAIN)
    try:
        yield
    except Overtime:
        left = 0  # it passes through all of them: none has to ring again
        raise
    finally:
        signal.setitimer(signal.ITIMER_REAL, max(left - (time.monotonic() - begun), 0.01) if left else 0, AGAIN)
        signal.signal(signal.SIGALRM, before)


@contextlib.contextmanager
def _little_memory():
    """Work on a student's arrays may take ROOM more memory; beyond that it is a MemoryError."""
    if resource is None:
        yield
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_DATA)
    most = _data() + ROOM
    resource.setrlimit(resource.RLIMIT_DATA, (most if hard == resource.RLIM_INFINITY else min(most, hard), hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_DATA, (soft, hard))


def _data() -> int:
    """Bytes that this process has allocated, as RLIMIT_DATA counts them; far more than any where no /proc says it."""
    with contextlib.suppress(OSError), open("/proc/self/status", encoding="ascii", errors="replace") as file:
        return next(1024 * int(line.split()[1]) for line in file if line.startswith("VmData"))
    return 2**40


class Grader:
    """The names that checks see: what the master gives, and a `RemoteFunction` for each function of an answer.

    session: the student's process of the moment; it is replaced after one has ended.
    """

    def __init__(self, homework: Homework, session: Session | None = None):
        self.session, self.budget, self.called, self.heard = session, 0.0, None, False
        self.values = set().union(*(question.values for question in homework.questions))
        self.undefined = {name for _, _, name in undefined_names(homework.grading)}
        functions = set().union(*(question.functions for question in homework.questions))
        self.given = {"__name__": "homework", **{name: RemoteFunction(name, self) for name in functions}}

    def prepare(self, cell: NotebookNode, seconds: float) -> None:
        """Runs a cell that every student is given.  It may call the answers; if these fail, so does the rest of it.

        Of a cell of answers only the imports are run.  Raises Stopped where the student's process ended.
        """
        self.budget, tree = seconds, ast.parse(cell.source)
        if marks(cell).get("solution"):
            tree.body = [node for node in tree.body if isinstance(node, ast.Import | ast.ImportFrom)]
        with contextlib.suppress(Exception):
            execute(compile(tree, "<given>", "exec"), self.given, seconds)

    def ask(self, name: str, task: dict):
        """The answer of the student's process: the value, or an exception."""
        self.called, before = name, self.session.charged
        try:
            answer = self.session.ask(max(self.budget, 0.01), name=name, **task)
        except wire.NotData as error:
            raise Unserializable(name, "unknown") from error
        self.budget -= self.session.charged - before
        self.heard = True
        if answer["is"] == "raised":
            raise KINDS.get(answer.get("type"), Raised)(name, answer)
        if answer["is"] != "value":
            raise Unserializable(name, str(answer.get("type")))
        return answer.get("value")

    def run(self, check: Check, seconds: float) -> Outcome:
        """Runs a check.

        Its message is for `lmbook homework check`, which runs visible checks only.  Raises Stopped where the student's
        process ended, BookError where the check is at fault.
        """
        self.budget, self.called, self.heard = seconds, None, False
        space = dict(self.given)
        try:
            for name in sorted(self.values & _read(check.source)):
                space[name] = self.ask(name, {"do": "get"})
            execute(compile(check.source, f"<{check.name}>", "exec"), space, seconds)
        except BookError as error:
            if not self.heard:
                raise
            return Outcome(False, f"What `{self.called}` returned cannot be passed on: {error}")  # too large, say
        except (Raised, Unserializable) as error:
            return Outcome(False, _complaint(error))
        except Exception as error:
            if isinstance(error, NameError) and error.name in self.undefined:
                raise BookError(
                    f"The check {check.name} uses {error.name}, which nothing before it defines."
                ) from error
            return Outcome(False, _wrong(error, check, _line(error, check)))
        return Outcome(True)


@dataclass
class RemoteFunction:
    """A function of the student.  Called, it is run in the student's process and returns data of plain types."""

    name: str
    grader: Grader

    def __call__(self, *arguments, **options):
        return self.grader.ask(self.name, {"do": "call", "arguments": list(arguments), "options": options})


def execute(code, space: dict, seconds: float) -> None:
    """Runs our own code, which may meet a student's values: silent, within bounds of time and memory."""
    with _bounds(seconds):
        exec(code, space)


def bounded(function, seconds: float):
    """A function of ours that a student's process may call."""

    def called(*arguments, **options):
        with _bounds(seconds):
            return function(*arguments, **options)

    return called


@contextlib.contextmanager
def _bounds(seconds: float):
    """Hides what is printed; at most 12 times `seconds` of wall time and ROOM more memory."""
    quiet = io.StringIO()
    with contextlib.redirect_stdout(quiet), contextlib.redirect_stderr(quiet), _alarm(12 * seconds), _little_memory():
        yield


def _read(source: str) -> set[str]:
    return {node.id for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Name)}


def _line(error: Exception, check: Check) -> int:
    """The line of the check in which it ended."""
    at, trace = 0, error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == f"<{check.name}>":
            at = trace.tb_lineno
            break  # the outermost: a helper defined in the check may be called from it
        trace = trace.tb_next
    return at


def stopped(error: Stopped, function: str | None, seconds: float) -> str:
    """The message about a call that ended the student's process."""
    name = f"`{function}`" if function else "The answer"
    if isinstance(error, Overtime):
        return f"What {name} returned took the check too long to look at."
    if isinstance(error, TimeLimitExceeded):
        return f"{name} was stopped after {seconds:g} s: it may run for ever, or needs a faster way."
    if isinstance(error, MemoryLimitExceeded):
        return f"{name} was stopped: it used more memory than there is for one notebook."
    return f"{name} ended the whole program instead of returning a value."


def _complaint(error: Raised | Unserializable) -> str:
    name, where = f"`{error.function}`", "in the check that you can see"
    if isinstance(error, Unserializable):
        return f"{name} returned {error.what} {where}; return numbers, text, lists, dicts or arrays."
    if error.missing:
        return f"{name} is not defined."
    if error.type == "NotImplementedError":
        return f"{name} is not written yet."
    at = f" (line {error.line} of its cell)" if error.line else ""
    return f"{name} raises {error.type}{at} {where}."


def _wrong(error: Exception, check: Check, line: int) -> str:
    form = "" if isinstance(error, AssertionError) else " The value returned has another form than the one asked for."
    nodes = [node for node in ast.parse(check.source).body if node.lineno <= line <= node.end_lineno]
    return f"The check that you can see fails: `{ast.unparse(nodes[0])}`.{form}" if nodes else "The check fails."
