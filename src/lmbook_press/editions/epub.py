"""The book as EPUB 3: a file for each page, formulae as MathML, drawings as SVG, answers at the end of each page."""

import hashlib
import re
import unicodedata
import zipfile
from datetime import UTC, datetime
from itertools import zip_longest
from pathlib import Path

from lxml import etree
from markupsafe import Markup

from lmbook_press.editions import articles
from lmbook_press.rendering import render

FIRST = (1980, 1, 1, 0, 0, 0)  # the date of every file in the archive, so that equal books are equal files
# Reading HTML makes the names of SVG's parts small; in XHTML they are as SVG has them.
SVG_NAMES = """viewBox preserveAspectRatio clipPath clipPathUnits linearGradient radialGradient gradientUnits
gradientTransform spreadMethod patternUnits patternContentUnits patternTransform textPath textLength lengthAdjust
startOffset pathLength markerWidth markerHeight markerUnits refX refY maskUnits maskContentUnits foreignObject
attributeName repeatCount requiredExtensions systemLanguage tableValues stdDeviation baseFrequency numOctaves"""
SVG_NAMES = {name.lower(): name for name in SVG_NAMES.split()}
NOT_IN_XHTML = ("tabindex", "data-lm-suppress-shortcuts", "align", "valign", "border", "width", "height")
LONG = 24  # signs of a formula in a line of text, which no reader breaks
CLOSING = re.compile(r"[,.;:!?)\]”’]+")
BREAKS = set("=≈≤≥<>+−⇒→")  # behind these a long one may go on in the next line
MANY = 7  # columns of a table that has much to say
SIDE_BY_SIDE = 45  # signs of the formulae that stand in one row of a table
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


def _join(formula) -> None:
    """Keeps a full stop or a comma in the line of the formula before it."""
    if found := CLOSING.match(formula.tail or ""):
        both = etree.Element("span", {"class": "lm-joined"})
        both.tail, formula.tail = formula.tail[found.end() :], None
        formula.addprevious(both)
        both.append(formula)
        formula.tail = found[0]


def _break(formula):
    """Cuts a formula in a line of text behind the signs that stand in no bracket: each piece is a formula again.

    Returns the last piece.
    """
    row = formula.find("semantics/mrow")
    if row is None:
        return formula
    pieces, depth = [[]], 0
    for part in list(row):
        sign = part[0] if part.tag in ("msup", "msub", "msubsup") else part  # a bracket may carry an exponent
        said = (sign.text or "").strip() if sign.tag == "mo" else ""
        depth += (said in ("(", "[", "{")) - (said in (")", "]", "}"))
        pieces[-1].append(part)
        if said in BREAKS and not depth and len(pieces[-1]) > 1:
            part.set("form", "infix")  # at the end of a row it would stand close
            pieces.append([])
    pieces = [piece for piece in pieces if piece]
    if len(pieces) < 2 or depth:
        return formula
    tail, formula.tail = formula.tail, None
    last = formula
    for piece in pieces[1:]:
        following = etree.Element("math", formula.attrib)
        etree.SubElement(following, "mrow").extend(piece)
        last.addnext(following)
        last = following
    last.tail = tail
    formula.replace(row.getparent(), row)  # without the annotation, which says the whole
    return last


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
    for formula in box.xpath("//math[not(ancestor::*[contains(@class, 'lm-equation')])]"):
        if _signs(formula) > LONG:
            formula = _break(formula)
        _join(formula)
    for table in box.iter("table"):
        _stack(table)
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
    text = str(articles.written(box, xml=True))
    for tag, space in NAMESPACES.items():
        text = re.sub(rf"<{tag}(?=[\s>])", f'<{tag} xmlns="{space}"', text)
    text = render("epub-page.xhtml", title=page.title, text=Markup(text))
    etree.fromstring(text.encode())
    return text


def _signs(formula) -> int:
    return sum(len((sign.text or "").strip()) for sign in formula.iter() if sign.tag != "annotation")


def _stack(table) -> None:
    """Marks a table whose formulae, which do not break, or whose columns are too many to stand side by side on a
    telephone: there each cell is a line of its own, behind the head of its column."""
    heads = [" ".join("".join(head.itertext()).split()) for head in table.xpath("./thead/tr/th")]
    rows = [row.xpath("./td | ./th") for row in table.xpath("./tbody/tr")]
    sizes = [[max((_signs(formula) for formula in cell.iter("math")), default=0) for cell in row] for row in rows]
    many = len(heads) >= MANY and "lm-many" in (table.get("class") or "")
    if sum(map(max, zip_longest(*sizes, fillvalue=0))) <= SIDE_BY_SIDE and not many:
        return
    table.set("class", f"{table.get('class') or ''} lm-stacked".strip())
    for row in rows:
        for cell, head in zip(row[1:], heads[1:], strict=False):
            cell.set("data-head", f"{head}: ")


def _contents(pages: list[articles.Page]) -> str:
    parts: list[tuple[str, list[articles.Page]]] = []
    for page in pages:
        if page.part or not parts:
            parts.append((page.part, []))
        parts[-1][1].append(page)
    return render("epub-contents.xhtml", title="Contents", parts=parts, first=pages[0])


def _package(files: dict[str, str | bytes], order: list[str], title: str, author: str, base: str) -> str:
    kinds = {".xhtml": "application/xhtml+xml", ".css": "text/css", ".png": "image/png", ".svg": "image/svg+xml"}
    items, whole = [], hashlib.sha256()
    for name, data in files.items():
        text = data if isinstance(data, str) else ""
        marks = {"nav.xhtml": ["nav"], "cover.png": ["cover-image"]}.get(name, [])
        marks += ["mathml"] * ("<math" in text) + ["svg"] * ("<svg" in text)
        item = {"id": name.replace(".", "-"), "name": name, "kind": kinds[Path(name).suffix]}
        items.append(item | {"properties": " ".join(marks)})
    for name, data in sorted(files.items()):
        whole.update(name.encode() + hashlib.sha256(data if isinstance(data, bytes) else data.encode()).digest())
    return render(
        "epub-package.opf",
        title=title,
        author=author,
        base=base,
        number=whole.hexdigest()[:32],
        now=datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        access=ACCESS,
        items=items,
        order=[name.replace(".", "-") for name in order],
    )


def write_epub(out: Path, root: Path, site: Path, title: str, author: str, base: str) -> Path:
    """Writes the built site as an EPUB."""
    slug = articles.slug
    pages = articles.read(
        root, site, base, "mathml", lambda page, place: f"{slug(page)}.xhtml" + f"#{place}" * bool(place)
    )
    files: dict[str, str | bytes] = {"nav.xhtml": _contents(pages), "book.css": render("epub.css")}
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
