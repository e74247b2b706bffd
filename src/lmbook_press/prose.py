"""Markdown as HTML for pages that load nothing: tags are shown, not obeyed, links are words, formulae drawn already.

A formula becomes MathML, which browsers draw by themselves, or, where a page has KaTeX's stylesheet and fonts, KaTeX's.
A program that draws formulae by itself, such as Anki, gets their TeX.
"""

import re
from collections.abc import Callable
from functools import cache, partial

from markupsafe import Markup, escape

from lmbook_press.rendering import visible

LONGEST = 2000  # characters of one formula
NUMBER = re.compile(r"^(\d+)\.(?=\s)")
INLINE = re.compile(r"(?<![\\$])\$([^$\n]+)\$([.,;:?!]?)")


# The TeX that a text of unknown hands may use: what means something, and nothing that moves, hides, colours or defines.
WORDS = """
alpha beta gamma delta epsilon varepsilon zeta eta theta vartheta iota kappa lambda mu nu xi pi varpi rho varrho sigma
varsigma tau upsilon phi varphi chi psi omega Gamma Delta Theta Lambda Xi Pi Sigma Upsilon Phi Psi Omega sum prod int
iint oint bigcup bigcap bigoplus bigotimes lim limsup liminf max min sup inf argmax argmin arg det dim exp gcd hom ker
lg ln log Pr sin cos tan cot sec csc arcsin arccos arctan sinh cosh tanh softmax operatorname frac dfrac tfrac cfrac
binom sqrt over le leq ge geq ne neq equiv approx sim simeq cong propto ll gg prec succ in notin ni subset supset
subseteq supseteq cup cap setminus emptyset varnothing forall exists nexists neg lnot land lor wedge vee times div
cdot cdots ldots dots vdots ddots pm mp ast star circ bullet odot oplus ominus otimes dagger top bot perp mid parallel
nabla partial infty ell hbar Re Im aleph prime angle triangle therefore because to gets mapsto leftarrow rightarrow
leftrightarrow Leftarrow Rightarrow Leftrightarrow longrightarrow Longrightarrow implies iff uparrow downarrow lbrace
rbrace lbrack rbrack langle rangle lfloor rfloor lceil rceil vert Vert lvert rvert lVert rVert left right middle big
Big bigg Bigg bigl bigr Bigl Bigr biggl biggr hat widehat bar overline underline tilde widetilde vec dot ddot
overbrace underbrace overset underset stackrel mathbf mathrm mathit mathbb mathcal mathsf mathtt mathfrak boldsymbol
bm text textbf textit textrm begin end quad qquad limits nolimits tag not displaystyle textstyle
"""
ALLOWED = {*WORDS.split(), *",;: {}|%$&#_\\"}
COMMAND = re.compile(r"\\([A-Za-z]+|.)", re.DOTALL)
ENVIRONMENTS = {"aligned", "cases", "matrix", "pmatrix", "bmatrix", "vmatrix", "Vmatrix", "array", "split", "gathered"}


def tame(tex: str) -> bool:
    """Whether a formula has none but these commands, and no row with a height of its own."""
    used = set(COMMAND.findall(tex)) <= ALLOWED and not re.search(r"\\\\\s*\[", tex)
    return used and set(re.findall(r"\\(?:begin|end)\s*\{([^}]*)\}", tex)) <= ENVIRONMENTS


@cache
def _markdown(draw: Callable[[str, bool], str], strict: bool):
    import mistune

    class Renderer(mistune.HTMLRenderer):
        def image(self, words, url, title=None):
            return escape(words)

        def link(self, words, url, title=None):
            return words

        def heading(self, words, level, **attributes):
            return f"<p><strong>{words}</strong></p>\n"

    markdown = mistune.create_markdown(renderer=Renderer(escape=True), plugins=["math", "table"])
    drawn = lambda tex, display: draw(tex, display) if not strict or tame(tex) else f"<code>{escape(tex)}</code>"  # noqa: E731
    markdown.renderer.register("inline_math", lambda renderer, tex: drawn(tex, False))
    markdown.renderer.register("block_math", lambda renderer, tex: f"<p>{drawn(tex, True)}</p>\n")
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


_katex = partial(formula, katex=True)


def mathjax(tex: str, display: bool = False) -> str:
    """One formula as MathJax finds it."""
    opening, closing = (r"\[", r"\]") if display else (r"\(", r"\)")
    return f"{opening}{escape(tex.strip())}{closing}"


def closed(markdown: str) -> str:
    """A text whose formulae hold the stop behind them, since a line may end behind a formula and none begins so."""
    return INLINE.sub(lambda one: rf"${one[1]}\text{{{one[2]}}}$" if one[2] else one[0], markdown)


def prose(markdown: str, katex: bool = False, strict: bool = False, draw: Callable | None = None) -> Markup:
    """The HTML of a text.

    katex: for a page that has KaTeX's stylesheet.  strict: a formula that is not `tame` is shown as TeX.
    draw(tex, display): what else makes HTML of a formula.
    """
    text = closed(markdown) if katex else markdown
    return Markup(_markdown(draw or (_katex if katex else formula), strict)(visible(text)))


def inline(markdown: str, katex: bool = False) -> Markup:
    """The HTML of a single paragraph, without its tag; "1. Numbers" is one, too, and no list."""
    return Markup(prose(NUMBER.sub(r"\1\\.", markdown), katex).strip().removeprefix("<p>").removesuffix("</p>"))
