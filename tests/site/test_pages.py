"""Every page of the site, in a real browser: light, dark and on a phone."""

import re
from pathlib import Path

import pytest
import yaml
from axe_playwright_python.sync_playwright import Axe

pytestmark = pytest.mark.browser

TOC = yaml.safe_load((Path(__file__).parents[2] / "_toc.yml").read_text())
FILES = [TOC["root"], *(chapter["file"] for part in TOC["parts"] for chapter in part["chapters"])]
PAGES = [f"{name}.html" for name in FILES] + ["search.html"]
# Text as the reader sees it: without code, programs' output and what is there for screen readers only.
PROSE = """() => {
  const page = document.querySelector("article").cloneNode(true);
  for (const box of page.querySelectorAll("pre, code, script, style, svg, .katex-mathml")) box.remove();
  return page.textContent;
}"""
LEFT_OVER = re.compile(r"\$\$|\\begin|\\frac|\\\(|\{(eq|cite|term|glue|ref)[:}]|:::|%REPOSITORY%")
# on top of axe's defaults, a rule that it counts as experimental: a control's name contains the words in sight
RULES = {"rules": {"label-content-name-mismatch": {"enabled": True}}}


def violations(page) -> list[str]:
    found = Axe().run(page, options=RULES).response["violations"]
    return [f"{v['id']}: {node['html'][:200]} {node['failureSummary']}" for v in found for node in v["nodes"]]


def too_wide(page) -> int:
    return page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")


@pytest.mark.parametrize("name", PAGES)
def test_page_in_light(visit, name):
    page = visit(name)
    assert page.title().strip()
    assert page.locator("article h1").count() == 1
    assert not LEFT_OVER.search(page.evaluate(PROSE))
    assert page.locator("span.math:not(:has(.katex-html)), .lm-equation:not(:has(.katex-html))").count() == 0
    assert page.evaluate("typeof MathJax") == "undefined"
    assert page.evaluate("document.documentElement.dataset.theme") == "light"
    assert violations(page) == []


@pytest.mark.parametrize("name", PAGES)
def test_page_in_dark(visit, name):
    page = visit(name, scheme="dark")
    assert page.evaluate("document.documentElement.dataset.theme") == "dark"
    light_boxes = """() => [...document.querySelectorAll("article *")].filter((box) => {
      const [r, g, b, a = 1] = getComputedStyle(box).backgroundColor.match(/[\\d.]+/g).map(Number);
      return a > 0.5 && 0.3 * r + 0.6 * g + 0.1 * b > 170 && box.clientWidth > 100;
    }).map((box) => box.outerHTML.slice(0, 120))"""
    assert page.evaluate(light_boxes) == []
    assert violations(page) == []


@pytest.mark.parametrize("name", PAGES)
def test_page_on_a_phone(visit, name):
    page = visit(name, width=360)
    assert too_wide(page) <= 0
    assert violations(page) == []
    # all that scrolls sideways can be reached with the keyboard
    unreachable = """() => [...document.querySelectorAll("article *")].filter((box) =>
      box.scrollWidth > box.clientWidth + 1 && ["auto", "scroll"].includes(getComputedStyle(box).overflowX)
      && box.tabIndex < 0 && !box.querySelector("a, button, input, [tabindex]")).map((box) => box.outerHTML.slice(0, 120))"""
    assert page.evaluate(unreachable) == []


def test_a_fault_on_a_page_is_seen(visit):
    """The checks above can fail: a wide box, a picture without words, mathematics left as text."""
    page = visit("book/homework.html", width=360)
    page.evaluate("""document.querySelector("article").insertAdjacentHTML(
      "beforeend", '<div style="width: 900px">$$x$$</div><img src="data:image/gif;base64,R0lGODlhAQABAAAAACw=">')""")
    assert too_wide(page) > 0
    assert LEFT_OVER.search(page.evaluate(PROSE))
    assert any(fault.startswith("image-alt") for fault in violations(page))
