"""Where a reader is in a page: links land, far sections have room, the contents follow."""

import pytest
from frames import DRAWN, STILL
from playwright.sync_api import expect

pytestmark = pytest.mark.browser
LONG = "notebooks/17-gpt.html"  # two live figures above its last sections


def test_a_link_into_a_page_lands_there_though_figures_grow(visit):
    page = visit(f"{LONG}#scale")
    assert page.locator("figure.lm-figure").count() >= 1
    page.wait_for_function("Math.abs(document.getElementById('scale').getBoundingClientRect().top - 72) <= 10")


def test_a_page_opened_at_its_end_hardly_moves(new_context, served):
    # Chromium counts what grew above while the page still stood at its top; the reader sees only what moves later.
    watch = """(() => { window.shifts = []; window.there = Infinity;
      addEventListener("scroll", () => { there = Math.min(there, performance.now()); });
      new PerformanceObserver((list) => shifts.push(...list.getEntries()))
        .observe({ type: "layout-shift", buffered: true }); })()"""
    context = new_context(viewport={"width": 1280, "height": 900})
    context.add_init_script(watch)
    page = context.new_page()
    page.goto(f"{served[0]}notebooks/06-recurrent-lm.html#further-reading", wait_until="networkidle")
    page.evaluate(f"document.fonts.ready.then(() => {DRAWN})")
    assert page.locator("#further-reading").bounding_box()["y"] > 0
    assert page.evaluate("there") < float("inf")
    assert page.evaluate("shifts.reduce((sum, one) => sum + (one.startTime > there) * one.value, 0)") < 0.05


@pytest.mark.parametrize("width", [1280, 360])
def test_far_sections_take_the_room_that_they_need(visit, width):
    page = visit(LONG, width=width)
    estimated = page.evaluate("document.scrollingElement.scrollHeight")
    page.mouse.move(9, 9)
    sections = "[...document.querySelectorAll('.bd-article > section > section')]"
    page.wait_for_function(f"{sections}.every((section) => section.style.containIntrinsicBlockSize)")
    measured = page.evaluate("document.scrollingElement.scrollHeight")
    page.evaluate("document.documentElement.classList.add('lm-laid-out')")
    real = page.evaluate("document.scrollingElement.scrollHeight")
    assert abs(measured - real) < 0.01 * real
    assert abs(estimated - real) < 0.2 * real


@pytest.mark.parametrize("place", ["summary", "further-reading"])
def test_a_link_of_the_contents_leads_to_its_heading_in_a_page_just_opened(visit, place):
    page = visit(LONG)
    page.locator(f'.bd-toc-nav a[href="#{place}"]').first.click()
    there = """(id) => {
      const top = document.getElementById(id).getBoundingClientRect().top;
      const bar = parseFloat(getComputedStyle(document.documentElement).scrollPaddingTop) || 0;
      const last = innerHeight + scrollY >= document.documentElement.scrollHeight - 2;
      return Math.abs(top - bar) <= 20 || (last && top > 0 && top < 900);
    }"""
    page.wait_for_function(there, arg=place)
    page.evaluate(STILL, place)  # and it stays there: what is laid out on the way moves nothing
    assert page.evaluate(there, place)


def test_the_contents_mark_the_section_that_is_read(visit):
    page = visit(LONG)
    # Like a reader who goes on until the heading is at the top, though a figure above takes its room meanwhile.
    marked = """(id) => {
      document.getElementById(id).scrollIntoView({ behavior: "instant" });
      return [...document.querySelectorAll(".bd-toc-nav a.active")].at(-1)?.hash === `#${id}`;
    }"""
    for place in ("summary", "further-reading"):
        page.wait_for_function(marked, arg=place, polling=200)
    page.evaluate("scrollTo({ top: 0, behavior: 'instant' })")
    expect(page.locator('.bd-toc-nav a.active[href="#summary"]')).to_have_count(0)
