"""SentenceProbability: the numbers are those of lmbook.ngram, and mouse and keyboard do the same."""

import math
import re

import numpy as np
import pytest
from seen import each, number, says, table

from lmbook.figures import SentenceProbability
from lmbook.figures.sentence import EXAMPLES, harbour_model
from lmbook.text import words

LONG = dict(EXAMPLES)["a long one"]
SMALLEST = 2.0**-149  # the smallest float32 above 0


def by_hand(sentence, order=3):
    """ln P of every token with its end, one prob() at a time."""
    model, vocabulary = harbour_model(order)
    ids = vocabulary.encode(["<eos>", *words(sentence), "<eos>"])
    return np.array([math.log(model.prob(ids[max(0, t - order + 1) : t], ids[t])) for t in range(1, len(ids))])


def total(page):
    return number(page.locator(".lm-total").last.inner_text())


def tiles(page):
    return page.locator(".lm-word-token").all_inner_texts()


# --- the first view, in Python --------------------------------------------------------------------------------------


def test_python_multiplies_the_chain_rule():
    figure = SentenceProbability("The sea was calm .")
    assert [token for token, _ in figure.tokens()] == ["the", "sea", "was", "calm", ".", "<eos>"]
    np.testing.assert_allclose([log for _, log in figure.tokens()], by_hand("the sea was calm ."), rtol=1e-12)
    assert f"{sum(by_hand('the sea was calm .')):.2f}".replace("-", "−") in figure.alt


def test_the_examples_show_what_they_are_for():
    first = {label: by_hand(sentence) for label, sentence in EXAMPLES}
    for better, worse in [
        ("in order", "out of order"),
        ("their father", "there father"),
        ("she sleeps", "she sleep"),
    ]:
        assert sum(first[better]) > sum(first[worse]) + 1
    _, vocabulary = harbour_model(3)
    assert any(token not in vocabulary for token in words(dict(EXAMPLES)["a new word"]))
    assert np.prod(np.exp(first["a long one"]).astype(np.float32)) == 0 < np.exp(sum(first["a long one"]))


# --- on the page ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("sentence", "order"), [(EXAMPLES[0][1], 3), ("the astronaut’s dog sleeps .", 2), (LONG, 5)])
def test_numbers_are_those_of_the_package(show, sentence, order):
    page = show(SentenceProbability(sentence, order=order))
    logs = by_hand(sentence, order)
    rows = table(page)
    assert [row[0].removesuffix(" (<unk>)") for row in rows] == [*words(sentence), "<eos>"]
    np.testing.assert_allclose([number(row[1]) for row in rows], np.exp(logs), rtol=6e-3)  # three digits are shown
    np.testing.assert_allclose([number(row[2]) for row in rows], logs, atol=6e-5)
    np.testing.assert_allclose([number(row[4]) for row in rows], np.exp(np.cumsum(logs)), rtol=6e-3)
    np.testing.assert_allclose([number(row[6]) for row in rows], np.cumsum(logs), atol=6e-5)
    single = np.cumprod(np.exp(logs).astype(np.float32), dtype=np.float32)
    np.testing.assert_allclose([number(row[5]) for row in rows], single, rtol=6e-3, atol=SMALLEST)


def test_float32_dies_where_numpy_says_and_the_sum_lives_on(show):
    page = show(SentenceProbability(LONG))
    single = np.cumprod(np.exp(by_hand(LONG)).astype(np.float32), dtype=np.float32)
    first = int(np.argmax(single == 0))
    assert f"in float32 0 from token {first + 1} on" in says(page)
    assert page.locator(".lm-total").nth(1).inner_text() == "0 (underflow)"
    assert total(page) == pytest.approx(sum(by_hand(LONG)), abs=0.006)
    assert number(page.locator(".lm-total").first.inner_text()) > 0


def test_the_history_shown_is_the_longest_that_the_corpus_has_before_the_word(show):
    from lmbook import data

    page = show(SentenceProbability("the sea was a potato lamp astronaut ."))
    stream = f" {' '.join(data.load('harbour')['train'])} "
    tokens = ["<eos>", *words("the sea was a potato lamp astronaut ."), "<eos>"]
    for i, row in enumerate(table(page), start=1):
        token = tokens[i]
        seen = [h for h in (tokens[max(0, i - 2) : i], tokens[i - 1 : i], []) if f" {' '.join([*h, token])} " in stream]
        assert row[3] == ("none, never seen" if not seen else " ".join(seen[0]) or "empty")


def test_typing_reads_unknown_words_as_unk_and_says_so(show):
    page = show(SentenceProbability())
    page.get_by_label("Sentence").fill("The kangaroo <b>sleeps</b>")
    page.get_by_label("Sentence").press("Enter")
    assert tiles(page) == [*words("The kangaroo <b>sleeps</b>"), "<eos>"]
    assert "“kangaroo”" in says(page)
    assert "read as <unk>" in page.locator(".lm-word").nth(1).inner_text()
    assert total(page) == pytest.approx(sum(by_hand("the kangaroo <b>sleeps</b>")), abs=0.006)
    assert page.locator(".lm-figure b").count() == 0


