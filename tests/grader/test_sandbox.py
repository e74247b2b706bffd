"""The walls: what the commands say, and what the kernel is told to refuse.  What they hold is tested in hostile/."""

import errno
import io
import os
import re
import shutil
import struct
import subprocess
import sys
import time
from pathlib import Path

import pytest

from lmbook_grader.sandbox import commands, seccomp, session
from lmbook_grader.sandbox import walls as bubblewrap
from lmbook_grader.sandbox.commands import Limits, available, command, copy_package
from lmbook_grader.sandbox.session import Session, used
from lmbook_press.book import BookError


@pytest.fixture
def package(tmp_path) -> Path:
    return copy_package(tmp_path / "package", ["lmbook.ngram", "lmbook.figures"])


def pairs(words: list[str], option: str) -> list[str]:
    return [words[at + 1] for at, word in enumerate(words) if word == option]


@pytest.mark.parametrize("engine", ["docker", "podman"])
def test_a_container_has_the_same_walls(engine, package):
    limits = Limits(memory=700, processes=20, files=30)
    made = command(engine, limits, package, "an-image")
    words = made.words
    assert words[:2] == [engine, "run"]
    for option, value in {
        "--network": "none", "--user": "65534:65534", "--cap-drop": "ALL", "--security-opt": "no-new-privileges",
        "--memory": "700m", "--memory-swap": "700m", "--pids-limit": "20",
    }.items():  # fmt: skip
        assert pairs(words, option) == [value]
    assert {"--rm", "--read-only", "--interactive"} <= set(words)
    assert "--tty" not in words
    assert "--privileged" not in words
    mounts = [mount.split(":") for mount in pairs(words, "--volume")]
    assert all(mode == "ro" for _, _, mode in mounts)
    assert {Path(source).name for source, _, _ in mounts} == {"worker.py", "wire.py", "package"}
    assert all("size=30m" in mount for mount in pairs(words, "--tmpfs"))
    image = words.index("an-image")
    assert words[image + 1] == "python3"
    assert made.stop == [engine, "kill", pairs(words, "--name")[0]]
    assert command(engine, limits, package).stop != made.stop
    assert "an-image" not in command(engine, limits, package).words


def test_a_container_engine_that_is_called(tmp_path, package, monkeypatch):
    """A stand-in for the engine runs the worker as the image would; at the end the container is ended by name."""
    stopped = tmp_path / "stopped"
    source, (worker, wire) = tmp_path / "docker", (commands.HERE / "worker.py", commands.HERE / "wire.py")
    assert worker.parent == wire.parent
    source.write_text(
        f"#!/bin/sh\nif [ $1 = kill ]; then echo $2 > {stopped}; exit; fi\n"
        f"[ $1 = run ] || exit 0\nexec {sys.executable} -E -s -B {worker}\n"
    )
    source.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    made = command("docker", Limits(), package)
    with Session(made, Limits()) as session:
        assert session.ask(5, do="run", name="<cell 1>", source="def f(x):\n    return [x]")["is"] == "value"
        assert session.ask(5, do="call", name="f", arguments=[3], options={})["value"] == [3]
    assert stopped.read_text().strip() == made.stop[-1]


def test_what_is_missing_is_said_with_the_remedy(monkeypatch):
    assert available("wall") == "There is no sandbox wall; there are bwrap, docker, podman, alone, none."
    assert available("none") is None
    monkeypatch.setattr(shutil, "which", lambda name: None)
    for check in (commands._bwrap_fault, commands._engine_fault):
        check.cache_clear()
    try:
        assert "apt-get install bubblewrap" in available("bwrap")
        assert "podman is not installed" in available("podman")
    finally:
        for check in (commands._bwrap_fault, commands._engine_fault):
            check.cache_clear()


def test_the_copy_of_the_package_has_no_answers(package):
    made = package / "lmbook"
    assert "raise ImportError" in (made / "ngram.py").read_text()
    assert [file.name for file in (made / "figures").iterdir()] == ["__init__.py"]
    assert (made / "text.py").read_bytes() == (commands.LMBOOK / "text.py").read_bytes()
    assert not [name for name in ("recipes", "recorded", "trained") if (made / "lab" / name).exists()]
    assert not list(made.rglob("*.pyc"))
    for name in ("nltk", "lmbook", "lmbook.no_such_module"):
        with pytest.raises(BookError, match=re.escape(name)):
            copy_package(package, [name])


