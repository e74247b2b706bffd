"""The warm process: it has imported what a homework gives its students, and forks a worker for each of their runs.

It stands outside the walls and meets no byte of a student: its requests come from the grader and hold five open files
and the numbers of a sandbox that bubblewrap has just put up, as for any other run.  For each request

    a keeper    is forked, joins the namespaces of that sandbox, forks the worker into them, and waits for the end
    the worker  closes everything else, gives up every right, is filtered, looks whether all this is so, and only then
                hears of the notebook

So two runs share what was in memory before either began, and nothing that either of them changes.

Like `worker` and `wire` this is the source of a process that has no lmbook: it imports the standard library only.
"""

import ctypes
import gc
import importlib
import json
import os
import signal
import socket
import struct
import sys

import worker

DEATH_SIGNAL, READ_BOUND, DROP_BOUND, NO_NEW_PRIVILEGES, FILTER, BY_PROGRAM = 1, 23, 24, 38, 22, 2  # of prctl
KILL, SETGID, SETUID = 5, 6, 7  # numbers of capabilities
CAPABILITIES = 0x20080522  # the version of the structure that capset takes
libc = ctypes.CDLL(None, use_errno=True)


def serve(given: dict) -> None:
    """Imports, says whether this process may be forked, and then forks for each request until the grader is gone."""
    libc.prctl(DEATH_SIGNAL, signal.SIGKILL)
    control = socket.socket(fileno=given["socket"])
    warm(given["modules"], given["closed"])
    control.send(json.dumps(unfit()).encode())
    given["there"] = {path for path in sys.path if os.path.exists(path)}
    given["program"] = bytes.fromhex(given["program"])
    while True:
        try:
            asked, files, _, _ = socket.recv_fds(control, 4096, 5)
        except InterruptedError:
            continue
        if not asked:
            os._exit(0)
        if os.fork() == 0:
            try:
                control.close()
                keep(json.loads(asked), files, given)
            finally:
                os._exit(1)
        for descriptor in files:
            os.close(descriptor)
        while bury():
            pass


def warm(modules: list[str], closed: list[str]) -> None:
    """Imports the modules, with those closed that are closed to the student, whom they would otherwise reach through
    `sys.modules`."""
    door = worker.Closed(closed)
    sys.meta_path.insert(0, door)
    for name in modules:
        importlib.import_module(name)
    sys.meta_path.remove(door)
    gc.collect()
    gc.freeze()  # what no collection looks at is not copied into every worker


def unfit() -> str:
    """Why no worker may be forked from this process, or "": a second thread, or memory that a fork would share."""
    if len(os.listdir("/proc/self/task")) > 1:
        return "an import has started a thread"
    with open("/proc/self/smaps", encoding="utf-8", errors="replace") as file:
        mapping = []
        for line in file:
            fields = line.split()
            if fields[0] == "VmFlags:" and mapping[1][3] == "s" and {"wr", "mw"} & set(fields):
                return f"an import has shared memory ({' '.join(mapping)})"
            mapping = mapping if fields[0].endswith(":") else fields
    return ""


def bury() -> bool:
    """Takes note of a keeper that has ended."""
    try:
        return os.waitpid(-1, os.WNOHANG)[0] > 0
    except ChildProcessError:
        return False


def keep(asked: dict, files: list[int], given: dict) -> None:
    """The keeper: it tells the worker's number, and ends it as soon as the grader closes its line.

    The worker's number stays taken until then, so that what is measured of it is never another process.
    """
    sandbox, answer, *streams = files
    if libc.setns(sandbox, asked["flags"]):
        raise OSError(ctypes.get_errno(), "the sandbox cannot be joined")
    os.close(sandbox)
    child = os.fork()
    if child == 0:
        become(asked, streams, given)
    for descriptor in (0, 1, 2, *streams):
        os.close(descriptor)
    capable(1 << KILL)
    line = socket.socket(fileno=answer)
    try:
        line.send(str(child).encode())
        line.recv(1)
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        os._exit(0)


def become(asked: dict, streams: list[int], given: dict) -> None:
    """The worker, once it has joined the sandbox: what bubblewrap does to the process that it starts itself."""
    try:
        for wanted, descriptor in enumerate(streams):
            os.dup2(descriptor, wanted)
        os.closerange(3, 1 << 20)
        os.setsid()
        os.chdir(asked["home"])
        # Root gives itself up in the worker, which needs these two for it; anybody else has nothing to give up.
        kept = 1 << SETUID | 1 << SETGID if os.getuid() == 0 else 0
        confine(kept, given["program"])
        look(asked["spaces"], kept, bool(given["program"]))
        sys.argv[:] = sys.orig_argv[:] = [f"{given['folder']}/worker.py"]
        sys.path[:] = [path for path in sys.path if path not in given["there"] or os.path.exists(path)]
        sys.path_importer_cache.clear()  # the folders are those of the sandbox now
        if "numpy.random" in sys.modules:
            sys.modules["numpy.random"].seed()  # Python's own generator is seeded anew by every fork, NumPy's is not
        worker.main()
    finally:
        os._exit(1)


def confine(kept: int, program: bytes) -> None:
    """Gives up all rights but these, for ever, and puts every system call under this filter, if there is one."""
    number = 0
    while libc.prctl(READ_BOUND, number, 0, 0, 0) >= 0:
        if not kept & 1 << number and libc.prctl(DROP_BOUND, number, 0, 0, 0):
            raise OSError(ctypes.get_errno(), "a right cannot be given up")
        number += 1
    capable(kept)
    if libc.prctl(NO_NEW_PRIVILEGES, 1, 0, 0, 0):
        raise OSError(ctypes.get_errno(), "new rights cannot be refused")
    if program:
        held = ctypes.create_string_buffer(program, len(program))
        filtered = struct.pack("HP", len(program) // 8, ctypes.addressof(held))
        if libc.prctl(FILTER, BY_PROGRAM, ctypes.c_char_p(filtered), 0, 0):
            raise OSError(ctypes.get_errno(), "the filter cannot be set")


def capable(kept: int) -> None:
    """Keeps these capabilities, as bits, and no other."""
    head = struct.pack("Ii", CAPABILITIES, 0)
    if libc.capset(head, struct.pack("6I", kept, kept, 0, 0, 0, 0)):
        raise OSError(ctypes.get_errno(), "rights cannot be given up")


def look(spaces: dict[str, str], kept: int, filtered: bool) -> None:
    """Raises OSError unless the kernel itself says that this process stands behind all walls."""
    here = {name: os.readlink(f"/proc/self/ns/{name}") for name in spaces}
    with open("/proc/self/status", encoding="utf-8") as file:
        state = dict(line.rstrip("\n").split(":\t", 1) for line in file if ":\t" in line)
    bare = all(int(state[name], 16) & ~kept == 0 for name in ("CapPrm", "CapEff", "CapBnd", "CapInh", "CapAmb"))
    alone = sorted(os.listdir("/proc/self/task")) == [str(os.getpid())]
    walled = state["NoNewPrivs"].strip() == "1" and (not filtered or state["Seccomp"].strip() == "2")
    if here != spaces or not (bare and alone and walled):
        raise OSError("a wall is missing")
