"""The look of feedback and class pages: one HTML file each, no script, nothing loaded, readable at any width and theme.

Everything that a student wrote or named passes through `text`, which escapes it.
"""

import html

from lmbook_press.prose import STYLE as MATHEMATICS

STYLE = """
:root { color-scheme: light dark; --line: #8a8f98; --soft: #f1f3f5; --good: #1b6e3c; --bad: #9c2b1f; --link: #0b5394; }
:root { --page: #ffffff; --ink: #1a1d21; }
@media (prefers-color-scheme: dark) {
  :root { --line: #7d838c; --soft: #23272d; --good: #7fd6a0; --bad: #ffa595; --link: #9ecbff; }
  :root { --page: #16181c; --ink: #e8eaed; }
}
html, body { background: var(--page); color: var(--ink); } a { color: var(--link); }
body { font: 1rem/1.55 system-ui, sans-serif; max-width: 46rem; margin: 0 auto; padding: 1rem; }
body { overflow-wrap: break-word; } pre, .answer, li { overflow-wrap: anywhere; }
h1 { font-size: 1.5rem; line-height: 1.25; } h2 { font-size: 1.15rem; margin: 1.6rem 0 .3rem; }
table { border-collapse: collapse; width: 100%; } caption { text-align: left; padding: .3rem 0; }
th, td { text-align: left; padding: .35rem .5rem; border-bottom: 1px solid var(--line); vertical-align: top; }
td.number, th.number { text-align: right; white-space: nowrap; }
pre, .answer { white-space: pre-wrap; background: var(--soft); padding: .6rem; }
.right { color: var(--good); font-weight: 600; } .wrong { color: var(--bad); font-weight: 600; }
.total { font-size: 1.15rem; font-weight: 600; } .wide { overflow-x: auto; }
"""
POLICY = "default-src 'none'; style-src 'unsafe-inline'"
INVISIBLE = {
    ord(sign): "\ufffd" for sign in "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
}  # turn text round
INVISIBLE |= {code: "\ufffd" for code in range(32) if chr(code) not in "\n\t"}


def text(value: object) -> str:
    """The value as text of a page: escaped, control and direction signs made visible."""
    return html.escape(str(value).translate(INVISIBLE))


def page(title: str, body: str, style: str = "") -> str:
    """A whole page; body is HTML whose texts have been escaped.  style: added to that of all pages."""
    return (
        f'<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">\n'
        f'<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f'<meta name="robots" content="noindex">\n'
        f"<title>{text(title)}</title>\n<style>{STYLE}{MATHEMATICS}{style}</style>\n</head>\n<body>\n<main>\n{body}\n</main>\n</body>\n</html>\n"
    )


def table(caption: str, head: list[str], rows: list[list[str]], numbers: tuple[int, ...] = ()) -> str:
    """A table whose first column names its rows.  caption, head, rows: HTML whose texts have been escaped."""

    def cell(at: int, content: str, row_head: bool) -> str:
        kind = ' class="number"' if at in numbers else ""
        return f'<th scope="row"{kind}>{content}</th>' if row_head else f"<td{kind}>{content}</td>"

    heads = "".join(
        f'<th scope="col"{" class=" + chr(34) + "number" + chr(34) if at in numbers else ""}>{one}</th>'
        for at, one in enumerate(head)
    )
    lines = "\n".join("<tr>" + "".join(cell(at, one, at == 0) for at, one in enumerate(row)) + "</tr>" for row in rows)
    return (
        f'<div class="wide" tabindex="0" role="region" aria-label="{caption}">\n<table>\n<caption>{caption}</caption>\n'
        f"<thead><tr>{heads}</tr></thead>\n<tbody>\n{lines}\n</tbody>\n</table>\n</div>"
    )


def listing(items: list[str]) -> str:
    """A list; items are HTML whose texts have been escaped."""
    return "<ul>\n" + "\n".join(f"<li>{item}</li>" for item in items) + "\n</ul>" if items else ""
