"""What goes to the site beside Pyodide's files: the book's source and what it needs, as archives, and the manifest."""

import gzip
import hashlib
import importlib.metadata
import importlib.util
import io
import json
import shutil
import zipfile
from collections.abc import Iterable
from functools import cache
from pathlib import Path

import lmbook
from lmbook.data import fetch
from lmbook_press.site.python import files

HERE = Path(__file__).parent
INSIDE = HERE / "inside"
# A page needs the lesson's code. What is recorded about trainings is a pack of its own; weights stay where they are.
LESSON = (".py", ".json", ".txt", ".toml", ".mjs", ".css", ".wasm")
RECORDS = ("lmbook/lab/recorded/", "lmbook/lab/trained/", "lmbook/lab/tables.toml")
# What a page loads by these names: the newest, since all of them change together.
SCRIPTS = ("kernel.mjs", "cells.mjs", "steps.mjs", "outputs.mjs", "cells.css", "codemirror.js")
LOOPS = Path(lmbook.__file__).parent / "figures" / "engine" / "kernels.wasm"  # which multiply large matrices
TITLES = {"numpy": "NumPy", "matplotlib": "Matplotlib", "lmbook": "the book's own code", "records": "recorded results"}
TITLES |= {"traitlets": "traitlets", "grader": "the checks of the homework", "torch": "the book's part of PyTorch"}
TITLES |= {"trained": "trained models", "taggers": "trained taggers"}
# Models that cells and figures of chapters with the page's PyTorch load, by pack.
TRAINED = {
    "trained": (
        "shakespeare-rnn", "shakespeare-lstm", "shakespeare-gru", "sms-spam", "captions-feedforward", "names-gpt",
        "skip-gram-page",
    ),
    "taggers": ("ewt-left", "ewt-lstm", "sms-spam-left"),
}  # fmt: skip


def archive(entries: Iterable[tuple[str, bytes]]) -> bytes:
    """A zip of files, the same bytes for the same files."""
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as zipped:
        for name, data in sorted(entries):
            zipped.writestr(zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0)), data, zipfile.ZIP_DEFLATED)
    return made.getvalue()


def tree(folder: Path, under: str = "", kinds: tuple[str, ...] = (".py",)) -> list[tuple[str, bytes]]:
    """The files of a folder, with their places below it."""
    found = (file for file in folder.rglob("*") if file.suffix in kinds and "__pycache__" not in file.parts)
    return [(f"{under}{file.relative_to(folder).as_posix()}", file.read_bytes()) for file in found]


def place(package: str) -> Path:
    """The folder of an installed package."""
    return Path(importlib.util.find_spec(package).origin).parent


def licences(*distributions: str) -> list[tuple[str, bytes]]:
    """The licence files of installed packages, whose code goes with ours."""
    found = []
    for name in distributions:
        for file in importlib.metadata.distribution(name).files or []:
            if "dist-info" in file.parts[0] and file.name.upper().startswith(("LICENSE", "LICENCE", "COPYING")):
                found.append((f"licences/{name}-{file.name}", Path(file.locate()).read_bytes()))
    return found


def archives() -> dict[str, bytes]:
    """The archives by name: kernel, lesson, records, grader, traitlets, what stands for torch, trained models."""
    lesson = tree(place("lmbook"), "lmbook/", LESSON)
    apart = [(name, data) for name, data in lesson if name.startswith(RECORDS)]
    names = {name for name, _ in apart}
    printer = place("IPython") / "lib" / "pretty.py"
    kernel = [*tree(INSIDE), ("IPython/lib/pretty.py", printer.read_bytes()), *licences("ipython")]
    return {
        "kernel.zip": archive([*kernel, ("IPython/lib/__init__.py", b"")]),
        "lmbook.zip": archive([entry for entry in lesson if entry[0] not in names]),
        "records.zip": archive(apart),
        "grader.zip": archive([*of_the_grader(), *of_the_press()]),
        "torch.zip": archive(tree(place("lmbook_torch"), "torch/")),
        **{f"{pack}.zip": archive(weights(names)) for pack, names in TRAINED.items()},
        "traitlets.zip": archive([*tree(place("traitlets"), "traitlets/"), *licences("traitlets")]),
    }


