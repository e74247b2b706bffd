"""A copy of the site that works from a disk by double click, as one zip.

A browser that reads file:// loads no modules and fetches no files. So the modules become plain scripts, the figures'
modules and weights come by script tags, and so do the pages that cards show (the glossary, the bibliography) and the
questions of the page Today; fonts stand inside the stylesheets. Everything else stays as it is, Python too, which a
page from a disk cannot load: its buttons say so, and how to serve the folder.
"""

import base64
import json
import re
import zipfile
from pathlib import Path

from lmbook.figures import bundle, modules

# The figures become scripts, their states parts of the pages, the fonts of the stylesheets; 404.html has no use.
SHEET = re.compile(r'<link [^>]*href="[^"]*?(_static/[^"?]*\.css)')
REPLACED = (
    "_static/figures/",
    "_static/states/",
    "_static/questions/",
    "_static/fonts/",
    "_static/katex/fonts/",
    "404.html",
)
# What takes the place of modules, fetch and import.meta in the script that brings figures to life.
LOADER = """const lmDisk = {
  base: document.currentScript.src || location.href,
  parts: (globalThis.lmParts ??= {}),
  load(file) {
    const address = new URL(file, lmDisk.base).href;
    const name = address.split("/").at(-1);
    return new Promise((resolve, reject) => {
      if (name in lmDisk.parts) { resolve(lmDisk.parts[name]); return; }
      document.head.append(Object.assign(document.createElement("script"), {
        src: address,
        onload: () => resolve(lmDisk.parts[name]),
        onerror: () => reject(new Error(`the file ${name} is missing`)),
      }));
    });
  },
};
async function fetched(name, told) {
  if (!(name in WEIGHTS)) throw new Error(`this page has no weights of ${name}`);
  const [file, total] = WEIGHTS[name];
  const { card, text } = await lmDisk.load(`${file}.js`);
  told(total, total);
  return { card, data: Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0)) };
}
const stated = (script) => JSON.parse(script.textContent);
"""


# The pages whose parts are shown as cards over others. An equation of another chapter has no card here.
CARDS = ("glossary", "bibliography")
FETCHED = "fetch(address).then((answer) => answer.text())"
CARD_LOADER = """const lmHere = document.currentScript.src;
const lmText = (address) => new Promise((resolve, reject) => {
  const name = address.split("/").at(-1).replace(/\\.html$/, "");
  if (!CARDS.includes(name)) { reject(new Error("not in the offline edition")); return; }
  const place = new URL(`cards/${name}.js`, lmHere).href;
  document.head.append(Object.assign(document.createElement("script"), {
    src: place, onload: () => resolve(globalThis.lmParts[`${name}.js`]), onerror: reject,
  }));
});
"""


def _exchange(text: str, old: str, new: str) -> str:
    if old not in text:
        raise ValueError(f"{old!r} is not where the offline edition expects it: see lmbook_press.editions.offline")
    return text.replace(old, new)


def plain(module: str) -> str:
    """A module without imports as a script of its own."""
    return "(() => {\n" + re.sub(r"^export (?!default)", "", module, flags=re.MULTILINE) + "\n})();\n"


def part(name: str, value: str) -> str:
    """A script that leaves a value where the page's loader looks for it."""
    return f'(globalThis.lmParts ??= {{}})["{name}"] = {value};\n'


def figure(name: str, module: str) -> str:
    """A figure's module as a script that leaves its export under its name."""
    body, _ = bundle.without_exports(_exchange(module, "export default ", "const figureOfThisFile = "))
    return part(name, f"(() => {{\n{body}\nreturn {{ default: figureOfThisFile }};\n}})()")


def mount(module: str) -> str:
    """The script that brings the figures of a page to life, with LOADER in place of what a disk does not allow."""
    start, end = module.index("async function fetched("), module.index("export function model(")
    module = module[:start] + LOADER + module[end:]
    module = _exchange(module, "import(new URL(file, import.meta.url).href)", "lmDisk.load(file)")
    module = module.replace(".mjs", ".js")
    return "(async () => {\n" + re.sub(r"^export ", "", module, flags=re.MULTILINE) + "\n})();\n"


def today(module: str) -> str:
    """today.mjs as a script whose questions come from `questions`."""
    loader = CARD_LOADER.replace("cards/", "questions/")
    return plain(loader.replace("CARDS.includes(name)", "true") + _exchange(module, FETCHED, "lmText(address)"))


