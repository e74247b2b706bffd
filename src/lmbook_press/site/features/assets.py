"""The files beside the pages: figures go in before the build, what no page needs comes out after it."""

import hashlib
import posixpath
import re
from pathlib import Path

from sphinx.util import logging as sphinx_logging

from lmbook_press.rendering import render
from lmbook_press.site.features import fonts, joined

logger = sphinx_logging.getLogger(__name__)
CLASSIC = re.compile(r'<script src="(?=[^"]*_static/(?!scripts/bootstrap)|[^"]*searchindex)')  # in the head, in order
PAGENAME = "<script>DOCUMENTATION_OPTIONS."
OWN_ADDRESS = re.compile(r'(\s(?:href|src|action|data-content_root)=")([^"#:]*)(?=[#"])')  # of this site, before any #
STATE = re.compile(r'(<script type="application/json")>([^<]{50000,})</script>')  # of a figure, with weights
MOVED = re.compile(r' data-from="([^"]*)"></script>')
POINTS = re.compile(r' d="((?:[ML] -?\d+(?:\.\d\d?)? -?\d+(?:\.\d\d?)? |z ?)+)"')  # a path as matplotlib writes it


def write_figures(app):
    """The modules of the interactive figures and the weights that they fetch, where mount.mjs finds them."""
    if app.builder.format != "html":
        return
    from lmbook import figures
    from lmbook.figures.bundle import served

    folder = Path(app.outdir) / "_static" / "figures"
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.iterdir():
        old.unlink()
    for name, text in figures.modules().items():
        (folder / name).write_text(text, encoding="utf8")
    for name, data in served().items():
        (folder / name).write_bytes(data)


def write_downloads(app):
    """The download button of a notebook gives its Colab edition: set-up cell, plain Markdown, no solutions."""
    from lmbook_press.book import Book, BookError
    from lmbook_press.editions.colab import edition
    from lmbook_press.normalize import write_notebook

    root = Path(app.srcdir)
    book = Book(root, ref=None if (root / ".git").exists() else "main")  # an unpacked archive knows no commit
    for name in sorted(app.env.found_docs):
        source = Path(app.env.doc2path(name))
        if source.suffix != ".ipynb":
            continue
        try:
            write_notebook(edition(source, book), Path(app.outdir) / "_sources" / f"{name}.ipynb")
        except BookError as error:
            logger.warning("no Colab edition: %s", error, location=name)
    return []


def from_root(page: str, folder: str) -> str:
    """A page of this folder as it has to be in the folder above, where its addresses begin."""

    def moved(found: re.Match) -> str:
        place = posixpath.normpath(posixpath.join(folder, found[2])) if found[2] else ""
        return found[1] + place + "/" * found[2].endswith("/")

    return OWN_ADDRESS.sub(moved, page)


def write_root(app, exception):
    """The site's own address shows its first page, so that nobody waits for a page that only leads to another."""
    first = Path(app.outdir) / f"{app.config.root_doc}.html"
    folder = first.relative_to(app.outdir).parent.as_posix()
    if exception or app.builder.format != "html" or folder == ".":
        return
    shown = from_root(first.read_text(encoding="utf8"), folder)
    (Path(app.outdir) / "index.html").write_text(shown, encoding="utf8")


def write_lost(app, exception):
    """404.html, which a host shows for an address that it does not have: its links are whole addresses."""
    base = app.config.html_baseurl
    if exception or app.builder.format != "html" or not base:
        return
    links = {"The book": app.config.root_doc, "Glossary": "book/glossary", "Results": "book/results"}
    links = {words: name for words, name in links.items() if name in app.env.found_docs}
    page = render("lost.html", title=app.config.html_title, base=base, links=links)
    (Path(app.outdir) / "404.html").write_text(page, encoding="utf8")


def short_path(found: re.Match) -> str:
    """A path with each point as its way from the one before: the same to a hundredth, and far fewer digits."""
    parts, at, start = [], (0, 0), (0, 0)
    show = lambda hundredths: f"{hundredths / 100:.2f}".rstrip("0").rstrip(".")  # noqa: E731
    for kind, x, y in re.findall(r"([MLz])(?: (-?[\d.]+) (-?[\d.]+))?", found[1]):
        to = start if kind == "z" else (round(100 * float(x)), round(100 * float(y)))
        right, down = to[0] - at[0], to[1] - at[1]
        if kind == "z":
            parts.append("z")
        elif kind == "M":
            parts.append(f"M{show(to[0])} {show(to[1])}")
            start = to
        elif down == 0:
            parts.append(f"h{show(right)}")
        elif right == 0:
            parts.append(f"v{show(down)}")
        else:
            parts.append(f"l{show(right)} {show(down)}")
        at = to
    return f' d="{"".join(parts)}"'


def long_states(page: str, folder: Path) -> str:
    """A page whose text need not wait for the weights in a figure's state: mount.mjs fetches them from this folder."""

    def moved(found: re.Match) -> str:
        name = f"{hashlib.sha256(found[2].encode()).hexdigest()[:12]}.json"
        folder.mkdir(exist_ok=True)
        (folder / name).write_text(found[2], encoding="utf8")
        return f'{found[1]} data-from="{name}"></script>'

    return STATE.sub(moved, page)


def lighten(app, exception):
    """Cuts fonts of icons and formulae, and rules, to what is in use; removes scripts and maps that no page loads."""
    if exception or app.builder.format != "html":
        return
    static = Path(app.outdir) / "_static"
    for pattern in ("**/*.map", "scripts/fontawesome.js*", "vendor/fontawesome/**/*.ttf", "*webpack-macros.html"):
        for file in static.glob(pattern):
            file.unlink()
    stylesheet = static / "styles" / "pydata-sphinx-theme.css"
    if not stylesheet.exists():
        return
    wanted: set[str] = set()
    for file in Path(app.outdir).rglob("*.html"):
        text = file.read_text(encoding="utf8")
        # no script holds up the text; what stands in the page itself waits for those that it needs, as a module does
        clean = CLASSIC.sub('<script defer src="', text)
        clean = clean.replace(PAGENAME, PAGENAME.replace("<script>", '<script type="module">'))
        clean = POINTS.sub(short_path, long_states(clean, static / "states"))
        wanted |= set(MOVED.findall(clean))
        if clean != text:
            file.write_text(clean, encoding="utf8")
    for file in (static / "states").glob("*.json"):
        if file.name not in wanted:  # of an earlier build
            file.unlink()
    css = fonts.trim_icon_rules(stylesheet.read_text(encoding="utf8"), fonts.used_icons(Path(app.outdir)))
    words = joined.used_words(Path(app.outdir))
    css = joined.trim_rules(css, words)
    stylesheet.write_text(css, encoding="utf8")
    fonts.trim_icons(static)
    fonts.trim_formulae(Path(app.outdir))
    joined.one_sheet(Path(app.outdir), words)
    joined.one_script(Path(app.outdir))


def setup(app):
    app.connect("builder-inited", write_figures)
    app.connect("html-collect-pages", write_downloads)
    app.connect("build-finished", write_lost, priority=900)
    app.connect("build-finished", lighten, priority=900)
    app.connect("build-finished", write_root, priority=950)  # of the page as it is in the end
