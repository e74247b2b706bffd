"""Lines of code that are too long for the page go on below, further in than they began, so that none is cut off.

Each line is an element of its own; `--i` is its indentation in characters, from which the stylesheet makes the rest.
What is copied stays as it was written. What code prints keeps its columns, unless a line is too long for any screen;
what it prints in words alone goes on below like code. In a listing on a page, the rows of a table keep their columns.
A short piece of code in a sentence stays on one line, which could else end after a quote or a minus in it.
"""

import html
import re

BLOCK = re.compile(
    r'(<div class="[^"]*highlight-(?P<kind>[\w-]+) notranslate"><div class="highlight"><pre>(?:<span></span>)?)'
    r"(.*?)(</pre></div>)",
    re.DOTALL,
)
TAG = re.compile(r"<[^>]+>")
PIECE = re.compile(r'<span class="pre">([^<]+)</span>')
SHORT, WIDE = 28, 78  # characters that fit on one line of a phone, of the column of text
PIECE_LENGTH = SHORT // 2
WORDS = 3  # fewer spaces in a long line: it is not a sentence
PRINTED, LISTING = "myst-ansi", "text"  # the kinds of what a cell prints, and of what a page says that a command prints
ROW = re.compile(r"\S {2,}\S.* {2,}\S")  # of a table: three columns or more


def _line(line: str, kind: str) -> str:
    text = html.unescape(TAG.sub("", line))
    if len(text) <= SHORT:
        return f"{line}\n"
    if kind == LISTING and len(text) <= WIDE and ROW.search(text):
        return f'<span class="lm-columns">{line}\n</span>'
    indent = len(text) - len(text.lstrip(" "))
    return f'<span class="lm-line"{f" style=--i:{indent}" if indent else ""}>{line}\n</span>'


def _columns(texts: list[str]) -> bool:
    """Whether printed lines stand in columns: some have more than one space between words, or are rows of an array."""
    if any("  " in text.strip() or text.lstrip().startswith("[") for text in texts):
        return True
    return any(len(text) > SHORT and text.count(" ") < WORDS for text in texts)


def _block(found: re.Match) -> str:
    lines = found[3].rstrip("\n").split("\n")
    if found["kind"] == PRINTED:
        texts = [html.unescape(TAG.sub("", line)) for line in lines]
        if max(map(len, texts)) <= WIDE and _columns(texts):
            return found[0]
    return found[1] + "".join(_line(line, found["kind"]) for line in lines) + found[4]


def _piece(found: re.Match) -> str:
    text = html.unescape(found[1])
    if len(text) > PIECE_LENGTH or re.fullmatch(r"[\w.]+", text):  # which no browser breaks
        return found[0]
    return f'<span class="pre lm-whole">{found[1]}</span>'


def hang(body: str) -> str:
    """The HTML of a page with each line of its code in an element of its own."""
    return PIECE.sub(_piece, BLOCK.sub(_block, body))


def _page_context(app, pagename, templatename, context, doctree):
    if "body" in context:
        context["body"] = hang(context["body"])


def setup(app):
    app.connect("html-page-context", _page_context, priority=800)
