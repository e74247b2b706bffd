"""The pages where something is missing: scripts, the search's index, what a link means, the server."""

import json

import pytest

from lmbook_press.editions.offline import write_zip

pytestmark = pytest.mark.browser

FIRST, CHAPTER = "book/index.html", "notebooks/07-long-memory.html"


@pytest.fixture
def bare(new_context, served):
    """bare(page, options of a context) -> the page as it comes; faults are not gathered."""

    def open_page(name, **options):
        page = new_context(**options).new_page()
        page.goto(served[0] + name)
        return page

    return open_page


def test_without_scripts_the_first_page_has_its_text_and_its_line(bare):
    page = bare(FIRST, java_script_enabled=False)
    assert page.locator("figure.lm-figure").get_by_text("God day, sir").is_visible()
    assert page.locator(".lm-station a").count() == 24
    assert page.locator(".lm-station svg").first.is_visible()
    height = page.locator("figure.lm-figure").bounding_box()["height"]
    assert height < 540  # no room is kept for what will not come


def test_without_its_index_the_search_says_so(new_context, served):
    context = new_context()
    context.route("**/searchindex.js*", lambda route: route.abort())
    page = context.new_page()
    page.goto(served[0] + "search.html?q=attention")
    page.get_by_text("could not be loaded").wait_for()
    assert page.get_by_role("link", name="How to use this book").first.is_visible()


@pytest.mark.parametrize("place", ["#a-section-of-an-older-edition", "#%E0%A4%A"])
def test_a_link_to_a_place_that_is_gone_opens_the_page(visit, place):
    page = visit(CHAPTER + place)
    assert page.evaluate("scrollY") == 0
    assert page.locator(".lm-guess").count() > 0  # the scripts went on


@pytest.fixture(scope="session")
def unpacked(site, tmp_path_factory):
    """The offline edition on the disk."""
    import zipfile

    folder = tmp_path_factory.mktemp("offline")
    zipfile.ZipFile(write_zip(folder / "book.zip", site, "lmbook")).extractall(folder)
    return folder / "lmbook"


def test_from_a_disk_by_double_click_the_model_writes(new_context, unpacked):
    faults = []
    page = new_context().new_page()
    page.on("console", lambda m: faults.append(m.text) if m.type in ("error", "warning") else None)
    page.on("pageerror", lambda error: faults.append(str(error)))
    page.goto((unpacked / "index.html").as_uri())
    page.locator("figure.lm-figure[data-live='true']").wait_for()
    page.get_by_role("button", name="Write on").click()
    page.wait_for_function(
        "document.querySelector('.lmo-text span')?.textContent.startsWith('God day')", timeout=60_000
    )
    loaded = page.evaluate(
        "document.fonts.ready.then(() => [...document.fonts].filter((f) => f.status === 'loaded').length)"
    )
    assert loaded >= 4
    page.locator(".lm-station a").nth(1).click()
    page.wait_for_url("**/01-chain-rule.html")
    page.locator("article a.reference[href*='glossary.html#']").first.hover()
    page.locator("#lm-card:not([hidden])").wait_for()  # a term comes without a server too
    assert len(page.locator("#lm-card").inner_text()) > 40
    page.goto((unpacked / "notebooks" / "18-beyond-text.html").as_uri())
    page.locator("figure[data-module='digit'][data-live='true']").wait_for()  # its state is a file on the site
    page.goto((unpacked / "search.html").as_uri() + "?q=backprop")
    page.locator("#search-results li").nth(3).wait_for()  # without excerpts, which would have to be fetched
    page.goto((unpacked / "book" / "today.html").as_uri())
    page.locator("details:has-text('Chapters that are asked about')").evaluate("details => { details.open = true; }")
    page.get_by_label("0. Are you ready?").check()
    page.get_by_role("button", name="Show the answer").wait_for()  # and so do the questions
    page.wait_for_load_state("networkidle")
    assert faults == []


def test_the_first_page_shows_how_far_a_reader_is(visit):
    page = visit(FIRST)
    kept = {"read": {"01-chain-rule": 1, "02-ngrams-and-perplexity": 0.4}, "last": "02-ngrams-and-perplexity"}
    page.evaluate("(kept) => localStorage.setItem('lmbook', JSON.stringify(kept))", kept)
    page.reload()
    page.get_by_text("40% read").wait_for()
    assert page.locator(".lm-station[data-read='all']").get_attribute("data-page") == "01-chain-rule"
    assert page.locator(".lm-begin a").first.inner_text() == "Go on with chapter 2: n-gram models"
    page.locator(".lm-begin a").first.click()
    page.wait_for_url("**/02-ngrams-and-perplexity.html")
    page.evaluate("document.getElementById('summary').scrollIntoView()")
    page.wait_for_function("JSON.parse(localStorage.getItem('lmbook')).read['02-ngrams-and-perplexity'] > 0.9")
    assert json.loads(page.evaluate("localStorage.getItem('lmbook')"))["read"]["01-chain-rule"] == 1
