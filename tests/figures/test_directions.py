"""TwoDirections: the figure says what the shipped models say, on the page as in Python, by mouse, keyboard, kernel."""

import pytest
import torch
from seen import each, says

from lmbook.figures import TwoDirections
from lmbook.figures.directions import MESSAGES, SENTENCES
from lmbook.lab import checkpoints
from lmbook.lab.recipes.tagging import trained_tagger
from lmbook.lab.typed import cut
from lmbook.text import words as text_words


@pytest.fixture(scope="module")
def models():
    taggers = [trained_tagger(name) for name in ("ewt-left", "ewt-lstm")]
    classifiers = [checkpoints.load(name) for name in ("sms-spam-left", "sms-spam")]
    return taggers, classifiers


def probabilities(trained, words):
    with torch.no_grad():
        logits = trained[0](torch.tensor(trained[1].encode(words))[None])
    return torch.softmax(logits[0], dim=-1)


def tiles(page):
    """The words that are read: (word, from the left, both directions)."""
    texts = lambda selector: [text.split("\n")[-1] for text in page.locator(selector).all_inner_texts()]  # noqa: E731
    words = page.locator(".lmd-tile:not(.lmd-later)").evaluate_all("(all) => all.map((one) => one.firstChild.data)")
    if page.locator(".lmd-share").count():
        percents = ([f"{text} %" for text in texts(f".lmd-share[data-tone='{tone}']")] for tone in "12")
        return list(zip(words, *percents, strict=True))
    return list(zip(words, texts(".lmd-left"), texts(".lmd-last"), strict=True))


def expected(figure):
    return [tuple(row) for row in figure.shown()]


# --- in Python ------------------------------------------------------------------------------------------------------


def test_the_still_shows_the_word_that_changes_what_was_said():
    drawn = TwoDirections().fallback()
    assert "“painted” changes “have” from VERB to AUX" in drawn
    assert "up to “painted”</th><td>PRON</td><td>AUX</td><td>VERB</td>" in drawn
    assert "from the left</th><td>PRON</td><td>VERB</td><td>VERB</td>" in drawn
    assert "changes" not in TwoDirections(at=0, read=6).fallback()  # the full stop
    assert "%" in TwoDirections(at=12, read=3).fallback()


def test_what_is_right_has_a_tag_of_the_treebank_for_each_word():
    figure = TwoDirections()
    for sentence in figure.sentences[: len(SENTENCES)]:
        assert len(sentence["gold"]) == len(sentence["words"])
        assert set(sentence["gold"]) <= set(figure.tags)


@pytest.mark.parametrize("at", range(len(SENTENCES)))
def test_tags_are_those_of_the_shipped_taggers(at, models):
    (left, both), _ = models
    words = list(SENTENCES)[at].split()
    for read in range(1, len(words) + 1):
        shown = TwoDirections(at=at, read=read).shown()
        assert [word for word, _, _ in shown] == words[:read]
        for tagger, column in ((left, 1), (both, 2)):
            best = probabilities(tagger, words[:read]).argmax(-1)
            assert [row[column] for row in shown] == [tagger[2][k] for k in best]


def test_probabilities_are_those_of_the_shipped_models(models):
    (_, tagger), (_, classifier) = models
    figure = TwoDirections()
    words = next(iter(SENTENCES)).split()
    for t, numbers in enumerate(figure.sentences[0]["both"][2]):
        p = probabilities(tagger, words[:3])[t]
        assert numbers[1::2] == pytest.approx([1000 * p[k].item() for k in numbers[::2]], abs=0.51)
        assert numbers[1] == pytest.approx(1000 * p.max().item(), abs=0.51)
    words = MESSAGES[1].split()
    spam = figure.sentences[len(SENTENCES) + 1]["both"]
    for k in range(1, len(words) + 1):
        assert spam[k - 1] == pytest.approx(1000 * probabilities(classifier, words[:k])[1].item(), abs=0.51)