def test_the_course_and_the_home_folder_are_not_in_the_command(walls, package):
    made = command("bwrap", Limits(), package)
    os.close(made.descriptors[0]) if made.descriptors else None
    seen = [word for option in ("--ro-bind", "--ro-bind-try") for word in pairs(made.words, option)]
    root = Path(__file__).parents[2]
    for folder in (root / "notebooks", root / "src"):
        assert not any(folder.is_relative_to(path) for path in seen)
    assert not {"/", "/home", "/root", "/etc", str(Path.home())} & set(seen)
    assert not any(word.startswith("--bind") or word.startswith("--dev-bind") for word in made.words)


def test_what_the_grader_takes_is_not_the_students_time(walls, package, monkeypatch):
    """On a crowded machine the grader waits too: between two calls, and between a question and its answer."""
    send = Session._send

    def slowly(session, data, *limits):
        send(session, data, *limits)
        time.sleep(0.5)

    with Session(command("bwrap", Limits(), package), Limits()) as session:
        code = "import time\ndef f(x):\n    time.sleep(x)"
        session.ask(5, do="run", name="<cell 1>", source=code)
        before = session.charged
        monkeypatch.setattr(Session, "_send", slowly)
        for _ in range(3):
            time.sleep(0.5)
            session.ask(5, do="call", name="f", arguments=[0], options={})
        assert session.charged - before < 0.5
        monkeypatch.undo()
        session.ask(5, do="call", name="f", arguments=[1.5], options={})
        assert session.charged - before > 1


def test_inside_there_is_little_and_it_cannot_be_changed(walls, package):
    code = """
import os
def look():
    places = ("/", "/usr", "/opt", "/etc", "/dev", "/opt/lmbook-package")
    writable = [place for place in places if os.access(place, os.W_OK)]
    network = open("/proc/net/dev").read().count(":")
    return writable, network, os.getuid(), os.listdir("/home"), sorted(os.environ), os.getcwd()
"""
    with Session(command("bwrap", Limits(), package), Limits()) as session:
        session.ask(5, do="run", name="<cell 1>", source=code)
        seen = session.ask(5, do="call", name="look", arguments=[], options={})["value"]
    writable, network, user, home, names, here = seen
    assert writable == []
    assert network == 1, "the loopback device alone"
    assert user not in (0, os.getuid()) or os.getuid() != 0
    environment = Path(sys.prefix)  # of Python, and with it the way there; a clone in /home has it below it
    way = environment.parts[2:3] if environment.is_relative_to("/home") else ()
    assert (set(home), here) == ({"student", *way}, "/home/student")
    assert not {name for name in names if "TOKEN" in name or "KEY" in name or "SSH" in name}
    assert "LMBOOK_DATA" not in names


def test_the_walls_stand_for_an_ordinary_user_too(walls, monkeypatch):
    monkeypatch.setattr(os, "getuid", lambda: 1000)
    words = [*bubblewrap.walls(), "--ro-bind", "/usr", "/usr", *bubblewrap.above("/opt/x")]
    for name in ("/lib", "/lib64", "/bin"):
        words += ["--symlink", f"usr{name}", name]
    other = {"user": 65533, "group": 65533, "extra_groups": []} if os.geteuid() == 0 else {}
    made = subprocess.run([*words, "--", "/bin/id", "-u"], capture_output=True, **other)
    assert made.stdout.strip() == b"65534", made.stderr


def decided(program: bytes, architecture: int, number: int, argument: int = 0, second: int = 0) -> int:
    """What the filter answers, by an interpreter of the four instructions that it uses."""
    steps = [struct.unpack("=HBBI", program[at : at + 8]) for at in range(0, len(program), 8)]
    held = {0: number, 4: architecture, 16: argument, 24: second}
    at = value = 0
    while True:
        code, yes, no, k = steps[at]
        if code == seccomp.RETURN:
            return k
        if code == seccomp.LOAD:
            value, at = held[k], at + 1
            continue
        test = {seccomp.EQUAL: value == k, seccomp.AT_LEAST: value >= k, seccomp.ANY_BIT: bool(value & k)}[code]
        at += 1 + (yes if test else no)


