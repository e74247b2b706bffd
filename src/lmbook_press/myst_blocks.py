"""The book's markup (MyST) turned into Markdown that reads well in Colab, JupyterLab and VS Code, block by block.

Admonitions become block quotes with a bold title, drop-downs become <details>, labels of equations become numbers,
solutions become a link to the page.  What is not known here is an error that names notebook, cell and line, so that no
raw markup reaches a student.
"""

import re
from functools import cached_property
from pathlib import Path

from markdown_it import MarkdownIt
from markdown_it.token import Token

from lmbook_press.book import Book, BookError
from lmbook_press.exercises import Exercise, exercises
from lmbook_press.myst import DIRECTIVE, FENCES, PROSE, REFUSED, blocks, choices, options_of
from lmbook_press.myst_inline import Inline

GRADED = re.compile(r"^(\d+\.\d+)\s+\(?(\w+)\)?(.*?)\.?$")
ADMONITIONS = {"note": "Note", "tip": "Tip", "warning": "Warning", "admonition": ""}


class PlainMarkdown:
    """Converts the Markdown cells of one notebook, in order; a solution may run over several cells."""

    def __init__(self, book: Book, path: Path, glue: dict[str, str] | None = None):
        self.book, self.path = book, path
        self.inline = Inline(book, path, glue or {})
        self.solution: str | None = None  # label of the exercise whose solution is being left out
        self.exercises: dict[str, str] = {}  # label -> number
        self.where = path.name

    def convert(self, source: str, cell: int = 0) -> str:
        """Plain Markdown for the Markdown cell number `cell`.  Raises BookError, with the place, for unknown markup."""
        self.where = f"{self.path.relative_to(self.book.root).as_posix()}, cell {cell}"
        return re.sub(r"\n{3,}", "\n\n", "\n".join(self._blocks(source, 1))).strip("\n")

    @cached_property
    def _measured(self) -> list[Exercise]:
        return exercises(self.path) if self.path.exists() else []

    def finish(self) -> None:
        """Raises BookError for a solution that never ends."""
        if self.solution:
            raise BookError(f"{self.where}: the solution of {self.solution} has no {{solution-end}}")

    def fail(self, line: int, reason: str):
        raise BookError(f"{self.where}, line {line}: {reason}")

    def _blocks(self, text: str, first: int, nested: bool = False) -> list[str]:
        """`first`: the text's first line in the cell.  `nested`: inside a quote or a list."""
        out: list[str] = []
        for kind, token, start, lines in blocks(text):
            if kind in FENCES:
                out += self._fence(token, first + start, lines, nested)
            elif self.solution or kind == "myst_target":
                continue
            elif kind.startswith("math_block"):
                out += self._maths(token, lines[0], nested)
            elif kind in REFUSED:
                self.fail(first + start, REFUSED[kind])
            else:
                out += self._prose("\n".join(lines), first + start).split("\n") if kind in PROSE else lines
        return out

    def _prose(self, text: str, first: int) -> str:
        return self.inline.convert(text, lambda at, reason: self.fail(first + text.count("\n", 0, at), reason))

    def _maths(self, token: Token, line: str, nested: bool) -> list[str]:
        """$$ … $$ (eq-name)  ->  $$ … \\tag{1.3} $$; in a quote or a list on one line, else Colab shows the signs."""
        before = line[: line.index("$$")]
        body = [part.strip() for part in token.content.split("\n") if part.strip()]
        if token.type == "math_block_label":
            body.append(rf"\tag{{{self.book.equations[token.info][1]}}}")
        if nested or before or "\n" not in token.content:
            return [f"{before}$${' '.join(body)}$$"]
        return ["$$", *body, "$$"]

    def _fence(self, token: Token, number: int, lines: list[str], nested: bool) -> list[str]:
        if len(lines) < 2 or not re.fullmatch(rf"[ \t>]*{token.markup}{token.markup[0]}*[ \t]*", lines[-1]):
            self.fail(number, f"the block {lines[0].strip()!r} is never closed")
        directive = DIRECTIVE.match(token.info.strip())
        if not directive:
            if token.type == "colon_fence":
                self.fail(number, f"the block {lines[0].strip()!r} names no directive in braces")
            return [] if self.solution else lines
        name, title = directive.groups()
        if name == "solution-end":
            if not self.solution:
                self.fail(number, "{solution-end} without a {solution-start} before it")
            self.solution = None
            return []
        if self.solution:
            return []
        if not lines[0].startswith(token.markup):
            self.fail(number, f"the directive {{{name}}} is indented: start it at the beginning of a line")
        methods = {
            "self-check": self._self_check,
            "exercise": self._exercise,
            "solution": self._solution,
            "solution-start": self._solution,
        } | dict.fromkeys(ADMONITIONS, self._admonition)
        if name not in methods or (nested and name not in ("self-check", *ADMONITIONS)):
            known = ", ".join(methods)
            self.fail(number, f"the directive {{{name}}} is not known to the other editions here: use one of {known}")
        title = self._prose(title or ADMONITIONS.get(name, ""), number)
        if not title:
            self.fail(number, f"{{{name}}} is not followed by its title, its question or the exercise it belongs to")
        if name == "solution-start":
            self.solution = title
        options, body = options_of(token)
        try:
            return ["", *methods[name](title, options, "\n".join(body), number + 1 + len(options)), ""]
        except ValueError as error:
            self.fail(number, f"{{{name}}}: {error}")

    def _admonition(self, title: str, options: dict[str, str], body: str, first: int) -> list[str]:
        lines = "\n".join(self._blocks(body, first, nested=True)).strip("\n").split("\n")
        if "dropdown" in options.get("class", "").split():
            summary = f"<summary><b>{MarkdownIt().renderInline(title)}</b></summary>"
            return ["<details>", summary, "", *lines, "", "</details>"]
        return [f"> **{title}**", ">", *(f"> {line}".rstrip() for line in lines)]

    def _exercise(self, title: str, options: dict[str, str], body: str, first: int) -> list[str]:
        if number := re.match(r"\d+\.\d+", title):
            self.exercises[options.get("label", "")] = number.group()
        minutes = {one.label: f", about {one.minutes} minutes" for one in self._measured}
        heading = GRADED.sub(rf"\1 (\2\3{minutes.get(options.get('label'), '')})", title)
        return [f"**Exercise {heading}.**", "", *self._blocks(body, first)]

    def _solution(self, label: str, options: dict[str, str], body: str, first: int) -> list[str]:
        which = f" of exercise {self.exercises[label]}" if label in self.exercises else ""
        return [f"*[Solution{which} on the book's page]({self.book.address(self.path)}#{label})*"]

    def _self_check(self, question: str, options: dict[str, str], body: str, first: int) -> list[str]:
        """A list of options; each explanation opens with a click."""
        out = [f"**Check yourself.** {question}"]
        for letter, (right, start, answer, why) in zip("ABCDEFGH", choices(body.split("\n")), strict=False):
            option = self._prose("\n".join(answer), first + start).split("\n")
            reason = self._blocks("\n".join(why), first + start + len(answer) + 1, nested=True)
            told = f"**{'Right' if right else 'Not so'}.** " + "\n".join(reason).strip("\n")
            out += ["", f"- **{letter}.** {option[0]}", *(f"  {line}" for line in option[1:]), "", "  <details>"]
            out += [f"  <summary>Is {letter} right?</summary>", ""]
            out += [*(f"  {line}".rstrip() for line in told.split("\n")), "", "  </details>"]
        return out
