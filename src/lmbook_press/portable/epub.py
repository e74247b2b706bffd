"""The book as EPUB 3: a file for each page, formulae as MathML, drawings as SVG, answers at the end of each page."""

import hashlib
import html as markup
import re
import unicodedata
import zipfile
from datetime import UTC, datetime
from pathlib import Path

from lxml import etree

from lmbook_press.portable import articles

FIRST = (1980, 1, 1, 0, 0, 0)  # the date of every file in the archive, so that equal books are equal files
# Reading HTML makes the names of SVG's parts small; in XHTML they are as SVG has them.
SVG_NAMES = {"viewbox": "viewBox", "preserveaspectratio": "preserveAspectRatio", "clippathunits": "clipPathUnits"}
SVG_NAMES |= {"clippath": "clipPath", "lineargradient": "linearGradient", "gradientunits": "gradientUnits"}
SVG_NAMES |= {"textlength": "textLength", "lengthadjust": "lengthAdjust", "markerwidth": "markerWidth"}
SVG_NAMES |= {"markerheight": "markerHeight", "refx": "refX", "refy": "refY"}
NOT_IN_XHTML = ("tabindex", "data-lm-suppress-shortcuts", "align", "valign", "border", "width", "height")
NAMESPACES = {"svg": "http://www.w3.org/2000/svg", "math": "http://www.w3.org/1998/Math/MathML"}
# What a reader who cannot see, or a shop, asks about a book (EPUB Accessibility 1.1); tests hold the pages to it.
ACCESS = {"accessMode": ("textual", "visual"), "accessModeSufficient": ("textual,visual", "textual")}
ACCESS |= {"accessibilityFeature": ("structuralNavigation", "tableOfContents", "alternativeText", "MathML")}
ACCESS |= {"accessibilityHazard": ("none",)}
ACCESS |= {"accessibilitySummary": ("Plots and drawings have words that give their finding. Formulae are MathML.",)}
CONTAINER = """<?xml version="1.0"?>
<container version="1.0" xmlns="urn:oasis:names:tc:opendocument:xmlns:container">
<rootfiles><rootfile full-path="book/book.opf" media-type="application/oebps-package+xml"/></rootfiles></container>
"""
STYLE = """body { margin: 0 4%; line-height: 1.5; }
h1, h2, h3, h4, .admonition-title, figcaption, table, .lm-kicker { font-family: sans-serif; line-height: 1.25; }
pre { padding: 0.5em; background: #f5f3ee; font-size: 0.8em; white-space: pre-wrap; overflow-wrap: anywhere; }
code { font-size: 0.88em; }
table { border-collapse: collapse; font-size: 0.75em; }
th, td { padding: 0.2em 0.5em 0.2em 0; border-bottom: 1px solid #ccc; text-align: left; vertical-align: top; }
th, td { overflow-wrap: break-word; hyphens: auto; }
.lm-crowded :is(th, td) { overflow-wrap: anywhere; }
:is(th, td) p { margin: 0; }
table.lm-many { font-size: 0.65em; }
ol.lm-stations { padding: 0; list-style: none; }
.lm-station { margin: 0.8em 0; page-break-inside: avoid; }
.lm-picture { display: block; }
figure { margin: 1em 0; }
figure svg, img { max-width: 100%; height: auto; }
figcaption { margin-top: 0.5em; font-size: 0.85em; }
.lm-live { display: block; margin-top: 0.3em; }
.admonition, .lm-check, figure.lm-figure { margin: 1em 0; padding: 0.3em 0.9em; border-left: 3px solid #17608a; }
.admonition-title, .lm-kicker, .lm-title { font-weight: bold; }
.lm-equation { margin: 1em 0; font-size: 0.9em; text-align: center; overflow-x: auto; }
/* fonts with brackets that grow; a reader's own fonts have none */
math { font-family: "STIX Two Math", "Latin Modern Math", "Cambria Math", "DejaVu Math TeX Gyre", math; }
.lm-aligned { display: inline-table; text-align: left; }
.lm-row { display: table-row; }
.lm-cell { display: table-cell; padding: 0.25em 0 0.25em 0.15em; vertical-align: baseline; }
.lm-cell:nth-child(odd) { padding-left: 1em; text-align: right; }
.lm-cell:first-child { padding-left: 0; }
.lm-piece { display: inline-block; max-width: 100%; margin: 0 0.8em; }
.eqno { float: right; }
/* where a line of four columns has no place: a row is a paragraph, and what explains it is on a line of its own */
@media (max-width: 32em) {
  .lm-equation { text-align: left; }
  .lm-aligned, .lm-row { display: block; }
  .lm-row { margin-top: 0.3em; }
  .lm-cell { display: inline; padding: 0 !important; }
  .lm-cell:nth-child(odd):not(:first-child)::before { content: ""; display: block; }
  .lm-piece { display: block; margin: 0 0 0.3em; }
}
/* MathML Core knows no bold letters and no letters of a typewriter, so not every reader draws them by itself */
[mathvariant|="bold"] { font-weight: bold; }
mi[mathvariant="bold"] { text-transform: none; }
[mathvariant="monospace"] { font-family: monospace; }
.lm-letter { font-weight: bold; }
.lm-print-answer > div { margin: 0.3em 0; }
.lm-print-answer > div :is(div, p) { display: inline; margin: 0; }
"""
# Letters of formulae that a reader without mathvariant would draw as any other, with signs of their own.
LETTERS = {"double-struck": "ℝℂℍℕℙℚℤ", "script": "ℬℰℱℋℐℒℳℛ"}
LETTERS = {kind: {unicodedata.normalize("NFKD", sign): sign for sign in signs} for kind, signs in LETTERS.items()}
FIRST_LETTER = {"double-struck": 0x1D538, "script": 0x1D49C}
APPLIED = "\u2061"  # stands, unseen, between a function and what it is applied to