@pytest.mark.parametrize("way", ["mouse", "key", "button", "picked and key"])
def test_two_words_swap_and_the_change_is_said(show, way):
    page = show(SentenceProbability("the sea was calm ."))
    words_ = page.locator("button.lm-word")
    swapped = "sea the was calm ."
    if way == "mouse":
        words_.nth(0).click()
        assert words_.nth(0).get_attribute("aria-pressed") == "true"
        words_.nth(1).click()
    elif way == "key":
        words_.nth(0).focus()
        page.keyboard.press("s")
        assert page.evaluate("document.activeElement.querySelector('.lm-word-token').textContent") == "the"
    elif way == "button":
        words_.nth(0).click()
        page.get_by_role("button", name="Swap with next").click()
    else:
        swapped = "calm sea was the ."
        words_.nth(0).focus()
        page.keyboard.press("Enter")
        for _ in range(3):
            page.keyboard.press("ArrowRight")
        page.keyboard.press("s")
    assert tiles(page) == [*swapped.split(), "<eos>"]
    before, after = sum(by_hand("the sea was calm .")), sum(by_hand(swapped))
    assert total(page) == pytest.approx(after, abs=0.006)
    said = re.search(r"ln P (rises|falls) to (−[\d.]+), (.+) times (more|less) probable", says(page))
    assert (said[1], said[4]) == (("rises", "more") if after > before else ("falls", "less"))
    assert number(said[2]) == pytest.approx(after, abs=0.006)
    assert number(said[3]) == pytest.approx(math.exp(abs(after - before)), rel=0.05)
    page.get_by_role("button", name="Undo").click()
    assert tiles(page)[:2] == ["the", "sea"]


def test_the_words_are_one_tab_stop(show):
    page = show(SentenceProbability("the sea was calm ."))
    page.get_by_label("Sentence").focus()
    stops = []
    for _ in range(5):
        page.keyboard.press("Tab")
        stops.append(page.evaluate("document.activeElement.className + ' ' + document.activeElement.localName"))
    assert stops == [
        "lm-button lm-chip button",
        "lm-word button",
        "lm-button button",
        "lm-button button",  # Undo, which has nothing to do as yet
        " summary",
    ]
    page.locator("button.lm-word").first.focus()
    page.keyboard.press("End")
    assert page.evaluate("document.activeElement.innerText").split()[0] == "."
    page.keyboard.press("ArrowRight")  # stays at the end
    page.keyboard.press("Home")
    assert page.evaluate("document.activeElement.querySelector('.lm-word-token').textContent") == "the"


@pytest.mark.parametrize("sentence", ["", "   ", "!", "word " * 200])
def test_odd_sentences_do_no_harm(show, sentence):
    page = show(SentenceProbability())
    page.get_by_label("Sentence").fill(sentence)
    page.get_by_label("Sentence").press("Enter")
    page.keyboard.press("Tab")
    assert tiles(page) == [*words(sentence)[:60], "<eos>"]
    assert math.isfinite(total(page))


def test_axe_finds_nothing(show, axe_in_every_view):
    page = show(SentenceProbability(LONG), SentenceProbability())
    page.locator("summary").first.click()
    page.locator("button.lm-word").first.click()
    assert axe_in_every_view(page) == []


def test_from_40rem_on_the_chart_stands_beside_the_sentence(show):
    assert show(SentenceProbability(LONG), width=640).locator(".lm-chart svg").bounding_box()["width"] > 500


def test_the_strip_is_as_long_as_the_sentence(show):
    page, logs = show(SentenceProbability(LONG)), -by_hand(LONG)
    widths = [float(one[0]) for one in each(page, "rect[data-piece]", "width")]
    np.testing.assert_allclose(np.array(widths) / sum(widths), logs / sum(logs), atol=1e-4)


def test_the_word_is_bet_before_float32_ends(show):
    page = show(SentenceProbability(LONG), bets=True)
    assert not page.locator(".lm-totals").is_visible()
    page.get_by_role("slider", name="Word").fill("12")
    page.get_by_role("button", name="Bet").click()
    single = np.cumprod(np.exp(by_hand(LONG)).astype(np.float32), dtype=np.float32)
    dies = int(np.argmax(single == 0)) + 1
    told = page.locator(".lm-wager").inner_text()
    assert f"becomes 0 at word {dies}, “{words(LONG)[dies - 1]}”; you said 12, {dies - 12} words too early." in told
    assert page.locator(".lm-totals").is_visible()


def test_a_swap_keeps_the_letters_and_the_rest(show):
    page = show(SentenceProbability("The Sea was calm . " + "and the sea was calm " * 14))
    page.locator("button.lm-word").nth(0).click()
    page.locator("button.lm-word").nth(1).click()
    typed = page.get_by_label("Sentence").input_value()
    assert typed.startswith("Sea The was calm .")
    assert len(typed.split()) == 75
    assert "Only the first 60 tokens are read; 15 more are left out." in says(page)


def test_without_motion_nothing_glides(show):
    page = show(SentenceProbability(), motion="reduce")
    button = page.locator(".lm-button").first
    assert button.evaluate("(node) => getComputedStyle(node).transitionDuration") == "0s"
