"""One paragraph of the book's markup turned into plain Markdown: roles, links, and what must stay untouched.

A role becomes text or a link to the site, a link inside the book an address; every other character stays as it is, and
markup that is not known is an error.
"""

import ast
import contextlib
import re
from collections.abc import Callable
from pathlib import Path
from urllib.parse import unquote

from lmbook_press.book import Book, BookError, anchor
from lmbook_press.myst import REFUSED, Span, spans

STRAY_MATHS = re.compile(r"^[ \t>]*\$\$", re.MULTILINE)  # in a paragraph: a formula that is none
TEXT_AND_TARGET = re.compile(r"(.+?)\s*<([^<>]+)>\s*$", re.DOTALL)


class Inline:
    """Converts the text of one notebook.  `glue` maps names to the numbers its cells stored."""

    def __init__(self, book: Book, path: Path, glue: dict[str, str]):
        self.book, self.path, self.glue = book, path, glue

    def convert(self, text: str, fail: Callable[[int, str], None]) -> str:
        """Plain Markdown for `text`.  `fail(offset, reason)` is called for markup that is not known, and raises."""
        if stray := STRAY_MATHS.search(text):
            fail(stray.start(), "the formula has no closing $$ at the end of a line, or no blank line before it")
        edits = []
        for span in spans(text):
            try:
                edits.append(self._edit(span, text))
            except BookError as error:
                fail(span.start, str(error))
        for start, end, new in sorted(edits, reverse=True):
            text = text[:start] + new + text[end:]
        return text

    def _edit(self, span: Span, text: str) -> tuple[int, int, str]:
        """The replacement for text[start:end]; only the end of a link changes, since its text may hold other edits."""
        if span.rule in REFUSED:
            raise BookError(REFUSED[span.rule])
        if span.rule == "myst_role":
            return span.start, span.end, self._role(span.token.meta["name"], span.token.content.strip())
        if span.target.startswith(("http:", "https:", "mailto:")):
            return span.end, span.end, ""
        if span.rule == "image":
            raise BookError(f"the picture {span.target} would not travel with the notebook: draw it in a cell")
        end_of_text = text.rindex("](", span.start, span.end)
        address, heading = self._page(unquote(span.target))
        title = f' "{span.token.attrs["title"]}"' if "title" in span.token.attrs else ""
        shown = heading if end_of_text == span.start + 1 else ""
        return end_of_text, span.end, f"{shown}]({address}{title})"

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

    def _page(self, target: str) -> tuple[str, str]:
        """The address that a link inside the book leads to, and the heading there."""
        file, _, fragment = target.partition("#")
        if fragment.startswith("figure="):  # a state of a living figure: on the site, where the address sets it
            return f"{self.book.address(self.path)}#{fragment}", ""
        here = self.book.place(self.path)
        path = self.book.source_of((here.parent / file).resolve()) if file else self.path
        if not path.is_file() or path.suffix not in (".md", ".ipynb"):
            raise BookError(f"the link to {target} leads to no page of the book")
        place, heading = self.book.section(path, fragment) if fragment else ("", self.book.title(path))
        return self.book.address(path) + place, heading