def test_from_the_left_nothing_changes_and_with_both_directions_something_does():
    figure = TwoDirections(at=0, read=1)
    before = figure.shown()
    for read in range(2, 7):
        figure.read = read
        assert [row[:2] for row in figure.shown()[: read - 1]] == [row[:2] for row in before]
        before = figure.shown()
    assert TwoDirections(at=0, read=2).shown()[1] == ("have", "VERB", "VERB")
    assert TwoDirections(at=0, read=3).shown()[1] == ("have", "VERB", "AUX")


# --- on the page ----------------------------------------------------------------------------------------------------


def test_every_beginning_of_every_sentence_is_shown_as_in_python(show):
    page = show(TwoDirections())
    figure = TwoDirections()
    for at in (0, 4, len(SENTENCES), len(SENTENCES) + 3):
        spam = at >= len(SENTENCES)
        page.get_by_label("a message: spam or not" if spam else "a sentence, for its tags").check()
        menu = page.get_by_label("Message" if spam else "Sentence", exact=True)
        menu.select_option(index=at - len(SENTENCES) if spam else at)
        slider = page.get_by_role("slider", name="Words read")
        slider.press("Home")
        length = len(figure.sentences[at]["words"])
        for read in range(1, length + 1):
            figure.at, figure.read = at, read
            assert tiles(page) == expected(figure), (at, read)
            slider.press("ArrowRight")
        assert page.get_by_role("button", name="Next word").is_disabled()


def test_a_wrong_number_would_be_noticed(show):
    figure = TwoDirections(read=3)
    right = expected(figure)
    changed = [dict(sentence) for sentence in figure.sentences]
    changed[0]["left"] = changed[0]["left"][::-1]
    figure.sentences = changed
    assert tiles(show(figure)) != right


def test_next_word_says_and_marks_what_changed(show):
    page = show(TwoDirections(read=2))
    assert "changes no tag before it" in says(page)
    page.get_by_role("button", name="Next word").click()
    assert says(page) == "“painted” changes “have” from VERB to AUX."
    assert page.locator(".lmd-changed").inner_text() == "VERB\nAUX"
    assert page.locator(".lmd-changed s").inner_text() == "VERB"
    page.get_by_role("slider", name="Words read").press("End")
    assert page.locator(".lmd-changed").count() == 1  # its row stays
    assert page.locator(".lmd-wrong").all_inner_texts() == ["VERB"]  # from the left, at the end


def test_the_bet_hides_the_last_row_and_then_says_what_changed(show):
    page = show(TwoDirections(), bets=True)
    hidden = """() => [...document.querySelectorAll(".lmd-cell")].filter((cell) => !cell.checkVisibility(
        { checkVisibilityCSS: true })).map((cell) => cell.textContent)"""
    assert page.evaluate(hidden) == ["PRON", "VERBAUX", "VERB"]
    page.get_by_role("group", name="Your bet").get_by_role("button", name="none").click()
    assert "No: “have”." in page.locator(".lm-wager").inner_text()
    assert page.evaluate(hidden) == []


@pytest.mark.parametrize("way", ["mouse", "keyboard"])
def test_a_word_shows_its_probabilities(show, way):
    figure = TwoDirections(read=6, word=0)
    page = show(figure)
    if way == "mouse":
        page.locator(".lmd-tile").nth(1).click()
    else:
        page.locator(".lmd-tile").first.focus()
        page.keyboard.press("ArrowRight")
        page.keyboard.press("Enter")
    assert page.locator(".lmd-tile[aria-pressed=true]").inner_text() == "have"
    for chart, numbers in zip(
        page.locator(".lm-bars").all(), (figure.sentences[0]["left"][1], figure.sentences[0]["both"][5][1]), strict=True
    ):
        labels = chart.locator(".lm-bar-label").all_inner_texts()
        texts = chart.locator(".lm-bar-text").all_inner_texts()
        assert labels == [figure.tags[k] for k in numbers[::2]]
        assert texts == [f"{p / 10:.1f} %" if p else "< 0.1 %" for p in numbers[1::2]]


