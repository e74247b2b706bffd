"""The walls around a student's code: which command starts its process, and what that process sees and may use.

    bwrap            bubblewrap: no network, a read-only system without the course, private folders in memory that
                     vanish, a user of its own
    docker, podman   the same with a container, of an image that holds Python and the homework's libraries
    none             a plain process with limits only: it can read and change what the person who grades can

In all of them the process has limits on memory, processes, file size and open files, and `lmbook` is a copy without the
modules that hold the answers.
"""

import os
import secrets
import shutil
import subprocess
import sys
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

import lmbook
from lmbook_grader.sandbox import seccomp
from lmbook_press.book import BookError

BACKENDS = ("bwrap", "docker", "podman", "none")
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
    """

    words: list[str]
    settings: dict
    descriptors: tuple[int, ...] = ()
    environment: dict[str, str] = field(default_factory=dict)
    stop: list[str] | None = None
    private: tuple[str, ...] = ()

    @property
    def walls(self) -> list[str]:
        """Of bubblewrap's command what stands before the program, without the rights that only the worker needs."""
        words = self.words[: self.words.index("--")]
        added = {at for at, word in enumerate(words) if word == "--cap-add"}
        return [word for at, word in enumerate(words) if not added & {at, at - 1}]


def available(backend: str) -> str | None:
    """None where this backend works on this machine, otherwise a sentence that says why not and what to do."""
    if backend not in BACKENDS:
        return f"There is no sandbox {backend}; there are {', '.join(BACKENDS)}."
    if backend == "none":
        return None
    return _bwrap_fault() if backend == "bwrap" else _engine_fault(backend)


@cache
def _bwrap_fault() -> str | None:
    if not sys.platform.startswith("linux"):
        return "bubblewrap is for Linux; use --sandbox docker or --sandbox podman."
    if not shutil.which("bwrap"):
        return "bubblewrap is not installed: apt-get install bubblewrap (or dnf, pacman), or use --sandbox docker."
    words = [*_bwrap_walls(), *_system(), "--", "/bin/true"]
    tried = subprocess.run(words, capture_output=True, text=True, env={"PATH": os.defpath}, timeout=60)
    if tried.returncode:
        return (
            f"bubblewrap does not work here ({tried.stderr.strip() or 'it gives no reason'}). "
            "Where ordinary users may make no namespaces (Ubuntu 24.04), an administrator sets "
            "kernel.apparmor_restrict_unprivileged_userns=0."
        )
    return None


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
        text = f'raise ImportError("{name} holds answers of this homework and is closed while it is graded.")\n'
        if path.is_dir():
            shutil.rmtree(path)
            path.mkdir()
            (path / "__init__.py").write_text(text)
        else:
            path.with_suffix(".py").write_text(text)
    return folder


def command(backend: str, limits: Limits, package: Path, image: str | None = None) -> Command:
    """The command that starts a worker behind these walls.  package: the folder made by `copy_package`."""
    if backend == "none":
        return _plain(limits, package)
    if backend == "bwrap":
        return _bwrap(limits, package)
    return _container(backend, limits, package, image or IMAGE)


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


def _bwrap_walls() -> list[str]:
    words = ["bwrap", "--unshare-ipc", "--unshare-pid", "--unshare-net", "--unshare-uts", "--unshare-cgroup-try"]
    words += ["--die-with-parent", "--new-session", "--hostname", "grading"]
    if os.getuid() == 0:
        # The worker gives root up itself: only a real user number is subject to the limit on processes.
        return [*words, "--cap-drop", "ALL", "--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID"]
    return [*words, "--unshare-user", "--uid", "65534", "--gid", "65534"]


def _system() -> list[str]:
    """The system, read-only: programs, libraries and this Python, nothing else of the disk."""
    words = ["--ro-bind", "/usr", "/usr"]
    for name in ("/bin", "/sbin", "/lib", "/lib32", "/lib64"):
        if os.path.islink(name):
            words += ["--symlink", os.readlink(name), name]
        elif os.path.isdir(name):
            words += ["--ro-bind", name, name]
    words += [*_above("/etc/fonts"), *_above("/sys/devices/system/cpu")]
    for name in ("/etc/ld.so.cache", "/etc/alternatives", "/etc/fonts", "/etc/localtime", "/sys/devices/system/cpu"):
        words += ["--ro-bind-try", name, name]
    for folder in _python_folders():
        words += [*_above(folder), "--ro-bind", folder, folder]
    return words


def _above(path: str) -> list[str]:
    """The folders above a path, made so that any user may pass them: bubblewrap makes them for its own user alone."""
    parents = [str(folder) for folder in reversed(Path(path).parents)][1:]
    return [word for folder in parents for word in ("--perms", "0755", "--dir", folder)]


def _python_folders() -> list[str]:
    """Where Python and its libraries lie, outside /usr."""
    sites = [path for path in sys.path if Path(path).name in ("site-packages", "dist-packages")]
    found = []
    for path in (sys.base_prefix, sys.prefix, *sites):
        for folder in dict.fromkeys((os.path.abspath(path), os.path.realpath(path))):
            known = folder == "/" or any(Path(folder).is_relative_to(other) for other in ("/usr", *found))
            if os.path.isdir(folder) and not known:
                found.append(folder)
    return found


def _bwrap(limits: Limits, package: Path) -> Command:
    room = str(limits.files * MEGABYTE)
    # /tmp first: the book's own folder, with its Python, may lie in it.
    words = [*_bwrap_walls(), *_above(HOME), *_scratch("/tmp", room), *_scratch(HOME, room), *_system()]
    words += ["--proc", "/proc", "--dev", "/dev", *_scratch("/dev/shm", room), *_above(f"{WORKER}/worker.py")]
    for folder in _other_copies():
        words += ["--tmpfs", folder, "--remount-ro", folder]
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


def _scratch(folder: str, room: str) -> list[str]:
    """A folder in memory that anybody may write to."""
    return ["--perms", "1777", "--size", room, "--tmpfs", folder]


def _private(package: Path) -> tuple[str, ...]:
    """Folders whose names say who grades where, the longest first: they stand in tracebacks and in /proc."""
    folders = {str(package), str(LMBOOK.parents[1]), str(Path.home()), *_python_folders()}
    return tuple(sorted((name for name in folders if len(Path(name).parts) > 2), key=len, reverse=True))


def _other_copies() -> list[str]:
    """Where the packages are installed inside a folder that the sandbox sees: hidden there."""
    seen = ("/usr", *_python_folders())
    packages = (LMBOOK.parent / name for name in ("lmbook", "lmbook_press", "lmbook_exams", "lmbook_grader"))
    return [str(package) for package in packages if any(package.is_relative_to(folder) for folder in seen)]


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
    return Command(words, _settings(limits, [PACKAGE]), (), keep, [engine, "kill", name], _private(package))
