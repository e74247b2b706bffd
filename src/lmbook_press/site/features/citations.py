"""Citations as (Bengio et al., 2003), and a bibliography sorted by author."""

from dataclasses import dataclass, field

from pybtex.plugin import register_plugin as register_entry_style
from pybtex.style.formatting.unsrt import Style as UnsrtStyle
from sphinxcontrib.bibtex.plugin import register_plugin as register_reference_style
from sphinxcontrib.bibtex.style.referencing import BracketStyle
from sphinxcontrib.bibtex.style.referencing.author_year import AuthorYearReferenceStyle


def _round():
    return BracketStyle(left="(", right=")")


@dataclass
class RoundAuthorYear(AuthorYearReferenceStyle):
    """sphinxcontrib-bibtex's author-year style with round brackets."""

    bracket_parenthetical: BracketStyle = field(default_factory=_round)
    bracket_textual: BracketStyle = field(default_factory=_round)
    bracket_label: BracketStyle = field(default_factory=_round)


class SortedStyle(UnsrtStyle):
    """Entries sorted by author, year and title; the label is the number in that order, which the page does not show."""

    default_sorting_style = "author_year_title"


def setup(app):
    register_reference_style("sphinxcontrib.bibtex.style.referencing", "lmbook_author_year", RoundAuthorYear)
    register_entry_style("pybtex.style.formatting", "lmbook_plain", SortedStyle)
