"""Formulae become HTML and MathML while the site is built.

KaTeX (the file inside the sphinxcontrib-katex wheel) runs in V8 (mini-racer): no Node, no script in the page. A formula
that KaTeX rejects is a Sphinx warning with its page, its text and the position, so a strict build fails on it.
A displayed formula is drawn in pieces that can go on a line of their own: KaTeX would never break one that is too wide.
No line ends at the bar of P(w | h), nor between a formula in the text and the comma behind it, nor in a short formula,
nor in a short bracket of a displayed one.
Its stylesheet and fonts are in book/_static/katex, of the same version (a test compares them).
"""

import atexit
import json
import re
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from docutils import nodes
from sphinx.util import logging
from sphinx.util.math import get_node_equation_number

STYLESHEET = "katex/katex.min.css"
# P(y | x) does not break behind its bar, as it may behind other relations; U+2223 is the sign that KaTeX knows as \mid
RENDER = r"""
const MACROS = {"\\mid": "\u2223\\nobreak"};
function render(tex, displayMode) {
  try {
    const options = {displayMode, output: "htmlAndMathml", strict: "error", macros: {...MACROS}};
    return JSON.stringify({html: katex.renderToString(tex, options)});
  } catch (error) {
    return JSON.stringify({error: error.message, position: error.position});
  }
}
"""
ENVIRONMENT = re.compile(r"\\begin\{(\w+\*?)\}.*\\end\{\1\}", re.DOTALL)
LINE_BREAK = re.compile(r"(?<!\\)\\\\(?!\\)")
# what opens or closes a group, and what may separate the pieces of a formula
MARK = re.compile(
    r"(?P<open>\\begin\{[^}]*\}|\\left(?![a-zA-Z])|\{)|(?P<close>\\end\{[^}]*\}|\\right(?![a-zA-Z])|\})"
    r"|(?P<row>\\\\(?:\[[^\]]*\])?)|(?P<quad>\\q?quad(?![a-zA-Z]))|(?P<cell>&)|\\[a-zA-Z]+|\\."
)
ALIGNED = re.compile(r"\\begin\{aligned\}(.*)\\end\{aligned\}", re.DOTALL)
# What KaTeX writes into MathML and MathML does not know: an element inside a sign (\\underset), a name with a space
# of its own around it (\\bmod), the sign that a function is applied as a third part of an index (T_{\\max}).
SIGNS = ("mi", "mo", "mn", "mtext")
TAG, TAG_NAME = re.compile(r"(<[^>]*>)"), re.compile(r"<(\w+)")
MATHML = re.compile(r"<math .*?</math>", re.DOTALL)
SPACED = re.compile(r"(<mo [^>]*>)((?:</?mrow>|<mi[^>]*>[^<]*</mi>)+)</mo>")
APPLIED = re.compile(r"<mo>\u2061</mo>(?=</m(?:sub|sup|subsup|under|over|underover|frac)>)")
SHORT = 14  # signs of a formula in the text that stays on one line
BRACKET = 26  # signs of a displayed formula, from where a line may begin to behind a bracket, that stay on one line
FORMULA = '<span class="katex-html" aria-hidden="true">'
SPAN = re.compile(r"<(/?)span\b[^>]*>")
logger = logging.getLogger(__name__)


class MathError(ValueError):
    """A formula that KaTeX does not accept. `position` counts characters of the formula from 0, or is None."""

    def __init__(self, message: str, position: int | None):
        super().__init__(message)
        self.position = position


def katex_script() -> Path:
    """The katex.min.js of the installed sphinxcontrib-katex."""
    spec = find_spec("sphinxcontrib.katex")
    if spec is None:
        raise ModuleNotFoundError("The site needs sphinxcontrib-katex: pip install 'lmbook[book]'.")
    return Path(spec.origin).parent / "katex.min.js"


