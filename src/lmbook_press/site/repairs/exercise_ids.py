"""sphinx-exercise 1.2.1: every exercise of a page has a section with the same id, and so has every solution.

It can go with a version that gives each its own, or none.
"""

from docutils import nodes
from sphinx.transforms.post_transforms import SphinxPostTransform


class OwnIds(SphinxPostTransform):
    """After solutions have been folded, which know their section by its id."""

    default_priority = 31
    formats = ("html",)

    def run(self):
        for node in self.document.findall(nodes.section):
            if node["ids"] in (["solution-content"], ["exercise-content"]):
                node["ids"] = []


def setup(app):
    app.add_post_transform(OwnIds)
