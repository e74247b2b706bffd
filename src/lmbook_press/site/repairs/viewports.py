"""docutils 0.21.2, Sphinx 7.4.7 and pydata-sphinx-theme 0.16.1 write a tag for the viewport each.

It can go once a page is built with one.
"""

import re

VIEWPORT = re.compile(r'[ \t]*<meta name="viewport"[^>]*>\n?')


def page(html: str) -> str:
    first = VIEWPORT.search(html)
    return html if first is None else html[: first.end()] + VIEWPORT.sub("", html[first.end() :])
