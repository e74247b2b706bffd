"""One paragraph of the book's markup turned into plain Markdown: roles, links, and what must stay untouched.

Code spans and mathematics pass as they are; a role becomes text or a link to the site; whatever is not known is an
error.
"""

import ast
import contextlib
import html
import re
from collections.abc import Callable
from pathlib import Path

from lmbook_press.book import Book, BookError, anchor

CODE_SPAN = re.compile(r"(?<!`)(`+)(?!`)(.+?)(?<!`)\1(?!`)", re.DOTALL)
ROLE = re.compile(r"\{([A-Za-z][\w:.+-]*)\}(`+)(.+?)(?<!`)\2(?!`)", re.DOTALL)
MATHS = re.compile(r"\$\$.+?\$\$|\$(?![\s$])(?:\\.|[^$\\])*?(?<!\s)\$(?!\d)", re.DOTALL)
LINK = re.compile(
    r"(!?)\[((?:\\.|`[^`]*`|\[[^\[\]]*\]|[^\[\]\\`])*)\]\(\s*(<[^>]*>|[^()\s]*)(\s+\"[^\"]*\")?\s*\)", re.DOTALL
)
HTML_TAG = re.compile(r"<(?:https?://[^>\s]+|/?[a-zA-Z][^<>]*|!--.*?--)>", re.DOTALL)
TEXT_AND_TARGET = re.compile(r"(.+?)\s*<([^<>]+)>\s*$", re.DOTALL)
ATTRIBUTES = re.compile(r"\{[.#%]")


class Inline:
    """Converts the text of one notebook.  `glue` maps names to the numbers its cells stored."""

    def __init__(self, book: Book, path: Path, glue: dict[str, str]):
        self.book, self.path, self.glue = book, path, glue

    def convert(self, text: str, fail: Callable[[int, str], None]) -> str:
        """Plain Markdown for `text`.  `fail(offset, reason)` is called for markup that is not known, and raises."""
        done, at = [], 0
        while at < len(text):
            piece, length = self._next(text, at, fail)
            done.append(piece)
            at += length
        return "".join(done)

    def _next(self, text: str, at: int, fail: Callable[[int, str], None]) -> tuple[str, int]:
        """What stands at position `at`, converted, and how many characters of the source it took."""
        sign = text[at]
        if sign == "\\":
            return text[at : at + 2], 2
        if sign in "`$<":
            pattern = {"`": CODE_SPAN, "$": MATHS, "<": HTML_TAG}[sign]
            if found := pattern.match(text, at):
                return found.group(), len(found.group())
        elif sign == "{":
            if found := ROLE.match(text, at):
                try:
                    return self._role(found.group(1), found.group(3).strip()), len(found.group())
                except BookError as error:
                    fail(at, str(error))
            if text.startswith("{{", at):
                fail(at, "a substitution {{…}} is not known to the other editions: write the text itself")
            if ATTRIBUTES.match(text, at):
                fail(at, f"attributes {text[at : at + 12]!r} are not known to the other editions: leave them out")
        elif sign in "![":
            if text.startswith("[^", at):
                fail(at, "a footnote does not show in Colab: put its text in brackets")
            if found := LINK.match(text, at):
                try:
                    return self._link(found, lambda offset, why: fail(at + offset, why)), len(found.group())
                except BookError as error:
                    fail(at, str(error))
        return sign, 1

    def _role(self, name: str, text: str) -> str:
        roles = {
            "eq": self._equation,
            "term": self._term,
            "ref": self._reference,
            "glue:text": self._glued,
            "cite": self._cited,
            "cite:p": self._cited,
            "cite:t": self._cited_in_text,
        }
        if name not in roles:
            raise BookError(f"the role {{{name}}} is not known to the other editions: use one of {', '.join(roles)}")
        return roles[name](text)

    def _equation(self, label: str) -> str:
        if label not in self.book.equations:
            raise BookError(f"no equation has the label {label}")
        path, number = self.book.equations[label]
        return (
            f"({number})" if path == self.path else f"[({number})]({self.book.address(path)}#equation-{anchor(label)})"
        )

    def _term(self, text: str) -> str:
        shown, target = found.groups() if (found := TEXT_AND_TARGET.match(text)) else (text, text)
        if target.lower() not in self.book.terms:
            raise BookError(f"book/glossary.md has no term {target!r}: add it, or write the word without {{term}}")
        return f"[{shown}]({self.book.terms[target.lower()]})"

    def _reference(self, text: str) -> str:
        shown, label = found.groups() if (found := TEXT_AND_TARGET.match(text)) else ("", text)
        if label not in self.book.labels:
            raise BookError(f"no section has the label {label}: put ({label})= on the line before its heading")
        path, title = self.book.labels[label]
        return f"[{shown or title}]({self.book.address(path)}#{anchor(label)})"

    def _glued(self, text: str) -> str:
        """As myst-nb does on the site: the stored text is read as a value, of the kind that the format asks for."""
        name, _, form = text.rpartition(":") if ":" in text else (text, "", "s")
        if name not in self.glue:
            raise BookError(f"no cell of this notebook stored {name!r} with lmbook.glue, or it was never run")
        value = self.glue[name]
        with contextlib.suppress(SyntaxError, ValueError):
            value = ast.literal_eval(value)
        kind = str if form.endswith("s") else int if form[-1:] in "bcdoxX" else float
        try:
            return format(kind(value), form)
        except ValueError as error:
            raise BookError(f"the stored {name} = {value} cannot be shown as {form!r}: {error}") from error

    def _citations(self, keys: str) -> list[tuple[str, str]]:
        found = []
        for key in (key.strip() for key in keys.split(",")):
            if key not in self.book.bibliography:
                raise BookError(f"book/references.bib has no entry {key!r}")
            found.append(self.book.citation(key))
        return found

    def _cited(self, keys: str) -> str:
        shown = "; ".join(f"{names}, {year}" for names, year in self._citations(keys))
        return f"([{shown}]({self.book.bibliography_address}))"

    def _cited_in_text(self, keys: str) -> str:
        shown = ", ".join(f"{names} ({year})" for names, year in self._citations(keys))
        return f"[{shown}]({self.book.bibliography_address})"

    def _link(self, found: re.Match, fail: Callable[[int, str], None]) -> str:
        picture, text, target, title = found.groups()
        target, title = target.strip("<>"), title or ""
        shown = self.convert(text, lambda offset, why: fail(offset + 1 + len(picture), why))
        if re.match(r"(https?|mailto):", target):
            return f"{picture}[{shown}]({target}{title})"
        if picture:
            raise BookError(f"the picture {target} would not travel with the notebook: draw it in a cell")
        file, _, fragment = target.partition("#")
        here = self.book.place(self.path)
        path = self.book.source_of((here.parent / file).resolve()) if file else self.path
        if not path.is_file() or path.suffix not in (".md", ".ipynb"):
            raise BookError(f"the link to {target} leads to no page of the book")
        place, heading = self.book.section(path, fragment) if fragment else ("", self.book.title(path))
        return f"[{shown or heading}]({self.book.address(path)}{place}{title})"


def plain_html(markdown: str) -> str:
    """A short title as HTML, for a <summary>, in which Markdown is not read."""
    text = html.escape(markdown, quote=False)
    text = re.sub(r"`([^`]+)`", r"<code>\1</code>", text)
    text = re.sub(r"\[([^\[\]]+)\]\(([^()\s]+)\)", r'<a href="\2">\1</a>', text)
    return re.sub(r"\*\*?([^*]+)\*\*?", r"<em>\1</em>", text)
