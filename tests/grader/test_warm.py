"""A warm start gives the walls of a cold one, and nothing that a run does reaches the process or the next run."""

import json
import os
import socket
import subprocess
import sys
import time
from contextlib import ExitStack, suppress
from pathlib import Path
from types import SimpleNamespace

import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from lmbook_grader.grading import execute
from lmbook_grader.sandbox import session, warm, wire
from lmbook_grader.sandbox.commands import HERE, Limits, command, copy_package
from lmbook_grader.sandbox.session import SandboxError, Session
from lmbook_grader.sandbox.warm import Warm, WarmProcess, imported

LIMITS = Limits(cell=5, check=5, total=30, memory=600, processes=40)

# What a process can see of its own walls.
LOOK = """
import os, resource, socket, sys
def look():
    status = dict(line.rstrip().split(":", 1) for line in open("/proc/self/status"))
    kept = ("Uid Gid Groups CapPrm CapEff CapAmb NoNewPrivs Seccomp Seccomp_filters SigBlk SigIgn SigCgt Umask "
            "Threads").split()
    files = [f"/proc/self/fd/{number}" for number in range(os.open("/dev/null", 0))]
    mounts = [line.split() for line in open("/proc/self/mountinfo")]
    return {
        "status": [status[name].split() for name in kept],
        "bound": int(status["CapBnd"], 16) | int(status["CapInh"], 16),
        "mounts": sorted([fields[4], fields[5], fields[-3], fields[-1]] for fields in mounts),
        "limits": [list(resource.getrlimit(kind)) for kind in range(16)],
        "environment": dict(os.environ),
        "files": [os.readlink(path).partition(":")[0] for path in files],
        "here": [os.getcwd(), sys.path, sys.argv, os.path.basename(sys.executable), socket.gethostname()],
        "others": sum(name.isdigit() for name in os.listdir("/proc")),
    }"""

# A run that leaves behind all it can.
LEAVES = """
import builtins, math, os, resource, sys, threading, time
import numpy as np
for folder in ("/tmp", "/dev/shm", "."):
    open(f"{folder}/left", "w").write("a drawn number")
np.random.rand = np.zeros = math.sqrt = lambda *a, **k: "changed"
builtins.left = os.environ["LEFT"] = "left"
sys.modules["left"] = sys.modules["math"]
sys.path.insert(0, "/tmp")
worker, wire = sys.modules["worker"], sys.modules["wire"]
worker.Worker.do_call = wire.frame.__globals__["left"] = lambda *a: "left"
resource.setrlimit(resource.RLIMIT_NOFILE, (20, 20))
os.umask(0o077)
os.chdir("/tmp")
threading.Thread(target=time.sleep, args=(1000,), daemon=True).start()
if os.fork() == 0:
    os.setsid()
    time.sleep(1000)"""

FINDS = """
import builtins, math, os, resource, sys
import numpy as np
def find():
    paths = ("/tmp/left", "/dev/shm/left", "left", "/home/student/left")
    return {
        "files": [path for path in paths if os.path.exists(path)],
        "values": [str(np.zeros(1)), math.sqrt(4), hasattr(builtins, "left"), "LEFT" in os.environ],
        "modules": ["left" in sys.modules, "/tmp" in sys.path, "left" in vars(sys.modules["wire"])],
        "limit": resource.getrlimit(resource.RLIMIT_NOFILE)[0] == 256,
        "umask": os.umask(0o022),
        "others": sum(name.isdigit() for name in os.listdir("/proc")),
        "threads": len(os.listdir("/proc/self/task")),
        "drawn": [float(np.random.rand()), __import__("random").random()],
    }"""


@pytest.fixture(scope="module")
def package(walls, tmp_path_factory) -> Path:
    return copy_package(tmp_path_factory.mktemp("package"), ["lmbook.ngram"])