@cache
def _engine():
    """KaTeX in V8, with an event loop of its own: within one that runs already, Jupyter's, no call has a timeout."""
    from py_mini_racer import init_mini_racer

    # Where the processor has protection keys, V8's memory is open to the thread that loads it and to those that it
    # starts: loaded elsewhere, it could not be closed from here.
    init_mini_racer(ignore_duplicate_init=True)
    with ThreadPoolExecutor(1) as elsewhere:
        return elsewhere.submit(_started).result()


def _started():
    from py_mini_racer import MiniRacer

    engine = MiniRacer()
    atexit.register(engine.close)  # left to the interpreter's own end, Python 3.13 waits for its thread for ever
    engine.eval(katex_script().read_text(encoding="utf8"))
    engine.eval(RENDER)
    return engine


def valid(mathml: str) -> str:
    """KaTeX's MathML as MathML is defined: a sign holds text alone, an index has one part for each place."""
    mathml = mathml.replace("<mspace></mspace>", "")  # of \\nobreak
    mathml = APPLIED.sub("", SPACED.sub(lambda found: found[1] + TAG.sub("", found[2]) + "</mo>", mathml))
    parts, open_tags, holding = TAG.split(mathml), [], set()
    for place in range(1, len(parts), 2):
        tag = parts[place]
        if tag.startswith("</"):
            start = open_tags.pop()
            if start in holding:
                parts[start], parts[place] = "<mrow>", "</mrow>"
            continue
        if open_tags and TAG_NAME.match(parts[open_tags[-1]])[1] in SIGNS:
            holding.add(open_tags[-1])
        if not tag.endswith("/>"):
            open_tags.append(place)
    return "".join(parts)


@cache
def render(tex: str, display: bool = False) -> str:
    """The HTML (for the eye) and MathML (for a screen reader) of one formula. Raises MathError."""
    loose = LINE_BREAK.search(ENVIRONMENT.sub(lambda found: " " * len(found[0]), tex))
    if loose:  # KaTeX would pass over it in silence
        raise MathError(r"a line break \\ stands outside of an environment such as aligned", loose.start())
    answer = json.loads(_engine().call("render", tex, display))
    if "error" in answer:
        raise MathError(answer["error"], answer.get("position"))
    return MATHML.sub(lambda found: valid(found[0]), answer["html"])


def mathml(tex: str, display: bool = False, milliseconds: int = 5000) -> str:
    """The MathML of one formula, which browsers draw without stylesheet and fonts; wrong TeX is shown in red."""
    options = {"displayMode": display, "output": "mathml", "throwOnError": False, "maxExpand": 200}
    return _engine().call("katex.renderToString", tex, options, timeout=milliseconds)


def cut(tex: str, separator: str) -> list[str]:
    """The parts of a formula between separators ("row", "cell" or "quad") that stand in no group of their own."""
    parts, start, depth = [], 0, 0
    for found in MARK.finditer(tex):
        depth += (found.lastgroup == "open") - (found.lastgroup == "close")
        if found.lastgroup == separator and depth == 0:
            parts.append(tex[start : found.start()])
            start = found.end()
    return [part.strip() for part in [*parts, tex[start:]]]


def _parts(html: str) -> list[str]:
    """The elements of KaTeX's HTML between which a line may end, and behind them the rest."""
    parts, start, depth = [], 0, 0
    for found in SPAN.finditer(html):
        depth += -1 if found[1] else 1
        if depth < 0:
            break
        if depth == 0:
            parts.append(html[start : found.end()])
            start = found.end()
    return [*parts, html[start:]]


def keep(html: str) -> str:
    """A displayed formula in which no line ends inside a bracket that is short enough for a line of a phone."""
    head, _, body = html.partition(FORMULA)
    *parts, rest = _parts(body)
    groups, depth = [], 0
    for part in parts:
        groups = [*groups[:-1], [*groups[-1], part]] if depth > 0 else [*groups, [part]]
        depth += part.count('class="mopen') - part.count('class="mclose')
    shown = ""
    for group in map("".join, groups):
        signs = TAG.sub("", group).replace("\u200b", "")
        several = group.count('class="base"') > 1 and len(signs) <= BRACKET
        shown += f'<span class="lm-kept">{group}</span>' if several else group
    return f"{head}{FORMULA}{shown}{rest}"


