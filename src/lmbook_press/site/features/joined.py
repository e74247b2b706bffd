"""A page's stylesheets as one file, with what its pages use of them, and its scripts as one or two.

A browser shows nothing before the last stylesheet is there, and on a phone each file costs a round trip to the server.
"""

import base64
import hashlib
import posixpath
import re
from pathlib import Path

CLASS = re.compile(r"\.(?!bs-)(-?[A-Za-z_][\w-]*)")  # in a selector; scripts put names together that begin with bs-
NEGATED = re.compile(r":not\([^()]*\)|\[[^\]]*\]")
SHEET = re.compile(r'[ \t]*<link (?=[^>]*rel="stylesheet")[^>]*href="([^"]*?_static/)([^"?]*\.css)[^>]*>\n?')
PRELOADS = re.compile(r'<link rel="preload" [^>]*>\n')
SHEETS = re.compile(r'data-sheets="([^"]*)"')  # of which sheets one was made, if the page has not been written anew
ADDRESS = re.compile(r"""url\((["']?)(?!data:|[a-z]+:|[/#])([^"')]+)\1\)""")
ICONS = re.compile(r"url\((vendor/fontawesome/webfonts/fa-(?:solid|brands)-\d+\.woff2)\)")  # on every page
DEFERRED = re.compile(r'(?:<script defer src="[^"]*_static/[^"]*\.js[^"]*"[^>]*></script>\s*)+')
SCRIPT = re.compile(r'src="([^"]*?_static/)([^"?]*)[^"]*"(?: data-scripts="([^"]*)")?')
DECLARED = re.compile(r"^(?:const|let)(?=\s+[\w$]+\s*=)", re.MULTILINE)  # at the beginning of a line: for all scripts
IMPORT = re.compile(r"""@import\s+(?:url\()?["']([^"')]+)["']\)?;""")
OURS = (
    "lmbook.css",
    "boxes.css",
    "landing.css",
    "today.css",
    "figures/figures.css",
)  # nothing in them is for other books
AIR = re.compile(r"/\*.*?\*/|\s+", re.DOTALL)  # comments and runs of white space
PROPERTY = re.compile(r"""(?<=[{;\s])(--[\w-]+)\s*:(?:"[^"]*"|'[^']*'|\([^()]*\)|[^;{}"'()])*(?:;|(?=\}))""")
READ = re.compile(r"var\(\s*(--[\w-]+)")
# What bootstrap.js puts on the parts that pages have of it, menus and tooltips; the others it only speaks of.
BOOTSTRAP = {"active", "disabled", "dropup", "fade", "show", "tooltip", "tooltip-arrow", "tooltip-inner"}


def rules(css: str) -> list[tuple[str, str]]:
    """The rules of a stylesheet in order: (selectors or the head of an @rule, what stands between its braces)."""
    found, start, at, depth = [], 0, 0, 0
    for sign in re.finditer(r"/\*.*?\*/|\"(?:\\.|[^\"\\])*\"|'(?:\\.|[^'\\])*'|[{};]", css, re.DOTALL):
        if sign[0] == "{":
            depth += 1
            at = sign.end() if depth == 1 else at
        elif sign[0] == "}":
            depth -= 1
            if depth == 0:
                found.append((css[start : at - 1].strip(), css[at : sign.start()]))
                start = sign.end()
        elif sign[0] == ";" and depth == 0:  # @import, @charset
            found.append((css[start : sign.start()].strip(), ""))
            start = sign.end()
    return found


def trim_rules(css: str, words: set[str]) -> str:
    """A stylesheet without the rules for classes whose names no page and no script contains."""
    kept = []
    for head, body in rules(css):
        if head.startswith(("@media", "@supports", "@layer", "@container")):
            inside = trim_rules(body, words)
            kept.append(f"{head}{{{inside}}}" if inside else "")
        elif head.startswith("@"):
            kept.append(f"{head}{{{body}}}" if body else f"{head};")
        else:
            parts = re.split(r",(?![^(\[]*[)\]])", re.sub(r"/\*.*?\*/", "", head, flags=re.DOTALL))
            used = [part for part in parts if set(CLASS.findall(NEGATED.sub("", part))) <= words]
            kept.append(f"{','.join(used)}{{{body}}}" if used else "")
    return "".join(kept)


def trim_properties(css: str, words: set[str]) -> str:
    """A stylesheet without the custom properties that it sets and neither it nor these words of others name."""
    while True:
        read = words | set(READ.findall(css))
        kept = PROPERTY.sub(lambda found, read=read: found[0] if found[1] in read else "", css)
        if kept == css:
            return css
        css = kept


