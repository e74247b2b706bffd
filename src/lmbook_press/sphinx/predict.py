"""Questions "Predict first": the answer below them is folded, so that a guess comes first.

Folded are the output of the next cell and the paragraph that speaks of it; where text stands between question and
cell, that text and the whole cell. The code of a cell that follows at once stays in sight. In the page, reading.mjs
takes the guess, keeps it on the reader's device and shows it beside the answer; without a script, the fold is all.
"""

from docutils import nodes
from sphinx.transforms.post_transforms import SphinxPostTransform

LONGEST, SHORT = 8, 3  # blocks up to a cell that answers the question; blocks that are folded where there is none


class answer(nodes.General, nodes.Element):
    """What is folded below a question; `number` counts the questions of the page."""


def _is(node, kind: str) -> bool:
    return isinstance(node, nodes.container) and node.get("nb_element") == kind


def _output(cell):
    return next((child for child in cell.children if _is(child, "cell_code_output")), None)


class FoldAnswers(SphinxPostTransform):
    """After the outputs of cells have been chosen and hidden inputs been folded."""

    default_priority = 950
    formats = ("html",)

    def run(self):
        questions = [n for n in self.document.findall(nodes.admonition) if "predict" in n.get("classes", ())]
        for number, question in enumerate(questions, start=1):
            self.fold(question, number)

    def fold(self, question, number):
        parent, at = question.parent, question.parent.index(question) + 1
        while at < len(parent) and _is(parent[at], "cell_code") and _output(parent[at]) is None:
            at += 1  # code without an output stays in sight
        rest = parent.children[at:]
        box = answer(number=number, ids=[f"answer-{number}"])
        if rest and _is(rest[0], "cell_code") and _output(rest[0]) is not None:
            output = _output(rest[0])
            output.parent.remove(output)
            shown = nodes.container("", output, classes=["cell"])
            taken, at = [shown], at + 1
            rest = rest[1:]
        else:
            shows = lambda node: _is(node, "cell_code") and _output(node) is not None  # noqa: E731
            ends = next((i for i, node in enumerate(rest[:LONGEST]) if shows(node)), None)
            stops = next((i for i, node in enumerate(rest) if isinstance(node, nodes.section | nodes.admonition)), 99)
            if ends is None or stops <= ends:
                ends = min(stops, len(rest), SHORT) - 1
            taken = rest[: ends + 1]
            for node in taken:
                parent.remove(node)
            rest = rest[ends + 1 :]
        if not taken:
            return
        if rest and isinstance(rest[0], nodes.paragraph):
            parent.remove(rest[0])
            taken.append(rest[0])
        box.extend(taken)
        question["ids"] = question["ids"] or [f"predict-{number}"]
        parent.insert(at, box)


def visit_answer(self, node):
    self.body.append(
        f'<details class="lm-answer" id="{node["ids"][0]}">\n<summary>The answer</summary>\n'
        '<div class="lm-answer-body">\n'
    )


def depart_answer(self, node):
    self.body.append("</div>\n</details>\n")


def setup(app):
    app.add_node(answer, html=(visit_answer, depart_answer))
    app.add_post_transform(FoldAnswers)
