"""Files of the corpora: found in a folder, or downloaded once, and never believed before their checksum is right.

registry.json holds, for each file, the size and the sha256 of its content, and the copies to be had: packed or not, at
which addresses. A file is looked for in this order:
    1. the folder that LMBOOK_DATA names, laid out as <corpus>/<file>, each file plain or with .gz added;
    2. the user's cache folder;
    3. the addresses, one attempt each, unless LMBOOK_OFFLINE is set to 1.
"""

import difflib
import gzip
import hashlib
import http.client
import io
import json
import os
import sys
import urllib.error
import urllib.request
import zipfile
import zlib
from functools import cache
from importlib import resources
from pathlib import Path
from urllib.parse import urlsplit

import platformdirs
from tqdm import tqdm  # the plain bar: tqdm.auto would leave a widget in the notebook

from lmbook import say, write

TIMEOUT = 8  # seconds without an answer after which the next address is tried


class DataError(RuntimeError):
    """A corpus cannot be read as asked; the message is one line that says what to do."""


class Unavailable(DataError):
    """A file is neither on this machine nor to be downloaded now."""


@cache
def registry() -> dict:
    """All corpora: {name: {title, tasks, languages, licence, citation, files}}."""
    return json.loads(resources.files("lmbook.data").joinpath("registry.json").read_text("utf-8"))["corpora"]


def card(name: str) -> dict:
    """What the registry says of a corpus. Raises DataError for an unknown name and suggests the nearest."""
    if name in registry():
        return registry()[name]
    near = difflib.get_close_matches(str(name).lower().replace("-", ""), [*registry(), "harbour"], n=1, cutoff=0.5)
    hint = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(sorted([*registry(), 'harbour']))}."
    raise DataError(f"There is no corpus {name!r}; {hint}")


def entry(name: str, file: str) -> dict:
    """The registry's entry of one file."""
    files = card(name)["files"]
    for candidate in files:
        if candidate["name"] == file:
            return candidate
    raise DataError(f"Corpus {name!r} has no file {file!r}; it has {', '.join(f['name'] for f in files)}.")


def cache_folder() -> Path:
    """Where downloaded files are kept: the folder for caches that is usual on this system."""
    return Path(platformdirs.user_cache_dir("lmbook", appauthor=False)) / "data"


def unpacked(data: bytes, copy: dict) -> bytes:
    """The content of a copy. Raises ValueError, with the reason, where it cannot be unpacked."""
    try:
        if copy["packing"] == "gzip":
            return gzip.decompress(data)
        if copy["packing"] == "zip":
            return zipfile.ZipFile(io.BytesIO(data)).read(copy["member"])
    except (OSError, EOFError, KeyError, zlib.error, zipfile.BadZipFile, NotImplementedError) as error:
        raise ValueError(f"it cannot be unpacked ({error})") from None
    return data


def check(data: bytes, expected: dict) -> None:
    """Compares size and checksum with those expected. Raises ValueError, with the reason, where they differ."""
    if "bytes" in expected and len(data) != expected["bytes"]:
        raise ValueError(f"it has {len(data):,} bytes instead of {expected['bytes']:,}")
    for algorithm in ("sha256", "sha1"):
        if algorithm in expected and (found := hashlib.new(algorithm, data).hexdigest()) != expected[algorithm]:
            raise ValueError(f"its {algorithm} is {found[:12]}… instead of {expected[algorithm][:12]}…")


def content_of(data: bytes, copy: dict, wanted: dict) -> bytes:
    """The verified content of a copy's bytes. Raises ValueError, with the reason."""
    content = unpacked(data, copy)
    check(content, wanted)
    return content


def candidates(folder: Path, name: str, file: str) -> list[tuple[Path, dict]]:
    """The places in a folder where a file may lie, and how it would be packed there."""
    wanted = entry(name, file)
    copies = [(folder / name / copy["file"], copy) for copy in wanted["copies"]]
    packed = {"file": file + ".gz", "packing": "gzip"}
    return [
        *copies,
        (folder / name / file, {"file": file, "packing": "plain"}),
        (folder / name / packed["file"], packed),
    ]


def find(folder: Path, name: str, file: str) -> tuple[Path, bytes] | None:
    """The file in a folder and its content, or None where it is not there. Raises DataError for a damaged file."""
    for place, copy in candidates(folder, name, file):
        try:
            if place.is_file():
                return place, content_of(place.read_bytes(), copy, entry(name, file))
        except ValueError as reason:
            raise DataError(f"{place} is not the file it should be: {reason}.") from None
        except OSError as error:
            raise DataError(f"{place} cannot be read: {error.strerror}.") from None
    return None


