"""The whole book as one PDF, printed by Chromium: bookmarks, numbered pages, answers and solutions at the end.

All articles become one page of HTML, which is served beside the site (so that its fonts and stylesheets are the same)
and printed several times, each time with the page numbers that the print before has shown. Headings are a level lower
than on the site, under the parts, because the bookmarks follow them.
"""

import copy
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterable, Mapping
from itertools import pairwise
from pathlib import Path

from markupsafe import Markup

from lmbook_press.editions import articles, index
from lmbook_press.rendering import render
from lmbook_press.site.serving import serve

NAME = "lmbook-on-paper.html"
BROWSERS = ("chromium-headless-shell", "chromium", "google-chrome")
STYLES = ("styles/theme.css", "styles/pydata-sphinx-theme.css", "pygments.css", "styles/sphinx-book-theme.css")
STYLES += ("katex/katex.min.css", "sphinx-design.min.css", "figures/figures.css", "lmbook.css", "boxes.css")
STYLES += ("landing.css", "paper.css")
SUBJECT = "Language models, from n-grams to Transformers: a course textbook with code, exercises and solutions"
KEYWORDS = (
    "language model",
    "neural network",
    "recurrent network",
    "attention",
    "Transformer",
    "BERT",
    "GPT",
    "PyTorch",
)
EVERY = {"Summary", "Exercises", "Compare with the paper", "What we simplified", "Further reading"}  # in every chapter
SHORT = 10  # lines of the last page of a chapter that the pages before it can take
TIGHTER, MOST_TRIES = 0.02, 2  # how much smaller a draft sets such a chapter, and how many drafts try
LONG = 12  # lines of code that may go on on the next page
TWICE = re.compile(r"(\d+\. )?\1?(.{4,})\2")  # a bookmark of a heading that moved to the next page
PATIENCE = 1800  # seconds for some hundred pages, on a slow machine


def _lower(tree) -> None:
    """Every heading one level down; its look follows the class."""
    for level in (5, 4, 3, 2, 1):
        for heading in tree.iter(f"h{level}"):
            heading.tag = f"h{level + 1}"
            heading.set("class", f"lm-h{level}")


def _mark_long_code(tree) -> None:
    for code in tree.iter("pre"):
        if len(code.text_content().splitlines()) > LONG:
            code.set("class", f"{code.get('class', '')} lm-long".strip())


def _pictures(first) -> Markup:
    """For the cover: the pictures of the chapters, each in the colour of its part, from the line on the first page."""
    lines = [copy.deepcopy(line) for line in first.xpath(".//ol[contains(@class, 'lm-stations')]")]
    for line in lines:
        line.tag = "div"
        for station in line:
            station.tag = "span"
            for told in station.xpath("./*[not(contains(@class, 'lm-picture'))]"):
                station.remove(told)
    return Markup().join(map(articles.written, lines))


def leaves(printed: Path) -> dict[str, int]:
    """{id: number of its page} of all places that a link inside a PDF leads to."""
    from pypdf import PdfReader

    reader = PdfReader(printed)
    places = reader.named_destinations.items()
    return {name.removeprefix("/"): reader.get_destination_page_number(place) + 1 for name, place in places}


def short_ends(printed: Path, places: Iterable[str]) -> set[str]:
    """Those of the ids, each the beginning of a chapter, whose chapter has at most SHORT lines on its last page."""
    from pypdf import PdfReader

    reader, at = PdfReader(printed), leaves(printed)
    begun, found = sorted((at[place], place) for place in places if place in at), set()
    for (first, place), (following, _) in pairwise([*begun, (len(reader.pages) + 1, "")]):
        lines = [line for line in reader.pages[following - 2].extract_text().split("\n") if line.strip()]
        if first < following - 1 and len(lines) - 1 <= SHORT:  # the number of the page is no line of the text
            found.add(place)
    return found


