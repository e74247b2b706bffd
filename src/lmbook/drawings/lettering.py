r"""Text in a drawing: words as they are, and formulae between dollar signs in a small part of TeX.

    W_{hh} \mathbf h_{t-1}      N \times d_k      \hat{\mathbf y}_t      \overrightarrow{\mathbf h}_t

What TeX writes in italics is italic here, bold stays bold, and both are set in the font of the page's equations where
there is one. A blank is a blank. Text stays text: it can be searched, copied and read aloud.
"""

import re
from dataclasses import dataclass
from functools import cache
from html import escape

SYMBOLS = {
    "alpha": "α", "beta": "β", "lambda": "λ", "sigma": "σ", "theta": "θ", "tau": "τ", "omega": "ω", "ell": "ℓ",
    "eta": "η", "Omega": "Ω", "partial": "∂",
}  # fmt: skip
THIN = "\u2009"
BETWEEN = {
    "times": "×", "odot": "⊙", "cdot": "·", "le": "≤", "mid": "|", "to": "→", "in": "∈", "approx": "≈",
}  # fmt: skip
SIGNS = {
    "dots": "…", "top": "⊤", "infty": "∞", "lvert": "|", "rvert": "|", "sqrt": "√", "sum": "Σ",
}  # fmt: skip
NAMES = ("tanh", "softmax", "ln", "max", "gelu", "norm", "LN", "FFN", "MHA")
HATS = {"y": "ŷ"}
TOKEN = re.compile(r"\\[A-Za-z]+\s*|\\.|[_^{}]|.")

# The fonts that matplotlib brings measure the text: they are wider than those that readers are likely to have.
FONTS = {"text": "DejaVu Sans", "rm": "DejaVu Serif", "it": "DejaVu Serif:italic", "bf": "DejaVu Serif:bold"}
EQUATION = "'Latin Modern Roman','STIX Two Text','Times New Roman',serif"
LOOK = {
    "text": "",
    "rm": f' font-family="KaTeX_Main,{EQUATION}"',
    "it": f' font-family="KaTeX_Math,{EQUATION}" font-style="italic"',
    "bf": f' font-family="KaTeX_Main,{EQUATION}" font-weight="bold"',
}
FORMULA = 1.14  # the letters of equations are small: at this size they fit the words beside them
SCRIPT, RAISE, DROP = 0.74, -0.36, 0.22  # size of an index, and how far it stands above or below, in letters


@dataclass(frozen=True)
class Run:
    """Letters of one look; `level` is 0, 1 for an exponent or -1 for an index; `over` an arrow above: > or <."""

    letters: str
    look: str = "text"
    level: int = 0
    over: str = ""


class LetteringError(ValueError):
    """A formula that this small part of TeX does not know."""


@cache
def runs(text: str) -> tuple[Run, ...]:
    """The runs of a text. Raises LetteringError, naming the text, for what it does not know."""
    found: list[Run] = []
    parts = text.split("$")
    if len(parts) % 2 == 0:
        raise LetteringError(f"{text!r} has an odd number of dollar signs: close the formula.")
    for number, part in enumerate(parts):
        if number % 2:
            found += _formula(TOKEN.findall(part), text)
        elif part:
            found.append(Run(part))
    merged: list[Run] = []
    for run in found:
        if merged and not run.over and not merged[-1].over and _same(merged[-1], run):
            merged[-1] = Run(merged[-1].letters + run.letters, run.look, run.level)
        else:
            merged.append(run)
    return tuple(merged)


def _same(one: Run, other: Run) -> bool:
    return (one.look, one.level) == (other.look, other.level)


def _group(tokens: list[str], text: str) -> list[str]:
    """Takes the next group from the tokens: what stands in braces, or one token."""
    while tokens and tokens[0].isspace():
        tokens.pop(0)
    if not tokens:
        raise LetteringError(f"{text!r} ends where something must follow.")
    first = tokens.pop(0)
    if first != "{":
        return [first, *_group(tokens, text)] if first.strip() in ("\\mathbf", "\\hat", "\\text") else [first]
    depth, inside = 1, []
    while tokens:
        token = tokens.pop(0)
        depth += (token == "{") - (token == "}")
        if not depth:
            return inside
        inside.append(token)
    raise LetteringError(f"{text!r} has a brace that is not closed.")


