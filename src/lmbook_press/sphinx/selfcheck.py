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

import re
from textwrap import dedent

from docutils import nodes
from docutils.statemachine import StringList
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective

ITEM = re.compile(r"[-*+]\s+\[([ xX])\]\s?(.*)")
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


def options(lines: list[str]) -> list[tuple[bool, int, list[str], list[str]]]:
    """Splits the body of a question: (right, line number, option, explanation) for each of its items.

    Raises ValueError, in words for the author, where the body has another form.
    """
    starts = [i for i, line in enumerate(lines) if ITEM.match(line)]
    if not starts or any(line.strip() for line in lines[: starts[0]]):
        raise ValueError("its body must be a list whose items begin with `- [ ]` or `- [x]`")
    found = []
    for start, end in zip(starts, [*starts[1:], len(lines)], strict=True):
        mark, first = ITEM.match(lines[start]).groups()
        rest = lines[start + 1 : end]
        for offset, line in enumerate(rest, start + 2):
            if line.strip() and not line.startswith("  "):
                raise ValueError(f"line {offset} of its body is not indented: {line.strip()!r}")
        body = [first, *dedent("\n".join(rest)).split("\n")]
        blank = next((i for i, line in enumerate(body) if not line.strip()), len(body))
        if not any(line.strip() for line in body[:blank]):
            raise ValueError(f"option {len(found) + 1} is empty")
        why = body[blank + 1 :]
        if not any(line.strip() for line in why):
            raise ValueError(f"option {len(found) + 1} has no explanation (an indented paragraph after a blank line)")
        found.append((mark in "xX", start, body[:blank], why))
    if not 2 <= len(found) <= 8:
        raise ValueError(f"it has {len(found)} options; give it 2 to 8")
    if not any(right for right, *_ in found):
        raise ValueError("no option is marked as right with `- [x]`")
    return found


class SelfCheck(SphinxDirective):
    """The directive `self-check`."""

    has_content = True
    required_arguments = 1
    final_argument_whitespace = True

    def run(self):
        try:
            found = options(list(self.content))
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
