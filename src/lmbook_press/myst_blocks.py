"""The book's markup (MyST) turned into Markdown that reads well in Colab, JupyterLab and VS Code, block by block.

Admonitions become block quotes with a bold title, drop-downs become <details>, labels of equations become numbers,
solutions become a link to the page.  What is not known here is an error that names notebook, cell and line, so that no
raw markup reaches a student.
"""

import re
from pathlib import Path

from lmbook_press.book import Book, BookError, anchor
from lmbook_press.myst_inline import Inline, plain_html

FENCE = re.compile(r"^([ \t]*)(:{3,}|`{3,}|~{3,})(.*)$")
DIRECTIVE = re.compile(r"^\{([^}]*)\}[ \t]*(.*)$")
LABEL_LINE = re.compile(r"^\([^()\s]+\)=[ \t]*$")
COMMENT_LINE = re.compile(r"^(%|\+\+\+)")
OPTION_LINE = re.compile(r"^:([\w-]+):[ \t]*(.*)$")
MATHS_END = re.compile(r"\$\$[ \t]*(?:\(([^()\s]+)\))?[ \t]*$")
CHOICE = re.compile(r"^[-*] \[([ xX])\] ")
GRADED = re.compile(r"^(\d+\.\d+)\s+\(?(\w+)\)?\.?$")
ADMONITIONS = {"note": "Note", "tip": "Tip", "warning": "Warning", "admonition": None}
Lines = list[tuple[int, str]]  # line number in the cell (from 1), text