@pytest.fixture(scope="module")
def process(package):
    made = WarmProcess(["numpy.random", "json"], ["scipy"])
    assert made.fault() == ""
    yield made
    made.close()
    assert made.process.returncode == 0


@pytest.fixture
def run(package, process):
    """run(source, name, cold=False): a session in which the cell has been run, and what the function returned."""
    with ExitStack() as stack:

        def ran(source: str, name: str | None = None, cold: bool = False) -> tuple[Session, object]:
            made = Session(command("bwrap", LIMITS, package), LIMITS, None if cold else process)
            stack.enter_context(made)
            said = made.ask(5, do="run", name="<cell 1>", source=source)
            assert said["is"] == "value", said
            return made, name and made.ask(5, do="call", name=name, arguments=[], options={})["value"]

        yield ran


def test_the_walls_are_those_of_a_cold_start(run):
    (_, cold), (_, warmed) = run(LOOK, "look", cold=True), run(LOOK, "look")
    assert warmed.pop("bound") & ~cold.pop("bound") == 0
    # bubblewrap's own process and the worker; here also the one that holds the walls
    assert (cold.pop("others"), warmed.pop("others")) == (2, 3)
    for name in cold:
        assert warmed[name] == cold[name]


def test_nothing_is_left_for_the_next_run(run):
    _, untouched = run(FINDS, "find", cold=True)
    left, _ = run(LEAVES)
    _, beside = run(FINDS, "find")  # while the first is still there
    left.close()
    _, after = run(FINDS, "find")
    drawn = [tuple(found.pop("drawn")) for found in (untouched, beside, after)]
    assert len({number for pair in drawn for number in pair}) == 6, "each run draws for itself"
    assert untouched.pop("others") == 2
    assert beside.pop("others") == after.pop("others") == 3
    assert untouched == beside == after
    assert after["files"] == []


def test_runs_are_in_namespaces_of_their_own(run):
    spaces = ("ipc", "mnt", "net", "pid", "uts")
    source = f"import os\ndef look():\n    return [os.readlink('/proc/self/ns/' + name) for name in {spaces}]"
    (_, first), (_, second) = run(source, "look"), run(source, "look")
    host = [os.readlink(f"/proc/self/ns/{name}") for name in spaces]
    assert len({*first, *second, *host}) == 3 * len(spaces)


@pytest.mark.parametrize(
    "attack",
    [
        "import os, signal\nfor number in (0, -1, os.getppid(), 1, 2):\n"
        "    signal.signal(15, signal.SIG_IGN)\n    try: os.kill(number, 15)\n    except OSError: pass",
        "import os\nos._exit(0)",
        "import ctypes\nctypes.string_at(0)",
        "import os\nwhile True:\n    try: os.fork()\n    except OSError: break",
        "import gc, os, sys\nfor number in range(3, 100):\n    try: os.write(number, b'x' * 50)\n"
        "    except OSError: pass\nprint([o for o in gc.get_objects() if type(o).__name__ == 'socket'])",
    ],
    ids=["signals", "exit", "crash", "forks", "open files"],
)
def test_an_attack_harms_neither_the_process_nor_the_next_run(attack, package, process, run):
    with Session(command("bwrap", LIMITS, package), LIMITS, process) as made:
        with suppress(session.Stopped):
            made.ask(2, do="run", name="<cell 1>", source=attack)
        pids = made.process.pids
    assert process.process.poll() is None
    assert run(FINDS, "find")[1]["files"] == []
    for _ in range(50):
        if not any(Path(f"/proc/{pid}").exists() for pid in pids):
            break
        time.sleep(0.1)
    assert not any(Path(f"/proc/{pid}").exists() for pid in pids), "the keeper takes the worker with it"


