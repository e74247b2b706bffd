"""Folded boxes are <details> elements, which work without a script, with the keyboard and for a search in the page.

Solutions of sphinx-exercise and every admonition with the class `dropdown` become one. The title of an exercise,
written "1.4 practice", is shown as "Exercise 1.4" with its grade and its minutes beside it.
"""

import re
from pathlib import Path

from docutils import nodes
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx_exercise.nodes import exercise_node, solution_node

from lmbook_press.exercises import exercises

TITLE = re.compile(r"(Exercise|Solution to Exercise) \((\d+\.\d+)[\s,:]*\(?(check|practice|explore)\)?[\s.:,]*(.*)\)")


class folded(nodes.General, nodes.Element):
    """A box that folds; its first child is a `folded_title`."""


class folded_title(nodes.General, nodes.TextElement):
    """The line that stays in sight."""


def _exercise_title(title, minutes):
    """Exercise (1.4 practice) -> Exercise 1.4, practice, about 10 min; minutes: by number."""
    match = TITLE.fullmatch(title.astext())
    if match is None:
        return
    kind, number, grade, rest = match.groups()
    title.children = []
    title += nodes.Text(f"{kind} {number}")
    if rest:
        title += nodes.Text(f": {rest}")
    if kind == "Exercise":
        title += nodes.Text(" ")
        title += nodes.inline("", grade, classes=["lm-grade", f"lm-grade-{grade}"])
        if number in minutes:
            title += nodes.Text(" ")
            title += nodes.inline("", f"about {minutes[number]} min", classes=["lm-minutes"])


class Fold(SphinxPostTransform):
    """After sphinx-exercise has written its titles."""

    default_priority = 30
    formats = ("html",)

    def run(self):
        marked = list(self.document.findall(lambda n: isinstance(n, exercise_node | solution_node)))
        there = exercises(Path(self.env.doc2path(self.env.docname))) if marked else ()
        for node in marked:
            if node.children and isinstance(node[0], nodes.title):
                _exercise_title(node[0], {one.number: one.minutes for one in there})
        boxes = lambda n: isinstance(n, nodes.admonition | solution_node) and "dropdown" in n.get("classes", ())  # noqa: E731
        for node in list(self.document.findall(boxes)):
            self.fold(node)

    def fold(self, node):
        title, *body = node.children
        summary = folded_title()
        for child in title.children:
            summary += nodes.Text(child.astext()) if isinstance(child, nodes.reference) else child
        ids = [f"solution-{node['target_label']}"] if isinstance(node, solution_node) else node["ids"]
        box = folded(ids=ids, classes=[c for c in node["classes"] if c != "dropdown"])
        box += summary
        for child in body:
            flat = isinstance(child, nodes.section) and "solution-content" in child["ids"]
            box.extend(child.children if flat else [child])
        node.parent.replace(node, box)


def visit_folded(self, node):
    kinds = "" if "admonition" in node["classes"] else " admonition"
    self.body.append(self.starttag(node, "details", CLASS="lm-folded" + kinds))


def depart_folded(self, node):
    self.body.append("</div>\n</details>\n")


def visit_title(self, node):
    self.body.append('<summary class="admonition-title">')


def depart_title(self, node):
    self.body.append('</summary>\n<div class="lm-folded-body">\n')


def setup(app):
    app.add_node(folded, html=(visit_folded, depart_folded))
    app.add_node(folded_title, html=(visit_title, depart_title))
    app.add_post_transform(Fold)
