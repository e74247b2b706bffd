"""What nobody could see in a text, or no file could hold: the one list for pages, terminals and tables."""

# Control characters, signs that turn the direction of a text, and halves of surrogate pairs, which UTF-8 cannot write.
HIDDEN = [*range(32), *range(0x7F, 0xA0), *range(0x202A, 0x202F), *range(0x2066, 0x206A), *range(0xD800, 0xE000)]
INVISIBLE = dict.fromkeys(HIDDEN, "\ufffd") | {ord(sign): sign for sign in "\n\t"}


def plain(text: object, most: int | None = None) -> str:
    """The text with a replacement character for each such sign, in at most so many characters."""
    return str(text)[:most].translate(INVISIBLE)
