"""What `lmbook homework check` promises: the grader's libraries, its Python's syntax, and nothing else of the machine.

The grader has what `pip install lmbook` brings, and at least the Python that it asks for.  A course may have more, but
what runs with these runs there too.
"""

import ast
import importlib.metadata
import io
import os
import re
import sys
import tokenize
from dataclasses import replace
from functools import cache
from pathlib import Path

from lmbook_grader.sandbox import walls
from lmbook_grader.sandbox.commands import HERE, Command, Limits, command, environment

NAME = re.compile(r"[A-Za-z0-9._-]+")


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


@cache
def python() -> tuple[int, int]:
    """The oldest Python that a grader may have."""
    try:
        said = importlib.metadata.metadata("lmbook")["Requires-Python"] or ""
    except importlib.metadata.PackageNotFoundError:
        said = ""
    found = re.search(r">=\s*(\d+)\.(\d+)", said)
    return (int(found[1]), int(found[2])) if found else sys.version_info[:2]


@cache
def strangers() -> list[str]:
    """The modules of this machine that no grader needs to have."""
    needed, waiting = set(), ["lmbook"]
    while waiting:
        name = _normal(waiting.pop())
        if name in needed:
            continue
        needed.add(name)
        try:
            asked = importlib.metadata.requires(name) or []
        except importlib.metadata.PackageNotFoundError:
            if name == "lmbook":  # run from its source: nothing is known
                return []
            continue
        waiting += [NAME.match(one)[0] for one in asked if "extra ==" not in one]
    there = importlib.metadata.packages_distributions()
    return sorted(module for module, owners in there.items() if not needed & set(map(_normal, owners)))


def newer(source: str, version: tuple[int, int]) -> str:
    """Why a cell is no Python of this version, though this one reads it; "" where it is, or where none reads it."""
    try:
        ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ""
    try:
        ast.parse(source, feature_version=version)
    except SyntaxError as error:
        return f"line {error.lineno}: {error.msg}"
    return "" if version >= (3, 12) or sys.version_info < (3, 12) else _nested(source)


def _nested(source: str) -> str:
    """An f-string as only Python 3.12 reads it: its own quotes, a backslash or a comment inside of its braces."""
    open_ones: list[tuple[str, int]] = []
    braces = 0
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        kind = tokenize.tok_name[token.type]
        inside = bool(open_ones) and braces > open_ones[-1][1]
        if inside and kind in ("STRING", "FSTRING_START", "COMMENT", "NL"):
            quote = open_ones[-1][0]
            own = re.sub(r"^\w*", "", token.string)[: len(quote)] == quote
            if kind == "COMMENT" or own or "\\" in token.string or (kind == "NL" and len(quote) == 1):
                return f"line {token.start[0]}: quotes, a backslash or a comment inside of an f-string's braces"
        if kind == "FSTRING_START":
            open_ones.append((re.sub(r"^\w*", "", token.string), braces))
        elif kind == "FSTRING_END":
            open_ones.pop()
        elif kind == "OP" and token.string in "{}":
            braces += 1 if token.string == "{" else -1
    return ""


def as_there(limits: Limits, package: Path, home: Path, folder: Path) -> Command:
    """The command of a worker that finds what it will find at the grader's.

    home: an empty folder for the cells to work in, as the grader has one.  folder: the notebook's; the grader gets the
    notebook alone.
    """
    made = command("none", limits, package)
    here = {os.path.abspath(folder), os.path.realpath(folder)}
    libraries = [path for path in sys.path if os.path.isdir(path) and os.path.abspath(path) not in here]
    libraries = [path for path in libraries if Path(path).name in ("site-packages", "dist-packages")]
    needed = [*walls.python_parts(), *libraries, str(package), os.path.realpath(package), str(HERE)]
    system = ["/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/proc", "/sys", *walls.DETAILS]
    system += ["/System", "/Library", "/opt"] * (sys.platform == "darwin")
    alike = {
        "own": [str(home), os.path.realpath(home)], "needed": needed, "system": system, "libraries": strangers(),
        "absent": [*here, "/content", str(Path.home())],
    }  # fmt: skip
    # Libraries installed for this user alone are found too: the grader has them for all.
    settings = made.settings | {"alike": alike, "path": [*made.settings["path"], *libraries]}
    where = environment(str(home)) | {"TMPDIR": str(home)}
    return replace(made, settings=settings, environment=where, folder=str(home))