def test_time_and_memory_are_counted_from_the_fork(run):
    made, _ = run(
        "import time\ndef work():\n    end = time.process_time() + 0.5\n    while time.process_time() < end: pass"
    )
    before = made.charged
    assert before < 0.5
    made.ask(5, do="call", name="work", arguments=[], options={})
    made._look(1e9, 1e9, waited=False)
    assert 0.4 < made.charged - before < 2
    source = "import resource\ndef hold():\n    return [bytearray(50_000_000) for _ in range(20)]"
    assert run(source)[0].ask(5, do="call", name="hold", arguments=[], options={})["type"] == "MemoryError"


def test_what_is_closed_is_not_there_already(package):
    """A closed library is not imported beforehand, nor by another that wants it."""
    made = WarmProcess(["numpy", "nltk", "json"], ["nltk"])
    try:
        assert made.fault() == ""
        started = command("bwrap", LIMITS, package)
        started.settings["closed"] = ["nltk"]
        with Session(started, LIMITS, made) as student:
            said = student.ask(5, do="run", name="<cell 1>", source="import json, sys, nltk")
        assert (said["type"], said["text"]) == ("ImportError", f"nltk {wire.CLOSED}")
    finally:
        made.close()


UNFIT = {
    "import threading, time\nthreading.Thread(target=time.sleep, args=(99,), daemon=True).start()": "a thread",
    "import mmap\nheld = mmap.mmap(-1, 4096)": "shared memory",
    "import mmap\nheld = mmap.mmap(-1, 4096, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)": "",
}


@pytest.mark.parametrize("done", UNFIT, ids=["a thread", "shared memory", "nothing"])
def test_a_process_whose_forks_would_share_something_says_so(done):
    code = f"import os, sys\nsys.path.insert(0, {str(HERE)!r})\nimport forker\n{done}\nprint(forker.unfit())"
    made = subprocess.run([sys.executable, "-c", f"{code}\nsys.stdout.flush()\nos._exit(0)"], capture_output=True)
    assert UNFIT[done] in made.stdout.decode()
    assert bool(UNFIT[done]) == bool(made.stdout.strip()), made.stderr


def test_where_there_is_no_warm_process_runs_start_cold(package, process, monkeypatch):
    with Warm(["numpy", "no_such_module_at_all"], [[], []], package) as none:
        assert none.wait() == {(): "an import failed"}
        assert none.of([]) is None
    homework = SimpleNamespace(closed=[], questions=[], release=new_notebook(cells=[]))
    placed = SimpleNamespace(missing=[], notebook=homework.release)
    runs = execute.Runs(homework, placed, lambda: command("bwrap", LIMITS, package), LIMITS, warm=none)
    with runs.session() as cold:
        assert len(cold.process.pids) == 1
    none.processes[()] = process
    with runs.session() as warmed:
        assert len(warmed.process.pids) == 2
    monkeypatch.setattr(warm, "NEEDED", {"ipc", "time"})  # a wall that bubblewrap does not put up
    with pytest.raises(SandboxError, match="shares time"):
        Session(command("bwrap", LIMITS, package), LIMITS, process)
    with runs.session() as cold:
        assert len(cold.process.pids) == 1


def test_a_worker_that_finds_a_wall_missing_ends(package, process, monkeypatch):
    """The worker asks the kernel where it stands, and does not go on anywhere else."""
    sent = socket.send_fds

    def elsewhere(line, buffers, files):
        asked = json.loads(buffers[0])
        asked["flags"] &= ~warm.NAMESPACES["net"]
        return sent(line, [json.dumps(asked).encode()], files)

    monkeypatch.setattr(socket, "send_fds", elsewhere)
    with pytest.raises(SandboxError, match="could not be started"):
        Session(command("bwrap", LIMITS, package), LIMITS, process)


def test_the_modules_are_those_that_the_given_cells_import():
    cells = [new_markdown_cell("import this"), new_code_cell("import json, os.path\nfrom lmbook.text import words")]
    cells += [new_code_cell("from math import pi\nimport no_such_module_at_all"), new_code_cell("%magic")]
    assert imported(cells) == ["json", "os.path", "math"]
    assert imported([new_code_cell("import torch")]) == ["torch", "torch._dynamo"]
