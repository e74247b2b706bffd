"""docutils 0.21.2: a cell of a table's head is a heading even if nothing is in it.

It can go with a version that writes such a cell as any other.
"""


def body(html: str) -> str:
    return html.replace('<th class="head"></th>', "<td></td>").replace('<th class="head"><p></p></th>', "<td></td>")
