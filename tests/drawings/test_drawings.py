"""The drawings: no text leaves its box or its sheet, nothing hides one, colours are the palette's, each is used."""

import itertools
import re
from functools import cache
from math import hypot
from pathlib import Path
from xml.etree import ElementTree

import nbformat
import pytest

from lmbook import drawings, plots
from lmbook.drawings import lettering
from lmbook.drawings.shapes import ROLES, Box, Panel

ROOT = Path(__file__).parents[2]
SHOWN = re.compile(r'drawings\.show\("([\w-]+)"\)')
PANELS = [(name, panel) for name, drawn in drawings.every().items() for panel in drawn.make()]
each = pytest.mark.parametrize(
    ("name", "panel"), PANELS, ids=[f"{name}-{number}" for number, (name, _) in enumerate(PANELS)]
)
every = pytest.mark.parametrize("name", drawings.every())
REFERRED = range(24)


# ---- what makes a drawing illegible


def outside(inner: Box, outer: Box, margin: float = 0) -> bool:
    return (
        inner.x < outer.x + margin
        or inner.y < outer.y + margin
        or inner.x + inner.width > outer.x + outer.width - margin
        or inner.y + inner.height > outer.y + outer.height - margin
    )


def overlap(one: Box, other: Box) -> bool:
    return (
        abs(one.centre[0] - other.centre[0]) < (one.width + other.width) / 2
        and abs(one.centre[1] - other.centre[1]) < (one.height + other.height) / 2
    )


def crosses(start, end, box: Box) -> bool:
    """Whether the stretch from start to end meets the box (Liang and Barsky's clipping)."""
    low, high = 0.0, 1.0
    for axis, least, most in ((0, box.x, box.x + box.width), (1, box.y, box.y + box.height)):
        far = end[axis] - start[axis]
        if far == 0:
            if not least < start[axis] < most:
                return False
            continue
        first, last = sorted(((least - start[axis]) / far, (most - start[axis]) / far))
        low, high = max(low, first), min(high, last)
    return low < high


def faults(panel: Panel) -> list[str]:
    sheet, found = Box(0, 0, panel.width, panel.height), []
    for label in panel.labels:
        if outside(label.place, sheet):
            found.append(f"{label.text!r} leaves the sheet")
        if label.inside and outside(label.place, label.inside, margin=1):
            found.append(f"{label.text!r} leaves its box")
        for box in panel.boxes:  # a text stands in a box or beside it, not across its edge
            if overlap(label.place, box) and outside(label.place, box):
                found.append(f"{label.text!r} stands on the edge of a box")
        core = Box(label.place.x + 1, label.place.y + 2, label.place.width - 2, label.place.height - 4)
        for path in panel.paths:
            if any(crosses(a, b, core) for a, b in itertools.pairwise(path)):
                found.append(f"a line crosses {label.text!r}")
    found += [f"{box} leaves the sheet" for box in panel.boxes if outside(box, sheet)]
    for one, other in itertools.combinations(panel.labels, 2):
        if overlap(one.place, other.place):
            found.append(f"{one.text!r} and {other.text!r} overlap")
    return found


def apart(point, box: Box) -> float:
    """How far the point is from the box; 0 inside."""
    (x, y), least = point, (box.x, box.y)
    most = box.x + box.width, box.y + box.height
    return hypot(*(max(a - v, 0, v - b) for v, a, b in zip((x, y), least, most, strict=True)))


def loose(panel: Panel) -> list[str]:
    """Branches that meet no second line, and arrows that end at a shape instead of at what has it."""
    found = []
    for x, y in panel.dots:
        near = Box(x - 1.5, y - 1.5, 3, 3)
        if sum(any(crosses(a, b, near) for a, b in itertools.pairwise(path)) for path in panel.paths) == 1:
            found.append(f"one line alone at the dot {x:g}, {y:g}")
    for path in panel.paths:
        if min((apart(path[-1], box) for box in panel.boxes), default=99) > 3:
            nearest = min(panel.labels, key=lambda label: apart(path[-1], label.place), default=None)
            if nearest and r"\times" in nearest.text and apart(path[-1], nearest.place) < 14:
                found.append(f"an arrow ends at {nearest.text!r}")
    return found


@each
def test_every_text_can_be_read(name, panel):
    assert faults(panel) == []


@each
def test_no_line_hangs_loose(name, panel):
    assert loose(panel) == []


