"""Every page of the site, in a real browser: light, dark and on a phone."""

import contextlib
import re
from pathlib import Path

import pytest
import yaml
from playwright.sync_api import TimeoutError

pytestmark = pytest.mark.browser

TOC = yaml.safe_load((Path(__file__).parents[3] / "_toc.yml").read_text())
FILES = [
    TOC["root"],
    *(
        page["file"]
        for part in TOC["parts"]
        for chapter in part["chapters"]
        for page in (chapter, *chapter.get("sections", ()))
    ),
]
PAGES = [f"{name}.html" for name in FILES] + ["search.html"]
CHAPTERS = [name for name in PAGES if name.startswith("notebooks/")]
HOMEWORK = [name for name in PAGES if name.startswith("book/homework/")]
SOME = HOMEWORK[::8]  # they are made of the same parts; on a push these are looked at
# Text as the reader sees it: without code, programs' output and what is there for screen readers only.
PROSE = """() => {
  const page = document.querySelector("main").cloneNode(true);
  for (const box of page.querySelectorAll("pre, code, script, style, svg, .katex-mathml")) box.remove();
  return page.textContent;
}"""
LEFT_OVER = re.compile(r"\$\$|\\begin|\\frac|\\\(|\{(eq|cite|term|glue|ref)[:}]|:::|%REPOSITORY%")
# The thousands of small boxes of formulae and of coloured code take axe a quarter of a minute a page, and it has no
# rules about them but contrast: formulae have the colour of the text, and `faint_code` looks at the colours of code.
FLATTEN = """() => {
  for (const box of document.querySelectorAll(".katex")) box.replaceWith("formula");
  for (const box of document.querySelectorAll("article pre")) box.textContent = "code";
}"""
# What is like something else on the page, or on the first page: rows after a table's third, the insides of pictures,
# the list of chapters. It is half of the boxes that axe would place.
THIN_OUT = """() => {
  const like = "article tbody tr:nth-child(n+4), figure:not(.lm-figure) svg > *:not(title, desc)";
  for (const box of document.querySelectorAll(`${like}, .bd-sidebar-primary nav li`)) box.remove();
}"""
FAINT = """() => {
  const channels = (colour) => colour.match(/[\\d.]+/g).slice(0, 3).map((value) => {
    const share = value / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  const light = ([r, g, b]) => 0.2126 * r + 0.7152 * g + 0.0722 * b + 0.05;
  const ground = (box) => {
    while (/, 0\\)$|transparent/.test(getComputedStyle(box).backgroundColor)) box = box.parentElement;
    return getComputedStyle(box).backgroundColor;
  };
  const pairs = new Set();
  for (const pre of document.querySelectorAll("article pre")) {
    const behind = ground(pre);
    for (const token of pre.querySelectorAll("span")) {
      if (token.textContent.trim()) pairs.add(getComputedStyle(token).color + " on " + behind);
    }
  }
  return [...pairs].filter((pair) => {
    const [a, b] = pair.split(" on ").map((colour) => light(channels(colour)));
    return Math.max(a, b) / Math.min(a, b) < 4.5;
  });
}"""


def faint_code(page) -> list[str]:
    """Colours of code, and of what lies behind it, with a contrast below 4.5."""
    return page.evaluate(FAINT)


def too_wide(page) -> int:
    return page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")


# The chapters whose formulae and lines of code are the widest, in parts I to III.
WIDE = ["notebooks/07-long-memory", "notebooks/13-self-attention", "notebooks/15-transformer"]
CUT = """(boxes) => [...document.querySelectorAll(boxes)].filter((box) => box.clientWidth
  && !box.closest("details:not([open])") && box.scrollWidth > box.clientWidth + 1)
  .map((box) => [box.dataset.lmName ?? box.textContent.slice(0, 40), box.scrollWidth - box.clientWidth])"""
SIZES = "(boxes) => [...document.querySelectorAll(boxes)].map((box) => parseFloat(getComputedStyle(box).fontSize))"


