"""Static figures: text alternative, stable bytes, own ids, colours that can be told apart, readable on a phone."""

import hashlib
import itertools
import os
import re
import subprocess
import sys
from importlib import resources
from pathlib import Path
from xml.etree import ElementTree

import matplotlib as mpl

mpl.use("agg")
import matplotlib.pyplot as plt
import numpy as np
import pytest

from lmbook import plots


@pytest.fixture(autouse=True)
def _own_style():
    with mpl.rc_context():
        plots.use_style()
        yield
    plt.close("all")


def example(shift: float = 0.0, label: str = "a < b & c"):
    fig, ax = plt.subplots()
    x = np.linspace(0, 1, 50)
    ax.plot(x, x**2 + shift, label=label)
    ax.plot(x, x + shift, label="second")
    ax.set_title("A title with 0.123456 in it")
    ax.set_xlabel("x in metres")
    return fig, ax


def parse(html: str) -> ElementTree.Element:
    """The figure as a tree; fails unless every tag is closed and every special character escaped."""
    return ElementTree.fromstring(html)


# ---- show


@pytest.fixture
def shown(monkeypatch):
    bundles = []
    monkeypatch.setattr("IPython.display.display", lambda data, raw=False: bundles.append((data, raw)))
    return bundles


def test_show_displays_the_figure_closes_it_and_returns_nothing(shown):
    fig, _ = example()
    assert plots.show(fig, alt="A curve rises from 0 to 1.") is None
    [(bundle, raw)] = shown
    assert raw
    assert bundle["text/plain"] == "A curve rises from 0 to 1."
    assert set(bundle) == {"text/html", "text/plain"}
    assert not plt.fignum_exists(fig.number)


@pytest.mark.parametrize("alt", ["", "  \n", None])
def test_a_figure_without_text_alternative_is_refused(alt, shown):
    with pytest.raises(ValueError, match="alternative text"):
        plots.show(example()[0], alt=alt)
    assert shown == []


def test_alternative_text_caption_and_labels_are_escaped():
    fig, ax = example(label="<b>&\"'</b>")
    plots.label_lines(ax)
    nasty = """</svg><script>alert("1")</script> & 'two' <3"""
    tree = parse(plots.to_html(fig, alt=nasty, caption=nasty))
    svg = tree.find("div/svg")
    assert svg.get("role") == "img"
    assert svg.get("aria-label") == nasty
    assert tree.find("figcaption").text == nasty
    assert "<b>&\"'</b>" in [text.text for text in svg.iter("text")]
    assert not list(tree.iter("script"))


def test_without_caption_there_is_none():
    assert parse(plots.to_html(example()[0], alt="x")).find("figcaption") is None


# ---- what the page needs


def test_text_stays_text_and_takes_the_colour_of_the_page():
    html = plots.to_html(example()[0], alt="x")
    texts = list(parse(html).iter("text"))
    assert {"x in metres", "A title with 0.123456 in it"} <= {text.text for text in texts}
    assert all("fill: currentColor" in text.get("style") for text in texts)
    assert plots._INK not in html
    assert not re.search(r"fill: #(fff|000)", html)  # no white sheet, no black letters


def test_grey_letters_follow_the_page_and_can_be_read():
    fig, ax = plt.subplots()
    ax.annotate("faint", (0.5, 0.5), color="grey")
    ax.axhline(0.5, color="grey")
    svg = plots.to_html(fig, alt="x")
    (label,) = re.findall(r"<text[^>]*>faint", svg)
    assert "fill: currentColor; fill-opacity: 0.7" in label
    assert "stroke: #808080" in svg  # a line may be grey
    for ink, page in (("#23272d", "#fdfcfa"), ("#e2e0da", "#15181c")):
        assert contrast(mixed(ink, page, 0.7), page) > 4.5
        for share in (0.0, 0.5, 1.0):  # what stands in a cell that shows a share
            red, green, blue, alpha = plots.SHARES(share)
            assert contrast(ink, mixed(mpl.colors.to_hex((red, green, blue)), page, alpha)) > 4.5


def mixed(colour: str, page: str, share: float) -> str:
    """The colour that is seen where this share of it covers the page."""
    over, under = (np.array(mpl.colors.to_rgb(one)) for one in (colour, page))
    return mpl.colors.to_hex(share * over + (1 - share) * under)


