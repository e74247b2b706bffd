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


# a query of several words, and a part of the address that is among the first three
ASKED = {
    "backpropagation through time": "/06-", "truncated backpropagation": "/06-", "rnn language model": "/06-",
    "bidirectional rnn": "/08-", "seq2seq attention": "/11-", "seq2seq model": "/09-",
    "named entity recognition": "/08-",
    "additive attention": "/11-", "transformer encoder": "/15-", "masked language model": "/16-",
    "homework 7": "homework/07-", "chapter 7": "notebooks/07-", "figure 17.2": "17-gpt#figure-17-2",
    "exercise 7.3": "#ex-7-3", "eq. (13.2)": "13-self-attention#equation-",
}  # fmt: skip


@pytest.mark.browser
def test_queries_of_several_words_and_numbers_find_their_page(visit):
    page = visit("search.html?q=attention")
    page.wait_for_function("Search.hasIndex()")
    first = page.evaluate(
        "(asked) => asked.map((q) => LM.find(q).results.slice(-3).map((r) => r[0] + r[2]))", list(ASKED)
    )
    pairs = zip(ASKED.items(), first, strict=True)
    missed = [query for (query, part), found in pairs if not any(part in one for one in found)]
    assert missed == []


def test_often_counts_words_by_their_stems():
    said = search.often(["tokens token Tokens tokenizer", "a token"])
    assert said["token"] == "21"


@pytest.mark.browser
def test_what_was_searched_is_marked_in_the_text_alone(visit):
    page = visit("notebooks/17-gpt.html?highlight=transformers")
    page.locator("article .highlighted").first.wait_for()
    assert page.locator(".highlighted").count() == page.locator("article .highlighted").count()
    page.wait_for_function(
        """() => {
            const { top, bottom } = document.querySelector("article .highlighted").getBoundingClientRect();
            return top > 0 && bottom < innerHeight;
        }"""
    )
