"""Warm starts: a process that has imported the homework's libraries once, from which every run is forked.

To import torch takes longer than to grade most answers.  bubblewrap puts up the walls of a run as always, round a
process that does nothing; the worker is a fork of the warm process that joins them (`forker`).  Nothing is shared
that a student's code could change: each run has its own sandbox, and the warm process never meets its notebook.
Where a machine cannot do this, runs start cold, and the grades are the same.
"""

import ast
import contextlib
import importlib.util
import json
import os
import select
import socket
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

from nbformat import NotebookNode

from lmbook_grader.sandbox import seccomp
from lmbook_grader.sandbox.commands import (
    HERE,
    HOME,
    PYTHON,
    WORKER,
    Command,
    Limits,
    command,
    environment,
    hashed,
)  # fmt: skip

WAIT = 120  # seconds on the clock for the imports, and for a sandbox to stand
NAMESPACES = {  # the flags of linux/sched.h
    "cgroup": 0x02000000, "ipc": 0x08000000, "mnt": 0x00020000, "net": 0x40000000, "pid": 0x20000000,
    "user": 0x10000000, "uts": 0x04000000,
}  # fmt: skip
NEEDED = {"ipc", "mnt", "net", "pid", "uts"}  # namespaces that every sandbox has for itself
LOADER = """
import json, sys, types
given = json.load(sys.stdin)
sys.path.insert(0, given["folder"])
for name, source in given["sources"].items():
    module = sys.modules[name] = types.ModuleType(name)
    module.__file__ = f"{given['folder']}/{name}.py"
    exec(compile(source, module.__file__, "exec"), module.__dict__)
module.serve(given)
"""  # not from its file, whose place says who grades where and does not exist behind the walls


class WarmError(Exception):
    """There is no warm start: the run has to start cold."""


def imported(cells: Iterable[NotebookNode]) -> list[str]:
    """The modules that these cells import at their top level; with torch what its optimizers import when first used."""
    found: dict[str, None] = {}
    for cell in cells:
        with contextlib.suppress(SyntaxError):
            for node in ast.parse(cell.source).body if cell.cell_type == "code" else ():
                if isinstance(node, ast.Import):
                    found |= dict.fromkeys(alias.name for alias in node.names)
                elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                    found[node.module] = None
    roots = {name: name.partition(".")[0] for name in found}
    names = [name for name, root in roots.items() if root != "lmbook" and importlib.util.find_spec(root)]
    return names + ["torch._dynamo"] * ("torch" in names)


class WarmProcess:
    """Started once; `start` gives a worker behind the walls of a command.  The graders of a batch share it."""

    def __init__(self, modules: list[str], closed: list[str], hash_seed: int | None = None):
        self.line, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        usable = [name for name in modules if name.partition(".")[0] not in closed]
        sources = {name: (HERE / f"{name}.py").read_text(encoding="utf-8") for name in ("wire", "worker", "forker")}
        given = {
            "modules": usable, "closed": closed, "sources": sources, "folder": WORKER, "socket": theirs.fileno(),
            "program": (seccomp.program() or b"").hex(),
        }  # fmt: skip
        python, own = hashed(PYTHON, {}, hash_seed)
        words = [os.path.abspath(sys.executable), *python, "-P", "-c", LOADER, f"{WORKER}/worker.py"]
        self.process = subprocess.Popen(
            words, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd="/",
            env=environment(HOME) | {"PWD": HOME} | own, pass_fds=[theirs.fileno()], start_new_session=True,
        )  # fmt: skip
        theirs.close()
        with contextlib.suppress(OSError):
            self.process.stdin.write(json.dumps(given).encode())
            self.process.stdin.close()

    def __getstate__(self) -> dict:
        """Of another process it is the line alone: who started it ends it."""
        return {"line": self.line}

    def fault(self) -> str:
        """Waits for the imports; why no run can start from here, or ""."""
        self.line.settimeout(WAIT)
        try:
            said = json.loads(self.line.recv(4096) or '"an import failed"')
        except OSError as error:
            said = str(error)
        self.line.settimeout(None)
        return said

    def start(self, command: Command) -> "Joined":
        """A worker behind the walls of this command.  Raises WarmError where there is none."""
        joined = Joined(command)
        try:
            joined.join(self.line)
        except (OSError, ValueError, IndexError, KeyError) as error:
            joined.end()
            raise WarmError(str(error)) from error
        return joined

    def close(self) -> None:
        self.line.close()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(5)
        self.process.kill()
        self.process.wait()


