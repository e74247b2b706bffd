"""What an attacker tries: no hidden point, no hidden check seen, nothing outside touched or left running.

Each attack is the answer to the first question, which never doubles a number; the other two answers are right and keep
their points.  The canary stands in the hidden checks and is passed to the functions; it may come out nowhere.
"""

import json
import os
import re
import socket
import threading
import time
from pathlib import Path

import pytest
import small

from lmbook_grader.sandbox.warm import Warm

READS = {
    "hidden checks on disk": """
import os, re
found = []
for folder, folders, files in os.walk("/"):
    folders[:] = [name for name in folders if name not in ("proc", "sys", "dev", "lib", "usr")]
    for name in files:
        if name.endswith((".ipynb", ".json")):
            text = open(os.path.join(folder, name), errors="ignore").read()
            found += re.findall(r"canary = (\\d+)", text) + ["file"] * ("grade_id" in text)
print("found", found)
def double(x):
    return int(found[0]) * 2 if found else x""",
    "stack, globals and every object": """
import gc, sys
def texts():
    frame = sys._getframe()
    while frame:
        yield from map(repr, list(frame.f_locals.values()) + list(frame.f_globals.values()))
        frame = frame.f_back
    for thing in gc.get_objects():
        if isinstance(thing, (str, dict)):
            yield repr(thing)[:1000]
def double(x):
    print("found", x, [text for text in texts() if "BEGIN " + "HIDDEN" in text or "math.isclose(dou" in text])
    return x""",
    "history and the notebook": """
def double(x):
    for name in ("In", "_ih", "Out", "get_ipython", "__file__", "__session__"):
        print(name, globals().get(name))
    return x""",
    "the grader's memory": """
import os
def double(x):
    for number in os.listdir("/proc"):
        if number.isdigit():
            try:
                print(number, open(f"/proc/{number}/cmdline").read(), open(f"/proc/{number}/environ").read())
            except OSError as error:
                print(error)
    return x""",
    "inputs kept and printed later": """
kept = []
def double(x):
    kept.append(x)
    open("kept.txt", "a").write(f"{x}\\n")
    print("double", x)
    return x
import atexit
atexit.register(lambda: print("kept", kept))""",
    "inputs in an exception": """
def double(x):
    if x == 1: return 2
    raise type(f"Got{x}", (Exception,), {})(f"got {x}")""",
    "inputs in a type": """
def double(x):
    return 2 if x == 1 else type(f"Got{x}", (), {})()""",
}

FORGED = {
    "always equal": """
class Yes:
    def __eq__(self, other): return True
    __ne__ = __hash__ = None
    def __float__(self): return -15.0
def double(x):
    return Yes()""",
    "a number that is always equal": """
class Yes(float):
    def __eq__(self, other): return True
    def __sub__(self, other): return 0.0
    __rsub__ = __sub__
def double(x):
    return Yes(x)""",
    "a text that is always equal": """
class Yes(str):
    def __eq__(self, other): return True
    __hash__ = str.__hash__
def double(x):
    return Yes("no")""",
    "an array that is always equal": """
class Yes(np.ndarray):
    def __eq__(self, other): return True
    def __array_ufunc__(self, *arguments, **options): return True
    def __bool__(self): return True
def double(x):
    return np.array([x, x, x]).view(Yes)""",
    "patched functions": """
import builtins, math, unittest
math.isclose = np.allclose = np.array_equal = lambda *a, **k: True
builtins.AssertionError = type("Quiet", (Exception,), {})
builtins.float = builtins.abs = lambda *a: 0
def double(x):
    return x""",
    "patched assert": """
import sys
def trace(frame, event, argument):
    frame.f_trace_opcodes = True
    return trace
sys.settrace(trace)
sys.excepthook = lambda *a: None
def double(x):
    return x""",
    "a patched worker": """
import sys
worker = sys._getframe(1)
while "self" not in worker.f_locals:
    worker = worker.f_back
Worker = type(worker.f_locals["self"])
Worker._raised = lambda *a: {"is": "value", "value": True, "passed": True, "points": 100}
Worker.do_call = lambda self, task: {"passed": True, "points": 100, "status": "right"}""",
    "forged answers": """
import json, os, struct
forged = json.dumps({"dict": [["is", "value"], ["value", True], ["points", 100], ["passed", True]]}).encode()
for descriptor in range(3, 20):
    try:
        os.write(descriptor, struct.pack(">II", len(forged), 0) + forged)
    except OSError:
        pass
def double(x):
    return x""",
    "forged scores": """
import glob, json, os
for name in glob.glob("/**/results/*.json", recursive=True) + ["results/ann.json", "/tmp/ann.json"]:
    os.makedirs(os.path.dirname(name), exist_ok=True)
    json.dump({"student": "ann", "status": "graded", "questions": [{"id": "double", "points": 3}]}, open(name, "w"))
print('{"points": 3, "passed": true}')
def double(x):
    return x""",
    "noise on the pipes": """
import os
for descriptor in range(3, 20):
    try:
        os.write(descriptor, b"\\xff" * 100)
    except OSError:
        pass
def double(x):
    return x""",
    "pickle": """
import os
class Run:
    def __reduce__(self): return os.system, ("touch /tmp/attacked",)
def double(x):
    return Run()""",
    "keys that collide": """
def double(x):
    return {(2**61 - 1) * n: 0 for n in range(60_000)} if x != 1 else 2""",
    "a list of numbers that would collide in a set": """
def double(x):
    return [(2**61 - 1) * n for n in range(60_000)] if x != 1 else 2""",
    "rows that would collide in a set of tuples": """
import itertools
def double(x):
    return [list(row) for row in itertools.product((-1, -2), repeat=14)] if x != 1 else 2""",
    "a very deep list": """
def double(x):
    made = []
    for _ in range(100_000):
        made = [made]
    return made""",
    "a very long number": """
def double(x):
    return 7 ** 100_000""",
    "a very long text": """
def double(x):
    return "a" * 100_000_000""",
    "an iterator without end": """
import itertools
def double(x):
    return itertools.count()""",
}

