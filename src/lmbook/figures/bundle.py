"""Bundles the JavaScript modules of the figures: local imports are inlined, because anywidget cannot resolve them.

    import { h, fmt as f } from "../kit/core.mjs";     ->   const { h, fmt: f } = $core;
    import * as ngram from "../engine/ngram.mjs";      ->   const ngram = $ngram;
    export { h };                               ->   (handed on, as one of the exports)

where `$core` holds the exports of core.mjs, which is placed once in front, in a function of its own, so that names
cannot clash. A module goes by its name without the folder: no two folders have one of the same name.
`import { text } from "./harbour.mjs"` gives the training set of the built-in corpus, cut into words,
`import { wasm } from "./wasm-kernels.mjs"` the bytes of kernels.wasm in base64, and
`import { program } from "./program-NAME.mjs"` the module NAME as a function: called, it returns what that exports,
and its text is a program for a worker (kit/made.d.ts).

On a site, what many figures need is a file of its own (SHARED): a page loads core and the engine once, and its figures
share one worker and one store of models. Everywhere else a figure is one text with everything inside.

Weights are not in a module. A site serves them as files of their own (`served`), which are fetched when a reader
asks for them.
"""

import base64
import hashlib
import json
import re
from functools import cache
from pathlib import Path

HERE = Path(__file__).parent
TRAINED = HERE.parent / "lab" / "trained"
_IMPORT = re.compile(
    r'^import\s+(\*\s+as\s+\w+|\{[^}]*\})\s+from\s+"\.\.?/(?:[\w-]+/)?([\w-]+)\.mjs";[^\n]*\n?', re.MULTILINE
)
_EXPORT = re.compile(r"^export\s+(?=(?:async\s+)?(?:function\*?|const|let|class)\s+(\w+))", re.MULTILINE)
# Modules that a site serves as files of their own: the parts of every figure, the line to the engine, and its program
SHARED = ("core", "live", "program-engine")
# The models that figures fetch when a reader asks for them
SERVED = (
    "bert-wikitext2",
    "caption-scores",
    "digits-patches",
    "ewt-left",
    "ewt-lstm",
    "harbourish",
    "multi30k-additive",
    "multi30k-transformer",
    "recall-128",
    "recall-32",
    "recall-64",
    "shakespeare",
    "shakespeare-gru",
    "shakespeare-lstm",
    "shakespeare-rnn",
    "skip-gram-page",
    "sms-spam",
    "sms-spam-left",
)
# What a browser need not load; lines within a template string lose their indentation too (only style sheets have such)
_FOR_PEOPLE = re.compile(r"^\s*(?://.*|/\*\*(?:(?!\*/)[\s\S])*\*/)?\n|^[ ]+", re.MULTILINE)
_HANDED_ON = re.compile(r"^export\s+\{([^}]*)\};\n", re.MULTILINE)


@cache
def files() -> dict[str, Path]:
    """The hand-written modules by name."""
    return {path.stem: path for path in sorted(HERE.rglob("*.mjs"))}


def _harbour() -> str:
    """The training set of the built-in corpus as a module: one sentence a line, tokens apart by spaces."""
    from lmbook import data

    text = " ".join(data.load("harbour")["train"]).replace(" <eos> ", "\n").removesuffix(" <eos>")
    return f"export const text = {json.dumps(text, ensure_ascii=False)};\n"


def source(name: str) -> str:
    """A local module without indentation and whole lines of comments; raises KeyError with the names there are."""
    if name == "harbour":
        return _harbour()
    if name.startswith("program-"):
        body, exports = without_exports(bundle(name.removeprefix("program-")))
        return f"export const program = () => {{\n{body}return {{ {exports} }};\n}};\n"
    if name.startswith("wasm-"):
        code = (HERE / "engine" / f"{name.removeprefix('wasm-')}.wasm").read_bytes()
        return f'export const wasm = "{base64.b64encode(code).decode()}";\n'
    if name not in files():
        raise KeyError(f"no figure module {name!r}; there are {', '.join(sorted(files()))}")
    return _FOR_PEOPLE.sub("", files()[name].read_text(encoding="utf-8"))


def without_exports(text: str) -> tuple[str, str]:
    """The text of a module as that of a function's body, and the names that it exported."""
    handed_on = [name for names in _HANDED_ON.findall(text) for name in re.findall(r"\w+", names)]
    return _EXPORT.sub("", _HANDED_ON.sub("", text)), ", ".join([*_EXPORT.findall(text), *handed_on])


