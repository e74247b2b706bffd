"""Tables of numbers. The directive `results`: a table of `lmbook.lab.tables`, with its caption and what differs
between its rows, written when the site is built.

```{results} language
```

The directive `models`: all trained networks of the book, each with links to the chapters that show it.

In any table, a number with its range stays on one line (the class lm-number). Where the table would be wider than the
column of text (lm-wide), and on paper, the line may break before the range, and not in it. A head keeps a number
together with its unit, and its hyphens; what was computed has a minus and no hyphen before it. The name of a class may
break before each of its words.
"""

import json
import re
from pathlib import Path

from docutils import nodes
from docutils.statemachine import StringList
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective

# numbers, perhaps with signs, units and brackets, and "to" between the ends of a range
NUMBER = re.compile(r"[-+−–~]?\d[\d.,%e×±()/ −–+-]*((to|of) [-+−(]?\d[\d.,%e×±()/ −–+-]*)*(s|ms|M|GB|MB)?\)?")
RANGE = re.compile(r"\([^()]*\)")
# what stays together in a head: "10 to 12", "seed 0", "8 bits", "EN-DE"
HEAD = re.compile(r"(\d\S* to \d\S*|\b(?:beam|seed) \d+|\d+ \w+$|\w+(?:-\w+)+)")
CLASS = re.compile(r"\b(?=\w{12})(?:[A-Z]+[a-z0-9]+){2,}\b")  # a long name of a class, AttentionSeq2Seq
SIGN = re.compile(r"(?<![\w.−-])-(?=\d)")  # a minus of Python's
FITS = 100  # letters in a row of a table that the column of text holds
NAME = 20  # letters of a row's name that are to stay on one line, or names would have a word a line
logger = logging.getLogger(__name__)


class Results(SphinxDirective):
    """The table of this name; one that does not exist is a warning."""

    required_arguments = 1

    def run(self):
        from lmbook.lab import tables
        from lmbook.lab.run import RECORDED, RecipeError

        try:
            text, name = tables.section(self.arguments[0]), self.arguments[0]
            settings = "" if name in ("machines", "summary") else tables.differences(name)
        except RecipeError as error:
            logger.warning("%s", error, location=self.get_location())
            return []
        for file in (*(RECORDED.iterdir() if RECORDED.is_dir() else ()), RECORDED.parent / "tables.toml"):
            self.env.note_dependency(str(file))
        if settings:
            box = f":::{{admonition}} In which settings do they differ?\n:class: dropdown\n\n{settings}\n:::"
            text = text.removesuffix(settings) + box
        holder = nodes.Element()
        self.state.nested_parse(StringList(text.split("\n"), source="results"), self.content_offset, holder)
        return holder.children


def shown_in(notebooks: Path) -> dict[str, str]:
    """For each recipe the chapters whose code names it, itself or in a table, as links; in the order of the chapters.

    f"shakespeare-{cell}" names the recipes that begin so and go on with a string of the same code.
    """
    from lmbook.lab import tables
    from lmbook.lab.run import RECIPES

    found: dict[str, list[str]] = {}
    for path in sorted(notebooks.glob("[0-9]*.ipynb")):
        cells = json.loads(path.read_text("utf-8"))["cells"]
        code = "\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "code")
        named = set(re.findall(r"[\"']([a-z0-9-]+)[\"']", code))
        named |= {start + end for start in re.findall(r"f[\"']([a-z0-9]+-)\{", code) for end in named}
        for table in re.findall(r"tables\.(?:table|section)\([\"']([\w-]+)[\"']\)", code):
            named |= {row.recipe for row in tables.chosen(table).rows}
        for name in RECIPES:
            if name in named:
                found.setdefault(name, []).append(f"[{int(path.name[:2])}](../notebooks/{path.name})")
    return {name: ", ".join(links) for name, links in found.items()}


class Models(SphinxDirective):
    """The table of all trained networks, for a page in the folder beside `notebooks`."""

    def run(self):
        from lmbook.lab import tables
        from lmbook.lab.run import RECORDED

        for folder in (RECORDED, Path(self.env.srcdir) / "notebooks"):
            for file in folder.iterdir() if folder.is_dir() else ():
                self.env.note_dependency(str(file))
        text, holder = tables.models(shown_in(Path(self.env.srcdir) / "notebooks")), nodes.Element()
        self.state.nested_parse(StringList(text.split("\n"), source="models"), self.content_offset, holder)
        for table in holder.findall(nodes.table):
            table["classes"].append("lm-models")
        return holder.children


def _texts(node) -> list[nodes.Text]:
    """The texts below a node, but for code and formulae."""
    return [text for text in node.findall(nodes.Text) if not isinstance(text.parent, nodes.literal | nodes.math)]


def _write(node, change) -> None:
    """Every text below the node, changed."""
    for text in _texts(node):
        text.parent.replace(text, nodes.Text(change(text.astext())))


def _keep(head) -> None:
    """The parts of a head that HEAD finds stay on one line."""
    for text in _texts(head):
        parts = enumerate(HEAD.split(text.astext()))
        kept = [
            nodes.inline("", part, classes=["lm-short"]) if at % 2 else nodes.Text(part) for at, part in parts if part
        ]
        text.parent.replace(text, kept)


def _may_break(cell) -> None:
    """Long names of classes may go on on the next line before a capital letter."""
    for text in _texts(cell):
        broken = CLASS.sub(lambda name: re.sub("(?<=[A-Za-z])(?=[A-Z][a-z])", "\n", name[0]), text.astext())
        first, *rest = broken.split("\n")
        if rest:
            kept = [part for name in rest for part in (nodes.raw("", "<wbr/>", format="html"), nodes.Text(name))]
            text.parent.replace(text, [nodes.Text(first), *kept])


class KeepRanges(SphinxPostTransform):
    """Marks the cells that hold one number, with its range or without, and tables that these would make too wide."""

    default_priority = 900
    formats = ("html",)

    def run(self):
        for table in self.document.findall(nodes.table):
            widths: dict[int, int] = {}
            numbers = []
            for row in table.findall(nodes.row):
                for column, cell in enumerate(row.findall(nodes.entry)):
                    words = [cell.astext().strip()]
                    if NUMBER.fullmatch(words[0]):
                        cell["classes"].append("lm-number")
                        numbers.append(cell)
                    else:
                        words = words[0].split() + ([words[0][:NAME]] if column == 0 else [])
                    widths[column] = max(widths.get(column, 0), *map(len, words), 0)
            if sum(widths.values()) + 2 * len(widths) > FITS:
                table["classes"].append("lm-wide")
                for cell in table.findall(nodes.entry):
                    _may_break(cell)
            for cell in numbers:
                _write(cell, lambda text: SIGN.sub("−", RANGE.sub(lambda found: found[0].replace(" ", "\u00a0"), text)))
            for head in table.findall(nodes.thead):
                _keep(head)
        for inline in self.document.findall(nodes.inline):
            if "pasted-text" in inline["classes"]:
                _write(inline, lambda text: SIGN.sub("−", text))


def setup(app):
    """Registers the directives and the transform."""
    app.add_post_transform(KeepRanges)
    app.add_directive("results", Results)
    app.add_directive("models", Models)