def pieces(tex: str) -> str:
    """The HTML of a displayed formula. Statements with a quad between them and the rows of `aligned` are pieces that
    the stylesheet puts side by side, in columns or below one another, as the page is wide; each may break inside.
    """
    parts = [part for part in cut(tex, "quad") if part]
    if len(parts) > 1:
        return "".join(f'<span class="lm-piece">{pieces(part)}</span> ' for part in parts)
    aligned = ALIGNED.fullmatch(tex.strip())
    if not aligned or len(cut(tex.strip(), "row")) > 1:
        return keep(render(tex, display=True))
    rows = [cut(row, "cell") for row in cut(aligned[1], "row") if row]
    width = max(map(len, rows))
    html = ""
    for row in rows:
        # as in TeX, an empty group before what follows a sign of alignment gives its first sign the space of a relation
        cells = [f"{{}}{cell}" if place % 2 else cell for place, cell in enumerate(row + [""] * (width - len(row)))]
        shown = [f'<span class="lm-cell">{pieces(cell) if cell not in ("", "{}") else ""}</span>' for cell in cells]
        html += f'<span class="lm-row">{"".join(shown)}</span>'
    return f'<span class="lm-aligned" style="--pairs: {(width + 1) // 2}">{html}</span>'


def _html(translator, node, display: bool) -> str:
    tex = node.astext().strip()
    try:
        if "amsmath" in node["classes"]:
            raise MathError("a formula stands between lines of $$, an environment such as aligned inside them", None)
        whole = render(tex, display)  # a fault is reported with its place in the whole
        return pieces(tex) if display else whole
    except MathError as error:
        at = "" if error.position is None else f", position {error.position}"
        place = node
        while place is not None and place.line is None:
            place = place.parent
        source = translator.builder.env.doc2path(translator.builder.current_docname)
        line = place.line if place is not None else None
        logger.warning("faulty formula%s: %s\n    %s", at, error, tex, location=f"{source}:{line or ''}", type="math")
        return f'<code class="lm-math-error">{translator.encode(tex)}</code>'


def visit_inline(translator, node):
    html = _html(translator, node, display=False)
    shown = TAG.sub("", html.partition('class="katex-html" aria-hidden="true">')[2]).replace("\u200b", "")
    kind = "math lm-short" if 0 < len(shown) <= SHORT else "math"
    translator.body.append(f"{translator.starttag(node, 'span', '', CLASS=kind)}{html}</span>")
    raise nodes.SkipNode


def visit_block(translator, node):
    """The formula in a box that scrolls sideways where the screen is narrow; the number stays in sight beside it."""
    translator.body.append(translator.starttag(node, "div", CLASS="math lm-equation"))
    number = get_node_equation_number(translator, node) if node["number"] else ""
    name = f"Equation {number}" if number else "Formula"
    translator.body.append(
        f'<div class="lm-scroll" data-lm-name="{name}">{_html(translator, node, display=True)}</div>'
    )
    if number:
        translator.body.append(f'<span class="eqno">({number})')
        translator.add_permalink_ref(node, "Link to this equation")
        translator.body.append("</span>")
    translator.body.append("</div>\n")
    raise nodes.SkipNode


def restart_numbers(app, env):
    """Pages without a chapter number count their equations from 1; Sphinx would count on from page to page."""
    for numbers in env.toc_fignumbers.values():
        for counted in numbers.values():
            if all(len(number) == 1 for number in counted.values()):
                for place, label in enumerate(sorted(counted, key=counted.get), start=1):
                    counted[label] = (place,)


def setup(app):
    app.connect("env-check-consistency", restart_numbers)
    app.add_html_math_renderer("lmbook_katex", (visit_inline, None), (visit_block, None))
