"""The stage that slides stand on: reveal.js, the living figures with their weights, and KaTeX, all in one page."""

import re
from base64 import b64encode
from importlib import resources

from markupsafe import Markup

from lmbook.figures import bundle
from lmbook_press.book import Book
from lmbook_press.editions import offline
from lmbook_press.editions.slide import Slide


def _script(text: str) -> Markup:
    """A script as it may stand inside a page."""
    return Markup(re.sub(r"</(?=script)", r"<\\/", text, flags=re.IGNORECASE))


def stage() -> dict[str, Markup]:
    """Style and scripts of reveal.js."""
    files = resources.files("sphinx_revealjs") / "_static" / "revealjs"
    style = "".join((files / "dist" / name).read_text("utf-8") for name in ("reset.css", "reveal.css"))
    names = ("dist/reveal.js", "plugin/notes/notes.js", "plugin/zoom/zoom.js")
    scripts = [(files / name).read_text("utf-8") for name in names]
    plain = re.sub(r"//# sourceMapping.*", "", "\n".join(scripts))
    return {"style": Markup(style), "scripts": _script(plain)}


LETTERS = re.compile(r"\b(font(?:-size)?:\s*)([\d.]+(?:rem|px))")  # in a stylesheet, or in that of a module


def _legible(style: str) -> str:
    """A stylesheet whose letters are not smaller than --lm-least, which the stage sets for each figure."""
    return LETTERS.sub(r"\1max(\2, var(--lm-least, 0px))", style)


def living(slides: list[Slide]) -> dict[str, Markup]:
    """Style and scripts of the figures of these slides, with the weights that they name."""
    shown = "".join(part for slide in slides for part in slide.parts)
    used = set(re.findall(r'data-module="(\w+)"', shown))
    if not used:
        return {"style": Markup(), "scripts": Markup()}
    files = offline.figures()
    needed = [text for name, text in files.items() if name.split(".")[0] in used]
    asked = "".join(needed) + shown
    weights = [text for name, text in files.items() if ".safetensors" in name and f'"{name.split(".")[0]}"' in asked]
    scripts = "\n".join([*map(_legible, needed), *weights, files["mount.js"]])
    return {"style": Markup(_legible(bundle.style())), "scripts": _script(scripts)}


def katex_style(book: Book) -> str:
    """KaTeX's stylesheet with its fonts inside."""
    folder = book.root / "book" / "_static" / "katex"

    def inside(found: re.Match) -> str:
        data = b64encode((folder / found[1]).read_bytes()).decode()
        return f"src:url(data:font/woff2;base64,{data}) format('woff2')"

    style = (folder / "katex.min.css").read_text(encoding="utf-8")
    return re.sub(r"src:url\(([^)]*\.woff2)\)[^;}]*", inside, style)