# Letters of a plot that are smaller than is easily read, or outside of it. A power is smaller than what it stands on,
# and in a plot drawn wider than the others letters as large as theirs would run into one another.
LETTERS = """() => [...document.querySelectorAll("figure.lm-plot:not(.lm-drawing) svg")].flatMap((svg) => {
  const frame = svg.getBoundingClientRect();
  const least = parseFloat((svg.dataset.drawn ?? "0 0 0").split(" ")[2]) > 450 ? 7 : 9;
  const texts = svg.checkVisibility() ? [...svg.querySelectorAll("text")] : [];
  return texts.filter((text) => text.textContent.trim()).filter((text) => {
    const { a, b } = text.getScreenCTM();
    const sizes = [text, ...text.children].filter((part) => part.textContent.trim())
      .map((part) => parseFloat(getComputedStyle(part).fontSize) * Math.hypot(a, b));
    const { left, right, top, bottom } = text.getBoundingClientRect();
    return Math.max(...sizes.slice(text.children.length && 1)) < least || Math.min(...sizes) < 6
      || left < frame.left - 1 || right > frame.right + 1 || top < frame.top - 1 || bottom > frame.bottom + 1;
  }).map((text) => text.textContent.trim() + " in: " + svg.getAttribute("aria-label").slice(0, 60));
})"""


def cut_off(page) -> list:
    """Formulae, lines of code and plots that are wider than their place, and by how much."""
    boxes = ".lm-equation .lm-scroll, div.cell_input pre, figure.lm-plot > div"
    with contextlib.suppress(TimeoutError):  # formulae are fitted when the width has changed
        page.wait_for_function(f"(boxes) => ({CUT})(boxes).length === 0", arg=boxes)
    return page.evaluate(CUT, boxes)


# The parts of formulae and pictures, most of a chapter's boxes, have no ground of their own and do not scroll.
LIGHT_BOXES = """() => [...document.querySelectorAll("article :not(.katex *, svg *)")].filter((box) => {
  const [r, g, b, a = 1] = getComputedStyle(box).backgroundColor.match(/[\\d.]+/g).map(Number);
  return a > 0.5 && 0.3 * r + 0.6 * g + 0.1 * b > 170 && box.clientWidth > 100 && box.clientHeight > 24;
}).map((box) => box.outerHTML.slice(0, 120))"""
# What scrolls sideways and cannot be reached with the keyboard.
UNREACHABLE = """() => [...document.querySelectorAll("article :not(.katex *, svg *)")].filter((box) =>
  box.scrollWidth > box.clientWidth + 1 && ["auto", "scroll"].includes(getComputedStyle(box).overflowX)
  && box.tabIndex < 0 && !box.closest("details:not([open])") && !box.querySelector("a, button, input, [tabindex]")
).map((box) => box.outerHTML.slice(0, 120))"""


# A section is laid out as a whole, and its boxes are measured, when it comes near; those within it come with it.
READ_THROUGH = """async () => {
  const frame = () => new Promise(requestAnimationFrame);
  for (const part of document.querySelectorAll("article > section > section")) {
    part.scrollIntoView();
    for (let i = 0; i < 3; i += 1) await frame();
  }
  scrollTo(0, 0);
  await frame();
}"""


# What has moved by itself since the page was opened, as browsers count it.
SHIFT = """async () => {
  for (let i = 0; i < 2; i += 1) await new Promise(requestAnimationFrame);
  const seen = new PerformanceObserver(() => {});
  seen.observe({ type: "layout-shift", buffered: true });
  return seen.takeRecords().reduce((sum, entry) => sum + (entry.hadRecentInput ? 0 : entry.value), 0);
}"""
# Living figures whose height is not the one that was kept for them; half of the kept height would still move little.
ROOM = """(width) => [...document.querySelectorAll("figure.lm-figure")].filter((box) => {
  const kept = parseFloat(box.style.getPropertyValue(`--lm-high-${width}`)) || 0;
  return box.checkVisibility() && Math.abs(box.offsetHeight - kept) > 40 + 0.12 * kept;
}).map((box) => `${box.dataset.module}: ${box.offsetHeight}, not as kept: python benchmarks/pages.py --heights`)"""