def reading(module: str) -> str:
    """reading.mjs as a script whose cards come from `cards`."""
    known = f"const CARDS = {json.dumps(CARDS)};\n"
    return plain(known + CARD_LOADER + _exchange(module, FETCHED, "lmText(address)"))


def cards(site: Path) -> dict[str, str]:
    """The scripts that bring the text of other pages: {file name: text}."""
    found = {}
    for name in CARDS:
        text = (site / "book" / f"{name}.html").read_text("utf-8")
        start, end = text.index('<article class="bd-article">'), text.index("</article>")
        found[f"{name}.js"] = part(f"{name}.js", json.dumps(text[start:end]))
    return found


def questions(site: Path) -> dict[str, str]:
    """The scripts that bring the questions of the page Today: {file name: text}."""
    files = sorted((site / "_static" / "questions").glob("*.html"))
    return {f"{file.stem}.js": part(f"{file.stem}.js", json.dumps(file.read_text("utf-8"))) for file in files}


def figures() -> dict[str, str]:
    """The scripts of the figures' folder: {file name: text}."""
    found = {}
    for name, text in modules(shared=()).items():
        if not name.endswith(".mjs"):
            continue
        own = name.removesuffix(".mjs") + ".js"
        found[own] = mount(text) if name == "mount.mjs" else figure(own, text)
    for name, data in bundle.served().items():
        if name.endswith(".safetensors"):
            card = json.loads(bundle.served()[name.removesuffix("safetensors") + "json"])
            text = base64.b64encode(data).decode()
            found[f"{name}.js"] = part(f"{name}.js", json.dumps({"card": card, "text": text}))
    return found


def page(text: str, states: Path) -> str:
    """A page that loads scripts in place of modules and no font before it is used, with all of its figures' states."""
    text = re.sub(r' data-from="([^"]*)">', lambda found: ">" + (states / found[1]).read_text("utf-8"), text)
    text = re.sub(r'<link rel="preload"[^>]*>\n?', "", text)
    return re.sub(r'<script type="module" src="([^"]*)\.mjs[^"]*">', r'<script defer src="\1.js">', text)


def stylesheet(file: Path) -> str:
    """A stylesheet with its fonts in it, which come with it: a page waits for them, and never goes without."""

    def inside(found: re.Match) -> str:
        font = (file.parent / found[1].split("?")[0]).resolve()
        if font.suffix != ".woff2" or not font.is_file():
            return found[0]
        return f"url(data:font/woff2;base64,{base64.b64encode(font.read_bytes()).decode()})"

    text = re.sub(r"font-display:\s*optional", "font-display: block", file.read_text("utf-8"))
    return re.sub(r"""url\(["']?([^"')]+)["']?\)""", inside, text)


def write_zip(out: Path, site: Path, folder: str) -> Path:
    """Packs the built site into one zip, everything in one folder, in which index.html is the file to open."""
    files: dict[str, bytes] = {}
    linked = {name for file in site.rglob("*.html") for name in SHEET.findall(file.read_text("utf-8"))}
    for file in sorted(path for path in site.rglob("*") if path.is_file()):
        name = file.relative_to(site).as_posix()
        if name.startswith(REPLACED) and file.suffix != ".css":
            continue
        if name.startswith("_static/python/"):  # for those who serve the unpacked folder, as run.js tells them to
            data = file.read_bytes()
        elif file.suffix == ".html":
            data = page(file.read_text("utf-8"), site / "_static" / "states").encode()
        elif file.suffix == ".css":
            if name not in linked:
                continue  # what is in it stands in one that is, with all its fonts
            data = stylesheet(file).encode()
        elif file.suffix == ".mjs":
            script = {"reading.mjs": reading, "today.mjs": today}.get(file.name, plain)(file.read_text("utf-8"))
            name, data = name.removesuffix(".mjs") + ".js", script.encode()
        elif file.suffix == ".js":  # an excerpt of what is found would have to be fetched
            data = file.read_bytes().replace(b"SHOW_SEARCH_SUMMARY: true", b"SHOW_SEARCH_SUMMARY: false")
        else:
            data = file.read_bytes()
        files[name] = data
    files |= {f"_static/figures/{name}": text.encode() for name, text in figures().items()}
    files |= {f"_static/questions/{name}": text.encode() for name, text in questions(site).items()}
    files |= {f"_static/cards/{name}": text.encode() for name, text in cards(site).items()}
    out.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in sorted(files.items()):
            archive.writestr(zipfile.ZipInfo(f"{folder}/{name}", (1980, 1, 1, 0, 0, 0)), data, zipfile.ZIP_DEFLATED)
    return out