def document(
    root: Path, site: Path, title: str, author: str, base: str, numbers: dict[str, int] | None = None,
    tight: Mapping[str, float] | None = None,
) -> str:  # fmt: skip
    """The HTML of the whole book; `numbers` are the pages that an earlier print had for the ids of its contents.

    tight: {id of a chapter: its share of the usual size}, for those to be set a little smaller.
    """

    pages = articles.read(root, site, base, "drawn", lambda page, place: f"#{place or articles.slug(page)}")
    for page in pages[1:]:
        for tree in (page.body, *page.end):
            _lower(tree)
            _mark_long_code(tree)
            for link in tree.find_class("lm-there"):
                if (number := (numbers or {}).get(link.get("href")[1:])) is not None:
                    link.text = f"{link.text}, page {number}"
    outputs = [file.name for file in (site / "_static").glob("mystnb.*.css")]  # the name has a number of its own
    return render(
        "paper.html",
        title=title,
        author=author,
        base=base,
        styles=(*outputs, *STYLES),
        pictures=_pictures(pages[0].body),
        pages=pages[1:],
        every=EVERY,
        index=index.entries(pages[1:], numbers or {}),
        numbers=numbers or {},
        tight=tight or {},
    )


def print_to(out: Path, address: str, draft: bool = False) -> None:
    """Has Chromium print a page; a draft has no bookmarks and no structure for screen readers.

    Raises RuntimeError where there is no browser or it fails.
    """
    browser = next(filter(None, map(shutil.which, BROWSERS)), None)
    if browser is None:
        raise RuntimeError(f"To print, a browser must be on the path: {' or '.join(BROWSERS)}.")
    with tempfile.TemporaryDirectory() as profile:
        command = [browser, "--headless", "--disable-gpu", "--no-first-run", f"--user-data-dir={profile}"]
        command += ["--font-render-hinting=none"]  # hinted widths, those of a screen, make the letters uneven on paper
        command += ["--no-pdf-header-footer", f"--print-to-pdf={out.resolve()}"]
        command += ["--disable-pdf-tagging" if draft else "--generate-pdf-document-outline"]
        command += ["--no-sandbox"] if hasattr(os, "geteuid") and os.geteuid() == 0 else []
        done = subprocess.run([*command, address], capture_output=True, text=True, timeout=PATIENCE)
    if done.returncode or not out.exists():
        raise RuntimeError(f"{browser} could not print:\n{done.stderr[-2000:]}")


def write_pdf(out: Path, root: Path, site: Path, title: str, author: str, base: str) -> Path:
    """Prints the built site to one file."""
    page = site / NAME
    out.parent.mkdir(parents=True, exist_ok=True)
    try:
        with serve(site) as (address, _):
            chapters = [*(articles.slug(name) for name, _ in articles.order(root)), "answers", "index"]
            ends = [f"{part}{name}" for name in chapters for part in ("", "part-")]
            numbers: dict[str, int] = {}
            tight: dict[str, float] = {}

            def printed(draft: bool = True) -> dict[str, int]:
                page.write_text(document(root, site, title, author, base, numbers, tight), "utf-8")
                print_to(out, address + NAME, draft)
                return leaves(out)

            numbers = printed()
            for again in range(MOST_TRIES):
                short = short_ends(out, ends)
                if again and not short:
                    break
                tight |= {place: tight.get(place, 1) - TIGHTER for place in short}
                numbers = printed()
            printed(draft=False)
    finally:
        page.unlink(missing_ok=True)
    _describe(out, title, author)
    return out


def _describe(printed: Path, title: str, author: str) -> None:
    """Says in the file whose book it is and what it is about; Chromium writes the title alone.

    And has each bookmark say its heading once, where Chromium says it for both pages.
    """
    from pypdf import PdfWriter
    from pypdf.generic import NameObject, TextStringObject

    writer = PdfWriter(clone_from=printed)
    open_still = [writer.get_outline_root()]
    while open_still:
        mark = open_still.pop()
        if found := TWICE.fullmatch(mark.get("/Title", "")):
            mark[NameObject("/Title")] = TextStringObject((found[1] or "") + found[2])
        open_still += [mark[name].get_object() for name in ("/First", "/Next") if name in mark]
    about = {"/Title": title, "/Author": author, "/Subject": SUBJECT, "/Keywords": ", ".join(KEYWORDS)}
    writer.add_metadata(about)
    writer.write(printed)
