"""The directive `results`: a table of `lmbook.experiments.tables`, with its caption and what differs between
its rows, written when the site is built.

```{results} language
```
"""

from docutils import nodes
from docutils.statemachine import StringList
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective

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


def setup(app):
    """Registers the directive."""
    app.add_directive("results", Results)
