"""Sphinx 7.4.7: the excerpt of a page that a search finds has the theme's menus in it, and each formula three times.

It can go with a version that can be told what to leave out of an excerpt.
"""

from pathlib import Path

from lmbook_press.site.patching import patch

LEFT_OUT = '".headerlink", "script", "style"'
MENUS = '".bd-sidebar-secondary", ".bd-header-article", "#jb-print-docs-body", "footer"'


def static(folder: Path) -> None:
    new = f'{LEFT_OUT}, ".katex-html", "annotation", {MENUS}'
    patch(folder / "searchtools.js", LEFT_OUT, new, __name__)
