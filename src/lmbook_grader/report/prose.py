"""Texts of students and of the grader as HTML.

What students write is text to the last sign: tags are shown, not obeyed, and their links are no links any more
(match_answers.harmless) before they come here.
"""

import re

from markupsafe import Markup, escape

from lmbook_press.prose import prose as html_of
from lmbook_press.rendering import filled, visible

MOST_FORMULAE = 100


def prose(markdown: str) -> Markup:
    """The HTML of one of the course's own texts."""
    return html_of(markdown)


def their_prose(markdown: str) -> Markup:
    """The HTML of a student's text, which stays inside its own box (`contain: paint` in the pages' style).

    One with very many formulae, or that cannot be set, is shown as it was written.
    """
    as_written = filled('<p class="answer">{}</p>', markdown)
    if markdown.count("$") > 2 * MOST_FORMULAE:
        return as_written
    try:
        return filled('<div class="theirs">{}</div>', html_of(markdown, strict=True))
    except Exception:  # one text must not hold up all pages
        return as_written


def with_code(message: str) -> Markup:
    """A message in which `name` is code."""
    return Markup(re.sub(r"`([^`\n]+)`", r"<code>\1</code>", str(escape(visible(message)))))
