"""The book's markup (MyST) as tokens of myst-parser, the site's own parser, each with its place in the source.

Blocks come with their lines and what stands inside a paragraph with its characters, so that an edition changes these
and leaves every other character as the author wrote it.
"""

import re
from collections.abc import Iterator
from functools import cache, partial
from hashlib import sha256
from textwrap import dedent
from typing import NamedTuple

from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token
from mdit_py_plugins.footnote.index import footnote_ref
from myst_parser.config.main import MdParserConfig
from myst_parser.parsers.mdit import create_md_parser

# those of _config.yml, and substitutions, which must be seen to be refused
EXTENSIONS = {"amsmath", "attrs_block", "attrs_inline", "colon_fence", "deflist", "dollarmath", "substitution"}
FENCES = ("fence", "colon_fence")
PROSE = ("inline", "html_block")  # blocks in which roles and links may stand
ATTRIBUTES = "attributes are not known to the other editions: leave them out"
SUBSTITUTION = "a substitution {{…}} is not known to the other editions: write the text itself"
REFUSED = {  # what the parser calls a piece of markup -> why no edition can have it
    "attr": ATTRIBUTES,
    "attrs_block": ATTRIBUTES,
    "span": ATTRIBUTES,
    "footnote_ref": "a footnote does not show in Colab: put its text in brackets",
    "substitution_block": SUBSTITUTION,
    "substitution_inline": SUBSTITUTION,
    "myst_block_break": "a block break (+++) shows as text in Colab: leave it out",
    "myst_line_comment": "a comment (%) shows as text in Colab: leave it out",
}
OPTION_LINE = re.compile(r"^:([\w-]+):[ \t]*(.*)$")
DIRECTIVE = re.compile(r"\{([^}]*)\}[ \t]*(.*)")
CHOICE = re.compile(r"[-*+]\s+\[([ xX])\]\s?(.*)")


class Span(NamedTuple):
    """A match of one of the parser's rules ("myst_role", "link", …) at text[start:end]."""

    rule: str
    start: int
    end: int
    token: Token

    @property
    def target(self) -> str:
        """Where a link or picture leads; empty for anything else."""
        return str(self.token.attrGet("href") or self.token.attrGet("src") or "")


@cache
def parser() -> MarkdownIt:
    """myst-parser's own, which notes the place of what it finds inside a paragraph."""
    md = create_md_parser(MdParserConfig(enable_extensions=EXTENSIONS), RendererHTML)
    md.inline.ruler.at("footnote_ref", partial(footnote_ref, always_match=True))
    for name, rule in zip(md.inline.ruler.get_active_rules(), md.inline.ruler.getRules(""), strict=True):
        if name in ("myst_role", "link", "image", *REFUSED):
            md.inline.ruler.at(name, partial(_noted, name, rule))
    return md


def _noted(name: str, rule, state: StateInline, silent: bool) -> bool:
    start, before = state.pos, len(state.tokens)
    found = rule(state, silent)
    if found and not silent and state.src == state.env["text"]:  # else it is in the text of a picture
        token = next((token for token in state.tokens[before:] if token.type != "text"), state.tokens[-1])
        state.env["spans"].append(Span(name, start, state.pos, token))
    return found


def spans(text: str) -> list[Span]:
    """Roles, links, pictures and what is not plain Markdown in a paragraph; not what code or mathematics holds."""
    env = {"text": text, "spans": []}
    parser().inline.parse(text, parser(), env, [])
    return env["spans"]


def tokens(text: str) -> list[Token]:
    """The blocks of a text, without what they hold."""
    found: list[Token] = []
    parser().block.parse(text + "\n", parser(), {}, found)
    return found


@cache
def tokens_of_page(text: str) -> list[Token]:
    """The blocks of a page, and those that its directives hold."""
    found = []
    for token in tokens(text):
        found.append(token)
        if token.type in FENCES and token.info.startswith("{"):
            found += tokens_of_page(token.content)
    return found


def blocks(text: str) -> Iterator[tuple[str, Token | None, int, list[str]]]:
    """(type, token, number of the first line, lines) without gaps: type "" and no token where no block has its text."""
    lines, at = text.split("\n"), 0
    for token in tokens(text):
        if token.nesting == 0 and token.map and token.map[0] >= at:  # the cells of a row all have the row's line
            start, end = token.map
            yield "", None, at, lines[at:start]
            yield token.type, token, start, lines[start:end]
            at = end
    yield "", None, at, lines[at:]


def options_of(token: Token) -> tuple[dict[str, str], list[str]]:
    """The options of a directive, its first lines such as `:class: predict`, and the lines after them."""
    options, body = {}, token.content.removesuffix("\n").split("\n")
    while body and (found := OPTION_LINE.match(body[0])):
        options[found[1]] = found[2].strip()
        body = body[1:]
    return options, body


def choices(lines: list[str]) -> list[tuple[bool, int, list[str], list[str]]]:
    """Splits the body of a self-check: (right, line number, option, explanation) for each of its items.

    Their order follows from their words, so that the place of the right one says nothing.
    Raises ValueError, in words for the author, where the body has another form.
    """
    starts = [i for i, line in enumerate(lines) if CHOICE.match(line)]
    if not starts or any(line.strip() for line in lines[: starts[0]]):
        raise ValueError("its body must be a list whose items begin with `- [ ]` or `- [x]`")
    found = []
    for start, end in zip(starts, [*starts[1:], len(lines)], strict=True):
        mark, first = CHOICE.match(lines[start]).groups()
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
    return sorted(found, key=lambda option: sha256("\n".join(option[2]).encode()).digest())
