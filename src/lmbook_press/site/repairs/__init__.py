"""Repairs of other packages, one fault a file: its head names the package, its version, the fault, and when it can go.

A file changes the HTML of a page's text (`body`), a page that has been written (`page`), the files beside the pages
(`static`), or the tree of a page (`setup`). Not here: what the book adds to its site (`features`).
"""

from pathlib import Path

from lmbook_press.site.repairs import (
    bibliography,
    copy_buttons,
    empty_headings,
    excerpts,
    exercise_ids,
    hidden_code,
    highlighting,
    measuring,
    sidebar,
    storage,
    viewports,
)

BODIES = (bibliography, empty_headings, hidden_code)
PAGES = (sidebar, storage, viewports)
STATIC = (copy_buttons, excerpts, highlighting, measuring)


def _body(app, pagename, templatename, context, doctree):
    for repair in BODIES:
        context["body"] = repair.body(context.get("body", ""))


def _written(app, exception):
    if exception or app.builder.format != "html":
        return
    for repair in STATIC:
        repair.static(Path(app.outdir) / "_static")
    for file in Path(app.outdir).rglob("*.html"):
        whole = text = file.read_text(encoding="utf8")
        for repair in PAGES:
            whole = repair.page(whole)
        if whole != text:
            file.write_text(whole, encoding="utf8")


def setup(app):
    exercise_ids.setup(app)
    app.connect("html-page-context", _body, priority=890)
    app.connect("build-finished", _written, priority=790)  # before our own scripts and sheets are made of these
