"""Typed text as the corpora of the trained models cut it; wordforms.mjs does the same in the page."""

import re

from lmbook.text import WORD, composed

TYPED = re.compile(rf"https?:\S+|(?:[^\W\d_]\.){{2,}}|\d+(?:[.,:]\d+)+|{WORD.pattern}")
SHORT = re.compile(r"(.+?)(n't|'(?:s|re|ll|ve|d|m))", re.IGNORECASE)


def cut(text: str) -> list[str]:
    """Words and punctuation marks, case kept: cut("Isn't it?") is ["Is", "n't", "it", "?"]."""
    words = []
    for word in TYPED.findall(composed(text)):
        short = SHORT.fullmatch(word)
        words += short.groups() if short else [word]
    return words