BREAKS = {
    "a fork bomb": """
import os
def double(x):
    while True:
        try: os.fork()
        except OSError: pass""",
    "a daemon": """
import os, time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        for descriptor in range(64):
            try: os.close(descriptor)
            except OSError: pass
        time.sleep(4242)
    os._exit(0)
def double(x):
    return x""",
    "threads without end": """
import threading, time
def double(x):
    while True:
        threading.Thread(target=time.sleep, args=(1000,)).start()""",
    "a full disk": """
import os
def double(x):
    for folder in ("/tmp", "/dev/shm", ".", "/var/tmp", "/dev"):
        try:
            for number in range(1000):
                with open(f"{folder}/{number}", "wb") as file: file.write(bytes(10_000_000))
        except OSError as error:
            print(folder, error)
    return x""",
    "memory without a process": """
import ctypes, os
held = []
def double(x):
    for number in range(1000):
        held.append(os.memfd_create(str(number)))
        os.write(held[-1], bytes(60_000_000))
    return x""",
    "all processes killed": """
import os
for number in (1, -1):
    try: os.kill(number, 9)
    except OSError as error: print(error)
def double(x):
    return x""",
    "root again": """
import ctypes, os
node = lambda: os.mknod("d", 0o60666, 9)
for attempt in (lambda: os.setuid(0), lambda: os.chroot("/"), node, lambda: os.nice(-9)):
    try: attempt(); print("done")
    except OSError as error: print(error)
print(os.system("mount -t tmpfs x /tmp; su -c id; unshare -r id"))
def double(x):
    return x""",
}  # fmt: skip


@pytest.mark.parametrize("name", [*READS, *FORGED, *BREAKS])
def test_an_attack_gains_nothing_and_harms_nothing(name, grade_answers, tmp_path_factory):
    source = {**READS, **FORGED, **BREAKS}[name]
    before = {pid for pid, _ in workers()}
    result = grade_answers(double=source)
    assert result["status"] == "graded", result["why"]
    points = {question["id"]: question["points"] for question in result["questions"]}
    assert points["double"] == 0
    spoilt = name in ("forged answers", "noise on the pipes", "a patched worker", "patched functions")
    assert spoilt or (points["shares"], points["lengths"]) == (3, 2)
    assert small.CANARY not in json.dumps(result)
    assert "-7.5" not in json.dumps(result)
    assert not Path("/tmp/attacked").exists()
    assert len(result["output"]) < 25_000
    assert left_running(before, str(tmp_path_factory.getbasetemp())) == []


