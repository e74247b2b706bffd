"""The walls around a student's code: which command starts its process, and what that process sees and may use.

    bwrap            bubblewrap: no network, a read-only system without the course, private folders in memory that
                     vanish, a user of its own
    docker, podman   the same with a container, of an image that holds Python and the homework's libraries
    alone            for a container that grades one submission: a user of its own without rights, see `alone`
    none             a plain process with limits only: it can read and change what the person who grades can

In all of them the process has limits on memory, processes, file size and open files, and `lmbook` is a copy without the
modules that hold the answers.
"""

import json
import os
import secrets
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from functools import cache, partial
from pathlib import Path

import lmbook
from lmbook_grader.sandbox import seccomp, walls, wire
from lmbook_grader.sandbox.places import places
from lmbook_press.assignments.questions import ANSWERING
from lmbook_press.book import BookError

BACKENDS = ("bwrap", "docker", "podman", "alone", "none")
ALONE = "lmbook-alone"  # a file in the prefix of a Python that is there for one submission
IMAGE = "lmbook-grading"
HERE = Path(__file__).parent
LMBOOK = Path(lmbook.__file__).parent  # what a student meets; the press and the grader are packages of their own
WORKER, PACKAGE, HOME = "/opt/lmbook-worker", "/opt/lmbook-package", "/home/student"
FIRST_USER = 200_000  # a user number for each grader: 200,000 + its process number, which no account has
PYTHON = ("-E", "-s", "-B", "-X", "utf8")  # no settings of the environment, no user's packages, no cache files
MEGABYTE = 1_000_000


@dataclass(frozen=True)
class Limits:
    """What one submission may use.  Seconds are computed or slept, not spent waiting for a crowded machine."""

    cell: float = 20  # seconds of one cell
    check: float = 10  # seconds of one check: of its visible part, and again of all calls with the hidden one
    total: float = 300  # seconds of the whole notebook
    memory: int = 2_000  # MB
    processes: int = 64
    files: int = 64  # MB, of one file and of all
    output: int = 20_000  # characters that are kept

    def of_process(self) -> dict[str, int]:
        """The limits that the process sets for itself before it reads any code of a student."""
        return {
            "RLIMIT_DATA": self.memory * MEGABYTE,
            "RLIMIT_NPROC": self.processes,
            "RLIMIT_FSIZE": self.files * MEGABYTE,
            "RLIMIT_NOFILE": 256,
            "RLIMIT_CORE": 0,
            "RLIMIT_CPU": int(3 * self.total),
        }


@dataclass(frozen=True)
class Command:
    """How a process is started.

    words: the command.  settings: the worker's first message.  descriptors: files that it inherits.
    stop: a command that ends it, where killing is not enough.  private: folders of this machine that no output names.
    image: the container's.  folder: where a process without walls begins.  alone: what `alone` is to do.
    """

    words: list[str]
    settings: dict
    descriptors: tuple[int, ...] = ()
    environment: dict[str, str] = field(default_factory=dict)
    stop: list[str] | None = None
    private: tuple[str, ...] = ()
    image: str = ""
    folder: str = "/"
    alone: dict = field(default_factory=dict)

    @property
    def walls(self) -> list[str]:
        """Of bubblewrap's command what stands before the program, without the rights that only the worker needs."""
        words = self.words[: self.words.index("--")]
        added = {at for at, word in enumerate(words) if word == "--cap-add"}
        return [word for at, word in enumerate(words) if not added & {at, at - 1}]

    def seeded(self, hash_seed: int) -> "Command":
        """The same with a seed for Python's hashes, on which the order of a set of words depends."""
        words, own = hashed(self.words, self.environment, hash_seed)
        return replace(self, words=words, environment=own)

    def closing(self, names: list[str]) -> "Command":
        """The same with these modules closed: the worker refuses them, and where a library lay there is nothing."""
        words, own = list(self.words), [f"{PACKAGE}/lmbook"] * ("lmbook" in names)
        if words[0] == "bwrap":
            covered = walls.covers(_libraries(tuple(names))) + [word for path in own for word in walls.empty(path)]
            words[words.index("--") : words.index("--")] = covered
        elif self.image:
            there = [*_libraries_of(words[0], self.image, tuple(names)), *own]
            at = words.index(self.image)
            words[at:at] = [word for path in there for word in _covered(path)]
        elif self.alone:
            shut = [*_own_libraries(names), *(name.replace(PACKAGE, self.settings["path"][0]) for name in own)]
            words[-1] = json.dumps(self.alone | {"shut": shut, "open": sorted({*self.alone["open"]} - {*shut})})
        return replace(self, words=words, settings=self.settings | {"closed": names})