class Joined:
    """A sandbox and the worker that has joined it, with the ends of its pipes."""

    def __init__(self, command: Command):
        info, theirs = os.pipe()
        pipe = subprocess.PIPE
        words = [*command.walls[:1], "--info-fd", str(theirs), *command.walls[1:], "--", "cat"]
        try:
            self.process = subprocess.Popen(
                words, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, env=command.environment, cwd="/",
                pass_fds=(*command.descriptors, theirs), start_new_session=True,
            )  # fmt: skip
        except OSError as error:
            os.close(info)
            raise WarmError(str(error)) from error
        finally:
            for descriptor in (*command.descriptors, theirs):
                os.close(descriptor)
        (asked, stdin), (stdout, said), (stderr, printed) = os.pipe(), os.pipe(), os.pipe()
        self.line, answer = socket.socketpair()
        self.pids, self.theirs = [self.process.pid], [answer.detach(), asked, said, printed]
        ours = {"info": info, "stdin": stdin, "stdout": stdout, "stderr": stderr}
        self.files = {name: os.fdopen(at, "wb" if name == "stdin" else "rb", 0) for name, at in ours.items()}

    def join(self, line: socket.socket) -> None:
        """Raises OSError, ValueError, IndexError or KeyError where something is not as it must be."""
        self.process.stdin.write(b"\n")
        self.process.stdin.flush()
        heard, _, _ = select.select([self.process.stdout], [], [], WAIT)
        if (
            not heard or self.process.stdout.read(1) != b"\n"
        ):  # the process inside is there: bubblewrap has done its part
            raise OSError("the walls do not stand")
        first = json.loads(self.files["info"].read(4096))["child-pid"]
        with open(f"/proc/{first}/task/{first}/children", encoding="ascii") as file:
            inside = int(file.read().split()[0])
        sandbox = os.pidfd_open(inside)
        try:
            spaces = {name: os.readlink(f"/proc/{inside}/ns/{name}") for name in NAMESPACES}
            spaces = {name: its for name, its in spaces.items() if its != os.readlink(f"/proc/self/ns/{name}")}
            if not spaces.keys() >= NEEDED:
                raise OSError(f"the sandbox shares {', '.join(NEEDED - spaces.keys())} with this process")
            flags = sum(NAMESPACES[name] for name in spaces)
            asked = json.dumps({"spaces": spaces, "flags": flags, "home": HOME}).encode()
            socket.send_fds(line, [asked], [sandbox, *self.theirs])
        finally:
            os.close(sandbox)
        self._let_go()
        self.line.settimeout(WAIT)
        self.pids.append(int(self.line.recv(20)))

    def pipes(self) -> dict[str, int]:
        return {name: self.files[name].fileno() for name in ("stdin", "stdout", "stderr")}

    def _let_go(self) -> None:
        while self.theirs:
            os.close(self.theirs.pop())

    def end(self) -> None:
        """Ends all its processes: the worker by its keeper, and everything behind the walls with these."""
        self.line.close()
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, 9)
        self._let_go()
        for stream in (self.process.stdin, self.process.stdout, *self.files.values()):
            with contextlib.suppress(OSError):
                stream.close()
        self.process.wait()


class Warm:
    """The warm processes of a batch, one for each list of closed libraries; None where there is none."""

    def __init__(
        self, modules: list[str], lists: Iterable[list[str]], package: Path, hash_seed: int | None = None
    ):  # fmt: skip
        self.processes: dict[tuple[str, ...], WarmProcess] = {}
        self.modules, self.package = modules, package
        for closed in lists:
            if tuple(closed) not in self.processes:
                self.processes[tuple(closed)] = WarmProcess(modules, closed, hash_seed)

    def wait(self) -> dict[tuple[str, ...], str]:
        """Waits for the imports, tries each process once, and keeps those that work; why the others do not."""
        faults = {}
        for closed, process in list(self.processes.items()):
            fault = process.fault()
            try:
                if not fault:
                    process.start(command("bwrap", Limits(), self.package)).end()
            except WarmError as error:
                fault = str(error)
            if fault:
                faults[closed] = fault
                self.processes.pop(closed).close()
        return faults

    def of(self, closed: list[str]) -> WarmProcess | None:
        return self.processes.get(tuple(closed))

    def __enter__(self) -> "Warm":
        return self

    def __exit__(self, *_) -> None:
        for process in self.processes.values():
            process.close()