def get(address: str, size: int | None, label: str) -> bytes:
    """The bytes at an address. Raises ValueError, with the reason in a few words, where they do not all come."""
    data = bytearray()
    try:
        with urllib.request.urlopen(address, timeout=TIMEOUT) as answer:
            announced = answer.headers.get("Content-Length")
            size = size if size is not None else int(announced) if announced else None
            with tqdm(total=size, unit="B", unit_scale=True, desc=label, leave=False) as bar:
                while block := answer.read1(1 << 16):
                    data += block
                    bar.update(len(block))
                    if size is not None and len(data) > size:
                        break  # longer than it may be: what follows is not wanted
    except urllib.error.HTTPError as error:
        error.close()
        raise ValueError(f"answers HTTP {error.code}") from None
    except urllib.error.URLError as error:
        raise ValueError(f"no connection, {getattr(error.reason, 'strerror', None) or error.reason}") from None
    except (OSError, http.client.HTTPException) as error:
        raise ValueError(f"connection lost after {len(data):,} bytes, {error}") from None
    if size is not None and len(data) < size:
        raise ValueError(f"cut off after {len(data):,} of {size:,} bytes")
    return bytes(data)


def download(name: str, file: str) -> tuple[Path | None, bytes]:
    """Downloads a file, tests it and keeps it in the cache.

    Returns its place and its content. Where the cache cannot be written (read-only, disk full), one line says so and
    the place is None: the content is used all the same. Raises Unavailable when no address gives the right file.
    """
    wanted, reasons = entry(name, file), []
    for copy in wanted["copies"]:
        expected = copy if copy["packing"] != "plain" else wanted
        for address in copy["urls"]:
            try:
                data = get(address, expected.get("bytes"), f"{name}/{copy['file']}")
                check(data, expected)
                content = content_of(data, copy, wanted)
            except ValueError as reason:
                reasons.append(f"{urlsplit(address).hostname}: {reason}")
                continue
            place = cache_folder() / name / copy["file"]
            try:
                write(place, data)
            except OSError as error:
                say(f"{name}/{file} is used but not kept: {cache_folder()} cannot be written ({error.strerror}).")
                return None, content
            return place, content
    raise Unavailable(f"{name}/{file} cannot be downloaded ({'; '.join(dict.fromkeys(reasons))})")


def read(name: str, file: str) -> tuple[bytes, str, Path | None]:
    """The verified content of a file, its source ("LMBOOK_DATA", "cache" or "download") and its place.

    Raises DataError where LMBOOK_DATA is wrong, Unavailable where the file is neither here nor to be downloaded.
    """
    entry(name, file)
    if named := os.environ.get("LMBOOK_DATA"):
        folder = Path(named).expanduser()
        if not folder.is_dir():
            raise DataError(f"LMBOOK_DATA is {named!r}, which is not a folder; correct it, or unset it to download.")
        try:
            found = find(folder, name, file)
        except DataError as error:
            raise DataError(f"{error} Replace it, or unset LMBOOK_DATA to download.") from None
        if found is None:
            raise DataError(
                f"LMBOOK_DATA is {named!r}, which has no {name}/{file} (nor {file}.gz); "
                "put it there, or unset LMBOOK_DATA to download."
            )
        return found[1], "LMBOOK_DATA", found[0]
    try:
        if found := find(cache_folder(), name, file):
            return found[1], "cache", found[0]
    except DataError as error:
        say(f"{error} It is fetched anew.")
    if sys.platform == "emscripten":
        raise Unavailable(f"{name}/{file} does not come with this page")
    if os.environ.get("LMBOOK_OFFLINE", "0") not in ("", "0"):
        raise Unavailable(f"{name}/{file} is not on this machine, and LMBOOK_OFFLINE forbids to download it")
    place, content = download(name, file)
    return content, "download", place


def path(name: str, file: str) -> Path:
    """The place of a verified file on this machine, downloaded if need be; it may be packed (.gz, .zip).

    Raises DataError where there is none.
    """
    place = read(name, file)[2]
    if place is None:
        raise DataError(f"{name}/{file} cannot be kept; free or unlock {cache_folder()}, or set LMBOOK_DATA.")
    return place
