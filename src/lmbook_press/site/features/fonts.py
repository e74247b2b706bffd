"""Fonts of icons and formulae, cut to what the pages of a built site draw with them."""

import logging
import re
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path

import lxml.html

ICON_FONTS = ("fa-solid-900", "fa-regular-400", "fa-brands-400")
NAMED_ICON = re.compile(r'((?:\.fa-[\w-]+:before,)*\.fa-[\w-]+:before)\{content:"(\\[0-9a-f]+)"\}')
ICON_CODE = re.compile(r"\\([ef][0-9a-f]{3})")
FAMILY = re.compile(r"([^{}]+)\{[^{}]*font-family:\s*KaTeX_(\w+)")  # in KaTeX's stylesheet: selectors, family
ALONE = re.compile(r"\.katex \.(\w+)(?=,|$)")  # a selector of one class


def used_icons(out: Path) -> set[str]:
    """The classes fa-... that pages and scripts of the site use."""
    scripts = [f for f in out.rglob("*.js") if f.name != "fontawesome.js"]
    texts = (f.read_text(encoding="utf8", errors="replace") for f in [*out.rglob("*.html"), *scripts])
    return {name for text in texts for name in re.findall(r"\bfa-[a-z0-9-]+", text)}


def trim_icon_rules(css: str, used: set[str]) -> str:
    """The theme's stylesheet without the rules of icons that nobody uses."""

    def keep(match):
        names = [n for n in match[1].split(",") if n.removeprefix(".").removesuffix(":before") in used]
        return f'{",".join(names)}{{content:"{match[2]}"}}' if names else ""

    return NAMED_ICON.sub(keep, css)


def subset_font(file: Path, codes: set[int]) -> None:
    """Rewrites a woff2 font with the glyphs of these code points."""
    from fontTools.subset import Options, Subsetter, load_font, save_font

    logging.getLogger("fontTools").setLevel(logging.WARNING)
    # Without hints, which the fonts of the text have not either: they are a sixth of KaTeX's files.
    drawn = {"notdef_outline": True, "hinting": False}
    options = Options(flavor="woff2", layout_features=[], drop_tables=["GSUB", "GPOS", "FFTM"], **drawn)
    font = load_font(str(file), options)
    subsetter = Subsetter(options)
    subsetter.populate(unicodes=codes)
    subsetter.subset(font)
    save_font(font, str(file), options)


def trim_icons(static: Path) -> None:
    """Leaves in the fonts of icons those that a stylesheet names."""
    css = "".join(file.read_text(encoding="utf8") for file in static.rglob("*.css"))
    codes = {int(code, 16) for code in ICON_CODE.findall(css)}
    for name in ICON_FONTS:
        for file in static.glob(f"vendor/fontawesome/webfonts/{name}.woff2"):
            subset_font(file, codes)


def letters_of_formulae(pages: Iterable[bytes], css: str) -> dict[str, set[int]]:
    """The code points that the formulae of these pages have of each family of KaTeX's fonts, by its stylesheet."""
    family = {name: font for names, font in FAMILY.findall(css) for name in ALONE.findall(names)}
    found: dict[str, set[int]] = defaultdict(set)

    def gather(box, font):
        for name in box.get("class", "").split():
            font = family.get(name, font)
        found[font].update(map(ord, box.text or ""))
        for part in box:
            gather(part, font)
            found[font].update(map(ord, part.tail or ""))

    for page in pages:
        for formula in lxml.html.fromstring(page).iterfind(".//span[@class='katex-html']"):
            gather(formula, "Main")
    return found


def trim_formulae(out: Path) -> None:
    """Leaves in KaTeX's fonts, where the site has them, the signs that its formulae draw with them."""
    folder = out / "_static" / "katex"
    if not (folder / "katex.min.css").exists():
        return
    pages = (file.read_bytes() for file in out.rglob("*.html"))
    letters = letters_of_formulae(pages, (folder / "katex.min.css").read_text(encoding="utf8"))
    for file in folder.glob("fonts/*.woff2"):
        family = file.name.removeprefix("KaTeX_").split("-")[0]
        if not family.startswith("Size"):  # brackets in four sizes, by rules of their own, a kilobyte each
            subset_font(file, letters[family])
