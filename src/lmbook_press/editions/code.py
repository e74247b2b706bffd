"""What a slide shows of a code cell: the lines of its code that matter, in colour, and what it printed or drew."""

import re

from markupsafe import Markup
from nbformat import NotebookNode

from lmbook_press.prose import prose
from lmbook_press.rendering import filled

OUTPUT = '<pre class="output">{}</pre>'
LINK = re.compile(r"<script\b(?![^>]*application/json).*?</script>", re.DOTALL)
MOST_LINES, MOST_BESIDE, MOST_OUTPUT = (
    15,
    12,
    16,
)  # of code that needs no mark, of code above an answer, of what it printed
DOCSTRING = re.compile(r'^[ ]+"""(?:[^"]|"(?!""))*"""\n', re.MULTILINE)
REMARK = re.compile(r"^\s*#.*\n?", re.MULTILINE)


def marked(source: str, lines: str) -> str:
    """The lines "1-4, 9" of a source, with a line of dots for what is left out between them."""
    every, shown, last = source.split("\n"), [], 0
    for part in lines.split(","):
        first, _, end = part.strip().partition("-")
        here = every[int(first) - 1 : int(end or first)]
        if int(first) > last + 1:
            shown.append(" " * (len(here[0]) - len(here[0].lstrip())) + "...")
        shown += here
        last = int(end or first)
    return "\n".join([*shown, "..."] if last < len(every) else shown)


def source_of(source: str, lines: str = "") -> list[Markup]:
    """The code of a cell in colour; nothing for one that only imports.

    lines: those to be shown; without, assertions are left out, in long code docstrings and remarks as well, and what
    is longer than MOST_LINES all the same ends in dots.
    """
    if lines:
        kept = marked(source, lines)
    else:
        kept = "\n".join(line for line in source.split("\n") if not line.startswith(("assert ", "glue(")))
        if kept.count("\n") >= MOST_BESIDE:
            kept = REMARK.sub("", DOCSTRING.sub("", kept))
        if (every := kept.strip("\n").split("\n"))[MOST_LINES:]:
            kept = "\n".join([*every[: MOST_LINES - 1], "..."])
    imports = all(re.match(r"(import|from)\b|\s*$", line) for line in kept.split("\n"))
    if imports or kept.startswith("from lmbook.figures import"):
        return []
    from pygments import highlight
    from pygments.formatters import HtmlFormatter
    from pygments.lexers import PythonLexer

    coloured = highlight(
        re.sub(r"\n{3,}", "\n\n", kept).strip("\n"),
        PythonLexer(),
        HtmlFormatter(noclasses=True, nowrap=True),
    )
    return [Markup(f'<pre class="code">{coloured}</pre>')]


def output_of(output: NotebookNode) -> Markup:
    """The output of a cell: a drawing, a figure as it is without a script, a table, or printed lines."""
    if output.output_type == "stream":
        lines = output.text.rstrip().split("\n")
        cut = [*lines[:MOST_OUTPUT], "..."] if len(lines) > MOST_OUTPUT else lines
        return filled(OUTPUT, "\n".join(cut))
    data = output.get("data", {})
    if "text/html" in data:
        return Markup(LINK.sub("", data["text/html"]))
    if "text/markdown" in data:
        return prose(data["text/markdown"], katex=True)
    return filled(OUTPUT, data["text/plain"]) if "text/plain" in data else Markup()
