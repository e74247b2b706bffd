"""The worker in a container that grades one submission and allows no walls inside: a user of its own, without rights.

For Gradescope, whose containers start a grader as root and, as far as Docker's defaults go, let nobody make namespaces.
The student's process gets a user number that nothing else has, no capability and no way to new ones, the same filter of
system calls as behind walls (no sockets, no debugging of others), and the same limits.  What only root may read, the
course among it, it cannot read; libraries that are closed to it are readable by root alone meanwhile.

It is started by root as a plain script beside `worker` and `forker`, with what it is to do as JSON:

    {"do": "start", "user": ..., "home": ..., "program": ..., "shut": [...], "open": [...]}   becomes the worker
    {"do": "end", "user": ..., "home": ...}        ends all that the user still runs, and removes what it left
"""

import ctypes
import json
import os
import shutil
import signal
import sys
import time

import forker
import worker

SUBREAPER = 36  # of prctl: what the student's processes leave behind stays below the worker, and is counted with it
SHARED = ("/tmp", "/var/tmp", "/dev/shm")


def start(task: dict) -> None:
    for paths, folder, file in ((task["shut"], 0o700, 0o600), (task["open"], 0o755, 0o644)):
        for path in paths:
            os.chmod(path, folder if os.path.isdir(path) else file)
    if forker.libc.prctl(SUBREAPER, 1, 0, 0, 0):
        raise OSError(ctypes.get_errno(), "its processes cannot be kept together")
    kept = 1 << forker.SETUID | 1 << forker.SETGID  # the worker gives them up with its user, before it reads a notebook
    program = bytes.fromhex(task["program"])
    os.chdir(task["home"])
    forker.confine(kept, program)
    forker.look({}, kept, bool(program))
    worker.main()


def end(task: dict) -> None:
    until = time.monotonic() + 20
    while (left := of_user(task["user"])) and time.monotonic() < until:
        for number in left:
            try:
                os.kill(number, signal.SIGKILL)
            except ProcessLookupError:
                continue
        time.sleep(0.01)
    shutil.rmtree(task["home"], ignore_errors=True)
    for folder in SHARED:
        for entry in os.scandir(folder) if os.path.isdir(folder) else ():
            if entry.stat(follow_symlinks=False).st_uid == task["user"]:
                if entry.is_dir(follow_symlinks=False):
                    shutil.rmtree(entry.path, ignore_errors=True)
                else:
                    os.unlink(entry.path)


def of_user(user: int) -> list[int]:
    """The processes that run as this user and have not ended."""
    found = []
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{name}/status", encoding="utf-8", errors="replace") as file:
                state = dict(line.rstrip("\n").split(":\t", 1) for line in file if ":\t" in line)
        except OSError:
            continue
        if str(user) in state["Uid"].split() and not state["State"].startswith("Z"):
            found.append(int(name))
    return found


if __name__ == "__main__":
    given = json.loads(sys.argv[1])
    {"start": start, "end": end}[given["do"]](given)
