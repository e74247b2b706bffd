"""Typed text as the corpora of the trained models cut it; wordforms.mjs does the same in the page."""

import re

TYPED = re.compile(r"https?:\S+|(?:[^\W\d_]\.){2,}|\d+(?:[.,:]\d+)+|\w+(?:'\w+)*|[^\w\s]")
SHORT = re.compile(r"(.+?)(n't|'(?:s|re|ll|ve|d|m))", re.IGNORECASE)


def cut(text: str) -> list[str]:
    """Words and punctuation marks, case kept: cut("Isn't it?") is ["Is", "n't", "it", "?"]."""
    words = []
    for word in TYPED.findall(text.replace("’", "'")):
        short = SHORT.fullmatch(word)
        words += short.groups() if short else [word]
    return words