# Living figures whose edge the contents of the page cover.
COVERED = """[...document.querySelectorAll("figure.lm-figure")].filter((box) => {
  const beside = document.querySelector(".bd-sidebar-secondary")?.getBoundingClientRect();
  return beside?.width && box.checkVisibility() && box.getBoundingClientRect().right > beside.left;
}).map((box) => box.dataset.module)"""


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.weekly] * (name in HOMEWORK and name not in SOME)) for name in PAGES]
)
def test_page(visit, axe_in_every_view, name, request):
    """One visit: read in light, made dark, narrowed to a phone; at last, simplified, seen by axe so and as it was.

    The frame around the text is that of the first page, where axe sees it in every view. The others share its style
    sheets: on a push axe sees each of them once, every second one dark on a phone; of the chapters, made of the same
    parts, every fifth, and of the pages of homework, of which three are looked at, the first. Where no mark is left out
    it sees all in every view.
    """
    fit = name.removesuffix(".html") in WIDE
    page = visit(name)
    assert page.evaluate(SHIFT) < 0.05
    assert page.evaluate(ROOM, 1280) == []
    assert page.evaluate(COVERED) == []
    page.add_style_tag(content="*, ::before, ::after { transition: none !important }")  # colours change at once
    theme = "document.documentElement.dataset.theme"
    assert page.evaluate(theme) == "light"
    assert page.title().strip()
    assert page.locator("h1:visible").count() == 1
    assert not LEFT_OVER.search(page.evaluate(PROSE))
    assert page.locator("span.math:not(:has(.katex-html)), .lm-equation:not(:has(.katex-html))").count() == 0
    assert page.evaluate("typeof MathJax") == "undefined"
    assert faint_code(page) == []
    if name in CHAPTERS:
        assert page.evaluate(CUT, "article .pst-scrollable-table-container") == []
    if fit:
        assert min(page.evaluate(SIZES, "div.cell_input pre")) >= 15
        assert cut_off(page) == []
    page.emulate_media(color_scheme="dark")
    page.wait_for_function(f"{theme} === 'dark'")
    assert page.evaluate(LIGHT_BOXES) == []
    assert faint_code(page) == []
    page.set_viewport_size({"width": 360, "height": 900})
    assert too_wide(page) <= 0
    assert page.evaluate(ROOM, 360) == []
    page.evaluate(READ_THROUGH)
    assert page.evaluate(UNREACHABLE) == []
    with contextlib.suppress(TimeoutError):  # plots are framed anew when the width has changed
        page.wait_for_function(f"({LETTERS})().length === 0")
    assert page.evaluate(LETTERS) == []
    if fit:
        assert cut_off(page) == []
        assert min(page.evaluate(SIZES, ".lm-equation .katex-html")) > 10
    if request.config.option.markexpr and (name in HOMEWORK[1:] or (name in CHAPTERS and CHAPTERS.index(name) % 5)):
        return
    page.evaluate(FLATTEN)
    one = None
    if name != PAGES[0] and request.config.option.markexpr:
        page.evaluate(THIN_OUT)
        one = ("dark", 360) if PAGES.index(name) % 2 else ("light", 1280)
    assert axe_in_every_view(page, wide=1280, thin=True, dark_phone=name != PAGES[0], one=one) == []


WIDEST = ("book/index.html", "book/results.html", "book/look-up.html", "notebooks/15-transformer.html")


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.weekly] * (name not in WIDEST)) for name in PAGES]
)
def test_on_paper_nothing_is_wider_than_the_sheet(visit, name):
    """642 pixels lie between the margins of A4. Chromium makes a whole page smaller for the sake of its widest part."""
    page = visit(name, width=642)
    page.emulate_media(media="print")
    assert too_wide(page) <= 0


FAULTY = """<div style="width: 900px">$$x$$</div><pre><span style="color: #bbb">x</span></pre>
<img src="data:image/gif;base64,R0lGODlhAQABAAAAACw="><p>Clear.</p><p style="color: #bbb">Faint.</p>"""


def test_a_fault_on_a_page_is_seen(visit, axe_in_every_view):
    """The checks above can fail: width, mathematics left as text, faint code and words, a silent picture."""
    page = visit("book/homework.html", width=360)
    page.evaluate("(html) => document.querySelector('article').insertAdjacentHTML('beforeend', html)", FAULTY)
    assert too_wide(page) > 0
    assert LEFT_OVER.search(page.evaluate(PROSE))
    assert len(faint_code(page)) == 1
    page.evaluate(FLATTEN)
    found = axe_in_every_view(page, wide=1280, thin=True)
    assert any(fault.startswith("light, 1280 wide: image-alt") for fault in found)
    assert sum("color-contrast" in fault and "Faint." in fault for fault in found) == 1  # in the dark it is clear
