"""Tables of numbers. The directive `results`: a table of `lmbook.experiments.tables`, with its caption and what differs
between its rows, written when the site is built.

```{results} language
```

The directive `models`: all trained networks of the book, each with links to the chapters that show it.

In any table, a number with its range stays on one line (the class lm-number).
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
NUMBER = re.compile(r"[-+−–~]?\d[\d.,%×()/ −–+-]*((to|of) [-+−(]?\d[\d.,%×()/ −–+-]*)*(s|ms|M|GB|MB)?\)?")
logger = logging.getLogger(__name__)


class Results(SphinxDirective):
    """The table of this name; one that does not exist is a warning."""

    required_arguments = 1

    def run(self):
        from lmbook.experiments import tables
        from lmbook.experiments.run import RECORDED, RecipeError

        try:
            text = tables.section(self.arguments[0])
        except RecipeError as error:
            logger.warning("%s", error, location=self.get_location())
            return []
        for file in (*(RECORDED.iterdir() if RECORDED.is_dir() else ()), RECORDED.parent / "tables.toml"):
            self.env.note_dependency(str(file))
        holder = nodes.Element()
        self.state.nested_parse(StringList(text.split("\n"), source="results"), self.content_offset, holder)
        return holder.children


def shown_in(notebooks: Path) -> dict[str, str]:
    """For each recipe the chapters whose code names it, itself or in a table, as links; in the order of the chapters.

    f"shakespeare-{cell}" names the recipes that begin so and go on with a string of the same code.
    """
    from lmbook.experiments import tables
    from lmbook.experiments.run import RECIPES

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
        from lmbook.experiments import tables
        from lmbook.experiments.run import RECORDED

        for folder in (RECORDED, Path(self.env.srcdir) / "notebooks"):
            for file in folder.iterdir() if folder.is_dir() else ():
                self.env.note_dependency(str(file))
        text, holder = tables.models(shown_in(Path(self.env.srcdir) / "notebooks")), nodes.Element()
        self.state.nested_parse(StringList(text.split("\n"), source="models"), self.content_offset, holder)
        return holder.children


class KeepRanges(SphinxPostTransform):
    """Marks the cells that hold one number, with its range or without."""

    default_priority = 900
    formats = ("html",)

    def run(self):
        for cell in self.document.findall(nodes.entry):
            if NUMBER.fullmatch(cell.astext().strip()):
                cell["classes"].append("lm-number")


def setup(app):
    """Registers the directives and the transform."""
    app.add_post_transform(KeepRanges)
    app.add_directive("results", Results)
    app.add_directive("models", Models)