def _formula(tokens: list[str], text: str, look: str = "", level: int = 0) -> list[Run]:
    tokens, found = list(tokens), []
    while tokens:
        token = tokens.pop(0)
        name = token[1:].strip() if token.startswith("\\") else ""
        if token in ("_", "^"):
            found += _formula(_group(tokens, text), text, look, 1 if token == "^" else -1)
        elif token in "{}":
            continue
        elif name == "mathbf":
            found += _formula(_group(tokens, text), text, "bf", level)
        elif name == "text":
            found.append(Run("".join(_group(tokens, text)), "rm", level))
        elif name in ("overrightarrow", "overleftarrow"):
            (inner,) = _formula(_group(tokens, text), text, look, level)
            found.append(Run(inner.letters, inner.look, level, "<" if "left" in name else ">"))
        elif name == "hat":
            (inner,) = _formula(_group(tokens, text), text, look, level)
            if inner.letters not in HATS:
                raise LetteringError(f"{text!r}: only {', '.join(HATS)} may wear a hat.")
            found.append(Run(HATS[inner.letters], inner.look, level))
        elif name == ",":
            found.append(Run(THIN, "rm", level))
        elif name in NAMES:  # a blank behind it, as in \ln P, is a thin space
            found.append(Run(name + THIN * token[-1].isspace(), "rm", level))
        elif name in SYMBOLS:
            found.append(Run(SYMBOLS[name], look or "it", level))
        elif name in BETWEEN:  # a thin space on both sides, whatever blanks the source has; none where nothing precedes
            while found and found[-1].letters == " ":
                found.pop()
            sign = (THIN if found else "") + BETWEEN[name] + (THIN if any(map(str.strip, tokens)) else "")
            found.append(Run(sign, "rm", level))
        elif name in SIGNS:
            found.append(Run(SIGNS[name], "rm", level))
        elif name:
            raise LetteringError(f"{text!r} has \\{name}, which is not known: add it to lmbook.drawings.lettering.")
        elif token == "-":
            found.append(Run("−", "rm", level))
        elif token.isalpha():
            found.append(Run(token, look or "it", level))
        else:
            found.append(Run(token, "bf" if look == "bf" else "rm", level))
    return found


@cache
def _font(look: str):
    from matplotlib.font_manager import FontProperties, findfont
    from matplotlib.ft2font import FT2Font

    family, _, style = FONTS[look].partition(":")
    kind = {"italic": {"style": "italic"}, "bold": {"weight": "bold"}}.get(style, {})
    return FT2Font(findfont(FontProperties(family=family, **kind)))


@cache
def _advance(letters: str, look: str) -> float:
    """Width of the letters at size 1."""
    from matplotlib import ft2font

    font = _font(look)
    font.set_size(100, 72)
    # Unhinted, the width is the font's own, on every machine. Matplotlib 3.10 gave the flag another name.
    flags = ft2font.LoadFlags.NO_HINTING if hasattr(ft2font, "LoadFlags") else ft2font.LOAD_NO_HINTING
    return sum(font.load_char(ord(letter), flags=flags).linearHoriAdvance for letter in letters) / 65536 / 100


def _scale(run: Run) -> float:
    return (1 if run.look == "text" else FORMULA) * (SCRIPT if run.level else 1)


def width(text: str, size: float, bold: bool = False) -> float:
    """How wide the text becomes at most, in pixels."""
    wide = sum(_advance(run.letters, run.look) * _scale(run) for run in runs(text))
    return size * wide * (1.1 if bold else 1)


def svg(text: str, size: float) -> tuple[str, list[tuple[float, float, str]]]:
    """The inside of a <text> element; and, for each arrow over a letter, (from, to, direction) from the text's left."""
    out, at, level, over = [], 0.0, 0, []
    for run in runs(text):
        wide = _advance(run.letters, run.look) * size * _scale(run)
        if run.over:
            over.append((at, at + wide, run.over))
        at += wide
        shift = {0: 0.0, 1: RAISE, -1: DROP}
        move = (shift[run.level] - shift[level]) * size
        level = run.level
        mark = LOOK[run.look] + (f' font-size="{size * _scale(run):.3g}"' if _scale(run) != 1 else "")
        mark += f' dy="{move:.3g}"' if move else ""
        out.append(f"<tspan{mark}>{escape(run.letters)}</tspan>" if mark else escape(run.letters))
    return "".join(out), over


def html(text: str) -> str:
    """The same for a caption."""
    out = []
    for run in runs(text):
        letters = escape(run.letters, quote=False)
        letters = {"it": f"<i>{letters}</i>", "bf": f"<b>{letters}</b>"}.get(run.look, letters)
        out.append({0: letters, 1: f"<sup>{letters}</sup>", -1: f"<sub>{letters}</sub>"}[run.level])
    return "".join(out)
