"""Markdown as HTML for pages that load nothing: tags are shown, not obeyed, links are words, formulae drawn already.

A formula becomes MathML, which browsers draw by themselves, or, where a page has KaTeX's stylesheet and fonts, KaTeX's.
"""

from functools import cache

from markupsafe import Markup, escape

from lmbook_press.rendering import visible

LONGEST = 2000  # characters of one formula


@cache
def _markdown(katex: bool):
    import mistune

    class Renderer(mistune.HTMLRenderer):
        def image(self, words, url, title=None):
            return escape(words)

        def link(self, words, url, title=None):
            return words

        def heading(self, words, level, **attributes):
            return f"<p><strong>{words}</strong></p>\n"

    markdown = mistune.create_markdown(renderer=Renderer(escape=True), plugins=["math", "table"])
    markdown.renderer.register("inline_math", lambda renderer, tex: formula(tex, katex=katex))
    markdown.renderer.register("block_math", lambda renderer, tex: f"<p>{formula(tex, True, katex)}</p>\n")
    return markdown


@cache
def formula(tex: str, display: bool = False, katex: bool = False) -> str:
    """One formula; as TeX where it takes too long, or the book's own tools are not installed."""
    shown = f"<code>{escape(tex)}</code>"
    if len(tex) > LONGEST:
        return shown
    try:
        from lmbook_press.site.features.mathematics import mathml, render

        return render(tex.strip(), display) if katex else mathml(tex, display)
    except Exception:  # not installed; or one of the engine's own, which have no common kind
        return shown


def prose(markdown: str, katex: bool = False) -> Markup:
    """The HTML of a text.  katex: for a page that has KaTeX's stylesheet."""
    return Markup(_markdown(katex)(visible(markdown)))


def inline(markdown: str, katex: bool = False) -> Markup:
    """The HTML of a single paragraph, without its tag."""
    return Markup(prose(markdown, katex).strip().removeprefix("<p>").removesuffix("</p>"))
