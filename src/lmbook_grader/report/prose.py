"""A written answer as HTML.

What students write is text to the last sign: tags are shown, not obeyed, and their links are no links any more
(match_answers.harmless) before they come here.
"""

from lmbook_grader.report.html import INVISIBLE, text
from lmbook_press.prose import prose as html_of

MOST_FORMULAE = 100


def prose(markdown: str) -> str:
    """The HTML of a text.  One with very many formulae is shown as it was written."""
    plain = markdown.translate(INVISIBLE)
    if plain.count("$") > 2 * MOST_FORMULAE:
        return f'<p class="answer">{text(markdown)}</p>'
    return html_of(plain)
