"""Tables of numbers. The directive `results`: a table of `lmbook.experiments.tables`, with its caption and what differs
between its rows, written when the site is built.

```{results} language
```

In any table, a number with its range stays on one line (the class lm-number).
"""

import re

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


class KeepRanges(SphinxPostTransform):
    """Marks the cells that hold one number, with its range or without."""

    default_priority = 900
    formats = ("html",)

    def run(self):
        for cell in self.document.findall(nodes.entry):
            if NUMBER.fullmatch(cell.astext().strip()):
                cell["classes"].append("lm-number")


def setup(app):
    """Registers the directive and the transform."""
    app.add_post_transform(KeepRanges)
    app.add_directive("results", Results)