def weights(names: Iterable[str]) -> list[tuple[str, bytes]]:
    """The files of trained models and their cards, with their places in the package."""
    folder = place("lmbook") / "lab" / "trained"
    files = [f"{name}{suffix}" for name in names for suffix in (".safetensors", ".json")]
    return [(f"lmbook/lab/trained/{file}", (folder / file).read_bytes()) for file in files]


def of_the_grader() -> list[tuple[str, bytes]]:
    """What of the grader `lmbook homework check` needs."""
    left = ("copies", "course", "platforms", "talk")
    found = tree(place("lmbook_grader"), "lmbook_grader/")
    return [entry for entry in found if entry[0].split("/")[1] not in left]


def of_the_press() -> list[tuple[str, bytes]]:
    """What the grader needs of the press: how a homework is read."""
    press = place("lmbook_press")
    files = [press / f"{name}.py" for name in ("__init__", "book", "normalize", "unseen")]
    files += sorted((press / "assignments").glob("*.py"))
    return [(f"lmbook_press/{file.relative_to(press).as_posix()}", file.read_bytes()) for file in files]


def packed(data: bytes) -> bytes:
    """As it lies on the site; the page unpacks it while it comes."""
    return gzip.compress(data, 9, mtime=0)


def pyodide_lock() -> bytes:
    """The part of Pyodide's lock that its loader reads: packages with their files and checksums."""
    lock = files.lock()
    packages = {
        name: {"name": name, "unvendored_tests": False, "sha256": lock["files"][about["file_name"]]["sha256"], **about}
        for name, about in lock["packages"].items()
    }
    return json.dumps({"info": lock["info"], "packages": packages}).encode()


def notices() -> str:
    """Whose work the folder holds, and on which terms."""
    given = [about for name, about in CORPORA.items() if name in corpora()]
    if torch := files.lock()["packages"].get("torch"):
        given.append(f"PyTorch {torch['version']}           BSD 3-Clause, pytorch.org")
    info = files.lock()["info"]
    text = (HERE / "licences.txt").read_text(encoding="utf8")
    return text.format(pyodide=info["version"], python=info["python"]) + "".join(f"{line}\n" for line in given)


def wheels(package: str) -> list[str]:
    """The wheels of one of Pyodide's packages and of all that it needs."""
    about = files.lock()["packages"][package]
    below = [wheel for name in about["depends"] for wheel in wheels(name)]
    return list(dict.fromkeys([about["file_name"], *below]))


# Corpora that anybody may hand on, with what has to be said then.
CORPORA = {
    "tinyshakespeare": "Tiny Shakespeare, in the public domain, selected by A. Karpathy",
    "wikitext2": "WikiText-2, by S. Merity et al. from articles of Wikipedia's authors, CC BY-SA 3.0",
}


@cache
def corpora() -> dict[str, dict[str, bytes]]:
    """Of CORPORA those that are to be had, by name: their files, packed. A site without them has the built-in text."""
    found = {}
    for name in CORPORA:
        try:
            texts = {file["name"]: fetch.read(name, file["name"])[0] for file in fetch.card(name)["files"]}
        except fetch.DataError:
            continue
        found[name] = {f"{name}-{file}.gz": packed(text) for file, text in texts.items()}
    return found