@pytest.mark.weekly
@pytest.mark.parametrize("name", [*READS, *FORGED, *BREAKS])
def test_an_attack_on_a_run_that_starts_cold_gains_no_more(name, grade_answers, monkeypatch, tmp_path_factory):
    """As in docker, and where a machine cannot start runs warm."""
    monkeypatch.setattr(Warm, "of", lambda *_: None)
    test_an_attack_gains_nothing_and_harms_nothing(name, grade_answers, tmp_path_factory)


WORKER = "lmbook-worker/worker.py"


def left_running(before: set[int], here: str) -> list[str]:
    """Command lines of students' processes of this test that are still there two seconds after the grading.

    before: those that were there before it.  here: the folder of this process's tests. A batch that another test kills
    while bubblewrap starts leaves walls without a student, since they end with their parent only once they stand.
    """
    for _ in range(20):
        found = [
            line
            for pid, line in workers()
            if pid not in before and owner(pid) in (1, os.getpid()) and (here in line or not line.startswith("bwrap"))
        ]
        if not found:
            return []
        time.sleep(0.1)
    return found


def workers() -> list[tuple[int, str]]:
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            line, status = (folder / "cmdline").read_text(), (folder / "status").read_text()
        except OSError:
            continue
        inside = len(re.search(r"^NSpid:(.*)", status, re.MULTILINE)[1].split()) > 1  # not what these are forked from
        if WORKER in line and inside and "\nState:\tZ" not in status:
            found.append((int(folder.name), line))
    return found


def owner(pid: int) -> int:
    """The first process above that is no student's: this test, another grader, or 1 where it was left behind."""
    while pid > 1:
        try:
            if WORKER not in Path(f"/proc/{pid}/cmdline").read_text():
                return pid
            pid = int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
        except OSError:
            return 0
    return pid


def test_nobody_is_called(grade_answers):
    """Neither a port of this machine nor a local socket can be reached."""
    heard = []
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(0.2)

        def listen():
            while not done.is_set():
                try:
                    heard.append(server.accept())
                except TimeoutError:
                    continue

        done = threading.Event()
        thread = threading.Thread(target=listen)
        thread.start()
        port = server.getsockname()[1]
        attack = f"""
import socket, urllib.request
for attempt in (lambda: socket.create_connection(("127.0.0.1", {port}), 1),
                lambda: urllib.request.urlopen("http://127.0.0.1:{port}/", timeout=1),
                lambda: socket.socket(socket.AF_UNIX).connect("\\0x"), lambda: socket.socketpair()):
    try: attempt(); print("reached")
    except Exception as error: print("no:", error)
def double(x):
    return 2 * x"""
        result = grade_answers(double=attack)
        done.set()
        thread.join()
    assert heard == []
    assert "reached" not in result["output"].split("no:")[0]
    assert result["output"].count("no:") >= 3


def test_other_students_files_are_not_there(grade_answers, tmp_path, course):
    (tmp_path / "bob.ipynb").write_text("the work of bob")
    attack = f"""
import os
folders = [{str(tmp_path)!r}, {str(course)!r}, {os.getcwd() + "/notebooks"!r}]
for path in [*folders, folders[0] + "/bob.ipynb", "/etc/passwd", {str(Path.home() / ".ssh")!r}]:
    print(os.path.exists(path))
def double(x):
    return 2 * x"""
    result = grade_answers(double=attack)
    assert result["output"].split() == ["False"] * 6
    assert sum(question["points"] for question in result["questions"]) == 8


def test_a_link_is_not_followed(grade, course, tmp_path):
    link = tmp_path / "link.ipynb"
    link.symlink_to(course / "grading/09-small.ipynb")
    result = grade(link)
    assert sum(question["points"] for question in result["questions"]) == 0
    assert result["file_sha256"] is None or result["file_sha256"].startswith("size")
    assert small.CANARY not in json.dumps(result)


def test_output_and_text_stay_text(grade_answers):
    html = "<script>alert(1)</script><img src=x onerror=alert(1)>"
    result = grade_answers(
        double=f"from IPython.display import HTML\ndisplay(HTML({html!r}))\nprint({html!r}, chr(27) + '[31m', chr(0))\n"
        "def double(x):\n    return 2 * x",
        why=html,
    )
    assert isinstance(result["output"], str)
    assert html in result["output"]
    assert "\x1b" not in result["output"]
    assert "\x00" not in result["output"]
    assert result["questions"][0]["status"] == "right"
    assert result["questions"][-1]["status"] == "manual"