def available(backend: str) -> str | None:
    """None where this backend works on this machine, otherwise a sentence that says why not and what to do."""
    if backend not in BACKENDS:
        return f"There is no sandbox {backend}; there are {', '.join(BACKENDS)}."
    if backend == "none":
        return None
    return {"bwrap": _bwrap_fault, "alone": _alone_fault}.get(backend, partial(_engine_fault, backend))()


@cache
def _bwrap_fault() -> str | None:
    if not sys.platform.startswith("linux"):
        return "bubblewrap is for Linux; use --sandbox docker or --sandbox podman."
    if not shutil.which("bwrap"):
        return "bubblewrap is not installed: apt-get install bubblewrap (or dnf, pacman), or use --sandbox docker."
    words = [*walls.walls(), *walls.system(), "--", "/bin/true"]
    tried = subprocess.run(words, capture_output=True, text=True, env={"PATH": os.defpath}, timeout=60)
    if tried.returncode:
        return (
            f"bubblewrap does not work here ({tried.stderr.strip() or 'it gives no reason'}). "
            "Where ordinary users may make no namespaces (Ubuntu 24.04), an administrator sets "
            "kernel.apparmor_restrict_unprivileged_userns=0."
        )
    return None


@cache
def _alone_fault() -> str | None:
    if os.geteuid() != 0 or not Path(sys.prefix, ALONE).is_file():
        return (
            "This sandbox is for a container that grades one submission, with a grader that is root and its own Python."
        )
    with tempfile.TemporaryDirectory() as folder:
        tried = _alone(Limits(), Path(folder)).closing([])
        asked = wire.frame(tried.settings)  # and then nothing more: it ends
        said = subprocess.run(tried.words, input=asked, capture_output=True, env=tried.environment, timeout=60)
        subprocess.run(tried.stop, env=tried.environment, timeout=60)
    why = said.stderr.decode("utf-8", "replace").strip().split("\n")[-1]
    return None if said.stdout else f"A user without rights cannot be had here ({why or 'it gives no reason'})."


@cache
def _engine_fault(engine: str) -> str | None:
    if not shutil.which(engine):
        return f"{engine} is not installed; --sandbox bwrap needs only the package bubblewrap."
    tried = subprocess.run([engine, "version"], capture_output=True, text=True, timeout=60)
    return f"{engine} does not answer: {tried.stderr.strip()}" if tried.returncode else None


def copy_package(folder: Path, blocked: list[str]) -> Path:
    """Puts a copy of lmbook into `folder`, whose blocked modules only say that they are closed; returns `folder`.

    blocked: modules or packages, "lmbook.gpt".  Raises BookError for one that lmbook does not have.
    """
    made = folder / "lmbook"
    folder.mkdir(parents=True, exist_ok=True)
    folder.chmod(0o755)  # the student's process runs as another user
    leave = shutil.ignore_patterns("__pycache__", "recipes", "recorded", "trained", "*.ipynb")
    shutil.copytree(LMBOOK, made, ignore=leave, dirs_exist_ok=True)
    for name in blocked:
        parts = name.split(".")
        path = made.joinpath(*parts[1:])
        if parts[0] != "lmbook" or len(parts) < 2 or not (path.is_dir() or path.with_suffix(".py").is_file()):
            raise BookError(f"The homework blocks {name}, which is no module of lmbook.")
        text = f'raise ImportError("{name} {wire.CLOSED}")\n'
        if path.is_dir():
            shutil.rmtree(path)
            path.mkdir()
            (path / "__init__.py").write_text(text)
        else:
            path.with_suffix(".py").write_text(text)
    return folder