def test_without_the_style_letters_still_follow_the_page():
    with mpl.rc_context(mpl.rcParamsDefault):  # someone forgot use_style: letters still follow the page
        fig, _ = example()
        svg = parse(plots.to_html(fig, alt="x")).find("div/svg")
    assert svg.get("fill") == "currentColor"
    assert all("fill" not in text.get("style") for text in svg.iter("text"))


def test_nothing_outside_is_asked_for_and_no_style_leaks_into_the_page():
    html = plots.to_html(example()[0], alt="x", caption="y")
    for unwanted in ("http", "<style", "<script", "<metadata", "xmlns", "<!", "<?xml"):
        assert unwanted not in html


def test_a_narrow_screen_scrolls_a_box_that_the_keyboard_can_reach():
    tree = parse(plots.to_html(example()[0], alt="x"))
    box, svg = tree.find("div"), tree.find("div/svg")
    assert "overflow-x:auto" in box.get("style")
    assert box.get("tabindex") == "0"
    assert box.get("role")
    assert box.get("aria-label")
    assert box.get("data-lm-suppress-shortcuts") == "true"
    style = dict(part.split(":") for part in svg.get("style").split(";"))
    assert (style["width"], style["min-width"], style["max-width"]) == ("100%", "480px", "576px")
    width = float(svg.get("viewBox").split()[2])
    sizes = [float(size) for text in svg.iter("text") for size in re.findall(r"([\d.]+)px", text.get("style"))]
    assert min(sizes) * 480 / width >= 11  # CSS pixels, at the smallest


def test_a_long_title_breaks_into_lines():
    fig, ax = example()
    ax.set_title("word " * 40)
    plots.label_lines(ax)
    lines = [t.text for t in parse(plots.to_html(fig, alt="x")).iter() if t.text and "word word" in t.text]
    assert len(lines) > 1
    assert max(map(len, lines)) < 100


# ---- stability


PROGRAM = """
import matplotlib
matplotlib.use("agg")
import matplotlib.pyplot as plt, numpy as np
from lmbook import plots
plots.use_style()
fig, (left, right) = plt.subplots(1, 2)
for i in range(3):
    left.plot(np.linspace(0, 1, 40), np.sin(np.linspace(0, 9, 40) + i), label=f"$x_{i}$")
plots.label_lines(left)
right.imshow(np.arange(12).reshape(3, 4))
right.fill_between([0, 1], [0, 1], [1, 2], hatch="//", alpha=0.4)
print(plots.to_html(fig, alt="x", caption="y"))
"""


def test_letters_above_or_below_the_figure_are_drawn():
    fig, axes = plt.subplots(1, 2, figsize=(6, 3.4))
    for ax in axes:
        ax.set(title="words", xlabel="more words", aspect="equal")
        ax.set_xticks([0, 1], ["a long label", "another"], rotation=60)
    _, low, _, high = map(float, re.search(r'viewBox="([^"]*)"', plots.to_html(fig, "alt"))[1].split())
    needed = fig.get_tightbbox()
    assert high > 72 * 3.4
    assert low + high >= 72 * (needed.y1 - needed.y0)


@pytest.mark.slow
def test_two_processes_write_the_same_bytes():
    runs = [
        subprocess.run(
            [sys.executable, "-c", PROGRAM], capture_output=True, check=True, env=os.environ | {"PYTHONHASHSEED": seed}
        )
        for seed in ("1", "2")
    ]
    assert b"</figure>" in runs[0].stdout
    assert hashlib.sha256(runs[0].stdout).digest() == hashlib.sha256(runs[1].stdout).digest()


def test_another_figure_gives_other_bytes():
    assert plots.to_html(example()[0], alt="x") != plots.to_html(example(shift=0.1)[0], alt="x")


def ids(html: str) -> list[str]:
    return re.findall(r' id="([^"]+)"', html)


def test_what_cannot_be_seen_is_not_drawn():
    """In a picture of attention most weights are 0; a path for each was a twentieth of a chapter's page."""
    sizes = []
    for weights in np.eye(20), np.ones((20, 20)):
        fig, ax = plt.subplots()
        ax.pcolormesh(weights, cmap=plots.SHARES, vmin=0)
        sizes.append(plots.to_html(fig, "Weights.").count("<path d="))
    assert 20 <= sizes[0] < 100 < 400 <= sizes[1]