def _letter(sign: str, kind: str) -> str:
    """A capital letter with a double stroke, or in script, as a sign of its own."""
    return LETTERS[kind].get(sign) or chr(FIRST_LETTER[kind] + ord(sign) - ord("A"))


def _readable(formula) -> None:
    """Makes a formula of KaTeX's MathML what a reader draws well that knows MathML Core and nothing else."""
    around = " ".join(up.get("class", "") for up in formula.iterancestors())
    if ("lm-cell" in around or "lm-piece" in around) and formula.attrib.pop("display", None):
        formula.set("displaystyle", "true")  # a block would stand on a line of its own
    for sign in formula.xpath(".//*[@mathvariant='double-struck' or @mathvariant='script']"):
        sign.text = "".join(_letter(one, sign.get("mathvariant")) for one in sign.text)
        sign.set("mathvariant", "normal")  # or a reader makes it italic
    for bar in formula.iter("mi", "mo"):
        if bar.text == "∣" and (bar.tag == "mi" or bar.get("stretchy") == "false"):
            bar.text = "|"  # of |V|: the other is the sign of a divisor, which is wide
            bar.attrib.update({"lspace": "0", "rspace": "0"} if bar.tag == "mo" else {})
    for mark in [mark for mark in formula.iter("mo") if mark.text == APPLIED]:  # "ln x" and "x ln y", not "lnx"
        function, argument = mark.getprevious(), mark.getnext()
        if argument is not None and argument.tag not in ("mo", "mspace"):
            mark.addnext(etree.Element("mspace", width="0.167em"))
        before = None if function is None else function.getprevious()
        if before is not None and before.tag not in ("mo", "mspace") and before.text != "/":
            function.addprevious(etree.Element("mspace", width="0.167em"))


def _xhtml(page: articles.Page) -> str:
    """One page as a file of the book. Raises lxml's XMLSyntaxError if it is not well-formed."""
    box = etree.Element("div")
    box.append(page.body)
    if page.end:
        heading = etree.SubElement(box, "h2")
        heading.text = "Answers and solutions"
        box.extend(page.end)
    for title in box.xpath("//*[contains(@class, 'lm-print-answer')]/h2"):
        title.tag = "h3"  # under "Answers and solutions"
    for formula in box.iter("math"):
        _readable(formula)
    for element in box.iter():
        if not isinstance(element.tag, str):
            continue
        inside = element.tag in ("svg", "math") or any(up.tag in ("svg", "math") for up in element.iterancestors())
        element.tag = SVG_NAMES.get(element.tag, element.tag)
        for name, value in list(element.attrib.items()):
            if name in SVG_NAMES or name.startswith(("xmlns", "on")) or (name in NOT_IN_XHTML and not inside):
                del element.attrib[name]
            if name in SVG_NAMES:
                element.set(SVG_NAMES[name], value)
            elif name == "xlink:href":  # a name that lxml takes for one without a namespace
                del element.attrib[name]
                element.set("href", value)
    text = articles.written(box, xml=True)
    for tag, space in NAMESPACES.items():
        text = re.sub(rf"<{tag}(?=[\s>])", f'<{tag} xmlns="{space}"', text)
    text = f"""<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE html>
<html xmlns="http://www.w3.org/1999/xhtml" lang="en" xml:lang="en">
<head><meta charset="utf-8"/><title>{markup.escape(page.title)}</title>
<link rel="stylesheet" type="text/css" href="book.css"/></head>
<body>{text}</body></html>
"""
    etree.fromstring(text.encode())
    return text


