"""docutils 0.21.2: an entry of the bibliography has a role that is deprecated, and that no item of a list may have.

It can go with a version that writes listitem.
"""


def body(html: str) -> str:
    return html.replace('role="doc-biblioentry"', 'role="listitem"')
