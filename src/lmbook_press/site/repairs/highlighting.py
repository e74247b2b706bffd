"""Sphinx 7.4.7: what was searched for is also marked in the name of the site, on every page.

It can go where sphinx_highlight.js marks words in the text alone; the build warns once it looks elsewhere.
"""

from pathlib import Path

from lmbook_press.site.patching import patch


def static(folder: Path) -> None:
    old, new = ('document.querySelectorAll("div.body")', 'document.querySelectorAll("article")')
    patch(folder / "sphinx_highlight.js", old, new, __name__)
