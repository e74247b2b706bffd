"""How a tensor is printed: PyTorch's rules, four digits and lines of eighty letters."""

import math

import numpy as np

from . import dtypes

WIDTH, EDGE, MOST, DIGITS = 80, 3, 1000, 4
PRINTING = {"precision": DIGITS, "threshold": MOST, "edgeitems": EDGE, "linewidth": WIDTH, "sci_mode": None}


def set_printoptions(precision=None, threshold=None, edgeitems=None, linewidth=None, profile=None, sci_mode=None):
    """torch.set_printoptions."""
    given = {"precision": precision, "threshold": threshold, "edgeitems": edgeitems, "linewidth": linewidth}
    PRINTING.update({name: value for name, value in given.items() if value is not None})
    PRINTING["sci_mode"] = sci_mode


class Format:
    """One width for all numbers of a tensor."""

    def __init__(self, a: np.ndarray):
        self.floats, self.whole, self.powers, self.width = a.dtype.kind == "f", True, False, 1
        values = a.ravel().tolist()
        if not self.floats:
            self.width = max([1, *(len(str(value)) for value in values)])
            return
        there = [abs(value) for value in values if math.isfinite(value) and value != 0]
        if not there:
            return
        low, high = min(there), max(there)
        self.whole = all(value == math.ceil(value) for value in there)
        wide = high / low > 1000.0 or high > 1.0e8
        self.powers = wide if self.whole else wide or low < 1.0e-4
        if PRINTING["sci_mode"] is not None:
            self.powers = bool(PRINTING["sci_mode"])
        if self.whole and not self.powers:
            self.width = max(len(f"{value:.0f}") + 1 for value in values if math.isfinite(value) and value != 0)
        else:
            self.width = max(len(self.bare(value)) for value in values if math.isfinite(value) and value != 0)

    def bare(self, value) -> str:
        if not self.floats:
            return str(value)
        if self.powers:
            return f"{value:.{PRINTING['precision']}e}"
        if self.whole:
            return f"{value:.0f}" + ("." if math.isfinite(value) else "")
        return f"{value:.{PRINTING['precision']}f}"

    def __call__(self, value) -> str:
        return self.bare(value).rjust(self.width)


def _complex(a: np.ndarray) -> "tuple[Format, Format]":
    return Format(a.real), Format(a.imag)


def vector(a: np.ndarray, indent: int, form, short: bool) -> str:
    width = (form[0].width + form[1].width + 1 if isinstance(form, tuple) else form.width) + 2
    line = max(1, math.floor((PRINTING["linewidth"] - indent) / width))
    edge = PRINTING["edgeitems"]

    def one(value) -> str:
        if isinstance(form, tuple):
            imag = form[1].bare(value.imag)
            return form[0](value.real) + ("" if imag[0] == "-" else "+") + imag.lstrip() + "j"
        return form(value)

    values = a.tolist()
    if short and not edge:
        parts = ["..."]
    elif short and len(values) > 2 * edge:
        parts = [*map(one, values[:edge]), " ...", *map(one, values[-edge:])]
    else:
        parts = [one(value) for value in values]
    lines = [", ".join(parts[i : i + line]) for i in range(0, len(parts), line)] or [""]
    return "[" + (",\n" + " " * (indent + 1)).join(lines) + "]"


def block(a: np.ndarray, indent: int, form, short: bool) -> str:
    if a.ndim == 0:
        return vector(a[None], indent, form, False)[1:-1]
    if a.ndim == 1:
        return vector(a, indent, form, short)
    edge = PRINTING["edgeitems"]
    if short and len(a) > 2 * edge:
        parts = [block(one, indent + 1, form, short) for one in a[:edge]]
        parts += ["...", *(block(one, indent + 1, form, short) for one in a[-edge:])]
    else:
        parts = [block(one, indent + 1, form, short) for one in a]
    return "[" + ("," + "\n" * (a.ndim - 1) + " " * (indent + 1)).join(parts) + "]"


def edges(a: np.ndarray) -> np.ndarray:
    """The numbers that are shown of a large array."""
    edge = PRINTING["edgeitems"]
    for axis in range(a.ndim):
        if a.shape[axis] > 2 * edge:
            n = a.shape[axis]
            a = np.take(a, [*range(edge), *range(n - edge, n)], axis)
    return a


def shown(x) -> str:
    """repr(x)."""
    a, ends = x._a, []
    before = "Parameter containing:\n" if type(x).__name__ == "Parameter" else ""
    indent = len("tensor(")
    short = a.size > PRINTING["threshold"]
    if a.size == 0:
        text = "[]"
        if a.ndim != 1:
            ends.append(f"size={tuple(a.shape)}")
        plain = a.dtype == dtypes.get_default_dtype().numpy
    else:
        sample = edges(a) if short else a
        form = _complex(sample) if a.dtype.kind == "c" else Format(sample)
        text = block(a, indent, form, short)
        plain = a.dtype in (dtypes.get_default_dtype().numpy, np.int64, np.bool_) or a.dtype == np.complex64
    if not plain:
        ends.append(f"dtype={x.dtype}")
    if x._node is not None:
        ends.append(f"grad_fn=<{x._node.name}>")
    elif x.requires_grad:
        ends.append("requires_grad=True")
    found = ["tensor(" + text]
    last = len(found[0]) - found[0].rfind("\n") + 1
    for end in ends:
        if last + len(end) + 2 > PRINTING["linewidth"]:
            found.append(",\n" + " " * indent + end)
            last = indent + len(end)
        else:
            found.append(", " + end)
            last += len(end) + 2
    return before + "".join(found) + ")"