def test_what_hangs_loose_is_seen():
    p = Panel(100, 100)
    p.line((10, 10), (40, 10))
    p.dot(50, 10)
    p.arrow((50, 10), (50, 40))
    p.box(10, 50, 30, 20, "$E$")
    p.note(25, 78, r"$d \times k$")
    p.arrow((25, 98), (25, 88))
    assert len(loose(p)) == 2
    q = Panel(100, 100)
    q.line((10, 10), (50, 10), (50, 20))
    q.dot(30, 10)
    q.arrow((30, 10), (30, 40))
    q.box(20, 40, 20, 20, "$E$")
    assert loose(q) == []


def test_the_faults_are_seen():
    p = Panel(100, 100)
    p.box(10, 10, 20, 20, "too long")
    p.text(95, 60, "out")
    p.text(40, 80, "one")
    p.text(50, 84, "two")
    p.line((0, 50), (80, 50))
    p.text(40, 50, "struck")
    said = " ".join(faults(p))
    for fault in ("leaves its box", "leaves the sheet", "overlap", "a line crosses 'struck'", "on the edge"):
        assert fault in said
    q = Panel(100, 100)
    box = q.box(10, 10, 80, 30, r"$\mathbf h_t$")
    q.arrow(box.bottom, (50, 90))
    assert faults(q) == []


# ---- colours, sizes, text


def test_roles_have_the_colours_of_the_palette():
    assert set(ROLES.values()) <= {*plots.PALETTE, "currentColor"}


@each
def test_colours_come_from_the_palette_and_lines_have_the_hands_widths(name, panel):
    svg = panel.svg("x")
    assert set(re.findall(r'(?:fill|stroke)="([^"]+)"', svg)) <= {*plots.PALETTE, "currentColor", "none"}
    assert {float(width) for width in re.findall(r'stroke-width="([^"]+)"', svg)} <= {0.75, 1, 1.5, 2.5}
    assert panel.colours <= set(ROLES.values())
    assert "style" not in re.sub(r"^<svg[^>]*>|font-style", "", svg)


@each
def test_letters_are_large_enough_on_a_phone(name, panel):
    """Without an index, none is below ten pixels where the sheet is as small as it gets."""
    shrunk = min(panel.width, max(320, 0.85 * panel.width)) / panel.width
    assert panel.width <= 700
    sizes = {14.0} | {float(size) for size in re.findall(r'<text[^>]* font-size="([^"]+)"', panel.svg("x"))}
    assert min(sizes) * shrunk >= 10


def test_formulae_become_letters_of_the_right_kind():
    assert [(run.letters, run.look, run.level) for run in lettering.runs(r"a $W_{hh} \mathbf h_{t-1}$")] == [
        ("a ", "text", 0),
        ("W", "it", 0),
        ("hh", "it", -1),
        (" ", "rm", 0),
        ("h", "bf", 0),
        ("t", "it", -1),
        ("−1", "rm", -1),
    ]
    assert lettering.html(r"$x_1 < \alpha^2$") == "<i>x</i><sub>1</sub> &lt; <i>α</i><sup>2</sup>"
    assert "".join(run.letters for run in lettering.runs(r"$\hat{\mathbf y}$")) == "ŷ"
    for blanks in (r"$m \times k$", r"$m\times k$", r"$m  \times  k$"):
        assert "".join(run.letters for run in lettering.runs(blanks)) == "m\u2009×\u2009k"
    assert "".join(run.letters for run in lettering.runs(r"back: $\odot f$, $L \times$")) == "back: ⊙\u2009f, L\u2009×"
    assert "".join(run.letters for run in lettering.runs(r"$-\ln P$, $\tanh(x)$")) == "−ln\u2009P, tanh(x)"
    assert lettering.width("mm", 10) == pytest.approx(2 * lettering.width("m", 10))
    assert lettering.width("mm", 10) > 15


@pytest.mark.parametrize("text", ["$x", r"$\unknown$", "$x_$", "$x_{1$", r"$\hat z$"])
def test_a_formula_that_is_not_known_is_an_error_that_names_it(text):
    with pytest.raises(lettering.LetteringError, match=re.escape(repr(text))):
        lettering.runs(text)


def test_what_does_not_exist_is_an_error_that_says_what_does():
    with pytest.raises(ValueError, match=r"no drawing 'lstm'.*lstm-cell"):
        drawings.show("lstm")
    with pytest.raises(ValueError, match=r"No colour is known for 'teal'.*encoder"):
        Panel(10, 10).box(1, 1, 8, 8, role="teal")


