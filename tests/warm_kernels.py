"""Kernels for the chapters, forked from one process that has imported what nearly every chapter imports.

PyTorch, what it loads with the first optimizer, and Matplotlib take a kernel three seconds, as much as many a chapter
needs beside them. Nothing of `lmbook` is imported before the fork, and no chapter sees another's variables.
"""

import multiprocessing
import os
import subprocess
import sys
from multiprocessing.connection import Connection

from ipykernel import kernelapp
from jupyter_client.provisioning import local_provisioner

PRELOADED = ["torch", "torch._dynamo", "matplotlib.pyplot", "ipykernel.kernelapp"]
FORKED = "forkserver" in multiprocessing.get_all_start_methods()


def run(own_group: Connection, argv: list[str], cwd: str | None, env: dict[str, str]) -> None:
    """What the forked process does: it becomes a kernel."""
    os.setsid()
    own_group.send(True)
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
    os.environ.clear()
    os.environ.update(env)
    os.chdir(cwd or ".")
    sys.argv = [*argv, f"--IPKernelApp.parent_handle={os.getppid()}"]  # with that process it ends
    kernelapp.launch_new_instance()


class Kernel:
    """A forked process with what jupyter_client asks of subprocess.Popen."""

    stdin = stdout = stderr = None

    def __init__(self, *args: object):
        context = multiprocessing.get_context("forkserver")
        waiting, own_group = context.Pipe(duplex=False)
        self.process = context.Process(target=run, args=(own_group, *args))
        self.process.start()
        own_group.close()
        waiting.recv()  # signals go to the group, which until now was that of the tests
        self.pid = self.process.pid

    def poll(self) -> int | None:
        return self.process.exitcode

    def wait(self, timeout: float | None = None) -> int | None:
        self.process.join(timeout)
        if self.process.exitcode is None:
            raise subprocess.TimeoutExpired("kernel", timeout)
        return self.process.exitcode

    def send_signal(self, number: int) -> None:
        os.kill(self.pid, number)

    def terminate(self) -> None:
        self.process.terminate()

    def kill(self) -> None:
        self.process.kill()


def use() -> None:
    """From now on kernels of this very Python that this process starts are forked, where the machine can do that."""
    if not FORKED:
        return
    multiprocessing.get_context("forkserver").set_forkserver_preload(PRELOADED)
    started = local_provisioner.launch_kernel

    def launch(cmd: list[str], cwd: str | None = None, env: dict[str, str] | None = None, **others: object) -> object:
        if cmd[0] != sys.executable:  # a kernel of another environment
            return started(cmd, cwd=cwd, env=env, **others)
        return Kernel(cmd[cmd.index("-m") + 1 :], cwd, dict(os.environ if env is None else env))

    local_provisioner.launch_kernel = launch