def command(
    backend: str, limits: Limits, package: Path, image: str | None = None, hidden: Iterable[Path] = ()
) -> Command:
    """The command that starts a worker behind these walls.

    package: the folder made by `copy_package`.  hidden: what no student may see, wherever it lies.
    Raises BookError where it lies so that it cannot be hidden.
    """
    if backend == "none":
        return _plain(limits, package)
    if backend == "alone":
        return _alone(limits, package)
    if backend == "bwrap":
        return _bwrap(limits, package, hidden)
    return _container(backend, limits, package, image or IMAGE)


def hashed(words: Iterable[str], own: dict[str, str], hash_seed: int | None) -> tuple[list[str], dict[str, str]]:
    """The words and the environment of a Python with a seed for its hashes, which only the environment can give."""
    if hash_seed is None:
        return list(words), own
    return [word for word in words if word != "-E"], own | {"PYTHONHASHSEED": str(hash_seed)}


def environment(home: str) -> dict[str, str]:
    one = {f"{name}_NUM_THREADS": "1" for name in ("OMP", "MKL", "OPENBLAS", "NUMEXPR")}
    plain = {"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": home, "USER": "student", "LOGNAME": "student"}
    return {**plain, **one, "LANG": "C.UTF-8", "MPLBACKEND": "agg", "MPLCONFIGDIR": home, "LMBOOK_OFFLINE": "1"}


def _settings(limits: Limits, path: list[str], user: int = 0, hide: tuple[str, ...] = (), own: bool = False) -> dict:
    """The worker's first message.

    path: folders to import from.  user: the number to become, 0 for none.  hide: folders not to import from.
    own: the user number is this process's alone; only then can the kernel limit its processes.
    """
    kept = {name: value for name, value in limits.of_process().items() if own or name != "RLIMIT_NPROC"}
    return {"limits": kept, "path": path, "user": user, "hide": list(hide)}


def _plain(limits: Limits, package: Path) -> Command:
    settings = _settings(limits, [str(package)], hide=(str(HERE.parents[1]),))
    words = [sys.executable, *PYTHON, str(HERE / "worker.py")]
    return Command(words, settings, environment=environment("/tmp"), private=_private(package))


def _bwrap(limits: Limits, package: Path, hidden: Iterable[Path]) -> Command:
    room = str(limits.files * MEGABYTE)
    # /tmp first: the book's own folder, with its Python, may lie in it.
    words = [*walls.walls(), *walls.above(HOME), *walls.scratch("/tmp", room), *walls.scratch(HOME, room)]
    words += [*walls.system(), "--proc", "/proc", "--dev", "/dev", *walls.scratch("/dev/shm", room)]
    words += [*walls.covers([*walls.other_copies(), *walls.private(hidden)]), *walls.above(f"{WORKER}/worker.py")]
    for name in ("worker.py", "wire.py"):
        words += ["--ro-bind", str(HERE / name), f"{WORKER}/{name}"]
    words += ["--ro-bind", str(package), PACKAGE, "--remount-ro", "/dev", "--remount-ro", "/", "--chdir", HOME]
    descriptors, program = (), seccomp.program()
    if program is not None:
        end, start = os.pipe()
        os.write(start, program)
        os.close(start)
        descriptors = (end,)
        words += ["--seccomp", str(end)]
    words += ["--", os.path.abspath(sys.executable), *PYTHON, f"{WORKER}/worker.py"]
    user = FIRST_USER + os.getpid() if os.getuid() == 0 else 0
    settings = _settings(limits, [PACKAGE], user, own=True)
    return Command(words, settings, descriptors, environment(HOME), private=_private(package))


