"""Book markup left in a text that should be plain Markdown, found without the editions' own parser."""

import re

PATTERNS = (
    r":{3,}.*",
    r"[`~]{3,}\{.*",
    r"^\([^()\s]+\)=",
    r"\{[A-Za-z][\w:.+-]*\}`[^`]*`",
    r"\$\$[ \t]*\([^()\s]+\)",
    r"\{\{.*?\}\}",
    r"\]\{[.#].*?\}",
    r"\[\^[^\]]*\]",
    r"^%.*",
    r"\]\((?!https?:|mailto:)[^)]*\)",
)


def raw_markup(text: str) -> list[str]:
    """Pieces of book markup in `text`; code and mathematics apart."""
    text = re.sub(r"^([ \t>]*)(`{3,}|~{3,})(?!.*\{)[^\n]*\n.*?^\1\2[ \t]*$", "", text, flags=re.MULTILINE | re.DOTALL)
    text = re.sub(r"\$\$(?![ \t]*\().+?\$\$(?![ \t]*\()", "", text, flags=re.DOTALL)
    text = re.sub(r"(?<![`}])(`+)(?!`).+?(?<!`)\1(?!`)", "", text, flags=re.DOTALL)
    return [found for pattern in PATTERNS for found in re.findall(pattern, text, re.MULTILINE)]