def _contents(pages: list[articles.Page]) -> str:
    entries, inside = [], False
    for page in pages:
        if page.part:
            entries.append(("</ol></li>" if inside else "") + f"<li><span>{markup.escape(page.part)}</span><ol>")
            inside = True
        entries.append(f'<li><a href="{articles.slug(page.name)}.xhtml">{markup.escape(page.title)}</a></li>')
    end = "</ol></li>" if inside else ""
    return f"""<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE html>
<html xmlns="http://www.w3.org/1999/xhtml" xmlns:epub="http://www.idpf.org/2007/ops" lang="en" xml:lang="en">
<head><meta charset="utf-8"/><title>Contents</title></head>
<body><nav epub:type="toc" id="toc"><h1>Contents</h1><ol>{"".join(entries)}{end}</ol></nav>
<nav epub:type="landmarks" id="landmarks" hidden="hidden"><h2>Landmarks</h2><ol>
<li><a epub:type="toc" href="#toc">Contents</a></li>
<li><a epub:type="bodymatter" href="{articles.slug(pages[0].name)}.xhtml">Begin to read</a></li></ol></nav>
</body></html>
"""


def _package(files: dict[str, str | bytes], order: list[str], title: str, author: str, base: str) -> str:
    kinds = {".xhtml": "application/xhtml+xml", ".css": "text/css", ".png": "image/png", ".svg": "image/svg+xml"}
    items = []
    for name, data in files.items():
        text = data if isinstance(data, str) else ""
        marks = {"nav.xhtml": ["nav"], "cover.png": ["cover-image"]}.get(name, [])
        marks += ["mathml"] * ("<math" in text) + ["svg"] * ("<svg" in text)
        look = f' properties="{" ".join(marks)}"' if marks else ""
        items.append(
            f'<item id="{name.replace(".", "-")}" href="{name}" media-type="{kinds[Path(name).suffix]}"{look}/>'
        )
    spine = "".join(f'<itemref idref="{name.replace(".", "-")}"/>' for name in order)
    parts = sorted((name, hashlib.sha256(data if isinstance(data, bytes) else data.encode()).hexdigest())
                   for name, data in files.items())  # fmt: skip
    number = hashlib.sha256(repr(parts).encode()).hexdigest()[:32]
    access = "".join(
        f'<meta property="schema:{name}">{value}</meta>' for name, values in ACCESS.items() for value in values
    )
    now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    return f"""<?xml version="1.0" encoding="utf-8"?>
<package xmlns="http://www.idpf.org/2007/opf" version="3.0" unique-identifier="book-id" xml:lang="en">
<metadata xmlns:dc="http://purl.org/dc/elements/1.1/">
<dc:identifier id="book-id">urn:sha256:{number}</dc:identifier><dc:title>{markup.escape(title)}</dc:title>
<dc:language>en</dc:language><dc:creator>{markup.escape(author)}</dc:creator><dc:source>{base}</dc:source>
<meta property="dcterms:modified">{now}</meta>{access}</metadata>
<manifest>{"".join(items)}</manifest>
<spine>{spine}</spine></package>
"""


def write_epub(out: Path, root: Path, site: Path, title: str, author: str, base: str) -> Path:
    """Writes the built site as an EPUB."""
    slug = articles.slug
    pages = articles.read(
        root, site, base, "mathml", lambda page, place: f"{slug(page)}.xhtml" + f"#{place}" * bool(place)
    )
    files: dict[str, str | bytes] = {"nav.xhtml": _contents(pages), "book.css": STYLE}
    files["cover.png"] = (site / "_static" / "card.png").read_bytes()
    for page in pages:
        for tree in (page.body, *page.end):
            for image in tree.iter("img"):
                name = image.get("src").replace("/", "-")
                files[name] = (site / image.get("src")).read_bytes()
                image.set("src", name)
        files[f"{slug(page.name)}.xhtml"] = _xhtml(page)
    order = ["nav.xhtml", *(f"{slug(page.name)}.xhtml" for page in pages)]
    files["book.opf"] = _package(files, order, title, author, base)
    out.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(zipfile.ZipInfo("mimetype", FIRST), "application/epub+zip", zipfile.ZIP_STORED)
        archive.writestr(zipfile.ZipInfo("META-INF/container.xml", FIRST), CONTAINER, zipfile.ZIP_DEFLATED)
        for name, data in files.items():
            archive.writestr(zipfile.ZipInfo(f"book/{name}", FIRST), data, zipfile.ZIP_DEFLATED)
    return out