@pytest.mark.parametrize("machine", seccomp.MACHINES)
def test_the_filter_refuses_what_it_names_and_nothing_else(machine):
    architecture, numbers, clone, clone3, fcntl = seccomp.MACHINES[machine]
    program = seccomp.program(machine)
    refused = {number for number in range(600) if decided(program, architecture, number) != seccomp.ALLOW}
    assert refused == {*numbers, clone3}
    assert len(numbers) == len(set(numbers)) == len(seccomp.NAMES.split())
    assert decided(program, architecture, numbers[0]) == seccomp.REFUSE | errno.EPERM
    assert decided(program, architecture ^ 1, 1) == seccomp.KILL
    thread, new_user = 0x3D0F00, 0x10000000
    assert decided(program, architecture, clone, thread) == seccomp.ALLOW
    assert decided(program, architecture, clone, thread | new_user) != seccomp.ALLOW
    refused = {second for second in range(2000) if decided(program, architecture, fcntl, 3, second) != seccomp.ALLOW}
    assert refused == set(seccomp.LOCKS) == {*range(5, 8), *range(36, 39), *range(1024, 1027)}
    assert decided(program, architecture, 0x40000000 + 41) != seccomp.ALLOW
    assert seccomp.program("vax") is None


def test_the_numbers_are_those_of_the_kernels_headers():
    """Where they are installed; the attacks test the calls themselves."""
    for machine, pattern in (("x86_64", "*/asm/unistd_64.h"), ("aarch64", "asm-generic/unistd.h")):
        for header in Path("/usr/include").glob(pattern):
            known = dict(re.findall(r"#define __NR3?2?6?4?_(\w+)\s+(\d+)", header.read_text()))
            for name, number in zip(seccomp.NAMES.split(), seccomp.MACHINES[machine][1], strict=True):
                assert int(known.get(name, number)) == number, (machine, name)


@pytest.mark.parametrize(
    ("state", "below", "busy"), [("D", "", True), ("D", "8", False), ("R", "8", True), ("S", "", False)]
)
def test_waiting_for_a_child_that_sleeps_is_sleeping(monkeypatch, state, below, busy):
    """vfork holds the parent in the state D, as if it waited for a disk, for as long as the child sleeps."""
    numbers = " ".join(["0"] * 40)
    files = {"/proc/7/stat": f"7 (python) {state} {numbers}", "/proc/7/task/7/children": below}
    files |= {"/proc/8/stat": f"8 (python) S {numbers}", "/proc/8/task/8/children": ""}
    monkeypatch.setattr(session, "open", lambda name, **_: io.StringIO(files[name]), raising=False)
    monkeypatch.setattr(session.os, "listdir", lambda name: [name.split("/")[2]])
    assert used(7)[2] == busy


def test_what_a_process_uses_counts_all_below_it():
    code = (
        "import subprocess, sys; subprocess.run([sys.executable, '-c', 'x = bytearray(200_000_000)\\nwhile 1: pass'])"
    )
    with subprocess.Popen([sys.executable, "-c", code], start_new_session=True) as process:
        try:
            end = time.monotonic() + 60  # a busy machine gives it little of itself
            while time.monotonic() < end:
                computed, memory, busy = used(process.pid)
                if computed > 0.3 and memory > 200_000_000:
                    break
            assert busy
            assert computed > 0.3
            assert memory > 200_000_000
        finally:
            os.killpg(process.pid, 9)
    assert used(process.pid) == (0, 0, False)


def test_a_book_that_lies_in_tmp_is_seen_in_the_sandbox(monkeypatch, tmp_path):
    """The private /tmp is put up before the folders of Python, so that it does not hide one that lies in it."""
    monkeypatch.setattr(bubblewrap, "python_parts", lambda: ["/tmp/book/.venv"])
    words = " ".join(commands.command("bwrap", commands.Limits(), tmp_path).words)
    assert 0 < words.index("--tmpfs /tmp ") < words.index("--ro-bind /tmp/book/.venv /tmp/book/.venv")


def test_what_was_printed_before_the_process_ended_is_read_to_its_end():
    """Both pipes may be found ready at once, the end of the answers first."""
    (answers, answering), (printed, printing) = os.pipe(), os.pipe()
    os.write(printing, 60_000 * b"x")
    os.close(answering)
    os.close(printing)
    one = Session.__new__(Session)  # without a process: what it left in its pipes
    one.pipes, one.limits = {"stdout": answers, "stderr": printed}, Limits()
    one.received, one.printed, one.cut, one.looked = bytearray(), b"", False, time.monotonic()
    with pytest.raises(session.ProcessDied):
        one._answer(time.monotonic() + 60)
    assert one.printed == (60_000 * b"x")[: 4 * one.limits.output]
    for pipe in (answers, printed):
        os.close(pipe)