@cache
def bundle(name: str, shared: tuple[str, ...] = ()) -> str:
    """One module with everything it imports, ready for anywidget and for the page; `shared` stay files beside it."""
    parts: dict[str, str] = {}

    def inline(text: str) -> str:
        def link(match: re.Match) -> str:
            names, module = match.groups()
            variable = f"${module.replace('-', '_')}"
            if module not in parts and module in shared:
                parts[module] = f'import * as {variable} from "./{file_of(module, shared)}";\n'
            elif module not in parts:
                parts[module] = closed(module)
            left = names.split()[-1] if names.startswith("*") else re.sub(r"\s+as\s+", ": ", names)
            return f"const {left} = {variable};\n"

        return _IMPORT.sub(link, text)

    def closed(module: str) -> str:
        body, exports = without_exports(inline(source(module)))
        return f"const ${module.replace('-', '_')} = (() => {{\n{body}return {{ {exports} }};\n}})();\n"

    main = inline(source(name))
    return "".join(parts.values()) + main


def version(text: str) -> str:
    """Eight hexadecimal digits that change with the text; in a file's name they keep caches from serving an old one."""
    return hashlib.sha256(text.encode()).hexdigest()[:8]


def file_of(name: str, shared: tuple[str, ...] = ()) -> str:
    """The name of a module's file on a site."""
    return f"{name}.{version(bundle(name, shared))}.mjs"


@cache
def style() -> str:
    """The style sheet of all figures. Everything in it is below .lm-figure."""
    return (HERE / "kit" / "figures.css").read_text(encoding="utf-8")


def names() -> list[str]:
    """The modules that are figures: those with a default export (core, ngram and the mount script have none)."""
    return sorted(name for name in files() if re.search(r"^export default ", source(name), re.MULTILINE))


@cache
def weights(name: str) -> tuple[bytes, dict]:
    """The file of a model that figures fetch, and of its card what the page needs: how to make it and its text."""
    if name not in SERVED:
        raise KeyError(f"no figure fetches {name!r}; there are {', '.join(SERVED)}")
    card = json.loads((TRAINED / f"{name}.json").read_text("utf-8"))
    return (TRAINED / f"{name}.safetensors").read_bytes(), {"model": card["model"], "text": card.get("text")}


@cache
def served() -> dict[str, bytes]:
    """The files of weights and their cards that a site serves beside the modules: {file name: bytes}."""
    files = {}
    for name in SERVED:
        data, card = weights(name)
        stem = f"{name}.{hashlib.sha256(data).hexdigest()[:8]}"
        files[f"{stem}.safetensors"] = data
        files[f"{stem}.json"] = json.dumps(card, ensure_ascii=False, separators=(",", ":")).encode()
    return files


def modules(limits: dict[str, dict], shared: tuple[str, ...] = SHARED) -> dict[str, str]:
    """What a site serves from one folder: {file name: text}, NAME.VERSION.mjs for each figure and for each of `shared`,
    mount.mjs, figures.css.

    mount.mjs is loaded as `<script type="module">`. It knows the file of each figure and finds it beside itself, so the
    folder may lie anywhere. A page links the style sheet in its head: one that came later would have it laid out twice.
    limits: what an address may set, {figure: {trait: limit}}; lmbook.figures knows it.
    """
    common = {name: f"./{file_of(name, shared)}" for name in shared}
    needs = {
        name: [f"./{file_of(name, shared)}", *(file for file in common.values() if file in bundle(name, shared))]
        for name in names()
    }
    files = {file_of(name, shared): bundle(name, shared) for name in (*names(), *shared)}
    table = json.dumps(needs, indent=2)
    mount = source("mount")
    mount = re.sub(r"^const MODULES = .*$", lambda _: f"const MODULES = {table};", mount, flags=re.MULTILINE)
    found = {
        file.split(".")[0]: [f"./{file}", len(data)] for file, data in served().items() if file.endswith("tensors")
    }
    mount = re.sub(
        r"^const WEIGHTS = .*$", lambda _: f"const WEIGHTS = {json.dumps(found)};", mount, flags=re.MULTILINE
    )
    mount = re.sub(r"^const LIMITS = .*$", lambda _: f"const LIMITS = {json.dumps(limits)};", mount, flags=re.MULTILINE)
    return {**files, "mount.mjs": mount, "figures.css": style()}
