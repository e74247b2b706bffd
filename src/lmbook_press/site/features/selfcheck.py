"""The self-check question: choose an answer, read why it is right or wrong.

    :::{self-check} Which of these is a distribution?
    - [ ] An option.

      Why it is wrong.
    - [x] Another option.

      Why it is right.
    :::

On the page it is a fieldset of radio buttons; the stylesheet shows the explanation of the chosen one. It needs no
script, and its ids count the questions of the page, so two builds give the same file.
"""

from docutils import nodes
from docutils.statemachine import StringList
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective

from lmbook_press.myst import choices

logger = logging.getLogger(__name__)


class check(nodes.General, nodes.Element):
    """One question; its children are question and options."""


class check_question(nodes.General, nodes.TextElement):
    """The question, as inline nodes."""


class check_option(nodes.General, nodes.Element):
    """One option: a check_answer, then a check_why. `right` says whether it is a right one."""


class check_answer(nodes.General, nodes.TextElement):
    """The text beside the radio button."""


class check_why(nodes.General, nodes.Element):
    """The explanation that appears when the option is chosen."""


class SelfCheck(SphinxDirective):
    """The directive `self-check`."""

    has_content = True
    required_arguments = 1
    final_argument_whitespace = True

    def run(self):
        try:
            found = choices(list(self.content))
        except ValueError as error:
            logger.warning("self-check question %r: %s", self.arguments[0], error, location=self.get_location())
            return []
        number = self.env.temp_data["lmbook_checks"] = self.env.temp_data.get("lmbook_checks", 0) + 1
        node = check(number=number, ids=[f"check-{number}"])
        self.set_source_info(node)
        question = check_question()
        text, messages = self.parse_inline(self.arguments[0])
        question += text
        node += question
        for right, line, answer, why in found:
            option = check_option(right=right)
            for part, content in ((check_answer(), answer), (check_why(), why)):
                self.state.nested_parse(StringList(content, source=""), self.content_offset + line, part)
                option += part
            node += option
        return [node, *messages]


def visit_check(self, node):
    self.body.append(f'<div class="lm-check" id="{node["ids"][0]}">\n<fieldset>\n')


def depart_check(self, node):
    self.body.append("</fieldset>\n</div>\n")


def visit_question(self, node):
    self.body.append('<legend><span class="lm-kicker">Check yourself</span> ')


def depart_question(self, node):
    self.body.append("</legend>\n")


def visit_option(self, node):
    question = node.parent
    key = f"check-{question['number']}-{question.index(node)}"
    node["key"] = key
    self.body.append(
        f'<div class="lm-option {"lm-right" if node["right"] else "lm-wrong"}">\n'
        f'<input type="radio" name="check-{question["number"]}" id="{key}" autocomplete="off">\n'
    )


def depart_option(self, node):
    self.body.append("</div>\n")


def visit_answer(self, node):
    if len(node) == 1 and isinstance(node[0], nodes.paragraph):
        node.children = node[0].children  # a label holds no paragraph
    letter = "ABCDEFGH"[node.parent.parent.index(node.parent) - 1]
    self.body.append(f'<label for="{node.parent["key"]}"><span class="lm-letter">{letter}</span> ')


def depart_answer(self, node):
    self.body.append("</label>\n")


def visit_why(self, node):
    verdict = "Right." if node.parent["right"] else "Wrong."
    self.body.append(
        f'<div class="lm-why" aria-live="polite"><div><p class="lm-verdict"><strong>{verdict}</strong></p>\n'
    )


def depart_why(self, node):
    self.body.append("</div></div>\n")


def setup(app):
    app.add_directive("self-check", SelfCheck)
    app.add_node(check, html=(visit_check, depart_check))
    app.add_node(check_question, html=(visit_question, depart_question))
    app.add_node(check_option, html=(visit_option, depart_option))
    app.add_node(check_answer, html=(visit_answer, depart_answer))
    app.add_node(check_why, html=(visit_why, depart_why))