def test_two_figures_on_a_page_share_no_id_and_every_reference_has_its_target():
    first, second = (plots.to_html(example(shift)[0], alt="x") for shift in (0, 0.1))
    assert ids(first)
    assert not set(ids(first)) & set(ids(second))
    for html in (first, second):
        assert len(ids(html)) == len(set(ids(html)))
        used = re.findall(r'href="#([^"]+)"', html) + re.findall(r"url\(#([^)]+)\)", html)
        assert set(used) == set(ids(html))


def test_numbers_are_shortened_in_drawings_only():
    html = plots.to_html(example()[0], alt="0.123456 of x")
    assert 'aria-label="0.123456 of x"' in html
    assert not re.search(r'd="[^"]*\.\d{3}', html)


# ---- colours


def channels(colour: str) -> np.ndarray:
    """Linear red, green and blue in 0..1."""
    c = np.array([int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)])
    return np.where(c <= 0.04045, c / 12.92, ((c + 0.055) / 1.055) ** 2.4)


def contrast(one: str, other: str) -> float:
    """Contrast ratio of WCAG 2.2."""
    low, high = sorted(float(channels(c) @ [0.2126, 0.7152, 0.0722]) for c in (one, other))
    return (high + 0.05) / (low + 0.05)


def lab(rgb: np.ndarray) -> np.ndarray:
    """CIE L*a*b* of linear sRGB, white point D65."""
    to_xyz = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])
    x, y, z = np.cbrt(to_xyz @ rgb / to_xyz.sum(1))  # all our colours lie above the linear part
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


# Machado, Oliveira and Fernandes 2009: full protanopia, deuteranopia, tritanopia.
SIGHT = {
    "normal": np.eye(3),
    "no red cones": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
    "no green cones": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.01182, 0.04294, 0.968881]],
    "no blue cones": [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.3039]],
}


def test_the_contrast_formula_knows_its_ends():
    assert contrast("#ffffff", "#000000") == pytest.approx(21)
    assert contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.01)


@pytest.mark.parametrize("page", ["#ffffff", "#121212", "#14181e"])
def test_every_colour_stands_out_on_light_and_dark_pages(page):
    assert all(contrast(colour, page) >= 3 for colour in plots.PALETTE)


@pytest.mark.parametrize("sight", SIGHT)
def test_colours_differ_for_every_kind_of_sight(sight):
    seen = [lab(np.clip(np.array(SIGHT[sight]) @ channels(colour), 1e-4, 1)) for colour in plots.PALETTE]
    assert min(np.linalg.norm(a - b) for a, b in itertools.combinations(seen, 2)) > 12  # about 2 is just noticeable


def test_colours_differ_in_grey_print():
    lightness = [lab(channels(colour))[0] for colour in plots.PALETTE]
    assert np.diff(sorted(lightness)).min() > 2.3
    assert np.diff(sorted(lightness[:3])).min() > 6


def test_interactive_figures_have_the_same_palette():
    css = resources.files("lmbook.figures").joinpath("kit", "figures.css").read_text(encoding="utf-8")
    assert tuple(re.findall(r"--lm-[1-6]: (#\w+);", css)) == plots.PALETTE


def test_colour_is_never_the_only_sign_of_a_line():
    _, ax = plt.subplots()
    lines = [ax.plot([0, 1], [i, i])[0] for i in range(6)]
    for sign in ("get_color", "get_linestyle", "get_marker"):
        values = [str(getattr(line, sign)()) for line in lines]
        assert len(set(values)) >= (4 if sign == "get_linestyle" else 6)
    assert [line.get_color() for line in lines] == list(plots.PALETTE)


def test_every_point_of_a_scatter_is_drawn():
    plots.use_style()
    fig, ax = plt.subplots()
    ax.plot([1, 2, 2.01, 2.02], [1, 2, 2.01, 2], "o")  # close together: sparse markers would drop some
    ax.plot(1.5, 1.5, "o")  # a single point: sparse markers would drop it
    drawn = plots.to_html(fig, alt="points")
    colours = "|".join(plots.PALETTE[:2])
    assert len(re.findall(rf"<use [^>]*fill: (?:{colours})", drawn)) == 5


# ---- direct labels


