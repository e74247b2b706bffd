"""What stands inside bubblewrap's walls: the system and this Python, read-only, and nothing that is private.

A prefix of Python may be a folder with much else in it (`python -m venv .`): only the parts that Python needs are
shown.  A course, submissions or results that lie inside a part that is shown are covered by an empty folder.
"""

import os
import sys
import sysconfig
from collections.abc import Iterable
from functools import cache
from pathlib import Path

import lmbook
from lmbook_press.book import BookError

PACKAGES = Path(lmbook.__file__).parent.parent
PARTS = ("bin", "lib", "lib32", "lib64", "libexec", "include", "share", "etc", "ssl", "pyvenv.cfg")  # of a prefix
DETAILS = ("/etc/ld.so.cache", "/etc/alternatives", "/etc/fonts", "/etc/localtime", "/sys/devices/system/cpu")


def walls() -> list[str]:
    words = ["bwrap", "--unshare-ipc", "--unshare-pid", "--unshare-net", "--unshare-uts", "--unshare-cgroup-try"]
    words += ["--die-with-parent", "--new-session", "--hostname", "grading"]
    if os.getuid() == 0:
        # The worker gives root up itself: only a real user number is subject to the limit on processes.
        return [*words, "--cap-drop", "ALL", "--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID"]
    return [*words, "--unshare-user", "--uid", "65534", "--gid", "65534"]


def system() -> list[str]:
    """The system, read-only: programs, libraries and this Python, nothing else of the disk."""
    words = ["--ro-bind", "/usr", "/usr"]
    for name in ("/bin", "/sbin", "/lib", "/lib32", "/lib64"):
        if os.path.islink(name):
            words += ["--symlink", os.readlink(name), name]
        elif os.path.isdir(name):
            words += ["--ro-bind", name, name]
    words += [*above("/etc/fonts"), *above("/sys/devices/system/cpu")]
    for name in DETAILS:
        words += ["--ro-bind-try", name, name]
    for path in python_parts():
        words += [*above(path), "--ro-bind", path, path]
    return words


def above(path: str) -> list[str]:
    """The folders above a path, made so that any user may pass them: bubblewrap makes them for its own user alone."""
    parents = [str(folder) for folder in reversed(Path(path).parents)][1:]
    return [word for folder in parents for word in ("--perms", "0755", "--dir", folder)]


def scratch(folder: str, room: str) -> list[str]:
    """A folder in memory that anybody may write to."""
    return ["--perms", "1777", "--size", room, "--tmpfs", folder]


def python_folders() -> tuple[str, ...]:
    """Where Python and its libraries lie, outside /usr."""
    return _outside((*_prefixes(), *_sites()))


def python_parts() -> tuple[str, ...]:
    """What of these folders Python needs."""
    parts = [os.path.join(prefix, part) for prefix in _prefixes() for part in PARTS]
    return _outside((*parts, *_sites()))


def _prefixes() -> list[str]:
    return [path for prefix in (sys.base_prefix, sys.prefix) for path in (os.path.abspath(prefix), _real(prefix))]


def _sites() -> list[str]:
    sites = [path for path in sys.path if Path(path).name in ("site-packages", "dist-packages")]
    return [path for site in sites for path in (os.path.abspath(site), _real(site))]


@cache  # asked for every path that is hidden, and each costs a look at the disk
def _outside(paths: tuple[str, ...]) -> tuple[str, ...]:
    """Those that are there, once each, without what lies in /usr or in another of them."""
    found: list[str] = []
    for path in dict.fromkeys(paths):
        known = path == "/" or any(Path(path).is_relative_to(other) for other in ("/usr", *found))
        if os.path.exists(path) and not known:
            found.append(path)
    return tuple(found)


_real = os.path.realpath


@cache
def _places(names: tuple[str, ...]) -> list[tuple[str, Path]]:
    """These names, each with the path that it stands for."""
    return [(name, Path(_real(name))) for name in names]


def inside(path: str | Path) -> list[str]:
    """The names under which a path of this machine is seen from inside; none where it is not."""
    own = [name for name in ("/bin", "/sbin", "/lib", "/lib32", "/lib64") if not os.path.islink(name)]
    seen, real = _places(("/usr", *own, *DETAILS, *python_parts())), Path(_real(path))
    found = [os.path.join(name, real.relative_to(place)) for name, place in seen if real.is_relative_to(place)]
    return [os.path.normpath(name) for name in found if os.path.exists(name)]


def covers(paths: Iterable[str | Path]) -> list[str]:
    """bubblewrap's words for an empty folder, or an empty file, in the place of each of these."""
    words, done = [], []
    for path in sorted({name for one in paths for name in inside(one)}):  # the outer one before what lies in it
        if any(Path(path).is_relative_to(other) for other in done):
            continue
        done.append(path)
        words += empty(path) if os.path.isdir(path) else ["--ro-bind", os.devnull, path]
    return words


def empty(folder: str) -> list[str]:
    return ["--tmpfs", folder, "--remount-ro", folder]


def private(paths: Iterable[str | Path]) -> list[Path]:
    """Those that would be seen from inside.  Raises BookError for one that cannot be covered: Python lies in it."""
    libraries = [sysconfig.get_paths()[name] for name in ("stdlib", "platstdlib", "purelib", "platlib")]
    needed = [_real(path) for path in (sys.executable, *libraries, "/usr/bin", "/usr/lib") if os.path.exists(path)]
    found = [Path(path) for path in dict.fromkeys(map(str, paths)) if inside(path)]
    for path in found:
        if both := [one for one in needed if Path(one).is_relative_to(_real(path))]:
            raise BookError(
                f"{path} holds what every student's process must see ({both[0]}), so its other files cannot be hidden. "
                "Move the course, the submissions and the results to a folder of their own, as in your home."
            )
    return found


def other_copies() -> list[Path]:
    """The packages of this book, which are not to be read where they are installed."""
    return [PACKAGES / name for name in ("lmbook", "lmbook_press", "lmbook_exams", "lmbook_grader")]
