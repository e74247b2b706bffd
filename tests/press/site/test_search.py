"""The search: it knows abbreviations, and begins with the chapter that explains."""

import pytest

from lmbook_press.site.features import search


def test_the_first_chapter_to_link_a_term_is_its_home():
    pages = [("notebooks/01-x", "a {term}`token`"), ("notebooks/11-y", "{term}`Attention`, {term}`tokens <token>`")]
    homes = search.introduced(pages)
    assert homes["attention"] == "notebooks/11-y"
    assert homes["token"] == "notebooks/01-x"


@pytest.mark.browser
def test_search_knows_abbreviations_and_begins_with_the_chapter_that_explains(visit):
    page = visit("search.html?q=BPE")
    page.locator("#search-results ul.search li").nth(1).wait_for()
    assert "notebooks/03-tokens" in page.locator("#search-results ul.search li a").first.get_attribute("href")
    asked = {"backprop": "05", "attention": "11", "perplexity": "02", "RoPE": "14", "layernorm": "15", "GPT": "17"}
    found = page.evaluate("(asked) => asked.map((query) => LM.find(query).results.at(-1)[0])", list(asked))
    assert [name[10:12] for name in found] == list(asked.values())
    assert page.evaluate("LM.find('BPE').results.length") > 5


@pytest.mark.browser
def test_what_was_searched_is_marked_in_the_text_alone(visit):
    page = visit("notebooks/17-gpt.html?highlight=transformers")
    page.locator("article .highlighted").first.wait_for()
    assert page.locator(".highlighted").count() == page.locator("article .highlighted").count()
