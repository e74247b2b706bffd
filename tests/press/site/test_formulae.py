"""Fonts of formulae hold the signs that are drawn with them and hardly more: the browser says which font drew what."""

from pathlib import Path

import pytest

from lmbook_press.site.serving import serve

pytestmark = pytest.mark.browser

# Marks the first box of each sign in each font.
MARK = """() => {
  const seen = new Set();
  for (const box of document.querySelectorAll(".katex-html *")) {
    const signs = [...box.childNodes].filter((node) => node.nodeType === 3).map((node) => node.data).join("");
    const { fontFamily, fontWeight, fontStyle } = getComputedStyle(box);
    const kind = [signs, fontFamily, fontWeight, fontStyle].join();
    if (signs.trim() && !seen.has(kind)) seen.add(kind) && box.setAttribute("data-first", "");
  }
}"""


@pytest.fixture(scope="module")
def served(site):
    """With the fonts, however late they come."""
    with serve(site, fonts=True) as found:
        yield found


@pytest.mark.parametrize("name", ["book/notation", "notebooks/05-backpropagation", "notebooks/11-attention"])
def test_every_sign_is_drawn_in_katex_fonts(visit, name):
    page = visit(f"{name}.html#all-of-it")  # a page opened by a link is laid out whole
    page.add_style_tag(content="details::details-content { content-visibility: visible; display: block }")
    # a frame first: what was folded asks for its fonts when it is laid out
    page.evaluate("new Promise(requestAnimationFrame).then(() => document.fonts.ready).then(() => {})")
    page.evaluate(MARK)
    browser = page.context.new_cdp_session(page)
    for domain in "DOM", "CSS":
        browser.send(f"{domain}.enable")
    root = browser.send("DOM.getDocument")["root"]["nodeId"]
    boxes = browser.send("DOM.querySelectorAll", {"nodeId": root, "selector": "[data-first]"})["nodeIds"]
    used = [browser.send("CSS.getPlatformFontsForNode", {"nodeId": box})["fonts"] for box in boxes]
    families = {font["familyName"] for fonts in used for font in fonts}
    assert {"KaTeX_Main", "KaTeX_Math"} <= families
    assert [family for family in families if not family.startswith("KaTeX_")] == []


def test_they_are_small(site):
    whole, cut = (
        folder / "katex" / "fonts" for folder in (Path(__file__).parents[3] / "book/_static", site / "_static")
    )
    size = lambda folder, name: (folder / f"KaTeX_{name}.woff2").stat().st_size  # noqa: E731
    for name, share in {
        "Main-Regular": 0.5,
        "Math-Italic": 0.6,
        "AMS-Regular": 0.1,
        "Caligraphic-Regular": 0.2,
    }.items():
        assert size(cut, name) < share * size(whole, name), name
