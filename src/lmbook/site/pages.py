"""What each page loads."""

from lmbook.site import mathematics


def _page_context(app, pagename, templatename, context, doctree):
    if 'class="katex' in context.get("body", ""):
        app.add_css_file(mathematics.STYLESHEET)


def setup(app):
    app.connect("html-page-context", _page_context)