class Markup:
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
        text = "\n".join(self._blocks(list(enumerate(source.split("\n"), start=1))))
        return re.sub(r"\n{3,}", "\n\n", text).strip("\n")

    def finish(self) -> None:
        """Raises BookError for a solution that never ends."""
        if self.solution:
            raise BookError(f"{self.where}: the solution of {self.solution} has no {{solution-end}}")

    def fail(self, line: int, reason: str):
        raise BookError(f"{self.where}, line {line}: {reason}")

    def _blocks(self, lines: Lines, nested: bool = False) -> list[str]:
        """`nested`: inside a quote or a list, where mathematics must stay on one line to be seen as such."""
        out: list[str] = []
        at = 0
        while at < len(lines):
            number, text = lines[at]
            fence = FENCE.match(text)
            if fence:
                end = self._end_of_fence(lines, at, fence.group(2))
                block, at = lines[at + 1 : end], end + 1
                out += self._fence(number, fence, block, nested)
            elif self.solution:
                at += 1
            elif text.lstrip().startswith("$$"):
                end = self._end_of_maths(lines, at)
                out += self._maths(lines[at : end + 1], nested)
                at = end + 1
            elif LABEL_LINE.match(text):
                at += 1
            elif COMMENT_LINE.match(text):
                self.fail(number, "a comment (%) or block break (+++) shows as text in Colab: leave it out")
            else:
                end = at + 1
                while end < len(lines) and not self._starts_block(lines[end][1]):
                    end += 1
                out += self._paragraph(lines[at:end])
                at = end
        return out

    def _starts_block(self, text: str) -> bool:
        starts = (FENCE, LABEL_LINE, COMMENT_LINE)
        return text.lstrip().startswith("$$") or any(pattern.match(text) for pattern in starts)

    def _paragraph(self, lines: Lines) -> list[str]:
        text = "\n".join(line for _, line in lines)

        def fail(offset: int, reason: str):
            self.fail(lines[0][0] + text.count("\n", 0, offset), reason)

        return self.inline.convert(text, fail).split("\n")

    def _end_of_fence(self, lines: Lines, start: int, marks: str) -> int:
        """Index of the line that closes the fence: the same sign, at least as often, and nothing else."""
        closing = re.compile(rf"^[ \t]*{re.escape(marks[0])}{{{len(marks)},}}[ \t]*$")
        for at in range(start + 1, len(lines)):
            if closing.match(lines[at][1]):
                return at
        self.fail(lines[start][0], f"the block {lines[start][1].strip()!r} is never closed")

    def _end_of_maths(self, lines: Lines, start: int) -> int:
        first = lines[start][1].strip()
        if len(first) > 3 and MATHS_END.search(first[2:]):
            return start
        for at in range(start + 1, len(lines)):
            if MATHS_END.search(lines[at][1]):
                return at
        self.fail(lines[start][0], "the formula has no closing $$ at the end of a line")

    def _maths(self, lines: Lines, nested: bool) -> list[str]:
        """$$ … $$ (eq-name)  ->  $$ … \\tag{1.3} $$."""
        indent = re.match(r"[ \t]*", lines[0][1]).group()
        text = "\n".join(line.strip() for _, line in lines)
        end = MATHS_END.search(text)
        body = [line for line in text[2 : end.start()].split("\n") if line.strip()]
        if label := end.group(1):
            body.append(rf"\tag{{{self.book.equations[label][1]}}}")
        if nested or indent or len(lines) == 1:
            return [f"{indent}$${' '.join(body)}$$"]
        return ["$$", *body, "$$"]

    def _fence(self, number: int, fence: re.Match, block: Lines, nested: bool) -> list[str]:
        indent, marks, info = fence.groups()
        directive = DIRECTIVE.match(info.strip())
        if not directive:
            if marks[0] == ":":
                self.fail(number, f"the block {fence.group().strip()!r} names no directive in braces")
            if self.solution:
                return []
            return [fence.group(), *(line for _, line in block), indent + marks]
        name, title = directive.groups()
        if name == "solution-end":
            if not self.solution:
                self.fail(number, "{solution-end} without a {solution-start} before it")
            self.solution = None
            return []
        if self.solution:
            return []
        if indent:
            self.fail(number, f"the directive {{{name}}} is indented: start it at the beginning of a line")
        options, block = self._options(block)
        if name in ADMONITIONS:
            return self._admonition(number, title or ADMONITIONS[name], options, block)
        methods = {
            "self-check": self._self_check,
            "exercise": self._exercise,
            "exercise-start": self._exercise,
            "exercise-end": lambda *_: [],
            "solution": self._solution,
            "solution-start": self._solution,
        }
        if name not in methods or (nested and name != "self-check"):
            known = ", ".join([*ADMONITIONS, *methods])
            self.fail(number, f"the directive {{{name}}} is not known to the other editions here: use one of {known}")
        if name == "solution-start":
            self.solution = title or "?"
        return methods[name](number, title, options, block)

    def _options(self, block: Lines) -> tuple[dict[str, str], Lines]:
        options = {}
        while block and (found := OPTION_LINE.match(block[0][1])):
            options[found.group(1)] = found.group(2).strip()
            block = block[1:]
        return options, block

    def _admonition(self, number: int, title: str | None, options: dict[str, str], block: Lines) -> list[str]:
        if not title:
            self.fail(number, "the admonition has no title")
        body = "\n".join(self._blocks(block, nested=True)).strip("\n").split("\n")
        title = "\n".join(self._paragraph([(number, title)]))
        if "dropdown" in options.get("class", "").split():
            return ["", "<details>", f"<summary><b>{plain_html(title)}</b></summary>", "", *body, "", "</details>", ""]
        return ["", f"> **{title}**", ">", *(f"> {line}".rstrip() for line in body), ""]

    def _exercise(self, number: int, title: str, options: dict[str, str], block: Lines) -> list[str]:
        title = "\n".join(self._paragraph([(number, title)])) if title else ""
        heading = GRADED.sub(r"\1 (\2)", title)
        if number_of := re.match(r"\d+\.\d+", title):
            self.exercises[options.get("label", "")] = number_of.group()
        return ["", f"**Exercise {heading}.**".replace(" .", "."), "", *self._blocks(block), ""]

    def _solution(self, number: int, label: str, options: dict[str, str], block: Lines) -> list[str]:
        label = label.strip()
        if not label:
            self.fail(number, "the solution does not say which exercise it belongs to")
        which = f" of exercise {self.exercises[label]}" if label in self.exercises else ""
        return ["", f"*[Solution{which} on the book's page]({self.book.address(self.path)}#{label})*", ""]

    def _self_check(self, number: int, title: str, options: dict[str, str], block: Lines) -> list[str]:
        """A list of options; each explanation opens with a click."""
        if not title:
            self.fail(number, "the self-check asks no question: write it after {self-check}")
        out = ["", f"**Check yourself.** {chr(10).join(self._paragraph([(number, title)]))}", ""]
        for letter, (right, item) in zip("ABCDEFGHIJ", self._choices(number, block), strict=False):
            blank = next((i for i, (_, line) in enumerate(item) if not line.strip()), len(item))
            option = "\n".join(self._paragraph(item[:blank])).split("\n")
            why = "\n".join(self._blocks(item[blank:], nested=True)).strip("\n").split("\n")
            if not any(why):
                self.fail(item[0][0], "this option has no explanation: add a second, indented paragraph")
            why[0] = f"**{'Right' if right else 'Not so'}.** {why[0]}"
            out += [f"- **{letter}.** {option[0]}", *(f"  {line}" for line in option[1:]), ""]
            out += ["  <details>", f"  <summary>Is {letter} right?</summary>", ""]
            out += [*(f"  {line}".rstrip() for line in why), "", "  </details>", ""]
        return out

    def _choices(self, number: int, block: Lines) -> list[tuple[bool, Lines]]:
        """The options of a self-check: right or not, and its lines without bullet and indentation."""
        choices: list[tuple[bool, Lines]] = []
        for line, text in block:
            if found := CHOICE.match(text):
                choices.append((found.group(1) != " ", [(line, text[found.end() :])]))
            elif not text.strip():
                if choices:
                    choices[-1][1].append((line, ""))
            elif not choices or not text.startswith("  "):
                self.fail(
                    line, "a self-check holds only options '- [ ] …' or '- [x] …' and their indented explanations"
                )
            else:
                choices[-1][1].append((line, text[2:]))
        if len(choices) < 2 or not any(right for right, _ in choices):
            self.fail(number, "a self-check needs at least two options, and at least one right one marked [x]")
        return choices


def raw_markup(text: str) -> list[str]:
    """Pieces of book markup that are still in `text`, which should be plain Markdown; code and mathematics apart."""
    text = re.sub(r"^([ \t>]*)(`{3,}|~{3,})(?!.*\{)[^\n]*\n.*?^\1\2[ \t]*$", "", text, flags=re.MULTILINE | re.DOTALL)
    text = re.sub(r"\$\$(?![ \t]*\().+?\$\$(?![ \t]*\()", "", text, flags=re.DOTALL)
    text = re.sub(r"(?<![`}])(`+)(?!`).+?(?<!`)\1(?!`)", "", text, flags=re.DOTALL)
    patterns = (
        r":{3,}.*",
        r"[`~]{3,}\{.*",
        r"^\([^()\s]+\)=",
        r"\{[A-Za-z][\w:.+-]*\}`[^`]*`",
        r"\$\$[ \t]*\([^()\s]+\)",
        r"\{\{.*?\}\}",
        r"\]\{[.#].*?\}",
        r"\[\^[^\]]*\]",
        r"^%.*",
        r"\]\((?!https?:|mailto:)[^)]*\)",
    )
    return [found for pattern in patterns for found in re.findall(pattern, text, re.MULTILINE)]


__all__ = ["Markup", "anchor", "raw_markup"]