def packs() -> dict[str, dict]:
    """What can be loaded after Python itself, by name: its files, and what in code asks for it."""
    found: dict[str, dict] = {}
    listed = files.lock()["packages"]
    for name in ("numpy", "matplotlib", "torch"):
        if name in listed:
            found[name] = {"files": wheels(name), "imports": listed[name]["imports"], "pyodide": name}
    found["lmbook"] = {"files": ["lmbook.zip"], "imports": ["lmbook"], "unpack": "/lib/lmbook"}
    found["records"] = {"files": ["records.zip"], "imports": ["lmbook.lab"], "unpack": "/lib/lmbook"}
    found["grader"] = {"files": ["grader.zip"], "imports": ["lmbook_grader"], "unpack": "/lib/lmbook"}
    asking = {"trained": ["lmbook.lab.checkpoints", "trained"]}  # the second: needs.models
    asking["taggers"] = ["lmbook.lab.recipes.tagging", "lmbook.figures.directions"]
    for name, modules in asking.items():
        found[name] = {"files": [f"{name}.zip"], "imports": modules, "unpack": "/lib/lmbook"}
    torch = {"files": ["torch.zip", LOOPS.name], "imports": ["torch"], "unpack": "/lib/kernel"}
    found.setdefault("torch", {**torch, "loops": LOOPS.name})
    if "numpy" in found:
        found["numpy"]["imports"] = [*found["numpy"]["imports"], "torch"]  # which stands on it
    found["traitlets"] = {"files": ["traitlets.zip"], "imports": ["traitlets", "anywidget"], "unpack": "/lib/kernel"}
    for name, texts in corpora().items():
        put = {file: f"/cache/lmbook/data/{name}/{file.removeprefix(f'{name}-')}" for file in texts}
        found[name] = {"files": list(texts), "imports": [], "named": name, "put": put}
    titles = {**TITLES, **CORPORA, **({"torch": "PyTorch"} if "torch" in listed else {})}
    return {name: {"title": titles[name], **about} for name, about in found.items()}


def marked(name: str, data: bytes) -> str:
    """A file's name with a mark of what is in it, so that no browser shows an old one."""
    stem, dot, suffix = name.rpartition(".")
    return f"{stem}-{hashlib.sha256(data).hexdigest()[:10]}{dot}{suffix}"


def write(folder: Path, found: dict[str, Path]) -> dict:
    """Fills the folder of the site from the files of Pyodide; returns the manifest, which it writes too."""
    sizes = files.copy(folder, found, packed)
    listed: dict[str, dict] = {}
    for name, size in sizes.items():
        kind = "application/wasm" if name.endswith(".wasm") else "application/octet-stream"
        if name.endswith((".js", ".mjs")):
            kind = "text/javascript"
        listed[name] = {"at": files.served_as(name), "bytes": size, "packed": name in files.PACKED, "type": kind}
    loaded = packs()
    made = {**archives(), LOOPS.name: LOOPS.read_bytes()}
    for texts in corpora().values():
        made |= texts
    asked = {"kernel.zip", *(name for about in loaded.values() for name in about["files"])}
    own = {"pyodide-lock.json": pyodide_lock(), **{name: data for name, data in made.items() if name in asked}}
    worker = (HERE / "worker.mjs").read_bytes()
    for name, data in own.items():
        listed[name] = {"at": marked(name, data), "bytes": len(data)}
        (folder / listed[name]["at"]).write_bytes(data)
    at = marked("worker.mjs", worker)
    (folder / at).write_bytes(worker)
    for name in SCRIPTS:
        shutil.copyfile(HERE / name, folder / name)
    manifest = {
        "version": files.lock()["info"]["version"],
        "worker": at,
        "files": listed,
        "core": [*files.core(), "kernel.zip", "pyodide-lock.json"],
        "packs": loaded,
    }
    (folder / "licences.txt").write_text(notices(), encoding="utf8")
    (folder / "manifest.json").write_text(json.dumps(manifest), encoding="utf8")
    keep = {about["at"] for about in listed.values()} | {at, "manifest.json", "licences.txt", *SCRIPTS}
    for old in folder.iterdir():
        if old.is_file() and old.name not in keep:
            old.unlink()
    return manifest