def _alone(limits: Limits, package: Path) -> Command:
    user = 20_000 + secrets.randbelow(40_000)  # of 16 bits, as a container may have no others
    home = tempfile.mkdtemp(prefix="student-")
    os.chown(home, user, user)
    ours = [*_own_libraries(sorted(ANSWERING)), str(package / "lmbook")]
    task = {"do": "start", "user": user, "home": home, "program": (seccomp.program() or b"").hex(), "shut": []}
    task["open"] = [path for path in ours if os.path.exists(path)]
    start = [os.path.abspath(sys.executable), *PYTHON, str(HERE / "alone.py")]
    settings = _settings(limits, [str(package)], user, (str(HERE), str(HERE.parents[1])), own=True)
    return Command(
        [*start, json.dumps(task)], settings, environment=environment(home), private=(home, *_private(package)),
        stop=[*start, json.dumps({"do": "end", "user": user, "home": home})], alone=task,
    )  # fmt: skip


def _own_libraries(names: list[str]) -> list[str]:
    """Where they lie in this Python's own prefix; it is started so that it sees no others."""
    return [path for path in _libraries(tuple(names)) if Path(path).is_relative_to(sys.prefix)]


def _private(package: Path) -> tuple[str, ...]:
    """Folders whose names say who grades where, the longest first: they stand in tracebacks and in /proc."""
    folders = {str(package), str(LMBOOK.parents[1]), str(Path.home()), *walls.python_folders()}
    return tuple(sorted((name for name in folders if len(Path(name).parts) > 2), key=len, reverse=True))


@cache
def _libraries(names: tuple[str, ...]) -> list[str]:
    return places(list(names), sys.path)


@cache
def _libraries_of(engine: str, image: str, names: tuple[str, ...]) -> list[str]:
    """Where these libraries lie in an image, which its own Python says."""
    words = [engine, "run", "--rm", "--interactive", "--network", "none", image, "python3", "-E", "-s", "-", *names]
    script = (HERE / "places.py").read_text(encoding="utf-8")
    told = subprocess.run(words, input=script, capture_output=True, text=True, timeout=120)
    if told.returncode:
        raise BookError(f"{engine} cannot start Python in the image {image}: {told.stderr.strip()[-300:]}")
    return json.loads(told.stdout)


def _covered(path: str) -> list[str]:
    """A container's words for an empty folder, or an empty file, in the place of a library's."""
    if "." in Path(path).name:
        return ["--volume", f"{os.devnull}:{path}:ro"]
    return ["--tmpfs", f"{path}:ro,size=1k"]


def _container(engine: str, limits: Limits, package: Path, image: str) -> Command:
    name, room = f"lmbook-{secrets.token_hex(8)}", f"size={limits.files}m,mode=1777"
    words = [engine, "run", "--rm", "--interactive", "--name", name, "--network", "none", "--read-only", "--init"]
    words += ["--user", "65534:65534", "--cap-drop", "ALL", "--security-opt", "no-new-privileges"]
    words += ["--memory", f"{limits.memory}m", "--memory-swap", f"{limits.memory}m", "--cpus", "1"]
    words += ["--pids-limit", str(limits.processes), "--tmpfs", f"/tmp:{room}", "--tmpfs", f"{HOME}:{room}"]
    for file in ("worker.py", "wire.py"):
        words += ["--volume", f"{HERE / file}:{WORKER}/{file}:ro"]
    words += ["--volume", f"{package}:{PACKAGE}:ro", "--workdir", HOME]
    for key, value in environment(HOME).items():
        if key != "PATH":
            words += ["--env", f"{key}={value}"]
    words += [image, "python3", *PYTHON, f"{WORKER}/worker.py"]
    keep = {key: os.environ[key] for key in ("PATH", "HOME", "DOCKER_HOST", "XDG_RUNTIME_DIR") if key in os.environ}
    return Command(words, _settings(limits, [PACKAGE]), (), keep, [engine, "kill", name], _private(package), image)