def used_words(out: Path) -> set[str]:
    """The classes and custom properties in pages, and every word in scripts, which may put such there."""
    words = set(BOOTSTRAP)
    for file in out.rglob("*.html"):
        text = file.read_text(encoding="utf8", errors="replace")
        words.update(READ.findall(text))
        for names in re.findall(r'class="([^"]*)"', text):
            words.update(names.split())
    for file in (*out.rglob("*.js"), *out.rglob("*.mjs")):
        if file.parent.name == "python":  # which brings its own stylesheet
            continue
        if file.name not in ("searchindex.js", "bootstrap.js") and not file.name.startswith(("book-", "safetensors")):
            words.update(re.findall(r"[\w-]+", file.read_text(encoding="utf8", errors="replace")))
    return words


def sheet(static: Path, name: str, words: set[str]) -> str:
    """A stylesheet as if it lay in `static` itself, with what it imports; foreign ones without what no page uses."""
    folder = posixpath.dirname(name)
    css = (static / name).read_text(encoding="utf8")
    place = lambda found: posixpath.normpath(posixpath.join(folder, found))  # noqa: E731
    imported = "".join(sheet(static, place(other), words) for other in IMPORT.findall(css))
    css = ADDRESS.sub(lambda found: f"url({found[1]}{place(found[2])}{found[1]})", IMPORT.sub("", css))
    return imported + (css if name in OURS else trim_rules(css, words)) + "\n"


def within(css: str, static: Path) -> str:
    """A stylesheet with the fonts of its icons in it: they are two kilobytes each and would be asked for after it."""

    def data(found: re.Match) -> str:
        return f"url(data:font/woff2;base64,{base64.b64encode((static / found[1]).read_bytes()).decode()})"

    return ICONS.sub(data, css)


def one_sheet(out: Path, words: set[str]) -> None:
    """Each page has one stylesheet in place of ten: a browser shows nothing before the last of them is there.

    Pages share a sheet wherever one has all that the other needs, so that a reader's second page has it already. It is
    asked for before the fonts, which are of no use without it. The single sheets stay, for the other editions.
    """
    static, wanted = out / "_static", {}
    for file in out.rglob("*.html"):
        text = file.read_text(encoding="utf8")
        links = list(SHEET.finditer(text))
        names = [name for link in links for name in (SHEETS.search(link[0]) or [0, link[2]])[1].split()]
        names = [name for name in names if (static / name).exists()]
        if names:
            wanted[file] = (text, links, tuple(names))
    lists = {names for _, _, names in wanted.values()}
    made = {}
    for names in sorted(one for one in lists if not any(set(one) < set(other) for other in lists)):
        css = AIR.sub(" ", "".join(sheet(static, name, words) for name in names))
        css = within(trim_properties(css, words), static)
        made[names] = f"book-{hashlib.sha256(' '.join(names).encode()).hexdigest()[:8]}.css", css
        (static / made[names][0]).write_text(css, encoding="utf8")
    for file, (text, links, names) in wanted.items():
        whole = min((one for one in made if set(names) <= set(one)), key=len)
        name, css = made[whole]
        version = hashlib.sha256(css.encode()).hexdigest()[:8]
        link = f'<link rel="stylesheet" href="{links[0][1]}{name}?v={version}" data-sheets="{" ".join(names)}" />\n'
        before, among = text[: links[0].start()], text[links[0].start() : links[-1].end()]
        fonts, rest = "".join(PRELOADS.findall(before)), text[links[-1].end() :]
        file.write_text(PRELOADS.sub("", before) + link + fonts + SHEET.sub("", among) + rest, encoding="utf8")


def alone(script: str) -> str:
    """A script that, joined with others, ends alone if it fails, and still declares what the others ask it for."""
    return f"try {{\n{DECLARED.sub('var', script)}\n}} catch (error) {{\n  reportError(error);\n}}\n"


def one_script(out: Path) -> None:
    """Scripts of a page that follow each other are one file, in their order: each alone costs a round trip."""
    static = out / "_static"

    def joined(found: re.Match) -> str:
        tags = SCRIPT.findall(found[0])
        names = [name for _, one, several in tags for name in (several or one).split()]
        if len(names) == 1 or not all((static / name).exists() for name in names):
            return found[0]
        text = "".join(alone((static / name).read_text(encoding="utf8")) for name in names)
        name, version = (hashlib.sha256(part.encode()).hexdigest()[:8] for part in (" ".join(names), text))
        (static / f"book-{name}.js").write_text(text, encoding="utf8")
        address = f"{tags[0][0]}book-{name}.js?v={version}"
        return f'<script defer src="{address}" data-scripts="{" ".join(names)}"></script>\n'

    for file in out.rglob("*.html"):
        text = file.read_text(encoding="utf8")
        if (clean := DEFERRED.sub(joined, text)) != text:
            file.write_text(clean, encoding="utf8")
