"""[words](#figure=opened&part=decoder.2) in the text sets a living figure of the page: mount.mjs reads the address.

Such an address is not a place on the page, so nothing is looked up for it.
"""

from docutils import nodes
from sphinx.transforms import SphinxTransform

FIGURE = "#figure="


class LinksToAState(SphinxTransform):
    """Takes links to a state of a figure away from those to a section, before these are resolved."""

    default_priority = 870

    def apply(self, **kwargs) -> None:
        for link in self.document.findall(nodes.reference):
            if link.get("refuri", "").startswith(FIGURE):
                link.attributes.pop("id_link", None)
                link["classes"].append("lm-state")


def setup(app):
    app.add_transform(LinksToAState)