def test_a_message_shows_the_probability_of_spam(show):
    figure = TwoDirections(at=len(SENTENCES) + 1, read=4, word=3)
    page = show(figure)
    left, both = (figure.sentences[figure.at][way][3] / 10 for way in ("left", "both"))
    assert f"spam with {left:.1f} % from the left, {both:.1f} % with both directions" in says(page)
    assert page.locator(".lm-bar-text").first.inner_text() == f"{left:.1f} %"
    page.locator(".lmd-tile").first.click()  # the bars follow
    first = figure.sentences[figure.at]["left"][0] / 10
    assert page.locator(".lm-bar-text").first.inner_text() == f"{first:.1f} %"
    (style,) = each(page, ".lmd-share", "style")[3]
    assert f"{both:g}%" in style


def test_the_keyboard_keeps_its_place(show):
    page = show(TwoDirections(read=6))
    page.locator(".lmd-tile").first.focus()
    for _ in range(2):
        page.keyboard.press("ArrowRight")
        page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.textContent") == "painted"


def test_each_group_is_one_tab_stop(show):
    page = show(TwoDirections(read=4))
    page.get_by_label("Sentence", exact=True).focus()
    stops = []
    for _ in range(4):
        page.keyboard.press("Tab")
        stops.append(
            page.evaluate("""() => { const node = document.activeElement;
              return node.closest("[role=group]") ? "words" : node.type || node.localName; }""")
        )
    assert stops == ["words", "range", "button", "words"]  # first the settled bet, then the words


# --- a text of the reader's -------------------------------------------------------------------------------------------


def typed(page, label, button, text):
    page.get_by_label(label).fill(text)
    page.get_by_role("button", name=button).click()
    page.locator(".lm-own-text[data-state=done]:visible, .lm-own-text[data-state=failed]:visible").wait_for()


def test_a_sentence_of_the_readers_is_tagged_as_by_torch(show, models):
    (left, both), _ = models
    page = show(TwoDirections())
    for text in ("Nobody can can fish on my birthday.", "The old man the boats, don't they?"):
        typed(page, "Your own words", "Tag them", text)
        words = cut(text)
        for read in (len(words), 3):
            page.get_by_role("slider", name="Words read").fill(str(read))
            wanted = [[tagger[2][k] for k in probabilities(tagger, words[:read]).argmax(-1)] for tagger in (left, both)]
            assert tiles(page) == list(zip(words[:read], *wanted, strict=True))


def test_a_message_of_the_readers_is_judged_as_by_torch(show, models):
    _, classifiers = models
    page = show(TwoDirections())
    page.get_by_label("a message: spam or not").click()
    text = "Mum, you have WON a prize! Call me now"
    typed(page, "Your own message", "Judge it", text)
    lower = text_words(text)
    wanted = [f"{100 * probabilities(classifier, lower)[1].item():.1f} %" for classifier in classifiers]
    assert f"spam with {wanted[0]} from the left, {wanted[1]} with both directions" in says(page)
    assert page.locator(".lmd-tile").all_inner_texts() == lower


def test_an_unknown_word_is_shown_as_what_it_becomes_and_no_word_is_said(show):
    page = show(TwoDirections())
    typed(page, "Your own words", "Tag them", "He blorgled .")
    assert page.locator(".lmd-tile").nth(1).inner_text().split("\n")[-1].strip() == "a word in -led"
    strange = "Zzyzx x9x QXQ :-/ o-o-o-zzq www.zzq.zz zq@zq.zz #zq 123456"
    typed(page, "Your own words", "Tag them", strange)
    assert not [text for text in page.locator(".lmd-tile").all_inner_texts() if "<" in text or "undefined" in text]
    typed(page, "Your own words", "Tag them", "He blorgled .")
    typed(page, "Your own words", "Tag them", "   ")
    assert "there is no word yet" in page.locator(".lm-own-text:visible").inner_text()
    assert page.locator(".lmd-tile").count() == 3