def test_labels_stand_at_the_ends_and_apart():
    fig, ax = plt.subplots()
    for i, name in enumerate(("one", "two", "three", "four")):
        ax.plot([0, 1, 2, 3], [9, 5 + i, 1 + i / 100, np.nan], label=name)
    ax.plot([0, 2], [8, 8])  # has no label, gets none
    plots.label_lines(ax)
    fig.draw_without_rendering()
    boxes = {text.get_text(): text.get_window_extent() for text in ax.texts}
    assert set(boxes) == {"one", "two", "three", "four"}
    heights = [boxes[name].y0 + boxes[name].height / 2 for name in ("one", "two", "three", "four")]
    assert (np.diff(heights) > 11 * fig.dpi / 72).all()
    end = ax.transData.transform((2, 1))
    assert all(end[0] < box.x0 < end[0] + 20 for box in boxes.values())
    assert np.mean(heights) == pytest.approx(ax.transData.transform((2, 1.015))[1], abs=3)


def test_labels_need_labelled_lines():
    _, ax = plt.subplots()
    ax.plot([0, 1], [0, 1])
    with pytest.raises(ValueError, match="No line has a label"):
        plots.label_lines(ax)


# ---- one colour for a system

CHAPTERS = sorted((Path(__file__).parents[1] / "notebooks").glob("[0-9]*.ipynb"))


def colours_of_systems(html: str) -> set[tuple[str, str]]:
    """(system, colour) of every line that shows a system, in the figures of a page."""
    drawn = re.finditer(r'<g data-system="([^"]+)">(.*?)</g>', html.replace('\\"', '"'), re.DOTALL)
    return {(line[1], colour) for line in drawn for colour in re.findall(r"(?:stroke|fill): (#\w{6})", line[2])}


def test_every_system_has_a_place_in_the_palette_and_shares_no_line_of_the_table():
    assert set(plots.SYSTEMS.values()) == set(range(len(plots.PALETTE)))
    assert set(plots.ALIASES.values()) <= set(plots.SYSTEMS)
    assert not set(plots.ALIASES) & set(plots.SYSTEMS)
    recurrent = [plots.look(name) for name in ("RNN", "GRU", "LSTM", "n-grams", "GPT, longer")]
    for sign in ("color", "marker"):
        assert len({line[sign] for line in recurrent}) == len(recurrent)
    with pytest.raises(ValueError, match="No system is called 'the RNN'"):
        plots.look("the RNN")


def test_a_line_says_which_system_it_shows():
    fig, ax = plt.subplots()
    ax.plot([0, 1], [0, 1], label="LSTM, trained", **plots.look("LSTM"))
    ax.plot([0, 1], [1, 0], label="RNN", color=plots.PALETTE[1])
    ax.plot([0, 1], [1, 1], label="another")
    ax.legend()
    assert colours_of_systems(plots.to_html(fig, alt="x")) == {("LSTM", plots.PALETTE[2]), ("RNN", plots.PALETTE[1])}


def test_a_system_has_one_colour_in_all_chapters():
    found = {pair for path in CHAPTERS for pair in colours_of_systems(path.read_text("utf-8"))}
    assert found >= {(name, plots.look(name)["color"]) for name in ("RNN", "GRU", "GPT", "attention")}
    assert {(name, colour) for name, colour in found if colour != plots.look(name)["color"]} == set()


def _boxes_of_names(points, names):
    fig, ax = plt.subplots()
    ax.plot(*np.transpose(points), "o")
    plots.label_points(ax, points, names)
    fig.draw_without_rendering()
    boxes = [text.get_window_extent() for text in ax.texts]
    frame = ax.get_window_extent()
    plt.close(fig)
    return boxes, frame


def test_names_of_near_points_do_not_overlap_and_stay_inside():
    points = [(0, 0), (0.5, 0.2), (0.6, 0.25), (0.62, 0.2), (0.55, 0.3), (1, 1), (1, 0.9)]
    boxes, frame = _boxes_of_names(points, ["west", "seven", "band", "song", "two", "mother", "daughter"])
    assert not any(one.overlaps(other) for one, other in itertools.combinations(boxes, 2))
    assert all(frame.x0 <= box.x0 and box.x1 <= frame.x1 for box in boxes)


def test_each_point_needs_a_name():
    with pytest.raises(ValueError, match="2 points and 1 names"):
        plots.label_points(plt.subplots()[1], [(0, 0), (1, 1)], ["one"])
    plt.close("all")