# ---- the element


@every
def test_it_is_well_formed_self_contained_and_the_same_each_time(name):
    html = drawings.to_html(name)
    tree = ElementTree.fromstring(html)
    assert html == drawings.to_html(name)
    assert not re.search(r"<script|<style|https?:|href|\bid=|\bon\w+=", html)
    pictures = tree.findall("div/svg")
    assert pictures
    for picture in pictures:
        assert picture.get("role") == "img"
        assert len(picture.get("aria-label")) > 40
    assert tree.find("figcaption/b").text == f"Figure {drawings.get(name).number}."


@every
def test_it_says_what_to_see_and_describes_itself(name):
    drawn = drawings.get(name)
    assert 12 <= len(drawn.caption.split()) <= 60
    assert 20 <= len(drawn.alt.split()) <= 110
    assert "$" not in drawn.alt
    assert drawn.make.__doc__ is None  # the caption says it
    panels = drawn.make()
    assert len({panel.name for panel in panels}) == len(panels)


@cache
def shown() -> list[tuple[int, str, nbformat.NotebookNode]]:
    """(chapter, drawing, its cell) for every drawing in the chapters, in their order."""
    found = []
    for path in sorted((ROOT / "notebooks").glob("[0-9]*.ipynb")):
        for cell in nbformat.read(path, as_version=4).cells:
            if cell.cell_type == "code":
                found += [(int(path.name[:2]), name, cell) for name in SHOWN.findall(cell.source)]
    return found


def test_every_drawing_is_used_once_in_its_chapter_and_numbered_in_order():
    assert [(chapter, name) for chapter, name, _ in shown()] == [
        (drawn.chapter, name) for name, drawn in drawings.every().items()
    ]


def test_the_chapters_hold_the_drawings_as_they_are_now():
    """A drawing that was changed is put into its chapter by `lmbook draw`."""
    for _, name, cell in shown():
        (output,) = cell.outputs
        assert dict(output.data) == drawings.bundle(name), f"run `lmbook draw`: {name} was changed"
        assert cell.metadata.tags == ["remove-input"]


def named(chapter: int) -> set[str]:
    """The numbers of the drawings that a chapter's text names: "2.1" for Figure 2.1."""
    path = next((ROOT / "notebooks").glob(f"{chapter:02}-*.ipynb"))
    cells = nbformat.read(path, as_version=4).cells
    return set(re.findall(r"\bFigures? (\d+\.\d+)", "\n".join(c.source for c in cells if c.cell_type == "markdown")))


@pytest.mark.parametrize("chapter", REFERRED)
def test_the_text_names_every_drawing_of_its_chapter_and_no_other(chapter):
    drawn = {drawing.number for drawing in drawings.every().values() if drawing.chapter == chapter}
    assert named(chapter) == drawn


def test_a_panel_shows_in_its_letters_what_the_notation_calls_it():
    """No letter in a drawing that its chapter does not use: a formula of a label stands in the chapter's own text."""
    for chapter, name, _ in shown():
        path = next((ROOT / "notebooks").glob(f"{chapter:02}-*.ipynb"))
        text = "\n".join(cell.source for cell in nbformat.read(path, as_version=4).cells)
        bold = {
            letter
            for panel in drawings.get(name).make()
            for label in panel.labels
            for letter in re.findall(r"\\mathbf ?\{?(\w)", label.text)
        }
        missing = {letter for letter in bold if not re.search(rf"\\mathbf ?\{{?{letter}", text)}
        assert not missing, (name, missing)


def test_no_panel_is_named_by_its_side():
    """On a phone the panels of a drawing stand one below the other."""
    several = {drawn.number: drawn for drawn in drawings.every().values() if len(drawn.make()) > 1}
    for number, drawn in several.items():
        assert not re.search(r"\b(Left|Right)\b|; (left|right),", drawn.caption + drawn.alt), number
    for path in sorted((ROOT / "notebooks").glob("[0-9]*.ipynb")):
        text = "\n".join(c.source for c in nbformat.read(path, as_version=4).cells if c.cell_type == "markdown")
        for sentence in re.split(r"(?<=[.?!])\s|\n", text):
            if several.keys() & set(re.findall(r"\bFigure (\d+\.\d+)", sentence)):
                assert not re.search(r"(?<!is )\b(left|right)\b", sentence), (path.name, sentence)
