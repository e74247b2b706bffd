"""Questions "Predict first": the answer below them is folded, so that a guess comes first.

Folded are the output of the next cell, the plots and tables after it whose code is hidden, and the paragraph that
speaks of them, with the formula or the table that it announces; where text stands between question and cell, that text
and the whole cell. The code of a cell that follows at once stays in sight, and so does a live figure. In the page,
reading.mjs takes the guess, keeps it on the reader's device and shows it beside the answer; without a script, the fold
is all.
"""

from itertools import takewhile

from docutils import nodes
from sphinx.transforms.post_transforms import SphinxPostTransform

LONGEST, SHORT = 8, 3  # blocks up to a cell that answers the question; blocks that are folded where there is none


class answer(nodes.General, nodes.Element):
    """The answer folded below a question; `number` counts the questions of the page."""


def _is(node, kind: str) -> bool:
    return isinstance(node, nodes.container) and node.get("nb_element") == kind


def _output(cell):
    return next((child for child in cell.children if _is(child, "cell_code_output")), None)


def _bare(node) -> bool:
    """Whether this is a cell that shows what it found, without its code, and is not a live figure."""
    hides = _is(node, "cell_code") and {"tag_hide-input", "tag_remove-input"} & set(node["classes"])
    return bool(hides) and not any('class="lm-figure' in raw.astext() for raw in node.findall(nodes.raw))


def _belonging(rest: list) -> list:
    """Which of the blocks after an output belong to it."""
    taken = list(takewhile(_bare, rest))
    after = rest[len(taken) :]
    if after and isinstance(after[0], nodes.paragraph):
        taken.append(after.pop(0))
        formula = list(takewhile(lambda node: isinstance(node, nodes.target | nodes.math_block), after))
        if taken[-1].astext().endswith(":") or formula:
            taken += formula or list(filter(_bare, after[:1]))
    return taken


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
            rest, spoken = rest[1:], False
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
            # the text above a drawing has said what it shows
            spoken = any("tag_remove-input" in node.get("classes", ()) for node in taken[-1:])
        if not taken:
            return
        for node in [] if spoken else _belonging(rest):
            parent.remove(node)
            taken.append(node)
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
