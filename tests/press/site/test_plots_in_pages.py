"""Plots and formulae in the pages: nothing is astray on a phone, every point stands out."""

import pytest

pytestmark = pytest.mark.browser


# signs that stand at the start of a line, without the formula that they follow
ALONE = """[...document.querySelectorAll("article span.math")].filter((math) => {
  const [next, place] = [math.nextSibling, document.createRange()];
  if (next?.nodeType !== 3 || !/^[,.;:?!)]/.test(next.data) || !math.checkVisibility()) return false;
  place.setStart(next, 0);
  place.setEnd(next, 1);
  return place.getBoundingClientRect().right < [...math.getClientRects()].at(-1).right - 1;
}).map((math) => math.textContent)"""


# names of axes upwards that meet the numbers beside them, or the edge
MET = """[...document.querySelectorAll("figure.lm-plot svg")].flatMap((svg) => {
  const [meet, edge] = [[], svg.parentElement.getBoundingClientRect().left];
  const words = [...svg.querySelectorAll("text")].map((text) => [text, text.getBoundingClientRect()]);
  const upwards = words.filter(([text]) => text.matches('[transform^="rotate(-90"][style*="font-size: 11px"]'));
  for (const [name, a] of upwards) {
    if (a.left < edge - 0.5) meet.push([name.textContent, "the edge"]);
    for (const [text, b] of words) {
      const [wide, high] = [["left", "right"], ["top", "bottom"]].map(([from, to]) => (
        Math.min(a[to], b[to]) - Math.max(a[from], b[from])));
      if (text !== name && wide > 1 && high > 1) meet.push([name.textContent, text.textContent]);
    }
  }
  return meet;
})"""


@pytest.mark.parametrize("chapter", ["07-long-memory", "08-rnn-tasks", "18-beyond-text"])
def test_no_comma_and_no_name_of_an_axis_is_astray_on_a_phone(visit, chapter):
    page = visit(f"notebooks/{chapter}.html", width=360)
    page.add_style_tag(content=".bd-article section { content-visibility: visible !important; }")
    page.mouse.move(9, 9)  # what is far away is measured once a reader moves
    framed = "[...document.querySelectorAll('figure.lm-plot:not(.lm-drawing) svg')].every((svg) => svg.dataset.drawn)"
    page.wait_for_function(framed)
    page.evaluate("document.fonts.ready")
    assert page.evaluate(ALONE) == []
    assert page.evaluate(MET) == []


# The contrast of each plotted point with the page behind it.
POINTS = """[...document.querySelectorAll("figure.lm-plot svg use[style*='fill-opacity: 0.6']")].map((use) => {
  const numbers = (colour) => colour.match(/[\\d.]+/g).slice(0, 3).map(Number);
  const style = getComputedStyle(use), share = Number(style.fillOpacity);
  const ground = numbers(getComputedStyle(document.body).backgroundColor);
  const light = (colour) => colour.map((v) => v / 255)
    .map((v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4))
    .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0.05);
  const [a, b] = [numbers(style.fill).map((v, i) => share * v + (1 - share) * ground[i]), ground].map(light);
  return Math.max(a, b) / Math.min(a, b);
})"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_points_of_a_plot_stand_out_from_the_page(visit, scheme):
    found = visit("notebooks/17-gpt.html", scheme=scheme).evaluate(POINTS)
    assert found
    assert min(found) >= 3
