"""The first page: a GPT at work, and the line of chapters with a picture for each.

    ```{first-words}
    ```

    ```{stations} 1
    01-chain-rule How does a sentence get a probability, and what is that good for?
    02-...
    ```

The argument of `stations` is the number of the part, whose colour they have; names of chapters come from the chapters
themselves. How far a reader has come is written in by reading.mjs, which knows a station by its `data-page`.
"""

from docutils import nodes
from markupsafe import Markup
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective

from lmbook.drawings import pictures
from lmbook_press.rendering import filled, render

logger = logging.getLogger(__name__)


class stations(nodes.General, nodes.Element):
    """The chapters of one part: a `station` each."""


class station(nodes.General, nodes.Element):
    """One chapter: its `page`, and the `question` that it answers."""


class FirstWordsDirective(SphinxDirective):
    """The figure FirstWords; chapters show theirs as outputs of cells, this page has no cell."""

    def run(self):
        from lmbook.figures import FirstWords

        return [nodes.raw("", FirstWords().html(), format="html")]


class Stations(SphinxDirective):
    """The line of one part."""

    has_content = True
    required_arguments = 1

    def run(self):
        line = stations(part=self.arguments[0])
        for entry in filter(None, map(str.strip, self.content)):
            name, _, question = entry.partition(" ")
            page = f"notebooks/{name}"
            if page not in self.env.found_docs or not question:
                logger.warning("stations: %r is not a chapter with a question", entry, location=self.get_location())
                continue
            line += station(page=page, question=question.strip())
        return [line]


def visit_stations(self, node):
    self.body.append(str(filled('<ol class="lm-stations" data-part="{}">\n', node["part"])))


def depart_stations(self, node):
    self.body.append("</ol>\n")


def visit_station(self, node):
    name = node["page"].removeprefix("notebooks/")
    number = int(name[:2])
    values = {
        "picture": Markup(pictures.svg(number)),
        "link": self.builder.get_relative_uri(self.builder.current_docname, node["page"]),
        "title": self.builder.env.titles[node["page"]].astext(),
    }
    self.body.append(str(render("station.html", name=name, number=number, question=node["question"], **values)))


def depart_station(self, node):
    self.body.append("</li>\n")


def setup(app):
    app.add_node(stations, html=(visit_stations, depart_stations))
    app.add_node(station, html=(visit_station, depart_station))
    app.add_directive("first-words", FirstWordsDirective)
    app.add_directive("stations", Stations)
